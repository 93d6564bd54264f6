//! The location of the history file.

use std::env;
use std::fs::DirBuilder;
use std::path::PathBuf;

/// Returns the path of the history file, and tries to create its folder. `None` if `CLASSAD_HISTORY` is empty, or if
/// the user has no home directory.
pub fn history_path() -> Option<PathBuf> {
    let path = match env::var_os("CLASSAD_HISTORY") {
        Some(path) if path.is_empty() => return None,
        Some(path) => PathBuf::from(path),
        None => state_folder()?.join("classad").join("history"),
    };
    if let Some(folder) = path.parent() {
        let mut builder = DirBuilder::new();
        // Only the user may read what was entered.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // Ignore errors: without the folder no history is kept.
        let _ = builder.recursive(true).create(folder);
    }
    Some(path)
}

/// Returns the user's folder for state: `XDG_STATE_HOME`, else `~/.local/state`.
fn state_folder() -> Option<PathBuf> {
    let set = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(env::home_dir()?.join(".local").join("state")))
}
