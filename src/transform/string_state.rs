//! Where a text with texts of an ad in it is within a string.

use crate::syntax::{ParseOptions, StringSyntax};

/// State behind a text: whether it is within a string or a quoted name.
#[derive(Clone, Debug)]
pub(super) struct StringState {
    has_escapes: bool,
    /// The quote that ends the string; `None` outside.
    delimiter: Option<u8>,
    /// Whether the last byte is a backslash that escapes a quote.
    is_escaped: bool,
    /// Whether an ad wrote the last byte.
    is_from_ad: bool,
    /// Number of bytes of the text.
    length: usize,
    /// Byte offset of a quote of the rules that a backslash of the ad escapes.
    lost_quote: Option<usize>,
}

impl StringState {
    /// Returns the state before a text with this syntax of strings.
    pub fn new(rules: ParseOptions) -> Self {
        let has_escapes = rules.strings == StringSyntax::Escaped;
        let (delimiter, is_escaped, is_from_ad, length, lost_quote) = (None, false, false, 0, None);
        StringState { has_escapes, delimiter, is_escaped, is_from_ad, length, lost_quote }
    }

    /// Takes further text into account.
    pub fn advance(&mut self, text: &[u8], is_from_ad: bool) {
        for byte in text {
            let is_quote = matches!(byte, b'"' | b'\'');
            match self.delimiter {
                None => self.delimiter = Some(*byte).filter(|_| is_quote),
                Some(delimiter) if *byte == delimiter && !self.is_escaped => self.delimiter = None,
                Some(delimiter) if *byte == delimiter && self.is_from_ad && !is_from_ad => {
                    self.lost_quote = self.lost_quote.or(Some(self.length));
                }
                Some(_) => {}
            }
            self.is_escaped = *byte == b'\\' && self.delimiter.is_some() && !(self.has_escapes && self.is_escaped);
            self.is_from_ad = is_from_ad;
            self.length += 1;
        }
    }

    /// Changes a text of an ad so that it does not end the string in which it is put.
    pub fn guard(&self, text: &mut Vec<u8>) {
        let Some(delimiter) = self.delimiter else { return };
        let mut guarded = Vec::with_capacity(text.len());
        let mut backslashes = 0;
        for byte in text.iter() {
            if *byte == delimiter {
                guarded.resize(guarded.len() + if self.has_escapes { backslashes } else { 0 }, b'\\');
                guarded.push(b'\\');
            }
            guarded.push(*byte);
            backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
        }
        guarded.resize(guarded.len() + if self.has_escapes { backslashes } else { 0 }, b'\\');
        *text = guarded;
    }

    /// Whether a string goes on behind its quote because of a backslash of the ad. `text` is the whole text.
    pub fn is_broken(&self, text: &[u8]) -> bool {
        self.lost_quote.is_some_and(|at| !text[at + 1..].trim_ascii().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::StringState;
    use crate::ad::Dialect;
    use crate::syntax::ParseOptions;

    /// Returns a text of an ad as it is guarded behind a text of the rules, in strings without and with escapes.
    fn guarded(before: &str, text: &str) -> [String; 2] {
        [ParseOptions::long(Dialect::Condor), ParseOptions::new(Dialect::Condor)].map(|rules| {
            let mut state = StringState::new(rules);
            state.advance(before.as_bytes(), false);
            let mut guarded = text.as_bytes().to_vec();
            state.guard(&mut guarded);
            String::from_utf8(guarded).unwrap()
        })
    }

    #[test]
    fn a_text_of_an_ad_ends_no_string() {
        for (before, text, long, escaped) in [
            ("", "a\"b'c\\", "a\"b'c\\", "a\"b'c\\"),
            ("\"", "a'b", "a'b", "a'b"),
            ("\"", "a\"b", "a\\\"b", "a\\\"b"),
            ("'", "a\"b'", "a\"b\\'", "a\"b\\'"),
            ("\"", "a\\b", "a\\b", "a\\b"),
            ("\"", "a\\", "a\\", "a\\\\"),
            ("\"", "a\\\\", "a\\\\", "a\\\\\\\\"),
            ("\"", "a\\\"", "a\\\\\"", "a\\\\\\\""),
            ("\"", "\\x\"", "\\x\\\"", "\\x\\\""),
            // The string is closed, or its quote escaped.
            ("\"x\"", "\"", "\"", "\""),
            ("\"x\\\"", "\"", "\\\"", "\\\""),
            ("\"x\\\\\"", "\"", "\\\"", "\""),
            ("\"x'", "'", "'", "'"),
            ("\\\"", "\"", "\\\"", "\\\""),
        ] {
            assert_eq!(guarded(before, text), [long, escaped], "{before} {text}");
        }
    }

    #[test]
    fn a_backslash_of_an_ad_must_not_escape_the_last_quote() {
        for (parts, is_broken) in [
            (&[("\"", false), ("a\\", true), ("\"", false)][..], false),
            (&[("\"", false), ("a\\", true), ("\" ", false)], false),
            (&[("\"", false), ("a\\", true), ("\" + 1", false)], true),
            (&[("\"", false), ("a\\", true), ("\"", false), ("x", true)], true),
            (&[("\"", false), ("a\\", true), ("'", false), ("x", true)], false),
            (&[("\"", false), ("a", true), ("\" + 1", false)], false),
            (&[("\"", false), ("a\\", false), ("\" + 1", false)], false),
            (&[("\"", false), ("a\\\" + 1", true)], false),
            (&[("a\\", true), ("\" + 1", false)], false),
        ] {
            let mut state = StringState::new(ParseOptions::long(Dialect::Condor));
            for (text, is_from_ad) in parts {
                state.advance(text.as_bytes(), *is_from_ad);
            }
            let text: String = parts.iter().map(|(text, _)| *text).collect();
            assert_eq!(state.is_broken(text.as_bytes()), is_broken, "{text}");
        }
        let mut state = StringState::new(ParseOptions::new(Dialect::Condor));
        for (text, is_from_ad) in [("\"", false), ("a\\\\", true)] {
            state.advance(text.as_bytes(), is_from_ad);
        }
        state.advance(b"\" + 1", false);
        assert!(!state.is_broken(b"\"a\\\\\" + 1"));
    }
}
