//! Several texts that are equal but for numbers, as one text with the range of each number.

use std::fmt;
use std::hash::{Hash, Hasher};

use classad::text::with_commas;
use rustc_hash::{FxHashSet, FxHasher};

/// A text that stands for several texts which are equal but for numbers.
pub struct SpreadText {
    pieces: Vec<Piece>,
    /// The largest weight of a text.
    weight: usize,
    /// The numbers in code of each text, as hashes.
    variants: FxHashSet<u64>,
}

/// A part of the text, with the number that ends it.
struct Piece {
    before: String,
    number: SpreadNumber,
}

enum SpreadNumber {
    /// The smallest and the largest number, as they are written.
    Range([String; 2]),
    /// The number of the text with the largest weight: it is part of an expression or a string, which a range would
    /// falsify.
    Code(String),
}

impl SpreadText {
    pub fn new(text: &str) -> Self {
        let (mut is_code, mut is_string) = (false, false);
        let piece = |(before, number): (&str, &str)| {
            is_code ^= before.matches('`').count() % 2 == 1;
            is_string ^= before.matches('"').count() % 2 == 1;
            let number = number.to_owned();
            let number = if is_code || is_string {
                SpreadNumber::Code(number)
            } else {
                SpreadNumber::Range([number.clone(), number])
            };
            Piece { before: before.to_owned(), number }
        };
        SpreadText { pieces: text_pieces(text).map(piece).collect(), weight: 0, variants: FxHashSet::default() }
    }

    /// Extends the ranges to the numbers of a text that is equal but for numbers. `weight` is the number of subjects
    /// that have the text.
    pub fn include(&mut self, text: &str, weight: usize) {
        let mut hasher = FxHasher::default();
        let is_heaviest = weight > self.weight;
        self.weight = self.weight.max(weight);
        for (piece, (_, number)) in self.pieces.iter_mut().zip(text_pieces(text)) {
            match &mut piece.number {
                SpreadNumber::Range([least, greatest]) => {
                    if value(number) < value(least) {
                        number.clone_into(least);
                    }
                    if value(number) > value(greatest) {
                        number.clone_into(greatest);
                    }
                }
                SpreadNumber::Code(heaviest) => {
                    number.hash(&mut hasher);
                    if is_heaviest {
                        number.clone_into(heaviest);
                    }
                }
            }
        }
        self.variants.insert(hasher.finish());
    }
}

/// Writes a number that is the same in all texts, and `least..greatest` if it is not. Says at the end how many other
/// expressions the text stands for.
impl fmt::Display for SpreadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Piece { before, number } in &self.pieces {
            f.write_str(before)?;
            match number {
                SpreadNumber::Range([least, greatest]) if least != greatest => write!(f, "{least}..{greatest}")?,
                SpreadNumber::Range([number, _]) | SpreadNumber::Code(number) => f.write_str(number)?,
            }
        }
        match self.variants.len().saturating_sub(1) {
            0 => Ok(()),
            others => write!(f, " (and {} like it)", with_commas(others)),
        }
    }
}

/// The order of numbers, in which commas may separate the thousands. Versions such as `1.2.3` are ordered as texts.
fn value(number: &str) -> (f64, &str) {
    (number.replace(',', "").parse().unwrap_or(0.0), number)
}

/// Cuts a text into pieces: each has a text without numbers, and the number that follows; it is empty at the end. Digits
/// within names are no numbers, as in `x86_64`.
pub fn text_pieces(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = number_start(rest);
        let (before, number_on) = rest.split_at(start);
        let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
        let length = number_on.find(|letter| !is_part(letter)).unwrap_or(number_on.len());
        let number = number_on[..length].trim_end_matches(['.', ',']);
        rest = &number_on[number.len()..];
        Some((before, number))
    })
}

/// Returns the offset of the first number; the length of the text if there is none.
fn number_start(text: &str) -> usize {
    let mut is_word = false;
    for (offset, letter) in text.char_indices() {
        if letter.is_ascii_digit() && !is_word {
            return offset;
        }
        is_word = letter.is_alphanumeric() || letter == '_';
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
    fn numbers_in_code_are_those_of_the_most_frequent_text() {
        let mut text = SpreadText::new("`Memory > 10` and \"node1 2\" for 7");
        for (other, weight, expected) in [
            ("`Memory > 10` and \"node1 2\" for 7", 1, "`Memory > 10` and \"node1 2\" for 7"),
            ("`Memory > 99` and \"node1 3\" for 5", 4, "`Memory > 99` and \"node1 3\" for 5..7 (and 1 like it)"),
            ("`Memory > 10` and \"node1 2\" for 8", 2, "`Memory > 99` and \"node1 3\" for 5..8 (and 1 like it)"),
        ] {
            text.include(other, weight);
            assert_eq!(text.to_string(), expected);
        }
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
