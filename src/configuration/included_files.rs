//! Reads the files that a configuration includes, within limits.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::format::Problem;
use crate::transform::{MAX_INCLUDED_BYTES, read_named_file};

/// Maximum number of files that are included, each as often as it is. Files that include each other twice would be read
/// 2^20 times.
const MAX_INCLUDED_FILES: usize = 1000;

/// The files that a configuration includes.
pub(super) struct IncludedFiles<'s> {
    /// The folder that takes the place of `/`.
    root: Option<&'s Path>,
    /// Number of files read.
    files: usize,
    /// Their size, in bytes.
    bytes: usize,
}

impl<'s> IncludedFiles<'s> {
    pub fn new(root: Option<&'s Path>) -> Self {
        IncludedFiles { root, files: 0, bytes: 0 }
    }

    /// Returns the path of a file that a configuration names; `folder` is where relative paths begin.
    pub fn resolve(&self, path: &str, folder: &Path) -> PathBuf {
        match (self.root, Path::new(path).strip_prefix("/")) {
            // A path that leaves the root is none below it.
            (Some(root), Ok(below)) => root.join(below),
            _ => folder.join(path),
        }
    }

    /// Reads a file. Adds to `problems` what is wrong; `place` is that of the statement. `None` if there is nothing to run.
    pub fn read(
        &mut self,
        path: &Path,
        is_optional: bool,
        place: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Option<String> {
        let fault = |message: &str| Problem::error_at(place.clone(), 0, message);
        if !self.may_read(path) {
            problems.push(fault(&format!("{} is not below --config-root", path.display())));
            return None;
        }
        let text = match read_named_file(path) {
            Ok(text) => text,
            Err(_) if is_optional => return None,
            Err(reason) => {
                let help = "give the folder that has the files of the machine with --config-root";
                problems.push(fault(&reason).as_warning().with_help(help));
                return None;
            }
        };
        self.files += 1;
        if self.files > MAX_INCLUDED_FILES {
            // Told once.
            if self.files == MAX_INCLUDED_FILES + 1 {
                let message = format!("more than {MAX_INCLUDED_FILES} files are included: the others are not read");
                problems.push(fault(&message));
            }
            return None;
        }
        self.bytes += text.len();
        if self.bytes > MAX_INCLUDED_BYTES {
            problems.push(fault("the included files have more than 64 MiB"));
            return None;
        }
        Some(text)
    }

    /// Whether a file may be read: with a root, only what is below it, with symbolic links followed.
    fn may_read(&self, path: &Path) -> bool {
        let Some(root) = self.root else { return true };
        let [root, path] = [root, path].map(std::fs::canonicalize);
        // What does not exist is told as that.
        path.map_or(true, |path| root.is_ok_and(|root| path.starts_with(root)))
    }
}
