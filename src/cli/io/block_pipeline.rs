//! Work on the blocks of sources, on several threads. The results come in the order of the blocks, so that the output
//! does not depend on the number of threads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use classad::format::StreamBlock;

use super::input;
use super::source::{AdSource, SourceText};
use crate::cli::Failure;
use crate::cli::session::Session;

/// Maximum number of blocks per thread that are read but whose results have not been used. More than one block lets
/// threads work while results are printed. A small number bounds the memory: a block has at most 256 KiB, unless an ad
/// is longer.
const MAX_PENDING_BLOCKS_PER_THREAD: usize = 2;

/// Stack size of a thread, in bytes. It is the usual size for a main thread, so that a worker can recurse as deeply.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// What is done with each block.
pub trait BlockTask: Sync {
    /// What a thread keeps from block to block, such as a cache. It must not change the results.
    type State;
    /// The result for one block.
    type Output: Send;

    /// Creates the state of a thread.
    fn new_state(&self) -> Self::State;

    /// Does the work on one block. On a thread the block's `ads_before` does not count the ads of blocks that are still
    /// worked on.
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

/// Reads the next block of a source. Its ads are numbered from its beginning, since the number of ads before it is
/// unknown while other threads work on these ads.
fn next_block(session: &mut Session, source: &mut AdSource) -> Option<SourceText> {
    let mut text = input::next_block(session, source)?;
    if let Some(block) = Arc::get_mut(&mut text.block) {
        block.ads_before = 0;
    }
    Some(text)
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

/// A block that was read, and the channel of the worker that works on it. `None` if no worker does.
type PendingBlock<'w, O> = (SourceText, Option<&'w Receiver<O>>);

/// Runs the task on the remaining blocks of a source on the workers. Returns false if no further results are wanted.
fn run_on_workers<T: BlockTask>(
    session: &mut Session,
    source: &mut AdSource,
    workers: &[Worker<T::Output>],
    (task, state): (&T, &mut T::State),
    consume: BlockConsumer<'_, T::Output>,
) -> Result<bool, Failure> {
    let mut pending: VecDeque<PendingBlock<'_, T::Output>> = VecDeque::new();
    let mut turn = workers.iter().cycle();
    let mut has_ended = false;
    loop {
        while !has_ended && pending.len() < MAX_PENDING_BLOCKS_PER_THREAD * workers.len().max(1) {
            let Some(text) = next_block(session, source) else {
                has_ended = true;
                break;
            };
            let worker = turn.next().filter(|worker| worker.blocks.send(Arc::clone(&text.block)).is_ok());
            pending.push_back((text, worker.map(|worker| &worker.outputs)));
        }
        let Some((text, outputs)) = pending.pop_front() else { return Ok(true) };
        session.check_interrupt()?;
        let output = outputs.and_then(|outputs| outputs.recv().ok());
        let output = output.unwrap_or_else(|| task.run(state, &text.block));
        if !consume(session, source, &text, output)? {
            return Ok(false);
        }
        source.recycle(text);
    }
}

/// A thread that works on blocks, with its channels.
struct Worker<O> {
    blocks: Sender<Arc<StreamBlock>>,
    outputs: Receiver<O>,
}

impl<O: Send> Worker<O> {
    /// Starts a thread. `None` if the system refuses.
    fn start<'s, T: BlockTask<Output = O>>(scope: &'s Scope<'s, '_>, task: &'s T) -> Option<Self>
    where
        O: 's,
    {
        let (blocks, received) = channel::<Arc<StreamBlock>>();
        let (finished, outputs) = channel();
        let work = move || {
            let mut state = task.new_state();
            for block in received {
                let output = task.run(&mut state, &block);
                // The block must be free before its output arrives, so that its memory can be used again.
                drop(block);
                if finished.send(output).is_err() {
                    return;
                }
            }
        };
        Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work).ok()?;
        Some(Worker { blocks, outputs })
    }
}
