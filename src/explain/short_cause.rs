//! The cause of a report in a few words: the row of a table of many reports.

use indexmap::IndexSet;

use crate::ad::{BinaryOperator, Dialect, Expression, Name};
use crate::constraint::{ClauseComparison, InconsistencyKind};
use crate::lint::SizeUnit;
use crate::matching::negotiate::AccountingLimit;
use crate::protocol::JobState;
use crate::text::{join_and, join_first};

use super::cause::Cause;
use super::clause_report::ClauseReport;
use super::clauses::text;
use super::failure_reason::FailureReason;
use super::foreseen_effect::ForeseenEffect;
use super::job_outlook::JobOutlook;
use super::missing_amount::{amount, missing_amount};
use super::nested_phrase;
use super::policy_outlook::PolicyOutlook;
use super::report::{RefusalGroup, RequestReport, RequestVerdict};
use super::resource_shortage::ResourceShortage;
use super::slots::SlotTally;
use super::value_phrase::type_phrase;

/// Maximum length of the cause in a table, in characters; the rest is cut off, between words. Clauses, which can be long, stand last.
pub const MAX_SHORT_CAUSE_CHARS: usize = 60;

/// Maximum number of attributes that a cause names.
const MAX_NAMED_ATTRIBUTES: usize = 3;

/// The cause of a report in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortCause {
    /// Identifier of the cause, and after a colon what it is about: `missing-attribute:HasDocker`. Reports with one
    /// identifier have one cause. [`Cause::identifier`] has the part before the colon.
    pub id: String,
    /// The cause in words. Reports with one cause can differ in numbers and values.
    pub text: String,
}

/// Writes the causes of reports in a few words; the fields are the settings.
#[derive(Clone, Copy)]
pub struct ShortCauseWriter<'w> {
    /// The noun for what is explained, such as `job`.
    pub subject: &'w str,
    /// The noun for the candidates, singular and plural.
    pub nouns: [&'w str; 2],
    /// The dialect in which clauses are printed.
    pub dialect: Dialect,
}

impl ShortCauseWriter<'_> {
    /// Returns the cause of a report.
    #[must_use]
    pub fn cause(&self, report: &RequestReport) -> ShortCause {
        let cause = report.cause();
        let (about, text) = self.about_and_text(report);
        // What a job waits for is one cause, whoever has the slots.
        let row = match cause {
            Cause::Taken | Cause::InUse if about.is_empty() => Cause::Full,
            cause => cause,
        };
        ShortCause { id: identifier_about(row, &about), text }
    }

    /// Returns what a cause is about, and the cause in words.
    fn about_and_text(&self, report: &RequestReport) -> (String, String) {
        let [one, several] = self.nouns;
        let general = |text: String| (String::new(), text);
        if let Some(ForeseenEffect { effect, .. }) = report.imminent() {
            return (effect.knob.clone(), format!("will be {} by {}", effect.kind.participle(), effect.knob));
        }
        match report.cause() {
            Cause::CoolDown => return general("is in cool-down after a failed run".to_owned()),
            Cause::TooFew => return general(format!("needs more {several} at once than match it")),
            Cause::AtLimit => return general("its access point runs as many jobs as it may".to_owned()),
            _ => {}
        }
        if let Some((clause, fault)) = report.slip() {
            return self.unmet(&report.clauses[clause], fault);
        }
        match &report.verdict {
            RequestVerdict::Matches => general("matches".to_owned()),
            RequestVerdict::NotWaiting(_) => not_waiting(report),
            RequestVerdict::IfDrained(_) | RequestVerdict::Taken(_) => {
                general(format!("the pool is full: others have or get all matching {several}"))
            }
            RequestVerdict::Claimed => match report.slots.and_then(|slots| unusable_state(&slots.matching)) {
                Some(state) => (state.clone(), format!("the {several} that match are {state}")),
                None => general(format!("the pool is full: others have or get all matching {several}")),
            },
            RequestVerdict::Limited(limit) | RequestVerdict::PartlyServed { limit: Some(limit), .. } => {
                (limited_by(limit), limit.to_string())
            }
            RequestVerdict::PartlyServed { .. } => general(format!("gets too few {several}: nothing else is left")),
            RequestVerdict::NeedsGang => general("it has Ports; leave out --reverse to explain gangs".to_owned()),
            RequestVerdict::NotServed => general("not served: `roots` of the policy is not true".to_owned()),
            RequestVerdict::Unranked { rule, .. } => {
                (rule.clone(), format!("no rank, by the rule of the policy: `{rule}`"))
            }
            RequestVerdict::NoOffers => general(format!("there are no {several}")),
            RequestVerdict::NoConstraint => general("it has no constraint, so it accepts nothing".to_owned()),
            RequestVerdict::Contradiction { clauses, subject, clash, .. } => {
                self.contradiction(report, (clauses, *clash), subject)
            }
            RequestVerdict::Unmet { clause, fault } => self.unmet(&report.clauses[*clause], fault),
            RequestVerdict::Conflict(clauses) => {
                let subjects: Vec<String> = clauses.iter().map(|clause| subject_of(&report.clauses[*clause])).collect();
                let about: IndexSet<&str> = subjects.iter().flat_map(|subject| subject.split('+')).collect();
                let about: Vec<&str> = about.into_iter().collect();
                // Of several clauses on one attribute, the attribute says nothing.
                let named = match about.as_slice() {
                    [_] => quoted_clauses(report, clauses),
                    several => join_first(several, several.len(), MAX_NAMED_ATTRIBUTES),
                };
                (about.join("+"), format!("no {one} meets {named} at once"))
            }
            RequestVerdict::Refused => self.refused(report),
        }
    }

    /// The cause of a request of which clauses on `subject` contradict each other.
    fn contradiction(
        &self,
        report: &RequestReport,
        (clauses, clash): (&[usize], InconsistencyKind),
        subject: &Expression,
    ) -> (String, String) {
        let subject = unqualified(&text(subject, self.dialect));
        let words = match clauses {
            [only] => format!("a clause contradicts itself: `{}`", report.clauses[*only].text),
            _ if clash == InconsistencyKind::Type => {
                format!("its clauses want {subject} of different types")
            }
            _ => format!("its clauses on {subject} contradict each other"),
        };
        (subject, words)
    }

    /// The cause of a request that a clause keeps from all offers.
    fn unmet(&self, clause: &ClauseReport, fault: &FailureReason) -> (String, String) {
        let (one, subject) = (self.nouns[0], self.subject);
        // Where there is no room for the question, the name says it.
        let suggesting = |text: String, near: Option<&Name>| {
            let with = |near: &Name| {
                let asked = format!("{text} (did you mean {near}?)");
                if asked.chars().count() > MAX_SHORT_CAUSE_CHARS { format!("{text} ({near}?)") } else { asked }
            };
            near.map_or_else(|| text.clone(), with)
        };
        let about_clause = |text: String| (subject_of(clause), text);
        match fault {
            FailureReason::UnknownFunction(name, _) => (name.to_string(), format!("there is no function {name}()")),
            FailureReason::MissingOwnAttribute(name, near) => {
                (name.to_string(), suggesting(format!("the {subject} has no {name}"), near.first()))
            }
            FailureReason::MissingAttribute { name, near, .. } => {
                let near = near.first().map(|(near, _)| near);
                (name.to_string(), suggesting(format!("no {one} defines {name}"), near))
            }
            FailureReason::Shadowed(name) => {
                (name.to_string(), format!("reads the {name} of its own ad, not of the {one}"))
            }
            FailureReason::NotNow(time) => about_clause(time.phrase()),
            FailureReason::NeverTrue(_) => about_clause(format!("never true: `{}`", clause.text)),
            FailureReason::Precedence(_) => about_clause(format!("read with other precedence: `{}`", clause.text)),
            FailureReason::Unquoted { name, value, .. } => {
                (name.to_string(), format!("{name} without quotes: write \"{}\"", value.to_str()))
            }
            FailureReason::Slip { kind, message, .. } => (format!("{kind}:{}", subject_of(clause)), message.clone()),
            FailureReason::Setting { name, message, .. } => (name.to_string(), message.clone()),
            FailureReason::Alternatives(alternatives) => match alternatives.first() {
                // A disjunction over one attribute asks for a value of it.
                Some(first) if alternatives.iter().all(|next| subject_of(next) == subject_of(first)) => {
                    self.unmet(first, first.failure.as_ref().unwrap_or(&FailureReason::NoSuchValue))
                }
                _ => about_clause(format!("no {one} meets `{}`", clause.text)),
            },
            FailureReason::Nested(nested) if !nested.clashing.is_empty() => (
                nested.holder.0.to_string(),
                format!("{} contradicts itself: {}", nested.holder.0, nested.clashing.join(" && ")),
            ),
            FailureReason::Nested(nested) => {
                let entry = nested_phrase::entry(nested);
                let unmet = nested.unmet.as_ref().map(|unmet| format!(" with {unmet}")).unwrap_or_default();
                let about = [&nested.holder.0].into_iter().chain(&nested.read).map(Name::as_str);
                (about.collect::<Vec<_>>().join("+"), format!("no {one} has {entry}{unmet}"))
            }
            FailureReason::TypeMismatch { theirs, .. } => {
                let theirs = type_phrase(*theirs);
                about_clause(format!("it is {theirs}: `{}`", clause.text))
            }
            FailureReason::CaseMismatch { theirs, .. } => {
                about_clause(format!("write \"{}\": `{}`", theirs.to_str(), clause.text))
            }
            FailureReason::Misplaced(found) => about_clause(format!("{} has the value: `{}`", found.name, clause.text)),
            FailureReason::NoValue(behind) => (behind.name.to_string(), format!("{} has no value", behind.name)),
            FailureReason::NoSuchValue => about_clause(self.no_such_value(clause)),
        }
    }

    /// Says that no offer has a value.
    fn no_such_value(&self, clause: &ClauseReport) -> String {
        let one = self.nouns[0];
        let Some((comparison, name)) =
            clause.analysis.comparison.as_ref().and_then(|comparison| Some((comparison, comparison.attribute()?)))
        else {
            return format!("no {one} meets `{}`", clause.text);
        };
        let ClauseComparison { operator, bound, .. } = comparison;
        match operator {
            BinaryOperator::Equal | BinaryOperator::Is => format!("no {one} has {name} {bound}"),
            _ => {
                missing_amount(clause, one, self.dialect).unwrap_or_else(|| format!("no {one} meets `{}`", clause.text))
            }
        }
    }

    /// The cause of a request that all suitable offers refuse.
    fn refused(&self, report: &RequestReport) -> (String, String) {
        let [one, several] = self.nouns;
        if let Some(shortage) = &report.shortage {
            let ResourceShortage { resource, wanted, largest, largest_if_drained, .. } = shortage;
            let largest = amount(resource, largest_if_drained.as_ref().unwrap_or(largest));
            let wanted = match SizeUnit::of(resource) {
                Some(_) => format!("{} of {}", amount(resource, wanted), resource.as_str().to_lowercase()),
                None => format!("{wanted} {resource}"),
            };
            let some = if shortage.is_of_all { "" } else { " that would do" };
            return (resource.to_string(), format!("no {one}{some} has {wanted} (at most {largest})"));
        }
        let group = report.refusals.iter().find(|group| group.suitable > 0);
        let Some((RefusalGroup { attributes, .. }, clause)) =
            group.and_then(|group| Some((group, group.demand.clause.as_ref()?)))
        else {
            return (String::new(), format!("the {several} that would do accept nothing"));
        };
        if clause.eq_ignore_ascii_case("false") {
            return ("false".to_owned(), format!("the {several} that would do take nothing: `false`"));
        }
        let read: Vec<&str> = attributes.iter().map(Name::as_str).collect();
        if read.is_empty() {
            return (clause.clone(), format!("the {several} refuse: `{clause}`"));
        }
        let named = join_first(&read, read.len(), MAX_NAMED_ATTRIBUTES);
        (read.join("+"), format!("the {several} refuse by {named}: `{clause}`"))
    }
}

/// Quotes clauses, which are given by index.
fn quoted_clauses(report: &RequestReport, clauses: &[usize]) -> String {
    let quoted = clauses.iter().map(|clause| format!("`{}`", report.clauses[*clause].text));
    join_and(&quoted.collect::<Vec<_>>())
}

/// The attributes of offers that a clause reads, or the clause itself if it reads none.
fn subject_of(clause: &ClauseReport) -> String {
    let analysis = &clause.analysis;
    let compared = analysis.comparison.as_ref().and_then(ClauseComparison::attribute).map(Name::to_string);
    compared.unwrap_or_else(|| {
        let read: Vec<&str> = analysis.offer_attributes.iter().map(Name::as_str).collect();
        if read.is_empty() { clause.text.clone() } else { read.join("+") }
    })
}

/// Returns the identifier of a cause, and after a colon what it is about.
pub fn identifier_about(cause: Cause, about: &str) -> String {
    let colon = if about.is_empty() { "" } else { ":" };
    format!("{}{colon}{about}", cause.identifier())
}

/// Why a job does not wait for a slot.
fn not_waiting(report: &RequestReport) -> (String, String) {
    let Some(job) = &report.job else { return (String::new(), "does not wait".to_owned()) };
    if let Some(hold) = &job.hold {
        return hold.kind();
    }
    if let Some(factory) = &job.factory {
        return (format!("factory-{}", factory.mode.word()), format!("a job factory {}", factory.phrase(usize::MAX)));
    }
    let why = match job.state {
        JobState::Running => "it runs",
        JobState::Suspended => "it is suspended in its slot",
        JobState::TransferringOutput => "its output is on the way",
        JobState::Completed => "it has ended",
        JobState::Removed => "it was removed",
        JobState::SchedulerUniverse => "the schedd runs it (scheduler universe)",
        JobState::LocalUniverse => "the schedd runs it (local universe)",
        JobState::ManagedElsewhere => "another manager has it (Managed)",
        JobState::GridUniverse => "another system runs it (grid universe)",
        _ => "its JobStatus is unknown",
    };
    let words = job.state.word().trim_start_matches("of the ").trim_start_matches("of ").replace(' ', "-");
    match job.outlook.as_ref().and_then(JobOutlook::faulty) {
        Some(PolicyOutlook { name, .. }) => {
            (format!("{words}+{name}"), format!("does not wait: {why}; {name} has no value"))
        }
        None => (words, format!("does not wait: {why}")),
    }
}

/// What the accounting keeps a request from offers by: the limit, the group or the submitter.
pub fn limited_by(limit: &AccountingLimit) -> String {
    let name = match limit {
        AccountingLimit::Concurrency(limit) => &limit.name,
        AccountingLimit::Group(of) => &of.group,
        AccountingLimit::Ceiling(of) | AccountingLimit::Share(of) => &of.submitter,
    };
    format!("{name}{}", if limit.is_permanent() { " (too small)" } else { "" })
}

/// The states of slots of which none can be given away by waiting for jobs to end; `None` if jobs have some of them.
fn unusable_state(slots: &SlotTally) -> Option<String> {
    let SlotTally { owner, draining, drained, offline, .. } = *slots;
    if owner + draining + drained + offline < slots.all() {
        return None;
    }
    let words: Vec<&str> = slots.words().into_iter().map(|(_, words)| words).collect();
    Some(join_and(&words))
}

/// The name in `TARGET.Name`.
fn unqualified(subject: &str) -> String {
    let lower = subject.to_ascii_lowercase();
    let is_qualified = ["target.", "other."].iter().any(|side| lower.starts_with(side));
    let name = if is_qualified { subject.split_once('.').map_or(subject, |(_, name)| name) } else { subject };
    name.to_owned()
}
