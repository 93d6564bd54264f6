//! Ads laid out: the same tokens and comments, in the same order, with the usual space between them.
//!
//! It works on the source: spellings (`64M`, `0xff`, `=?=`, quoted names, escapes) and parentheses stay
//! as written.  The lexer's tokens and the comments between them are [`pieces`], the pieces of an ad
//! become a [`tree`] of what may be broken over lines, and the [`printer`] breaks what does not fit.

mod bracketed;
mod long;
mod pieces;
mod printer;
#[cfg(test)]
mod tests;
mod tree;

use crate::ad::Dialect;

use super::{Form, Problem, Severity};

/// A text laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The text.  Ads that do not parse stand in it as they were.
    pub text: Vec<u8>,
    /// What is wrong with the ads that do not parse; places are those of the original text.
    pub problems: Vec<Problem>,
}

impl Layout {
    /// Whether every ad of the text parsed.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }
}

/// Lays out bracketed ads or the long form.  Laying out twice is laying out once, and the ads mean what
/// they meant.
///
/// A bracketed ad gets a line for each attribute; what does not fit into `width` columns is broken at
/// its operators, those that bind least first, and at the commas and semicolons of lists, calls and
/// nested ads.  The long form, which forbids breaking, keeps its lines.  Comments and blank lines stay
/// where they are, except that several blank lines become one.  Line ends are `\r\n` where all were,
/// else `\n`; the last line has one.  A byte order mark is dropped: HTCondor takes it for a part of
/// the first name.
///
/// # Errors
///
/// A form that leaves nothing to lay out.
pub fn layout(text: &[u8], form: Form, dialect: Dialect, width: usize) -> Result<Layout, Problem> {
    let line_end: &[u8] = if only_windows_line_ends(text) { b"\r\n" } else { b"\n" };
    match form {
        Form::New => Ok(bracketed::layout(text, dialect, width, line_end)),
        Form::Long => Ok(long::layout(text, dialect, line_end)),
        Form::Compressed => Err(Problem::at(0..text.len().min(1), 0, "this is compressed, and only text has a layout")
            .with_help("unpack it first")),
        other => {
            let message = format!("this is {other}; only bracketed ads and the long form are laid out");
            Err(Problem::at(0..text.len().min(1), 0, message)
                .with_help("`classad convert` writes it anew, in this form or another"))
        }
    }
}

/// Whether every line end of a text is `\r\n`, and there is one.
fn only_windows_line_ends(text: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', text).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && text[at - 1] == b'\r')
}
