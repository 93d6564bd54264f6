//! The advertising protocol (thesis 3.2.1): constraint and rank, ports and labels, identity and lifetime of an ad.

mod advertisement;
mod constraint_and_rank;
mod identity;
mod port_group;
mod ports;
mod resource_request;

pub use advertisement::{ADVERTISING, Advertisement, IDENTITY, Occupant, STANDING, Standing, latest};
pub use constraint_and_rank::{Protocol, is_met, rank_of};
pub use identity::identity;
pub use port_group::{Entry, Group, MOST_PATTERNS, Pattern};
pub use ports::{PORTS, Port, PortFault, Ports, ports};
pub use resource_request::{RESOURCE_COUNT, miscounted, resource_count};
