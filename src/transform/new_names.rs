//! New names of attributes for COPY and RENAME.

use crate::ad::Name;

use super::edited_ad::EditedAd;
use super::keywords::is_name;
use super::rule::NamePattern;

/// Returns the attributes whose names match, with their new names by a template: `\0` stands for the match, `\1` to
/// `\9` for its groups. They are in the byte order of their names, which is HTCondor's order.
pub(super) fn matching_names(
    draft: &EditedAd,
    pattern: &NamePattern,
    template: &[u8],
) -> Result<Vec<(Name, Vec<u8>)>, String> {
    let pattern = pattern.compiled()?;
    let mut found = Vec::new();
    for name in draft.sorted_names() {
        let subject = name.as_str().as_bytes();
        if let Some(groups) = pattern.find(subject, 0)? {
            // HTCondor ignores groups after the last one that took part in the match.
            let count = (0..groups.len()).rev().find(|group| groups.get(*group).is_some()).map_or(0, |last| last + 1);
            let group = |number: usize| {
                (number < count).then(|| groups.get(number).map_or(&b""[..], |(start, end)| &subject[start..end]))
            };
            found.push((name.clone(), substitute(template, group)));
        }
    }
    Ok(found)
}

/// Returns a template with its groups filled in.
fn substitute<'s>(template: &[u8], group: impl Fn(usize) -> Option<&'s [u8]>) -> Vec<u8> {
    let mut text = Vec::with_capacity(template.len());
    let mut at = 0;
    while let Some(byte) = template.get(at) {
        let digit = template.get(at + 1).filter(|digit| *byte == b'\\' && digit.is_ascii_digit());
        if let Some(inside) = digit.and_then(|digit| group(usize::from(digit - b'0'))) {
            text.extend_from_slice(inside);
            at += 2;
        } else {
            text.push(*byte);
            at += 1;
        }
    }
    text
}

/// Converts a text to a name; `Err` holds the reason if it is not a valid one.
pub(super) fn new_name(text: &[u8]) -> Result<Name, String> {
    let text = String::from_utf8_lossy(text);
    if is_name(text.trim_ascii()) {
        return Ok(Name::new(text.trim_ascii()));
    }
    let shown: String = text.chars().take(60).collect();
    Err(format!("`{shown}` is no name of an attribute"))
}
