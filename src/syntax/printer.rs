//! Prints expressions, ads and values.  Text in [`Style::New`] parses back to an equal tree.
//!
//! The printer keeps an explicit stack of tasks instead of recursing, so that deep trees cannot overflow the call
//! stack.

use std::fmt;

use crate::ad::{
    AbsoluteTime, Ad, Dialect, Expression, ExpressionKind, Name, PRECEDENCE_CONDITIONAL, PRECEDENCE_UNARY,
    RelativeTime, UnaryOperator, Value,
};

use super::literal::ESCAPE_LETTERS;
use super::number_text::{push_integer, push_real};
use super::printf::PrintfConversion;

/// The syntax in which expressions, ads and values are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Bracketed ads and expressions: strings with escapes, `is`, reals with the shortest exact digits.
    #[default]
    New,
    /// A line of HTCondor's long form: in strings only quotes are escaped; `=?=` for `is`.
    Long,
    /// The text that functions of HTCondor's ClassAd library make, such as `string({1.5})`, with the library's digits,
    /// order of attributes and spaces.  The text need not parse back.
    Library,
}

impl Style {
    /// Returns the style in which users of a dialect write expressions.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        if dialect.is_condor() { Style::Long } else { Style::New }
    }
}

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

/// A change to a string that the long form cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossyChange {
    /// A newline in a string became a space.
    Newline,
    /// A space was put between a backslash at the end of a string and the closing quote.  Without the space, `\"` would
    /// be read as an escaped quote.  At the end of the line no space is needed.
    Backslash,
}

impl fmt::Display for LossyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LossyChange::Newline => "a newline in a string is written as a space",
            LossyChange::Backslash => "a space is added after a backslash at the end of a string",
        })
    }
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

/// An entry of the printer's stack.
enum PrintTask<'a> {
    /// An expression.  It is put in parentheses if its precedence is below this number.
    Expression(&'a Expression, u8),
    /// A name in a definition or a selection.
    Name(&'a Name),
    Text(&'static str),
    /// A line break and this many spaces.  The second number, in columns, becomes the current indentation.
    LineBreak(usize, usize),
}

const PRECEDENCE_POSTFIX: u8 = PRECEDENCE_UNARY + 1;
const PRECEDENCE_PRIMARY: u8 = PRECEDENCE_UNARY + 2;

struct ExpressionPrinter<'a> {
    style: Style,
    /// Current indentation, in columns; `None` if lists and ads are printed on one line.
    indentation: Option<usize>,
    /// The changes made so far to strings that the long form cannot represent.
    changes: Vec<LossyChange>,
    out: Vec<u8>,
    tasks: Vec<PrintTask<'a>>,
}

impl<'a> ExpressionPrinter<'a> {
    fn new(style: Style) -> Self {
        ExpressionPrinter { style, indentation: None, changes: Vec::new(), out: Vec::new(), tasks: Vec::new() }
    }

    fn run(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                PrintTask::Text(text) => self.text(text),
                PrintTask::LineBreak(columns, indentation) => {
                    self.line_break(columns);
                    self.indentation = Some(indentation);
                }
                PrintTask::Name(name) => self.name(name),
                PrintTask::Expression(expression, at_least) => self.expression(expression, at_least),
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Pushes tasks so that the first one runs next.
    fn push_tasks<const N: usize>(&mut self, tasks: [PrintTask<'a>; N]) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn expression(&mut self, expression: &'a Expression, at_least: u8) {
        use PrintTask::{Expression as E, Name as N, Text as T};
        // HTCondor's library never adds parentheses.
        if precedence(expression.kind()) < at_least && self.style != Style::Library {
            return self.push_tasks([T("("), E(expression, 0), T(")")]);
        }
        match expression.kind() {
            ExpressionKind::Literal(value) => self.literal(value),
            ExpressionKind::Attribute(name) => self.reference(name),
            ExpressionKind::RootAttribute(name) => self.push_tasks([T("."), N(name)]),
            ExpressionKind::Select(inner, name) => {
                // A space before the dot is needed after a number, because `1.b` would be lexed as a malformed number.
                let number = matches!(inner.kind(), ExpressionKind::Literal(Value::Integer(_) | Value::Real(_)));
                let dot = if number && self.style != Style::Library { " ." } else { "." };
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T(dot), N(name)]);
            }
            ExpressionKind::Subscript(inner, index) => {
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T("["), E(index, 0), T("]")]);
            }
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExpressionKind::Binary(operator, left, right) => {
                let precedence = operator.precedence();
                let symbol = if self.style == Style::Long { operator.condor_symbol() } else { operator.symbol() };
                // The left operand may be a chain of a million operators: push it as a task instead of recursing.
                self.push_tasks([E(left, precedence), T(" "), T(symbol), T(" "), E(right, precedence + 1)]);
            }
            ExpressionKind::Conditional(condition, consequent, alternative) => self.push_tasks([
                E(condition, PRECEDENCE_CONDITIONAL + 1),
                T(" ? "),
                E(consequent, 0),
                T(" : "),
                E(alternative, PRECEDENCE_CONDITIONAL),
            ]),
            ExpressionKind::Elvis(left, right) => {
                self.push_tasks([E(left, PRECEDENCE_PRIMARY), T(" ?: "), E(right, PRECEDENCE_POSTFIX)]);
            }
            ExpressionKind::Parentheses(inner) => self.push_tasks([T("("), E(inner, 0), T(")")]),
            ExpressionKind::Call(name, arguments) => {
                self.name(name);
                self.text("(");
                self.tasks.push(T(")"));
                for (position, argument) in arguments.iter().enumerate().rev() {
                    self.tasks.push(E(argument, 0));
                    if position > 0 {
                        self.tasks.push(T(self.comma()));
                    }
                }
            }
            ExpressionKind::List(elements) => self.list(elements),
            ExpressionKind::Ad(ad) => self.ad(ad),
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &'a Expression) {
        if self.style == Style::Library {
            self.text(" ");
        }
        self.text(operator.symbol());
        // `-5` would parse back as a literal, `- 5` parses back as an operation.
        if operator == UnaryOperator::Minus && self.style != Style::Library && begins_with_digit(operand) {
            self.text(" ");
        }
        self.tasks.push(PrintTask::Expression(operand, PRECEDENCE_UNARY));
    }

    fn comma(&self) -> &'static str {
        if self.style == Style::Library { "," } else { ", " }
    }

    fn line_break(&mut self, columns: usize) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + columns, b' ');
    }

    fn list(&mut self, elements: &'a [Expression]) {
        self.bracketed(["{", self.comma(), "}"], 3, elements.iter().map(|element| (None, element)));
    }

    fn ad(&mut self, ad: &'a Ad) {
        let attributes = ad.iter().map(|attribute| (Some(attribute.name), attribute.expression));
        let mut attributes: Vec<(Option<&Name>, &Expression)> = attributes.collect();
        if self.style == Style::Library {
            // HTCondor's library sorts attributes by the length of the name, then alphabetically.
            attributes.sort_by_key(|(name, _)| (name.map(|name| name.as_str().len()), *name));
        }
        self.bracketed(["[", "; ", "]"], 4, attributes.into_iter());
    }

    /// Prints the items of a list or an ad; the items of an ad have names.  If lists and ads are printed over several
    /// lines, the indentation grows by `step` columns for the brackets and by `2 * step` columns for the items.
    fn bracketed(
        &mut self,
        [open, separator, close]: [&'static str; 3],
        step: usize,
        items: impl DoubleEndedIterator<Item = (Option<&'a Name>, &'a Expression)> + ExactSizeIterator,
    ) {
        if let Some(indent) = self.indentation {
            self.line_break(indent + step);
            self.text(open);
            self.tasks.extend([PrintTask::Text(close), PrintTask::LineBreak(indent + step, indent)]);
        } else {
            self.text(open);
            self.text(" ");
            self.tasks.push(PrintTask::Text(close));
            if items.len() > 0 || self.style == Style::Library {
                self.tasks.push(PrintTask::Text(" "));
            }
        }
        let item_indent = self.indentation.map(|indent| indent + 2 * step);
        for (position, (name, expression)) in items.enumerate().rev() {
            self.tasks.push(PrintTask::Expression(expression, 0));
            if let Some(name) = name {
                self.tasks.extend([PrintTask::Text(" = "), PrintTask::Name(name)]);
            }
            self.tasks.extend(item_indent.map(|columns| PrintTask::LineBreak(columns, columns)));
            if position > 0 {
                self.tasks.push(PrintTask::Text(separator));
            }
        }
    }

    fn name(&mut self, name: &Name) {
        if name.is_identifier() {
            self.text(name.as_str());
        } else {
            self.quoted(name, false);
        }
    }

    /// Prints a name in an expression.  The first byte of a name that would parse as a time is escaped, so that the
    /// text parses back as a name.
    fn reference(&mut self, name: &Name) {
        // HTCondor's library quotes references to `parent`.
        if name.is_identifier() && !(self.style == Style::Library && name.is("parent")) {
            return self.text(name.as_str());
        }
        let time =
            RelativeTime::parse_clock(name.as_str()).is_some() || AbsoluteTime::parse_asctime(name.as_str()).is_some();
        self.quoted(name, time);
    }

    fn quoted(&mut self, name: &Name, escape_first: bool) {
        self.out.push(b'\'');
        let mut bytes = name.as_str().as_bytes();
        if escape_first && let Some((first, rest)) = bytes.split_first() {
            self.octal(*first);
            bytes = rest;
        }
        self.escaped(bytes, b'\'');
        self.out.push(b'\'');
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        if self.style == Style::Long {
            let mut rest = bytes;
            while let Some(at) = memchr::memchr2(b'"', b'\n', rest) {
                self.out.extend_from_slice(&rest[..at]);
                if rest[at] == b'"' {
                    self.out.extend_from_slice(b"\\\"");
                } else {
                    self.changes.push(LossyChange::Newline);
                    self.out.push(b' ');
                }
                rest = &rest[at + 1..];
            }
            self.out.extend_from_slice(rest);
            // `\"` closes the string only at the end of the line.  Elsewhere it would be an escaped quote.
            if bytes.ends_with(b"\\") && !self.tasks.is_empty() {
                self.changes.push(LossyChange::Backslash);
                self.out.push(b' ');
            }
        } else {
            self.escaped(bytes, b'"');
        }
        self.out.push(b'"');
    }

    /// Prints bytes with C's escapes; bytes that are not UTF-8 become octal escapes.
    fn escaped(&mut self, bytes: &[u8], quote: u8) {
        // Most strings are plain ASCII and need no escape.  Without an early end, the compiler vectorizes the test.
        let is_special = |byte: u8| !matches!(byte, 0x20..=0x7e) || byte == b'\\' || byte == quote;
        if !bytes.iter().fold(false, |found, byte| found | is_special(*byte)) {
            return self.out.extend_from_slice(bytes);
        }
        for chunk in bytes.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                if byte.is_ascii() || self.style == Style::Library {
                    self.escaped_byte(byte, quote);
                } else {
                    self.out.push(byte);
                }
            }
            chunk.invalid().iter().for_each(|byte| self.octal(*byte));
        }
    }

    fn escaped_byte(&mut self, byte: u8, quote: u8) {
        let escape = match byte {
            0x07..=0x0d => ESCAPE_LETTERS[usize::from(byte - 0x07)],
            byte if byte == b'\\' || byte == quote => byte,
            0x20..=0x7e => return self.out.push(byte),
            byte => return self.octal(byte),
        };
        self.out.extend_from_slice(&[b'\\', escape]);
    }

    fn octal(&mut self, byte: u8) {
        self.out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
    }

    fn literal(&mut self, value: &'a Value) {
        match value {
            Value::Undefined => self.text("undefined"),
            Value::Error(_) => self.text("error"),
            Value::Boolean(true) => self.text("true"),
            Value::Boolean(false) => self.text("false"),
            Value::Integer(integer) => push_integer(*integer, &mut self.out),
            Value::Real(real) if real.is_finite() && self.style != Style::Library => push_real(*real, &mut self.out),
            Value::Real(real) => self.text(&real_text(*real, self.style)),
            Value::String(text) => self.string(text.as_bytes()),
            Value::AbsoluteTime(time) => self.text(&format!("absTime(\"{time}\")")),
            Value::RelativeTime(time) if self.style == Style::Library => {
                self.text(&format!("relTime(\"{}\")", time.to_library_string()));
            }
            Value::RelativeTime(time) => self.text(&format!("relTime(\"{time}\")")),
            // Lists and ads are literals only in trees made by functions.
            Value::List(list) => self.list(&list.elements),
            Value::Ad(ad) => self.ad(ad.ad()),
        }
    }
}

/// Whether the text of an operand begins with a digit.
fn begins_with_digit(operand: &Expression) -> bool {
    let mut first = operand;
    loop {
        first = match first.kind() {
            ExpressionKind::Literal(Value::Integer(integer)) => return *integer >= 0,
            ExpressionKind::Literal(Value::Real(real)) => return real.is_finite() && real.is_sign_positive(),
            ExpressionKind::Select(inner, _)
            | ExpressionKind::Subscript(inner, _)
            | ExpressionKind::Elvis(inner, _)
                if precedence(inner.kind()) >= PRECEDENCE_PRIMARY =>
            {
                inner
            }
            _ => return false,
        };
    }
}

/// Prints a real.  In [`Style::Library`] it has the format `%1.15E` of C, but zero is `0.0`; in other styles it has the
/// fewest digits that parse back exactly.
fn real_text(real: f64, style: Style) -> String {
    match real {
        f64::INFINITY => "real(\"INF\")".to_owned(),
        f64::NEG_INFINITY => "real(\"-INF\")".to_owned(),
        _ if real.is_nan() => "real(\"NaN\")".to_owned(),
        _ if style == Style::Library && real != 0.0 => PrintfConversion::of_letter('E', Some(15)).format_real(real),
        _ => format!("{real:?}"),
    }
}

/// Returns the precedence of the root operation of an expression.
fn precedence(kind: &ExpressionKind) -> u8 {
    match kind {
        ExpressionKind::Conditional(..) => PRECEDENCE_CONDITIONAL,
        ExpressionKind::Binary(operator, ..) => operator.precedence(),
        ExpressionKind::Unary(..) => PRECEDENCE_UNARY,
        ExpressionKind::Elvis(..) => PRECEDENCE_POSTFIX,
        _ => PRECEDENCE_PRIMARY,
    }
}
