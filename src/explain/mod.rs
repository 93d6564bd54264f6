//! Explains why a request matches no offer.
//!
//! The analysis counts for each clause of the request's constraint in how many offers it is true, false, undefined or
//! an error. It finds the minimal sets of clauses that no offer meets together, lists the offers that refuse the
//! request, and proposes changes that were verified by matching again.

mod ad_names;
mod admission;
mod alternatives;
mod cause;
mod changes;
mod circumstances;
mod clause_analysis;
mod clause_slips;
mod clause_time;
mod clause_weight;
mod clauses;
mod closest_offers;
mod conflicts;
mod decisive_part;
mod distance;
mod drained_slots;
mod evaluation;
mod explainer;
mod failure_phrase;
mod failure_reason;
mod failure_sets;
mod findings;
mod gangs;
mod hold_reason;
mod job_report;
mod last_rejection;
mod logged_job;
mod match_times;
mod misplaced_value;
mod missing_attribute;
mod nested_constraint;
mod offered_values;
mod own_expression;
mod pair;
mod policy_outlook;
#[cfg(test)]
mod policy_outlook_tests;
mod policy_phrase;
mod precedence;
mod refusal_phrase;
mod refusals;
mod remedies;
mod report;
mod request_analysis;
mod resource_shortage;
mod scarce_resources;
mod setting_slips;
mod short_cause;
mod slot_phrase;
mod slots;
mod summary;
#[cfg(test)]
mod tests;
mod unranked_offers;

pub use ad_names::{AdNames, AdReference};
pub use admission::AdmittedJobs;
pub use cause::Cause;
pub use changes::{MatchingOffers, RequestChange, RequestEdit};
pub use circumstances::{JobCircumstance, ScheddAnswer};
pub use clause_analysis::{CRON_ATTRIBUTES, ClauseAnalysis};
pub use clause_time::ClauseTime;
pub use clauses::ExplainedClause;
pub use conflicts::Conflicts;
pub use decisive_part::{DecisivePart, ReadValue, UnmetOfferClause};
pub use drained_slots::{DRAINED_GPU_ATTRIBUTES, DRAINED_SLOT_ATTRIBUTES};
pub use evaluation::OutcomeCounts;
pub use explainer::Explainer;
pub use failure_reason::FailureReason;
pub use gangs::{EmptyPort, EmptyPortCause, GangReport, GangVerdict, explain_gang, unranking_rule};
pub use hold_reason::{ExceededResource, HoldReason};
pub use job_report::{FactoryMode, JobFactory, JobReport};
pub use last_rejection::{LastRejection, LastRejections, tells_autocluster};
pub use logged_job::LoggedJob;
pub use match_times::{MatchTimes, OfferTimes};
pub use misplaced_value::MisplacedValue;
pub use missing_attribute::MissingAttribute;
pub use nested_constraint::NestedFailure;
pub use offered_values::{OfferedRange, OfferedValue, OfferedValues};
pub use pair::{EvaluatedClause, PairReport};
pub use policy_outlook::{ForeseenEffect, JobOutlook, OutlookKind, PolicyGap, PolicyMoment, PolicyOutlook};
pub use policy_phrase::PolicyWriter;
pub use precedence::Precedence;
pub use remedies::Remedies;
pub use report::{ClauseRemark, ClauseReport, ClosestOffer, Narrowing, RefusalGroup, RequestReport, RequestVerdict};
pub use resource_shortage::ResourceShortage;
pub use scarce_resources::ScarceResources;
pub use short_cause::{MAX_SHORT_CAUSE_CHARS, ShortCause, ShortCauseWriter};
pub use slots::{DRAINING_ATTRIBUTES, SlotCounts, SlotStanding, SlotTally, standing_phrase};
pub use summary::{MAX_FIRST_LINE_CHARS, SummaryWriter};
