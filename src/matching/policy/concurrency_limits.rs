//! Concurrency limits: how many jobs may use a shared resource, such as a licence, at the same time (HTCondor's manual,
//! "Concurrency Limits"; `Accountant.cpp`, `NegotiationUtils.cpp`).

use std::collections::BTreeMap;

use super::PolicyRule;

/// Maximum of a limit that nothing sets: `CONCURRENCY_LIMIT_DEFAULT` of HTCondor.
const UNLIMITED: f64 = 2_308_032.0;

/// The concurrency limits of a pool.
#[derive(Clone, Debug, Default)]
pub struct ConcurrencyLimits {
    /// The limits that a request needs: a string such as `"licence:2, tape"`. Evaluated in the request; if it is
    /// undefined there, evaluated for each candidate.
    pub needs: Option<PolicyRule>,
    /// The limits that the user of an offer uses, evaluated in the offer.
    pub in_use: Option<PolicyRule>,
    /// Maxima by name, in lowercase.
    pub maxima: BTreeMap<String, f64>,
    /// Maxima of the limits whose names begin with a prefix and a dot, by prefix in lowercase.
    pub prefix_maxima: BTreeMap<String, f64>,
    /// Maximum of other limits; `None` if they have none.
    pub default_maximum: Option<f64>,
}

impl ConcurrencyLimits {
    /// Returns the maximum of a limit. `name` is in lowercase.
    #[must_use]
    pub fn maximum(&self, name: &str) -> f64 {
        self.set_maximum(name).unwrap_or(UNLIMITED)
    }

    /// Returns the maximum that is set for a limit; `None` if nothing sets it. `name` is in lowercase.
    #[must_use]
    pub fn set_maximum(&self, name: &str) -> Option<f64> {
        let prefix = name.rsplit_once('.').map(|(prefix, _)| prefix);
        let of_prefix = || self.prefix_maxima.get(prefix?);
        self.maxima.get(name).or_else(of_prefix).copied().or(self.default_maximum)
    }
}

/// Reads a list of limits: names in lowercase, each with the number of units that a job needs, 1 if there is none.
/// Leaves out names that HTCondor ignores.
#[must_use]
pub fn parse_limits(list: &str) -> Vec<(String, f64)> {
    let limits = list.split([',', ' ', '\t', '\r', '\n']).filter(|limit| !limit.is_empty());
    let read = |limit: &str| {
        let (name, units) = limit.split_once(':').unwrap_or((limit, "1"));
        let units: f64 = units.trim().parse().unwrap_or(1.0);
        let is_name = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let is_valid = name.splitn(2, '.').all(is_name);
        is_valid.then(|| (name.to_ascii_lowercase(), if units > 0.0 { units } else { 1.0 }))
    };
    limits.filter_map(read).collect()
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // the numbers are copied
mod tests {
    use super::{ConcurrencyLimits, parse_limits};

    #[test]
    fn lists_of_limits_are_read_as_htcondor_reads_them() {
        let limits = |text: &str| parse_limits(text).into_iter().map(|(name, units)| format!("{name}:{units}"));
        let limits = |text: &str| limits(text).collect::<Vec<_>>().join(" ");
        assert_eq!(limits("SW, db:2.5 tape.slow:3"), "sw:1 db:2.5 tape.slow:3");
        // No number, and numbers that are not positive, count as 1.
        assert_eq!(limits("a:x,b:0,c:-2,d:"), "a:1 b:1 c:1 d:1");
        assert_eq!(limits("9a, a-b, a.b.c, .a, a., , ok_1"), "ok_1:1");
    }

    #[test]
    fn maxima_are_by_name_then_prefix_then_default() {
        let map = |pairs: &[(&str, f64)]| pairs.iter().map(|(name, most)| ((*name).to_owned(), *most)).collect();
        let limits = ConcurrencyLimits {
            maxima: map(&[("sw", 2.0), ("db.big", 1.0)]),
            prefix_maxima: map(&[("db", 5.0)]),
            default_maximum: Some(7.0),
            ..ConcurrencyLimits::default()
        };
        let maximum = |name| limits.maximum(name);
        assert_eq!([maximum("sw"), maximum("db.big"), maximum("db.small"), maximum("other")], [2.0, 1.0, 5.0, 7.0]);
        assert_eq!(ConcurrencyLimits::default().maximum("other"), 2_308_032.0);
    }
}
