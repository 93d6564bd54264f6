//! What becomes of the rest of an offer after a cycle: HTCondor's access point fills a partitionable slot that a job got
//! with further jobs of the same submitter (`CLAIM_PARTITIONABLE_LEFTOVERS`; `FindRunnableJob` in HTCondor's `qmgmt.cpp`).

use crate::ad::{Dialect, Expression, ExpressionKind, Name, Value};

use super::{PolicyRule, Residual, candidate_label};

/// The rules by which the rest of an offer goes to further requests of the submitter that got it.
#[derive(Clone, Debug)]
pub struct Leftovers {
    /// Whether rests are used. If not, a request gets its part of the offer, and the rest waits for the next cycle.
    pub are_used: bool,
    /// The part of an offer that a request gets, and what is left of the offer.
    pub division: Residual,
    /// Whether a request may have a rest, evaluated like a component of the docking vector. If `None`, it may.
    pub permits: Option<PolicyRule>,
    /// Whether a request may have an offer of the cycle only in the place of one with the same concurrency limits, and a rest
    /// only without any.
    pub considers_limits: bool,
    /// Number of seconds during which a claim gets a further request when one ends, evaluated in the offer. If `None`, it gets
    /// none; if the value is not a number of at least 0, there is no end.
    pub worklife: Option<PolicyRule>,
}

impl Default for Leftovers {
    fn default() -> Self {
        Leftovers {
            are_used: true,
            division: Residual::default(),
            permits: None,
            considers_limits: true,
            worklife: None,
        }
    }
}

/// Returns the rule that says which requests start on which offers, with `JOB` and `SLOT` as the names of the two ads: the
/// form of HTCondor's `START_VANILLA_UNIVERSE`. `None` if the rule is always true.
pub(super) fn start_rule(rule: PolicyRule, dialect: Dialect) -> Option<PolicyRule> {
    if matches!(rule.expression.as_literal(), Some(Value::Boolean(true))) {
        return None;
    }
    let own = Name::new(if dialect.is_condor() { "MY" } else { "self" });
    let (job, slot) = (Name::new("JOB"), Name::new("SLOT"));
    let expression = rule.expression.with_parts_replaced(&mut |part| match part.kind() {
        ExpressionKind::Attribute(name) if *name == job => Some(Expression::attribute(own.clone())),
        ExpressionKind::Attribute(name) if *name == slot => Some(Expression::attribute(candidate_label())),
        _ => None,
    });
    Some(PolicyRule { expression, ..rule })
}
