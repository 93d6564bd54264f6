//! The candidates of requests under a policy. Searching for candidates takes no offer.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::matching::policy::{PolicyFault, PolicyVector};
use crate::matching::{Accelerations, Candidate, Statistics};

use super::match_list::ClusterMatchList;
use super::offers::CycleOffers;
use super::{GangSettings, NegotiationSettings, PortUse};

/// Finds the offers that requests could have under a policy, best first by the docking vector. An offer is left out
/// if it is not compatible or the docking vector discards it.
pub struct PolicyCandidates {
    offers: CycleOffers,
}

impl PolicyCandidates {
    /// Creates a search among these offers, whose ports are ignored. An offer is not a candidate if the rule `roots` of
    /// the policy is true in the offer.
    #[must_use]
    pub fn new(settings: &NegotiationSettings, offers: &[Ad]) -> Self {
        let gangs = GangSettings { ports: PortUse::Ignored, ..settings.gangs };
        let settings = NegotiationSettings { gangs, ..settings.clone() };
        let accelerations = Accelerations { match_lists: false, ..settings.accelerations };
        PolicyCandidates { offers: CycleOffers::new(&[], offers, &settings, accelerations) }
    }

    /// Returns the candidates of a request, best first. After an interrupt the list may lack candidates.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn candidates(&mut self, request: &Ad) -> Result<Arc<[Candidate]>, PolicyFault> {
        let mut ranked = ClusterMatchList::default();
        ranked.refresh(&mut self.offers, request, false)?;
        ranked.remaining(&mut self.offers, request)
    }

    /// Returns candidate lists in which numbers of the same order stand for the ranks that offers give requests, as these
    /// may be strings or times. `lists` has the candidates of each request.
    #[must_use]
    pub fn with_numbered_offer_ranks(&mut self, requests: &[&Ad], lists: &[Arc<[Candidate]>]) -> Vec<Arc<[Candidate]>> {
        let mut numbered: Vec<Vec<Candidate>> = lists.iter().map(|list| list.to_vec()).collect();
        let Some(rule) = self.offers.policy.docking.last().cloned() else { return lists.to_vec() };
        let mut of_offers: FxHashMap<usize, Vec<(PolicyVector, [usize; 2])>> = FxHashMap::default();
        for (index, list) in lists.iter().enumerate() {
            for (place, candidate) in list.iter().enumerate() {
                let value = self.offers.docking_value(&rule, requests[index], candidate.offer);
                let value = PolicyVector::new(vec![value], self.offers.context.dialect);
                of_offers.entry(candidate.offer).or_default().push((value, [index, place]));
            }
        }
        for ranks in of_offers.values_mut() {
            ranks.sort_by(|(one, _), (other, _)| other.cmp_greatest_first(one));
            let equal = ranks.chunk_by(|(one, _), (other, _)| one.cmp_greatest_first(other).is_eq());
            for (number, equal) in (0_u32..).zip(equal) {
                for (_, [index, place]) in equal {
                    numbered[*index][*place].offer_rank = f64::from(number);
                }
            }
        }
        numbered.into_iter().map(Into::into).collect()
    }

    /// Returns the indexes of the components of the docking vector whose values could never be ordered, for example
    /// because they are always undefined. Such a component discards every candidate.
    #[must_use]
    pub fn unordered_components(&self) -> Vec<usize> {
        self.offers.unordered_components()
    }

    /// Returns two counts for each component of the docking vector: how often it was evaluated, and how often its value
    /// could be ordered.
    #[must_use]
    pub fn component_counts(&self) -> &[(usize, usize)] {
        &self.offers.component_counts
    }

    /// Returns the counters of the work done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.offers.statistics()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Accelerations, Ad, Candidate, NegotiationSettings, PolicyCandidates};
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::matching::policy::{Policy, with_typed_ranks};
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ads(texts: &[&str]) -> Vec<Ad> {
        let ad = |text: &&str| {
            parse_ad(format!("[ Constraint = true; {text} ]").as_bytes(), ParseOptions::default()).unwrap()
        };
        texts.iter().map(ad).collect()
    }

    fn told(list: &[Candidate]) -> String {
        list.iter()
            .map(|one| format!("{}({} {})", one.offer, one.request_rank, one.offer_rank))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// All candidates of each request, the counts of the components, and the lists with numbers for the offers' ranks.
    #[test]
    fn candidates_are_those_that_the_policy_admits() {
        for (policy, requests, offers, expected) in [
            ("", &["x = 1"][..], &["n = 1", "n = 2"][..], "0(0 0) 1(0 0) | 0(0 0) 1(0 0) | ([], [], 0)"),
            (
                "docking: [ label.n, label.m ]",
                &["x = 1"],
                &["n = 1; m = 1", "n = 2", "n = 2; m = 3", "m = 5"],
                "2(0 0) 0(0 0) | 2(0 0) 0(0 0) | ([(4, 3), (3, 2)], [], 0)",
            ),
            ("docking: [ label.none ]", &["x = 1", "x = 2"], &["n = 1", "n = 2"], ",  | ,  | ([(4, 0)], [0], 0)"),
            (
                "docking: [ 0, -label.n ]\nroots: Job",
                &["Job = true"],
                &["n = 1", "n = 2; Job = true", "n = 0"],
                "2(0 0) 0(0 0) | 2(0 0) 0(0 0) | ([(3, 3), (2, 2)], [], 0)",
            ),
            (
                "docking: [ label.n ]",
                &["x = 1"],
                &["n = 1; Ports = { [ Label = a; Constraint = true ] }", "n = 2"],
                "1(0 0) 0(0 0) | 1(0 0) 0(0 0) | ([(2, 2)], [], 0)",
            ),
            (
                "docking: [ label.n ]",
                &["x = 1"],
                &["n = 1", "n = \"s\""],
                "component 1 of `docking` is an integer for some ads, but a string for others | ([(2, 2)], [], 0)",
            ),
            (
                "",
                &["Rank = other.n", "x = 2"],
                &["n = 1; Rank = \"b\"", "n = 2; Rank = other.x", "n = 2; Rank = \"a\""],
                "2(2 0) 1(2 0) 0(1 0), 1(0 2) 0(0 0) 2(0 0) | 2(2 0) 1(2 0) 0(1 0), 1(0 1) 0(0 0) 2(0 0) | ([(6, 6), (6, 6)], [], 0)",
            ),
            (
                "",
                &["x = 1", "x = 3", "x = 1"],
                &["Rank = string(other.x)", "Rank = \"z\"", "Rank = -other.x"],
                "1(0 0) 0(0 0) 2(0 -1), 1(0 0) 0(0 0) 2(0 -3), 1(0 0) 0(0 0) 2(0 -1) | 1(0 0) 0(0 0) 2(0 1), 1(0 0) 0(0 1) 2(0 0), 1(0 0) 0(0 0) 2(0 1) | ([(9, 9), (9, 9)], [], 0)",
            ),
        ] {
            let (requests, offers) = (ads(requests), ads(offers));
            let text = if policy.is_empty() { "order: [ 1 ]" } else { policy };
            let policy = Policy::parse(text.as_bytes(), Dialect::Classad).unwrap();
            let protocol = Protocol::new(Dialect::Classad);
            let policy = with_typed_ranks(policy, &requests, &offers, &protocol, Dialect::Classad);
            let mut settings = NegotiationSettings::new(policy, protocol, Context::new(Dialect::Classad));
            settings.accelerations = Accelerations::ALL;
            let mut search = PolicyCandidates::new(&settings, &offers);
            let found: Result<Vec<Arc<[Candidate]>>, _> =
                requests.iter().map(|request| search.candidates(request)).collect();
            let found = match found {
                Ok(lists) => {
                    let own: Vec<String> = lists.iter().map(|list| told(list)).collect();
                    let of: Vec<&Ad> = requests.iter().collect();
                    let numbered = search.with_numbered_offer_ranks(&of, &lists);
                    let numbered: Vec<String> = numbered.iter().map(|list| told(list)).collect();
                    format!("{} | {}", own.join(", "), numbered.join(", "))
                }
                Err(fault) => fault.to_string(),
            };
            let counts = (search.component_counts(), search.unordered_components(), search.statistics().tests);
            assert_eq!(format!("{found} | {counts:?}"), expected, "{text} {requests:?}");
        }
    }
}
