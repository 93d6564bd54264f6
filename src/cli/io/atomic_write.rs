//! Atomic rewriting of files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use tempfile::NamedTempFile;

use crate::cli::render::diagnostics::io_reason;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};

/// `-w`, `--write`, `--write=.bak`: an option of commands that can rewrite their files.
#[derive(clap::Args, Clone, Debug)]
pub struct RewriteArgs {
    /// Rewrite the files; a file with a syntax error stays as it is. With =SUFFIX, keep the old text of each changed
    /// file in a file with SUFFIX after its name
    #[arg(short, long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = suffix)]
    pub write: Option<String>,
}

impl RewriteArgs {
    /// Prepares to rewrite files, before they are read. `None` without `--write`. Refuses `--write` without files or
    /// with standard input.
    pub fn prepare(&self, files: &[String]) -> Result<Option<FileRewriter>, Failure> {
        let Some(suffix) = &self.write else { return Ok(None) };
        if files.is_empty() || files.iter().any(|file| file == "-") {
            return refuse("-w rewrites files: name them");
        }
        let revisions = files.iter().map(|file| (file.clone(), FileRevision::of(file))).collect();
        Ok(Some(FileRewriter { suffix: suffix.clone(), revisions }))
    }
}

/// Rewrites the files that a command reads.
pub struct FileRewriter {
    /// Suffix of the names of the old files; empty if they are not kept.
    suffix: String,
    /// The revisions that are read, by the names of the files.
    revisions: HashMap<String, FileRevision>,
}

impl FileRewriter {
    /// Replaces the contents of a file. Reports an error to the user.
    pub fn replace(&self, session: &mut Session, path: &str, text: &[u8]) {
        let revision = self.revisions.get(path).cloned().unwrap_or_else(|| FileRevision::of(path));
        if let Err(error) = replace(Path::new(path), text, &self.suffix, &revision) {
            session.error(&format!("cannot write {path}: {}", io_reason(&error)));
        }
    }
}

/// A state of a file: its time of modification, length and number. Two writers of one file notice each other by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRevision(Option<(SystemTime, u64, u64)>);

impl FileRevision {
    /// Returns the state of a file before it is read.
    pub fn of(path: impl AsRef<Path>) -> Self {
        let state = |metadata: fs::Metadata| {
            #[cfg(unix)]
            let number = std::os::unix::fs::MetadataExt::ino(&metadata);
            #[cfg(not(unix))]
            let number = 0;
            Some((metadata.modified().ok()?, metadata.len(), number))
        };
        FileRevision(fs::metadata(path).ok().and_then(state))
    }

    /// Fails if a file has another state than this one.
    fn check(&self, path: &Path) -> io::Result<()> {
        if *self == FileRevision::of(path) { Ok(()) } else { Err(io::Error::other("it changed after it was read")) }
    }
}

fn suffix(text: &str) -> Result<String, &'static str> {
    let is_suffix = !text.contains(['/', '\\', '\0']);
    is_suffix.then(|| text.to_owned()).ok_or("a suffix cannot contain a slash or a backslash")
}

/// Replaces the contents of a file atomically: concurrent readers see the old text or the new one, and after a
/// crash the file holds one of the two.
///
/// Keeps the file's permissions and, if possible, its owner. Follows symbolic links. With a nonempty suffix in
/// `backup`, the old text is kept in a file whose name has that suffix.
///
/// # Errors
///
/// The path is not a regular file, the file has another state than `revision`, or writing fails; then the file is
/// unchanged.
pub fn replace(path: &Path, text: &[u8], backup: &str, revision: &FileRevision) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    revision.check(&path)?;
    // Renaming requires write permission for the folder only, and would replace even a read-only file: refuse that.
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    if !backup.is_empty() {
        let mut name = path.clone().into_os_string();
        name.push(backup);
        write_and_rename(Path::new(&name), &fs::read(&path)?, &metadata)?;
    }
    write_and_rename(&path, text, &metadata)
}

/// Replaces the contents of a file atomically, without a backup. A file that is missing appears as a whole, too. The
/// file must have the state `revision`, if there is one.
///
/// # Errors
///
/// The file can neither be created nor replaced, or it has another state; then it is unchanged or still missing.
pub fn create_or_replace(path: &Path, text: &[u8], revision: Option<&FileRevision>) -> io::Result<()> {
    revision.map_or(Ok(()), |revision| revision.check(path))?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(path, text),
        _ => replace(path, text, "", &FileRevision::of(path)),
    }
}

/// Writes the text to a temporary file and gives it the name `path`, with the permissions of a new file.
fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes away what the user's mask forbids.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    persist(builder.tempfile_in(folder_of(path))?, path, text)
}

/// The folder in which a file is.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes the text to a temporary file beside `path` and renames it to `path`. Owner and permissions are those of
/// `like`.
fn write_and_rename(path: &Path, text: &[u8], like: &fs::Metadata) -> io::Result<()> {
    let file = NamedTempFile::new_in(folder_of(path))?;
    // Set owner and permissions before writing, because the contents must never be readable by others.
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only an administrator may change the owner: ignore the error.
        let _ = std::os::unix::fs::fchown(file.as_file(), Some(like.uid()), Some(like.gid()));
    }
    file.as_file().set_permissions(like.permissions())?;
    persist(file, path, text)
}

/// Writes the text to a temporary file and renames it to `path`.
fn persist(mut file: NamedTempFile, path: &Path, text: &[u8]) -> io::Result<()> {
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The rename is durable once the folder is synchronized. Some systems cannot do that: ignore the error.
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}
