//! Portions of offers: what a match takes of an offer that it divides, such as the part of a partitionable slot that
//! becomes a dynamic slot of HTCondor.
//!
//! A portion is an ad of the attributes that a match changes. A number is gone from the rest of the offer, and so are the
//! elements of a list. Any other value is what the rest has instead.

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::eval::Context;

use super::evaluate_attribute;

/// The attribute of a slot that names its resources.
pub const MACHINE_RESOURCES: &str = "MachineResources";

/// The resources of a slot that does not name them.
const DEFAULT_RESOURCES: &str = "Cpus Memory Disk";

/// The attribute of a slot that lists the properties of its GPUs that no job uses.
pub const AVAILABLE_GPUS: &str = "AvailableGPUs";

/// Returns the names of the resources of a slot.
#[must_use]
pub fn machine_resources(slot: &Ad, context: &Context) -> Vec<Name> {
    match evaluate_attribute(slot, &Name::new(MACHINE_RESOURCES), context) {
        Some(Value::String(text)) => words(&text.to_str()).map(Name::new).collect(),
        _ => words(DEFAULT_RESOURCES).map(Name::new).collect(),
    }
}

/// Splits a list of HTCondor's configuration: words between commas and blanks.
pub fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty())
}

/// Returns what an offer has lost, as a portion. `after` is the rest of the offer `before`; `names` are the attributes
/// that may differ, in any number.
#[must_use]
pub fn taken_portion<'n>(before: &Ad, after: &Ad, names: impl IntoIterator<Item = &'n Name>, context: &Context) -> Ad {
    let mut portion = Ad::default();
    for name in names {
        let lost = if let (Some(before), Some(after)) = (list_elements(before, name), list_elements(after, name)) {
            let lost = without_elements(before, after).0;
            (!lost.is_empty()).then(|| Expression::list(lost))
        } else {
            let [before, after] =
                [before, after].map(|ad| evaluate_attribute(ad, name, context).unwrap_or(Value::Undefined));
            let lost = if is_number(&after) {
                (before != after).then(|| difference(&before, &after))
            } else {
                // The attributes of a rest of a rest are set again.
                (after != Value::Undefined || before != Value::Undefined).then_some(after)
            };
            lost.map(Expression::literal)
        };
        if let Some(lost) = lost {
            portion = portion.with(name.clone(), lost);
        }
    }
    portion
}

/// Returns what is left of an offer without a portion.
///
/// # Errors
///
/// The attribute of which the offer has less than the portion.
pub fn without_portion(offer: &Ad, portion: &Ad, context: &Context) -> Result<Ad, Name> {
    let mut rest = offer.clone();
    for attribute in portion.iter() {
        let (name, taken) = (attribute.name, attribute.expression);
        let left = match (taken.kind(), taken.as_literal()) {
            (ExpressionKind::List(taken), _) => {
                let (left, missing) = without_elements(list_elements(offer, name).unwrap_or_default(), taken);
                if missing > 0 {
                    return Err(name.clone());
                }
                Expression::list(left)
            }
            (_, Some(taken)) if is_number(taken) => {
                let before = evaluate_attribute(offer, name, context).unwrap_or(Value::Undefined);
                let left = difference(&before, taken);
                if is_negative(&left) && !is_negative(&before) {
                    return Err(name.clone());
                }
                Expression::literal(left)
            }
            _ => taken.clone(),
        };
        rest = rest.with(name.clone(), left);
    }
    Ok(rest)
}

/// Returns an offer to which a portion is given back. Of what the portion only replaced, the offer keeps what it has.
#[must_use]
pub fn with_portion(offer: &Ad, portion: &Ad, context: &Context) -> Ad {
    let mut whole = offer.clone();
    for attribute in portion.iter() {
        let (name, given) = (attribute.name, attribute.expression);
        let sum = match (given.kind(), given.as_literal()) {
            (ExpressionKind::List(given), _) => {
                let held = list_elements(offer, name).unwrap_or_default();
                Expression::list(held.iter().chain(given.iter()).cloned())
            }
            (_, Some(given)) if is_number(given) => {
                let held = evaluate_attribute(offer, name, context).unwrap_or(Value::Undefined);
                Expression::literal(difference(&held, &difference(&Value::Integer(0), given)))
            }
            _ => continue,
        };
        whole = whole.with(name.clone(), sum);
    }
    whole
}

/// Returns the elements of a list without those of another one, each as often as it stands there, and the number of
/// elements of the other list that are missing in the first.
fn without_elements(list: &[Expression], less: &[Expression]) -> (Vec<Expression>, usize) {
    let mut left = list.to_vec();
    let mut missing = 0;
    for element in less {
        match left.iter().position(|known| known == element) {
            Some(place) => drop(left.remove(place)),
            None => missing += 1,
        }
    }
    (left, missing)
}

/// Returns the elements of an attribute that is a list.
pub(super) fn list_elements<'a>(ad: &'a Ad, name: &Name) -> Option<&'a [Expression]> {
    match ad.get(name)?.without_parentheses().kind() {
        ExpressionKind::List(elements) => Some(elements),
        _ => None,
    }
}

/// Returns a number less another one: an integer if both are and the difference is, else a real. What is no number counts
/// as 0.
#[allow(clippy::cast_precision_loss)] // a number beyond 2^53 is the nearest real
fn difference(from: &Value, less: &Value) -> Value {
    let integer = |value: &Value| match value {
        Value::Integer(number) => Some(*number),
        Value::Real(_) => None,
        _ => Some(0),
    };
    let real = |value: &Value| match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        _ => 0.0,
    };
    let exact = integer(from).zip(integer(less)).and_then(|(from, less)| from.checked_sub(less));
    exact.map_or_else(|| Value::Real(real(from) - real(less)), Value::Integer)
}

pub(super) fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Real(_))
}

fn is_negative(value: &Value) -> bool {
    matches!(value, Value::Integer(..0)) || matches!(value, Value::Real(number) if *number < 0.0)
}

#[cfg(test)]
mod tests {
    use super::{taken_portion, with_portion, without_portion};
    use crate::ad::{Ad, Dialect, Name};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    #[test]
    fn what_is_taken_can_be_given_back() {
        let context = Context::new(Dialect::Classad);
        let before = ad("[ Cpus = 4 + 4; Disk = 9.5; GPUs = { a, b, b }; Seats = 1; Holder = \"x\" ]");
        let after = ad("[ Cpus = 5; Disk = 9.0; GPUs = { b }; Seats = 1; Holder = \"y\"; Guests = 2 ]");
        let names = ["Cpus", "Disk", "GPUs", "Seats", "Holder", "Guests", "None"].map(Name::new);
        let portion = taken_portion(&before, &after, &names, &context);
        assert_eq!(portion, ad("[ Cpus = 3; Disk = 0.5; GPUs = { a, b }; Holder = \"y\"; Guests = -2 ]"));
        assert_eq!(without_portion(&before, &portion, &context), Ok(after.clone()));
        let again = ad("[ Cpus = 8; Disk = 9.5; GPUs = { b, a, b }; Seats = 1; Holder = \"y\"; Guests = 0 ]");
        assert_eq!(with_portion(&after, &portion, &context), again);
    }

    #[test]
    fn no_more_is_taken_than_there_is() {
        let context = Context::new(Dialect::Classad);
        for (offer, portion, lacking) in [
            ("[ Cpus = 2 ]", "[ Cpus = 3 ]", "Cpus"),
            ("[ Cpus = 2 ]", "[ Cpus = 2; Memory = 1 ]", "Memory"),
            ("[ GPUs = { a } ]", "[ GPUs = { b } ]", "GPUs"),
        ] {
            assert_eq!(without_portion(&ad(offer), &ad(portion), &context), Err(Name::new(lacking)), "{offer}");
        }
    }
}
