//! What a matchmaker reads in an ad: the advertising protocol (thesis §3.2.1).
//!
//! Constraint and rank, ports and their labels, identity and lifetime; and the parts that a constraint is made of.

mod advertisement;
mod condition;
mod conjuncts;
mod consistency;
mod group;
mod identity;
mod parts;
mod ports;
mod protocol;
mod resources;
mod simple;

pub use advertisement::{ADVERTISING, Advertisement, IDENTITY, Occupant, STANDING, Standing, latest};
pub use condition::{Condition, Operand, is_plain, stands_for_a_side, stands_for_an_ad};
pub use conjuncts::conjuncts;
pub use consistency::{Clash, Inconsistency, inconsistencies};
pub use group::{Entry, Group, MOST_PATTERNS, Pattern};
pub use identity::identity;
pub use parts::{Part, Parts, named};
pub use ports::{PORTS, Port, PortFault, Ports, ports};
pub use protocol::{Protocol, is_met, rank_of};
pub use resources::{RESOURCE_COUNT, miscounted, resource_count};
pub use simple::Simple;
