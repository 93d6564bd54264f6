//! Says which owner of a slot decides whether a request gets it.

use crate::text::with_commas;

use super::admission::AdmittedJobs;
use super::changes::names_system;
use super::failure_reason::FailureReason;
use super::places::names_place;
use super::report::{RefusalGroup, RequestReport, RequestVerdict};
use super::summary::SummaryWriter;

/// Says which owner of a slot decides whether the request gets it, and whom the owner admits. `None` if what an owner
/// admits keeps the request from no slot that would do.
pub fn whom_to_ask(writer: &SummaryWriter, report: &RequestReport) -> Option<String> {
    let admitted = |group: &RefusalGroup| {
        let mut demands = [&group.demand].into_iter().chain(&group.further);
        demands.find_map(|demand| demand.admits.clone())
    };
    let mut refusing = report.refusals.iter().filter(|group| group.suitable > 0 && report.tells_refusals());
    // Where it can wait or go elsewhere, the private slot of another user is no matter.
    let waits = matches!(report.verdict, RequestVerdict::IfDrained(_) | RequestVerdict::Claimed);
    let is_elsewhere = report.refusals.iter().any(|group| group.is_unwanted);
    let waits = waits || is_elsewhere && !report.choices.is_empty();
    if let Some((group, admitted)) = refusing.find_map(|group| Some((group, admitted(group)?))) {
        // A value of the wrong type or in the wrong case is corrected instead.
        let is_corrected = group.demand.quoted_value().is_some() || report.is_corrected_to_free();
        let is_private = waits && !admitted.is_of_purpose() && !admitted.is_of_parallel() && admitted.group().is_none();
        return (!is_corrected && !is_private).then(|| ask_owner(writer, group, &admitted));
    }
    // Slots of another dedicated scheduler are no matter of their owners.
    let is_told = report.job.iter().flat_map(|job| &job.circumstances).any(|of| of.kind == "too-few-slots");
    // Another attribute is meant.
    let is_misplaced = matches!(report.verdict, RequestVerdict::Unmet { fault: FailureReason::Misplaced(_), .. });
    let is_contradiction = matches!(report.verdict, RequestVerdict::Contradiction { .. });
    let is_changed = is_misplaced && !report.changes.is_empty();
    if is_told || report.corrected_slot.is_some() || is_contradiction || is_changed {
        return None;
    }
    refusing_value(writer, report)
}

/// Says whose slots refuse the request, and what the owner would have to admit.
fn ask_owner(writer: &SummaryWriter, group: &RefusalGroup, admitted: &AdmittedJobs) -> String {
    if admitted.is_of_parallel() {
        let needs = writer.verb("it needs", "they need");
        return format!("use universe = parallel if {needs} several slots at once, else other slots");
    }
    let slot = writer.offer_name(group.example);
    let of = match group.suitable {
        1 => format!("the owner of {slot} decides"),
        several => format!("the owners of {} {}, such as {slot}, decide", with_commas(several), writer.nouns[1]),
    };
    if admitted.is_of_purpose() {
        let may = writer.verb("it may", "they may");
        return format!("{of}: ask whether {may} have {}", admitted.phrase());
    }
    let member = admitted
        .group()
        .map_or_else(String::new, |group| format!("; a member of {group} submits with accounting_group = {group}"));
    format!("{of}: ask to admit more than jobs with {}{member}", admitted.phrase())
}

/// Says which slot has the value that an unmet clause means, and why it refuses the request.
fn refusing_value(writer: &SummaryWriter, report: &RequestReport) -> Option<String> {
    report.told_clauses().into_iter().find_map(|place| {
        let clause = &report.clauses[place];
        let offered = clause.offered()?;
        let value = offered.values.first()?;
        let closest = clause.closest_value.as_ref().map(ToString::to_string);
        // A program for another architecture, or another system, is another program.
        let is_system = names_system(&offered.name);
        let is_closest = closest.is_some_and(|closest| closest == offered.shown(&value.value));
        // Another machine or site is no correction.
        let is_place = names_place(&offered.name) && !report.choices.is_empty();
        let is_meant = offered.likely > 0 || (is_closest && !is_system && !is_place);
        let mut demands = value.refusals.iter().filter(|_| is_meant);
        let first = demands.clone().next();
        let first = first.filter(|_| report.changes.is_empty());
        let demand = demands.find(|demand| demand.admits.is_some()).or(first)?;
        let (slot, shown) = (writer.offer_name(value.example), offered.shown(&value.value));
        let refuses = if demand.admits.is_some() { "" } else { "it refuses: " };
        Some(format!("{slot} has {} {shown}, but {refuses}{}", offered.name, writer.demand_phrase(demand, false)))
    })
}
