//! Output that is safe for a terminal: control characters of ads are spelt out.

/// Maximum length in bytes of an escape sequence that passes: a colour of the program's own.
const MAX_SEQUENCE_BYTES: usize = 24;

/// The parameters of escape sequences that pass: styles and colours that the program uses. An ad may colour its text, but
/// not hide it: by concealing, in black, or on a background of the same colour.
const STYLES: [&[u8]; 14] =
    [b"", b"0", b"1", b"2", b"4", b"22", b"24", b"31", b"32", b"33", b"34", b"35", b"36", b"39"];

/// Filter of what is written to a terminal. Text, line ends, tabs and sequences that set [`STYLES`] pass. Other control
/// characters are spelt as HTCondor spells them in a string: `\033`.
#[derive(Default)]
pub struct TerminalFilter {
    /// The beginning of an escape sequence, or of a control character of two bytes.
    pending: Vec<u8>,
}

impl TerminalFilter {
    /// Appends the safe form of `text` to `safe`. An incomplete sequence at the end waits for the next call.
    pub fn push(&mut self, text: &[u8], safe: &mut Vec<u8>) {
        for byte in text {
            self.push_byte(*byte, safe);
        }
    }

    fn push_byte(&mut self, byte: u8, safe: &mut Vec<u8>) {
        match self.pending[..] {
            [] => {}
            [0xc2] if (0x80..=0x9f).contains(&byte) => {
                self.pending.push(byte);
                return self.spell_pending(safe);
            }
            [0xc2] => safe.append(&mut self.pending),
            [0x1b] if byte == b'[' => return self.pending.push(byte),
            [0x1b, b'[', ..] if byte == b'm' => {
                let mut parameters = self.pending[2..].split(|byte| *byte == b';');
                let is_style = parameters.all(|parameter| STYLES.contains(&parameter));
                self.pending.push(byte);
                return if is_style { safe.append(&mut self.pending) } else { self.spell_pending(safe) };
            }
            [0x1b, b'[', ..] if (byte.is_ascii_digit() || byte == b';') && self.pending.len() < MAX_SEQUENCE_BYTES => {
                return self.pending.push(byte);
            }
            _ => self.spell_pending(safe),
        }
        match byte {
            0x1b | 0xc2 => self.pending.push(byte),
            b'\n' | b'\t' => safe.push(byte),
            0..=0x1f | 0x7f => spell(byte, safe),
            _ => safe.push(byte),
        }
    }

    fn spell_pending(&mut self, safe: &mut Vec<u8>) {
        let is_two_byte_control = matches!(self.pending[..], [0xc2, _]);
        for byte in self.pending.drain(..) {
            if byte.is_ascii_control() || is_two_byte_control { spell(byte, safe) } else { safe.push(byte) }
        }
    }
}

fn spell(byte: u8, safe: &mut Vec<u8>) {
    safe.extend_from_slice(format!("\\{byte:03o}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::TerminalFilter;

    fn safe(pieces: &[&[u8]]) -> String {
        let (mut filter, mut safe) = (TerminalFilter::default(), Vec::new());
        for piece in pieces {
            filter.push(piece, &mut safe);
        }
        filter.spell_pending(&mut safe);
        String::from_utf8(safe).unwrap()
    }

    #[test]
    fn control_characters_are_spelt_out() {
        let cases: [(&[u8], &str); 10] = [
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
        ];
        for (text, expected) in cases {
            assert_eq!(safe(&[text]), expected);
            // The result does not depend on how the text is cut.
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            assert_eq!(safe(&bytes), expected);
        }
    }
}
