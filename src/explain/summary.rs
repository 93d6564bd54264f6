//! Renders a verdict as one sentence.

use crate::ad::{Dialect, Name};
use crate::constraint::InconsistencyKind;
use crate::matching::gang::DockedOffer;
use crate::matching::negotiate::AccountingLimit;
use crate::protocol::SlotState;
use crate::text::{counted, join_and, join_first, with_commas};

use super::ad_names::{AdNames, AdReference};
use super::clauses::text;
use super::failure_phrase::FailureWriter;
use super::failure_reason::FailureReason;
use super::job_circumstance::{JobCircumstance, TOO_FEW_SLOTS};
use super::missing_amount::missing_amount;
use super::not_waiting_phrase::NotWaitingWriter;
use super::policy_phrase::PolicyWriter;
use super::refusal_phrase::RefusalWriter;
use super::report::{Narrowing, RequestReport, RequestVerdict};
use super::scarce_resources::ScarceResources;
use super::slot_phrase::{drained_note, if_drained_phrase, refusing_states, scarcity, slot_states};
use super::unmet_offer_clause::{UnmetOfferClause, values_phrase};

/// Writes sentences about explanations; the fields are the settings.
pub struct SummaryWriter<'w> {
    /// The explained request, as the subject of a sentence.
    pub subject: &'w str,
    /// Whether the subject is plural.
    pub is_plural: bool,
    /// The noun for the candidates, singular and plural.
    pub nouns: [&'w str; 2],
    /// The names of the ads other than the subject.
    pub names: &'w dyn AdNames,
    /// The dialect in which clauses are printed.
    pub dialect: Dialect,
    /// Maximum length of a clause in characters; the rest is cut off.
    pub max_clause_chars: usize,
    /// How much sentences leave out that the sections of a report tell: nothing (0), what else keeps offers away (1), also
    /// the values in which offers refuse (2), also the states of these offers (3).
    pub brevity: u8,
}

/// Maximum number of ads named in a sentence.
const MAX_NAMED_ADS: usize = 3;

/// Says how many dynamic slots would do that do not count, or would if the case of a string were right. Empty if there are none.
fn orphans_note(report: &RequestReport) -> String {
    match report.orphans {
        0 => report.orphan_spelling.as_ref().map_or_else(String::new, |(spelled, slots)| {
            let have = if *slots == 1 { "has" } else { "have" };
            format!(" ({} {have} {spelled}: --all-slots)", counted(*slots, "dynamic slot"))
        }),
        1 => " (1 dynamic slot would do: --all-slots)".to_owned(),
        orphans => format!(" ({} dynamic slots would do: --all-slots)", with_commas(orphans)),
    }
}

impl SummaryWriter<'_> {
    /// Returns the verdict as one sentence without a full stop.
    #[must_use]
    pub fn summary(&self, report: &RequestReport) -> String {
        let outlook = report.job.as_ref().and_then(|job| job.outlook.as_ref());
        if let Some(imminent) = outlook.and_then(|outlook| self.policies().imminent(outlook)) {
            let it = self.verb("it", "they");
            return format!("{imminent}; until then {}", SummaryWriter { subject: it, ..*self }.present(report));
        }
        let circumstances = report.job.iter().flat_map(|job| &job.circumstances);
        if let Some(decisive) = circumstances.into_iter().find(|known| known.is_decisive) {
            // What other slots match is no answer.
            if decisive.kind == TOO_FEW_SLOTS {
                return self.circumstance(decisive);
            }
            let it = SummaryWriter { subject: self.verb("it", "they"), ..*self };
            return format!("{}; {}", self.circumstance(decisive), it.present(report));
        }
        self.present(report)
    }

    /// Says what keeps the job from running: `1.0 is in cool-down until ...`.
    #[must_use]
    pub fn circumstance(&self, known: &JobCircumstance) -> String {
        let (verb, rest) = known.predicate.split_once(' ').unwrap_or((&known.predicate, ""));
        let plural = [("is", "are"), ("needs", "need"), ("has", "have"), ("waits:", "wait:")];
        let plural = plural.iter().find(|(singular, _)| *singular == verb).map_or(verb, |(_, plural)| plural);
        format!("{} {} {rest}", self.subject, self.verb(verb, plural))
    }

    /// Returns the verdict as one sentence, whatever policies do to the job.
    fn present(&self, report: &RequestReport) -> String {
        let subject = self.subject;
        let matches = self.verb("matches", "match");
        let some = || format!("{subject} {matches} {} of {}", with_commas(report.matches), self.count(report.offers));
        match &report.verdict {
            RequestVerdict::NotWaiting(otherwise) => self.not_waiting(report, otherwise),
            RequestVerdict::IfDrained(as_they_are) => {
                let drained = self.if_drained(report, as_they_are);
                format!("{subject} {matches} none of {}{drained}", self.count(report.offers))
            }
            RequestVerdict::Claimed => {
                let states = slot_states(report, ", but none is free: ");
                format!("{}{states}{}", some(), self.what_narrows(report))
            }
            RequestVerdict::Matches => {
                format!("{}{}{}", some(), slot_states(report, ": "), self.full_note(report))
            }
            RequestVerdict::Taken(by) => self.taken(report, by, &some()),
            RequestVerdict::Limited(limit) => {
                let waits = limit.waiting_phrase(self.is_plural);
                format!("{subject} {waits}; {}", self.free_phrase(report))
            }
            RequestVerdict::PartlyServed { granted, wanted, limit, others_hold } => {
                let gets = self.verb("gets", "get");
                let rest = self.rest_phrase(report, limit.as_ref(), *others_hold);
                format!("{subject} {gets} {} of {}; {rest}", with_commas(*granted), self.count(*wanted))
            }
            RequestVerdict::Unranked { rule, missing } => {
                let unranked = self.unranked_phrase(rule, missing.as_ref());
                let (states, full) = (slot_states(report, ": "), self.full_note(report));
                format!("{}{states}{full}; {unranked}", some())
            }
            RequestVerdict::NeedsGang => {
                format!("{subject} {} Ports; leave out --reverse to explain gangs", self.verb("has", "have"))
            }
            RequestVerdict::NotServed => {
                let (is, it) = (self.verb("is", "are"), self.verb("it", "them"));
                format!("{subject} {is} not served: `roots` of the policy is not true for {it}")
            }
            RequestVerdict::NoOffers => format!("{subject} {matches} nothing: there are no {}", self.nouns[1]),
            verdict => {
                let (all, orphans) = (self.count(report.offers), orphans_note(report));
                format!("{subject} {matches} none of {all}{orphans}: {}", self.cause(report, verdict))
            }
        }
    }

    /// Says that all slots that match go to other requests. `some_match` tells how many match.
    fn taken(&self, report: &RequestReport, by: &[usize], some_match: &str) -> String {
        let by = self.list_requests(by);
        let taken = match report.slots {
            Some(slots) if slots.matching.available() < report.matches => {
                let taken = if slots.matching.available() == 1 { "the free one goes" } else { "the free ones go" };
                let (states, full) = (slot_states(report, ": "), self.full_note(report));
                format!("{some_match}{states}{full}; {taken} to {by}")
            }
            _ if report.matches == 1 => format!("{some_match}, which goes to {by}"),
            _ => format!("{some_match}, and all of them go to {by}"),
        };
        let scarce = scarcity(report.scarce_in_divided.phrase("none has"));
        let first = report.precedence.phrase(self.verb("its own", "their own"));
        format!("{taken}{first}{scarce}")
    }

    /// Says why no slot matches as it is, and how many would match if drained.
    fn if_drained(&self, report: &RequestReport, as_they_are: &RequestVerdict) -> String {
        // That no slot has as much left says more than that some slots have too little.
        let is_out_of_reach =
            as_they_are.clauses().iter().any(|clause| report.clauses[*clause].closest_if_drained.is_some());
        let is_all = *as_they_are == RequestVerdict::Refused && report.refusing() == 0;
        let drained = report.slots.map(|slots| slots.if_drained).unwrap_or_default();
        let only = report.if_drained.first().filter(|_| drained == 1);
        if let Some(slot) = only.filter(|slot| !self.state_beside(**slot).is_empty()) {
            let name = self.offer_name(*slot) + &self.state_beside(*slot);
            return format!(": {name} would match once its jobs end");
        }
        let short = if_drained_phrase(drained, &ScarceResources::default());
        if let Some(refusal) = self.refusals().free_refusal(report) {
            let are = if drained == 1 { "is" } else { "are" };
            return format!(": {refusal}; {} more {are} full", with_commas(drained));
        }
        if !is_all && (is_out_of_reach || report.scarce.is_empty()) {
            return format!(": {}; {short}", self.cause(report, as_they_are));
        }
        format!(" as they are{}", self.what_narrows(report))
    }

    /// Says how many slots are full, and what else keeps many of the slots from a job. A mistake of the job comes first.
    fn what_narrows(&self, report: &RequestReport) -> String {
        let (full, narrowing) = (drained_note(report), self.refusals().narrowing_phrase(report));
        match report.narrowing {
            Some(Narrowing::Slip { .. }) => narrowing + &full,
            _ => full + &narrowing,
        }
    }

    /// Says how many slots are full. Empty in a brief sentence about a job that free slots match.
    fn full_note(&self, report: &RequestReport) -> String {
        let has_free = report.slots.is_some_and(|slots| slots.matching.available() > 0);
        if self.brevity > 0 && has_free { String::new() } else { drained_note(report) }
    }

    /// Says why a request gets no more offers.
    fn rest_phrase(&self, report: &RequestReport, limit: Option<&AccountingLimit>, others_hold: bool) -> String {
        let scarce = || scarcity(report.scarce_in_divided.phrase_of_all("none has"));
        match limit {
            Some(limit) => format!("{} {}", self.verb("it", "they"), limit.waiting_phrase(self.is_plural)),
            None if others_hold => format!("other requests take the other {} that match{}", self.nouns[1], scarce()),
            None => format!("nothing else that matches is left{}", scarce()),
        }
    }

    /// Says why a job does not wait for a slot and, for a held job, what it would match.
    fn not_waiting(&self, report: &RequestReport, otherwise: &RequestVerdict) -> String {
        let SummaryWriter { subject, is_plural, .. } = *self;
        let Some(job) = &report.job else { return format!("{subject} {} for no slot", self.verb("waits", "wait")) };
        let fits_line = self.max_clause_chars != usize::MAX;
        let is_raised = report.raised.is_some();
        NotWaitingWriter { subject, is_plural, fits_line, is_raised, policies: self.policies() }.phrase(job, || {
            let it = SummaryWriter { subject: self.verb("it", "they"), ..*self };
            let as_it_is = || RequestReport { verdict: otherwise.clone(), job: None, ..report.clone() };
            report.raised.as_ref().map_or_else(|| it.summary(&as_it_is()), |raised| it.summary(raised))
        })
    }

    /// Says how many slots match and are free: `2 free slots match`.
    fn free_phrase(&self, report: &RequestReport) -> String {
        let [one, several] = self.nouns;
        let phrase = |count: usize, free: &str| match count {
            1 => format!("1 {free}{one} matches"),
            count => format!("{} {free}{several} match", with_commas(count)),
        };
        match report.slots {
            Some(slots) if slots.matching.available() > 0 => phrase(slots.matching.available(), "free "),
            Some(slots) if report.matches > 0 || slots.if_drained > 0 => format!("no free {one} matches"),
            _ => phrase(report.matches, ""),
        }
    }

    /// Chooses the verb form that agrees with the subject in number.
    pub(super) fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_plural { plural } else { singular }
    }

    /// Returns the writer of sentences about policies of jobs.
    #[must_use]
    pub fn policies(&self) -> PolicyWriter<'_> {
        PolicyWriter { subject: self.subject, is_plural: self.is_plural, failures: self.failures() }
    }

    /// Returns the writer of phrases about clauses that no offer meets.
    pub(super) fn failures(&self) -> FailureWriter<'_> {
        let SummaryWriter { nouns, dialect, max_clause_chars, brevity, .. } = *self;
        FailureWriter { nouns, dialect, max_clause_chars, is_brief: brevity > 1 }
    }

    /// Returns the writer of phrases about offers that refuse.
    pub(super) fn refusals(&self) -> RefusalWriter<'_> {
        let SummaryWriter { subject, is_plural, brevity, names, .. } = *self;
        RefusalWriter { subject, is_plural, brevity, names, failures: self.failures() }
    }

    /// Says which clause of an offer is not met, and by which values. With `is_shared`, several ads have the clause, each
    /// with its own values, which are left out.
    #[must_use]
    pub fn demand_phrase(&self, demand: &UnmetOfferClause, is_shared: bool) -> String {
        self.refusals().demand_phrase(demand, is_shared)
    }

    /// Formats a number of ads: `5,979 offers`.
    pub(super) fn count(&self, ads: usize) -> String {
        self.failures().count(ads)
    }

    /// Cuts the text of a clause to `max_clause_chars`.
    pub(super) fn shorten(&self, text: &str) -> String {
        self.failures().shorten(text)
    }

    /// Quotes and shortens the text of a clause.
    pub(super) fn quoted(&self, text: &str) -> String {
        self.failures().quoted(text)
    }

    /// Returns the name of the offer with the index `offer`.
    #[must_use]
    pub fn offer_name(&self, offer: usize) -> String {
        self.names.offer_name(offer)
    }

    /// Returns the state of an offer as it stands beside its name: ` (draining until ...)`. Empty if it is free, or tells none.
    pub(super) fn state_beside(&self, offer: usize) -> String {
        let state = self.names.slot_state(offer, None).filter(|state| state != SlotState::Free.word());
        state.map(|state| format!(" ({state})")).unwrap_or_default()
    }

    /// Returns the name of a docked offer.
    #[must_use]
    pub fn docked_name(&self, docked: &DockedOffer) -> String {
        self.names.ad_name(AdReference::Offer { offer: docked.offer, part: docked.part })
    }

    /// Lists the names of the first requests and counts the rest: `a, b, c and 5 more`.
    pub(super) fn list_requests(&self, requests: &[usize]) -> String {
        let names = requests.iter().map(|request| self.names.ad_name(AdReference::Request(*request)));
        join_first(names, requests.len(), MAX_NAMED_ADS)
    }

    /// Lists the texts of clauses, which are given by index.
    fn list_clauses(&self, report: &RequestReport, clauses: &[usize]) -> String {
        let texts: Vec<String> = clauses.iter().map(|place| self.quoted(&report.clauses[*place].text)).collect();
        join_and(&texts)
    }

    /// Says that no offer meets another clause either, or has another amount.
    fn other_cause(&self, report: &RequestReport, place: usize) -> String {
        let is_plain = |fault: &FailureReason| matches!(fault, FailureReason::NoSuchValue);
        let plain = Some(&report.clauses[place]).filter(|clause| clause.failure.as_ref().is_some_and(is_plain));
        match plain.and_then(|clause| missing_amount(clause, self.nouns[0], self.dialect)) {
            Some(missing) => format!("; {missing}"),
            None => format!("; no {} meets {} either", self.nouns[0], self.list_clauses(report, &[place])),
        }
    }

    /// Returns the cause of a verdict, for one that has a cause.
    fn cause(&self, report: &RequestReport, verdict: &RequestVerdict) -> String {
        match verdict {
            RequestVerdict::NoConstraint => self
                .verb("it has no constraint, so it accepts nothing", "they have no constraint, so they accept nothing")
                .to_owned(),
            RequestVerdict::Contradiction { clauses, subject, clash, own_values } => {
                let shown = self.list_clauses(report, clauses);
                let subject = self.quoted(&text(subject, self.dialect));
                match clash {
                    _ if clauses.len() == 1 => format!("{shown} contradicts itself, whatever {subject} is"),
                    InconsistencyKind::Value => {
                        let values = values_phrase("", own_values.iter());
                        format!("{shown} can never be true together{values}")
                    }
                    InconsistencyKind::Type => format!("{shown} require {subject} to be of different types"),
                    InconsistencyKind::Presence => {
                        format!("{shown} can never be true together: one requires {subject} to be undefined")
                    }
                }
            }
            RequestVerdict::Unmet { clause, fault } => {
                let is_unmet = |failure: &FailureReason| failure.awaited().is_none();
                let is_other = |at: &usize| at != clause && report.clauses[*at].failure.as_ref().is_some_and(is_unmet);
                let others: Vec<usize> = (0..report.clauses.len()).filter(is_other).collect();
                let more = match others.len() {
                    0 => String::new(),
                    _ if self.brevity > 1 => String::new(),
                    1 => self.other_cause(report, others[0]),
                    others => format!("; {others} other clauses are met by no {} either", self.nouns[0]),
                };
                let time = report.awaited().filter(|_| fault.awaited().is_none() && self.brevity < 3);
                let time = time.map(|time| format!("; and {}", time.phrase())).unwrap_or_default();
                format!("{}{more}{time}", self.failures().failure(&report.clauses[*clause], fault))
            }
            RequestVerdict::Conflict(clauses) => {
                format!("none meets {} together, but some meet each alone", self.list_clauses(report, clauses))
            }
            RequestVerdict::Refused => match report.refusals.as_slice() {
                [only, ..] if only.demand.admits.is_some() && report.refusing() == 1 => {
                    let (slot, states) = (self.offer_name(only.example), refusing_states(report));
                    let narrowing = self.refusals().narrowing_phrase(report);
                    format!("{slot} would do{states}, but {}{narrowing}", self.demand_phrase(&only.demand, false))
                }
                _ => {
                    let states = if self.brevity > 2 { String::new() } else { refusing_states(report) };
                    self.refusals().refused_cause(report, &states)
                }
            },
            // `summary` does not ask for the cause of the other verdicts.
            _ => String::new(),
        }
    }

    /// Says that the policy gives a request none of the offers that match, and by which rule.
    fn unranked_phrase(&self, rule: &str, missing: Option<&(Name, Vec<(Name, usize)>)>) -> String {
        let missing = missing.map(|(name, near)| format!("; {}", self.failures().missing_attribute(name, near, None)));
        let it = self.verb("it", "them");
        format!(
            "the policy gives {it} none: its rule {} has no value{}",
            self.quoted(rule),
            missing.unwrap_or_default()
        )
    }
}
