//! Whole processes: how long they run, what they print, how much memory is theirs.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use classad::ad::Dialect;
use classad::eval::Context;
use classad::matching::{Accelerations, Matchmaker};
use classad::protocol::Protocol;

use crate::measure::{Run, repeated};
use crate::{Result, tasks};

/// The program that is measured.
pub const BINARY: &str = env!("CARGO_BIN_EXE_classad");

/// Runs a program, whose output is its answer, again and again if that is soon done; given up after the limit. The output
/// of [`BINARY`] is read once. The timed runs drop it, because a reader takes a processor from a program with threads. The
/// output of other programs is read in each run: `grep -c` ends early if its output is dropped.
pub fn run(program: &str, arguments: &[&str], limit: Duration) -> Result<Run> {
    if program != BINARY {
        return repeated(|| once(program, arguments, limit));
    }
    let first = once(program, arguments, limit)?;
    if first.is_more {
        return Ok(first);
    }
    let timed = repeated(|| dropped(program, arguments))?;
    Ok(Run { answer: first.answer, ..timed })
}

/// Runs a program and drops its output.
fn dropped(program: &str, arguments: &[&str]) -> Result<Run> {
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{program} {}: {status}", arguments.join(" ")).into());
    }
    Ok(Run::of(start.elapsed()))
}

fn once(program: &str, arguments: &[&str], limit: Duration) -> Result<Run> {
    let start = Instant::now();
    let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?;
    let mut output = child.stdout.take().ok_or("the output is a pipe")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.read_to_end(&mut answer).map(|_| answer);
        // Nobody waits any more for what took too long.
        let _ = sender.send(read);
    });
    // Whoever waits for the reader waits for the end of the output, and so of the program; asleep, so as not to share
    // the processor with it.
    let answer = match receiver.recv_timeout(limit) {
        Ok(read) => read?,
        Err(RecvTimeoutError::Disconnected) => return Err("the output could not be read".into()),
        Err(RecvTimeoutError::Timeout) => {
            child.kill()?;
            child.wait()?;
            return Ok(Run { is_more: true, ..Run::of(limit) });
        }
    };
    let status = child.wait()?;
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{program} {}: {status}", arguments.join(" ")).into());
    }
    Ok(Run { answer: Some(answer), ..Run::of(start.elapsed()) })
}

/// The memory of this process that no file stands behind, in bytes.
pub fn anonymous(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The most memory that a program has while it runs, in bytes, as far as it is seen.
pub fn peak(program: &str, arguments: &[&str], limit: Duration) -> Result<u64> {
    let start = Instant::now();
    let mut child = Command::new(program).args(arguments).stdout(Stdio::null()).spawn()?;
    let process = child.id().to_string();
    let mut most = 0;
    while child.try_wait()?.is_none() {
        most = most.max(anonymous(&process).unwrap_or(0));
        if start.elapsed() > limit {
            child.kill()?;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(most)
}

/// What this process, and nothing else, is asked for: the bytes that are held for each ad of a file; of a folder
/// with the workload of the index, the bytes that the matchmaker holds for each object beside the ads.
pub fn memory_of(path: &Path) -> Result<f64> {
    let anonymous = || anonymous("self").ok_or("this system does not tell");
    let start = anonymous()?;
    if !path.is_dir() {
        let ads = tasks::ads(path)?;
        return Ok(each(anonymous()?.saturating_sub(start), ads.len()));
    }
    let objects = tasks::ads(&path.join("objects.long"))?;
    let queries = tasks::ads(&path.join("queries.long"))?;
    let start = anonymous()?;
    let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
    let mut matchmaker = Matchmaker::new(&objects, protocol, context, Accelerations::ALL);
    // What is made on first use is made now.
    matchmaker.candidates(queries.first().ok_or("there is no query")?);
    Ok(each(anonymous()?.saturating_sub(start), objects.len()))
}

#[allow(clippy::cast_precision_loss)] // bytes of this machine
fn each(bytes: u64, ads: usize) -> f64 {
    bytes as f64 / ads.max(1) as f64
}
