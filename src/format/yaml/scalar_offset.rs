//! Maps lines and columns, and characters of scalars, to byte offsets of a document.

/// Returns the byte offset of a line and a column of a document, both counted from 1, columns in characters. `None` if
/// the line does not exist.
pub fn position_offset(text: &[u8], line: usize, column: usize) -> Option<usize> {
    let start = match line.checked_sub(2) {
        Some(ends) => memchr::memchr_iter(b'\n', text).nth(ends)? + 1,
        None => 0,
    };
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
    let line = std::str::from_utf8(&text[start..end]).ok()?;
    let byte_order_mark = usize::from(start == 0 && line.starts_with('\u{feff}'));
    let at = column.checked_sub(1)? + byte_order_mark;
    Some(start + line.char_indices().nth(at).map_or(line.len(), |(at, _)| at))
}

/// Returns the offset in the document of byte `wanted` of the text of a scalar that begins at `start`.
///
/// Source and text are read in parallel. Quotes and block headers are skipped, an escape is one character, and white
/// space in the source matches any amount of white space in the text. If source and text do not match, the offset
/// behind the last match is returned.
pub fn source_offset(document: &[u8], start: usize, text: &str, wanted: usize) -> usize {
    let source = String::from_utf8_lossy(document.get(start..).unwrap_or_default());
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
        // The end of the text is behind the closing quote.
        cursor.rest = &cursor.rest[1..];
    }
    start + source.len() - cursor.rest.len()
}

/// Cursor in the source of a scalar.
struct ScalarCursor<'s> {
    /// The source from the cursor on.
    rest: &'s str,
    /// The quote that opened the scalar; `None` if it has no quotes.
    quote: Option<char>,
}

impl<'s> ScalarCursor<'s> {
    /// Skips everything before the first character: tags, anchors, the opening quote, a block header.
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

    /// Skips white space in the source that the text does not contain: folded line ends and indentation.
    fn skip_folds(&mut self, next: char) {
        if self.quote == Some('"') && self.rest.starts_with("\\\n") {
            self.rest = self.rest[1..].trim_start();
        }
        if !next.is_whitespace() {
            self.rest = self.rest.trim_start();
        }
    }

    /// Returns the number of source bytes of a character of the text; `None` if the source does not match.
    fn source_length(&self, c: char) -> Option<usize> {
        let first = self.rest.chars().next()?;
        match (self.quote, first) {
            (Some('"'), '\\') => Some(escape_length(self.rest)),
            (Some('\''), '\'') => Some(2),
            _ if first == c => Some(first.len_utf8()),
            // A folded line: its end and the next indentation are one space in the text.
            _ if c.is_whitespace() && first.is_whitespace() => Some(self.rest.len() - self.rest.trim_start().len()),
            _ => None,
        }
    }
}

/// Returns the length in bytes of an escape.
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
        // The scalar as written, its text, and the character of the text to find in the source.
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
