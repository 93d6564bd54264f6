//! Explanations as text and as JSON, for `explain`, `gangmatch` and `repl`.

mod access_point;
mod accounting;
mod allocation;
pub mod case;
pub mod cause_entry;
mod causes;
mod dedicated_scheduler;
pub mod diagram;
mod document;
pub mod gangs;
pub mod group_report;
mod grouping;
pub mod json;
mod limits;
pub mod listing;
pub mod pair;
mod queue_counts;
pub mod remedies;
mod site_reasons;
mod spread_text;
pub mod starts;
pub mod times;
mod value_listing;
mod verdict_codes;
pub mod writer;

pub use access_point::{AccessPoint, START_ATTRIBUTES};
pub use accounting::Accounting;
pub use allocation::Allocation;
pub use case::{ExplanationInput, OfferLists};
pub use cause_entry::{CauseEntry, strike_numbers};
pub use causes::CauseTable;
pub use document::ExplanationWriter;
pub use gangs::GangExplainer;
pub use site_reasons::SiteReasons;
pub use writer::ReportRenderer;
