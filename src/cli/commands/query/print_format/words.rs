//! The words of a line of a print format.

use std::ops::Range;

use classad::format::Problem;
use classad::text::{closest_names, suggestion};

/// A word, and its place in the text.
#[derive(Clone)]
pub struct FormatWord<'t> {
    /// The word without its quotes.
    pub text: &'t str,
    /// Bytes of the word, with its quotes.
    pub range: Range<usize>,
    pub is_quoted: bool,
    /// Whether the quote at the end is missing.
    pub is_unclosed: bool,
}

impl FormatWord<'_> {
    /// Whether the word is this keyword. A quoted word is not a keyword.
    pub fn is(&self, keyword: &str) -> bool {
        !self.is_quoted && self.text == keyword
    }
}

/// The words of a line, one after the other.
pub struct FormatWords<'t> {
    text: &'t str,
    /// Bytes of the line that are not read yet.
    rest: Range<usize>,
}

impl<'t> FormatWords<'t> {
    /// Makes the words of a line of `text`, without its line feed.
    pub fn new(text: &'t str, line: Range<usize>) -> Self {
        FormatWords { text, rest: line }
    }

    /// Returns what is not read yet, without blanks around it, and its place.
    pub fn rest(&self) -> (&'t str, Range<usize>) {
        let rest = &self.text[self.rest.clone()];
        let start = self.rest.start + (rest.len() - rest.trim_start().len());
        (rest.trim(), start..start + rest.trim().len())
    }

    /// Returns the next word, which stays the next one.
    pub fn peek(&self) -> Option<FormatWord<'t>> {
        FormatWords { text: self.text, rest: self.rest.clone() }.next()
    }

    /// The end of the line.
    pub fn end(&self) -> usize {
        self.rest.end
    }
}

impl<'t> Iterator for FormatWords<'t> {
    type Item = FormatWord<'t>;

    fn next(&mut self) -> Option<FormatWord<'t>> {
        let (rest, Range { start, .. }) = self.rest();
        let first = rest.chars().next()?;
        let (text, length, is_quoted, is_unclosed) = if matches!(first, '"' | '\'') {
            match rest[1..].find(first) {
                Some(length) => (&rest[1..=length], length + 2, true, false),
                None => (&rest[1..], rest.len(), true, true),
            }
        } else {
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (&rest[..length], length, false, false)
        };
        self.rest.start = start + length;
        Some(FormatWord { text, range: start..start + length, is_quoted, is_unclosed })
    }
}

/// Makes a problem with a hint.
pub fn problem_at(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Problem {
    let help = Some(help.into()).filter(|help| !help.is_empty());
    Problem { help, ..Problem::error_at(range, 0, message) }
}

/// Returns a hint to the most similar words; the words are in capitals.
pub fn similar_words(word: &str, among: &[&str]) -> String {
    let near = closest_names(&word.to_uppercase(), among.iter().copied());
    let near = suggestion(&near);
    match near.trim_start_matches([' ', ',', ';', '(']).trim_end_matches(')') {
        "" => format!("the keywords are {}", among.join(", ")),
        near => near.to_owned(),
    }
}
