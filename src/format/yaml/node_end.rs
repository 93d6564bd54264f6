//! Search for the ends of nodes of a YAML document.

/// Returns the byte offset behind the anchor `&name` at `start` and the white space behind it. Returns `start` if there
/// is not an anchor.
pub fn skip_anchor(text: &[u8], start: usize) -> usize {
    if text.get(start) != Some(&b'&') {
        return start;
    }
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let word = text[start..].iter().take_while(|byte| !is_blank(byte)).count();
    start + word + text[start + word..].iter().take_while(|byte| is_blank(byte)).count()
}

/// Returns an iterator over the brackets from byte `start` on, without those in quotes and comments. Yields the byte
/// offset of each bracket, and the number of brackets that are open behind it.
pub fn brackets(text: &[u8], start: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let (mut open, mut next) = (0_usize, start);
    std::iter::from_fn(move || {
        while let Some(byte) = text.get(next) {
            let at = next;
            // Quotes and `#` have a meaning only at the beginning of a word.
            let begins =
                at == start || matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':');
            next += 1;
            match byte {
                b'"' | b'\'' if begins => next = end_of_quoted(text, at),
                b'#' if begins => next = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end),
                b'[' | b'{' => {
                    open += 1;
                    return Some((at, open));
                }
                b']' | b'}' => {
                    open = open.saturating_sub(1);
                    return Some((at, open));
                }
                _ => {}
            }
        }
        None
    })
}

/// Returns the byte offset behind the bracket that closes the bracket at `start`.
pub fn end_of_brackets(text: &[u8], start: usize) -> usize {
    brackets(text, start).find(|(_, open)| *open == 0).map_or(text.len(), |(at, _)| at + 1)
}

/// Returns the byte offset behind the quote that closes the quote at `start`.
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

/// Returns the byte offset behind the word at `start`. The word is a number or `~`, or it is empty.
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
