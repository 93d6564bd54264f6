//! Byte ranges of the attributes of an ad in YAML, as far as the ranges are certain. The ranges are found by a scan of
//! lines, because `serde_yaml` reports positions only with errors.

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};

use super::documents::DocumentExtents;

/// Returns the places of the attributes of the document that contains an offset. Only attributes that begin a line are
/// found.
///
/// In a document that is one ad, these are the lines with the indentation of the first line. In other documents, these
/// are the names that begin exactly one line.
pub fn attribute_spans(text: &[u8], offset: usize) -> Vec<AttributeSpan> {
    let Some(document) = (DocumentExtents { text, at: 0 }).find(|document| document.range.contains(&offset)) else {
        return Vec::new();
    };
    let mut places: Vec<AttributeSpan> = Vec::new();
    let mut at = document.content;
    let mut first = None;
    for line in text[document.content..document.range.end].split_inclusive(|byte| *byte == b'\n') {
        let content = line.trim_ascii();
        if first.is_none() && !content.is_empty() && !content.starts_with(b"#") {
            let indent = line.len() - line.trim_ascii_start().len();
            let is_key = line_attribute(line, at).is_some_and(|place| place.name_range.start == at + indent);
            first = Some(is_key.then_some(indent));
        }
        // In an ad, lines that continue an attribute above are indented further.
        let place = line_attribute(line, at);
        places.extend(place.filter(|place| first.flatten().is_none_or(|indent| place.name_range.start == at + indent)));
        at += line.len();
    }
    if first.flatten().is_none() {
        let mut times: FxHashMap<Name, usize> = FxHashMap::default();
        for place in &places {
            *times.entry(place.name.clone()).or_default() += 1;
        }
        places.retain(|place| times[&place.name] == 1);
    }
    places
}

/// Returns the attribute whose name begins a line; `None` if there is none.
fn line_attribute(line: &[u8], at: usize) -> Option<AttributeSpan> {
    let written = std::str::from_utf8(line).ok()?.trim_end();
    let content = written.trim_start_matches([' ', '-']);
    let (name, value) = content.split_once(':')?;
    let is_value = value.is_empty() || value.starts_with(' ');
    let trimmed = name.trim_matches(['"', '\'']);
    if !is_value || trimmed.is_empty() || name.contains(['#', '{', '[']) {
        return None;
    }
    let start = at + written.len() - content.len();
    let range = start..start + name.len();
    let behind = start + name.len() + 1;
    let value_start = behind + value.len() - value.trim_start().len();
    let whole = value_start..at + written.len();
    // Only a text without escapes on one line stands unchanged in the file.
    let source = match value.trim_start().strip_prefix("!expr ").map(|rest| (rest, rest.trim_start())) {
        Some((rest, text)) => {
            let text_start = value_start + "!expr ".len() + rest.len() - text.len();
            let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
            match quote {
                Some(quote) if text.contains('\\') || text.matches(quote).count() != 2 => {
                    ExpressionSource::Opaque(whole)
                }
                Some(_) => ExpressionSource::Verbatim(text_start + 1),
                None if text.starts_with(['|', '>']) => ExpressionSource::Opaque(whole),
                None => ExpressionSource::Verbatim(text_start),
            }
        }
        None => ExpressionSource::Opaque(whole),
    };
    Some(AttributeSpan { name: Name::new(trimmed), name_range: range, source })
}
