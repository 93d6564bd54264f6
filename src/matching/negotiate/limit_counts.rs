//! How much of the concurrency limits is in use during a cycle.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::matching::policy::{ConcurrencyLimits, parse_limits};

/// The units that a request needs of concurrency limits, by name of the limit.
pub type LimitNeeds = Vec<(String, f64)>;

/// A concurrency limit that has too few units left for a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ReachedLimit {
    /// The name of the limit.
    pub name: String,
    /// The units that are in use, with those that the cycle has given.
    pub used: f64,
    /// The units that the cycle has given to other requests.
    pub given: f64,
    /// The units that there are.
    pub maximum: f64,
    /// The units that the request needs.
    pub needed: f64,
}

impl ReachedLimit {
    /// Whether the limit never has enough units for the request, so that the request waits in vain.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        self.needed > self.maximum
    }
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReachedLimit { name, used, given, maximum, needed } = self;
        if self.is_too_small() {
            return write!(f, "concurrency limit {name}, which allows {maximum}; the request needs {needed}");
        }
        write!(f, "concurrency limit {name}: {used} of {maximum} in use")?;
        if *given > 0.0 {
            write!(f, ", {given} of them by requests served before")?;
        }
        write!(f, "; the request needs {needed}")
    }
}

/// The units of each limit that are in use.
pub struct LimitCounts {
    limits: ConcurrencyLimits,
    counts: FxHashMap<String, f64>,
    /// The units of each limit that the cycle has given to requests.
    given: FxHashMap<String, f64>,
    /// What the user of each offer uses.
    of_offers: Vec<LimitNeeds>,
}

impl LimitCounts {
    /// Counts what the users of the offers use.
    pub fn new(limits: &ConcurrencyLimits, offers: &[Ad], context: &Context) -> Self {
        let used = |offer: &Ad| match limits.in_use.as_ref()?.evaluate(offer, context).ok()? {
            Value::String(list) => Some(parse_limits(&list.to_str())),
            _ => None,
        };
        let of_offers: Vec<LimitNeeds> = offers.iter().map(|offer| used(offer).unwrap_or_default()).collect();
        let mut counts = FxHashMap::default();
        for used in &of_offers {
            add(&mut counts, used, 1.0);
        }
        LimitCounts { limits: limits.clone(), counts, given: FxHashMap::default(), of_offers }
    }

    /// Returns the first of these limits that has too few units left; `None` if all have enough.
    pub fn first_reached(&self, needs: &[(String, f64)]) -> Option<ReachedLimit> {
        needs.iter().find_map(|(name, needed)| {
            let [used, given] = [&self.counts, &self.given].map(|counts| counts.get(name).copied().unwrap_or(0.0));
            let maximum = self.limits.maximum(name);
            let reached = || ReachedLimit { name: name.clone(), used, given, maximum, needed: *needed };
            (used + needed > maximum).then(reached)
        })
    }

    /// Records that a request that needs these limits got an offer, whose user stops.
    pub fn give(&mut self, needs: &[(String, f64)], offer: usize) {
        let stopped = std::mem::take(&mut self.of_offers[offer]);
        add(&mut self.counts, &stopped, -1.0);
        add(&mut self.counts, needs, 1.0);
        add(&mut self.given, needs, 1.0);
    }
}

/// Adds units of limits, or takes them away if `sign` is -1.
fn add(counts: &mut FxHashMap<String, f64>, units: &[(String, f64)], sign: f64) {
    for (name, units) in units {
        *counts.entry(name.clone()).or_default() += sign * units;
    }
}

#[cfg(test)]
mod tests {
    use super::LimitCounts;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::matching::policy::{Policy, parse_limits};
    use crate::syntax::{ParseOptions, parse_ad};

    /// The offers use 1 of sw each; then offers are given in turn to requests with these needs.
    #[test]
    fn units_are_used_and_given() {
        let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let policy = b"limits: { in-use: Used, max: { sw: 3 }, default: 5 }";
        let limits = Policy::parse(policy, Dialect::Condor).unwrap().limits.unwrap();
        let offers = ["[ Used = \"SW\" ]", "[ Used = \"sw:1\" ]", "[ x = 1 ]", "[ Used = 3 ]"].map(ad);
        for (given, needs, expected) in [
            (&[][..], "sw", ""),
            (&[], "sw:2", "concurrency limit sw: 2 of 3 in use; the request needs 2"),
            (&[], "sw:4", "concurrency limit sw, which allows 3; the request needs 4"),
            (&[], "t:5", ""),
            (&[], "t:6", "concurrency limit t, which allows 5; the request needs 6"),
            (&[], "t:9, sw:9", "concurrency limit t, which allows 5; the request needs 9"),
            (
                &[(2, "sw")],
                "sw",
                "concurrency limit sw: 3 of 3 in use, 1 of them by requests served before; the request needs 1",
            ),
            (&[(0, "t")], "sw:2", ""),
            (&[(0, "t"), (0, "t")], "sw:3", "concurrency limit sw: 1 of 3 in use; the request needs 3"),
            (&[(0, "sw"), (1, "")], "sw:2", ""),
            (
                &[(3, "t:4.5")],
                "t",
                "concurrency limit t: 4.5 of 5 in use, 4.5 of them by requests served before; the request needs 1",
            ),
        ] {
            let mut counts = LimitCounts::new(&limits, &offers, &Context::new(Dialect::Condor));
            for (offer, needs) in given {
                counts.give(&parse_limits(needs), *offer);
            }
            let reached = counts.first_reached(&parse_limits(needs));
            assert_eq!(reached.map(|limit| limit.to_string()).unwrap_or_default(), expected, "{given:?} {needs}");
        }
    }
}
