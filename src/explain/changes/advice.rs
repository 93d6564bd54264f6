//! Selection of the changes that are worth advising. A change that makes a request match is not advised if its author
//! cannot apply it, such as a job with half the memory that it needs.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::{FreeNames, VolatileInputs};
use crate::explain::clause_analysis::ClauseAnalysis;
use crate::explain::clause_report::ClauseReport;
use crate::explain::clauses::parenthesized;
use crate::explain::distance::as_number;
use crate::explain::evaluation::OfferTable;
use crate::explain::request_analysis::RequestAnalysis;
use crate::lint;
use crate::protocol::{RESOURCE_ATTRIBUTES, TOTAL_SLOT_PREFIX, evaluate_attribute, requested_resource};

use super::edit::RequestEdit;
use super::needs::{demands_amount, enough, is_one_of};
use super::request_change::RequestChange;

/// Share of a requested amount up to which advice says that it is much less. A job that needs 64 GB cannot run with 8 GB.
const MUCH_LESS_SHARE: f64 = 0.5;

/// Share of a requested amount up to which waiting for more is better advice.
const WAITING_SHARE: f64 = 0.25;

/// Share of a requested amount up to which less of it is no advice at all.
const USELESS_SHARE: f64 = 0.125;

/// Whether an edit changes a clause that reads the clock, or a value that only such clauses read. These clauses come true by
/// themselves, or say when the job may run. `timed` are the clauses for which time decides.
pub fn is_of_clock(edit: &RequestEdit, timed: &[&ClauseAnalysis]) -> bool {
    let mut timed = timed.iter();
    let means_clock = |clause: &Expression| {
        clause.parts().any(|part| match part.kind() {
            ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) => lint::is_mistaken_clock_name(name),
            _ => false,
        })
    };
    match edit {
        RequestEdit::Drop { clause } if means_clock(clause) => true,
        RequestEdit::Rewrite { clause, to } if is_of_linter(clause, to) => false,
        RequestEdit::Drop { clause } | RequestEdit::Rewrite { clause, .. } => {
            VolatileInputs::of(clause).clock || timed.any(|known| known.clause.expression.ptr_eq(clause))
        }
        RequestEdit::Set { name, .. } | RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
            timed.any(|known| known.request_attributes.contains(name) || known.missing_own.contains(name))
        }
        RequestEdit::DropPorts { .. } => false,
    }
}

/// Whether a clause becomes what the linter proposes, such as minutes for hours.
fn is_of_linter(clause: &Expression, to: &Expression) -> bool {
    let slips = lint::find_slips(clause, Dialect::Condor, None).into_iter();
    slips.filter_map(|slip| slip.corrected(clause)).any(|corrected| corrected == *to)
}

/// The units to which requests for what is left of a divided slot are rounded down: MiB of memory, KiB of disk.
const LEFTOVER_UNITS: [(&str, i64); 2] = [("Memory", 1024), ("Disk", 1_048_576)];

/// Returns the amount of a resource that an offer has, as an expression. What jobs leave of the memory and the disk of a
/// partitionable slot is rounded down.
pub fn lasting_amount(resource: &Name, dialect: Dialect) -> Expression {
    let [_, other] = dialect.side_names();
    let of_offer = |name: &str| Expression::select(Expression::attribute(other), Name::new(name));
    let amount = of_offer(resource.as_str());
    let unit = LEFTOVER_UNITS.iter().find(|(known, _)| dialect.is_condor() && resource.is(known));
    let Some((_, unit)) = unit else { return amount };
    let unit = || Expression::literal(Value::Integer(*unit));
    let of = |operator, left, right| Expression::binary(operator, left, right);
    let total = of_offer(&format!("{TOTAL_SLOT_PREFIX}{resource}"));
    let is_divided = of(BinaryOperator::Greater, total, amount.clone());
    let is_partitionable =
        of(BinaryOperator::Is, of_offer("PartitionableSlot"), Expression::literal(Value::Boolean(true)));
    let is_left = of(
        BinaryOperator::And,
        is_partitionable,
        of(BinaryOperator::Is, parenthesized(&is_divided), Expression::literal(Value::Boolean(true))),
    );
    let rounded = of(BinaryOperator::Multiply, of(BinaryOperator::Divide, amount.clone(), unit()), unit());
    ExpressionKind::Conditional(is_left, rounded, amount).into()
}

/// Whether an edit fits a request to what jobs happen to leave of a partitionable slot: by the next cycle it is another
/// amount.
fn is_fitted_to_leftover(edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let RequestEdit::Set { name, to, .. } = edit else { return false };
    let Some(resource) = requested_resource(name).filter(|_| table.context.dialect.is_condor()) else { return false };
    let unit = LEFTOVER_UNITS.iter().find(|(known, _)| resource.is(known));
    let (Some((_, unit)), Some(Value::Integer(amount))) = (unit, to.as_literal()) else { return false };
    if amount % unit == 0 {
        return false;
    }
    let of_slot = |name: Name| {
        let [_, other] = table.context.dialect.side_names();
        let attribute = Expression::select(Expression::attribute(other), name);
        table.expression_values(&analysis.request, &attribute)
    };
    let total = Name::new(&format!("{TOTAL_SLOT_PREFIX}{resource}"));
    let [left, total, kind] = [resource, total, Name::new("PartitionableSlot")].map(of_slot);
    (0..table.row_count()).any(|row| {
        left.value(row) == &Value::Integer(*amount)
            && kind.value(row) == &Value::Boolean(true)
            && as_number(total.value(row)).zip(as_number(left.value(row))).is_some_and(|(total, left)| total > left)
    })
}

/// Returns the verified changes of the request of `analysis` that are worth telling, those to at most half of a requested
/// amount last: they show how much is available. Leaves out a request that matches no more offers than one nearer to the
/// original, one for more of several resources, and a sacrifice for a single slot that is not free.
pub fn worth_telling(
    changes: Vec<RequestChange>,
    table: &OfferTable,
    analysis: &RequestAnalysis,
) -> Vec<RequestChange> {
    let mut found: Vec<RequestChange> = Vec::new();
    for mut change in changes {
        let of_nobody =
            |edit: &RequestEdit| is_fitted_to_leftover(edit, table, analysis) || is_guessed(edit, table, analysis);
        let is_useless = |edit: &RequestEdit| keeps_at_most(USELESS_SHARE, edit, table, analysis);
        if !change.is_correction() && change.edits.iter().any(|edit| of_nobody(edit) || is_useless(edit)) {
            continue;
        }
        let is_dominated = found.iter().any(|known| is_nearer_request(known, &change));
        let gives_up = !change.edits.iter().all(|edit| corrects(edit, analysis));
        let is_of_use = !gives_up || !gains_one_used_slot(&change) && !gains_offline_slots(&change);
        if !is_dominated && !raises_several_amounts(&change, table, analysis) && is_of_use {
            change.is_far_less = !change.is_correction()
                && change.edits.iter().any(|edit| keeps_at_most(MUCH_LESS_SHARE, edit, table, analysis));
            change.is_worth_free = change.is_far_less
                && match change.edits.as_slice() {
                    [RequestEdit::Set { name, .. }] if name.is("RequestDisk") => true,
                    [edit @ RequestEdit::Set { .. }] => !keeps_at_most(WAITING_SHARE, edit, table, analysis),
                    _ => false,
                };
            found.push(change);
        }
    }
    // Where a mistake can be corrected, nothing that the job was to have is given up, and nothing is added that gains less.
    let corrected = found.iter().filter(|change| change.is_correction()).map(|change| change.matched.count).max();
    if let Some(gained) = corrected {
        let adds =
            |edit: &RequestEdit| matches!(edit, RequestEdit::Define { .. } | RequestEdit::Set { from: None, .. });
        found.retain(|change| {
            let is_less = change.matched.count <= gained && change.edits.iter().any(adds);
            !change.drops_clause() && !is_less && !change.is_far_less
        });
    }
    found.sort_by_key(|change| change.is_far_less);
    found
}

/// Whether `known` sets the same attribute as `change` does, to an amount nearer to what the request asks for: a larger one, or
/// a smaller one if it asks for nothing; and matches as many offers and as many free slots. What gains only slots in use is
/// no better than what has a free one.
fn is_nearer_request(known: &RequestChange, change: &RequestChange) -> bool {
    let amount = |change: &RequestChange| match change.edits.as_slice() {
        [RequestEdit::Set { name, from, to }] if requested_resource(name).is_some() => {
            Some((name.clone(), from.is_some(), as_number(to.as_literal()?)?))
        }
        _ => None,
    };
    let amounts = amount(known).zip(amount(change));
    let has_free = known.matched.free().is_some_and(|free| free > 0);
    (has_free || known.matched.count >= change.matched.count)
        && known.matched.free() >= change.matched.free()
        && amounts.is_some_and(|((known, is_asked, one), (name, _, other))| {
            known == name && if is_asked { one > other } else { one < other }
        })
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

/// Whether an edit corrects a mistake, and gives nothing up. A lower bound of a number gives something up.
pub fn corrects(edit: &RequestEdit, analysis: &RequestAnalysis) -> bool {
    match edit {
        RequestEdit::Define { .. } => true,
        RequestEdit::Rewrite { clause, to } => {
            let known = analysis.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
            let bound = known.and_then(|known| known.analysis.comparison.as_ref()).map(|comparison| &comparison.bound);
            let to = bound_of(to);
            let numbers = bound.and_then(as_number).zip(to.as_ref().and_then(as_number));
            numbers.is_none_or(|(from, to)| from.total_cmp(&to).is_eq())
        }
        _ => false,
    }
}

/// Whether a change gains a single slot, which is not free: until it is free again, other jobs may have it.
fn gains_one_used_slot(change: &RequestChange) -> bool {
    change.matched.count == 1 && change.matched.free() == Some(0)
}

/// Whether a change gains only slots of machines that hibernate.
fn gains_offline_slots(change: &RequestChange) -> bool {
    change.matched.states.is_some_and(|states| states.offline > 0 && states.offline == states.all())
}

/// Whether a change leaves so little of a requested amount that waiting for more is better advice. The correction of a unit
/// leaves what was meant.
pub fn is_drastic(change: &RequestChange, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    !change.is_correction() && change.edits.iter().any(|edit| keeps_at_most(WAITING_SHARE, edit, table, analysis))
}

/// Whether a change is advice although its slots are in use: to give something up is none, nor is less of several resources.
pub fn is_worth_waiting(change: &RequestChange) -> bool {
    let gives_up = |edit: &RequestEdit| matches!(edit, RequestEdit::Drop { .. } | RequestEdit::Remove { .. });
    let asks = |edit: &&RequestEdit| match edit {
        RequestEdit::Set { name, .. } => requested_resource(name).is_some(),
        _ => false,
    };
    !change.edits.iter().any(gives_up) && change.edits.iter().filter(asks).count() <= 1
}

/// Whether an edit gives a number to a request for a resource that has no value: nobody knows what the job needs.
fn is_guessed(edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let RequestEdit::Set { name, from: Some(_), .. } = edit else { return false };
    let has_number = || evaluate_attribute(&analysis.request.ad, name, &table.context).as_ref().and_then(as_number);
    requested_resource(name).is_some() && has_number().is_none()
}

/// Whether an edit leaves at most a share of an amount that the request asks for.
fn keeps_at_most(share: f64, edit: &RequestEdit, table: &OfferTable, analysis: &RequestAnalysis) -> bool {
    let (request, context) = (&analysis.request.ad, &table.context);
    let amounts = match edit {
        // What the job was measured to need is enough.
        RequestEdit::Set { name, to, .. } if enough(request, name, context).as_ref() == to.as_literal() => None,
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
    numbers.is_some_and(|(wanted, to)| to <= wanted * share)
}

/// Returns the literal of a comparison.
fn bound_of(comparison: &Expression) -> Option<Value> {
    let ExpressionKind::Binary(_, left, right) = comparison.without_parentheses().kind() else { return None };
    right.as_literal().or_else(|| left.as_literal()).cloned()
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
pub fn is_machine(ad: &Ad) -> bool {
    let kind = ad.get(&Name::new("MyType")).and_then(Expression::as_literal);
    matches!(kind, Some(Value::String(kind)) if kind.to_str().eq_ignore_ascii_case("Machine"))
}

#[cfg(test)]
mod tests {
    use super::is_nearer_request;
    use crate::ad::{Ad, Expression, Name};
    use crate::explain::changes::edit::RequestEdit;
    use crate::explain::changes::request_change::{MatchingOffers, RequestChange};
    use crate::explain::slots::SlotTally;

    /// Returns a change that sets attributes, each given by its amount before and after, and matches so many offers, some
    /// of them free.
    fn change(sets: &[(&str, Option<i64>, i64)], count: usize, free: usize) -> RequestChange {
        let states = Some(SlotTally { free, ..SlotTally::default() });
        let mut change = RequestChange::of_duplicate(0, Ad::default(), MatchingOffers { count, states, if_drained: 0 });
        let edit = |(name, from, to): &(&str, Option<i64>, i64)| RequestEdit::Set {
            name: Name::new(name),
            from: from.map(Expression::literal),
            to: Expression::literal(*to),
        };
        change.edits = sets.iter().map(edit).collect();
        change
    }

    #[test]
    fn the_larger_request_is_nearer_and_the_smaller_one_where_nothing_was_asked_for() {
        let of = |from, to| change(&[("RequestMemory", from, to)], 3, 1);
        let asked = of(Some(4096), 2048);
        let in_use = change(&[("RequestMemory", Some(4096), 2048)], 3, 0);
        for (known, other, expected) in [
            (&asked, of(Some(4096), 1024), true),
            (&asked, of(Some(4096), 2048), false),
            (&asked, of(Some(4096), 3000), false),
            (&of(None, 2), of(None, 3), true),
            (&of(None, 2), of(None, 2), false),
            (&of(None, 2), of(None, 1), false),
            // Offers count for more than the amount.
            (&asked, change(&[("RequestMemory", Some(4096), 1024)], 2, 1), true),
            // One more slot in use is no gain beside a free one.
            (&asked, change(&[("RequestMemory", Some(4096), 1024)], 4, 1), true),
            (&in_use, change(&[("RequestMemory", Some(4096), 1024)], 4, 0), false),
            (&asked, change(&[("RequestMemory", Some(4096), 1024)], 3, 0), true),
            (&asked, change(&[("RequestMemory", Some(4096), 1024)], 3, 2), false),
            // Only requests for one resource are compared.
            (&asked, change(&[("RequestDisk", Some(4096), 1024)], 3, 1), false),
            (&asked, change(&[("RequestMemory", Some(4096), 1024), ("RequestCpus", None, 1)], 3, 1), false),
            (&change(&[("Prio", Some(9), 8)], 3, 1), change(&[("Prio", Some(9), 7)], 3, 1), false),
        ] {
            assert_eq!(is_nearer_request(known, &other), expected, "{:?} {:?}", known.edits, other.edits);
        }
    }
}
