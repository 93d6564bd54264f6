//! Files that are read to their end, whatever their size was when they were opened.

use std::fs::File;
use std::io::{self, Cursor, Read};

use classad::format::unpacked;

use super::{demo, live, standard_streams};

/// Opens a file; `-` is standard input, a live source that was asked is its answer, and the sample pool is inside the program. Reading
/// fails if the file is cut short meanwhile.
pub fn open(path: &str) -> io::Result<Box<dyn Read>> {
    if path == "-" {
        Ok(Box::new(standard_streams::stdin()?))
    } else if let Some(answer) = live::take_answer(path) {
        Ok(Box::new(Cursor::new(answer)))
    } else if let Some(contents) = demo::contents(path)? {
        Ok(Box::new(contents))
    } else {
        Ok(Box::new(WholeFile::new(File::open(path)?)?))
    }
}

/// Reader of a file that has at least the bytes that it had when it was opened.
struct WholeFile {
    file: File,
    /// Number of bytes of the file when it was opened.
    size: u64,
    bytes_read: u64,
}

impl WholeFile {
    fn new(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(WholeFile { file, size, bytes_read: 0 })
    }
}

impl Read for WholeFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.bytes_read += count as u64;
        // Files of the system, such as those in /sys, have fewer bytes than their size says, and keep that size.
        if count == 0 && !into.is_empty() && self.bytes_read < self.size && self.file.metadata()?.len() < self.size {
            return Err(io::Error::other("it became shorter while it was read"));
        }
        Ok(count)
    }
}

/// Reads a file as a whole; `-` is standard input.
pub fn read_whole(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map(|_| bytes)
}

/// Reads a text as a whole, such as a policy or a configuration; `-` is standard input. Decompresses it if it is compressed.
pub fn read_text(path: &str) -> io::Result<Vec<u8>> {
    unpacked(read_whole(path)?)
}
