//! The gang matchmaker: offers, index and caches that are kept from request to request.

use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Participant};
use crate::eval::Context;
use crate::matching::Statistics;
use crate::matching::policy::{PolicyFault, Rule, Vector};
use crate::protocol::{PortFault, Protocol};

use super::bounds::Outlook;
use super::candidate_classes::Buckets;
use super::forward_checking::Ahead;
use super::participants::{PortPlace, Table};
use super::port_index::Links;
use super::residual::Divisions;
use super::score::{Preference, Worth};
use super::search::Search;
use super::strategy::{Algorithm, Strategy};
use super::window_query::Window;
use super::{BadPorts, Gang};

/// Marshals gangs from a set of offers. Each gang uses its offers up.
pub struct Gangmatcher {
    /// The request and the offers, with everything docked now.
    pub(super) table: Table,
    /// Index of the offers' ports.
    pub(super) links: Links,
    pub(super) strategy: Strategy,
    pub(super) random: fastrand::Rng,
    /// Classes of equivalent candidates.
    pub(super) buckets: Buckets,
    /// Window queries for which no unused offer exists. Entries stay valid, since offers only get fewer; offering a
    /// remainder clears them.
    pub(super) exhausted: FxHashSet<Rc<Window>>,
    /// Window queries of the seated request's ports with nothing docked, by port index, computed on first use.
    windows: Vec<Option<Rc<Window>>>,
    pub(super) statistics: Statistics,
    /// Numbers of the parts of offers whose remainders were offered again.
    pub(super) divisions: Divisions,
    /// Whether the last request got the first candidate of its first port. Small requests then start without forward
    /// checking.
    pub(super) hopeful: bool,
    /// The first docking vector computed; all others must compare with it.
    pub(super) vector: Option<Vector>,
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
        let (table, bad) = Table::new(offers, protocol, context);
        let bad = bad.into_iter().map(|(index, fault)| BadPorts { index, fault }).collect();
        let matcher = Gangmatcher {
            links: Links::new(&table),
            table,
            strategy: Algorithm::Best.strategy(),
            random: fastrand::Rng::with_seed(0),
            buckets: Buckets::default(),
            exhausted: FxHashSet::default(),
            windows: Vec::new(),
            statistics: Statistics::default(),
            divisions: Divisions::default(),
            hopeful: true,
            vector: None,
            fault: None,
        };
        (matcher, bad)
    }

    /// Uses another algorithm. `seed` is for the algorithms that choose at random.
    #[must_use]
    pub fn by(mut self, algorithm: Algorithm, seed: u64) -> Self {
        self.strategy = algorithm.strategy();
        self.random = fastrand::Rng::with_seed(seed);
        self
    }

    /// Scores candidates by the docking vector of a policy instead of by rank.
    #[must_use]
    pub fn docking(mut self, vector: Vec<Rule>) -> Self {
        self.table.follow(vector);
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
                self.links.take(participant(docked.offer));
            }
            self.divide(&gang);
            gang
        }))
    }

    /// Iterates over the gangs of a request, best first, without using offers up. The iterator ends early when docking
    /// vectors do not compare: see [`Gangs::fault`].
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn gangs(&mut self, index: usize, request: &Ad) -> Result<Gangs<'_>, GangFault> {
        self.seat(request)?;
        self.statistics.roots += 1;
        self.strategy = Algorithm::Best.strategy();
        Ok(Gangs { matcher: self, request: index, last: None })
    }

    /// Seats a request and clears the cached window queries.
    pub(super) fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        self.windows.clear();
        self.table.seat(request)
    }

    /// Returns the window query of a port of the seated request with nothing docked, from the cache if possible. All
    /// ports of the request must be mandatory.
    pub(super) fn first_window(&mut self, port: usize) -> Rc<Window> {
        if self.windows.len() <= port {
            self.windows.resize(self.table.ports(0).max(port + 1), None);
        }
        let (table, links) = (&self.table, &self.links);
        let window = || Rc::new(Window::of(PortPlace { participant: 0, port }, &[], table, links));
        Rc::clone(self.windows[port].get_or_insert_with(window))
    }

    /// Returns the cached window query of a port with nothing docked. `None` if it was not computed, the port is not
    /// one of the request, or the request has optional ports.
    pub(super) fn known_window(&self, place: PortPlace) -> Option<Rc<Window>> {
        let is_first = place.participant == 0 && self.table.patterns(0).is_none();
        self.windows.get(place.port).filter(|_| is_first)?.clone()
    }

    /// Checks that docking vectors compare with one another and with all earlier ones.
    ///
    /// # Errors
    ///
    /// When they do not.
    pub(super) fn check<'w>(&mut self, worths: impl Iterator<Item = &'w Worth> + Clone) -> Result<(), PolicyFault> {
        let mut vectors = worths.filter_map(|worth| match worth {
            Worth::Vector(vector) => Some(vector),
            _ => None,
        });
        let Some(first) = vectors.clone().next() else { return Ok(()) };
        let known = self.vector.get_or_insert_with(|| first.clone());
        Vector::check(std::iter::once(&*known).chain(&mut vectors), "docking", self.table.vector())
    }

    /// Whether the window query of some port is known to have no unused offer. Only [`Algorithm::Best`] asks.
    fn is_hopeless(&mut self) -> bool {
        self.strategy.preferring
            && !self.exhausted.is_empty()
            && self.table.patterns(0).is_none()
            && (0..self.table.ports(0)).rev().any(|port| {
                let window = self.first_window(port);
                self.exhausted.contains(&window)
            })
    }

    /// Searches for a gang of the seated request: the best or the first one, depending on the strategy. With `below`,
    /// only gangs with a lower score count. `None` if there is no gang, or on a fault in `self.fault`.
    pub(super) fn search(&mut self, below: Option<Preference>) -> Option<(Preference, Gang)> {
        if self.is_hopeless() {
            return None;
        }
        let looks_ahead = self.strategy.preferring && (below.is_some() || self.table.ports(0) > 2 || !self.hopeful);
        let mut search = Search {
            matcher: self,
            levels: Vec::new(),
            holders: FxHashMap::default(),
            ahead: Ahead::new(looks_ahead),
            outlook: Outlook::default(),
            best: None,
            below,
        };
        let found = search.run();
        search.give_up();
        found
    }
}

/// Iterator over the gangs of a request, best first. Returned by [`Gangmatcher::gangs`].
pub struct Gangs<'m> {
    matcher: &'m mut Gangmatcher,
    request: usize,
    /// Score of the last gang returned.
    last: Option<Preference>,
}

impl Gangs<'_> {
    /// Returns why docking vectors do not compare, if the iteration ended for that reason, and clears it.
    pub fn fault(&mut self) -> Option<PolicyFault> {
        self.matcher.fault.take()
    }
}

impl Iterator for Gangs<'_> {
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
pub fn participant(offer: usize) -> Participant {
    Participant::try_from(offer + 1).unwrap_or(Participant::MAX)
}
