//! Work on the blocks of files, on several threads. The results come in the order of the blocks, so that the output does
//! not depend on the number of threads.
//!
//! If ads are read in part, the set of attributes to read grows: an attribute that one ad refers to is read in all later
//! ads. The work on a block starts from the set known when the block was read. If an earlier block has since extended the
//! set, the main thread does the work on the block again. Such repetitions are rare and happen near the beginning of a
//! file.

use std::io;
use std::sync::Arc;
use std::thread::Scope;

use crate::ad::Name;
use crate::format::{Projection, Stream, StreamBlock};

use super::work_queue::{CloseOnDrop, OrderedWork, WorkQueue};

/// Maximum number of blocks per thread that are read but whose results have not been used. More than one block lets
/// threads work while results are printed. A small number bounds the memory: a block has at most 256 KiB, unless an ad
/// is longer.
const MAX_PENDING_BLOCKS_PER_THREAD: usize = 2;

/// What is done with each block.
pub trait BlockTask: Sync {
    /// What a thread keeps from block to block, such as a cache. Only the names of its projection may change the results.
    type State;
    /// The result for one block.
    type Output: Send;

    /// Creates the state of a thread.
    fn new_state(&self) -> Self::State;

    /// Returns the attributes that are read of each ad. `None` if ads are read whole.
    fn projection<'s>(&self, _state: &'s mut Self::State) -> Option<&'s mut Projection> {
        None
    }

    /// Does the work on one block. The block's `ads_before` is 0.
    fn run(&self, state: &mut Self::State, block: &StreamBlock) -> Self::Output;
}

/// The blocks of a file, and what takes the results, in order.
pub trait BlockRun<O> {
    /// Why the run cannot go on.
    type Error;

    /// Reads the next block; `None` at the end. Its `ads_before` is 0, since the number of ads before it is unknown while
    /// other threads work on these.
    fn next_block(&mut self) -> Option<Arc<StreamBlock>>;

    /// Takes the result for a block. Returns false if no further results are wanted.
    ///
    /// # Errors
    ///
    /// The run cannot go on.
    fn take(&mut self, block: Arc<StreamBlock>, output: O) -> Result<bool, Self::Error>;
}

/// The names of a projection, in its order.
type ProjectedNames = Arc<Vec<Name>>;

/// A block to work on, with the attributes to read, as known when the block was read.
type AssignedBlock = (Arc<StreamBlock>, ProjectedNames);

/// The result for a block; and the attributes to read after it, if its ads refer to new ones.
type BlockResult<O> = (O, Option<Vec<Name>>);

type BlockQueue<O> = WorkQueue<AssignedBlock, BlockResult<O>>;

/// Threads that work on blocks.
pub struct BlockWorkers<'s, 'e, T: BlockTask> {
    scope: &'s Scope<'s, 'e>,
    queue: &'s BlockQueue<T::Output>,
    threads: usize,
    task: &'s T,
    state: T::State,
    /// The state for work on blocks whose turn has not come; `None` until threads were started.
    lookahead: Option<T::State>,
}

/// Passes to `run` the workers that do a task on at most this number of threads.
pub fn with_block_workers<T: BlockTask, R>(
    threads: usize,
    task: &T,
    run: impl FnOnce(&mut BlockWorkers<'_, '_, T>) -> R,
) -> R {
    let queue = WorkQueue::new();
    std::thread::scope(|scope| {
        let _close = CloseOnDrop(&queue);
        run(&mut BlockWorkers { scope, queue: &queue, threads, task, state: task.new_state(), lookahead: None })
    })
}

impl<T: BlockTask> BlockWorkers<'_, '_, T> {
    /// Does the task on all blocks of a file. `on_threads` is false for a pipe, which is read with one thread, so that
    /// results are printed as the input arrives. Returns false if no further results are wanted.
    ///
    /// # Errors
    ///
    /// The run cannot go on.
    pub fn run<B: BlockRun<T::Output>>(&mut self, on_threads: bool, blocks: &mut B) -> Result<bool, B::Error> {
        // Threads do not pay off for a single block.
        let Some(first) = blocks.next_block() else { return Ok(true) };
        if !self.run_here(first, blocks)? {
            return Ok(false);
        }
        if self.threads > 1 && on_threads {
            return self.run_on_threads(blocks);
        }
        while let Some(block) = blocks.next_block() {
            if !self.run_here(block, blocks)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Does the task on a block on this thread.
    fn run_here<B: BlockRun<T::Output>>(&mut self, block: Arc<StreamBlock>, blocks: &mut B) -> Result<bool, B::Error> {
        let output = self.task.run(&mut self.state, &block);
        blocks.take(block, output)
    }

    /// Does the task on the remaining blocks of a file, on this thread and on others, which are started if they were not.
    fn run_on_threads<B: BlockRun<T::Output>>(&mut self, blocks: &mut B) -> Result<bool, B::Error> {
        let (task, queue, scope, threads) = (self.task, self.queue, self.scope, self.threads);
        let lookahead = self.lookahead.get_or_insert_with(|| {
            let make = move || {
                let mut state = task.new_state();
                move |assigned| run_assigned(task, &mut state, assigned)
            };
            // This thread is one of them.
            let _ = (1..threads).all(|_| queue.start_thread(scope, make));
            task.new_state()
        });
        let names = Arc::new(projected_names(task, &mut self.state));
        let mut ordered = OrderedBlocks { task, state: &mut self.state, names, blocks };
        let max_pending = MAX_PENDING_BLOCKS_PER_THREAD * threads;
        queue.run(max_pending, &mut ordered, &mut |assigned| run_assigned(task, lookahead, assigned))
    }
}

/// The remaining blocks of a file, whose results are taken in order.
struct OrderedBlocks<'r, T: BlockTask, B> {
    task: &'r T,
    state: &'r mut T::State,
    /// The attributes to read, as far as results were taken.
    names: ProjectedNames,
    blocks: &'r mut B,
}

impl<T: BlockTask, B: BlockRun<T::Output>> OrderedWork<AssignedBlock, BlockResult<T::Output>, B::Error>
    for OrderedBlocks<'_, T, B>
{
    type Kept = AssignedBlock;

    fn next(&mut self) -> Option<(AssignedBlock, AssignedBlock)> {
        let assigned = (self.blocks.next_block()?, Arc::clone(&self.names));
        Some((assigned.clone(), assigned))
    }

    fn take(
        &mut self,
        (block, names_then): AssignedBlock,
        result: Option<BlockResult<T::Output>>,
    ) -> Result<bool, B::Error> {
        let output = match result.filter(|_| Arc::ptr_eq(&self.names, &names_then)) {
            Some((output, names)) => {
                if let (Some(projection), Some(names)) = (self.task.projection(self.state), &names) {
                    projection.extend(names);
                }
                output
            }
            None => self.task.run(self.state, &block),
        };
        if has_grown(self.task, self.state, &self.names) {
            self.names = Arc::new(projected_names(self.task, self.state));
        }
        self.blocks.take(block, output)
    }
}

/// Does the task on a block with a state that no other thread uses.
fn run_assigned<T: BlockTask>(task: &T, state: &mut T::State, (block, names): AssignedBlock) -> BlockResult<T::Output> {
    assign_names(task, state, &names);
    let output = task.run(state, &block);
    // The block is free before its output arrives, so that its memory can be used again.
    drop(block);
    let has_grown = has_grown(task, state, &names);
    (output, has_grown.then(|| projected_names(task, state)))
}

fn projected_names<T: BlockTask>(task: &T, state: &mut T::State) -> Vec<Name> {
    task.projection(state).into_iter().flat_map(|projection| projection.names()).cloned().collect()
}

/// Whether the projection of a state has more than these names.
fn has_grown<T: BlockTask>(task: &T, state: &mut T::State, names: &[Name]) -> bool {
    task.projection(state).is_some_and(|projection| projection.names().count() > names.len())
}

/// Makes the projection of a thread's state have exactly these names. The projection left by the thread's previous block
/// may lack names that other threads have found, and may have names that were not known when the next block was read.
fn assign_names<T: BlockTask>(task: &T, state: &mut T::State, names: &[Name]) {
    let begins_so = |projection: &mut Projection| {
        let mut known = names.iter();
        projection.names().all(|name| known.next() == Some(name))
    };
    if task.projection(state).is_some_and(|projection| !begins_so(projection)) {
        *state = task.new_state();
    }
    if let Some(projection) = task.projection(state) {
        projection.extend(names);
    }
}

/// The blocks of a stream, and the first error of reading it.
struct StreamRun<'r, C> {
    stream: &'r mut Stream,
    consume: C,
    error: Option<io::Error>,
}

impl<O, C: FnMut(&StreamBlock, O) -> io::Result<bool>> BlockRun<O> for StreamRun<'_, C> {
    type Error = io::Error;

    fn next_block(&mut self) -> Option<Arc<StreamBlock>> {
        match self.stream.next_block() {
            Ok(block) => block.map(|block| Arc::new(StreamBlock { ads_before: 0, ..block })),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    fn take(&mut self, block: Arc<StreamBlock>, output: O) -> io::Result<bool> {
        let goes_on = (self.consume)(&block, output);
        if let Some(block) = Arc::into_inner(block) {
            self.stream.recycle(block);
        }
        goes_on
    }
}

/// Does a task on all blocks of a stream, on several threads, and passes the results to `consume` in the order of the
/// blocks, until it returns false.
///
/// # Errors
///
/// The stream cannot be read to its end, or `consume` fails.
pub fn for_each_block_of<T: BlockTask>(
    stream: &mut Stream,
    threads: usize,
    task: &T,
    consume: impl FnMut(&StreamBlock, T::Output) -> io::Result<bool>,
) -> io::Result<()> {
    let mut run = StreamRun { stream, consume, error: None };
    with_block_workers(threads, task, |workers| workers.run(true, &mut run))?;
    run.error.map_or(Ok(()), Err)
}
