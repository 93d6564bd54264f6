//! What a matchmaker reads in an ad: the advertising protocol (thesis §3.2.1).
//!
//! Constraint and rank, ports and their labels, identity and lifetime; and the parts that a constraint is made of.

mod clauses;
mod condition;
mod conjuncts;
mod consistency;
mod literal_filter;

pub use clauses::{Part, Parts, named};
pub use condition::{Condition, Operand, is_plain, stands_for_a_side, stands_for_an_ad};
pub use conjuncts::conjuncts;
pub use consistency::{Clash, Inconsistency, inconsistencies};
pub use literal_filter::Simple;
