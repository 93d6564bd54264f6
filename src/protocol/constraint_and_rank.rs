//! The attributes that hold an ad's constraint and rank, and the meaning of their values.

use crate::ad::{Ad, Dialect, Expression, Name, Value};

/// The names of the attributes that hold an ad's constraint and its rank.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// Names of attributes that may hold the constraint. The first one that an ad has counts.
    constraint_names: Vec<Name>,
    /// Name of the attribute that holds the rank.
    rank_name: Name,
}

impl Protocol {
    /// Returns the default names. The papers call the constraint `Constraint`, HTCondor calls it `Requirements`. Both
    /// names are accepted; if an ad has both attributes, the usual name of `dialect` counts.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let names = match dialect {
            Dialect::Classad => ["Constraint", "Requirements"],
            Dialect::Condor => ["Requirements", "Constraint"],
        };
        Protocol { constraint_names: names.map(Name::new).into(), rank_name: Name::new("Rank") }
    }

    /// Replaces the default name of the constraint, of the rank, or of both; `None` keeps a default name.
    #[must_use]
    pub fn with_attributes(mut self, constraint: Option<&str>, rank: Option<&str>) -> Self {
        if let Some(constraint) = constraint {
            self.constraint_names = vec![Name::new(constraint)];
        }
        if let Some(rank) = rank {
            self.rank_name = Name::new(rank);
        }
        self
    }

    /// Returns the names of the attributes that may hold the constraint. The first one that an ad has counts.
    #[must_use]
    pub fn constraint_names(&self) -> &[Name] {
        &self.constraint_names
    }

    /// Returns the name of the attribute that holds the constraint of `ad`, which may be the record of a port; `None`
    /// if `ad` has no constraint.
    #[must_use]
    pub fn constraint_name(&self, ad: &Ad) -> Option<&Name> {
        self.constraint_names.iter().find(|name| ad.get(name).is_some())
    }

    /// Returns the constraint of `ad`, which may be the record of a port; `None` if `ad` has no constraint.
    #[must_use]
    pub fn constraint_expression<'a>(&self, ad: &'a Ad) -> Option<&'a Expression> {
        self.constraint_names.iter().find_map(|name| ad.get(name))
    }

    /// Iterates over every attribute name that may hold a constraint or a rank.
    pub fn attribute_names(&self) -> impl Iterator<Item = &Name> {
        self.constraint_names.iter().chain([&self.rank_name])
    }

    /// Returns the name of the attribute that holds the rank.
    #[must_use]
    pub fn rank_name(&self) -> &Name {
        &self.rank_name
    }
}

/// Returns the value of a rank expression as a number. Any value that is no rank is 0 (1998 paper 3.2).
#[must_use]
pub fn rank_value(value: &Value) -> f64 {
    rank_number(value).unwrap_or(0.0)
}

/// Whether a value orders by itself in ranks, besides numbers: in the papers' dialect, strings and times (thesis 3.2.3).
#[must_use]
pub fn is_typed_rank(value: &Value, dialect: Dialect) -> bool {
    let is_typed = match value {
        Value::String(_) | Value::AbsoluteTime(_) => true,
        Value::RelativeTime(time) => !time.seconds.is_nan(),
        _ => false,
    };
    is_typed && dialect == Dialect::Classad
}

/// Returns the number that a value of a rank expression counts as. A number is itself, `true` is 1, `false` is 0. `None`
/// for NaN and any other value. `-0.0` becomes `0.0`, so that both are one rank.
#[must_use]
#[allow(clippy::cast_precision_loss)] // a rank beyond 2^53 is compared as the nearest real
pub fn rank_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        // Adding 0.0 turns -0.0 into 0.0.
        Value::Real(real) if !real.is_nan() => Some(*real + 0.0),
        Value::Boolean(is) => Some(f64::from(u8::from(*is))),
        _ => None,
    }
}
