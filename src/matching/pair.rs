//! A pair of ads: whether they accept each other, and how they rank each other.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, Participant, ScopeFrame, Truth, Value};
use crate::constraint::literal_value;
use crate::eval::{
    Abort, CompiledEvaluator, CompiledName, CompiledScene, CompiledSubject, CompiledValue, Context, Environment,
    Evaluator, Work,
};
use crate::protocol::{Protocol, rank_value};

/// One of the two ads of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    /// The request.
    Request,
    /// The offer.
    Offer,
}

impl PairSide {
    /// The side of the partner.
    #[must_use]
    pub fn other(self) -> Self {
        if self == PairSide::Request { PairSide::Offer } else { PairSide::Request }
    }

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
    /// Number of evaluations by the tree walker alone, at most [`EVALUATIONS_BEFORE_COMPILING`].
    evaluations: Cell<u32>,
    /// Steps for comparisons that are not yet counted for the run.
    steps: Cell<u64>,
    compiled: RefCell<CompiledEvaluator>,
    /// Names of the attributes that may hold the constraint.
    compiled_constraints: Vec<CompiledName>,
    compiled_rank: CompiledName,
}

/// Number of evaluations after which a pair compiles expressions. For a few evaluations that does not pay off.
const EVALUATIONS_BEFORE_COMPILING: u32 = 8;

/// Number of nodes of a program that count as a step for comparisons.
const NODES_PER_STEP: u64 = 4;

/// Returns the number of steps for comparisons that an evaluation by the tree walker counts as.
pub(super) fn comparison_steps(walker: &Evaluator<'_>) -> u64 {
    Work::Walk.steps() + 2 * walker.steps()
}

impl Pair {
    /// Pairs two ads: `left` is the request, `right` the offer.
    #[must_use]
    pub fn new(left: Ad, right: Ad, protocol: Protocol, context: Context) -> Self {
        let (environment, frames) = Environment::pair(left, right);
        let mut compiled = CompiledEvaluator::for_pairs(context.dialect);
        Pair {
            compiled_constraints: protocol.constraint_names().iter().map(|name| compiled.name(name)).collect(),
            compiled_rank: compiled.name(protocol.rank_name()),
            environment,
            protocol,
            context,
            frames,
            evaluations: Cell::new(0),
            steps: Cell::new(0),
            compiled: RefCell::new(compiled),
        }
    }

    /// The settings of the evaluations.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Which attributes hold constraints and ranks.
    pub(super) fn protocol(&self) -> &Protocol {
        &self.protocol
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
        let subject = CompiledSubject::FirstAttribute(&self.compiled_constraints);
        let truth = self.compiled(side, |compiled, scene| compiled.truth(subject, scene, &self.context));
        if let Some(truth) = truth {
            return Ok(truth.is_true());
        }
        let Some(constraint) = self.protocol.constraint_name(&self.frame(side).ad) else { return Ok(false) };
        let value = self.walk(|walker| walker.attribute(self.frame(side), constraint))?;
        Ok(Truth::of(&value, self.context.dialect).is_true())
    }

    /// Returns the rank that one side gives the partner; 0 if the rank is not a number.
    pub fn rank(&self, side: PairSide) -> Result<f64, Abort> {
        // Most ranks are constants.
        let rank = self.frame(side).ad.get(self.protocol.rank_name());
        if let Some(rank) = rank.and_then(|rank| literal_value(rank, self.context.dialect)) {
            return Ok(rank_value(rank));
        }
        let subject = CompiledSubject::FirstAttribute(std::slice::from_ref(&self.compiled_rank));
        let rank = self.compiled(side, |compiled, scene| compiled.value(subject, scene, &self.context));
        match rank {
            Some(CompiledValue::Value(value)) => Ok(rank_value(&value)),
            Some(CompiledValue::Error) => Ok(rank_value(&Value::Undefined)),
            None => {
                let value = self.walk(|walker| walker.attribute(self.frame(side), self.protocol.rank_name()))?;
                Ok(rank_value(&value))
            }
        }
    }

    /// Evaluates an expression in the ad of one side.
    pub fn evaluate(&self, side: PairSide, expression: &Expression) -> Result<Value, Abort> {
        let subject = CompiledSubject::Expression(expression);
        match self.compiled(side, |compiled, scene| compiled.value(subject, scene, &self.context)) {
            Some(CompiledValue::Value(value)) => Ok(value),
            Some(CompiledValue::Error) | None => self.walk(|walker| walker.evaluate(expression, self.frame(side))),
        }
    }

    /// Evaluates an attribute of one side.
    pub fn evaluate_attribute(&self, side: PairSide, name: &Name) -> Result<Value, Abort> {
        let value = self.compiled(side, |compiled, scene| {
            let name = compiled.name(name);
            compiled.value(CompiledSubject::FirstAttribute(&[name]), scene, &self.context)
        });
        match value {
            Some(CompiledValue::Value(value)) => Ok(value),
            Some(CompiledValue::Error) | None => self.walk(|walker| walker.attribute(self.frame(side), name)),
        }
    }

    /// Evaluates with the tree walker.
    fn walk(&self, evaluate: impl FnOnce(&mut Evaluator<'_>) -> Result<Value, Abort>) -> Result<Value, Abort> {
        let mut walker = Evaluator::new(&self.environment, &self.context);
        let value = evaluate(&mut walker);
        self.steps.set(self.steps.get() + comparison_steps(&walker));
        value
    }

    /// Counts the evaluations since the last call as steps for comparisons. Whether there are steps left.
    pub(super) fn count_comparisons(&self) -> bool {
        self.context.count_comparisons(self.steps.take());
        !self.context.has_spent_comparisons()
    }

    /// Evaluates a program in the ad of one side. `None` if only the tree walker can tell the value, or if the pair has
    /// not been evaluated often.
    fn compiled<T>(
        &self,
        side: PairSide,
        evaluate: impl FnOnce(&mut CompiledEvaluator, CompiledScene<'_>) -> Option<T>,
    ) -> Option<T> {
        if self.evaluations.get() < EVALUATIONS_BEFORE_COMPILING {
            self.evaluations.set(self.evaluations.get() + 1);
            return None;
        }
        let ads = self.frames.each_ref().map(|frame| &frame.ad);
        let mut compiled = self.compiled.borrow_mut();
        let value = evaluate(&mut compiled, CompiledScene::of_match(ads, side.participant().position()));
        self.steps.set(self.steps.get() + Work::Program.steps() + u64::from(compiled.steps()) / NODES_PER_STEP);
        value
    }

    /// Whether an interrupt is raised. Evaluations may have stopped early then.
    pub(super) fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }

    fn frame(&self, side: PairSide) -> &Arc<ScopeFrame> {
        &self.frames[side.participant().position()]
    }
}
