//! The pairs that a run of matching finds: what each request gets, or its candidates.

use std::sync::Arc;

use clap::ValueEnum;
use classad::eval::{Context, Work};
use classad::matching::negotiate::{Grant, GrantedOffer, NegotiationOutcome};
use classad::matching::{BilateralMatch, Candidate, maximum_matching, stable_matching};
use rustc_hash::FxHashMap;

/// The values of `--strategy`: how offers are given to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MatchStrategy {
    /// Serve requests in order; each takes its best offer
    #[default]
    Greedy,
    // A stable matching.
    /// Stable matching: no request and offer prefer each other to their partners
    Stable,
    /// Give an offer to as many requests as possible
    Max,
}

/// The candidates of a request, best first.
pub type CandidateList = Arc<[Candidate]>;

/// The request of each candidate list, and the 1-based number of the unit if the request stands for several.
pub type Units = Vec<(usize, Option<usize>)>;

/// Converts a match to a grant of a whole offer. The field `unit` of the grant is `None`: the caller sets `unit` for a
/// request with a `ResourceRequestCount`.
pub fn grant_of(BilateralMatch { request, offer, request_rank, offer_rank }: BilateralMatch) -> Grant {
    let candidate = Candidate { offer, request_rank, offer_rank };
    Grant { request, unit: None, offers: vec![GrantedOffer::of_candidate(candidate)], gang: None, choice: None }
}

/// Sets the ranks of the offers of grants to those in the lists of their units.
pub fn restore_offer_ranks(grants: &mut [Grant], units: &Units, lists: &[CandidateList]) {
    let list_of: FxHashMap<(usize, Option<usize>), &CandidateList> = units.iter().copied().zip(lists).collect();
    for grant in grants {
        let list = list_of.get(&(grant.request, grant.unit));
        for granted in &mut grant.offers {
            let known = list.and_then(|list| list.iter().find(|candidate| candidate.offer == granted.offer));
            granted.offer_rank = known.map_or(granted.offer_rank, |candidate| candidate.offer_rank);
        }
    }
}

/// The pairs that a run of `match` finds.
pub struct FoundPairs {
    /// Number of pairs.
    pub count: usize,
    /// The matches and the counters of the work. Without matches if candidates are listed.
    pub outcome: NegotiationOutcome,
    /// The requests whose candidates are listed, each with its candidates. Empty if only their number is asked for.
    pub lists: Vec<(usize, CandidateList)>,
    /// The requests in the order in which a policy serves them. `None` if that is the order of the input.
    pub order: Option<Vec<usize>>,
    /// Number of evaluations that exceeded their budgets before the candidates were searched.
    pub early_failures: u64,
    /// As of [`PolicyCandidates::component_counts`].
    pub component_counts: Vec<(usize, usize)>,
}

impl From<NegotiationOutcome> for FoundPairs {
    fn from(outcome: NegotiationOutcome) -> Self {
        let count = outcome.grants.len();
        let (order, lists, component_counts) = (None, Vec::new(), Vec::new());
        FoundPairs { count, outcome, lists, order, early_failures: 0, component_counts }
    }
}

impl FoundPairs {
    /// Lists the candidates of a request. Once the steps for comparisons are spent, lists none. `are_printed` tells
    /// whether they are printed.
    pub fn add_list(&mut self, request: usize, list: CandidateList, context: &Context, are_printed: bool) {
        self.outcome.statistics.roots += 1;
        self.outcome.statistics.matched += u64::from(!list.is_empty());
        if are_printed {
            context.charge(Work::ListedPair, list.len() as u64);
        }
        if !list.is_empty() && !context.has_spent_comparisons() {
            self.count += list.len();
            self.lists.push((request, list));
        }
    }

    /// Makes matches from candidate lists. `units` has the request of each list, and its 1-based unit if it has several.
    pub fn add_matches(&mut self, strategy: MatchStrategy, lists: &[CandidateList], units: &Units) {
        let matched = match strategy {
            // Each request gets its best candidate, also if another request gets the same offer.
            MatchStrategy::Greedy => {
                let best = |(place, list): (usize, &CandidateList)| Some(list.first()?.match_with(place));
                lists.iter().enumerate().filter_map(best).collect()
            }
            MatchStrategy::Stable => stable_matching(lists),
            MatchStrategy::Max => maximum_matching(lists),
        };
        self.outcome.statistics.roots += lists.len() as u64;
        self.outcome.statistics.matched += matched.len() as u64;
        self.count += matched.len();
        self.outcome.grants.extend(matched.into_iter().map(|pair| {
            let (request, unit) = units[pair.request];
            Grant { unit, ..grant_of(BilateralMatch { request, ..pair }) }
        }));
    }

    /// Returns the pairs, but not those of gangs.
    pub fn pairs(&self) -> impl Iterator<Item = BilateralMatch> {
        let listed = |(request, list): &(usize, CandidateList)| {
            let request = *request;
            (0..list.len()).map({
                let list = Arc::clone(list);
                move |place| list[place].match_with(request)
            })
        };
        matches_of(&self.outcome.grants).chain(self.lists.iter().flat_map(listed))
    }
}

/// Returns the matches of grants, but not those of gangs.
pub fn matches_of(grants: &[Grant]) -> impl Iterator<Item = BilateralMatch> {
    let grants = grants.iter().filter(|grant| grant.gang.is_none());
    grants.flat_map(|grant| {
        let of_offer = |&GrantedOffer { offer, request_rank, offer_rank, .. }: &GrantedOffer| {
            Candidate { offer, request_rank, offer_rank }.match_with(grant.request)
        };
        grant.offers.iter().map(of_offer)
    })
}
