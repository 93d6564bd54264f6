//! Several texts that are equal but for numbers and values of attributes, as one text with the range of each number.

use std::fmt;
use std::hash::{Hash, Hasher};

use classad::text::{counted, shorten_words};
use rustc_hash::{FxHashSet, FxHasher};

/// A text that stands for several texts which are equal but for numbers.
pub struct SpreadText {
    /// The text before each number, and the smallest and the largest number there as they are written.
    pieces: Vec<(String, [String; 2])>,
    /// The text that the most subjects have, with their number.
    heaviest: (usize, String),
    /// The numbers within expressions and strings of each text, as hashes.
    variants: FxHashSet<u64>,
}

impl SpreadText {
    pub fn new(text: &str) -> Self {
        let piece = |(before, number): (&str, &str)| (before.to_owned(), [number.to_owned(), number.to_owned()]);
        let pieces = text_pieces(text).map(piece).collect();
        SpreadText { pieces, heaviest: (0, text.to_owned()), variants: FxHashSet::default() }
    }

    /// Extends the ranges to the numbers of a text that is equal but for numbers. `weight` is the number of subjects
    /// that have the text. Of a text that differs in words, there is no range. An empty text says nothing.
    pub fn include(&mut self, text: &str, weight: usize) {
        if text.is_empty() {
            return;
        }
        if self.pieces.is_empty() {
            *self = SpreadText::new(text);
        }
        let mut code = FxHasher::default();
        let (mut is_code, mut is_string) = (false, false);
        let is_alike = text_pieces(text).map(|(before, _)| before).eq(self.pieces.iter().map(|(before, _)| before));
        if !is_alike {
            text.hash(&mut code);
        }
        let alike = if is_alike { self.pieces.as_mut_slice() } else { &mut [] };
        for ((_, [least, greatest]), (before, number)) in alike.iter_mut().zip(text_pieces(text)) {
            is_code ^= before.matches('`').count() % 2 == 1;
            is_string ^= before.matches('"').count() % 2 == 1;
            if is_code || is_string {
                number.hash(&mut code);
            }
            if value(number) < value(least) {
                number.clone_into(least);
            }
            if value(number) > value(greatest) {
                number.clone_into(greatest);
            }
        }
        self.variants.insert(code.finish());
        if weight > self.heaviest.0 {
            self.heaviest = (weight, text.to_owned());
        }
    }
}

impl SpreadText {
    /// Returns the text, cut between words to at most `most` characters. The number of other texts is not cut off.
    pub fn shortened(&self, most: usize) -> String {
        let others = self.others();
        let room = most.saturating_sub(others.chars().count());
        if others.is_empty() {
            shorten_words(&self.to_string(), most)
        } else {
            shorten_words(&self.heaviest.1, room) + &others
        }
    }

    /// Counts the texts that are other expressions or strings. Empty if there are none.
    fn others(&self) -> String {
        match self.variants.len() {
            0 | 1 => String::new(),
            all => format!(" (and {})", counted(all - 1, "variant")),
        }
    }
}

/// Writes a number that is the same in all texts, and `least..greatest` if it is not. A range would falsify an
/// expression or a string: if these differ, writes the text that the most subjects have, and how many others there are.
impl fmt::Display for SpreadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variants.len() > 1 {
            return write!(f, "{}{}", self.heaviest.1, self.others());
        }
        let told = self.pieces.iter().zip(text_pieces(&self.heaviest.1));
        told.into_iter().try_for_each(|((before, [least, greatest]), (_, most_frequent))| {
            f.write_str(before)?;
            match least == greatest {
                true => f.write_str(least),
                false if least.starts_with('"') => write!(f, "{most_frequent} or others"),
                false => match (least.split_once(' '), greatest.split_once(' ')) {
                    (Some((number, unit)), Some((_, other))) if unit == other => write!(f, "{number}..{greatest}"),
                    _ => write!(f, "{least}..{greatest}"),
                },
            }
        })
    }
}

/// Units of sizes, each 1024 times the one before.
const UNITS: [&str; 6] = [" bytes", " KiB", " MiB", " GiB", " TiB", " PiB"];

/// The order of numbers, in which commas may separate the thousands, and a unit may follow. Versions such as `1.2.3` are
/// ordered as texts.
fn value(number: &str) -> (f64, &str) {
    let unit = UNITS.iter().position(|unit| number.ends_with(unit));
    let digits = number.split(' ').next().unwrap_or_default().replace(',', "");
    let scale = UNITS.iter().take(unit.unwrap_or_default()).fold(1.0, |scale, _| scale * 1024.0);
    (digits.parse().unwrap_or(0.0) * scale, number)
}

/// Cuts a text into pieces: each has a text without numbers, and the number that follows; it is empty at the end. A size
/// is a number with its unit. The value of an attribute that is a string, as in `Owner is "ann"` and `no slot has Arch
/// "ARM"`, counts as a number. Digits within names, as in `x86_64`, do not.
pub fn text_pieces(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = number_start(rest);
        let (before, number_on) = rest.split_at(start);
        let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
        let length = match number_on.strip_prefix('"') {
            Some(string) => string.find('"').map_or(number_on.len(), |end| end + 2),
            None => number_on.find(|letter| !is_part(letter)).unwrap_or(number_on.len()),
        };
        let number = number_on[..length].trim_end_matches(['.', ',']);
        let unit = UNITS.iter().find(|unit| number_on[number.len()..].starts_with(**unit));
        let number = &number_on[..number.len() + unit.map_or(0, |unit| unit.len())];
        rest = &number_on[number.len()..];
        Some((before, number))
    })
}

/// Returns the offset of the first number or value; the length of the text if there is none.
fn number_start(text: &str) -> usize {
    let (mut is_word, mut before_blank) = (false, ' ');
    for (offset, letter) in text.char_indices() {
        // A string behind a word is a value; one behind an operator is part of an expression.
        let is_value = letter == '"' && text[..offset].ends_with(' ') && before_blank.is_alphanumeric();
        if is_value || letter.is_ascii_digit() && !is_word {
            return offset;
        }
        is_word = letter.is_alphanumeric() || letter == '_';
        if letter != ' ' {
            before_blank = letter;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{SpreadText, text_pieces};

    #[test]
    fn numbers_that_differ_become_ranges() {
        let mut text = SpreadText::new("Memory >= 1,000; the largest is 64");
        for (other, expected) in [
            ("Memory >= 1,000; the largest is 64", "Memory >= 1,000; the largest is 64"),
            ("Memory >= 200; the largest is 64", "Memory >= 200..1,000; the largest is 64"),
            ("Memory >= 20000; the largest is 32.5", "Memory >= 200..20000; the largest is 32.5..64"),
        ] {
            text.include(other, 1);
            assert_eq!(text.to_string(), expected);
        }
    }

    #[test]
    fn expressions_are_those_of_the_most_frequent_text() {
        let mut text = SpreadText::new("`Memory > 10` and \"node1 2\" for 7");
        for (other, weight, expected) in [
            ("`Memory > 10` and \"node1 2\" for 7", 1, "`Memory > 10` and \"node1 2\" for 7"),
            ("`Memory > 99` and \"node1 3\" for 5", 4, "`Memory > 99` and \"node1 3\" for 5 (and 1 variant)"),
            ("`Memory > 10` and \"node1 2\" for 8", 2, "`Memory > 99` and \"node1 3\" for 5 (and 1 variant)"),
        ] {
            text.include(other, weight);
            assert_eq!(text.to_string(), expected);
        }
    }

    #[test]
    fn an_empty_text_is_no_variant() {
        let mut text = SpreadText::new("");
        for (other, expected) in [("", ""), ("`a > 1`", "`a > 1`"), ("", "`a > 1`"), ("b", "`a > 1` (and 1 variant)")] {
            text.include(other, 1);
            assert_eq!(text.to_string(), expected);
        }
    }

    #[test]
    fn texts_that_differ_in_words_are_variants() {
        let mut text = SpreadText::new("");
        for (other, expected) in [
            ("it is held", "it is held"),
            ("it is held", "it is held"),
            ("it runs for 3", "it is held (and 1 variant)"),
            ("it runs for 3", "it is held (and 1 variant)"),
            ("it runs for 5", "it is held (and 2 variants)"),
            ("it ends", "it is held (and 3 variants)"),
        ] {
            text.include(other, 1);
            assert_eq!(text.to_string(), expected);
        }
        text.include("it ends", 2);
        assert_eq!(text.to_string(), "it ends (and 3 variants)");
    }

    #[test]
    fn values_that_differ_are_of_one_cause() {
        let mut text = SpreadText::new("`Owner == \"ann\"` is false (Owner is \"user1\", Cpus is 4)");
        text.include("`Owner == \"ann\"` is false (Owner is \"bob\", Cpus is 2)", 1);
        assert_eq!(text.to_string(), "`Owner == \"ann\"` is false (Owner is \"bob\" or others, Cpus is 2..4)");
    }

    #[test]
    fn digits_within_names_are_no_numbers() {
        let pieces = |text| text_pieces(text).collect::<Vec<_>>();
        assert_eq!(pieces("Arch == \"x86_64\" in slot1"), [("Arch == \"x86_64\" in slot1", "")]);
        assert_eq!(pieces("is 5, or 1.5."), [("is ", "5"), (", or ", "1.5"), (".", "")]);
        assert_eq!(pieces("1"), [("", "1")]);
        assert_eq!(pieces(""), []);
    }
}
