//! The normal form of constraints: conjuncts, clauses followed through attributes, indexable conditions, and
//! contradictions among them.

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
