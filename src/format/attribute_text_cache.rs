//! Cache of texts that are made from the texts of attributes, such as formatted lines.
//!
//! The same text is made from an attribute that is written as the last one of its name.
//!
//! Bench row `fmt machines.long`: 1.6 times as many instructions without the texts of values.

use rustc_hash::FxHashMap;

use crate::ad::{Bounded, Expression, Name};
use crate::format::Problem;
use crate::syntax::{LiteralText, ParseOptions};

use super::attribute_form::AttributeForm;
use super::attribute_predictor::AttributePredictor;
use super::attribute_text::AttributeText;

/// Maximum length of a value whose text is remembered, in bytes.
const MAX_VALUE_BYTES: usize = 16 * 1024;

/// Writer of the text for an attribute: the part before the value, then the value and what follows it.
pub trait AttributeWriter {
    /// Appends the part before the value. `beginning` is the text that was read before the value: in the long form, the
    /// name, which may be quoted, and the `=`.
    fn push_name(&mut self, beginning: &[u8], name: &Name, out: &mut Vec<u8>);

    /// Appends a value that is a literal of the language, and what follows the value. Returns false and appends nothing if
    /// only [`AttributeWriter::push_value`] can append it.
    fn push_literal(&mut self, literal: &LiteralText, out: &mut Vec<u8>) -> bool;

    /// Appends a value, and what follows the value. `value` is its text in the language.
    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>);

    /// Whether the texts that were made so far refer to so much that they are to be forgotten.
    fn is_full(&self) -> bool {
        false
    }

    /// Forgets what the texts that were made so far refer to. The cache has forgotten these texts.
    fn forget(&mut self) {}

    /// Returns whether a text that was appended since the last call is invalid, and resets this state.
    fn take_rejection(&mut self) -> bool {
        false
    }
}

/// Cache of the texts that a [`AttributeWriter`] makes.
pub struct AttributeTextCache<W> {
    form: AttributeForm,
    options: ParseOptions,
    pub writer: W,
    pub attributes: Bounded<AttributePredictor<MadeText>>,
    /// Texts of values that are valid, by the text that was read.
    values: Bounded<TextsByText>,
}

type TextsByText = FxHashMap<Box<[u8]>, Box<[u8]>>;

/// The text that was made from the last attribute of a name.
pub struct MadeText {
    text: Vec<u8>,
    /// Length of the part of `text` before the value, in bytes.
    name_length: usize,
}

impl<W: AttributeWriter> AttributeTextCache<W> {
    /// Creates an empty cache for the long form. Values are parsed with `options`.
    pub fn new(options: ParseOptions, writer: W) -> Self {
        AttributeTextCache {
            form: AttributeForm::Long,
            options,
            writer,
            attributes: Bounded::default(),
            values: Bounded::default(),
        }
    }

    /// Clears the cache if it has grown too large. Returns whether it was cleared: names then get new numbers. Must not
    /// be called within an ad.
    pub fn clear_if_large(&mut self) -> bool {
        let is_large = self.attributes.is_full() || self.writer.is_full();
        if is_large {
            self.clear();
        }
        is_large
    }

    /// Clears the cache. Names get new numbers. Must not be called within an ad.
    pub fn clear(&mut self) {
        self.attributes.forget();
        self.values.forget();
        self.writer.forget();
    }

    /// Returns the form of the attributes.
    pub fn form(&self) -> AttributeForm {
        self.form
    }

    /// Clears the cache and sets the form of the attributes that are read next, because the same text may be another
    /// attribute in another form.
    pub fn set_form(&mut self, form: AttributeForm) {
        self.clear();
        self.form = form;
    }

    /// Returns the length of the first attribute of `text` and the text made from it, if it has the predicted name and
    /// either is written as the last one of this name or has a literal as its value. `None` for any other attribute.
    ///
    /// What begins like an attribute, up to its value, is an attribute.
    #[inline]
    pub fn predicted_text(&mut self, text: &[u8]) -> Option<(usize, &[u8])> {
        let (number, length) = if let Some(same) = self.attributes.read_same(text) {
            (same.number, same.length)
        } else {
            let (number, start) = self.attributes.predicted_name(text)?;
            let (literal, length) = self.form.literal_at_start(&text[start..])?;
            let source = &text[..start + length];
            if !self.make(number, source, |writer, _, text| writer.push_literal(&literal, text)) {
                return None;
            }
            (number, source.len())
        };
        Some((length, &self.attributes[number].text))
    }

    /// Appends the text made from an attribute. `place` is the byte offset of its content and the number of its ad, for
    /// problems. Returns a warning, if text behind the expression is ignored.
    ///
    /// # Errors
    ///
    /// The attribute does not parse. Nothing is appended.
    #[inline]
    pub fn push_attribute(
        &mut self,
        attribute: AttributeText,
        place: (usize, usize),
        out: &mut Vec<u8>,
    ) -> Result<Option<Problem>, Problem> {
        let AttributeText { whole, content } = attribute;
        // A text that is not separated may be only the beginning of another one.
        let source = if self.form.is_separated(whole) { whole } else { &[] };
        let known = self.attributes.find(content, || self.form.value_start(content));
        if let Some((number, length)) = known
            && self.make_known(number, &content[length..], source)
        {
            out.extend_from_slice(&self.attributes[number].text);
            return Ok(None);
        }
        self.push_parsed(attribute, known.map(|(number, _)| number), place, out)
    }

    /// Appends the text made from an attribute that is parsed for that. `known` is the number of its name.
    #[cold]
    fn push_parsed(
        &mut self,
        AttributeText { whole, content }: AttributeText,
        known: Option<usize>,
        place: (usize, usize),
        out: &mut Vec<u8>,
    ) -> Result<Option<Problem>, Problem> {
        let source = if self.form.is_separated(whole) { whole } else { &[] };
        let parsed = self.form.parse(content, self.options, place)?;
        let (beginning, value) = content.split_at(parsed.value_start);
        let start = out.len();
        self.writer.push_name(beginning, &parsed.name, out);
        let value_start = out.len();
        self.writer.push_value(&self.form.text_in_language(value, &parsed.expression), &parsed.expression, out);
        if self.form.value_start(content).is_some() {
            let number = known.unwrap_or_else(|| {
                let text = out[start..value_start].to_vec();
                self.attributes.grow(2 * beginning.len() + text.len());
                let made = MadeText { name_length: text.len(), text };
                self.attributes.insert(beginning, true, parsed.name, made)
            });
            if parsed.warning.is_none() && whole.len() <= MAX_VALUE_BYTES {
                let text = &out[value_start..];
                self.make(number, source, |_, _, made| {
                    made.extend_from_slice(text);
                    true
                });
                self.values.make_room(value.len() + text.len());
                self.values.insert(value.into(), text.into());
            } else {
                self.attributes.set_text(number, &[]);
                self.attributes.follow(number);
            }
        }
        Ok(parsed.warning)
    }

    /// Makes the text of an attribute whose name is known, if its value is a literal or has a known text. Returns whether
    /// it is. `source` is the text of the attribute.
    fn make_known(&mut self, number: usize, value: &[u8], source: &[u8]) -> bool {
        let literal = self.form.literal(value);
        self.make(number, source, |writer, values, text| {
            literal.is_some_and(|literal| writer.push_literal(&literal, text))
                || values.get(value).is_some_and(|known| {
                    text.extend_from_slice(known);
                    true
                })
        })
    }

    /// Makes the text of an attribute whose name is known. `push` appends what is made of the value, unless it returns
    /// false. Returns what it returns. `source` is the text of the attribute.
    #[inline]
    fn make(
        &mut self,
        number: usize,
        source: &[u8],
        push: impl FnOnce(&mut W, &TextsByText, &mut Vec<u8>) -> bool,
    ) -> bool {
        let made = &mut self.attributes[number];
        let before = made.text.capacity();
        made.text.truncate(made.name_length);
        let is_made = push(&mut self.writer, &self.values, &mut made.text);
        let of_made = made.text.capacity() - before;
        let of_source = self.attributes.set_text(number, if is_made { source } else { &[] });
        if of_made + of_source > 0 {
            self.attributes.grow(of_made + of_source);
        }
        if is_made {
            self.attributes.follow(number);
        }
        is_made
    }
}
