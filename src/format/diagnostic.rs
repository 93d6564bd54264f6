//! What can be wrong with a file of ads, and where.

use std::ops::Range;

use crate::syntax::SyntaxError;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The ad is lost.
    Error,
    /// The ad is kept, but may not mean what was meant.
    Warning,
}

/// Something wrong in a file of ads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The offending bytes of the file.
    pub range: Range<usize>,
    /// Which ad of the file it is in; the first is 1.
    pub ad: usize,
    /// What is wrong, as a phrase.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Another place that has to do with it.
    pub related: Option<(Range<usize>, String)>,
}

impl Problem {
    /// An error at a place of the file.
    #[must_use]
    pub fn at(range: Range<usize>, ad: usize, message: impl Into<String>) -> Self {
        Problem { severity: Severity::Error, range, ad, message: message.into(), help: None, related: None }
    }

    /// A syntax error in the part of the file that begins at `offset`.
    #[must_use]
    pub fn from_syntax(error: SyntaxError, offset: usize, ad: usize) -> Self {
        let shifted = |range: Range<usize>| range.start + offset..range.end + offset;
        Problem {
            severity: Severity::Error,
            range: shifted(error.span.range()),
            ad,
            message: error.message,
            help: error.help,
            related: error.related.map(|(span, text)| (shifted(span.range()), text)),
        }
    }

    /// The problem with a word of advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }
}

/// A place as people count: lines and columns from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The beginning of a text.
    pub const START: Position = Position { line: 1, column: 1 };

    /// The place behind a text that begins here.
    #[must_use]
    pub fn behind(self, text: &[u8]) -> Self {
        let lines = memchr::memchr_iter(b'\n', text).count();
        let line_start = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        let characters = String::from_utf8_lossy(&text[line_start..]).chars().count();
        Position { line: self.line + lines, column: if lines == 0 { self.column + characters } else { 1 + characters } }
    }

    /// Where an offset of a text is.
    #[must_use]
    pub fn of(text: &[u8], offset: usize) -> Self {
        Position::START.behind(&text[..offset.min(text.len())])
    }
}
