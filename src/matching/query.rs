//! One-way matching: which ads a constraint is true of.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator, Halt};
use crate::protocol::is_met;

/// A constraint to ask of ads.
pub struct Query {
    constraint: Expression,
    context: Context,
}

impl Query {
    /// A query for the ads that a constraint is true of.
    #[must_use]
    pub fn new(constraint: Expression, context: Context) -> Self {
        Query { constraint, context }
    }

    /// Whether the constraint is true of an ad.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded.
    pub fn accepts(&self, ad: &Ad) -> Result<bool, Halt> {
        self.value(ad).map(|value| is_met(&value, self.context.dialect))
    }

    /// The value of the constraint in an ad.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded.
    pub fn value(&self, ad: &Ad) -> Result<Value, Halt> {
        let (environment, frame) = Environment::alone(ad.clone());
        Evaluator::new(&environment, &self.context).evaluate(&self.constraint, &frame)
    }
}
