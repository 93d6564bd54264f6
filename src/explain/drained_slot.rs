//! What a partitionable slot would offer if no job ran in it.
//!
//! A partitionable slot advertises what its dynamic slots have left of its resources, and `TotalSlot*` for what it has
//! in all. `condor_q -better-analyze` makes the same ad to say which slots would match if drained.

use crate::ad::{Ad, ByteString, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{
    AVAILABLE_GPUS, GPU_PREFIX, MACHINE_RESOURCES, TOTAL_SLOT_PREFIX, evaluate_attribute, machine_resources, words,
};

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
