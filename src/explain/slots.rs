//! The slots of HTCondor among the offers: which of those that match are free, and which would match if drained.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{AbsoluteTime, Ad, BinaryOperator, ByteString, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{AdvertisedState, SlotState, evaluate_attribute};

use super::clause_weight::ClauseWeight;
use super::distance::{as_number, closest_offered_value};
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{OfferTable, RequestContext, RowStates, RowWeights};
use super::nested_ads::is_true_in;
use super::scarce_resources::ScarceResources;
use crate::constraint::{ClauseComparison, conjuncts};

/// What a slot tells of itself: its state, and who holds it.
pub type SlotStanding = (AdvertisedState, Option<ByteString>);

/// The attributes of pilots that tell when they stop to take jobs, and when they end.
pub const PILOT_ENDS: [&str; 2] = ["GLIDEIN_ToRetire", "GLIDEIN_ToDie"];

/// The attributes that tell why and until when a slot is drained.
pub const DRAINING_ATTRIBUTES: [&str; 2] = ["DrainReason", "ExpectedMachineGracefulDrainingCompletion"];

/// Says in words what state the slot of an ad is in, and for whom or why: `claimed by ann@x`, `drained (kernel update)`.
/// `user` is the one who asks. `None` if the ad is of no slot that tells its state.
#[must_use]
pub fn standing_phrase(
    slot: &Ad,
    (state, holder): &SlotStanding,
    user: Option<&ByteString>,
    context: &Context,
) -> Option<String> {
    let AdvertisedState::Slot(state) = state else { return None };
    let [reason, completion] = DRAINING_ATTRIBUTES.map(|name| evaluate_attribute(slot, &Name::new(name), context));
    let reason = match reason {
        Some(Value::String(reason)) if !reason.as_bytes().is_empty() => format!(" ({})", reason.to_str()),
        _ => String::new(),
    };
    let until = match completion {
        Some(Value::Integer(seconds)) if seconds > 0 && context.now.is_none_or(|now| seconds > now) => {
            let time = AbsoluteTime { seconds, offset: 0 }.to_string();
            format!(" until {}", time.replace('T', " ").replace("-00:00", " UTC"))
        }
        _ => String::new(),
    };
    let word = state.word();
    Some(match (state, holder) {
        (SlotState::Untold, _) => return None,
        (SlotState::Claimed, Some(holder)) if Some(holder) == user => format!("{word} by the same user"),
        (SlotState::Claimed, Some(holder)) => format!("{word} by {}", holder.to_str()),
        (SlotState::Preempting, Some(holder)) => format!("{word} the job of {}", holder.to_str()),
        (SlotState::Draining, _) => format!("{word}{until}{reason}"),
        (SlotState::Drained, _) => format!("{word}{reason}"),
        _ => word.to_owned(),
    })
}

/// How many slots are in which state. These are the words for all slots, those that match and those that refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SlotTally {
    /// Slots that are free.
    pub free: usize,
    /// Slots whose backfill work makes way for a job at once.
    pub backfill: usize,
    /// Slots that the request's own user has claimed.
    pub claimed_by_user: usize,
    /// Slots that others have claimed.
    pub claimed_by_others: usize,
    /// Slots that are matched, and about to be claimed.
    pub matched: usize,
    /// Slots that end the jobs in them.
    pub preempting: usize,
    /// Slots that serve the owners of their machines.
    pub owner: usize,
    /// Slots that start no new jobs.
    pub draining: usize,
    /// Slots that start no new jobs, and have none.
    pub drained: usize,
    /// Slots of machines that hibernate.
    pub offline: usize,
}

impl SlotTally {
    /// Number of slots in all states.
    #[must_use]
    pub fn all(&self) -> usize {
        self.parts().iter().map(|(number, _)| number).sum()
    }

    /// Number of slots that a job can have at once.
    #[must_use]
    pub fn available(&self) -> usize {
        self.free + self.backfill
    }

    /// Returns each state that slots are in, with their number, as the words behind `1 is` or `2 are`.
    #[must_use]
    pub fn words(&self) -> Vec<(usize, &'static str)> {
        let is_some = |(number, _): &(usize, [&str; 2])| *number > 0;
        let found = self.parts().into_iter().filter(is_some);
        found.map(|(number, words)| (number, words[usize::from(number > 1)])).collect()
    }

    fn parts(&self) -> [(usize, [&'static str; 2]); 10] {
        let SlotTally { free, backfill, claimed_by_user, claimed_by_others, matched, .. } = *self;
        let SlotTally { preempting, owner, draining, drained, offline, .. } = *self;
        let of = |state: SlotState| [state.word(); 2];
        [
            (free, of(SlotState::Free)),
            (backfill, of(SlotState::Backfill)),
            (claimed_by_others, ["claimed by another user", "claimed by others"]),
            (claimed_by_user, ["claimed by the same user"; 2]),
            (matched, of(SlotState::Matched)),
            (preempting, of(SlotState::Preempting)),
            (owner, [SlotState::Owner.word(), "in use by their owners"]),
            (draining, of(SlotState::Draining)),
            (drained, of(SlotState::Drained)),
            (offline, of(SlotState::Offline)),
        ]
    }

    fn count_of(&mut self, state: SlotState) -> &mut usize {
        match state {
            SlotState::Free | SlotState::Untold => &mut self.free,
            SlotState::Backfill => &mut self.backfill,
            SlotState::Claimed => &mut self.claimed_by_others,
            SlotState::Matched => &mut self.matched,
            SlotState::Preempting => &mut self.preempting,
            SlotState::Owner => &mut self.owner,
            SlotState::Draining => &mut self.draining,
            SlotState::Drained => &mut self.drained,
            SlotState::Offline => &mut self.offline,
        }
    }
}

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
    /// Slots that match as they are, by state.
    #[serde(flatten)]
    pub matching: SlotTally,
    /// Slots that do not match as they are, and would match if no job ran in them.
    pub if_drained: usize,
}

/// The slots among the offers of an [`OfferTable`], by state.
pub struct SlotsByState {
    /// The number of offers of each row that are in a state. Offers without a state are free.
    by_state: Vec<(SlotState, RowWeights)>,
    /// The rows that each user has claimed, with the number of claimed offers.
    claims: FxHashMap<ByteString, Vec<(usize, usize)>>,
    pub drained: Option<DrainedSlots>,
}

/// Whether a slot takes no job at all, whatever the job is: its constraint is `false`, or a rule of its own is.
fn takes_nothing(slot: &Ad, table: &OfferTable) -> bool {
    let context = &table.context;
    let is_closed = |clause: &&Expression| {
        ClauseWeight::of(clause, slot, context.dialect) == ClauseWeight::Closed && !is_true_in(slot, clause, context)
    };
    let constraint = table.protocol.constraint_expression(slot);
    constraint.is_some_and(|constraint| conjuncts(constraint).iter().any(is_closed))
}

impl SlotsByState {
    /// Returns the rows in the states that a table tells. `standings` has what each offer tells of itself.
    pub fn row_states(table: &OfferTable, standings: &[SlotStanding]) -> RowStates {
        let with = |is_wanted: fn(SlotState) -> bool| {
            let mut rows = FixedBitSet::with_capacity(table.row_count());
            for (row, (state, _)) in table.row_of.iter().zip(standings) {
                let state = if let AdvertisedState::Slot(state) = state { *state } else { SlotState::Free };
                rows.set(*row as usize, rows[*row as usize] || is_wanted(state));
            }
            rows
        };
        let mut free = with(SlotState::is_available);
        // A partitionable slot without a core left is wholly divided.
        for row in free.clone().ones() {
            let value = |name: &str| evaluate_attribute(&table.ads[row], &Name::new(name), &table.context);
            let is_divided = value("PartitionableSlot") == Some(Value::Boolean(true));
            if is_divided && value("Cpus").as_ref().and_then(as_number).is_some_and(|cpus| cpus <= 0.0) {
                free.set(row, false);
            }
        }
        let mut closed = FixedBitSet::with_capacity(table.row_count());
        closed.extend(free.ones().filter(|row| takes_nothing(&table.ads[*row], table)));
        free.difference_with(&closed);
        RowStates { free, closed, offline: with(|state| state == SlotState::Offline) }
    }

    /// Makes the table of the slots among `offers`. `standings` has what each offer tells of itself.
    pub fn new(table: &OfferTable, offers: &[Ad], standings: &[SlotStanding]) -> Self {
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
        // What is drained takes jobs again.
        let is_to_come =
            |state: SlotState| state.is_available() || matches!(state, SlotState::Draining | SlotState::Drained);
        let free = standings.iter().enumerate().filter_map(|(offer, (state, _))| {
            matches!(state, AdvertisedState::Slot(state) if is_to_come(*state)).then_some(offer)
        });
        SlotsByState {
            by_state: counts.into_iter().map(|(state, counts)| (state, RowWeights::new(counts))).collect(),
            claims: claims.into_iter().map(|(user, rows)| (user, rows.into_iter().collect())).collect(),
            drained: DrainedSlots::new(table, offers, free),
        }
    }

    /// Counts the slots in a set of rows by their states. `user` submitted the request.
    pub fn tally(&self, rows: &FixedBitSet, user: Option<&ByteString>) -> SlotTally {
        let mut tally = SlotTally::default();
        for (state, weights) in &self.by_state {
            *tally.count_of(*state) += weights.of_set(rows);
        }
        let own = user.and_then(|user| self.claims.get(user)).into_iter().flatten();
        tally.claimed_by_user = own.filter(|(row, _)| rows.contains(*row)).map(|(_, number)| number).sum();
        tally.claimed_by_others -= tally.claimed_by_user;
        tally
    }

    /// Returns the only user beside `user` who has claimed slots in a set of rows; `None` if there are several, or none.
    pub fn sole_claimant(&self, rows: &FixedBitSet, user: Option<&ByteString>) -> Option<&ByteString> {
        let has_claimed = |(of, claimed): &(&ByteString, &Vec<(usize, usize)>)| {
            Some(*of) != user && claimed.iter().any(|(row, _)| rows.contains(*row))
        };
        let mut users = self.claims.iter().filter(has_claimed);
        let (user, None) = (users.next()?.0, users.next()) else { return None };
        Some(user)
    }

    /// Counts the slots that a request accepts, `suitable`, and that do not accept the request, by their states, and those of
    /// them whose processors are all in use. These, those that take nothing, and free ones that would match if `drained`, do not
    /// count as free.
    pub fn refusing(
        &self,
        [suitable, accepting]: [&FixedBitSet; 2],
        drained: Option<&DrainedOutcome>,
        user: Option<&ByteString>,
        states: Option<&RowStates>,
    ) -> (SlotTally, usize) {
        let mut refusing = suitable.clone();
        refusing.difference_with(accepting);
        let tally = self.tally(&refusing, user);
        let matching = self.drained.as_ref().zip(drained).into_iter();
        for row in matching.flat_map(|(slots, drained)| slots.rows_as_they_are(&drained.matching)) {
            refusing.set(row, false);
        }
        let SlotTally { backfill, draining, drained, .. } = self.tally(&refusing, None);
        let Some(RowStates { free, closed, .. }) = states else { return (tally, 0) };
        refusing.difference_with(closed);
        let with_full = self.tally(&refusing, None).free;
        refusing.intersect_with(free);
        let left = self.tally(&refusing, None).free;
        (SlotTally { free: left, backfill, draining, drained, ..tally }, with_full - left)
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
