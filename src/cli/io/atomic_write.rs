//! Atomic rewriting of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::cli::render::diagnostics::io_reason;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};

/// `-w`, `--write`, `--write=.bak`: an option of commands that can rewrite their files.
#[derive(clap::Args, Clone, Debug)]
pub struct RewriteArgs {
    /// Rewrite the files, each at once and only if every ad of it parses; =SUFFIX keeps the old ones
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = suffix)]
    pub write: Option<String>,
}

impl RewriteArgs {
    /// Refuses `--write` without files or with standard input.
    pub fn check_files(&self, files: &[String]) -> Result<(), Failure> {
        if self.write.is_some() && (files.is_empty() || files.iter().any(|file| file == "-")) {
            return refuse("-w rewrites files: name them");
        }
        Ok(())
    }

    /// Replaces the contents of a file. Keeps the old text in a backup if `--write` names a suffix. Reports an error to
    /// the user.
    pub fn replace(&self, session: &mut Session, path: &str, text: &[u8]) {
        if let Err(error) = replace(Path::new(path), text, self.write.as_deref().unwrap_or_default()) {
            session.error(&format!("cannot write {path}: {}", io_reason(&error)));
        }
    }
}

fn suffix(text: &str) -> Result<String, &'static str> {
    let is_suffix = !text.contains(['/', '\\', '\0']);
    is_suffix.then(|| text.to_owned()).ok_or("a suffix is appended to the names of files and names no folder")
}

/// Replaces the contents of a file atomically: concurrent readers see the old text or the new one, and after a
/// crash the file holds one of the two.
///
/// Keeps the file's permissions and, if possible, its owner. Follows symbolic links. With a nonempty suffix in
/// `backup`, the old text is kept in a file whose name has that suffix.
///
/// # Errors
///
/// The path is no regular file, or writing fails; then the file is unchanged.
pub fn replace(path: &Path, text: &[u8], backup: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    // Renaming requires write permission for the folder only, and would replace even a read-only file: refuse that.
    if metadata.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    if !backup.is_empty() {
        let mut name = path.clone().into_os_string();
        name.push(backup);
        write_and_rename(Path::new(&name), &fs::read(&path)?, &metadata)?;
    }
    write_and_rename(&path, text, &metadata)
}

/// Replaces the contents of a file atomically, without a backup; creates the file if it is missing.
///
/// # Errors
///
/// The file can neither be created nor replaced.
pub fn create_or_replace(path: &Path, text: &[u8]) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => replace(path, text, ""),
    }
}

/// Writes the text to a temporary file beside `path` and renames it to `path`. Owner and permissions are those of
/// `like`.
fn write_and_rename(path: &Path, text: &[u8], like: &fs::Metadata) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    // Set owner and permissions before writing, because the contents must never be readable by others.
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only an administrator may change the owner: ignore the error.
        let _ = std::os::unix::fs::fchown(file.as_file(), Some(like.uid()), Some(like.gid()));
    }
    file.as_file().set_permissions(like.permissions())?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The rename is durable once the folder is synchronized. Some systems cannot do that: ignore the error.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
