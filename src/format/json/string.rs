//! Decodes the escapes in JSON strings.

use super::super::Problem;
use super::super::source_map::DecodedText;

/// Decodes the text between the quotes of a string.
///
/// `offset` is the byte offset of this text in the file. `ad` is the 1-based number of the ad, for error messages. An
/// escape that JSON does not define stands for the character behind the backslash, as in HTCondor.
///
/// # Errors
///
/// `\u` without four digits, half of a surrogate pair, and a byte of value 0, also if it is written as an escape.
pub fn decode_string(inside: &[u8], offset: usize, ad: usize) -> Result<DecodedText, Problem> {
    let mut decoded = DecodedText::starting_at(offset);
    let mut at = 0;
    if let Some(nul) = memchr::memchr(0, inside) {
        let place = offset + nul;
        return Err(Problem::error_at(place..place + 1, ad, "an ad cannot contain a byte of value 0"));
    }
    while let Some(found) = memchr::memchr(b'\\', &inside[at..]) {
        decoded.push_verbatim(&inside[at..at + found], offset + at);
        at += found;
        let byte = match inside.get(at + 1) {
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let place = |length| offset + at..offset + at + length;
                let (character, length) = decode_unicode_escape(&inside[at..])
                    .map_err(|(length, message)| Problem::error_at(place(length), ad, message))?;
                decoded.push_escape(character.encode_utf8(&mut [0; 4]).as_bytes(), offset + at, length);
                at += length;
                continue;
            }
            Some(other) => *other,
            None => b'\\',
        };
        decoded.push_escape(&[byte], offset + at, 2);
        at += 2;
    }
    decoded.push_verbatim(&inside[at..], offset + at);
    Ok(decoded)
}

/// Decodes the escape `\u` with four digits at the beginning of a text. A surrogate pair consists of two such escapes.
/// Returns the character, and the number of bytes that were decoded.
///
/// # Errors
///
/// Number of bytes of the bad escape, and a message.
fn decode_unicode_escape(text: &[u8]) -> Result<(char, usize), (usize, &'static str)> {
    let Some(first) = utf16_unit(text) else {
        let digits = text[2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        return Err((2 + digits, "four hexadecimal digits must follow `\\u`"));
    };
    if first == 0 {
        return Err((6, "an ad cannot contain a byte of value 0"));
    }
    let units = [first].into_iter().chain(text.get(6..).and_then(utf16_unit));
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => Ok((character, 6 * character.len_utf16())),
        _ => Err((6, "this escape is only one half of a surrogate pair")),
    }
}

/// Returns the UTF-16 code unit of the escape `\u` with four digits at the beginning of a text. `None` if the text does
/// not begin with such an escape.
fn utf16_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::decode_string;

    #[test]
    fn escapes() {
        for (inside, text) in [
            (r#"a\"\\\/\b\f\n\r\tz"#, "a\"\\/\u{8}\u{c}\n\r\tz"),
            (r"\u0041\u00e9\u20AC", "Aé€"),
            (r"\ud83d\ude00", "😀"),
            (r"\q\x41", "qx41"),
            ("é\t", "é\t"),
        ] {
            assert_eq!(decode_string(inside.as_bytes(), 0, 1).unwrap().bytes, text.as_bytes(), "{inside}");
        }
    }

    #[test]
    fn wrong_ones_have_their_place() {
        for (inside, start, end) in [
            (r"ab\u12", 2, 6),
            (r"\u12x4", 0, 4),
            (r"a\u0000", 1, 7),
            (r"a\ud83d", 1, 7),
            (r"a\ud83d\u0041", 1, 7),
            (r"\ude00", 0, 6),
            (r"\ud83d\ud83d", 0, 6),
            ("a\0", 1, 2),
        ] {
            assert_eq!(decode_string(inside.as_bytes(), 10, 1).unwrap_err().range, start + 10..end + 10, "{inside}");
        }
    }
}
