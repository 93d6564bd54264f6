//! Places of the attributes of an ad in YAML, as far as they are certain. The lines are searched for names, because
//! `serde_yaml` reports positions only with errors.

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};

use super::documents::DocumentExtents;

/// Returns the places of attributes of the document that contains byte `offset`. Only attributes that begin a line are
/// found.
///
/// If the document is one ad, returns the attributes that are indented as far as the first attribute. Otherwise, an
/// attribute is left out if another line of the document begins with the same name.
pub fn attribute_spans(text: &[u8], offset: usize) -> Vec<AttributeSpan> {
    let Some(document) = (DocumentExtents { text, at: 0 }).find(|document| document.range.contains(&offset)) else {
        return Vec::new();
    };
    let content = &text[document.content..document.range.end];
    let indent = content.len() - content.trim_ascii_start().len();
    let mut at = document.content;
    // Each attribute with the number of bytes before its name on the line.
    let mut places: Vec<(usize, AttributeSpan)> = Vec::new();
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        places.extend(line_attribute(line, at).map(|place| (place.name_range.start - at, place)));
        at += line.len();
    }
    if places.first().is_some_and(|(_, place)| place.name_range.start == document.content + indent) {
        // The attributes of nested ads are indented further than those of the ad.
        places.retain(|(column, _)| *column == indent);
    } else {
        let mut times: FxHashMap<Name, usize> = FxHashMap::default();
        for (_, place) in &places {
            *times.entry(place.name.clone()).or_default() += 1;
        }
        places.retain(|(_, place)| times[&place.name] == 1);
    }
    places.into_iter().map(|(_, place)| place).collect()
}

/// Returns the attribute whose name begins a line; `None` if there is no name. `at` is the byte offset of the line.
fn line_attribute(line: &[u8], at: usize) -> Option<AttributeSpan> {
    let written = std::str::from_utf8(line).ok()?.trim_end();
    let content = written.trim_start_matches([' ', '-']);
    let (name, value) = content.split_once(':')?;
    let is_value = value.is_empty() || value.starts_with(' ');
    let trimmed = name.trim_matches(['"', '\'']);
    if !is_value || trimmed.is_empty() || name.contains(['#', '{', '[']) {
        return None;
    }
    // Returns the byte offset in the file of `rest`, which is the last part of the line.
    let offset = |rest: &str| at + written.len() - rest.len();
    let value = value.trim_start();
    let opaque = ExpressionSource::Opaque(offset(value)..offset(""));
    // The text of an expression stands unchanged in the file only if it has no escapes and is on one line.
    let source = match value.strip_prefix("!expr ").map(str::trim_start) {
        Some(text) if text.starts_with(['|', '>']) => opaque,
        Some(text) => match text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            Some(quote) if text.contains('\\') || text.matches(quote).count() != 2 => opaque,
            Some(_) => ExpressionSource::Verbatim(offset(text) + 1),
            None => ExpressionSource::Verbatim(offset(text)),
        },
        None => opaque,
    };
    let start = offset(content);
    Some(AttributeSpan { name: Name::new(trimmed), name_range: start..start + name.len(), source })
}
