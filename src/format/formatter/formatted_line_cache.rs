//! Cache of formatted lines of the long form.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values. The cache
//! predicts each line from the line before. A line that is equal to the last one of its name has the same formatted
//! text.

use rustc_hash::FxHashMap;

use crate::ad::Dialect;
use crate::format::Problem;
use crate::format::long::{LineParser, has_quoted_name};
use crate::syntax::{ParseOptions, StringSyntax, is_simple_literal, parse_prefix};

use super::builder::build_layout_tree;
use super::printer::LayoutPrinter;
use super::trivia::TriviaTokens;

/// Maximum total length of the cached lines and values, in bytes. A longer total clears the cache.
const MAX_CACHED_BYTES: usize = 4 << 20;

/// Maximum length of a line that is cached, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// Cache of formatted lines, and of formatted values.
pub struct FormattedLineCache {
    options: ParseOptions,
    line_end: &'static [u8],
    names: Vec<FormattedLine>,
    /// Index in `names` by the text of a line up to and including its `=`.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Formatted texts of values that are valid, by the text behind the `=`.
    values: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// Index in `names` of the name that is predicted for the next line.
    predicted: usize,
    /// Index in `names` of the name of the last line.
    last: usize,
    /// Total length of the cached texts, in bytes.
    cached_bytes: usize,
}

/// A name as lines begin with it, and the line that had it last.
#[derive(Default)]
struct FormattedLine {
    /// Text of a line up to and including its `=`. It has no quoted name, because a quoted name may contain `=`.
    beginning: Box<[u8]>,
    /// The last line with this beginning, with its line end. Empty if there is none that can be used again.
    line: Vec<u8>,
    /// The formatted text of `line`, with a line end.
    formatted: Vec<u8>,
    /// Length of the name and the ` = ` in `formatted`, in bytes.
    name_length: usize,
    /// Index in the table of names of the name that followed this name last.
    successor: usize,
}

impl FormattedLineCache {
    /// Creates an empty cache for lines of a dialect. Formatted lines end with `line_end`.
    pub fn new(dialect: Dialect, line_end: &'static [u8]) -> Self {
        FormattedLineCache {
            options: ParseOptions::long(dialect),
            line_end,
            names: Vec::new(),
            by_beginning: FxHashMap::default(),
            values: FxHashMap::default(),
            predicted: 0,
            last: 0,
            cached_bytes: 0,
        }
    }

    /// Returns the text that ends formatted lines.
    pub fn line_end(&self) -> &'static [u8] {
        self.line_end
    }

    /// Clears the cache if it has grown too large.
    pub fn limit_size(&mut self) {
        if self.cached_bytes > MAX_CACHED_BYTES {
            *self = FormattedLineCache::new(self.options.dialect, self.line_end);
        }
    }

    /// Returns the length of the first line of `text` and its formatted text, if the line is equal to the last line of
    /// the predicted name. `None` if the prediction fails.
    #[inline]
    pub fn same_line(&mut self, text: &[u8]) -> Option<(usize, &[u8])> {
        let cached = self.names.get(self.predicted)?;
        if cached.line.is_empty() || !text.starts_with(&cached.line) {
            return None;
        }
        self.last = self.predicted;
        self.predicted = cached.successor;
        Some((cached.line.len(), &cached.formatted))
    }

    /// Appends the formatted text of an attribute's line, with a line end. `whole` is the line with its line end,
    /// `line` is without. `offset` and `ad_number` are the place of the line, for problems. Returns a warning, if text
    /// behind the expression is ignored.
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
            let value = &line[self.names[index].beginning.len()..];
            let formatted = match self.values.get(value) {
                _ if is_simple_literal(value) => Some(value.trim_ascii()),
                formatted => formatted.map(|formatted| &formatted[..]),
            };
            if let Some(formatted) = formatted {
                self.cached_bytes += self.names[index].set_line(whole, formatted, self.line_end);
                out.extend_from_slice(&self.names[index].formatted);
                self.follow(index);
                return Ok(None);
            }
        }
        let parsed = LineParser { options: self.options, ad_number }.parse_line(offset, line)?;
        let (beginning, value) = line.split_at(parsed.beginning);
        let mut printer = LayoutPrinter::new(usize::MAX, self.line_end);
        printer.write_text(beginning[..beginning.len() - 1].trim_ascii());
        printer.write_text(b" =");
        let name_length = printer.out.len();
        print_value(&mut printer, value, self.options);
        printer.end_line();
        out.extend_from_slice(&printer.out);
        let formatted = printer.out[name_length..].strip_prefix(b" ").and_then(|out| out.strip_suffix(self.line_end));
        if let Some(formatted) = formatted
            && parsed.warning.is_none()
            && whole.len() <= MAX_LINE_BYTES
            && !has_quoted_name(line)
        {
            let index = known.unwrap_or_else(|| self.add_name(beginning));
            self.cached_bytes += self.names[index].set_line(whole, formatted, self.line_end);
            self.cached_bytes += value.len() + formatted.len();
            self.values.insert(value.into(), formatted.into());
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

    /// Adds a name. `beginning` is the text of its line up to and including the `=`.
    fn add_name(&mut self, beginning: &[u8]) -> usize {
        let index = self.names.len();
        let mut formatted = beginning[..beginning.len() - 1].trim_ascii().to_vec();
        formatted.extend_from_slice(b" = ");
        let name_length = formatted.len();
        self.cached_bytes += 2 * beginning.len() + name_length;
        self.by_beginning.insert(beginning.into(), index);
        self.names.push(FormattedLine {
            beginning: beginning.into(),
            formatted,
            name_length,
            ..FormattedLine::default()
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

impl FormattedLine {
    /// Sets the last line and the formatted text of its value. Returns the number of bytes by which the line has grown.
    fn set_line(&mut self, whole: &[u8], formatted_value: &[u8], line_end: &[u8]) -> usize {
        let before = self.line.capacity() + self.formatted.capacity();
        self.formatted.truncate(self.name_length);
        self.formatted.extend_from_slice(formatted_value);
        self.formatted.extend_from_slice(line_end);
        self.line.clear();
        // A long line is formatted, but not kept. A line without a line end is the last of its text.
        if whole.len() <= MAX_LINE_BYTES && whole.ends_with(b"\n") {
            self.line.extend_from_slice(whole);
        }
        (self.line.capacity() + self.formatted.capacity()).saturating_sub(before)
    }
}

/// Prints a space and the value of a line, which has no errors.
fn print_value(printer: &mut LayoutPrinter, value: &[u8], options: ParseOptions) {
    // The reader ignores text behind the expression, so the formatter copies this text.
    let rest = match parse_prefix(value, options) {
        Ok((_, Some(rest))) => rest.start as usize,
        _ => value.len(),
    };
    let mut pieces = TriviaTokens::new(value, 0..rest, StringSyntax::Long);
    let behind = pieces.tokens.iter().rev().nth(1).map_or(0, |last| last.range.end);
    pieces.normalize();
    let (tree, root) = build_layout_tree(&pieces, 0);
    if let Some(root) = root {
        printer.print_flat(&tree, root);
    }
    let behind = value[behind..].trim_ascii();
    if !behind.is_empty() {
        printer.write_text(b" ");
        printer.write_text(behind);
    }
}
