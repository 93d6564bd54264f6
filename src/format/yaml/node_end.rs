//! Finds the ends of nodes of a YAML document.

/// Returns the offset behind the anchor `&name` at `start` and the blanks that follow it; `start` if there is no
/// anchor.
pub fn skip_anchor(text: &[u8], start: usize) -> usize {
    if text.get(start) != Some(&b'&') {
        return start;
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let word = text[start..].iter().take_while(|byte| !is_blank(byte)).count();
    start + word + text[start + word..].iter().take_while(|byte| is_blank(byte)).count()
}

/// Returns the offset behind the bracket that closes the one at `start`. Brackets in quotes and comments do not count.
pub fn end_of_brackets(text: &[u8], start: usize) -> usize {
    let (mut open, mut at) = (0_usize, start);
    while let Some(byte) = text.get(at) {
        // A quote opens a string, and `#` a comment, only where a word can begin.
        let begins = at == start || matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':');
        match byte {
            b'"' | b'\'' if begins => at = end_of_quoted(text, at) - 1,
            b'#' if begins => at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at),
            b'[' | b'{' => open += 1,
            b']' | b'}' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Returns the offset behind the quote that closes the one at `start`.
fn end_of_quoted(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\'' if quote == b'\'' && text.get(at + 1) == Some(&quote) => at += 1,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Returns the offset behind the word at `start`: a number, `~`, or nothing at all.
pub fn end_of_word(text: &[u8], start: usize) -> usize {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
    text[start..].iter().position(is_end).map_or(text.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::{end_of_brackets, end_of_word, skip_anchor};

    #[test]
    fn brackets_end_where_they_close() {
        for (text, end) in [
            ("[a, {b: c}] # ]", 11),
            (r#"['a]''', "\"]", b] x"#, 18),
            ("[a, # ]\n b] ", 11),
            ("[it's] ", 6),
            ("[a#b] ", 5),
            ("[a", 2),
            ("[\"", 2),
        ] {
            assert_eq!(end_of_brackets(text.as_bytes(), 0), end, "{text}");
        }
    }

    #[test]
    fn anchors_stand_before() {
        for (text, at) in [("&a b", 3), ("&a\n  b", 5), ("a &b", 0), ("&a", 2), ("", 0)] {
            assert_eq!(skip_anchor(text.as_bytes(), 0), at, "{text}");
        }
    }

    #[test]
    fn words_end_before_blanks_and_brackets() {
        for (text, end) in [("12, 3", 2), ("~\n", 1), ("\nx", 0), ("1.5e3", 5), ("0x10}", 4)] {
            assert_eq!(end_of_word(text.as_bytes(), 0), end, "{text}");
        }
    }
}
