//! Failure analysis: why a request gets no gang. Tells which ports of the request can be filled together and what keeps
//! the next port empty.

mod clauses;
mod conditions;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ad::Participant;
use crate::protocol::PortPattern;

use super::Gang;
use super::offer_pool::OfferPool;
use super::participants::{DockingVerdict, ParticipantTable, PortPlace};
use super::port_index::{PortIndex, RowBitmap, WindowQuery};
use conditions::grouped_by_condition;

pub use clauses::{ClauseBound, FailedClauses, OfferDemand, PortClause, RejectedOffer, RequestLiteral};
pub use conditions::{FailedCondition, ReadAttribute};

#[cfg(test)]
mod tests;

/// Why a request gets no gang.
#[derive(Clone, Debug, PartialEq)]
pub struct GangFailure {
    /// The candidates of each port, in the order of the port list.
    pub ports: Vec<PortCandidates>,
    /// The best gang of the longest prefix of the ports that can be filled together.
    pub deepest: Gang,
    /// The port, or the ports of the group, that cannot be filled next to the deepest gang.
    pub blocked: Vec<BlockedPort>,
}

/// The candidates of one port, as counts of offers.
#[derive(Clone, Debug, PartialEq)]
pub struct PortCandidates {
    /// Label of the port.
    pub label: String,
    /// Number of unused offers that fit the port by itself: neither side refuses the other with nothing else docked.
    pub independent: usize,
    /// Number of the `independent` offers that leave a partner for each port that must be filled together with this
    /// port. A partner is another offer that fits its port while the first offer is docked: none of the four
    /// constraints refuses.
    pub consistent: usize,
    /// Number of offers that would fit the port by itself but are used up.
    pub used_up: usize,
    /// Whether every allowed pattern of the request's ports fills this port.
    pub is_required: bool,
    /// The conditions that rule unused offers out, sorted by the number of offers ruled out, greatest first. Empty if
    /// some unused offer fits.
    pub ruled_out: Vec<FailedCondition>,
}

/// A port that cannot be filled while the deepest gang is docked.
///
/// Each offer that fits the port by itself is counted once. An offer with several ports is counted by its port that is
/// nearest to docking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedPort {
    /// 0-based index of the port.
    pub port: usize,
    /// Indices of the offers that the deepest gang already holds.
    pub held: Vec<usize>,
    /// Conditions that rule offers out which the gang does not hold, sorted by the number of offers ruled out, greatest
    /// first.
    pub conditions: Vec<FailedCondition>,
    /// Number of offers whose docking vector has an undefined or error component.
    pub unacceptable: usize,
    /// Indices of the offers that would dock but whose own ports cannot be filled.
    pub unserved: Vec<usize>,
    /// The label of each port of the first unserved offer other than its link, and the number of offers that fit there.
    pub unserved_ports: Vec<(String, usize)>,
    /// Number of offers that fit. Positive only in a group, whose ports cannot all be filled at once.
    pub fitting: usize,
}

/// Result of docking one offer at one port with nothing else docked.
#[derive(Clone, Debug)]
pub struct TrialDocking {
    /// Label of the port.
    pub label: String,
    /// The condition that rejects the offer. `None` if it docks.
    pub condition: Option<FailedCondition>,
}

/// How far docking a candidate gets before something prevents a gang.
enum DockingProgress {
    /// The candidate docks.
    Fits,
    /// The candidate docks, but has ports of its own, which cannot be filled.
    Unserved,
    /// The docking vector has an undefined or error component.
    Unacceptable,
    /// The constraint of one of the two ports refuses.
    Refused(FailedCondition),
}

impl DockingProgress {
    /// Returns how far the candidate `link`, docked at `place`, gets, and its distance from docking: 0 if the candidate
    /// docks, greater the earlier it fails.
    fn of(table: &mut ParticipantTable, place: PortPlace, link: PortPlace) -> (u8, Self) {
        if let Some(condition) = FailedCondition::of(table, place, link) {
            (3, DockingProgress::Refused(condition))
        } else if !table.docked_score(place, link).is_acceptable() {
            (2, DockingProgress::Unacceptable)
        } else if table.port_count(link.participant) > 1 {
            (1, DockingProgress::Unserved)
        } else {
            (0, DockingProgress::Fits)
        }
    }
}

/// The analysis docks offers on trial and undocks them again. It must begin with nothing docked.
impl OfferPool {
    /// Describes why the ports `next` cannot be filled while the deepest gang is docked at the ports before them.
    pub fn failure(&mut self, deepest: Gang, next: Range<usize>) -> GangFailure {
        let independent = self.independent_candidates();
        let ports = self.table.request_ports().map(|place| self.port_candidates(place, &independent)).collect();
        let blocked = self.with_deepest(&deepest, next.start, |pool| {
            next.map(|port| pool.blocked_port(PortPlace::of_request(port), &deepest, &independent[port])).collect()
        });
        GangFailure { ports, deepest, blocked }
    }

    /// Returns why each unused offer is rejected at a port: see [`super::Gangmatcher::failed_clauses`].
    pub fn failed_clauses(&mut self, failure: &GangFailure, port: usize) -> FailedClauses {
        let place = PortPlace::of_request(port);
        if failure.ports[port].independent == 0 {
            let rows = self.index.unused().clone();
            return self.failed_clauses_at(place, &rows, &[]);
        }
        let rows = self.independent_candidates().swap_remove(port);
        let first = failure.blocked.first().map_or(0, |blocked| blocked.port);
        let held = held_offers(&failure.deepest);
        self.with_deepest(&failure.deepest, first, |pool| pool.failed_clauses_at(place, &rows, &held))
    }

    /// Docks an offer at each port of the request in turn, with nothing else docked. Returns one result per port.
    pub fn trial_dockings(&mut self, offer: Participant) -> Vec<TrialDocking> {
        let places = self.table.request_ports();
        let table = &mut self.table;
        let dock = |place| {
            let links = table.ports(offer);
            let condition = nearest_conditions(table, place, links).pop().and_then(|(_, _, condition)| condition);
            TrialDocking { label: table.label(place), condition }
        };
        places.map(dock).collect()
    }

    /// Runs `work` while the deepest gang is docked and the request's ports from `first` on are open.
    fn with_deepest<T>(&mut self, deepest: &Gang, first: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let docked = self.table.dock_gang(deepest);
        self.table.reopen_unfilled(Participant::REQUEST, &(0..first).collect());
        let found = work(self);
        self.table.undock_gang(&docked);
        found
    }

    /// Returns, for each port of the current request, the rows that fit the port with nothing else docked.
    fn independent_candidates(&mut self) -> Vec<RowBitmap> {
        let OfferPool { table, index, .. } = self;
        table.request_ports().map(|place| candidates_at(table, index, place)).collect()
    }

    /// Counts the candidates of a port of the current request. `independent` holds the rows that fit each port by
    /// itself.
    fn port_candidates(&mut self, place: PortPlace, independent: &[RowBitmap]) -> PortCandidates {
        let rows = &independent[place.port];
        let consistent = self.consistent_rows(place, independent);
        let OfferPool { table, index, .. } = self;
        let window = WindowQuery::of(place, &[], table, index);
        let used = index.select_used(&window, table);
        let used = accepted_rows(table, index, place, &used);
        let patterns = table.patterns(Participant::REQUEST);
        PortCandidates {
            label: table.label(place),
            independent: index.offers_of(rows).len(),
            consistent: index.offers_of(&consistent).len(),
            used_up: index.offers_of(&used).len(),
            is_required: patterns.is_none_or(|patterns| patterns.iter().all(|ports| ports.contains(place.port))),
            ruled_out: if rows.is_clear() { conditions_at(table, index, place) } else { Vec::new() },
        }
    }

    /// Returns those rows that fit the port `place` by itself and have a partner at each other port that must be filled
    /// together with it. `independent` holds the rows that fit each port by itself.
    fn consistent_rows(&mut self, place: PortPlace, independent: &[RowBitmap]) -> RowBitmap {
        // The ports that every pattern with this port fills.
        let mut others: PortPattern = (0..independent.len()).collect();
        let patterns = self.table.patterns(Participant::REQUEST).into_iter().flat_map(|patterns| patterns.iter());
        patterns.filter(|pattern| pattern.contains(place.port)).for_each(|pattern| others.intersect_with(pattern));
        others.set(place.port, false);
        let classes = self.candidate_classes();
        // Rows of one class have the same partners: each class is examined once.
        let mut known: FxHashMap<usize, bool> = FxHashMap::default();
        let rows = &independent[place.port];
        let mut consistent = RowBitmap::with_capacity(rows.len());
        for row in rows.ones() {
            let class = classes.class_of(row);
            let has_partners = class.and_then(|class| known.get(&class).copied()).unwrap_or_else(|| {
                let link = self.index.place(row);
                let mut others = others.ones().map(PortPlace::of_request);
                others.all(|other| self.has_partner(place, link, other, &independent[other.port]))
            });
            known.extend(class.map(|class| (class, has_partners)));
            consistent.set(row, has_partners);
        }
        consistent
    }

    /// Whether one of `rows`, of another offer than `link`, fits the port `other` while `link` is docked at `place`.
    fn has_partner(&mut self, place: PortPlace, link: PortPlace, other: PortPlace, rows: &RowBitmap) -> bool {
        let OfferPool { table, index, .. } = self;
        let is_tied =
            table.mentioned_ports(place).contains(&other.port) || table.mentioned_ports(other).contains(&place.port);
        if !is_tied {
            return rows.ones().any(|row| index.place(row).participant != link.participant);
        }
        table.with_docked(place, link, |table| {
            let window = WindowQuery::of(other, &[place, link], table, index);
            let mut partners = index.select(&window, table);
            partners.intersect_with(rows);
            partners.ones().map(|row| index.place(row)).any(|partner| {
                let places = [place, link, other, partner];
                partner.participant != link.participant
                    && table.with_docked(other, partner, |table| may_all_accept(table, &places))
            })
        })
    }

    /// Describes one port that cannot be filled. `rows` are the rows that fit the port by itself. The deepest gang must
    /// be docked.
    fn blocked_port(&mut self, place: PortPlace, deepest: &Gang, rows: &RowBitmap) -> BlockedPort {
        let held = held_offers(deepest);
        let OfferPool { table, index, .. } = self;
        let docked = index.offers_of(rows).into_iter().filter(|offer| held.contains(offer));
        let mut blocked =
            BlockedPort { port: place.port, held: docked.map(Participant::offer).collect(), ..BlockedPort::default() };
        let links = rows.ones().map(|row| index.place(row)).filter(|link| !held.contains(&link.participant));
        let (mut refused, mut unserved) = (Vec::new(), None);
        for (link, _, progress) in
            nearest_links(table, place, links, |table, link| DockingProgress::of(table, place, link))
        {
            let offer = link.participant.offer();
            match progress {
                DockingProgress::Refused(condition) => refused.push((offer, condition)),
                DockingProgress::Unacceptable => blocked.unacceptable += 1,
                DockingProgress::Unserved => {
                    blocked.unserved.push(offer);
                    unserved.get_or_insert(link);
                }
                DockingProgress::Fits => blocked.fitting += 1,
            }
        }
        blocked.conditions = grouped_by_condition(refused);
        if let Some(link) = unserved {
            let count = |table: &mut ParticipantTable| unserved_ports(table, index, link, &held);
            blocked.unserved_ports = table.with_docked(place, link, count);
        }
        blocked
    }

    /// Returns why the offers of `rows` are rejected at a port, leaving out the offers in `held`.
    fn failed_clauses_at(&mut self, place: PortPlace, rows: &RowBitmap, held: &[Participant]) -> FailedClauses {
        let OfferPool { table, index, .. } = self;
        let scoped = table.clauses(place);
        let scoped = scoped.as_deref().unwrap_or_default();
        let scoped = &scoped[..scoped.len().min(clauses::MAX_CLAUSES)];
        let clauses: Vec<PortClause> = scoped.iter().map(|clause| table.port_clause(clause, place)).collect();
        let links = rows.ones().map(|row| index.place(row)).filter(|link| !held.contains(&link.participant));
        let nearest = nearest_links(table, place, links, |table, link| {
            let offer = RejectedOffer::of(table, link, scoped.iter().zip(&clauses));
            ((offer.failed_mask.count_ones(), offer.demand.is_some()), offer)
        });
        let rejected = nearest.into_iter().filter(|(_, distance, _)| *distance > (0, false));
        FailedClauses { offers: rejected.map(|(_, _, offer)| offer).collect(), clauses }
    }
}

/// Returns the offers of a gang.
fn held_offers(gang: &Gang) -> Vec<Participant> {
    gang.members().iter().map(|docked| Participant::of_offer(docked.offer)).collect()
}

/// Docks links at a port one by one and examines each: `examine` returns the distance from docking and a result. Keeps
/// for each offer the link with the least distance; of several, the first. The links of an offer must be adjacent in
/// `links`.
fn nearest_links<K: PartialOrd, T>(
    table: &mut ParticipantTable,
    place: PortPlace,
    links: impl Iterator<Item = PortPlace>,
    examine: impl Fn(&mut ParticipantTable, PortPlace) -> (K, T),
) -> Vec<(PortPlace, K, T)> {
    let mut nearest: Vec<(PortPlace, K, T)> = Vec::new();
    for link in links {
        let (distance, found) = table.with_docked(place, link, |table| examine(table, link));
        match nearest.last_mut().filter(|(last, ..)| last.participant == link.participant) {
            Some(last) if distance < last.1 => *last = (link, distance, found),
            Some(_) => {}
            None => nearest.push((link, distance, found)),
        }
    }
    nearest
}

/// Returns, for each offer of these links, the link nearest to docking at a port, its distance from docking, and the
/// condition by which it fails there. The condition is `None` if the link docks. A link that the request accepts is
/// nearer to docking than one that the request rejects.
fn nearest_conditions(
    table: &mut ParticipantTable,
    place: PortPlace,
    links: impl Iterator<Item = PortPlace>,
) -> Vec<(PortPlace, u8, Option<FailedCondition>)> {
    nearest_links(table, place, links, |table, link| {
        let condition = FailedCondition::of(table, place, link);
        (condition.as_ref().map_or(0, |condition| 1 + u8::from(condition.is_of_request)), condition)
    })
}

/// Returns the conditions that rule out unused offers at a port with nothing docked, sorted by the number of offers
/// ruled out, greatest first.
fn conditions_at(table: &mut ParticipantTable, index: &PortIndex, place: PortPlace) -> Vec<FailedCondition> {
    let links = index.unused().ones().map(|row| index.place(row));
    let nearest = nearest_conditions(table, place, links).into_iter();
    grouped_by_condition(nearest.filter_map(|(link, _, condition)| Some((link.participant.offer(), condition?))))
}

/// Returns the unused rows that may dock at a port, as far as is known with what is docked now.
fn candidates_at(table: &mut ParticipantTable, index: &mut PortIndex, place: PortPlace) -> RowBitmap {
    let window = WindowQuery::of(place, &[], table, index);
    let rows = index.select(&window, table);
    accepted_rows(table, index, place, &rows)
}

/// Returns those of `rows` that neither refuse the port nor are refused by it, as far as is known with what is docked.
fn accepted_rows(table: &mut ParticipantTable, index: &PortIndex, place: PortPlace, rows: &RowBitmap) -> RowBitmap {
    let mut accepted = RowBitmap::with_capacity(rows.len());
    for row in rows.ones() {
        let link = index.place(row);
        accepted.set(row, table.with_docked(place, link, |table| may_all_accept(table, &[place, link])));
    }
    accepted
}

/// Whether the constraint of none of these ports is known to refuse. A constraint that depends on open ports counts as
/// accepting.
fn may_all_accept(table: &mut ParticipantTable, places: &[PortPlace]) -> bool {
    places.iter().all(|place| table.accepts(*place) != DockingVerdict::Refused)
}

/// Returns the label of each port other than `link` of the docked offer, and the number of offers that fit there.
/// Offers in `held` do not count.
fn unserved_ports(
    table: &mut ParticipantTable,
    index: &mut PortIndex,
    link: PortPlace,
    held: &[Participant],
) -> Vec<(String, usize)> {
    let own = table.ports(link.participant).filter(|port| *port != link);
    own.map(|port| {
        let mut rows = candidates_at(table, index, port);
        let taken = held.iter().copied().chain([link.participant]);
        taken.for_each(|taken| rows.set_range(index.rows_of(taken), false));
        (table.label(port), index.offers_of(&rows).len())
    })
    .collect()
}
