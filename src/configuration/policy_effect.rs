//! Effects of policies on jobs.

use crate::ad::Value;

/// What a policy does to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyEffectKind {
    /// A transform changes it when it is submitted.
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

    /// Whether a job that waits for a slot waits no longer.
    #[must_use]
    pub fn ends_waiting(self) -> bool {
        matches!(self, PolicyEffectKind::Refuses | PolicyEffectKind::Holds | PolicyEffectKind::Removes)
    }
}

/// Effect of a policy on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// Returns a reason; empty if it is no string.
pub(super) fn text_of(reason: Option<Value>) -> String {
    match reason {
        Some(Value::String(text)) => text.to_str().into_owned(),
        _ => String::new(),
    }
}
