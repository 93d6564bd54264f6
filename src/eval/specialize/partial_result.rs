//! Specialization result of one subexpression.

use std::sync::Arc;

use crate::ad::{Expression, ExpressionKind, ListValue, Span, Value};

use super::{SpecializeOptions, TypeSet};

/// Specialization result of one subexpression.
#[derive(Clone)]
pub struct PartialResult {
    /// The specialized subexpression.
    pub expression: Expression,
    /// Value of the subexpression; `None` if it is unknown.
    pub value: Option<Value>,
    /// Types that the value can have.
    pub types: TypeSet,
    /// Number of references within the subexpression that were replaced by the specialized expression of an attribute.
    pub inlined: usize,
}

impl PartialResult {
    /// Returns the result for an expression of which nothing is known.
    pub fn unknown(expression: &Expression) -> Self {
        PartialResult { expression: expression.clone(), value: None, types: TypeSet::ANY, inlined: 0 }
    }

    /// Returns the result for an expression that is replaced by a scalar value.
    pub fn of_value(span: Span, value: Value) -> Self {
        PartialResult::known(&Expression::new(ExpressionKind::Literal(value.clone()), span), value)
    }

    /// Returns the result for an expression with a known value. The value replaces the expression if it can be written
    /// as a literal.
    pub fn known(original: &Expression, value: Value) -> Self {
        let types = TypeSet::of(&value);
        let expression = match original.kind() {
            ExpressionKind::Literal(_) | ExpressionKind::List(_) => original.clone(),
            _ => as_literal(&value, original.span()).unwrap_or_else(|| original.clone()),
        };
        PartialResult { expression, value: Some(value), types, inlined: 0 }
    }

    /// Returns the result for an expression of unknown value. The expression is the original if no operand changed,
    /// else one of the given kind with the specialized operands.
    pub fn rebuilt(
        original: &Expression,
        types: TypeSet,
        operands: &[PartialResult],
        options: SpecializeOptions,
        kind: impl FnOnce() -> ExpressionKind,
    ) -> Self {
        let types = if options.loose { types.without(TypeSet::ERROR) } else { types };
        if let Some(value) = types.only_value() {
            return PartialResult::known(original, value);
        }
        let mut is_same = true;
        let mut specialized = operands.iter();
        original.kind().for_each_child(|child| {
            is_same &= specialized.next().is_some_and(|part| child.ptr_eq(&part.expression));
        });
        let expression = if is_same { original.clone() } else { Expression::new(kind(), original.span()) };
        PartialResult { expression, value: None, types, inlined: operands.iter().map(|part| part.inlined).sum() }
    }
}

/// Returns an expression that has this value in any scope: a literal for a scalar, a list for a list of scalars. `None`
/// for other lists and for ads.
fn as_literal(value: &Value, span: Span) -> Option<Expression> {
    let kind = match value {
        Value::Ad(_) => return None,
        Value::List(ListValue { elements, .. }) => {
            let is_scalar = |element: &Expression| element.kind().is_scalar();
            if !elements.iter().all(is_scalar) {
                return None;
            }
            ExpressionKind::List(Arc::clone(elements))
        }
        scalar => ExpressionKind::Literal(scalar.clone()),
    };
    Some(Expression::new(kind, span))
}
