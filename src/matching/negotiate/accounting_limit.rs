//! What the accounting of a pool keeps from a request: concurrency limits, quotas of groups, ceilings and shares.

use std::fmt;

use crate::text::{rounded, with_commas};

use super::limit_counts::ReachedLimit;

/// What keeps a request from offers that match it, although nobody else has to get them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AccountingLimit {
    /// A concurrency limit has too few units left.
    Concurrency(ReachedLimit),
    /// The group of the submitter uses all that it may use.
    Group(GroupUse),
    /// The submitter uses as much as its ceiling allows.
    Ceiling(SubmitterUse),
    /// The submitter uses its share of the pool.
    Share(SubmitterUse),
}

/// What a group uses, and may use, as weights.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupUse {
    /// Name of the group.
    pub group: String,
    /// What the quota gives the group.
    pub quota: f64,
    /// What the group may use, with the surplus of other groups.
    pub maximum: f64,
    /// What the group uses, with what the cycle gave it.
    pub usage: f64,
    /// What the cycle gave the group.
    pub given: f64,
    /// Whether the group can get what other groups leave.
    pub accepts_surplus: bool,
    /// Whether the cycle negotiated with the group in no round.
    pub is_skipped: bool,
}

/// What a submitter uses, and may use, as weights.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitterUse {
    /// Name of the submitter.
    pub submitter: String,
    /// Priority of the submitter; larger is worse.
    pub priority: f64,
    /// What the submitter may use.
    pub maximum: f64,
    /// What the submitter uses, with what the cycle gave it.
    pub usage: f64,
    /// What the cycle gave the submitter.
    pub given: f64,
    /// The weight of the lightest offer.
    pub smallest: f64,
}

impl AccountingLimit {
    /// Whether the limit never admits the request, so that it waits in vain.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            AccountingLimit::Concurrency(limit) => limit.is_too_small(),
            // The negotiator counts the whole part of a quota.
            AccountingLimit::Group(of) => of.quota < 1.0 && of.maximum < 1.0 && !of.accepts_surplus,
            AccountingLimit::Ceiling(of) => of.maximum <= 0.0 || of.maximum < of.smallest,
            AccountingLimit::Share(_) => false,
        }
    }

    /// Whether the limit holds without what the cycle gave.
    #[must_use]
    pub fn holds_before_cycle(&self) -> bool {
        let given = match self {
            AccountingLimit::Concurrency(limit) => limit.given,
            AccountingLimit::Group(of) => of.given,
            AccountingLimit::Ceiling(of) => of.given,
            AccountingLimit::Share(_) => return false,
        };
        given <= 0.0 || self.is_permanent()
    }

    /// What a user or an administrator can do: `wait, or raise the limit`.
    #[must_use]
    pub fn remedy(&self) -> String {
        let raise = match self {
            AccountingLimit::Concurrency(_) => "raise the limit".to_owned(),
            AccountingLimit::Group(of) => format!("raise the quota of {}", of.group),
            AccountingLimit::Ceiling(of) => format!("raise the ceiling of {}", of.submitter),
            AccountingLimit::Share(_) => return "wait".to_owned(),
        };
        if self.is_permanent() { raise } else { format!("wait, or {raise}") }
    }

    /// Says that requests wait for the limit, or never start: `waits: the group bio has used 6 of its quota of 6`. `is_plural`
    /// tells whether there are several.
    #[must_use]
    pub fn waiting_phrase(&self, is_plural: bool) -> String {
        let verb = match (self.is_permanent(), is_plural) {
            (true, false) => "never starts:",
            (true, true) => "never start:",
            (false, is_plural) => {
                let waits = if is_plural { "wait" } else { "waits" };
                return match self {
                    AccountingLimit::Concurrency(_) => format!("{waits} for {self}"),
                    _ => format!("{waits}: {self}"),
                };
            }
        };
        format!("{verb} {self}")
    }
}

impl fmt::Display for AccountingLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccountingLimit::Concurrency(limit) => limit.fmt(f),
            AccountingLimit::Group(of) => of.fmt(f),
            AccountingLimit::Ceiling(of) => {
                let (usage, maximum) = (rounded(of.usage), rounded(of.maximum));
                write!(f, "{} has used {usage} of its ceiling of {maximum}", of.submitter)?;
                if self.is_permanent() && of.maximum > 0.0 {
                    write!(f, "; the smallest slot weighs {}", rounded(of.smallest))?;
                }
                write_given(f, of.given)
            }
            AccountingLimit::Share(of) => {
                let (usage, maximum) = (rounded(of.usage), rounded(of.maximum));
                write!(f, "{} has used {usage} of its share of {maximum}, by its priority ", of.submitter)?;
                f.write_str(&priority_text(of.priority))?;
                write_given(f, of.given)
            }
        }
    }
}

impl fmt::Display for GroupUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GroupUse { group, quota, maximum, usage, given, .. } = self;
        let [quota, maximum, usage] = [*quota, *maximum, *usage].map(rounded);
        write!(f, "the group {group} has used {usage} of ")?;
        if maximum > quota {
            write!(f, "{maximum}, its quota of {quota} and {} of surplus", rounded(maximum - quota))?;
        } else if maximum < quota.trunc() && maximum > 0.0 {
            write!(f, "{maximum}, all that the groups above it leave of its quota of {quota}")?;
        } else {
            write!(f, "its quota of {quota}")?;
        }
        write_given(f, *given)
    }
}

/// Says how much of a use the cycle gave.
fn write_given(f: &mut fmt::Formatter<'_>, given: f64) -> fmt::Result {
    let given = rounded(given);
    if given > 0.0 { write!(f, ", {given} of it by requests served before") } else { Ok(()) }
}

/// Returns a priority for people: with commas, and decimals if it is small.
#[must_use]
pub fn priority_text(priority: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in the range
    if (1000.0..1e15).contains(&priority) {
        with_commas(priority.round() as usize)
    } else {
        rounded(priority).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{AccountingLimit, GroupUse, ReachedLimit, SubmitterUse, priority_text};

    #[test]
    fn groups() {
        for ([quota, maximum, usage, given], accepts_surplus, expected, remedy) in [
            (
                [6.0, 6.0, 6.0, 0.0],
                false,
                "waits: the group bio has used 6 of its quota of 6",
                "wait, or raise the quota of bio",
            ),
            (
                [6.0, 6.0, 14.0, 0.0],
                false,
                "waits: the group bio has used 14 of its quota of 6",
                "wait, or raise the quota of bio",
            ),
            (
                [6.0, 8.0, 8.0, 2.0],
                true,
                "waits: the group bio has used 8 of 8, its quota of 6 and 2 of surplus, 2 of it by requests served before",
                "wait, or raise the quota of bio",
            ),
            (
                [8.0, 4.0, 4.0, 0.0],
                false,
                "waits: the group bio has used 4 of 4, all that the groups above it leave of its quota of 8",
                "wait, or raise the quota of bio",
            ),
            (
                [0.0, 0.0, 0.0, 0.0],
                false,
                "never starts: the group bio has used 0 of its quota of 0",
                "raise the quota of bio",
            ),
            (
                [0.0, 0.0, 0.0, 0.0],
                true,
                "waits: the group bio has used 0 of its quota of 0",
                "wait, or raise the quota of bio",
            ),
        ] {
            let of =
                GroupUse { group: "bio".to_owned(), quota, maximum, usage, given, accepts_surplus, is_skipped: false };
            let limit = AccountingLimit::Group(of);
            assert_eq!((limit.waiting_phrase(false).as_str(), limit.remedy().as_str()), (expected, remedy));
            assert_eq!(limit.holds_before_cycle(), given <= 0.0);
        }
    }

    #[test]
    fn submitters() {
        let of = |[maximum, usage, given]: [f64; 3]| SubmitterUse {
            submitter: "ann@x".to_owned(),
            priority: 1500.4,
            maximum,
            usage,
            given,
            smallest: 1.0,
        };
        for (limit, expected) in [
            (
                AccountingLimit::Ceiling(of([2.0, 2.0, 2.0])),
                "waits: ann@x has used 2 of its ceiling of 2, 2 of it by requests served before",
            ),
            (AccountingLimit::Ceiling(of([0.0, 0.0, 0.0])), "never starts: ann@x has used 0 of its ceiling of 0"),
            (
                AccountingLimit::Ceiling(of([0.5, 0.0, 0.0])),
                "never starts: ann@x has used 0 of its ceiling of 0.5; the smallest slot weighs 1",
            ),
            (
                AccountingLimit::Share(of([3.317, 3.0, 0.0])),
                "waits: ann@x has used 3 of its share of 3.32, by its priority 1,500",
            ),
        ] {
            assert_eq!(limit.waiting_phrase(false), expected);
        }
        for (maximum, smallest, is_permanent) in
            [(0.0, 0.0, true), (0.5, 1.0, true), (1.0, 1.0, false), (2.0, 1.0, false), (-1.0, -2.0, true)]
        {
            let limit = AccountingLimit::Ceiling(SubmitterUse { smallest, ..of([maximum, 0.0, 3.0]) });
            assert_eq!(limit.is_permanent(), is_permanent, "{maximum} {smallest}");
            assert_eq!(limit.holds_before_cycle(), is_permanent);
        }
        assert_eq!([0.5, 500.204, 1e4, 1e20].map(priority_text), ["0.5", "500.2", "10,000", "100000000000000000000"]);
    }

    /// Each limit, with its bounds, for one request and for several.
    #[test]
    fn limits_are_told_with_their_remedies() {
        let group = |[quota, maximum, usage, given]: [f64; 4], accepts_surplus| {
            let group = "bio".to_owned();
            AccountingLimit::Group(GroupUse { group, quota, maximum, usage, given, accepts_surplus, is_skipped: false })
        };
        let concurrency = |[used, given, maximum, needed]: [f64; 4]| {
            AccountingLimit::Concurrency(ReachedLimit { name: "sw".to_owned(), used, given, maximum, needed })
        };
        let of = |[maximum, usage, given, smallest]: [f64; 4]| SubmitterUse {
            submitter: "ann".to_owned(),
            priority: 999.996,
            maximum,
            usage,
            given,
            smallest,
        };
        for (limit, expected) in [
            (
                concurrency([2.0, 0.0, 2.0, 1.0]),
                "waits for concurrency limit sw: 2 of 2 in use; the request needs 1; wait for; wait, or raise the limit; false true",
            ),
            (
                concurrency([2.0, 2.0, 2.0, 1.0]),
                "waits for concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1; wait for; wait, or raise the limit; false false",
            ),
            (
                concurrency([0.0, 0.0, 2.0, 2.5]),
                "never starts: concurrency limit sw, which allows 2; the request needs 2.5; never start:; raise the limit; true true",
            ),
            (
                concurrency([1.0, 1.0, 2.0, 2.0]),
                "waits for concurrency limit sw: 1 of 2 in use, 1 of them by requests served before; the request needs 2; wait for; wait, or raise the limit; false false",
            ),
            (
                group([0.5, 0.5, 0.0, 0.0], false),
                "never starts: the group bio has used 0 of its quota of 0.5; never start:; raise the quota of bio; true true",
            ),
            (
                group([0.5, 1.0, 0.0, 0.0], false),
                "waits: the group bio has used 0 of 1, its quota of 0.5 and 0.5 of surplus; wait: the; wait, or raise the quota of bio; false true",
            ),
            (
                group([1.0, 0.5, 0.0, 0.0], false),
                "waits: the group bio has used 0 of 0.5, all that the groups above it leave of its quota of 1; wait: the; wait, or raise the quota of bio; false true",
            ),
            (
                group([0.5, 0.5, 0.0, 0.0], true),
                "waits: the group bio has used 0 of its quota of 0.5; wait: the; wait, or raise the quota of bio; false true",
            ),
            (
                group([2.5, 2.0, 2.0, 0.004], false),
                "waits: the group bio has used 2 of its quota of 2.5, 0.004 of it by requests served before; wait: the; wait, or raise the quota of bio; false false",
            ),
            (
                group([2.5, 1.9, 2.0, 0.006], false),
                "waits: the group bio has used 2 of 1.9, all that the groups above it leave of its quota of 2.5, 0.006 of it by requests served before; wait: the; wait, or raise the quota of bio; false false",
            ),
            (
                group([2.5, 0.0, 2.0, 1.0], false),
                "waits: the group bio has used 2 of its quota of 2.5, 1 of it by requests served before; wait: the; wait, or raise the quota of bio; false false",
            ),
            (
                group([2.5, 2.75, 2.0, -1.0], false),
                "waits: the group bio has used 2 of 2.75, its quota of 2.5 and 0.25 of surplus; wait: the; wait, or raise the quota of bio; false true",
            ),
            (
                AccountingLimit::Ceiling(of([1.0, 1.0, 0.0, 1.0])),
                "waits: ann has used 1 of its ceiling of 1; wait: ann; wait, or raise the ceiling of ann; false true",
            ),
            (
                AccountingLimit::Ceiling(of([1.0, 1.0, 1.0, 1.5])),
                "never starts: ann has used 1 of its ceiling of 1; the smallest slot weighs 1.5, 1 of it by requests served before; never start:; raise the ceiling of ann; true true",
            ),
            (
                AccountingLimit::Ceiling(of([-1.0, 1.0, 1.0, 0.0])),
                "never starts: ann has used 1 of its ceiling of -1, 1 of it by requests served before; never start:; raise the ceiling of ann; true true",
            ),
            (
                AccountingLimit::Share(of([2.0, 2.0, 1.0, 1.0])),
                "waits: ann has used 2 of its share of 2, by its priority 1000, 1 of it by requests served before; wait: ann; wait; false false",
            ),
        ] {
            let found = format!(
                "{}; {}; {}; {} {}",
                limit.waiting_phrase(false),
                limit.waiting_phrase(true).split(' ').take(2).collect::<Vec<_>>().join(" "),
                limit.remedy(),
                limit.is_permanent(),
                limit.holds_before_cycle()
            );
            assert_eq!(found, expected, "{limit:?}");
        }
        let texts = [999.0, 999.994, 999.996, 1000.0, 1000.5, 1e15, -5.0].map(priority_text);
        assert_eq!(texts.join(" "), "999 999.99 1000 1,000 1,001 1000000000000000 -5", "priorities");
    }
}
