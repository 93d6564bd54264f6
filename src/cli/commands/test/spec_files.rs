//! Finds spec files: the files named on the command line, and all YAML files with cases in named folders.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cli::io::input;
use crate::cli::outcome::{Failure, io_reason};
use crate::cli::session::Session;

/// Returns the paths of the specs on the command line. Specs from a folder are sorted by name.
pub fn find_specs(session: &mut Session, named: &[String]) -> Result<Vec<PathBuf>, Failure> {
    input::check_stdin(named)?;
    let mut found = Vec::new();
    for path in &input::or_stdin(named) {
        if path != "-" && Path::new(path).is_dir() {
            let before = found.len();
            if let Err((path, error)) = add_specs_below(session, Path::new(path), &mut found) {
                session.error(&format!("cannot read {}: {}", path.display(), io_reason(&error)));
            } else if found.len() == before {
                session
                    .error(&format!("there is no spec in {path}: no YAML file with a line that begins with `cases:`"));
            }
        } else {
            found.push(PathBuf::from(path));
        }
    }
    Ok(found)
}

/// Opens a file that a spec in `folder` names. A spec may come from elsewhere, and its results quote what it reads: it
/// must not reach the other files of the user.
///
/// # Errors
///
/// The file is neither below `folder` nor below a folder of `allowed`, with symbolic links followed, or it cannot be
/// opened.
pub fn open_of_spec(folder: &Path, path: &str, allowed: &[PathBuf]) -> io::Result<Box<dyn Read>> {
    let folders = || std::iter::once(folder).chain(allowed.iter().map(PathBuf::as_path));
    let found = fs::canonicalize(folder.join(path))?;
    if !folders().filter_map(|folder| fs::canonicalize(folder).ok()).any(|folder| found.starts_with(folder)) {
        return Err(io::Error::other(
            "it is not below the folder of the spec; --files-below DIR allows another folder",
        ));
    }
    if !fs::metadata(&found)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(Box::new(File::open(found)?))
}

/// Adds the specs in and below a folder. Does not follow symbolic links to folders, which may form cycles.
fn add_specs_below(session: &Session, folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let at = |error| (path.clone(), error);
        if !path.is_symlink() && path.is_dir() || path == folder {
            let entries = fs::read_dir(&path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
            let mut entries: Vec<PathBuf> = entries.map_err(at)?;
            entries.retain(|entry| !entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
            // `pending` is a stack: sort backwards, so that the first name is popped first.
            entries.sort_unstable_by(|left, right| right.cmp(left));
            pending.extend(entries);
            continue;
        }
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if !is_yaml || !path.is_file() {
            continue;
        }
        if has_cases(&fs::read(&path).map_err(at)?) {
            found.push(path);
        } else if session.options.verbose > 0 {
            session.note(&format!("{} has no `cases` and is skipped", path.display()));
        }
    }
    Ok(())
}

/// Whether a line begins with `cases:`. A misspelling such as `Case:` counts too, so that it is reported as an error.
fn has_cases(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let key = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii_end();
        key.len() < line.len() && [&b"cases"[..], b"case"].iter().any(|known| key.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use super::has_cases;

    #[test]
    fn what_is_taken_for_a_spec() {
        for (text, expected) in [
            ("cases:\n  - name: a", true),
            ("# a\nads: {}\ncases : []", true),
            ("Case: []", true),
            ("  cases: []", false),
            ("cases", false),
            ("# cases: []", false),
            ("order: JobPrio", false),
            ("", false),
        ] {
            assert_eq!(has_cases(text.as_bytes()), expected, "{text}");
        }
    }
}
