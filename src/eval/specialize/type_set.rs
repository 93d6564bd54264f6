//! Abstract domain of specialization: the set of types that an unknown value can have.

use std::sync::OnceLock;

use crate::ad::{
    AbsoluteTime, Ad, BinaryOperator, Cause, Dialect, Expression, Frame, List, Nested, RelativeTime, Span, Type,
    UnaryOperator, Value,
};

use crate::eval::operators::{self, Truth};

/// Set of shapes, as a bit set. A shape is undefined, error, false, true, or one of the other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shapes(u16);

const COUNT: usize = 11;

impl Shapes {
    pub const NONE: Shapes = Shapes(0);
    pub const UNDEFINED: Shapes = Shapes(1);
    pub const ERROR: Shapes = Shapes(1 << 1);
    const FALSE: Shapes = Shapes(1 << 2);
    const TRUE: Shapes = Shapes(1 << 3);
    pub const ANY: Shapes = Shapes((1 << COUNT) - 1);
    /// Possible results of a comparison: undefined, error, false, true.
    pub const LOGICAL: Shapes = Shapes(0b1111);

    /// Returns the shape of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Boolean(true) => Shapes::TRUE,
            Value::Boolean(false) => Shapes::FALSE,
            value => Shapes::of_type(value.kind()),
        }
    }

    /// Returns the shapes of the values of a type.
    pub fn of_type(kind: Type) -> Self {
        Shapes(match kind {
            Type::Undefined => 1,
            Type::Error => 1 << 1,
            Type::Boolean => 0b1100,
            Type::Integer => 1 << 4,
            Type::Real => 1 << 5,
            Type::String => 1 << 6,
            Type::AbsoluteTime => 1 << 7,
            Type::RelativeTime => 1 << 8,
            Type::List => 1 << 9,
            Type::Ad => 1 << 10,
        })
    }

    pub fn or(self, other: Shapes) -> Shapes {
        Shapes(self.0 | other.0)
    }

    pub fn without(self, other: Shapes) -> Shapes {
        Shapes(self.0 & !other.0)
    }

    pub fn within(self, other: Shapes) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the two sets intersect.
    pub fn meets(self, other: Shapes) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the only possible value; `None` if several values are possible.
    pub fn only_value(self) -> Option<Value> {
        Some(match self {
            Shapes::UNDEFINED => Value::Undefined,
            Shapes::ERROR => Value::Error(Cause::default()),
            Shapes::FALSE => Value::Boolean(false),
            Shapes::TRUE => Value::Boolean(true),
            _ => return None,
        })
    }

    /// Whether a value of these shapes can be true as a constraint.
    pub fn may_be_true(self, dialect: Dialect) -> bool {
        let numbers = Shapes::of_type(Type::Integer).or(Shapes::of_type(Type::Real));
        self.meets(Shapes::TRUE) || (dialect.is_condor() && self.meets(numbers))
    }

    fn each(self) -> impl Iterator<Item = usize> {
        (0..COUNT).filter(move |shape| self.0 & (1 << shape) != 0)
    }

    /// Returns the possible shapes of a unary operator's result.
    pub fn unary(operator: UnaryOperator, operand: Shapes, dialect: Dialect) -> Shapes {
        let results = operand
            .each()
            .flat_map(examples)
            .map(|value| Shapes::of(&operators::unary(operator, value, dialect, Span::default())));
        results.fold(Shapes::NONE, Shapes::or)
    }

    /// Returns the possible shapes of a binary operator's result.
    pub fn binary(operator: BinaryOperator, left: Shapes, right: Shapes, dialect: Dialect) -> Shapes {
        let table = table(operator, dialect);
        let pairs = left.each().flat_map(|l| right.each().map(move |r| table[l][r]));
        pairs.fold(Shapes::NONE, Shapes::or)
    }

    /// Returns the possible shapes of a conditional's result.
    pub fn conditional(condition: Shapes, consequent: Shapes, alternative: Shapes, dialect: Dialect) -> Shapes {
        let results = condition.each().flat_map(examples).map(|value| match operators::truth(&value, dialect) {
            Truth::True => consequent,
            Truth::False => alternative,
            Truth::Undefined => Shapes::UNDEFINED,
            Truth::Error | Truth::Other => Shapes::ERROR,
        });
        results.fold(Shapes::NONE, Shapes::or)
    }
}

type Table = [[Shapes; COUNT]; COUNT];

/// Returns the table of result shapes for each pair of operand shapes. It is computed on first use by applying the
/// operator to example values.
fn table(operator: BinaryOperator, dialect: Dialect) -> &'static Table {
    const OPERATORS: usize = 32;
    static TABLES: [OnceLock<Box<Table>>; 2 * OPERATORS] = [const { OnceLock::new() }; 2 * OPERATORS];
    let index = operator as usize + OPERATORS * usize::from(dialect.is_condor());
    TABLES[index].get_or_init(|| {
        let values: Vec<Vec<Value>> = (0..COUNT).map(examples).collect();
        let cell = |left: &[Value], right: &[Value]| {
            let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
            pairs
                .map(|(left, right)| Shapes::of(&apply(operator, left, right, dialect, Span::default())))
                .fold(Shapes::NONE, Shapes::or)
        };
        Box::new(std::array::from_fn(|left| std::array::from_fn(|right| cell(&values[left], &values[right]))))
    })
}

/// Returns the value of any binary operator, `&&` and `
///
/// ` included, on two known values.
pub fn apply(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect, span: Span) -> Value {
    match operator {
        BinaryOperator::And | BinaryOperator::Or => {
            let truth = operators::truth(left, dialect);
            operators::decided_by_left(operator, truth, left, dialect, span)
                .unwrap_or_else(|| operators::logic(operator, truth, right, dialect, span))
        }
        _ => operators::binary(operator, left, right, dialect, span),
    }
}

/// Returns values of a shape that show every result that operators can have for it: numbers below, at, between and
/// above 0 and 1 (booleans compare as 0 and 1), and numbers that overflow.
fn examples(shape: usize) -> Vec<Value> {
    match shape {
        0 => vec![Value::Undefined],
        1 => vec![Value::Error(Cause::default())],
        2 => vec![Value::Boolean(false)],
        3 => vec![Value::Boolean(true)],
        4 => [-1, 0, 1, 2].map(Value::Integer).into(),
        5 => [-1.0, 0.0, 0.5, 1.0, f64::MAX, f64::NAN].map(Value::Real).into(),
        6 => vec![Value::string("a"), Value::string("b")],
        7 => [0, 1].map(|seconds| Value::AbsoluteTime(AbsoluteTime { seconds, offset: 0 })).into(),
        8 => [0.0, 1.0, f64::MAX].map(|seconds| Value::RelativeTime(RelativeTime { seconds })).into(),
        9 => vec![Value::List(List { elements: Vec::<Expression>::new().into(), scope: None })],
        _ => vec![Value::Ad(Nested { frame: Frame::root(Ad::default(), 0) })],
    }
}

#[cfg(test)]
mod tests {
    use super::Shapes;
    use crate::ad::{BinaryOperator, Dialect, Type};

    #[test]
    fn what_operators_can_give() {
        let (integer, string) = (Shapes::of_type(Type::Integer), Shapes::of_type(Type::String));
        let boolean = Shapes::of_type(Type::Boolean);
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let binary = |operator, left, right| Shapes::binary(operator, left, right, dialect);
            assert_eq!(binary(BinaryOperator::Less, integer, integer), boolean);
            assert_eq!(binary(BinaryOperator::Less, integer, string), Shapes::ERROR);
            assert!(binary(BinaryOperator::Less, Shapes::ANY, integer).within(Shapes::LOGICAL));
            assert_eq!(binary(BinaryOperator::Is, Shapes::UNDEFINED, integer), Shapes::FALSE);
            assert_eq!(binary(BinaryOperator::And, Shapes::FALSE, boolean.or(Shapes::UNDEFINED)), Shapes::FALSE);
            assert_eq!(binary(BinaryOperator::Divide, integer, integer), integer.or(Shapes::ERROR));
        }
        let hidden = |dialect| Shapes::binary(BinaryOperator::And, Shapes::FALSE, Shapes::ERROR, dialect);
        assert_eq!(hidden(Dialect::Classad), Shapes::ERROR);
        assert_eq!(hidden(Dialect::Condor), Shapes::FALSE);
    }
}
