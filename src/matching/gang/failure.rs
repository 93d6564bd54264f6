//! Failure analysis: why a request gets no gang. Tells which of its ports can be filled and what keeps the next one
//! empty.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, ExpressionKind, Participant};
use crate::protocol::{PORTS, PortPattern, read_ports};

use super::Gang;
use super::failed_conditions::{FailedCondition, FailedConditions};
use super::matcher::{GangFault, Gangmatcher, participant_of};
use super::participants::{DockingVerdict, ParticipantTable, PortPlace};
use super::port_index::RowBitmap;
use super::strategy::Algorithm;
use super::window_query::WindowQuery;

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
    /// Number of those that are pairwise consistent with every port that must be filled together with this one: some
    /// other offer fits there, and none of the four constraints refuses.
    pub consistent: usize,
    /// Number of offers that would fit the port by itself but are used up.
    pub used_up: usize,
    /// Whether every allowed pattern of the request's ports fills this one.
    pub is_required: bool,
    /// If no unused offer fits, the conditions that rule them out, those first that rule out most.
    pub ruled_out: Vec<FailedCondition>,
}

/// A port that cannot be filled while the deepest gang is docked.
///
/// Each offer that fits the port by itself is counted once, by that one of its own ports that gets furthest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockedPort {
    /// 0-based index of the port.
    pub port: usize,
    /// Indices of the offers that the deepest gang already holds.
    pub held: Vec<usize>,
    /// Conditions that rule other offers out, those first that rule out most.
    pub conditions: Vec<FailedCondition>,
    /// Number of offers whose docking vector has an undefined or error component.
    pub unacceptable: usize,
    /// Indices of the offers that would dock but whose own ports cannot be filled.
    pub unserved: Vec<usize>,
    /// For the first unserved offer, the label of each of its other ports and the number of offers that fit there.
    pub unserved_ports: Vec<(String, usize)>,
    /// Number of offers that fit. Positive only in a group, whose ports cannot all be filled at once.
    pub fitting: usize,
}

/// How far docking a candidate gets. Later variants get further.
#[derive(PartialEq, PartialOrd)]
enum DockingProgress {
    /// A constraint refuses.
    Refused,
    /// The docking vector is not acceptable.
    Unacceptable,
    /// It docks, but has ports of its own, which cannot be filled.
    Unserved,
    /// It docks.
    Fits,
}

impl Gangmatcher {
    /// Returns why a request gets no gang of the unused offers, or `None` if it gets one. Uses no offer up and leaves
    /// the statistics unchanged.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors do not compare.
    pub fn gang_failure(&mut self, index: usize, request: &Ad) -> Result<Option<GangFailure>, GangFault> {
        self.without_side_effects(|matcher| {
            let (deepest, next) = matcher.deepest_gang(index, request)?;
            let Some(next) = next else { return Ok(None) };
            matcher.seat(request)?;
            let alone = matcher.independent_candidates();
            let ports = matcher.port_candidates(&alone);
            let stuck = matcher.blocked_ports(&deepest, next, &alone);
            Ok(Some(GangFailure { ports, deepest, blocked: stuck }))
        })
    }

    /// Returns the best gang of the longest prefix of the port list that can be filled, and the range of ports of the
    /// next entry, which cannot. The range is `None` if all can be filled.
    ///
    /// Searching prefix by prefix is exact: a port does not see the labels after it, so the first ports of any gang of
    /// the request form a gang of the prefix.
    fn deepest_gang(
        &mut self,
        index: usize,
        request: &Ad,
    ) -> Result<(Gang, Option<std::ops::Range<usize>>), GangFault> {
        let mut deepest = Gang { request: index, ports: Vec::new() };
        let mut filled = 0;
        for prefix in port_list_prefixes(request) {
            let ports = read_ports(&prefix)?.list.len();
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

    /// Returns, for each port of the seated request, the rows that fit it with nothing else docked.
    pub(super) fn independent_candidates(&mut self) -> Vec<RowBitmap> {
        let places = (0..self.table.port_count(0)).map(|port| PortPlace { participant: 0, port });
        let places: Vec<PortPlace> = places.collect();
        places.into_iter().map(|place| self.candidates_at(place)).collect()
    }

    /// Returns the rows that may dock at a port, as far as is known with the ports docked now.
    fn candidates_at(&mut self, place: PortPlace) -> RowBitmap {
        let window = WindowQuery::of(place, &[], &self.table, &self.port_index);
        let rows = self.port_index.select(&window, &mut self.table);
        self.accepted_rows(place, &rows)
    }

    /// Returns those of `rows` that neither refuse the port nor are refused by it.
    fn accepted_rows(&mut self, place: PortPlace, rows: &RowBitmap) -> RowBitmap {
        let mut accepted = RowBitmap::with_capacity(rows.len());
        for row in rows.ones() {
            let link = self.port_index.place(row);
            accepted.set(row, self.table.with_docked(place, link, |table| table.may_all_accept(&[place, link])));
        }
        accepted
    }

    /// Returns the number of distinct offers that `rows` belong to.
    fn offer_count(&self, rows: &RowBitmap) -> usize {
        let mut offers: Vec<Participant> = rows.ones().map(|row| self.port_index.place(row).participant).collect();
        offers.dedup();
        offers.len()
    }

    /// Returns the candidates of each port of the seated request. `alone` holds the rows that fit each port by itself.
    fn port_candidates(&mut self, alone: &[RowBitmap]) -> Vec<PortCandidates> {
        let mut prospects = Vec::with_capacity(alone.len());
        for (port, rows) in alone.iter().enumerate() {
            let place = PortPlace { participant: 0, port };
            let window = WindowQuery::of(place, &[], &self.table, &self.port_index);
            let used = self.port_index.select_used(&window, &mut self.table);
            let used = self.accepted_rows(place, &used);
            let given = self.consistent_rows(place, rows, alone);
            prospects.push(PortCandidates {
                label: self.table.label(place),
                independent: self.offer_count(rows),
                consistent: self.offer_count(&given),
                used_up: self.offer_count(&used),
                is_required: self
                    .table
                    .patterns(0)
                    .is_none_or(|patterns| patterns.iter().all(|ports| ports.contains(port))),
                ruled_out: if rows.is_clear() { self.conditions_at(place) } else { Vec::new() },
            });
        }
        prospects
    }

    /// Returns the conditions that rule out every unused offer at a port with nothing docked. The port's own constraint
    /// is examined before the offers'.
    fn conditions_at(&mut self, place: PortPlace) -> Vec<FailedCondition> {
        let mut first: Vec<(Participant, FailedCondition)> = Vec::new();
        let left: Vec<PortPlace> = self.port_index.unused().ones().map(|row| self.port_index.place(row)).collect();
        for link in left {
            let condition = self.table.with_docked(place, link, |table| table.failed_condition(place, link));
            let Some(condition) = condition else { continue };
            match first.last_mut() {
                // Keep the port that the request accepts rather than one that the request rejects: it is closer to
                // docking.
                Some((offer, known)) if *offer == link.participant => {
                    if known.is_of_request && !condition.is_of_request {
                        *known = condition;
                    }
                }
                _ => first.push((link.participant, condition)),
            }
        }
        let mut conditions = FailedConditions::default();
        for (participant, condition) in first {
            conditions.add(condition, participant as usize - 1);
        }
        conditions.most_frequent_first()
    }

    /// Returns those of `rows` that have a partner at each other port that must be filled together with `place`.
    fn consistent_rows(&mut self, place: PortPlace, rows: &RowBitmap, alone: &[RowBitmap]) -> RowBitmap {
        let mut beside: PortPattern = (0..alone.len()).collect();
        let patterns = self.table.patterns(0).into_iter().flat_map(|patterns| patterns.iter());
        patterns.filter(|pattern| pattern.contains(place.port)).for_each(|pattern| beside.intersect_with(pattern));
        beside.set(place.port, false);
        let alike = self.classifier.candidate_classes(&mut self.port_index, &mut self.table);
        // Rows of one class have the same partners: each class is examined once.
        let mut known: FxHashMap<usize, bool> = FxHashMap::default();
        let mut given = RowBitmap::with_capacity(rows.len());
        for row in rows.ones() {
            let bucket = alike.class_of(row);
            let found = bucket.and_then(|bucket| known.get(&bucket).copied());
            let found = found.unwrap_or_else(|| {
                let link = self.port_index.place(row);
                let mut others = beside.ones().map(|port| PortPlace { participant: 0, port });
                others.all(|other| self.has_partner(place, link, other, &alone[other.port]))
            });
            known.extend(bucket.map(|bucket| (bucket, found)));
            given.set(row, found);
        }
        given
    }

    /// Whether one of `rows` fits the port `other` while `link` is docked at `place`. The offers must differ.
    fn has_partner(&mut self, place: PortPlace, link: PortPlace, other: PortPlace, rows: &RowBitmap) -> bool {
        let is_tied = self.table.mentioned_ports(place).contains(&other.port)
            || self.table.mentioned_ports(other).contains(&place.port);
        if !is_tied {
            return rows.ones().any(|row| self.port_index.place(row).participant != link.participant);
        }
        let Gangmatcher { table, port_index: links, .. } = self;
        table.with_docked(place, link, |table| {
            let window = WindowQuery::of(other, &[place, link], table, links);
            let mut partners = links.select(&window, table);
            partners.intersect_with(rows);
            partners.ones().map(|row| links.place(row)).any(|partner| {
                let places = [place, link, other, partner];
                partner.participant != link.participant
                    && table.with_docked(other, partner, |table| table.may_all_accept(&places))
            })
        })
    }

    /// Returns the gang that a request would get of the unused offers, or `None`. Uses no offer up and leaves the
    /// statistics unchanged.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors do not compare.
    pub fn preview_gang(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.without_side_effects(|matcher| {
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

    /// Runs `work` with the strategy of [`Algorithm::Best`] and restores statistics and strategy afterwards.
    pub(super) fn without_side_effects<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.statistics, self.table.evaluations, self.strategy);
        self.strategy = Algorithm::Best.strategy();
        let found = work(self);
        (self.statistics, self.table.evaluations, self.strategy) = before;
        found
    }

    /// Describes the ports `next` of the request, which cannot be filled while the deepest gang is docked.
    fn blocked_ports(&mut self, deepest: &Gang, next: std::ops::Range<usize>, alone: &[RowBitmap]) -> Vec<BlockedPort> {
        let docked = self.table.dock_gang(deepest);
        // Assembling marks the ports after the prefix as unfilled: open them again.
        self.table.reopen_unfilled(0, &(0..next.start).collect());
        let mut found = Vec::new();
        for port in next {
            found.push(self.blocked_port(PortPlace { participant: 0, port }, deepest, &alone[port]));
        }
        self.table.undock_gang(&docked);
        found
    }

    /// Describes one port that cannot be filled. `rows` fit it by itself; the deepest gang is docked.
    fn blocked_port(&mut self, place: PortPlace, deepest: &Gang, rows: &RowBitmap) -> BlockedPort {
        let mut stuck = BlockedPort { port: place.port, ..BlockedPort::default() };
        let held: Vec<usize> = deepest.members().iter().map(|docked| docked.offer).collect();
        // One entry per offer, with the port that gets furthest. The rows of an offer are adjacent.
        let mut reached: Vec<(PortPlace, DockingProgress, Option<FailedCondition>)> = Vec::new();
        for row in rows.ones() {
            let link = self.port_index.place(row);
            if held.contains(&(link.participant as usize - 1)) {
                let is_new = row == 0
                    || !self.port_index.rows_of(link.participant).any(|other| other < row && rows.contains(other));
                stuck.held.extend(is_new.then_some(link.participant as usize - 1));
                continue;
            }
            let (reach, condition) = self.table.with_docked(place, link, |table| table.docking_progress(place, link));
            match reached.last_mut() {
                Some(last) if last.0.participant == link.participant => {
                    if reach > last.1 {
                        *last = (link, reach, condition);
                    }
                }
                _ => reached.push((link, reach, condition)),
            }
        }
        let mut conditions = FailedConditions::default();
        let mut unserved: Option<PortPlace> = None;
        for (link, reach, condition) in reached {
            let offer = link.participant as usize - 1;
            match (reach, condition) {
                (DockingProgress::Refused, Some(condition)) => conditions.add(condition, offer),
                (DockingProgress::Unacceptable, _) => stuck.unacceptable += 1,
                (DockingProgress::Unserved, _) => {
                    stuck.unserved.push(offer);
                    unserved.get_or_insert(link);
                }
                _ => stuck.fitting += 1,
            }
        }
        stuck.conditions = conditions.most_frequent_first();
        if let Some(link) = unserved {
            stuck.unserved_ports = self.unserved_port_candidates(place, link, &held);
        }
        stuck
    }

    /// Returns the label of each port of the offer `link` other than its link, and the number of offers that fit there.
    /// Offers in `held` do not count.
    fn unserved_port_candidates(&mut self, place: PortPlace, link: PortPlace, held: &[usize]) -> Vec<(String, usize)> {
        self.table.dock(place, link);
        let own = (0..self.table.port_count(link.participant)).filter(|port| *port != link.port);
        let own: Vec<PortPlace> = own.map(|port| PortPlace { port, ..link }).collect();
        let mut needs = Vec::with_capacity(own.len());
        for port in own {
            let mut rows = self.candidates_at(port);
            let taken = held.iter().map(|offer| participant_of(*offer)).chain([link.participant]);
            taken.for_each(|taken| rows.set_range(self.port_index.rows_of(taken), false));
            needs.push((self.table.label(port), self.offer_count(&rows)));
        }
        self.table.undock(place, link);
        needs
    }
}

/// Returns the request with the first entry of its port list, then with the first two, up to the whole list.
fn port_list_prefixes(request: &Ad) -> Vec<Ad> {
    let Some(list) = request.get(&PORTS) else { return vec![request.clone()] };
    let ExpressionKind::List(entries) = list.without_parentheses().kind() else { return vec![request.clone()] };
    let prefix = |count: usize| {
        let entries = ExpressionKind::List(entries[..count].to_vec().into());
        request.with(PORTS.clone(), Expression::new(entries, list.span()))
    };
    (1..=entries.len()).map(prefix).collect()
}

impl ParticipantTable {
    /// Whether no constraint of these ports is known to be refused.
    fn may_all_accept(&mut self, places: &[PortPlace]) -> bool {
        places.iter().all(|place| self.accepts(*place) != DockingVerdict::Refused)
    }

    /// Returns how far a tentatively docked candidate gets, and the condition that rejects it.
    fn docking_progress(&mut self, place: PortPlace, link: PortPlace) -> (DockingProgress, Option<FailedCondition>) {
        if let Some(condition) = self.failed_condition(place, link) {
            return (DockingProgress::Refused, Some(condition));
        }
        if !self.docked_score(place, link).is_acceptable() {
            return (DockingProgress::Unacceptable, None);
        }
        let reach =
            if self.port_count(link.participant) > 1 { DockingProgress::Unserved } else { DockingProgress::Fits };
        (reach, None)
    }
}
