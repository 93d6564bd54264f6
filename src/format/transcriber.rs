//! Copying of ads to another form. Most ads in the long form are copied line by line, without expression trees.

use std::collections::VecDeque;

use crate::ad::{Dialect, Expression, Name};
use crate::syntax::{ParseOptions, is_simple_literal, plain_literal, read_simple_literal};

use super::ad_syntax::AdSyntax;
use super::ad_text::syntax_of;
use super::attribute_cache::AttributeCache;
use super::detect::byte_order_mark_length;
use super::long::{LineCache, LineKind, LineWriter, LongReader, has_quoted_name, without_carriage_return};
use super::shape_cache::ShapeCache;
use super::{AdBatch, FileFormat, ReadCache, ReadResult, StreamBlock};

/// Number of ads in a row that are not copied line by line. After them, no more of the block are tried.
const MAX_FAILURES: usize = 16;

/// Copies the ads of blocks to a form. One transcriber serves all blocks of a source, or of several sources. What it
/// remembers of earlier ads makes it faster.
pub struct AdTranscriber {
    cache: ReadCache,
    lines: LineTranscriber,
}

/// The ads of a block while they are copied.
pub struct BlockTranscription<'t> {
    reader: BlockReader<'t>,
    /// Number of ads before the next one that were not copied line by line.
    failures: usize,
}

/// The reader of the ads that are not copied line by line.
enum BlockReader<'t> {
    Long(LongBlockReader<'t>),
    Other(Box<dyn Iterator<Item = ReadResult> + 't>),
}

/// Reader of a block in the long form.
struct LongBlockReader<'t> {
    text: &'t [u8],
    reader: LongReader<'t, &'t mut AttributeCache>,
    lines: &'t mut LineTranscriber,
    /// What was read of the last ad.
    pending: VecDeque<ReadResult>,
}

/// The next ad of a block, or the next problem.
pub enum TranscribedAd {
    /// The text of an ad without problems was appended to the batch. This is the number of the ad in the stream.
    Copied(usize),
    /// An ad that was not copied, or a problem.
    Read(ReadResult),
}

impl AdTranscriber {
    /// Creates a transcriber of ads of a dialect. Without a form, the ads are only checked.
    #[must_use]
    pub fn new(dialect: Dialect, form: Option<FileFormat>) -> Self {
        AdTranscriber { cache: ReadCache::new(dialect), lines: LineTranscriber::new(dialect, form) }
    }

    /// Begins a block.
    pub fn transcribe<'t>(&'t mut self, block: &'t StreamBlock) -> BlockTranscription<'t> {
        let reader = if block.form == FileFormat::Long {
            let text = block.records();
            let start = byte_order_mark_length(text);
            let reader = LongReader::with_cache(text, &mut self.cache.long).starting_at(start, block.ads_before);
            BlockReader::Long(LongBlockReader { text, reader, lines: &mut self.lines, pending: VecDeque::new() })
        } else {
            BlockReader::Other(Box::new(block.ads_cached(&mut self.cache)))
        };
        BlockTranscription { reader, failures: 0 }
    }
}

impl BlockTranscription<'_> {
    /// Returns the next ad or problem. The text of an ad is appended to `batch` if the ad can be copied line by line.
    /// `None` at the end of the block.
    pub fn next(&mut self, batch: &mut AdBatch) -> Option<TranscribedAd> {
        let long = match &mut self.reader {
            BlockReader::Long(long) => long,
            BlockReader::Other(items) => return items.next().map(TranscribedAd::Read),
        };
        while long.pending.is_empty() {
            let text = long.text.get(long.reader.offset()..).unwrap_or_default();
            if self.failures < MAX_FAILURES {
                if let Some(length) = batch.push(long.lines.form, |out| long.lines.push_ad(text, out)) {
                    self.failures = 0;
                    long.reader.skip_separate_ad(length);
                    return Some(TranscribedAd::Copied(long.reader.number()));
                }
                self.failures += 1;
            }
            long.pending = long.reader.next_ad()?.0;
        }
        long.pending.pop_front().map(TranscribedAd::Read)
    }
}

/// Copies ads in the long form line by line.
struct LineTranscriber {
    form: Option<FileFormat>,
    lines: LineCache<AttributeTranscriber>,
    shapes: ShapeCache,
    /// Numbers of the names of the ad that is being copied.
    names: Vec<usize>,
}

impl LineTranscriber {
    fn new(dialect: Dialect, form: Option<FileFormat>) -> Self {
        let syntax = form.map(syntax_of);
        let writer = AttributeTranscriber { syntax, literal: Expression::literal(false), has_changes: false };
        let lines = LineCache::new(ParseOptions::long(dialect), writer);
        LineTranscriber { form, lines, shapes: ShapeCache::default(), names: Vec::new() }
    }

    /// Appends the text of the first ad of a text in the form. Returns the length of the text up to and including the
    /// blank line behind the ad. `None` if the ad cannot be copied line by line: it has a problem, a comment, a banner,
    /// a name twice, a value that the form cannot represent, or no blank line behind it. `out` may then have a part of
    /// the ad.
    fn push_ad(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let (separator, end) = self.lines.writer.syntax.map_or(("", ""), |syntax| (syntax.separator, syntax.end));
        if self.lines.limit_size() {
            self.shapes = ShapeCache::default();
        }
        self.names.clear();
        let mut at = 0;
        loop {
            let rest = &text[at..];
            let before = out.len();
            if !self.names.is_empty() {
                out.extend_from_slice(separator.as_bytes());
            } else if let Some(syntax) = self.lines.writer.syntax {
                out.extend_from_slice(syntax.begin.as_bytes());
            }
            if let Some((length, line)) = self.lines.same_line(rest) {
                out.extend_from_slice(line);
                self.names.push(self.lines.last_name());
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
                    self.shapes.shape(&self.names, |number| self.lines.name(number).clone())?;
                    return Some(at);
                }
                LineKind::Attribute if !has_quoted_name(line) => {
                    let warning = self.lines.push_line((whole, line), (0, 0), out).ok()?;
                    if warning.is_some() || std::mem::take(&mut self.lines.writer.has_changes) {
                        return None;
                    }
                    self.names.push(self.lines.last_name());
                    at += length;
                }
                _ => return None,
            }
        }
    }
}

/// Writes the attribute of a line in another form.
struct AttributeTranscriber {
    /// How the form writes an attribute. `None` if nothing is written.
    syntax: Option<&'static AdSyntax>,
    /// The literal written last, whose memory is used again.
    literal: Expression,
    /// Whether a value was written that the form cannot represent.
    has_changes: bool,
}

impl LineWriter for AttributeTranscriber {
    fn push_name(&mut self, _: &[u8], name: &Name, out: &mut Vec<u8>) {
        if let Some(syntax) = self.syntax {
            (syntax.push_name)(name, out);
        }
    }

    fn push_simple_literal(&mut self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(syntax) = self.syntax else { return is_simple_literal(value) };
        if let Some(end) = syntax.plain_literal_end
            && let Some(literal) = plain_literal(value)
        {
            out.extend_from_slice(literal);
            out.extend_from_slice(end.as_bytes());
            return true;
        }
        if !read_simple_literal(value, &mut self.literal) {
            return false;
        }
        self.has_changes |= !(syntax.push_value)(&self.literal, out).is_empty();
        true
    }

    fn push_value(&mut self, _: &[u8], expression: &Expression, out: &mut Vec<u8>) {
        if let Some(syntax) = self.syntax {
            self.has_changes |= !(syntax.push_value)(expression, out).is_empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AdTranscriber, TranscribedAd};
    use crate::ad::Dialect;
    use crate::format::{AdBatch, AdBatchWriter, FileFormat, Position, StreamBlock};

    /// Returns the text of a block in a form, what is reported, and the number of ads that were copied line by line.
    fn transcribed(
        block: &StreamBlock,
        form: FileFormat,
        transcriber: &mut AdTranscriber,
    ) -> (String, Vec<String>, usize) {
        let (mut batch, mut reported, mut copied) = (AdBatch::default(), Vec::new(), 0);
        let mut writer = AdBatchWriter::new(form);
        let mut ads = transcriber.transcribe(block);
        while let Some(ad) = ads.next(&mut batch) {
            match ad {
                TranscribedAd::Copied(number) => {
                    copied += 1;
                    reported.push(number.to_string());
                }
                TranscribedAd::Read(Ok(entry)) => {
                    let changes = writer.push(&mut batch, &entry.ad, |_| true);
                    reported.push(entry.number.to_string());
                    reported.extend(changes.iter().map(|change| format!("{change:?}")));
                }
                TranscribedAd::Read(Err(problem)) => reported.push(format!("{problem:?}")),
            }
        }
        (String::from_utf8_lossy(batch.text()).into_owned(), reported, copied)
    }

    /// The same by trees alone.
    fn by_trees(block: &StreamBlock, form: FileFormat) -> (String, Vec<String>) {
        let (mut batch, mut reported) = (AdBatch::default(), Vec::new());
        let mut writer = AdBatchWriter::new(form);
        for item in block.ads(Dialect::Condor) {
            match item {
                Ok(entry) => {
                    let changes = writer.push(&mut batch, &entry.ad, |_| true);
                    reported.push(entry.number.to_string());
                    reported.extend(changes.iter().map(|change| format!("{change:?}")));
                }
                Err(problem) => reported.push(format!("{problem:?}")),
            }
        }
        (String::from_utf8_lossy(batch.text()).into_owned(), reported)
    }

    const FORMS: [FileFormat; 6] = [
        FileFormat::Long,
        FileFormat::Bracketed,
        FileFormat::Json,
        FileFormat::JsonLines,
        FileFormat::Xml,
        FileFormat::Yaml,
    ];

    fn block(text: &str) -> StreamBlock {
        StreamBlock {
            text: text.as_bytes().to_vec(),
            form: FileFormat::Long,
            start: Position::START,
            ads_before: 7,
            is_unfinished: false,
        }
    }

    #[test]
    fn plain_ads_are_copied_line_by_line() {
        for form in FORMS {
            let mut transcriber = AdTranscriber::new(Dialect::Condor, Some(form));
            let text = "\n\na = 1\nB = \"x y\"\nc = a + 1\n\na = 2\nB = \"x\"\nc = a + 1\r\n\na = 2.50\n\na = 3\n";
            let (_, _, copied) = transcribed(&block(text), form, &mut transcriber);
            assert_eq!(copied, 3, "{form:?}");
        }
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_trees(
            texts in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![
                        12 => (
                            prop::sample::select(vec!["a", "b", "A", "c d", "'q'", "  e ", "true", ""]),
                            prop::sample::select(vec!["=", " = ", " =", "= "]),
                            prop::sample::select(vec![
                                "1", "-0", "2.50", "1e3", "\"x\"", "\"x\\ty\"", "\"\t\u{e9}\"", "\"/Expr(a)/\"", "TRUE", " false ",
                                "a + 1", "A+1", "{ 1, a }", "[ x = 1 ]", "1 +", "\"", "1 2", "undefined", "\"\u{1}\"", "",
                            ]),
                            prop::sample::select(vec!["\n", "\n", "\r\n"]),
                        ).prop_map(|(name, equals, value, end)| format!("{name}{equals}{value}{end}")),
                        3 => Just("\n".to_owned()),
                        1 => prop::sample::select(vec![
                            "# c\n", "-- Schedd: a\n", "*** Offset = 1 ClusterId = 2\n", "*** x\n", "\r\n", "x\n", "a = 1",
                        ]).prop_map(str::to_owned),
                    ],
                    0..30,
                ),
                1..3,
            ),
        ) {
            for form in FORMS {
                let mut transcriber = AdTranscriber::new(Dialect::Condor, Some(form));
                for pieces in &texts {
                    let block = block(&pieces.concat());
                    let (text, reported, _) = transcribed(&block, form, &mut transcriber);
                    prop_assert_eq!((text, reported), by_trees(&block, form));
                }
            }
        }
    }
}
