//! Writer of ads in JSON.

use std::io::{self, Write};

use crate::ad::{Ad, Expression, Kind, Value};
use crate::syntax::{Style, print};

use super::expression_inside;

/// Writes an ad as an object on one line, without the line end. Values that JSON cannot represent are written as
/// expressions, so nothing is lost.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<()> {
    let mut text = String::new();
    let mut tasks = Vec::new();
    object(ad, &mut tasks);
    // An explicit stack, so that no nesting depth overflows the program's stack.
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(fixed) => text.push_str(fixed),
            Task::Key(key) => {
                text.push('"');
                escaped(key, &mut text);
                text.push_str("\": ");
            }
            Task::Value(expression) => value(expression, &mut text, &mut tasks),
        }
    }
    out.write_all(text.as_bytes())
}

/// An entry of the stack: something left to write.
enum Task<'a> {
    Text(&'static str),
    Key(&'a str),
    Value(&'a Expression),
}

fn object<'a>(ad: &'a Ad, tasks: &mut Vec<Task<'a>>) {
    tasks.push(Task::Text("}"));
    let start = tasks.len();
    for (position, attribute) in ad.iter().enumerate() {
        if position > 0 {
            tasks.push(Task::Text(", "));
        }
        tasks.push(Task::Key(attribute.name.as_str()));
        tasks.push(Task::Value(attribute.expression));
    }
    tasks[start..].reverse();
    tasks.push(Task::Text("{"));
}

fn array<'a>(elements: &'a [Expression], tasks: &mut Vec<Task<'a>>) {
    tasks.push(Task::Text("]"));
    for (position, element) in elements.iter().enumerate().rev() {
        tasks.push(Task::Value(element));
        if position > 0 {
            tasks.push(Task::Text(", "));
        }
    }
    tasks.push(Task::Text("["));
}

fn value<'a>(expression: &'a Expression, text: &mut String, tasks: &mut Vec<Task<'a>>) {
    match expression.kind() {
        Kind::Literal(Value::Undefined) => text.push_str("null"),
        Kind::Literal(Value::Boolean(is)) => text.push_str(if *is { "true" } else { "false" }),
        Kind::Literal(Value::Integer(integer)) => text.push_str(&integer.to_string()),
        // The shortest digits that read back exactly. A point or an exponent marks a real.
        Kind::Literal(Value::Real(real)) if real.is_finite() => text.extend([format!("{real:?}")]),
        Kind::Literal(Value::String(string)) => match std::str::from_utf8(string.as_bytes()) {
            Ok(string) if expression_inside(string.as_bytes()).is_none() => {
                text.push('"');
                escaped(string, text);
                text.push('"');
            }
            _ => other(expression, text),
        },
        Kind::List(elements) => array(elements, tasks),
        Kind::Ad(ad) => object(ad, tasks),
        Kind::Literal(Value::List(list)) => array(&list.elements, tasks),
        Kind::Literal(Value::Ad(nested)) => object(nested.ad(), tasks),
        _ => other(expression, text),
    }
}

/// Writes an expression that has no JSON value. HTCondor escapes the slashes to distinguish it from a string.
fn other(expression: &Expression, text: &mut String) {
    text.push_str("\"\\/Expr(");
    escaped(&String::from_utf8_lossy(&print(expression, Style::New)), text);
    text.push_str(")\\/\"");
}

/// Writes the text between the quotes of a string.
fn escaped(string: &str, text: &mut String) {
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            control if control < ' ' => text.extend(["\\u", &format!("{:04x}", u32::from(control))]),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::ad::Dialect;
    use crate::syntax::{Rules, parse_ad};

    #[test]
    fn as_htcondor_writes_it() {
        for (ad, json) in [
            ("[ i = 1; r = 1.5; u = undefined; b = true ]", r#"{"i": 1, "r": 1.5, "u": null, "b": true}"#),
            ("[ e = error; x = a + 1 ]", r#"{"e": "\/Expr(error)\/", "x": "\/Expr(a + 1)\/"}"#),
            ("[ l = { 1, a, [ z = 1 ], { } } ]", r#"{"l": [1, "\/Expr(a)\/", {"z": 1}, []]}"#),
            (r#"[ s = "q\"\n\001/"; f = real("INF") ]"#, r#"{"s": "q\"\n\u0001/", "f": "\/Expr(real(\"INF\"))\/"}"#),
            (r#"[ s = "\377"; t = "/expr(1)/" ]"#, {
                r#"{"s": "\/Expr(\"\\377\")\/", "t": "\/Expr(\"/expr(1)/\")\/"}"#
            }),
            ("[ a = 1.0; b = 1e100; c = -0.0 ]", r#"{"a": 1.0, "b": 1e100, "c": -0.0}"#),
            ("[ 'a \"b\"' = relTime(\"5\") ]", r#"{"a \"b\"": "\/Expr(relTime(\"0+00:00:05\"))\/"}"#),
            ("[ ]", "{}"),
        ] {
            let mut out = Vec::new();
            write(&mut out, &parse_ad(ad.as_bytes(), Rules::new(Dialect::Condor)).unwrap()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), json, "{ad}");
        }
    }
}
