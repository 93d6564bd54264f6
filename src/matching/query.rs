//! One-way matching: the ads for which a constraint is true.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};
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
    pub fn accepts(&self, ad: &Ad) -> Result<bool, Abort> {
        self.evaluate(ad).map(|value| is_met(&value, self.context.dialect))
    }

    /// Returns the value of the constraint in an ad, which need not be a boolean.
    pub fn evaluate(&self, ad: &Ad) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, &self.context).evaluate(&self.constraint, &frame)
    }
}
