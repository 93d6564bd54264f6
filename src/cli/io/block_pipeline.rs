//! Work on the blocks of sources, on several threads. The results come in the order of the blocks, so that the output
//! does not depend on the number of threads.
//!
//! If ads are read in part, the set of attributes to read grows: an attribute that one ad refers to is read in all later
//! ads. The work on a block starts from the set known when the block was read. If an earlier block has since extended the
//! set, the main thread does the work on the block again. Such repetitions are rare and happen near the beginning of a source.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

use classad::ad::Name;
use classad::format::{Projection, StreamBlock};

use super::input;
use super::source::{AdSource, SourceText};
use crate::cli::outcome::Failure;
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
    // The state for work on blocks whose turn has not come.
    let mut helping: Option<T::State> = None;
    let queue = AssignmentQueue::new();
    std::thread::scope(|scope| {
        let _close = CloseOnDrop(&queue);
        for source in sources {
            // Threads do not pay off for a single block.
            let Some(first) = next_block(session, source) else { continue };
            if !run_here(session, source, first, (task, &mut state), consume)? {
                return Ok(());
            }
            if threads > 1 && source.is_file() {
                let helping = helping.get_or_insert_with(|| {
                    // This thread is one of them.
                    let _ = (1..threads).all(|_| queue.start_thread(scope, task));
                    task.new_state()
                });
                if !run_on_threads(session, source, &queue, (task, &mut state, helping), consume)? {
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

/// A block to work on, with the attributes to read, as known when the block was read.
struct BlockAssignment<O> {
    block: Arc<StreamBlock>,
    names: ProjectedNames,
    /// Takes the result.
    finished: Sender<BlockResult<O>>,
}

/// The result for a block.
struct BlockResult<O> {
    output: O,
    /// The attributes to read after this block, if ads of the block refer to new attributes; else `None`.
    names: Option<Vec<Name>>,
}

/// A block that was read and whose result has not been used.
struct PendingBlock<O> {
    text: SourceText,
    names: ProjectedNames,
    /// Gives the result. It is closed without one if the thread that worked on the block has panicked.
    result: Receiver<BlockResult<O>>,
}

/// Runs the task on the remaining blocks of a source, on this thread and on those that take assignments from the queue.
/// This thread reads blocks and uses results; while the next result is not ready, it works on a block like the others.
/// Returns false if no further results are wanted.
fn run_on_threads<T: BlockTask>(
    session: &mut Session,
    source: &mut AdSource,
    queue: &AssignmentQueue<T::Output>,
    (task, state, helping): (&T, &mut T::State, &mut T::State),
    consume: BlockConsumer<'_, T::Output>,
) -> Result<bool, Failure> {
    let mut names = Arc::new(projected_names(task, state));
    let mut pending: VecDeque<PendingBlock<T::Output>> = VecDeque::new();
    let max_pending = MAX_PENDING_BLOCKS_PER_THREAD * session.options.threads();
    let (mut has_ended, mut read_error) = (false, None);
    loop {
        while !has_ended && pending.len() < max_pending {
            let text = match source.next_block() {
                Ok(Some(text)) => number_from_block(text),
                end => {
                    (has_ended, read_error) = (true, end.err());
                    break;
                }
            };
            input::note_years(session, source);
            let (finished, result) = channel();
            let (block, names) = (Arc::clone(&text.block), Arc::clone(&names));
            queue.push(BlockAssignment { block, names: Arc::clone(&names), finished });
            pending.push_back(PendingBlock { text, names, result });
        }
        session.check_interrupt()?;
        let Some(PendingBlock { result, .. }) = pending.front() else { break };
        let result = match result.try_recv() {
            Err(TryRecvError::Empty) => match queue.take_now() {
                Some(assignment) => {
                    assignment.fulfil(task, helping);
                    continue;
                }
                None => result.recv().ok(),
            },
            result => result.ok(),
        };
        let Some(PendingBlock { text, names: names_then, .. }) = pending.pop_front() else { break };
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

/// The blocks that no thread works on yet.
struct AssignmentQueue<O> {
    state: Mutex<AssignmentQueueState<O>>,
    /// Notified when an assignment was added, and at the end.
    changed: Condvar,
}

struct AssignmentQueueState<O> {
    waiting: VecDeque<BlockAssignment<O>>,
    is_closed: bool,
}

impl<O: Send> AssignmentQueue<O> {
    fn new() -> Self {
        let state = AssignmentQueueState { waiting: VecDeque::new(), is_closed: false };
        AssignmentQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, AssignmentQueueState<O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, assignment: BlockAssignment<O>) {
        self.lock().waiting.push_back(assignment);
        self.changed.notify_one();
    }

    /// Removes the oldest assignment. `None` if there is none at present.
    fn take_now(&self) -> Option<BlockAssignment<O>> {
        self.lock().waiting.pop_front()
    }

    /// Removes the oldest assignment; waits for one if there is none. `None` at the end.
    fn take(&self) -> Option<BlockAssignment<O>> {
        let must_wait = |state: &mut AssignmentQueueState<O>| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { None } else { state.waiting.pop_front() }
    }

    /// Starts a thread that works on assignments until the queue is closed. Returns false if the system refuses.
    fn start_thread<'s, T: BlockTask<Output = O>>(&'s self, scope: &'s Scope<'s, '_>, task: &'s T) -> bool
    where
        O: 's,
    {
        let work = move || {
            let mut state = task.new_state();
            while let Some(assignment) = self.take() {
                assignment.fulfil(task, &mut state);
            }
        };
        Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work).is_ok()
    }
}

/// Closes the queue when it is dropped, so that its threads end.
struct CloseOnDrop<'q, O: Send>(&'q AssignmentQueue<O>);

impl<O: Send> Drop for CloseOnDrop<'_, O> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl<O> BlockAssignment<O> {
    /// Runs the task on the block with a state that no other thread uses, and sends the result.
    fn fulfil<T: BlockTask<Output = O>>(self, task: &T, state: &mut T::State) {
        let BlockAssignment { block, names, finished } = self;
        assign_names(task, state, &names);
        let output = task.run(state, &block);
        let is_longer = task.projection(state).is_some_and(|projection| projection.names().count() > names.len());
        let names = is_longer.then(|| projected_names(task, state));
        // The block must be free before its output arrives, so that its memory can be used again.
        drop(block);
        // No result is wanted any more if nobody receives it.
        let _ = finished.send(BlockResult { output, names });
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
