//! Functions about lists (thesis A.2, and HTCondor's).

use crate::ad::{BinaryOperator, Dialect, Expression, ListValue, OperatorGroup, Span, Truth, Value};

use super::super::operators;
use super::arguments::signed;
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(member(2, 2) Strict "(scalar, list) -> bool",
        "whether a list has an element that is equal (==) to a value",
        both "member(\"intel\", { \"AMD\", \"Intel\" })" => "true"),
    function!(isMember(2, 2) Lazy "(scalar, list) -> bool",
        "whether a list has an element that is identical (`is`) to a value",
        papers = "identicalMember(scalar, list)", "isMember(undefined, { 1, undefined })" => "true",
        identical_member),
    function!(identicalMember(2, 2) Lazy "(scalar, list) -> bool",
        "whether a list has an element that is identical (`is`) to a value",
        both "identicalMember(\"intel\", { \"AMD\", \"Intel\" })" => "false",
        identical_member),
    function!(size(1, 1) Strict "(list | ad | string) -> int",
        "number of elements of a list, attributes of an ad, or bytes of a string",
        both "size({ 1, 2 })" => "2"),
    function!(sum(1, 1) Strict "(list) -> number",
        "sum of the numbers of a list",
        both "sum({ 1, undefined, 2.5 })" => "3.5",
        |call| total(call).map(|(total, _)| total)),
    function!(avg(1, 1) Strict "(list) -> int | real",
        "mean of the numbers of a list",
        both "avg({ 1, undefined, 2 })" => "1.5",
        average),
    function!(min(1, 1) Strict "(list) -> number",
        "least number of a list",
        both "min({ 3, 1, undefined, 2 })" => "1",
        |call| extreme_number(call, BinaryOperator::Less)),
    function!(max(1, 1) Strict "(list) -> number",
        "greatest number of a list",
        both "max({ 1, 3, undefined, 2 })" => "3",
        |call| extreme_number(call, BinaryOperator::Greater)),
    function!(anyCompare(3, 3) Lazy "(operator, list, any) -> bool",
        "whether a comparison with a value is true for at least one element of a list",
        both "anyCompare(\"<\", { 5, 1 }, 3)" => "true",
        |call| compare_each(call, true)),
    function!(allCompare(3, 3) Lazy "(operator, list, any) -> bool",
        "whether a comparison with a value is true for all elements of a list",
        both "allCompare(\"<\", { 5, 1 }, 3)" => "false",
        |call| compare_each(call, false)),
];

/// Returns the span of the argument at a 0-based index, for the errors about the argument.
fn argument_span(call: &Call<'_, '_>, argument: usize) -> Span {
    call.arguments.get(argument).map(Expression::span).unwrap_or_default()
}

/// Whether the value is neither a list nor an ad.
fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}

fn member(call: &mut Call<'_, '_>) -> CallResult {
    let (wanted, list) = (call.value(0)?, call.value(1)?);
    if matches!((&wanted, &list), (Value::Undefined, _) | (_, Value::Undefined)) {
        return Ok(Value::Undefined);
    }
    if !is_scalar(&wanted) || wanted.is_exceptional() {
        return Ok(call.type_error(&wanted, "a scalar"));
    }
    let list = call.require_list(list, "a list")?;
    if call.dialect().is_condor() { condor_member(call, wanted, &list) } else { classad_member(call, &wanted, &list) }
}

/// Implements HTCondor's `member()`, which skips elements that cannot be compared with `wanted`.
fn condor_member(call: &mut Call<'_, '_>, mut wanted: Value, list: &ListValue) -> CallResult {
    let dialect = call.dialect();
    any_element(call, list, |mut element| {
        to_common_type(&mut element, &mut wanted);
        operators::compare(BinaryOperator::Equal, &element, &wanted, dialect) == Some(true)
    })
}

/// Returns whether `holds` is true for an element of a list, as a boolean value. The elements after the first such
/// element are not evaluated.
fn any_element(call: &mut Call<'_, '_>, list: &ListValue, mut holds: impl FnMut(Value) -> bool) -> CallResult {
    for index in 0..list.elements.len() {
        if holds(call.element(list, index)?) {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(Value::Boolean(false))
}

/// Implements the papers' `member()`: the value of `wanted == e1 || wanted == e2 || ...` for the list's elements.
fn classad_member(call: &mut Call<'_, '_>, wanted: &Value, list: &ListValue) -> CallResult {
    let (dialect, span) = (call.dialect(), argument_span(call, 1));
    let mut any = Value::Boolean(false);
    for index in 0..list.elements.len() {
        let element = call.element(list, index)?;
        let equal = operators::binary(BinaryOperator::Equal, wanted, &element, dialect, span);
        any = match Truth::of(&any, dialect) {
            Truth::Error => return Ok(any),
            truth => operators::logic(BinaryOperator::Or, truth, &equal, dialect, span),
        };
    }
    Ok(any)
}

fn identical_member(call: &mut Call<'_, '_>) -> CallResult {
    let (wanted, list) = (call.value(0)?, call.value(1)?);
    if !is_scalar(&wanted) && !matches!(list, Value::Undefined) {
        return Ok(call.type_error(&wanted, "a scalar"));
    }
    let list = call.require_list(list, "a list")?;
    let (dialect, span) = (call.dialect(), argument_span(call, 1));
    any_element(call, &list, |element| {
        operators::binary(BinaryOperator::Is, &element, &wanted, dialect, span) == Value::Boolean(true)
    })
}

fn size(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    let size = match &value {
        Value::List(list) => list.elements.len(),
        Value::Ad(nested) => nested.ad().len(),
        Value::String(text) => text.as_bytes().len(),
        Value::Undefined => return Ok(value),
        other => return Ok(call.type_error(other, "a list, an ad or a string")),
    };
    Ok(Value::Integer(signed(size)))
}

/// Calls `work` with each number of the list in the first argument. Undefined elements are skipped; any other element
/// ends the call with an error.
fn each_number(call: &mut Call<'_, '_>, mut work: impl FnMut(Value)) -> CallResult<()> {
    let list = call.value(0)?;
    let list = call.require_list(list, "a list of numbers")?;
    for index in 0..list.elements.len() {
        match call.element(&list, index)? {
            Value::Undefined => {}
            number if is_number(&number) => work(number),
            other => return Err(call.type_error(&other, "a number in the list").into()),
        }
    }
    Ok(())
}

/// Whether the value is a number for the functions about lists. They accept booleans, too.
fn is_number(value: &Value) -> bool {
    matches!(value, Value::Boolean(_) | Value::Integer(_) | Value::Real(_))
}

fn average(call: &mut Call<'_, '_>) -> CallResult {
    let (total, count) = total(call)?;
    if count == 0.0 {
        return Ok(total);
    }
    let (dialect, span) = (call.dialect(), argument_span(call, 0));
    Ok(operators::binary(BinaryOperator::Divide, &total, &Value::Real(count), dialect, span))
}

/// Returns the sum of the numbers in the list of the first argument, and the count of these numbers.
fn total(call: &mut Call<'_, '_>) -> CallResult<(Value, f64)> {
    let (dialect, span) = (call.dialect(), argument_span(call, 0));
    let (mut total, mut count) = (None, 0.0);
    each_number(call, |number| {
        count += 1.0;
        total = Some(match total.take() {
            Some(total) => operators::binary(BinaryOperator::Add, &total, &number, dialect, span),
            None => number,
        });
    })?;
    Ok((total.unwrap_or(Value::Integer(0)), count))
}

fn extreme_number(call: &mut Call<'_, '_>, better: BinaryOperator) -> CallResult {
    let dialect = call.dialect();
    let mut best: Option<Value> = None;
    each_number(call, |mut number| {
        if let Some(best) = &mut best {
            to_common_type(&mut number, best);
            if operators::compare(better, &number, best, dialect) == Some(true) {
                *best = number;
            }
        } else {
            best = Some(number);
        }
    })?;
    Ok(best.unwrap_or(Value::Undefined))
}

/// Replaces two numbers by numbers of their common type. HTCondor's library converts them for a comparison and uses the
/// converted numbers afterwards, too.
#[allow(clippy::cast_precision_loss)] // rounding is intended
fn to_common_type(left: &mut Value, right: &mut Value) {
    if !is_number(left) || !is_number(right) {
        return;
    }
    let real = matches!(left, Value::Real(_)) || matches!(right, Value::Real(_));
    for value in [left, right] {
        let integer = match value {
            Value::Boolean(is) => i64::from(*is),
            Value::Integer(integer) => *integer,
            _ => continue,
        };
        *value = if real { Value::Real(integer as f64) } else { Value::Integer(integer) };
    }
}

/// Implements `anyCompare()` if `one_is_enough`, else `allCompare()`: whether a comparison with a value holds for one
/// element of a list, or for every element.
fn compare_each(call: &mut Call<'_, '_>, one_is_enough: bool) -> CallResult {
    let (operator, list) = (call.value(0)?, call.value(1)?);
    let dialect = call.dialect();
    // In the papers' dialect an error in any argument takes precedence over undefined.
    if dialect == Dialect::Classad && operator.is_exceptional() | list.is_exceptional() {
        let wanted = call.value(2)?;
        if let Some(error) = [&operator, &list, &wanted].into_iter().find(|value| matches!(value, Value::Error(_))) {
            return Ok(error.clone());
        }
    }
    let operator = match &operator {
        Value::Undefined => return Ok(operator),
        Value::String(symbol) => comparison(symbol.as_bytes()).ok_or_else(|| {
            call.error(format!("expected <, <=, ==, !=, >=, >, is or isnt, not `{}`", symbol.to_str()))
        })?,
        other => return Ok(call.type_error(other, "a comparison as a string")),
    };
    let list = call.require_list(list, "a list")?;
    let mut wanted = call.value(2)?;
    let span = argument_span(call, 1);
    for index in 0..list.elements.len() {
        let mut element = call.element(&list, index)?;
        if operator.group() == OperatorGroup::Comparison {
            to_common_type(&mut element, &mut wanted);
        }
        match operators::binary(operator, &element, &wanted, dialect, span) {
            Value::Boolean(holds) if holds == one_is_enough => return Ok(Value::Boolean(holds)),
            Value::Boolean(_) => {}
            Value::Undefined => return Ok(Value::Boolean(false)),
            other => return Ok(other),
        }
    }
    Ok(Value::Boolean(!one_is_enough))
}

/// Returns the comparison operator with this symbol, `is` and `isnt` included; `None` for any other symbol.
fn comparison(symbol: &[u8]) -> Option<BinaryOperator> {
    let compares =
        |operator: &BinaryOperator| matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity);
    BinaryOperator::ALL.iter().copied().filter(compares).find(|operator| operator.symbol().as_bytes() == symbol)
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check_in as check;
    use crate::ad::Dialect;

    #[test]
    fn members() {
        check(
            Dialect::Condor,
            &[
                ("member(1, { undefined, error, \"1\" })", "false"),
                ("member(1, { undefined, 1.0 })", "true"),
                ("member(error, undefined)", "undefined"),
                ("member({}, {})", "error"),
            ],
        );
        check(
            Dialect::Classad,
            &[
                ("member(1, { 2, undefined })", "undefined"),
                ("member(1, { undefined, 1 })", "true"),
                ("member(1, { 1, \"1\" })", "error"),
                ("member(error, undefined)", "error"),
                ("member(1, {})", "false"),
                ("isMember(undefined, { 1, undefined })", "true"),
            ],
        );
    }

    #[test]
    fn numbers_take_the_type_that_they_were_compared_with() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("max({ 1, 2, 0.5 })", "2.0"),
                    ("min({ true })", "true"),
                    ("min({ true, 2 })", "1"),
                    ("max({})", "undefined"),
                    ("sum({ true })", "true"),
                    ("sum({ 1, \"a\" })", "error"),
                    ("avg({})", "0"),
                ],
            );
        }
    }

    #[test]
    fn comparisons() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("anyCompare(\"<\", { undefined, 1 }, 3)", "false"),
                    ("anyCompare(\"=?=\", { 1 }, 1)", "error"),
                    ("anyCompare(\"is\", { 1, undefined }, undefined)", "true"),
                    ("allCompare(\"<\", {}, 3)", "true"),
                    ("allCompare(\"<\", { 1, \"a\" }, 3)", "error"),
                ],
            );
        }
        // An error comes before what is undefined in the papers' dialect, wherever it stands.
        for (dialect, first) in [(Dialect::Classad, "error"), (Dialect::Condor, "undefined")] {
            for call in ["anyCompare(undefined, { 1 }, error)", "anyCompare(undefined, error, 1)"] {
                check(dialect, &[(call, first), ("anyCompare(error, undefined, 1)", "error")]);
            }
        }
    }
}
