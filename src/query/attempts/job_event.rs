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

#[cfg(test)]
mod tests {
    use super::{JobEvent, clock_seconds};
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_ad};

    fn event(text: &str) -> String {
        let ad = parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let Some(event) = JobEvent::of(&ad) else { return "none".to_owned() };
        let time = event.time.map_or("-".to_owned(), |time| time.to_string());
        format!("{} {} {time}", event.number, event.job)
    }

    #[test]
    fn an_event_has_a_number_a_job_and_perhaps_a_time() {
        for (text, expected) in [
            ("EventTypeNumber = 1; Cluster = 7; Proc = 0", "1 7.0 -"),
            ("EventTypeNumber = 1; Cluster = 0; Proc = 3", "1 0.3 -"),
            ("EventTypeNumber = 1; Cluster = 7; Proc = -1", "none"),
            ("EventTypeNumber = 1; Cluster = -1; Proc = 0", "none"),
            ("EventTypeNumber = 1; Cluster = 7", "none"),
            ("EventTypeNumber = 1; Proc = 7", "none"),
            ("Cluster = 7; Proc = 0", "none"),
            ("EventTypeNumber = 1.9; Cluster = \"7\"; Proc = 0", "none"),
            ("EventTypeNumber = 1.9; Cluster = 7; Proc = 0", "1 7.0 -"),
        ] {
            assert_eq!(event(text), expected, "{text}");
        }
        for (time, expected) in [
            ("60", "60"),
            ("absTime(\"1970-01-01T00:01:00Z\")", "60"),
            ("\"1970-01-01T00:01:00Z\"", "60"),
            ("\"1970-01-01T00:01:00.999Z\"", "60"),
            ("\"1970-01-01T01:01:00+01:00\"", "60"),
            ("\"1970-01-01 00:01:00Z\"", "-"),
            ("\"1970-0101T00:01:00Z\"", "-"),
            ("\"1970-01-xxT00:01:00Z\"", "-"),
            ("\"1970-01-01T00:01\"", "-"),
            ("\"\"", "-"),
            ("1.5", "-"),
        ] {
            let text = format!("EventTypeNumber = 1; Cluster = 7; Proc = 0; EventTime = {time}");
            assert_eq!(event(&text), format!("1 7.0 {expected}"), "{time}");
        }
    }

    #[test]
    fn attributes_of_an_event_are_literals() {
        let text = "[ EventTypeNumber = 1; Cluster = 7; Proc = 0; i = 2; r = 2.9; s = \"x\"; t = true; f = false; e = \
        1 + 1; \
                    u = \"Usr 1 02:03:04, Sys 0 00:00:09\"; v = \"Usr 1 02:03:04\"; w = \"Usr x, Sys 0 00:00:09\" ]";
        let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let event = JobEvent::of(&ad).unwrap();
        for (name, integer, text, is_true) in [
            ("i", Some(2), None, false),
            ("r", Some(2), None, false),
            ("s", None, Some("x"), false),
            ("t", None, None, true),
            ("f", None, None, false),
            ("e", None, None, false),
            ("none", None, None, false),
        ] {
            assert_eq!((event.integer(name), event.text(name).as_deref()), (integer, text), "{name}");
            assert_eq!((event.is_true(name), event.usage(name)), (is_true, None), "{name}");
        }
        let usages = ["u", "v", "w"].map(|name| event.usage(name));
        assert_eq!(usages, [Some([93_784, 9]), None, None]);
        for (text, expected) in [
            ("0 00:00:00", Some(0)),
            (" 1 02:03:04 ", Some(93_784)),
            ("0 00:01:01", Some(61)),
            ("00:01:01", None),
            ("0 00:01", None),
            ("0 00:01:01:01", None),
            ("x 00:01:01", None),
            ("0 00:x:01", None),
            ("9223372036854775807 00:00:00", None),
            ("0 9223372036854775807:00:00", None),
        ] {
            assert_eq!(clock_seconds(text), expected, "{text}");
        }
    }
}
