//! What rules make of an ad: changes and faults.

use crate::ad::{Ad, Expression, Name};
use crate::eval::Abort;

use super::macros::StatementFailure;

/// Result of a transformation.
#[derive(Clone, Debug)]
pub struct TransformResult {
    /// The transformed ad.
    pub ad: Ad,
    /// Changes, in the order in which they were made.
    pub changes: Vec<AppliedChange>,
    /// Statements that failed.
    pub faults: Vec<TransformFault>,
}

/// Change of one attribute by a statement.
#[derive(Clone, Debug)]
pub struct AppliedChange {
    /// The statement that made the change.
    pub position: StatementPosition,
    /// The changed attribute.
    pub attribute: Name,
    /// Expression before the change; `None` if the attribute did not exist.
    pub before: Option<Expression>,
    /// Expression after the change; `None` if the attribute was removed.
    pub after: Option<Expression>,
}

/// Position of a statement in a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementPosition {
    /// Index into [`Transform::rules`](super::Transform::rules).
    pub rule: usize,
    /// Index into [`TransformRule::statements`](super::TransformRule::statements); `None` for the rule as a whole, such as its REQUIREMENTS.
    pub statement: Option<usize>,
}

/// Failure of a statement for one ad.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformFault {
    /// The statement that failed; `None` for [`Transform::condition`](super::Transform::condition).
    pub position: Option<StatementPosition>,
    /// The reason, as a phrase.
    pub message: String,
    /// Reason why an evaluation stopped, such as an exceeded budget; `None` for any other failure.
    pub halt: Option<Abort>,
    /// What stayed unchanged because of the failure.
    pub scope: FaultScope,
}

/// Extent of the changes that a failure prevented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultScope {
    /// The whole ad stays unchanged.
    Ad,
    /// The statement changes nothing.
    Statement,
    /// Only this attribute stays unchanged. The statement may have changed other attributes.
    Attribute(Name),
    /// Nothing stands for a macro in the statement.
    Macro,
    /// Nothing stands for a macro in the statement, because an ad must not read the environment. This is no error.
    Environment,
}

impl TransformFault {
    pub(super) fn new(position: Option<StatementPosition>, failure: StatementFailure, scope: FaultScope) -> Self {
        TransformFault { position, message: failure.message, halt: failure.halt, scope }
    }
}
