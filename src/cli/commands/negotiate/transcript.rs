//! Transcript of the events of a negotiation cycle, as text and as records.

use std::io::Write;

use classad::ad::Value;
use classad::matching::negotiate::Event;
use classad::matching::policy::Vector;

use crate::cli::Failure;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics;
use crate::cli::render::output::OutputForm;
use crate::cli::render::rows::{Cell, Rows, value_text};

/// A transcript: a line of text and a record for each event.
pub struct Transcript<'p> {
    parties: &'p Parties,
    lines: Vec<String>,
    records: Rows,
    round: usize,
}

impl<'p> Transcript<'p> {
    pub fn new(parties: &'p Parties) -> Self {
        let records = Rows::new(&["round", "submitter", "event", "request", "offer", "preempted", "detail"]);
        Transcript { parties, lines: Vec::new(), records, round: 0 }
    }

    /// Writes the lines of text, or the records if `form` is given.
    pub fn write(&self, out: &mut dyn Write, form: Option<OutputForm>, with_header: bool) -> Result<(), Failure> {
        if form.is_some() {
            return self.records.write(out, form, with_header);
        }
        for line in &self.lines {
            writeln!(out, "{}", diagnostics::line(line))?;
        }
        Ok(())
    }

    /// Appends an event. `cells` are the columns request, offer, preempted and detail.
    fn note(&mut self, line: String, submitter: &str, event: &str, cells: [String; 4]) {
        self.lines.push(line);
        let mut record: Vec<Cell> = vec![self.round.into(), submitter.to_owned().into(), event.to_owned().into()];
        record.extend(cells.map(Cell::from));
        self.records.rows.push(record);
    }

    /// Records an event of the cycle.
    pub fn tell(&mut self, event: &Event<'_>) {
        let parties = self.parties;
        let nothing = String::new;
        match *event {
            Event::Round { number, offers } => {
                self.round = number;
                let detail = counted(offers, "offer");
                self.note(format!("round {number}: {detail}"), "", "round", [nothing(), nothing(), nothing(), detail]);
            }
            Event::Turn { submitter, priority, slice, requests } => {
                let asked = counted(requests, "request");
                let detail = match slice {
                    Some(slice) => format!("priority {priority}, up to {} for {asked}", counted(slice, "offer")),
                    None => asked,
                };
                let who = if slice.is_none() { "all submitters" } else { submitter };
                self.note(format!("{who}: {detail}"), submitter, "turn", [nothing(), nothing(), nothing(), detail]);
            }
            Event::Matched { grant, submitter } => {
                let (request, offer) =
                    (parties.request(grant.request, grant.unit), parties.offer(grant.offer, grant.part));
                let worth = match &grant.vector {
                    Some(vector) => shown(vector),
                    None => format!("{{ {}, {} }}", grant.request_rank, grant.offer_rank),
                };
                let preempted = grant.preempted.clone().unwrap_or_default();
                let loser = if preempted.is_empty() { nothing() } else { format!(", preempts {preempted}") };
                let line = format!("  {request} gets {offer} {worth}{loser}");
                self.note(line, submitter, "matched", [request, offer, preempted, worth]);
            }
            Event::Rejected { request, submitter, compatible, discarded } => {
                let request = parties.request(request, None);
                let detail = reason(compatible, discarded);
                let line = format!("  {request} is rejected: {detail}");
                self.note(line, submitter, "rejected", [request, nothing(), nothing(), detail]);
            }
            Event::Skipped { request, submitter, requests } => {
                let request = parties.request(request, None);
                let detail =
                    if requests == 1 { nothing() } else { format!(", {} of it", counted(requests, "request")) };
                let line = format!("  {request} is skipped{detail}: one like it was rejected");
                let detail = "one like it was rejected".to_owned();
                self.note(line, submitter, "skipped", [request, nothing(), nothing(), detail]);
            }
        }
    }
}

/// Explains a rejection from the numbers of compatible offers and of those that the docking vector discarded.
fn reason(compatible: usize, discarded: usize) -> String {
    match (compatible, discarded) {
        (0, _) => "no offer is compatible".to_owned(),
        (all, 0) => format!("{}, taken", counted(all, "compatible offer")),
        (all, discarded) if all == discarded => {
            format!("{}, discarded by the docking vector", counted(all, "compatible offer"))
        }
        (all, discarded) => format!(
            "{}: {} taken, {discarded} discarded by the docking vector",
            counted(all, "compatible offer"),
            all - discarded
        ),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

fn shown(vector: &Vector) -> String {
    let component = |value: Option<&Value>| {
        String::from_utf8_lossy(&value_text(value.unwrap_or(&Value::Undefined), false)).into_owned()
    };
    let components = vector.0.iter().map(|one| component(one.as_ref().map(|component| &component.value)));
    format!("{{ {} }}", components.collect::<Vec<_>>().join(", "))
}
