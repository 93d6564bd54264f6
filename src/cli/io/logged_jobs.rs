//! The jobs of event logs, with their last states.

use std::io::Cursor;

use classad::ad::Ad;
use classad::format::{FileFormat, Stream, write};
use classad::query::{JobEvent, LoggedJobs};

use super::input;
use super::source::AdSource;
use crate::cli::clock::current_time;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Reads event logs and returns an ad for each job, in the order of the first events.
pub fn logged_jobs(session: &mut Session, mut logs: Vec<AdSource>) -> Result<Vec<Ad>, Failure> {
    let now = session.context().now.unwrap_or_else(current_time);
    let mut jobs = LoggedJobs::at(now);
    input::for_each_ad(session, &mut logs, |_, text, entry| {
        if let Some(event) = JobEvent::of(&entry.ad) {
            jobs.add(&event, &text.name);
        }
        Ok(true)
    })?;
    Ok(jobs.into_ads().collect())
}

/// Reads event logs as [`logged_jobs`] does, and returns the ads as a source.
pub fn read_logged_jobs(session: &mut Session, logs: Vec<AdSource>) -> Result<AdSource, Failure> {
    let mut text = Vec::new();
    for ad in logged_jobs(session, logs)? {
        write(&mut text, &ad, FileFormat::Long)?;
    }
    match Stream::new(Box::new(Cursor::new(text)), Some(FileFormat::Long)) {
        Ok(stream) => Ok(AdSource::new("jobs of the event log", stream)),
        Err(error) => refuse(error.to_string()),
    }
}
