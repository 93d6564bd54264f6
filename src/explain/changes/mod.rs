//! Proposes changes with which a request would match. Every change returned has been verified by matching.

mod advice;
mod awaited;
mod choices;
mod clause_fixes;
mod demanded_attributes;
mod demanded_values;
mod edit;
mod needs;
mod offer_demands;
mod relaxed_bound;
mod request_change;
mod request_comparison;
mod resource_requests;
mod search;

use std::convert::Infallible;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name};

use super::clause_analysis::ClauseAnalysis;
use super::closest_offers::fewest_unmet_clauses;
use super::conflicts::{bit_positions, minimal_masks};
use super::distance::as_number;
use super::drained_slots::DrainedSlots;
use super::evaluation::{OfferTable, RequestContext};
use super::failure_sets::FailureSet;
use super::request_analysis::RequestAnalysis;
use super::setting_slips::setting_slips;
use super::slots::SlotsByState;
use crate::protocol::requested_resource;

use awaited::{awaited_clauses, awaited_corrections, awaited_setting, in_time, making_true};
pub(super) use choices::{avoids_former_slots, find_choices, is_choice, names_device};
pub(super) use clause_fixes::convert_type;
pub(super) use demanded_values::{DemandedValues, WeightedValue, add_value, sort_by_preference};
pub use edit::RequestEdit;
pub(super) use edit::ports_of_group;
pub use needs::measured_attributes;
pub(super) use needs::{DURATION, demands_amount, is_system_attribute, names_system};
pub(super) use relaxed_bound::rewrite_proposal;
pub use request_change::{MatchingOffers, RequestChange};
pub(super) use search::{ChangeProblem, ObstacleCount, Proposal, search_changes};
use search::{MAX_EDITS, verify_edits};

/// Maximum number of sets of unmet clauses for which changes are proposed. Each set holds the clauses that some offer
/// fails. The maximum applies once to the sets of all offers, and once to the sets of the offers that accept the
/// request.
const MAX_CLAUSE_SETS: usize = 12;

/// Maximum number of clauses in a set for which changes are proposed. If every set is larger, the smallest sets are
/// used nevertheless.
const MAX_CLAUSES_PER_SET: u32 = 3;

/// Returns changes with which the request would match. Changes with fewer edits come first, then smaller changes. `slots` has
/// the states of the slots, if they matter. With `is_free_needed`, the request matches slots in use, and a free slot is
/// sought.
pub fn find_changes(
    table: &OfferTable,
    slots: Option<&SlotsByState>,
    analysis: &RequestAnalysis,
    is_free_needed: bool,
) -> Vec<RequestChange> {
    let mut awaited: Vec<RequestEdit> = awaited_clauses(analysis).collect();
    let request = &analysis.request.ad;
    let timely = (!awaited.is_empty()).then(|| RequestAnalysis::new(&in_time(request, &awaited), table));
    let analysis = timely.as_ref().unwrap_or(analysis);
    // A request that matches at that time needs no change.
    if timely.as_ref().is_some_and(|timely| timely.suitable.intersection(&timely.acceptance.accepting).next().is_some())
    {
        return Vec::new();
    }
    if let Some((clause, edit)) = analysis.clauses.iter().find_map(awaited_setting) {
        let awaited = vec![making_true(clause)];
        let mut problem = BilateralChanges { table, slots, analysis, awaited, is_free_needed, drained: None };
        let Ok(changes) = verify_edits(&mut problem, request, vec![vec![edit]]);
        return changes;
    }
    awaited.extend(awaited_corrections(analysis));
    // A value of a slot in use is of no help.
    let of_free = table.states.as_ref().filter(|_| is_free_needed).map(|states| analysis.within(&states.free));
    let analysis = of_free.as_ref().unwrap_or(analysis);
    let is_far = |failing: &u128| failing.count_ones() as usize > MAX_EDITS;
    let is_extended = !analysis.minimal_failures.iter().all(is_far);
    let mut problem = BilateralChanges { table, slots, analysis, awaited, is_free_needed, drained: None };
    let Ok(mut changes) = search_changes(&mut problem, request, analysis, is_extended);
    // Two edits of one clause can give up together what neither does alone.
    let is_never = |edit: &RequestEdit| needs::is_never_proposed(edit, table.context.dialect);
    changes.retain(|change| !change.edits.iter().any(is_never));
    let told = advice::worth_telling(changes, table, analysis);
    let Some(drained) = slots.and_then(|slots| slots.drained.as_ref()).filter(|_| !is_free_needed) else { return told };
    if !drained.table.matching_rows(&RequestContext::new(&analysis.request.ad)).is_clear() {
        return of_waiting(problem, told, drained);
    }
    if told.iter().any(|change| !advice::is_drastic(change, table, analysis)) {
        return told;
    }
    problem.drained = Some(drained);
    let Ok(mut changes) = search_changes(&mut problem, request, analysis, is_extended);
    changes.retain(advice::is_worth_waiting);
    let mut awaited = advice::worth_telling(changes, table, analysis);
    awaited.retain(|change| !advice::is_drastic(change, table, analysis));
    if awaited.is_empty() { told } else { awaited }
}

/// Returns those of `told` that help a request that waits for full slots. It gives up no clause to wait for others. A smaller
/// request may have a place earlier. A mistake is corrected also if only more full slots match without it.
fn of_waiting<'p>(
    mut problem: BilateralChanges<'p>,
    mut told: Vec<RequestChange>,
    drained: &'p DrainedSlots,
) -> Vec<RequestChange> {
    let (table, analysis) = (problem.table, problem.analysis);
    let is_sensible = |edit: &RequestEdit| matches!(edit, RequestEdit::Set { .. }) || advice::corrects(edit, analysis);
    told.retain(|change| change.matched.free() != Some(0) || change.edits.iter().all(is_sensible));
    let Some((place, _)) = analysis.slip.as_ref().filter(|_| told.is_empty()) else { return told };
    problem.drained = Some(drained);
    let fixes = clause_fixes::fix_clause(table, analysis, *place, &[]).into_iter().map(|(proposal, _)| proposal.edits);
    let Ok(corrected) = verify_edits(&mut problem, &analysis.request.ad, fixes.collect());
    corrected
}

/// The search for changes of a request that matches single offers, not gangs.
struct BilateralChanges<'p> {
    table: &'p OfferTable,
    /// The states of the slots, if they matter.
    slots: Option<&'p SlotsByState>,
    /// The analysis of the original request, at the time at which what it awaits is true.
    analysis: &'p RequestAnalysis,
    /// Makes the clauses true that come true by themselves: a changed request matches from then on.
    awaited: Vec<RequestEdit>,
    /// Whether a match counts only if a free slot matches.
    is_free_needed: bool,
    /// The slots that count once their jobs end; `None` if only those count that match at once.
    drained: Option<&'p DrainedSlots>,
}

impl BilateralChanges<'_> {
    /// Returns the slots that tell how much of a resource can be had.
    fn amounts(&self) -> &OfferTable {
        self.drained.map_or(self.table, |drained| &drained.table)
    }
}

/// Whether nobody would propose an edit of the request that `analysis` is of. `timed` are its clauses that wait for a time.
fn is_senseless(
    problem: &BilateralChanges<'_>,
    edit: &RequestEdit,
    analysis: &RequestAnalysis,
    timed: &[&ClauseAnalysis],
) -> bool {
    let (request, dialect) = (&problem.analysis.request.ad, problem.table.context.dialect);
    // To take a value away and to set another one is to give up the first.
    let sets_again = match edit {
        RequestEdit::Set { name, from: None, .. } | RequestEdit::Define { name } => request.get(name).is_some(),
        _ => false,
    };
    sets_again
        || advice::exceeds_machine(edit, request, dialect)
        || needs::asks_for_nothing(edit, analysis, dialect)
        || needs::is_never_proposed(edit, dialect)
        || needs::is_too_small(edit, request, &problem.table.context)
        || needs::exceeds_need(edit, request, &problem.table.context)
        || advice::is_of_clock(edit, timed)
}

impl ChangeProblem for BilateralChanges<'_> {
    const KEEPS_BEST_VALUE: bool = false;

    type Match = MatchingOffers;
    type Failure = RequestAnalysis;
    type Fault = Infallible;

    fn dialect(&self) -> Dialect {
        self.table.context.dialect
    }

    fn is_interrupted(&self) -> bool {
        self.table.context.is_interrupted() || self.table.context.has_spent_run()
    }

    fn find_match(&mut self, request: &Ad) -> Result<Option<MatchingOffers>, Infallible> {
        let request = &in_time(request, &self.awaited);
        let rows = self.table.matching_rows(&RequestContext::new(request));
        let states = self.slots.map(|slots| slots.tally(&rows, None));
        let count = self.table.weights.of_set(&rows);
        // Rows of the drained slots are not those of the table, so that the request has a context of its own.
        let if_drained = self.drained.map_or(0, |drained| {
            drained.table.weights.of_set(&drained.table.matching_rows(&RequestContext::new(request)))
        });
        let found = MatchingOffers { count, states, if_drained: if count == 0 { if_drained } else { 0 } };
        let needed = if self.is_free_needed { found.free().unwrap_or(count) } else { count + found.if_drained };
        Ok(Some(found).filter(|_| needed > 0))
    }

    fn match_count(matched: &MatchingOffers) -> usize {
        matched.count
    }

    fn failure(&mut self, request: &Ad) -> Option<RequestAnalysis> {
        Some(RequestAnalysis::of_changed(&in_time(request, &self.awaited), self.table, self.analysis))
    }

    /// Counts the unmet clauses of both sides for the offer that comes closest to a match. The second of the two counts
    /// is not needed and is 0.
    fn obstacles(&mut self, failure: &RequestAnalysis) -> ObstacleCount {
        (fewest_unmet_clauses(self.table, failure).unwrap_or(usize::MAX), 0)
    }

    fn propose(&mut self, _: &Ad, analysis: &RequestAnalysis) -> Result<Vec<Proposal>, Infallible> {
        let mut proposals = Vec::new();
        if analysis.clauses.is_empty() {
            return Ok(proposals);
        }
        let sets = &analysis.failures.sets;
        let accepting = &analysis.acceptance.accepting;
        let has_accepting = |set: &&FailureSet| set.rows.intersection(accepting).next().is_some();
        let of_accepting = minimal_masks(sets.iter().filter(has_accepting).map(|set| set.mask));
        let of_all = &analysis.minimal_failures;
        let sizes = of_all.iter().chain(&of_accepting).filter(|mask| **mask != 0).map(|mask| mask.count_ones());
        let most = sizes.min().unwrap_or_default().max(MAX_CLAUSES_PER_SET);
        for (masks, needs_accepting) in [(&of_accepting, true), (of_all, false)] {
            let masks = masks.iter().copied().filter(|mask| *mask != 0 && mask.count_ones() <= most);
            for mask in masks.take(MAX_CLAUSE_SETS) {
                let Some(set) = sets.iter().find(|set| set.mask == mask) else { continue };
                let rows = if needs_accepting {
                    set.rows.intersection(accepting).collect()
                } else {
                    set.rows.rows().collect()
                };
                proposals.extend(propose_for_set(self.table, analysis, &bit_positions(mask), rows));
            }
        }
        // The offers that a mistake keeps away may refuse it, too: a request in the wrong unit is too large for them.
        if let Some((place, _)) = analysis.slip {
            let fixes = clause_fixes::fix_clause(self.table, analysis, place, &[]);
            proposals.extend(fixes.into_iter().map(|(proposal, _)| proposal));
        }
        proposals.extend(propose_corrected_requests(self.table, analysis));
        proposals.extend(propose_alternatives(analysis));
        proposals.extend(offer_demands::propose_demanded_values(self.table, analysis));
        proposals.extend(resource_requests::propose_smaller_requests(self.amounts(), analysis));
        let is_set = |name: &Name| {
            let mut edits = proposals.iter().flat_map(|proposal| &proposal.edits);
            edits.any(|edit| matches!(edit, RequestEdit::Set { name: set, .. } if set == name))
        };
        let attributes = demanded_attributes::propose_attributes(self.table, analysis, is_set);
        proposals.extend(attributes);
        let is_timed = |clause: &&ClauseAnalysis| clause.next_time(self.table, &self.analysis.request).is_some();
        let timed: Vec<&ClauseAnalysis> =
            analysis.clauses.iter().map(|clause| &clause.analysis).filter(is_timed).collect();
        let is_senseless = |edit: &RequestEdit| is_senseless(self, edit, analysis, &timed);
        proposals.retain(|proposal| !proposal.edits.iter().any(is_senseless));
        Ok(proposals)
    }

    /// Whether no slot in `found` is free, although some in `than` are.
    fn is_worse(found: &MatchingOffers, than: &MatchingOffers) -> bool {
        found.free() == Some(0) && than.free() != Some(0)
    }

    /// Returns the largest request for a resource with which the request matches, if it is larger than that of `edit`.
    fn largest_matching_request(&mut self, request: &Ad, edit: &RequestEdit) -> Option<RequestEdit> {
        let RequestEdit::Set { name, from, to } = edit else { return None };
        // What a mistake meant is what is needed.
        let corrects = |from: &Expression| {
            let slips = setting_slips(request, name, from, self.table);
            slips.iter().any(|slip| slip.corrected(from).as_ref() == Some(to))
        };
        if from.as_ref().is_some_and(corrects) {
            return None;
        }
        let largest = resource_requests::propose_largest(self.amounts(), &in_time(request, &self.awaited), name)?;
        let number = |edit: &RequestEdit| match edit {
            RequestEdit::Set { to, .. } => as_number(to.as_literal()?),
            _ => None,
        };
        (number(&largest)? > as_number(to.as_literal()?)?).then_some(largest)
    }

    /// Sorts edits of clauses by position in the constraint. Edits of attributes come last, by name.
    fn sort_edits(&self, edits: &mut [RequestEdit]) {
        let position = |edit: &RequestEdit| {
            let clause = edit.replaced()?;
            self.analysis.clauses.iter().position(|known| known.analysis.clause.expression.ptr_eq(clause))
        };
        edits.sort_by_key(|edit| match edit {
            RequestEdit::Set { name, .. } | RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
                (usize::MAX, Some(name.clone()))
            }
            _ => (position(edit).unwrap_or(usize::MAX), None),
        });
    }
}

/// Proposes changes of the clauses with the indices `places`. The caller must ensure that each row in `rows` fails
/// exactly these clauses. Each proposal changes all of these clauses, because a match needs all of them.
fn propose_for_set(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    places: &[usize],
    mut rows: Vec<usize>,
) -> Vec<Proposal> {
    let dropped = |places: &[usize]| {
        let must_be_kept = |place: &usize| needs::must_keep_clause(&analysis.clauses[*place], table);
        let clauses = places.iter().map(|place| &analysis.clauses[*place].analysis.clause.expression);
        (!places.iter().any(must_be_kept)).then(|| Proposal::drop_clauses(clauses))
    };
    if let [place] = places {
        let mut fixes = clause_fixes::fix_clause(table, analysis, *place, &rows);
        let is_void = |edit: &RequestEdit| needs::asks_for_nothing(edit, analysis, table.context.dialect);
        fixes.retain(|(proposal, _)| !proposal.edits.iter().any(is_void));
        let is_fixed = !fixes.is_empty() || needs::has_milder_bound(&analysis.clauses[*place]);
        let dropped = if is_fixed { None } else { dropped(places) };
        return fixes.into_iter().map(|(proposal, _)| proposal).chain(dropped).collect();
    }
    let mut together = Some(Proposal::default());
    let mut add = |more: Option<Proposal>| {
        together = together.take().zip(more).map(|(mut together, more)| {
            together.add(more);
            together
        });
    };
    for place in places {
        let mut fixes = clause_fixes::fix_clause(table, analysis, *place, &rows).into_iter();
        let Some((fix, value)) = fixes.next() else {
            add(dropped(&[*place]));
            continue;
        };
        // Keep only the rows in which the operand has `value`, because these rows meet the clause just fixed. The
        // remaining clauses are then fixed for the kept rows.
        if let Some(value) = value.filter(|_| !is_contradicted(analysis, places, *place))
            && let Some(comparison) = &analysis.clauses[*place].analysis.comparison
        {
            let values = table.expression_values(&analysis.request, &comparison.operand);
            rows.retain(|row| *values.value(*row) == value);
        }
        add(Some(fix));
    }
    // Of clauses that contradict each other, one is not meant: no bound between them is.
    let clash =
        table.context.dialect.is_condor() && places.iter().any(|place| is_contradicted(analysis, places, *place));
    together.filter(|_| !clash).into_iter().chain(dropped(places)).collect()
}

/// Proposes to correct mistakes in what the request asks for, such as a size in the wrong unit: after another correction, it is
/// what keeps the offers away.
fn propose_corrected_requests(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<Proposal> {
    let request = &analysis.request.ad;
    let asked = request.iter().filter(|attribute| requested_resource(attribute.name).is_some());
    let corrected = asked.filter_map(|asked| {
        let slip = setting_slips(request, asked.name, asked.expression, table).into_iter().next()?;
        let (name, from) = (asked.name.clone(), Some(asked.expression.clone()));
        let to = slip.corrected(asked.expression)?;
        Some(Proposal::new(RequestEdit::Set { name, from, to }, 0.0))
    });
    corrected.collect()
}

/// Proposes `a == 1 || a == 2` for `a == 1 && a == 2`, which can never be true.
fn propose_alternatives(analysis: &RequestAnalysis) -> Vec<Proposal> {
    let clause = |place: usize| &analysis.clauses[place].analysis.clause.expression;
    let is_clause =
        |part: &Expression, place: usize| part.without_parentheses().ptr_eq(clause(place).without_parentheses());
    let others: Vec<(usize, usize)> = (0..analysis.clauses.len())
        .filter_map(|place| Some((place, clause_fixes::equality_elsewhere(analysis, place)?)))
        .collect();
    let mut proposals = Vec::new();
    if others.is_empty() {
        return proposals;
    }
    let constraints = analysis.request.ad.iter().map(|attribute| attribute.expression);
    let mut pending: Vec<&Expression> = constraints.collect();
    while let Some(part) = pending.pop() {
        if let ExpressionKind::Binary(BinaryOperator::And, left, right) = part.kind() {
            if others.iter().any(|(place, other)| is_clause(left, *place) && is_clause(right, *other)) {
                let either = Expression::binary(BinaryOperator::Or, left.clone(), right.clone());
                proposals.push(rewrite_proposal(part, either, 0.25));
            }
            pending.extend([left, right]);
        } else if let ExpressionKind::Parentheses(inner) = part.kind() {
            pending.push(inner);
        }
    }
    proposals
}

/// Whether the clause at index `place` may contradict another clause in `places`, as in `Memory > 9 && Memory < 5`.
/// This is assumed if both clauses compare the same operand, and no attribute holds the bound of the clause at `place`.
/// The caller must then keep all rows, because rows with a single value would move both bounds to this value.
fn is_contradicted(analysis: &RequestAnalysis, places: &[usize], place: usize) -> bool {
    let comparison = |place: usize| analysis.clauses[place].analysis.comparison.as_ref();
    let Some(fixed) = comparison(place).filter(|comparison| comparison.bound_holder.is_none()) else { return false };
    let mut others = places.iter().filter(|other| **other != place).filter_map(|other| comparison(*other));
    others.any(|other| other.operand == fixed.operand)
}
