//! Live sources: inputs such as `live:slots`, whose bytes are what one of HTCondor's tools prints.
//!
//! The tools run as the user, without a shell, all at once. An answer is kept until it is read.

mod live_source;
mod slot_cache;
mod tool_run;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use classad::text::{counted, join_and};

pub use live_source::{LiveSource, is_job_name};
use slot_cache::SlotCache;
use tool_run::{MAX_ANSWER_BYTES, ToolFailure, run_tool};

/// Default of `--live-timeout`, in seconds.
pub const LIVE_TIMEOUT_SECONDS: u64 = 20;

/// Default of `--live-age`, in seconds.
pub const LIVE_AGE_SECONDS: u64 = 60;

/// How live sources are asked.
pub struct LiveSettings {
    /// How long a tool may take.
    pub timeout: Duration,
    /// How old the slots may be that an earlier run has kept; zero to ask always.
    pub age: Duration,
    /// The daemon that tools ask (`-name`).
    pub name: Option<String>,
    /// The pool that tools ask (`-pool`).
    pub pool_name: Option<String>,
}

/// The answers that were not read yet, by the argument that names their source.
static ANSWERS: Mutex<BTreeMap<String, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// Returns the answer of a live source that was asked, once.
pub fn take_answer(argument: &str) -> Option<Arc<[u8]>> {
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).remove(argument)
}

/// Whether a live source was asked, its answer was not read yet, and it has nothing but blanks.
pub fn is_answer_blank(argument: &str) -> bool {
    let answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    answers.get(argument).is_some_and(|answer| answer.trim_ascii().is_empty())
}

/// Asks those of the arguments that are live sources, all at once, unless they were asked and their answers not read.
/// Calls `note` with what is run, before it is.
///
/// # Errors
///
/// Why there is no answer, and what to do: for all tools that are missing, or for the first one that failed.
pub fn ask(arguments: &[&str], settings: &LiveSettings, mut note: impl FnMut(&str)) -> Result<(), String> {
    let mut sources = BTreeMap::new();
    for argument in arguments {
        let is_asked = || ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).contains_key(*argument);
        if let Some(source) = LiveSource::of_argument(argument).filter(|_| !is_asked()) {
            sources.insert((*argument).to_owned(), source?);
        }
    }
    let mut answers = BTreeMap::new();
    let mut commands = Vec::new();
    for (argument, source) in sources {
        let command = source.command(settings);
        let cache = SlotCache::of(&source, &command, settings.age);
        match cache.as_ref().and_then(SlotCache::read) {
            Some((answer, seconds)) => {
                let (age, command) =
                    (counted(usize::try_from(seconds).unwrap_or_default(), "second"), command.join(" "));
                note(&format!("{argument} is {age} old: `{command}` (--live-age 0 asks again)"));
                answers.insert(argument, Arc::from(answer));
            }
            None => commands.push((argument, command, cache)),
        }
    }
    if !commands.is_empty() {
        let quoted: Vec<String> = commands.iter().map(|(_, command, _)| format!("`{}`", command.join(" "))).collect();
        note(&format!("running {}", join_and(&quoted)));
    }
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = commands
            .iter()
            .map(|(_, command, _)| scope.spawn(|| run_tool(command, settings.timeout, MAX_ANSWER_BYTES)))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap_or(Err(ToolFailure::Missing))).collect()
    });
    let mut failures = Vec::new();
    for ((argument, command, cache), outcome) in commands.into_iter().zip(outcomes) {
        match outcome {
            Ok(answer) => {
                if let Some(cache) = cache {
                    cache.write(&answer);
                }
                answers.insert(argument, Arc::from(answer));
            }
            Err(failure) => failures.push((argument, command, failure)),
        }
    }
    if !failures.is_empty() {
        return Err(failure_text(&failures, settings));
    }
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    Ok(())
}

/// Returns why there is no answer, and what to do.
fn failure_text(failures: &[(String, Vec<String>, ToolFailure)], settings: &LiveSettings) -> String {
    let is_missing = |failure: &&(String, Vec<String>, ToolFailure)| matches!(failure.2, ToolFailure::Missing);
    let mut missing: Vec<&str> =
        failures.iter().filter(is_missing).map(|(_, command, _)| command[0].as_str()).collect();
    missing.dedup();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let tools = join_and(&missing);
        return format!(
            "{tools} {verb} not on the PATH: run this on a machine of the pool, or give files (see `classad help live`)"
        );
    }
    let Some((argument, command, failure)) = failures.first() else { return String::new() };
    let command = command.join(" ");
    match failure {
        ToolFailure::Missing => String::new(),
        ToolFailure::Silent => format!(
            "cannot read {argument}: `{command}` did not end within {}; --live-timeout gives it longer",
            counted(usize::try_from(settings.timeout.as_secs()).unwrap_or_default(), "second")
        ),
        ToolFailure::TooLong => format!(
            "cannot read {argument}: `{command}` prints more than 4 GiB: write a part of it to a file, with -constraint"
        ),
        ToolFailure::Failed(reason) => {
            format!("cannot read {argument}: `{command}` failed: {reason} (see `classad help live`)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_fail_are_told() {
        let settings = |seconds| LiveSettings {
            timeout: Duration::from_secs(seconds),
            age: Duration::ZERO,
            name: None,
            pool_name: None,
        };
        let failure = |argument: &str, command: &str, failure| {
            (argument.to_owned(), command.split(' ').map(str::to_owned).collect::<Vec<_>>(), failure)
        };
        let (jobs, slots) =
            (|of| failure("live:jobs", "condor_q -long", of), |of| failure("live:slots", "condor_status -long", of));
        let on = "not on the PATH: run this on a machine of the pool, or give files (see `classad help live`)";
        let silent = |seconds| {
            format!(
                "cannot read live:jobs: `condor_q -long` did not end within {seconds}; --live-timeout gives it longer"
            )
        };
        let failed = |text: &str| ToolFailure::Failed(text.to_owned());
        for (failures, seconds, expected) in [
            (vec![], 9, String::new()),
            (vec![jobs(ToolFailure::Missing)], 9, format!("condor_q is {on}")),
            (vec![jobs(ToolFailure::Missing), jobs(ToolFailure::Missing)], 9, format!("condor_q is {on}")),
            (
                vec![jobs(ToolFailure::Missing), slots(ToolFailure::Missing)],
                9,
                format!("condor_q and condor_status are {on}"),
            ),
            (vec![jobs(ToolFailure::Silent), slots(ToolFailure::Missing)], 9, format!("condor_status is {on}")),
            (vec![jobs(ToolFailure::Silent), slots(failed("no"))], 9, silent("9 seconds")),
            (vec![jobs(ToolFailure::Silent)], 1, silent("1 second")),
            (
                vec![slots(ToolFailure::TooLong)],
                9,
                "cannot read live:slots: `condor_status -long` prints more than 4 GiB: write a part of it to a file, \
                 with -constraint"
                    .to_owned(),
            ),
            (
                vec![jobs(failed("no schedd")), slots(ToolFailure::Silent)],
                9,
                "cannot read live:jobs: `condor_q -long` failed: no schedd (see `classad help live`)".to_owned(),
            ),
        ] {
            assert_eq!(failure_text(&failures, &settings(seconds)), expected);
        }
    }
}
