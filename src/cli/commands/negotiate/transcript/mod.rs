//! Transcript of the events of a negotiation cycle, as text and as records.

mod details;
mod shares;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io::Write;

use classad::matching::gang::Gang;
use classad::matching::negotiate::{
    AccountingLimit, Grant, NegotiationEvent, NegotiationOutcome, RequestStarts, SubmitterOutcome, TurnLimit,
};
use classad::matching::policy::Policy;
use classad::text::{counted, rounded, with_commas};

use indexmap::IndexSet;

use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::parties::Parties;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics;
use crate::cli::render::match_table::{choice_text, runner_up_names};
use crate::cli::render::rows::{ResultTable, TableCell};
use details::{EQUIVALENT, deferral_detail, limit_text, rejection_detail, several, worth_text};

/// A line of text. Consecutive requests with the same outcome share one.
struct TranscriptLine {
    /// The submitter of whom it tells. Empty for lines about all.
    submitter: String,
    text: String,
    /// What became of the request, if it got nothing.
    outcome: Option<RequestOutcome>,
}

/// What became of requests that got nothing.
struct RequestOutcome {
    words: OutcomeWords,
    detail: String,
    first: String,
    count: usize,
}

/// What becomes of requests that get nothing: what happens to one request, what happens to several, and the event.
type OutcomeWords = [&'static str; 3];
const REJECTED: OutcomeWords = ["is rejected", "are rejected", "rejected"];
const DEFERRED: OutcomeWords = ["waits for the next round", "wait for the next round", "deferred"];
const WAITING: OutcomeWords = ["waits", "wait", "deferred"];
const LEFT_OUT: OutcomeWords = ["is left out", "are left out", "left out"];
const SKIPPED: OutcomeWords = ["is skipped", "are skipped", "skipped"];

/// A transcript: a line of text and a record for each event.
pub struct Transcript<'p> {
    parties: &'p Parties,
    policy: &'p Policy,
    lines: Vec<TranscriptLine>,
    records: ResultTable,
    round: usize,
    /// Whether an offer is divided. Then the number of offers that are compatible with a request may have been larger before.
    has_divided: bool,
    /// The requests with which no offer is compatible, by index.
    unmatched: IndexSet<usize>,
    /// The autoclusters of these requests.
    unmatched_clusters: HashSet<usize>,
    /// The requests of each submitter that the cycle considered, by index.
    considered: HashMap<String, HashSet<usize>>,
    /// The group whose submitters have their turns.
    group: String,
}

impl<'p> Transcript<'p> {
    /// Creates an empty transcript of a cycle under this policy.
    pub fn new(parties: &'p Parties, policy: &'p Policy) -> Self {
        let records = ResultTable::new(&["round", "submitter", "event", "request", "offer", "preempted", "detail"]);
        let mut transcript = Transcript {
            parties,
            policy,
            lines: Vec::new(),
            records,
            round: 0,
            has_divided: false,
            unmatched: IndexSet::new(),
            unmatched_clusters: HashSet::new(),
            considered: HashMap::new(),
            group: String::new(),
        };
        if policy.weighted_share().is_some() {
            transcript.add_line("", "shares and quotas are sums of weights of offers".to_owned());
        }
        transcript
    }

    /// Adds a line and a record for each submitter with requests that the cycle did not consider, and a line for the requests
    /// with which no offer is compatible.
    pub fn end(&mut self, outcome: &NegotiationOutcome) {
        let mut limits = self.limits_of_waiting(outcome);
        for (index, SubmitterOutcome { name, requests, .. }) in outcome.submitters.iter().enumerate() {
            let left = requests.saturating_sub(self.considered.get(name).map_or(0, HashSet::len));
            if left > 0 {
                let cause = match limits.remove(&index) {
                    _ if self.policy.share.is_none() => "no offer was left".to_owned(),
                    Some((_, limit)) => limit_text(limit),
                    None => "no share or no offer was left".to_owned(),
                };
                let detail = format!("{} of {} had no turn: {cause}", with_commas(left), counted(*requests, "request"));
                let who = match name.as_str() {
                    "" if self.policy.share.is_none() => "all submitters",
                    "" => "submitters without a name",
                    name => name,
                };
                self.push(who, name, "no turn", &detail);
            }
        }
        if let Some(first) = self.unmatched.first() {
            let (first, count) = (self.parties.request_name(*first, None), self.unmatched.len());
            let verb = if count == 1 { "matches" } else { "match" };
            let line = format!(
                "{} {verb} no offer at all (`classad explain --request {first}` says why)",
                several(&first, count)
            );
            self.add_line("", line);
        }
    }

    /// Returns the limit of the first request of each submitter that the cycle did not consider and that has one, by index of
    /// the submitter.
    fn limits_of_waiting<'o>(&self, outcome: &'o NegotiationOutcome) -> HashMap<usize, (usize, &'o AccountingLimit)> {
        let mut first: HashMap<usize, (usize, &AccountingLimit)> = HashMap::new();
        for (request, TurnLimit { limit, .. }) in &outcome.limits {
            let Some(submitter) = outcome.submitter_of.get(request) else { continue };
            let considered = self.considered.get(&outcome.submitters[*submitter].name);
            if considered.is_some_and(|considered| considered.contains(request)) {
                continue;
            }
            let known = first.entry(*submitter).or_insert((*request, limit));
            if *request < known.0 {
                *known = (*request, limit);
            }
        }
        first
    }

    /// Leaves out what is about other submitters. Returns false if there is nothing about this one.
    pub fn retain_submitter(&mut self, submitter: &str) -> bool {
        let has_it =
            self.considered.contains_key(submitter) || self.lines.iter().any(|line| line.submitter == submitter);
        let is_kept = |of: &str| of.is_empty() || of == submitter;
        self.lines.retain(|line| is_kept(&line.submitter));
        let about_all =
            |event: &str| ["round", "allocation", "group", "skipped group", "quota", "quota reached"].contains(&event);
        self.records.rows.retain(|row| is_kept(&row[1].text) || about_all(&row[2].text));
        has_it
    }

    /// Adds a line and a record for each request that starts after the cycle. `name` returns the submitter of a request.
    pub fn record_starts<'s>(&mut self, starts: &RequestStarts, name: &dyn Fn(usize) -> Option<&'s str>) {
        if !starts.grants.is_empty() {
            self.add_line("", "starts after the cycle".to_owned());
        }
        let matched = starts.grants.len() - starts.in_rests;
        for (index, grant) in starts.grants.iter().enumerate() {
            let detail = if index < matched { "in its match" } else { "in the rest of a slot that its submitter got" };
            let request = self.parties.request_name(grant.request, grant.unit);
            for granted in &grant.offers {
                let offer = self.parties.offer_name(granted.offer, granted.part);
                let submitter = name(grant.request).unwrap_or_default();
                self.add_line(submitter, format!("  {request} starts in {offer}, {detail}"));
                self.add_record(submitter, "start", [&request, &offer, "", detail]);
            }
        }
    }

    /// Writes the records if `output` names a form, else the lines of text.
    pub fn write(&self, out: &mut dyn Write, output: TableOutputArgs) -> Result<(), Failure> {
        if output.form.is_some() {
            return output.write(&self.records);
        }
        for line in &self.lines {
            writeln!(out, "{}", diagnostics::single_line(&line.text))?;
        }
        Ok(())
    }

    fn add_line(&mut self, submitter: &str, text: String) {
        self.lines.push(TranscriptLine { submitter: submitter.to_owned(), text, outcome: None });
    }

    /// Appends the line and the record of an event: `who` is what the line is about, `submitter` whom the record names.
    fn push(&mut self, who: &str, submitter: &str, event: &str, detail: &str) {
        let is_of_submitter = who == submitter;
        self.add_line(if is_of_submitter { submitter } else { "" }, format!("{who}: {detail}"));
        self.add_record(submitter, event, ["", "", "", detail]);
    }

    /// Appends the line and the record of a request that gets nothing. `units` is the number of its units, if it stands for
    /// several.
    fn push_request(&mut self, (request, units): (usize, usize), submitter: &str, words: OutcomeWords, detail: &str) {
        let name = self.parties.request_name(request, None);
        self.add_record(submitter, words[2], [&name, "", "", detail]);
        let mut outcome = RequestOutcome { words, detail: detail.to_owned(), first: name, count: 1 };
        if let Some(TranscriptLine { outcome: Some(before), .. }) = self.lines.last()
            && (before.words, before.detail.as_str()) == (words, detail)
        {
            (outcome.first, outcome.count) = (before.first.clone(), before.count + 1);
            self.lines.pop();
        }
        let verb = words[usize::from(outcome.count > 1)];
        // The units of one request are no further requests.
        let of_one =
            if units > 1 && outcome.count == 1 { &format!(", {} of it", counted(units, "request")) } else { "" };
        let text = format!("  {} {verb}{of_one}: {detail}", several(&outcome.first, outcome.count));
        self.lines.push(TranscriptLine { submitter: submitter.to_owned(), text, outcome: Some(outcome) });
    }

    /// Appends the record of an event, with the number of the current round.
    fn add_record(&mut self, submitter: &str, event: &str, [request, offer, preempted, detail]: [&str; 4]) {
        let texts = [submitter, event, request, offer, preempted, detail].map(|text| TableCell::from(text.to_owned()));
        self.records.rows.push([self.round.into()].into_iter().chain(texts).collect());
    }

    /// Appends a line of text and a record for an event of the cycle.
    pub fn record(&mut self, event: &NegotiationEvent<'_>) {
        if let Some((request, submitter)) = considered_request(event) {
            self.considered.entry(submitter.to_owned()).or_default().insert(request);
        }
        match *event {
            NegotiationEvent::Round { number, offers } => {
                self.round = number;
                self.push(&format!("round {number}"), "", "round", &counted(offers, "offer"));
            }
            NegotiationEvent::Turn { submitter, priority, slice, requests } => {
                let asked = counted(requests, "request");
                let detail = match slice {
                    Some(slice) => format!("priority {priority}, up to {} for {asked}", counted(slice, "offer")),
                    None => asked,
                };
                let who = if slice.is_none() { "all submitters" } else { submitter };
                self.push(who, submitter, "turn", &detail);
            }
            NegotiationEvent::Matched { grant, submitter, weight } => self.record_match(grant, submitter, weight),
            NegotiationEvent::NoGang { request, submitter, .. } => {
                let detail = "the remaining offers do not fill its ports";
                self.push_request((request, 1), submitter, REJECTED, detail);
            }
            NegotiationEvent::Deferred { request, submitter, offers, weight, left } => {
                let detail = deferral_detail(submitter, (offers, weight), left);
                self.push_request((request, 1), submitter, DEFERRED, &detail);
            }
            NegotiationEvent::BadPorts { request, submitter, fault } => {
                self.push_request((request, 1), submitter, LEFT_OUT, &fault.to_string());
            }
            NegotiationEvent::Rejected { request, cluster, submitter, compatible, discarded, refusals } => {
                let detail = rejection_detail(refusals, [compatible, discarded], self.has_divided);
                if compatible == 0 && !self.has_divided && refusals.is_none() {
                    self.unmatched_clusters.insert(cluster);
                    self.unmatched.insert(request);
                    let name = self.parties.request_name(request, None);
                    return self.add_record(submitter, REJECTED[2], [&name, "", "", &detail]);
                }
                // What is too heavy for the share of this turn may be taken in a later one.
                let waits = refusals.limit.is_none() && refusals.over_share > 0;
                self.push_request((request, 1), submitter, if waits { WAITING } else { REJECTED }, &detail);
            }
            NegotiationEvent::Skipped { request, cluster, submitter, .. }
                if self.unmatched_clusters.contains(&cluster) =>
            {
                self.unmatched.insert(request);
                let name = self.parties.request_name(request, None);
                self.add_record(submitter, SKIPPED[2], [&name, "", "", EQUIVALENT]);
            }
            NegotiationEvent::Skipped { request, submitter, requests, .. } => {
                self.push_request((request, requests), submitter, SKIPPED, EQUIVALENT);
            }
            _ => self.record_shares(event),
        }
    }

    /// Records the offers that a request gets.
    fn record_match(&mut self, grant: &Grant, submitter: &str, weight: Option<f64>) {
        self.has_divided |= grant.offers.iter().any(|granted| granted.portion.is_some());
        let parties = self.parties;
        let request = parties.request_name(grant.request, grant.unit);
        let mut paths = grant.gang.as_ref().map(Gang::port_paths).unwrap_or_default().into_iter();
        let mut parts = Vec::new();
        for granted in &grant.offers {
            let offer = parties.offer_name(granted.offer, granted.part);
            let port = paths.next().map(|path| format!("{path}: ")).unwrap_or_default();
            let worth = worth_text(granted, self.policy);
            let preempted = granted.preempted.clone().unwrap_or_default();
            let rule = self.policy.weighted_share().and_then(|share| share.beyond.as_ref());
            let rule = rule.filter(|_| granted.is_beyond).map(|rule| rule.expression.to_string());
            let prefers = rule.map_or(String::new(), |rule| format!(": `{rule}`, so it may exceed the share"));
            let loser = if preempted.is_empty() { String::new() } else { format!(", preempts {preempted}{prefers}") };
            parts.push(format!("{port}{offer}{loser}"));
            self.add_record(submitter, "matched", [&request, &offer, &preempted, &format!("{port}{worth}")]);
        }
        // Weights of 1 are numbers of offers.
        let weight = weight.map(rounded).filter(|weight| (weight - 1.0).abs() > f64::EPSILON);
        let weight = weight.map_or(String::new(), |weight| format!(" (weight {weight})"));
        self.add_line(submitter, format!("  {request} gets {}{weight}", parts.join("; ")));
        if let Some(choice) = &grant.choice {
            let (next, text) = (runner_up_names(parties, choice), choice_text(choice, self.policy));
            self.add_line(submitter, format!("    next best: {next}; decided by {text}"));
        }
    }
}

/// Returns the request that an event considers, and its submitter.
fn considered_request<'e>(event: &NegotiationEvent<'e>) -> Option<(usize, &'e str)> {
    match *event {
        NegotiationEvent::Matched { grant, submitter, .. } => Some((grant.request, submitter)),
        NegotiationEvent::NoGang { request, submitter, .. }
        | NegotiationEvent::BadPorts { request, submitter, .. }
        | NegotiationEvent::Deferred { request, submitter, .. }
        | NegotiationEvent::Rejected { request, submitter, .. }
        | NegotiationEvent::Skipped { request, submitter, .. } => Some((request, submitter)),
        _ => None,
    }
}
