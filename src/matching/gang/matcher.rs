//! The matchmaker of gangs: what it keeps from request to request.

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

/// Marshals gangs from a set of offers, which are used up by them.
pub struct Gangmatcher {
    pub(super) table: Table,
    pub(super) links: Links,
    pub(super) strategy: Strategy,
    pub(super) random: fastrand::Rng,
    pub(super) buckets: Buckets,
    /// What no offer is left for, whichever port asks: offers only get fewer.
    pub(super) exhausted: FxHashSet<Rc<Window>>,
    /// The windows of the ports of the seated request while nothing is docked, by port, as far as they were wanted.
    windows: Vec<Option<Rc<Window>>>,
    pub(super) statistics: Statistics,
    pub(super) divisions: Divisions,
    /// Whether the first candidate of the first port is expected to do: it did for the last request.
    pub(super) hopeful: bool,
    /// The first docking vector that was met; all others must compare with it.
    pub(super) vector: Option<Vector>,
    /// What is wrong with the docking vector.
    pub(super) fault: Option<PolicyFault>,
}

/// Why a gang cannot be looked for.
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
    /// A matchmaker with these offers; those whose ports cannot be used are reported and left out.  It looks for
    /// the best gangs, and by ranks, unless told otherwise.
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

    /// Looks for gangs by another algorithm; the seed is for those that draw lots.
    #[must_use]
    pub fn by(mut self, algorithm: Algorithm, seed: u64) -> Self {
        self.strategy = algorithm.strategy();
        self.random = fastrand::Rng::with_seed(seed);
        self
    }

    /// Values candidates by the docking vector of a policy instead of by ranks.
    #[must_use]
    pub fn docking(mut self, vector: Vec<Rule>) -> Self {
        self.table.follow(vector);
        self
    }

    /// What has been counted so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { evaluations: self.table.evaluations, failures: self.table.failures, ..self.statistics }
    }

    /// Marshals the gang of a request.  Either all its ports are filled, and the offers are used up, or
    /// none is, and everything is given back (thesis §5.1.3).
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

    /// The gangs of a request, the one that it prefers first, one at a time: nothing is used up.  They end early when
    /// docking vectors do not compare: [`Gangs::fault`].
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

    /// Seats a request, for which nothing is looked up yet.
    pub(super) fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        self.windows.clear();
        self.table.seat(request)
    }

    /// What a port of the seated request asks for while nothing is docked.  All its ports must be filled.
    pub(super) fn first_window(&mut self, port: usize) -> Rc<Window> {
        if self.windows.len() <= port {
            self.windows.resize(self.table.ports(0).max(port + 1), None);
        }
        let (table, links) = (&self.table, &self.links);
        let window = || Rc::new(Window::of(PortPlace { participant: 0, port }, &[], table, links));
        Rc::clone(self.windows[port].get_or_insert_with(window))
    }

    /// What a port of the seated request asked for while nothing was docked, if all its ports must be filled.
    pub(super) fn known_window(&self, place: PortPlace) -> Option<Rc<Window>> {
        let is_first = place.participant == 0 && self.table.patterns(0).is_none();
        self.windows.get(place.port).filter(|_| is_first)?.clone()
    }

    /// Checks that docking vectors compare.
    pub(super) fn check<'w>(&mut self, worths: impl Iterator<Item = &'w Worth> + Clone) -> Result<(), PolicyFault> {
        let mut vectors = worths.filter_map(|worth| match worth {
            Worth::Vector(vector) => Some(vector),
            _ => None,
        });
        let Some(first) = vectors.clone().next() else { return Ok(()) };
        let known = self.vector.get_or_insert_with(|| first.clone());
        Vector::check(std::iter::once(&*known).chain(&mut vectors), "docking", self.table.vector())
    }

    /// Whether a port of the seated request asks for what no offer is left for.
    fn is_hopeless(&mut self) -> bool {
        self.strategy.preferring
            && !self.exhausted.is_empty()
            && self.table.patterns(0).is_none()
            && (0..self.table.ports(0)).rev().any(|port| {
                let window = self.first_window(port);
                self.exhausted.contains(&window)
            })
    }

    /// The best gang of the seated request, or the first; of those that are worth less than another if there is one.
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

/// The gangs of a request, the one that it prefers first.
pub struct Gangs<'m> {
    matcher: &'m mut Gangmatcher,
    request: usize,
    last: Option<Preference>,
}

impl Gangs<'_> {
    /// What is wrong with the docking vectors, if the gangs ended for that.
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

/// An offer as a participant.
pub fn participant(offer: usize) -> Participant {
    Participant::try_from(offer + 1).unwrap_or(Participant::MAX)
}
