//! Atomic writing of files.

use std::collections::HashMap;
use std::fs::{self, File, FileType};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use tempfile::NamedTempFile;

use super::file_attributes::copy_attributes;
use crate::cli::outcome::io_reason;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

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
    /// with standard input, a pipe or a device.
    pub fn prepare(&self, files: &[String]) -> Result<Option<FileRewriter>, Failure> {
        let Some(suffix) = &self.write else { return Ok(None) };
        if files.is_empty() || files.iter().any(|file| file == "-") {
            return refuse("-w rewrites files: name them");
        }
        files.iter().try_for_each(refuse_special)?;
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
    /// Replaces the contents of a file. Reports an error to the user. Returns whether the file is replaced.
    pub fn replace(&self, session: &mut Session, path: &str, text: &[u8]) -> bool {
        let revision = self.revisions.get(path).cloned().unwrap_or_else(|| FileRevision::of(path));
        let replaced = replace(Path::new(path), text, &self.suffix, &revision);
        match &replaced {
            Ok(other_names) => warn_of_other_names(session, path, *other_names),
            Err(error) => session.error(&format!("cannot write {path}: {}", io_reason(error))),
        }
        replaced.is_ok()
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

/// Whether something can neither be read to its end nor be replaced, such as a pipe or a device.
fn is_special(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir()
}

/// Refuses to rewrite a pipe or a device. Called before reading it, which might never end.
pub fn refuse_special(path: impl AsRef<Path>) -> Result<(), Failure> {
    let path = path.as_ref();
    let is_special = fs::metadata(path).is_ok_and(|metadata| is_special(metadata.file_type()));
    if is_special { Err(Failure::unwritable(path.display(), &not_regular())) } else { Ok(()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Warns that other names of a file that was replaced have the old text. `count` is their number.
pub fn warn_of_other_names(session: &Session, path: &str, count: u64) {
    if count > 0 {
        session.warning(&format!("{path} is a new file now; hard links to the file with the old text: {count}"));
    }
}

/// Replaces the contents of a file atomically: concurrent readers see the old text or the new one, and after a
/// crash the file holds one of the two. Returns the number of its other names (hard links), which keep the old text.
///
/// Keeps what [`copy_attributes`] copies. Follows symbolic links. With a nonempty suffix in `backup`, the old text is
/// kept in a file whose name has that suffix.
///
/// # Errors
///
/// The path is not a regular file, the file has another state than `revision`, its owner, permissions or attributes
/// cannot be kept, or writing fails; then the file is unchanged.
pub fn replace(path: &Path, text: &[u8], backup: &str, revision: &FileRevision) -> io::Result<u64> {
    let path = fs::canonicalize(path)?;
    let other_names = check_replaceable(&path)?;
    revision.check(&path)?;
    if !backup.is_empty() {
        let mut name = path.clone().into_os_string();
        name.push(backup);
        let old = fs::read(&path)?;
        write_whole(Path::new(&name), Some(&path), |file| file.write_all(&old))?;
    }
    write_whole(&path, Some(&path), |file| file.write_all(text)).map(|()| other_names)
}

/// Returns the number of further names of a file. Fails if it cannot be replaced.
fn check_replaceable(path: &Path) -> io::Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    // Renaming requires write permission for the folder only, and would replace even a read-only file: refuse that.
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    #[cfg(unix)]
    let names = std::os::unix::fs::MetadataExt::nlink(&metadata);
    #[cfg(not(unix))]
    let names = 1_u64;
    Ok(names.saturating_sub(1))
}

/// Replaces the contents of a file atomically, without a backup, by what `write` writes. A file that is missing appears
/// as a whole, too. The file must have the state `revision`, if there is one. Returns the number of its other names,
/// which keep the old text.
///
/// # Errors
///
/// The file can neither be created nor replaced, or it has another state; then it is unchanged or still missing.
pub fn create_or_replace<E: From<io::Error>>(
    path: &Path,
    revision: Option<&FileRevision>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<u64, E> {
    revision.map_or(Ok(()), |revision| revision.check(path))?;
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return write_whole(path, None, write).map(|()| 0);
    }
    let path = fs::canonicalize(path)?;
    let other_names = check_replaceable(&path)?;
    write_whole(&path, Some(&path), write).map(|()| other_names)
}

/// Creates a temporary file beside `path`, with the permissions of a new file.
pub fn new_file_beside(path: &Path) -> io::Result<NamedTempFile> {
    #[cfg(unix)]
    let permissions = Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    let permissions: Option<fs::Permissions> = None;
    let mut builder = tempfile::Builder::new();
    // The system takes away what the user's mask forbids.
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    builder.tempfile_in(folder_of(path))
}

/// The folder in which a file is.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a text to a temporary file beside `path` and renames it to `path`. The file gets the owner, the permissions and
/// the attributes of `like`.
fn write_whole<E: From<io::Error>>(
    path: &Path,
    like: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_symlink()) {
        return Err(not_regular().into());
    }
    // Nobody else can read what replaces a file, until it has the permissions of that file.
    let file = if like.is_some() { NamedTempFile::new_in(folder_of(path)) } else { new_file_beside(path) }?;
    let mut buffer = BufWriter::new(file);
    write(&mut buffer)?;
    let file = buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Writing takes away the bits of set-user-ID and set-group-ID.
    like.map_or(Ok(()), |like| copy_attributes(like, file.as_file()))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(io::Error::from)?;
    // The rename is durable once the folder is synchronized. Some systems cannot do that: ignore the error.
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_suffix_is_no_path() {
        for (given, expected) in
            [("", true), (".bak", true), ("~", true), ("/a", false), ("a\\b", false), ("a\0", false)]
        {
            assert_eq!(suffix(given).is_ok(), expected, "{given}");
        }
        for (path, folder) in [("a", "."), ("a/b", "a"), ("/a", "/"), ("", ".")] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder));
        }
    }

    #[test]
    fn a_file_is_replaced_if_it_did_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let (path, backup) = (folder.path().join("a"), folder.path().join("a.old"));
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let revision = FileRevision::of(&path);
        assert_eq!(replace(&path, b"two", "", &revision).unwrap(), 0);
        assert_eq!((text(&path).as_str(), backup.exists()), ("two", false));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        // The file is another one now.
        assert!(
            replace(&path, b"three", ".old", &revision)
                .unwrap_err()
                .to_string()
                .contains("it changed after it was read")
        );
        assert_eq!((text(&path).as_str(), backup.exists()), ("two", false));
        assert_eq!(replace(&path, b"three", ".old", &FileRevision::of(&path)).unwrap(), 0);
        assert_eq!((text(&path).as_str(), text(&backup).as_str()), ("three", "two"));
        // Other names of the file keep the old text.
        fs::hard_link(&path, folder.path().join("b")).unwrap();
        assert_eq!(replace(&path, b"four", "", &FileRevision::of(&path)).unwrap(), 1);
        assert_eq!((text(&path), text(&folder.path().join("b"))), ("four".to_owned(), "three".to_owned()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        assert!(
            replace(&path, b"five", "", &FileRevision::of(&path)).unwrap_err().to_string().contains("it is read-only")
        );
        assert!(
            replace(folder.path(), b"x", "", &FileRevision::of(folder.path()))
                .unwrap_err()
                .to_string()
                .contains("regular")
        );
        assert!(replace(&folder.path().join("none"), b"x", "", &FileRevision::of("none")).is_err());
    }

    #[test]
    fn a_file_is_made_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        let write = |path: &Path, revision: Option<&FileRevision>, text: &str| {
            create_or_replace(path, revision, |file| file.write_all(text.as_bytes()))
        };
        let none = FileRevision::of(&path);
        assert_eq!(write(&path, Some(&none), "one").unwrap(), 0);
        assert!(write(&path, Some(&none), "two").is_err());
        assert_eq!(write(&path, Some(&FileRevision::of(&path)), "two").unwrap(), 0);
        assert_eq!(write(&path, None, "three").unwrap(), 0);
        // A link stays one.
        std::os::unix::fs::symlink("a", &link).unwrap();
        assert_eq!(write(&link, None, "four").unwrap(), 0);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(text(&path), "four");
        let failed: io::Result<u64> = create_or_replace(&path, None, |_| Err(io::Error::other("no")));
        assert!(failed.is_err() && text(&path) == "four");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(write(folder.path(), None, "x").is_err());
        assert!(
            refuse_special("/dev/null").is_err()
                && refuse_special(&path).is_ok()
                && refuse_special(folder.path()).is_ok()
        );
    }

    #[test]
    fn files_to_rewrite_are_named() {
        let args = |write: Option<&str>| RewriteArgs { write: write.map(str::to_owned) };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert!(args(None).prepare(&[]).is_ok_and(|rewriter| rewriter.is_none()));
        for wrong in [&[][..], &["-"], &["a", "-"], &["/dev/null"]] {
            assert!(args(Some("")).prepare(&names(wrong)).is_err(), "{wrong:?}");
        }
        assert!(args(Some(".old")).prepare(&names(&["none"])).is_ok_and(|rewriter| rewriter.is_some()));
    }
}
