//! Functions that look at the value alone.

use std::collections::BTreeSet;

use classad::ad::Value;
use classad::syntax::{Style, print_value};

use super::PrintCall;
use crate::cli::commands::query::units;
use classad::query::to_text;

pub fn date(call: &mut PrintCall) -> Option<Value> {
    call.integer().map(|seconds| Value::string(units::month_and_day(seconds)))
}

pub fn time(call: &mut PrintCall) -> Option<Value> {
    call.integer().map(|seconds| Value::string(units::duration(seconds)))
}

pub fn load_average(call: &mut PrintCall) -> Option<Value> {
    call.real().map(|load| Value::string(format!("{load:.3}")))
}

#[allow(clippy::unnecessary_wraps)] // as the other functions
/// Prints a size that is counted in units of 1024 to the power `POWER` of bytes.
pub fn readable<const POWER: i32>(call: &mut PrintCall) -> Option<Value> {
    let is_number = matches!(call.value, Value::Integer(_) | Value::Real(_));
    let size = call.real().filter(|_| is_number).map(|size| units::bytes(size * 1024_f64.powi(POWER)));
    Some(Value::string(size.unwrap_or_else(|| " ".repeat(8))))
}

/// Counts the elements of a list, or of a string that is a list.
pub fn member_count(call: &mut PrintCall) -> Option<Value> {
    let count = match &call.value {
        Value::String(text) => list_words(&text.to_str()).len(),
        Value::List(list) => list.elements.len(),
        _ => return None,
    };
    i64::try_from(count).ok().map(Value::Integer)
}

pub fn strings_of_list(call: &mut PrintCall) -> Option<Value> {
    let Value::List(list) = &call.value else { return None };
    let strings = list.elements.iter().filter_map(|element| element.as_literal().and_then(to_text));
    Some(Value::string(strings.collect::<Vec<_>>().join(", ")))
}

/// The distinct elements of a list, sorted.
pub fn unique(call: &mut PrintCall) -> Option<Value> {
    matches!(call.value, Value::List(_)).then(|| unique_or_all(call))?
}

/// The distinct elements of a list or of a string that is a list, sorted; any other value as it is.
pub fn unique_or_all(call: &mut PrintCall) -> Option<Value> {
    let value = call.value.clone();
    let elements: BTreeSet<String> = match &value {
        Value::List(_) => call.lookup.elements(&value)?.iter().map(printed).collect(),
        Value::String(text) => list_words(&text.to_str()).into_iter().collect(),
        _ => return Some(Value::string(call.printed())),
    };
    Some(Value::string(elements.into_iter().collect::<Vec<_>>().join(", ")))
}

fn printed(value: &Value) -> String {
    to_text(value).unwrap_or_else(|| String::from_utf8_lossy(&print_value(value, Style::Long)).into_owned())
}

/// Splits a string that is a list, at blanks and commas.
pub fn list_words(text: &str) -> Vec<String> {
    text.split([' ', ',', '\t', '\r', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
