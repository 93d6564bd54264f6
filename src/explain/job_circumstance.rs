//! What the ad of a job tells that keeps it from running.

/// A job of the parallel universe needs more slots than the pool has free for it.
pub const TOO_FEW_SLOTS: &str = "too-few-slots";

/// Something in the ad of a job that keeps it from running, or delays it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobCircumstance {
    /// What it is about: `cool-down`.
    pub kind: &'static str,
    /// What it is, as it stands after the subject: `is in cool-down until ...`.
    pub predicate: String,
    /// What can be done; `None` if nothing.
    pub remedy: Option<String>,
    /// Whether the job runs in no slot as long as it lasts.
    pub is_decisive: bool,
}
