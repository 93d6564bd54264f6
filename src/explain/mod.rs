//! Why a request matches nothing.

mod clauses;
mod survey;

pub use clauses::Clause;
pub use survey::{Counts, Outcome};
