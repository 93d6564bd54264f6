//! Byte ranges of the attributes of an ad in JSON.

use crate::ad::Name;
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};

use super::string::decode_string;
use super::token::{JsonToken, json_lexer};
use super::{OPEN, expression_inside};

/// Returns the places of the attributes of the object that begins at an offset.
pub fn attribute_spans(text: &[u8], offset: usize) -> Vec<AttributeSpan> {
    let rest = text.get(offset..).unwrap_or_default();
    let mut places: Vec<AttributeSpan> = Vec::new();
    let mut depth = 0_usize;
    let mut name = None;
    let mut in_value = false;
    for (token, range) in json_lexer(rest) {
        let Ok(token) = token else { break };
        let range = offset + range.start..offset + range.end;
        let mut place = |name: Option<(Name, std::ops::Range<usize>)>, source| {
            places.extend(name.map(|(name, range)| AttributeSpan { name, name_range: range, source }));
        };
        match token {
            JsonToken::BraceOpen | JsonToken::BracketOpen => {
                if depth == 1 && in_value {
                    place(name.take(), ExpressionSource::Opaque(range));
                }
                depth += 1;
            }
            JsonToken::BraceClose | JsonToken::BracketClose => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            JsonToken::Comma if depth == 1 => in_value = false,
            JsonToken::Colon if depth == 1 => in_value = true,
            JsonToken::String | JsonToken::Word if depth == 1 => {
                let decoded = (token == JsonToken::String && range.len() >= 2)
                    .then(|| decode_string(&text[range.start + 1..range.end - 1], range.start + 1, 0).ok())
                    .flatten();
                if in_value {
                    let source = match decoded {
                        Some(decoded) if expression_inside(&decoded.bytes).is_some() => {
                            ExpressionSource::Escaped(decoded, OPEN.len())
                        }
                        _ => ExpressionSource::Opaque(range),
                    };
                    place(name.take(), source);
                } else if let Some(decoded) = decoded {
                    name = Some((Name::new(&String::from_utf8_lossy(&decoded.bytes)), range));
                }
            }
            _ => {}
        }
    }
    places
}
