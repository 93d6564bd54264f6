//! Runs one of HTCondor's tools, for a limited time.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes of its standard error that are kept.
const MAX_REASON_BYTES: u64 = 4096;

/// Maximum number of bytes of an answer, 4 GiB: half a million jobs.
pub const MAX_ANSWER_BYTES: u64 = 4 << 30;

/// Why a tool gave no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum ToolFailure {
    /// There is no such program on the PATH.
    Missing,
    /// It did not end in time.
    Silent,
    /// It ended with another status than 0. The text is what it says of that.
    Failed(String),
    /// It printed more than the maximum number of bytes.
    TooLong,
}

/// Runs a program with its arguments, without a shell and without an input. Returns what it prints. A tool that does not
/// end in time is killed. It is in the group of this process, so that Ctrl-C and what else ends the group ends it, too. Of a
/// tool that prints more than `most` bytes, nothing is used.
pub fn run_tool(command: &[String], timeout: Duration, most: u64) -> Result<Vec<u8>, ToolFailure> {
    let deadline = Instant::now() + timeout;
    let [program, arguments @ ..] = command else { return Err(ToolFailure::Missing) };
    let mut tool = Command::new(program);
    tool.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = tool.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ToolFailure::Missing,
        _ => ToolFailure::Failed(error.to_string()),
    })?;
    let output = child.stdout.take().map(|pipe| read_in_thread(pipe, most.saturating_add(1)));
    let reason = child.stderr.take().map(|pipe| read_in_thread(pipe, MAX_REASON_BYTES));
    let answer = output.and_then(|output| output.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok());
    let (Some(answer), Some(status)) = (answer, wait(&mut child, deadline)) else {
        // It may have ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return Err(ToolFailure::Silent);
    };
    if answer.len() as u64 > most {
        return Err(ToolFailure::TooLong);
    }
    if status.success() {
        return Ok(answer);
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let said = reason.and_then(|reason| reason.recv_timeout(left).ok()).unwrap_or_default();
    let said = if said.trim_ascii().is_empty() { answer } else { said };
    let said = String::from_utf8_lossy(&said[..said.len().min(usize::try_from(MAX_REASON_BYTES).unwrap_or_default())]);
    // HTCondor's advice is about its own configuration.
    let own = said.lines().map(str::trim).take_while(|line| !line.starts_with("Extra Info"));
    let lines: Vec<&str> = own.filter(|line| !line.is_empty()).take(3).collect();
    Err(ToolFailure::Failed(if lines.is_empty() { status.to_string() } else { lines.join("; ") }))
}

/// Reads a pipe to its end in another thread. Of the bytes, the first `most` are kept.
fn read_in_thread(mut pipe: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let is_read = pipe.by_ref().take(most).read_to_end(&mut bytes).is_ok();
        if is_read && io::copy(&mut pipe, &mut io::sink()).is_ok() {
            // Nobody may be waiting for it any more.
            let _ = sender.send(bytes);
        }
    });
    receiver
}

/// Waits until a program has ended; `None` if it has not by the deadline.
fn wait(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    const PAUSE: Duration = Duration::from_millis(2);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => return None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::{ToolFailure, run_tool};

    #[test]
    fn a_tool_answers_or_fails_in_time() {
        let run = |words: &[&str], seconds| {
            let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            run_tool(&command, Duration::from_secs(seconds), 5)
        };
        assert_eq!(run(&["printf", "a = 1"], 10), Ok(b"a = 1".to_vec()));
        assert_eq!(run(&["classad-no-such-tool"], 10), Err(ToolFailure::Missing));
        let failed = run(&["sh", "-c", "echo x; echo ' no schedd' >&2; exit 3"], 10);
        assert_eq!(failed, Err(ToolFailure::Failed("no schedd".to_owned())));
        assert_eq!(run(&["false"], 10), Err(ToolFailure::Failed("exit status: 1".to_owned())));
        assert_eq!(run(&["printf", "a = 12"], 10), Err(ToolFailure::TooLong));
        let start = Instant::now();
        // The second holds the pipes when the first is killed.
        assert_eq!(run(&["sh", "-c", "sleep 30 & sleep 30"], 1), Err(ToolFailure::Silent));
        // It closes its pipes and goes on.
        assert_eq!(run(&["sh", "-c", "exec >&- 2>&-; sleep 30"], 1), Err(ToolFailure::Silent));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
