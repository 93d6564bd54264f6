//! Submit files: the jobs that `condor_submit` of HTCondor 25.14 makes of them.
//!
//! [`describe_jobs`] reads a submit file with the files that it includes or takes items from, and nothing else: it looks
//! at no file of a job, and it runs no program.
//!
//! ```
//! use classad::submit::{SubmitSettings, describe_jobs};
//!
//! let text = b"executable = /bin/sleep\narguments = $(Process)\nrequest_memory = 2GB\nqueue 2\n";
//! let jobs = describe_jobs(text, &SubmitSettings::default());
//! let second = jobs.items[1].as_ref().unwrap();
//! assert_eq!(second.ad.get_str("RequestMemory").unwrap().to_string(), "2048");
//! assert_eq!(second.ad.get_str("Args").unwrap().to_string(), "\"1\"");
//! ```

mod command_table;
mod consequences;
mod description;
mod files;
mod general;
mod items;
mod job_builder;
mod job_kind;
mod jobs;
mod policies;
mod queue;
mod requirements;
mod resources;
mod retries;
mod sizes;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod universe;
mod variables;
mod words;

use crate::ad::Dialect;
use crate::configuration::{Configuration, constant_truth};
use crate::eval::Context;
use crate::format::{DescribedAds, Problem};

use description::DescriptionRun;

/// What is known of the access point where jobs are submitted.
#[derive(Clone, Debug)]
pub struct SubmitSettings {
    /// The configuration of the access point. HTCondor's defaults count for variables that it does not set.
    pub configuration: Configuration,
    /// The time of the submission, and the random numbers.
    pub context: Context,
    /// Whether `$ENV()` and `getenv` read the environment of this program.
    pub allows_environment: bool,
    /// The folder in which the jobs are submitted.
    pub working_directory: String,
    /// Name of the submit file.
    pub file_name: String,
    /// Name of the user who submits the jobs.
    pub user: String,
    /// Maximum number of jobs.
    pub max_jobs: usize,
}

/// Default of [`SubmitSettings::max_jobs`].
pub const DEFAULT_MAX_JOBS: usize = 1_000_000;

impl Default for SubmitSettings {
    fn default() -> Self {
        SubmitSettings {
            configuration: Configuration::default(),
            context: Context::new(Dialect::Condor),
            allows_environment: false,
            working_directory: "/".to_owned(),
            file_name: String::new(),
            user: "user".to_owned(),
            max_jobs: DEFAULT_MAX_JOBS,
        }
    }
}

/// HTCondor's defaults of the variables of a configuration that `condor_submit` reads.
const DEFAULT_SETTINGS: [(&str, &str); 8] = [
    ("ARCH", "X86_64"),
    ("CONTAINER_SHARED_FS", "/cvmfs"),
    ("JOB_DEFAULT_LEASE_DURATION", "2400"),
    ("JOB_DEFAULT_REQUESTCPUS", "1"),
    ("JOB_DEFAULT_REQUESTDISK", "MAX({1024, (TransferInputSizeMB+1) * 1.25}) * 1024"),
    ("JOB_DEFAULT_REQUESTMEMORY", "128"),
    ("NICE_USER_ACCOUNTING_GROUP_NAME", "nice-user"),
    ("OPSYS", "LINUX"),
];

impl SubmitSettings {
    /// Returns the text of a variable of the configuration, with its macros, or of its default; `None` if it is empty.
    fn raw_setting(&self, name: &str) -> Option<String> {
        if self.configuration.sets(name) {
            return self.configuration.entry(name).map(|entry| self.configuration.raw_value(entry).to_owned());
        }
        let default = DEFAULT_SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        default.map(|(_, text)| (*text).to_owned())
    }

    /// Returns the value of a variable of the configuration, or its default; `None` if it is empty.
    fn setting(&self, name: &str) -> Option<String> {
        let expanded = match self.configuration.entry(name) {
            Some(entry) => self.configuration.expand_leniently(entry, &self.context).ok().map(|(value, _)| value.text),
            None => self.raw_setting(name),
        };
        expanded.filter(|text| !text.is_empty())
    }

    /// Returns whether a variable of the configuration is true.
    fn truth(&self, name: &str, default: bool) -> bool {
        self.setting(name).and_then(|text| constant_truth(&text, &self.context)).unwrap_or(default)
    }
}

/// Returns the jobs that a submit file describes, and the problems in it. A submit file with an error has no jobs.
///
/// A byte that is not UTF-8 counts as `?`, so that places are those of the file.
#[must_use]
pub fn describe_jobs(text: &[u8], settings: &SubmitSettings) -> DescribedAds {
    if let Some(at) = memchr::memchr(0, text) {
        let problem = Problem::error_at(at..at + 1, 0, "this byte is zero: a submit file is text");
        return DescribedAds { items: vec![Err(problem)], ..DescribedAds::default() };
    }
    let mut readable = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        readable.push_str(chunk.valid());
        readable.extend(chunk.invalid().iter().map(|_| '?'));
    }
    DescriptionRun::new(settings).describe(&readable)
}
