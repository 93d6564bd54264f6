//! The gang matchmaker: marshals a gang for one request after another. Each gang uses up its offers.

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, Dialect, Name, Participant, Type};
use crate::eval::Context;
use crate::matching::Statistics;
use crate::matching::policy::{PolicyFault, PolicyRule, Residual};
use crate::protocol::{PortFault, Protocol};

use super::failure::{FailedClauses, GangFailure, TrialDocking, port_list_prefixes};
use super::fallback_search::find_best_or_any;
use super::gang_fault::GangFault;
use super::gang_iter::GangIter;
use super::offer_pool::OfferPool;
use super::participants::{ParticipantTable, PortPlace};
use super::search::{Algorithm, GangScore, SearchMemory, SearchStrategy};
use super::{BadPorts, Gang, NonNumericRank};

/// Marshals gangs from a set of offers. An offer in a gang is used up: later gangs can only get its remainder.
pub struct Gangmatcher {
    pub(super) pool: OfferPool,
    memory: SearchMemory,
    strategy: SearchStrategy,
    /// The rules that compute what remains of an offer after a gang. `None` if nothing ever remains.
    residual: Option<Residual>,
    /// The score of the gang that was found last. `None` if there is none.
    last_score: Option<GangScore>,
    /// Number of offers that an analysis has followed from port to port to the request of this matchmaker.
    pub(super) followed: usize,
}

impl Gangmatcher {
    /// Returns a matchmaker of `offers`, and the offers that are left out because their ports cannot be used.
    ///
    /// By default the matchmaker finds the best gang and scores candidates by rank.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<BadPorts>) {
        let (table, bad) = ParticipantTable::new(offers, protocol, context);
        let matcher = Gangmatcher {
            pool: OfferPool::new(table),
            memory: SearchMemory::new(0),
            strategy: Algorithm::Best.strategy(),
            residual: None,
            last_score: None,
            followed: 0,
        };
        (matcher, bad)
    }

    /// Sets the algorithm. `seed` determines the choices of an algorithm that chooses at random.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: Algorithm, seed: u64) -> Self {
        self.strategy = algorithm.strategy();
        self.memory.random = fastrand::Rng::with_seed(seed);
        self
    }

    /// Sets the docking vector of a policy. Candidates are then scored by the docking vector instead of by rank.
    #[must_use]
    pub fn with_docking_vector(mut self, vector: Vec<PolicyRule>) -> Self {
        self.pool.table.docking_vector = vector;
        self
    }

    /// Sets the rules that compute the remainders of the docked offers after each gang. The remainders become offers
    /// for later gangs (left open in thesis 6.2.1). `None` means that nothing remains.
    ///
    /// In the expressions of `residual`, `other` is the port at which the offer is docked.
    #[must_use]
    pub fn with_residual(mut self, residual: Option<Residual>) -> Self {
        self.residual = residual;
        self
    }

    /// Returns the counts of requests, candidates tried, evaluations and window queries so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.pool.table.statistics
    }

    /// Returns the settings of the evaluations.
    pub(crate) fn context(&self) -> &Context {
        &self.pool.table.context
    }

    /// Returns the number of expressions that were evaluated symbolically so far, each part counted.
    pub(crate) fn symbolic_visits(&self) -> u64 {
        self.pool.table.symbolic_visits.get()
    }

    /// Whether the last search ended at its limit: there may be a gang, or a better one.
    #[must_use]
    pub fn was_cut_off(&self) -> bool {
        self.memory.was_cut_off
    }

    /// Returns and clears the ranks that had a value other than a number since the last call. A rank that is undefined
    /// is none of them.
    pub fn take_non_numeric_ranks(&mut self) -> Vec<NonNumericRank> {
        let ranks = std::mem::take(&mut self.pool.table.non_numeric_ranks);
        let table = &self.pool.table;
        let rank = |(place, value_type): (PortPlace, Type)| NonNumericRank {
            offer: (!place.participant.is_request()).then(|| place.participant.offer()),
            label: table.label(place),
            value_type,
        };
        ranks.into_iter().map(rank).collect()
    }

    /// Marshals the gang of a request (thesis 5.1.3) and uses up the offers of the gang. `None` if no gang is found. No
    /// offer is used up then.
    ///
    /// `index` becomes the `request` of the gang.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn marshal(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        let gang = self.find_gang(index, request)?;
        if let Some(gang) = &gang {
            self.take(gang);
        }
        Ok(gang)
    }

    /// Searches for the gang of a request without using offers up. `None` if no gang is found.
    ///
    /// `index` becomes the `request` of the gang.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn find_gang(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.pool.seat(request)?;
        self.pool.table.statistics.roots += 1;
        let found = find_best_or_any(&mut self.pool, &mut self.memory, self.strategy, index, None)?;
        let (score, gang) = found.unzip();
        self.last_score = score;
        Ok(gang)
    }

    /// Returns the next best gang after the one that [`Gangmatcher::find_gang`] has just returned. `None` if there is no
    /// other gang, or if the algorithm does not search for the best one.
    ///
    /// # Errors
    ///
    /// When docking vectors cannot be compared.
    pub fn find_runner_up(&mut self, winner: &Gang) -> Result<Option<Gang>, PolicyFault> {
        let Some(score) = self.last_score.take().filter(|_| self.strategy.finds_best) else { return Ok(None) };
        self.without_statistics(|matcher| {
            let Gangmatcher { pool, memory, strategy, .. } = matcher;
            Ok(find_best_or_any(pool, memory, *strategy, winner.request, Some(&score))?.map(|(_, gang)| gang))
        })
    }

    /// Uses up the offers of a gang, and makes what remains of them available. Returns the offers of which something
    /// remains, by index, each with what remains and whether it is available. `gang` must be the gang that
    /// [`Gangmatcher::find_gang`] returned last.
    ///
    /// An offer stays used up if its remainder cannot be computed or has an attribute Ports that is not a valid list of
    /// ports.
    pub fn take(&mut self, gang: &Gang) -> Vec<(usize, Ad, bool)> {
        self.pool.table.statistics.matched += 1;
        for docked in gang.members() {
            self.withdraw(docked.offer);
        }
        let mut rests = self.rests(gang);
        for (offer, rest, is_offered) in &mut rests {
            *is_offered = *is_offered && self.offer_remainder(*offer, rest).is_ok();
        }
        rests
    }

    /// Uses up an offer, as if a gang had taken it.
    pub fn withdraw(&mut self, offer: usize) {
        self.pool.index.remove(Participant::of_offer(offer));
    }

    /// Whether one of `offers` may dock at a port of a request while nothing else is docked. If so, the request may still
    /// get no gang. If not, no gang of the request has one of `offers` at its own ports.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn may_dock(&mut self, request: &Ad, offers: &FixedBitSet) -> Result<bool, PortFault> {
        self.without_statistics(|matcher| {
            matcher.pool.seat(request)?;
            let ports = matcher.pool.table.port_count(Participant::REQUEST);
            Ok((0..ports).any(|port| {
                let rows = matcher.pool.probe_independent(PortPlace::of_request(port));
                rows.ones().any(|row| offers.contains(matcher.pool.index.place(row).participant.offer()))
            }))
        })
    }

    /// Iterates over the gangs of a request, best first, without using offers up. The iterator ends early if docking
    /// vectors cannot be compared: see [`GangIter::fault`].
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn gangs(&mut self, index: usize, request: &Ad) -> Result<GangIter<'_>, GangFault> {
        self.pool.seat(request)?;
        self.pool.table.statistics.roots += 1;
        Ok(GangIter::new(&mut self.pool, &mut self.memory, index))
    }

    /// Returns the best gang that a request can get from the unused offers. `None` if there is no gang. Uses no offer
    /// up and leaves the statistics unchanged.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn preview_gang(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.without_statistics(|matcher| {
            matcher.pool.seat(request)?;
            Ok(matcher.find_best(index)?.map(|(_, gang)| gang))
        })
    }

    /// Returns why a request gets no gang from the unused offers. `None` if the request gets a gang. Uses no offer up
    /// and leaves the statistics unchanged.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn gang_failure(&mut self, index: usize, request: &Ad) -> Result<Option<GangFailure>, GangFault> {
        self.without_statistics(|matcher| {
            let mut deepest = Gang { request: index, ports: Vec::new() };
            let (mut filled, mut is_cut_off) = (0, false);
            // The expressions of a port cannot read later ports. The first ports of a gang therefore form a gang, too.
            for prefix in port_list_prefixes(request) {
                matcher.pool.seat(&prefix)?;
                let ports = matcher.pool.table.port_count(Participant::REQUEST);
                let found = matcher.find_best(index)?;
                is_cut_off |= matcher.memory.was_cut_off;
                let Some((_, gang)) = found else {
                    matcher.pool.seat(request)?;
                    let mut failure = matcher.pool.failure(deepest, filled..ports);
                    failure.is_cut_off = is_cut_off;
                    for blocked in &mut failure.blocked {
                        matcher.examine_members(request, &failure.deepest, blocked)?;
                    }
                    return Ok(Some(failure));
                };
                deepest = gang;
                filled = ports;
            }
            Ok(None)
        })
    }

    /// Returns why unused offers cannot dock at the port with the index `port` of a request. `failure` must be the
    /// failure of `request`.
    ///
    /// If no offer fits the port by itself, all unused offers are tried with nothing else docked. Otherwise only the
    /// offers that fit the port by themselves are tried, while the deepest gang of `failure` is docked.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn failed_clauses(
        &mut self,
        request: &Ad,
        failure: &GangFailure,
        port: usize,
    ) -> Result<FailedClauses, GangFault> {
        self.without_statistics(|matcher| {
            matcher.pool.seat(request)?;
            Ok(matcher.pool.failed_clauses(failure, port))
        })
    }

    /// Docks an offer at one port of a request after another, with nothing else docked. Returns one result per port.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn trial_dockings(&mut self, request: &Ad, offer: usize) -> Result<Vec<TrialDocking>, GangFault> {
        self.without_statistics(|matcher| {
            matcher.pool.seat(request)?;
            Ok(matcher.pool.trial_dockings(Participant::of_offer(offer)))
        })
    }

    /// Iterates over the names of all attributes that offers show at their ports.
    pub fn attribute_names(&self) -> impl Iterator<Item = &Name> {
        self.pool.index.attribute_names(&self.pool.table).iter()
    }

    /// Returns the number of offers that show an attribute of this name.
    #[must_use]
    pub fn offers_with_attribute(&self, name: &Name) -> usize {
        self.pool.index.offers_with_attribute(name, &self.pool.table)
    }

    /// Returns the dialect in which constraints are evaluated.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.pool.table.context.dialect
    }

    /// Returns the number of unused offers. Takes time linear in the number of ports of all offers.
    #[must_use]
    pub fn unused_offers(&self) -> usize {
        self.pool.unused_offers().count()
    }

    /// Returns a new matchmaker of all offers, also of those that are used up.
    #[must_use]
    pub fn with_all_offers(&self) -> Gangmatcher {
        self.of_offers(0..self.pool.table.offer_count())
    }

    /// Returns a new matchmaker of some of the offers.
    fn of_offers(&self, offers: impl Iterator<Item = usize>) -> Gangmatcher {
        let table = &self.pool.table;
        let ads: Vec<Ad> = offers.map(|offer| table.ad(Participant::of_offer(offer)).clone()).collect();
        let (matcher, _) = Gangmatcher::new(&ads, table.protocol.clone(), table.context.clone());
        matcher.with_docking_vector(table.docking_vector.clone())
    }

    /// Returns a new matchmaker of the unused offers and one more copy of `offer`. The vector holds, for each offer of
    /// the new matchmaker, its index in `self`.
    #[must_use]
    pub fn with_extra_copy(&self, offer: usize) -> (Gangmatcher, Vec<usize>) {
        let of: Vec<usize> = self.pool.unused_offers().chain([offer]).collect();
        (self.of_offers(of.iter().copied()), of)
    }

    /// Replaces the used-up offer with the index `offer` by its remainder and makes it available again. The `part` of
    /// the offer rises by one: see [`super::DockedOffer`].
    ///
    /// # Errors
    ///
    /// When the ports of the remainder cannot be used. The offer then stays used up.
    pub fn offer_remainder(&mut self, offer: usize, remainder: &Ad) -> Result<(), PortFault> {
        self.pool.offer_remainder(Participant::of_offer(offer), remainder)
    }

    /// Computes what remains of the offers of `gang`, the gang of the current request, and whether it is offered again.
    /// Leaves out offers of which nothing remains.
    fn rests(&mut self, gang: &Gang) -> Vec<(usize, Ad, bool)> {
        let Some(residual) = &self.residual else { return Vec::new() };
        let table = &mut self.pool.table;
        let docked = table.dock_gang(gang);
        let rest = |(above, link): &(PortPlace, PortPlace)| {
            table.rest(residual, *above, *link).map(|(rest, is_offered)| (link.participant.offer(), rest, is_offered))
        };
        let rests = docked.iter().filter_map(rest).collect();
        table.undock_gang(&docked);
        rests
    }

    /// Searches for the best gang of the current request. `index` becomes the `request` of the gang.
    ///
    /// # Errors
    ///
    /// When docking vectors cannot be compared.
    fn find_best(&mut self, index: usize) -> Result<Option<(GangScore, Gang)>, PolicyFault> {
        find_best_or_any(&mut self.pool, &mut self.memory, Algorithm::Best.strategy(), index, None)
    }

    /// Runs `work` and restores the statistics afterwards.
    fn without_statistics<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.statistics();
        let found = work(self);
        self.pool.table.statistics = before;
        found
    }
}
