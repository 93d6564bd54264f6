//! Transcript of the events of a negotiation cycle, as text and as records.

use std::io::Write;

use classad::ad::Value;
use classad::matching::negotiate::NegotiationEvent;
use classad::matching::policy::PolicyVector;
use classad::text::counted_plain;

use crate::cli::Failure;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics;
use crate::cli::render::rows::{ResultTable, TableCell, value_text};

/// A transcript: a line of text and a record for each event.
pub struct Transcript<'p> {
    parties: &'p Parties,
    lines: Vec<String>,
    records: ResultTable,
    round: usize,
}

impl<'p> Transcript<'p> {
    pub fn new(parties: &'p Parties) -> Self {
        let records = ResultTable::new(&["round", "submitter", "event", "request", "offer", "preempted", "detail"]);
        Transcript { parties, lines: Vec::new(), records, round: 0 }
    }

    /// Writes the lines of text, or the records if a form is given.
    pub fn write(&self, out: &mut dyn Write, output: TableOutputArgs) -> Result<(), Failure> {
        if output.form.is_some() {
            return output.write(&self.records);
        }
        for line in &self.lines {
            writeln!(out, "{}", diagnostics::single_line(line))?;
        }
        Ok(())
    }

    /// Appends the line and the record of an event. `cells` are the columns request, offer, preempted and detail.
    fn push(&mut self, line: String, submitter: &str, event: &str, cells: [String; 4]) {
        self.lines.push(line);
        let mut record: Vec<TableCell> = vec![self.round.into(), submitter.to_owned().into(), event.to_owned().into()];
        record.extend(cells.map(TableCell::from));
        self.records.rows.push(record);
    }

    /// Appends a line of text and a record for an event of the cycle.
    pub fn record(&mut self, event: &NegotiationEvent<'_>) {
        let parties = self.parties;
        let nothing = String::new;
        match *event {
            NegotiationEvent::Round { number, offers } => {
                self.round = number;
                let detail = counted_plain(offers, "offer");
                self.push(format!("round {number}: {detail}"), "", "round", [nothing(), nothing(), nothing(), detail]);
            }
            NegotiationEvent::Turn { submitter, priority, slice, requests } => {
                let asked = counted_plain(requests, "request");
                let detail = match slice {
                    Some(slice) => format!("priority {priority}, up to {} for {asked}", counted_plain(slice, "offer")),
                    None => asked,
                };
                let who = if slice.is_none() { "all submitters" } else { submitter };
                self.push(format!("{who}: {detail}"), submitter, "turn", [nothing(), nothing(), nothing(), detail]);
            }
            NegotiationEvent::Matched { grant, submitter } => {
                let (request, offer) =
                    (parties.request_name(grant.request, grant.unit), parties.offer_name(grant.offer, grant.part));
                let worth = match &grant.vector {
                    Some(vector) => vector_text(vector),
                    None => format!("{{ {}, {} }}", grant.request_rank, grant.offer_rank),
                };
                let preempted = grant.preempted.clone().unwrap_or_default();
                let loser = if preempted.is_empty() { nothing() } else { format!(", preempts {preempted}") };
                let line = format!("  {request} gets {offer} {worth}{loser}");
                self.push(line, submitter, "matched", [request, offer, preempted, worth]);
            }
            NegotiationEvent::Rejected { request, submitter, compatible, discarded } => {
                let request = parties.request_name(request, None);
                let detail = rejection_reason(compatible, discarded);
                let line = format!("  {request} is rejected: {detail}");
                self.push(line, submitter, "rejected", [request, nothing(), nothing(), detail]);
            }
            NegotiationEvent::Skipped { request, submitter, requests } => {
                let request = parties.request_name(request, None);
                let detail =
                    if requests == 1 { nothing() } else { format!(", {} of it", counted_plain(requests, "request")) };
                let line = format!("  {request} is skipped{detail}: one like it was rejected");
                let detail = "one like it was rejected".to_owned();
                self.push(line, submitter, "skipped", [request, nothing(), nothing(), detail]);
            }
        }
    }
}

/// Explains a rejection from the numbers of compatible offers and of those that the docking vector discarded.
fn rejection_reason(compatible: usize, discarded: usize) -> String {
    match (compatible, discarded) {
        (0, _) => "no offer is compatible".to_owned(),
        (all, 0) => format!("{}, taken", counted_plain(all, "compatible offer")),
        (all, discarded) if all == discarded => {
            format!("{}, discarded by the docking vector", counted_plain(all, "compatible offer"))
        }
        (all, discarded) => format!(
            "{}: {} taken, {discarded} discarded by the docking vector",
            counted_plain(all, "compatible offer"),
            all - discarded
        ),
    }
}

fn vector_text(vector: &PolicyVector) -> String {
    let component = |value: Option<&Value>| {
        String::from_utf8_lossy(&value_text(value.unwrap_or(&Value::Undefined), false)).into_owned()
    };
    let components = vector.0.iter().map(|one| component(one.as_ref().map(|component| &component.value)));
    format!("{{ {} }}", components.collect::<Vec<_>>().join(", "))
}
