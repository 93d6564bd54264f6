//! Problems in files of ads, and positions in these files.

use std::ops::Range;

use crate::ad::{ErrorCause, Expression, Value};
use crate::syntax::SyntaxError;

/// How serious a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The ad cannot be used.
    Error,
    /// The ad is kept, but may not have the intended meaning.
    Warning,
}

/// An error or a warning about a file of ads, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Error or warning: an ad with an error cannot be used.
    pub severity: Severity,
    /// Byte range in the file.
    pub range: Range<usize>,
    /// 1-based number of the ad in its file; 0 if the problem belongs to no ad.
    pub ad_number: usize,
    /// The message: a phrase without a full stop.
    pub message: String,
    /// A hint how to correct the mistake; `None` if there is no hint.
    pub help: Option<String>,
    /// A second place that explains the problem, such as an unclosed bracket: its byte range, and a message about it.
    pub related: Option<(Range<usize>, String)>,
}

/// Beginning of the warning that a banner of a history differs from its record. Often all records of a file have it.
pub(super) const BANNER_DIFFERS: &str = "this line and the record above it differ in ";

/// The warning about text behind the expression of an attribute.
pub(super) const IGNORED_TEXT: &str = "the text after the expression is ignored, as in HTCondor";

impl Problem {
    /// Whether the range of the problem is text without effect.
    #[must_use]
    pub fn is_ignored_text(&self) -> bool {
        self.message == IGNORED_TEXT
    }

    /// Returns what a problem has in common with others that a file can have by the hundred; `None` for other problems. Of
    /// these, a reader needs one.
    #[must_use]
    pub fn recurring_kind(&self) -> Option<&str> {
        self.message.split(';').next().filter(|kind| kind.starts_with(BANNER_DIFFERS))
    }

    /// Creates an error without a hint. `range` is a byte range in the file, `ad_number` the 1-based number of the ad.
    #[must_use]
    pub fn error_at(range: Range<usize>, ad_number: usize, message: impl Into<String>) -> Self {
        Problem { severity: Severity::Error, range, ad_number, message: message.into(), help: None, related: None }
    }

    /// Converts a syntax error into a problem. The text that was parsed begins at byte `offset` of the file.
    #[must_use]
    pub fn from_syntax(error: SyntaxError, offset: usize, ad_number: usize) -> Self {
        let problem = Problem {
            help: error.help,
            related: error.related.map(|(span, text)| (span.range(), text)),
            ..Problem::error_at(error.span.range(), ad_number, error.message)
        };
        let problem = if error.keeps_ad { problem.losing_its_value() } else { problem };
        problem.map_ranges(|range| range.start + offset..range.end + offset)
    }

    /// Applies `map` to both byte ranges of the problem. This turns ranges in a part of a file into ranges in the file.
    #[must_use]
    pub fn map_ranges(self, map: impl Fn(Range<usize>) -> Range<usize>) -> Self {
        let related = self.related.map(|(range, label)| (map(range), label));
        Problem { range: map(self.range), related, ..self }
    }

    /// Adds a hint how to correct the mistake.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the number of ads before the text to the number of the ad. A problem of no ad stays one.
    #[must_use]
    pub fn after_ads(self, before: usize) -> Self {
        let ad_number = if self.ad_number > 0 { self.ad_number.saturating_add(before) } else { 0 };
        Problem { ad_number, ..self }
    }

    /// Turns the problem into the warning that only the value is lost, and the rest of the ad is kept. Readers put
    /// [`lost_value`] in its place.
    #[must_use]
    pub(super) fn losing_its_value(mut self) -> Self {
        self.message.push_str(": the value is error");
        self.as_warning()
    }

    /// Turns the problem into a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }
}

/// Returns the value of an attribute whose text HTCondor reads as another value than it says.
pub(super) fn lost_value() -> Expression {
    Expression::literal(Value::Error(ErrorCause::default()))
}

/// A line and a column, as people count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the column, from 1, counted in characters.
    pub column: usize,
}

impl Position {
    /// The position of the beginning of a text.
    pub const START: Position = Position { line: 1, column: 1 };

    /// Returns the position of the end of `text`, whose beginning is at the position `self`. O(n) in the length of the
    /// text.
    #[must_use]
    pub fn after(self, text: &[u8]) -> Self {
        let lines = memchr::memchr_iter(b'\n', text).count();
        let line_start = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        let line = &text[line_start..];
        // Most text is ASCII, and to count its characters takes no time.
        let characters = if line.is_ascii() { line.len() } else { String::from_utf8_lossy(line).chars().count() };
        let before = if lines == 0 { self.column } else { 1 };
        Position { line: self.line.saturating_add(lines), column: before.saturating_add(characters) }
    }

    /// Returns the position of a byte offset in a text. O(n) in the offset.
    #[must_use]
    pub fn of_offset(text: &[u8], offset: usize) -> Self {
        Position::START.after(&text[..offset.min(text.len())])
    }
}
