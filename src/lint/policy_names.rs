//! Checks the names in the policies of a configuration against a pool.

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Expression, Name};
use crate::constraint::ClauseOperand;
use crate::eval::Context;

use super::finding::LintFinding;
use super::pool::{PoolCheck, PoolReference, unresolved_references};
use super::pool_statistics::PoolStatistics;
use super::subexpressions::{guarded_names, guarded_parts, subexpressions};

/// Checks the names in an expression of a configuration against a pool of jobs, machines or both. `is_of_job` says
/// whether the expression is evaluated in a job's ad; otherwise it is evaluated in a machine's, and TARGET is a job.
///
/// A name without MY or TARGET may be one of the other ad, so that it is reported only if the pool has the ads in which
/// it is looked up first, or a similar name.
#[must_use]
pub fn check_policy_names(
    expression: &Expression,
    is_of_job: bool,
    pool: &PoolStatistics,
    context: &Context,
) -> Vec<LintFinding> {
    let (ad, mut found) = (Ad::default(), Vec::new());
    let attribute = Name::new("Policy");
    let [own_type, other_type] = if is_of_job { ["Job", "Machine"] } else { ["Machine", "Job"] };
    let (has_own, has_other) = (pool.has_type(own_type), pool.has_type(other_type));
    let mut check = PoolCheck { pool, ad: &ad, attribute: &attribute, context, found: &mut found };
    let (guarded, mut seen) = (guarded_names(expression), FxHashSet::default());
    for reference in unresolved_references(&ad, expression) {
        let is_known = if reference.is_qualified { has_other } else { has_own && (is_of_job || has_other) };
        if !seen.insert((reference.is_qualified, reference.name)) {
            continue;
        }
        if is_known && !guarded.contains(reference.name) {
            check.check_known(&reference);
        } else if is_known || !reference.is_qualified {
            check.check_guarded(&reference);
        }
    }
    let own_name = |part| match ClauseOperand::of(part) {
        Some(ClauseOperand::Own(name)) => Some(name),
        _ => None,
    };
    let guarded: FxHashSet<&Name> = guarded_parts(expression).filter_map(own_name).collect();
    let mut seen = FxHashSet::default();
    for reference in own_references(expression).iter().filter(|reference| has_own && seen.insert(reference.name)) {
        if guarded.contains(reference.name) {
            check.check_guarded(reference);
        } else {
            check.check_known(reference);
        }
    }
    found
}

/// Returns the references in an expression to attributes of its own ad that name this ad, such as `MY.Memory`.
fn own_references(expression: &Expression) -> Vec<PoolReference<'_>> {
    let reference = |part| match ClauseOperand::of(part) {
        Some(ClauseOperand::Own(name)) => Some(PoolReference { name, expression: part, is_qualified: true }),
        _ => None,
    };
    subexpressions(expression).filter_map(reference).collect()
}
