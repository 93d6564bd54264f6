//! Output that is safe for a terminal: control characters of ads, and others that hide what a text says, are spelt out.

/// Maximum length in bytes of an escape sequence that passes: a colour of the program's own.
const MAX_SEQUENCE_BYTES: usize = 24;

/// The parameters of escape sequences that pass: styles and colours that the program uses. An ad may colour its text, but
/// not hide it: by concealing, in black, or on a background of the same colour.
const STYLES: [&[u8]; 14] =
    [b"", b"0", b"1", b"2", b"4", b"22", b"24", b"31", b"32", b"33", b"34", b"35", b"36", b"39"];

/// Whether a character moves the cursor, changes the direction of text, or cannot be seen: control characters, marks of
/// direction, separators of lines, and characters without width or ink.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Appends the bytes of a hidden character as HTCondor spells them in a string: `\033`, `\342\200\256`.
fn spell(bytes: &[u8], safe: &mut Vec<u8>) {
    for byte in bytes {
        safe.extend_from_slice(format!("\\{byte:03o}").as_bytes());
    }
}

/// Filter of what is written to a terminal. Text, line ends, tabs and sequences that set [`STYLES`] pass. Other hidden
/// characters are spelt out.
#[derive(Default)]
pub struct TerminalFilter {
    /// The beginning of an escape sequence, or of a character of several bytes.
    pending: Vec<u8>,
}

impl TerminalFilter {
    /// Appends the safe form of `text` to `safe`. An incomplete sequence at the end waits for the next call.
    pub fn push(&mut self, text: &[u8], safe: &mut Vec<u8>) {
        for byte in text {
            self.push_byte(*byte, safe);
        }
    }

    /// Appends what still waits.
    pub fn finish(&mut self, safe: &mut Vec<u8>) {
        for byte in self.pending.drain(..) {
            push_single(byte, safe);
        }
    }

    fn push_byte(&mut self, byte: u8, safe: &mut Vec<u8>) {
        match self.pending[..] {
            [] => {}
            [0x1b] if byte == b'[' => return self.pending.push(byte),
            [0x1b, b'[', ..] if byte == b'm' => {
                let mut parameters = self.pending[2..].split(|byte| *byte == b';');
                let is_style = parameters.all(|parameter| STYLES.contains(&parameter));
                self.pending.push(byte);
                return if is_style { safe.append(&mut self.pending) } else { self.finish(safe) };
            }
            [0x1b, b'[', ..] if (byte.is_ascii_digit() || byte == b';') && self.pending.len() < MAX_SEQUENCE_BYTES => {
                return self.pending.push(byte);
            }
            [first @ 0xc2..=0xf4, ..] if byte & 0xc0 == 0x80 => {
                self.pending.push(byte);
                if self.pending.len() == character_bytes(first) {
                    self.end_character(safe);
                }
                return;
            }
            _ => self.finish(safe),
        }
        match byte {
            0x1b | 0xc2..=0xf4 => self.pending.push(byte),
            _ => push_single(byte, safe),
        }
    }

    fn end_character(&mut self, safe: &mut Vec<u8>) {
        match str::from_utf8(&self.pending) {
            Ok(text) if text.contains(is_hidden) => spell(&self.pending, safe),
            Ok(_) => safe.append(&mut self.pending),
            Err(_) => self.finish(safe),
        }
        self.pending.clear();
    }
}

/// Number of bytes of a character in UTF-8 that begins with a byte above 0xc1.
fn character_bytes(first: u8) -> usize {
    match first {
        ..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// Appends a byte that is not part of a longer character. In other encodings, those from 0x80 to 0x9f are control
/// characters.
fn push_single(byte: u8, safe: &mut Vec<u8>) {
    match byte {
        b'\n' | b'\t' => safe.push(byte),
        0..=0x1f | 0x7f..=0x9f => spell(&[byte], safe),
        _ => safe.push(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::TerminalFilter;

    fn safe(pieces: &[&[u8]]) -> String {
        let (mut filter, mut safe) = (TerminalFilter::default(), Vec::new());
        for piece in pieces {
            filter.push(piece, &mut safe);
        }
        filter.finish(&mut safe);
        String::from_utf8_lossy(&safe).into_owned()
    }

    #[test]
    fn control_characters_are_spelt_out() {
        let cases: [(&[u8], &str); 16] = [
            (b"a\tb\n", "a\tb\n"),
            (b"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
            (b"\x1b[2J\x1b]0;title\x07\x1bc", "\\033[2J\\033]0;title\\007\\033c"),
            ("né ¢ 日".as_bytes(), "né ¢ 日"),
            (b"a\xc2\x9b2Jb\xc2\xa2", "a\\302\\2332Jb¢"),
            (b"\r\x08\x7f", "\\015\\010\\177"),
            (b"end \x1b[1", "end \\033[1"),
            (b"\x1b[8mhidden\x1b[1;30;40mblack\x1b[m", "\\033[8mhidden\\033[1;30;40mblack\x1b[m"),
            (b"\x1b[38;5;16m \x1b[36;4;1m", "\\033[38;5;16m \x1b[36;4;1m"),
            (b"\x1b\x1b[0m", "\\033\x1b[0m"),
            ("a\u{202e}b\u{200b}\u{feff}".as_bytes(), "a\\342\\200\\256b\\342\\200\\213\\357\\273\\277"),
            ("\u{61c}\u{2028}\u{2066}é".as_bytes(), "\\330\\234\\342\\200\\250\\342\\201\\246é"),
            ("\u{e0041}👍 ¢".as_bytes(), "\\363\\240\\201\\201👍 ¢"),
            (b"\x9b2J", "\\2332J"),
            (b"\xe2\x9b2J", "\u{fffd}\\2332J"),
            (b"\xe2\x1b[2J", "\u{fffd}\\033[2J"),
        ];
        for (text, expected) in cases {
            assert_eq!(safe(&[text]), expected);
            // The result does not depend on how the text is cut.
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            assert_eq!(safe(&bytes), expected);
        }
    }
}
