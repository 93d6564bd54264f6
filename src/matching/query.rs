//! One-way matching: the ads for which a constraint is true.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator, Halt};
use crate::protocol::is_met;

/// A constraint that is tested against single ads.
pub struct Query {
    constraint: Expression,
    context: Context,
}

impl Query {
    /// Creates a query for the ads that meet a constraint.
    #[must_use]
    pub fn new(constraint: Expression, context: Context) -> Self {
        Query { constraint, context }
    }

    /// Whether an ad meets the constraint.
    pub fn accepts(&self, ad: &Ad) -> Result<bool, Halt> {
        self.value(ad).map(|value| is_met(&value, self.context.dialect))
    }

    /// Evaluates the constraint in an ad.
    pub fn value(&self, ad: &Ad) -> Result<Value, Halt> {
        let (environment, frame) = Environment::alone(ad.clone());
        Evaluator::new(&environment, &self.context).evaluate(&self.constraint, &frame)
    }
}
