//! Abstract domain of specialization: the set of types that an unknown value can have.

use std::convert::Infallible;
use std::sync::OnceLock;

use crate::ad::{
    AbsoluteTime, Ad, AdValue, BinaryOperator, Dialect, ErrorCause, Expression, ListValue, RelativeTime, ScopeFrame,
    Span, Truth, Type, UnaryOperator, Value,
};

use crate::eval::operators;

/// Set of types that a value can have, as a bit set. The values false and true count as two types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet(u16);

const TYPE_COUNT: usize = 11;

impl TypeSet {
    pub const NONE: TypeSet = TypeSet(0);
    pub const UNDEFINED: TypeSet = TypeSet(1);
    pub const ERROR: TypeSet = TypeSet(1 << 1);
    const FALSE: TypeSet = TypeSet(1 << 2);
    const TRUE: TypeSet = TypeSet(1 << 3);
    pub const ANY: TypeSet = TypeSet((1 << TYPE_COUNT) - 1);
    /// Possible results of a comparison: undefined, error, false, true.
    pub const LOGICAL: TypeSet = TypeSet(0b1111);

    /// Returns the set that holds only the type of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Boolean(true) => TypeSet::TRUE,
            Value::Boolean(false) => TypeSet::FALSE,
            value => TypeSet::of_type(value.value_type()),
        }
    }

    /// Returns the set of one type. For booleans both false and true are in the set.
    pub fn of_type(kind: Type) -> Self {
        TypeSet(match kind {
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

    pub fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub fn without(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & !other.0)
    }

    pub fn is_subset_of(self, other: TypeSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the two sets have a type in common.
    pub fn intersects(self, other: TypeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the only value that the set allows: undefined, error, false or true. `None` if it allows several values.
    pub fn only_value(self) -> Option<Value> {
        Some(match self {
            TypeSet::UNDEFINED => Value::Undefined,
            TypeSet::ERROR => Value::Error(ErrorCause::default()),
            TypeSet::FALSE => Value::Boolean(false),
            TypeSet::TRUE => Value::Boolean(true),
            _ => return None,
        })
    }

    /// Whether a value of one of these types can be true as a constraint. In HTCondor's dialect a number can.
    pub fn may_be_true(self, dialect: Dialect) -> bool {
        let numbers = TypeSet::of_type(Type::Integer).union(TypeSet::of_type(Type::Real));
        self.intersects(TypeSet::TRUE) || (dialect.is_condor() && self.intersects(numbers))
    }

    fn indices(self) -> impl Iterator<Item = usize> {
        (0..TYPE_COUNT).filter(move |index| self.0 & (1 << index) != 0)
    }

    /// Returns the possible types of a unary operator's result.
    pub fn unary(operator: UnaryOperator, operand: TypeSet, dialect: Dialect) -> TypeSet {
        let results = operand
            .indices()
            .flat_map(example_values)
            .map(|value| TypeSet::of(&operators::unary(operator, value, dialect, Span::default())));
        results.fold(TypeSet::NONE, TypeSet::union)
    }

    /// Returns the possible types of a binary operator's result.
    pub fn binary(operator: BinaryOperator, left: TypeSet, right: TypeSet, dialect: Dialect) -> TypeSet {
        let table = operator_table(operator, dialect);
        let pairs = left.indices().flat_map(|l| right.indices().map(move |r| table[l][r]));
        pairs.fold(TypeSet::NONE, TypeSet::union)
    }

    /// Returns the possible types of a conditional's result.
    pub fn conditional(condition: TypeSet, consequent: TypeSet, alternative: TypeSet, dialect: Dialect) -> TypeSet {
        let results = condition.indices().flat_map(example_values).map(|value| match Truth::of(&value, dialect) {
            Truth::True => consequent,
            Truth::False => alternative,
            Truth::Undefined => TypeSet::UNDEFINED,
            Truth::Error => TypeSet::ERROR,
        });
        results.fold(TypeSet::NONE, TypeSet::union)
    }
}

type OperatorTable = [[TypeSet; TYPE_COUNT]; TYPE_COUNT];

/// Returns the table of result types for each pair of operand types. The table is computed on first use by applying the
/// operator to example values.
fn operator_table(operator: BinaryOperator, dialect: Dialect) -> &'static OperatorTable {
    const OPERATORS: usize = 32;
    static TABLES: [OnceLock<Box<OperatorTable>>; 2 * OPERATORS] = [const { OnceLock::new() }; 2 * OPERATORS];
    let index = operator as usize + OPERATORS * usize::from(dialect.is_condor());
    TABLES[index].get_or_init(|| {
        let values: Vec<Vec<Value>> = (0..TYPE_COUNT).map(example_values).collect();
        let cell = |left: &[Value], right: &[Value]| {
            let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
            pairs
                .map(|(left, right)| TypeSet::of(&apply_operator(operator, left, right, dialect, Span::default())))
                .fold(TypeSet::NONE, TypeSet::union)
        };
        Box::new(std::array::from_fn(|left| std::array::from_fn(|right| cell(&values[left], &values[right]))))
    })
}

/// Returns the value of any binary operator on two known values.
pub fn apply_operator(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect, span: Span) -> Value {
    let Ok(value) = operators::apply(operator, left, || Ok::<_, Infallible>(right.clone()), dialect, span);
    value
}

/// Returns example values of the type with this bit index. Operators on the examples yield every possible type of
/// result. Booleans compare as 0 and 1, so there are numbers equal to, below and above these. `f64::MAX` makes sums
/// overflow.
fn example_values(index: usize) -> Vec<Value> {
    match index {
        0 => vec![Value::Undefined],
        1 => vec![Value::Error(ErrorCause::default())],
        2 => vec![Value::Boolean(false)],
        3 => vec![Value::Boolean(true)],
        4 => [-1, 0, 1, 2].map(Value::Integer).into(),
        5 => [-1.0, 0.0, 0.5, 1.0, f64::MAX, f64::NAN].map(Value::Real).into(),
        6 => vec![Value::string("a"), Value::string("b")],
        7 => [0, 1].map(|seconds| Value::AbsoluteTime(AbsoluteTime { seconds, offset: 0 })).into(),
        8 => [0.0, 1.0, f64::MAX].map(|seconds| Value::RelativeTime(RelativeTime::new(seconds))).into(),
        9 => vec![Value::List(ListValue { elements: Vec::<Expression>::new().into(), scope: None })],
        _ => vec![Value::Ad(AdValue { frame: ScopeFrame::root(Ad::default(), crate::ad::Participant::REQUEST) })],
    }
}

#[cfg(test)]
mod tests {
    use super::TypeSet;
    use crate::ad::{BinaryOperator, Dialect, Type};

    #[test]
    fn what_operators_can_give() {
        let (integer, string) = (TypeSet::of_type(Type::Integer), TypeSet::of_type(Type::String));
        let boolean = TypeSet::of_type(Type::Boolean);
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let binary = |operator, left, right| TypeSet::binary(operator, left, right, dialect);
            assert_eq!(binary(BinaryOperator::Less, integer, integer), boolean);
            assert_eq!(binary(BinaryOperator::Less, integer, string), TypeSet::ERROR);
            assert!(binary(BinaryOperator::Less, TypeSet::ANY, integer).is_subset_of(TypeSet::LOGICAL));
            assert_eq!(binary(BinaryOperator::Is, TypeSet::UNDEFINED, integer), TypeSet::FALSE);
            assert_eq!(binary(BinaryOperator::And, TypeSet::FALSE, boolean.union(TypeSet::UNDEFINED)), TypeSet::FALSE);
            assert_eq!(binary(BinaryOperator::Divide, integer, integer), integer.union(TypeSet::ERROR));
        }
        let hidden = |dialect| TypeSet::binary(BinaryOperator::And, TypeSet::FALSE, TypeSet::ERROR, dialect);
        assert_eq!(hidden(Dialect::Classad), TypeSet::ERROR);
        assert_eq!(hidden(Dialect::Condor), TypeSet::FALSE);
    }
}
