//! JSON as HTCondor writes it: an object for each ad, what is no JSON as `"\/Expr(...)\/"`.

use std::io::{self, Write};

use crate::ad::{Ad, Expression, Kind, Name, Value};
use crate::syntax::{Change, Style, print};

/// Writes an ad as an object on one line.  What JSON cannot carry is changed, and told.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<Vec<(Name, Change)>> {
    let mut changes = Vec::new();
    let mut text = String::new();
    let mut tasks = Vec::new();
    object(ad, &mut tasks);
    // Its own list of what is left to write, so that no depth can harm it.
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(fixed) => text.push_str(fixed),
            Task::Key(key) => {
                quoted(key.as_bytes(), &mut text);
                text.push_str(": ");
            }
            Task::Value(expression) => value(expression, &mut text, &mut tasks),
        }
    }
    for attribute in ad.iter().filter(|attribute| has_other_bytes(attribute.expression)) {
        changes.push((attribute.name.clone(), Change::Bytes));
    }
    writeln!(out, "{text}")?;
    Ok(changes)
}

/// Whether a string somewhere in an expression, outside any that is printed as text, is no UTF-8.
fn has_other_bytes(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            Kind::Literal(Value::String(text)) if std::str::from_utf8(text.as_bytes()).is_err() => return true,
            Kind::List(_) | Kind::Ad(_) => expression.kind().for_each_child(|child| pending.push(child)),
            _ => {}
        }
    }
    false
}

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

fn value<'a>(expression: &'a Expression, text: &mut String, tasks: &mut Vec<Task<'a>>) {
    match expression.kind() {
        Kind::Literal(Value::Undefined) => text.push_str("null"),
        Kind::Literal(Value::Boolean(is)) => text.push_str(if *is { "true" } else { "false" }),
        Kind::Literal(Value::Integer(integer)) => text.push_str(&integer.to_string()),
        Kind::Literal(Value::Real(real)) if real.is_finite() => text.push_str(&print_real(*real)),
        Kind::Literal(Value::String(string)) => quoted(string.as_bytes(), text),
        Kind::List(elements) => {
            tasks.push(Task::Text("]"));
            for (position, element) in elements.iter().enumerate().rev() {
                tasks.push(Task::Value(element));
                if position > 0 {
                    tasks.push(Task::Text(", "));
                }
            }
            tasks.push(Task::Text("["));
        }
        Kind::Ad(ad) => object(ad, tasks),
        _ => {
            let mut inside = String::new();
            quoted(&print(expression, Style::New), &mut inside);
            text.push_str("\"\\/Expr(");
            text.push_str(&inside[1..inside.len() - 1]);
            text.push_str(")\\/\"");
        }
    }
}

/// A JSON string; bytes that are not UTF-8 are replaced.
fn quoted(bytes: &[u8], text: &mut String) {
    text.push('"');
    for character in String::from_utf8_lossy(bytes).chars() {
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
    text.push('"');
}

/// The shortest digits that read back exactly; JSON has no `1.`.
fn print_real(real: f64) -> String {
    format!("{real:?}")
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
            ("[ ]", "{}"),
        ] {
            let mut out = Vec::new();
            write(&mut out, &parse_ad(ad.as_bytes(), Rules::new(Dialect::Condor)).unwrap()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap().trim_end(), json, "{ad}");
        }
    }
}
