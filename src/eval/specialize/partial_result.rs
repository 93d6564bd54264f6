//! Specialization result of one subexpression.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Kind, List, Span, Value};

use super::Shapes;

/// Specialization result of one subexpression.
#[derive(Clone)]
pub struct Part {
    /// The specialized subexpression.
    pub expression: Expression,
    /// Its value; `None` if it is unknown.
    pub value: Option<Value>,
    /// Types that its value can have.
    pub shapes: Shapes,
    /// Number of attribute references that were replaced by specialized expressions.
    pub inlined: usize,
}

impl Part {
    /// Returns the result for an expression of which nothing is known.
    pub fn unknown(expression: &Expression) -> Self {
        Part { expression: expression.clone(), value: None, shapes: Shapes::ANY, inlined: 0 }
    }

    /// Returns the result for a scalar that replaces an expression.
    pub fn of_value(span: Span, value: Value) -> Self {
        Part::known(&Expression::new(Kind::Literal(value.clone()), span), value)
    }

    /// Returns the result for an expression with a known value, which replaces it if it can be written as a literal.
    pub fn known(original: &Expression, value: Value) -> Self {
        let shapes = Shapes::of(&value);
        let expression = match original.kind() {
            Kind::Literal(_) | Kind::List(_) => original.clone(),
            _ => written_out(&value, original.span()).unwrap_or_else(|| original.clone()),
        };
        Part { expression, value: Some(value), shapes, inlined: 0 }
    }
}

/// One operator of a chain, with its specialized right operand.
pub struct Step<'a> {
    pub node: &'a Expression,
    pub operator: BinaryOperator,
    pub left: &'a Expression,
    pub right: &'a Expression,
    /// Specialization result of the right operand.
    pub part: Part,
}

/// Returns an expression that has this value in any scope: a literal for a scalar or a list of scalars. `None` for
/// other lists and for ads.
fn written_out(value: &Value, span: Span) -> Option<Expression> {
    let kind = match value {
        Value::Ad(_) => return None,
        Value::List(List { elements, .. }) => {
            let scalar = |element: &Expression| matches!(element.kind(), Kind::Literal(value) if !matches!(value, Value::List(_) | Value::Ad(_)));
            if !elements.iter().all(scalar) {
                return None;
            }
            Kind::List(Arc::clone(elements))
        }
        scalar => Kind::Literal(scalar.clone()),
    };
    Some(Expression::new(kind, span))
}
