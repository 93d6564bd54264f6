//! Work on the blocks of sources, on several threads. The results come in the order of the blocks, so that the output
//! does not depend on the number of threads.
//!
//! If ads are read in part, the set of attributes to read grows: an attribute that one ad refers to is read in all later
//! ads. A thread starts from the set known when its block was read. If an earlier block has since extended the set, the
//! main thread does the work on the block again. Such repetitions are rare and happen near the beginning of a source.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use classad::ad::Name;
use classad::format::{Projection, StreamBlock};

use super::input;
use super::source::{AdSource, SourceText};
use crate::cli::Failure;
use crate::cli::parallel::THREAD_STACK_BYTES;
use crate::cli::session::Session;

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

/// Receives the result for a block, with the source and the text of the block. Returns false if no further results are
/// wanted.
pub type BlockConsumer<'c, O> = &'c mut dyn FnMut(&mut Session, &mut AdSource, &SourceText, O) -> Result<bool, Failure>;

/// Runs a task on all blocks of the sources and passes the results to `consume`, in order. A pipe is read with one
/// thread, so that results are printed as the input arrives.
///
/// # Errors
///
/// The run is interrupted, or `consume` fails.
pub fn for_each_block<'s, T: BlockTask>(
    session: &mut Session,
    sources: impl IntoIterator<Item = &'s mut AdSource>,
    task: &T,
    consume: BlockConsumer<'_, T::Output>,
) -> Result<(), Failure> {
    let threads = session.options.threads();
    let mut state = task.new_state();
    std::thread::scope(|scope| {
        let mut workers: Vec<Worker<T::Output>> = Vec::new();
        for source in sources {
            // Threads do not pay off for a single block.
            let Some(first) = next_block(session, source) else { continue };
            if !run_here(session, source, first, (task, &mut state), consume)? {
                return Ok(());
            }
            if threads > 1 && source.is_file() {
                if workers.is_empty() {
                    workers.extend((0..threads).map_while(|_| Worker::start(scope, task)));
                }
                if !run_on_workers(session, source, &workers, (task, &mut state), consume)? {
                    return Ok(());
                }
            }
            while let Some(text) = next_block(session, source) {
                if !run_here(session, source, text, (task, &mut state), consume)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

/// Reads the next block of a source; `None` at the end of the source and after a read error, which is reported.
fn next_block(session: &mut Session, source: &mut AdSource) -> Option<SourceText> {
    input::next_block(session, source).map(number_from_block)
}

/// Numbers the ads of a block from its beginning, since the number of ads before it is unknown while other threads work
/// on these ads.
fn number_from_block(mut text: SourceText) -> SourceText {
    if let Some(block) = Arc::get_mut(&mut text.block) {
        block.ads_before = 0;
    }
    text
}

/// Runs the task on a block on this thread. Returns false if no further results are wanted.
fn run_here<T: BlockTask>(
    session: &mut Session,
    source: &mut AdSource,
    text: SourceText,
    (task, state): (&T, &mut T::State),
    consume: BlockConsumer<'_, T::Output>,
) -> Result<bool, Failure> {
    session.check_interrupt()?;
    let output = task.run(state, &text.block);
    let goes_on = consume(session, source, &text, output)?;
    source.recycle(text);
    Ok(goes_on)
}

/// The names of a projection, in its order.
type ProjectedNames = Arc<Vec<Name>>;

/// A block for a worker, with the attributes to read, as known when the block was read.
struct BlockAssignment {
    block: Arc<StreamBlock>,
    names: ProjectedNames,
}

/// The result of a worker for a block.
struct BlockResult<O> {
    output: O,
    /// The attributes to read after this block, if ads of the block refer to new attributes; else `None`.
    names: Option<Vec<Name>>,
}

/// A block that was read, and the worker that works on it. `None` if no worker does.
struct PendingBlock<'w, O> {
    text: SourceText,
    names: ProjectedNames,
    worker: Option<&'w Worker<O>>,
}

/// Runs the task on the remaining blocks of a source on the workers. Returns false if no further results are wanted.
fn run_on_workers<T: BlockTask>(
    session: &mut Session,
    source: &mut AdSource,
    workers: &[Worker<T::Output>],
    (task, state): (&T, &mut T::State),
    consume: BlockConsumer<'_, T::Output>,
) -> Result<bool, Failure> {
    let mut names = Arc::new(projected_names(task, state));
    let mut pending: VecDeque<PendingBlock<'_, T::Output>> = VecDeque::new();
    let mut turn = workers.iter().cycle();
    let (mut has_ended, mut read_error) = (false, None);
    loop {
        while !has_ended && pending.len() < MAX_PENDING_BLOCKS_PER_THREAD * workers.len().max(1) {
            let text = match source.next_block() {
                Ok(Some(text)) => number_from_block(text),
                end => {
                    (has_ended, read_error) = (true, end.err());
                    break;
                }
            };
            let assignment = || BlockAssignment { block: Arc::clone(&text.block), names: Arc::clone(&names) };
            let worker = turn.next().filter(|worker| worker.assignments.send(assignment()).is_ok());
            pending.push_back(PendingBlock { text, names: Arc::clone(&names), worker });
        }
        let Some(PendingBlock { text, names: names_then, worker }) = pending.pop_front() else { break };
        session.check_interrupt()?;
        let result = worker.and_then(|worker| worker.results.recv().ok());
        let output = match result.filter(|_| Arc::ptr_eq(&names, &names_then)) {
            Some(result) => {
                if let (Some(projection), Some(names)) = (task.projection(state), &result.names) {
                    projection.extend(names);
                }
                result.output
            }
            None => task.run(state, &text.block),
        };
        if task.projection(state).is_some_and(|projection| projection.names().count() > names.len()) {
            names = Arc::new(projected_names(task, state));
        }
        if !consume(session, source, &text, output)? {
            return Ok(false);
        }
        source.recycle(text);
    }
    input::note_unfinished(session, source);
    if let Some(error) = read_error {
        input::report_read_error(session, source, &error);
    }
    Ok(true)
}

fn projected_names<T: BlockTask>(task: &T, state: &mut T::State) -> Vec<Name> {
    task.projection(state).into_iter().flat_map(|projection| projection.names()).cloned().collect()
}

/// A thread that works on blocks, with its channels.
struct Worker<O> {
    assignments: Sender<BlockAssignment>,
    results: Receiver<BlockResult<O>>,
}

impl<O: Send> Worker<O> {
    /// Starts a thread. `None` if the system refuses.
    fn start<'s, T: BlockTask<Output = O>>(scope: &'s Scope<'s, '_>, task: &'s T) -> Option<Self>
    where
        O: 's,
    {
        let (assignments, received) = channel::<BlockAssignment>();
        let (finished, results) = channel();
        let work = move || {
            let mut state = task.new_state();
            for BlockAssignment { block, names } in received {
                assign_names(task, &mut state, &names);
                let output = task.run(&mut state, &block);
                let is_longer =
                    task.projection(&mut state).is_some_and(|projection| projection.names().count() > names.len());
                let names = is_longer.then(|| projected_names(task, &mut state));
                // The block must be free before its output arrives, so that its memory can be used again.
                drop(block);
                if finished.send(BlockResult { output, names }).is_err() {
                    return;
                }
            }
        };
        Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work).ok()?;
        Some(Worker { assignments, results })
    }
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
