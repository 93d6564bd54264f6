//! Writer of ads in JSON.

use std::io::{self, Write};

use crate::ad::{Ad, Expression, ExpressionKind, Value};
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
    push_object_tasks(ad, &mut tasks);
    // An explicit stack, so that no nesting depth overflows the program's stack.
    while let Some(task) = tasks.pop() {
        match task {
            JsonWriteTask::Text(fixed) => text.push_str(fixed),
            JsonWriteTask::Key(key) => {
                text.push('"');
                push_escaped(key, &mut text);
                text.push_str("\": ");
            }
            JsonWriteTask::Value(expression) => push_value(expression, &mut text, &mut tasks),
        }
    }
    out.write_all(text.as_bytes())
}

/// An entry of the stack: something left to write.
enum JsonWriteTask<'a> {
    Text(&'static str),
    Key(&'a str),
    Value(&'a Expression),
}

fn push_object_tasks<'a>(ad: &'a Ad, tasks: &mut Vec<JsonWriteTask<'a>>) {
    tasks.push(JsonWriteTask::Text("}"));
    let start = tasks.len();
    for (position, attribute) in ad.iter().enumerate() {
        if position > 0 {
            tasks.push(JsonWriteTask::Text(", "));
        }
        tasks.push(JsonWriteTask::Key(attribute.name.as_str()));
        tasks.push(JsonWriteTask::Value(attribute.expression));
    }
    tasks[start..].reverse();
    tasks.push(JsonWriteTask::Text("{"));
}

fn push_array_tasks<'a>(elements: &'a [Expression], tasks: &mut Vec<JsonWriteTask<'a>>) {
    tasks.push(JsonWriteTask::Text("]"));
    for (position, element) in elements.iter().enumerate().rev() {
        tasks.push(JsonWriteTask::Value(element));
        if position > 0 {
            tasks.push(JsonWriteTask::Text(", "));
        }
    }
    tasks.push(JsonWriteTask::Text("["));
}

fn push_value<'a>(expression: &'a Expression, text: &mut String, tasks: &mut Vec<JsonWriteTask<'a>>) {
    match expression.kind() {
        ExpressionKind::Literal(Value::Undefined) => text.push_str("null"),
        ExpressionKind::Literal(Value::Boolean(is)) => text.push_str(if *is { "true" } else { "false" }),
        ExpressionKind::Literal(Value::Integer(integer)) => text.push_str(&integer.to_string()),
        // The shortest digits that read back exactly. A point or an exponent marks a real.
        ExpressionKind::Literal(Value::Real(real)) if real.is_finite() => text.extend([format!("{real:?}")]),
        ExpressionKind::Literal(Value::String(string)) => match std::str::from_utf8(string.as_bytes()) {
            Ok(string) if expression_inside(string.as_bytes()).is_none() => {
                text.push('"');
                push_escaped(string, text);
                text.push('"');
            }
            _ => push_expression(expression, text),
        },
        ExpressionKind::List(elements) => push_array_tasks(elements, tasks),
        ExpressionKind::Ad(ad) => push_object_tasks(ad, tasks),
        ExpressionKind::Literal(Value::List(list)) => push_array_tasks(&list.elements, tasks),
        ExpressionKind::Literal(Value::Ad(nested)) => push_object_tasks(nested.ad(), tasks),
        _ => push_expression(expression, text),
    }
}

/// Writes an expression that has no JSON value. HTCondor escapes the slashes to distinguish it from a string.
fn push_expression(expression: &Expression, text: &mut String) {
    text.push_str("\"\\/Expr(");
    push_escaped(&String::from_utf8_lossy(&print(expression, Style::New)), text);
    text.push_str(")\\/\"");
}

/// Writes the text between the quotes of a string.
fn push_escaped(string: &str, text: &mut String) {
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
    use crate::syntax::{ParseOptions, parse_ad};

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
            write(&mut out, &parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), json, "{ad}");
        }
    }
}
