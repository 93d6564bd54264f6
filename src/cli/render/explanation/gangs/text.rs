//! Reports about gangs as text.

use classad::ad::Dialect;
use classad::explain::{AdNames, AdReference, GangChange, GangReport, GangVerdict, SummaryWriter};
use classad::matching::gang::{BlockedPort, FailedCondition, GangFailure, TrialDocking};

use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::explanation::listing::{push_rest, push_wrapped};
use crate::cli::render::explanation::writer::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS, MAX_EVIDENCE_ITEMS};
use crate::cli::render::table::TableLayout;

/// Maximum number of offers named in one line.
const MAX_OFFERS_NAMED: usize = 3;

/// Returns the writer of sentences about the gang of one request, called `subject`. `max_clause_chars` is the maximum
/// length of a quoted condition in characters.
pub fn summary_writer<'w>(
    parties: &'w Parties,
    subject: &'w str,
    dialect: Dialect,
    max_clause_chars: usize,
) -> SummaryWriter<'w> {
    let nouns = ["offer", "offers"];
    SummaryWriter { subject, is_plural: false, nouns, names: parties, dialect, max_clause_chars }
}

/// Returns the steps of a change, including the additional offer that it needs.
pub fn change_steps(change: &GangChange, names: &dyn AdNames) -> Vec<String> {
    let another = change.duplicate_offer.map(|offer| {
        let name = names.ad_name(AdReference::Offer { offer, part: 1 });
        format!("another offer like {name}")
    });
    change.steps.iter().cloned().chain(another).collect()
}

/// Returns the report: the summary sentence and the sections below it, longer ones with `evidence`.
pub fn gang_report_text(report: &GangReport, writer: &SummaryWriter<'_>, evidence: bool) -> String {
    let mut text = single_line(&writer.gang_summary(report)) + "\n";
    let Some(impasse) = &report.failure else { return text };
    if matches!(report.verdict, GangVerdict::NoOffers) {
        return text;
    }
    text.push_str(&port_table(impasse, writer, diagnostics::terminal_width()));
    for port in impasse.ports.iter().filter(|port| !port.ruled_out.is_empty()) {
        if port.is_required || evidence {
            text.push_str(&single_line(&format!("what keeps {} empty:", port.label)));
            text.push('\n');
            push_conditions(&mut text, &port.ruled_out, writer, evidence);
        }
    }
    for stuck in impasse.blocked.iter().filter(|stuck| impasse.ports[stuck.port].independent > 0) {
        push_stuck_port(&mut text, impasse, stuck, writer, evidence);
    }
    push_changes(&mut text, &report.changes, writer, evidence);
    text
}

/// Returns the table of ports: how many offers could fill each, and which one is docked in the deepest gang.
fn port_table(impasse: &GangFailure, wording: &SummaryWriter<'_>, width: usize) -> String {
    let mut grid =
        TableLayout::new(&["port", "alone", "given the others", "used up", "docked"]).with_number_columns(&[1, 2, 3]);
    for port in &impasse.ports {
        let docked = impasse.deepest.ports.iter().find(|docked| docked.label == port.label);
        let docked = docked.map_or_else(|| "-".to_owned(), |docked| wording.docked_name(docked));
        let label = if port.is_required { port.label.clone() } else { format!("{} (optional)", port.label) };
        grid.push_row([
            label,
            port.independent.to_string(),
            port.consistent.to_string(),
            port.used_up.to_string(),
            docked,
        ]);
    }
    if impasse.ports.iter().all(|port| port.used_up == 0) {
        grid.hide_column(3);
    }
    grid.render(Some(width))
}

/// Maximum number of conditions or changes in a section.
fn max_items(evidence: bool) -> usize {
    if evidence { MAX_EVIDENCE_ITEMS } else { DEFAULT_MAX_ITEMS }
}

/// Appends the conditions that rule offers out.
fn push_conditions(text: &mut String, conditions: &[FailedCondition], wording: &SummaryWriter<'_>, evidence: bool) {
    let most = max_items(evidence);
    for condition in conditions.iter().take(most) {
        let names: Vec<String> =
            condition.offers.iter().take(MAX_OFFERS_NAMED).map(|offer| wording.offer_name(*offer)).collect();
        let more = if condition.offers.len() > MAX_OFFERS_NAMED { ", ..." } else { "" };
        let whose = if condition.is_of_request || condition.text.is_empty() { "" } else { "their own " };
        let sentence = format!(
            "{}: {whose}{}{} ({}{more})",
            classad::text::with_commas(condition.offers.len()),
            wording.condition_text(condition),
            wording.read_values(condition),
            names.join(", ")
        );
        push_wrapped(text, "  ", &sentence);
    }
    push_rest(text, conditions.len(), most);
}

/// Appends why a port stays empty although some offers could fill it alone.
fn push_stuck_port(
    text: &mut String,
    impasse: &GangFailure,
    stuck: &BlockedPort,
    wording: &SummaryWriter<'_>,
    evidence: bool,
) {
    let label = &impasse.ports[stuck.port].label;
    let beside = if impasse.deepest.ports.is_empty() {
        String::new()
    } else {
        format!(" beside {}", wording.list_docked(&impasse.deepest))
    };
    push_wrapped(text, "", &format!("what keeps the candidates of {label} away{beside}:"));
    push_conditions(text, &stuck.conditions, wording, evidence);
    let of_unserved = stuck.unserved.first().map(|first| {
        let needs = stuck.unserved_ports.iter().map(|(label, offers)| format!("{label} {offers}"));
        let (name, needs) = (wording.offer_name(*first), needs.collect::<Vec<_>>().join(", "));
        format!("they cannot fill their own ports; candidates at those of {name}: {needs}")
    });
    for (offers, what) in [
        (stuck.held.len(), "in the gang already"),
        (stuck.unacceptable, "discarded by the docking vector"),
        (stuck.unserved.len(), of_unserved.as_deref().unwrap_or_default()),
        (stuck.fitting, "would do, but the group needs more"),
    ] {
        if offers > 0 {
            push_wrapped(text, "  ", &format!("{offers}: {what}"));
        }
    }
}

/// Appends the changes with which the request would get a gang.
fn push_changes(text: &mut String, changes: &[GangChange], wording: &SummaryWriter<'_>, evidence: bool) {
    if changes.is_empty() {
        return;
    }
    text.push_str("it would get a gang with:\n");
    let most = max_items(evidence);
    let width = diagnostics::terminal_width();
    for change in changes.iter().take(most) {
        let steps = change_steps(change, wording.names).join(", and ");
        let gang = format!("({})", wording.list_docked(&change.gang));
        let is_short = steps.chars().count() + gang.chars().count() + 4 <= width;
        if is_short {
            text.push_str(&single_line(&format!("  {steps}  {gang}")));
            text.push('\n');
        } else {
            diagnostics::push_words(text, "  ", steps.split(' ').map(str::to_owned), width);
            diagnostics::push_words(text, "      ", gang.split(' ').map(str::to_owned), width);
        }
    }
    push_rest(text, changes.len(), most);
}

/// Returns the sentence about the ports at which an offer docks.
pub fn docking_summary(meetings: &[TrialDocking], request: &str, offer: &str) -> String {
    let docks: Vec<&str> =
        meetings.iter().filter(|meeting| meeting.condition.is_none()).map(|meeting| meeting.label.as_str()).collect();
    if docks.is_empty() {
        return format!("{offer} docks at no port of {request}");
    }
    format!("{offer} could dock at {} of {request} by itself", docks.join(" and "))
}

/// Returns `summary`, and below it the conditions that keep the offer from the other ports.
pub fn docking_text(summary: &str, meetings: &[TrialDocking], parties: &Parties, dialect: Dialect) -> String {
    let mut text = format!("{summary}\n");
    let wording = summary_writer(parties, "", dialect, MAX_CLAUSE_CHARS);
    for meeting in meetings {
        let Some(condition) = &meeting.condition else { continue };
        let whose = if condition.is_of_request || condition.text.is_empty() { "" } else { "its own " };
        let (condition, reads) = (wording.condition_text(condition), wording.read_values(condition));
        push_wrapped(&mut text, "  ", &format!("not at {}: {whose}{condition}{reads}", meeting.label));
    }
    text
}
