//! The partitionable slots as they would be without jobs, and how a request fares with them.
//!
//! A partitionable slot advertises what its dynamic slots have left of its resources, and `TotalSlot*` for what it has
//! in all. `condor_q -better-analyze` makes the same ad to say which slots would match if drained.

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, ByteString, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{
    AVAILABLE_GPUS, GPU_PREFIX, MACHINE_RESOURCES, TOTAL_SLOT_PREFIX, evaluate_attribute, machine_resources, words,
};

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
    /// The slots that would meet the request's constraint and refuse it.
    pub refusing: Vec<usize>,
    /// Number of those that the request rejects as they are.
    pub refusing_only_drained: usize,
}

impl DrainedSlots {
    /// Makes the table of the drained slots among `offers`; `None` if there are none. `as_they_are` is the table of the
    /// same offers as they are, `free` has the indices of those that are free, drain or are drained.
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
        let (mut matching, mut refusing, mut refusing_only_drained) = (Vec::new(), Vec::new(), 0);
        for (slot, row) in self.rows.iter().enumerate() {
            let drained_row = self.drained_row(slot);
            let suits = suitable.contains(*row);
            if suits && accepting.contains(*row) {
                continue;
            }
            if would_match.contains(drained_row) {
                matching.push(slot);
            } else if would_suit.contains(drained_row) {
                refusing.push(slot);
                refusing_only_drained += usize::from(!suits);
            }
        }
        DrainedOutcome { request, matching, refusing, refusing_only_drained }
    }

    /// Returns the index of a slot among the offers.
    pub fn offer(&self, slot: usize) -> usize {
        self.offers[slot]
    }

    /// Returns the row of a slot in the table of the slots as they are.
    pub fn row(&self, slot: usize) -> usize {
        self.rows[slot]
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

/// The attributes that tell what a slot would offer without jobs, but for those of GPUs and those with the prefix
/// [`TOTAL_SLOT_PREFIX`].
pub const DRAINED_SLOT_ATTRIBUTES: [&str; 2] = ["PartitionableSlot", MACHINE_RESOURCES];

/// The attributes of GPUs that tell it, but for those with the prefix [`GPU_PREFIX`].
pub const DRAINED_GPU_ATTRIBUTES: [&str; 3] = ["AssignedGPUs", "OfflineGPUs", AVAILABLE_GPUS];

/// Returns the ad of a partitionable slot as it would be if no job ran in it. `None` if the ad is of no partitionable
/// slot, or if the slot has all of its resources left.
pub fn drained_slot(slot: &Ad, context: &Context) -> Option<Ad> {
    let value = |name: &str| evaluate_attribute(slot, &Name::new(name), context);
    let text = |name: &str| match value(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    if !matches!(value("PartitionableSlot"), Some(Value::Boolean(true))) {
        return None;
    }
    let mut drained = None;
    for resource in machine_resources(slot, context) {
        let Some(total) = value(&format!("{TOTAL_SLOT_PREFIX}{resource}")).filter(is_number) else { continue };
        if value(resource.as_str()).as_ref() == Some(&total) {
            continue;
        }
        let mut ad: Ad = drained.take().unwrap_or_else(|| slot.clone());
        let is_gpus = resource.is("GPUs");
        ad = ad.with(resource, Expression::literal(total));
        if is_gpus && let Some(assigned) = text("AssignedGPUs") {
            let offline = text("OfflineGPUs").unwrap_or_else(|| ByteString::from(""));
            let gpus = gpu_properties(slot, &assigned.to_str(), &offline.to_str());
            ad = ad.with(Name::new(AVAILABLE_GPUS), Expression::list(gpus));
        }
        drained = Some(ad);
    }
    drained
}

/// Returns references to the properties of the assigned GPUs that are not offline.
fn gpu_properties(slot: &Ad, assigned: &str, offline: &str) -> Vec<Expression> {
    let offline: Vec<&str> = words(offline).collect();
    let attribute = |gpu: &str| {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        Name::new(&format!("{GPU_PREFIX}{}", gpu.chars().map(letter).collect::<String>()))
    };
    let present = words(assigned).filter(|gpu| !offline.contains(gpu)).map(attribute);
    present.filter(|name| slot.get(name).is_some()).map(Expression::attribute).collect()
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Real(_))
}
