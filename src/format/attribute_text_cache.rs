//! Cache of texts that are made from the texts of attributes, such as formatted lines.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values. The cache
//! predicts each attribute from the one before. The same text is made from an attribute that is written as the last one
//! of its name.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Name};
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::attribute_form::AttributeForm;
use super::attribute_text::AttributeText;

/// Maximum total length of the cached attributes and values, in bytes. A longer total clears the cache.
const MAX_CACHED_BYTES: usize = 4 << 20;

/// Maximum length of an attribute that is cached, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 16 * 1024;

/// Writer of the text for an attribute: the part before the value, then the value and what follows it.
pub trait AttributeWriter {
    /// Appends the part before the value. `beginning` is the text that was read before the value: in the long form, the
    /// name, which may be quoted, and the `=`.
    fn push_name(&mut self, beginning: &[u8], name: &Name, out: &mut Vec<u8>);

    /// Appends a value that is a simple literal of the language, and what follows the value. `value` is its text in the
    /// language. Returns false and appends nothing if it is not a simple literal.
    fn push_simple_literal(&mut self, value: &[u8], out: &mut Vec<u8>) -> bool;

    /// Appends a value, and what follows the value. `value` is its text in the language.
    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>);

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
    names: Vec<CachedAttribute>,
    /// Index in `names` by the text before a value.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Texts of values that are valid, by the text that was read.
    values: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Index in `names` of the name that is predicted for the next attribute.
    predicted: usize,
    /// Index in `names` of the name of the last attribute.
    last: usize,
    /// Total length of the cached texts, in bytes.
    cached_bytes: usize,
}

/// A name as attributes begin with it, and the attribute that had it last.
struct CachedAttribute {
    name: Name,
    /// The text before the value. It shows the name: a quoted name in the long form does not, because it may contain
    /// `=`.
    beginning: Box<[u8]>,
    /// The last attribute with this beginning, with what separates it from the next one. Empty if there is none that
    /// can be used again.
    source: Vec<u8>,
    /// The text made from `source`.
    text: Vec<u8>,
    /// Length of the part of `text` before the value, in bytes.
    name_length: usize,
    /// Index in the table of names of the name that followed this name last.
    successor: usize,
}

impl<W: AttributeWriter> AttributeTextCache<W> {
    /// Creates an empty cache for the long form. Values are parsed with `options`.
    pub fn new(options: ParseOptions, writer: W) -> Self {
        AttributeTextCache {
            form: AttributeForm::Long,
            options,
            writer,
            names: Vec::new(),
            by_beginning: FxHashMap::default(),
            values: FxHashMap::default(),
            predicted: 0,
            last: 0,
            cached_bytes: 0,
        }
    }

    /// Clears the cache if it has grown too large, or if `is_due`. Returns whether it was cleared: names then get new
    /// numbers. Must not be called within an ad.
    pub fn clear_if_large(&mut self, is_due: bool) -> bool {
        let is_large = is_due || self.cached_bytes > MAX_CACHED_BYTES;
        if is_large {
            self.names.clear();
            self.by_beginning.clear();
            self.values.clear();
            (self.predicted, self.last, self.cached_bytes) = (0, 0, 0);
        }
        is_large
    }

    /// Returns the form of the attributes.
    pub fn form(&self) -> AttributeForm {
        self.form
    }

    /// Sets the form of the attributes that are read next. The cache must be empty.
    pub fn set_form(&mut self, form: AttributeForm) {
        debug_assert!(self.names.is_empty(), "the same text may be another attribute in another form");
        self.form = form;
    }

    /// Returns the length of the first attribute of `text` and the text made from it, if it is written as the last one
    /// of the predicted name. `None` if the prediction fails.
    #[inline]
    pub fn same_text(&mut self, text: &[u8]) -> Option<(usize, &[u8])> {
        let cached = self.names.get(self.predicted)?;
        if cached.source.is_empty() || !text.starts_with(&cached.source) {
            return None;
        }
        self.last = self.predicted;
        self.predicted = cached.successor;
        Some((cached.source.len(), &cached.text))
    }

    /// Returns the length of the text before the value, if `text` begins with the predicted name.
    pub fn predicted_name_length(&self, text: &[u8]) -> Option<usize> {
        let beginning = &self.names.get(self.predicted)?.beginning;
        text.starts_with(beginning).then_some(beginning.len())
    }

    /// Returns the number of the name of the last attribute. The same number stands for the same name until
    /// [`AttributeTextCache::clear_if_large`]. A quoted name has no number.
    pub fn last_name(&self) -> usize {
        self.last
    }

    /// Returns the name with a number.
    pub fn name(&self, number: usize) -> &Name {
        &self.names[number].name
    }

    /// Appends the text made from an attribute. `place` is the byte offset of its content and the number of its ad, for
    /// problems. Returns a warning, if text behind the expression is ignored.
    ///
    /// # Errors
    ///
    /// The attribute does not parse. Nothing is appended.
    pub fn push_attribute(
        &mut self,
        AttributeText { whole, content }: AttributeText,
        place: (usize, usize),
        out: &mut Vec<u8>,
    ) -> Result<Option<Problem>, Problem> {
        let known = self.known_name(content);
        if let Some(index) = known {
            let cached = &mut self.names[index];
            let value = &content[cached.beginning.len()..];
            let before = cached.memory();
            cached.text.truncate(cached.name_length);
            let is_literal =
                self.form.is_text_of_language(value) && self.writer.push_simple_literal(value, &mut cached.text);
            let is_known = is_literal
                || self.values.get(value).is_some_and(|text| {
                    cached.text.extend_from_slice(text);
                    true
                });
            cached.set_source(if is_known { whole } else { &[] }, self.form);
            self.cached_bytes += cached.memory().saturating_sub(before);
            if is_known {
                out.extend_from_slice(&cached.text);
                self.follow(index);
                return Ok(None);
            }
        }
        let parsed = self.form.parse(content, self.options, place)?;
        let (beginning, value) = content.split_at(parsed.value_start);
        let start = out.len();
        self.writer.push_name(beginning, &parsed.name, out);
        let value_start = out.len();
        self.writer.push_value(&self.form.text_in_language(value, &parsed.expression), &parsed.expression, out);
        if self.form.value_start(content).is_some() {
            let index = known.unwrap_or_else(|| self.add_name(beginning, parsed.name, &out[start..value_start]));
            if parsed.warning.is_none() && whole.len() <= MAX_ATTRIBUTE_BYTES {
                let text = &out[value_start..];
                let cached = &mut self.names[index];
                cached.text.truncate(cached.name_length);
                cached.text.extend_from_slice(text);
                cached.set_source(whole, self.form);
                self.cached_bytes += 2 * (value.len() + text.len());
                self.values.insert(value.into(), text.into());
            }
            self.follow(index);
        }
        Ok(parsed.warning)
    }

    /// Returns the index of the name with which the content of an attribute begins, if it was read before.
    fn known_name(&self, content: &[u8]) -> Option<usize> {
        if self.predicted_name_length(content).is_some() {
            return Some(self.predicted);
        }
        self.by_beginning.get(&content[..self.form.value_start(content)?]).copied()
    }

    /// Adds a name. `beginning` is the text before the value, and `text` is the text made from it.
    fn add_name(&mut self, beginning: &[u8], name: Name, text: &[u8]) -> usize {
        let index = self.names.len();
        self.cached_bytes += 2 * beginning.len() + text.len();
        self.by_beginning.insert(beginning.into(), index);
        self.names.push(CachedAttribute {
            name,
            beginning: beginning.into(),
            source: Vec::new(),
            text: text.to_vec(),
            name_length: text.len(),
            successor: 0,
        });
        index
    }

    /// Records that an attribute has this name.
    fn follow(&mut self, index: usize) {
        if let Some(last) = self.names.get_mut(self.last) {
            last.successor = index;
        }
        self.last = index;
        self.predicted = self.names[index].successor;
    }
}

impl CachedAttribute {
    /// Sets the attribute from which `text` was made. Empty if it cannot be used again.
    fn set_source(&mut self, whole: &[u8], form: AttributeForm) {
        self.source.clear();
        if whole.len() <= MAX_ATTRIBUTE_BYTES && form.is_separated(whole) {
            self.source.extend_from_slice(whole);
        }
    }

    /// Number of bytes of memory for the texts that grow.
    fn memory(&self) -> usize {
        self.source.capacity() + self.text.capacity()
    }
}
