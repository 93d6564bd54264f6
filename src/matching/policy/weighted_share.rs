//! Shares by weight, as HTCondor's negotiator gives them.

use std::collections::BTreeMap;

use super::{GroupTree, PolicyRule};

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
    /// Weight that a submitter gets before the others get more, by name.
    pub floors: BTreeMap<String, f64>,
    /// Maximum weight that a submitter may use, by name.
    pub ceilings: BTreeMap<String, f64>,
}

impl WeightedShare {
    /// Returns the rules that are evaluated in requests, and those that are evaluated in offers.
    #[must_use]
    pub fn rules(&self) -> [Vec<&PolicyRule>; 2] {
        let in_requests = self.demand.iter().chain(&self.beyond).chain(&self.covers).collect();
        [in_requests, [&self.weight].into_iter().chain(&self.in_use_by).collect()]
    }
}
