//! The clauses of a constraint.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Kind, Name};
use crate::constraint::{Part, Parts};
use crate::syntax::{Style, print};

/// One of the conditions of a constraint, all of which must be true.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The condition.
    pub expression: Expression,
    /// The attributes through which it was found, the constraint's own first: it stands in the last one.
    pub through: Arc<[Name]>,
    /// Whether it is the whole constraint, which refers back to itself and cannot be taken apart.
    pub is_whole: bool,
}

/// So many clauses are told apart; what is beyond them is one.
pub const MOST: usize = u128::BITS as usize;

/// The clauses of the constraint of an ad that has this attribute.
pub fn clauses(ad: &Ad, constraint: &Name) -> Vec<Clause> {
    let parts = Parts::of(ad, constraint);
    let clause = |part: &Part<'_>| Clause {
        expression: part.expression.clone(),
        through: parts.way(part).into_iter().cloned().collect(),
        is_whole: false,
    };
    let mut clauses: Vec<Clause> = parts.parts.iter().map(clause).collect();
    if clauses.len() > MOST {
        let rest = clauses.split_off(MOST - 1);
        let through = rest.iter().flat_map(|clause| clause.through.iter().cloned()).collect();
        let and = |left: Expression, right: Expression| {
            let span = left.span();
            Expression::new(Kind::Binary(BinaryOperator::And, left, right), span)
        };
        let rest = rest.into_iter().map(|clause| clause.expression).reduce(and);
        clauses.extend(rest.map(|expression| Clause { expression, through, is_whole: false }));
    }
    clauses
}

impl Clause {
    /// An expression that stands nowhere.
    pub(super) fn of(expression: Expression) -> Self {
        Clause { expression, through: Arc::from([]), is_whole: false }
    }

    /// The whole constraint of an ad, if it has this attribute.
    pub(super) fn of_whole(ad: &Ad, constraint: &Name) -> Option<Self> {
        let expression = ad.get(constraint)?.clone();
        Some(Clause { expression, through: Arc::from([constraint.clone()]), is_whole: true })
    }

    /// The attribute in which it stands.
    #[must_use]
    pub fn attribute(&self) -> Option<&Name> {
        self.through.last()
    }

    /// As it is written, on one line.
    #[must_use]
    pub fn text(&self, dialect: Dialect) -> String {
        text(&self.expression, dialect)
    }
}

/// An expression as it is written in a dialect, on one line.
pub fn text(expression: &Expression, dialect: Dialect) -> String {
    let style = if dialect.is_condor() { Style::Long } else { Style::New };
    String::from_utf8_lossy(&print(expression.bare(), style)).into_owned()
}
