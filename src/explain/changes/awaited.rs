//! The clauses that come true by themselves, and the request at that time.

use crate::ad::{Ad, Expression, Value};
use crate::explain::clause_report::ClauseReport;
use crate::explain::failure_reason::FailureReason;
use crate::explain::request_analysis::RequestAnalysis;

use super::edit::RequestEdit;

/// Returns the edits that make the clauses true which come true by themselves. The others keep their places.
pub fn awaited_clauses(analysis: &RequestAnalysis) -> impl Iterator<Item = RequestEdit> {
    let is_awaited = |clause: &&ClauseReport| matches!(&clause.failure, Some(failure @ FailureReason::NotNow(_)) if failure.awaited().is_some());
    let awaited = analysis.clauses.iter().filter(is_awaited);
    awaited.map(|clause| making_true(&clause.analysis.clause.expression))
}

/// Returns the edits that make those corrected clauses true which come true by themselves.
pub fn awaited_corrections(analysis: &RequestAnalysis) -> impl Iterator<Item = RequestEdit> {
    analysis.clauses.iter().filter_map(|clause| match &clause.failure {
        Some(failure @ FailureReason::Slip { corrected, .. }) if failure.awaited().is_some() => {
            Some(making_true(corrected))
        }
        _ => None,
    })
}

/// Returns a clause that comes true by itself with the corrected value of an attribute, and the edit that corrects it.
pub fn awaited_setting(clause: &ClauseReport) -> Option<(&Expression, RequestEdit)> {
    let failure = clause.failure.as_ref().filter(|failure| failure.awaited().is_some())?;
    let FailureReason::Setting { name, to, .. } = failure else { return None };
    let edit = RequestEdit::Set { name: name.clone(), from: None, to: to.clone() };
    Some((&clause.analysis.clause.expression, edit))
}

/// Returns the edit that makes a clause true.
pub fn making_true(clause: &Expression) -> RequestEdit {
    RequestEdit::Rewrite { clause: clause.clone(), to: Expression::literal(Value::Boolean(true)) }
}

/// Returns a request at the time at which the awaited clauses are true.
pub fn in_time(request: &Ad, awaited: &[RequestEdit]) -> Ad {
    awaited.iter().fold(request.clone(), |request, edit| edit.apply(&request).unwrap_or(request))
}
