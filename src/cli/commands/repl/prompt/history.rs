//! Where entries are kept from one session to the next.

use std::path::{Path, PathBuf};

/// The file, in a folder that is there if it can be; none if nothing is to be kept.
pub fn file() -> Option<PathBuf> {
    let path = match std::env::var_os("CLASSAD_HISTORY") {
        Some(path) if path.is_empty() => return None,
        Some(path) => PathBuf::from(path),
        None => folder()?.join("classad").join("history"),
    };
    if let Some(folder) = path.parent() {
        create(folder);
    }
    Some(path)
}

/// The user's folder for what programs remember.
fn folder() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))
}

/// Creates a folder for its owner alone.  If that cannot be, nothing is kept, and nobody hindered.
fn create(folder: &Path) {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let _ = builder.create(folder);
}
