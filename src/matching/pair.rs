//! A pair of ads: whether they accept each other, and how they rank each other.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, Participant, ScopeFrame, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};
use crate::protocol::{Protocol, is_met, rank_value};

/// One of the two ads of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    /// The request.
    Request,
    /// The offer.
    Offer,
}

impl PairSide {
    fn participant(self) -> Participant {
        if self == PairSide::Request { Participant::REQUEST } else { Participant::PARTNER }
    }
}

/// A pair of ads. In each ad, `other` and `target` denote the partner (1998 paper 3.2).
pub struct Pair {
    environment: Environment,
    protocol: Protocol,
    context: Context,
    frames: [Arc<ScopeFrame>; 2],
}

impl Pair {
    /// Pairs two ads: `left` is the request, `right` the offer.
    #[must_use]
    pub fn new(left: Ad, right: Ad, protocol: Protocol, context: Context) -> Self {
        let (environment, frames) = Environment::pair(left, right);
        Pair { environment, protocol, context, frames }
    }

    /// Creates the scope of an ad for one side of a pair. [`Pair::replace`] puts the scope into a pair.
    #[must_use]
    pub fn make_scope(ad: Ad, side: PairSide) -> Arc<ScopeFrame> {
        ScopeFrame::root(ad, side.participant())
    }

    /// Replaces the ad of one side. The scope must have been made by [`Pair::make_scope`] for this side. O(1).
    pub fn replace(&mut self, side: PairSide, scope: &Arc<ScopeFrame>) {
        let frame = &mut self.frames[side.participant().position()];
        if !Arc::ptr_eq(frame, scope) {
            *frame = Arc::clone(scope);
            self.environment.replace_ad(side.participant(), scope);
        }
    }

    /// Whether the constraint of one side is true for the partner. An ad without a constraint accepts no partner.
    pub fn accepts(&self, side: PairSide) -> Result<bool, Abort> {
        let Some(constraint) = self.protocol.constraint_name(&self.frame(side).ad) else { return Ok(false) };
        let value = self.evaluate_attribute(side, constraint)?;
        Ok(is_met(&value, self.context.dialect))
    }

    /// Returns the rank that one side gives the partner; 0 if the rank is no number.
    pub fn rank(&self, side: PairSide) -> Result<f64, Abort> {
        self.evaluate_attribute(side, self.protocol.rank_name()).map(|value| rank_value(&value))
    }

    /// Evaluates an expression in the ad of one side.
    pub fn evaluate(&self, side: PairSide, expression: &Expression) -> Result<Value, Abort> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, self.frame(side))
    }

    /// Evaluates an attribute of one side.
    pub fn evaluate_attribute(&self, side: PairSide, name: &Name) -> Result<Value, Abort> {
        Evaluator::new(&self.environment, &self.context).attribute(self.frame(side), name)
    }

    /// Whether an interrupt is raised. Evaluations may have stopped early then.
    pub(super) fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }

    fn frame(&self, side: PairSide) -> &Arc<ScopeFrame> {
        &self.frames[side.participant().position()]
    }
}
