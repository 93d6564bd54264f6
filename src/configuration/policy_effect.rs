//! Effects of policies on jobs.

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

/// What a policy does to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyEffectKind {
    /// A transform changes it when it is submitted.
    #[default]
    Changes,
    /// A submit requirement refuses it.
    Refuses,
    /// A submit requirement warns of it.
    WarnsOf,
    /// A periodic policy puts it on hold.
    Holds,
    /// A periodic policy releases it from hold.
    Releases,
    /// A periodic policy removes it from the queue.
    Removes,
    /// A periodic policy takes it from its machine.
    Vacates,
    /// A policy keeps it in the queue when its run has ended, to run again.
    Requeues,
}

impl PolicyEffectKind {
    /// The verb: `holds`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyEffectKind::Changes => "changes",
            PolicyEffectKind::Refuses => "refuses",
            PolicyEffectKind::WarnsOf => "warns of",
            PolicyEffectKind::Holds => "holds",
            PolicyEffectKind::Releases => "releases",
            PolicyEffectKind::Removes => "removes",
            PolicyEffectKind::Vacates => "vacates",
            PolicyEffectKind::Requeues => "requeues",
        }
    }

    /// What is done to the job: `held`.
    #[must_use]
    pub fn participle(self) -> &'static str {
        match self {
            PolicyEffectKind::Changes => "changed",
            PolicyEffectKind::Refuses => "refused",
            PolicyEffectKind::WarnsOf => "warned of",
            PolicyEffectKind::Holds => "held",
            PolicyEffectKind::Releases => "released",
            PolicyEffectKind::Removes => "removed",
            PolicyEffectKind::Vacates => "vacated",
            PolicyEffectKind::Requeues => "requeued",
        }
    }

    /// Whether a job that waits for a slot waits no longer.
    #[must_use]
    pub fn ends_waiting(self) -> bool {
        matches!(self, PolicyEffectKind::Refuses | PolicyEffectKind::Holds | PolicyEffectKind::Removes)
    }
}

/// Effect of a policy on a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PolicyEffect {
    /// Name of the variable that holds the policy, or of the job's attribute.
    pub knob: String,
    /// 1-based number of the line in the dump; `None` for an attribute of the job.
    pub line: Option<usize>,
    /// What happens to the job.
    pub kind: PolicyEffectKind,
    /// The reason that the policy gives, or the changed attributes; empty if it gives none.
    pub reason: String,
    /// `HoldReasonSubCode` of a job that the policy holds; `None` if the policy gives none.
    pub subcode: Option<i64>,
    /// `HoldReasonCode` of a job that the policy holds, `VacateReasonCode` of one that it vacates; `None` for another effect.
    pub code: Option<i64>,
    /// The reason in the words of HTCondor, for a policy that gives none.
    pub standard_reason: String,
}

impl PolicyEffect {
    /// The reason that HTCondor writes into the ad of the job.
    #[must_use]
    pub fn told_reason(&self) -> &str {
        if self.reason.is_empty() { &self.standard_reason } else { &self.reason }
    }

    /// Returns the ad of a job that does not run after the effect at a time; `None` if the job leaves the queue.
    #[must_use]
    pub(super) fn changed_job(&self, job: &Ad, at: i64, context: &Context) -> Option<Ad> {
        let mut values = vec![("EnteredCurrentStatus", Value::Integer(at))];
        match self.kind {
            PolicyEffectKind::Removes => return None,
            PolicyEffectKind::Holds => {
                let holds = match evaluate_attribute(job, &Name::new("NumHolds"), context) {
                    Some(Value::Integer(holds)) => holds.saturating_add(1),
                    _ => 1,
                };
                values.extend([
                    ("HoldReason", Value::string(self.told_reason().to_owned())),
                    ("HoldReasonCode", Value::Integer(self.code.unwrap_or_default())),
                    ("HoldReasonSubCode", Value::Integer(self.subcode.unwrap_or_default())),
                    ("JobStatus", Value::Integer(5)),
                    ("NumHolds", Value::Integer(holds)),
                ]);
            }
            _ => values.push(("JobStatus", Value::Integer(1))),
        }
        let values = values.into_iter().map(|(name, value)| (Name::new(name), Expression::literal(value)));
        Some(AdExtension::new(values.collect()).extend(job))
    }
}

/// Returns a reason; empty if it is no string.
pub(super) fn text_of(reason: Option<Value>) -> String {
    match reason {
        Some(Value::String(text)) => text.to_str().into_owned(),
        _ => String::new(),
    }
}
