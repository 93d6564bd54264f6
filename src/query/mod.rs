//! Work on many ads in files, as fast as the command `query` does it: blocks are read one after the other and worked on
//! in several threads, of each ad only the needed attributes are read, and the results come in the order of the ads.

mod ad_blocks;
mod blocks;
mod work_queue;

pub use ad_blocks::{AdBlockTask, BlockReader, ReadBlock, ReadTask};
pub use blocks::{BlockRun, BlockTask, BlockWorkers, for_each_block_of, with_block_workers};
pub use work_queue::{THREAD_STACK_BYTES, do_in_order};
