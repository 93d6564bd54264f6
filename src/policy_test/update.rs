//! Rewrites the expected values of a spec in place. Comments and layout are kept.

use std::ops::Range;

use crate::format::document_tree::{YamlContent, YamlNode, YamlTree, string_scalar};
use crate::text::{TextEdit, apply_edits};

use super::Mismatch;
use super::expectation::CaseAnswer;

/// Returns the text of a spec with the expectations replaced by the actual results.
#[must_use]
pub fn update_expectations(text: &[u8], outline: &YamlTree<'_>, mismatches: &[Mismatch<'_>]) -> Vec<u8> {
    let mut edits: Vec<TextEdit> = Vec::new();
    for mismatch in mismatches {
        edits.extend(mismatch_edits(text, outline, mismatch));
    }
    // A YAML alias has the byte range of its anchor, so that two edits may replace the same text. The first one counts.
    apply_edits(text, edits)
}

fn mismatch_edits(text: &[u8], outline: &YamlTree<'_>, mismatch: &Mismatch<'_>) -> Vec<TextEdit> {
    let node = mismatch.expectation.node;
    let is_flow = matches!(text.get(outline.full_range(node).start), Some(b'[' | b'{'));
    let by_line = match (&node.content, &mismatch.actual) {
        (YamlContent::Sequence(elements), CaseAnswer::Ads(ads)) if !is_flow && !ads.is_empty() => {
            let expected = ads.iter().map(|ad| (ad.clone(), None)).collect();
            edit_lines(text, outline, b"-", elements.iter().map(|element| (element, None)), expected)
        }
        (YamlContent::Mapping(entries), CaseAnswer::Places(places)) if !is_flow && !places.is_empty() => {
            let expected = places.iter().map(|(place, who)| (place.clone(), Some(who.clone()))).collect();
            edit_lines(text, outline, b"", entries.iter().map(|(key, value)| (key, Some(value))), expected)
        }
        _ => None,
    };
    by_line.unwrap_or_else(|| vec![replace_node(text, outline, node, &mismatch.actual.to_yaml())])
}

/// Replaces the text of a node. Puts a space before the replacement if the node follows other text immediately.
fn replace_node(text: &[u8], outline: &YamlTree<'_>, node: &YamlNode, replacement: &str) -> TextEdit {
    let range = outline.full_range(node);
    let is_close = range.start > 0 && !text[range.start - 1].is_ascii_whitespace() && text[range.start - 1] != b'[';
    (range, if is_close { format!(" {replacement}") } else { replacement.to_owned() })
}

/// Edits the lines of a block sequence or a block mapping, so that the lines of unchanged entries keep their comments.
///
/// `entries` are the elements, or the keys and values. `expected` has the new text of each entry. `mark` is the text
/// before an entry in its line, such as `-`. `None` if an entry to remove, or the last entry, shares its line with
/// other text.
fn edit_lines<'n>(
    text: &[u8],
    outline: &YamlTree<'_>,
    mark: &[u8],
    entries: impl Iterator<Item = (&'n YamlNode, Option<&'n YamlNode>)>,
    mut expected: Vec<(String, Option<String>)>,
) -> Option<Vec<TextEdit>> {
    let (mut edits, mut last_line) = (Vec::new(), None);
    for (key, value) in entries {
        let start = if value.is_some() { outline.range(key).start } else { outline.full_range(key).start };
        let line = whole_lines(text, start..outline.full_range(value.unwrap_or(key)).end.max(start), mark);
        let place = expected.iter().position(|(name, _)| key.text() == Some(name));
        match (place.map(|place| expected.remove(place)), value) {
            (Some((_, Some(new))), Some(value)) if value.text() != Some(&new) => {
                edits.push(replace_node(text, outline, value, &string_scalar(&new)));
            }
            (Some(_), _) => {}
            // Keep an entry with `none`: it expects that there is no offer, which is true.
            (None, Some(value)) if value.content == YamlContent::Null || value.text() == Some("none") => {}
            (None, _) => edits.push((line.clone()?, String::new())),
        }
        last_line = line;
    }
    let lines = expected.iter().map(|(key, value)| match value {
        Some(value) => format!("{}: {}", string_scalar(key), string_scalar(value)),
        None => format!("- {}", string_scalar(key)),
    });
    edits.extend(insert_lines(text, last_line?, lines));
    Some(edits)
}

/// Returns the range of the whole lines that contain `part`. These lines may also have `mark` before `part` and a
/// comment after `part`. `None` if they have any other text.
fn whole_lines(text: &[u8], part: Range<usize>, mark: &[u8]) -> Option<Range<usize>> {
    let start = memchr::memrchr(b'\n', &text[..part.start]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &text[part.end..]).map_or(text.len(), |at| part.end + at + 1);
    let behind = text[part.end..end].trim_ascii();
    let is_alone = text[start..part.start].trim_ascii() == mark && (behind.is_empty() || behind.starts_with(b"#"));
    is_alone.then_some(start..end)
}

/// Returns an edit that inserts lines after the lines `behind`, with the same indentation. `None` if there are no lines
/// to insert.
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
