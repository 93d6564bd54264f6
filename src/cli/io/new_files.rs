//! New files that are written in turns. Only some of them are open at a time. Each gets its name when it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use tempfile::TempPath;

use super::atomic_write::new_file_beside;
use crate::cli::outcome::{Failure, refuse};

/// Maximum number of files that are open. Many systems allow a process 256, and the input needs some.
const MAX_OPEN_FILES: usize = 64;

/// New files by their paths, in the order in which they were created. `T` is what the caller knows of each.
pub struct NewFiles<T> {
    files: IndexMap<String, NewFile<T>>,
    /// The indexes of the open files, that of the file written last at the end.
    open: Vec<usize>,
    /// The shortened names, by those that they stand for.
    short_names: FxHashMap<String, String>,
}

struct NewFile<T> {
    contents: T,
    /// The temporary file; `None` once the file has its name.
    temporary: Option<TempPath>,
    /// `None` while the file is closed.
    file: Option<BufWriter<File>>,
}

impl<T> Default for NewFiles<T> {
    fn default() -> Self {
        NewFiles { files: IndexMap::new(), open: Vec::new(), short_names: FxHashMap::default() }
    }
}

impl<T> NewFiles<T> {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns what is known of the file that was created last.
    pub fn last(&self) -> Option<&T> {
        self.files.last().map(|(_, file)| &file.contents)
    }

    /// Returns the paths in the order in which the files were created.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the first `length` bytes of `name`, with a number that no other name has.
    pub fn short_name(&mut self, name: &str, length: usize) -> String {
        if let Some(known) = self.short_names.get(name) {
            return known.clone();
        }
        let end = (0..=length.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
        let short = format!("{}%~{}", &name[..end], self.files.len() + 1);
        self.short_names.insert(name.to_owned(), short.clone());
        short
    }

    /// Calls `write` for the file at `path`. If the file is new, `new` makes what is known of it.
    ///
    /// # Errors
    ///
    /// The file cannot be created or written, or another program has created it.
    pub fn write(
        &mut self,
        path: &str,
        new: impl FnOnce() -> T,
        write: impl FnOnce(&mut T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let index = if let Some(index) = self.files.get_index_of(path) {
            index
        } else {
            if fs::symlink_metadata(path).is_ok() {
                return refuse_existing(path);
            }
            let file = new_file_beside(Path::new(path)).map_err(|error| Failure::unwritable(path, &error))?;
            let temporary = Some(file.into_temp_path());
            self.files.insert(path.to_owned(), NewFile { contents: new(), temporary, file: None });
            self.files.len() - 1
        };
        self.write_at(index, write)
    }

    /// Calls `finish` for the file that was created last, and closes it.
    pub fn finish_last(
        &mut self,
        finish: impl FnOnce(&mut T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let last = self.files.len() - 1;
        self.finish_at(last, finish)
    }

    /// Calls `finish` for each file that is not finished, and closes it.
    pub fn finish(&mut self, mut finish: impl FnMut(&mut T, &mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        (0..self.files.len()).try_for_each(|index| self.finish_at(index, &mut finish))
    }

    fn finish_at(
        &mut self,
        index: usize,
        finish: impl FnOnce(&mut T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.files[index].temporary.is_none() {
            return Ok(());
        }
        self.write_at(index, finish)?;
        self.open.retain(|open| *open != index);
        self.close(index)?;
        let Some((path, file)) = self.files.get_index_mut(index) else { return Ok(()) };
        match file.temporary.take().map_or(Ok(()), |temporary| temporary.persist_noclobber(path)) {
            Ok(()) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => refuse_existing(path),
            Err(error) => Err(Failure::unwritable(path, &error.error)),
        }
    }

    fn write_at(
        &mut self,
        index: usize,
        write: impl FnOnce(&mut T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.files[index].file.is_none() && self.open.len() >= MAX_OPEN_FILES {
            let oldest = self.open.remove(0);
            self.close(oldest)?;
        }
        self.open.retain(|open| *open != index);
        self.open.push(index);
        let Some((path, NewFile { contents, temporary, file })) = self.files.get_index_mut(index) else {
            return Ok(());
        };
        let unwritable = |error| Failure::unwritable(&*path, &error);
        let file = match (&mut *file, temporary) {
            (Some(file), _) => file,
            (None, Some(temporary)) => {
                file.insert(BufWriter::new(File::options().append(true).open(temporary).map_err(unwritable)?))
            }
            (None, None) => return refuse(format!("{path} is finished already")),
        };
        write(contents, file).map_err(unwritable)
    }

    /// Writes what is left in the buffer of a file, and closes the file.
    fn close(&mut self, index: usize) -> Result<(), Failure> {
        let Some((path, file)) = self.files.get_index_mut(index) else { return Ok(()) };
        let Some(file) = file.file.take() else { return Ok(()) };
        file.into_inner().map(drop).map_err(|error| Failure::unwritable(&*path, error.error()))
    }
}

fn refuse_existing<T>(path: &str) -> Result<T, Failure> {
    refuse(format!("{path} exists already; it is not overwritten"))
}

#[cfg(test)]
mod tests {
    use super::NewFiles;

    #[test]
    fn long_names_are_cut_at_characters() {
        let mut files: NewFiles<()> = NewFiles::default();
        for (name, length, expected) in [
            ("abcdef", 3, "abc%~1"),
            ("abc", 9, "abc%~1"),
            ("\u{e4}\u{f6}\u{fc}", 3, "\u{e4}%~1"),
            ("\u{e4}\u{f6}\u{fc}", 9, "\u{e4}%~1"),
            ("\u{e4}\u{f6}\u{fd}", 4, "\u{e4}\u{f6}%~1"),
            ("\u{e4}", 1, "%~1"),
        ] {
            assert_eq!(files.short_name(name, length), expected, "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        files.write(folder.path().join("a").to_str().unwrap(), || (), |(), _| Ok(())).unwrap();
        assert_eq!([files.short_name("abcdef", 3), files.short_name("abcxyz", 3)], ["abc%~1", "abc%~2"]);
    }

    #[test]
    fn more_files_are_written_than_are_open() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<String> =
            (0..70).map(|number| folder.path().join(number.to_string()).display().to_string()).collect();
        let mut files: NewFiles<usize> = NewFiles::default();
        assert!(files.last().is_none());
        for round in 0..3 {
            for path in &paths {
                let add = |count: &mut usize, out: &mut dyn std::io::Write| {
                    *count += 1;
                    writeln!(out, "{round} {count}")
                };
                files.write(path, || 0, add).unwrap();
            }
            assert_eq!((files.len(), files.open.len(), files.last()), (70, 64, Some(&(round + 1))));
        }
        assert!(files.paths().eq(paths.iter().map(String::as_str)));
        files.finish_last(|count, out| writeln!(out, "last {count}")).unwrap();
        assert!(std::fs::exists(&paths[69]).unwrap() && !std::fs::exists(&paths[68]).unwrap());
        assert!(files.write(&paths[69], || 0, |_, _| Ok(())).is_err());
        files.finish(|count, out| writeln!(out, "end {count}")).unwrap();
        for (number, path) in paths.iter().enumerate() {
            let end = if number == 69 { "last" } else { "end" };
            assert_eq!(std::fs::read_to_string(path).unwrap(), format!("0 1\n1 2\n2 3\n{end} 3\n"));
        }
        // What is there already is not written.
        let mut others: NewFiles<()> = NewFiles::default();
        assert!(others.write(&paths[0], || (), |(), _| Ok(())).is_err());
        let free = folder.path().join("free").display().to_string();
        others.write(&free, || (), |(), out| writeln!(out, "x")).unwrap();
        std::fs::write(&free, "y").unwrap();
        assert!(others.finish(|(), _| Ok(())).is_err());
        assert_eq!(std::fs::read_to_string(&free).unwrap(), "y");
    }
}
