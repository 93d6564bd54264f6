//! Writer of ads in YAML.

use std::io::{self, Write};

use crate::ad::{Ad, Expression, ExpressionKind, Value};
use crate::syntax::{Style, print};

use super::EXPRESSION;
use super::scalar::{expression_scalar, real_scalar, string_scalar};

/// Maximum nesting depth of mappings and sequences. Deeper values are written as text of expressions, because readers
/// of YAML limit the depth. Our reader has a limit of 128.
const MAX_NESTING_DEPTH: usize = 64;

/// Maximum length in bytes of a name on the same line as its value. YAML allows at most 1024 characters there.
const MAX_INLINE_NAME_BYTES: usize = 1000;

/// Writes an ad as a YAML document.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<()> {
    if ad.is_empty() {
        return writeln!(out, "--- {{}}");
    }
    writeln!(out, "---")?;
    write_mapping(out, ad, 0)
}

/// Writes the attributes of an ad as lines of a mapping. The caller has written the indentation of the first line.
fn write_mapping(out: &mut dyn Write, ad: &Ad, depth: usize) -> io::Result<()> {
    for (position, attribute) in ad.iter().enumerate() {
        if position > 0 {
            indent(out, depth)?;
        }
        let name = string_scalar(attribute.name.as_str());
        if name.len() > MAX_INLINE_NAME_BYTES {
            writeln!(out, "? {name}")?;
            indent(out, depth)?;
            write!(out, ":")?;
        } else {
            write!(out, "{name}:")?;
        }
        write_value(out, attribute.expression, depth, false)?;
    }
    Ok(())
}

/// Writes a value and its line end behind a `:` or a `-`.
fn write_value(out: &mut dyn Write, expression: &Expression, depth: usize, is_element: bool) -> io::Result<()> {
    match expression.kind() {
        ExpressionKind::Ad(ad) if !ad.is_empty() && depth < MAX_NESTING_DEPTH => {
            begin_nested(out, depth, is_element)?;
            write_mapping(out, ad, depth + 1)
        }
        ExpressionKind::List(elements) if depth < MAX_NESTING_DEPTH && !elements.iter().all(is_scalar) => {
            begin_nested(out, depth, is_element)?;
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    indent(out, depth + 1)?;
                }
                write!(out, "-")?;
                write_value(out, element, depth + 1, true)?;
            }
            Ok(())
        }
        ExpressionKind::List(_) if depth < MAX_NESTING_DEPTH => writeln!(out, " {}", flow_style(expression)),
        _ => writeln!(out, " {}", one_line(expression)),
    }
}

/// Begins a mapping or sequence of several lines. It begins on the line of the `-` if it is an element, otherwise on
/// the next line.
fn begin_nested(out: &mut dyn Write, depth: usize, is_element: bool) -> io::Result<()> {
    if is_element {
        return write!(out, " ");
    }
    writeln!(out)?;
    indent(out, depth + 1)
}

fn indent(out: &mut dyn Write, depth: usize) -> io::Result<()> {
    write!(out, "{:1$}", "", depth * 2)
}

/// Returns a value on one line, in the flow style of YAML: `[1, a]`, `{x: !expr y + 1}`.
#[must_use]
pub fn flow_style(expression: &Expression) -> String {
    flow_style_at(expression, 0)
}

fn flow_style_at(expression: &Expression, depth: usize) -> String {
    match expression.kind() {
        ExpressionKind::Ad(ad) if depth < MAX_NESTING_DEPTH => {
            let entries = ad.iter().map(|attribute| {
                let value = flow_style_at(attribute.expression, depth + 1);
                format!("{}: {value}", string_scalar(attribute.name.as_str()))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        ExpressionKind::List(elements) if depth < MAX_NESTING_DEPTH => {
            let elements: Vec<String> = elements.iter().map(|element| flow_style_at(element, depth + 1)).collect();
            format!("[{}]", elements.join(", "))
        }
        _ => one_line(expression),
    }
}

fn is_scalar(expression: &Expression) -> bool {
    !matches!(expression.kind(), ExpressionKind::Ad(_) | ExpressionKind::List(_))
}

/// Returns a value on one line: as a value of YAML if possible, otherwise as the text of an expression.
fn one_line(expression: &Expression) -> String {
    match expression.kind() {
        ExpressionKind::Literal(Value::Undefined) => return "null".to_owned(),
        ExpressionKind::Literal(Value::Boolean(is)) => return is.to_string(),
        ExpressionKind::Literal(Value::Integer(integer)) => return integer.to_string(),
        ExpressionKind::Literal(Value::Real(real)) => return real_scalar(*real),
        ExpressionKind::Literal(Value::String(text)) => {
            if let Ok(text) = std::str::from_utf8(text.as_bytes()) {
                return string_scalar(text).into_owned();
            }
        }
        ExpressionKind::Ad(ad) if ad.is_empty() => return "{}".to_owned(),
        _ => {}
    }
    let text = print(expression, Style::New);
    format!("!{EXPRESSION} {}", expression_scalar(&String::from_utf8_lossy(&text)))
}
