//! Parallel scan of a source: its blocks are dealt to threads in turn. The findings are taken in the order of the
//! input, so the output equals that of a single thread.
//!
//! The set of attributes to read grows during the scan: an attribute that one ad refers to is read in all later ads. A
//! thread starts from the set known when its block was read. If an earlier block has since extended the set, the main
//! thread scans the block again. That is rare, and happens near the beginning.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

use classad::ad::Name;
use classad::format::{Block, Selection};

use super::output::Answer;
use super::scan::{Finding, Seeker};
use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::io::source::{Source, Text};
use crate::cli::session::Session;

/// Maximum number of pending blocks per thread. More than one, so that threads work while findings are printed; few, so
/// that memory stays bounded.
const AHEAD: usize = 2;

/// Stack size of a thread, in bytes: as usual for a main thread.
const STACK: usize = 8 << 20;

/// A block for a thread to scan.
struct Task {
    block: Arc<Block>,
    /// Attributes to read, as known when the block was read.
    known: Arc<Vec<Name>>,
}

/// The result of scanning a block.
struct Done {
    findings: Vec<Finding>,
    /// Number of the last ad of the block, as the thread counted it.
    last: usize,
    /// Attributes to read, if the block extended the set.
    known: Option<Vec<Name>>,
}

/// A block whose findings have not been taken. `worker` is the thread that scans it; `None` if there is no thread.
struct Pending<'w> {
    text: Text,
    known: Arc<Vec<Name>>,
    worker: Option<&'w Worker>,
}

/// A thread that scans blocks, with its channels.
struct Worker {
    tasks: Sender<Task>,
    done: Receiver<Done>,
}

/// A scan of sources, one after the other.
pub struct Search<'q, 'a> {
    pub seeker: &'q Seeker<'q>,
    pub answer: &'a mut Answer<'q>,
    /// Attributes to read of each ad, as known so far; `None` if ads are read whole.
    pub selection: Option<Selection>,
    /// Number of threads to use.
    pub threads: usize,
    /// First block of the first source with content, for hints after an empty result.
    pub first: Option<Text>,
}

impl Search<'_, '_> {
    /// Scans a source. Returns false if no more findings are needed. A pipe is scanned by one thread, so that findings
    /// are printed as the input arrives.
    pub fn source(&mut self, session: &mut Session, source: &mut Source) -> Result<bool, Failure> {
        // The first block reveals nearly all attributes to read. If it is the only one, threads do not pay off.
        let Some(text) = next_text(session, source) else { return Ok(true) };
        if !self.piece(session, source, &text)? {
            return Ok(false);
        }
        self.first.get_or_insert(text);
        if self.threads > 1 && source.is_file() {
            return std::thread::scope(|scope| {
                let workers: Vec<Worker> = (0..self.threads).map_while(|_| Worker::new(scope, self.seeker)).collect();
                self.pieces(session, source, &workers)
            });
        }
        while let Some(text) = next_text(session, source) {
            if !self.piece(session, source, &text)? {
                return Ok(false);
            }
            source.give_back(text);
        }
        Ok(true)
    }

    /// Scans a block on this thread. Returns false if no more findings are needed.
    fn piece(&mut self, session: &mut Session, source: &mut Source, text: &Text) -> Result<bool, Failure> {
        let (before, thought) = (source.ads, text.block.before);
        let answer = &mut *self.answer;
        let last = self.seeker.seek(&text.block, self.selection.as_mut(), &mut |finding| {
            answer.take(session, text, finding.renumbered(thought, before))
        })?;
        source.ads = last.map_or(before, |last| last - thought + before);
        Ok(last.is_some())
    }

    /// Scans the rest of a source on several threads. Returns false if no more findings are needed.
    fn pieces(&mut self, session: &mut Session, source: &mut Source, workers: &[Worker]) -> Result<bool, Failure> {
        let mut known: Arc<Vec<Name>> = Arc::new(self.selection.iter().flat_map(Selection::names).cloned().collect());
        let mut pending: VecDeque<Pending<'_>> = VecDeque::new();
        let mut turn = workers.iter().cycle();
        let mut broken = None;
        let mut ended = false;
        loop {
            while !ended && pending.len() < AHEAD * workers.len().max(1) {
                match source.next_text() {
                    Ok(Some(text)) => {
                        let task = Task { block: Arc::clone(&text.block), known: Arc::clone(&known) };
                        let worker = turn.next().filter(|worker| worker.tasks.send(task).is_ok());
                        pending.push_back(Pending { text, known: Arc::clone(&known), worker });
                    }
                    Ok(None) => ended = true,
                    Err(error) => (ended, broken) = (true, Some(error)),
                }
            }
            let Some(Pending { text, known: known_then, worker }) = pending.pop_front() else { break };
            let done = worker.and_then(|worker| worker.done.recv().ok()).filter(|_| Arc::ptr_eq(&known, &known_then));
            let goes_on = if let Some(done) = done {
                if let (Some(selection), Some(names)) = (&mut self.selection, &done.known) {
                    selection.extend(names);
                }
                self.take(session, source, &text, done.findings, done.last)?
            } else {
                self.piece(session, source, &text)?
            };
            let names = self.selection.iter().flat_map(Selection::names);
            if names.clone().count() > known.len() {
                known = Arc::new(names.cloned().collect());
            }
            if !goes_on {
                return Ok(false);
            }
            source.give_back(text);
        }
        if let Some(error) = broken {
            input::broken_off(session, source, &error);
        }
        Ok(true)
    }

    /// Takes the findings of a thread, with ads renumbered by the true number of ads before the block. Returns false if
    /// no more are needed.
    fn take(
        &mut self,
        session: &mut Session,
        source: &mut Source,
        text: &Text,
        findings: Vec<Finding>,
        last: usize,
    ) -> Result<bool, Failure> {
        let (before, thought) = (source.ads, text.block.before);
        for finding in findings {
            if !self.answer.take(session, text, finding.renumbered(thought, before))? {
                return Ok(false);
            }
        }
        source.ads = last - thought + before;
        Ok(true)
    }
}

impl Worker {
    /// Starts a thread; `None` if the system refuses.
    fn new<'s>(scope: &'s Scope<'s, '_>, seeker: &'s Seeker<'_>) -> Option<Worker> {
        let (tasks, to_do) = channel();
        let (found, done) = channel();
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(seeker, &to_do, &found));
        thread.ok().map(|_| Worker { tasks, done })
    }
}

/// Scans blocks until a channel is closed.
fn work(seeker: &Seeker<'_>, tasks: &Receiver<Task>, done: &Sender<Done>) {
    let mut selection: Option<Selection> = None;
    for Task { block, known } in tasks {
        // Start from exactly the names of the task: other threads may have added some, and this thread may have added
        // some in a block that will be scanned again.
        if !selection.as_ref().is_some_and(|selection| selection.names().eq(known.iter())) {
            selection = seeker.selection();
            selection.as_mut().into_iter().for_each(|selection| selection.extend(known.iter()));
        }
        let mut findings = Vec::new();
        let Ok(last) = seeker.seek::<Infallible>(&block, selection.as_mut(), &mut |finding| {
            findings.push(finding);
            Ok(true)
        });
        let names = || selection.iter().flat_map(Selection::names);
        let more = (names().count() > known.len()).then(|| names().cloned().collect());
        if done.send(Done { findings, last: last.unwrap_or(block.before), known: more }).is_err() {
            return;
        }
    }
}

/// Reads the next block of a source; `None` at its end and after an error, which is reported.
fn next_text(session: &mut Session, source: &mut Source) -> Option<Text> {
    source.next_text().unwrap_or_else(|error| {
        input::broken_off(session, source, &error);
        None
    })
}
