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

    /// Passes the next word if it is this keyword.
    pub fn skip_keyword(&mut self, keyword: &str) {
        if let Some(word) = self.peek()
            && word.is(keyword)
        {
            self.next();
        }
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

#[cfg(test)]
mod tests {
    use super::{FormatWords, problem_at, similar_words};

    #[test]
    fn words_have_places_and_quotes() {
        let text = "x  one 'two three' \"it's\" '' a'b 'open end ";
        let mut words = FormatWords::new(text, 1..text.len());
        assert_eq!((words.rest(), words.end()), ((text[3..].trim_end(), 3..42), 43));
        for (word, range, is_quoted, is_unclosed) in [
            ("one", 3..6, false, false),
            ("two three", 7..18, true, false),
            ("it's", 19..25, true, false),
            ("", 26..28, true, false),
            ("a'b", 29..32, false, false),
            ("open end", 33..42, true, true),
        ] {
            let (peeked, next) = (words.peek().unwrap(), words.next().unwrap());
            assert_eq!((peeked.text, peeked.range), (next.text, next.range.clone()));
            assert_eq!(
                (next.text, next.range.clone(), next.is_quoted, next.is_unclosed),
                (word, range, is_quoted, is_unclosed)
            );
            assert_eq!((next.is(word), next.is("other")), (!is_quoted, false));
        }
        assert_eq!(words.rest(), ("", 43..43));
        assert!(words.peek().is_none() && words.next().is_none());
    }

    #[test]
    fn hints_name_the_most_similar_word_or_all() {
        let words = ["WIDTH", "AS", "ALWAYS"];
        for (word, hint) in [
            ("widht", "did you mean WIDTH?"),
            ("Alway", "did you mean ALWAYS?"),
            ("nothing", "the keywords are WIDTH, AS, ALWAYS"),
        ] {
            assert_eq!(similar_words(word, &words), hint);
        }
        assert_eq!(problem_at(1..2, "wrong", "").help, None);
        assert_eq!(problem_at(1..2, "wrong", "right").help.as_deref(), Some("right"));
    }
}
