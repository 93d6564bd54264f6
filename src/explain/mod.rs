//! Why a request matches nothing: what each clause of its constraint is in every offer, which of them no offer meets
//! together, who refuses it, and what would let it match.  And what is most likely not meant in ads:
//! `check`; and whether what was meant holds: `trial`.

mod changes;
pub mod check;
mod clauses;
mod conflicts;
mod examine;
mod explainer;
mod fault;
mod findings;
mod gangs;
mod margin;
mod nearest;
mod pairing;
mod refusals;
mod report;
mod survey;
pub mod trial;
mod words;

pub use changes::{Change, Edit};
pub use clauses::Clause;
pub use conflicts::Conflicts;
pub use examine::{Asked, Examined};
pub use explainer::Explainer;
pub use fault::Fault;
pub use gangs::{Cause, GangChange, GangReport, GangVerdict, GangWording, Obstacle, explain_gang};
pub use pairing::{Paired, PairedClause};
pub use report::{ClauseReport, Demand, Finding, Near, Refusal, Report, Verdict};
pub use survey::{Counts, Outcome};
pub use words::{Wording, lacks, shortened, thousands};
