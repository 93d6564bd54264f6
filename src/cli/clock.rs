//! The current time, and times in messages.

use classad::ad::AbsoluteTime;

/// Returns the time, in seconds since 1970.
pub fn current_time() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Returns a time in UTC for messages: `2026-01-31T12:00:00Z`. HTCondor writes the offset `-00:00` in place of `Z`.
pub fn utc_text(seconds: i64) -> String {
    let text = AbsoluteTime { seconds, offset: 0 }.to_string();
    text.strip_suffix("-00:00").map_or_else(|| text.clone(), |time| format!("{time}Z"))
}
