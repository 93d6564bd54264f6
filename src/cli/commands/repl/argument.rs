//! The argument of a command, with its location in the entry.

use std::ops::Range;

use classad::format::Problem;

use super::arguments::{ArgumentWord, split_words};
use crate::cli::Failure;
use crate::cli::io::source::SourceText;
use crate::cli::session::Session;

/// A part of an entry: the argument of a command, or a part of one.
#[derive(Clone, Copy)]
pub struct CommandArgument<'a> {
    /// The text of the entry, for diagnostics.
    pub source: &'a SourceText,
    pub text: &'a str,
    /// Byte offset of the part in the entry.
    pub offset: usize,
}

impl<'a> CommandArgument<'a> {
    /// Makes the argument that stands in a byte range of the entry `text`.
    pub fn from_range(source: &'a SourceText, text: &'a str, range: Range<usize>) -> Self {
        CommandArgument { source, text: &text[range.clone()], offset: range.start }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Splits the argument into words.
    pub fn words(&self) -> Vec<ArgumentWord> {
        split_words(self.text)
    }

    /// Returns a part of the argument; `range` is a byte range of the argument.
    pub fn part(&self, range: Range<usize>) -> Self {
        CommandArgument { text: &self.text[range.clone()], offset: self.offset + range.start, ..*self }
    }

    /// The byte range of the argument in the entry.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.text.len()
    }

    /// Reports an error, with the argument marked in the entry.
    pub fn report_error(&self, session: &mut Session, message: impl Into<String>) -> Failure {
        self.report_problem(session, &Problem::error_at(self.range(), 0, message))
    }

    /// Reports a problem of the entry that has its own range and help.
    pub fn report_problem(&self, session: &mut Session, problem: &Problem) -> Failure {
        session.report_problem(self.source, problem).err().unwrap_or(Failure::Refused(None))
    }

    /// Parses the argument as a number from 1 on; `None` if it is empty.
    ///
    /// # Errors
    ///
    /// The argument is no such number; that is reported.
    pub fn number(&self, session: &mut Session) -> Result<Option<usize>, Failure> {
        if self.is_empty() {
            return Ok(None);
        }
        let number = self.text.parse().ok().filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| self.report_error(session, "how many? This is no number from 1 on"))
    }
}
