//! The links that come nearest to docking at a port, and what they accept.

use crate::ad::Participant;
use crate::matching::gang::Gang;
use crate::matching::gang::participants::{DockingVerdict, ParticipantTable, PortPlace};
use crate::matching::gang::port_index::{PortIndex, RowBitmap, WindowQuery};

use super::conditions::{FailedCondition, grouped_by_condition};

/// Returns the offers docked in a gang, in preorder.
pub fn held_offers(gang: &Gang) -> Vec<Participant> {
    gang.members().iter().map(|docked| Participant::of_offer(docked.offer)).collect()
}

/// Docks the `links` one by one at a port and calls `examine` for each. `examine` returns the link's distance from
/// docking and a result. Returns a triple for each offer: its link with the least distance, the distance, and the
/// result. Of an offer's links with equal distances, the first counts. Precondition: the links of an offer are adjacent
/// in `links`.
pub fn nearest_links<K: PartialOrd, T>(
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

/// Returns a triple for each offer: its link nearest to docking at a port, the distance from docking, and the condition
/// that rules the link out. The condition is `None` if the link docks.
///
/// The distance is 0 if the link docks, 1 if the offer refuses, and 2 if the port refuses.
pub fn nearest_conditions(
    table: &mut ParticipantTable,
    place: PortPlace,
    links: impl Iterator<Item = PortPlace>,
) -> Vec<(PortPlace, u8, Option<FailedCondition>)> {
    nearest_links(table, place, links, |table, link| {
        let condition = FailedCondition::of(table, place, link);
        (condition.as_ref().map_or(0, |condition| 1 + u8::from(condition.is_of_port)), condition)
    })
}

/// Returns the conditions that rule out the offers of `rows` at a port with nothing docked. The condition that rules out
/// the most offers comes first.
pub fn conditions_at(
    table: &mut ParticipantTable,
    index: &PortIndex,
    place: PortPlace,
    rows: &RowBitmap,
) -> Vec<FailedCondition> {
    let links = rows.ones().map(|row| index.place(row));
    let nearest = nearest_conditions(table, place, links).into_iter();
    grouped_by_condition(nearest.filter_map(|(link, _, condition)| Some((link.participant.offer(), condition?))))
}

/// Returns the unused rows that may dock at a port, given the current dockings. A constraint that depends on open ports
/// excludes no row.
pub fn candidates_at(table: &mut ParticipantTable, index: &mut PortIndex, place: PortPlace) -> RowBitmap {
    let window = WindowQuery::of(place, &[], table, index);
    let rows = index.select(&window, table);
    accepted_rows(table, index, place, &rows)
}

/// Returns the rows of `rows` that may dock at the port `place`, given the current dockings: neither the constraint of
/// the port nor the constraint of the row refuses. A constraint that depends on open ports excludes no row.
pub fn accepted_rows(table: &mut ParticipantTable, index: &PortIndex, place: PortPlace, rows: &RowBitmap) -> RowBitmap {
    let mut accepted = RowBitmap::with_capacity(rows.len());
    for row in rows.ones() {
        let link = index.place(row);
        accepted.set(row, table.with_docked(place, link, |table| may_all_accept(table, &[place, link])));
    }
    accepted
}

/// Whether no constraint of the ports `places` is certain to fail. A constraint that depends on open ports counts as
/// accepting.
pub fn may_all_accept(table: &mut ParticipantTable, places: &[PortPlace]) -> bool {
    places.iter().all(|place| table.accepts(*place) != DockingVerdict::Refused)
}
