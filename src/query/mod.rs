//! Queries of the ads of files, as fast as the command `query` does them: blocks are read one after the other and worked on
//! in several threads, of each ad only the needed attributes are read, and the results come in the order of the ads.

mod ad_blocks;
mod ad_lookup;
mod attempts;
mod blocks;
mod constraint_errors;
mod scan;
mod sort;
mod unseen_names;
mod work_queue;

pub use ad_blocks::{AdBlockTask, ReadBlock, ReadTask};
pub use ad_lookup::{AdLookup, to_integer, to_real, to_text};
pub use attempts::{
    ATTEMPT_COLUMNS, AttemptOutcome, EventAttempts, JobAttempt, JobEvent, JobNumber, LoggedJobs, attempts_of_job,
    host_of_address,
};
pub use blocks::{BlockRun, BlockTask, BlockWorkers, for_each_block_of, with_block_workers};
pub use constraint_errors::ConstraintErrors;
pub use scan::{AdScanState, AdScanner, AdSelection, ItemConsumer, ScanItem, ScannedBlock, SelectedAd, TruthFilter};
pub use sort::{SortKey, SortValues, SortedItems, compare_naturally, compare_values, order, sort_values};
pub use unseen_names::UnseenNames;
pub use work_queue::{THREAD_STACK_BYTES, do_in_order};
