//! Texts of literals that are found without the lexer, which most values of a pool are.

// A function that uses SIMD instructions must be inlined into a function that is compiled for these instructions.
#![allow(clippy::inline_always)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x16};

use crate::ad::Type;

/// Number of bytes that are compared at once.
const CHUNK_BYTES: usize = 16;

/// Maximum number of digits of an integer. Every decimal number with this many digits fits into 64 bits.
const MAX_INTEGER_DIGITS: usize = 18;

/// Maximum number of digits of a real that is printed with the same digits. Different decimal numbers with this many
/// digits are different reals.
const MAX_REAL_DIGITS: usize = 15;

/// The text of a literal that both dialects read alike: a boolean, a decimal number, or a string without backslashes but
/// those of escaped quotes (`\"`).
///
/// HTCondor writes nested ads into strings with escaped quotes, as in `AddressV1`.
#[derive(Clone, Copy, Debug)]
pub struct LiteralText<'t> {
    /// Length of the white space before it, in bytes.
    pub start: usize,
    /// The text, without white space around it.
    pub text: &'t [u8],
    /// The type of the value: a boolean, an integer, a real or a string.
    pub value_type: Type,
    /// Whether it is a string with escaped quotes.
    is_escaped: bool,
    /// Whether all bytes are printable ASCII characters.
    is_printable: bool,
}

impl<'t> LiteralText<'t> {
    /// Returns the literal that a text is, apart from white space around it.
    #[must_use]
    pub fn of(text: &'t [u8]) -> Option<Self> {
        let trimmed = text.trim_ascii_start();
        let (literal, rest) = LiteralText::at_start(trimmed)?;
        let start = text.len() - trimmed.len() + literal.start;
        rest.trim_ascii_start().is_empty().then_some(LiteralText { start, ..literal })
    }

    /// Returns the literal with which a text begins behind at most one space, and the text behind it. Something else may
    /// begin like this: the caller must test that the text behind it ends the value.
    #[inline]
    #[must_use]
    pub fn at_start(text: &'t [u8]) -> Option<(Self, &'t [u8])> {
        let (start, text) = text.strip_prefix(b" ").map_or((0, text), |text| (1, text));
        let (mut is_escaped, mut is_printable) = (false, true);
        let (length, value_type) = match text {
            [b'"', inside @ ..] => {
                let length;
                (length, is_escaped, is_printable) = string(inside)?;
                (length + 2, Type::String)
            }
            [b'-', digits @ ..] => {
                let (length, number_type) = number(digits)?;
                (length + 1, number_type)
            }
            [b'0'..=b'9', ..] => number(text)?,
            [b't' | b'T', ..] if has_letters(text, *b"true") => (4, Type::Boolean),
            [b'f' | b'F', rest @ ..] if has_letters(rest, *b"alse") => (5, Type::Boolean),
            _ => return None,
        };
        let (text, rest) = text.split_at_checked(length)?;
        Some((LiteralText { start, text, value_type, is_escaped, is_printable }, rest))
    }

    /// Whether it has no escapes, so that a string is the text between its quotes.
    #[must_use]
    pub fn is_simple(&self) -> bool {
        !self.is_escaped
    }

    /// Whether every way to print its value results in this text: an integer, a real with its fewest digits, a boolean in
    /// lower case, or a string of printable ASCII characters. False for strings that may be marked as expressions in JSON.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        match self.value_type {
            Type::String => self.is_printable && !self.text.starts_with(b"\"/"),
            Type::Integer => *self.text != *b"-0",
            Type::Real => is_plain_real(self.text.strip_prefix(b"-").unwrap_or(self.text)),
            _ => matches!(self.text, b"true" | b"false"),
        }
    }
}

/// Whether a text begins with these lower-case letters, in any case.
#[inline]
fn has_letters(text: &[u8], letters: [u8; 4]) -> bool {
    // The bit in which a letter differs from its capital.
    const CASE: u32 = 0x2020_2020;
    text.first_chunk().is_some_and(|first| u32::from_ne_bytes(*first) | CASE == u32::from_ne_bytes(letters))
}

/// Returns the length and the type of the number without a sign with which a text begins.
#[inline]
fn number(text: &[u8]) -> Option<(usize, Type)> {
    let whole = digits(text);
    if let Some((b'.', fraction)) = text.get(whole..)?.split_first() {
        let fraction = digits(fraction);
        return (whole > 0 && fraction > 0).then_some((whole + 1 + fraction, Type::Real));
    }
    // A leading 0 makes a longer integer octal in the papers' dialect and an error in HTCondor's.
    let is_decimal = (1..=MAX_INTEGER_DIGITS).contains(&whole) && (text[0] != b'0' || whole == 1);
    is_decimal.then_some((whole, Type::Integer))
}

/// Returns the number of digits with which a text begins.
#[inline]
fn digits(text: &[u8]) -> usize {
    if let Some(chunk) = text.first_chunk() {
        let others = dispatch!(Level::baseline(), simd => other_bytes_than_digits(simd, chunk));
        if others != 0 {
            return others.trailing_zeros() as usize;
        }
    }
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns a mask with a bit for each byte that is no digit.
#[inline(always)]
fn other_bytes_than_digits<S: Simd>(simd: S, bytes: &[u8; CHUNK_BYTES]) -> u64 {
    let bytes = u8x16::from_slice(simd, bytes);
    (bytes.simd_lt(b'0') | bytes.simd_gt(b'9')).to_bitmask()
}

/// Whether a real without a sign is printed with the same digits.
fn is_plain_real(text: &[u8]) -> bool {
    let whole = digits(text);
    let fraction = &text[whole + 1..];
    // Smaller numbers are printed with an exponent.
    let is_large = text[0] != b'0' || (fraction.iter().take(4).any(|byte| *byte != b'0'));
    text.len() <= MAX_REAL_DIGITS + 1
        && (text[0] != b'0' || whole == 1)
        && (fraction.last() != Some(&b'0') || fraction.len() == 1)
        && (is_large || *text == *b"0.0")
}

/// Reads a string behind its opening quote. Returns its length up to the closing quote, whether it has escaped quotes, and
/// whether all its bytes are printable ASCII characters. `None` if it has other escapes, no end on its line, a byte of
/// value 0, or escaped quotes beside bytes that are not printable.
#[inline(never)] // so that numbers are read with fewer instructions
fn string(text: &[u8]) -> Option<(usize, bool, bool)> {
    let (mut at, mut is_escaped) = (0, false);
    loop {
        at += special_byte(&text[at..])?;
        match text[at..] {
            [b'"', ..] => return Some((at, is_escaped, true)),
            [b'\\', b'"', ..] => (at, is_escaped) = (at + 2, true),
            _ => break,
        }
    }
    at += text[at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n' | 0))?;
    (text[at] == b'"' && !is_escaped).then_some((at, false, false))
}

/// Returns the offset of the first byte that is a quote, a backslash, or no printable ASCII character.
#[inline]
fn special_byte(text: &[u8]) -> Option<usize> {
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    for (number, chunk) in chunks.iter().enumerate() {
        let found = dispatch!(Level::baseline(), simd => special_bytes(simd, chunk));
        if found != 0 {
            return Some(number * CHUNK_BYTES + found.trailing_zeros() as usize);
        }
    }
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\') || !matches!(byte, b' '..=b'~'))?;
    Some(text.len() - rest.len() + found)
}

/// Returns a mask with a bit for each byte that is a quote, a backslash, or no printable ASCII character.
#[inline(always)]
fn special_bytes<S: Simd>(simd: S, bytes: &[u8; CHUNK_BYTES]) -> u64 {
    let bytes = u8x16::from_slice(simd, bytes);
    let is_unprintable = bytes.simd_lt(b' ') | bytes.simd_gt(b'~');
    (bytes.simd_eq(b'"') | bytes.simd_eq(b'\\') | is_unprintable).to_bitmask()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CHUNK_BYTES, LiteralText, digits, special_byte};
    use crate::ad::Type;

    #[test]
    fn a_literal_ends_where_something_else_follows() {
        for (text, expected) in [
            ("1\nb = 2", Some(("1", Type::Integer, "\nb = 2"))),
            (" -12,", Some(("-12", Type::Integer, ","))),
            ("1.50}", Some(("1.50", Type::Real, "}"))),
            ("1.5.3", Some(("1.5", Type::Real, ".3"))),
            ("123456789012345678 ", Some(("123456789012345678", Type::Integer, " "))),
            ("1234567890123456789 ", None),
            ("01", None),
            ("01.5", Some(("01.5", Type::Real, ""))),
            ("1.", None),
            ("-", None),
            (" TRUE\n", Some(("TRUE", Type::Boolean, "\n"))),
            ("fAlse", Some(("fAlse", Type::Boolean, ""))),
            ("trueish", Some(("true", Type::Boolean, "ish"))),
            ("tru", None),
            ("\u{14}rue", None),
            ("\"a\" b", Some(("\"a\"", Type::String, " b"))),
            (r#""a\"b" c"#, Some((r#""a\"b""#, Type::String, " c"))),
            (r#""a\n""#, None),
            ("\"a\n\"", None),
            ("\"a", None),
            ("\"", None),
            ("  1", None),
            ("", None),
        ] {
            let found = LiteralText::at_start(text.as_bytes());
            let found = found.map(|(literal, rest)| (literal.text, literal.value_type, rest));
            let expected = expected.map(|(text, kind, rest)| (text.as_bytes(), kind, rest.as_bytes()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn strings_of_any_length() {
        for length in 0..3 * CHUNK_BYTES {
            let letters = "x".repeat(length);
            for (inside, is_simple, is_plain) in [
                (letters.clone(), true, true),
                (format!("{letters}\u{e9}{letters}"), true, false),
                (format!("{letters}\\\"{letters}"), false, true),
                (format!("/{letters}"), true, false),
            ] {
                let text = format!("\"{inside}\"\n{letters}");
                let (literal, _) = LiteralText::at_start(text.as_bytes()).expect("a string");
                assert_eq!(literal.text.len(), inside.len() + 2, "{text}");
                assert_eq!((literal.is_simple(), literal.is_plain()), (is_simple, is_plain), "{text}");
            }
            for inside in [format!("{letters}\\\\"), format!("{letters}\0"), format!("{letters}\\\"\u{e9}")] {
                assert!(LiteralText::at_start(format!("\"{inside}\"").as_bytes()).is_none(), "{inside}");
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_are_found_at_once_as_one_by_one(text in "[ -~]{0,40}[\u{1}-\u{e9}]{0,3}[0-9]{0,40}[/:a]?.{0,20}") {
            let text = text.as_bytes();
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\') || !matches!(byte, b' '..=b'~');
            for start in 0..text.len() {
                let rest = &text[start..];
                prop_assert_eq!(special_byte(rest), rest.iter().position(is_special));
                prop_assert_eq!(digits(rest), rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
            }
        }
    }
}
