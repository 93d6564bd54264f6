//! Operands of programs: values that borrow from the ads, and the operators on them.

use crate::ad::{BinaryOperator, ByteString, Dialect, ErrorCause, Span, Truth, Type, UnaryOperator, Value};

use super::super::operators;

/// Value of a part of a program. It borrows its text, so that operators allocate nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand<'a> {
    Undefined,
    /// An error. Only the tree walker knows its cause.
    Error,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    String(&'a ByteString),
    /// A computed string: its index among the strings of the run.
    Computed(u32),
}

/// Marks a value or a situation that programs do not handle, so that the tree walker evaluates the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bail;

/// Computed strings of a run.
#[derive(Debug, Default)]
pub(super) struct ComputedStrings(Vec<ByteString>);

impl ComputedStrings {
    /// Forgets the strings of the run before.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Returns the operand for a value; [`Bail`] for a time, a list or an ad.
    pub(super) fn keep<'a>(&mut self, value: Value) -> Result<Operand<'a>, Bail> {
        Ok(match value {
            Value::Undefined => Operand::Undefined,
            Value::Error(_) => Operand::Error,
            Value::Boolean(is) => Operand::Boolean(is),
            Value::Integer(integer) => Operand::Integer(integer),
            Value::Real(real) => Operand::Real(real),
            Value::String(text) => {
                let index = u32::try_from(self.0.len()).map_err(|_| Bail)?;
                self.0.push(text);
                Operand::Computed(index)
            }
            Value::AbsoluteTime(_) | Value::RelativeTime(_) | Value::List(_) | Value::Ad(_) => return Err(Bail),
        })
    }

    /// Returns the string of an operand; `None` for an operand of another type.
    pub(super) fn text<'s>(&'s self, operand: Operand<'s>) -> Option<&'s ByteString> {
        match operand {
            Operand::String(text) => Some(text),
            Operand::Computed(index) => self.0.get(index as usize),
            _ => None,
        }
    }

    /// Returns an operand as a value. An error has no cause.
    pub(super) fn value(&self, operand: Operand<'_>) -> Value {
        match operand {
            Operand::Undefined => Value::Undefined,
            Operand::Error => Value::Error(ErrorCause::default()),
            Operand::Boolean(is) => Value::Boolean(is),
            Operand::Integer(integer) => Value::Integer(integer),
            Operand::Real(real) => Value::Real(real),
            Operand::String(_) | Operand::Computed(_) => {
                self.text(operand).map_or(Value::Undefined, |text| Value::String(text.clone()))
            }
        }
    }

    /// Returns the value of an arithmetic or bitwise operator.
    #[inline]
    pub(super) fn binary<'a>(
        &mut self,
        operator: BinaryOperator,
        left: Operand<'a>,
        right: Operand<'a>,
        dialect: Dialect,
    ) -> Result<Operand<'a>, Bail> {
        let known = match (left, right) {
            (Operand::Integer(a), Operand::Integer(b)) => integers(operator, a, b, dialect),
            (Operand::Real(a), Operand::Real(b)) => reals(operator, a, b),
            (Operand::Integer(a), Operand::Real(b)) => reals(operator, nearest_real(a), b),
            (Operand::Real(a), Operand::Integer(b)) => reals(operator, a, nearest_real(b)),
            (Operand::Error, _) | (_, Operand::Error) => Some(Operand::Error),
            (Operand::Undefined, _) | (_, Operand::Undefined) => Some(Operand::Undefined),
            _ => None,
        };
        match known {
            Some(known) => Ok(known),
            None => self.other_binary(operator, left, right, dialect),
        }
    }

    #[cold]
    fn other_binary<'a>(
        &mut self,
        operator: BinaryOperator,
        left: Operand<'a>,
        right: Operand<'a>,
        dialect: Dialect,
    ) -> Result<Operand<'a>, Bail> {
        let (left, right) = (self.value(left), self.value(right));
        self.keep(operators::binary(operator, &left, &right, dialect, Span::default()))
    }

    /// Returns the value of a unary operator.
    pub(super) fn unary<'a>(
        &mut self,
        operator: UnaryOperator,
        operand: Operand<'a>,
        dialect: Dialect,
    ) -> Result<Operand<'a>, Bail> {
        match operand {
            Operand::Undefined | Operand::Error => Ok(operand),
            _ => {
                let value = self.value(operand);
                self.keep(operators::unary(operator, value, dialect, Span::default()))
            }
        }
    }
}

impl<'a> Operand<'a> {
    /// Returns the operand for a literal of an ad; [`Bail`] for a time, a list or an ad. In the papers' dialect an
    /// integer beyond 32 bits is an error.
    #[inline]
    pub(super) fn of_literal(value: &'a Value, dialect: Dialect) -> Result<Self, Bail> {
        Ok(match value {
            Value::Boolean(is) => Operand::Boolean(*is),
            Value::Integer(integer) => Operand::of_integer(*integer, dialect),
            Value::Real(real) => Operand::Real(*real),
            Value::String(text) => Operand::String(text),
            Value::Undefined => Operand::Undefined,
            Value::Error(_) => Operand::Error,
            Value::AbsoluteTime(_) | Value::RelativeTime(_) | Value::List(_) | Value::Ad(_) => return Err(Bail),
        })
    }

    /// Returns an integer; an error in the papers' dialect for one beyond 32 bits.
    #[inline]
    pub(super) fn of_integer(integer: i64, dialect: Dialect) -> Self {
        if dialect == Dialect::Classad && i32::try_from(integer).is_err() {
            Operand::Error
        } else {
            Operand::Integer(integer)
        }
    }

    /// Returns the truth value of the operand.
    #[inline]
    pub(super) fn truth(self, dialect: Dialect) -> Truth {
        match self {
            Operand::Boolean(is) => is.into(),
            Operand::Undefined => Truth::Undefined,
            Operand::Integer(integer) => Truth::of_number(integer != 0, dialect),
            Operand::Real(real) => Truth::of_number(real != 0.0, dialect),
            _ => Truth::Error,
        }
    }

    /// Returns the type of the operand's value.
    pub(super) fn value_type(self) -> Type {
        match self {
            Operand::Undefined => Type::Undefined,
            Operand::Error => Type::Error,
            Operand::Boolean(_) => Type::Boolean,
            Operand::Integer(_) => Type::Integer,
            Operand::Real(_) => Type::Real,
            Operand::String(_) | Operand::Computed(_) => Type::String,
        }
    }
}

/// Returns the value of an operator on two integers; `None` for what is left to [`operators::binary`].
#[inline]
fn integers<'a>(operator: BinaryOperator, a: i64, b: i64, dialect: Dialect) -> Option<Operand<'a>> {
    let integer = match operator {
        BinaryOperator::Add => a.wrapping_add(b),
        BinaryOperator::Subtract => a.wrapping_sub(b),
        BinaryOperator::Multiply => a.wrapping_mul(b),
        BinaryOperator::Divide if b > 0 => a / b,
        BinaryOperator::Remainder if b > 0 => a % b,
        _ => return None,
    };
    match operators::wrapped_integer(integer, dialect) {
        Value::Integer(integer) => Some(Operand::Integer(integer)),
        _ => None,
    }
}

/// Returns the value of an operator on two numbers as reals; `None` for what is left to [`operators::binary`], such as
/// an infinite result.
#[inline]
fn reals<'a>(operator: BinaryOperator, a: f64, b: f64) -> Option<Operand<'a>> {
    let real = match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide if b != 0.0 => a / b,
        _ => return None,
    };
    real.is_finite().then_some(Operand::Real(real))
}

/// Returns the integer as a real; beyond 2^53 the nearest one, as in C.
#[allow(clippy::cast_precision_loss)]
fn nearest_real(integer: i64) -> f64 {
    integer as f64
}
