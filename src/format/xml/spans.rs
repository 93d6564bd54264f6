//! Byte ranges of the attributes of an ad in XML.

use std::ops::Range;

use crate::ad::Name;
use crate::format::attribute_span::{Place, Source};
use crate::format::source_map::Decoded;

use super::content;
use super::markup::{Markup, Markups, Tag};

/// Returns the places of the attributes of the ad whose element begins at an offset.
pub fn places(text: &[u8], offset: usize) -> Vec<Place> {
    let mut markups = Markups::new(text);
    markups.restart(offset.min(text.len()));
    let mut places = Vec::new();
    let mut open: Vec<Tag> = Vec::new();
    let mut attribute: Option<(Name, Range<usize>, Source)> = None;
    for (markup, range) in markups {
        match &markup {
            Markup::Open(tag, start) => {
                if *tag == Tag::Attribute && open.len() == 1 {
                    let name = start.try_get_attribute("n").ok().flatten();
                    let name = name.map(|name| String::from_utf8_lossy(name.value.as_bytes()).into_owned());
                    attribute = name.map(|name| (Name::new(&name), range.clone(), Source::Whole(range.clone())));
                }
                if let (Tag::Expression, 2, Some((.., source))) = (tag, open.len(), &mut attribute) {
                    *source = Source::Escaped(Decoded::at(range.end), 0);
                }
                open.push(*tag);
            }
            Markup::Close(_) => {
                open.pop();
                if open.len() == 1 {
                    places.extend(attribute.take().map(|(name, range, source)| Place { name, range, source }));
                }
                if open.is_empty() {
                    break;
                }
            }
            Markup::Text | Markup::Data => {
                if let (3, Some((.., Source::Escaped(decoded, _)))) = (open.len(), &mut attribute) {
                    let piece = &text[range.clone()];
                    let resolve = if matches!(markup, Markup::Data) { content::data } else { content::resolve };
                    if resolve(piece, range.start, decoded, 0).is_err() {
                        break;
                    }
                }
            }
            Markup::Empty(..) => {}
            _ => break,
        }
    }
    places
}
