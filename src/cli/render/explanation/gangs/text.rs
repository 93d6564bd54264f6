//! Reports about gangs as text.

use classad::ad::Dialect;
use classad::explain::{GangChange, GangReport, GangVerdict, GangWording};
use classad::matching::gang::{Condition, Docked, Impasse, Meeting, Stuck};

use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, line};
use crate::cli::render::explanation::listing::{push_rest, push_wrapped};
use crate::cli::render::explanation::writer::{FEW, LONGEST, MANY};
use crate::cli::render::table::Grid;

/// Maximum number of offers named in one line.
const MOST_NAMES: usize = 3;

/// The names and limits for sentences about a gang.
pub struct Words<'w> {
    pub parties: &'w Parties,
    pub subject: &'w str,
    pub is_plural: bool,
    pub dialect: Dialect,
    /// Maximum number of characters of a quoted condition.
    pub longest: usize,
}

impl Words<'_> {
    /// Calls `work` with the library's form of these options, whose closures borrow `parties`.
    fn using<T>(&self, work: impl FnOnce(&GangWording<'_>) -> T) -> T {
        let Words { parties, .. } = self;
        work(&GangWording {
            subject: self.subject,
            is_plural: self.is_plural,
            offer: &|docked: &Docked| parties.offer(docked.offer, docked.part),
            name: &|offer| parties.offers[offer].id().to_owned(),
            requests: &|request| parties.requests[request].id().to_owned(),
            dialect: self.dialect,
            longest: self.longest,
        })
    }

    /// Returns the summary sentence.
    pub fn summary(&self, report: &GangReport) -> String {
        line(&self.using(|wording| wording.summary(report)))
    }

    /// Returns the steps of a change, including the additional offer that it needs.
    pub fn change(change: &GangChange, parties: &Parties) -> Vec<String> {
        let another = change.another.map(|offer| format!("another offer like {}", parties.offers[offer].id()));
        change.steps.iter().cloned().chain(another).collect()
    }
}

/// Returns the report: the summary sentence and the sections below it, longer ones with `evidence`.
pub fn text(report: &GangReport, words: &Words<'_>, evidence: bool) -> String {
    let mut text = words.summary(report) + "\n";
    let Some(impasse) = &report.impasse else { return text };
    if matches!(report.verdict, GangVerdict::NoOffers) {
        return text;
    }
    let width = diagnostics::width();
    words.using(|wording| {
        text.push_str(&ports(impasse, wording, width));
        for port in impasse.ports.iter().filter(|port| !port.ruled_out.is_empty()) {
            if port.is_needed || evidence {
                let heading = format!("what keeps {} empty:", port.label);
                conditions(&mut text, &heading, &port.ruled_out, wording, evidence);
            }
        }
        for stuck in impasse.stuck.iter().filter(|stuck| impasse.ports[stuck.port].alone > 0) {
            self::stuck(&mut text, impasse, stuck, wording, evidence);
        }
        changes(&mut text, &report.changes, words.parties, wording, evidence);
    });
    text
}

/// Returns the table of ports: how many offers could fill each, and which one is docked in the deepest gang.
fn ports(impasse: &Impasse, wording: &GangWording<'_>, width: usize) -> String {
    let mut grid = Grid::new(&["port", "alone", "given the others", "used up", "docked"]).numbers(&[1, 2, 3]);
    for port in &impasse.ports {
        let docked = impasse.deepest.ports.iter().find(|docked| docked.label == port.label);
        let docked = docked.map_or_else(|| "-".to_owned(), |docked| (wording.offer)(docked));
        let label = if port.is_needed { port.label.clone() } else { format!("{} (optional)", port.label) };
        grid.row([label, port.alone.to_string(), port.given.to_string(), port.used.to_string(), docked]);
    }
    if impasse.ports.iter().all(|port| port.used == 0) {
        grid.leave_out(3);
    }
    grid.text(Some(width))
}

/// Appends the conditions that rule offers out.
fn conditions(text: &mut String, heading: &str, conditions: &[Condition], wording: &GangWording<'_>, evidence: bool) {
    if conditions.is_empty() {
        return;
    }
    text.push_str(&line(heading));
    text.push('\n');
    let most = if evidence { MANY } else { FEW };
    for condition in conditions.iter().take(most) {
        let names: Vec<String> = condition.offers.iter().take(MOST_NAMES).map(|offer| (wording.name)(*offer)).collect();
        let more = if condition.offers.len() > MOST_NAMES { ", ..." } else { "" };
        let whose = if condition.of_request || condition.text.is_empty() { "" } else { "their own " };
        let sentence = format!(
            "{}: {whose}{}{} ({}{more})",
            classad::explain::thousands(condition.offers.len()),
            wording.condition(condition),
            wording.reads(condition),
            names.join(", ")
        );
        push_wrapped(text, "  ", &sentence);
    }
    push_rest(text, conditions.len(), most);
}

/// Appends what keeps a port empty that has candidates of its own.
fn stuck(text: &mut String, impasse: &Impasse, stuck: &Stuck, wording: &GangWording<'_>, evidence: bool) {
    let label = &impasse.ports[stuck.port].label;
    let beside = if impasse.deepest.ports.is_empty() {
        String::new()
    } else {
        format!(" beside {}", wording.docked(&impasse.deepest))
    };
    let heading = format!("what keeps the candidates of {label} away{beside}:");
    let mut heading_text = String::new();
    push_wrapped(&mut heading_text, "", &heading);
    text.push_str(&heading_text);
    let mut lines = String::new();
    conditions(&mut lines, "", &stuck.conditions, wording, evidence);
    text.push_str(lines.trim_start_matches('\n'));
    let mut tell = |sentence: String| {
        push_wrapped(text, "  ", &sentence);
    };
    if !stuck.held.is_empty() {
        tell(format!("{}: in the gang already", stuck.held.len()));
    }
    if stuck.discarded > 0 {
        tell(format!("{}: discarded by the docking vector", stuck.discarded));
    }
    if let Some(first) = stuck.unserved.first() {
        let needs: Vec<String> = stuck.needs.iter().map(|(label, offers)| format!("{label} {offers}")).collect();
        let name = (wording.name)(*first);
        tell(format!(
            "{}: they cannot fill their own ports; candidates at those of {name}: {}",
            stuck.unserved.len(),
            needs.join(", ")
        ));
    }
    if stuck.fitting > 0 {
        tell(format!("{}: would do, but the group needs more", stuck.fitting));
    }
}

/// Appends the changes with which the request would get a gang.
fn changes(text: &mut String, changes: &[GangChange], parties: &Parties, wording: &GangWording<'_>, evidence: bool) {
    if changes.is_empty() {
        return;
    }
    text.push_str("it would get a gang with:\n");
    let most = if evidence { MANY } else { FEW };
    let width = diagnostics::width();
    for change in changes.iter().take(most) {
        let steps = Words::change(change, parties).join(", and ");
        let gang = format!("({})", wording.docked(&change.gang));
        let is_short = steps.chars().count() + gang.chars().count() + 4 <= width;
        if is_short {
            text.push_str(&line(&format!("  {steps}  {gang}")));
            text.push('\n');
        } else {
            diagnostics::wrap(text, "  ", steps.split(' ').map(str::to_owned), width);
            diagnostics::wrap(text, "      ", gang.split(' ').map(str::to_owned), width);
        }
    }
    push_rest(text, changes.len(), most);
}

/// Returns the sentence about the ports at which an offer docks.
pub fn meetings_summary(meetings: &[Meeting], request: &str, offer: &str) -> String {
    let docks: Vec<&str> =
        meetings.iter().filter(|meeting| meeting.condition.is_none()).map(|meeting| meeting.label.as_str()).collect();
    if docks.is_empty() {
        return format!("{offer} docks at no port of {request}");
    }
    format!("{offer} could dock at {} of {request} by itself", docks.join(" and "))
}

/// Returns the sentence and the conditions that keep the offer from the other ports.
pub fn meetings(summary: &str, meetings: &[Meeting], parties: &Parties, dialect: Dialect) -> String {
    let mut text = format!("{summary}\n");
    let words = Words { parties, subject: "", is_plural: false, dialect, longest: LONGEST };
    words.using(|wording| {
        for meeting in meetings {
            let Some(condition) = &meeting.condition else { continue };
            let whose = if condition.of_request || condition.text.is_empty() { "" } else { "its own " };
            let sentence = format!(
                "not at {}: {whose}{}{}",
                meeting.label,
                wording.condition(condition),
                wording.reads(condition)
            );
            push_wrapped(&mut text, "  ", &sentence);
        }
    });
    text
}
