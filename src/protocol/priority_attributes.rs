//! The attributes by which policies of HTCondor's negotiator read priorities and usage: `SubmitterUserPrio` of requests,
//! `RemoteUserPrio` of offers, and so on (HTCondor's manual, `PREEMPTION_REQUIREMENTS`).

use crate::ad::Name;

/// What such an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityValue {
    /// The effective priority of the user.
    Priority,
    /// The weight that the user holds.
    Usage,
    /// The name of the user's group.
    Group,
    /// The quota of the user's group.
    GroupQuota,
    /// The weight that the user's group holds.
    GroupUsage,
}

/// The beginnings of the names: `Submitter` in requests, `Remote` in offers.
pub const PRIORITY_SIDES: [&str; 2] = ["Submitter", "Remote"];

/// Returns the names of the attributes of a side, one of [`PRIORITY_SIDES`], with what each holds.
#[must_use]
pub fn priority_attributes(side: &str) -> [(Name, PriorityValue); 5] {
    [
        ("UserPrio", PriorityValue::Priority),
        ("UserResourcesInUse", PriorityValue::Usage),
        ("Group", PriorityValue::Group),
        ("GroupQuota", PriorityValue::GroupQuota),
        ("GroupResourcesInUse", PriorityValue::GroupUsage),
    ]
    .map(|(end, value)| (Name::new(&format!("{side}{end}")), value))
}

/// Whether HTCondor's negotiator adds an attribute of this name to ads. Some of them are not computed here.
#[must_use]
pub fn is_priority_attribute(name: &Name) -> bool {
    let is_computed = |side| priority_attributes(side).iter().any(|(known, _)| known == name);
    PRIORITY_SIDES.into_iter().any(is_computed) || NOT_COMPUTED.iter().any(|known| name.is(known))
}

/// Attributes of the negotiator that are not computed here.
const NOT_COMPUTED: [&str; 4] =
    ["SubmitterNegotiatingGroup", "RemoteNegotiatingGroup", "SubmitterAutoregroup", "RemoteAutoregroup"];
