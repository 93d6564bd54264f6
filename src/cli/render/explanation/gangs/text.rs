//! Reports about gangs as text.

use classad::ad::Dialect;
use classad::explain::{AdNames, AdReference, GangReport, GangVerdict, RequestChange, SummaryWriter, unranking_rule};
use classad::matching::gang::{
    BlockedPort, FailedCondition, Gang, GangFailure, MemberCause, MemberFailure, TrialDocking, UnmetClause,
};
use classad::text::{counted, join_and};

use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::explanation::limits::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS, MAX_EVIDENCE_ITEMS};
use crate::cli::render::explanation::listing::{first_lines, push_rest, push_wrapped};
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
    SummaryWriter { subject, is_plural: false, nouns, names: parties, dialect, max_clause_chars, brevity: 0 }
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

/// Returns the report: the summary sentence and the sections below it. With `evidence` the sections are longer.
pub fn gang_report_text(report: &GangReport, writer: &SummaryWriter<'_>, evidence: bool) -> String {
    let mut told = GangText { text: first_lines(&writer.gang_summary(report)), writer, evidence };
    let failure = report.failure.as_ref().filter(|_| !matches!(report.verdict, GangVerdict::NoOffers));
    let Some(failure) = failure else { return told.text };
    told.text.push_str(&port_table(failure, "", writer));
    for port in failure.ports.iter().filter(|port| !port.ruled_out.is_empty()) {
        if port.is_required || evidence {
            told.push_conditions(&format!("why {} stays empty", port.label), &port.ruled_out);
        }
    }
    for blocked in failure.blocked.iter().filter(|blocked| failure.ports[blocked.port].independent > 0) {
        told.push_blocked_port(failure, blocked);
    }
    told.push_changes(&report.changes);
    told.text
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

/// The text of a report, as far as it is written.
struct GangText<'w> {
    text: String,
    writer: &'w SummaryWriter<'w>,
    /// Whether the sections are longer, with `-v`.
    evidence: bool,
}

impl GangText<'_> {
    /// Returns the maximum number of conditions or changes in a section of the report.
    fn max_items(&self) -> usize {
        if self.evidence { MAX_EVIDENCE_ITEMS } else { DEFAULT_MAX_ITEMS }
    }

    /// Appends a sentence, wrapped at the width of the terminal.
    fn push(&mut self, indent: &str, sentence: &str) {
        push_wrapped(&mut self.text, indent, sentence);
    }

    /// Appends the conditions that rule offers out, below a heading, which says how offers are counted that fail several.
    fn push_conditions(&mut self, heading: &str, conditions: &[FailedCondition]) {
        let counting =
            if conditions.len() > 1 { " (each offer counts at the first condition that it fails)" } else { "" };
        self.push("", &format!("{heading}{counting}:"));
        let (most, writer) = (self.max_items(), self.writer);
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
            self.push("  ", &sentence);
        }
        push_rest(&mut self.text, conditions.len(), most, "condition");
    }

    /// Appends why a port stays empty although some offers could fill the port if it were the only port.
    fn push_blocked_port(&mut self, failure: &GangFailure, blocked: &BlockedPort) {
        let (label, beside) = (&failure.ports[blocked.port].label, self.writer.beside(&failure.deepest));
        self.push_conditions(&format!("why the candidates for {label} do not fit{beside}"), &blocked.conditions);
        let unranked = format!("not ranked by the policy{}", unranking_rule(blocked));
        for (offers, what) in [
            (blocked.held.len(), "in the gang already"),
            (blocked.unacceptable, unranked.as_str()),
            (blocked.unserved.len(), "with ports of their own, which do not serve this port"),
            (blocked.fitting, "acceptable, but the group needs more offers"),
        ] {
            if offers > 0 {
                self.push("  ", &format!("{}: {what}", counted(offers, "offer")));
            }
        }
        if let Some(member) = &blocked.member {
            self.push_member(label, member);
        }
    }

    /// Appends why an offer that fits the port `label` cannot serve it with its own ports, and follows the offers that would
    /// dock there in turn.
    fn push_member(&mut self, label: &str, member: &MemberFailure) {
        let writer = self.writer;
        let (mut label, mut next) = (label.to_owned(), Some(member));
        while let Some(member) = next.take() {
            let name = writer.offer_name(member.offer);
            match &member.cause {
                MemberCause::Refused { own_ports, clauses, .. } => {
                    let gang = Gang { request: 0, ports: own_ports.clone() };
                    self.push("", &format!("why {name} does not serve {label} with {}:", writer.list_docked(&gang)));
                    for UnmetClause { condition, .. } in clauses {
                        let (condition, reads) = (writer.condition_text(condition), writer.read_values(condition));
                        self.push("  ", &format!("{condition}{reads}"));
                    }
                }
                MemberCause::OwnPorts(failure) => {
                    self.push("", &format!("the ports of {name}:"));
                    self.text.push_str(&port_table(failure, &member.link, writer));
                    for port in failure.ports.iter().filter(|port| port.is_required && !port.ruled_out.is_empty()) {
                        self.push_conditions(&format!("why {} of {name} stays empty", port.label), &port.ruled_out);
                    }
                    for blocked in failure.blocked.iter().filter(|of| failure.ports[of.port].independent > 0) {
                        let own = &failure.ports[blocked.port].label;
                        if !blocked.conditions.is_empty() {
                            let heading = format!("why the candidates for {own} of {name} do not fit");
                            self.push_conditions(&heading, &blocked.conditions);
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
    fn push_changes(&mut self, changes: &[RequestChange<Gang>]) {
        if changes.is_empty() {
            return;
        }
        let (most, writer) = (self.max_items(), self.writer);
        self.text.push_str(if writer.is_plural {
            "they would get a gang with:\n"
        } else {
            "it would get a gang with:\n"
        });
        let width = diagnostics::terminal_width();
        for change in changes.iter().take(most) {
            let steps = change_steps(change, writer.names).join(", and ");
            let gang = format!("({})", writer.list_docked(&change.matched));
            let is_short = steps.chars().count() + gang.chars().count() + 4 <= width;
            if is_short {
                self.text.push_str(&single_line(&format!("  {steps}  {gang}")));
                self.text.push('\n');
            } else {
                diagnostics::push_words(&mut self.text, "  ", steps.split(' ').map(str::to_owned), width);
                diagnostics::push_words(&mut self.text, "      ", gang.split(' ').map(str::to_owned), width);
            }
        }
        push_rest(&mut self.text, changes.len(), most, "change");
    }
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
