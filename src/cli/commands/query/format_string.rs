//! Format strings of `-format`: text around at most one conversion.

use std::iter::Peekable;
use std::str::Chars;

use classad::syntax::PrintfConversion;

/// A parsed format string: a conversion, if any, and the text around it.
#[derive(Clone, Default)]
pub struct FormatString {
    pub before: String,
    /// Whether the text before the conversion is a label, such as `Memory = `. If the output has a heading, labels are
    /// omitted.
    pub is_label: bool,
    pub conversion: Option<PrintfConversion>,
    pub after: String,
}

impl FormatString {
    /// Parses a format string. A `%` that begins no conversion stands for itself.
    ///
    /// # Errors
    ///
    /// Fails if a conversion is unknown, or if there is more than one conversion.
    pub fn parse(written: &str) -> Result<FormatString, String> {
        let text = unescape(written);
        let mut format = FormatString::default();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('%') {
            format.push_text(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix('%') {
                format.push_text("%");
                rest = behind;
            } else if let Some((conversion, length)) = PrintfConversion::read(rest)? {
                if format.conversion.replace(conversion).is_some() {
                    return Err(format!(
                        "`{written}` has more than one conversion: give each an expression of its own"
                    ));
                }
                rest = &rest[length..];
            } else {
                format.push_text("%");
            }
        }
        format.push_text(rest);
        Ok(format)
    }

    /// Appends text to `before`, or to `after` if the conversion has been parsed.
    fn push_text(&mut self, text: &str) {
        if self.conversion.is_some() { &mut self.after } else { &mut self.before }.push_str(text);
    }
}

/// The letters of C's escape sequences for control characters. Any other character stands for itself.
const CONTROLS: [(char, char); 7] =
    [('n', '\n'), ('t', '\t'), ('r', '\r'), ('a', '\u{7}'), ('b', '\u{8}'), ('f', '\u{c}'), ('v', '\u{b}')];

/// Replaces the escape sequences of C.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
        } else if characters.next_if_eq(&'x').is_some() {
            out.push(read_character_code(&mut characters, 16, 2));
        } else if characters.peek().is_some_and(|c| c.is_digit(8)) {
            out.push(read_character_code(&mut characters, 8, 3));
        } else {
            let letter = characters.next().unwrap_or('\\');
            out.push(CONTROLS.iter().find(|(known, _)| *known == letter).map_or(letter, |(_, control)| *control));
        }
    }
    out
}

/// Reads a character code of at most `most` digits. Returns U+FFFD if no character has the code.
fn read_character_code(characters: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> char {
    let digits = std::iter::from_fn(|| characters.next_if(|c| c.is_digit(radix))?.to_digit(radix));
    let code = digits.take(most).fold(0, |code, digit| code * radix + digit);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::FormatString;

    #[test]
    fn the_text_around_is_read_as_in_c() {
        for (format, before, after) in [
            ("a %d b\\t%%\\n", "a ", " b\t%\n"),
            ("100%% %s\\n", "100% ", "\n"),
            ("hello\\n", "hello\n", ""),
            ("%!\\x41\\101\\", "%!AA\\", ""),
            ("%*d", "%*d", ""),
            ("50%", "50%", ""),
        ] {
            let format = FormatString::parse(format).expect("a format");
            assert_eq!((format.before.as_str(), format.after.as_str()), (before, after));
        }
        for wrong in ["%s %s", "%99999999999999999999d", "%.9999d", "%c"] {
            assert!(FormatString::parse(wrong).is_err(), "{wrong}");
        }
    }
}
