//! The sources of `query`, opened: its files, the ad of `--query`, and the job log.

use super::QueryCommand;
use super::notes::note_missing_comma;
use crate::cli::io::followed_file::FollowedFile;
use crate::cli::io::logged_jobs::read_logged_jobs;
use crate::cli::io::source::AdSource;
use crate::cli::io::{history_files, input};
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Opens the files and the one of `--query`, and reads the job log.
pub fn open_sources(
    query: &QueryCommand,
    session: &mut Session,
    files: &[String],
) -> Result<[Vec<AdSource>; 2], Failure> {
    let asking = query.query.as_slice();
    let followed = if query.follow { Some(followed_file(files)?) } else { None };
    let [mut sources, asked] = if !files.is_empty() || query.userlog.is_empty() {
        input::open_sides(session, files, asking)?
    } else if asking.is_empty() {
        [Vec::new(), Vec::new()]
    } else {
        [Vec::new(), input::open_decided(session, asking)?]
    };
    note_missing_comma(query, session, files);
    if let (Some(file), Some(source)) = (followed, sources.last_mut()) {
        if source.is_compressed() {
            return refuse("--follow cannot read a compressed file");
        }
        source.follow(file, session.dialect());
    }
    if !query.userlog.is_empty() {
        let logs = input::open_decided(session, &history_files::in_order_of_time(&query.userlog))?;
        if query.attempts {
            sources.extend(logs);
        } else {
            sources.push(read_logged_jobs(session, logs)?);
        }
    }
    for source in sources.iter_mut().filter(|_| query.log_time.is_some()) {
        if let Err(error) = source.end_log_at(query.log_time.unwrap_or(i64::MAX)) {
            input::report_read_error(session, source, &error);
        }
    }
    Ok([sources, asked])
}

/// Opens the last file, before the form of any is detected: what is renamed meanwhile is not missed.
fn followed_file(files: &[String]) -> Result<FollowedFile, Failure> {
    let Some(path) = files.last().filter(|path| *path != "-") else {
        return refuse("--follow needs a file");
    };
    FollowedFile::open(path).map_err(|error| Failure::unreadable(path, &error))
}
