//! Formatter of single lines of the long form.

use crate::ad::{Expression, Name};
use crate::format::attribute_text_cache::AttributeWriter;
use crate::syntax::{LiteralText, ParseOptions, StringSyntax, parse_prefix};

use super::builder::build_layout_tree;
use super::printer::LayoutPrinter;
use super::trivia::TriviaTokens;

/// What stands between a name and the space before its value.
const EQUALS: &[u8] = b" =";

/// Formatter of the lines of attributes: `name = value` and a line end.
pub struct LineFormatter {
    /// The options with which values are parsed.
    pub options: ParseOptions,
    /// The text that ends formatted lines.
    pub line_end: &'static [u8],
}

impl AttributeWriter for LineFormatter {
    fn push_name(&mut self, beginning: &[u8], _: &Name, out: &mut Vec<u8>) {
        let written = beginning.strip_suffix(b"=").unwrap_or(beginning);
        out.extend_from_slice(written.trim_ascii());
        out.extend_from_slice(EQUALS);
    }

    #[inline]
    fn push_literal(&mut self, literal: &LiteralText, out: &mut Vec<u8>) -> bool {
        out.push(b' ');
        out.extend_from_slice(literal.text);
        out.extend_from_slice(self.line_end);
        true
    }

    fn push_value(&mut self, value: &[u8], _: &Expression, out: &mut Vec<u8>) {
        let mut printer = LayoutPrinter::new(usize::MAX, self.line_end);
        // The printer separates the value from what stands before it.
        printer.write_text(EQUALS);
        print_value(&mut printer, value, self.options);
        printer.end_line();
        out.extend_from_slice(&printer.out[EQUALS.len()..]);
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
