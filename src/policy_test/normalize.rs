//! Evaluates values fully, so that their lists and ads depend on no scope and can be compared.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::eval::{Abort, Evaluator, binary};

/// Maximum nesting depth of lists and ads in a compared value.
const MAX_VALUE_DEPTH: u32 = 100;

/// Maximum number of parts in a compared value.
const MAX_VALUE_PARTS: u64 = 1_000_000;

/// Converts a value to a tree of literals, lists and ads, with every element and attribute evaluated.
///
/// # Errors
///
/// If a budget is exceeded, or if the value is infinite, such as an ad that contains itself.
pub fn normalize(value: Value, evaluator: &mut Evaluator<'_>) -> Result<Expression, Abort> {
    normalize_at(value, evaluator, MAX_VALUE_DEPTH, &mut 0)
}

fn normalize_at(value: Value, evaluator: &mut Evaluator<'_>, depth: u32, count: &mut u64) -> Result<Expression, Abort> {
    *count += 1;
    if *count > MAX_VALUE_PARTS {
        return Err(Abort::TooManySteps(MAX_VALUE_PARTS));
    }
    let deeper = depth.checked_sub(1).ok_or(Abort::TooDeep(MAX_VALUE_DEPTH));
    let kind = match value {
        Value::List(list) => {
            let mut elements = Vec::with_capacity(list.elements.len());
            for index in 0..list.elements.len() {
                let element = evaluator.element(&list, index)?;
                elements.push(normalize_at(element, evaluator, deeper.clone()?, count)?);
            }
            ExpressionKind::List(elements.into())
        }
        Value::Ad(nested) => {
            let names: Vec<Name> = nested.ad().iter().map(|attribute| attribute.name.clone()).collect();
            let mut attributes = Vec::with_capacity(names.len());
            for name in names {
                let value = evaluator.attribute(&nested.frame, &name)?;
                attributes.push((name, normalize_at(value, evaluator, deeper.clone()?, count)?));
            }
            ExpressionKind::Ad(attributes.into_iter().collect())
        }
        value => return Ok(Expression::literal(value)),
    };
    Ok(kind.into())
}

/// Whether two normalized values are equal: of the same type, and identical under `=?=`. Lists are compared by element,
/// ads by attribute. NaN equals NaN.
pub fn is_same_value(left: &Expression, right: &Expression, dialect: Dialect) -> bool {
    let mut pending = vec![(left, right)];
    while let Some(pair) = pending.pop() {
        match (pair.0.kind(), pair.1.kind()) {
            (ExpressionKind::Literal(left), ExpressionKind::Literal(right)) => {
                let nan = |value: &Value| matches!(value, Value::Real(real) if real.is_nan());
                let is = || binary(BinaryOperator::Is, left, right, dialect, Span::default());
                if !(nan(left) && nan(right)) && is() != Value::Boolean(true) {
                    return false;
                }
            }
            (ExpressionKind::List(left), ExpressionKind::List(right)) if left.len() == right.len() => {
                pending.extend(left.iter().zip(right.iter()));
            }
            (ExpressionKind::Ad(left), ExpressionKind::Ad(right)) if left.len() == right.len() => {
                for attribute in left.iter() {
                    let Some(other) = right.get(attribute.name) else { return false };
                    pending.push((attribute.expression, other));
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_same_value, normalize};
    use crate::ad::{Dialect, Expression};
    use crate::eval::{Abort, Context, Environment, Evaluator};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    fn settled(text: &str, dialect: Dialect) -> Result<Expression, Abort> {
        let ad = parse_ad(
            b"[ a = 1; l = { a, { a + 1 } }; n = [ x = a; y = [ z = x ] ]; r = [ s = n; t = r ] ]",
            ParseOptions::new(dialect),
        );
        let (environment, frame) = Environment::single(ad.unwrap());
        let context = Context::new(dialect);
        let mut evaluator = Evaluator::new(&environment, &context);
        let expression = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
        let value = evaluator.evaluate(&expression, &frame)?;
        normalize(value, &mut evaluator)
    }

    #[test]
    fn same_by_type_and_identity() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            for (left, right, expected) in [
                ("1", "1", true),
                ("1", "1.0", false),
                ("1", "true", false),
                ("0.0", "-0.0", true),
                ("real(\"NaN\")", "real(\"NaN\")", true),
                ("real(\"NaN\")", "1.0", false),
                ("\"a\"", "\"a\"", true),
                ("\"a\"", "\"A\"", false),
                ("undefined", "nothing", true),
                ("undefined", "error", false),
                ("error", "1 + \"a\"", true),
                ("l", "{ 1, { 2 } }", true),
                ("l", "{ 1, { 2.0 } }", false),
                ("l", "{ 1 }", false),
                ("n", "[ y = [ z = 1 ]; x = 1 ]", true),
                ("n", "[ x = 1; z = 1 ]", false),
                ("{ }", "[ ]", false),
            ] {
                let [left_value, right_value] = [left, right].map(|text| settled(text, dialect).unwrap());
                assert_eq!(is_same_value(&left_value, &right_value, dialect), expected, "{left} {right} {dialect}");
                assert_eq!(is_same_value(&right_value, &left_value, dialect), expected, "{right} {left} {dialect}");
            }
        }
    }

    #[test]
    fn what_is_endless_is_given_up() {
        assert!(settled("r", Dialect::Classad).is_err());
    }
}
