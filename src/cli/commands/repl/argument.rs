//! What stands behind a command, with its place.

use std::ops::Range;

use classad::format::Problem;

use super::arguments::{Word, words};
use crate::cli::Failure;
use crate::cli::io::source::Text;
use crate::cli::session::Session;

/// A part of an entry.
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    /// The entry.
    pub source: &'a Text,
    pub text: &'a str,
    /// Where it begins in the entry.
    pub offset: usize,
}

impl<'a> Argument<'a> {
    /// What stands in a range of the text of an entry.
    pub fn of(source: &'a Text, text: &'a str, range: Range<usize>) -> Self {
        Argument { source, text: &text[range.clone()], offset: range.start }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Its words.
    pub fn words(&self) -> Vec<Word> {
        words(self.text)
    }

    /// A part of it.
    pub fn part(&self, range: Range<usize>) -> Self {
        Argument { text: &self.text[range.clone()], offset: self.offset + range.start, ..*self }
    }

    /// Where it stands in the entry.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.text.len()
    }

    /// Says under it what is wrong with it.
    pub fn refuse(&self, session: &mut Session, message: impl Into<String>) -> Failure {
        self.problem(session, &Problem::at(self.range(), 0, message))
    }

    /// The same with its own place and advice.
    pub fn problem(&self, session: &mut Session, problem: &Problem) -> Failure {
        session.problem(self.source, problem).err().unwrap_or(Failure::Refused(None))
    }

    /// The one number that it is, if it is not empty.
    pub fn number(&self, session: &mut Session) -> Result<Option<usize>, Failure> {
        if self.is_empty() {
            return Ok(None);
        }
        let number = self.text.parse().ok().filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| self.refuse(session, "how many? This is no number from 1 on"))
    }
}
