//! Reading of ads attribute by attribute, without expression trees.

use std::cell::RefCell;
use std::sync::Arc;

use crate::ad::{AdShape, Dialect, Expression, Name};
use crate::syntax::{ParseCache, ParseOptions};

use super::attribute_form::{AdText, NextText};
use super::attribute_text_cache::{AttributeTextCache, AttributeWriter};

/// Reads ads attribute by attribute. An [`AttributeWriter`] makes a text of each attribute.
pub(crate) struct AttributeTextReader<W> {
    texts: AttributeTextCache<W>,
    /// Number of times that the names got new numbers.
    generation: usize,
    /// The texts before the first attribute, between two attributes and behind the last attribute of an ad.
    frame: [&'static str; 3],
    /// Numbers of the names of the last ad.
    names: Vec<usize>,
    /// Where each attribute of the last ad is.
    places: Vec<ReadPlace>,
    /// Values that were read on demand.
    values: RefCell<ParseCache<()>>,
}

/// Where an attribute is.
struct ReadPlace {
    /// The beginning in the text of the ad, as an offset.
    start: usize,
    /// The end of the text made from it, as an offset in the output.
    end: usize,
}

impl<W: AttributeWriter> AttributeTextReader<W> {
    /// Creates a reader of ads of a dialect. `frame` has the texts before the first attribute, between two attributes and
    /// behind the last attribute of an ad.
    pub fn new(dialect: Dialect, writer: W, frame: [&'static str; 3]) -> Self {
        let options = ParseOptions::long(dialect);
        AttributeTextReader {
            texts: AttributeTextCache::new(options, writer),
            generation: 0,
            frame,
            names: Vec::new(),
            places: Vec::new(),
            values: RefCell::new(ParseCache::new(options)),
        }
    }

    /// Returns what makes texts of attributes.
    pub fn writer(&self) -> &W {
        &self.texts.writer
    }

    /// Forgets what was read, if that has grown too large.
    pub fn clear_if_large(&mut self) {
        self.generation += usize::from(self.texts.clear_if_large());
    }

    /// Returns the number of times that the names got new numbers.
    pub fn generation(&self) -> usize {
        self.generation
    }

    /// Returns the numbers of the names of the last ad. The same number stands for the same name in one
    /// generation.
    pub fn names(&self) -> &[usize] {
        &self.names
    }

    /// Returns the name with a number.
    pub fn name(&self, number: usize) -> &Name {
        self.texts.attributes.name(number)
    }

    /// Returns a number for the text of the last attribute of the name with a number. As long as this text is repeated, the
    /// number stays the same. In one generation, no other text gets the number.
    pub fn revision(&self, number: usize) -> usize {
        self.texts.attributes.revision(number)
    }

    /// Reads a value of the last ad. `text` is the text that was read, and `position` is the 0-based index of the
    /// attribute. `None` if the value has an error: it has none if [`AttributeTextReader::push_ad`] has read the ad.
    pub fn value(&self, text: &[u8], position: usize) -> Option<Expression> {
        let (form, number) = (self.texts.form(), self.names[position]);
        let text = &text[self.places[position].start..];
        if let Some(value) = self.texts.attributes.value_of(number, text)
            && let Some((literal, _)) = form.literal_at_start(value)
            && let Some(expression) = literal.expression()
        {
            return Some(expression);
        }
        let Some(NextText::Attribute(attribute)) = form.next_text(text, || None) else { return None };
        let value = &attribute.content[form.value_start(attribute.content)?..];
        Some(form.parse_value(value, number, &mut self.values.borrow_mut())?.expression)
    }

    /// Returns the end of the text of an attribute of the last ad, as an offset in the output. `position` is the 0-based
    /// index of the attribute.
    pub fn end(&self, position: usize) -> usize {
        self.places[position].end
    }

    /// Appends the text of the first ad of a text. Returns the length of the ad, and its shape. In the long form, the
    /// blank line behind the ad counts.
    ///
    /// `None` if the ad cannot be read attribute by attribute: it has a problem, a comment, a banner, a name twice, no
    /// attributes, a value that the writer refuses, or no end. `out` may then have a part of the ad.
    pub fn push_ad(
        &mut self,
        AdText { bytes: text, form }: AdText,
        out: &mut Vec<u8>,
    ) -> Option<(usize, Arc<AdShape>)> {
        if self.texts.form() != form {
            self.generation += 1;
            *self.values.get_mut() = ParseCache::new(self.values.get_mut().options());
            self.texts.set_form(form);
        }
        let [begin, separator, end] = self.frame;
        self.names.clear();
        self.places.clear();
        let mut at = form.first_attribute(text)?;
        loop {
            let rest = &text[at..];
            let before = out.len();
            let lead = if self.names.is_empty() { begin } else { separator };
            if !lead.is_empty() {
                out.extend_from_slice(lead.as_bytes());
            }
            let (length, has_warning) = if let Some((length, written)) = self.texts.predicted_text(rest) {
                out.extend_from_slice(written);
                (length, false)
            } else {
                match form.next_text(rest, || Some(self.texts.attributes.predicted_name(rest)?.1))? {
                    NextText::BlankLine(length) => {
                        out.truncate(before);
                        at += length;
                        if self.names.is_empty() {
                            continue;
                        }
                        break;
                    }
                    NextText::Attribute(attribute) => {
                        let warning = self.texts.push_attribute(attribute, (0, 0), out).ok()?;
                        (attribute.whole.len(), warning.is_some())
                    }
                }
            };
            if self.texts.writer.take_rejection() {
                self.texts.clear();
                self.generation += 1;
                return None;
            }
            if has_warning {
                return None;
            }
            self.names.push(self.texts.attributes.last());
            self.places.push(ReadPlace { start: at, end: out.len() });
            at += length;
            if form.ends_ad(&rest[..length]) {
                break;
            }
        }
        out.extend_from_slice(end.as_bytes());
        // An ad in which a name occurs twice has no shape.
        let shape = self.texts.attributes.shape(&self.names)?;
        Some((at, shape))
    }
}
