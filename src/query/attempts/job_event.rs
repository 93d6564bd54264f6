//! An event of a job, as the ad of the event tells it.

use std::fmt;

use crate::ad::{AbsoluteTime, Ad, Expression, Value};

/// The number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobNumber {
    /// The cluster.
    pub cluster: i64,
    /// The process in the cluster.
    pub process: i64,
}

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.cluster, self.process)
    }
}

/// An event of a job.
#[derive(Clone, Copy)]
pub struct JobEvent<'a> {
    /// The ad of the event.
    pub ad: &'a Ad,
    /// The job.
    pub job: JobNumber,
    /// The number of the kind of event.
    pub number: i64,
    /// When it happened, in whole seconds since 1970; `None` if the time is not known.
    pub time: Option<i64>,
}

impl<'a> JobEvent<'a> {
    /// Takes an ad for an event of a job. `None` if it is none: an event of a whole cluster tells nothing about a job.
    #[must_use]
    pub fn of(ad: &'a Ad) -> Option<Self> {
        let number = integer(ad, "EventTypeNumber")?;
        let (cluster, process) = (integer(ad, "Cluster")?, integer(ad, "Proc")?);
        let job = JobNumber { cluster, process };
        Some(JobEvent { ad, job, number, time: event_time(ad) }).filter(|_| cluster >= 0 && process >= 0)
    }

    /// Returns the integer that an attribute has.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        integer(self.ad, name)
    }

    /// Returns the text that an attribute has.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.ad, name)
    }

    /// Whether an attribute is true.
    #[must_use]
    pub fn is_true(&self, name: &str) -> bool {
        matches!(literal(self.ad, name), Some(Value::Boolean(true)))
    }

    /// Returns the seconds of the processors, user and system, that an attribute such as `RunRemoteUsage` tells.
    #[must_use]
    pub fn usage(&self, name: &str) -> Option<[i64; 2]> {
        let text = self.text(name)?;
        let (user, system) = text.strip_prefix("Usr ")?.split_once(", Sys ")?;
        Some([clock_seconds(user)?, clock_seconds(system)?])
    }
}

/// Returns the time of an event, in seconds since 1970. A time without a zone is local.
fn event_time(ad: &Ad) -> Option<i64> {
    match literal(ad, "EventTime")? {
        Value::Integer(time) => Some(*time),
        Value::AbsoluteTime(time) => Some(time.seconds),
        Value::String(text) => {
            let text = text.to_str();
            let (date, clock) = text.split_once('T')?;
            let is_date =
                date.split('-').count() == 3 && date.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
            // The reader of times takes no parts of seconds.
            let (whole, rest) = clock.split_at_checked(8)?;
            let zone = rest.trim_start_matches(|char: char| char == '.' || char.is_ascii_digit());
            AbsoluteTime::parse(&format!("{date}T{whole}{zone}")).filter(|_| is_date).map(|time| time.seconds)
        }
        _ => None,
    }
}

/// Returns the seconds of a time such as `1 02:03:04`, with days first.
fn clock_seconds(text: &str) -> Option<i64> {
    let (days, clock) = text.trim().split_once(' ')?;
    let parts: Vec<i64> = clock.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    let days: i64 = days.parse().ok()?;
    days.checked_mul(86_400)?.checked_add(hours.checked_mul(3600)?)?.checked_add(minutes * 60 + seconds)
}

/// Returns the literal value that an attribute has.
pub(super) fn literal<'a>(ad: &'a Ad, name: &str) -> Option<&'a Value> {
    ad.get_str(name).and_then(Expression::as_literal)
}

/// Returns the number that an attribute has, truncated.
pub(super) fn integer(ad: &Ad, name: &str) -> Option<i64> {
    match literal(ad, name)? {
        Value::Integer(integer) => Some(*integer),
        #[allow(clippy::cast_possible_truncation)] // reals are truncated, as in C
        Value::Real(real) => Some(*real as i64),
        _ => None,
    }
}

/// Returns the text that an attribute has.
pub(super) fn text(ad: &Ad, name: &str) -> Option<String> {
    match literal(ad, name)? {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    }
}
