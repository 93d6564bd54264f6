//! Work on the ads of blocks, on several threads. Bad ads are reported in the order of the input.

use classad::ad::Dialect;
use classad::format::{AdEntry, Problem, ReadCache, StreamBlock, read_cached};

use super::block_pipeline::{BlockTask, for_each_block};
use super::source::AdSource;
use crate::cli::Failure;
use crate::cli::session::Session;

/// What is done with the good ads of each block.
pub trait AdBlockTask: Sync {
    /// What a thread keeps from block to block. It must not change the results.
    type State;
    /// The result for one block.
    type Output: Send;

    /// Creates the state of a thread.
    fn new_state(&self) -> Self::State;

    /// Does the work on the ads of one block. Numbers of ads count from the beginning of the block.
    fn run(&self, state: &mut Self::State, ads: &mut dyn Iterator<Item = AdEntry>) -> Self::Output;
}

/// Runs a task on all ads of the sources and passes the results to `consume`, block by block in the order of the input.
/// The number of ads that the source has read is then that before the block. Bad ads are reported and skipped.
///
/// # Errors
///
/// The run is interrupted, or an ad is bad and `--fail-fast` is given.
pub fn for_each_ad_block<T: AdBlockTask>(
    session: &mut Session,
    sources: &mut [AdSource],
    task: &T,
    consume: &mut dyn FnMut(&AdSource, T::Output),
) -> Result<(), Failure> {
    let task = ReadTask { dialect: session.dialect(), task };
    for_each_block(session, sources, &task, &mut |session, source, text, read: ReadBlock<T::Output>| {
        for problem in read.problems {
            session.report_problem(text, &problem.after_ads(source.ads_read))?;
        }
        consume(source, read.output);
        source.ads_read += read.last;
        Ok(true)
    })
}

/// Reads the ads of a block and does a task with them.
struct ReadTask<'t, T> {
    dialect: Dialect,
    task: &'t T,
}

/// The result for one block.
struct ReadBlock<O> {
    output: O,
    /// The problems of bad ads.
    problems: Vec<Problem>,
    /// Number of the last ad, counted from the beginning of the block.
    last: usize,
}

impl<T: AdBlockTask> BlockTask for ReadTask<'_, T> {
    type State = (ReadCache, T::State);
    type Output = ReadBlock<T::Output>;

    fn new_state(&self) -> Self::State {
        (ReadCache::new(self.dialect), self.task.new_state())
    }

    fn run(&self, (cache, state): &mut Self::State, block: &StreamBlock) -> ReadBlock<T::Output> {
        let (mut problems, mut last) = (Vec::new(), 0);
        let mut ads = read_cached(&block.text, block.form, cache).filter_map(|item| match item {
            Ok(entry) => {
                last = entry.number;
                Some(entry)
            }
            Err(problem) => {
                last = last.max(problem.ad_number);
                problems.push(problem);
                None
            }
        });
        let output = self.task.run(state, &mut ads);
        drop(ads);
        ReadBlock { output, problems, last }
    }
}
