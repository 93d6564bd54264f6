//! Parallel scan of a source: the blocks of the source are assigned to threads in turn. The findings reach the output
//! in the order of the input, so the output equals the output of a single thread.
//!
//! The set of attributes to read grows during the scan: an attribute that one ad refers to is read in all later ads. A
//! thread starts from the set known when its block was read. If an earlier block has since extended the set, the main
//! thread scans the block again. Such repeated scans are rare and happen near the beginning of the source.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use classad::ad::Name;
use classad::format::{Projection, ReadCache, StreamBlock};

use super::output::QueryOutput;
use super::scan::{AdScanner, ScanFinding};
use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::io::source::{AdSource, SourceText};
use crate::cli::parallel::THREAD_STACK_BYTES;
use crate::cli::session::Session;

/// Maximum number of pending blocks per thread. More than one block lets threads work while findings are printed. A
/// small number of blocks bounds the memory.
const MAX_PENDING_BLOCKS_PER_THREAD: usize = 2;

/// A block for a thread to scan.
struct ScanTask {
    block: Arc<StreamBlock>,
    /// Attributes to read, as known when the block was read.
    known: Arc<Vec<Name>>,
}

/// The result of scanning a block.
struct ScanResult {
    findings: Vec<ScanFinding>,
    /// `block.ads_before` plus the number of ads in the block.
    last: usize,
    /// Attributes to read after this block, if ads of the block refer to new attributes; else `None`.
    known: Option<Vec<Name>>,
}

/// A block whose findings have not reached the output. `worker` is the thread that scans the block; `None` if no thread
/// does.
struct PendingBlock<'w> {
    text: SourceText,
    known: Arc<Vec<Name>>,
    worker: Option<&'w ScanWorker>,
}

/// A thread that scans blocks, with its channels.
struct ScanWorker {
    tasks: Sender<ScanTask>,
    done: Receiver<ScanResult>,
}

/// A scan of sources, one after the other.
pub struct SourceScan<'q, 'a> {
    pub scanner: &'q AdScanner<'q>,
    pub output: &'a mut QueryOutput<'q>,
    /// Attributes to read of each ad, as known so far; `None` if ads are read whole.
    pub selection: Option<Projection>,
    /// The cache of this thread for ads that are read whole.
    pub cache: ReadCache,
    /// Number of threads to use.
    pub threads: usize,
    /// First block of the first source with content. If the query finds no ad, suggestions for misspelt names come from
    /// this block.
    pub first_block: Option<SourceText>,
}

impl SourceScan<'_, '_> {
    /// Scans a source. Returns false if the output needs no more findings. Scans a pipe with one thread, so that
    /// findings are printed as the input arrives.
    pub fn scan_source(&mut self, session: &mut Session, source: &mut AdSource) -> Result<bool, Failure> {
        // Scan the first block alone, because it reveals nearly all attributes to read. For a single block, threads do
        // not pay off.
        let Some(text) = input::next_block(session, source) else { return Ok(true) };
        if !self.scan_block(session, source, &text)? {
            return Ok(false);
        }
        self.first_block.get_or_insert(text);
        if self.threads > 1 && source.is_file() {
            return std::thread::scope(|scope| {
                let workers: Vec<ScanWorker> =
                    (0..self.threads).map_while(|_| ScanWorker::new(scope, self.scanner)).collect();
                self.scan_in_parallel(session, source, &workers)
            });
        }
        while let Some(text) = input::next_block(session, source) {
            if !self.scan_block(session, source, &text)? {
                return Ok(false);
            }
            source.recycle(text);
        }
        Ok(true)
    }

    /// Scans a block on this thread. Returns false if the output needs no more findings.
    fn scan_block(&mut self, session: &mut Session, source: &mut AdSource, text: &SourceText) -> Result<bool, Failure> {
        let (output, before) = (&mut *self.output, source.ads_read);
        let mut add = |finding| output.add(session, text, before, finding);
        let last = self.scanner.scan(&text.block, self.selection.as_mut(), &mut self.cache, &mut add)?;
        source.ads_read += last.map_or(0, |last| last - text.block.ads_before);
        Ok(last.is_some())
    }

    /// Scans the remaining blocks of a source on several threads. Returns false if the output needs no more findings.
    fn scan_in_parallel(
        &mut self,
        session: &mut Session,
        source: &mut AdSource,
        workers: &[ScanWorker],
    ) -> Result<bool, Failure> {
        let mut known: Arc<Vec<Name>> = Arc::new(self.selection.iter().flat_map(Projection::names).cloned().collect());
        let mut pending: VecDeque<PendingBlock<'_>> = VecDeque::new();
        let mut turn = workers.iter().cycle();
        let (mut ended, mut read_error) = (false, None);
        loop {
            while !ended && pending.len() < MAX_PENDING_BLOCKS_PER_THREAD * workers.len().max(1) {
                match source.next_block() {
                    Ok(Some(text)) => {
                        let task = ScanTask { block: Arc::clone(&text.block), known: Arc::clone(&known) };
                        let worker = turn.next().filter(|worker| worker.tasks.send(task).is_ok());
                        pending.push_back(PendingBlock { text, known: Arc::clone(&known), worker });
                    }
                    Ok(None) => ended = true,
                    Err(error) => (ended, read_error) = (true, Some(error)),
                }
            }
            let Some(PendingBlock { text, known: known_then, worker }) = pending.pop_front() else { break };
            let done = worker.and_then(|worker| worker.done.recv().ok()).filter(|_| Arc::ptr_eq(&known, &known_then));
            if let Some(ScanResult { findings, last, known }) = done {
                if let (Some(selection), Some(names)) = (&mut self.selection, &known) {
                    selection.extend(names);
                }
                for finding in findings {
                    if !self.output.add(session, &text, source.ads_read, finding)? {
                        return Ok(false);
                    }
                }
                source.ads_read += last - text.block.ads_before;
            } else if !self.scan_block(session, source, &text)? {
                return Ok(false);
            }
            let names = self.selection.iter().flat_map(Projection::names);
            if names.clone().count() > known.len() {
                known = Arc::new(names.cloned().collect());
            }
            source.recycle(text);
        }
        if let Some(error) = read_error {
            input::report_read_error(session, source, &error);
        }
        Ok(true)
    }
}

impl ScanWorker {
    /// Starts a thread; `None` if the system refuses.
    fn new<'s>(scope: &'s Scope<'s, '_>, scanner: &'s AdScanner<'_>) -> Option<ScanWorker> {
        let (tasks, to_do) = channel();
        let (found, done) = channel();
        let thread = Builder::new().stack_size(THREAD_STACK_BYTES);
        thread.spawn_scoped(scope, move || run_worker(scanner, &to_do, &found)).ok()?;
        Some(ScanWorker { tasks, done })
    }
}

/// Scans the blocks from `tasks` and sends their findings to `done`, until one of these channels is closed.
fn run_worker(scanner: &AdScanner<'_>, tasks: &Receiver<ScanTask>, done: &Sender<ScanResult>) {
    let mut selection: Option<Projection> = None;
    let mut cache = ReadCache::new(scanner.context.dialect);
    for ScanTask { block, known } in tasks {
        // Read exactly the attributes that the task names. The selection left by this thread's previous block may lack
        // names that other threads have found, and may have names that the task does not know yet.
        if !selection.as_ref().is_some_and(|selection| selection.names().eq(known.iter())) {
            selection = scanner.projection();
            selection.as_mut().into_iter().for_each(|selection| selection.extend(known.iter()));
        }
        let mut findings = Vec::new();
        let Ok(last) = scanner.scan::<Infallible>(&block, selection.as_mut(), &mut cache, &mut |finding| {
            findings.push(finding);
            Ok(true)
        });
        let names = || selection.iter().flat_map(Projection::names);
        let more = (names().count() > known.len()).then(|| names().cloned().collect());
        if done.send(ScanResult { findings, last: last.unwrap_or(block.ads_before), known: more }).is_err() {
            return;
        }
    }
}
