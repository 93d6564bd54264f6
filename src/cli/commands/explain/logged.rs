//! `explain JOB.log`: what happened to the jobs of an event log last, and why.

use classad::ad::time::iso_moment;
use classad::ad::{Ad, Value};
use classad::explain::LoggedJob;
use classad::format::FileFormat;
use classad::matching::Query;
use classad::text::similar_ids;

use super::ExplainCommand;
use crate::cli::io::argument_text;
use crate::cli::io::logged_jobs::logged_jobs;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source::AdSource;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::Session;

/// The columns of rows. The text has the sentence only.
const HEADER: [&str; 15] = [
    "job",
    "state",
    "since",
    "since_time",
    "slot",
    "reason",
    "code",
    "subcode",
    "exit_code",
    "exit_signal",
    "starts",
    "wall_seconds",
    "wasted_seconds",
    "last_event",
    "sentence",
];

/// Whether all of the requests are events of logs.
pub fn are_logs(session: &Session, sources: &[AdSource]) -> bool {
    let is_log = |source: &AdSource| match source.form {
        FileFormat::EventLog => true,
        FileFormat::Xml | FileFormat::Json | FileFormat::JsonLines if source.is_file() => {
            let first = source.reopen().ok().and_then(|mut again| again.next_block().ok().flatten());
            let first = first.and_then(|text| text.first_ad(session.dialect()));
            first.is_some_and(|ad| ad.get_str("EventTypeNumber").is_some())
        }
        _ => false,
    };
    sources.iter().all(is_log)
}

/// Explains the jobs of event logs.
pub fn explain_logs(command: &ExplainCommand, session: &mut Session, logs: Vec<AdSource>) -> Result<Status, Failure> {
    if !command.pool.is_empty() {
        session.note(
            "an event log has no requirements of jobs, so that slots do not count; `condor_q -long` prints the ads of \
             jobs that wait",
        );
    }
    let constraint = argument_text::parse_constraints(session, &command.constraint)?;
    let jobs: Vec<NamedAd> = logged_jobs(session, logs)?.into_iter().map(named).collect();
    let context = session.context();
    let filter = constraint.map(|constraint| Query::new(constraint, context.clone()));
    let wanted = WantedAds::new(&command.request, &jobs, &context);
    if let Some(unknown) = wanted.as_ref().and_then(|wanted| wanted.unknown(&jobs, &context)) {
        let near = classad::text::suggestion(&similar_ids(unknown, jobs.iter().map(NamedAd::id)));
        return refuse(format!("there is no job {unknown} in the log{near}"));
    }
    let is_selected = |job: &&NamedAd| {
        wanted.as_ref().is_none_or(|wanted| wanted.selects(job, &context))
            && filter.as_ref().is_none_or(|filter| filter.accepts(&job.ad).unwrap_or(false))
    };
    let form = command.ads.common.output.form.unwrap_or(OutputForm::Table);
    let is_text = form == OutputForm::Table;
    let mut writer = match (is_text, session.options.quiet) {
        (false, false) => {
            let header = HEADER.iter().map(|name| (*name).to_owned()).collect();
            Some(TableWriter::new(header, Some(form), true)?.keeping_columns())
        }
        _ => None,
    };
    let (mut out, mut count) = (out(), 0);
    for job in jobs.iter().filter(is_selected) {
        let Some(logged) = LoggedJob::new(&job.ad, &context) else { continue };
        count += 1;
        if let Some(writer) = &mut writer {
            writer.write(&mut out, row(&job.ad, &logged))?;
        } else if !session.options.quiet {
            use std::io::Write;
            writeln!(out, "{} {}", number(&job.ad), logged.sentence())?;
        }
    }
    writer.map_or(Ok(()), |mut writer| writer.finish(&mut out))?;
    Ok(Status::of(count > 0))
}

fn named(ad: Ad) -> NamedAd {
    let name = number(&ad);
    NamedAd::unnamed(ad).with_name(name)
}

/// Returns the number of a job, such as `12.0`.
fn number(ad: &Ad) -> String {
    let part = |name| ad.get_str(name).map_or(String::new(), ToString::to_string);
    format!("{}.{}", part("ClusterId"), part("ProcId"))
}

fn row(ad: &Ad, job: &LoggedJob<'_>) -> Vec<TableCell> {
    let integer = |value: Option<i64>| TableCell::from(&value.map_or(Value::Undefined, Value::Integer));
    let text = |value: Option<String>| value.map_or_else(|| integer(None), TableCell::from);
    let of = |name: &str| integer(job.number(name));
    let codes = job.report.hold.as_ref().map_or([None, None], |hold| hold.codes);
    vec![
        number(ad).into(),
        job.report.state.word().into(),
        integer(job.since()),
        text(job.since().map(iso_moment)),
        text(job.slot()),
        text(job.reason()),
        integer(codes[0]),
        integer(codes[1]),
        of("ExitCode"),
        of("ExitSignal"),
        integer(Some(job.starts())),
        of("WallSeconds"),
        of("WastedSeconds"),
        text(job.text("LastEvent")),
        job.sentence().into(),
    ]
}
