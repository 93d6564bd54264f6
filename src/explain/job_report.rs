//! What the ad of a job tells of the job itself.

use crate::ad::{Ad, ByteString, Value};
use crate::eval::Context;
use crate::protocol::{AdvertisedState, Advertisement, JobState, evaluate_attribute};

use super::hold_reason::HoldReason;
use super::last_rejection::LastRejection;

/// What the ad of a job tells of the job itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobReport {
    /// State of the job.
    pub state: JobState,
    /// The user, as slots name the one who has claimed them (`User`).
    pub user: Option<ByteString>,
    /// Why the job is held, and the codes of the reason; `None` for a job in another state.
    pub hold: Option<HoldReason>,
    /// How a completed job ended, or why a job was removed; `None` for a job in another state.
    pub ending: Option<String>,
    /// Name of the slot in which a running job runs (`RemoteHost`); `None` for a job in another state.
    pub slot: Option<String>,
    /// Why the negotiator found no slot for the job last; `None` for a job that does not wait, and if it was matched since.
    pub last_rejection: Option<LastRejection>,
    /// The limits that the job shares with others (`ConcurrencyLimits`); `None` for a job that does not wait.
    pub concurrency_limits: Option<String>,
}

impl JobReport {
    /// Reads the ad of a job; `None` if the ad is of no job of HTCondor.
    #[must_use]
    pub fn new(ad: &Ad, context: &Context) -> Option<Self> {
        let AdvertisedState::Job(state) = Advertisement::new(ad, context).state() else { return None };
        let value = |name: &str| evaluate_attribute(ad, &name.into(), context);
        let text = |name: &str| match value(name) {
            Some(Value::String(text)) => Some(text.to_str().trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        };
        let number = |name: &str| match value(name) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        let is_in = |wanted: &[JobState]| wanted.contains(&state);
        let ending = || match state {
            JobState::Removed => text("RemoveReason"),
            JobState::Completed => match (number("ExitSignal"), number("ExitCode")) {
                (Some(signal), _) => Some(format!("ended by signal {signal}")),
                (None, code) => code.map(|code| format!("exit code {code}")),
            },
            _ => None,
        };
        let waits = state == JobState::Idle;
        Some(JobReport {
            user: text("User").map(Into::into),
            hold: is_in(&[JobState::Held]).then(|| HoldReason::new(ad, context)),
            ending: ending(),
            slot: text("RemoteHost").filter(|_| is_in(&[JobState::Running, JobState::Suspended])),
            last_rejection: if waits { LastRejection::of_job(ad, context) } else { None }
                .filter(|last| !last.is_outdated(ad, context)),
            concurrency_limits: text("ConcurrencyLimits").filter(|_| waits),
            state,
        })
    }

    /// Why the job does not wait; `None` for a job that does. Jobs with one reason can share an explanation.
    #[must_use]
    pub fn reason(&self) -> Option<(JobState, Option<&HoldReason>)> {
        (self.state != JobState::Idle).then_some((self.state, self.hold.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::JobReport;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn what_the_ad_of_a_job_tells() {
        for (attributes, expected) in [
            ("JobStatus = 1", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \"no match\"; ConcurrencyLimits = \"sw\"", "Idle no match sw"),
            ("JobStatus = 1; LastRejMatchReason = \"old\"; LastRejMatchTime = 5; LastMatchTime = 6", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \"\"; ConcurrencyLimits = \"  \"", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \" late \"; RemoteHost = \"h\"; RemoveReason = \"r\"", "Idle late"),
            ("JobStatus = 1; LastRejMatchReason = 5; User = \" ann \"", "Idle ann"),
            (
                "JobStatus = 2; RemoteHost = \"slot1@h\"; LastRejMatchReason = \"x\"; ConcurrencyLimits = \"sw\"",
                "Running slot1@h",
            ),
            ("JobStatus = 2; RemoteHost = \" \"", "Running"),
            ("JobStatus = 7; RemoteHost = \"slot1@h\"", "Suspended slot1@h"),
            ("JobStatus = 3; RemoveReason = \"by ann\"; ExitCode = 1", "Removed by ann"),
            ("JobStatus = 3; RemoveReason = \"  \"", "Removed"),
            ("JobStatus = 4; ExitCode = 0", "Completed exit code 0"),
            ("JobStatus = 4; ExitSignal = 9; ExitCode = 0", "Completed ended by signal 9"),
            ("JobStatus = 4; RemoveReason = \"x\"; RemoteHost = \"h\"", "Completed"),
            ("JobStatus = 5; RemoteHost = \"h\"", "Held (held)"),
        ] {
            let text = format!("[ MyType = \"Job\"; ClusterId = 1; ProcId = 0; {attributes} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let job = JobReport::new(&ad, &Context::new(Dialect::Condor)).unwrap();
            let held = job.hold.as_ref().map(|_| "(held)".to_owned());
            let rejection = job.last_rejection.map(|last| last.reason);
            let facts = [held, job.ending, job.slot, rejection, job.concurrency_limits];
            let user = job.user.map(|user| user.to_str().into_owned());
            let told: Vec<String> =
                [Some(format!("{:?}", job.state)), user].into_iter().chain(facts).flatten().collect();
            assert_eq!(told.join(" "), expected, "{attributes}");
        }
    }
}
