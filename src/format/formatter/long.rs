//! Formatter of the long form: `name = value` lines, which must not be broken, and a blank line between ads.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::ad::Dialect;
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
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let bad_ads: BTreeSet<usize> = errors.map(|problem| problem.ad_number).collect();
    let mut file =
        LongFormatter { text, rules: ParseOptions::long(dialect), printer: LayoutPrinter::new(usize::MAX, line_end) };
    let mut reader = LongReader::new(text, dialect);
    let lines = std::iter::from_fn(|| reader.next_line()).map(|(start, line)| start..start + line.len());
    let lines: Vec<Range<usize>> = lines.collect();
    let is_blank = |line: &Range<usize>| text[line.clone()].trim_ascii_start().is_empty();
    let mut number = 0;
    let mut is_bad = false;
    for paragraph in lines.split(is_blank) {
        let (Some(first), Some(last)) = (paragraph.first(), paragraph.last()) else { continue };
        file.printer.begin_line(0, true);
        number += usize::from(paragraph.iter().any(|line| !is_comment(text[line.clone()].trim_ascii_start())));
        is_bad = bad_ads.contains(&number);
        if is_bad {
            // An ad with an error is copied unchanged.
            let end = memchr::memchr(b'\n', &text[last.end..]).map_or(text.len(), |end| last.end + end + 1);
            file.printer.write_text(&text[first.start..end]);
        } else {
            for line in paragraph {
                file.format_line(line.clone());
            }
        }
    }
    if !is_bad {
        file.printer.end_line();
    }
    FormattedText { text: file.printer.out, problems }
}

/// Formatter of one text in the long form.
struct LongFormatter<'t> {
    text: &'t [u8],
    rules: ParseOptions,
    printer: LayoutPrinter,
}

impl LongFormatter<'_> {
    /// Prints one line of the text: a comment, or an attribute without errors.
    fn format_line(&mut self, range: Range<usize>) {
        self.printer.begin_line(0, false);
        let line = &self.text[range.clone()];
        let equals = find_separator(line).filter(|_| !is_comment(line.trim_ascii_start()));
        let Some(equals) = equals else { return self.printer.write_text(line.trim_ascii()) };
        self.printer.write_text(line[..equals].trim_ascii());
        self.printer.write_text(b" =");
        let value = range.start + equals + 1..range.end;
        // The reader ignores text behind the expression, so the formatter copies this text.
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
