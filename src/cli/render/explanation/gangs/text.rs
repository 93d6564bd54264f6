//! Reports about gangs as text.

use classad::ad::Dialect;
use classad::explain::{
    AdNames, AdReference, GangReport, GangVerdict, RequestChange, SummaryWriter, discarding_component,
};
use classad::matching::gang::{
    BlockedPort, FailedCondition, Gang, GangFailure, MemberCause, MemberFailure, TrialDocking, UnmetClause,
};
use classad::text::{counted, join_and};

use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, sentence_line, single_line};
use crate::cli::render::explanation::listing::{push_rest, push_wrapped};
use crate::cli::render::explanation::writer::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS, MAX_EVIDENCE_ITEMS};
use crate::cli::render::table::TableLayout;

/// Maximum number of offers named in one line.
const MAX_OFFERS_NAMED: usize = 3;

/// Returns the writer of sentences about the gang of one request. `subject` is the name of the request in these
/// sentences. `max_clause_chars` is the maximum number of characters of a condition that a sentence quotes.
pub fn summary_writer<'w>(
    parties: &'w Parties,
    subject: &'w str,
    dialect: Dialect,
    max_clause_chars: usize,
) -> SummaryWriter<'w> {
    let nouns = ["offer", "offers"];
    SummaryWriter { subject, is_plural: false, nouns, names: parties, dialect, max_clause_chars }
}

/// Returns the steps of a change after which a request would get a gang. The steps include the additional offer that
/// the change needs, if any.
pub fn change_steps(change: &RequestChange<Gang>, names: &dyn AdNames) -> Vec<String> {
    let another = change.duplicate_offer.map(|offer| {
        let name = names.ad_name(AdReference::Offer { offer, part: 1 });
        format!("another offer like {name}")
    });
    change.steps.iter().cloned().chain(another).collect()
}

/// Says how offers are counted that fail several conditions. Empty if there is only one condition.
fn counting_note(conditions: &[FailedCondition]) -> &'static str {
    if conditions.len() > 1 { " (each offer counts at the first condition that it fails)" } else { "" }
}

/// Returns the report: the summary sentence and the sections below it. With `evidence` the sections are longer.
pub fn gang_report_text(report: &GangReport, writer: &SummaryWriter<'_>, evidence: bool) -> String {
    let mut text = sentence_line(&writer.gang_summary(report));
    let Some(failure) = &report.failure else { return text };
    if matches!(report.verdict, GangVerdict::NoOffers) {
        return text;
    }
    text.push_str(&port_table(failure, "", writer));
    for port in failure.ports.iter().filter(|port| !port.ruled_out.is_empty()) {
        if port.is_required || evidence {
            push_wrapped(&mut text, "", &format!("why {} stays empty{}:", port.label, counting_note(&port.ruled_out)));
            push_conditions(&mut text, &port.ruled_out, writer, evidence);
        }
    }
    for blocked in failure.blocked.iter().filter(|blocked| failure.ports[blocked.port].independent > 0) {
        push_blocked_port(&mut text, failure, blocked, writer, evidence);
    }
    push_changes(&mut text, &report.changes, writer, evidence);
    text
}

/// Returns the table of ports: how many offers could fill each port, and the offer docked there in the largest gang
/// that could be built. Leaves out the port `link`, at which an offer is docked itself.
fn port_table(failure: &GangFailure, link: &str, writer: &SummaryWriter<'_>) -> String {
    let mut grid =
        TableLayout::new(&["port", "alone", "given the others", "used up", "docked"]).with_number_columns(&[1, 2, 3]);
    for port in failure.ports.iter().filter(|port| port.label != link) {
        let docked = failure.deepest.ports.iter().find(|docked| docked.label == port.label);
        let docked = docked.map_or_else(|| "-".to_owned(), |docked| writer.docked_name(docked));
        let label = if port.is_required { port.label.clone() } else { format!("{} (optional)", port.label) };
        let counts = [port.independent, port.consistent, port.used_up].map(|offers| offers.to_string());
        grid.push_row([label].into_iter().chain(counts).chain([docked]));
    }
    if failure.ports.iter().all(|port| port.used_up == 0) {
        grid.hide_column(3);
    }
    grid.render(diagnostics::table_width())
}

/// Returns the maximum number of conditions or changes in a section of the report; more with `evidence`, which is `-v`.
fn max_items(evidence: bool) -> usize {
    if evidence { MAX_EVIDENCE_ITEMS } else { DEFAULT_MAX_ITEMS }
}

/// Appends the conditions that rule offers out.
fn push_conditions(text: &mut String, conditions: &[FailedCondition], writer: &SummaryWriter<'_>, evidence: bool) {
    let most = max_items(evidence);
    for condition in conditions.iter().take(most) {
        let names: Vec<String> =
            condition.offers.iter().take(MAX_OFFERS_NAMED).map(|offer| writer.offer_name(*offer)).collect();
        let more = if condition.offers.len() > MAX_OFFERS_NAMED { ", ..." } else { "" };
        let sentence = format!(
            "{}: {}{} ({}{more})",
            counted(condition.offers.len(), "offer"),
            writer.condition_text(condition),
            writer.read_values(condition),
            names.join(", ")
        );
        push_wrapped(text, "  ", &sentence);
    }
    push_rest(text, conditions.len(), most, "condition");
}

/// Appends why a port stays empty although some offers could fill the port if it were the only port.
fn push_blocked_port(
    text: &mut String,
    failure: &GangFailure,
    blocked: &BlockedPort,
    writer: &SummaryWriter<'_>,
    evidence: bool,
) {
    let label = &failure.ports[blocked.port].label;
    let beside = writer.beside(&failure.deepest);
    push_wrapped(
        text,
        "",
        &format!("why the candidates for {label} do not fit{beside}{}:", counting_note(&blocked.conditions)),
    );
    push_conditions(text, &blocked.conditions, writer, evidence);
    let discarded = format!("discarded by the policy{}", discarding_component(blocked));
    for (offers, what) in [
        (blocked.held.len(), "in the gang already"),
        (blocked.unacceptable, discarded.as_str()),
        (blocked.unserved.len(), "with ports of their own, which do not serve this port"),
        (blocked.fitting, "acceptable, but the group needs more offers"),
    ] {
        if offers > 0 {
            push_wrapped(text, "  ", &format!("{}: {what}", counted(offers, "offer")));
        }
    }
    if let Some(member) = &blocked.member {
        push_member(text, label, member, writer, evidence);
    }
}

/// Appends why an offer that fits the port `label` cannot serve it with its own ports, and follows the offers that would
/// dock there in turn.
fn push_member(text: &mut String, label: &str, member: &MemberFailure, writer: &SummaryWriter<'_>, evidence: bool) {
    let (mut label, mut next) = (label.to_owned(), Some(member));
    while let Some(member) = next.take() {
        let name = writer.offer_name(member.offer);
        match &member.cause {
            MemberCause::Refused { own_ports, clauses, .. } => {
                let gang = Gang { request: 0, ports: own_ports.clone() };
                push_wrapped(
                    text,
                    "",
                    &format!("why {name} does not serve {label} with {}:", writer.list_docked(&gang)),
                );
                for UnmetClause { condition, .. } in clauses {
                    let (condition, reads) = (writer.condition_text(condition), writer.read_values(condition));
                    push_wrapped(text, "  ", &format!("{condition}{reads}"));
                }
            }
            MemberCause::OwnPorts(failure) => {
                push_wrapped(text, "", &format!("the ports of {name}:"));
                text.push_str(&port_table(failure, &member.link, writer));
                for port in failure.ports.iter().filter(|port| port.is_required && !port.ruled_out.is_empty()) {
                    let note = counting_note(&port.ruled_out);
                    push_wrapped(text, "", &format!("why {} of {name} stays empty{note}:", port.label));
                    push_conditions(text, &port.ruled_out, writer, evidence);
                }
                for blocked in failure.blocked.iter().filter(|of| failure.ports[of.port].independent > 0) {
                    let (own, note) = (&failure.ports[blocked.port].label, counting_note(&blocked.conditions));
                    if !blocked.conditions.is_empty() {
                        push_wrapped(text, "", &format!("why the candidates for {own} of {name} do not fit{note}:"));
                        push_conditions(text, &blocked.conditions, writer, evidence);
                    }
                    if next.is_none() && blocked.member.is_some() {
                        (label, next) = (own.clone(), blocked.member.as_ref());
                    }
                }
            }
            MemberCause::Unknown => {}
        }
    }
}

/// Appends the changes with which the request would get a gang.
fn push_changes(text: &mut String, changes: &[RequestChange<Gang>], writer: &SummaryWriter<'_>, evidence: bool) {
    if changes.is_empty() {
        return;
    }
    text.push_str(if writer.is_plural { "they would get a gang with:\n" } else { "it would get a gang with:\n" });
    let most = max_items(evidence);
    let width = diagnostics::terminal_width();
    for change in changes.iter().take(most) {
        let steps = change_steps(change, writer.names).join(", and ");
        let gang = format!("({})", writer.list_docked(&change.matched));
        let is_short = steps.chars().count() + gang.chars().count() + 4 <= width;
        if is_short {
            text.push_str(&single_line(&format!("  {steps}  {gang}")));
            text.push('\n');
        } else {
            diagnostics::push_words(text, "  ", steps.split(' ').map(str::to_owned), width);
            diagnostics::push_words(text, "      ", gang.split(' ').map(str::to_owned), width);
        }
    }
    push_rest(text, changes.len(), most, "change");
}

/// Returns the sentence about the ports at which an offer docks.
pub fn docking_summary(dockings: &[TrialDocking], request: &str, offer: &str) -> String {
    let docks: Vec<&str> =
        dockings.iter().filter(|docking| docking.condition.is_none()).map(|docking| docking.label.as_str()).collect();
    if docks.is_empty() {
        return format!("{offer} fits no port of {request}");
    }
    format!("{offer} fits {} of {request}, if the other ports are ignored", join_and(&docks))
}

/// Returns `summary`, and below it a line for each port at which the offer does not dock: the condition that keeps the
/// offer away.
pub fn docking_text(summary: &str, dockings: &[TrialDocking], parties: &Parties, dialect: Dialect) -> String {
    let mut text = format!("{summary}\n");
    let writer = summary_writer(parties, "", dialect, MAX_CLAUSE_CHARS);
    for docking in dockings {
        let Some(condition) = &docking.condition else { continue };
        let (condition, reads) = (writer.condition_text(condition), writer.read_values(condition));
        push_wrapped(&mut text, "  ", &format!("not at {}: {condition}{reads}", docking.label));
    }
    text
}
