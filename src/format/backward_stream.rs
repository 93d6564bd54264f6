//! Streams of ads in the long form that are read from the end of a file.

use std::io::{self, Read, Seek, SeekFrom};

use super::long::{closed_line_end, complete_prefix_length, unfinished_length};
use super::{FileFormat, StreamBlock};

/// Number of bytes of the first read. Often only the last few ads are wanted.
const FIRST_READ_BYTES: u64 = 32 * 1024;

/// Number of bytes of each further read.
const READ_BYTES: u64 = 256 * 1024;

/// A file in the long form, such as a history file, that is read from its end. It is cut into blocks of complete ads, so
/// that memory does not grow with its length. Within a block the ads have the order of the file.
pub struct BackwardStream<F> {
    file: F,
    /// Byte offset in the file at which `window` begins.
    start: u64,
    /// Bytes that have been read, but not been returned in a block yet.
    window: Vec<u8>,
    /// Number of bytes of the next read.
    read_bytes: u64,
    /// Whether the end of the file has been judged.
    has_begun: bool,
}

impl<F: Read + Seek> BackwardStream<F> {
    /// Begins to read a file at its end.
    ///
    /// # Errors
    ///
    /// I/O errors of the file.
    pub fn new(mut file: F) -> io::Result<Self> {
        let start = file.seek(SeekFrom::End(0))?;
        Ok(BackwardStream { file, start, window: Vec::new(), read_bytes: FIRST_READ_BYTES, has_begun: false })
    }

    /// Returns the block of complete ads before the block returned last, and its byte offset in the file. In a history
    /// file, a record without a banner at the end is a block of its own, with [`StreamBlock::is_unfinished`]. `None` at
    /// the beginning of the file. The position of the block is not set.
    ///
    /// # Errors
    ///
    /// I/O errors of the file.
    pub fn next_block(&mut self) -> io::Result<Option<(StreamBlock, u64)>> {
        if !self.has_begun {
            while self.start > 0 && complete_prefix_length(&self.window) == 0 {
                self.fill()?;
            }
            self.has_begun = true;
            let length = unfinished_length(&self.window, false);
            if length > 0 {
                let (block, offset) = self.split_off(self.window.len() - length);
                return Ok(Some((StreamBlock { is_unfinished: true, ..block }, offset)));
            }
        }
        loop {
            if self.start == 0 {
                return Ok((!self.window.is_empty()).then(|| self.split_off(0)));
            }
            // The first line may have begun before the window.
            let first_line = memchr::memchr(b'\n', &self.window).map_or(self.window.len(), |end| end + 1);
            if let Some(length) = closed_line_end(&self.window[first_line..])
                && first_line + length < self.window.len()
            {
                return Ok(Some(self.split_off(first_line + length)));
            }
            self.fill()?;
        }
    }

    /// Removes the bytes of `window` from `at` on and returns them as a block.
    fn split_off(&mut self, at: usize) -> (StreamBlock, u64) {
        let block = StreamBlock::from_complete_text(self.window.split_off(at), FileFormat::Long);
        (block, self.start + at as u64)
    }

    /// Reads the bytes before `window`.
    fn fill(&mut self) -> io::Result<()> {
        // A long ad is read in ever larger pieces, so that the total time stays linear.
        let length = self.read_bytes.max(self.window.len() as u64).min(self.start);
        self.read_bytes = READ_BYTES;
        self.file.seek(SeekFrom::Start(self.start - length))?;
        let mut window = Vec::new();
        Read::by_ref(&mut self.file).take(length).read_to_end(&mut window)?;
        if (window.len() as u64) < length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
        }
        window.append(&mut self.window);
        self.window = window;
        self.start -= length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::BackwardStream;
    use crate::ad::Dialect;

    /// Returns the values of `A` in the blocks, which are read from the end, and whether a record is unfinished.
    fn values(text: &str) -> (Vec<String>, bool) {
        let mut stream = BackwardStream::new(Cursor::new(text.as_bytes().to_vec())).unwrap();
        let (mut values, mut is_unfinished, mut end) = (Vec::new(), false, text.len() as u64);
        while let Some((block, offset)) = stream.next_block().unwrap() {
            assert_eq!(offset + block.text.len() as u64, end, "blocks are adjacent");
            end = offset;
            is_unfinished |= block.is_unfinished;
            let ads: Vec<String> = block
                .ads(Dialect::Condor)
                .map(|item| match item {
                    Ok(entry) => entry.ad.get_str("A").map(ToString::to_string).unwrap_or_default(),
                    Err(problem) => problem.message,
                })
                .collect();
            values.extend(ads.into_iter().rev());
        }
        assert_eq!(end, 0);
        (values, is_unfinished)
    }

    #[test]
    fn the_last_ads_come_first() {
        let banner = "*** MASTER CurrentTime=5\n";
        let long = "x".repeat(300_000);
        for (length, count) in [(10, 1), (10, 20_000), (3000, 300), (300_000, 5)] {
            let record = |number: usize| format!("A = {number}\nB = \"{}\"\n{banner}", &long[..length]);
            let text: String = (0..count).map(record).collect();
            let expected: Vec<String> = (0..count).rev().map(|number| number.to_string()).collect();
            assert_eq!(values(&text), (expected.clone(), false));
            assert_eq!(values(&(text + "A = 9\n")), (expected, true));
        }
    }

    #[test]
    fn small_files() {
        assert_eq!(values(""), (vec![], false));
        assert_eq!(values("A = 1"), (vec!["1".to_owned()], false));
        assert_eq!(values("A = 1\n\nA = 2\n\n\n"), (vec!["2".to_owned(), "1".to_owned()], false));
        assert_eq!(values("A = 1\n*** Offset\nA = 2\n***\n").0, ["2", "this banner is broken", "1"]);
    }
}
