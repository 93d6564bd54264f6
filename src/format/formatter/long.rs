//! Formatter of the long form: `name = value` lines, which must not be broken, and a blank line between ads.

use std::borrow::Cow;
use std::ops::Range;

use crate::ad::Dialect;
use crate::format::attribute_text::AttributeText;
use crate::format::attribute_text_cache::AttributeTextCache;
use crate::format::detect::{byte_order_mark_length, is_utf16};
use crate::format::long::{LineKind, banner_problem, without_carriage_return};
use crate::format::{FileFormat, Position, Problem, Severity, StreamBlock, detect, is_compressed};
use crate::syntax::ParseOptions;

use super::line_formatter::LineFormatter;
use super::{FormattedText, has_only_crlf_line_ends};

/// Formats a text in the long form.
pub fn format_long(text: &[u8], dialect: Dialect, line_end: &'static [u8]) -> FormattedText {
    let mut formatter = LongFormatter { lines: line_cache(dialect, line_end) };
    let block = formatter.format_text(text, byte_order_mark_length(text));
    FormattedText { text: block.text, problems: block.problems }
}

/// Returns an empty cache of formatted lines.
fn line_cache(dialect: Dialect, line_end: &'static [u8]) -> AttributeTextCache<LineFormatter> {
    let options = ParseOptions::long(dialect);
    AttributeTextCache::new(options, LineFormatter { options, line_end })
}

/// Formatter of the blocks of streams in the long form, with the same result as [`format_ads`](super::format_ads) for a
/// whole stream. Several threads may format blocks of one stream, each with its own formatter. [`FormattedBlockJoiner`]
/// joins the formatted blocks.
///
/// The streams must not have only `\r\n` as line ends. Formatted lines end with `\n`.
pub struct LongFormatter {
    lines: AttributeTextCache<LineFormatter>,
}

/// A formatted block of a stream in the long form.
#[derive(Clone, Debug)]
pub struct FormattedBlock {
    /// The formatted text.
    text: Vec<u8>,
    /// The problems of the ads that do not parse, and warnings. Numbers of ads count from the beginning of the block.
    pub problems: Vec<Problem>,
    /// Number of ads in the block.
    pub ads: usize,
    /// Length of the comments before the first ad: in the block and in `text`, in bytes. The comments end with whole
    /// paragraphs.
    leading_comments: [usize; 2],
    /// Whether the last ad does not parse. `None` if there is no ad.
    is_last_bad: Option<bool>,
    /// Whether the formatted text ends with a banner. No blank line follows a banner.
    ends_with_banner: bool,
}

/// Lines between two blank lines, while they are formatted.
struct Paragraph {
    /// The lines in the text.
    range: Range<usize>,
    /// Length of the formatted text before the paragraph, in bytes.
    out_start: usize,
    /// Whether a line is not a comment.
    is_ad: bool,
    is_bad: bool,
}

impl LongFormatter {
    /// Whether a stream that begins with these bytes can be formatted block by block. The form is detected unless it is
    /// given. False if it depends on bytes that follow.
    #[must_use]
    pub fn accepts(beginning: &[u8], form: Option<FileFormat>) -> bool {
        let lines = &beginning[..memchr::memrchr(b'\n', beginning).map_or(0, |end| end + 1)];
        form.or_else(|| detect(lines)) == Some(FileFormat::Long)
            && !is_compressed(beginning)
            && !is_utf16(beginning)
            && !lines.is_empty()
            && !has_only_crlf_line_ends(lines)
    }

    /// Creates a formatter.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        LongFormatter { lines: line_cache(dialect, b"\n") }
    }

    /// Formats a block.
    pub fn format(&mut self, block: &StreamBlock) -> FormattedBlock {
        let is_start = block.start == Position::START;
        self.format_text(&block.text, if is_start { byte_order_mark_length(&block.text) } else { 0 })
    }

    /// Formats a text from the byte offset `at` on.
    fn format_text(&mut self, text: &[u8], mut at: usize) -> FormattedBlock {
        let mut block = FormattedBlock {
            text: Vec::with_capacity(text.len() + text.len() / 8),
            problems: Vec::new(),
            ads: 0,
            leading_comments: [0; 2],
            is_last_bad: None,
            ends_with_banner: false,
        };
        let line_end = self.lines.writer.line_end;
        let mut paragraph: Option<Paragraph> = None;
        while at < text.len() {
            if let Some((length, formatted)) = self.lines.predicted_text(&text[at..]) {
                block.begin_line(&mut paragraph, at..at + length, line_end, true);
                block.text.extend_from_slice(formatted);
                at += length;
                continue;
            }
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1);
            let whole = &text[at..end];
            let line = without_carriage_return(whole.strip_suffix(b"\n").unwrap_or(whole));
            let content = line.trim_ascii_start();
            let kind = LineKind::of(content);
            if matches!(kind, LineKind::Comment | LineKind::Heading | LineKind::Banner) {
                // A heading begins the paragraph of the ad behind it, and a banner ends that of the record before it.
                if kind == LineKind::Heading && paragraph.as_ref().is_some_and(|paragraph| paragraph.is_ad) {
                    block.end_lines(text, &mut paragraph);
                }
                block.begin_line(&mut paragraph, at..end, line_end, false);
                block.text.extend_from_slice(content.trim_ascii_end());
                block.text.extend_from_slice(line_end);
            }
            if kind == LineKind::Banner
                && let Some(problem) = banner_problem(text, at..at + line.len(), block.ads)
            {
                block.problems.push(problem);
            }
            if kind == LineKind::Attribute {
                let paragraph = block.begin_line(&mut paragraph, at..end, line_end, true);
                match self.lines.push_attribute(
                    AttributeText { whole, content: line },
                    (at, block.ads),
                    &mut block.text,
                ) {
                    Ok(warning) => block.problems.extend(warning),
                    Err(problem) => {
                        paragraph.is_bad = true;
                        block.problems.push(problem);
                    }
                }
            } else if matches!(kind, LineKind::Banner | LineKind::Blank) && block.end_lines(text, &mut paragraph) {
                self.lines.clear_if_large();
                block.ends_with_banner = kind == LineKind::Banner;
            }
            at = end;
        }
        block.end_lines(text, &mut paragraph);
        block
    }
}

impl FormattedBlock {
    /// Begins a line, and a paragraph if the line begins one. Returns the paragraph of the line.
    fn begin_line<'p>(
        &mut self,
        paragraph: &'p mut Option<Paragraph>,
        line: Range<usize>,
        line_end: &[u8],
        is_ad: bool,
    ) -> &'p mut Paragraph {
        if paragraph.is_none() && !self.text.is_empty() && !self.ends_with_banner {
            self.text.extend_from_slice(line_end);
        }
        self.ends_with_banner = false;
        let out_start = self.text.len();
        let new = || Paragraph { range: line.clone(), out_start, is_ad: false, is_bad: false };
        let paragraph = paragraph.get_or_insert_with(new);
        paragraph.range.end = line.end;
        if is_ad && !paragraph.is_ad {
            paragraph.is_ad = true;
            self.ads += 1;
        }
        paragraph
    }

    /// Ends the paragraph if there is one. Returns whether there was one.
    fn end_lines(&mut self, text: &[u8], paragraph: &mut Option<Paragraph>) -> bool {
        let ended = paragraph.take();
        if let Some(paragraph) = &ended {
            self.end_paragraph(text, paragraph);
        }
        ended.is_some()
    }

    fn end_paragraph(&mut self, text: &[u8], paragraph: &Paragraph) {
        if paragraph.is_ad {
            self.is_last_bad = Some(paragraph.is_bad);
        }
        // An ad with an error is copied unchanged, and so are the comments between it and the next ad.
        if self.is_last_bad == Some(true) {
            self.text.truncate(paragraph.out_start);
            self.text.extend_from_slice(&text[paragraph.range.clone()]);
        }
        if self.is_last_bad.is_none() {
            self.leading_comments = [paragraph.range.end, self.text.len()];
        }
    }

    /// Whether every ad of the block parsed, possibly with warnings.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.problems.iter().all(|problem| problem.severity == Severity::Warning)
    }
}

/// Joins the formatted blocks of a stream, in their order.
#[derive(Default)]
pub struct FormattedBlockJoiner {
    has_text: bool,
    /// Whether the text of the blocks before ends with a banner.
    ends_with_banner: bool,
    /// Whether the last ad of the blocks before does not parse.
    is_last_bad: bool,
}

impl FormattedBlockJoiner {
    /// Returns the formatted text that follows that of the blocks before, in two parts. `source` is the text of the
    /// block before formatting.
    pub fn join<'b>(&mut self, source: &[u8], block: &'b FormattedBlock) -> [Cow<'b, [u8]>; 2] {
        let was_bad = self.is_last_bad;
        self.is_last_bad = block.is_last_bad.unwrap_or(was_bad);
        if block.text.is_empty() {
            return [Cow::default(), Cow::default()];
        }
        let is_separated = self.has_text && !self.ends_with_banner;
        (self.has_text, self.ends_with_banner) = (true, block.ends_with_banner);
        let separator: &[u8] = if is_separated { b"\n" } else { b"" };
        let [source_length, length] = block.leading_comments;
        if !was_bad || length == 0 {
            return [separator.to_vec().into(), (&block.text[..]).into()];
        }
        // The comments between an ad with an error and the next ad are copied unchanged.
        let mut comments = separator.to_vec();
        let mut is_behind_blank = false;
        for line in source[..source_length].split_inclusive(|byte| *byte == b'\n') {
            if line.trim_ascii().is_empty() {
                is_behind_blank = comments.len() > separator.len();
                continue;
            }
            comments.extend_from_slice(if is_behind_blank { b"\n" } else { b"" });
            comments.extend_from_slice(line);
            is_behind_blank = false;
        }
        [comments.into(), (&block.text[length..]).into()]
    }
}

#[cfg(test)]
mod tests;
