//! The years of events whose times have none, as older HTCondor writes them: `07/05 10:34:57`.
//!
//! The order of the events tells which year follows which: an event is no earlier than a day before the latest one
//! before it. The last event has the last year in which it is no later than a day after a known time: that of the first
//! event with a year, else the time at which the log was written. A day is left for time zones and for writers whose
//! events overtake each other. February 29 is in leap years only.

use std::ops::Range;

use crate::ad::AbsoluteTime;
use crate::ad::time::{CalendarTime, SECONDS_PER_DAY, clock_seconds, days_from_date};

use super::begins_event;

/// The years that an event may get: from that in which times begin to the last one of four digits.
const FIRST_YEAR: i64 = 1970;
const LAST_YEAR: i64 = 9999;

/// Maximum number of years that are tried for an event. There are at most 8 years from one February 29 to the next.
const MAX_TRIED_YEARS: i64 = 9;

/// The years of the events of a log, each with the byte offset of its event.
pub struct EventYears(Vec<(usize, i64)>);

/// The time of an event.
#[derive(Clone, Copy)]
enum LoggedTime {
    /// Seconds since 1970, in whatever zone.
    Whole(i64),
    /// Month, day, and seconds of the day.
    Yearless(i64, i64, i64),
}

impl EventYears {
    /// Finds the years of the events of a log. `written` is the time at which it was written, in seconds since 1970.
    pub fn of(log: &[u8], written: i64) -> Self {
        let mut start = 0;
        let times: Vec<(usize, LoggedTime)> = log
            .split_inclusive(|byte| *byte == b'\n')
            .filter_map(|line| {
                start += line.len();
                Some((start - line.len(), time_of_head(line)?))
            })
            .collect();
        let whole = times.iter().position(|(_, time)| matches!(time, LoggedTime::Whole(_))).unwrap_or(times.len());
        let (before, behind) = times.split_at(whole);
        let latest = match behind.first() {
            Some((_, LoggedTime::Whole(time))) => *time,
            _ => written,
        };
        let mut years = years_until(before, latest);
        follow(behind, latest, &mut years);
        EventYears(years)
    }

    /// Returns the year of the event at a byte offset. `None` if it has a year of its own, or if no year fits.
    pub fn year_at(&self, offset: usize) -> Option<i64> {
        let at = self.0.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        Some(self.0[at].1)
    }
}

/// Whether a log begins with an event without a year.
pub fn begins_without_year(log: &[u8]) -> bool {
    let line = &log[..memchr::memchr(b'\n', log).unwrap_or(log.len())];
    matches!(time_of_head(line), Some(LoggedTime::Yearless(..)))
}

/// Returns the years of events, of which the latest one is no later than a day after `latest`. Empty if they need more
/// years than there are.
fn years_until(events: &[(usize, LoggedTime)], latest: i64) -> Vec<(usize, i64)> {
    let mut years = Vec::new();
    if events.is_empty() {
        return years;
    }
    // The first event may be at the beginning of its year.
    let start = |year| clock_seconds([year, 1, 1], [0; 3]) + SECONDS_PER_DAY;
    let last_year = date(latest).year.clamp(FIRST_YEAR, LAST_YEAR);
    let span = date(follow(events, start(last_year), &mut years).max(start(last_year))).year - last_year;
    // A February 29 may have made the span longer than it is.
    for first_year in (last_year - span - MAX_TRIED_YEARS..=last_year - span + MAX_TRIED_YEARS).rev() {
        years.clear();
        let end = follow(events, start(first_year), &mut years);
        if first_year >= FIRST_YEAR && end <= latest.saturating_add(SECONDS_PER_DAY) {
            return years;
        }
    }
    Vec::new()
}

/// Gives each event without a year the first one in which it is no earlier than a day before the latest event before it.
/// `latest` is the time of that event before the first one. Returns the time of the latest of the events.
fn follow(events: &[(usize, LoggedTime)], mut latest: i64, years: &mut Vec<(usize, i64)>) -> i64 {
    let mut end = i64::MIN;
    for (offset, time) in events {
        match *time {
            LoggedTime::Whole(time) => (latest, end) = (time, time),
            LoggedTime::Yearless(month, day, second) => {
                let earliest = latest.saturating_sub(SECONDS_PER_DAY);
                let first = date(earliest).year;
                let of_year = |year: i64| days_from_date(year, month, day) * SECONDS_PER_DAY + second;
                let has_day = |time: CalendarTime| (time.month, time.day) == (month, day);
                let is_possible = |year: &i64| of_year(*year) >= earliest && has_day(date(of_year(*year)));
                let Some(year) = (first..first + MAX_TRIED_YEARS).find(is_possible) else { continue };
                end = end.max(of_year(year));
                latest = end;
                years.push((*offset, year));
            }
        }
    }
    end
}

/// Returns the date of seconds since 1970 by a clock in whatever zone.
fn date(clock: i64) -> CalendarTime {
    AbsoluteTime { seconds: clock, offset: 0 }.calendar_time(0)
}

/// Returns the time in the first line of an event. `None` if the line is no such line, or its time is malformed.
fn time_of_head(line: &[u8]) -> Option<LoggedTime> {
    if !begins_event(line) {
        return None;
    }
    let time = line[memchr::memchr(b')', line)? + 1..].strip_prefix(b" ")?;
    let number = |range: Range<usize>| {
        let digits = time.get(range).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    };
    let clock = |at: usize| Some(number(at..at + 2)? * 3600 + number(at + 3..at + 5)? * 60 + number(at + 6..at + 8)?);
    if matches!(time, [_, _, b'/', _, _, b' ', ..]) {
        return Some(LoggedTime::Yearless(number(0..2)?, number(3..5)?, clock(6)?));
    }
    let date = [number(0..4)?, number(5..7)?, number(8..10)?];
    Some(LoggedTime::Whole(clock_seconds(date, [0; 3]) + clock(11)?))
}

#[cfg(test)]
mod tests {
    use super::EventYears;
    use crate::ad::AbsoluteTime;

    /// Returns the times of events, of a log that was written at a time.
    fn times(times: &[&str], written: &str) -> Vec<String> {
        let log = times.iter().map(|time| format!("000 (1.0.0) {time} Job\n...\n")).collect::<Vec<_>>().concat();
        let written = AbsoluteTime::parse(&format!("{written}+00:00")).expect("it is a time");
        let years = EventYears::of(log.as_bytes(), written.seconds);
        let heads = memchr::memmem::find_iter(log.as_bytes(), "000 (");
        heads
            .zip(times)
            .map(|(at, time)| years.year_at(at).map_or_else(|| (*time).to_owned(), |year| format!("{year}/{time}")))
            .collect()
    }

    #[test]
    fn years_follow_the_order_and_end_before_the_log_was_written() {
        for (events, written, expected) in [
            (&["07/05 10:34:57"][..], "2026-07-06T00:00:00", &["2026"][..]),
            (&["07/05 10:34:57"], "2026-07-04T12:00:00", &["2026"]),
            (&["07/05 10:34:57"], "2026-07-04T00:00:00", &["2025"]),
            (&["12/31 23:59:59", "01/01 00:00:01"], "2026-03-01T00:00:00", &["2025", "2026"]),
            (&["12/31 23:59:59"], "2026-01-01T00:00:00", &["2025"]),
            (&["01/01 00:30:00"], "2025-12-31T23:00:00", &["2026"]),
            (&["11/20 00:00:00", "03/05 00:00:00", "03/04 00:00:00"], "2026-04-01T00:00:00", &["2025", "2026", "2026"]),
            // An event is late, or a day of the log is another year's.
            (&["01/01 00:00:01", "12/31 23:59:59", "01/01 00:00:02"], "2026-04-01T00:00:00", &["2026", "2025", "2026"]),
            (&["03/05 00:00:00", "03/03 00:00:00"], "2026-04-01T00:00:00", &["2025", "2026"]),
            (&["02/29 00:00:00", "03/01 00:00:00"], "2026-04-01T00:00:00", &["2024", "2024"]),
            (&["12/31 00:00:00", "02/29 00:00:00", "02/28 00:00:01"], "2026-04-01T00:00:00", &["2023", "2024", "2024"]),
            (&["02/30 00:00:00", "13/01 00:00:00"], "2026-04-01T00:00:00", &["", ""]),
            // An event with a year tells those of the others.
            (
                &["12/30 00:00:00.5", "01/02 00:00:00", "2019-01-03 10:00:00", "01/04 00:00:00", "01/01 00:00:00"],
                "2026-04-01T00:00:00",
                &["2018", "2019", "", "2019", "2020"],
            ),
        ] {
            let expected: Vec<String> = events
                .iter()
                .zip(expected)
                .map(|(event, year)| if year.is_empty() { (*event).to_owned() } else { format!("{year}/{event}") })
                .collect();
            assert_eq!(times(events, written), expected, "{events:?} {written}");
        }
    }

    #[test]
    fn more_years_than_there_are_fit_no_log() {
        let events = ["03/05 00:00:00", "03/01 00:00:00"].repeat(60);
        assert_eq!(times(&events, "2026-04-01T00:00:00"), events);
    }
}
