//! The dynamic slots of a partitionable slot, as HTCondor's startd advertises them.

use crate::ad::{Ad, AdExtension, Expression, ExpressionKind, Name, Value};
use crate::eval::Context;

use super::evaluate_attribute;
use super::following_ads::with_value;
use super::offer_portion::{AVAILABLE_GPUS, is_number, list_elements, machine_resources};

/// Prefix of the attributes of a partitionable slot that list an attribute of its dynamic slots.
const CHILD_PREFIX: &str = "Child";

/// Prefix of the attributes that tell all of a resource that a slot has.
pub const TOTAL_SLOT_PREFIX: &str = "TotalSlot";

/// Prefix of the attributes that hold the properties of a GPU.
pub const GPU_PREFIX: &str = "GPUs_";

/// Attributes of a partitionable slot that its dynamic slots lack, besides those with the prefix [`CHILD_PREFIX`].
const PARTITIONABLE_ATTRIBUTES: [&str; 3] = ["PartitionableSlot", "NumDynamicSlots", "NumDynamicSlotsTime"];

/// Resources of a slot of which a job has some even if it requests none.
const EVERY_JOBS_RESOURCES: [&str; 4] = ["Cpus", "Memory", "Disk", "Swap"];

/// Whether an ad is that of a partitionable slot.
#[must_use]
pub fn is_partitionable(slot: &Ad, context: &Context) -> bool {
    is_true(slot, "PartitionableSlot", context)
}

/// The attributes that tell whether a slot is partitionable or dynamic.
pub const SLOT_KIND_ATTRIBUTES: [&str; 3] = ["PartitionableSlot", "DynamicSlot", "SlotType"];

/// Whether an ad is that of a dynamic slot. Projections can lack `DynamicSlot`; then `SlotType` tells it.
#[must_use]
pub fn is_dynamic(slot: &Ad, context: &Context) -> bool {
    let is_told = match evaluate_attribute(slot, &Name::new("DynamicSlot"), context) {
        Some(Value::Boolean(is_dynamic)) => is_dynamic,
        _ => match evaluate_attribute(slot, &Name::new("SlotType"), context) {
            Some(Value::String(kind)) => kind.to_str().eq_ignore_ascii_case("Dynamic"),
            _ => false,
        },
    };
    is_told && !is_partitionable(slot, context)
}

fn is_true(slot: &Ad, name: &str, context: &Context) -> bool {
    matches!(evaluate_attribute(slot, &Name::new(name), context), Some(Value::Boolean(true)))
}

/// Returns the name of a dynamic slot: `slot1_2@host` for the second of `slot1@host`.
#[must_use]
pub fn dynamic_slot_name(slot: &str, number: i64) -> String {
    let (first, host) = slot.split_at(slot.find('@').unwrap_or(slot.len()));
    format!("{first}_{number}{host}")
}

/// Returns the name of the slot of which a dynamic slot is a part. `None` if the ad is that of no dynamic slot.
#[must_use]
pub fn parent_slot_name(slot: &Ad, name: &str, context: &Context) -> Option<String> {
    let (first, host) = name.split_at(name.find('@').unwrap_or(name.len()));
    let (parent, number) = first.rsplit_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && is_true(slot, "DynamicSlot", context)).then(|| format!("{parent}{host}"))
}

/// Returns the ad of a new dynamic slot with the number `number`, which a match takes of `slot`. It is not claimed yet.
#[must_use]
pub fn dynamic_slot(slot: &Ad, name: &str, portion: &Ad, number: i64, context: &Context) -> Ad {
    let portion = &with_nothing_of_others(slot, portion, context);
    let gpus: Vec<Name> =
        list_elements(portion, &Name::new(AVAILABLE_GPUS)).into_iter().flatten().filter_map(attribute).collect();
    let is_own = |name: &Name| {
        let of_slot = PARTITIONABLE_ATTRIBUTES.iter().any(|other| name.is(other)) || name.starts_with(CHILD_PREFIX);
        let is_gpu = name.starts_with(GPU_PREFIX) && slot.get(name).is_some_and(|gpu| as_ad(gpu).is_some());
        !of_slot && (!is_gpu || gpus.contains(name))
    };
    let own = slot.iter().filter(|attribute| is_own(attribute.name));
    let ad: Ad = own.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
    let mut changed: Vec<(Name, Expression)> = Vec::new();
    for (resource, value) in portion.iter().map(|attribute| (attribute.name, attribute.expression)) {
        changed.push((resource.clone(), value.clone()));
        let total = Name::new(&format!("{TOTAL_SLOT_PREFIX}{resource}"));
        match (value.as_literal(), evaluate_attribute(slot, &total, context)) {
            (Some(Value::Integer(number)), Some(Value::Real(_))) => {
                #[allow(clippy::cast_precision_loss)] // no slot has 2^53 of anything
                let number = *number as f64;
                changed.push((total, Expression::literal(Value::Real(number))));
            }
            (Some(number), Some(_)) if is_number(number) => changed.push((total, value.clone())),
            _ => {}
        }
    }
    let mut ad = AdExtension::new(changed).extend(&ad);
    if !gpus.is_empty() || slot.get_str("AssignedGPUs").is_some() {
        ad = with_gpus(&ad, &gpus, context);
    }
    let parent = evaluate_attribute(slot, &Name::new("SlotID"), context).filter(is_number);
    let of_slot = [
        ("Name", Some(Value::string(dynamic_slot_name(name, number)))),
        ("DynamicSlot", Some(Value::Boolean(true))),
        ("SlotType", Some(Value::string("Dynamic"))),
        ("ParentSlotId", parent),
        ("DSlotId", Some(Value::Integer(number))),
    ];
    let given = of_slot.into_iter().filter_map(|(name, value)| Some((Name::new(name), Expression::literal(value?))));
    AdExtension::new(given.collect()).extend(&ad)
}

/// Returns a portion that has nothing of the resources of the slot that it lacks, as the startd gives a job none of a
/// resource that it does not request.
fn with_nothing_of_others(slot: &Ad, portion: &Ad, context: &Context) -> Ad {
    let mut whole = portion.clone();
    let is_other = |name: &Name| portion.get(name).is_none() && !EVERY_JOBS_RESOURCES.iter().any(|own| name.is(own));
    for name in machine_resources(slot, context).into_iter().chain([Name::new(AVAILABLE_GPUS)]).filter(is_other) {
        if list_elements(slot, &name).is_some() {
            whole = whole.with(name, Expression::list([]));
        } else if evaluate_attribute(slot, &name, context).is_some_and(|held| is_number(&held)) {
            whole = whole.with(name, Expression::literal(Value::Integer(0)));
        }
    }
    whole
}

/// Returns a slot whose GPUs are these: it has their identifiers, and the properties that they have in common.
fn with_gpus(slot: &Ad, gpus: &[Name], context: &Context) -> Ad {
    let properties: Vec<&Ad> = gpus.iter().filter_map(|gpu| as_ad(slot.get(gpu)?)).collect();
    let ids = properties.iter().filter_map(|gpu| match evaluate_attribute(gpu, &Name::new("Id"), context)? {
        Value::String(id) => Some(id.to_str().into_owned()),
        _ => None,
    });
    let ids: Vec<String> = ids.collect();
    let is_property = |name: &Name| name.starts_with(GPU_PREFIX) && !gpus.contains(name);
    let kept = slot.iter().filter(|attribute| !attribute.name.is("AssignedGPUs") && !is_property(attribute.name));
    let mut ad: Ad = kept.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
    if !ids.is_empty() {
        ad = with_value(&ad, "AssignedGPUs", Value::string(ids.join(",")));
    }
    let Some((first, others)) = properties.split_first() else { return ad };
    for attribute in first.iter().filter(|attribute| !attribute.name.is("Id")) {
        if others.iter().all(|other| other.get(attribute.name) == Some(attribute.expression)) {
            ad = ad.with(Name::new(&format!("{GPU_PREFIX}{}", attribute.name)), attribute.expression.clone());
        }
    }
    ad
}

/// Whether a partitionable slot lists a dynamic slot with this name or this number.
#[must_use]
pub fn has_child(slot: &Ad, name: &str, number: i64) -> bool {
    let has = |list: &str, is_wanted: &dyn Fn(&Value) -> bool| {
        let elements = list_elements(slot, &Name::new(list)).unwrap_or_default();
        elements.iter().filter_map(Expression::as_literal).any(is_wanted)
    };
    has("ChildName", &|value| matches!(value, Value::String(text) if text.to_str() == name))
        || has("ChildDSlotId", &|value| matches!(value, Value::Integer(known) if *known == number))
}

/// Returns a partitionable slot that lists another dynamic slot: `NumDynamicSlots` and the lists such as `ChildCpus`. An
/// ad of another kind lists none.
#[must_use]
pub fn with_child(slot: &Ad, child: &Ad, at: i64, context: &Context) -> Ad {
    if !is_partitionable(slot, context) {
        return slot.clone();
    }
    let value = |name: &str| evaluate_attribute(child, &Name::new(name), context).unwrap_or(Value::Undefined);
    let listed = map_child_lists(slot, |name, elements| elements.push(Expression::literal(value(name))));
    counting_children(&listed, 1, at, context)
}

/// Returns a partitionable slot that no longer lists the dynamic slot called `name`.
#[must_use]
pub fn without_child(slot: &Ad, name: &str, at: i64, context: &Context) -> Ad {
    if !is_partitionable(slot, context) {
        return slot.clone();
    }
    let names = list_elements(slot, &Name::new("ChildName")).unwrap_or_default();
    let is_child =
        |known: &Expression| matches!(known.as_literal(), Some(Value::String(text)) if text.to_str() == name);
    let listed = match names.iter().position(is_child) {
        Some(place) => map_child_lists(slot, |_, elements| {
            if place < elements.len() {
                drop(elements.remove(place));
            }
        }),
        None => slot.clone(),
    };
    counting_children(&listed, -1, at, context)
}

/// Returns what a dynamic slot has, as a portion of its slot: its resources, also those of `named`.
#[must_use]
pub fn portion_of_child(slot: &Ad, child: &Ad, named: Option<&Ad>, context: &Context) -> Ad {
    let mut portion = named.cloned().unwrap_or_default();
    let named: Vec<Name> = portion.iter().map(|attribute| attribute.name.clone()).collect();
    for name in machine_resources(slot, context).into_iter().chain([Name::new(AVAILABLE_GPUS)]).chain(named) {
        let number = evaluate_attribute(child, &name, context).filter(is_number).map(Expression::literal);
        let held = number.or_else(|| list_elements(child, &name).map(|list| Expression::list(list.iter().cloned())));
        if let Some(held) = held.filter(|_| slot.get(&name).is_some()) {
            portion = portion.with(name, held);
        }
    }
    portion
}

/// Changes the lists of attributes of dynamic slots. `change` gets the name of the attribute and the elements.
fn map_child_lists(slot: &Ad, change: impl Fn(&str, &mut Vec<Expression>)) -> Ad {
    let list = |name: &Name, expression: &Expression| {
        let of = name.as_str().get(CHILD_PREFIX.len()..).filter(|_| name.starts_with(CHILD_PREFIX))?;
        let ExpressionKind::List(elements) = expression.without_parentheses().kind() else { return None };
        let mut elements = elements.to_vec();
        change(of, &mut elements);
        Some(Expression::list(elements))
    };
    let changed = slot.iter().map(|attribute| {
        let list = list(attribute.name, attribute.expression);
        (attribute.name.clone(), list.unwrap_or_else(|| attribute.expression.clone()))
    });
    changed.collect()
}

fn counting_children(slot: &Ad, more: i64, at: i64, context: &Context) -> Ad {
    let count = match evaluate_attribute(slot, &Name::new("NumDynamicSlots"), context) {
        Some(Value::Integer(count)) => count,
        _ => 0,
    };
    let slot = with_value(slot, "NumDynamicSlots", Value::Integer(count.saturating_add(more).max(0)));
    with_value(&slot, "NumDynamicSlotsTime", Value::Integer(at))
}

fn attribute(expression: &Expression) -> Option<Name> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Attribute(name) => Some(name.clone()),
        _ => None,
    }
}

fn as_ad(expression: &Expression) -> Option<&Ad> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Ad(ad) => Some(ad),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        dynamic_slot, dynamic_slot_name, has_child, is_dynamic, is_partitionable, parent_slot_name, portion_of_child,
        with_child, without_child,
    };
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, Style, parse_ad, print_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    fn shown(ad: &Ad) -> String {
        String::from_utf8(print_ad(ad, Style::New)).unwrap()
    }

    #[test]
    fn kinds_of_slots() {
        let context = Context::new(Dialect::Condor);
        for (text, expected) in [
            ("[ ]", [false, false]),
            ("[ PartitionableSlot = true ]", [true, false]),
            ("[ PartitionableSlot = 1 ]", [false, false]),
            ("[ DynamicSlot = true ]", [false, true]),
            ("[ DynamicSlot = false; SlotType = \"Dynamic\" ]", [false, false]),
            ("[ DynamicSlot = undefined; SlotType = \"dynamic\" ]", [false, true]),
            ("[ SlotType = \"Partitionable\" ]", [false, false]),
            ("[ DynamicSlot = true; PartitionableSlot = true ]", [true, false]),
        ] {
            let slot = ad(text);
            assert_eq!([is_partitionable(&slot, &context), is_dynamic(&slot, &context)], expected, "{text}");
        }
        let part = ad("[ DynamicSlot = true ]");
        for (name, expected) in [
            ("slot1_2@h", Some("slot1@h")),
            ("slot1_2_3@h", Some("slot1_2@h")),
            ("slot1_2", Some("slot1")),
            ("slot1_@h", None),
            ("slot1_x@h", None),
            ("slot1@h_2", None),
            ("slot1@h", None),
        ] {
            assert_eq!(parent_slot_name(&part, name, &context).as_deref(), expected, "{name}");
        }
        assert_eq!(parent_slot_name(&ad("[ ]"), "slot1_2@h", &context), None);
        assert_eq!(["slot1@h@i", "slot1"].map(|name| dynamic_slot_name(name, 7)), ["slot1_7@h@i", "slot1_7"]);
    }

    #[test]
    fn a_dynamic_slot_has_its_portion() {
        let slot = "[ Name = \"slot1@h\"; PartitionableSlot = true; SlotID = 1; NumDynamicSlots = 1; ChildCpus = { 1 }; \
                    Cpus = 6; TotalSlotCpus = 8; Memory = 100; TotalSlotMemory = 128.0; Disk = 9; FPGA = 1; Sw = { a }; \
                    GPUs = 2; TotalSlotGPUs = 2; MachineResources = \"Cpus Memory Disk Swap GPUs FPGA Sw\"; \
                    AvailableGPUs = { GPUs_a, GPUs_b }; GPUs_a = [ Id = \"A\"; Cap = 5; Mem = 1 ]; \
                    GPUs_b = [ Id = \"B\"; Cap = 5; Mem = 2 ]; AssignedGPUs = \"A,B\"; GPUs_Cap = 5 ]";
        for (slot, portion, expected) in [
            (
                slot,
                "[ Cpus = 2; Memory = 50 ]",
                "[ Name = \"slot1_2@h\"; SlotID = 1; Cpus = 2; TotalSlotCpus = 2; Memory = 50; TotalSlotMemory = \
                 50.0; Disk = 9; FPGA = 0; Sw = { }; GPUs = 0; TotalSlotGPUs = 0; MachineResources = \"Cpus \
                 Memory Disk Swap GPUs FPGA Sw\"; AvailableGPUs = { }; DynamicSlot = true; SlotType = \
                 \"Dynamic\"; ParentSlotId = 1; DSlotId = 2 ]",
            ),
            (
                slot,
                "[ Cpus = 2; GPUs = 1; FPGA = 1; Sw = { a }; AvailableGPUs = { GPUs_b } ]",
                "[ Name = \"slot1_2@h\"; SlotID = 1; Cpus = 2; TotalSlotCpus = 2; Memory = 100; TotalSlotMemory = \
                 128.0; Disk = 9; FPGA = 1; Sw = { a }; GPUs = 1; TotalSlotGPUs = 1; MachineResources = \"Cpus \
                 Memory Disk Swap GPUs FPGA Sw\"; AvailableGPUs = { GPUs_b }; GPUs_b = [ Id = \"B\"; Cap = 5; Mem \
                 = 2 ]; AssignedGPUs = \"B\"; GPUs_Cap = 5; GPUs_Mem = 2; DynamicSlot = true; SlotType = \
                 \"Dynamic\"; ParentSlotId = 1; DSlotId = 2 ]",
            ),
            (
                slot,
                "[ GPUs = 2; AvailableGPUs = { GPUs_a, (GPUs_b), 5 } ]",
                "[ Name = \"slot1_2@h\"; SlotID = 1; Cpus = 6; TotalSlotCpus = 8; Memory = 100; TotalSlotMemory = \
                 128.0; Disk = 9; FPGA = 0; Sw = { }; GPUs = 2; TotalSlotGPUs = 2; MachineResources = \"Cpus \
                 Memory Disk Swap GPUs FPGA Sw\"; AvailableGPUs = { GPUs_a, (GPUs_b), 5 }; GPUs_a = [ Id = \"A\"; \
                 Cap = 5; Mem = 1 ]; GPUs_b = [ Id = \"B\"; Cap = 5; Mem = 2 ]; AssignedGPUs = \"A,B\"; GPUs_Cap \
                 = 5; DynamicSlot = true; SlotType = \"Dynamic\"; ParentSlotId = 1; DSlotId = 2 ]",
            ),
            (
                "[ Cpus = 1.5; TotalSlotCpus = 1.5; SlotID = \"x\"; NumDynamicSlotsTime = 5 ]",
                "[ Cpus = 1; New = \"x\" ]",
                "[ Cpus = 1; TotalSlotCpus = 1.0; SlotID = \"x\"; New = \"x\"; Name = \"slot1_2@h\"; DynamicSlot \
                 = true; SlotType = \"Dynamic\"; DSlotId = 2 ]",
            ),
            (
                "[ Cpus = 4; TotalSlotCpus = 4; GPUs_x = 5; Childless = 1 ]",
                "[ Cpus = \"all\" ]",
                "[ Cpus = \"all\"; TotalSlotCpus = 4; GPUs_x = 5; Name = \"slot1_2@h\"; DynamicSlot = true; \
                 SlotType = \"Dynamic\"; DSlotId = 2 ]",
            ),
        ] {
            let context = Context::new(Dialect::Condor);
            let made = dynamic_slot(&ad(slot), "slot1@h", &ad(portion), 2, &context);
            assert_eq!(shown(&made), expected, "{portion}");
        }
    }

    #[test]
    fn a_partitionable_slot_lists_its_dynamic_slots() {
        let context = Context::new(Dialect::Condor);
        let slot = ad("[ PartitionableSlot = true; NumDynamicSlots = 1; ChildName = { \"slot1_1@h\" }; \
                       ChildDSlotId = { 1 }; ChildCpus = ({ 2 }); ChildState = 5 ]");
        let child = ad("[ Name = \"slot1_2@h\"; DSlotId = 2; Cpus = 1 + 2 ]");
        let both = with_child(&slot, &child, 70, &context);
        assert_eq!(
            shown(&both),
            "[ PartitionableSlot = true; NumDynamicSlots = 2; ChildName = { \"slot1_1@h\", \"slot1_2@h\" }; \
             ChildDSlotId = { 1, 2 }; ChildCpus = { 2, 3 }; ChildState = 5; NumDynamicSlotsTime = 70 ]"
        );
        for (name, number, expected) in [
            ("slot1_1@h", 0, true),
            ("slot1_2@h", 0, true),
            ("slot1_3@h", 0, false),
            ("slot1_3@h", 2, true),
            ("slot1_3@h", 3, false),
        ] {
            assert_eq!(has_child(&both, name, number), expected, "{name} {number}");
        }
        assert_eq!(
            shown(&without_child(&both, "slot1_1@h", 80, &context)),
            "[ PartitionableSlot = true; NumDynamicSlots = 1; ChildName = { \"slot1_2@h\" }; ChildDSlotId = { 2 }; \
             ChildCpus = { 3 }; ChildState = 5; NumDynamicSlotsTime = 80 ]"
        );
        // A slot that is not listed is counted, too.
        for (text, expected) in [
            (
                "[ PartitionableSlot = true; NumDynamicSlots = 3; ChildName = { \"x\" } ]",
                "[ PartitionableSlot = true; NumDynamicSlots = 2; ChildName = { \"x\" }; NumDynamicSlotsTime = 9 ]",
            ),
            (
                "[ PartitionableSlot = true ]",
                "[ PartitionableSlot = true; NumDynamicSlots = 0; NumDynamicSlotsTime = 9 ]",
            ),
            (
                "[ PartitionableSlot = true; ChildName = { 1, \"y\" }; ChildCpus = { 1 } ]",
                "[ PartitionableSlot = true; ChildName = { 1 }; ChildCpus = { 1 }; NumDynamicSlots = 0; \
                 NumDynamicSlotsTime = 9 ]",
            ),
            ("[ ChildName = { \"y\" } ]", "[ ChildName = { \"y\" } ]"),
        ] {
            assert_eq!(shown(&without_child(&ad(text), "y", 9, &context)), expected, "{text}");
        }
        assert_eq!(with_child(&ad("[ ChildCpus = { } ]"), &child, 1, &context), ad("[ ChildCpus = { } ]"));
    }

    #[test]
    fn what_a_dynamic_slot_has_is_a_portion() {
        let context = Context::new(Dialect::Condor);
        let slot = ad(
            "[ MachineResources = \"Cpus Memory GPUs\"; Cpus = 4; Memory = 8; GPUs = 1; AvailableGPUs = { a }; L = 5 ]",
        );
        for (child, named, expected) in [
            ("[ Cpus = 1 + 1; Memory = \"x\"; Disk = 5 ]", None, "[ Cpus = 2 ]"),
            (
                "[ Cpus = 1; AvailableGPUs = { a, b }; GPUs = 1.5 ]",
                None,
                "[ Cpus = 1; GPUs = 1.5; AvailableGPUs = { a, b } ]",
            ),
            ("[ Cpus = 1; L = 3; M = 4 ]", Some("[ L = 9; M = 8; N = 7 ]"), "[ L = 3; M = 8; N = 7; Cpus = 1 ]"),
            ("[ ]", None, "[ ]"),
        ] {
            let named = named.map(ad);
            let portion = portion_of_child(&slot, &ad(child), named.as_ref(), &context);
            assert_eq!(shown(&portion), expected, "{child}");
        }
    }
}
