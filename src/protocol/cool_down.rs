//! The pause of a job after a run that its access point counts as failed (`Runnable` in HTCondor's `qmgmt.cpp`).

use crate::ad::{Ad, Name, Value};
use crate::eval::Context;

use super::advertisement::evaluate_attribute;

/// The attribute with the last second in which the access point offers a job to no slot.
pub const COOL_DOWN: &str = "JobCoolDownExpiration";

/// Returns the last second in which a job is in cool-down; `None` if it is in none now, or if there is no clock.
#[must_use]
pub fn cool_down_end(job: &Ad, context: &Context) -> Option<i64> {
    match evaluate_attribute(job, &Name::new(COOL_DOWN), context) {
        Some(Value::Integer(until)) => Some(until).filter(|until| context.now.is_some_and(|now| *until >= now)),
        _ => None,
    }
}
