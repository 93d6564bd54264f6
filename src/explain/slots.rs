//! The slots of HTCondor among the offers: which of those that match are free, and which would match if drained.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, BinaryOperator, ByteString, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{AdvertisedState, Protocol, SlotState, evaluate_attribute, requested_resource};

use super::clause_analysis::ClauseComparison;
use super::distance::{as_number, closest_offered_value};
use super::drained_slot::drained_slot;
use super::evaluation::{OfferTable, RequestContext, RowWeights};

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
    /// The rows that each user has claimed, with the number of claimed offers.
    claims: FxHashMap<ByteString, Vec<(usize, usize)>>,
    drained: Option<DrainedSlots>,
}

/// The partitionable slots that have less left than they have in all, as they would be without jobs.
struct DrainedSlots {
    table: OfferTable,
    /// The row of each slot, in the table of the slots as they are.
    rows: Vec<usize>,
    /// The index of each slot among the offers.
    offers: Vec<usize>,
}

/// The slots that would match if drained, by how far they get as they are.
#[derive(Default)]
struct DrainedCounts {
    /// Slots that would match and that the request rejects as they are.
    rejected: usize,
    /// Slots that would match and that reject the request as they are.
    rejecting: usize,
    /// Slots that the request rejects as they are, and that would reject the request.
    moved: usize,
}

impl SlotsByState {
    /// Makes the table of the slots among `offers`. `standings` has what each offer tells of itself.
    pub fn new(
        table: &OfferTable,
        offers: &[Ad],
        standings: &[SlotStanding],
        protocol: Protocol,
        context: Context,
    ) -> Self {
        let mut counts: Vec<(SlotState, Vec<usize>)> = Vec::new();
        let mut claims: FxHashMap<ByteString, FxHashMap<usize, usize>> = FxHashMap::default();
        for (row, (state, holder)) in table.row_of.iter().zip(standings) {
            let row = *row as usize;
            let state = if let AdvertisedState::Slot(state) = state { *state } else { SlotState::Free };
            let place = counts.iter().position(|(of, _)| *of == state).unwrap_or_else(|| {
                counts.push((state, vec![0; table.row_count()]));
                counts.len() - 1
            });
            counts[place].1[row] += 1;
            if let (SlotState::Claimed, Some(holder)) = (state, holder) {
                *claims.entry(holder.clone()).or_default().entry(row).or_default() += 1;
            }
        }
        let (mut ads, mut rows, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for (offer, (state, _)) in standings.iter().enumerate() {
            if matches!(state, AdvertisedState::Slot(SlotState::Free | SlotState::Untold))
                && let Some(drained) = drained_slot(&offers[offer], &context)
            {
                ads.push(drained);
                rows.push(table.row_of[offer] as usize);
                slots.push(offer);
            }
        }
        SlotsByState {
            by_state: counts.into_iter().map(|(state, counts)| (state, RowWeights::new(counts))).collect(),
            claims: claims.into_iter().map(|(user, rows)| (user, rows.into_iter().collect())).collect(),
            drained: (!ads.is_empty()).then(|| DrainedSlots {
                table: OfferTable::new(&ads, protocol, context),
                rows,
                offers: slots,
            }),
        }
    }

    /// Counts the slots for a request. `suitable` has the rows that the request accepts, `matching` those of them that
    /// accept the request, too. `user` submitted the request.
    pub fn counts(
        &self,
        table: &OfferTable,
        request: &RequestContext,
        [suitable, matching]: [&FixedBitSet; 2],
        user: Option<&ByteString>,
    ) -> SlotCounts {
        let slots = table.offer_count();
        let suitable_slots = table.weights.of_set(suitable);
        let matching_slots = table.weights.of_set(matching);
        let drained = self.drained.as_ref().map(|drained| drained.counts(request, [suitable, matching]));
        let DrainedCounts { rejected, rejecting, moved } = drained.unwrap_or_default();
        let mut counts = SlotCounts {
            slots,
            rejected_by_request: slots - suitable_slots - rejected - moved,
            rejecting_request: suitable_slots - matching_slots - rejecting + moved,
            if_drained: rejected + rejecting,
            ..SlotCounts::default()
        };
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
}

impl SlotsByState {
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

    /// Returns the indexes of the partitionable slots that would match if drained and do not match as they are.
    /// `is_match` returns whether a row matches as it is.
    pub fn matching_if_drained(&self, request: &RequestContext, is_match: impl Fn(usize) -> bool) -> Vec<usize> {
        let Some(drained) = &self.drained else { return Vec::new() };
        let would_match = drained.table.matching_rows(&RequestContext::new(&request.ad));
        let is_wanted =
            |slot: &usize| would_match.contains(drained.table.row_of[*slot] as usize) && !is_match(drained.rows[*slot]);
        (0..drained.rows.len()).filter(is_wanted).map(|slot| drained.offers[slot]).collect()
    }

    /// Returns the scarce resources of `slots`, given by index: a slot has less left than the request asks for. Each
    /// resource comes with the number of such slots, the scarcest first.
    pub fn lacking(table: &OfferTable, request: &RequestContext, slots: &[usize]) -> Vec<(Name, usize)> {
        let rows: Vec<usize> = slots.iter().map(|slot| table.row_of[*slot] as usize).collect();
        let [_, other] = table.context.dialect.side_names();
        let lacking = |attribute: &Name| {
            let resource = requested_resource(attribute)?;
            let wanted = as_number(&evaluate_attribute(&request.ad, attribute, &table.context)?)?;
            let left = Expression::select(Expression::attribute(other), resource.clone());
            let left = table.expression_values(request, &left);
            let is_too_little = |row: &&usize| as_number(left.value(**row)).is_some_and(|left| left < wanted);
            Some((resource, rows.iter().filter(is_too_little).count()))
        };
        let found = request.ad.iter().filter_map(|attribute| lacking(attribute.name));
        let mut found: Vec<(Name, usize)> = found.filter(|(_, slots)| *slots > 0).collect();
        found.sort_by_key(|(_, slots)| std::cmp::Reverse(*slots));
        found
    }
}

impl DrainedSlots {
    fn counts(&self, request: &RequestContext, [suitable, matching]: [&FixedBitSet; 2]) -> DrainedCounts {
        let request = &RequestContext::new(&request.ad);
        let would_suit = self.table.suitable_rows(request);
        let would_match = self.table.matching_rows(request);
        let mut counts = DrainedCounts::default();
        for (slot, row) in self.rows.iter().enumerate() {
            let drained_row = self.table.row_of[slot] as usize;
            if matching.contains(*row) {
                continue;
            }
            match (would_match.contains(drained_row), suitable.contains(*row)) {
                (true, true) => counts.rejecting += 1,
                (true, false) => counts.rejected += 1,
                (false, false) if would_suit.contains(drained_row) => counts.moved += 1,
                (false, _) => {}
            }
        }
        counts
    }
}
