//! Byte ranges of the attributes of an ad in XML.

use std::ops::Range;

use crate::ad::Name;
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};
use crate::format::source_map::DecodedText;

use super::content;
use super::markup::{MarkupReader, XmlMarkup, XmlTag};

/// Returns the places of the attributes of the ad whose element begins at an offset.
pub fn attribute_spans(text: &[u8], offset: usize) -> Vec<AttributeSpan> {
    let mut markups = MarkupReader::new(text);
    markups.restart(offset.min(text.len()));
    let mut places = Vec::new();
    let mut open: Vec<XmlTag> = Vec::new();
    let mut attribute: Option<(Name, Range<usize>, ExpressionSource)> = None;
    for (markup, range) in markups {
        match &markup {
            XmlMarkup::Open(tag, start) => {
                if *tag == XmlTag::Attribute && open.len() == 1 {
                    let name = start.try_get_attribute("n").ok().flatten();
                    let name = name.map(|name| String::from_utf8_lossy(name.value.as_bytes()).into_owned());
                    attribute =
                        name.map(|name| (Name::new(&name), range.clone(), ExpressionSource::Opaque(range.clone())));
                }
                if let (XmlTag::Expression, 2, Some((.., source))) = (tag, open.len(), &mut attribute) {
                    *source = ExpressionSource::Escaped(DecodedText::starting_at(range.end), 0);
                }
                open.push(*tag);
            }
            XmlMarkup::Close(_) => {
                open.pop();
                if open.len() == 1 {
                    places.extend(attribute.take().map(|(name, range, source)| AttributeSpan {
                        name,
                        name_range: range,
                        source,
                    }));
                }
                if open.is_empty() {
                    break;
                }
            }
            XmlMarkup::Text | XmlMarkup::CData => {
                if let (3, Some((.., ExpressionSource::Escaped(decoded, _)))) = (open.len(), &mut attribute) {
                    let piece = &text[range.clone()];
                    let resolve = if matches!(markup, XmlMarkup::CData) {
                        content::decode_cdata
                    } else {
                        content::decode_references
                    };
                    if resolve(piece, range.start, decoded, 0).is_err() {
                        break;
                    }
                }
            }
            XmlMarkup::Empty(..) => {}
            _ => break,
        }
    }
    places
}
