//! What a matchmaker reads in an ad: the advertising protocol (thesis §3.2.1).
//!
//! Constraint and rank, ports and their labels, identity; and the parts that a constraint is made of.

mod conjuncts;
mod identity;
mod ports;
mod protocol;
mod resources;

pub use conjuncts::conjuncts;
pub use identity::identity;
pub use ports::{Port, PortFault, ports};
pub use protocol::{Protocol, is_met, rank_of};
pub use resources::{RESOURCE_COUNT, resource_count};
