//! Files rewritten at once or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::Failure;

/// `-w`, `--write`, `--write=.bak`: an option of commands that can rewrite their files.
#[derive(clap::Args, Clone, Debug)]
pub struct Rewrite {
    /// Rewrite the files, each at once and only if every ad of it parses; =SUFFIX keeps the old ones
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = suffix)]
    pub write: Option<String>,
}

impl Rewrite {
    /// Whether files are to be rewritten.
    pub fn is_wanted(&self) -> bool {
        self.write.is_some()
    }

    /// Refuses what cannot be rewritten.
    pub fn check(&self, files: &[String]) -> Result<(), Failure> {
        if self.is_wanted() && (files.is_empty() || files.iter().any(|file| file == "-")) {
            return Err(Failure::Refused(Some("-w rewrites files: name them".to_owned())));
        }
        Ok(())
    }

    /// Replaces what a file holds.
    pub fn replace(&self, path: &str, text: &[u8]) -> io::Result<()> {
        replace(Path::new(path), text, self.write.as_deref().unwrap_or_default())
    }
}

fn suffix(text: &str) -> Result<String, String> {
    if text.contains(['/', '\\', '\0']) {
        return Err("a suffix is appended to the names of files and names no folder".to_owned());
    }
    Ok(text.to_owned())
}

/// Replaces what a file holds: whoever reads it sees the old text or the new one, and after a crash it is
/// one of the two.  Its permissions and, if possible, its owner are kept; of a symbolic link the file that
/// it leads to is replaced.  With a suffix the old text stays in the file of that name.
///
/// # Errors
///
/// What is no plain file, or may not be written; then the file is as it was.
pub fn replace(path: &Path, text: &[u8], backup: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    // Renaming asks only whether the folder can be written; the file's own wish counts, too.
    if metadata.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    if !backup.is_empty() {
        let mut name = path.clone().into_os_string();
        name.push(backup);
        put(Path::new(&name), &fs::read(&path)?, &metadata)?;
    }
    put(&path, text, &metadata)
}

/// The same; what is not there becomes a file.
///
/// # Errors
///
/// As [`replace`].
pub fn create_or_replace(path: &Path, text: &[u8]) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    replace(path, text, "")
}

/// Writes a text to a new file beside `path` and gives it that name.
fn put(path: &Path, text: &[u8], like: &fs::Metadata) -> io::Result<()> {
    let (temporary, mut file) = temporary(path)?;
    // First who may read it, then what there is to read.
    let written = resemble(&temporary, like)
        .and_then(|()| file.write_all(text))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The reason why it could not be written is the one to tell.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    // The new name is on disk when the folder is; not every system can be asked for that.
    if let Some(folder) = path.parent() {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// A new file in the folder of `path`.
fn temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut attempt = 0_u32;
    loop {
        let temporary = path.with_file_name(format!(".{name}.{}-{attempt}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}

/// Gives a file the owner, if that is possible, and the permissions of another.
fn resemble(path: &Path, like: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only an administrator can give files away.
        let _ = std::os::unix::fs::chown(path, Some(like.uid()), Some(like.gid()));
    }
    let permissions: Permissions = like.permissions();
    fs::set_permissions(path, permissions)
}
