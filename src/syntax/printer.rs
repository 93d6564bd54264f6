//! Prints expressions, ads and values.  The text parses back to an equal tree.
//!
//! The printer keeps an explicit stack of tasks instead of recursing, so that deep trees cannot overflow the call
//! stack.

use std::fmt;

use crate::ad::{
    AbsoluteTime, Ad, BinaryOperator, Expression, ExpressionKind, ListValue, Name, PRECEDENCE_CONDITIONAL,
    PRECEDENCE_UNARY, RelativeTime, UnaryOperator, Value,
};

/// The syntax that is printed.
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

/// Prints an expression.
///
/// The long form cannot represent every string: a newline, or a backslash at the end of a string that does not
/// end the line, do not parse back; [`print_line`] reports them.
#[must_use]
pub fn print(expression: &Expression, style: Style) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(style);
    printer.tasks.push(ExpressionPrintTask::Expression(expression, 0));
    printer.run();
    printer.out
}

/// A change to a string that the long form cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossyChange {
    /// A newline in a string became a space.
    Newline,
    /// A space was put after the backslash at the end of a string that does not end its line.
    Backslash,
}

impl fmt::Display for LossyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LossyChange::Newline => "a newline in a string becomes a space",
            LossyChange::Backslash => "a space is put behind the backslash that ends a string",
        })
    }
}

/// Prints an expression as the value of a line of the long form, and returns the changes to strings that the long
/// form required, which has no escapes but `\"`.
#[must_use]
pub fn print_line(expression: &Expression) -> (Vec<u8>, Vec<LossyChange>) {
    let mut printer = ExpressionPrinter::new(Style::Long);
    printer.tasks.push(ExpressionPrintTask::Expression(expression, 0));
    printer.run();
    (printer.out, printer.changes)
}

/// Prints an expression as HTCondor's `unparse()` does: [`Style::Library`], with lists and ads over several lines.
#[must_use]
pub fn print_multiline(expression: &Expression) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(Style::Library);
    printer.indentation = Some(0);
    printer.tasks.push(ExpressionPrintTask::Expression(expression, 0));
    printer.run();
    printer.out
}

/// Prints an ad on one line, with brackets.
#[must_use]
pub fn print_ad(ad: &Ad, style: Style) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(style);
    printer.ad(ad);
    printer.run();
    printer.out
}

/// Prints a value: a literal, a list or an ad.
#[must_use]
pub fn print_value(value: &Value, style: Style) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(style);
    match value {
        Value::List(ListValue { elements, .. }) => printer.sequence("{", elements, "}"),
        Value::Ad(nested) => printer.ad(nested.ad()),
        scalar => printer.literal(scalar),
    }
    printer.run();
    printer.out
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
    let mut printer = ExpressionPrinter::new(Style::New);
    printer.name(name);
    into_text(printer.out)
}

/// Prints a string literal, with quotes and the escapes of the style.
#[must_use]
pub fn print_string(bytes: &[u8], style: Style) -> Vec<u8> {
    let mut printer = ExpressionPrinter::new(style);
    printer.string(bytes);
    printer.out
}

/// An entry of the printer's stack.
enum ExpressionPrintTask<'a> {
    /// An expression, in parentheses if its precedence is below this minimum.
    Expression(&'a Expression, u8),
    /// A name in a definition or a selection.
    Name(&'a Name),
    Text(&'static str),
    /// A line break, then this many spaces.
    LineBreak(usize),
    /// Sets the indentation, in columns, of the lists and ads that follow.
    Indentation(usize),
}

const PRECEDENCE_POSTFIX: u8 = PRECEDENCE_UNARY + 1;
const PRECEDENCE_PRIMARY: u8 = PRECEDENCE_UNARY + 2;

struct ExpressionPrinter<'a> {
    style: Style,
    /// Current indentation, in columns, if lists and ads are printed over several lines.
    indentation: Option<usize>,
    /// The changes to strings that the long form cannot represent.
    changes: Vec<LossyChange>,
    out: Vec<u8>,
    tasks: Vec<ExpressionPrintTask<'a>>,
}

impl<'a> ExpressionPrinter<'a> {
    fn new(style: Style) -> Self {
        ExpressionPrinter { style, indentation: None, changes: Vec::new(), out: Vec::new(), tasks: Vec::new() }
    }

    fn run(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                ExpressionPrintTask::Text(text) => self.text(text),
                ExpressionPrintTask::LineBreak(indent) => self.line_break(indent),
                ExpressionPrintTask::Indentation(indent) => self.indentation = Some(indent),
                ExpressionPrintTask::Name(name) => self.name(name),
                ExpressionPrintTask::Expression(expression, at_least) => self.expression(expression, at_least),
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Pushes tasks so that the first one runs next.
    fn push_tasks<const N: usize>(&mut self, tasks: [ExpressionPrintTask<'a>; N]) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn expression(&mut self, expression: &'a Expression, at_least: u8) {
        use ExpressionPrintTask::{Expression as E, Text as T};
        // The library never adds parentheses.
        if precedence(expression.kind()) < at_least && self.style != Style::Library {
            return self.push_tasks([T("("), E(expression, 0), T(")")]);
        }
        match expression.kind() {
            ExpressionKind::Literal(value) => self.literal(value),
            ExpressionKind::Attribute(name) => self.reference(name),
            ExpressionKind::RootAttribute(name) => self.push_tasks([T("."), ExpressionPrintTask::Name(name)]),
            ExpressionKind::Select(inner, name) => {
                // `1.b` would be lexed as a malformed number.
                let number = matches!(inner.kind(), ExpressionKind::Literal(Value::Integer(_) | Value::Real(_)));
                let dot = if number && self.style != Style::Library { " ." } else { "." };
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T(dot), ExpressionPrintTask::Name(name)]);
            }
            ExpressionKind::Subscript(inner, index) => {
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T("["), E(index, 0), T("]")]);
            }
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExpressionKind::Binary(operator, left, right) => {
                let precedence = operator.precedence();
                // The left operand may be a chain of a million operators: push it as a task instead of recursing.
                self.push_tasks([
                    E(left, precedence),
                    T(" "),
                    T(self.symbol(*operator)),
                    T(" "),
                    E(right, precedence + 1),
                ]);
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
                let comma = if self.style == Style::Library { "," } else { ", " };
                self.items(arguments, comma);
            }
            ExpressionKind::List(elements) => self.sequence("{", elements, "}"),
            ExpressionKind::Ad(ad) => self.ad(ad),
        }
    }

    fn symbol(&self, operator: BinaryOperator) -> &'static str {
        match self.style {
            Style::Long => operator.condor_symbol(),
            Style::New | Style::Library => operator.symbol(),
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &'a Expression) {
        if self.style == Style::Library {
            self.text(" ");
        }
        self.text(operator.symbol());
        // Without a space `-5` would parse back as a literal.
        if operator == UnaryOperator::Minus && self.style != Style::Library && begins_with_digit(operand) {
            self.text(" ");
        }
        self.tasks.push(ExpressionPrintTask::Expression(operand, PRECEDENCE_UNARY));
    }

    fn items(&mut self, items: &'a [Expression], separator: &'static str) {
        for (position, item) in items.iter().enumerate().rev() {
            self.tasks.push(ExpressionPrintTask::Expression(item, 0));
            if position > 0 {
                self.tasks.push(ExpressionPrintTask::Text(separator));
            }
        }
    }

    fn line_break(&mut self, indent: usize) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + indent, b' ');
    }

    /// Prints a list over several lines, as the library does: brackets indented by 3, elements by 6.
    fn multiline_list(&mut self, items: &'a [Expression], indent: usize) {
        self.line_break(indent + 3);
        self.text("{");
        self.tasks.extend([
            ExpressionPrintTask::Indentation(indent),
            ExpressionPrintTask::Text("}"),
            ExpressionPrintTask::LineBreak(indent + 3),
        ]);
        for (position, item) in items.iter().enumerate().rev() {
            self.tasks.push(ExpressionPrintTask::Expression(item, 0));
            self.tasks
                .extend([ExpressionPrintTask::Indentation(indent + 6), ExpressionPrintTask::LineBreak(indent + 6)]);
            if position > 0 {
                self.tasks.push(ExpressionPrintTask::Text(","));
            }
        }
    }

    /// Prints an ad over several lines, as the library does: brackets indented by 4, attributes by 8.
    fn multiline_ad(&mut self, attributes: Vec<crate::ad::Attribute<'a>>, indent: usize) {
        self.line_break(indent + 4);
        self.text("[");
        self.tasks.extend([
            ExpressionPrintTask::Indentation(indent),
            ExpressionPrintTask::Text("]"),
            ExpressionPrintTask::LineBreak(indent + 4),
        ]);
        for (position, attribute) in attributes.into_iter().enumerate().rev() {
            self.tasks.extend([
                ExpressionPrintTask::Expression(attribute.expression, 0),
                ExpressionPrintTask::Text(" = "),
                ExpressionPrintTask::Name(attribute.name),
            ]);
            self.tasks
                .extend([ExpressionPrintTask::Indentation(indent + 8), ExpressionPrintTask::LineBreak(indent + 8)]);
            if position > 0 {
                self.tasks.push(ExpressionPrintTask::Text("; "));
            }
        }
    }

    fn sequence(&mut self, open: &str, items: &'a [Expression], close: &'static str) {
        if let Some(indent) = self.indentation {
            return self.multiline_list(items, indent);
        }
        self.text(open);
        self.text(" ");
        self.tasks.push(ExpressionPrintTask::Text(close));
        if !items.is_empty() || self.style == Style::Library {
            self.tasks.push(ExpressionPrintTask::Text(" "));
        }
        self.items(items, if self.style == Style::Library { "," } else { ", " });
    }

    fn ad(&mut self, ad: &'a Ad) {
        let mut attributes: Vec<_> = ad.iter().collect();
        if self.style == Style::Library {
            // The library sorts attributes by the length of the name, then alphabetically.
            attributes
                .sort_by(|a, b| a.name.as_str().len().cmp(&b.name.as_str().len()).then_with(|| a.name.cmp(b.name)));
        }
        if let Some(indent) = self.indentation {
            return self.multiline_ad(attributes, indent);
        }
        self.text("[ ");
        self.tasks.push(ExpressionPrintTask::Text(if attributes.is_empty() && self.style != Style::Library {
            "]"
        } else {
            " ]"
        }));
        for (position, attribute) in attributes.into_iter().enumerate().rev() {
            self.tasks.push(ExpressionPrintTask::Expression(attribute.expression, 0));
            self.tasks.push(ExpressionPrintTask::Text(" = "));
            self.tasks.push(ExpressionPrintTask::Name(attribute.name));
            if position > 0 {
                self.tasks.push(ExpressionPrintTask::Text("; "));
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
        // The library quotes references to `parent`.
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
            for byte in bytes {
                match byte {
                    b'"' => self.out.extend_from_slice(b"\\\""),
                    b'\n' => {
                        self.changes.push(LossyChange::Newline);
                        self.out.push(b' ');
                    }
                    byte => self.out.push(*byte),
                }
            }
            // `\"` at the end of the line closes the string; elsewhere it would be an escaped quote.
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
        for chunk in bytes.utf8_chunks() {
            if self.style == Style::Library {
                chunk.valid().bytes().for_each(|byte| self.escaped_byte(byte, quote));
            } else {
                for character in chunk.valid().chars() {
                    match u8::try_from(character) {
                        Ok(byte) if byte.is_ascii() => self.escaped_byte(byte, quote),
                        _ => self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                    }
                }
            }
            chunk.invalid().iter().for_each(|byte| self.octal(*byte));
        }
    }

    fn escaped_byte(&mut self, byte: u8, quote: u8) {
        let escape = match byte {
            0x07 => b'a',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x0b => b'v',
            b'\\' => b'\\',
            byte if byte == quote => quote,
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
            Value::Integer(integer) => self.text(&integer.to_string()),
            Value::Real(real) => {
                let text = if self.style == Style::Library { library_real(*real) } else { shortest_real(*real) };
                self.text(&text);
            }
            Value::String(text) => self.string(text.as_bytes()),
            Value::AbsoluteTime(time) => self.text(&format!("absTime(\"{time}\")")),
            Value::RelativeTime(time) if self.style == Style::Library => {
                self.text(&format!("relTime(\"{}\")", time.to_library_string()));
            }
            Value::RelativeTime(time) => self.text(&format!("relTime(\"{time}\")")),
            // Lists and ads are literals only in trees made by functions.
            Value::List(list) => self.sequence("{", &list.elements, "}"),
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

/// Prints a real with the fewest digits that parse back exactly.
fn shortest_real(real: f64) -> String {
    match non_finite_text(real) {
        Some(text) => text.to_owned(),
        None => format!("{real:?}"),
    }
}

fn non_finite_text(real: f64) -> Option<&'static str> {
    if real.is_nan() {
        Some("real(\"NaN\")")
    } else if real == f64::INFINITY {
        Some("real(\"INF\")")
    } else if real == f64::NEG_INFINITY {
        Some("real(\"-INF\")")
    } else {
        None
    }
}

/// Prints a real as the library does: C's `%1.15E`, but `0.0` for zero.
fn library_real(real: f64) -> String {
    if let Some(text) = non_finite_text(real) {
        return text.to_owned();
    }
    if real == 0.0 {
        return format!("{real:?}");
    }
    let text = format!("{real:.15E}");
    // C writes the sign and at least two digits of the exponent.
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}E{sign}{exponent:0>2}")
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

impl RelativeTime {
    /// Formats the time as the library does: `[-][d+][hh:][mm:]ss[.f]`, without leading parts that are zero.
    #[must_use]
    pub fn to_library_string(self) -> String {
        let (negative, days, hours, minutes, seconds, fraction) = self.split();
        let sign = if negative { "-" } else { "" };
        let seconds = if fraction > 0.0 { format_general(seconds, fraction) } else { format!("{seconds:02}") };
        if days > 0 {
            format!("{sign}{days}+{hours:02}:{minutes:02}:{seconds}")
        } else if hours > 0 {
            format!("{sign}{hours:02}:{minutes:02}:{seconds}")
        } else if minutes > 0 {
            format!("{sign}{minutes:02}:{seconds}")
        } else {
            format!("{sign}{seconds}")
        }
    }
}

/// Formats seconds below 60 like C's `%g`: six significant digits.
fn format_general(seconds: i64, fraction: f64) -> String {
    let whole = i32::try_from(seconds).map_or(0.0, f64::from);
    let places = if seconds >= 10 { 4 } else { 5 };
    let text = format!("{:.places$}", whole + fraction);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
