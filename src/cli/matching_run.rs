//! The runs of bilateral matching behind `match`: choice of the algorithm, progress, results.

use std::ops::ControlFlow;
use std::sync::Arc;

use classad::ad::Ad;
use classad::matching::negotiate::{
    NegotiationEvent, NegotiationOutcome, NegotiationSettings, PolicyCandidates, PortUse, negotiate,
};
use classad::matching::policy::{Accountant, Policy, PolicyFault, with_attributes};
use classad::matching::{Accelerations, Candidate, GreedyMatcher, Matchmaker};
use classad::pool::{PolicyExpressions, RequestClusters};
use classad::protocol::resource_count;
use rustc_hash::FxHashMap;

use super::found_pairs::{CandidateList, FoundPairs, MatchStrategy, Units, grant_of, restore_offer_ranks};
use super::io::named_ad::NamedAd;
use super::io::parties::Parties;
use super::io::share::WorkShare;
use super::render::{output, progress};
use super::session::Session;

/// The options that say which pairs of requests and offers to list. By default each request takes its best offer.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub struct PairSelection {
    pub strategy: MatchStrategy,
    /// Whether to list every compatible pair.
    pub all_pairs: bool,
    /// Maximum number of candidates listed for each request, the best first.
    pub max_per_request: Option<usize>,
    /// Whether a match leaves its offer to later requests.
    pub keeps_offers: bool,
    /// Whether only the number of pairs is asked for. If candidates are listed for each request, no pair is kept then.
    pub counts_only: bool,
    /// Whether to stop at the first pair, as the caller only needs to know that there is one.
    pub stops_at_first: bool,
    /// The slice of the distinct requests whose candidates are listed. `None` if those of all are.
    pub share: Option<WorkShare>,
}

impl PairSelection {
    /// Whether candidates are listed for each request. If so, no matches are made and no offer is used up.
    pub fn lists_candidates(&self) -> bool {
        self.all_pairs || self.max_per_request.is_some()
    }

    /// Whether each request takes its best offer, one request after the other.
    fn is_greedy(&self) -> bool {
        self.strategy == MatchStrategy::Greedy && !self.lists_candidates()
    }

    /// Maximum number of candidates of a request to list.
    fn most_listed(&self) -> usize {
        if self.all_pairs { usize::MAX } else { self.max_per_request.unwrap_or(1) }
    }

    /// Selects the candidates of a request that are listed: the first ones of `list`, which begins with the best, or with
    /// `--all` all of them in the order of the offers.
    fn listed_candidates(&self, mut list: Vec<Candidate>) -> CandidateList {
        list.truncate(self.most_listed());
        if self.all_pairs {
            list.sort_by_key(|candidate| candidate.offer);
        }
        list.into()
    }
}

/// Updates the progress bar.
pub fn report_progress(done: usize, total: Option<usize>) {
    progress::report_step("matching", done, total);
}

/// Returns a function that counts the requests that a negotiation cycle has considered, for the progress bar. `total`
/// is the number of requests of the cycle.
pub fn cycle_progress(total: usize) -> impl FnMut(&NegotiationEvent<'_>) {
    let mut done = 0;
    move |event| {
        use NegotiationEvent::{Matched, NoGang, Rejected};
        if let Matched { .. } | Rejected { .. } | NoGang { .. } = event {
            done += 1;
            // A request with a `ResourceRequestCount` is considered several times, so that `done` can exceed `total`.
            // Then show no total.
            report_progress(done, (done <= total).then_some(total));
        }
    }
}

/// The settings of one run of `match`.
pub struct MatchingRun {
    pub selection: PairSelection,
    pub settings: NegotiationSettings,
    /// The priorities of submitters, for a policy with shares.
    pub accounts: Option<Accountant>,
    /// Whether matching has to follow the policy, a `ResourceRequestCount` or ports, in addition to constraints and ranks.
    pub follows_policy: bool,
    /// Number of requests with ports.
    pub requests_with_ports: usize,
    /// Whether the requests were read selectively, so that equivalent requests already share one ad.
    has_shared_ads: bool,
    /// Number of distinct ads among the requests. If `has_shared_ads`, each distinct ad is an autocluster.
    distinct_requests: u64,
}

impl MatchingRun {
    /// Makes the run for these parties. Warns of invalid resource counts.
    pub fn new(session: &Session, parties: &Parties, selection: PairSelection, settings: NegotiationSettings) -> Self {
        let settings = parties.with_typed_ranks(settings);
        let summary = parties.summarize_requests(session);
        // Leftovers do not influence which offer a request gets.
        let Policy { roots, order, docking, start, residual, leftovers: _, share, limits, .. } = &settings.policy;
        let Policy { request_attributes, offer_attributes, .. } = &settings.policy;
        let has_rules = roots.is_some() || start.is_some() || residual.is_some() || limits.is_some() || share.is_some();
        let has_lists = [order, docking].into_iter().any(|rules| !rules.is_empty())
            || [request_attributes, offer_attributes].into_iter().any(|attributes| !attributes.is_empty());
        let has_policy = has_rules || has_lists;
        MatchingRun {
            selection,
            follows_policy: has_policy || summary.has_resource_counts || settings.gangs.ports != PortUse::Ignored,
            requests_with_ports: summary.with_ports,
            settings,
            accounts: None,
            has_shared_ads: parties.requests.first().is_none_or(NamedAd::is_projected),
            distinct_requests: summary.distinct_ads as u64,
        }
    }

    /// Finds the pairs that `selection` asks for.
    ///
    /// # Errors
    ///
    /// The policy cannot be followed.
    pub fn find_pairs(&self, [requests, offers]: &[Vec<Ad>; 2]) -> Result<FoundPairs, PolicyFault> {
        if self.follows_policy {
            return self.match_with_policy(requests, offers);
        }
        if self.has_shared_ads || !self.settings.accelerations.autoclusters {
            return self.match_without_policy(requests, offers, self.distinct_requests);
        }
        let (requests, clusters) = self.representatives(requests, offers, &PolicyExpressions::default());
        self.match_without_policy(&requests, offers, clusters)
    }

    fn match_without_policy(&self, requests: &[Ad], offers: &[Ad], clusters: u64) -> Result<FoundPairs, PolicyFault> {
        let MatchingRun { selection, settings: NegotiationSettings { protocol, context, accelerations, .. }, .. } =
            self;
        let match_lists = accelerations.match_lists && selection.is_greedy();
        let of_matcher = Accelerations { match_lists, ..*accelerations };
        let mut matcher = Matchmaker::new(offers, protocol.clone(), context.clone(), of_matcher);
        matcher.statistics.autoclusters = if accelerations.autoclusters { clusters } else { 0 };
        if selection.is_greedy() {
            let mut outcome = NegotiationOutcome::default();
            let mut matcher = GreedyMatcher::from_matchmaker(matcher);
            matcher.consume = !selection.keeps_offers;
            for (index, request) in requests.iter().enumerate() {
                report_progress(index, Some(requests.len()));
                outcome.grants.extend(matcher.take_best(index, request).map(grant_of));
                if selection.stops_at_first && !outcome.grants.is_empty() {
                    break;
                }
            }
            outcome.statistics = matcher.statistics();
            output::leak_on_exit(matcher);
            return Ok(outcome.into());
        }
        if selection.counts_only && selection.lists_candidates() {
            return Ok(self.count_candidates(matcher, requests));
        }
        let roots: Vec<usize> = (0..requests.len()).collect();
        let (mut found, units, lists) =
            self.find_candidates([requests, requests], &roots, selection.stops_at_first, &mut |request| {
                if !selection.lists_candidates() {
                    return Ok(matcher.candidates(request));
                }
                Ok(selection.listed_candidates(matcher.best_candidates(request, selection.most_listed())))
            })?;
        found.add_matches(selection.strategy, &lists, &units);
        found.outcome.statistics.add(&matcher.statistics);
        Ok(found)
    }

    /// Searches the candidates of the requests `roots` with `search`, which gets their representatives. Lists them, or
    /// returns a candidate list for each request, or for each unit of a request with a `ResourceRequestCount`, beside the
    /// index of the request and the 1-based number of the unit. With `stops_at_first`, ends at the first candidate.
    fn find_candidates(
        &self,
        [requests, representatives]: [&[Ad]; 2],
        roots: &[usize],
        stops_at_first: bool,
        search: &mut dyn FnMut(&Ad) -> Result<CandidateList, PolicyFault>,
    ) -> Result<(FoundPairs, Units, Vec<CandidateList>), PolicyFault> {
        let MatchingRun { selection, settings, .. } = self;
        let mut found = FoundPairs::from(NegotiationOutcome::default());
        let context = &settings.context;
        // Equal requests share a list, which takes held bytes once.
        let mut known: FxHashMap<usize, CandidateList> = FxHashMap::default();
        let (mut units, mut lists) = (Vec::new(), Vec::new());
        let is_own = self.own_requests(roots.iter().map(|root| &representatives[*root]));
        for (index, root) in roots.iter().copied().enumerate().filter(|(index, _)| is_own[*index]) {
            report_progress(index, Some(roots.len()));
            let request = &representatives[root];
            let list = match known.get(&request.identity()) {
                Some(list) => Arc::clone(list),
                None if context.has_spent_comparisons() => Arc::default(),
                None => {
                    let list = search(request)?;
                    context.count_held_bytes(size_of_val(&*list));
                    if settings.accelerations.match_lists && !context.is_interrupted() {
                        known.insert(request.identity(), Arc::clone(&list));
                    }
                    list
                }
            };
            let is_last = stops_at_first && !list.is_empty();
            if selection.lists_candidates() {
                found.add_list(root, list, context, !selection.counts_only);
            } else {
                let count = resource_count(&requests[root], context);
                for unit in count.map_or(0..1, |count| 1..count + 1) {
                    units.push((root, count.map(|_| unit)));
                    lists.push(list.clone());
                }
            }
            if is_last {
                break;
            }
        }
        Ok((found, units, lists))
    }

    /// Counts the candidates that are listed for the requests. Keeps a number for each distinct request.
    fn count_candidates(&self, mut matcher: Matchmaker, requests: &[Ad]) -> FoundPairs {
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        let mut found = FoundPairs::from(NegotiationOutcome::default());
        let is_own = self.own_requests(requests.iter());
        for (index, request) in requests.iter().enumerate().filter(|(index, _)| is_own[*index]) {
            report_progress(index, Some(requests.len()));
            let known = counts.get(&request.identity()).filter(|_| self.settings.accelerations.match_lists);
            let count = known.copied().unwrap_or_else(|| matcher.count_candidates(request));
            counts.insert(request.identity(), count);
            found.count += count.min(self.selection.most_listed());
            found.outcome.statistics.roots += 1;
            found.outcome.statistics.matched += u64::from(count > 0);
            if self.selection.stops_at_first && found.count > 0 {
                break;
            }
        }
        found.outcome.statistics.add(&matcher.statistics);
        found
    }

    /// Returns for each request whether its candidates are to be listed, in this share. Equal requests are in one share.
    fn own_requests<'r>(&self, requests: impl ExactSizeIterator<Item = &'r Ad>) -> Vec<bool> {
        let Some(share) = self.selection.share else { return vec![true; requests.len()] };
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let is_shared = self.settings.accelerations.match_lists;
        let number = |(index, request): (usize, &Ad)| {
            let next = numbers.len();
            *numbers.entry(if is_shared { request.identity() } else { index }).or_insert(next)
        };
        let number_of: Vec<usize> = requests.enumerate().map(number).collect();
        let own = share.slice(numbers.len());
        number_of.iter().map(|number| own.contains(number)).collect()
    }

    /// Finds the pairs under a policy, or for requests with resource counts.
    fn match_with_policy(&self, requests: &[Ad], offers: &[Ad]) -> Result<FoundPairs, PolicyFault> {
        let MatchingRun { selection, settings, .. } = self;
        if selection.is_greedy() && !selection.keeps_offers {
            let mut count = cycle_progress(requests.len());
            let ends_early = selection.stops_at_first;
            let priority =
                |submitter: &str| self.accounts.as_ref()?.priority(submitter, settings.policy.weighted_share());
            let outcome = negotiate(settings, requests, offers, &priority, &mut |event| {
                count(&event);
                match event {
                    NegotiationEvent::Matched { .. } if ends_early => return ControlFlow::Break(()),
                    _ => {}
                }
                ControlFlow::Continue(())
            });
            return Ok(outcome?.into());
        }
        let requests = &with_attributes(requests, &settings.policy.request_attributes);
        let offers = &with_attributes(offers, &settings.policy.offer_attributes);
        let (roots, failures) = settings.policy.roots(requests, &settings.context)?;
        let (representatives, autoclusters) = if settings.accelerations.autoclusters {
            self.representatives(requests, offers, &settings.policy.match_policies())
        } else {
            (requests.clone(), 0)
        };
        let mut ranking = PolicyCandidates::new(settings, offers);
        let (mut found, units, lists) =
            self.find_candidates([requests, &representatives], &roots, false, &mut |request| {
                let list = ranking.candidates(request)?;
                Ok(if selection.lists_candidates() { selection.listed_candidates(list.to_vec()) } else { list })
            })?;
        if selection.strategy == MatchStrategy::Stable && settings.policy.has_typed_ranks() {
            let requests: Vec<&Ad> = units.iter().map(|(root, _)| &representatives[*root]).collect();
            let numbered = ranking.with_numbered_offer_ranks(&requests, &lists);
            found.add_matches(selection.strategy, &numbered, &units);
            restore_offer_ranks(&mut found.outcome.grants, &units, &lists);
        } else {
            found.add_matches(selection.strategy, &lists, &units);
        }
        found.outcome.unordered_components = ranking.unordered_components();
        found.outcome.statistics.add(&ranking.statistics());
        found.outcome.statistics.autoclusters += autoclusters;
        found.outcome.statistics.failures += failures;
        let component_counts = ranking.component_counts().to_vec();
        Ok(FoundPairs { order: Some(roots), early_failures: failures, component_counts, ..found })
    }

    /// Replaces each request by the representative of its autocluster. Also returns the number of autoclusters.
    fn representatives(&self, requests: &[Ad], offers: &[Ad], policies: &PolicyExpressions) -> (Vec<Ad>, u64) {
        let NegotiationSettings { protocol, context, .. } = &self.settings;
        let clusters = RequestClusters::new(requests, offers, policies, protocol, context);
        let representative = |cluster: &usize| clusters.clusters[*cluster].representative.clone();
        (clusters.cluster_of.iter().map(representative).collect(), clusters.clusters.len() as u64)
    }
}

#[cfg(test)]
mod tests;
