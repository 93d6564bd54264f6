//! What is known of a part of an expression that is being specialized.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Kind, List, Span, Value};

use super::Shapes;

/// What is known of a part of an expression.
#[derive(Clone)]
pub struct Part {
    /// What is left of it.
    pub expression: Expression,
    /// Its value, if that is known.
    pub value: Option<Value>,
    /// What its value can be.
    pub shapes: Shapes,
    /// How many attributes were replaced by what is left of them.
    pub inlined: usize,
}

impl Part {
    /// Nothing is known of it.
    pub fn unknown(expression: &Expression) -> Self {
        Part { expression: expression.clone(), value: None, shapes: Shapes::ANY, inlined: 0 }
    }

    /// A scalar that stands in the place of something else.
    pub fn of_value(span: Span, value: Value) -> Self {
        Part::known(&Expression::new(Kind::Literal(value.clone()), span), value)
    }

    /// It has this value; what can be written out, is.
    pub fn known(original: &Expression, value: Value) -> Self {
        let shapes = Shapes::of(&value);
        let expression = match original.kind() {
            Kind::Literal(_) | Kind::List(_) => original.clone(),
            _ => written_out(&value, original.span()).unwrap_or_else(|| original.clone()),
        };
        Part { expression, value: Some(value), shapes, inlined: 0 }
    }
}

/// One operator of a chain, with what stands to its right.
pub struct Step<'a> {
    pub node: &'a Expression,
    pub operator: BinaryOperator,
    pub left: &'a Expression,
    pub right: &'a Expression,
    /// What is left of the right operand.
    pub part: Part,
}

/// A value as an expression that has it wherever it stands: scalars, and lists of scalars.
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
