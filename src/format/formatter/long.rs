//! Formats the long form: `name = value` lines, which must not be broken, and a blank line between ads.

use std::ops::Range;

use crate::ad::Dialect;
use crate::format::detect::byte_order_mark_length;
use crate::format::long::{LongReader, find_separator, is_comment};
use crate::format::{Problem, Severity};
use crate::syntax::{ParseOptions, StringSyntax, parse_prefix};

use super::FormattedText;
use super::builder::build_layout_tree;
use super::printer::LayoutPrinter;
use super::trivia::TriviaTokens;

/// Formats a text in the long form.
pub fn format_long(text: &[u8], dialect: Dialect, line_end: &'static [u8]) -> FormattedText {
    let problems: Vec<Problem> = LongReader::new(text, dialect).filter_map(Result::err).collect();
    let mut bad =
        problems.iter().filter(|problem| problem.severity == Severity::Error).map(|problem| problem.ad_number);
    let mut next_bad = bad.next();
    let mut file =
        LongFormatter { text, rules: ParseOptions::long(dialect), printer: LayoutPrinter::new(usize::MAX, line_end) };
    let mut number = 0;
    let mut ends_bad = false;
    for paragraph in paragraphs(text) {
        file.printer.begin_line(0, true);
        number += usize::from(paragraph.iter().any(|line| !is_comment(text[line.clone()].trim_ascii_start())));
        while next_bad.is_some_and(|bad| bad < number) {
            next_bad = bad.next();
        }
        match (paragraph.first(), paragraph.last()) {
            // An ad that does not parse is copied unchanged.
            (Some(first), Some(last)) if next_bad == Some(number) => {
                let end = memchr::memchr(b'\n', &text[last.end..]).map_or(text.len(), |end| last.end + end + 1);
                file.printer.write_text(&text[first.start..end]);
                ends_bad = true;
            }
            _ => {
                for line in paragraph {
                    file.format_line(line);
                }
                ends_bad = false;
            }
        }
    }
    if !ends_bad {
        file.printer.end_line();
    }
    FormattedText { text: file.printer.out, problems }
}

/// Splits a text at blank lines. Returns the lines of each paragraph as byte ranges without line ends.
fn paragraphs(text: &[u8]) -> Vec<Vec<Range<usize>>> {
    let mut paragraphs = vec![Vec::new()];
    let mut start = byte_order_mark_length(text);
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.trim_ascii_start().is_empty() {
            if let Some(paragraph) = paragraphs.last_mut() {
                paragraph.push(start..start + line.len());
            }
        } else if paragraphs.last().is_some_and(|paragraph| !paragraph.is_empty()) {
            paragraphs.push(Vec::new());
        }
        start = end + 1;
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Formatter of one text in the long form.
struct LongFormatter<'t> {
    text: &'t [u8],
    rules: ParseOptions,
    printer: LayoutPrinter,
}

impl LongFormatter<'_> {
    /// Prints a comment, or an attribute that parses.
    fn format_line(&mut self, range: Range<usize>) {
        self.printer.begin_line(0, false);
        let line = &self.text[range.clone()];
        let equals = find_separator(line).filter(|_| !is_comment(line.trim_ascii_start()));
        let Some(equals) = equals else { return self.printer.write_text(line.trim_ascii()) };
        self.printer.write_text(line[..equals].trim_ascii());
        self.printer.write_text(b" =");
        let value = range.start + equals + 1..range.end;
        // The reader ignores text behind the expression, so this text is kept as written.
        let rest = match parse_prefix(&self.text[value.clone()], self.rules) {
            Ok((_, Some(rest))) => value.start + rest.start as usize,
            _ => value.end,
        };
        let mut pieces = TriviaTokens::new(self.text, value.start..rest, StringSyntax::Long);
        let behind = pieces.tokens.iter().rev().nth(1).map_or(value.start, |last| last.range.end);
        pieces.normalize();
        let (tree, root) = build_layout_tree(&pieces, 0);
        if let Some(root) = root {
            self.printer.print_flat(&tree, root);
        }
        let behind = self.text[behind..value.end].trim_ascii();
        if !behind.is_empty() {
            self.printer.write_text(b" ");
            self.printer.write_text(behind);
        }
    }
}
