//! The advertising protocol (thesis 3.2.1): constraint and rank, ports and labels, identity and lifetime of an ad.

mod advertised_state;
mod advertisement;
mod advertisement_header;
mod constraint_and_rank;
mod content_identity;
mod cool_down;
mod dynamic_slot;
mod following_ads;
mod offer_portion;
mod port_group;
mod ports;
mod priority_attributes;
mod renamed_attributes;
mod resource_request;
mod run_attributes;
mod update;
mod validity;

pub use advertised_state::{
    AdvertisedState, JOB_REPORT_ATTRIBUTES, JobState, SUBMITTER_TYPE, SlotState, StateAttribute,
};
pub use advertisement::{
    ADVERTISEMENT_ATTRIBUTES, Advertisement, HEADER_ATTRIBUTES, IDENTITY_ATTRIBUTES, OfferOccupant, TIME_ATTRIBUTES,
    USER_ATTRIBUTES, display_name, evaluate_attribute, identity,
};
pub use advertisement_header::{AdvertisementHeader, latest_advertisements};
pub use constraint_and_rank::{Protocol, is_typed_rank, rank_number, rank_value};
pub use content_identity::ContentIdentities;
pub(crate) use content_identity::stable_hash;
pub use cool_down::{COOL_DOWN, cool_down_end};
pub use dynamic_slot::{
    GPU_PREFIX, SLOT_KIND_ATTRIBUTES, TOTAL_SLOT_PREFIX, dynamic_slot, dynamic_slot_name, has_child, is_dynamic,
    is_partitionable, parent_slot_name, portion_of_child, with_child, without_child,
};
pub use following_ads::{claimed_offer, divided_offer, idle_claim, released_offer};
pub use offer_portion::{
    AVAILABLE_GPUS, MACHINE_RESOURCES, machine_resources, taken_portion, with_portion, without_portion, words,
};
pub use port_group::{MAX_PORT_PATTERNS, PortGroup, PortGroupEntry, PortPattern};
pub use ports::{LABEL, MAX_PORTS, PORTS, Port, PortFault, Ports, check_port_list, has_ports, port_list, read_ports};
pub use priority_attributes::{PRIORITY_SIDES, PriorityValue, is_priority_attribute, priority_attributes};
pub use renamed_attributes::{
    closest_attributes, current_names, likely_current_names, renamed_attribute, slot_counterpart,
};
pub use resource_request::{
    IDLE_JOBS, RESOURCE_ATTRIBUTES, RESOURCE_COUNT, RESOURCE_REQUESTS, invalid_count_reason, nested_requests,
    requested_resource, resource_count,
};
pub use run_attributes::is_set_by_run;
pub use update::{UpdateFault, updated_advertisement};
pub use validity::{InvalidAd, advertisement_fault, invalidities};
