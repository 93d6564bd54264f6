//! Cache of what the ads of one source repeat in the long form: lines, values, and the order of names.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values.  The cache
//! predicts each line from the line before.  A line that is equal to the last one of its name is neither searched for
//! its parts nor parsed.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Dialect, Expression, Name};
use crate::syntax::{ExpressionReuse, ParseCache, ParseOptions, simple_literal};

/// Maximum total length of the cached lines, in bytes.  A longer total clears the cache.
const MAX_LINE_BYTES: usize = 4 << 20;

/// Maximum length of a line that is cached, in bytes.
const MAX_CACHED_LINE_BYTES: usize = 16 * 1024;

/// Maximum number of shapes.  More shapes clear the table of shapes.
const MAX_SHAPES: usize = 4096;

/// Cache of lines, values and shapes.  One cache serves all blocks of a source, or of several.
pub struct LineCache {
    names: Vec<CachedName>,
    /// Index in `names` by the text of a line up to and including its `=`.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Index in `names` of the name that is predicted for the next line.
    predicted: usize,
    /// Index in `names` of the name of the line read last.
    last: usize,
    /// Total length of the cached lines and beginnings of lines, in bytes.
    line_bytes: usize,
    values: ParseCache<()>,
    /// The shape of the ad built last.  `None` before the first ad.
    last_shape: Option<CachedShape>,
    shapes: FxHashMap<Box<[usize]>, Arc<AdShape>>,
}

/// A name as lines begin with it, and the line that had it last.
struct CachedName {
    name: Name,
    /// Text of a line up to and including its `=`.  Empty if the name is quoted, because a quoted name may contain `=`.
    beginning: Box<[u8]>,
    /// The last line with this beginning, with its line end.  Empty if there is none that can be used again.
    line: Vec<u8>,
    /// The value of `line`.
    expression: Expression,
    /// How further ads may use `expression`.
    reuse: ExpressionReuse,
    /// Index in `names` of the name that followed this name last.
    successor: usize,
}

/// The indices in [`LineCache::names`] of the names of an ad, and the shape with these names.
struct CachedShape {
    names: Box<[usize]>,
    shape: Arc<AdShape>,
}

/// The attributes of an ad while its lines are read.
#[derive(Default)]
pub struct LineBuffer {
    /// Index in [`LineCache::names`] of each name.
    names: Vec<usize>,
    expressions: Vec<Expression>,
}

impl LineCache {
    /// Creates an empty cache for lines of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        LineCache {
            names: Vec::new(),
            by_beginning: FxHashMap::default(),
            predicted: 0,
            last: 0,
            line_bytes: 0,
            values: ParseCache::new(ParseOptions::long(dialect)),
            last_shape: None,
            shapes: FxHashMap::default(),
        }
    }

    /// Returns the options with which values are parsed.
    pub fn options(&self) -> ParseOptions {
        self.values.options()
    }

    /// Begins an ad.  Clears the cache if it has grown too large.
    pub fn begin_ad(&mut self, buffer: &mut LineBuffer) {
        buffer.names.clear();
        buffer.expressions = Vec::with_capacity(self.last_shape.as_ref().map_or(0, |last| last.names.len()));
        if self.line_bytes > MAX_LINE_BYTES {
            *self = LineCache::new(self.options().dialect);
        }
    }

    /// Reads the first line of `text` if it is equal to the last line of the predicted name.  Returns the length of the
    /// line with its line end.  `None` if the prediction fails.
    #[inline]
    pub fn read_same_line(&mut self, text: &[u8], buffer: &mut LineBuffer) -> Option<usize> {
        let cached = self.names.get(self.predicted)?;
        if cached.line.is_empty() || !text.starts_with(&cached.line) {
            return None;
        }
        let length = cached.line.len();
        buffer.names.push(self.predicted);
        buffer.expressions.push(cached.reuse.reused(&cached.expression));
        self.last = self.predicted;
        self.predicted = cached.successor;
        Some(length)
    }

    /// Reads a line whose beginning is known and whose value is one expression.  `line` has its line end, `content` has
    /// none.  Returns false if the line must be read by other means.
    pub fn read_line(&mut self, line: &[u8], content: &[u8], buffer: &mut LineBuffer) -> bool {
        let is_predicted = |cached: &CachedName| !cached.beginning.is_empty() && content.starts_with(&cached.beginning);
        let index = if self.names.get(self.predicted).is_some_and(is_predicted) {
            self.predicted
        } else {
            let Some(equals) = memchr::memchr(b'=', content).filter(|_| !has_quoted_name(content)) else {
                return false;
            };
            let Some(index) = self.by_beginning.get(&content[..=equals]) else { return false };
            *index
        };
        let beginning = self.names[index].beginning.len();
        let value = &content[beginning..];
        let Some((expression, reuse)) = self.parse_value(value, index) else { return false };
        let cached = &mut self.names[index];
        if line.len() <= MAX_CACHED_LINE_BYTES && reuse != ExpressionReuse::Never {
            self.line_bytes += line.len().saturating_sub(cached.line.capacity());
            cached.line.clear();
            cached.line.extend_from_slice(line);
            cached.expression = expression.clone();
            cached.reuse = reuse;
        }
        self.push(index, expression, buffer);
        true
    }

    /// Parses the value of the name with an index.  Returns the expression, and how further ads may use it.  `None` if
    /// the value is not exactly one expression.
    fn parse_value(&mut self, value: &[u8], index: usize) -> Option<(Expression, ExpressionReuse)> {
        if let Some(literal) = simple_literal(value) {
            return Some((literal, ExpressionReuse::Shared));
        }
        let parsed = self.values.parse(value, index)?;
        Some((parsed.expression, parsed.reuse))
    }

    /// Adds an attribute that was read by other means.  `beginning` is the text of its line up to and including the
    /// `=`.  Further lines with this beginning have this name.
    pub fn add_attribute(&mut self, beginning: &[u8], name: Name, expression: Expression, buffer: &mut LineBuffer) {
        let index = match self.by_beginning.get(beginning) {
            Some(index) => *index,
            None => {
                let index = self.names.len();
                self.line_bytes += 2 * beginning.len();
                self.by_beginning.insert(beginning.into(), index);
                self.names.push(CachedName {
                    name,
                    beginning: if has_quoted_name(beginning) { Box::default() } else { beginning.into() },
                    line: Vec::new(),
                    expression: expression.clone(),
                    reuse: ExpressionReuse::Shared,
                    successor: 0,
                });
                index
            }
        };
        self.push(index, expression, buffer);
    }

    fn push(&mut self, index: usize, expression: Expression, buffer: &mut LineBuffer) {
        if let Some(last) = self.names.get_mut(self.last) {
            last.successor = index;
        }
        self.last = index;
        self.predicted = self.names[index].successor;
        buffer.names.push(index);
        buffer.expressions.push(expression);
    }

    /// Returns the ad of the lines that were read.
    pub fn build_ad(&mut self, buffer: &mut LineBuffer) -> Ad {
        let expressions = std::mem::take(&mut buffer.expressions);
        if let Some(last) = self.last_shape.as_ref().filter(|last| *last.names == *buffer.names) {
            return Ad::from_shape(Arc::clone(&last.shape), expressions);
        }
        let shape = match self.shapes.get(buffer.names.as_slice()) {
            Some(shape) => Arc::clone(shape),
            None => {
                let names = || buffer.names.iter().map(|index| self.names[*index].name.clone());
                let shape: AdShape = names().collect();
                if shape.names().len() < expressions.len() {
                    // A name occurs twice, and its last value counts.
                    return names().zip(expressions).collect();
                }
                let shape = Arc::new(shape);
                if self.shapes.len() >= MAX_SHAPES {
                    self.shapes.clear();
                }
                self.shapes.insert(buffer.names.as_slice().into(), Arc::clone(&shape));
                shape
            }
        };
        self.last_shape = Some(CachedShape { names: buffer.names.as_slice().into(), shape: Arc::clone(&shape) });
        Ad::from_shape(shape, expressions)
    }
}

/// Whether a line begins with a quote.
fn has_quoted_name(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"'")
}
