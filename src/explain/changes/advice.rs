//! Selection of the changes that are worth advising. A change that makes a request match is not advised if its author
//! cannot apply it, such as a job with half the memory that it needs.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::constraint::ClauseComparison;
use crate::eval::FreeNames;
use crate::explain::distance::as_number;
use crate::explain::evaluation::OfferTable;
use crate::explain::report::ClauseReport;
use crate::explain::request_analysis::RequestAnalysis;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::edit::RequestEdit;
use super::search::RequestChange;

/// The attributes of slots that tell for which programs they are. A comparison of one is never dropped.
const SYSTEM_ATTRIBUTES: [&str; 2] = ["Arch", "OpSys"];

/// The resources of slots.
const RESOURCE_ATTRIBUTES: [&str; 4] = ["Cpus", "Memory", "Disk", "GPUs"];

/// The prefixes of attributes of slots that tell how much there is of a resource in all.
const TOTAL_PREFIXES: [&str; 3] = ["TotalSlot", "Total", "Detected"];

/// Minimum share of a requested amount that advice keeps. A job that needs 64 GB cannot run with 8 GB.
const MIN_KEPT_SHARE: f64 = 0.5;

/// Returns the verified changes of the request of `analysis` that are worth telling, those to less than half of a requested
/// amount last: they show how much is available. Leaves out a smaller request that matches no more offers than a larger
/// one, one for more of several resources, and a sacrifice for a single slot that is not free.
pub fn worth_telling(
    changes: Vec<RequestChange>,
    table: &OfferTable,
    analysis: &RequestAnalysis,
) -> Vec<RequestChange> {
    let mut found: Vec<RequestChange> = Vec::new();
    for mut change in changes {
        let is_dominated = found.iter().any(|known| is_larger_request(known, &change));
        if !is_dominated && !raises_several_amounts(&change, table, analysis) && !gains_one_used_slot(&change) {
            change.is_far_less = change.edits.iter().any(|edit| asks_for_far_less(edit, table, analysis));
            found.push(change);
        }
    }
    found.sort_by_key(|change| change.is_far_less);
    found
}

/// Whether `known` sets the same attribute as `change` does, to a larger amount, and matches as many offers and as many
/// free slots.
fn is_larger_request(known: &RequestChange, change: &RequestChange) -> bool {
    let amount = |change: &RequestChange| match change.edits.as_slice() {
        [RequestEdit::Set { name, to, .. }] if requested_resource(name).is_some() => {
            Some((name.clone(), as_number(to.as_literal()?)?))
        }
        _ => None,
    };
    let amounts = amount(known).zip(amount(change));
    known.matched.count >= change.matched.count
        && known.matched.free() >= change.matched.free()
        && amounts.is_some_and(|((known, larger), (name, smaller))| known == name && larger > smaller)
}

/// Whether a change asks for more of several resources: the job would take what it does not need, to fit one kind of slot.
fn raises_several_amounts(change: &RequestChange, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let raises = |edit: &&RequestEdit| {
        let RequestEdit::Set { name, to, .. } = edit else { return false };
        let wanted = evaluate_attribute(&analysis.request.ad, name, &table.context);
        let numbers = wanted.and_then(|wanted| as_number(&wanted)).zip(to.as_literal().and_then(as_number));
        requested_resource(name).is_some() && numbers.is_some_and(|(wanted, to)| to > wanted)
    };
    change.edits.iter().filter(raises).count() > 1
}

/// Whether a change gives something up and gains a single slot, which is not free: until it is free again, other jobs
/// may have it. The correction of a mistake gives nothing up.
fn gains_one_used_slot(change: &RequestChange) -> bool {
    let corrects = |edit: &RequestEdit| matches!(edit, RequestEdit::Rewrite { .. } | RequestEdit::Define { .. });
    change.matched.count == 1 && change.matched.free() == Some(0) && !change.edits.iter().any(corrects)
}

/// Whether an edit leaves less than half of an amount that the request asks for.
fn asks_for_far_less(edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let amounts = match edit {
        RequestEdit::Set { name, to, .. } if requested_resource(name).is_some() => {
            let wanted = evaluate_attribute(&analysis.request.ad, name, &table.context);
            wanted.zip(to.as_literal().cloned())
        }
        RequestEdit::Rewrite { clause, to } if table.context.dialect.is_condor() => {
            let is_clause = |known: &&ClauseReport| known.analysis.clause.expression.ptr_eq(clause);
            let comparison =
                analysis.clauses.iter().find(is_clause).and_then(|known| known.analysis.comparison.as_ref());
            comparison
                .filter(|comparison| demands_amount(comparison))
                .map(|known| known.bound.clone())
                .zip(bound_of(to))
        }
        _ => None,
    };
    let numbers = amounts.and_then(|(wanted, to)| as_number(&wanted).zip(as_number(&to)));
    numbers.is_some_and(|(wanted, to)| to < wanted * MIN_KEPT_SHARE)
}

/// Returns the literal of a comparison.
fn bound_of(comparison: &Expression) -> Option<Value> {
    let ExpressionKind::Binary(_, left, right) = comparison.without_parentheses().kind() else { return None };
    right.as_literal().or_else(|| left.as_literal()).cloned()
}

/// Whether a comparison demands a minimum amount of a resource.
fn demands_amount(comparison: &ClauseComparison) -> bool {
    let resource = |name: &Name| {
        let totals = TOTAL_PREFIXES.iter().filter_map(|prefix| {
            let (found, resource) = name.as_str().split_at_checked(prefix.len())?;
            found.eq_ignore_ascii_case(prefix).then(|| Name::new(resource))
        });
        is_one_of(name, &RESOURCE_ATTRIBUTES) || totals.into_iter().any(|name| is_one_of(&name, &RESOURCE_ATTRIBUTES))
    };
    matches!(comparison.operator, BinaryOperator::Greater | BinaryOperator::GreaterEqual)
        && comparison.attribute().is_some_and(resource)
}

/// Whether a value is none of the resource of which a comparison demands an amount: a job that asks for GPUs needs some.
pub fn is_none_of_amount(comparison: &ClauseComparison, value: &Value) -> bool {
    demands_amount(comparison) && as_number(value).is_some_and(|amount| amount <= 0.0)
}

/// Whether a job needs what a clause demands: a requested resource, or the system that the job was built for. Dropping such
/// a clause is not advised. If `has_fix`, the clause can be changed instead; then a minimum amount of a resource counts as
/// needed, too. A job that asks for GPUs needs them in any case, if slots have any.
pub fn must_keep_clause(clause: &ClauseReport, table: &OfferTable, has_fix: bool) -> bool {
    let analysis = &clause.analysis;
    let asks = |name: &Name| requested_resource(name).is_some_and(|resource| table.offers_with(&resource) > 0);
    let compares = analysis.comparison.as_ref().is_some_and(|comparison| {
        comparison.attribute().is_some_and(|name| match comparison.operator {
            BinaryOperator::Equal | BinaryOperator::Is => is_one_of(name, &SYSTEM_ATTRIBUTES),
            BinaryOperator::Greater | BinaryOperator::GreaterEqual => {
                let is_needed = has_fix || name.is("GPUs") && table.offers_with(name) > 0;
                is_needed && is_one_of(name, &RESOURCE_ATTRIBUTES)
            }
            _ => false,
        })
    });
    analysis.request_attributes.iter().any(asks) || compares
}

/// Whether an edit gives the ad of a machine more of a resource, or lets it give away more than it has.
pub fn exceeds_machine(edit: &RequestEdit, ad: &Ad, dialect: Dialect) -> bool {
    let is_resource = |name: &Name| is_one_of(name, &RESOURCE_ATTRIBUTES);
    is_machine(ad)
        && match edit {
            RequestEdit::Set { name, .. } => is_resource(name),
            RequestEdit::Drop { clause } => {
                let mentions = FreeNames::of(clause, dialect);
                mentions.mine.iter().chain(&mentions.unqualified).any(is_resource)
            }
            _ => false,
        }
}

/// Whether an ad tells that it is of a machine, as HTCondor's do.
fn is_machine(ad: &Ad) -> bool {
    let kind = ad.get(&Name::new("MyType")).and_then(Expression::as_literal);
    matches!(kind, Some(Value::String(kind)) if kind.to_str().eq_ignore_ascii_case("Machine"))
}

fn is_one_of(name: &Name, names: &[&str]) -> bool {
    names.iter().any(|known| name.is(known))
}
