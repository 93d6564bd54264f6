//! Formatting of files and pipes in the long form, block by block.

use std::io::{self, Cursor, Read};

use classad::ad::Dialect;
use classad::format::{FileFormat, FormattedBlock, FormattedBlockJoiner, LongFormatter, Stream, StreamBlock};

use crate::cli::io::block_pipeline::{BlockTask, for_each_block};
use crate::cli::io::input::report_unreadable;
use crate::cli::io::source::AdSource;
use crate::cli::io::whole_file::open;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Number of bytes of a file or pipe that are read to see whether it is formatted block by block. A shorter one is
/// formatted as a whole.
const BEGINNING_BYTES: u64 = 256 * 1024;

/// A file or pipe in the long form.
pub struct LongStream {
    pub name: String,
    /// The pipe. `None` for a file, which is opened when it is formatted, since a system limits the number of open
    /// files.
    pipe: Option<Box<dyn Read>>,
}

/// The beginning of a file or pipe.
pub enum OpenedText {
    Stream(LongStream),
    /// A text that must be formatted as a whole.
    Whole(Vec<u8>),
}

/// Opens the file at `path`; `-` is standard input. `form` is the form, if it is known. The text is read whole unless
/// `may_stream`.
pub fn open_text(path: &str, name: &str, form: Option<FileFormat>, may_stream: bool) -> io::Result<OpenedText> {
    let mut reader = open(path)?;
    let mut text = Vec::new();
    reader.by_ref().take(BEGINNING_BYTES).read_to_end(&mut text)?;
    if may_stream && text.len() as u64 == BEGINNING_BYTES && LongFormatter::accepts(&text, form) {
        let is_pipe = path == "-" || !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let pipe = is_pipe.then(|| -> Box<dyn Read> { Box::new(Cursor::new(text).chain(reader)) });
        return Ok(OpenedText::Stream(LongStream { name: name.to_owned(), pipe }));
    }
    reader.read_to_end(&mut text)?;
    Ok(OpenedText::Whole(text))
}

/// What is known of a stream after formatting.
pub struct StreamSummary {
    /// Whether the formatted text differs from the text before. Known only if they were compared.
    pub has_changed: bool,
    /// Whether every ad parsed, possibly with warnings.
    pub is_valid: bool,
}

impl LongStream {
    /// Formats the stream and passes the formatted text to `write`, piece by piece. Reports the problems. `compares`
    /// says whether the text is compared with the text before. Returns `None` if the file can no longer be opened.
    pub fn format(
        self,
        session: &mut Session,
        compares: bool,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Option<StreamSummary>, Failure> {
        let opened = self.pipe.map_or_else(|| open(&self.name), Ok);
        let mut source = match opened
            .and_then(|reader| Stream::with_limits(reader, Some(FileFormat::Long), session.options.stream_limits()))
        {
            Ok(stream) => AdSource::new(&self.name, stream),
            Err(error) => {
                report_unreadable(session, &self.name, &error)?;
                return Ok(None);
            }
        };
        source.reads_unfinished = true;
        let task = FormatTask(session.dialect());
        let mut joiner = FormattedBlockJoiner::default();
        let mut comparison = TextComparison::default();
        let mut is_valid = true;
        for_each_block(session, [&mut source], &task, &mut |session, source, text, block| {
            for problem in &block.problems {
                session.report_problem(text, &problem.clone().after_ads(source.ads_read))?;
            }
            is_valid &= block.is_valid();
            source.ads_read += block.ads;
            if compares {
                comparison.push(Side::Before, &text.block.text);
            }
            for piece in joiner.join(&text.block.text, &block) {
                if compares {
                    comparison.push(Side::After, &piece);
                }
                write(&piece)?;
            }
            Ok(true)
        })?;
        Ok(Some(StreamSummary { has_changed: comparison.has_difference(), is_valid }))
    }
}

/// Formats the ads of a block for this dialect.
struct FormatTask(Dialect);

impl BlockTask for FormatTask {
    type State = LongFormatter;
    type Output = FormattedBlock;

    fn new_state(&self) -> LongFormatter {
        LongFormatter::new(self.0)
    }

    fn run(&self, formatter: &mut LongFormatter, block: &StreamBlock) -> FormattedBlock {
        formatter.format(block)
    }
}

/// Comparison of a text before formatting with the text after, which come in pieces.
#[derive(Default)]
struct TextComparison {
    /// The text of one side that has no counterpart on the other side yet.
    ahead: Vec<u8>,
    /// The side of `ahead`.
    side: Side,
    is_different: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Side {
    #[default]
    Before,
    After,
}

impl TextComparison {
    /// Adds a piece of one side.
    fn push(&mut self, side: Side, piece: &[u8]) {
        if self.is_different {
            return;
        }
        let both = if self.side == side { 0 } else { self.ahead.len().min(piece.len()) };
        self.is_different = self.ahead[..both] != piece[..both];
        self.ahead.drain(..both);
        if self.ahead.is_empty() || self.side == side {
            self.side = side;
            self.ahead.extend_from_slice(&piece[both..]);
        }
    }

    /// Whether the sides differ, if no pieces follow.
    fn has_difference(&self) -> bool {
        self.is_different || !self.ahead.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Side, TextComparison};

    #[test]
    fn pieces_are_compared_as_one_text() {
        for (pieces, is_different) in [
            (vec![], false),
            (vec![("abc", "ab"), ("", "cd"), ("def", "ef")], false),
            (vec![("a", ""), ("b", ""), ("", "a"), ("c", "bc")], false),
            (vec![("", "abcd"), ("ab", ""), ("cd", "")], false),
            (vec![("abc", "ab"), ("", "d")], true),
            (vec![("abc", "ab")], true),
            (vec![("ab", "abc"), ("", "d")], true),
            (vec![("x", "y"), ("y", "x")], true),
            // A difference stays one.
            (vec![("x", "y"), ("z", "z")], true),
            (vec![("ab", "abc"), ("c", "")], false),
            (vec![("a", ""), ("", "ab"), ("b", "")], false),
        ] {
            let mut comparison = TextComparison::default();
            for (before, after) in &pieces {
                comparison.push(Side::Before, before.as_bytes());
                comparison.push(Side::After, after.as_bytes());
            }
            assert_eq!(comparison.has_difference(), is_different, "{pieces:?}");
        }
    }
}
