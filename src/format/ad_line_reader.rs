//! Reading of ads in the long form line by line, without expression trees.

use std::sync::Arc;

use crate::ad::{AdShape, Dialect, Name};
use crate::syntax::ParseOptions;

use super::long::{LineCache, LineKind, LineWriter, has_quoted_name, without_carriage_return};
use super::shape_cache::ShapeCache;

/// Reads ads in the long form line by line. A [`LineWriter`] makes a text of each line.
pub(crate) struct AdLineReader<W> {
    lines: LineCache<W>,
    shapes: ShapeCache,
    /// Number of times that the names got new numbers.
    generation: usize,
    /// The texts before the first line, between two lines and behind the last line of an ad.
    frame: [&'static str; 3],
    /// Numbers of the names of the last ad.
    names: Vec<usize>,
    /// The beginning of each line of the last ad, as an offset in the text of the ad.
    starts: Vec<usize>,
    /// The end of the text of each line of the last ad, as an offset in the output.
    ends: Vec<usize>,
}

impl<W: LineWriter> AdLineReader<W> {
    /// Creates a reader of ads of a dialect. `frame` has the texts before the first line, between two lines and behind
    /// the last line of an ad.
    pub fn new(dialect: Dialect, writer: W, frame: [&'static str; 3]) -> Self {
        let lines = LineCache::new(ParseOptions::long(dialect), writer);
        AdLineReader {
            lines,
            shapes: ShapeCache::default(),
            generation: 0,
            frame,
            names: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Returns what makes texts of lines.
    pub fn writer(&self) -> &W {
        &self.lines.writer
    }

    /// Forgets what was read, if that has grown too large, or if `is_due`.
    pub fn clear_if_large(&mut self, is_due: bool) {
        if self.lines.clear_if_large(is_due) {
            self.shapes = ShapeCache::default();
            self.generation += 1;
            self.lines.writer.forget();
        }
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
        self.lines.name(number)
    }

    /// Returns the text of a value of the last ad. `text` is the text that was read, and `position` is the 0-based index
    /// of the line among the lines of attributes.
    pub fn value_text<'t>(&self, text: &'t [u8], position: usize) -> &'t [u8] {
        let line = &text[self.starts[position]..];
        let line = without_carriage_return(&line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]);
        &line[memchr::memchr(b'=', line).map_or(0, |equals| equals + 1)..]
    }

    /// Returns the end of the text of each line of the last ad, as an offset in the output.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Appends the text of the first ad of a text. Returns the length of the text up to and including the blank line
    /// behind the ad, and the shape of the ad. `None` if the ad cannot be read line by line: it has a problem, a comment, a banner, a name
    /// twice, a value that the writer refuses, or no blank line behind it. `out` may then have a part of the ad.
    pub fn push_ad(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<(usize, Arc<AdShape>)> {
        let [begin, separator, end] = self.frame;
        self.names.clear();
        self.starts.clear();
        self.ends.clear();
        let mut at = 0;
        loop {
            let rest = &text[at..];
            let before = out.len();
            out.extend_from_slice(if self.names.is_empty() { begin } else { separator }.as_bytes());
            if let Some((length, line)) = self.lines.same_line(rest) {
                out.extend_from_slice(line);
                self.add_line(at, out.len());
                at += length;
                continue;
            }
            let length = memchr::memchr(b'\n', rest)? + 1;
            let (whole, line) = (&rest[..length], without_carriage_return(&rest[..length - 1]));
            match LineKind::of(line.trim_ascii_start()) {
                LineKind::Blank => {
                    out.truncate(before);
                    at += length;
                    if self.names.is_empty() {
                        continue;
                    }
                    out.extend_from_slice(end.as_bytes());
                    // An ad in which a name occurs twice has no shape.
                    let shape = self.shapes.shape(&self.names, |number| self.lines.name(number).clone())?;
                    return Some((at, shape));
                }
                LineKind::Attribute if !has_quoted_name(line) => {
                    let warning = self.lines.push_line((whole, line), (0, 0), out).ok()?;
                    if self.lines.writer.take_rejection() {
                        self.clear_if_large(true);
                        return None;
                    }
                    if warning.is_some() {
                        return None;
                    }
                    self.add_line(at, out.len());
                    at += length;
                }
                _ => return None,
            }
        }
    }

    /// Adds a line to the last ad, whose text ends at `end` in the output.
    fn add_line(&mut self, start: usize, end: usize) {
        self.names.push(self.lines.last_name());
        self.starts.push(start);
        self.ends.push(end);
    }
}
