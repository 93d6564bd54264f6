//! Why a request matches nothing: what each clause of its constraint is in every offer, which of them no offer meets
//! together, who refuses it, and what would let it match.  And what is most likely not meant in ads:
//! `check`; and whether what was meant holds: `trial`.

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
