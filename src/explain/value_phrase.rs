//! Says which values offers have where a clause asks for others, and what a clause asks for.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Type, Value};
use crate::constraint::{ClauseComparison, ClauseOperand};
use crate::lint::SizeUnit;
use crate::text::{join_and, shorten, with_commas};

use super::distance::{as_number, similar_string};
use super::offered_values::{LIST_FUNCTIONS, OfferedValue, OfferedValues, split_list};

/// Maximum length of a string that a sentence tells, in characters.
const MAX_VALUE_CHARS: usize = 40;

/// The same for a pair of values.
const MAX_PAIR_CHARS: usize = 80;

/// Says which strings the offers have, at most `most` of them: `the values are "X86_64" (54) and "aarch64" (2)`.
pub(super) fn offered_phrase(offered: &OfferedValues, most: usize) -> String {
    // Where a value goes on as the wanted one does, the others are of no interest.
    let most = if offered.likely > 0 { offered.likely.min(most) } else { most };
    let value = |value: &OfferedValue| {
        let free = match (value.free, value.offers) {
            (None | Some(0), _) => String::new(),
            (Some(1), 1) => ", free".to_owned(),
            (Some(2), 2) => ", both free".to_owned(),
            (Some(free), all) if free == all => ", all free".to_owned(),
            (Some(free), _) => format!(", {} free", with_commas(free)),
        };
        let most = if offered.are_strings { MAX_VALUE_CHARS } else { MAX_PAIR_CHARS };
        let shown = offered.shown(&shorten(&value.value, most));
        format!("{shown} ({}{free})", with_commas(value.offers))
    };
    let values: Vec<String> = offered.values.iter().take(most).map(value).collect();
    let (count, values) = (values.len(), join_and(&values));
    match (offered.value_count, count) {
        (1, _) => format!("the only value is {values}"),
        (all, shown) if all == shown => format!("the values are {values}"),
        // Of as many values, the most frequent is one like others.
        (all, _)
            if !offered.is_similar
                && offered.values.first().is_some_and(|first| first.offers == 1 || first.offers * 10 <= all) =>
        {
            format!("there are {} values, such as {values}", with_commas(all))
        }
        (all, shown) => {
            let most = if offered.is_similar { "similar" } else { "frequent" };
            format!("the most {most} of {} values {} {values}", with_commas(all), if shown == 1 { "is" } else { "are" })
        }
    }
}

/// The beginnings of macros of submit files, which nothing expands in an ad.
const MACROS: [&str; 4] = ["$(", "$$(", "$ENV(", "$RANDOM"];

/// Whether a value has a macro of a submit file.
pub(super) fn is_macro(value: &Value) -> bool {
    matches!(value, Value::String(text) if MACROS.iter().any(|start| text.to_str().contains(start)))
}

/// Says what is odd about a value that is asked for; empty if nothing is.
pub(super) fn oddity(value: &Value) -> &'static str {
    let Value::String(text) = value else { return "" };
    let text = text.to_str();
    if text.is_empty() {
        ", an empty string"
    } else if is_macro(value) {
        ", a macro that nothing expands here"
    } else if text.ends_with(' ') {
        ", with a blank at its end"
    } else if text.starts_with(' ') {
        ", with a blank at its beginning"
    } else {
        ""
    }
}

/// Returns the string that a clause seeks in a list of the offers; `None` for a clause of another kind.
pub(super) fn wanted_item(clause: &Expression) -> Option<String> {
    let ExpressionKind::Call(function, arguments) = clause.without_parentheses().kind() else { return None };
    let is_list =
        |list: &Expression| !matches!(ClauseOperand::of(split_list(list)), None | Some(ClauseOperand::Literal(_)));
    let is_member = LIST_FUNCTIONS.iter().any(|known| function.is(known));
    match (&**arguments, is_member) {
        ([item, list], true) if is_list(list) => match item.without_parentheses().as_literal() {
            Some(Value::String(text)) => Some(text.to_str().into_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the strings among which a clause seeks an attribute of the offers; `None` for a clause of another kind.
pub(super) fn wanted_items(clause: &Expression) -> Option<Vec<String>> {
    let ExpressionKind::Call(function, arguments) = clause.without_parentheses().kind() else { return None };
    let [item, list] = &**arguments else { return None };
    let is_name = !matches!(ClauseOperand::of(item), None | Some(ClauseOperand::Literal(_)));
    let is_member = LIST_FUNCTIONS.iter().any(|known| function.is(known)) && is_name;
    let items = match list.without_parentheses().as_literal().filter(|_| is_member)? {
        Value::String(text) => text.to_str().split([',', ' ']).map(str::to_owned).collect::<Vec<_>>(),
        _ => return None,
    };
    let items: Vec<String> = items.into_iter().filter(|item| !item.is_empty()).collect();
    (!items.is_empty()).then_some(items)
}

/// Whether a comparison is met by dynamic slots only.
pub(super) fn asks_for_dynamic_slots(comparison: &ClauseComparison) -> bool {
    let is = |known: &str| comparison.attribute().is_some_and(|name| name.is(known));
    match &comparison.bound {
        Value::String(text) if is("Name") => names_dynamic_slot(&text.to_str()),
        Value::String(text) => is("SlotType") && text.to_str().eq_ignore_ascii_case("Dynamic"),
        Value::Boolean(truth) => is("DynamicSlot") && *truth,
        _ => false,
    }
}

/// Whether a name is the one of a dynamic slot: `slot1_3@host`.
fn names_dynamic_slot(name: &str) -> bool {
    let numbers = name.split_once('@').and_then(|(slot, _)| slot.strip_prefix("slot")?.split_once('_'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(of, part)| is_number(of) && is_number(part))
}

/// Says which value comes closest to meeting a comparison, such as `the largest is 4096` for `>`.
pub(super) fn closest_value_phrase(operator: BinaryOperator, best: &Value, bound: &Value) -> String {
    let text = best.to_string();
    match operator {
        BinaryOperator::Greater | BinaryOperator::GreaterEqual => format!("the largest is {text}"),
        BinaryOperator::Less | BinaryOperator::LessEqual => format!("the smallest is {text}"),
        _ if as_number(best).is_some() => format!("the nearest is {text}"),
        _ if similar_string(&[(best, 1)], bound).is_some() => format!("the most similar is {text}"),
        _ => format!("the most frequent is {text}"),
    }
}

/// Returns what the text of a comparison leaves out about its bound: the value of an attribute such as `RequestDisk`, and
/// a size in readable units. `None` if there is nothing to add.
pub(super) fn bound_phrase(comparison: &ClauseComparison) -> Option<String> {
    let attribute = comparison.attribute().filter(|_| comparison.bound_is_amount());
    let size = attribute.and_then(SizeUnit::of).zip(as_number(&comparison.bound));
    let size = size.map(|(unit, amount)| unit.readable(amount));
    match (&comparison.bound_holder, size) {
        (Some((name, _)), Some(size)) => Some(format!("{name} is {}, {size}", comparison.bound)),
        (Some((name, _)), None) => Some(format!("{name} is {}", comparison.bound)),
        (None, size) => size,
    }
}

/// The phrase for a type, with integers and reals both called a number.
pub(super) fn type_phrase(kind: Type) -> &'static str {
    match kind {
        Type::Integer | Type::Real => "a number",
        other => other.phrase(),
    }
}

#[cfg(test)]
mod tests {
    use super::{closest_value_phrase, names_dynamic_slot, oddity, offered_phrase, wanted_item, wanted_items};
    use crate::ad::{BinaryOperator, Dialect, Expression, Name, Value};
    use crate::explain::offered_values::{OfferedValue, OfferedValues};
    use crate::syntax::{ParseOptions, parse_expression};

    fn expression(text: &str) -> Expression {
        parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    /// Values `a`, `b` and so on, each with the number of offers that have it, and that of free ones.
    fn offered(counts: &[(usize, Option<usize>)], value_count: usize) -> OfferedValues {
        let value = |(letter, (offers, free)): (char, &(usize, Option<usize>))| OfferedValue {
            value: letter.to_string(),
            offers: *offers,
            free: *free,
            example: 0,
            refusals: Vec::new(),
        };
        OfferedValues {
            values: ('a'..).zip(counts).map(value).collect(),
            value_count,
            ..OfferedValues::of(Name::new("x"))
        }
    }

    #[test]
    fn values_that_offers_have() {
        for (counts, value_count, likely, is_similar, most, expected) in [
            (&[(3, None)][..], 1, 0, false, 3, "the only value is \"a\" (3)"),
            (&[(3, Some(0))], 1, 0, false, 3, "the only value is \"a\" (3)"),
            (&[(1, Some(1))], 1, 0, false, 3, "the only value is \"a\" (1, free)"),
            (&[(2, Some(2))], 1, 0, false, 3, "the only value is \"a\" (2, both free)"),
            (&[(3, Some(3))], 1, 0, false, 3, "the only value is \"a\" (3, all free)"),
            (&[(3, Some(2))], 1, 0, false, 3, "the only value is \"a\" (3, 2 free)"),
            (&[(2, Some(1))], 1, 0, false, 3, "the only value is \"a\" (2, 1 free)"),
            (&[(3, None), (1, None)], 2, 0, false, 3, "the values are \"a\" (3) and \"b\" (1)"),
            (&[(3, None), (1, None)], 2, 0, false, 1, "the most frequent of 2 values is \"a\" (3)"),
            (&[(3, None), (1, None)], 2, 1, true, 2, "the most similar of 2 values is \"a\" (3)"),
            (&[(3, None), (2, None)], 9, 0, false, 2, "the most frequent of 9 values are \"a\" (3) and \"b\" (2)"),
            (&[(1, None), (1, None)], 9, 0, false, 2, "there are 9 values, such as \"a\" (1) and \"b\" (1)"),
            (&[(1, None), (1, None)], 9, 0, true, 2, "the most similar of 9 values are \"a\" (1) and \"b\" (1)"),
            (&[(3, None)], 29, 0, false, 2, "the most frequent of 29 values is \"a\" (3)"),
            (&[(3, None)], 30, 0, false, 2, "there are 30 values, such as \"a\" (3)"),
        ] {
            let offered = OfferedValues { is_similar, likely, ..offered(counts, value_count) };
            assert_eq!(offered_phrase(&offered, most), expected);
        }
    }

    #[test]
    fn what_is_odd_about_a_value() {
        for (text, expected) in [
            ("", ", an empty string"),
            ("$(Site)", ", a macro that nothing expands here"),
            ("a$$(Site)", ", a macro that nothing expands here"),
            ("a$RANDOM_CHOICE(a)", ", a macro that nothing expands here"),
            ("$Site", ""),
            ("a ", ", with a blank at its end"),
            (" a", ", with a blank at its beginning"),
            ("a b", ""),
        ] {
            assert_eq!(oddity(&Value::string(text)), expected, "{text}");
        }
        assert_eq!(oddity(&Value::Integer(1)), "");
    }

    #[test]
    fn names_of_dynamic_slots() {
        for (name, expected) in [
            ("slot1_3@host", true),
            ("slot12_34@host", true),
            ("slot1@host", false),
            ("slot_3@host", false),
            ("slot1_@host", false),
            ("slot1_3", false),
            ("slota_3@host", false),
            ("slot1_b@host", false),
            ("other1_3@host", false),
        ] {
            assert_eq!(names_dynamic_slot(name), expected, "{name}");
        }
    }

    #[test]
    fn strings_that_a_clause_seeks() {
        for (clause, item, items) in [
            ("stringListMember(\"a\", TARGET.Sites)", Some("a"), None),
            ("(stringListIMember((\"a\"), Sites))", Some("a"), None),
            ("stringListMember(Site, \"a, b,,c\")", None, Some("a b c")),
            ("stringListMember(Site, \"\")", None, None),
            ("stringListMember(\"x\", \"a, b\")", None, None),
            ("stringListMember(5, Sites)", None, None),
            ("stringListMember(Site, 5)", None, None),
            ("stringListMember(Site)", None, None),
            ("strcat(\"a\", Sites)", None, None),
            ("Site == \"a\"", None, None),
        ] {
            let clause = expression(clause);
            assert_eq!(wanted_item(&clause).as_deref(), item, "{clause}");
            assert_eq!(wanted_items(&clause).map(|items| items.join(" ")).as_deref(), items, "{clause}");
        }
    }

    #[test]
    fn values_that_come_closest() {
        let string = |text: &str| Value::string(text);
        for (operator, best, bound, expected) in [
            (BinaryOperator::Greater, Value::Integer(4), Value::Integer(5), "the largest is 4"),
            (BinaryOperator::GreaterEqual, Value::Integer(4), Value::Integer(5), "the largest is 4"),
            (BinaryOperator::Less, Value::Integer(4), Value::Integer(3), "the smallest is 4"),
            (BinaryOperator::LessEqual, Value::Integer(4), Value::Integer(3), "the smallest is 4"),
            (BinaryOperator::Equal, Value::Integer(4), Value::Integer(3), "the nearest is 4"),
            (BinaryOperator::Is, Value::Real(4.5), Value::Integer(3), "the nearest is 4.5"),
            (BinaryOperator::Equal, string("Madison"), string("Madisn"), "the most similar is \"Madison\""),
            (BinaryOperator::Equal, string("Madison"), string("CERN"), "the most frequent is \"Madison\""),
        ] {
            assert_eq!(closest_value_phrase(operator, &best, &bound), expected);
        }
    }
}
