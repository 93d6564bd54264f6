//! The slots of HTCondor among the offers: which of those that match are free, and which would match if drained.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, BinaryOperator, ByteString, Expression, Value};
use crate::protocol::{AdvertisedState, SlotState};

use super::distance::{as_number, closest_offered_value};
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{OfferTable, RequestContext, RowWeights};
use super::scarce_resources::ScarceResources;
use crate::constraint::ClauseComparison;

/// What a slot tells of itself: its state, and who holds it.
pub type SlotStanding = (AdvertisedState, Option<ByteString>);

/// How many slots do what with a request. Each slot is in one of the counts.
///
/// These are the rows of the table of `condor_q -better-analyze`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SlotCounts {
    /// Number of slots, with other offers.
    pub slots: usize,
    /// Slots that the request's constraint rejects.
    pub rejected_by_request: usize,
    /// Slots that the request accepts and whose own constraints reject the request.
    pub rejecting_request: usize,
    /// Slots that accept the request, and that the docking vector of the policy discards.
    pub discarded: usize,
    /// Slots that match and are free.
    pub free: usize,
    /// Slots that match and that the request's own user has claimed.
    pub claimed_by_user: usize,
    /// Slots that match and that others have claimed.
    pub claimed_by_others: usize,
    /// Slots that match and serve the owner of their machine.
    pub owner: usize,
    /// Slots that match and are draining.
    pub draining: usize,
    /// Slots that match and are offline.
    pub offline: usize,
    /// Slots that do not match as they are, and would match if no job ran in them.
    pub if_drained: usize,
}

impl SlotCounts {
    /// Number of slots that match as they are.
    #[must_use]
    pub fn matching(&self) -> usize {
        let SlotCounts { free, claimed_by_user, claimed_by_others, owner, draining, offline, .. } = self;
        free + claimed_by_user + claimed_by_others + owner + draining + offline
    }
}

/// The slots among the offers of an [`OfferTable`], by state.
pub struct SlotsByState {
    /// The number of offers of each row that are in a state. Offers without a state are free.
    by_state: Vec<(SlotState, RowWeights)>,
    /// The rows that have free slots.
    pub free_rows: FixedBitSet,
    /// The rows that each user has claimed, with the number of claimed offers.
    claims: FxHashMap<ByteString, Vec<(usize, usize)>>,
    pub drained: Option<DrainedSlots>,
}

impl SlotsByState {
    /// Makes the table of the slots among `offers`. `standings` has what each offer tells of itself.
    pub fn new(table: &OfferTable, offers: &[Ad], standings: &[SlotStanding]) -> Self {
        let mut counts: Vec<(SlotState, Vec<usize>)> = Vec::new();
        let mut claims: FxHashMap<ByteString, FxHashMap<usize, usize>> = FxHashMap::default();
        let mut free_rows = FixedBitSet::with_capacity(table.row_count());
        for (row, (state, holder)) in table.row_of.iter().zip(standings) {
            let row = *row as usize;
            let state = if let AdvertisedState::Slot(state) = state { *state } else { SlotState::Free };
            free_rows.set(row, free_rows[row] || matches!(state, SlotState::Free | SlotState::Untold));
            let place = counts.iter().position(|(of, _)| *of == state).unwrap_or_else(|| {
                counts.push((state, vec![0; table.row_count()]));
                counts.len() - 1
            });
            counts[place].1[row] += 1;
            if let (SlotState::Claimed, Some(holder)) = (state, holder) {
                *claims.entry(holder.clone()).or_default().entry(row).or_default() += 1;
            }
        }
        let free = standings.iter().enumerate().filter_map(|(offer, (state, _))| {
            matches!(state, AdvertisedState::Slot(SlotState::Free | SlotState::Untold)).then_some(offer)
        });
        SlotsByState {
            by_state: counts.into_iter().map(|(state, counts)| (state, RowWeights::new(counts))).collect(),
            claims: claims.into_iter().map(|(user, rows)| (user, rows.into_iter().collect())).collect(),
            free_rows,
            drained: DrainedSlots::new(table, offers, free),
        }
    }

    /// Counts the slots for a request. `matching` has the rows that match and that no policy discards. `user` submitted the
    /// request. Of the counts that do not depend on states, `others` has all but that of the slots that the request rejects:
    /// these are the rest.
    pub fn counts(
        &self,
        table: &OfferTable,
        matching: &FixedBitSet,
        others: SlotCounts,
        user: Option<&ByteString>,
    ) -> SlotCounts {
        let SlotCounts { slots, rejecting_request, discarded, if_drained, .. } = others;
        let accounted = rejecting_request + discarded + if_drained + table.weights.of_set(matching);
        let mut counts = SlotCounts { rejected_by_request: slots - accounted, ..others };
        for (state, weights) in &self.by_state {
            let number = weights.of_set(matching);
            match state {
                SlotState::Free | SlotState::Untold => counts.free += number,
                SlotState::Claimed => counts.claimed_by_others = number,
                SlotState::Owner => counts.owner = number,
                SlotState::Draining => counts.draining = number,
                SlotState::Offline => counts.offline = number,
            }
        }
        let own = user.and_then(|user| self.claims.get(user)).into_iter().flatten();
        counts.claimed_by_user = own.filter(|(row, _)| matching.contains(*row)).map(|(_, number)| number).sum();
        counts.claimed_by_others -= counts.claimed_by_user;
        counts
    }

    /// Returns the number of free slots that a request accepts, `suitable`, and that do not accept the request. Those that
    /// would match if `drained` do not count.
    pub fn refusing_free(&self, [suitable, accepting]: [&FixedBitSet; 2], drained: Option<&DrainedOutcome>) -> usize {
        let mut refusing = suitable.clone();
        refusing.difference_with(accepting);
        let matching = self.drained.as_ref().zip(drained).into_iter();
        for row in matching.flat_map(|(slots, drained)| slots.rows_as_they_are(&drained.matching)) {
            refusing.set(row, false);
        }
        self.free_of(&refusing)
    }

    /// Number of free slots in a set of rows.
    pub fn free_of(&self, rows: &FixedBitSet) -> usize {
        let free = self.by_state.iter().filter(|(state, _)| matches!(state, SlotState::Free | SlotState::Untold));
        free.map(|(_, weights)| weights.of_set(rows)).sum()
    }

    /// Returns the value that comes closest to meeting a comparison in a partitionable slot without jobs; `None` if it
    /// comes no closer than `known`, the closest value of the slots as they are, or if the comparison is not an
    /// inequality.
    pub fn closest_if_drained(
        &self,
        comparison: &ClauseComparison,
        known: &Value,
        request: &RequestContext,
    ) -> Option<Value> {
        let table = &self.drained.as_ref()?.table;
        let found = closest_offered_value(comparison, &RequestContext::new(&request.ad), table)?;
        let known = as_number(known)?;
        let is_closer = match comparison.operator {
            BinaryOperator::Greater | BinaryOperator::GreaterEqual => as_number(&found)? > known,
            BinaryOperator::Less | BinaryOperator::LessEqual => as_number(&found)? < known,
            _ => false,
        };
        is_closer.then_some(found)
    }

    /// Finds the scarce resources of `slots`, given by index.
    pub fn scarce_resources(table: &OfferTable, request: &RequestContext, slots: &[usize]) -> ScarceResources {
        let [_, other] = table.context.dialect.side_names();
        ScarceResources::find(&request.ad, slots.len(), &table.context, |resource| {
            let left = Expression::select(Expression::attribute(other), resource.clone());
            let left = table.expression_values(request, &left);
            slots.iter().map(|slot| as_number(left.value(table.row_of[*slot] as usize))).collect()
        })
    }
}
