//! Why a request gets no gang: which of its ports can be filled, and what keeps the next one empty.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Kind, Name, Participant};
use crate::protocol::{Pattern, ports};

use super::Gang;
use super::failed_conditions::{Condition, Conditions};
use super::matcher::{GangFault, Gangmatcher, participant};
use super::participants::{PortPlace, Table, Verdict};
use super::port_index::Rows;
use super::strategy::Algorithm;
use super::window_query::Window;

#[cfg(test)]
mod tests;

/// What is known of a request without a gang.
#[derive(Clone, Debug, PartialEq)]
pub struct Impasse {
    /// Its ports, in the order of their list.
    pub ports: Vec<Prospect>,
    /// The best gang of as many of its first ports as can be filled together.
    pub deepest: Gang,
    /// The next port, or the ports of the next group, which cannot be filled beside these.
    pub stuck: Vec<Stuck>,
}

/// The offers that one port could get.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospect {
    /// The label of the port.
    pub label: String,
    /// Offers of which it and they do not refuse each other, whatever else is docked.
    pub alone: usize,
    /// Those of them that have a partner at each other port that must be filled with this one: another offer, so
    /// that none of the four refuses, whatever is docked at the rest.
    pub given: usize,
    /// As many more would do, but are used up.
    pub used: usize,
    /// Whether it is filled in every way to fill the ports.
    pub is_needed: bool,
    /// If no offer that is left would do, what rules each of them out, by the number of them.
    pub ruled_out: Vec<Condition>,
}

/// A port that cannot be filled while the deepest gang is docked.  Each offer that it could get alone is counted
/// once: as far as it gets by the best of its own ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stuck {
    /// The position of the port.
    pub port: usize,
    /// Those that are in the gang already.
    pub held: Vec<usize>,
    /// What rules others out, by the number of them.
    pub conditions: Vec<Condition>,
    /// So many have a docking vector with an undefined or an error component.
    pub discarded: usize,
    /// Those that would dock, but whose own ports cannot be filled.
    pub unserved: Vec<usize>,
    /// Of the first of these each port of its own, and how many offers could dock there by themselves.
    pub needs: Vec<(String, usize)>,
    /// So many would do: they cannot all be had in the group.
    pub fitting: usize,
}

/// How far a candidate gets.
#[derive(PartialEq, PartialOrd)]
enum Reach {
    Refused,
    Discarded,
    Unserved,
    Fits,
}

impl Gangmatcher {
    /// Why a request gets no gang of the offers that are left; nothing if it gets one.  Nothing is used up, and nothing
    /// of it counts in the statistics.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors do not compare.
    pub fn impasse(&mut self, index: usize, request: &Ad) -> Result<Option<Impasse>, GangFault> {
        self.aside(|matcher| {
            let (deepest, next) = matcher.deepest(index, request)?;
            let Some(next) = next else { return Ok(None) };
            matcher.seat(request)?;
            let alone = matcher.alone();
            let ports = matcher.prospects(&alone);
            let stuck = matcher.stuck(&deepest, next, &alone);
            Ok(Some(Impasse { ports, deepest, stuck }))
        })
    }

    /// The best gang of as many first ports as can be filled; and the ports of the entry that cannot.
    ///
    /// A port does not see the labels behind it, so that the gangs of the request are the gangs of its first ports
    /// with something docked at the others.
    fn deepest(&mut self, index: usize, request: &Ad) -> Result<(Gang, Option<std::ops::Range<usize>>), GangFault> {
        let mut deepest = Gang { request: index, ports: Vec::new() };
        let mut filled = 0;
        for prefix in prefixes(request) {
            let ports = ports(&prefix)?.list.len();
            self.seat(&prefix)?;
            let gang = self.search(None);
            if let Some(fault) = self.fault.take() {
                return Err(GangFault::Policy(fault));
            }
            let Some((_, gang)) = gang else { return Ok((deepest, Some(filled..ports))) };
            deepest.ports.clone_from(&gang.ports);
            filled = ports;
        }
        Ok((deepest, None))
    }

    /// For each port of the seated request the rows that do not refuse it, nor it them, with nothing docked.
    pub(super) fn alone(&mut self) -> Vec<Rows> {
        let places = (0..self.table.ports(0)).map(|port| PortPlace { participant: 0, port });
        let places: Vec<PortPlace> = places.collect();
        places.into_iter().map(|place| self.docking_at(place)).collect()
    }

    /// The rows that may dock at a port, as far as that is known now.
    fn docking_at(&mut self, place: PortPlace) -> Rows {
        let window = Window::of(place, &[], &self.table, &self.links);
        let rows = self.links.answer(&window, &mut self.table);
        self.accepted(place, &rows)
    }

    /// Those rows that could dock at a port by themselves.
    fn accepted(&mut self, place: PortPlace, rows: &Rows) -> Rows {
        let mut accepted = Rows::with_capacity(rows.len());
        for row in rows.ones() {
            let link = self.links.place(row);
            accepted.set(row, self.table.suppose(place, link, |table| table.none_refuses(&[place, link])));
        }
        accepted
    }

    /// How many offers these rows belong to.
    fn offers(&self, rows: &Rows) -> usize {
        let mut offers: Vec<Participant> = rows.ones().map(|row| self.links.place(row).participant).collect();
        offers.dedup();
        offers.len()
    }

    fn prospects(&mut self, alone: &[Rows]) -> Vec<Prospect> {
        let mut prospects = Vec::with_capacity(alone.len());
        for (port, rows) in alone.iter().enumerate() {
            let place = PortPlace { participant: 0, port };
            let window = Window::of(place, &[], &self.table, &self.links);
            let used = self.links.answer_used(&window, &mut self.table);
            let used = self.accepted(place, &used);
            let given = self.given(place, rows, alone);
            prospects.push(Prospect {
                label: self.table.label(place),
                alone: self.offers(rows),
                given: self.offers(&given),
                used: self.offers(&used),
                is_needed: self
                    .table
                    .patterns(0)
                    .is_none_or(|patterns| patterns.iter().all(|ports| ports.contains(port))),
                ruled_out: if rows.is_clear() { self.ruled_out(place) } else { Vec::new() },
            });
        }
        prospects
    }

    /// What keeps every offer that is left from a port, at which nothing is docked; what the port demands before what
    /// they do.
    fn ruled_out(&mut self, place: PortPlace) -> Vec<Condition> {
        let mut first: Vec<(Participant, Condition)> = Vec::new();
        let left: Vec<PortPlace> = self.links.unused().ones().map(|row| self.links.place(row)).collect();
        for link in left {
            let condition = self.table.suppose(place, link, |table| table.keeping(place, link));
            let Some(condition) = condition else { continue };
            match first.last_mut() {
                // One of its ports that refuses is nearer than one that is not wanted.
                Some((offer, known)) if *offer == link.participant => {
                    if known.of_request && !condition.of_request {
                        *known = condition;
                    }
                }
                _ => first.push((link.participant, condition)),
            }
        }
        let mut conditions = Conditions::default();
        for (participant, condition) in first {
            conditions.add(condition, participant as usize - 1);
        }
        conditions.by_number()
    }

    /// Those rows of a port that have a partner at each other port that must be filled with it.
    fn given(&mut self, place: PortPlace, rows: &Rows, alone: &[Rows]) -> Rows {
        let mut beside: Pattern = (0..alone.len()).collect();
        let patterns = self.table.patterns(0).into_iter().flat_map(|patterns| patterns.iter());
        patterns.filter(|pattern| pattern.contains(place.port)).for_each(|pattern| beside.intersect_with(pattern));
        beside.set(place.port, false);
        let alike = self.buckets.alike(&mut self.links, &mut self.table);
        // What cannot be told apart has the same partners.
        let mut known: FxHashMap<usize, bool> = FxHashMap::default();
        let mut given = Rows::with_capacity(rows.len());
        for row in rows.ones() {
            let bucket = alike.bucket(row);
            let found = bucket.and_then(|bucket| known.get(&bucket).copied());
            let found = found.unwrap_or_else(|| {
                let link = self.links.place(row);
                let mut others = beside.ones().map(|port| PortPlace { participant: 0, port });
                others.all(|other| self.has_partner(place, link, other, &alone[other.port]))
            });
            known.extend(bucket.map(|bucket| (bucket, found)));
            given.set(row, found);
        }
        given
    }

    /// Whether one of these rows goes to another port while something is docked at the first.
    fn has_partner(&mut self, place: PortPlace, link: PortPlace, other: PortPlace, rows: &Rows) -> bool {
        let is_tied = self.table.labels_mentioned(place).contains(&other.port)
            || self.table.labels_mentioned(other).contains(&place.port);
        if !is_tied {
            return rows.ones().any(|row| self.links.place(row).participant != link.participant);
        }
        let Gangmatcher { table, links, .. } = self;
        table.suppose(place, link, |table| {
            let window = Window::of(other, &[place, link], table, links);
            let mut partners = links.answer(&window, table);
            partners.intersect_with(rows);
            partners.ones().map(|row| links.place(row)).any(|partner| {
                let places = [place, link, other, partner];
                partner.participant != link.participant
                    && table.suppose(other, partner, |table| table.none_refuses(&places))
            })
        })
    }

    /// The gang that a request would get of the offers that are left.  Nothing is used up, and nothing counts in the
    /// statistics.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors do not compare.
    pub fn possible(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.aside(|matcher| {
            matcher.seat(request)?;
            let found = matcher.search(None);
            if let Some(fault) = matcher.fault.take() {
                return Err(GangFault::Policy(fault));
            }
            Ok(found.map(|(_, mut gang)| {
                gang.request = index;
                gang
            }))
        })
    }

    /// Does something that counts nowhere, by the algorithm that prefers.
    pub(super) fn aside<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.statistics, self.table.evaluations, self.strategy);
        self.strategy = Algorithm::Best.strategy();
        let found = work(self);
        (self.statistics, self.table.evaluations, self.strategy) = before;
        found
    }

    /// What keeps ports of the request empty while the deepest gang is docked.
    fn stuck(&mut self, deepest: &Gang, next: std::ops::Range<usize>, alone: &[Rows]) -> Vec<Stuck> {
        let docked = self.table.assemble(deepest);
        // What would dock at the later ports is open.
        self.table.open(0, &(0..next.start).collect());
        let mut found = Vec::new();
        for port in next {
            found.push(self.stuck_at(PortPlace { participant: 0, port }, deepest, &alone[port]));
        }
        self.table.disband(&docked);
        found
    }

    fn stuck_at(&mut self, place: PortPlace, deepest: &Gang, rows: &Rows) -> Stuck {
        let mut stuck = Stuck { port: place.port, ..Stuck::default() };
        let held: Vec<usize> = deepest.members().iter().map(|docked| docked.offer).collect();
        // For each offer how far it gets; its rows stand side by side.
        let mut reached: Vec<(PortPlace, Reach, Option<Condition>)> = Vec::new();
        for row in rows.ones() {
            let link = self.links.place(row);
            if held.contains(&(link.participant as usize - 1)) {
                let is_new =
                    row == 0 || !self.links.rows_of(link.participant).any(|other| other < row && rows.contains(other));
                stuck.held.extend(is_new.then_some(link.participant as usize - 1));
                continue;
            }
            let (reach, condition) = self.table.suppose(place, link, |table| table.reach(place, link));
            match reached.last_mut() {
                Some(last) if last.0.participant == link.participant => {
                    if reach > last.1 {
                        *last = (link, reach, condition);
                    }
                }
                _ => reached.push((link, reach, condition)),
            }
        }
        let mut conditions = Conditions::default();
        let mut unserved: Option<PortPlace> = None;
        for (link, reach, condition) in reached {
            let offer = link.participant as usize - 1;
            match (reach, condition) {
                (Reach::Refused, Some(condition)) => conditions.add(condition, offer),
                (Reach::Discarded, _) => stuck.discarded += 1,
                (Reach::Unserved, _) => {
                    stuck.unserved.push(offer);
                    unserved.get_or_insert(link);
                }
                _ => stuck.fitting += 1,
            }
        }
        stuck.conditions = conditions.by_number();
        if let Some(link) = unserved {
            stuck.needs = self.needs(place, link, &held);
        }
        stuck
    }

    /// Each port of its own of an offer that is docked at a port, and how many offers could dock there.
    fn needs(&mut self, place: PortPlace, link: PortPlace, held: &[usize]) -> Vec<(String, usize)> {
        self.table.dock(place, link);
        let own = (0..self.table.ports(link.participant)).filter(|port| *port != link.port);
        let own: Vec<PortPlace> = own.map(|port| PortPlace { port, ..link }).collect();
        let mut needs = Vec::with_capacity(own.len());
        for port in own {
            let mut rows = self.docking_at(port);
            let taken = held.iter().map(|offer| participant(*offer)).chain([link.participant]);
            taken.for_each(|taken| rows.set_range(self.links.rows_of(taken), false));
            needs.push((self.table.label(port), self.offers(&rows)));
        }
        self.table.undock(place, link);
        needs
    }
}

/// The request with the first entry of its list of ports alone, then with the first two, up to itself.
fn prefixes(request: &Ad) -> Vec<Ad> {
    let name = Name::new("Ports");
    let Some(list) = request.get(&name) else { return vec![request.clone()] };
    let Kind::List(entries) = list.bare().kind() else { return vec![request.clone()] };
    let prefix = |count: usize| {
        let entries = Kind::List(entries[..count].to_vec().into());
        request.with(name.clone(), Expression::new(entries, list.span()))
    };
    (1..=entries.len()).map(prefix).collect()
}

impl Table {
    /// Whether the constraints of these ports may be met, as far as that is known.
    fn none_refuses(&mut self, places: &[PortPlace]) -> bool {
        places.iter().all(|place| self.accepts(*place) != Verdict::Refused)
    }

    /// How far a candidate gets that is docked; and what it fails by.
    fn reach(&mut self, place: PortPlace, link: PortPlace) -> (Reach, Option<Condition>) {
        if let Some(condition) = self.keeping(place, link) {
            return (Reach::Refused, Some(condition));
        }
        if !self.worth(place, link).is_acceptable() {
            return (Reach::Discarded, None);
        }
        let reach = if self.ports(link.participant) > 1 { Reach::Unserved } else { Reach::Fits };
        (reach, None)
    }
}
