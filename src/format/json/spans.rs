//! Byte ranges of the attributes of an ad in JSON.

use crate::ad::Name;
use crate::format::attribute_span::{Place, Source};

use super::string::decode;
use super::token::{Token, Tokens};
use super::{OPEN, expression_inside};

/// Returns the places of the attributes of the object that begins at an offset.
pub fn places(text: &[u8], offset: usize) -> Vec<Place> {
    let rest = text.get(offset..).unwrap_or_default();
    let mut places: Vec<Place> = Vec::new();
    let mut depth = 0_usize;
    let mut name = None;
    let mut in_value = false;
    for (token, range) in Tokens::new(rest) {
        let Ok(token) = token else { break };
        let range = offset + range.start..offset + range.end;
        let mut place = |name: Option<(Name, std::ops::Range<usize>)>, source| {
            places.extend(name.map(|(name, range)| Place { name, range, source }));
        };
        match token {
            Token::BraceOpen | Token::BracketOpen => {
                if depth == 1 && in_value {
                    place(name.take(), Source::Whole(range));
                }
                depth += 1;
            }
            Token::BraceClose | Token::BracketClose => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            Token::Comma if depth == 1 => in_value = false,
            Token::Colon if depth == 1 => in_value = true,
            Token::String | Token::Word if depth == 1 => {
                let decoded = (token == Token::String && range.len() >= 2)
                    .then(|| decode(&text[range.start + 1..range.end - 1], range.start + 1, 0).ok())
                    .flatten();
                if in_value {
                    let source = match decoded {
                        Some(decoded) if expression_inside(&decoded.bytes).is_some() => {
                            Source::Escaped(decoded, OPEN.len())
                        }
                        _ => Source::Whole(range),
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
