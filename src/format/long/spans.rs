//! Byte ranges of the attributes of an ad in the long form.

use crate::ad::{Dialect, Name};
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};
use crate::syntax::read_name;

use super::reader::{LongReader, find_separator, is_comment};

/// Returns the places of the attributes of the ad that begins at an offset.
pub fn attribute_spans(text: &[u8], offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    let mut places = Vec::new();
    let mut reader = LongReader::at(text, dialect, offset, 0);
    while let Some((start, line)) = reader.next_line() {
        let content = line.trim_ascii_start();
        if content.is_empty() {
            break;
        }
        if is_comment(content) {
            continue;
        }
        let Some(equals) = find_separator(line) else { continue };
        let written = line[..equals].trim_ascii();
        let indent = line.len() - content.len();
        if let Some(name) = read_name(&String::from_utf8_lossy(written), dialect) {
            let range = start + indent..start + indent + written.len();
            places.push(AttributeSpan {
                name: Name::new(&name),
                name_range: range,
                source: ExpressionSource::Verbatim(start + equals + 1),
            });
        }
    }
    places
}
