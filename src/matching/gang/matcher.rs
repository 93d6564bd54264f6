//! The gang matchmaker: offers, index and caches that are kept from request to request.

use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Participant};
use crate::eval::Context;
use crate::matching::Statistics;
use crate::matching::policy::{PolicyFault, PolicyRule, PolicyVector};
use crate::protocol::{PortFault, Protocol};

use super::bounds::ScoreBounds;
use super::candidate_classes::CandidateClassifier;
use super::forward_checking::ForwardChecking;
use super::participants::{ParticipantTable, PortPlace};
use super::port_index::PortIndex;
use super::residual::ResidualOffers;
use super::score::{CandidateScore, GangScore};
use super::search::GangSearch;
use super::strategy::{Algorithm, SearchStrategy};
use super::window_query::WindowQuery;
use super::{BadPorts, Gang};

/// Marshals gangs from a set of offers. Each gang uses its offers up.
pub struct Gangmatcher {
    /// The request and the offers, with everything docked now.
    pub(super) table: ParticipantTable,
    /// Index of the offers' ports.
    pub(super) port_index: PortIndex,
    pub(super) strategy: SearchStrategy,
    pub(super) random: fastrand::Rng,
    /// Classes of equivalent candidates.
    pub(super) classifier: CandidateClassifier,
    /// Window queries for which no unused offer exists. Entries stay valid, since offers only get fewer; offering a
    /// remainder clears them.
    pub(super) exhausted_queries: FxHashSet<Rc<WindowQuery>>,
    /// Window queries of the seated request's ports with nothing docked, by port index, computed on first use.
    initial_queries: Vec<Option<Rc<WindowQuery>>>,
    pub(super) statistics: Statistics,
    /// Numbers of the parts of offers whose remainders were offered again.
    pub(super) residuals: ResidualOffers,
    /// Whether the last request got the first candidate of its first port. Small requests then start without forward
    /// checking.
    pub(super) expects_first_candidate: bool,
    /// The first docking vector computed; all others must compare with it.
    pub(super) first_vector: Option<PolicyVector>,
    /// Why docking vectors could not be compared. Set by the search.
    pub(super) fault: Option<PolicyFault>,
}

/// Why no gang can be searched for.
#[derive(Clone, Debug, PartialEq)]
pub enum GangFault {
    /// The ports of the request cannot be used.
    Ports(PortFault),
    /// The docking vectors of candidates do not compare.
    Policy(PolicyFault),
}

impl fmt::Display for GangFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GangFault::Ports(fault) => fault.fmt(f),
            GangFault::Policy(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for GangFault {}

impl From<PortFault> for GangFault {
    fn from(fault: PortFault) -> Self {
        GangFault::Ports(fault)
    }
}

impl Gangmatcher {
    /// Returns a matchmaker with these offers, and the offers left out because their ports cannot be used.
    ///
    /// By default it finds the best gang and scores candidates by rank.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<BadPorts>) {
        let (table, bad) = ParticipantTable::new(offers, protocol, context);
        let bad = bad.into_iter().map(|(index, fault)| BadPorts { index, fault }).collect();
        let matcher = Gangmatcher {
            port_index: PortIndex::new(&table),
            table,
            strategy: Algorithm::Best.strategy(),
            random: fastrand::Rng::with_seed(0),
            classifier: CandidateClassifier::default(),
            exhausted_queries: FxHashSet::default(),
            initial_queries: Vec::new(),
            statistics: Statistics::default(),
            residuals: ResidualOffers::default(),
            expects_first_candidate: true,
            first_vector: None,
            fault: None,
        };
        (matcher, bad)
    }

    /// Uses another algorithm. `seed` is for the algorithms that choose at random.
    #[must_use]
    pub fn with_algorithm(mut self, algorithm: Algorithm, seed: u64) -> Self {
        self.strategy = algorithm.strategy();
        self.random = fastrand::Rng::with_seed(seed);
        self
    }

    /// Scores candidates by the docking vector of a policy instead of by rank.
    #[must_use]
    pub fn with_docking_vector(mut self, vector: Vec<PolicyRule>) -> Self {
        self.table.set_docking_vector(vector);
        self
    }

    /// Returns the counts of work done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { evaluations: self.table.evaluations, failures: self.table.failures, ..self.statistics }
    }

    /// Marshals the gang of a request. Either all its ports are filled and the offers are used up, or no offer is used
    /// and the result is `None` (thesis 5.1.3).
    ///
    /// `index` becomes the `request` of the gang.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors do not compare.
    pub fn marshal(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.seat(request)?;
        self.statistics.roots += 1;
        let found = self.search(None);
        if let Some(fault) = self.fault.take() {
            return Err(GangFault::Policy(fault));
        }
        Ok(found.map(|(_, mut gang)| {
            self.statistics.matched += 1;
            gang.request = index;
            for docked in gang.members() {
                self.port_index.remove(participant_of(docked.offer));
            }
            self.offer_remainders(&gang);
            gang
        }))
    }

    /// Iterates over the gangs of a request, best first, without using offers up. The iterator ends early when docking
    /// vectors do not compare: see [`GangIter::fault`].
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn gangs(&mut self, index: usize, request: &Ad) -> Result<GangIter<'_>, GangFault> {
        self.seat(request)?;
        self.statistics.roots += 1;
        self.strategy = Algorithm::Best.strategy();
        Ok(GangIter { matcher: self, request: index, last: None })
    }

    /// Seats a request and clears the cached window queries.
    pub(super) fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        self.initial_queries.clear();
        self.table.seat(request)
    }

    /// Returns the window query of a port of the seated request with nothing docked, from the cache if possible. All
    /// ports of the request must be mandatory.
    pub(super) fn initial_query(&mut self, port: usize) -> Rc<WindowQuery> {
        if self.initial_queries.len() <= port {
            self.initial_queries.resize(self.table.port_count(0).max(port + 1), None);
        }
        let (table, links) = (&self.table, &self.port_index);
        let window = || Rc::new(WindowQuery::of(PortPlace { participant: 0, port }, &[], table, links));
        Rc::clone(self.initial_queries[port].get_or_insert_with(window))
    }

    /// Returns the cached window query of a port with nothing docked. `None` if it was not computed, the port is not
    /// one of the request, or the request has optional ports.
    pub(super) fn known_initial_query(&self, place: PortPlace) -> Option<Rc<WindowQuery>> {
        let is_first = place.participant == 0 && self.table.patterns(0).is_none();
        self.initial_queries.get(place.port).filter(|_| is_first)?.clone()
    }

    /// Checks that docking vectors compare with one another and with all earlier ones.
    ///
    /// # Errors
    ///
    /// When they do not.
    pub(super) fn check_vectors<'w>(
        &mut self,
        worths: impl Iterator<Item = &'w CandidateScore> + Clone,
    ) -> Result<(), PolicyFault> {
        let mut vectors = worths.filter_map(|worth| match worth {
            CandidateScore::Vector(vector) => Some(vector),
            _ => None,
        });
        let Some(first) = vectors.clone().next() else { return Ok(()) };
        let known = self.first_vector.get_or_insert_with(|| first.clone());
        PolicyVector::check_comparable(
            std::iter::once(&*known).chain(&mut vectors),
            "docking",
            self.table.docking_vector(),
        )
    }

    /// Whether the window query of some port is known to have no unused offer. Only [`Algorithm::Best`] asks.
    fn has_exhausted_port(&mut self) -> bool {
        self.strategy.finds_best
            && !self.exhausted_queries.is_empty()
            && self.table.patterns(0).is_none()
            && (0..self.table.port_count(0)).rev().any(|port| {
                let window = self.initial_query(port);
                self.exhausted_queries.contains(&window)
            })
    }

    /// Searches for a gang of the seated request: the best or the first one, depending on the strategy. With `below`,
    /// only gangs with a lower score count. `None` if there is no gang, or on a fault in `self.fault`.
    pub(super) fn search(&mut self, below: Option<GangScore>) -> Option<(GangScore, Gang)> {
        if self.has_exhausted_port() {
            return None;
        }
        let looks_ahead = self.strategy.finds_best
            && (below.is_some() || self.table.port_count(0) > 2 || !self.expects_first_candidate);
        let mut search = GangSearch {
            matcher: self,
            decisions: Vec::new(),
            decision_by_offer: FxHashMap::default(),
            forward_checking: ForwardChecking::new(looks_ahead),
            bounds: ScoreBounds::default(),
            best: None,
            worse_than: below,
        };
        let found = search.run();
        search.undo_all();
        found
    }
}

/// Iterator over the gangs of a request, best first. Returned by [`Gangmatcher::gangs`].
pub struct GangIter<'m> {
    matcher: &'m mut Gangmatcher,
    request: usize,
    /// Score of the last gang returned.
    last: Option<GangScore>,
}

impl GangIter<'_> {
    /// Returns why docking vectors do not compare, if the iteration ended for that reason, and clears it.
    pub fn fault(&mut self) -> Option<PolicyFault> {
        self.matcher.fault.take()
    }
}

impl Iterator for GangIter<'_> {
    type Item = Gang;

    fn next(&mut self) -> Option<Gang> {
        let (preference, mut gang) = self.matcher.search(self.last.take())?;
        if self.last.replace(preference).is_none() {
            self.matcher.statistics.matched +=
                u64::from(self.matcher.statistics.matched < self.matcher.statistics.roots);
        }
        gang.request = self.request;
        Some(gang)
    }
}

/// Returns the participant number of an offer: its 0-based index plus one.
pub fn participant_of(offer: usize) -> Participant {
    Participant::try_from(offer + 1).unwrap_or(Participant::MAX)
}
