//! `classad explain 1234.0`: jobs that are named in place of files.

use std::path::Path;

use super::ExplainCommand;
use crate::cli::io::live::{self, is_job_name};
use crate::cli::io::standard_streams;
use crate::cli::io::wanted_ads::job_number;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Asks HTCondor's tools for the jobs that are named in place of files, and for what else explains them. Returns the
/// command that reads the answers; `None` if the arguments are files.
///
/// # Errors
///
/// The tools are missing or do not answer, the queue has no such job, or jobs are named where files are read.
pub fn ask_queue(command: &ExplainCommand, session: &Session) -> Result<Option<ExplainCommand>, Failure> {
    let is_number = |name: &str| job_number(name).is_some();
    // A misspelt file has an ending or a folder, or its pool is a file.
    let is_owner = |name: &str| command.pool.is_empty() && is_job_name(name) && !name.contains('.');
    let is_job = |name: &String| (is_number(name) || is_owner(name)) && !Path::new(name).exists();
    let jobs: Vec<String> = command.requests.iter().filter(|name| is_job(name)).cloned().collect();
    let Some(first) = jobs.first() else { return Ok(None) };
    if jobs.len() < command.requests.len() || standard_streams::is_stdin_input() {
        return match jobs.iter().find(|job| is_number(job)) {
            Some(job) => refuse(format!("there is no file {job}; to explain job {job}, use `--request {job}`")),
            None => Ok(None),
        };
    }
    // Where jobs compete, all of the queue take part.
    let needs_queue = command.unmatched || command.starts.when_start;
    let source = |job: &String| if needs_queue { "live:jobs".to_owned() } else { format!("live:jobs:{job}") };
    let mut sources: Vec<String> = jobs.iter().map(source).collect();
    sources.dedup();
    let mut asked = ExplainCommand { requests: sources, ..command.clone() };
    if needs_queue {
        asked.request.extend(jobs.iter().cloned());
    }
    if asked.pool.is_empty() {
        asked.pool.push("live:slots".to_owned());
    }
    if !asked.reverse {
        asked.userprio.get_or_insert_with(|| "live:priorities".to_owned());
    }
    asked.config.get_or_insert_with(|| "live:config".to_owned());
    let settings = asked.userprio.iter().chain(&asked.config);
    session.ask_live(asked.requests.iter().chain(&asked.pool).chain(settings))?;
    if asked.requests.iter().all(|source| live::is_answer_blank(source)) {
        let left =
            if is_number(first) { format!(": it may have left, see `condor_history {first}`") } else { String::new() };
        return refuse(format!("the queue has no job {}{left}", jobs.join(", ")));
    }
    Ok(Some(asked))
}
