//! Failure analysis: why a request gets no gang. The analysis tells which ports of the request can be filled together,
//! and why the next port stays empty.

mod clauses;
mod conditions;
mod members;
mod nearest;
mod pinned_ads;
mod renumbering;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, ExpressionKind, Participant};
use crate::protocol::{PORTS, PortPattern, port_list};

use super::Gang;
use super::offer_pool::OfferPool;
use super::participants::{ParticipantTable, PortPlace};
use super::port_index::{RowBitmap, WindowQuery};
use super::search::CandidateScore;
use conditions::grouped_by_condition;
use nearest::{
    accepted_rows, candidates_at, conditions_at, held_offers, may_all_accept, nearest_conditions, nearest_links,
};

use clauses::port_clause;
pub use clauses::{FailedClauses, OfferDemand, PortClause, RejectedOffer};
pub use conditions::{FailedCondition, ReadAttribute};
use members::rejected_member;
pub use members::{MemberCause, MemberFailure, UnmetClause};
pub(super) use members::{describe_unmet, unserved_links};
pub use pinned_ads::{Pins, pin_name};
pub use renumbering::renumbered;

#[cfg(test)]
mod tests;

/// The result of a failure analysis: why a request gets no gang.
#[derive(Clone, Debug, PartialEq)]
pub struct GangFailure {
    /// The candidates of each port of the request, in the order of the port list.
    pub ports: Vec<PortCandidates>,
    /// The best gang that fills the first entries of the request's port list, as many entries as can be filled
    /// together.
    pub deepest: Gang,
    /// The ports of the next entry of the port list, which cannot be filled while `deepest` is docked. An entry is a
    /// port or a group of ports.
    pub blocked: Vec<BlockedPort>,
    /// Whether a search ended at its limit. There may be a gang then.
    pub is_cut_off: bool,
}

impl GangFailure {
    /// Returns the 0-based index of the component of the docking vector that discards candidates of the blocked port, if
    /// nothing but the vector keeps candidates away. `None` otherwise.
    #[must_use]
    pub fn discarding_component(&self) -> Option<usize> {
        let [blocked] = self.blocked.as_slice() else { return None };
        let is_alone = blocked.conditions.is_empty() && blocked.unserved.is_empty() && blocked.held.is_empty();
        blocked.discarding.filter(|_| is_alone)
    }
}

/// How many offers can dock at one port of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct PortCandidates {
    /// Label of the port.
    pub label: String,
    /// Number of unused offers that fit the port by itself: with nothing else docked, neither the constraint of the
    /// port nor the constraint of the offer refuses.
    pub independent: usize,
    /// Number of the `independent` offers that leave an offer for each port that must be filled together with this
    /// port. Each of these ports is tested by itself, while the counted offer is docked at this port.
    pub consistent: usize,
    /// Number of offers that would fit the port by itself but are used up.
    pub used_up: usize,
    /// Whether every allowed pattern of filled ports contains this port.
    pub is_required: bool,
    /// The conditions that rule out unused offers. The condition that rules out the most offers comes first. Empty if
    /// some unused offer fits the port by itself.
    pub ruled_out: Vec<FailedCondition>,
}

/// A port that cannot be filled while the deepest gang is docked, and what keeps offers from docking there.
///
/// Only offers that fit the port by itself are listed or counted, each once. If several ports of an offer fit, each of
/// them is tried as the link, and the best result counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedPort {
    /// 0-based index of the blocked port.
    pub port: usize,
    /// Indices of the offers that fit the port while no other port is filled, but are docked elsewhere in the deepest gang.
    pub held: Vec<usize>,
    /// Conditions that rule out offers outside the deepest gang. The condition that rules out the most offers comes
    /// first.
    pub conditions: Vec<FailedCondition>,
    /// Number of offers that may not dock because a component of their docking vector is undefined or an error.
    pub unacceptable: usize,
    /// 0-based index of the first such component of the first of these offers; `None` if there is none.
    pub discarding: Option<usize>,
    /// Indices of the offers that neither constraint refuses by itself, but that have ports besides their link and
    /// cannot serve the port with them.
    pub unserved: Vec<usize>,
    /// Why the nearest of the `unserved` offers cannot serve the port. `None` if there are no such offers.
    pub member: Option<MemberFailure>,
    /// Number of offers that could dock. Positive only for a port of a group: some ports of the group can be filled,
    /// but not enough at once.
    pub fitting: usize,
    /// Whether the ports at which the `held` offers are docked accept only these offers.
    pub is_contested: bool,
    /// Indices of the request's ports for which no candidate fits beside any candidate for this port, each by itself.
    pub incompatible: Vec<usize>,
}

/// Result of docking one offer at one port of a request with nothing else docked.
#[derive(Clone, Debug)]
pub struct TrialDocking {
    /// Label of the port.
    pub label: String,
    /// The condition that keeps the offer from docking. `None` if the offer docks.
    pub condition: Option<FailedCondition>,
}

/// What happens when a candidate is docked at a port.
enum DockingProgress {
    /// The candidate docks and has no other ports.
    Fits,
    /// The candidate docks, but has ports besides its link. Whether these ports can be filled is not tested.
    Unserved,
    /// The candidate may not dock because the component of its docking vector with this index is undefined or an error.
    Unacceptable(usize),
    /// The constraint of the port or the constraint of the candidate refuses.
    Refused(FailedCondition),
}

impl DockingProgress {
    /// Returns how the candidate `link` fares when docked at `place`, and a distance from docking. The distance is 0
    /// for `Fits`, 1 for `Unserved`, 2 for `Unacceptable` and 3 for `Refused`.
    fn of(table: &mut ParticipantTable, place: PortPlace, link: PortPlace) -> (u8, Self) {
        if let Some(condition) = FailedCondition::of(table, place, link) {
            (3, DockingProgress::Refused(condition))
        } else if let CandidateScore::Vector(vector) = table.docked_score(place, link)
            && let Some(component) = vector.0.iter().position(Option::is_none)
        {
            (2, DockingProgress::Unacceptable(component))
        } else if table.port_count(link.participant) > 1 {
            (1, DockingProgress::Unserved)
        } else {
            (0, DockingProgress::Fits)
        }
    }
}

/// The failure analysis. Precondition of each public method: nothing is docked. Each public method undocks whatever it
/// docks.
impl OfferPool {
    /// Describes why the request's ports with the indices `next` cannot be filled while `deepest` is docked.
    /// `deepest` must fill only ports with lower indices.
    pub fn failure(&mut self, deepest: Gang, next: Range<usize>) -> GangFailure {
        let independent = self.independent_candidates();
        let ports = self.table.request_ports().map(|place| self.port_candidates(place, &independent)).collect();
        let blocked = self.with_deepest(&deepest, next.start, |pool| {
            next.map(|port| pool.blocked_port(PortPlace::of_request(port), &deepest, &independent[port])).collect()
        });
        let mut failure = GangFailure { ports, deepest, blocked, is_cut_off: false };
        for blocked in &mut failure.blocked {
            self.compare_ports(blocked, &failure.deepest, &independent);
        }
        failure
    }

    /// Finds out which ports compete with a blocked port for its candidates, or fit none of them. `independent` holds,
    /// for each port, the rows that fit the port by itself.
    fn compare_ports(&mut self, blocked: &mut BlockedPort, deepest: &Gang, independent: &[RowBitmap]) {
        let place = PortPlace::of_request(blocked.port);
        let docked = |offer: &usize| deepest.ports.iter().find(|docked| docked.offer == *offer);
        let accepts_only_held = |offer: &usize| {
            let port = docked(offer)
                .and_then(|docked| self.table.labels(Participant::REQUEST).position(|label| label.is(&docked.label)));
            port.is_some_and(|port| {
                let offers = self.index.offers_of(&independent[port]);
                offers.into_iter().all(|offer| blocked.held.contains(&offer.offer()))
            })
        };
        blocked.is_contested = blocked.held.iter().all(accepts_only_held);
        for (port, rows) in
            independent.iter().enumerate().filter(|(port, rows)| *port != place.port && !rows.is_clear())
        {
            let other = PortPlace::of_request(port);
            let links = independent[place.port].ones().map(|row| self.index.place(row)).collect::<Vec<_>>();
            if !links.into_iter().any(|link| self.has_partner(place, link, other, rows)) {
                blocked.incompatible.push(port);
            }
        }
    }

    /// Returns why offers cannot dock at a port: see [`super::Gangmatcher::failed_clauses`].
    pub fn failed_clauses(&mut self, failure: &GangFailure, port: usize) -> FailedClauses {
        let place = PortPlace::of_request(port);
        if failure.ports[port].independent == 0 {
            let rows = self.index.unused().clone();
            return self.failed_clauses_at(place, &rows, &[]);
        }
        let rows = self.independent_candidates().swap_remove(port);
        let first = failure.blocked.first().map_or(0, |blocked| blocked.port);
        let held = held_offers(&failure.deepest);
        let mut failed = self.with_deepest(&failure.deepest, first, |pool| pool.failed_clauses_at(place, &rows, &held));
        let member =
            failure.blocked.iter().find(|blocked| blocked.port == port).and_then(|blocked| blocked.member.as_ref());
        failed.offers.extend(
            member
                .and_then(|member| rejected_member(&mut self.table, place, &failure.deepest, member, &failed.clauses)),
        );
        failed
    }

    /// Docks an offer at one port of the request after another, with nothing else docked. Returns one result per port.
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

    /// Runs `work` while the deepest gang is docked and the request's ports with index `first` and above are open.
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

    /// Describes the candidates of a port of the current request. `independent` holds, for each port, the rows that fit
    /// the port by itself.
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
            ruled_out: if rows.is_clear() { conditions_at(table, index, place, index.unused()) } else { Vec::new() },
        }
    }

    /// Returns the rows of the offers that [`PortCandidates::consistent`] counts for the port `place`. `independent`
    /// holds, for each port, the rows that fit the port by itself.
    fn consistent_rows(&mut self, place: PortPlace, independent: &[RowBitmap]) -> RowBitmap {
        // Collect the other ports that are filled in every pattern that fills this port.
        let mut others: PortPattern = (0..independent.len()).collect();
        let patterns = self.table.patterns(Participant::REQUEST).into_iter().flat_map(|patterns| patterns.iter());
        patterns.filter(|pattern| pattern.contains(place.port)).for_each(|pattern| others.intersect_with(pattern));
        others.set(place.port, false);
        let classes = self.candidate_classes();
        // Examine only one row of each class of equivalent rows, and remember the result for the class. Equivalent rows
        // leave the same candidates for other ports.
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

    /// Whether some row of `rows` fits the port `other` while `link` is docked at `place`. Rows of the same offer as
    /// `link` do not count.
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

    /// Describes why one port cannot be filled. `rows` are the rows that fit the port by itself. Precondition:
    /// `deepest` is docked.
    fn blocked_port(&mut self, place: PortPlace, deepest: &Gang, rows: &RowBitmap) -> BlockedPort {
        let held = held_offers(deepest);
        let OfferPool { table, index, .. } = self;
        let docked = index.offers_of(rows).into_iter().filter(|offer| held.contains(offer));
        let mut blocked =
            BlockedPort { port: place.port, held: docked.map(Participant::offer).collect(), ..BlockedPort::default() };
        let links = rows.ones().map(|row| index.place(row)).filter(|link| !held.contains(&link.participant));
        let mut refused = Vec::new();
        for (link, _, progress) in
            nearest_links(table, place, links, |table, link| DockingProgress::of(table, place, link))
        {
            let offer = link.participant.offer();
            match progress {
                DockingProgress::Refused(condition) => refused.push((offer, condition)),
                DockingProgress::Unacceptable(component) => {
                    blocked.unacceptable += 1;
                    blocked.discarding.get_or_insert(component);
                }
                DockingProgress::Unserved => blocked.unserved.push(offer),
                DockingProgress::Fits => blocked.fitting += 1,
            }
        }
        blocked.conditions = grouped_by_condition(refused);
        blocked
    }

    /// Returns why the offers of `rows` cannot dock at a port. Skips the offers in `held`.
    fn failed_clauses_at(&mut self, place: PortPlace, rows: &RowBitmap, held: &[Participant]) -> FailedClauses {
        let OfferPool { table, index, .. } = self;
        let scoped = table.clauses(place);
        let scoped = scoped.as_deref().unwrap_or_default();
        let scoped = &scoped[..scoped.len().min(clauses::MAX_CLAUSES)];
        let clauses: Vec<PortClause> = scoped.iter().map(|clause| port_clause(table, clause, place)).collect();
        let links = rows.ones().map(|row| index.place(row)).filter(|link| !held.contains(&link.participant));
        let nearest = nearest_links(table, place, links, |table, link| {
            let offer = RejectedOffer::of(table, link, scoped.iter().zip(&clauses));
            ((offer.failed_mask.count_ones(), offer.demand.is_some()), offer)
        });
        let rejected = nearest.into_iter().filter(|(_, distance, _)| *distance > (0, false));
        FailedClauses { offers: rejected.map(|(_, _, offer)| offer).collect(), clauses }
    }
}

/// Returns copies of a request with shorter port lists: the first entry of the list, the first two entries, up to the
/// whole list.
pub fn port_list_prefixes(request: &Ad) -> Vec<Ad> {
    let Some(list) = port_list(request) else { return vec![request.clone()] };
    let ExpressionKind::List(entries) = list.without_parentheses().kind() else { return vec![request.clone()] };
    let prefix = |count: usize| {
        let entries = ExpressionKind::List(entries[..count].to_vec().into());
        request.with(PORTS.clone(), Expression::new(entries, list.span()))
    };
    (1..=entries.len()).map(prefix).collect()
}
