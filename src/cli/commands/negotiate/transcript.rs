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

    /// Writes the records if `output` names a form, else the lines of text.
    pub fn write(&self, out: &mut dyn Write, output: TableOutputArgs) -> Result<(), Failure> {
        if output.form.is_some() {
            return output.write(&self.records);
        }
        for line in &self.lines {
            writeln!(out, "{}", diagnostics::single_line(line))?;
        }
        Ok(())
    }

    /// Appends the line and the record of an event. The record also gets the number of the current round.
    fn push(&mut self, line: String, submitter: &str, event: &str, [request, offer, preempted, detail]: [&str; 4]) {
        self.lines.push(line);
        let texts = [submitter, event, request, offer, preempted, detail].map(|text| TableCell::from(text.to_owned()));
        self.records.rows.push([self.round.into()].into_iter().chain(texts).collect());
    }

    /// Appends a line of text and a record for an event of the cycle.
    pub fn record(&mut self, event: &NegotiationEvent<'_>) {
        let parties = self.parties;
        match *event {
            NegotiationEvent::Round { number, offers } => {
                self.round = number;
                let detail = counted_plain(offers, "offer");
                self.push(format!("round {number}: {detail}"), "", "round", ["", "", "", &detail]);
            }
            NegotiationEvent::Turn { submitter, priority, slice, requests } => {
                let asked = counted_plain(requests, "request");
                let detail = match slice {
                    Some(slice) => format!("priority {priority}, up to {} for {asked}", counted_plain(slice, "offer")),
                    None => asked,
                };
                let who = if slice.is_none() { "all submitters" } else { submitter };
                self.push(format!("{who}: {detail}"), submitter, "turn", ["", "", "", &detail]);
            }
            NegotiationEvent::Matched { grant, submitter } => {
                let (request, offer) =
                    (parties.request_name(grant.request, grant.unit), parties.offer_name(grant.offer, grant.part));
                let worth = match &grant.vector {
                    Some(vector) => vector_text(vector),
                    None => format!("{{ {}, {} }}", grant.request_rank, grant.offer_rank),
                };
                let preempted = grant.preempted.clone().unwrap_or_default();
                let loser = if preempted.is_empty() { String::new() } else { format!(", preempts {preempted}") };
                let line = format!("  {request} gets {offer} {worth}{loser}");
                self.push(line, submitter, "matched", [&request, &offer, &preempted, &worth]);
            }
            NegotiationEvent::Rejected { request, submitter, compatible, discarded } => {
                let request = parties.request_name(request, None);
                let detail = rejection_reason(compatible, discarded);
                let line = format!("  {request} is rejected: {detail}");
                self.push(line, submitter, "rejected", [&request, "", "", &detail]);
            }
            NegotiationEvent::Skipped { request, submitter, requests } => {
                let request = parties.request_name(request, None);
                let detail = "one like it was rejected";
                let units = if requests == 1 { "" } else { &format!(", {} of it", counted_plain(requests, "request")) };
                let line = format!("  {request} is skipped{units}: {detail}");
                self.push(line, submitter, "skipped", [&request, "", "", detail]);
            }
        }
    }
}

/// Explains why a request is rejected, by the number of compatible offers and the number of offers that the docking
/// vector discarded.
fn rejection_reason(compatible: usize, discarded: usize) -> String {
    let offers = counted_plain(compatible, "compatible offer");
    match discarded {
        _ if compatible == 0 => "no offer is compatible".to_owned(),
        0 => format!("{offers}, taken"),
        all if all == compatible => format!("{offers}, discarded by the docking vector"),
        some => format!("{offers}: {} taken, {some} discarded by the docking vector", compatible - some),
    }
}

fn vector_text(vector: &PolicyVector) -> String {
    let components = vector.0.iter().map(|component| {
        let value = component.as_ref().map_or(&Value::Undefined, |component| &component.value);
        String::from_utf8_lossy(&value_text(value, false)).into_owned()
    });
    format!("{{ {} }}", components.collect::<Vec<_>>().join(", "))
}
