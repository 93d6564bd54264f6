//! Conversion of lines and columns, and of places in scalars, to byte offsets of a document.

/// Returns the byte offset of a line and column of a document. Both count from 1, and columns count characters. `None`
/// if the line does not exist.
pub fn position_offset(text: &[u8], line: usize, column: usize) -> Option<usize> {
    let start = match line.checked_sub(2) {
        Some(ends) => memchr::memchr_iter(b'\n', text).nth(ends)? + 1,
        None => 0,
    };
    column_offset(text, start, column)
}

/// Returns the byte offset at which each line of a document begins.
pub fn line_starts(text: &[u8]) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|end| end + 1)).collect()
}

/// Returns the byte offset of a column of the line that begins at byte `start`, as [`position_offset`] does.
pub fn column_offset(text: &[u8], start: usize, column: usize) -> Option<usize> {
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
    let line = std::str::from_utf8(&text[start..end]).ok()?;
    let byte_order_mark = usize::from(start == 0 && line.starts_with('\u{feff}'));
    let at = column.checked_sub(1)? + byte_order_mark;
    Some(start + line.char_indices().nth(at).map_or(line.len(), |(at, _)| at))
}

/// Returns the byte offset in `document` of byte `wanted` of the text of a scalar. The scalar begins at byte `start`.
///
/// The source and the text of the scalar are compared character by character. Quotes and block headers are skipped. An
/// escape is one character. White space in the source equals any amount of white space in the text. If the source and
/// the text differ, returns the offset of the first difference.
pub fn source_offset(document: &[u8], start: usize, text: &str, wanted: usize) -> usize {
    let rest = document.get(start..).unwrap_or_default();
    let mut end = text.len().saturating_mul(4).saturating_add(FIRST_WINDOW).min(rest.len());
    // A window ends with a whole character.
    while rest.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end += 1;
    }
    let (read, is_at_end) = source_length(&rest[..end], text, wanted);
    start + if is_at_end && end < rest.len() { source_length(rest, text, wanted).0 } else { read }
}

/// Number of bytes of the document that are looked at first, beyond four for each byte of the scalar. The rest of the
/// document is looked at only if the scalar does not end before.
const FIRST_WINDOW: usize = 1024;

/// Returns the number of bytes of a source up to byte `wanted` of the text of the scalar with which it begins, and whether
/// a longer source may give another number.
fn source_length(source: &[u8], text: &str, wanted: usize) -> (usize, bool) {
    const LONGEST_ESCAPE: usize = 16;
    let source = String::from_utf8_lossy(source);
    let mut cursor = ScalarCursor::behind_opening(&source);
    for (at, c) in text.char_indices() {
        cursor.skip_folds(c);
        if at >= wanted {
            break;
        }
        let Some(length) = cursor.source_length(c) else { break };
        cursor.rest = &cursor.rest[length..];
    }
    if wanted >= text.len() && cursor.quote.is_some_and(|quote| cursor.rest.starts_with(quote)) {
        // If the end of the text is wanted, the closing quote is skipped, too.
        cursor.rest = &cursor.rest[1..];
    }
    (source.len() - cursor.rest.len(), cursor.rest.len() < LONGEST_ESCAPE)
}

/// A place in the source of a scalar.
struct ScalarCursor<'s> {
    /// The rest of the document from this place on.
    rest: &'s str,
    /// The quote with which the scalar begins; `None` if the scalar has no quotes.
    quote: Option<char>,
}

impl<'s> ScalarCursor<'s> {
    /// Creates a cursor at the first character of the scalar's text. Tags, anchors, the opening quote and a block
    /// header are skipped.
    fn behind_opening(mut rest: &'s str) -> Self {
        while rest.starts_with(['!', '&']) {
            rest = rest.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
        }
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
        if quote.is_some() {
            rest = &rest[1..];
        } else if rest.starts_with(['|', '>']) {
            rest = rest.split_once('\n').map_or("", |(_, lines)| lines.trim_start());
        }
        ScalarCursor { rest, quote }
    }

    /// Skips white space in the source that the text does not contain, such as folded line ends and indentation. `next`
    /// is the next character of the text.
    fn skip_folds(&mut self, next: char) {
        if self.quote == Some('"') && self.rest.starts_with("\\\n") {
            self.rest = self.rest[1..].trim_start();
        }
        if !next.is_whitespace() {
            self.rest = self.rest.trim_start();
        }
    }

    /// Returns how many bytes character `c` of the text takes in the source. `None` if the source has another
    /// character.
    fn source_length(&self, c: char) -> Option<usize> {
        let first = self.rest.chars().next()?;
        match (self.quote, first) {
            (Some('"'), '\\') => Some(escape_length(self.rest)),
            (Some('\''), '\'') => Some(2),
            _ if first == c => Some(first.len_utf8()),
            // In a folded scalar, a line end and the indentation behind it are one space of the text.
            _ if c.is_whitespace() && first.is_whitespace() => Some(self.rest.len() - self.rest.trim_start().len()),
            _ => None,
        }
    }
}

/// Returns the length in bytes of the escape at the beginning of a text.
fn escape_length(text: &str) -> usize {
    let length = match text.chars().nth(1) {
        Some('x') => 4,
        Some('u') => 6,
        Some('U') => 10,
        Some(other) => 1 + other.len_utf8(),
        None => 1,
    };
    length.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::{position_offset, source_offset};

    #[test]
    fn characters_are_found_behind_quotes_escapes_and_folds() {
        // The scalar as written, the text of the scalar, and the character whose offset is computed.
        for (written, read, character) in [
            ("Cpus > $ 4", "Cpus > $ 4", '$'),
            ("'it''s $'", "it's $", '$'),
            ("\"a\\tb\\x41\\u00e9 $\"", "a\tbAé $", '$'),
            ("\"\\\"é\\\" $\"", "\"é\" $", '$'),
            ("a\n   b $", "a b $", '$'),
            ("'a\n   b $'", "a b $", '$'),
            ("|\n    a\n    b $\n", "a\nb $\n", '$'),
            (">-\n    a\n    b $\n", "a b $", '$'),
            ("\"a\\\n   b $\"", "ab $", '$'),
            ("!expr 'a $'", "a $", '$'),
        ] {
            let document = format!("key: {written}");
            let wanted = read.find(character).unwrap();
            assert_eq!(source_offset(document.as_bytes(), 5, read, wanted), document.rfind('$').unwrap(), "{written}");
        }
        assert_eq!(source_offset(b"k: 'ab' # c", 3, "ab", 2), 7);
        assert_eq!(source_offset(b"k: ab", 3, "xyz", 2), 3);
        assert_eq!(source_offset(b"", 3, "xyz", 9), 3);
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let text = "aé\nbéc\n".as_bytes();
        assert_eq!(position_offset(text, 1, 1), Some(0));
        assert_eq!(position_offset(text, 2, 3), Some(7));
        assert_eq!(position_offset(text, 2, 9), Some(8));
        assert_eq!(position_offset(text, 3, 1), Some(9));
        assert_eq!(position_offset(text, 9, 1), None);
    }
}
