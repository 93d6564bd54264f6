//! What a policy of a job in the queue says now and later, and why it has no value.

use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, ScopeAd, ScopeFrame, Truth, Value};
use crate::configuration::{JobPolicy, PolicyEffectKind};
use crate::constraint::{ClockBreaks, own_names};
use crate::eval::{
    CURRENT_TIME, ConstraintVerdict, Context, Environment, Evaluator, Knowledge, SpecializeOptions, specialize,
};

use super::clause_time::soonest;
use super::clauses::{parenthesized, text};
use super::foreseen_effect::ForeseenEffect;

/// Maximum number of steps into an expression. Attributes that name each other would lead on forever.
const MAX_STEPS: usize = 256;

/// The attributes of a job that are known when its run ends.
const EXIT_ATTRIBUTES: [&str; 3] = ["ExitBySignal", "ExitCode", "ExitSignal"];

/// What a policy of a job says now and later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolicyOutlook {
    /// The attribute of the job, or the variable of the configuration.
    pub name: String,
    /// 1-based number of the variable's line in the dump; `None` for an attribute of the job.
    pub line: Option<usize>,
    /// What it does.
    pub effect: PolicyEffectKind,
    /// When it does so.
    pub moment: PolicyMoment,
    /// The part of the expression that decides: for a moment the part that is true then, for a fault the part that has no value.
    /// For the end of a run, what is left of the condition; `None` if it is met whatever the end is.
    pub part: Option<String>,
    /// Why it has no value, so that it counts as false: now, or from the second on from which it is unknown.
    pub fault: Option<PolicyGap>,
}

impl PolicyOutlook {
    /// Whether it is a policy of the job that has no value.
    #[must_use]
    pub fn is_faulty(&self) -> bool {
        self.fault.is_some() && self.line.is_none() && !matches!(self.moment, PolicyMoment::Unknown(_))
    }
}

/// When a policy has its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyMoment {
    /// At the next evaluation.
    Now,
    /// From a second on, in seconds since 1970, if the job stays as it is; with whether that is seen in samples.
    From(i64, bool),
    /// From a second on, in seconds since 1970, it depends on what the ad lacks, such as the memory that a run uses.
    Unknown(i64),
    /// When the run ends.
    AtExit,
    /// Not by the clock alone.
    Never,
}

/// Why a policy has no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicyGap {
    /// These attributes are undefined.
    Undefined(Vec<String>),
    /// The part of the policy is an error.
    Error,
}

/// A policy in the ad of its job.
pub(super) struct PolicyView<'v> {
    policy: &'v JobPolicy,
    job: &'v Ad,
    environment: Environment,
    frame: Arc<ScopeFrame>,
    context: &'v Context,
}

impl<'v> PolicyView<'v> {
    pub(super) fn new(policy: &'v JobPolicy, job: &'v Ad, context: &'v Context) -> Self {
        let (environment, frame) = Environment::single(job.clone());
        PolicyView { policy, job, environment, frame, context }
    }

    fn value(&self, expression: &Expression, at: i64) -> Value {
        let context = Context { now: Some(at), ..self.context.clone() };
        Evaluator::new(&self.environment, &context).evaluate(expression, &self.frame).unwrap_or(Value::Undefined)
    }

    /// Whether the policy takes an expression for true: 0.5 is 0.
    fn is_true(&self, expression: &Expression, at: i64) -> bool {
        let value = match self.value(expression, at) {
            Value::Real(number) => Value::Real(number.trunc()),
            value => value,
        };
        Truth::of(&value, Dialect::Condor).is_true()
    }

    /// Says what the policy does now and later. `foreseen` is the effect of the policy, if it is the first of the job.
    pub(super) fn outlook(&self, now: i64, foreseen: Option<&ForeseenEffect>) -> PolicyOutlook {
        let JobPolicy { name, line, expression, condition, effect, is_at_exit, .. } = self.policy;
        let shown = |part: &Expression| text(part, self.context.dialect);
        let mut outlook = PolicyOutlook {
            name: name.clone(),
            line: *line,
            effect: *effect,
            moment: PolicyMoment::Never,
            part: None,
            fault: None,
        };
        if *is_at_exit {
            let (left, verdict) = self.left_at_exit(expression);
            let is_requeued = *effect == PolicyEffectKind::Requeues;
            outlook.moment = match verdict {
                ConstraintVerdict::Never if !is_requeued => PolicyMoment::Never,
                ConstraintVerdict::Always if is_requeued => PolicyMoment::Never,
                _ => PolicyMoment::AtExit,
            };
            outlook.part = (verdict == ConstraintVerdict::Depends).then(|| shown(&left));
            return outlook;
        }
        let from = foreseen
            .map(|foreseen| (foreseen.from, foreseen.is_sampled))
            .or_else(|| self.first_second(condition, now, |view, second| view.is_true(condition, second)));
        let deciding = |at: i64| {
            // The condition that is made of a time says no more than the time.
            (condition.without_parentheses().as_literal().is_none() && self.is_written())
                .then(|| shown(&self.true_part(expression, at, &mut { MAX_STEPS })))
        };
        match from {
            Some((at, _)) if at <= now => (outlook.moment, outlook.part) = (PolicyMoment::Now, deciding(at)),
            Some((at, is_sampled)) => {
                (outlook.moment, outlook.part) = (PolicyMoment::From(at, is_sampled), deciding(at));
            }
            None => {}
        }
        if outlook.moment != PolicyMoment::Now {
            outlook.fault = self.fault(expression, now);
            if outlook.moment == PolicyMoment::Never && outlook.fault.is_some() {
                outlook.part = Some(shown(&self.unvalued_part(expression, now, &mut { MAX_STEPS })));
            }
        }
        if outlook.moment == PolicyMoment::Never && outlook.fault.is_none() && line.is_none() {
            let is_undefined = |view: &Self, second: i64| view.value(expression, second) == Value::Undefined;
            if let Some((at, _)) = self.first_second(expression, now, is_undefined) {
                (outlook.moment, outlook.fault) = (PolicyMoment::Unknown(at), self.fault(expression, at));
            }
        }
        outlook
    }

    /// Whether the expression is the condition, and not the time or the duration of which the condition is made.
    fn is_written(&self) -> bool {
        self.policy.line.is_some()
            || own_names([&self.policy.condition]).len() == 1
                && self.policy.condition.as_literal().is_none()
                && matches!(self.policy.condition.kind(), ExpressionKind::Attribute(_))
    }

    /// Returns the first second at which an expression is what `is` says, and whether that is seen in samples.
    fn first_second(&self, expression: &Expression, now: i64, is: impl Fn(&Self, i64) -> bool) -> Option<(i64, bool)> {
        let find = |length: i64| {
            let span: Range<i64> = now..now.saturating_add(length);
            let breaks = ClockBreaks::of(expression, &self.frame, &self.environment, self.context, span);
            let timeline = breaks.timeline(|seconds| (!self.context.is_interrupted()).then(|| is(self, seconds.start)));
            let first = timeline.seconds_in(|is| *is).next().map(|seconds| seconds.start)?;
            Some((first, timeline.sampling.is_some()))
        };
        soonest(find, |first| first.1)
    }

    /// Returns what is left of a condition while the end of the run is unknown.
    fn left_at_exit(&self, condition: &Expression) -> (Expression, ConstraintVerdict) {
        let known = self.job.iter().filter(|own| !EXIT_ATTRIBUTES.iter().any(|unknown| own.name.is(unknown)));
        let running = known.map(|own| (own.name.clone(), own.expression.clone())).collect();
        let (mut environment, frame) = Environment::single(running);
        if let Some(member) = environment.member_mut(frame.participant) {
            member.knowledge = Knowledge::Partial;
        }
        let timeless = Context { now: None, random: None, ..self.context.clone() };
        let found = specialize(condition, &frame, &environment, &timeless, SpecializeOptions::default());
        (found.expression, found.verdict)
    }

    /// Returns the expression of an attribute of the job that stands for a condition.
    fn own_condition(&self, part: &Expression) -> Option<&Expression> {
        own_name(part).and_then(|name| self.job.get(&name)).filter(|own| own.as_literal().is_none())
    }

    /// Returns the part of a true expression that makes it true: of a disjunction the first true operand.
    fn true_part(&self, part: &Expression, at: i64, left: &mut usize) -> Expression {
        let part = part.without_parentheses();
        *left = left.saturating_sub(1);
        if *left == 0 {
            return part.clone();
        }
        let mut of = |next: &Expression| self.true_part(next, at, left);
        match part.kind() {
            ExpressionKind::Binary(BinaryOperator::Or, one, other) => {
                of(if self.is_true(one, at) { one } else { other })
            }
            ExpressionKind::Binary(BinaryOperator::And, one, other) => {
                let [one, other] = [one, other].map(|operand| loose(&of(operand)));
                Expression::binary(BinaryOperator::And, one, other)
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                let chosen = if self.is_true(condition, at) { yes } else { no };
                // A branch that is a constant says nothing: the condition decides.
                if chosen.without_parentheses().as_literal().is_some() { part.clone() } else { of(chosen) }
            }
            ExpressionKind::Elvis(value, default) => {
                of(if self.value(value, at) == Value::Undefined { default } else { value })
            }
            _ => self.own_condition(part).map_or_else(|| part.clone(), of),
        }
    }

    /// Returns why an expression has no value; `None` if it has one.
    pub(super) fn fault(&self, expression: &Expression, now: i64) -> Option<PolicyGap> {
        match self.value(expression, now) {
            Value::Undefined => {
                let mut names = IndexSet::new();
                self.add_undefined(expression, now, &mut names, &mut { MAX_STEPS });
                Some(PolicyGap::Undefined(names.into_iter().map(|name| name.to_string()).collect()))
            }
            Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => None,
            _ => Some(PolicyGap::Error),
        }
    }

    /// Adds the attributes that make an expression undefined.
    fn add_undefined(&self, part: &Expression, now: i64, names: &mut IndexSet<Name>, left: &mut usize) {
        *left = left.saturating_sub(1);
        if *left == 0 || self.value(part, now) != Value::Undefined {
            return;
        }
        if let Some(name) = own_name(part) {
            match self.job.get(&name).filter(|own| own.as_literal().is_none()) {
                Some(own) => self.add_undefined(own, now, names, left),
                None => drop(names.insert(name)),
            }
            return;
        }
        part.kind().for_each_child(|child| self.add_undefined(child, now, names, left));
    }

    /// Returns the innermost part of an expression without a value to which it owes that it has none.
    fn unvalued_part(&self, part: &Expression, now: i64, left: &mut usize) -> Expression {
        let part = part.without_parentheses();
        *left = left.saturating_sub(1);
        let mut operands = Vec::new();
        if let ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, one, other) = part.kind() {
            operands.extend([one, other]);
        }
        operands.extend(self.own_condition(part).filter(|_| *left > 0));
        let is_unvalued = |next: &&&Expression| {
            !matches!(self.value(next, now), Value::Boolean(_) | Value::Integer(_) | Value::Real(_))
        };
        match operands.iter().find(is_unvalued) {
            Some(next) if *left > 0 => self.unvalued_part(next, now, left),
            _ => part.clone(),
        }
    }
}

/// The name that an expression looks up in its own ad, if it does nothing else.
fn own_name(part: &Expression) -> Option<Name> {
    match part.without_parentheses().kind() {
        ExpressionKind::Attribute(name) if !name.is_known(CURRENT_TIME) => Some(name.clone()),
        ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
            ExpressionKind::Attribute(scope) if ScopeAd::of(scope) == Some(ScopeAd::Own) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Puts what binds less than `&&` into parentheses.
fn loose(part: &Expression) -> Expression {
    match part.kind() {
        ExpressionKind::Binary(BinaryOperator::Or, ..)
        | ExpressionKind::Conditional(..)
        | ExpressionKind::Elvis(..) => parenthesized(part),
        _ => part.clone(),
    }
}
