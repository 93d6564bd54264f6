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
    /// The beginning of each attribute of the last ad, as an offset in the text of the ad.
    starts: Vec<usize>,
    /// The end of the text of each attribute of the last ad, as an offset in the output.
    ends: Vec<usize>,
    /// Values that were read on demand.
    values: RefCell<ParseCache<()>>,
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
            starts: Vec::new(),
            ends: Vec::new(),
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

    /// Reads a value of the last ad. `text` is the text that was read, and `position` is the 0-based index of the
    /// attribute. `None` if the value has an error: it has none if [`AttributeTextReader::push_ad`] has read the ad.
    pub fn value(&self, text: &[u8], position: usize) -> Option<Expression> {
        let form = self.texts.form();
        let Some(NextText::Attribute(attribute)) = form.next_text(&text[self.starts[position]..], || None) else {
            return None;
        };
        let value = &attribute.content[form.value_start(attribute.content)?..];
        Some(form.parse_value(value, self.names[position], &mut self.values.borrow_mut())?.expression)
    }

    /// Returns the end of the text of each attribute of the last ad, as an offset in the output.
    pub fn ends(&self) -> &[usize] {
        &self.ends
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
        self.starts.clear();
        self.ends.clear();
        let mut at = form.first_attribute(text)?;
        loop {
            let rest = &text[at..];
            let before = out.len();
            out.extend_from_slice(if self.names.is_empty() { begin } else { separator }.as_bytes());
            let length = if let Some((length, written)) = self.texts.same_text(rest) {
                out.extend_from_slice(written);
                length
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
                        if self.texts.writer.take_rejection() {
                            self.texts.clear();
                            self.generation += 1;
                            return None;
                        }
                        if warning.is_some() {
                            return None;
                        }
                        attribute.whole.len()
                    }
                }
            };
            self.names.push(self.texts.attributes.last());
            self.starts.push(at);
            self.ends.push(out.len());
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
