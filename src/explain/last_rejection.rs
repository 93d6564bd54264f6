//! Why the negotiator found no slot last. The access point records it in one job of an autocluster; it holds for all.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, ByteString, Value};
use crate::eval::Context;
use crate::protocol::{Advertisement, evaluate_attribute};

/// What the negotiator said when it found no slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LastRejection {
    /// The reason (`LastRejMatchReason`).
    pub reason: String,
    /// When it was, in seconds since 1970 (`LastRejMatchTime`); `None` if the ad does not tell.
    pub time: Option<i64>,
}

/// An autocluster of an access point: the name of the latter, if the job tells it, and `AutoClusterId`.
type AutoclusterOfSchedd = (Option<ByteString>, i64);

/// The last rejections of a queue, by autocluster.
#[derive(Debug, Default)]
pub struct LastRejections {
    of_autocluster: FxHashMap<AutoclusterOfSchedd, LastRejection>,
    /// Whether some jobs were rejected that do not tell their autocluster.
    has_others: bool,
}

impl LastRejection {
    /// Reads the ad of a job; `None` if it tells of no rejection.
    #[must_use]
    pub fn of_job(job: &Ad, context: &Context) -> Option<Self> {
        let Some(Value::String(reason)) = evaluate_attribute(job, &"LastRejMatchReason".into(), context) else {
            return None;
        };
        let reason = reason.to_str().trim().to_owned();
        (!reason.is_empty()).then(|| LastRejection { reason, time: integer(job, "LastRejMatchTime", context) })
    }

    /// The concurrency limit of which too few units were left: `matlab` of `concurrency limit matlab reached`. `None` for another
    /// reason.
    #[must_use]
    pub fn concurrency_limit(&self) -> Option<&str> {
        self.reason.strip_prefix("concurrency limit ")?.strip_suffix(" reached")
    }

    /// Whether the submitter or its group had as much as the accounting allows.
    #[must_use]
    pub fn is_of_accounting(&self) -> bool {
        ["submitter limit", "group quota"].iter().any(|limit| self.reason.contains(limit))
    }

    /// Returns the later of two rejections, the first one of equally late ones.
    #[must_use]
    pub fn later(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if other.time > one.time { other } else { one }),
            (one, other) => one.or(other),
        }
    }

    /// Whether a job was matched since (`LastMatchTime`).
    #[must_use]
    pub fn is_outdated(&self, job: &Ad, context: &Context) -> bool {
        let matched = integer(job, "LastMatchTime", context);
        self.time.zip(matched).is_some_and(|(rejected, matched)| rejected <= matched)
    }
}

impl LastRejections {
    /// Collects the rejections of jobs. `jobs` has their ads, and their identities in the advertising protocol.
    #[must_use]
    pub fn new<'j>(jobs: impl Iterator<Item = (&'j Ad, Option<ByteString>)>, context: &Context) -> Self {
        let mut found = LastRejections::default();
        for (job, identity) in jobs {
            let Some(rejection) = LastRejection::of_job(job, context) else { continue };
            let Some(autocluster) = autocluster(job, identity.as_ref(), context) else {
                found.has_others = true;
                continue;
            };
            let known = found.of_autocluster.remove(&autocluster);
            found.of_autocluster.extend(LastRejection::later(known, Some(rejection)).map(|last| (autocluster, last)));
        }
        found
    }

    /// Returns the last rejection of a job's autocluster. `None` also if the job does not tell its autocluster.
    #[must_use]
    pub fn of_autocluster(&self, job: &Ad, identity: Option<&ByteString>, context: &Context) -> Option<LastRejection> {
        if self.of_autocluster.is_empty() {
            return None;
        }
        self.of_autocluster.get(&autocluster(job, identity, context)?).cloned()
    }

    /// Whether some jobs were rejected that do not tell their autocluster.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.has_others
    }
}

/// Whether a job tells its autocluster.
#[must_use]
pub fn tells_autocluster(job: &Ad, context: &Context) -> bool {
    integer(job, "AutoClusterId", context).is_some()
}

/// Returns the autocluster of a job. The identity of a job begins with the name of its access point: `ap@host#36.0#1795813519`.
fn autocluster(job: &Ad, identity: Option<&ByteString>, context: &Context) -> Option<AutoclusterOfSchedd> {
    let number = integer(job, "AutoClusterId", context)?;
    let own = || Advertisement::new(job, context).identity().map(ByteString::from);
    let identity = identity.cloned().or_else(own);
    let schedd = identity.and_then(|identity| Some(identity.to_str().split_once('#')?.0.into()));
    Some((schedd, number))
}

fn integer(job: &Ad, name: &str, context: &Context) -> Option<i64> {
    match evaluate_attribute(job, &name.into(), context) {
        Some(Value::Integer(number)) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LastRejection, LastRejections};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn job(attributes: &str) -> Ad {
        parse_ad(format!("[{attributes}]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn the_latest_rejection_of_an_autocluster_is_that_of_all_its_jobs() {
        let context = Context::new(Dialect::Condor);
        let queue = [
            "AutoClusterId = 1; LastRejMatchReason = \"first\"; LastRejMatchTime = 5; GlobalJobId = \"a#1.0#9\"",
            "AutoClusterId = 1; LastRejMatchReason = \" last \"; LastRejMatchTime = 7; GlobalJobId = \"a#1.1#9\"",
            "AutoClusterId = 1; LastRejMatchReason = \"untimed\"; GlobalJobId = \"a#1.2#9\"",
            "AutoClusterId = 1; LastRejMatchReason = \"elsewhere\"; LastRejMatchTime = 8; GlobalJobId = \"b#1.1#9\"",
            "AutoClusterId = 2; LastRejMatchReason = \"untimed\"; GlobalJobId = \"a#2.0#9\"",
            "AutoClusterId = 3; LastRejMatchReason = \"  \"; LastRejMatchTime = 9; GlobalJobId = \"a#3.0#9\"",
            "AutoClusterId = 4; LastRejMatchTime = 9; GlobalJobId = \"a#4.0#9\"",
            "AutoClusterId = 5; LastRejMatchReason = \"nameless\"; LastRejMatchTime = 3",
        ]
        .map(job);
        let rejections = LastRejections::new(queue.iter().map(|job| (job, None)), &context);
        assert!(!rejections.has_others());
        for (asked, expected) in [
            ("AutoClusterId = 1; GlobalJobId = \"a#1.9#9\"", Some(("last", Some(7)))),
            ("AutoClusterId = 1; GlobalJobId = \"b#7.0#9\"", Some(("elsewhere", Some(8)))),
            ("AutoClusterId = 1; GlobalJobId = \"c#7.0#9\"", None),
            ("AutoClusterId = 2; GlobalJobId = \"a#2.5#9\"", Some(("untimed", None))),
            ("AutoClusterId = 3; GlobalJobId = \"a#3.0#9\"", None),
            ("AutoClusterId = 4; GlobalJobId = \"a#4.0#9\"", None),
            ("AutoClusterId = 5; ClusterId = 7; ProcId = 0", Some(("nameless", Some(3)))),
            ("AutoClusterId = \"1\"; GlobalJobId = \"a#1.9#9\"", None),
            ("GlobalJobId = \"a#1.9#9\"", None),
        ] {
            let found = rejections.of_autocluster(&job(asked), None, &context);
            let expected = expected.map(|(reason, time)| LastRejection { reason: reason.to_owned(), time });
            assert_eq!(found, expected, "{asked}");
        }
        let other = job("LastRejMatchReason = \"x\"");
        assert!(LastRejections::new([(&other, None)].into_iter(), &context).has_others());
    }

    #[test]
    fn a_match_outdates_the_rejection_before_it() {
        let context = Context::new(Dialect::Condor);
        for (attributes, expected) in [
            ("LastRejMatchTime = 5", false),
            ("LastRejMatchTime = 5; LastMatchTime = 4", false),
            ("LastRejMatchTime = 5; LastMatchTime = 5", true),
            ("LastRejMatchTime = 5; LastMatchTime = 6", true),
            ("LastMatchTime = 6", false),
        ] {
            let job = job(&format!("LastRejMatchReason = \"x\"; {attributes}"));
            let rejection = LastRejection::of_job(&job, &context).unwrap();
            assert_eq!(rejection.is_outdated(&job, &context), expected, "{attributes}");
        }
    }
}
