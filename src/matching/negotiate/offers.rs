//! The offers of a cycle: which offers are taken, what remains of divided offers, and their docking vectors.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Participant, ScopeFrame, Truth, Value};
use crate::eval::{Context, Environment};
use crate::matching::candidate_queue::CandidateQueue;
use crate::matching::gang::{BadPorts, Gang, GangFault, Gangmatcher};
use crate::matching::policy::{Policy, PolicyFault, PolicyRule, PolicyVector, Residual, docking_values};
use crate::matching::{Accelerations, Candidate, Matchmaker, Pair, PairSide, Statistics};
use crate::protocol::{Advertisement, PortFault, taken_portion};

use super::NegotiationSettings;
use super::cycle_gangs::CycleGangs;
use super::granted_offer::GrantedOffer;
use super::match_table::KnownMatches;

/// The state of all offers during a cycle.
pub struct CycleOffers {
    pub matchmaker: Matchmaker,
    /// What is known of the matches from an earlier cycle.
    known: Option<KnownMatches>,
    environment: Environment,
    frames: Vec<Arc<ScopeFrame>>,
    /// 1-based number of the part of each offer that is offered now. Part 1 is the offer as advertised.
    pub parts: Vec<usize>,
    /// For each offer, whether the offer is unavailable. An offer is unavailable if it was given away and left no
    /// remainder, or if the rule `roots` of the policy is true in the offer.
    pub taken: FixedBitSet,
    gangs: CycleGangs,
    /// The offers that are left out of gangs because their ports cannot be used.
    pub bad_ports: Vec<BadPorts>,
    /// Number of offers that are not taken.
    pub free_count: usize,
    /// What is left of taken offers and not offered again.
    unoffered: FxHashMap<usize, Ad>,
    /// Indexes of the offers that were divided, or given away and kept on offer, in chronological order. Dividing an offer
    /// replaces it by its remainder.
    pub divisions: Vec<usize>,
    /// The places of offers that were kept on offer, behind all others of the same worth. Other offers have the place of
    /// their index.
    places: FxHashMap<usize, usize>,
    pub policy: Policy,
    pub context: Context,
    /// Counters of the work that the matchmaker does not count.
    statistics: Statistics,
    /// Two counts for each component of the docking vector: how often the component was evaluated, and how often its
    /// value could be ordered.
    pub component_counts: Vec<(usize, usize)>,
}

impl CycleOffers {
    /// Prepares the offers for a cycle of these requests. An offer is never given away if the rule `roots` of the policy
    /// is true in the offer.
    pub fn new(requests: &[Ad], ads: &[Ad], settings: &NegotiationSettings, accelerations: Accelerations) -> Self {
        let NegotiationSettings { policy, protocol, context, .. } = settings;
        let matchmaker = Matchmaker::new(ads, protocol.clone(), context.clone(), accelerations);
        let mut taken = FixedBitSet::with_capacity(ads.len());
        taken.extend((0..ads.len()).filter(|offer| !policy.is_offer(&ads[*offer], context)));
        let (gangs, bad_ports) = CycleGangs::new(requests, ads, settings, &taken);
        CycleOffers {
            gangs,
            bad_ports,
            matchmaker,
            known: None,
            environment: Environment::pair(Ad::default(), Ad::default()).0,
            frames: ads.iter().map(|ad| Pair::make_scope(ad.clone(), PairSide::Offer)).collect(),
            parts: vec![1; ads.len()],
            free_count: taken.count_zeroes(..),
            unoffered: FxHashMap::default(),
            taken,
            divisions: Vec::new(),
            places: FxHashMap::default(),
            policy: policy.clone(),
            context: context.clone(),
            statistics: Statistics::default(),
            component_counts: vec![(0, 0); policy.docking.len()],
        }
    }

    /// Takes over what is known of the matches.
    pub fn with_known(self, known: Option<KnownMatches>) -> Self {
        CycleOffers { known, ..self }
    }

    /// Returns the current user of an offer. `None` if the offer has no user, or was divided: a remainder has no user.
    pub fn user(&self, offer: usize) -> Option<String> {
        let frame = self.frames.get(offer).filter(|_| self.parts[offer] == 1)?;
        Advertisement::new(&frame.ad, &self.context).user()
    }

    /// Evaluates some components of the docking vector of a request for an offer. `None` if a component cannot be ordered,
    /// a budget was exceeded, or the request may not start there; the offer is discarded then. Once the steps for comparisons are spent, no offer has one.
    pub fn vector(&mut self, request: &Ad, offer: usize, components: Range<usize>) -> Option<PolicyVector> {
        if self.context.has_spent_comparisons() || components.start == 0 && !self.may_start(request, offer) {
            return None;
        }
        let request = put_pair(&mut self.environment, request, &self.frames[offer]);
        let frames = [&request, &self.frames[offer]];
        let first = components.start;
        let mut vector = PolicyVector(vec![None; components.len()]);
        // Ranks come last: only other components discard an offer as a rule.
        for are_ranks in [false, true] {
            let of_kind =
                components.clone().filter(|component| self.policy.docking[*component].rank.is_some() == are_ranks);
            if of_kind.clone().next().is_none() {
                continue;
            }
            let rules = of_kind.clone().map(|component| &self.policy.docking[component]);
            let mut steps = 0;
            let found = PolicyVector::evaluate_docking(rules, &self.environment, frames, &self.context, &mut steps);
            self.context.count_comparisons(steps);
            self.statistics.evaluations += of_kind.clone().count() as u64;
            self.statistics.failures += u64::from(found.is_err());
            let found = found.ok()?;
            let is_complete = found.is_complete();
            for (component, value) in of_kind.zip(found.0) {
                let (values, places) = &mut self.component_counts[component];
                (*values, *places) = (*values + 1, *places + usize::from(value.is_some()));
                vector.0[component - first] = value;
            }
            if !is_complete {
                return None;
            }
        }
        Some(vector)
    }

    /// Evaluates a rule in a request, where `label` is an offer. Undefined if a budget was exceeded.
    pub fn docking_value(&mut self, rule: &PolicyRule, request: &Ad, offer: usize) -> Value {
        if self.context.has_spent_comparisons() {
            return Value::Undefined;
        }
        let request = put_pair(&mut self.environment, request, &self.frames[offer]);
        self.statistics.evaluations += 1;
        let frames = [&request, &self.frames[offer]];
        let mut steps = 0;
        let rules = std::slice::from_ref(rule);
        let values = docking_values(rules, &self.environment, frames, &self.context, &mut steps);
        self.context.count_comparisons(steps);
        self.statistics.failures += u64::from(values.is_err());
        values.ok().and_then(|mut values| values.pop()).unwrap_or(Value::Undefined)
    }

    /// Returns the remainder of a taken offer that the cycle does not offer again; `None` without a remainder.
    pub fn unoffered_rest(&self, offer: usize) -> Option<&Ad> {
        self.unoffered.get(&offer)
    }

    /// Returns what is left of each divided offer, by the index of the offer. The cycle need not offer it again.
    pub fn rests(&self) -> BTreeMap<usize, Ad> {
        let offered = self.divisions.iter().filter_map(|offer| Some((*offer, self.current(*offer)?.clone())));
        offered.chain(self.unoffered.iter().map(|(offer, rest)| (*offer, rest.clone()))).collect()
    }

    /// Returns an offer as it is now; `None` if it is taken.
    pub fn current(&self, offer: usize) -> Option<&Ad> {
        (!self.taken[offer]).then(|| &self.frames[offer].ad)
    }

    /// Returns the indexes of the components of the docking vector whose values could never be ordered. Such a
    /// component discards every candidate.
    pub fn unordered_components(&self) -> Vec<usize> {
        let docked = self.component_counts.iter().enumerate();
        docked.filter(|(_, (values, places))| *values > 0 && *places == 0).map(|(component, _)| component).collect()
    }

    /// Checks that these docking vectors can be compared. For example, a component must not be a number in one vector
    /// and a string in another.
    pub fn check_comparable<'v>(&self, vectors: impl IntoIterator<Item = &'v PolicyVector>) -> Result<(), PolicyFault> {
        PolicyVector::check_comparable(vectors, "docking", &self.policy.docking)
    }

    /// The matchmaker of gangs.
    pub fn gangs(&mut self) -> Option<&mut Gangmatcher> {
        self.gangs.matchmaker.as_mut()
    }

    /// Returns the offers without ports with which a request is compatible, best first, also those that are taken.
    pub fn candidates(&mut self, request: &Ad) -> Arc<[Candidate]> {
        let known = self.known.as_ref().filter(|_| !self.matchmaker.has_list(request));
        if let Some(list) = known.and_then(|known| known.candidates(request)) {
            self.matchmaker.keep_list(request, list);
        }
        let candidates = self.matchmaker.candidates(request);
        let with_ports = &self.gangs.with_ports;
        if with_ports.is_clear() {
            return candidates;
        }
        candidates.iter().filter(|candidate| !with_ports.contains(candidate.offer)).copied().collect()
    }

    /// Returns the offers without ports with which a request is compatible, also those that are taken. They are ranked as
    /// far as they must be.
    pub fn queue(&mut self, request: &Ad) -> CandidateQueue {
        let mut queue = self.matchmaker.queue(request);
        if !self.gangs.with_ports.is_clear() {
            queue.unranked.difference_with(&self.gangs.with_ports);
            self.gangs.retain_single(&mut queue.ranked);
            self.gangs.retain_single(&mut queue.replaced);
        }
        queue
    }

    /// Ranks the best of the offers of a queue that are not ranked and not taken. Returns them best first; empty if
    /// there are none.
    pub fn rank_more(&mut self, queue: &mut CandidateQueue) -> Vec<Candidate> {
        queue.unranked.difference_with(&self.taken);
        self.matchmaker.rank_more(queue);
        std::mem::take(&mut queue.ranked)
    }

    /// Returns those of some offers without ports with which a request is compatible, also those that are taken.
    pub fn candidates_among(&mut self, request: &Ad, mut offers: Vec<usize>) -> Vec<Candidate> {
        offers.retain(|offer| !self.gangs.with_ports.contains(*offer));
        self.matchmaker.candidates_among(request, offers)
    }

    /// Whether a request gets a gang, not a single offer: the request has ports, or an offer with ports may dock at it.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn needs_gang(&mut self, request: &Ad) -> Result<bool, PortFault> {
        self.gangs.are_needed_by(request)
    }

    /// Searches for the gang of a request, without taking its offers. `None` if there is none.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn find_gang(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.gangs.find(index, request)
    }

    /// Gives the offers of a gang to its request, and records which portions of them it takes. The gang must be the one
    /// that was found last.
    pub fn take_gang(&mut self, gang: &Gang, granted: &mut [GrantedOffer]) {
        let Some(matchmaker) = &mut self.gangs.matchmaker else { return };
        let rests = matchmaker.take(gang).into_iter().map(|(offer, rest, is_offered)| (offer, (rest, is_offered)));
        let mut rests: FxHashMap<usize, (Ad, bool)> = rests.collect();
        for granted in granted {
            let rest = rests.remove(&granted.offer);
            granted.portion = rest.as_ref().map(|(rest, _)| self.portion(granted.offer, rest));
            // A gang pays for the whole of an offer whose rest is not offered again.
            let remainder = rest.filter(|(_, is_offered)| *is_offered).map(|(rest, _)| rest);
            self.settle(granted.offer, remainder, true);
        }
    }

    /// Returns what a match takes of an offer that leaves this rest.
    fn portion(&self, offer: usize, rest: &Ad) -> Ad {
        let residual = self.policy.residual.as_ref();
        residual.map_or_else(Ad::default, |residual| self.portion_by(residual, offer, rest))
    }

    /// Returns what a request takes of an offer that leaves this rest by these rules.
    pub fn portion_by(&self, division: &Residual, offer: usize, rest: &Ad) -> Ad {
        taken_portion(&self.frames[offer].ad, rest, division.names(), &self.context)
    }

    /// Puts the rest of an offer in its place after the cycle, whoever has the offer.
    pub fn put(&mut self, offer: usize, rest: Ad) {
        self.frames[offer] = Pair::make_scope(rest.clone(), PairSide::Offer);
        self.matchmaker.replace(offer, rest);
        self.parts[offer] += 1;
    }

    /// Returns an offer as it is now, taken or not.
    pub fn ad(&self, offer: usize) -> &Ad {
        &self.frames[offer].ad
    }

    /// Gives an offer to a request. Returns which portion of it the request takes; `None` if it takes the whole offer.
    pub fn take(&mut self, offer: usize, request: &Ad) -> Option<Ad> {
        let rest = self.rest(offer, request);
        if rest.is_none() && self.keeps(offer) {
            self.places.insert(offer, self.frames.len() + self.divisions.len());
            let kept = self.frames[offer].ad.clone();
            self.settle(offer, Some(kept), true);
            return None;
        }
        let portion = rest.as_ref().map(|rest| self.portion(offer, rest));
        let is_offered = rest.as_ref().is_some_and(|rest| self.offers_again(rest));
        self.gangs.replace(offer, rest.as_ref().filter(|_| is_offered));
        self.settle(offer, rest, is_offered);
        portion
    }

    /// Puts the remainder of a granted offer in its place. Without a remainder that is offered again, the offer counts as
    /// taken.
    fn settle(&mut self, offer: usize, rest: Option<Ad>, is_offered: bool) {
        let remainder = match rest {
            Some(remainder) if is_offered => remainder,
            rest => {
                self.taken.insert(offer);
                self.free_count -= 1;
                self.unoffered.extend(rest.map(|rest| (offer, rest)));
                return;
            }
        };
        self.gangs.note_remainder(offer, &remainder);
        self.put(offer, remainder);
        self.divisions.push(offer);
    }

    /// Returns what a request would leave of an offer, whether it is offered again or not; `None` if the request would
    /// get all of it.
    pub fn rest(&mut self, offer: usize, request: &Ad) -> Option<Ad> {
        let residual = self.policy.residual.take()?;
        let rest = self.rest_by(&residual, offer, request);
        self.policy.residual = Some(residual);
        rest
    }

    /// Returns what a request would leave of an offer by these rules, as [`CycleOffers::rest`].
    pub fn rest_by(&mut self, division: &Residual, offer: usize, request: &Ad) -> Option<Ad> {
        put_pair(&mut self.environment, request, &self.frames[offer]);
        let rest = division.rest(&self.frames[offer], &self.environment, &self.context);
        self.statistics.failures += u64::from(rest.is_err());
        rest.unwrap_or_default()
    }

    /// Whether an offer stays on offer as it is.
    fn keeps(&self, offer: usize) -> bool {
        let residual = self.policy.residual.as_ref();
        residual.is_some_and(|residual| residual.keeps(&self.frames[offer].ad, &self.context).unwrap_or_default())
    }

    /// Whether an offer was given away and kept on offer.
    pub fn is_kept(&self, offer: usize) -> bool {
        self.places.contains_key(&offer)
    }

    /// Returns the place of an offer among those of the same worth.
    pub fn place(&self, offer: usize) -> usize {
        self.places.get(&offer).copied().unwrap_or(offer)
    }

    /// Whether the remainders of offers stand behind the candidates that are worse.
    pub fn puts_after_worse(&self) -> bool {
        self.policy.residual.as_ref().is_some_and(|residual| residual.after_worse)
    }

    /// Whether the rule `start` of the policy lets a request have an offer.
    pub fn may_start(&mut self, request: &Ad, offer: usize) -> bool {
        let Some(rule) = self.policy.start.clone() else { return true };
        Truth::of(&self.docking_value(&rule, request, offer), self.context.dialect) != Truth::False
    }

    /// Whether the rest of an offer is offered again.
    pub fn offers_again(&mut self, rest: &Ad) -> bool {
        let Some(residual) = self.policy.residual.as_ref() else { return false };
        let is_offered = residual.is_offered(rest, &self.context);
        self.statistics.failures += u64::from(is_offered.is_err());
        is_offered.unwrap_or_default()
    }

    /// Returns the counters so far, including those of the matchmaker.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics;
        statistics.add(&self.matchmaker.statistics);
        statistics.add(&self.gangs.statistics());
        statistics
    }
}

/// Pairs a request with an offer in an environment, and returns the scope of the request.
fn put_pair(environment: &mut Environment, request: &Ad, offer: &Arc<ScopeFrame>) -> Arc<ScopeFrame> {
    let request = Pair::make_scope(request.clone(), PairSide::Request);
    environment.replace_ad(Participant::REQUEST, &request);
    environment.replace_ad(Participant::PARTNER, offer);
    request
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::CycleOffers;
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, RunBudgets};
    use crate::matching::Accelerations;
    use crate::matching::negotiate::NegotiationSettings;
    use crate::matching::policy::Policy;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    const DOCKING: &str = "docking:\n  - self.A\n  - -label.Cpus * 2\n  - job rank: { rank: MY.Rank, otherwise: 0 }\n";

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    /// Returns one offer under the policy, and the budgets of its run, which may take some steps for comparisons.
    fn offers(steps: u64) -> (CycleOffers, Arc<RunBudgets>) {
        let budgets = Arc::new(RunBudgets::new([None, Some(steps), None]));
        let context = Context { run_budgets: Some(Arc::clone(&budgets)), ..Context::new(Dialect::Condor) };
        let policy = Policy::parse(DOCKING.as_bytes(), Dialect::Condor).unwrap();
        let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context);
        (CycleOffers::new(&[], &[ad("[ Cpus = 4 ]")], &settings, Accelerations::NONE), budgets)
    }

    #[test]
    fn components_take_as_many_steps_together_as_alone() {
        let request = ad("[ A = 1; Rank = 2 ]");
        let taken = |parts: &[[usize; 2]]| {
            let (mut offers, budgets) = offers(u64::MAX);
            let before = budgets.comparisons.taken();
            for [start, end] in parts {
                assert!(offers.vector(&request, 0, *start..*end).is_some(), "{start} {end}");
            }
            budgets.comparisons.taken() - before
        };
        let all = taken(&[[0, 3]]);
        assert!(all > taken(&[[0, 1]]) && taken(&[[0, 1]]) > 0);
        assert_eq!([taken(&[[0, 2], [2, 3]]), taken(&[[0, 1], [1, 3]]), taken(&[[0, 1], [1, 2], [2, 3]])], [all; 3]);
        let (mut offers, budgets) = offers(u64::MAX);
        let before = budgets.comparisons.taken();
        let rules = offers.policy.docking.clone();
        let values: Vec<String> =
            rules.iter().map(|rule| offers.docking_value(rule, &request, 0).to_string()).collect();
        assert_eq!(values, ["1", "-8", "2.0"]);
        assert_eq!(budgets.comparisons.taken() - before, all);
    }

    #[test]
    fn an_offer_has_no_vector_where_a_component_has_no_order() {
        for (request, expected) in [
            ("[ A = 1; Rank = 2 ]", true),
            // A rank that is no number is 0.
            ("[ A = 1 ]", true),
            ("[ Rank = 2 ]", false),
            ("[ A = 1 / 0; Rank = 2 ]", false),
        ] {
            assert_eq!(offers(u64::MAX).0.vector(&ad(request), 0, 0..3).is_some(), expected, "{request}");
        }
        assert!(offers(0).0.vector(&ad("[ A = 1; Rank = 2 ]"), 0, 0..3).is_some());
        let (mut spent, budgets) = offers(0);
        budgets.comparisons.count(1);
        assert!(spent.vector(&ad("[ A = 1; Rank = 2 ]"), 0, 0..3).is_none());
    }
}
