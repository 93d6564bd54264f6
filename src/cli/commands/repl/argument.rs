//! Parts of an entry, such as the argument of a command, and its words: names of files, settings, numbers.

use std::ops::Range;

use crate::cli::outcome::{Failure, refuse};

/// A part of an entry, with its position for diagnostics.
#[derive(Clone, Copy)]
pub struct EntryPart<'e> {
    pub text: &'e str,
    /// Byte offset of the part in the entry.
    pub offset: usize,
}

/// A word of an argument.
pub struct ArgumentWord<'e> {
    /// The word without quotes and backslashes.
    pub text: String,
    /// The word as it stands in the entry.
    pub part: EntryPart<'e>,
}

impl<'e> EntryPart<'e> {
    /// Returns the whole entry as a part.
    pub fn whole(text: &'e str) -> Self {
        EntryPart { text, offset: 0 }
    }

    pub fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// The byte range of the part in the entry.
    pub fn range(self) -> Range<usize> {
        self.offset..self.offset + self.text.len()
    }

    /// Returns a smaller part of the entry. `range` is a byte range of the text of `self`.
    pub fn part(self, range: Range<usize>) -> Self {
        EntryPart { text: &self.text[range.clone()], offset: self.offset + range.start }
    }

    /// Splits the part at a byte offset of its text. The second part is without its leading blanks.
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let rest = self.text[at..].trim_start();
        (self.part(0..at), EntryPart { text: rest, offset: self.range().end - rest.len() })
    }

    /// Splits the part into its first word and the text after this word.
    pub fn split_first_word(self) -> (Self, Self) {
        self.split_at(self.text.find(char::is_whitespace).unwrap_or(self.text.len()))
    }

    /// Removes the blanks at both ends.
    pub fn trim(self) -> Self {
        let (_, rest) = self.split_at(0);
        rest.part(0..rest.text.trim_end().len())
    }

    /// Splits the part into words at blanks, except in double quotes and after a backslash. `~/` at the beginning of a
    /// word is replaced by the user's home directory.
    pub fn words(self) -> Vec<ArgumentWord<'e>> {
        let (mut words, (_, mut rest)) = (Vec::new(), self.split_at(0));
        while !rest.is_empty() {
            let (mut text, mut is_quoted) = (String::new(), false);
            let mut characters = rest.text.char_indices();
            let end = loop {
                match characters.next() {
                    None => break rest.text.len(),
                    Some((_, '\\')) => text.extend(characters.next().map(|(_, escaped)| escaped)),
                    Some((_, '"')) => is_quoted = !is_quoted,
                    Some((at, blank)) if blank.is_whitespace() && !is_quoted => break at,
                    Some((_, other)) => text.push(other),
                }
            };
            if let Some((rest, home)) = text.strip_prefix("~/").zip(std::env::home_dir()) {
                text = home.join(rest).to_string_lossy().into_owned();
            }
            let (part, next) = rest.split_at(end);
            words.push(ArgumentWord { text, part });
            rest = next;
        }
        words
    }

    /// Parses the argument of a command as a number of at least 1; `None` if the argument is empty.
    pub fn number(self) -> Result<Option<usize>, Failure> {
        match self.text.parse() {
            _ if self.is_empty() => Ok(None),
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => refuse("write a number of at least 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EntryPart;

    #[test]
    fn quotes_and_backslashes_hold_words_together() {
        let of = |text| {
            EntryPart::whole(text).words().into_iter().map(|word| (word.text, word.part.range())).collect::<Vec<_>>()
        };
        assert_eq!(of(" a  b "), [("a".to_owned(), 1..2), ("b".to_owned(), 4..5)]);
        assert_eq!(of("\"a b\" c\\ d"), [("a b".to_owned(), 0..5), ("c d".to_owned(), 6..10)]);
        assert_eq!(of("\"open end"), [("open end".to_owned(), 0..9)]);
        assert_eq!(of(""), []);
    }

    #[test]
    fn a_part_of_an_entry_keeps_its_place() {
        let whole = EntryPart::whole("  ab  cd ");
        let trimmed = whole.trim();
        assert_eq!((trimmed.text, trimmed.range()), ("ab  cd", 2..8));
        let (first, rest) = trimmed.split_first_word();
        assert_eq!((first.text, first.range(), rest.text, rest.range()), ("ab", 2..4, "cd", 6..8));
        let (only, nothing) = rest.split_first_word();
        assert_eq!((only.text, nothing.text, nothing.range(), nothing.is_empty()), ("cd", "", 8..8, true));
        let part = trimmed.part(1..2);
        assert_eq!((part.text, part.range()), ("b", 3..4));
    }

    #[test]
    fn numbers_are_at_least_one() {
        for (text, expected) in
            [("", Some(None)), ("1", Some(Some(1))), ("12", Some(Some(12))), ("0", None), ("-1", None), ("a", None)]
        {
            assert_eq!(EntryPart::whole(text).number().ok(), expected, "{text}");
        }
    }
}
