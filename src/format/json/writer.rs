//! Writer of ads in JSON.

use crate::ad::{Expression, ExpressionKind, Name, Value};
use crate::format::ad_syntax::AdSyntax;
use crate::format::nested_writer::{NestedSyntax, push_value};
use crate::syntax::{Style, print, push_integer, push_real};

use super::expression_inside;

/// How JSON writes an ad: as an object on one line. Values that JSON cannot represent are written as expressions, so no
/// value is changed.
pub const SYNTAX: AdSyntax = AdSyntax {
    begin: "{",
    separator: ", ",
    end: "}\n",
    empty: "{}\n",
    plain_literal_end: Some(""),
    push_name: JsonSyntax::push_name,
    push_value: |expression, text| {
        push_value::<JsonSyntax>(expression, text);
        Vec::new()
    },
};

struct JsonSyntax;

impl NestedSyntax for JsonSyntax {
    const AD: [&'static str; 2] = ["{", "}"];
    const LIST: [&'static str; 2] = ["[", "]"];
    const SEPARATOR: &'static str = ", ";
    const ATTRIBUTE_END: &'static str = "";

    fn push_name(name: &Name, text: &mut Vec<u8>) {
        push_quoted(["\"", "\": "], name.as_str().as_bytes(), text);
    }

    fn push_scalar(expression: &Expression, text: &mut Vec<u8>) {
        match expression.kind() {
            ExpressionKind::Literal(Value::Undefined) => text.extend_from_slice(b"null"),
            ExpressionKind::Literal(Value::Boolean(is)) => text.extend_from_slice(if *is { b"true" } else { b"false" }),
            ExpressionKind::Literal(Value::Integer(integer)) => push_integer(*integer, text),
            // A real gets the fewest digits that are read as the same number. A point or an exponent distinguishes it
            // from an integer.
            ExpressionKind::Literal(Value::Real(real)) if real.is_finite() => push_real(*real, text),
            ExpressionKind::Literal(Value::String(string))
                if std::str::from_utf8(string.as_bytes()).is_ok() && expression_inside(string.as_bytes()).is_none() =>
            {
                push_quoted(["\"", "\""], string.as_bytes(), text);
            }
            // All other values are written as expressions. HTCondor escapes the slashes to distinguish an expression
            // from a string.
            _ => push_quoted(["\"\\/Expr(", ")\\/\""], &print(expression, Style::New), text),
        }
    }
}

/// Appends `string` with JSON escapes between the texts `before` and `behind`.
fn push_quoted([before, behind]: [&str; 2], string: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(before.as_bytes());
    let is_special = |byte: u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    let mut rest = string;
    // Most strings need no escape.  Without an early end, the compiler vectorizes the test.
    let has_special = string.iter().fold(false, |found, byte| found | is_special(*byte));
    while has_special && let Some(at) = rest.iter().position(|byte| is_special(*byte)) {
        text.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'"' => text.extend_from_slice(b"\\\""),
            b'\\' => text.extend_from_slice(b"\\\\"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            0x08 => text.extend_from_slice(b"\\b"),
            0x0c => text.extend_from_slice(b"\\f"),
            control => text.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        rest = &rest[at + 1..];
    }
    text.extend_from_slice(rest);
    text.extend_from_slice(behind.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::SYNTAX;
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
            SYNTAX.push_ad(&parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{json}\n"), "{ad}");
        }
    }
}
