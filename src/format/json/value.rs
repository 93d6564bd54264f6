//! Names and scalar values of ads in JSON.

use std::ops::Range;

use crate::ad::{ByteString, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::format::Problem;
use crate::format::ad_builder::AdOrigin;
use crate::format::attribute_name::attribute_name;
use crate::format::attribute_span::ExpressionSource;
use crate::format::source_map::DecodedText;
use crate::syntax::{ParseOptions, parse_expression, parse_prefix, read_number};

use super::string::decode_string;
use super::{OPEN, expression_inside};

/// Reads the name of an attribute. `range` is the byte range of the name with its quotes.
pub fn read_name(origin: &AdOrigin, range: &Range<usize>) -> Result<Name, Problem> {
    let decoded = decode(origin, range)?;
    attribute_name(&decoded.bytes, origin.dialect, range.clone(), origin.number)
}

/// Reads a string with its quotes as a value. A string of the form `/Expr(...)/` is read as the expression in it.
pub fn read_string(origin: &AdOrigin, range: &Range<usize>) -> Result<Expression, Problem> {
    let text = &origin.text[range.start + 1..range.end - 1];
    if memchr::memchr2(b'\\', 0, text).is_none() && !text.starts_with(&OPEN[..1]) {
        return Ok(Expression::literal(Value::String(ByteString::from(text))));
    }
    let decoded = decode(origin, range)?;
    match expression_inside(&decoded.bytes) {
        Some(inside) => parse_expression(inside, ParseOptions::new(origin.dialect)).map_err(|error| {
            let is_read =
                !error.keeps_ad && origin.dialect.is_condor() && begins_with_conditional(inside, origin.dialect);
            let problem = decoded.problem(error, OPEN.len(), origin.number);
            if is_read { problem.losing_its_value() } else { problem }
        }),
        None => Ok(Expression::literal(Value::string(decoded.bytes))),
    }
}

/// Whether a text begins with `condition ? consequent : alternative`. HTCondor ignores what follows such an expression.
fn begins_with_conditional(text: &[u8], dialect: Dialect) -> bool {
    [ParseOptions::new(dialect), ParseOptions::long(dialect)].into_iter().any(|options| {
        parse_prefix(text, options).is_ok_and(|(read, _)| matches!(read.kind(), ExpressionKind::Conditional(..)))
    })
}

/// Returns where the expression in a string of the form `/Expr(...)/` stands in the file. For any other string, returns
/// the range of the whole string.
pub fn string_source(origin: &AdOrigin, range: &Range<usize>) -> ExpressionSource {
    match decode(origin, range) {
        Ok(decoded) if expression_inside(&decoded.bytes).is_some() => ExpressionSource::Escaped(decoded, OPEN.len()),
        _ => ExpressionSource::Opaque(range.clone()),
    }
}

/// Decodes the text between the quotes of the string at `range`.
fn decode(origin: &AdOrigin, range: &Range<usize>) -> Result<DecodedText, Problem> {
    decode_string(&origin.text[range.start + 1..range.end - 1], range.start + 1, origin.number)
}

/// Reads a number, `true`, `false` or `null`, and the words that other programs write for NaN and infinities.
pub fn read_word(origin: &AdOrigin, range: &Range<usize>) -> Result<Expression, Problem> {
    let text = String::from_utf8_lossy(&origin.text[range.clone()]);
    let value = match text.to_ascii_lowercase().as_str() {
        "null" => Value::Undefined,
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        // Python's JSON writer writes `NaN`, `Infinity` and `-Infinity`.
        "nan" => Value::Real(f64::NAN),
        "infinity" => Value::Real(f64::INFINITY),
        "-infinity" => Value::Real(f64::NEG_INFINITY),
        _ => read_json_number(origin, &text, range.clone())?,
    };
    Ok(Expression::literal(value))
}

fn read_json_number(origin: &AdOrigin, text: &str, range: Range<usize>) -> Result<Value, Problem> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_negative = text.len() > digits.len();
    let by_htcondor = origin.dialect.is_condor();
    let Some(is_literal) = classify_number(digits, by_htcondor, is_negative) else {
        let what = if digits.starts_with(|c: char| c.is_ascii_digit() || c == '+') { "number" } else { "value" };
        return Err(origin
            .problem_at(range, format!("`{text}` is not a valid {what} in JSON"))
            .with_help("write undefined as null, and any other expression as \"\\/Expr(...)\\/\""));
    };
    if is_literal {
        return read_number(digits, is_negative, origin.dialect, Span::default())
            .map_err(|error| Problem { range, ..Problem::from_syntax(error, 0, origin.number) });
    }
    Ok(Value::Real(text.parse().unwrap_or(f64::NAN)))
}

/// Classifies an unsigned number: `Some(true)` for an integer or a hexadecimal number, which are read as literals of the
/// language, `Some(false)` for a decimal real, `None` if it is not a number in JSON. `.5` is accepted, as in HTCondor.
/// With `by_htcondor`, a leading 0 is accepted in a real and in a negative integer, too, and so are `0x` and `..5`.
fn classify_number(text: &str, by_htcondor: bool, is_negative: bool) -> Option<bool> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if by_htcondor
        && !is_negative
        && let Some(fraction) = text.strip_prefix("..")
    {
        return classify_number(&format!("0.{fraction}"), by_htcondor, is_negative).map(|_| true);
    }
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).filter(|_| by_htcondor);
    if let Some(text) = hexadecimal {
        let whole = text.bytes().take_while(u8::is_ascii_hexdigit).count();
        let is_number = match text[whole..].strip_prefix('.') {
            Some(fraction) => classify_number(&format!("0.{fraction}"), by_htcondor, is_negative).is_some(),
            None => is_negative && whole == text.len(),
        };
        return (whole > 0 && is_number).then_some(true);
    }
    let (whole, mut rest) = text.split_at(digits(text));
    let is_whole = rest.is_empty();
    let may_begin_with_0 = by_htcondor && (is_negative || !is_whole);
    if (whole.len() > 1 && whole.starts_with('0') && !may_begin_with_0) || (whole.is_empty() && !rest.starts_with('.'))
    {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        rest = fraction.get(length..).filter(|_| length > 0)?;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        rest = exponent.get(length..).filter(|_| length > 0)?;
    }
    rest.is_empty().then_some(is_whole)
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::format::testing::printed_items;
    use crate::format::{FileFormat, read};

    fn items_in(text: &[u8], dialect: Dialect) -> Vec<String> {
        printed_items(text, FileFormat::Json, dialect)
    }

    fn items(text: &str) -> Vec<String> {
        items_in(text.as_bytes(), Dialect::Condor)
    }

    #[test]
    fn as_htcondor_reads_it() {
        for (text, ad) in [
            (r#"{"a": null, "b": TRUE, "c": False}"#, "[ a = undefined; b = true; c = false ]"),
            (r#"{"a": 1, "b": -2.5, "c": 1e3, "d": .5, "e": -0, "f": -0.0}"#, {
                "[ a = 1; b = -2.5; c = 1000.0; d = 0.5; e = 0; f = -0.0 ]"
            }),
            (
                r#"{"a": 9223372036854775807, "b": -9223372036854775808}"#,
                "[ a = 9223372036854775807; b = -9223372036854775808 ]",
            ),
            (r#"{"a": 1e999, "b": -1e999, "c": NaN}"#, r#"[ a = real("INF"); b = real("-INF"); c = real("NaN") ]"#),
            (r#"{"a": "\/Expr(1 + 1)\/", "b": "/expr(x && \"y\")/"}"#, r#"[ a = 1 + 1; b = x && "y" ]"#),
            (r#"{"a": "\/Expr(\"\\377\\n\")\/"}"#, r#"[ a = "\377\n" ]"#),
            (r#"{"a": "/Expr", "b": "/usr/", "c": "/Expr(1)/ ", "d": "/Expr()"}"#, {
                r#"[ a = "/Expr"; b = "/usr/"; c = "/Expr(1)/ "; d = "/Expr()" ]"#
            }),
            (r#"{"a": "abcdef1+1)/", "b": ")/", "c": "/Expr)/"}"#, {
                r#"[ a = "abcdef1+1)/"; b = ")/"; c = "/Expr)/" ]"#
            }),
            (r#"{"a": [1, "x", null, {"b": [], "c": {}}]}"#, r#"[ a = { 1, "x", undefined, [ b = { }; c = [ ] ] } ]"#),
            (r#"{,"a": 1,,"b": 2,}"#, "[ a = 1; b = 2 ]"),
            ("{\"a\": 1 // c\n /* } */}", "[ a = 1 ]"),
            (r#"{"a": 1, "A": 2}"#, "[ a = 2 ]"),
            (r#"{"true": 1, "a b": "\u00e9\ud83d\ude00"}"#, "[ 'true' = 1; 'a b' = \"é😀\" ]"),
            ("{}", "[ ]"),
            ("\u{feff}{}", "[ ]"),
        ] {
            assert_eq!(items(text), [ad], "{text}");
        }
        // HTCondor's C++ tools do not escape bytes that are not UTF-8.
        assert_eq!(items_in(b"{\"a\": \"x\xff\"}", Dialect::Condor), [r#"[ a = "x\377" ]"#]);
    }

    #[test]
    fn ads_in_a_row() {
        for text in [
            r#"{"a": 1}{"b": 2}"#,
            "{\"a\": 1}\n{\"b\": 2}\n",
            r#"[{"a": 1}, {"b": 2}]"#,
            "[\n{\"a\": 1}\n]\n[\n{\"b\": 2}\n]",
            r#", {"a": 1}] [{"b": 2}"#,
            r#"[{"a": 1},] [{"b": 2},,]"#,
        ] {
            assert_eq!(items(text), ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
        }
        assert!(items("[] // nothing").is_empty());
    }

    #[test]
    fn numbers_that_begin_with_0_are_read_as_htcondor_reads_them() {
        let text = br#"{"a": -017, "b": 00.5, "c": 08e1, "d": -00}"#;
        assert_eq!(items_in(text, Dialect::Condor), ["[ a = -17; b = 0.5; c = 80.0; d = 0 ]"]);
        for text in [r#"{"a": 017}"#, r#"{"a": -08}"#] {
            assert!(items_in(text.as_bytes(), Dialect::Condor)[0].starts_with('!'), "{text}");
        }
        assert!(items_in(text, Dialect::Classad)[0].starts_with('!'));
    }

    #[test]
    fn what_htcondor_takes_for_a_number_is_read() {
        assert_eq!(items(r#"{"a": 0x1.8, "b": -0X10.0}"#), ["[ a = 1.5; b = -16.0 ]"]);
        assert_eq!(
            items(r#"{"a": -0x1f, "b": 2}"#),
            ["[ a = error; b = 2 ]", "!1:7: HTCondor reads `-0x1f` as 0: the value is error"]
        );
        assert_eq!(
            items(r#"{"a": ..5e1, "b": 2}"#),
            ["[ a = error; b = 2 ]", "!1:7: HTCondor reads `..5e1` as 0: the value is error"]
        );
        for text in ["-..5", "...5", ".."] {
            assert_eq!(items(&format!("{{\"a\": {text}}}"))[0], format!("!1:7: `{text}` is not a valid value in JSON"));
        }
        for text in ["0x1f", "0x1.", "0x.5", "-0x", "0x1.0e", "-0x1.x"] {
            let item = format!("!1:7: `{text}` is not a valid number in JSON");
            assert_eq!(items(&format!("{{\"a\": {text}}}"))[0], item);
        }
        assert_eq!(items_in(br#"{"a": 0x1.8}"#, Dialect::Classad), ["!1:7: `0x1.8` is not a valid number in JSON"]);
    }

    #[test]
    fn text_behind_a_conditional_costs_its_value_only() {
        let text = r#"{"a": "\/Expr(b ? 1 : 12abc)\/", "z": 1}"#;
        assert_eq!(items(text), ["[ a = error; z = 1 ]", "!1:23: `12abc` is not a number: the value is error"]);
        for text in [r#"{"a": "\/Expr((b ? 1 : 2) x)\/", "z": 1}"#, r#"{"a": "\/Expr(b ? 1 : )\/", "z": 1}"#] {
            assert!(items(text)[0].starts_with('!'), "{text}");
        }
        assert!(items_in(text.as_bytes(), Dialect::Classad)[0].starts_with('!'));
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, problem) in [
            ("{\"a\": 1\n{\"b\": 2}", "!1:8: expected `,` or `}`, found the end"),
            ("{\"a\": \"x}\n{\"b\": 2}", "!1:7: this string has no closing quote"),
            ("{\"a\": \"x\\\n{\"b\": 2}", "!1:7: this string has no closing quote"),
            (r#"[{"a": [1, 2}, {"b": 2}]"#, "!1:13: expected `,` or `]`, found `}`"),
            (r#"[{"a": [1, 2, ]}, {"b": 2}]"#, "!1:15: expected a value, found `]`"),
            (r#"[{"a": 1], {"b": 2}"#, "!1:9: expected `,` or `}`, found `]`"),
            (r#"{a: 1} {"b": 2}"#, "!1:2: expected a name in double quotes or `}`, found `a`"),
            (r#"{"a" 1} {"b": 2}"#, "!1:6: expected `:`, found `1`"),
            (r#"{"a": "x" "y"} {"b": 2}"#, "!1:11: expected `,` or `}`, found a string"),
            (r#"{"a": undefined} {"b": 2}"#, "!1:7: `undefined` is not a valid value in JSON"),
            (r#"{"a": 01} {"b": 2}"#, "!1:7: `01` is not a valid number in JSON"),
            (r#"{"a": +1} {"b": 2}"#, "!1:7: `+1` is not a valid number in JSON"),
            (r#"{"a": 1.} {"b": 2}"#, "!1:7: `1.` is not a valid number in JSON"),
            (r#"{"a": 1e} {"b": 2}"#, "!1:7: `1e` is not a valid number in JSON"),
            (r#"{"a": "\ud800"} {"b": 2}"#, "!1:8: this escape is only one half of a surrogate pair"),
            (r#"{"": 1} {"b": 2}"#, "!1:2: a name cannot be empty"),
            (r#"{"a": "\/Expr(1 +)\/"} {"b": 2}"#, "!1:18: expected an expression, found the end"),
            (r#"{"a": "\/Expr(\"é\" == 4GB)\/"} {"b": 2}"#, "!1:24: `4GB` is not a number"),
            (r#"{"a": "/Expr(x\ty)/"} {"b": 2}"#, "!1:17: expected the end, found a name `y`"),
            ("{\"a\": 1 /* x }\n{\"b\": 2}", "!1:9: this comment has no closing `*/`"),
            ("1, \"x\"\n{\"b\": 2}", "!1:1: expected an ad, which begins with `{`"),
            ("[[{\"b\": 2}]]", "!1:2: expected an ad, not an array"),
        ] {
            assert_eq!(items(text), [problem, "[ b = 2 ]"], "{text}");
        }
        assert_eq!(items("[{\"a\": {"), ["!1:9: expected a name in double quotes or `}`, found the end"]);
        // One ad can have several bad values, and each of them is reported.
        assert_eq!(
            items(r#"{"a": 01, "b": [x]}"#),
            ["!1:7: `01` is not a valid number in JSON", "!1:17: `x` is not a valid value in JSON"]
        );
    }

    #[test]
    fn the_papers_reserve_names() {
        assert_eq!(items(r#"{"parent": 1}"#), ["[ parent = 1 ]"]);
        let problems = items_in(br#"{"a": {"Self": 1}}"#, Dialect::Classad);
        assert_eq!(problems, ["!1:8: `Self` is a reserved word, not an attribute name"]);
    }

    #[test]
    fn no_depth_harms() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let text = format!(r#"{{"a":{}1{}}}"#, open.repeat(100_000), close.repeat(100_000));
            assert_eq!(read(text.as_bytes(), FileFormat::Json, Dialect::Condor).flatten().count(), 1);
        }
    }

    #[test]
    fn no_number_of_faults_harms() {
        // A reader that searches the rest of the text for each error would take quadratic time on these texts.
        for text in ["{\"a\n", "{\"a\" 1}", "{\"a\":", "{/*", "{\"a\":\"/Expr(\"", "[", "{\"a\"[\n", "\"", " x"] {
            let text = text.repeat(200_000);
            assert_eq!(read(text.as_bytes(), FileFormat::Json, Dialect::Condor).flatten().count(), 0);
        }
    }
}
