//! Maps of users, from files and from the configuration.

use std::fs;
use std::path::{Path, PathBuf};

use classad::configuration::{MapFileItem, MapFileReader, includes_file};
use classad::eval::UserMap;
use classad::format::{FileFormat, Problem};

use super::source_text::SourceText;
use super::whole_file::read_text;
use crate::cli::outcome::{Failure, io_reason, refuse};
use crate::cli::session::Session;

/// Reads the map files of the options `--map`.
pub fn read_given(session: &mut Session) -> Result<(), Failure> {
    for definition in session.options.map.clone() {
        let Some((name, path)) = definition.split_once('=').filter(|(name, path)| !name.is_empty() && !path.is_empty())
        else {
            return refuse(format!("--map needs NAME=FILE, not `{definition}`"));
        };
        if name.contains('.') {
            return refuse(format!("--map {definition}: the name of a map cannot contain a dot"));
        }
        let bytes = read_text(path).map_err(|error| Failure::unreadable(path, &error))?;
        add_map(session, name, &SourceText::from_file(path, bytes, FileFormat::Long), false)?;
    }
    Ok(())
}

/// Reads a map and adds it to those that `userMap()` knows. Reports what is wrong with its lines; the others count.
/// `has_prefixes` says that its keys are beginnings of texts.
pub fn add_map(session: &mut Session, name: &str, text: &SourceText, has_prefixes: bool) -> Result<(), Failure> {
    let mut map = UserMap::default();
    read_map(session, text, &mut map, has_prefixes, true)?;
    session.context_mut().user_maps.insert(name, map);
    Ok(())
}

/// Adds the entries of a text to a map. Only a file that is not included itself may include others.
fn read_map(
    session: &mut Session,
    text: &SourceText,
    map: &mut UserMap,
    has_prefixes: bool,
    may_include: bool,
) -> Result<(), Failure> {
    let mut reader = MapFileReader::new(&text.block.text, has_prefixes);
    while let Some(line) = reader.read(map) {
        let problem = match line {
            MapFileItem::Problem(problem) => problem,
            MapFileItem::Include(_, range) if !may_include => {
                Problem::error_at(range, 0, "an included file cannot include another file")
            }
            MapFileItem::Include(path, range) => match included_files(&text.name, &path) {
                Err(reason) => Problem::error_at(range, 0, reason),
                Ok(files) => {
                    for (name, bytes) in files {
                        let included = SourceText::from_file(&name, bytes, FileFormat::Long);
                        read_map(session, &included, map, false, false)?;
                    }
                    continue;
                }
            },
        };
        session.report_problem(text, &problem)?;
    }
    Ok(())
}

/// Returns the files that `@include path` means, with their bytes. A relative path counts from the folder of the file
/// `from`. Of a folder all files count, in the order of their names.
fn included_files(from: &str, path: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let path = Path::new(from).parent().map_or_else(|| PathBuf::from(path), |folder| folder.join(path));
    let unreadable =
        |path: &Path, error: &std::io::Error| format!("cannot read {}: {}", path.display(), io_reason(error));
    let mut files = vec![path.clone()];
    if path.is_dir() {
        let entries = fs::read_dir(&path).map_err(|error| unreadable(&path, &error))?;
        files = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| {
            file.is_file() && file.file_name().is_some_and(|name| includes_file(&name.to_string_lossy()))
        });
        files.sort();
    }
    let read = |file: PathBuf| {
        let bytes = fs::read(&file).map_err(|error| unreadable(&file, &error))?;
        Ok((file.display().to_string(), bytes))
    };
    files.into_iter().map(read).collect()
}
