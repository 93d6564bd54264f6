//! Several threads look through a source, each through every so manieth piece.  What they find is taken in the order
//! of the input, and is what one thread finds.
//!
//! Which names have to be read is found out while reading: what one ad mentions is read of all that follow.  A
//! thread therefore starts from the names that were known when its piece was read; if a piece before it has brought
//! up more since, the piece is looked through once more.  That happens near the beginning, if at all.

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

/// So many pieces are given to each thread before what it found in the first is taken: while that is printed,
/// it has something to do, and memory stays bounded.
const AHEAD: usize = 2;

/// As much as the main thread usually has, in bytes.
const STACK: usize = 8 << 20;

/// A piece to be looked through.
struct Task {
    block: Arc<Block>,
    /// The names that were known when it was read.
    known: Arc<Vec<Name>>,
}

/// What is found in a piece.
struct Done {
    findings: Vec<Finding>,
    /// The number of its last ad.
    last: usize,
    /// The names known behind it, if there are more.
    known: Option<Vec<Name>>,
}

/// A piece that was given to a thread, if there is one.
struct Pending<'w> {
    text: Text,
    known: Arc<Vec<Name>>,
    worker: Option<&'w Worker>,
}

/// A thread.
struct Worker {
    tasks: Sender<Task>,
    done: Receiver<Done>,
}

/// A search through sources, one after the other.
pub struct Search<'q, 'a> {
    pub seeker: &'q Seeker<'q>,
    pub answer: &'a mut Answer<'q>,
    /// What is to be read of each ad, as far as that is known.
    pub selection: Option<Selection>,
    pub threads: usize,
    /// The first piece of all.
    pub first: Option<Text>,
}

impl Search<'_, '_> {
    /// Looks through a source; false if it is enough.  What comes bit by bit is looked through as it comes, by one
    /// thread.
    pub fn source(&mut self, session: &mut Session, source: &mut Source) -> Result<bool, Failure> {
        // The first piece shows nearly all names that count; and threads are not worth it if it is all.
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

    /// Looks through a piece; false if it is enough.
    fn piece(&mut self, session: &mut Session, source: &mut Source, text: &Text) -> Result<bool, Failure> {
        let (before, thought) = (source.ads, text.block.before);
        let answer = &mut *self.answer;
        let last = self.seeker.seek(&text.block, self.selection.as_mut(), &mut |finding| {
            answer.take(session, text, finding.renumbered(thought, before))
        })?;
        source.ads = last.map_or(before, |last| last - thought + before);
        Ok(last.is_some())
    }

    /// Looks through what is left of a source; false if it is enough.
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

    /// Takes what a thread found in a piece; false if it is enough.
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
    /// Starts a thread; none if there can be no more.
    fn new<'s>(scope: &'s Scope<'s, '_>, seeker: &'s Seeker<'_>) -> Option<Worker> {
        let (tasks, to_do) = channel();
        let (found, done) = channel();
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(seeker, &to_do, &found));
        thread.ok().map(|_| Worker { tasks, done })
    }
}

/// Looks through pieces until there are no more, or no one wants to know.
fn work(seeker: &Seeker<'_>, tasks: &Receiver<Task>, done: &Sender<Done>) {
    let mut selection: Option<Selection> = None;
    for Task { block, known } in tasks {
        // What others have found out, or what this one found in a piece that is looked through once more.
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

/// The next piece of a source; none at its end, or if it cannot be read on.
fn next_text(session: &mut Session, source: &mut Source) -> Option<Text> {
    source.next_text().unwrap_or_else(|error| {
        input::broken_off(session, source, &error);
        None
    })
}
