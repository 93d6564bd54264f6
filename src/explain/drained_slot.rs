//! What a partitionable slot would offer if no job ran in it.
//!
//! A partitionable slot advertises what its dynamic slots have left of its resources, and `TotalSlot*` for what it has
//! in all. `condor_q -better-analyze` makes the same ad to say which slots would match if drained.

use crate::ad::{Ad, ByteString, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

/// The attributes of a slot that name its resources.
const RESOURCE_NAMES: &str = "MachineResources";

/// The resources of a slot that does not name them.
const DEFAULT_RESOURCES: &str = "Cpus Memory Disk";

/// Prefix of the attributes that tell all of a resource that a slot has.
pub const TOTAL_PREFIX: &str = "TotalSlot";

/// Prefix of the attributes that hold the properties of a GPU.
pub const GPU_PREFIX: &str = "GPUs_";

/// The attribute of a slot that lists the properties of its GPUs that no job uses.
pub const AVAILABLE_GPUS: &str = "AvailableGPUs";

/// The attributes that tell what a slot would offer without jobs, but for those of GPUs and those with the prefix [`TOTAL_PREFIX`].
pub const DRAINED_SLOT_ATTRIBUTES: [&str; 2] = ["PartitionableSlot", RESOURCE_NAMES];

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
    let resources = text(RESOURCE_NAMES).unwrap_or_else(|| ByteString::from(DEFAULT_RESOURCES));
    let mut drained = None;
    for resource in words(&resources.to_str()) {
        let Some(total) = value(&format!("{TOTAL_PREFIX}{resource}")).filter(is_number) else { continue };
        if value(resource).as_ref() == Some(&total) {
            continue;
        }
        let mut ad: Ad = drained.take().unwrap_or_else(|| slot.clone());
        ad = ad.with(Name::new(resource), Expression::literal(total));
        if resource.eq_ignore_ascii_case("GPUs")
            && let Some(assigned) = text("AssignedGPUs")
        {
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

/// Splits a list of HTCondor's configuration: words between commas and blanks.
fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty())
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Real(_))
}
