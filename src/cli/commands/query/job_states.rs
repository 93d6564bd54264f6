//! The jobs of event logs, with their last states.

use std::io::Cursor;

use classad::ad::{Attribute, Expression, Name, Value};
use classad::format::{FileFormat, Stream, write};
use indexmap::IndexMap;

use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// The numbers of events with the job's status after them, as `JobStatus` has it.
const STATUS_AFTER: [(i64, i64); 13] =
    [(0, 1), (1, 2), (4, 1), (5, 4), (7, 1), (9, 3), (10, 7), (11, 2), (12, 5), (13, 1), (22, 2), (23, 2), (24, 1)];

/// The number of the event that a held job was released.
const RELEASED: i64 = 13;

/// Attributes of an event that are not those of its job.
const OF_EVENT: [&str; 3] = ["MyType", "EventTypeNumber", "Subproc"];

/// Reads event logs and returns a source with an ad for each job, in the order of the first events. The ad has
/// `ClusterId`, `ProcId`, the `JobStatus` after the last event, and the attributes of all events, of which the last ones
/// count.
pub fn read_job_states(session: &mut Session, paths: &[String]) -> Result<AdSource, Failure> {
    let mut sources = input::open_decided(session, paths)?;
    let mut jobs: IndexMap<(i64, i64), IndexMap<Name, Expression>> = IndexMap::new();
    let names = ["Cluster", "Proc", "EventTypeNumber"].map(Name::new);
    input::for_each_ad(session, &mut sources, |_, _, entry| {
        let number = |name: &Name| match entry.ad.get(name).and_then(Expression::as_literal) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        // Events of a whole cluster tell nothing about its jobs.
        let [Some(cluster), Some(process), Some(event)] = names.each_ref().map(number) else { return Ok(true) };
        let job = jobs.entry((cluster, process)).or_insert_with(|| {
            let literal = |name: &str, number: i64| (Name::new(name), Expression::literal(number));
            [literal("ClusterId", cluster), literal("ProcId", process)].into_iter().collect()
        });
        if event == RELEASED {
            job.retain(|name, _| !name.as_str().starts_with("HoldReason"));
        }
        for Attribute { name, expression } in entry.ad.iter() {
            let is_of_job = names.contains(name) || OF_EVENT.iter().any(|of_event| name.as_str() == *of_event);
            if !is_of_job {
                job.insert(name.clone(), expression.clone());
            }
        }
        if let Some((_, status)) = STATUS_AFTER.iter().find(|(number, _)| *number == event) {
            job.insert(Name::new("JobStatus"), Expression::literal(*status));
        }
        Ok(true)
    })?;
    let mut text = Vec::new();
    for ad in jobs.into_values() {
        write(&mut text, &ad.into_iter().collect(), FileFormat::Long)?;
    }
    match Stream::new(Box::new(Cursor::new(text)), Some(FileFormat::Long)) {
        Ok(stream) => Ok(AdSource::new("jobs of the event log", stream)),
        Err(error) => refuse(error.to_string()),
    }
}
