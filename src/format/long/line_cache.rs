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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LineCache;
    use crate::ad::{Ad, Dialect, Expression, ExpressionKind};
    use crate::format::long::SYNTAX;
    use crate::format::long::reader::{LineParser, LongReader, is_comment};
    use crate::syntax::ParseOptions;

    /// Returns the text of an ad, with its number and offset, or of a problem.
    fn ad_text(ad: &Ad, number: usize, offset: usize) -> String {
        let mut text = Vec::new();
        SYNTAX.push_ad(ad, &mut text);
        format!("{number} at {offset}: {}", text.escape_ascii())
    }

    /// Reads the ads of a text line by line, without a cache.
    fn read_lines(text: &[u8], dialect: Dialect) -> Vec<String> {
        let mut items = Vec::new();
        let (mut offset, mut number, mut first) = (0, 0, None);
        let mut attributes = Some(Vec::new());
        for line in text.split_inclusive(|byte| *byte == b'\n').chain([b"\n".as_slice()]) {
            let start = offset;
            offset += line.len();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let content = line.trim_ascii_start();
            if content.is_empty() {
                if let Some(first) = first.take() {
                    items
                        .extend(attributes.map(|attributes| ad_text(&attributes.into_iter().collect(), number, first)));
                    attributes = Some(Vec::new());
                }
                continue;
            }
            if is_comment(content) {
                continue;
            }
            if first.is_none() {
                first = Some(start);
                number += 1;
            }
            match (LineParser { options: ParseOptions::long(dialect), ad_number: number }).parse_line(start, line) {
                Ok(parsed) => {
                    attributes.iter_mut().for_each(|all| all.push((parsed.name.clone(), parsed.expression.clone())));
                    items.extend(parsed.warning.map(|problem| format!("{problem:?}")));
                }
                Err(problem) => {
                    attributes = None;
                    items.push(format!("{problem:?}"));
                }
            }
        }
        items
    }

    proptest! {
        #[test]
        fn a_cache_changes_nothing_that_is_read(
            texts in prop::collection::vec(
                prop::collection::vec(
                    prop::sample::select(vec![
                        "a = 1", "a = 2", "a = 1\r", "A = 1", "a= 1", " a = 1", "b = \"x\"", "b = \"y\"", "b = a + 1",
                        "b = a + 2", "c = { 1, a }", "c = { 1, a }", "c = a + 1", "d = {", "d", "e = 1 2", "'a' = 3",
                        "'a = 4", "'a = 5' = 6", "self = 1", "= 1", "# a = 1", "//b", "", "", "", " ", "f = 010",
                    ]),
                    0..30,
                ),
                1..4,
            ),
            is_ended in any::<bool>(),
        ) {
            for dialect in [Dialect::Condor, Dialect::Classad] {
                let mut cache = LineCache::new(dialect);
                for lines in &texts {
                    let text = lines.join("\n") + if is_ended { "\n" } else { "" };
                    let read = LongReader::with_cache(text.as_bytes(), &mut cache).map(|item| match item {
                        Ok(entry) => ad_text(&entry.ad, entry.number, entry.offset),
                        Err(problem) => format!("{problem:?}"),
                    });
                    prop_assert_eq!(read.collect::<Vec<_>>(), read_lines(text.as_bytes(), dialect), "{}", text);
                }
            }
        }
    }

    #[test]
    fn ads_share_what_they_may_share() {
        let ads = "a = 1\nb = a + 1\nc = { 1 }\nd = a + 1\n\n".repeat(3);
        let ads: Vec<Ad> = LongReader::new(ads.as_bytes(), Dialect::Condor).map(|item| item.unwrap().ad).collect();
        let expression = |ad: usize, name| ads[ad].get_str(name).unwrap();
        for name in ["a", "b", "d"] {
            assert!(expression(1, name).ptr_eq(expression(2, name)), "{name}");
        }
        assert!(std::sync::Arc::ptr_eq(ads[1].shape(), ads[2].shape()));
        // The evaluator tells attributes of one ad apart by the roots of their expressions, and lists by their addresses.
        assert!(!expression(1, "b").ptr_eq(expression(1, "d")));
        let list = |expression: &Expression| match expression.kind() {
            ExpressionKind::List(elements) => elements.as_ptr(),
            _ => panic!("a list"),
        };
        assert_ne!(list(expression(1, "c")), list(expression(2, "c")));
    }
}
