//! Edits of a text, and their unified diff.

use std::io::{self, Write};
use std::ops::Range;
use std::time::Duration;

use similar::TextDiff;

/// Maximum time of the search for the shortest difference of a file. After it the difference is right, but may be longer.
const MAX_DIFF_TIME: Duration = Duration::from_secs(1);

/// The text that takes the place of a byte range.
pub type TextEdit = (Range<usize>, String);

/// Applies edits to a text, in whatever order they are. Of edits that overlap, the first one counts.
pub fn apply_edits(text: &[u8], edits: &mut [TextEdit]) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut changed, mut done) = (Vec::with_capacity(text.len()), 0);
    for (range, with) in edits.iter() {
        if range.start >= done {
            changed.extend_from_slice(&text[done..range.start]);
            changed.extend_from_slice(with.as_bytes());
            done = range.end;
        }
    }
    changed.extend_from_slice(&text[done..]);
    changed
}

/// Prints the changes of the text called `name` as a unified diff; nothing if there are none.
pub fn write_diff(out: &mut dyn Write, name: &str, old: &[u8], new: &[u8]) -> io::Result<()> {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::configure().newline_terminated(true).timeout(MAX_DIFF_TIME).diff_slices(&old, &new);
    for (number, hunk) in diff.unified_diff().iter_hunks().enumerate() {
        if number == 0 {
            writeln!(out, "--- {name}\n+++ {name}")?;
        }
        hunk.to_writer(&mut *out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::apply_edits;

    #[test]
    fn edits_are_applied_in_the_order_of_the_text() {
        let edits = |edits: &[(std::ops::Range<usize>, &str)]| {
            let mut edits: Vec<_> = edits.iter().map(|(range, with)| (range.clone(), (*with).to_owned())).collect();
            String::from_utf8(apply_edits(b"a = 1; b = 2", &mut edits)).unwrap()
        };
        assert_eq!(edits(&[]), "a = 1; b = 2");
        assert_eq!(edits(&[(11..12, "30"), (4..5, "x")]), "a = x; b = 30");
        assert_eq!(edits(&[(12..12, "; c = 3"), (12..12, "; d = 4")]), "a = 1; b = 2; c = 3; d = 4");
        assert_eq!(edits(&[(4..8, "y"), (6..7, "z")]), "a = y = 2");
    }
}
