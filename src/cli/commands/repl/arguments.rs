//! Splitting of arguments into words: names of files, settings, numbers.

use std::ops::Range;

/// A word of an argument, without its quotes.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentWord {
    pub text: String,
    /// Byte range of the word in the argument, including its quotes.
    pub range: Range<usize>,
}

/// Splits a text into words at blanks, except in double quotes and after a backslash. `~/` at the beginning of a word
/// is replaced by the user's home directory.
pub fn split_words(text: &str) -> Vec<ArgumentWord> {
    let mut words: Vec<ArgumentWord> = Vec::new();
    let (mut is_quoted, mut is_escaped, mut is_inside) = (false, false, false);
    for (at, character) in text.char_indices() {
        let begins = !is_inside && !character.is_whitespace();
        if begins {
            words.push(ArgumentWord { text: String::new(), range: at..at });
            is_inside = true;
        }
        let Some(word) = words.last_mut().filter(|_| is_inside) else { continue };
        match character {
            _ if is_escaped => {
                word.text.push(character);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            blank if blank.is_whitespace() && !is_quoted => {
                is_inside = false;
                continue;
            }
            other => word.text.push(other),
        }
        word.range.end = at + character.len_utf8();
    }
    for word in &mut words {
        if let Some(rest) = word.text.strip_prefix("~/")
            && let Some(home) = std::env::home_dir()
        {
            word.text = home.join(rest).to_string_lossy().into_owned();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn quotes_and_backslashes_hold_words_together() {
        let of = |text| split_words(text).into_iter().map(|word| (word.text, word.range)).collect::<Vec<_>>();
        assert_eq!(of(" a  b "), [("a".to_owned(), 1..2), ("b".to_owned(), 4..5)]);
        assert_eq!(of("\"a b\" c\\ d"), [("a b".to_owned(), 0..5), ("c d".to_owned(), 6..10)]);
        assert_eq!(of("\"open end"), [("open end".to_owned(), 0..9)]);
        assert_eq!(of(""), []);
    }
}
