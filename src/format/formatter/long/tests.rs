use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;

use super::{FormattedBlockJoiner, FormattedText, LongFormatter, format_long};
use crate::ad::Dialect;
use crate::format::formatter::builder::build_layout_tree;
use crate::format::formatter::printer::LayoutPrinter;
use crate::format::formatter::trivia::TriviaTokens;
use crate::format::long::{LineKind, LineParser, LongReader, complete_prefix_length};
use crate::format::{FileFormat, Position, Problem, Severity, StreamBlock};
use crate::syntax::{ParseOptions, StringSyntax, parse_prefix};

/// Formats a text line by line, without a cache.
fn format_lines(text: &[u8], dialect: Dialect, line_end: &'static [u8]) -> FormattedText {
    let problems: Vec<Problem> = LongReader::new(text, dialect).filter_map(Result::err).collect();
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let bad_ads: BTreeSet<usize> = errors.map(|problem| problem.ad_number).collect();
    let mut printer = LayoutPrinter::new(usize::MAX, line_end);
    let mut reader = LongReader::new(text, dialect);
    let lines = std::iter::from_fn(|| reader.next_line()).map(|(start, line)| start..start + line.len());
    let lines: Vec<Range<usize>> = lines.collect();
    let is_blank = |line: &Range<usize>| text[line.clone()].trim_ascii_start().is_empty();
    let mut number = 0;
    let mut is_bad = false;
    for paragraph in lines.split(is_blank) {
        let (Some(first), Some(last)) = (paragraph.first(), paragraph.last()) else { continue };
        printer.begin_line(0, true);
        number += usize::from(
            paragraph.iter().any(|line| LineKind::of(text[line.clone()].trim_ascii_start()) != LineKind::Comment),
        );
        is_bad = bad_ads.contains(&number);
        if is_bad {
            let end = memchr::memchr(b'\n', &text[last.end..]).map_or(text.len(), |end| last.end + end + 1);
            printer.write_text(&text[first.start..end]);
        } else {
            for line in paragraph {
                format_line(&mut printer, text, line.clone(), ParseOptions::long(dialect));
            }
        }
    }
    if !is_bad {
        printer.end_line();
    }
    FormattedText { text: printer.out, problems }
}

fn format_line(printer: &mut LayoutPrinter, text: &[u8], range: Range<usize>, options: ParseOptions) {
    printer.begin_line(0, false);
    let line = &text[range.clone()];
    if LineKind::of(line.trim_ascii_start()) == LineKind::Comment {
        return printer.write_text(line.trim_ascii());
    }
    let parsed = LineParser { options, ad_number: 1 }.parse_line(0, line).expect("a line without errors");
    let equals = parsed.value_start - 1;
    printer.write_text(line[..equals].trim_ascii());
    printer.write_text(b" =");
    let value = range.start + equals + 1..range.end;
    let rest = match parse_prefix(&text[value.clone()], options) {
        Ok((_, Some(rest))) => value.start + rest.start as usize,
        _ => value.end,
    };
    let mut pieces = TriviaTokens::new(text, value.start..rest, StringSyntax::Long);
    let behind = pieces.tokens.iter().rev().nth(1).map_or(value.start, |last| last.range.end);
    pieces.normalize();
    let (tree, root) = build_layout_tree(&pieces, 0);
    if let Some(root) = root {
        printer.print_flat(&tree, root);
    }
    let behind = text[behind..value.end].trim_ascii();
    if !behind.is_empty() {
        printer.write_text(b" ");
        printer.write_text(behind);
    }
}

/// Cuts a text into blocks as a stream does: behind the blank lines before each of the offsets.
fn blocks(text: &[u8], offsets: &[usize]) -> Vec<StreamBlock> {
    let mut start = 0;
    let mut blocks = Vec::new();
    for offset in offsets.iter().copied().chain([text.len()]) {
        let rest = &text[start..offset.clamp(start, text.len())];
        let length = if offset == text.len() { rest.len() } else { complete_prefix_length(rest) };
        let place = Position::START.after(&text[..start]);
        let block = StreamBlock::from_complete_text(&rest[..length], FileFormat::Long);
        blocks.push(StreamBlock { start: place, ..block });
        start += length;
    }
    blocks
}

proptest! {
    #[test]
    fn neither_the_cache_nor_the_blocks_change_what_is_written(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "a = 1", "a = 1", "a=2", "a = 1 ", "a = 1\r", "\ta = 1", "A = 1", "b = \"x\"", "b =\"y\"", "b=a+1",
                "b=a+ 1", "c = {1,a}", "c = {1,a}", "c=[x=1;]", "d = {", "d", "e = 1 2", "e = 1 // f", "e=/*g*/1",
                "'a' = 3", "'a = 4", "'a = 5' = 6", "self = 1", "= 1", "  # a = 1 ", "//b", " \t# c", "", "", "", " ",
                "\r", "f = 010", "f=-0", "f = - 1", "g = \"x\" \"y\"", "h=\"C:\\dir\\\"", "i = b isnt  c", "\u{feff}a = 1",
            ]),
            0..60,
        ),
        offsets in prop::collection::vec(0_usize..400, 0..6),
        is_ended in any::<bool>(),
    ) {
        let text = lines.join("\n") + if is_ended { "\n" } else { "" };
        let mut offsets = offsets;
        offsets.retain(|offset| *offset < text.len());
        offsets.sort_unstable();
        for dialect in [Dialect::Condor, Dialect::Classad] {
            for line_end in [&b"\n"[..], b"\r\n"] {
                let (cached, plain) = (format_long(text.as_bytes(), dialect, line_end), format_lines(text.as_bytes(), dialect, line_end));
                prop_assert_eq!(String::from_utf8_lossy(&cached.text), String::from_utf8_lossy(&plain.text), "{:?}", text);
                prop_assert_eq!(format!("{:?}", cached.problems), format!("{:?}", plain.problems), "{:?}", text);
            }
            let plain = format_lines(text.as_bytes(), dialect, b"\n");
            let mut formatter = LongFormatter::new(dialect);
            let mut joiner = FormattedBlockJoiner::default();
            let (mut joined, mut problems, mut ads, mut offset) = (Vec::new(), Vec::new(), 0, 0);
            for block in blocks(text.as_bytes(), &offsets) {
                let formatted = formatter.format(&block);
                joiner.join(&block.text, &formatted).iter().for_each(|part| joined.extend_from_slice(part));
                for problem in formatted.problems {
                    let problem = problem.after_ads(ads);
                    let moved = |range: Range<usize>| range.start + offset..range.end + offset;
                    let related = problem.related.map(|(range, words)| (moved(range), words));
                    problems.push(Problem { range: moved(problem.range), related, ..problem });
                }
                ads += formatted.ads;
                offset += block.text.len();
            }
            prop_assert_eq!(String::from_utf8_lossy(&joined), String::from_utf8_lossy(&plain.text), "{:?}", text);
            prop_assert_eq!(format!("{problems:?}"), format!("{:?}", plain.problems), "{:?}", text);
        }
    }
}
