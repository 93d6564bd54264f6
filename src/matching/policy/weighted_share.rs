//! Shares by weight, as HTCondor's negotiator gives them.

use std::collections::BTreeMap;

use super::{GroupTree, PolicyRule};

/// Minimum real priority, which is the best one.
pub const MIN_REAL_PRIORITY: f64 = 0.5;

/// Fair share by the weight of offers, within the quotas of groups.
///
/// A submitter may use a part of the weight of the pool, in proportion to 1/priority. What it uses already counts.
#[derive(Clone, Debug)]
pub struct WeightedShare {
    /// The weight of an offer, evaluated in the offer: `SlotWeight`. A value that is not a number, or negative, counts
    /// as 1.
    pub weight: PolicyRule,
    /// The weight that a request asks for, evaluated in the request: `RequestCpus`. It decides how the surplus of
    /// groups is divided. If `None`, a request asks for 1.
    pub demand: Option<PolicyRule>,
    /// The submitter that uses an offer now, evaluated in the offer; if `None`, no offer is in use.
    pub in_use_by: Option<PolicyRule>,
    /// Whether a request may take a candidate in the first round although its submitter has used up its share.
    /// Evaluated like a component of the docking vector. If `None`, it may not.
    pub beyond: Option<PolicyRule>,
    /// Number of equivalent requests that one offer serves, evaluated like a component of the docking vector: the requests
    /// that follow the one that got the offer are passed over in this turn (`NEGOTIATOR_DEPTH_FIRST` of HTCondor). If `None`,
    /// an offer serves one request.
    pub covers: Option<PolicyRule>,
    /// Whether offers in use may change hands. If not, a share is not larger than what its group may still get.
    pub preempts: bool,
    /// The accounting groups.
    pub groups: GroupTree,
    /// The number by which groups are sorted, the smallest first: `GROUP_SORT_EXPR` of HTCondor. Evaluated in an ad with
    /// `AccountingGroup`, `GroupQuota`, `GroupResourcesAllocated` and `GroupResourcesInUse`. If `None`, the group that uses the
    /// smallest part of its quota comes first.
    pub group_order: Option<PolicyRule>,
    /// Maximum number of rounds in which groups are allocated what others could not use.
    pub allocation_rounds: usize,
    /// Weight by which the groups may get more from turn to turn, in each round of allocation: `GROUP_QUOTA_ROUND_ROBIN_RATE`
    /// of HTCondor. Infinite if each group has one turn.
    pub round_robin_rate: f64,
    /// The factors of the priorities of submitters that have no account yet.
    pub factors: PriorityFactors,
    /// Weight that a submitter gets before the others get more, by name.
    pub floors: BTreeMap<String, f64>,
    /// Maximum weight that a submitter may use, by name.
    pub ceilings: BTreeMap<String, f64>,
}

/// Factors by which the real priorities of submitters are multiplied that have no account yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityFactors {
    /// The factor of submitters whose group has none: `DEFAULT_PRIO_FACTOR` of HTCondor.
    pub default: Option<f64>,
    /// The factor of submitters whose names begin with `nice-user`: `NICE_USER_PRIO_FACTOR`.
    pub nice: Option<f64>,
    /// The domain of local submitters, and the factor of all others in no group that has a factor:
    /// `ACCOUNTANT_LOCAL_DOMAIN` and `REMOTE_PRIO_FACTOR`. If `None`, all submitters are local.
    pub remote: Option<(String, f64)>,
    /// The factors of the submitters in groups, by the name of the group: `GROUP_PRIO_FACTOR_...` of HTCondor.
    pub of_groups: BTreeMap<String, f64>,
}

impl WeightedShare {
    /// Returns the factor of the priority of a submitter that has no account yet; `None` if none is set.
    #[must_use]
    pub fn new_factor(&self, submitter: &str) -> Option<f64> {
        let factors = &self.factors;
        if submitter.starts_with("nice-user") && factors.nice.is_some() {
            return factors.nice;
        }
        let group = &self.groups.groups()[self.groups.group_of(submitter)].name;
        let of_group = self.factors.of_groups.iter().find(|(name, _)| name.eq_ignore_ascii_case(group));
        let domain = submitter.rsplit_once('@').map_or("", |(_, domain)| domain);
        let of_remote = factors.remote.as_ref().filter(|(local, _)| local != domain).map(|(_, factor)| *factor);
        of_group.map(|(_, factor)| *factor).or(of_remote).or(factors.default)
    }

    /// Returns the priority of a submitter that has no account yet; `None` if no factor is set for it.
    #[must_use]
    pub fn new_priority(&self, submitter: &str) -> Option<f64> {
        Some(MIN_REAL_PRIORITY * self.new_factor(submitter)?)
    }

    /// Returns the rules that are evaluated in requests, and those that are evaluated in offers.
    #[must_use]
    pub fn rules(&self) -> [Vec<&PolicyRule>; 2] {
        let in_requests = self.demand.iter().chain(&self.beyond).chain(&self.covers).collect();
        [in_requests, [&self.weight].into_iter().chain(&self.in_use_by).collect()]
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::configuration::Configuration;
    use crate::eval::Context;
    use crate::matching::policy::{Policy, configure};

    /// As `Accountant::GetPriorityFactor` of HTCondor.
    #[test]
    fn factors_of_new_submitters() {
        let context = Context::new(Dialect::Condor);
        let local = "DEFAULT_PRIO_FACTOR = 1000\nNICE_USER_PRIO_FACTOR = 1e10\nGROUP_NAMES = bio\n\
            GROUP_PRIO_FACTOR_bio = 30\nREMOTE_PRIO_FACTOR = 1e7\n";
        let with_domain = format!("{local}ACCOUNTANT_LOCAL_DOMAIN = cs.edu\n");
        for (dump, submitter, expected) in [
            (local, "ann@cs.edu", Some(1e3)),
            (local, "ann@far.edu", Some(1e3)),
            (local, "nice-user.ann@cs.edu", Some(1e10)),
            (local, "bio.ann@far.edu", Some(30.0)),
            (&with_domain, "ann@cs.edu", Some(1e3)),
            (&with_domain, "ann@far.edu", Some(1e7)),
            (&with_domain, "ann", Some(1e7)),
            (&with_domain, "bio.ann@far.edu", Some(30.0)),
            (&with_domain, "nice-user.ann@far.edu", Some(1e10)),
            ("", "ann@cs.edu", None),
        ] {
            let mut policy = Policy::parse(b"share: { by: Owner, weight: 1 }", Dialect::Condor).unwrap();
            let configuration = Configuration::read(dump.as_bytes()).0;
            assert!(configure(&mut policy, &configuration, &context).is_ok(), "{dump}");
            let share = policy.weighted_share().unwrap();
            assert_eq!(share.new_factor(submitter), expected, "{submitter}, {dump}");
            assert!(share.round_robin_rate.is_infinite());
        }
    }
}
