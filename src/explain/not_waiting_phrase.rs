//! Says why a job does not wait for a slot.

use crate::protocol::JobState;

use super::hold_reason::{ExceededResource, HoldReason};
use super::job_report::JobReport;
use super::policy_phrase::PolicyWriter;
use super::schedd_answer::ScheddAnswer;

/// Maximum number of characters of the first line of a report.
pub const MAX_FIRST_LINE_CHARS: usize = 160;

/// Writer of sentences about jobs that do not wait; the fields are the settings of the
/// [`SummaryWriter`](super::SummaryWriter).
pub(super) struct NotWaitingWriter<'w> {
    pub subject: &'w str,
    pub is_plural: bool,
    /// Whether a sentence is to fit the first line of a report.
    pub fits_line: bool,
    /// Whether it is known what a held job matches with a larger request.
    pub is_raised: bool,
    /// The writer of sentences about policies of jobs.
    pub policies: PolicyWriter<'w>,
}

impl NotWaitingWriter<'_> {
    /// Says why a job does not wait for a slot. Of a held job, `released` says what it would match.
    pub(super) fn phrase(&self, job: &JobReport, released: impl FnOnce() -> String) -> String {
        let (subject, is) = (self.subject, self.verb("is", "are"));
        let state = job.state.word();
        match job.state {
            JobState::Held => self.held(job, &released()),
            JobState::SchedulerUniverse | JobState::LocalUniverse => self.on_access_point(job),
            JobState::Factory => self.factory(job),
            JobState::ManagedElsewhere => {
                let it = self.verb("it", "them");
                format!("{subject} {is} {state}: another manager has {it}, such as the job router (Managed)")
            }
            JobState::GridUniverse => {
                format!("{subject} {is} {state}: a system outside this pool runs {}", self.verb("it", "them"))
            }
            _ => {
                if let Some(ending) = job.ending.as_ref().filter(|_| !self.is_plural) {
                    return format!("{subject} {is} {state}: {ending}");
                }
                let slot = job.slot.as_ref().filter(|_| !self.is_plural);
                let slot = slot.map(|slot| format!(" in {slot}")).unwrap_or_default();
                let faults = job.outlook.as_ref().map(|outlook| self.policies.faults(outlook)).unwrap_or_default();
                format!("{subject} {is} {state}{slot}, and {} for no slot{faults}", self.verb("waits", "wait"))
            }
        }
    }

    /// Chooses the verb form that agrees with the subject in number.
    fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_plural { plural } else { singular }
    }

    /// Number of characters that a line has room for beside `text`, if sentences are to fit a line.
    fn room_beside(&self, text: &str) -> usize {
        if self.fits_line { MAX_FIRST_LINE_CHARS.saturating_sub(text.chars().count()) } else { usize::MAX }
    }

    /// Says why a job is held, what it needs before its release, and what it matches then.
    fn held(&self, job: &JobReport, released: &str) -> String {
        let (subject, is, it) = (self.subject, self.verb("is", "are"), self.verb("it", "they"));
        // A line that holds all of it has the full stop, too.
        let room = self.room_beside(&format!("{subject} {is} held."));
        let hold = job.hold.as_ref().map(|hold| hold.phrase(room)).unwrap_or_default();
        // What someone held can be released as it is.
        let is_by_hand = job.hold.as_ref().is_none_or(HoldReason::is_by_hand);
        let once = match job.hold.as_ref().and_then(|hold| hold.exceeded.as_ref()) {
            Some(ExceededResource { request, requested, limit, asks_for_more: true, .. }) => {
                let asks = self.verb("It asks", "They ask");
                let [requested, limit] = [requested, limit].map(|number| number.as_deref().unwrap_or_default());
                format!("{asks} for more by now: {request} is {requested}, the limit was {limit}. Once released")
            }
            Some(ExceededResource { is_most: true, .. }) => {
                format!("No slot that {it} {} has more. Released as {it} {is}", self.verb("matches", "match"))
            }
            Some(ExceededResource { request, limit, enough, .. }) => {
                let needs = self.verb("It needs", "They need");
                let above = limit.as_ref().map_or_else(String::new, |limit| format!(", above {limit}"));
                match enough.filter(|_| self.is_raised) {
                    Some(enough) => format!("{needs} a larger {request} first{above}. Released with {enough}"),
                    None => format!("{needs} a larger {request} first{above}. Released as {it} {is}"),
                }
            }
            None if is_by_hand => "Once released".to_owned(),
            None if job.hold.as_ref().is_some_and(HoldReason::is_spooling) => {
                format!("Once {} input files are there", self.verb("its", "their"))
            }
            None => format!("Once the cause is fixed and {it} {is} released"),
        };
        if job.is_without_slot {
            return format!("{subject} {is} held{hold}");
        }
        format!("{subject} {is} held{hold}. {once}, {released}")
    }

    /// Says whether the access point runs a job that needs no slot.
    fn on_access_point(&self, job: &JobReport) -> String {
        let (subject, is, state) = (self.subject, self.verb("is", "are"), job.state.word());
        let (its, them) = (self.verb("its", "their"), self.verb("it", "them"));
        let runs = format!("{subject} {is} {state}: the access point runs {them}, without a slot");
        match &job.schedd {
            None => format!("{runs}, if {its} requirements accept the ad of the schedd"),
            Some(ScheddAnswer::Accepts) => format!("{runs}, and nothing refuses"),
            Some(ScheddAnswer::RefusedByJob(why)) => format!(
                "{subject} {is} {state}, and {its} requirements refuse the access point, which should run {them}: {why}"
            ),
            Some(ScheddAnswer::Refuses(why)) => {
                format!("{subject} {is} {state}, and the access point does not start {them} now: {why}")
            }
        }
    }

    /// Says what a factory of jobs does.
    fn factory(&self, job: &JobReport) -> String {
        let subject = self.subject;
        let room = self.room_beside(&format!("{subject} is a job factory, and ;"));
        let told = job.factory.as_ref().map(|factory| (factory.phrase(room), factory.progress()));
        let (does, progress) = told.unwrap_or_default();
        if self.is_plural {
            format!("{subject} are job factories: each {does}")
        } else {
            format!("{subject} is a job factory, and {does}; {progress}")
        }
    }
}
