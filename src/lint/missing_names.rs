//! The names that an expression of a job reads, directly or through attributes of the job, and those that the job lacks.

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name};
use crate::constraint::ClauseOperand;
use crate::eval::FreeNames;

use super::subexpressions::guarded_parts;

/// Returns the names that an expression of a job reads, directly or through attributes of the job.
pub(super) fn read_names(job: &Ad, expression: &Expression, dialect: Dialect) -> Vec<Name> {
    let (mut names, mut next) = (FreeNames::of(expression, dialect).names, 0);
    while let Some(name) = names.get_index(next).cloned() {
        next += 1;
        let bound = job.get(&name).filter(|bound| bound.as_literal().is_none());
        names.extend(bound.into_iter().flat_map(|bound| FreeNames::of(bound, dialect).names));
    }
    names.into_iter().collect()
}

/// Names that an expression reads and that an ad has not.
#[derive(Default)]
pub(super) struct MissingNames {
    /// Those of the ad itself.
    pub own: Vec<Name>,
    /// Those of the other ad.
    pub theirs: Vec<Name>,
}

/// Returns the names that an expression of an ad reads without a guard, directly or through other attributes, and that the ad
/// has not.
pub(super) fn missing_names(ad: &Ad, expression: &Expression, dialect: Dialect) -> MissingNames {
    let (mut missing, mut pending, mut seen) = (MissingNames::default(), vec![expression.clone()], Vec::new());
    while let Some(expression) = pending.pop() {
        let guarded: Vec<&Name> = guarded_parts(&expression).filter_map(any_name).collect();
        let read = FreeNames::of(&expression, dialect);
        missing.theirs.extend(read.theirs.into_iter().filter(|name| !guarded.contains(&name)));
        for name in read.mine.into_iter().chain(read.unqualified) {
            if seen.contains(&name) || guarded.contains(&&name) || name.is("CurrentTime") {
                continue;
            }
            match ad.get(&name) {
                Some(bound) if bound.as_literal().is_none() => pending.push(bound.clone()),
                Some(_) => {}
                None => missing.own.push(name.clone()),
            }
            seen.push(name);
        }
    }
    missing
}

/// The name of an attribute of the own ad, if the expression is one.
pub(super) fn own_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)
            if !matches!(expression.kind(), ExpressionKind::Parentheses(_)) =>
        {
            Some(name)
        }
        _ => None,
    }
}

/// The name of an attribute of either ad, if the expression is one.
fn any_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) | ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Literal(_) => None,
    }
}
