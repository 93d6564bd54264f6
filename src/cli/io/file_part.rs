//! Parts of files on the command line: `FILE@START-END`.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use classad::format::{FileFormat, Stream, StreamLimits, has_parts, part_boundary};

/// A part of a file: the ads that begin in it, as [`part_boundary`] moves its cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    pub path: String,
    /// Byte offset at which the part begins.
    pub start: u64,
    /// Byte offset at which the part ends; `None` for the end of the file.
    pub end: Option<u64>,
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}-", self.path, self.start)?;
        self.end.iter().try_for_each(|end| write!(f, "{end}"))
    }
}

impl FilePart {
    /// Reads an argument as a part of a file. `None` if it has another form, or if a file has exactly this name.
    pub fn of_argument(argument: &str) -> Option<Self> {
        let (path, range) = argument.rsplit_once('@')?;
        let (start, end) = range.split_once('-')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if path.is_empty() || !is_number(start) || !(end.is_empty() || is_number(end)) || Path::new(argument).exists() {
            return None;
        }
        let end = if end.is_empty() { None } else { Some(end.parse().ok()?) };
        Some(FilePart { path: path.to_owned(), start: start.parse().ok()?, end })
    }

    /// Finds out the form of the file, as `form` says or by its beginning.
    ///
    /// # Errors
    ///
    /// The file cannot be read in parts, or the end of the part is before its start.
    pub fn detect(&self, form: Option<FileFormat>) -> io::Result<Option<FileFormat>> {
        let refuse = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        if self.end.is_some_and(|end| end < self.start) {
            return refuse("the end of the part is before its start".to_owned());
        }
        // To open a FIFO waits for a writer.
        if !std::fs::metadata(&self.path)?.is_file() {
            return refuse("only a file can be read in parts".to_owned());
        }
        let stream = Stream::new(Box::new(File::open(&self.path)?), form)?;
        match stream.form() {
            _ if stream.is_compressed() => refuse("a compressed file cannot be read in parts".to_owned()),
            Some(form) if !has_parts(form) => {
                refuse(format!("a file in {form} cannot be read in parts; only the long form and JSON Lines can"))
            }
            form => Ok(form),
        }
    }

    /// Opens the part of a file in this form.
    pub fn open(&self, form: FileFormat, limits: StreamLimits) -> io::Result<Stream> {
        let mut file = File::open(&self.path)?;
        let start = part_boundary(&mut file, form, self.start)?;
        let end = self.end.map(|end| part_boundary(&mut file, form, end)).transpose()?;
        file.seek(SeekFrom::Start(start.offset))?;
        let reader: Box<dyn Read> = match end {
            Some(end) => Box::new(file.take(end.offset.saturating_sub(start.offset))),
            None => Box::new(file),
        };
        Ok(Stream::of_part(reader, form, start, limits))
    }
}
