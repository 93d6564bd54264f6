//! Prints expressions, ads and values.  Text in [`Style::New`] parses back to an equal tree.
//!
//! The printer keeps an explicit stack of tasks instead of recursing, so that deep trees cannot overflow the call
//! stack.

use std::fmt;

use crate::ad::{Ad, Dialect, Expression, Name, Value};

use super::expression_printer::ExpressionPrinter;
use super::style::{LossyChange, Style};

/// Prints an expression as users of a dialect write it. A string that the long form cannot represent, such as one with a
/// line break, has escapes.
#[must_use]
pub fn dialect_text(expression: &Expression, dialect: Dialect) -> String {
    let exact = expression_text(expression, Style::New);
    match Style::of(dialect) {
        Style::Long if !exact.contains('\\') => expression_text(expression, Style::Long),
        _ => exact,
    }
}

/// Prints an expression.
///
/// The long form cannot represent every string: a newline becomes a space, and a space may follow a backslash at the
/// end of a string.  [`print_line`] reports such changes.
#[must_use]
pub fn print(expression: &Expression, style: Style) -> Vec<u8> {
    printed(style, |printer| printer.expression(expression, 0))
}

/// Appends the text of [`print()`] to `text`.
pub fn print_into(expression: &Expression, style: Style, text: &mut Vec<u8>) {
    append(expression, style, text);
}

/// Appends an expression to `text` as the value of a line of the long form.  Returns the changes to strings that the
/// long form cannot represent, because `\"` is its only escape.
pub fn print_line(expression: &Expression, text: &mut Vec<u8>) -> Vec<LossyChange> {
    append(expression, Style::Long, text)
}

fn append(expression: &Expression, style: Style, text: &mut Vec<u8>) -> Vec<LossyChange> {
    let mut printer = ExpressionPrinter { out: std::mem::take(text), ..ExpressionPrinter::new(style) };
    printer.expression(expression, 0);
    printer.run();
    *text = printer.out;
    printer.changes
}

/// Prints an expression as HTCondor's `unparse()` does: [`Style::Library`], with lists and ads over several lines.
#[must_use]
pub fn print_multiline(expression: &Expression) -> Vec<u8> {
    printed(Style::Library, |printer| {
        printer.indentation = Some(0);
        printer.expression(expression, 0);
    })
}

/// Prints an ad on one line, with brackets.
#[must_use]
pub fn print_ad(ad: &Ad, style: Style) -> Vec<u8> {
    printed(style, |printer| printer.ad(ad))
}

/// Prints a value: a literal, a list or an ad.
#[must_use]
pub fn print_value(value: &Value, style: Style) -> Vec<u8> {
    printed(style, |printer| printer.literal(value))
}

/// Prints an expression as text, with U+FFFD in place of bytes that are not UTF-8.
#[must_use]
pub fn expression_text(expression: &Expression, style: Style) -> String {
    into_text(print(expression, style))
}

impl fmt::Display for Expression {
    /// Prints the expression in [`Style::New`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&expression_text(self, Style::New))
    }
}

impl fmt::Display for Value {
    /// Prints the value in [`Style::New`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&into_text(print_value(self, Style::New)))
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Prints a name, in single quotes unless it is an identifier.
#[must_use]
pub fn print_name(name: &Name) -> String {
    into_text(printed(Style::New, |printer| printer.name(name)))
}

/// Prints a string literal, with quotes and the escapes of the style.
#[must_use]
pub fn print_string(bytes: &[u8], style: Style) -> Vec<u8> {
    printed(style, |printer| printer.string(bytes))
}

/// Returns the text printed by `start` and by the tasks that `start` pushes on the stack.
fn printed<'a>(style: Style, start: impl FnOnce(&mut ExpressionPrinter<'a>)) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(style);
    start(&mut printer);
    printer.run();
    printer.out
}

#[cfg(test)]
mod tests {
    use crate::syntax::{ParseOptions, parse_expression};

    use super::{Style, expression_text, print_multiline};

    #[test]
    fn lines_behind_a_nested_list_are_indented_as_those_before_it() {
        for (text, printed) in [
            ("{ 1 }", "|   {|      1|   }"),
            (
                "{ { 1 }, { 2 } }",
                "|   {|      |         {|            1|         },|      |         {|            2|         }|   }",
            ),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let found = String::from_utf8(print_multiline(&expression)).unwrap();
            assert_eq!(found.replace('\n', "|"), printed, "{text}");
        }
    }

    #[test]
    fn the_long_form_has_the_spaces_of_the_library() {
        for (text, printed) in [
            (r#"!a && f(b, "x", {1, 2}) isnt -y"#, r#" !a && f(b,"x",{ 1,2 }) =!=  -y"#),
            (r#"a ?: b == "q\"w""#, r#"a ?: b == "q\"w""#),
            ("[a = 1;b = 2].a + -5 ", "[ a = 1; b = 2 ].a + -5"),
            ("~a[1] == 1.5 ? {} : (c)", " ~a[1] == 1.5 ? {  } : (c)"),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(expression_text(&expression, Style::LongLibrary), printed);
        }
    }
}
