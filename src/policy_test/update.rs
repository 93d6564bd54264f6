//! Rewrites the expected values of a spec in place. Comments and layout are kept.

use std::ops::Range;

use crate::format::document_tree::{YamlContent, YamlNode, YamlTree, string_scalar};

use super::Mismatch;
use super::expectation::CaseAnswer;

/// A replacement of a byte range of the text.
type TextEdit = (Range<usize>, String);

/// Returns the text of a spec with the expectations replaced by the actual results.
#[must_use]
pub fn update_expectations(text: &[u8], outline: &YamlTree<'_>, mismatches: &[Mismatch<'_>]) -> Vec<u8> {
    let mut edits: Vec<TextEdit> = Vec::new();
    for mismatch in mismatches {
        edits.extend(mismatch_edits(text, outline, mismatch));
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (range, replacement) in edits {
        // An alias has the byte range of its anchor. The anchor has been edited, so skip the second edit.
        if range.start < at {
            continue;
        }
        out.extend_from_slice(&text[at..range.start]);
        out.extend_from_slice(replacement.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

fn mismatch_edits(text: &[u8], outline: &YamlTree<'_>, mismatch: &Mismatch<'_>) -> Vec<TextEdit> {
    let node = mismatch.expectation.node;
    let is_flow = matches!(text.get(outline.full_range(node).start), Some(b'[' | b'{'));
    let by_line = match (&node.content, &mismatch.actual) {
        (YamlContent::Sequence(elements), CaseAnswer::Ads(ads)) if !is_flow && !ads.is_empty() => {
            edit_ad_lines(text, outline, elements, ads)
        }
        (YamlContent::Mapping(entries), CaseAnswer::Places(places)) if !is_flow && !places.is_empty() => {
            edit_place_lines(text, outline, entries, places)
        }
        _ => None,
    };
    by_line.unwrap_or_else(|| vec![replace_node(text, outline, node, &mismatch.actual.to_yaml())])
}

/// Replaces the text of a node. Inserts a space if the node follows the preceding text immediately.
fn replace_node(text: &[u8], outline: &YamlTree<'_>, node: &YamlNode, replacement: &str) -> TextEdit {
    let range = outline.full_range(node);
    let is_close = range.start > 0 && !text[range.start - 1].is_ascii_whitespace() && text[range.start - 1] != b'[';
    (range, if is_close { format!(" {replacement}") } else { replacement.to_owned() })
}

/// Edits a block sequence line by line. Lines of ads that are still expected keep their comments. `None` if an element
/// shares its line with other text.
fn edit_ad_lines(text: &[u8], outline: &YamlTree<'_>, elements: &[YamlNode], ads: &[String]) -> Option<Vec<TextEdit>> {
    let (mut new, mut edits) = (ads.to_vec(), Vec::new());
    for element in elements {
        match new.iter().position(|ad| element.text() == Some(ad)) {
            Some(at) => drop(new.remove(at)),
            None => edits.push((whole_lines(text, outline.full_range(element), b"-")?, String::new())),
        }
    }
    let lines = new.iter().map(|ad| format!("- {}", string_scalar(ad)));
    edits.extend(insert_lines(text, whole_lines(text, outline.full_range(elements.last()?), b"-")?, lines));
    Some(edits)
}

/// Edits a block mapping line by line. Lines of places that are still expected keep their comments. `None` if an entry
/// shares its line with other text.
fn edit_place_lines(
    text: &[u8],
    outline: &YamlTree<'_>,
    entries: &[(YamlNode, YamlNode)],
    places: &[(String, String)],
) -> Option<Vec<TextEdit>> {
    let (mut new, mut edits) = (places.to_vec(), Vec::new());
    let line = |key: &YamlNode, value: &YamlNode| {
        let begin = outline.range(key).start;
        whole_lines(text, begin..outline.full_range(value).end.max(begin), b"")
    };
    for (key, value) in entries {
        match new.iter().position(|(place, _)| key.text() == Some(place)) {
            Some(at) => {
                let (_, who) = new.remove(at);
                if value.text() != Some(&who) {
                    edits.push(replace_node(text, outline, value, &string_scalar(&who)));
                }
            }
            // An entry with `none` expects an empty place, which is still right.
            None if value.content == YamlContent::Null || value.text() == Some("none") => {}
            None => edits.push((line(key, value)?, String::new())),
        }
    }
    let (key, value) = entries.last()?;
    let lines = new.iter().map(|(place, who)| format!("{}: {}", string_scalar(place), string_scalar(who)));
    edits.extend(insert_lines(text, line(key, value)?, lines));
    Some(edits)
}

/// Returns the range of the whole lines that contain `part`. `None` unless these lines contain nothing else but `mark`
/// before `part` and a comment after it.
fn whole_lines(text: &[u8], part: Range<usize>, mark: &[u8]) -> Option<Range<usize>> {
    let start = memchr::memrchr(b'\n', &text[..part.start]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &text[part.end..]).map_or(text.len(), |at| part.end + at + 1);
    let behind = text[part.end..end].trim_ascii();
    let is_alone = text[start..part.start].trim_ascii() == mark && (behind.is_empty() || behind.starts_with(b"#"));
    is_alone.then_some(start..end)
}

/// Inserts lines after the lines `behind`, with the same indentation. `None` if there are no lines to insert.
fn insert_lines(text: &[u8], behind: Range<usize>, lines: impl Iterator<Item = String>) -> Option<TextEdit> {
    let line = &text[behind.clone()];
    let indent = line.len() - line.trim_ascii_start().len();
    let indent = String::from_utf8_lossy(&line[..indent]).into_owned();
    let line_end = if line.ends_with(b"\r\n") { "\r\n" } else { "\n" };
    let mut added = String::new();
    for line in lines {
        added.extend([indent.as_str(), &line, line_end]);
    }
    if added.is_empty() {
        return None;
    }
    if !line.ends_with(b"\n") {
        added.insert_str(0, line_end);
        added.truncate(added.len() - line_end.len());
    }
    Some((behind.end..behind.end, added))
}
