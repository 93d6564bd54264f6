//! Reader of text event logs, as jobs name them with `log = ...`.
//!
//! An event is a line `000 (001.000.000) 2026-11-22 23:35:27 Job submitted from host: ...`, further lines, and a line
//! `...`. Its ad has the attributes that HTCondor gives to the event. What is not understood is kept as text in
//! `EventPayloadLines`.

mod body;
mod known_lines;
mod years;

use std::ops::Range;

use crate::ad::{Dialect, Expression, Name, Value};

use super::{AdEntry, Problem, ReadResult};

use body::EventBody;
use years::LoggedTime;
pub use years::{EventYears, YearlessEvents, begins_without_year, latest_time};

/// The line that ends an event.
const END: &[u8] = b"...";

/// The numbers of events with their types.
const EVENT_TYPES: [(u16, &str); 42] = [
    (0, "SubmitEvent"),
    (1, "ExecuteEvent"),
    (2, "ExecutableErrorEvent"),
    (3, "CheckpointedEvent"),
    (4, "JobEvictedEvent"),
    (5, "JobTerminatedEvent"),
    (6, "JobImageSizeEvent"),
    (7, "ShadowExceptionEvent"),
    (8, "GenericEvent"),
    (9, "JobAbortedEvent"),
    (10, "JobSuspendedEvent"),
    (11, "JobUnsuspendedEvent"),
    (12, "JobHeldEvent"),
    (13, "JobReleaseEvent"),
    (14, "NodeExecuteEvent"),
    (15, "NodeTerminatedEvent"),
    (16, "PostScriptTerminatedEvent"),
    (21, "RemoteErrorEvent"),
    (22, "JobDisconnectedEvent"),
    (23, "JobReconnectedEvent"),
    (24, "JobReconnectFailedEvent"),
    (25, "GridResourceUpEvent"),
    (26, "GridResourceDownEvent"),
    (27, "GridSubmitEvent"),
    (28, "JobAdInformationEvent"),
    (29, "JobStatusUnknownEvent"),
    (30, "JobStatusKnownEvent"),
    (31, "JobStageInEvent"),
    (32, "JobStageOutEvent"),
    (33, "AttributeUpdateEvent"),
    (34, "PreSkipEvent"),
    (35, "ClusterSubmitEvent"),
    (36, "ClusterRemoveEvent"),
    (37, "FactoryPausedEvent"),
    (38, "FactoryResumedEvent"),
    (39, "NoneEvent"),
    (40, "FileTransferEvent"),
    (41, "ReserveSpaceEvent"),
    (42, "ReleaseSpaceEvent"),
    (43, "FileCompleteEvent"),
    (44, "FileUsedEvent"),
    (45, "FileRemovedEvent"),
];

/// Iterator over the events of a text, as ads.
pub struct EventLogReader<'t> {
    text: &'t [u8],
    dialect: Dialect,
    /// Byte offset of the next line.
    offset: usize,
    /// Number of events begun so far.
    number: usize,
    /// The time at which the log was written, in seconds since 1970; `None` if it is unknown.
    written_at: Option<i64>,
    /// The time of the latest event before the text, in seconds since 1970; `None` if there is none.
    latest_before: Option<i64>,
    /// The years of events that have none. `None` before the first such event.
    years: Option<EventYears>,
}

/// The first line of an event.
struct EventHead<'t> {
    number: u16,
    /// Cluster, process and subprocess. Negative if there is none.
    job: [i64; 3],
    /// The time as HTCondor writes it into ads.
    time: String,
    /// The rest of the line.
    text: &'t [u8],
}

/// Whether a line begins an event.
pub fn begins_event(line: &[u8]) -> bool {
    matches!(line, [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ', b'(', b'-' | b'0'..=b'9', ..])
}

/// Returns the length in bytes of the longest prefix of `window` that ends with the end of an event.
pub fn complete_prefix_length(window: &[u8]) -> usize {
    let mut ends = memchr::memrchr_iter(b'\n', window).peekable();
    while let Some(end) = ends.next() {
        let start = ends.peek().map_or(0, |at| at + 1);
        if is_end(&window[start..end]) {
            return end + 1;
        }
    }
    0
}

/// Whether a line ends an event.
fn is_end(line: &[u8]) -> bool {
    line.trim_ascii_end() == END
}

impl<'t> EventLogReader<'t> {
    /// Creates a reader at the beginning of a text.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        EventLogReader { text, dialect, offset: 0, number: 0, written_at: None, latest_before: None, years: None }
    }

    /// Gives years to events that have none, as of the time at which the log was written, in seconds since 1970. Without
    /// it, their times are left as they are written.
    pub fn written_at(self, written_at: Option<i64>) -> Self {
        EventLogReader { written_at, ..self }
    }

    /// Makes the text follow an event whose time is known, in seconds since 1970.
    pub fn following(self, latest_before: Option<i64>) -> Self {
        EventLogReader { latest_before, ..self }
    }

    /// Returns the time of the event that begins at a byte offset. `None` if it is not a time.
    fn time_of(&mut self, head: &EventHead, offset: usize) -> Option<String> {
        let LoggedTime::Yearless(month, day, _) = LoggedTime::parse(&head.time)? else {
            return Some(head.time.clone());
        };
        let (text, before) = (self.text, self.latest_before);
        let year = self.written_at.and_then(|written| {
            self.years.get_or_insert_with(|| EventYears::of(text, written, before)).year_at(offset)
        });
        Some(match (year, head.time.split_once(' ')) {
            (Some(year), Some((_, clock))) => format!("{year:04}-{month:02}-{day:02}T{clock}"),
            _ => head.time.clone(),
        })
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        let start = self.offset;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.offset = end + 1;
        let line = &self.text[start..end];
        Some(start..end - usize::from(line.ends_with(b"\r")))
    }
}

impl Iterator for EventLogReader<'_> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        let first = loop {
            let line = self.next_line()?;
            if !self.text[line.clone()].trim_ascii().is_empty() {
                break line;
            }
        };
        self.number += 1;
        let mut lines = Vec::new();
        let mut is_ended = is_end(&self.text[first.clone()]);
        while !is_ended && let Some(line) = self.next_line() {
            is_ended = is_end(&self.text[line.clone()]);
            if !is_ended && begins_event(&self.text[line.clone()]) {
                // The next event begins before this one has ended.
                self.offset = line.start;
                let message = "this event does not end with a line `...`";
                return Some(Err(Problem::error_at(first, self.number, message)));
            }
            lines.push(line);
        }
        if !is_ended {
            let message = "the last event is skipped: it does not end with a line `...`";
            return Some(Err(Problem::error_at(first, self.number, message).as_warning()));
        }
        lines.pop();
        let Some(head) = EventHead::parse(&self.text[first.clone()]) else {
            let help = "an event begins like `000 (001.000.000) 2026-01-01 12:00:00 Job submitted from host: ...`";
            let problem = Problem::error_at(first, self.number, "this line does not begin an event");
            return Some(Err(problem.with_help(help)));
        };
        let Some(time) = self.time_of(&head, first.start) else {
            let message = format!("`{}` is not a time", head.time);
            return Some(Err(Problem::error_at(first, self.number, message)));
        };
        let lines = lines.into_iter().map(|line| &self.text[line]);
        let mut body = EventBody::new(head.number, self.dialect);
        body.read_head(head.text);
        lines.for_each(|line| body.read_line(line));
        let attribute = |name: &str, value: Value| (Name::new(name), Expression::literal(value));
        let my_type = EVENT_TYPES.iter().find(|(number, _)| *number == head.number);
        let mut attributes = vec![
            attribute("MyType", Value::string(my_type.map_or("FutureEvent", |(_, name)| name).as_bytes())),
            attribute("EventTypeNumber", Value::Integer(head.number.into())),
            attribute("EventTime", Value::string(time.as_bytes())),
        ];
        for (name, value) in ["Cluster", "Proc", "Subproc"].into_iter().zip(head.job) {
            if value >= 0 {
                attributes.push(attribute(name, Value::Integer(value)));
            }
        }
        // The ad in an event may have attributes of an earlier event, such as the one that triggered it.
        let own: Vec<Name> = attributes.iter().map(|(name, _)| name.clone()).collect();
        let of_body = body.into_attributes().into_iter().filter(|(name, _)| !own.contains(name));
        let ad = attributes.into_iter().chain(of_body).collect();
        let offset = first.start;
        Some(Ok(AdEntry { ad, number: self.number, offset, is_whole: true, banner_attributes: 0 }))
    }
}

impl<'t> EventHead<'t> {
    /// Parses the first line of an event. `None` if it is malformed.
    fn parse(line: &'t [u8]) -> Option<Self> {
        let number = std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()?;
        let rest = line.get(3..)?.strip_prefix(b" (")?;
        let close = memchr::memchr(b')', rest)?;
        let mut parts = std::str::from_utf8(&rest[..close]).ok()?.split('.').map(|part| part.parse::<i64>().ok());
        let job = [parts.next()??, parts.next()??, parts.next()??];
        let rest = rest[close + 1..].strip_prefix(b" ")?;
        let words = |text: &[u8]| text.iter().take_while(|byte| **byte != b' ').count();
        let date = std::str::from_utf8(&rest[..words(rest)]).ok()?;
        let (time, length) = if date.contains('T') {
            (date.to_owned(), date.len())
        } else {
            let behind = rest.get(date.len() + 1..)?;
            let clock = std::str::from_utf8(&behind[..words(behind)]).ok()?;
            // Older logs have neither year nor `T`.
            let separator = if date.contains('/') { ' ' } else { 'T' };
            (format!("{date}{separator}{clock}"), date.len() + 1 + clock.len())
        };
        let is_time = |byte: u8| byte.is_ascii_digit() || b"-/:.TZ+ ".contains(&byte);
        let is_valid = parts.next().is_none() && time.bytes().all(is_time) && time.bytes().any(|byte| byte == b':');
        is_valid.then(|| EventHead { number, job, time, text: rest[length..].trim_ascii() })
    }
}

#[cfg(test)]
mod tests;
