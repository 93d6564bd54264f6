//! A pair of ads: whether they accept each other, and how they rank each other.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Frame, Name, Participant, Value};
use crate::eval::{Context, Environment, Evaluator, Halt};
use crate::protocol::{Protocol, is_met, rank_of};

/// One of the two ads of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The request.
    Left,
    /// The offer.
    Right,
}

impl Side {
    fn participant(self) -> Participant {
        match self {
            Side::Left => 0,
            Side::Right => 1,
        }
    }
}

/// A pair of ads, each the `other` and `target` of the other (1998 paper 3.2).
pub struct Pair {
    environment: Environment,
    protocol: Protocol,
    context: Context,
    frames: [Arc<Frame>; 2],
}

impl Pair {
    /// Pairs two ads.
    #[must_use]
    pub fn new(left: Ad, right: Ad, protocol: Protocol, context: Context) -> Self {
        let (environment, frames) = Environment::pair(left, right);
        Pair { environment, protocol, context, frames }
    }

    /// Creates the scope of an ad for one side of a pair, to be put there with [`Pair::replace`].
    #[must_use]
    pub fn scope(ad: Ad, side: Side) -> Arc<Frame> {
        Frame::root(ad, side.participant())
    }

    /// Replaces the ad of one side. The scope must have been made by [`Pair::scope`] for this side. O(1).
    pub fn replace(&mut self, side: Side, scope: &Arc<Frame>) {
        if Arc::ptr_eq(&self.frames[side.participant() as usize], scope) {
            return;
        }
        self.environment.replace(side.participant(), scope);
        self.frames[side.participant() as usize] = Arc::clone(scope);
    }

    /// Whether the constraint of one side is met by the other; an ad without a constraint accepts nothing.
    pub fn accepts(&self, side: Side) -> Result<bool, Halt> {
        let frame = self.frame(side);
        let Some(constraint) = self.protocol.constraint(&frame.ad) else { return Ok(false) };
        let value = Evaluator::new(&self.environment, &self.context).attribute(frame, constraint)?;
        Ok(is_met(&value, self.context.dialect))
    }

    /// Returns the rank that one side gives the other.
    pub fn rank(&self, side: Side) -> Result<f64, Halt> {
        let value =
            Evaluator::new(&self.environment, &self.context).attribute(self.frame(side), self.protocol.rank())?;
        Ok(rank_of(&value))
    }

    /// Evaluates an expression in the ad of one side.
    pub fn value(&self, side: Side, expression: &Expression) -> Result<Value, Halt> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, self.frame(side))
    }

    /// Evaluates an attribute of one side.
    pub fn attribute(&self, side: Side, name: &Name) -> Result<Value, Halt> {
        Evaluator::new(&self.environment, &self.context).attribute(self.frame(side), name)
    }

    fn frame(&self, side: Side) -> &Arc<Frame> {
        &self.frames[side.participant() as usize]
    }
}
