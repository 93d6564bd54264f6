//! What only the author of a request can decide: to do without a place or a feature, or with another version of a system or another
//! device, or without anything else that it asks of slots. These are told as choices, and are no changes that are proposed.

use crate::ad::{BinaryOperator, Dialect, Name, Value};
use crate::explain::admission::is_purpose;
use crate::explain::clause_analysis::ClauseAnalysis;
use crate::explain::clause_report::ClauseReport;
use crate::explain::distance::as_number;
use crate::explain::evaluation::OfferTable;
use crate::explain::failure_reason::FailureReason;
use crate::explain::features::{TRANSFER_METHODS, names_feature, runs_by};
use crate::explain::job_reader::JobReader;
use crate::explain::nested_constraint::relaxed_for;
use crate::explain::places::{names_place, names_wanted_place};
use crate::explain::request_analysis::RequestAnalysis;
use crate::explain::slots::SlotsByState;
use crate::explain::system_family::is_same_family;
use crate::protocol::requested_resource;

use super::BilateralChanges;
use super::advice::is_machine;
use super::awaited::awaited_clauses;
use super::edit::{PROJECT, RequestEdit};
use super::needs::{DURATION, SYSTEM_ATTRIBUTES, demands_amount, is_exclusion, is_one_of, names_system};
use super::request_change::RequestChange;
use super::search::{ChangeProblem, verify_edits};

/// The starts of the names of attributes of slots that tell of their GPUs.
const DEVICE_PREFIXES: [&str; 2] = ["CUDA", "GPUs_"];

/// Maximum distance of a major version of a system that may do for another.
const MAX_VERSIONS_AWAY: f64 = 2.0;

/// Maximum number of values that are tried in place of one.
const MAX_VALUES: usize = 4;

/// Whether a change gives up what a job asks of slots: nobody but its author knows whether it can do without. A clause that
/// only keeps the job away from slots, that reads the job alone, or that no value can meet, is no such demand.
pub fn is_choice(change: &RequestChange, analysis: &RequestAnalysis, dialect: Dialect) -> bool {
    let is_demand = |edit: &RequestEdit| {
        if let RequestEdit::Remove { name, .. } = edit {
            return names_wanted_place(name);
        }
        let RequestEdit::Drop { clause } = edit else { return false };
        let known = analysis.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
        let is_mistaken = |known: &ClauseReport| matches!(known.failure, Some(FailureReason::TypeMismatch { .. }));
        let asks = |known: &ClauseReport| !known.analysis.offer_attributes.is_empty() && !is_mistaken(known);
        known.is_some_and(asks) && !is_exclusion(clause)
    };
    dialect.is_condor() && !is_machine(&analysis.request.ad) && change.edits.iter().any(is_demand)
}

/// Returns the choices with which a request would match, those with the most offers first. Each has a single edit.
pub fn find_choices(
    table: &OfferTable,
    slots: Option<&SlotsByState>,
    analysis: &RequestAnalysis,
) -> Vec<RequestChange> {
    if !table.context.dialect.is_condor() {
        return Vec::new();
    }
    let is_own_choice = |name: &Name| name.is(DURATION) || is_purpose(name);
    let own = analysis.request.ad.iter().filter(|attribute| is_own_choice(attribute.name));
    let own = own.map(|of| RequestEdit::Remove { name: of.name.clone(), from: of.expression.clone() });
    let edits = analysis.clauses.iter().flat_map(|clause| edits_of_clause(clause, analysis, table)).chain(own);
    let edits: Vec<RequestEdit> = edits.collect();
    if edits.is_empty() {
        return Vec::new();
    }
    let awaited: Vec<RequestEdit> = awaited_clauses(analysis).collect();
    let is_awaited = !awaited.is_empty();
    let drained = slots.and_then(|slots| slots.drained.as_ref());
    let mut problem = BilateralChanges { table, slots, analysis, awaited, is_free_needed: false, drained };
    // What matches in time needs no choice. What waits for slots in use may have a free one elsewhere.
    let is_waiting = matches!(problem.find_match(&analysis.request.ad), Ok(Some(_)));
    if is_waiting && is_awaited {
        return Vec::new();
    }
    let alone = edits.iter().map(|edit| vec![edit.clone()]).collect();
    let Ok(mut choices) = verify_edits(&mut problem, &analysis.request.ad, alone);
    // A job can name a place in a clause and in an attribute that the slots there read.
    let places = all_places(&edits, analysis);
    if choices.is_empty() && !is_waiting && places.len() > 1 {
        let Ok(found) = verify_edits(&mut problem, &analysis.request.ad, vec![places]);
        choices = found;
    }
    let project = Name::new(PROJECT);
    if choices.is_empty() && !is_waiting && analysis.request.ad.get(&project).is_none() {
        let define = RequestEdit::Define { name: project };
        let both = edits.iter().map(|edit| vec![edit.clone(), define.clone()]).collect();
        let Ok(found) = verify_edits(&mut problem, &analysis.request.ad, both);
        choices = found;
    }
    let has_free = |choice: &RequestChange| choice.matched.free().is_some_and(|free| free > 0);
    choices.retain(|choice| {
        !is_waiting || has_free(choice) && choice.edits.iter().all(|edit| gives_up_place(edit, analysis))
    });
    // A lower bound is of no use where a nearer one gains as much, and as many free slots.
    let place = |choice: &RequestChange| edits.iter().position(|edit| choice.edits.first() == Some(edit));
    let is_less = |choice: &RequestChange, than: &RequestChange| {
        let are_settings = [choice, than].iter().all(|of| matches!(of.edits.as_slice(), [RequestEdit::Set { .. }]));
        are_settings
            && place(than) < place(choice)
            && than.matched.count >= choice.matched.count
            && than.matched.free() >= choice.matched.free()
    };
    let is_of_use: Vec<bool> = choices.iter().map(|choice| !choices.iter().any(|than| is_less(choice, than))).collect();
    let mut is_of_use = is_of_use.into_iter();
    choices.retain(|_| is_of_use.next().unwrap_or_default());
    choices
}

/// Whether an edit drops a clause that asks for a place, or what the request says of how long it runs.
fn gives_up_place(edit: &RequestEdit, analysis: &RequestAnalysis) -> bool {
    drops_place(edit, analysis) || matches!(edit, RequestEdit::Remove { .. })
}

/// Whether an edit drops a clause that asks for a place.
fn drops_place(edit: &RequestEdit, analysis: &RequestAnalysis) -> bool {
    let RequestEdit::Drop { clause } = edit else { return false };
    analysis.clauses.iter().any(|known| {
        known.analysis.clause.expression.ptr_eq(clause) && known.analysis.offer_attributes.iter().all(names_place)
    })
}

/// Returns the edits with which the request asks for no place at all: those of `edits`, and of its attributes.
fn all_places(edits: &[RequestEdit], analysis: &RequestAnalysis) -> Vec<RequestEdit> {
    let of_clauses = edits.iter().filter(|edit| drops_place(edit, analysis)).cloned();
    let wanted = analysis.request.ad.iter().filter(|attribute| names_wanted_place(attribute.name));
    let wanted = wanted.map(|of| RequestEdit::Remove { name: of.name.clone(), from: of.expression.clone() });
    of_clauses.chain(wanted).collect()
}

/// Whether a clause keeps the job from slots where it ran before, by what HTCondor noted of these (`job_machine_attrs`).
pub fn avoids_former_slots(clause: &ClauseAnalysis) -> bool {
    let is_of_former = |name: &Name| name.is("LastRemoteHost") || name.starts_with("MachineAttr");
    clause.request_attributes.iter().any(is_of_former) && is_exclusion(&clause.clause.expression)
}

/// Whether an attribute of slots tells of their GPUs: `GPUs_DeviceName`, `CUDADeviceName`.
pub fn names_device(name: &Name) -> bool {
    DEVICE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a clause asks for a GPU by its name, and another clause sees that there is one.
fn asks_for_model(clause: &ClauseAnalysis, job: &JobReader) -> bool {
    use BinaryOperator::{Equal, Is};
    let is_name = clause.comparison.as_ref().is_none_or(|of| matches!(of.operator, Equal | Is));
    let has_gpus = || job.amount("RequestGPUs").is_some_and(|gpus| gpus > 0.0);
    is_name && clause.offer_attributes.iter().all(names_device) && has_gpus()
}

/// The edits of one clause: to drop it if it asks for a place, a model of GPU or a feature; the versions of the system that offers have; the devices.
fn edits_of_clause(clause: &ClauseReport, analysis: &RequestAnalysis, table: &OfferTable) -> Vec<RequestEdit> {
    let expression = &clause.analysis.clause.expression;
    let read = &clause.analysis.offer_attributes;
    // Without its files, a job fails.
    let is_of_files = read.iter().any(|name| name.is(TRANSFER_METHODS));
    let is_demand = !is_exclusion(expression) || avoids_former_slots(&clause.analysis);
    let job = JobReader { ad: &analysis.request.ad, context: &table.context };
    let is_choice =
        read.iter().all(names_place) || read.iter().all(names_feature) || asks_for_model(&clause.analysis, &job);
    let is_needed = read.iter().any(|name| runs_by(&job, name));
    if !read.is_empty() && is_choice && is_demand && !is_of_files && !is_needed {
        return vec![RequestEdit::Drop { clause: expression.clone() }];
    }
    // Another clause asks for the amount itself.
    let asks_too = |other: &ClauseReport| {
        let comparison = other.analysis.comparison.as_ref();
        comparison.is_some_and(|of| of.bound_holder.is_some() && of.attribute().is_some_and(|name| read.contains(name)))
    };
    let is_formula = clause.analysis.request_attributes.iter().any(|name| requested_resource(name).is_some())
        && clause.analysis.comparison.as_ref().is_some_and(|of| of.bound_holder.is_none() && demands_amount(of));
    if is_formula && analysis.clauses.iter().any(asks_too) {
        return vec![RequestEdit::Drop { clause: expression.clone() }];
    }
    // Of other slots, if those that meet the clause refuse.
    let relaxed = match &clause.failure {
        Some(FailureReason::Nested(nested)) => Some((nested.holder.clone(), nested.others.clone())),
        Some(_) => None,
        None => relaxed_for(expression, table, &analysis.request, &analysis.acceptance.accepting),
    };
    if let Some(((name, from), relaxed)) = relaxed {
        let set = |to| RequestEdit::Set { name: name.clone(), from: Some(from.clone()), to };
        return relaxed.into_iter().map(set).collect();
    }
    let is_version = |name: &Name| names_system(name) && !is_one_of(name, &SYSTEM_ATTRIBUTES);
    let comparison = clause.analysis.comparison.as_ref().filter(|comparison| {
        let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
        is_equality && comparison.attribute().is_some_and(is_version)
    });
    let Some(comparison) = comparison else { return Vec::new() };
    let mut counted: Vec<(Value, usize)> = Vec::new();
    for (value, offers) in table.expression_values(&analysis.request, &comparison.operand).weighted_values() {
        match counted.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += offers,
            None if value.is_exceptional() || *value == comparison.bound => {}
            None => counted.push((value.clone(), offers)),
        }
    }
    // A program for one family of systems rarely runs in another; a number far from the one that is asked for is of another.
    let is_likely = |(value, _): &(Value, usize)| {
        let numbers = as_number(value).zip(as_number(&comparison.bound));
        let is_near = numbers.is_none_or(|(value, bound)| (value - bound).abs() <= MAX_VERSIONS_AWAY);
        is_near && is_same_family(value, &comparison.bound)
    };
    if counted.iter().any(is_likely) {
        counted.retain(is_likely);
    }
    counted.sort_by_key(|(_, offers)| std::cmp::Reverse(*offers));
    let likely = counted.into_iter().take(MAX_VALUES);
    likely.filter_map(|(value, _)| comparison.relax(expression, value, 1.0)).flat_map(|relaxed| relaxed.edits).collect()
}
