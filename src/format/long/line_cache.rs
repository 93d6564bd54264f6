//! Cache of texts that are made from the lines of attributes, such as formatted lines.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values. The cache
//! predicts each line from the line before. The same text is made from a line that is equal to the last one of its name.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Name};
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::line_parser::{LineParser, has_quoted_name};

/// Maximum total length of the cached lines and values, in bytes. A longer total clears the cache.
const MAX_CACHED_BYTES: usize = 4 << 20;

/// Maximum length of a line that is cached, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// Writer of the text for the line of an attribute: the part before the value, then the value and what follows it.
pub trait LineWriter {
    /// Appends the part before the value. `written` is the name as it stands in the line, which may be quoted.
    fn push_name(&mut self, written: &[u8], name: &Name, out: &mut Vec<u8>);

    /// Appends a value that is a simple literal, and what follows the value. `value` is the text after the `=`. Returns
    /// false and appends nothing if it is no simple literal.
    fn push_simple_literal(&mut self, value: &[u8], out: &mut Vec<u8>) -> bool;

    /// Appends a value, and what follows the value. `value` is the text after the `=`.
    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>);

    /// Forgets what the texts that were made so far refer to. The cache has forgotten these texts.
    fn forget(&mut self) {}

    /// Returns whether a text that was appended since the last call is invalid, and resets this state.
    fn take_rejection(&mut self) -> bool {
        false
    }
}

/// Cache of the texts that a [`LineWriter`] makes.
pub struct LineCache<W> {
    options: ParseOptions,
    pub writer: W,
    names: Vec<CachedAttribute>,
    /// Index in `names` by the text of a line up to and including its `=`.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Texts of values that are valid, by the text after the `=`.
    values: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Index in `names` of the name that is predicted for the next line.
    predicted: usize,
    /// Index in `names` of the name of the last line.
    last: usize,
    /// Total length of the cached texts, in bytes.
    cached_bytes: usize,
}

/// A name as lines begin with it, and the line that had it last.
struct CachedAttribute {
    name: Name,
    /// Text of a line up to and including its `=`. It has no quoted name, because a quoted name may contain `=`.
    beginning: Box<[u8]>,
    /// The last line with this beginning, with its line end. Empty if there is none that can be used again.
    line: Vec<u8>,
    /// The text made from `line`.
    text: Vec<u8>,
    /// Length of the part of `text` before the value, in bytes.
    name_length: usize,
    /// Index in the table of names of the name that followed this name last.
    successor: usize,
}

impl<W: LineWriter> LineCache<W> {
    /// Creates an empty cache. Values are parsed with `options`.
    pub fn new(options: ParseOptions, writer: W) -> Self {
        LineCache {
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

    /// Returns the length of the first line of `text` and the text made from it, if the line is equal to the last line
    /// of the predicted name. `None` if the prediction fails.
    #[inline]
    pub fn same_line(&mut self, text: &[u8]) -> Option<(usize, &[u8])> {
        let cached = self.names.get(self.predicted)?;
        if cached.line.is_empty() || !text.starts_with(&cached.line) {
            return None;
        }
        self.last = self.predicted;
        self.predicted = cached.successor;
        Some((cached.line.len(), &cached.text))
    }

    /// Returns the number of the name of the last line. The same number stands for the same name until
    /// [`LineCache::clear_if_large`]. A quoted name has no number.
    pub fn last_name(&self) -> usize {
        self.last
    }

    /// Returns the name with a number.
    pub fn name(&self, number: usize) -> &Name {
        &self.names[number].name
    }

    /// Appends the text made from an attribute's line. `whole` is the line with its line end, `line` is without.
    /// `offset` and `ad_number` are the place of the line, for problems. Returns a warning, if text behind the
    /// expression is ignored.
    ///
    /// # Errors
    ///
    /// The line does not parse. Nothing is appended.
    pub fn push_line(
        &mut self,
        (whole, line): (&[u8], &[u8]),
        (offset, ad_number): (usize, usize),
        out: &mut Vec<u8>,
    ) -> Result<Option<Problem>, Problem> {
        let known = self.known_name(line);
        if let Some(index) = known {
            let cached = &mut self.names[index];
            let value = &line[cached.beginning.len()..];
            let before = cached.memory();
            cached.text.truncate(cached.name_length);
            let is_known = self.writer.push_simple_literal(value, &mut cached.text)
                || self.values.get(value).is_some_and(|text| {
                    cached.text.extend_from_slice(text);
                    true
                });
            cached.set_line(if is_known { whole } else { &[] });
            self.cached_bytes += cached.memory().saturating_sub(before);
            if is_known {
                out.extend_from_slice(&cached.text);
                self.follow(index);
                return Ok(None);
            }
        }
        let parsed = LineParser { options: self.options, ad_number }.parse_line(offset, line)?;
        let (beginning, value) = line.split_at(parsed.beginning);
        let start = out.len();
        self.writer.push_name(beginning[..beginning.len() - 1].trim_ascii(), &parsed.name, out);
        let value_start = out.len();
        self.writer.push_value(value, &parsed.expression, out);
        if !has_quoted_name(line) {
            let index = known.unwrap_or_else(|| self.add_name(beginning, parsed.name, &out[start..value_start]));
            if parsed.warning.is_none() && whole.len() <= MAX_LINE_BYTES {
                let text = &out[value_start..];
                let cached = &mut self.names[index];
                cached.text.truncate(cached.name_length);
                cached.text.extend_from_slice(text);
                cached.set_line(whole);
                self.cached_bytes += 2 * (value.len() + text.len());
                self.values.insert(value.into(), text.into());
            }
            self.follow(index);
        }
        Ok(parsed.warning)
    }

    /// Returns the index of the name with which a line begins, if such a line was read before.
    fn known_name(&self, line: &[u8]) -> Option<usize> {
        if self.names.get(self.predicted).is_some_and(|cached| line.starts_with(&cached.beginning)) {
            return Some(self.predicted);
        }
        let equals = memchr::memchr(b'=', line).filter(|_| !has_quoted_name(line))?;
        self.by_beginning.get(&line[..=equals]).copied()
    }

    /// Adds a name. `beginning` is the text of its line up to and including the `=`, `text` is the text made from it.
    fn add_name(&mut self, beginning: &[u8], name: Name, text: &[u8]) -> usize {
        let index = self.names.len();
        self.cached_bytes += 2 * beginning.len() + text.len();
        self.by_beginning.insert(beginning.into(), index);
        self.names.push(CachedAttribute {
            name,
            beginning: beginning.into(),
            line: Vec::new(),
            text: text.to_vec(),
            name_length: text.len(),
            successor: 0,
        });
        index
    }

    /// Records that a line has this name.
    fn follow(&mut self, index: usize) {
        if let Some(last) = self.names.get_mut(self.last) {
            last.successor = index;
        }
        self.last = index;
        self.predicted = self.names[index].successor;
    }
}

impl CachedAttribute {
    /// Sets the line from which `text` was made; empty if that line cannot be used again.
    fn set_line(&mut self, whole: &[u8]) {
        self.line.clear();
        // A long line is not kept. A line without a line end is the last of its text.
        if whole.len() <= MAX_LINE_BYTES && whole.ends_with(b"\n") {
            self.line.extend_from_slice(whole);
        }
    }

    /// Number of bytes of memory for the texts that grow.
    fn memory(&self) -> usize {
        self.line.capacity() + self.text.capacity()
    }
}
