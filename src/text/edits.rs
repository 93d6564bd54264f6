//! Edits of a text.

use std::ops::Range;

/// The text that takes the place of a byte range.
pub type TextEdit = (Range<usize>, String);

/// Applies edits to a text, in whatever order they are. Of edits that overlap, the first one counts.
#[must_use]
pub fn apply_edits(text: &[u8], mut edits: Vec<TextEdit>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut changed, mut done) = (Vec::with_capacity(text.len()), 0);
    for (range, with) in edits {
        if range.start >= done {
            changed.extend_from_slice(&text[done..range.start]);
            changed.extend_from_slice(with.as_bytes());
            done = range.end;
        }
    }
    changed.extend_from_slice(&text[done..]);
    changed
}

#[cfg(test)]
mod tests {
    use super::apply_edits;

    #[test]
    fn edits_are_applied_in_the_order_of_the_text() {
        let edits = |edits: &[(std::ops::Range<usize>, &str)]| {
            let edits: Vec<_> = edits.iter().map(|(range, with)| (range.clone(), (*with).to_owned())).collect();
            String::from_utf8(apply_edits(b"a = 1; b = 2", edits)).unwrap()
        };
        assert_eq!(edits(&[]), "a = 1; b = 2");
        assert_eq!(edits(&[(11..12, "30"), (4..5, "x")]), "a = x; b = 30");
        assert_eq!(edits(&[(12..12, "; c = 3"), (12..12, "; d = 4")]), "a = 1; b = 2; c = 3; d = 4");
        assert_eq!(edits(&[(4..8, "y"), (6..7, "z")]), "a = y = 2");
    }
}
