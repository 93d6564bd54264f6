//! Decoding of text between tags and in attributes of tags.

use super::super::Problem;
use super::super::source_map::DecodedText;
use super::markup::CDATA_DELIMITERS;

/// Decodes the references and line ends of a text and appends the result to `decoded`.
///
/// `offset` is the byte offset of the text in the file. `ad` is the 1-based number of the ad, for error messages.
///
/// # Errors
///
/// An unknown reference, and a byte of value 0.
pub fn decode_references(text: &[u8], offset: usize, decoded: &mut DecodedText, ad: usize) -> Result<(), Problem> {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'&', b'\r', 0, &text[at..]) {
        decoded.push_verbatim(&text[at..at + found], offset + at);
        at += found;
        let (character, length) = match &text[at..] {
            // XML normalizes line breaks to `\n`.
            [b'\r', b'\n', ..] => ('\n', 2),
            [b'\r', ..] => ('\n', 1),
            [0, ..] => return Err(nul_problem(offset + at, ad)),
            rest => {
                let length = memchr::memchr(b';', rest).map_or(1, |semicolon| semicolon + 1);
                let character = reference_character(&rest[..length]).ok_or_else(|| {
                    let name = String::from_utf8_lossy(&rest[..length]);
                    Problem::error_at(offset + at..offset + at + length, ad, format!("`{name}` is not defined"))
                        .with_help("write &amp; for & and &lt; for <; the other names are gt, quot and apos")
                })?;
                (character, length)
            }
        };
        decoded.push_escape(character.encode_utf8(&mut [0; 4]).as_bytes(), offset + at, length);
        at += length;
    }
    decoded.push_verbatim(&text[at..], offset + at);
    Ok(())
}

fn nul_problem(at: usize, ad: usize) -> Problem {
    Problem::error_at(at..at + 1, ad, "an ad cannot contain a byte of value 0")
}

/// Returns the character for which a reference such as `&lt;` or `&#65;` stands; `None` if the reference is unknown.
fn reference_character(reference: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(reference.strip_prefix(b"&")?.strip_suffix(b";")?).ok()?;
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
            let point = u32::from_str_radix(digits.strip_prefix('+').map_or(digits, |_| ""), radix).ok()?;
            char::from_u32(point).filter(|character| *character != '\0')
        }
    }
}

/// Appends the content of `text`, which is `<![CDATA[...]]>`, to `decoded`.
///
/// # Errors
///
/// A byte of value 0.
pub fn decode_cdata(text: &[u8], offset: usize, decoded: &mut DecodedText, ad: usize) -> Result<(), Problem> {
    let [open, close] = CDATA_DELIMITERS;
    let inside = &text[open.len()..text.len() - close.len()];
    let start = offset + open.len();
    if let Some(nul) = memchr::memchr(0, inside) {
        return Err(nul_problem(start + nul, ad));
    }
    decoded.push_verbatim(inside, start);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{DecodedText, decode_references};

    #[test]
    fn references() {
        let resolved = |text: &str| {
            let mut decoded = DecodedText::starting_at(0);
            decode_references(text.as_bytes(), 0, &mut decoded, 1).map(|()| String::from_utf8(decoded.bytes).unwrap())
        };
        assert_eq!(resolved("a&lt;&gt;&amp;lt;&quot;&apos;&#233;&#xe9;").unwrap(), "a<>&lt;\"'éé");
        assert_eq!(resolved("a\r\nb\rc\n").unwrap(), "a\nb\nc\n");
        for (text, start, end) in
            [("a&foo;", 1, 6), ("a & b", 2, 3), ("a&#0;", 1, 5), ("&#xd800;", 0, 8), ("&#+1;", 0, 5), ("a\0", 1, 2)]
        {
            assert_eq!(resolved(text).unwrap_err().range, start..end, "{text}");
        }
    }
}
