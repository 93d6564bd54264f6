//! Macro functions: `$INT()`, `$REAL()`, `$STRING()`, `$EVAL()` and others.

use crate::ad::Value;
use crate::eval::{Environment, Evaluator};
use crate::syntax::{Rules, Style, parse_expression, print_value};

use super::c_numbers;
use super::c_numbers::Printed;
use super::macros::{Expander, Failure};

/// Macro function. Its name must be written in upper case.
struct Function {
    name: &'static str,
    body: fn(&mut Expander<'_>, &[u8]) -> Result<Vec<u8>, Failure>,
}

const FUNCTIONS: &[Function] = &[
    Function { name: "INT", body: integer },
    Function { name: "REAL", body: real },
    Function { name: "STRING", body: string },
    Function { name: "EVAL", body: eval },
    Function { name: "CHOICE", body: choice },
    Function { name: "SUBSTR", body: substring },
    Function { name: "RANDOM_CHOICE", body: random_choice },
    Function { name: "RANDOM_INTEGER", body: random_integer },
];

/// Whether this is the name of a function. `$ENV()` is not in the table: its argument has the syntax of a name.
pub(super) fn is_known(name: &[u8]) -> bool {
    FUNCTIONS.iter().any(|function| function.name.as_bytes() == name)
}

/// Probable mistake in `$name(`.
pub(super) enum Suspicion {
    /// HTCondor has this function, but it is not supported here.
    Unsupported,
    /// The name must be written in upper case, like this one.
    Spelling(&'static str),
}

/// Returns the probable mistake in `$name(`; `None` if there is none.
pub(super) fn suspicion(name: &str) -> Option<Suspicion> {
    let known = FUNCTIONS.iter().map(|function| function.name).chain(["ENV"]);
    if let Some(meant) = known.into_iter().find(|known| known.eq_ignore_ascii_case(name) && *known != name) {
        return Some(Suspicion::Spelling(meant));
    }
    // `$F` followed by letters that select parts of a path.
    let parts = |parts: &str| parts.bytes().all(|b| b"pnxdqabfwu".contains(&b.to_ascii_lowercase()));
    let path = name.strip_prefix('F').is_some_and(parts) || matches!(name, "BASENAME" | "DIRNAME");
    path.then_some(Suspicion::Unsupported)
}

/// Returns the text that a call expands to.
pub(super) fn value(expander: &mut Expander<'_>, name: &[u8], body: &[u8]) -> Result<Vec<u8>, Failure> {
    match FUNCTIONS.iter().find(|function| function.name.as_bytes() == name) {
        Some(function) => (function.body)(expander, body).map_err(|failure| match failure {
            Failure::Reason(reason) => Failure::Reason(format!("${}(): {reason}", function.name)),
            halt @ Failure::Halt(_) => halt,
        }),
        None => Ok(Vec::new()),
    }
}

/// Splits an argument at its first comma: the value, and the format if there is one.
fn with_format(body: &[u8]) -> (&[u8], Option<String>) {
    match memchr::memchr(b',', body) {
        Some(comma) => (&body[..comma], Some(String::from_utf8_lossy(&body[comma + 1..]).into_owned())),
        None => (body, None),
    }
}

/// Returns a text in backquotes for a message, shortened to 60 characters.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("`{short}...`") } else { format!("`{short}`") }
}

/// Evaluates an argument as an expression outside any ad; `None` if it is not an expression.
fn value_alone(expander: &Expander<'_>, text: &[u8]) -> Result<Option<Value>, Failure> {
    let Ok(expression) = parse_expression(text, Rules::long(expander.context.dialect)) else { return Ok(None) };
    let (environment, frame) = Environment::nowhere();
    Ok(Some(Evaluator::new(&environment, expander.context).evaluate(&expression, &frame)?))
}

fn no_number(text: &[u8]) -> Failure {
    let hint = if text.trim_ascii().is_empty() { "" } else { "; $EVAL() and EVALMACRO evaluate in the ad" };
    Failure::Reason(format!("{} is no number{hint}", shown(text)))
}

fn no_format(format: &str) -> Failure {
    Failure::Reason(format!("{} is no format for it", shown(format.as_bytes())))
}

fn integer(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let (name, format) = with_format(body);
    let text = expander.argument(name)?;
    let value = whole(expander, &text)?;
    let printed = c_numbers::print(format.as_deref().unwrap_or("%d"), &Printed::Integer(value));
    printed.map(String::into_bytes).ok_or_else(|| no_format(&format.unwrap_or_default()))
}

/// Returns the integer that a text evaluates to; reals are truncated.
fn whole(expander: &Expander<'_>, text: &[u8]) -> Result<i64, Failure> {
    match value_alone(expander, text)? {
        Some(Value::Integer(integer)) => Ok(integer),
        Some(Value::Boolean(is)) => Ok(i64::from(is)),
        #[allow(clippy::cast_possible_truncation)] // the fraction is dropped
        Some(Value::Real(real)) if real.is_finite() => Ok(real as i64),
        _ => Err(no_number(text)),
    }
}

#[allow(clippy::cast_precision_loss)] // as in C
fn real(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let (name, format) = with_format(body);
    let text = expander.argument(name)?;
    let value = match value_alone(expander, &text)? {
        Some(Value::Integer(integer)) => integer as f64,
        Some(Value::Boolean(is)) => f64::from(u8::from(is)),
        Some(Value::Real(real)) => real,
        _ => return Err(no_number(&text)),
    };
    let Some(format) = format else { return Ok(c_numbers::shortest(value).into_bytes()) };
    let mut text = c_numbers::print(&format, &Printed::Real(value)).ok_or_else(|| no_format(&format))?;
    // The result must read as a real.
    if !text.contains('.') {
        text.push_str(".0");
    }
    Ok(text.into_bytes())
}

fn string(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let (name, format) = with_format(body);
    let text = expander.argument(name)?;
    let text = match value_alone(expander, &text)? {
        Some(Value::String(string)) => string.as_bytes().to_vec(),
        _ => text,
    };
    let Some(format) = format else { return Ok(text) };
    let printed = c_numbers::print(&format, &Printed::Text(&String::from_utf8_lossy(&text)));
    printed.map(String::into_bytes).ok_or_else(|| no_format(&format))
}

fn eval(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let text = expander.argument(body)?;
    let expression = parse_expression(&text, Rules::long(expander.context.dialect)).map_err(|error| {
        let cut = body.contains(&b'(');
        let hint = if cut { "; it ends at the first `)`: EVALMACRO has no such limit" } else { "" };
        Failure::Reason(format!("{}: {error}{hint}", shown(&text)))
    })?;
    Ok(match expander.evaluate(&expression)? {
        Value::String(text) => text.as_bytes().to_vec(),
        value => print_value(&value, Style::New),
    })
}

/// Splits a list at its commas.
fn items(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect()
}

fn choice(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let (index, list) = with_format(body);
    let list = list.ok_or_else(|| "there is no list".to_owned())?;
    let text = expander.argument(index)?;
    let index = usize::try_from(whole(expander, &text)?).map_err(|_| format!("{} is no index", shown(&text)))?;
    let list = named_list(expander, list.as_bytes())?;
    let items = items(&list);
    let item = items.get(index).ok_or_else(|| format!("there is no item {index} of {}", items.len()))?;
    Ok(item.to_vec())
}

/// Returns a list that is written out, or the list that a single word names.
fn named_list(expander: &mut Expander<'_>, text: &[u8]) -> Result<Vec<u8>, Failure> {
    if text.contains(&b',') { Ok(text.to_vec()) } else { expander.argument(text) }
}

fn substring(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let arguments = items(body);
    let [name, numbers @ ..] = arguments.as_slice() else { return Ok(Vec::new()) };
    if !matches!(numbers.len(), 1 | 2) {
        return Err("it wants a name, a start and perhaps a length".to_owned().into());
    }
    let mut places = [0, i64::MAX];
    for (place, number) in places.iter_mut().zip(numbers) {
        let text = expander.argument(number)?;
        *place = whole(expander, &text)?;
    }
    let [start, length] = places;
    let text = expander.lookup(name).unwrap_or_default();
    let text = expander.expand(&text)?;
    let from_end = |place: i64, end: usize| {
        let end = i64::try_from(end).unwrap_or(i64::MAX);
        let place = if place < 0 { end.saturating_add(place).max(0) } else { place.min(end) };
        usize::try_from(place).unwrap_or(0)
    };
    let text = &text[from_end(start, text.len())..];
    Ok(text[..from_end(length, text.len())].to_vec())
}

/// Returns the generator for one draw.
fn random(expander: &Expander<'_>) -> Result<fastrand::Rng, Failure> {
    let chance = expander.context.chance.as_ref();
    chance.map(crate::eval::Chance::next).ok_or_else(|| "chance is not known".to_owned().into())
}

fn random_choice(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let list = named_list(expander, body)?;
    let items = items(&list);
    let chosen = random(expander)?.usize(..items.len().max(1));
    Ok(items.get(chosen).map(|item| item.to_vec()).unwrap_or_default())
}

fn random_integer(expander: &mut Expander<'_>, body: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut numbers = Vec::new();
    for item in items(body) {
        let text = expander.argument(item)?;
        numbers.push(whole(expander, &text)?);
    }
    let (least, most, step) = match numbers.as_slice() {
        [least, most] => (*least, *most, 1),
        [least, most, step] => (*least, *most, *step),
        _ => return Err("it wants the least, the most and perhaps a step".to_owned().into()),
    };
    if least > most || step < 1 {
        return Err("it wants the least before the most, and a step of 1 at least".to_owned().into());
    }
    let steps = most.abs_diff(least) / step.unsigned_abs();
    let chosen = random(expander)?.u64(..=steps);
    // The result is at most `most`, so it fits into 64 bits.
    Ok((i128::from(least) + i128::from(chosen) * i128::from(step)).to_string().into_bytes())
}
