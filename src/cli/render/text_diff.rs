//! The unified diff of two texts.

use std::io::{self, Write};
use std::time::Duration;

use similar::TextDiff;

/// Maximum time of the search for the shortest difference of a file. After it the difference is right, but may be longer.
const MAX_DIFF_TIME: Duration = Duration::from_secs(1);

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
