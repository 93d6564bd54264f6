//! Where a text in the long form may be divided, and what is unfinished at its end.

use std::ops::Range;

use super::banner::Banner;
use super::line_kind::LineKind;

/// Returns the length in bytes of the longest prefix of `window` that ends with a line that ends an ad: a blank line, a
/// heading or a banner. Such a prefix contains only complete ads. Returns 0 if there is no such line.
///
/// A torn banner does not count, because the record behind it is judged together with it.
pub fn complete_prefix_length(window: &[u8]) -> usize {
    let mut ends = memchr::memrchr_iter(b'\n', window).peekable();
    while let Some(end) = ends.next() {
        let start = ends.peek().map_or(0, |at| at + 1);
        if is_boundary(window, start..end) {
            return end + 1;
        }
    }
    0
}

/// Returns the length in bytes of the shortest prefix of `text` that ends with a line that ends an ad, as
/// [`complete_prefix_length`] does for the longest one. `None` if there is no such line.
pub fn closed_line_end(text: &[u8]) -> Option<usize> {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        if is_boundary(text, start..end) {
            return Some(end + 1);
        }
        start = end + 1;
    }
    None
}

/// Whether a text may be divided behind the line at these byte offsets, because it ends an ad and is no torn banner.
fn is_boundary(text: &[u8], line: Range<usize>) -> bool {
    let kind = LineKind::of(text[line.clone()].trim_ascii());
    kind.ends_ad() && (kind != LineKind::Banner || Banner::parse(text, line).is_ok())
}

/// Whether a line separates ads wherever a file is cut: it is blank, or a banner that is not torn. The line may end with
/// a line feed.
pub fn is_separator(line: &[u8]) -> bool {
    match LineKind::of(line.trim_ascii()) {
        LineKind::Blank => true,
        LineKind::Banner => Banner::parse(line, 0..line.strip_suffix(b"\n").unwrap_or(line).len()).is_ok(),
        _ => false,
    }
}

/// Whether a text ends with a banner that stands behind each record, as [`Banner::is_end`] says.
pub fn ends_with_banner(text: &[u8]) -> bool {
    let Some(lines) = text.strip_suffix(b"\n") else { return false };
    let start = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    let is_banner = LineKind::of(lines[start..].trim_ascii()) == LineKind::Banner;
    is_banner && Banner::parse(text, start..lines.len()).is_ok_and(|banner| banner.is_end())
}

/// Returns the length of the record at the end of a history file that has no banner after it, in bytes; 0 if there is
/// none. `is_behind_banner` says whether a banner stands before the text.
pub fn unfinished_length(text: &[u8], is_behind_banner: bool) -> usize {
    let complete = complete_prefix_length(text);
    let is_behind_banner = if complete > 0 { ends_with_banner(&text[..complete]) } else { is_behind_banner };
    if !is_behind_banner {
        return 0;
    }
    let mut has_attribute = false;
    for line in text[complete..].split_inclusive(|byte| *byte == b'\n') {
        match LineKind::of(line.trim_ascii()) {
            LineKind::Attribute => has_attribute = true,
            LineKind::Comment => {}
            LineKind::Blank | LineKind::Heading | LineKind::Banner => return 0,
        }
    }
    if has_attribute { text.len() - complete } else { 0 }
}
