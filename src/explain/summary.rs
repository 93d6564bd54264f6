//! Renders a verdict as one sentence.

use crate::ad::{ByteString, Dialect, Name, Truth};
use crate::constraint::InconsistencyKind;
use crate::matching::gang::DockedOffer;
use crate::matching::negotiate::AccountingLimit;
use crate::protocol::{JobState, SlotState};
use crate::text::{join_and, join_first, with_commas};

use super::clauses::text;
use super::decisive_part::{DecisivePart, UnmetOfferClause, values_phrase};
use super::failure_phrase::{FailureWriter, bound_phrase};
use super::hold_reason::{ExceededResource, HoldReason};
use super::missing_attribute::missing_attribute_note;
use super::report::{Narrowing, RefusalGroup, RequestReport, RequestVerdict};
use super::scarce_resources::ScarceResources;

/// An ad that a sentence names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdReference {
    /// A request, given by its index.
    Request(usize),
    /// An offer as advertised, or a residual of the offer.
    Offer {
        /// Index of the offer.
        offer: usize,
        /// 1 for the offer as advertised, 2 for its first residual, 3 for its second residual, and so on.
        part: usize,
    },
}

/// Gives ads their names in sentences. Closures from [`AdReference`] to `String` implement it.
pub trait AdNames {
    /// Returns the name of an ad.
    fn ad_name(&self, ad: AdReference) -> String;

    /// Returns the state of an offer in words, with `user` as the one who asks; `None` if it is no slot that tells it.
    fn slot_state(&self, _offer: usize, _user: Option<&ByteString>) -> Option<String> {
        None
    }
}

impl<F: Fn(AdReference) -> String> AdNames for F {
    fn ad_name(&self, ad: AdReference) -> String {
        self(ad)
    }
}

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
    /// the values in which offers refuse (2).
    pub brevity: u8,
}

/// Maximum number of ads named in a sentence.
const MAX_NAMED_ADS: usize = 3;

impl SummaryWriter<'_> {
    /// Returns the verdict as one sentence without a full stop.
    #[must_use]
    pub fn summary(&self, report: &RequestReport) -> String {
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
                let states = self.slot_states(report, ", but none is free: ");
                format!("{}{states}{}", some(), self.narrowing_phrase(report))
            }
            RequestVerdict::Matches => {
                format!("{}{}", some(), self.slot_states(report, ": "))
            }
            RequestVerdict::Taken(by) => {
                let by = self.list_requests(by);
                let taken = match report.slots {
                    Some(slots) if slots.matching.available() < report.matches => {
                        let taken =
                            if slots.matching.available() == 1 { "the free one goes" } else { "the free ones go" };
                        format!("{}{}; {taken} to {by}", some(), self.slot_states(report, ": "))
                    }
                    _ if report.matches == 1 => format!("{}, which goes to {by}", some()),
                    _ => format!("{}, and all of them go to {by}", some()),
                };
                let scarce = scarcity(report.scarce_in_divided.phrase("none has"));
                let first = report.precedence.phrase(self.verb("its own", "their own"));
                format!("{taken}{first}{scarce}")
            }
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
                format!("{}{}; {unranked}", some(), self.slot_states(report, ": "))
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
                format!("{subject} {matches} none of {}: {}", self.count(report.offers), self.cause(report, verdict))
            }
        }
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
        let short = Self::if_drained_phrase(drained, &ScarceResources::default());
        if let Some(refusal) = self.free_refusal(report) {
            let are = if drained == 1 { "is" } else { "are" };
            let full = format!("; {} more {are} full", with_commas(drained));
            return format!(": {refusal}{}", if self.brevity > 1 { "" } else { &full });
        }
        if !is_all && (is_out_of_reach || report.scarce.is_empty()) {
            return format!(": {}; {short}", self.cause(report, as_they_are));
        }
        format!(" as they are{}{}", Self::drained_note(report), self.narrowing_phrase(report))
    }

    /// Says why a slot refuses that is free and would do. `None` if there is none.
    fn free_refusal(&self, report: &RequestReport) -> Option<String> {
        let group = report.refusals.first().filter(|group| group.has_close_slot())?;
        let slot = self.offer_name(group.example);
        let refuses = if group.demand.admits.is_some() { "" } else { "refuses: " };
        Some(format!("{slot} is free, but {refuses}{}", self.demand_phrase(&group.demand, false)))
    }

    /// Says what else keeps many of the slots from a job. Begins with a semicolon, or is empty.
    fn narrowing_phrase(&self, report: &RequestReport) -> String {
        let is_told = |narrowing: &&Narrowing| self.brevity == 0 || matches!(narrowing, Narrowing::Slip { .. });
        let Some(narrowing) = report.narrowing.as_ref().filter(is_told) else { return String::new() };
        match narrowing {
            Narrowing::Slip { clause, fault } => {
                format!("; {}", self.failures().failure(&report.clauses[*clause], fault))
            }
            Narrowing::Clause(clause) => {
                let clause = &report.clauses[*clause];
                let bound = clause.analysis.comparison.as_ref().and_then(bound_phrase);
                let bound = bound.map_or_else(String::new, |bound| format!(" ({bound})"));
                let excluded = self.count(clause.sole_blocker);
                format!("; {}{bound} alone rules out {excluded}", self.quoted(&clause.text))
            }
            Narrowing::Refusals if report.refusals.first().is_some_and(RefusalGroup::has_close_slot) => {
                self.free_refusal(report).map_or_else(String::new, |refusal| format!("; {refusal}"))
            }
            Narrowing::Refusals => {
                let refusing = report.refusing();
                let refuse = if refusing == 1 { "refuses" } else { "refuse" };
                let (it, reason) = (self.verb("it", "them"), self.refusal_phrase(report, refusing));
                let free = report.refusing_states.map_or(0, |states| states.available());
                let free =
                    if free > 0 && free < refusing { format!(" ({} free)", with_commas(free)) } else { String::new() };
                format!("; {} more{free} {refuse} {it}: {reason}", with_commas(refusing))
            }
        }
    }

    /// Says why the subject does not match, in a phrase without the subject. Empty if it matches.
    #[must_use]
    pub fn cause_phrase(&self, report: &RequestReport) -> String {
        match &report.verdict {
            RequestVerdict::Matches => String::new(),
            RequestVerdict::NotWaiting(_) => report.job.as_ref().map_or_else(String::new, |job| {
                let hold = job.hold.as_ref().map(HoldReason::to_string).unwrap_or_default();
                // Jobs that ask for more by now wait for their release, others need a larger request first.
                let exceeded = job.hold.as_ref().and_then(|hold| hold.exceeded.as_ref());
                let need = exceeded.map_or_else(String::new, |ExceededResource { request, asks_for_more, .. }| {
                    if *asks_for_more {
                        format!("; {request} is larger by now")
                    } else {
                        format!("; needs a larger {request}")
                    }
                });
                format!("{}{hold}{need}", job.state.word())
            }),
            RequestVerdict::IfDrained(_) => "the slots that would match are full".to_owned(),
            RequestVerdict::Unranked { rule, missing } => self.unranked_phrase(rule, missing.as_ref()),
            RequestVerdict::Claimed => "slots match, but none is free".to_owned(),
            RequestVerdict::Taken(_) => {
                let free = if report.slots.is_some() { "free " } else { "" };
                let scarce = scarcity(report.scarce_in_divided.phrase_of_all("none has"));
                let first = report.precedence.cause();
                format!("other requests take all {free}{} that match{first}{scarce}", self.nouns[1])
            }
            RequestVerdict::Limited(limit) => limit.to_string(),
            RequestVerdict::PartlyServed { limit, others_hold, .. } => {
                format!("gets too few {}; {}", self.nouns[1], self.rest_phrase(report, limit.as_ref(), *others_hold))
            }
            RequestVerdict::NeedsGang => "it has Ports; leave out --reverse to explain gangs".to_owned(),
            RequestVerdict::NotServed => "not served: `roots` of the policy is not true".to_owned(),
            RequestVerdict::NoOffers => format!("there are no {}", self.nouns[1]),
            RequestVerdict::Refused => self.refused_cause(report, ""),
            verdict => self.cause(report, verdict),
        }
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
        let subject = self.subject;
        let is = self.verb("is", "are");
        let Some(job) = &report.job else { return format!("{subject} {} for no slot", self.verb("waits", "wait")) };
        let slot = job.slot.as_ref().filter(|_| !self.is_plural).map(|slot| format!(" in {slot}")).unwrap_or_default();
        let (state, it, them) = (job.state.word(), self.verb("it", "they"), self.verb("it", "them"));
        match job.state {
            JobState::Held => {
                let hold = job.hold.as_ref().map(HoldReason::to_string).unwrap_or_default();
                let report = RequestReport { verdict: otherwise.clone(), job: None, ..report.clone() };
                let released = SummaryWriter { subject: it, ..*self }.summary(&report);
                let exceeded = job.hold.as_ref().and_then(|hold| hold.exceeded.as_ref());
                // What someone held can be released as it is.
                let is_by_hand = job.hold.as_ref().is_none_or(HoldReason::is_by_hand);
                let once = match exceeded {
                    Some(ExceededResource { request, requested, limit, asks_for_more: true }) => {
                        let asks = self.verb("It asks", "They ask");
                        let [requested, limit] = [requested, limit].map(|number| number.as_deref().unwrap_or_default());
                        format!(
                            "{asks} for more by now: {request} is {requested}, the limit was {limit}. Once released"
                        )
                    }
                    Some(ExceededResource { request, limit, .. }) => {
                        let needs = self.verb("It needs", "They need");
                        let above = limit.as_ref().map_or_else(String::new, |limit| format!(", above {limit}"));
                        format!("{needs} a larger {request} first{above}. Released as {it} {is}")
                    }
                    None if is_by_hand => "Once released".to_owned(),
                    None => format!("Once the cause is fixed and {it} {is} released"),
                };
                format!("{subject} {is} held{hold}. {once}, {released}")
            }
            JobState::SchedulerUniverse | JobState::LocalUniverse => {
                let its = self.verb("its", "their");
                format!(
                    "{subject} {is} {state}: the access point runs {them}, without a slot, if {its} requirements accept \
                    the ad of the schedd"
                )
            }
            JobState::GridUniverse => format!("{subject} {is} {state}: a system outside this pool runs {them}"),
            _ => match job.ending.as_ref().filter(|_| !self.is_plural) {
                Some(ending) => format!("{subject} {is} {state}: {ending}"),
                None => format!("{subject} {is} {state}{slot}, and {} for no slot", self.verb("waits", "wait")),
            },
        }
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

    /// Says in which states the slots are that match, after `opening`. Empty if the offers have no states.
    fn slot_states(&self, report: &RequestReport, opening: &str) -> String {
        let Some(slots) = report.slots else { return String::new() };
        let sole = report.sole_claimant.as_ref().map(|user| format!("claimed by {}", user.to_str()));
        let named = |(number, words): (usize, &'static str)| {
            let is_of_others = ["claimed by another user", "claimed by others"].contains(&words);
            (number, sole.as_deref().filter(|_| is_of_others).unwrap_or(words).to_owned())
        };
        let found: Vec<(usize, String)> = slots.matching.words().into_iter().map(named).collect();
        let is = |number: usize| if number == 1 { "is" } else { "are" };
        let is_told = self.brevity == 0 || slots.matching.available() == 0;
        let drained = if is_told { Self::drained_note(report) } else { String::new() };
        let states = match found.as_slice() {
            [] => String::new(),
            [(1, state)] => format!(", which is {state}"),
            [(_, state)] if state == "free" => ", all of them free".to_owned(),
            found => {
                let found: Vec<String> = found
                    .iter()
                    .map(|(number, state)| format!("{} {} {state}", with_commas(*number), is(*number)))
                    .collect();
                format!("{opening}{}", join_and(&found))
            }
        };
        states + &drained
    }

    /// Chooses the verb form that agrees with the subject in number.
    pub(super) fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_plural { plural } else { singular }
    }

    /// Returns the writer of phrases about clauses that no offer meets.
    pub(super) fn failures(&self) -> FailureWriter<'_> {
        FailureWriter { nouns: self.nouns, dialect: self.dialect, max_clause_chars: self.max_clause_chars }
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
        self.names.ad_name(AdReference::Offer { offer, part: 1 })
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

    /// Returns the beginning of a sentence about suitable offers that refuse: `1 offer would do, but it refuses: `. The
    /// caller appends the reason. `note` says more of the offers, in parentheses.
    pub(super) fn refusal_prefix(&self, suitable: usize, note: &str) -> String {
        let refuse = if suitable == 1 { "it refuses" } else { "all of them refuse" };
        format!("{} would do{note}, but {refuse}: ", self.count(suitable))
    }

    /// Lists the texts of clauses, which are given by index.
    fn list_clauses(&self, report: &RequestReport, clauses: &[usize]) -> String {
        let texts: Vec<String> = clauses.iter().map(|place| self.quoted(&report.clauses[*place].text)).collect();
        join_and(&texts)
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
                let is_other = |at: &usize| at != clause && report.clauses[*at].failure.is_some();
                let others: Vec<usize> = (0..report.clauses.len()).filter(is_other).collect();
                let more = match others.len() {
                    0 => String::new(),
                    _ if self.brevity > 1 => String::new(),
                    1 => format!("; no {} meets {} either", self.nouns[0], self.list_clauses(report, &others)),
                    others => format!("; {others} other clauses are met by no {} either", self.nouns[0]),
                };
                format!("{}{more}", self.failures().failure(&report.clauses[*clause], fault))
            }
            RequestVerdict::Conflict(clauses) => {
                format!("none meets {} together, but some meet each alone", self.list_clauses(report, clauses))
            }
            RequestVerdict::Refused => match report.refusals.as_slice() {
                [only, ..] if only.demand.admits.is_some() && report.refusing() == 1 => {
                    let (slot, states) = (self.offer_name(only.example), refusing_states(report));
                    let narrowing = self.narrowing_phrase(report);
                    format!("{slot} would do{states}, but {}{narrowing}", self.demand_phrase(&only.demand, false))
                }
                _ => self.refused_cause(report, &refusing_states(report)),
            },
            // `summary` does not ask for the cause of the other verdicts.
            _ => String::new(),
        }
    }

    /// Says that the policy gives a request none of the offers that match, and by which rule.
    fn unranked_phrase(&self, rule: &str, missing: Option<&(Name, Vec<(Name, usize)>)>) -> String {
        let missing = missing.map(|(name, near)| format!("; {}", self.failures().missing_attribute(name, near)));
        let it = self.verb("it", "them");
        format!(
            "the policy gives {it} none: its rule {} has no value{}",
            self.quoted(rule),
            missing.unwrap_or_default()
        )
    }

    /// Says why the suitable offers refuse. `states` says in which states they are.
    fn refused_cause(&self, report: &RequestReport, states: &str) -> String {
        let refusing = report.refusing();
        if let Some(shortage) = &report.shortage {
            // Where no slot has enough, nothing else matters.
            let rest = if shortage.is_of_all { String::new() } else { self.narrowing_phrase(report) };
            return shortage.phrase(refusing, self.nouns) + &rest;
        }
        let reason = self.refusal_phrase(report, refusing);
        format!("{}{reason}{}", self.refusal_prefix(refusing, states), self.narrowing_phrase(report))
    }

    /// Says by which clause most of the suitable offers refuse. `refusing` is the number of suitable offers that
    /// refuse.
    fn refusal_phrase(&self, report: &RequestReport, refusing: usize) -> String {
        let mut suitable = report.refusals.iter().filter(|group| group.suitable > 0);
        match suitable.next().map(|group| (group, &group.demand.clause)) {
            Some((_, None)) if refusing == 1 => "it has no constraint, so it accepts nothing".to_owned(),
            Some((group, None)) if group.suitable == 1 => "1 has no constraint, so it accepts nothing".to_owned(),
            Some((group, None)) => {
                format!("{} have no constraint, so they accept nothing", with_commas(group.suitable))
            }
            Some((group, Some(_))) => {
                let is_only = suitable.next().is_none();
                if let (false, Some(admitted)) = (is_only, &group.demand.admits) {
                    let admitted = admitted.phrase();
                    let owners = match group.suitable {
                        1 => "the owner of one admits".to_owned(),
                        several => format!("the owners of {} admit", with_commas(several)),
                    };
                    return format!("{owners} only jobs with {admitted}; the others refuse by other clauses");
                }
                let in_some = (!is_only).then(|| {
                    format!(" for {} of them; the others refuse by other clauses", with_commas(group.suitable))
                });
                format!("{}{}", self.demand_phrase(&group.demand, group.suitable > 1), in_some.unwrap_or_default())
            }
            None => String::new(),
        }
    }

    /// Says which clause of an offer is not met, and by which values. With `is_shared`, several ads have the clause, each
    /// with its own values, which are left out.
    #[must_use]
    pub fn demand_phrase(&self, demand: &UnmetOfferClause, is_shared: bool) -> String {
        let UnmetOfferClause { clause, outcome, missing, part, admits, .. } = demand;
        let Some(clause) = clause else { return "it has no constraint, so it accepts nothing".to_owned() };
        if let Some(admitted) = admits {
            let owners = if is_shared { "their owners admit" } else { "its owner admits" };
            let values = match demand.quoted_value() {
                Some(wanted) => format!(", not the string \"{wanted}\""),
                None if (self.brevity > 1) => String::new(),
                None => part.as_ref().map(|part| part.values_phrase(is_shared)).unwrap_or_default(),
            };
            return format!("{owners} only jobs with {}{values}", admitted.phrase());
        }
        let missing = if self.brevity > 0 { &[][..] } else { missing };
        let missing = missing_attribute_note(self.subject, self.is_plural, missing);
        let decisive = self.decisive_phrase(clause, *outcome, part.as_ref(), is_shared) + &missing;
        match &demand.slip {
            Some(slip) if self.brevity > 0 => slip.clone(),
            Some(slip) => format!("{decisive}; {slip}"),
            None => decisive,
        }
    }

    /// Says which clause is not met, and by which values. If the clause is too long to quote, or says less than the part
    /// that decides it, quotes only that part.
    fn decisive_phrase(&self, clause: &str, outcome: Truth, part: Option<&DecisivePart>, is_shared: bool) -> String {
        if clause.eq_ignore_ascii_case("false") {
            let its = if is_shared { "their" } else { "its" };
            return format!("{its} constraint is `false`");
        }
        let Some(part) = part else { return format!("{} is {}", self.quoted(clause), outcome.phrase()) };
        let is_long = clause.chars().count() > self.max_clause_chars;
        // A clause that is but the name of a condition says less than the condition. Several ads have several
        // conditions of the name.
        let is_elsewhere = (!is_shared || part.is_common) && !clause.contains(&part.text);
        // Of a conditional, the condition says more.
        let is_conditional = clause.to_ascii_lowercase().contains("ifthenelse(") || clause.contains(" ? ");
        let is_of_all = part.reads.iter().all(|read| read.is_partners) && clause.contains(&part.text);
        let is_condition = is_conditional && (!is_shared || is_of_all);
        let (text, outcome) = if is_long || is_elsewhere || is_condition {
            (part.text.as_str(), part.outcome)
        } else {
            (clause, outcome)
        };
        // The part may be a disjunction, whose operands belong together.
        let writer = SummaryWriter { max_clause_chars: self.max_clause_chars.saturating_mul(2), ..*self };
        let values = if self.brevity > 1 { String::new() } else { part.values_phrase(is_shared) };
        format!("{} is {}{values}", writer.quoted(text), outcome.phrase())
    }

    /// Says how many partitionable slots are full, and what they have too little of. Begins with a semicolon, or is empty.
    fn drained_note(report: &RequestReport) -> String {
        match report.slots.map_or(0, |slots| slots.if_drained) {
            0 => String::new(),
            number => format!("; {}", Self::if_drained_phrase(number, &report.scarce)),
        }
    }

    /// Says how many partitionable slots are full: they would match without their jobs. Says also what they have too little of.
    fn if_drained_phrase(slots: usize, scarce: &ScarceResources) -> String {
        let [noun, are, their, none] = match slots {
            1 => ["slot", "is", "its", "it does not have"],
            _ => ["slots", "are", "their", "none has"],
        };
        let slots = with_commas(slots);
        if scarce.is_empty() {
            return format!("{slots} full {noun} would match once {their} jobs end");
        }
        format!("{slots} partitionable {noun} {are} full: {}", scarce.phrase(none))
    }
}

/// Says in which states the slots are that refuse. Empty if all are free.
fn refusing_states(report: &RequestReport) -> String {
    let (all, full) = (report.refusing(), report.refusing_if_drained);
    let Some(states) = report.refusing_states.filter(|states| states.free < all) else { return String::new() };
    let full = (full > 0).then_some((full, "full"));
    let states: Vec<(usize, &str)> = states.words().into_iter().chain(full).collect();
    match states.as_slice() {
        [(_, state)] => format!(" ({state})"),
        states => {
            let states: Vec<String> =
                states.iter().map(|(number, state)| format!("{} {state}", with_commas(*number))).collect();
            format!(" ({})", states.join(", "))
        }
    }
}

/// Puts a phrase about scarce resources behind a main clause. Empty if there is no phrase.
fn scarcity(phrase: String) -> String {
    if phrase.is_empty() { phrase } else { format!("; {phrase}") }
}
