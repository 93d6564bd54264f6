//! Explains why a request matches no offer.
//!
//! The analysis counts for each clause of the request's constraint in how many offers it is true, false, undefined or
//! an error. It finds the minimal sets of clauses that no offer meets together, lists the offers that refuse the
//! request, and proposes changes that were verified by matching again.

mod changes;
mod clause_analysis;
mod clauses;
mod closest_offers;
mod conflicts;
mod distance;
mod evaluation;
mod explainer;
mod failure_reason;
mod findings;
mod gangs;
mod pair;
mod refusals;
mod report;
mod summary;

pub use changes::{Change, Edit};
pub use clause_analysis::{Asked, Examined};
pub use clauses::Clause;
pub use conflicts::Conflicts;
pub use evaluation::{Counts, Outcome};
pub use explainer::Explainer;
pub use failure_reason::Fault;
pub use gangs::{Cause, GangChange, GangReport, GangVerdict, GangWording, Obstacle, explain_gang};
pub use pair::{Paired, PairedClause};
pub use report::{ClauseReport, Demand, Finding, Near, Refusal, Report, Verdict};
pub use summary::{Wording, lacks, shortened, thousands};
