//! One-way matching: the ads for which a constraint is true.

use std::sync::{Mutex, TryLockError};

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Abort, CompiledEvaluator, CompiledValue, Context, Environment, Evaluator};
use crate::protocol::is_met;

/// A constraint that is tested against single ads.
pub struct Query {
    constraint: Expression,
    context: Context,
    /// Programs of the constraint and of what it reads, for the thread that tests an ad.
    compiled: Mutex<CompiledEvaluator>,
}

impl Query {
    /// Creates a query for the ads that meet a constraint.
    #[must_use]
    pub fn new(constraint: Expression, context: Context) -> Self {
        let compiled = Mutex::new(CompiledEvaluator::for_passing_ads(context.dialect));
        Query { constraint, context, compiled }
    }

    /// Whether an ad meets the constraint.
    pub fn accepts(&self, ad: &Ad) -> Result<bool, Abort> {
        match self.compiled(|compiled| compiled.holds(&self.constraint, ad, &self.context)) {
            Some(holds) => Ok(holds),
            None => self.walk(ad).map(|value| is_met(&value, self.context.dialect)),
        }
    }

    /// Returns the value of the constraint in an ad, which need not be a boolean.
    pub fn evaluate(&self, ad: &Ad) -> Result<Value, Abort> {
        match self.compiled(|compiled| compiled.value(&self.constraint, ad, &self.context)) {
            Some(CompiledValue::Value(value)) => Ok(value),
            Some(CompiledValue::Error) | None => self.walk(ad),
        }
    }

    /// Returns the value of the constraint in an ad, like [`Query::evaluate`], with the programs of one thread. The
    /// evaluator must have been made by [`Query::evaluator`].
    pub fn evaluate_with(&self, evaluator: &mut CompiledEvaluator, ad: &Ad) -> Result<Value, Abort> {
        evaluator.evaluate(&self.constraint, ad, &self.context)
    }

    /// Creates an evaluator for [`Query::evaluate_with`].
    #[must_use]
    pub fn evaluator(&self) -> CompiledEvaluator {
        CompiledEvaluator::for_passing_ads(self.context.dialect)
    }

    /// Runs the compiled constraint; `None` if only the tree walker can tell the value, or if another thread runs it.
    fn compiled<T>(&self, run: impl FnOnce(&mut CompiledEvaluator) -> Option<T>) -> Option<T> {
        match self.compiled.try_lock() {
            Ok(mut compiled) => run(&mut compiled),
            // A panic leaves nothing behind but missing programs.
            Err(TryLockError::Poisoned(poisoned)) => run(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn walk(&self, ad: &Ad) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, &self.context).evaluate(&self.constraint, &frame)
    }
}
