//! The location of the history file.

use std::path::{Path, PathBuf};

/// Returns the path of the history file, and tries to create its folder. `None` if no history is to be kept.
pub fn history_path() -> Option<PathBuf> {
    let path = match std::env::var_os("CLASSAD_HISTORY") {
        Some(path) if path.is_empty() => return None,
        Some(path) => PathBuf::from(path),
        None => state_folder()?.join("classad").join("history"),
    };
    if let Some(folder) = path.parent() {
        create_private_folder(folder);
    }
    Some(path)
}

/// Returns the user's folder for state: `XDG_STATE_HOME`, else `~/.local/state`.
fn state_folder() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))
}

/// Creates a folder that only its owner can read. Errors are ignored: without the folder no history is kept.
fn create_private_folder(folder: &Path) {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let _ = builder.create(folder);
}
