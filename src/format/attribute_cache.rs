//! Cache of what the ads of one source repeat: attributes as they are written, values, and the order of names.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values.  The cache
//! predicts each attribute from the attribute before.  An attribute that is written as the last one of its name is
//! neither searched for its parts nor parsed.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Dialect, Expression, Name};
use crate::syntax::{ExpressionReuse, ParseCache, ParseOptions, ParsedValue, read_simple_literal};

use super::shape_cache::ShapeCache;

/// Maximum total length of the cached texts, in bytes.  A longer total clears the cache.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Maximum length of the text of an attribute that is cached, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 16 * 1024;

/// Cache of attributes, values and shapes.  One cache serves all texts of a source in one format.
///
/// The text of an attribute begins with its name and ends with the delimiter behind its value, so that the same text
/// has the same meaning wherever an attribute may begin.
pub struct AttributeCache {
    names: Vec<CachedName>,
    /// Index in `names` by the text of an attribute before its value.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Index in `names` of the name that is predicted for the next attribute.
    predicted: usize,
    /// Index in `names` of the name of the attribute read last.
    last: usize,
    /// Total length of the cached texts, in bytes.
    text_bytes: usize,
    pub values: ParseCache<()>,
    shapes: ShapeCache,
    /// Number of attributes of the ad built last, which predicts that of the next ad.
    last_length: usize,
    /// Whether the attributes of banners are added to the ads before them.
    pub adds_banners: bool,
}

/// A name as attributes begin with it, and the attribute that had it last.
struct CachedName {
    name: Name,
    /// Text of an attribute before its value.  Empty if the text does not show where the name ends.
    beginning: Box<[u8]>,
    /// Text of the last attribute with this beginning, with its delimiter.  Empty if it cannot be used again.
    text: Vec<u8>,
    /// The value of `text`.
    expression: Expression,
    /// How further ads may use `expression`.
    reuse: ExpressionReuse,
    /// Index in `names` of the name that followed this name last.
    successor: usize,
}

impl CachedName {
    /// Sets the text of the last attribute.  Returns the number of bytes by which the memory has grown.
    fn set_text(&mut self, text: &[u8]) -> usize {
        let before = self.text.capacity();
        self.text.clear();
        // A long attribute is not kept.
        if text.len() <= MAX_ATTRIBUTE_BYTES {
            self.text.extend_from_slice(text);
        }
        self.text.capacity() - before
    }
}

/// The attributes of an ad while they are read.
#[derive(Default)]
pub struct AttributeBuffer {
    /// Index in [`AttributeCache::names`] of each name.
    names: Vec<usize>,
    expressions: Vec<Expression>,
}

impl AttributeBuffer {
    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Adds an attribute whose name has an index.
    pub fn push(&mut self, index: usize, expression: Expression) {
        self.names.push(index);
        self.expressions.push(expression);
    }
}

impl AttributeCache {
    /// Creates an empty cache.  `options` are those for parsing the texts of values.
    #[must_use]
    pub fn new(options: ParseOptions) -> Self {
        AttributeCache {
            names: Vec::new(),
            by_beginning: FxHashMap::default(),
            predicted: 0,
            last: 0,
            text_bytes: 0,
            values: ParseCache::new(options),
            shapes: ShapeCache::default(),
            last_length: 0,
            adds_banners: true,
        }
    }

    /// Returns the dialect of the values.
    pub fn dialect(&self) -> Dialect {
        self.values.options().dialect
    }

    /// Begins an ad.  Clears the cache if it has grown too large.
    pub fn begin_ad(&mut self, buffer: &mut AttributeBuffer) {
        buffer.names.clear();
        buffer.expressions = Vec::with_capacity(self.last_length);
        if self.text_bytes > MAX_TEXT_BYTES {
            *self = AttributeCache { adds_banners: self.adds_banners, ..AttributeCache::new(self.values.options()) };
        }
    }

    /// Reads the first attribute of `text` if it is written as the last one of the predicted name.  Returns the length
    /// of its text with the delimiter.  `None` if the prediction fails.
    #[inline]
    pub fn read_same(&mut self, text: &[u8], buffer: &mut AttributeBuffer) -> Option<usize> {
        let cached = self.names.get(self.predicted)?;
        if cached.text.is_empty() || !text.starts_with(&cached.text) {
            return None;
        }
        let length = cached.text.len();
        buffer.names.push(self.predicted);
        buffer.expressions.push(cached.reuse.reused(&cached.expression));
        self.last = self.predicted;
        self.predicted = cached.successor;
        Some(length)
    }

    /// Returns the index of the predicted name, and the length of the text before the value.  `None` if `text` does not
    /// begin with the predicted name.
    pub fn predicted_name(&self, text: &[u8]) -> Option<(usize, usize)> {
        let beginning = &self.names.get(self.predicted)?.beginning;
        (!beginning.is_empty() && text.starts_with(beginning)).then_some((self.predicted, beginning.len()))
    }

    /// Returns the index of the name with this text before the value.  `None` if the cache lacks the name.
    pub fn index_of(&self, beginning: &[u8]) -> Option<usize> {
        self.by_beginning.get(beginning).copied()
    }

    /// Returns the index of a name, which is inserted if the cache lacks it.  `beginning` is the text of the attribute
    /// before its value.  `is_clear` says whether this text alone shows where the name ends.
    pub fn insert_name(&mut self, beginning: &[u8], is_clear: bool, name: Name) -> usize {
        if let Some(index) = self.by_beginning.get(beginning) {
            return *index;
        }
        let index = self.names.len();
        self.text_bytes += 2 * beginning.len();
        self.by_beginning.insert(beginning.into(), index);
        self.names.push(CachedName {
            name,
            beginning: if is_clear { beginning.into() } else { Box::default() },
            text: Vec::new(),
            expression: Expression::literal(false),
            reuse: ExpressionReuse::Shared,
            successor: 0,
        });
        index
    }

    /// Adds an attribute whose name has an index if the text of its value is a simple literal.  `text` is the text of the
    /// attribute with its delimiter.  Returns false and does nothing for any other value.
    pub fn add_simple_literal(
        &mut self,
        index: usize,
        text: &[u8],
        value: &[u8],
        buffer: &mut AttributeBuffer,
    ) -> bool {
        let cached = &mut self.names[index];
        // The memory of the value before is used again, if the ad that had it was dropped.
        if !read_simple_literal(value, &mut cached.expression) {
            return false;
        }
        cached.reuse = ExpressionReuse::Shared;
        self.text_bytes += cached.set_text(text);
        buffer.push(index, cached.expression.clone());
        self.follow(index);
        true
    }

    /// Adds an attribute whose name has an index.  `text` is the text of the attribute with its delimiter.  `None` if
    /// the text must not be used again.
    pub fn add<Note>(
        &mut self,
        index: usize,
        text: Option<&[u8]>,
        value: ParsedValue<Note>,
        buffer: &mut AttributeBuffer,
    ) {
        let cached = &mut self.names[index];
        if let Some(text) = text.filter(|_| value.reuse != ExpressionReuse::Never) {
            self.text_bytes += cached.set_text(text);
            cached.expression = value.expression.clone();
            cached.reuse = value.reuse;
        }
        buffer.push(index, value.expression);
        self.follow(index);
    }

    /// Records that an attribute has the name with this index.
    fn follow(&mut self, index: usize) {
        if let Some(last) = self.names.get_mut(self.last) {
            last.successor = index;
        }
        self.last = index;
        self.predicted = self.names[index].successor;
    }

    /// Returns the shape of the attributes in `buffer`. `None` if a name occurs twice.
    pub fn shape_of(&mut self, buffer: &AttributeBuffer) -> Option<Arc<AdShape>> {
        self.shapes.shape(&buffer.names, |index| self.names[index].name.clone())
    }

    /// Returns the value that the first `length` attributes of `buffer` give to the name with this index. `None` if they
    /// lack the name. `shape` is the shape of these attributes.
    pub fn value_of<'b>(
        &self,
        index: usize,
        shape: Option<&AdShape>,
        length: usize,
        buffer: &'b AttributeBuffer,
    ) -> Option<&'b Expression> {
        let name = &self.names[index].name;
        let position = match shape {
            Some(shape) => shape.position(name),
            // A name occurs twice, and its last value counts.
            None => buffer.names[..length].iter().rposition(|other| self.names[*other].name == *name),
        };
        buffer.expressions.get(position?)
    }

    /// Returns the ad of the attributes that were read.
    pub fn build_ad(&mut self, buffer: &mut AttributeBuffer) -> Ad {
        let expressions = std::mem::take(&mut buffer.expressions);
        self.last_length = expressions.len();
        let name = |index: usize| self.names[index].name.clone();
        match self.shapes.shape(&buffer.names, name) {
            Some(shape) => Ad::from_shape(shape, expressions),
            // A name occurs twice, and its last value counts.
            None => buffer.names.iter().map(|index| name(*index)).zip(expressions).collect(),
        }
    }
}
