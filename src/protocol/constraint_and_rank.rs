//! Which attributes are an ad's constraint and rank, and what their values mean.

use crate::ad::{Ad, Dialect, Expression, Name, Value};

/// Which attributes are an ad's constraint and rank.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The first of these that an ad has is its constraint.
    constraint: Vec<Name>,
    /// The rank.
    rank: Name,
}

impl Protocol {
    /// `Constraint` in the papers and `Requirements` in HTCondor; if an ad has both, its dialect's counts.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let names = match dialect {
            Dialect::Classad => ["Constraint", "Requirements"],
            Dialect::Condor => ["Requirements", "Constraint"],
        };
        Protocol { constraint: names.map(Name::new).into(), rank: Name::new("Rank") }
    }

    /// The same with other attributes.
    #[must_use]
    pub fn with(mut self, constraint: Option<&str>, rank: Option<&str>) -> Self {
        if let Some(constraint) = constraint {
            self.constraint = vec![Name::new(constraint)];
        }
        if let Some(rank) = rank {
            self.rank = Name::new(rank);
        }
        self
    }

    /// The attribute that is the constraint of this ad or port; none if it has no constraint.
    #[must_use]
    pub fn constraint(&self, ad: &Ad) -> Option<&Name> {
        self.constraint.iter().find(|name| ad.get(name).is_some())
    }

    /// The constraint of this ad or port, if it has one.
    #[must_use]
    pub fn constraint_of<'a>(&self, ad: &'a Ad) -> Option<&'a Expression> {
        self.constraint.iter().find_map(|name| ad.get(name))
    }

    /// Every attribute that may be a constraint or a rank.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.constraint.iter().chain([&self.rank])
    }

    /// The attribute that is the rank.
    #[must_use]
    pub fn rank(&self) -> &Name {
        &self.rank
    }
}

/// Whether a constraint of this value is met: only `true` will do, and in HTCondor's dialect a number
/// other than zero.
#[must_use]
pub fn is_met(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Boolean(is) => *is,
        Value::Integer(integer) => dialect.is_condor() && *integer != 0,
        Value::Real(real) => dialect.is_condor() && *real != 0.0,
        _ => false,
    }
}

/// The rank that a value is: numbers themselves, booleans 0 and 1, all else 0 (1998 paper §3.2).
#[must_use]
#[allow(clippy::cast_precision_loss)] // a rank beyond 2^53 is compared as the nearest real
pub fn rank_of(value: &Value) -> f64 {
    match value {
        Value::Integer(integer) => *integer as f64,
        Value::Real(real) if !real.is_nan() => *real,
        Value::Boolean(is) => f64::from(u8::from(*is)),
        _ => 0.0,
    }
}
