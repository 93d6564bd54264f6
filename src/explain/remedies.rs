//! What can be done for a request without changing it: wait, and for what; release it; raise a limit.

use crate::configuration::PolicyEffectKind;
use crate::constraint::ClauseComparison;
use crate::lint::SizeUnit;
use crate::matching::negotiate::AccountingLimit;
use crate::matching::policy::parse_limits;
use crate::protocol::{JobState, is_set_by_run, requested_resource};
use crate::text::{join_first, join_with, with_commas};

use super::changes::demands_amount;
use super::choice_phrase::choice_phrases;
use super::circumstances::DROP_SLOT_REQUIREMENTS;
use super::clause_remedies::clause_remedy;
use super::clause_report::ClauseReport;
use super::clause_time::ClauseTime;
use super::conflict_example::ConflictExample;
use super::distance::as_number;
use super::failure_reason::FailureReason;
use super::hold_reason::{ExceededResource, HoldReason};
use super::hold_remedy::{hold_remedy, remedy_of_policy};
use super::job_circumstance::JobCircumstance;
use super::job_report::{JobFactory, JobReport};
use super::last_rejection::LastRejection;
use super::missing_amount::amount;
use super::own_expression::RequestExpression;
use super::report::{RequestReport, RequestVerdict};
use super::schedd_answer::ScheddAnswer;
use super::summary::SummaryWriter;
use super::unmet_offer_clause::ReadValue;
use super::whom_to_ask::whom_to_ask;

/// Maximum number of slots that a sentence names.
const MAX_NAMED_SLOTS: usize = 3;

/// Number of processors that are rarely free at once in one slot.
const MANY_CORES: f64 = 16.0;

/// Says what can be done for a request; holds the writer of sentences about it.
pub struct Remedies<'w>(pub &'w SummaryWriter<'w>);

/// What is told of the runs of a job: it matters as long as slots match the job.
const OF_RUNS: [&str; 3] = ["failed-starts", "put-back", "evicted"];

/// Whether it is vain to wait for a slot as long as something in the ad of a job is not mended.
fn is_vain_with(circumstance: &JobCircumstance) -> bool {
    let is_of_start = circumstance.kind == "proxy" || OF_RUNS.contains(&circumstance.kind);
    circumstance.remedy.is_some() && (circumstance.is_decisive || is_of_start)
}

impl Remedies<'_> {
    /// Says what can be done without a change, each in a phrase without a full stop: `wait until jobs end on slot1@a`.
    /// Empty if there is nothing to wait for, and for a request of no job.
    #[must_use]
    pub fn phrases(&self, report: &RequestReport) -> Vec<String> {
        // A release alone brings a job that needs more back into its hold.
        let needs_more = report.job.iter().flat_map(|job| &job.hold).any(HoldReason::needs_more);
        let outlook = report.job.as_ref().and_then(|job| job.outlook.as_ref()).filter(|_| !needs_more);
        let mut phrases = outlook.map(|outlook| self.0.policies().remedies(outlook)).unwrap_or_default();
        let may_be_vain = report.verdict == RequestVerdict::Matches || report.verdict.is_of_states();
        let is_served = may_be_vain || report.matches > 0 || matches!(report.verdict, RequestVerdict::NotWaiting(_));
        let matters = |known: &&JobCircumstance| is_served || !OF_RUNS.contains(&known.kind);
        let circumstances = report.job.iter().flat_map(|job| &job.circumstances);
        phrases.extend(circumstances.filter(matters).filter_map(|known| known.remedy.clone()));
        let answer = report.job.as_ref().and_then(|job| job.schedd.as_ref());
        let is_told = phrases.iter().any(|phrase| phrase == DROP_SLOT_REQUIREMENTS);
        if matches!(answer, Some(ScheddAnswer::RefusedByJob(_))) && !is_told {
            phrases.push(DROP_SLOT_REQUIREMENTS.to_owned());
        }
        let is_vain = may_be_vain && report.job.iter().flat_map(|job| &job.circumstances).any(is_vain_with);
        // What a policy releases needs nobody who does it. What keeps a job from matching slots leaves nothing to wait for.
        if needs_more || !is_vain && report.imminent().is_none_or(|next| next.effect.kind != PolicyEffectKind::Releases)
        {
            phrases.extend(self.of_verdict(report));
        }
        phrases
    }

    /// Says what can be done about the verdict without a change.
    fn of_verdict(&self, report: &RequestReport) -> Vec<String> {
        let large = self.of_large_request(report).or_else(|| self.of_many_cores(report));
        let remedy = self.by_verdict(report).into_iter().chain(large);
        if report.matches > 0 {
            return remedy.chain(self.own_value(report)).chain(choice_phrases(self.0, report)).collect();
        }
        let is_of_time = matches!(report.verdict, RequestVerdict::Unmet { fault: FailureReason::NotNow(_), .. });
        let opening = report.awaited().filter(|_| !is_of_time).and_then(ClauseTime::opening);
        let opening = opening.filter(|_| !report.changes.is_empty() || !report.choices.is_empty());
        let opening = opening.map(|opening| format!("the changes help {opening}"));
        self.closest_to_conflict(report)
            .into_iter()
            .chain(remedy)
            .chain(opening)
            .chain(self.own_value(report))
            .chain(whom_to_ask(self.0, report))
            .chain(self.of_owners_and_files(report))
            .chain(choice_phrases(self.0, report))
            .collect()
    }

    /// Says to ask for less, where a request that waits asks for more than most offers have. `None` if it does not, or if a change
    /// says so.
    fn of_large_request(&self, report: &RequestReport) -> Option<String> {
        let asks = |clause: &&ClauseReport| {
            clause.sole_blocker * 2 > report.offers && clause.analysis.comparison.as_ref().is_some_and(demands_amount)
        };
        let clause = report.clauses.iter().filter(|_| report.verdict.is_of_states()).find(asks)?;
        let comparison = clause.analysis.comparison.as_ref()?;
        let (request, _) = comparison.bound_holder.as_ref().filter(|(name, _)| requested_resource(name).is_some())?;
        let is_changed =
            report.changes.iter().flat_map(|change| &change.steps).any(|step| step.contains(request.as_str()));
        let (wanted, kept) = (amount(request, &comparison.bound), with_commas(clause.sole_blocker));
        let can = self.0.verb("it can", "they can");
        (!is_changed).then(|| {
            format!(
                "ask for less {request} than {wanted}, if {can} do with that: only this keeps {kept} of {} away",
                self.0.count(report.offers)
            )
        })
    }

    /// Says to ask for fewer processors, where a request waits for many at once. `None` if it does not.
    fn of_many_cores(&self, report: &RequestReport) -> Option<String> {
        let waits = matches!(report.verdict, RequestVerdict::IfDrained(_));
        let comparisons = report.clauses.iter().filter_map(|clause| clause.analysis.comparison.as_ref());
        let asks = |of: &&ClauseComparison| of.bound_holder.as_ref().is_some_and(|(name, _)| name.is("RequestCpus"));
        let cores = comparisons.filter(|_| waits).find(asks).map(|asks| &asks.bound)?;
        let are_many = as_number(cores).is_some_and(|cores| cores >= MANY_CORES);
        let can = self.0.verb("it can", "they can");
        are_many.then(|| format!("ask for fewer RequestCpus, if {can} do with that: {cores} are rarely free at once"))
    }

    /// Says what to wait for or to do, by the kind of the verdict. `None` if the verdict alone does not tell.
    fn by_verdict(&self, report: &RequestReport) -> Option<String> {
        match &report.verdict {
            verdict if verdict.limit().is_some() => verdict.limit().map(AccountingLimit::remedy),
            RequestVerdict::Taken(_) | RequestVerdict::PartlyServed { .. } => {
                let is_divided = !report.scarce_in_divided.is_empty();
                let test = if is_divided { ", or test smaller requests with --what-if" } else { "" };
                Some(format!("wait until more of them are free{test}"))
            }
            RequestVerdict::Unmet { fault: FailureReason::NotNow(time), .. } => time.remedy(),
            RequestVerdict::NotWaiting(_) => report.job.as_ref().and_then(|job| self.of_idle_no_more(job)),
            RequestVerdict::Matches => self.of_match(report),
            RequestVerdict::Refused => self.opening(report),
            RequestVerdict::Claimed | RequestVerdict::IfDrained(_) => self.of_taken(report),
            RequestVerdict::Unmet { clause, .. } if report.clauses[*clause].has_macro() => {
                Some("write the value that is meant in place of the macro".to_owned())
            }
            RequestVerdict::Unmet { clause, .. } if report.clauses[*clause].text == "false" => {
                let may = self.0.verb("it may", "they may");
                Some(format!("take `false` out of the requirements when {may} run"))
            }
            RequestVerdict::Unmet { fault: FailureReason::MissingOwnAttribute(name, _), .. }
                if report.changes.is_empty() =>
            {
                Some(format!("give {} an attribute {name}", self.0.verb("it", "them")))
            }
            verdict if report.changes.is_empty() => clause_remedy(self.0, report, verdict),
            _ => None,
        }
    }

    /// Says when a slot takes the request that refuses it now. `None` if none will.
    fn opening(&self, report: &RequestReport) -> Option<String> {
        report.refusals.iter().filter(|group| group.suitable > 0).find_map(|group| {
            let wait = group.demand.opens.as_ref()?.remedy()?;
            Some(format!("{wait}, when {} takes jobs", self.0.offer_name(group.example)))
        })
    }

    /// Says what to do about a job that waits for no slot.
    fn of_idle_no_more(&self, job: &JobReport) -> Option<String> {
        let is_unasked = job.state.is_of_access_point() && job.schedd.is_none();
        let made = || job.factory.as_ref().and_then(JobFactory::remedy).map(str::to_owned);
        let released = job.hold.as_ref().map(|hold| self.release(hold));
        let start = match job.state {
            JobState::LocalUniverse => "START_LOCAL_UNIVERSE",
            _ => "START_SCHEDULER_UNIVERSE",
        };
        let asked = || {
            format!(
                "see what {start} of its access point says (condor_config_val), or give the ad of the schedd with --pool \
                 (condor_status -schedd -long)"
            )
        };
        released.or_else(made).or_else(|| is_unasked.then(asked))
    }

    /// Says what a request waits for that matches free slots.
    fn of_match(&self, report: &RequestReport) -> Option<String> {
        let rejection = report.job.as_ref().and_then(|job| job.last_rejection.as_ref());
        if let Some(limit) = rejection.and_then(LastRejection::concurrency_limit) {
            return Some(format!("wait until jobs with the concurrency limit {limit} end"));
        }
        if rejection.is_some_and(LastRejection::is_of_accounting) {
            let share = "ask the admin about its share (condor_userprio)";
            return Some(format!("wait until jobs of its submitter or group end, or {share}"));
        }
        let job = report.job.as_ref().filter(|_| report.slots.is_some())?;
        let full = self.full_slots(report).map_or_else(String::new, |full| format!(", or until {full}"));
        // How many jobs a limit admits, the ads do not tell.
        let limits = parse_limits(job.concurrency_limits.as_deref().unwrap_or_default());
        let limits = limits.first().map_or_else(String::new, |(name, _)| {
            let variable = name.to_uppercase();
            format!(", or until jobs with the concurrency limit {name} end if it is reached (condor_config_val -negotiator {variable}_LIMIT)")
        });
        Some(format!("wait for the next negotiation cycle{full}{limits}"))
    }

    /// Says what a request waits for whose slots are all in use or full. `None` if a change corrects a mistake: it is not
    /// waited out.
    fn of_taken(&self, report: &RequestReport) -> Option<String> {
        if report.slip().is_some() && !report.changes.is_empty() || report.is_corrected_to_free() {
            return None;
        }
        let (opening, ends) = (self.opening(report), self.wait(report));
        match (opening, ends.as_ref().and_then(|ends| ends.strip_prefix("wait "))) {
            (Some(opening), Some(ends)) => Some(format!("{opening}, or {ends}")),
            (opening, _) => opening.or(ends),
        }
    }

    /// Says to ask for a value of its own, where an expression asks for more than many slots have. `None` if a change does.
    fn own_value(&self, report: &RequestReport) -> Option<String> {
        let RequestExpression { name, missing, near, .. } = report.own_expression.as_ref()?;
        if let Some(missing) = missing {
            return Some(if let [near] = near.as_slice() {
                format!("write {near} in {name} if it is meant by {missing}")
            } else if is_set_by_run(missing) {
                format!("set {name} to a number: {missing} is not defined before the first run")
            } else {
                format!("define {missing}, or set {name} to a number")
            });
        }
        let is_changed =
            report.changes.iter().flat_map(|change| &change.steps).any(|step| step.contains(name.as_str()));
        (!is_changed).then(|| format!("set {name} to what {} if that is less", self.0.verb("it needs", "they need")))
    }

    /// Says which offer comes closest to meeting the clauses that none meets together, and what it has.
    fn closest_to_conflict(&self, report: &RequestReport) -> Option<String> {
        let ConflictExample { clause, offers, offer, reads } = report.conflict_example.as_ref()?;
        let (slot, met) = (self.0.offer_name(*offer), self.0.quoted(&report.clauses[*clause].text));
        let size = |read: &ReadValue| {
            let amount = SizeUnit::of(&read.name).zip(as_number(&read.value));
            amount.map_or_else(String::new, |(unit, amount)| format!(" ({})", unit.readable(amount)))
        };
        let has: Vec<String> = reads.iter().map(|read| format!("{} {}{}", read.name, read.value, size(read))).collect();
        let has = join_with(&has, "and");
        Some(match offers {
            1 => format!("{slot} alone meets {met}, and has {has}"),
            offers => {
                let those = format!("the {} {} that meet {met}", with_commas(*offers), self.0.nouns[1]);
                format!("of {those}, {slot} comes closest with {has}")
            }
        })
    }

    /// Says what to do about a slot that serves the owner of its machine, or that drains, or about files that no slot shares.
    /// `None` if that does not keep the request from the slots.
    fn of_owners_and_files(&self, report: &RequestReport) -> Option<String> {
        let places = ["FileSystemDomain", "UidDomain"];
        let reads_place = |place: &usize| {
            let names = &report.clauses[*place].analysis.offer_attributes;
            places.iter().any(|known| names.iter().any(|name| name.is(known)))
        };
        if report.verdict.clauses().iter().any(reads_place) {
            return Some("transfer the files instead of sharing them: should_transfer_files = yes".to_owned());
        }
        let (all, states) = (report.refusing(), report.refusing_states?);
        let group = report.refusals.first().filter(|_| report.verdict == RequestVerdict::Refused)?;
        let slot = self.0.offer_name(group.example);
        match states.owner {
            1 if all == 1 => Some(format!("wait until the owner of {slot} leaves it")),
            owners if owners == all && all > 0 => Some(format!("wait until an owner leaves a slot, such as {slot}")),
            // A slot that takes no job at all until its work is done.
            _ if group.demand.is_closed && all > 0 && states.draining + states.drained == all => {
                Some(format!("wait until {slot} starts jobs again{}", self.0.state_beside(group.example)))
            }
            _ if group.demand.retired.is_some() && report.changes.is_empty() => {
                let without = format!(", or do without {slot}");
                Some(format!("wait for a new pilot{}", if report.choices.is_empty() { &without } else { "" }))
            }
            _ if group.demand.is_closed && all > 0 && report.changes.is_empty() => {
                Some(format!("ask the owner of {slot} when it takes jobs again, or do without it"))
            }
            _ => None,
        }
    }

    /// Says what a held job needs before its release.
    fn release(&self, hold: &HoldReason) -> String {
        let it = self.0.verb("it", "them");
        match &hold.exceeded {
            Some(ExceededResource { asks_for_more: true, .. }) => format!("release {it}"),
            Some(ExceededResource { request, is_most: true, .. }) => {
                let matches = self.0.verb("it matches", "they match");
                format!("let {it} use less, or widen the requirements: no slot that {matches} has more for {request}")
            }
            Some(ExceededResource { request, limit, .. }) => {
                let above = limit.as_ref().map_or_else(String::new, |limit| format!(" above {limit}"));
                format!("raise {request}{above}, then release {it}")
            }
            None if hold.is_spooling() => format!("wait until the input files of {it} are spooled"),
            None if hold.held_by.is_some() => {
                let who = hold.held_by.as_deref().unwrap_or_default();
                match hold.contact() {
                    Some(contact) => format!("ask {contact} before anyone releases {it}: {who} held {it}"),
                    None => format!("ask {who}, who held {it}, before anyone releases {it}"),
                }
            }
            None if hold.is_by_hand() => format!("release {it}"),
            None if hold.holds_again => remedy_of_policy(hold, it),
            None => format!("{}, then release {it}", hold_remedy(hold).unwrap_or("mend the cause")),
        }
    }

    /// Says which slots in use a job can wait for. `None` if there are none.
    fn wait(&self, report: &RequestReport) -> Option<String> {
        let slots = report.slots.as_ref()?;
        let of = slots.matching;
        let one_of = |number: usize, state: &str| match number {
            1 => format!("the slot {state}"),
            number => format!("one of the {} slots {state}", with_commas(number)),
        };
        let in_use = of.claimed_by_others + of.claimed_by_user + of.matched + of.preempting + of.owner;
        let states = [
            (in_use, "in use", "is free"),
            (of.draining + of.drained, "that drain", "starts jobs again"),
            (of.offline, "that are offline", "is woken (condor_power, condor_rooster)"),
        ];
        let awaited = states.into_iter().find(|(number, ..)| *number > 0);
        let awaited = awaited.map(|(number, state, end)| {
            let state =
                if number == 1 { state.replace("drain", "drains").replace("are", "is") } else { state.to_owned() };
            format!("{} {end}", one_of(number, &state))
        });
        let events: Vec<String> = awaited.into_iter().chain(self.full_slots(report)).collect();
        (!events.is_empty()).then(|| format!("wait until {}", events.join(", or until ")))
    }

    /// Says that jobs end on the slots that would match without them. `None` if there are none, or none is listed.
    fn full_slots(&self, report: &RequestReport) -> Option<String> {
        let number = report.slots.filter(|_| !report.if_drained.is_empty())?.if_drained;
        let names = report.if_drained.iter().map(|slot| self.0.offer_name(*slot) + &self.0.state_beside(*slot));
        Some(format!("jobs end on {}", join_first(names, number, MAX_NAMED_SLOTS)))
    }
}
