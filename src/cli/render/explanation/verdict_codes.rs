//! Codes of verdicts, as [`RequestVerdict::as_str`](classad::explain::RequestVerdict::as_str) has them, and which of them
//! ask for a change.

/// The verdict on jobs that do not wait for a slot.
pub const NOT_WAITING: &str = "not-waiting";

/// The verdict on requests whose offers are all held by others.
pub const TAKEN: &str = "taken";

/// The verdict on requests that a concurrency limit keeps from offers.
pub const LIMITED: &str = "limited";

/// The verdict on requests that get fewer offers than they ask for.
pub const PARTLY_SERVED: &str = "partly-served";

/// The verdict on jobs that match only slots in use.
pub const CLAIMED: &str = "claimed";

/// Whether subjects with a verdict match only after a change.
pub fn needs_change(verdict: &str) -> bool {
    !["matches", "ports", NOT_WAITING, TAKEN, CLAIMED, LIMITED, PARTLY_SERVED].contains(&verdict)
}

/// Says that no change was found with which subjects match. `attributes` are those that the decisive reason involves.
pub fn no_change_phrase<'n>(mut attributes: impl Iterator<Item = &'n str>) -> &'static str {
    let is_system = attributes.any(|name| name.eq_ignore_ascii_case("Arch") || name.starts_with("OpSys"));
    if is_system { "no change found that keeps Arch and OpSys" } else { "no change found" }
}
