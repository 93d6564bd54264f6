//! The partitionable slots as they would be without jobs, and how a request fares with them.

use fixedbitset::FixedBitSet;

use crate::ad::Ad;

use super::drained_slot::drained_slot;
use super::evaluation::{OfferTable, RequestContext, RowWeights};

/// The partitionable slots that have less left than they have in all, as they would be without jobs.
pub struct DrainedSlots {
    pub table: OfferTable,
    /// The row of each slot, in the table of the slots as they are.
    rows: Vec<usize>,
    /// The index of each slot among the offers.
    offers: Vec<usize>,
}

/// How a request fares with the slots of [`DrainedSlots`] that do not match it as they are. The slots are indexes into
/// [`DrainedSlots::offers`].
pub struct DrainedOutcome {
    pub request: RequestContext,
    /// The slots that would match.
    pub matching: Vec<usize>,
    /// The slots that the request rejects as they are. Drained, they would meet the request's constraint and refuse it.
    pub refusing: Vec<usize>,
}

impl DrainedSlots {
    /// Makes the table of the drained slots among `offers`; `None` if there are none. `as_they_are` is the table of the
    /// same offers as they are, `free` has the indices of those that are free.
    pub fn new(as_they_are: &OfferTable, offers: &[Ad], free: impl Iterator<Item = usize>) -> Option<Self> {
        let OfferTable { protocol, context, .. } = as_they_are;
        let (mut ads, mut rows, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for offer in free {
            if let Some(drained) = drained_slot(&offers[offer], context) {
                ads.push(drained);
                rows.push(as_they_are.row_of[offer] as usize);
                slots.push(offer);
            }
        }
        let table = || OfferTable::new(&ads, protocol.clone(), context.clone());
        (!ads.is_empty()).then(|| DrainedSlots { table: table(), rows, offers: slots })
    }

    /// Finds out how a request fares. `suitable` has the rows that the request accepts as they are, `accepting` those
    /// that accept the request.
    pub fn outcome(&self, request: &Ad, [suitable, accepting]: [&FixedBitSet; 2]) -> DrainedOutcome {
        let request = RequestContext::new(request);
        let would_suit = self.table.suitable_rows(&request);
        let would_match = self.table.matching_rows(&request);
        let (mut matching, mut refusing) = (Vec::new(), Vec::new());
        for (slot, row) in self.rows.iter().enumerate() {
            let drained_row = self.drained_row(slot);
            let suits = suitable.contains(*row);
            if suits && accepting.contains(*row) {
                continue;
            }
            if would_match.contains(drained_row) {
                matching.push(slot);
            } else if !suits && would_suit.contains(drained_row) {
                refusing.push(slot);
            }
        }
        DrainedOutcome { request, matching, refusing }
    }

    /// Returns the index of a slot among the offers.
    pub fn offer(&self, slot: usize) -> usize {
        self.offers[slot]
    }

    /// Returns the rows of slots in the table of the slots as they are.
    pub fn rows_as_they_are<'s>(&'s self, slots: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        slots.iter().map(|slot| self.rows[*slot])
    }

    /// Returns the first of `slots` that has a row in [`DrainedSlots::table`].
    pub fn first_in_row(&self, slots: &[usize], row: usize) -> Option<usize> {
        slots.iter().copied().find(|slot| self.drained_row(*slot) == row)
    }

    /// Returns the rows of slots in [`DrainedSlots::table`], and how many of `slots` each row has.
    pub fn drained_rows(&self, slots: &[usize]) -> (FixedBitSet, RowWeights) {
        let mut rows = FixedBitSet::with_capacity(self.table.row_count());
        let mut weights = vec![0; self.table.row_count()];
        for slot in slots {
            rows.insert(self.drained_row(*slot));
            weights[self.drained_row(*slot)] += 1;
        }
        (rows, RowWeights::new(weights))
    }

    fn drained_row(&self, slot: usize) -> usize {
        self.table.row_of[slot] as usize
    }
}
