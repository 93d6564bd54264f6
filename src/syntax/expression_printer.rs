//! The printer of expressions: works with a stack of its own, so that no depth overflows that of the thread.

use crate::ad::{
    AbsoluteTime, Ad, Expression, ExpressionKind, Name, PRECEDENCE_CONDITIONAL, PRECEDENCE_UNARY, RelativeTime,
    UnaryOperator, Value,
};

use super::literal::ESCAPE_LETTERS;
use super::number_text::{push_integer, push_real};
use super::printf::PrintfConversion;
use super::style::{LossyChange, Style};

/// An entry of the printer's stack.
pub enum PrintTask<'a> {
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

pub struct ExpressionPrinter<'a> {
    pub style: Style,
    /// Current indentation, in columns; `None` if lists and ads are printed on one line.
    pub indentation: Option<usize>,
    /// The changes made so far to strings that the long form cannot represent.
    pub changes: Vec<LossyChange>,
    pub out: Vec<u8>,
    pub tasks: Vec<PrintTask<'a>>,
}

impl<'a> ExpressionPrinter<'a> {
    pub fn new(style: Style) -> Self {
        ExpressionPrinter { style, indentation: None, changes: Vec::new(), out: Vec::new(), tasks: Vec::new() }
    }

    pub fn run(&mut self) {
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

    pub fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Pushes tasks so that the first one runs next.
    fn push_tasks<const N: usize>(&mut self, tasks: [PrintTask<'a>; N]) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub fn expression(&mut self, expression: &'a Expression, at_least: u8) {
        use PrintTask::{Expression as E, Name as N, Text as T};
        // HTCondor's library never adds parentheses.
        if precedence(expression.kind()) < at_least && !self.style.is_library() {
            return self.push_tasks([T("("), E(expression, 0), T(")")]);
        }
        match expression.kind() {
            ExpressionKind::Literal(value) => self.literal(value),
            ExpressionKind::Attribute(name) => self.reference(name),
            ExpressionKind::RootAttribute(name) => self.push_tasks([T("."), N(name)]),
            ExpressionKind::Select(inner, name) => {
                // A space before the dot is needed after a number, because `1.b` would be lexed as a malformed number.
                let number = matches!(inner.kind(), ExpressionKind::Literal(Value::Integer(_) | Value::Real(_)));
                let dot = if number && !self.style.is_library() { " ." } else { "." };
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T(dot), N(name)]);
            }
            ExpressionKind::Subscript(inner, index) => {
                self.push_tasks([E(inner, PRECEDENCE_PRIMARY), T("["), E(index, 0), T("]")]);
            }
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExpressionKind::Binary(operator, left, right) => {
                let precedence = operator.precedence();
                let symbol = if self.style.is_long() { operator.condor_symbol() } else { operator.symbol() };
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
        if self.style.is_library() {
            self.text(" ");
        }
        self.text(operator.symbol());
        // `-5` would parse back as a literal, `- 5` parses back as an operation.
        if operator == UnaryOperator::Minus && !self.style.is_library() && begins_with_digit(operand) {
            self.text(" ");
        }
        self.tasks.push(PrintTask::Expression(operand, PRECEDENCE_UNARY));
    }

    fn comma(&self) -> &'static str {
        if self.style.is_library() { "," } else { ", " }
    }

    fn line_break(&mut self, columns: usize) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + columns, b' ');
    }

    fn list(&mut self, elements: &'a [Expression]) {
        self.bracketed(["{", self.comma(), "}"], 3, elements.iter().map(|element| (None, element)));
    }

    pub fn ad(&mut self, ad: &'a Ad) {
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
            if items.len() > 0 || self.style.is_library() {
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

    pub fn name(&mut self, name: &Name) {
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

    pub fn string(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        if self.style.is_long() {
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

    pub fn literal(&mut self, value: &'a Value) {
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
