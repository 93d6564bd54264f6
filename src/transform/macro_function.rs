//! Macro functions: `$INT()`, `$REAL()`, `$STRING()`, `$EVAL()` and others.

use crate::ad::{Ad, Attribute, ByteString, Expression, ExpressionKind, Value};
use crate::eval::{Environment, Evaluator};
use crate::syntax::{ConversionKind, ParseOptions, PrintfConversion, Style, parse_expression, print, print_value};
use crate::text::counted;

use super::expander::MacroExpander;
use super::macros::{StatementFailure, evaluate};
use super::path_function::{is_path_function, needs_folder, path_part, split_suffix};

/// Function that expands a call. Its second argument is the text in the parentheses of the call.
type MacroBody = fn(&mut MacroExpander<'_, '_>, &[u8]) -> Result<Vec<u8>, StatementFailure>;

/// Macro functions. A call must write the name in upper case.
const FUNCTIONS: [(&str, MacroBody); 8] = [
    ("INT", integer),
    ("REAL", real),
    ("STRING", string),
    ("EVAL", eval),
    ("CHOICE", choice),
    ("SUBSTR", substring),
    ("RANDOM_CHOICE", random_choice),
    ("RANDOM_INTEGER", random_integer),
];

/// Whether this is the name of a macro function. `$ENV()` does not count: its argument has the syntax of a name, so
/// `find_macro` handles it.
pub(super) fn is_function(name: &[u8]) -> bool {
    FUNCTIONS.iter().any(|(known, _)| known.as_bytes() == name) || is_path_function(name)
}

/// Returns the function whose name differs from `name` in case only: `INT` for `int`. `None` if there is no such
/// function.
pub(super) fn intended_function(name: &str) -> Option<&'static str> {
    let mut known = FUNCTIONS.iter().map(|(name, _)| *name).chain(["ENV", "BASENAME", "DIRNAME"]);
    known.find(|known| known.eq_ignore_ascii_case(name) && *known != name)
}

/// Returns the text that a call expands to; empty if there is no such function.
pub(super) fn call(
    expander: &mut MacroExpander<'_, '_>,
    name: &[u8],
    body: &[u8],
) -> Result<Vec<u8>, StatementFailure> {
    if is_path_function(name) {
        let (path, suffix) = split_suffix(name, body);
        let path = expander.expand_argument(path)?;
        let folder = if needs_folder(name) { expander.folder() } else { None };
        return Ok(path_part(name, &path, suffix, folder.as_deref()));
    }
    let Some((name, expand)) = FUNCTIONS.iter().find(|(known, _)| known.as_bytes() == name) else {
        return Ok(Vec::new());
    };
    expand(expander, body).map_err(|failure| match failure.halt {
        None => format!("${name}(): {}", failure.message).into(),
        Some(_) => failure,
    })
}

/// Splits the argument of a function at its first comma into a value and a format. The format is `None` if there is no
/// comma.
fn split_format(body: &[u8]) -> (&[u8], Option<String>) {
    match memchr::memchr(b',', body) {
        Some(comma) => (&body[..comma], Some(String::from_utf8_lossy(&body[comma + 1..]).into_owned())),
        None => (body, None),
    }
}

/// Returns a text in backquotes for a message, shortened to 60 characters.
fn quoted_excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("`{short}...`") } else { format!("`{short}`") }
}

/// Evaluates an argument as an expression outside any ad; `None` if it is not an expression.
fn evaluate_without_ad(expander: &MacroExpander<'_, '_>, text: &[u8]) -> Result<Option<Value>, StatementFailure> {
    let Ok(expression) = parse_expression(text, ParseOptions::long(expander.context.dialect)) else { return Ok(None) };
    let (environment, frame) = Environment::empty();
    Ok(Some(Evaluator::new(&environment, expander.context).evaluate(&expression, &frame)?))
}

fn not_a_number_failure(text: &[u8]) -> StatementFailure {
    if text.trim_ascii().is_empty() {
        return "a number is missing".to_owned().into();
    }
    format!("{} is not a number; in rules, EVALMACRO evaluates an expression in the ad", quoted_excerpt(text)).into()
}

/// Expands the argument of a function up to the first comma. Returns the expanded text, and the format after the comma.
fn with_format(
    expander: &mut MacroExpander<'_, '_>,
    body: &[u8],
) -> Result<(Vec<u8>, Option<String>), StatementFailure> {
    let (argument, format) = split_format(body);
    Ok((expander.expand_argument(argument)?, format))
}

/// Formats a value as C's `printf` does, with one conversion and text around it. `None` if the format is invalid or
/// not for this type of value.
fn printf(format: &str, value: &Value) -> Option<String> {
    let (before, rest) = format.split_once('%')?;
    let (conversion, length) = PrintfConversion::read(rest).ok()??;
    let behind = Some(&rest[length..]).filter(|behind| !behind.contains('%'))?;
    let field = match (value, conversion.kind()) {
        (Value::Integer(integer), ConversionKind::Integer) => conversion.format_integer(*integer),
        (Value::Real(real), ConversionKind::Real) => conversion.format_real(*real),
        (Value::String(text), ConversionKind::String) => conversion.format_text(&text.to_str()),
        _ => return None,
    };
    Some(format!("{before}{field}{behind}"))
}

/// Prints a value with a format that the user gave. Fails if the format does not fit the value.
fn print_with(format: &str, value: &Value) -> Result<Vec<u8>, StatementFailure> {
    let printed = printf(format, value).map(String::into_bytes);
    printed.ok_or_else(|| {
        let (what, usual) = match value {
            Value::Integer(_) => ("an integer", "%d"),
            Value::Real(_) => ("a real", "%f"),
            _ => ("a string", "%s"),
        };
        let format = quoted_excerpt(format.as_bytes());
        format!("{format} does not format {what}; write a format such as `{usual}`").into()
    })
}

fn integer(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let (text, format) = with_format(expander, body)?;
    let value = integer_value(expander, &text)?;
    print_with(format.as_deref().unwrap_or("%d"), &Value::Integer(value))
}

/// Returns the integer that a text evaluates to. The fraction of a real is dropped. Fails if the text is not a number.
fn integer_value(expander: &MacroExpander<'_, '_>, text: &[u8]) -> Result<i64, StatementFailure> {
    match evaluate_without_ad(expander, text)? {
        Some(Value::Integer(integer)) => Ok(integer),
        Some(Value::Boolean(is)) => Ok(i64::from(is)),
        #[allow(clippy::cast_possible_truncation)] // the fraction is dropped
        Some(Value::Real(real)) if real.is_finite() => Ok(real as i64),
        _ => Err(not_a_number_failure(text)),
    }
}

/// Returns the integers that arguments evaluate to.
fn integer_arguments(expander: &mut MacroExpander<'_, '_>, arguments: &[&[u8]]) -> Result<Vec<i64>, StatementFailure> {
    let value = |argument: &&[u8]| {
        let text = expander.expand_argument(argument)?;
        integer_value(expander, &text)
    };
    arguments.iter().map(value).collect()
}

#[allow(clippy::cast_precision_loss)] // as in C
fn real(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let (text, format) = with_format(expander, body)?;
    let value = match evaluate_without_ad(expander, &text)? {
        Some(Value::Integer(integer)) => integer as f64,
        Some(Value::Boolean(is)) => f64::from(u8::from(is)),
        Some(Value::Real(real)) => real,
        _ => return Err(not_a_number_failure(&text)),
    };
    let mut text = print_with(format.as_deref().unwrap_or("%.16G"), &Value::Real(value))?;
    // Append `.0` to a number that the format prints without a point, so that it is read as a real.
    if format.is_some() && !text.contains(&b'.') {
        text.extend_from_slice(b".0");
    }
    Ok(text)
}

fn string(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let (text, format) = with_format(expander, body)?;
    let text = match evaluate_without_ad(expander, &text)? {
        Some(Value::String(string)) => string,
        _ => ByteString::from(text),
    };
    match format {
        Some(format) => print_with(&format, &Value::String(text)),
        None => Ok(text.as_bytes().to_vec()),
    }
}

fn eval(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let text = expander.expand_argument(body)?;
    expander.set_reads_ad();
    let expression = parse_expression(&text, ParseOptions::long(expander.context.dialect)).map_err(|error| {
        let is_cut = body.contains(&b'(');
        let hint = if is_cut { "; $EVAL() ends at the first `)`, so use EVALMACRO here" } else { "" };
        format!("{}: {error}{hint}", quoted_excerpt(&text))
    })?;
    Ok(text_of(evaluate(&expression, expander.ad, expander.context)?, Style::New))
}

/// Returns the text of a string without quotes, or any other value as printed in `style`.
pub(super) fn text_of(value: Value, style: Style) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        value => print_value(&value, style),
    }
}

/// Returns the text of a value that becomes that of a variable: as [`text_of`], but an ad becomes a line for each attribute,
/// as in HTCondor, also in a list. Such a text is no expression.
pub(super) fn variable_text(value: Value) -> Vec<u8> {
    match value {
        Value::Ad(nested) => lines_of(nested.ad()),
        Value::List(list) if list.elements.iter().any(holds_ad) => list_text(&list.elements),
        value => text_of(value, Style::Long),
    }
}

fn lines_of(ad: &Ad) -> Vec<u8> {
    let line = |attribute: Attribute<'_>| {
        let value = print(attribute.expression, Style::Long);
        [attribute.name.as_str().as_bytes(), b" = ", &value, b"\n"].concat()
    };
    ad.iter().flat_map(line).collect()
}

/// Whether an element of a list is an ad, or a list with one.
fn holds_ad(element: &Expression) -> bool {
    match element.kind() {
        ExpressionKind::Ad(_) | ExpressionKind::Literal(Value::Ad(_)) => true,
        ExpressionKind::List(elements) => elements.iter().any(holds_ad),
        _ => false,
    }
}

fn list_text(elements: &[Expression]) -> Vec<u8> {
    let text = |element: &Expression| match element.kind() {
        ExpressionKind::Ad(ad) => lines_of(ad),
        ExpressionKind::Literal(Value::Ad(nested)) => lines_of(nested.ad()),
        ExpressionKind::List(elements) if holds_ad(element) => list_text(elements),
        _ => print(element, Style::Long),
    };
    let elements: Vec<Vec<u8>> = elements.iter().map(text).collect();
    [&b"{ "[..], &elements.join(&b", "[..]), b" }"].concat()
}

/// Splits a list at its commas and trims the items.
fn items(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect()
}

fn choice(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let (index, list) = split_format(body);
    let list = list.ok_or_else(|| "there is no list".to_owned())?;
    let text = expander.expand_argument(index)?;
    let index = usize::try_from(integer_value(expander, &text)?)
        .map_err(|_| format!("{} is not an index", quoted_excerpt(&text)))?;
    let list = named_list(expander, list.as_bytes())?;
    let items = items(&list);
    let item = items.get(index).ok_or_else(|| {
        format!("there is no item {index}: the list has {}, and the first is item 0", counted(items.len(), "item"))
    })?;
    Ok(item.to_vec())
}

/// Returns the text of a list. A text with commas is the list itself; any other text names the variable that holds the
/// list.
fn named_list(expander: &mut MacroExpander<'_, '_>, text: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    if text.contains(&b',') { Ok(text.to_vec()) } else { expander.expand_argument(text) }
}

fn substring(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let arguments = items(body);
    let [name, numbers @ ..] = arguments.as_slice() else { return Ok(Vec::new()) };
    let (start, length) = match integer_arguments(expander, numbers)?.as_slice() {
        [start] => (*start, i64::MAX),
        [start, length] => (*start, *length),
        _ => return Err("it needs a name, a start and, optionally, a length".to_owned().into()),
    };
    let text = expander.lookup(name).unwrap_or_default();
    let text = expander.expand_found(text)?;
    let from_end = |place: i64, end: usize| {
        let end = i64::try_from(end).unwrap_or(i64::MAX);
        let place = if place < 0 { end.saturating_add(place).max(0) } else { place.min(end) };
        usize::try_from(place).unwrap_or(0)
    };
    let text = &text[from_end(start, text.len())..];
    Ok(text[..from_end(length, text.len())].to_vec())
}

/// Returns the random number generator for one draw. Fails if the context has no source of random numbers.
fn random(expander: &MacroExpander<'_, '_>) -> Result<fastrand::Rng, StatementFailure> {
    let chance = expander.context.random.as_ref();
    chance.map(crate::eval::RandomStream::next).ok_or_else(|| "random numbers are not supported here".to_owned().into())
}

fn random_choice(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let list = named_list(expander, body)?;
    let items = items(&list);
    let chosen = random(expander)?.usize(..items.len().max(1));
    Ok(items.get(chosen).map(|item| item.to_vec()).unwrap_or_default())
}

fn random_integer(expander: &mut MacroExpander<'_, '_>, body: &[u8]) -> Result<Vec<u8>, StatementFailure> {
    let (least, most, step) = match integer_arguments(expander, &items(body))?.as_slice() {
        [least, most] => (*least, *most, 1),
        [least, most, step] => (*least, *most, *step),
        _ => return Err("it needs a minimum, a maximum and, optionally, a step".to_owned().into()),
    };
    if least > most || step < 1 {
        return Err("the minimum must be at most the maximum, and the step at least 1".to_owned().into());
    }
    let steps = most.abs_diff(least) / step.unsigned_abs();
    let chosen = random(expander)?.u64(..=steps);
    // The result is at most `most`, and so fits into 64 bits.
    Ok((i128::from(least) + i128::from(chosen) * i128::from(step)).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::printf;
    use crate::ad::Value;

    #[test]
    fn as_c_prints() {
        use Value::{Integer, Real};
        for (format, value, expected) in [
            ("%d", Integer(2), "2"),
            ("%5d|", Integer(-7), "   -7|"),
            ("%-5d|", Integer(7), "7    |"),
            ("%05d", Integer(-7), "-0007"),
            ("%+i", Integer(7), "+7"),
            ("%.3d", Integer(7), "007"),
            ("%lld", Integer(i64::MIN), "-9223372036854775808"),
            ("0x%x", Integer(255), "0xff"),
            ("%.2f", Real(2.5), "2.50"),
            ("%e", Real(2.5), "2.500000e+00"),
            ("%.3E", Real(-1e-10), "-1.000E-10"),
            ("%g", Real(3.0), "3"),
            ("%g", Real(1e10), "1e+10"),
            ("%#g", Real(1.0), "1.00000"),
            ("%g", Real(0.0001), "0.0001"),
            ("%08.3f", Real(-1.5), "-001.500"),
            ("%5s|", Value::string("ab"), "   ab|"),
            ("%-5.1s|", Value::string("ab"), "a    |"),
        ] {
            assert_eq!(printf(format, &value).as_deref(), Some(expected), "{format}");
        }
        for (format, value) in [
            ("%s", Integer(1)),
            ("%d", Real(1.0)),
            ("%d", Value::string("1")),
            ("5", Integer(1)),
            ("%d%d", Integer(1)),
            ("%", Integer(1)),
            ("%999999999999d", Integer(1)),
            ("%.", Real(1.0)),
        ] {
            assert_eq!(printf(format, &value), None, "{format}");
        }
        for (real, expected) in [
            (6.0, "6"),
            (1.0 / 3.0, "0.3333333333333333"),
            (0.1 + 0.2, "0.3"),
            (1e300, "1E+300"),
            (-0.0, "-0"),
            (12_345_678.9, "12345678.9"),
        ] {
            assert_eq!(printf("%.16G", &Real(real)).unwrap(), expected);
        }
    }
}
