//! The years of events of a log whose times have none.

use std::time::UNIX_EPOCH;

use classad::format::YearlessEvents;

use super::source::AdSource;
use crate::cli::args::global::TimeOption;
use crate::cli::clock::{current_time, utc_text};
use crate::cli::session::Session;

/// Sets the time by which the events of a log get years if they have none.
pub fn date_events(session: &Session, source: &mut AdSource, path: &str) {
    let of_file = || {
        let modified = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.modified().ok()?;
        i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    };
    let (time, whose) = match (session.options.now, of_file()) {
        (Some(TimeOption::At(time)), _) => (time, "--now"),
        (_, Some(time)) => (time, "the time of the file"),
        _ => (current_time(), "the current time"),
    };
    (source.written_at, source.written_by) = (Some(time), whose);
}

/// Notes which events of a log had no year, as far as it was read. A partial result leaves the notes to the merge.
pub fn note_years(session: &Session, source: &mut AdSource) {
    let yearless = source.take_yearless();
    if session.partial_host.is_some() {
        return;
    }
    let by = format!("{}, {}", source.written_by, utc_text(source.written_at.unwrap_or_default()));
    for kind in yearless {
        let what = match kind {
            YearlessEvents::All => {
                format!("its events have no year; they get years by their order, the last ones by {by}")
            }
            YearlessEvents::Some => {
                "some of its events have no year; they get years by their order and the years of the others".to_owned()
            }
            YearlessEvents::Unfitting => format!(
                "some of its events have no year, and no years fit their order and {by}; their times stay as they are \
                 written"
            ),
        };
        session.note(&format!("{}: {what}", source.name));
    }
}
