//! Writer of ads in YAML.

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::format::ad_syntax::AdSyntax;
use crate::syntax::{Style, print};

use super::EXPRESSION;
use super::scalar::{expression_scalar, real_scalar, string_scalar};

/// Maximum nesting depth of mappings and sequences. Deeper values are written as text of expressions, because readers
/// of YAML limit the depth. Our reader has a limit of 128.
const MAX_NESTING_DEPTH: usize = 64;

/// Maximum length in bytes of a name on the same line as its value. YAML allows at most 1024 characters there.
const MAX_INLINE_NAME_BYTES: usize = 1000;

/// How YAML writes an ad: as a document.
pub const SYNTAX: AdSyntax = AdSyntax {
    begin: "---\n",
    separator: "",
    end: "",
    empty: "--- {}\n",
    plain_literal_end: None,
    push_name: |name, text| push_name(name, 0, text),
    push_value: |expression, text| {
        push_value(expression, 0, false, text);
        Vec::new()
    },
};

/// Appends the attributes of an ad as lines of a mapping. The text ends with the indentation of the first line.
fn push_mapping(ad: &Ad, depth: usize, text: &mut Vec<u8>) {
    for (position, attribute) in ad.iter().enumerate() {
        if position > 0 {
            push_indentation(depth, text);
        }
        push_name(attribute.name, depth, text);
        push_value(attribute.expression, depth, false, text);
    }
}

/// Appends a name as the key of a mapping, and its `:`.
fn push_name(name: &Name, depth: usize, text: &mut Vec<u8>) {
    let name = string_scalar(name.as_str());
    if name.len() > MAX_INLINE_NAME_BYTES {
        text.extend_from_slice(format!("? {name}\n").as_bytes());
        push_indentation(depth, text);
    } else {
        text.extend_from_slice(name.as_bytes());
    }
    text.push(b':');
}

/// Appends a value and its line end behind a `:` or a `-`.
fn push_value(expression: &Expression, depth: usize, is_element: bool, text: &mut Vec<u8>) {
    match expression.kind() {
        ExpressionKind::Ad(ad) if !ad.is_empty() && depth < MAX_NESTING_DEPTH => {
            begin_nested(depth, is_element, text);
            push_mapping(ad, depth + 1, text);
        }
        ExpressionKind::List(elements) if depth < MAX_NESTING_DEPTH && !elements.iter().all(is_scalar) => {
            begin_nested(depth, is_element, text);
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    push_indentation(depth + 1, text);
                }
                text.push(b'-');
                push_value(element, depth + 1, true, text);
            }
        }
        ExpressionKind::List(_) if depth < MAX_NESTING_DEPTH => {
            text.extend_from_slice(format!(" {}\n", flow_style(expression)).as_bytes());
        }
        _ => text.extend_from_slice(format!(" {}\n", one_line(expression)).as_bytes()),
    }
}

/// Begins a mapping or sequence of several lines. It begins on the line of the `-` if it is an element, otherwise on
/// the next line.
fn begin_nested(depth: usize, is_element: bool, text: &mut Vec<u8>) {
    if is_element {
        return text.push(b' ');
    }
    text.push(b'\n');
    push_indentation(depth + 1, text);
}

fn push_indentation(depth: usize, text: &mut Vec<u8>) {
    text.resize(text.len() + 2 * depth, b' ');
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
