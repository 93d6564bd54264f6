//! Phrases about offers that would do, but refuse.

use crate::ad::Truth;
use crate::text::{duration, shorten, suggestion, with_commas};

use super::ad_names::AdNames;
use super::clause_time::ClauseTime;
use super::failure_phrase::FailureWriter;
use super::missing_attribute::missing_attribute_note;
use super::places::names_wanted_place;
use super::report::{Narrowing, RefusalGroup, RequestReport};
use super::unmet_offer_clause::{DecisivePart, UnmetOfferClause};
use super::value_phrase::bound_phrase;

/// Says why offers refuse; the fields are the settings of the [`SummaryWriter`](super::SummaryWriter).
pub(super) struct RefusalWriter<'w> {
    pub subject: &'w str,
    pub is_plural: bool,
    pub brevity: u8,
    pub names: &'w dyn AdNames,
    /// The writer of phrases about clauses.
    pub failures: FailureWriter<'w>,
}

impl RefusalWriter<'_> {
    /// Returns the beginning of a sentence about suitable offers that refuse: `1 offer would do, but it refuses: `. The
    /// caller appends the reason. `note` says more of the offers, in parentheses.
    pub(super) fn prefix(&self, suitable: usize, note: &str) -> String {
        let refuse = if suitable == 1 { "it refuses" } else { "all of them refuse" };
        format!("{} would do{note}, but {refuse}: ", self.failures.count(suitable))
    }

    /// Says why a slot refuses that is free and would do. `None` if there is none.
    pub(super) fn free_refusal(&self, report: &RequestReport) -> Option<String> {
        let group = report.refusals.first().filter(|group| group.has_close_slot())?;
        let slot = self.names.offer_name(group.example);
        let refuses = if group.demand.admits.is_some() { "" } else { "refuses: " };
        Some(format!("{slot} is free, but {refuses}{}", self.demand_phrase(&group.demand, false)))
    }

    /// Says what else keeps many of the slots from a job. Begins with a semicolon, or is empty.
    pub(super) fn narrowing_phrase(&self, report: &RequestReport) -> String {
        let is_told = |narrowing: &&Narrowing| self.brevity == 0 || matches!(narrowing, Narrowing::Slip { .. });
        let Some(narrowing) = report.narrowing.as_ref().filter(is_told) else { return String::new() };
        match narrowing {
            Narrowing::Slip { clause, fault } => {
                format!("; {}", self.failures.failure(&report.clauses[*clause], fault))
            }
            Narrowing::Clause(clause) => {
                let clause = &report.clauses[*clause];
                let bound = clause.analysis.comparison.as_ref().and_then(bound_phrase);
                let bound = bound.map_or_else(String::new, |bound| format!(" ({bound})"));
                let excluded = self.failures.count(clause.sole_blocker);
                format!("; {}{bound} alone rules out {excluded}", self.failures.quoted(&clause.text))
            }
            Narrowing::Refusals if report.refusals.first().is_some_and(RefusalGroup::has_close_slot) => {
                self.free_refusal(report).map_or_else(String::new, |refusal| format!("; {refusal}"))
            }
            Narrowing::Refusals => {
                let refusing = report.refusing();
                let refuse = if refusing == 1 { "refuses" } else { "refuse" };
                let (it, reason) = (if self.is_plural { "them" } else { "it" }, self.refusal_phrase(report, refusing));
                let free = report.refusing_states.map_or(0, |states| states.available());
                let free =
                    if free > 0 && free < refusing { format!(" ({} free)", with_commas(free)) } else { String::new() };
                format!("; {} more{free} {refuse} {it}: {reason}", with_commas(refusing))
            }
        }
    }

    /// Says why the suitable offers refuse. `states` says in which states they are.
    pub(super) fn refused_cause(&self, report: &RequestReport, states: &str) -> String {
        let refusing = report.refusing();
        if let Some(shortage) = &report.shortage {
            // Where no slot has enough, nothing else matters.
            let rest = if shortage.is_of_all { String::new() } else { self.narrowing_phrase(report) };
            return shortage.phrase(refusing, self.failures.nouns) + &rest;
        }
        let reason = self.refusal_phrase(report, refusing);
        let rest = match report.narrowing {
            Some(Narrowing::Refusals) => String::new(),
            _ => self.narrowing_phrase(report),
        };
        format!("{}{reason}{rest}", self.prefix(refusing, states))
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
                        1 => "the owner of one of them admits".to_owned(),
                        several => format!("the owners of {} of them admit", with_commas(several)),
                    };
                    let owners = format!("{owners} only jobs with {admitted}");
                    // Those at other places than the job wants are more than the few of another owner.
                    let mut others = report.refusals.iter().filter(|other| other.is_unwanted);
                    let elsewhere =
                        others.find_map(|other| Some((other.suitable, self.elsewhere_phrase(&other.demand)?)));
                    return match elsewhere {
                        Some((number, elsewhere)) if self.brevity > 0 => {
                            format!("{} are {elsewhere}", with_commas(number))
                        }
                        Some((number, elsewhere)) => format!("{} are {elsewhere}, and {owners}", with_commas(number)),
                        None => owners,
                    };
                }
                if let Some(lacking) = self.lacking_phrase(&group.demand) {
                    // Slots ask for an attribute in several ways.
                    let is_alike =
                        |other: &&RefusalGroup| self.lacking_phrase(&other.demand).as_ref() == Some(&lacking);
                    let alike = report.refusals.iter().filter(is_alike).map(|alike| alike.suitable).sum();
                    let some =
                        if alike == refusing { String::new() } else { format!("{} because ", with_commas(alike)) };
                    return some + &lacking;
                }
                // Others may fail the clause, too, but refuse by one that decides.
                let some = if is_only { String::new() } else { format!("{} because ", with_commas(group.suitable)) };
                let is_shared = group.suitable > 1;
                let are = if is_shared { "they are" } else { "it is" };
                let elsewhere = self.elsewhere_phrase(&group.demand).map(|elsewhere| format!("{are} {elsewhere}"));
                some + &elsewhere.unwrap_or_else(|| self.demand_phrase(&group.demand, is_shared))
            }
            None => String::new(),
        }
    }

    /// Says that offers are at none of the places that the request wants. `None` if they refuse for another reason.
    fn elsewhere_phrase(&self, demand: &UnmetOfferClause) -> Option<String> {
        // A mistake in their list says more.
        let part = demand.part.iter().filter(|_| demand.slip.is_none());
        let mut reads = part.flat_map(|part| &part.reads).filter(|read| read.is_partners);
        let wanted = reads.find(|read| names_wanted_place(&read.name))?;
        let its = if self.is_plural { "their" } else { "its" };
        let value = shorten(&wanted.value.to_string(), self.failures.max_clause_chars);
        Some(format!("at none of {its} {} ({value})", wanted.name))
    }

    /// Says that the request lacks an attribute, if an offer refuses for no other reason. `None` if it reads values of the request.
    fn lacking_phrase(&self, demand: &UnmetOfferClause) -> Option<String> {
        let reads = demand.part.as_ref()?.reads.iter().any(|read| read.is_partners);
        let missing = demand.missing.first().filter(|missing| !missing.is_of_neither && !reads)?;
        let is_plain = demand.slip.is_none() && demand.admits.is_none() && demand.opens.is_none();
        let has = if self.is_plural { "have" } else { "has" };
        is_plain.then(|| format!("{} {has} no {}{}", self.subject, missing.name, suggestion(&missing.near)))
    }

    /// See [`SummaryWriter::demand_phrase`](super::SummaryWriter::demand_phrase).
    pub(super) fn demand_phrase(&self, demand: &UnmetOfferClause, is_shared: bool) -> String {
        let UnmetOfferClause { clause, outcome, missing, part, admits, retired, .. } = demand;
        let Some(clause) = clause else { return "it has no constraint, so it accepts nothing".to_owned() };
        // Of several offers, each has its own time.
        if let Some(ago) = retired.filter(|_| !is_shared) {
            return format!("its pilot retired {} ago and takes no more jobs", duration(ago));
        }
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
            None => match demand.opens.as_ref().and_then(ClauseTime::opening) {
                Some(opening) => format!("{decisive}, but true {opening}"),
                None => decisive,
            },
        }
    }

    /// Says which clause is not met, and by which values. If the clause is too long to quote, or says less than the part
    /// that decides it, quotes only that part.
    fn decisive_phrase(&self, clause: &str, outcome: Truth, part: Option<&DecisivePart>, is_shared: bool) -> String {
        if clause.eq_ignore_ascii_case("false") {
            let its = if is_shared { "their" } else { "its" };
            return format!("{its} constraint is `false`");
        }
        let Some(part) = part else { return format!("{} is {}", self.failures.quoted(clause), outcome.phrase()) };
        let is_long = clause.chars().count() > self.failures.max_clause_chars;
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
        let max_clause_chars = self.failures.max_clause_chars.saturating_mul(2);
        let writer = FailureWriter { max_clause_chars, ..self.failures };
        let values = part.values_phrase(is_shared);
        let is_cut = text.chars().count() > max_clause_chars;
        // A few values say more than the beginning of a clause.
        let values = match values.strip_prefix(" (").and_then(|values| values.strip_suffix(')')) {
            Some(values) if self.brevity > 1 && is_cut && part.reads.len() > 1 => return values.to_owned(),
            _ if self.brevity > 1 => String::new(),
            _ => values,
        };
        format!("{} is {}{values}", writer.quoted(text), outcome.phrase())
    }
}
