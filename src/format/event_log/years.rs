//! The years of events whose times have none, as older HTCondor writes them: `07/05 10:34:57`.
//!
//! The order of the events tells which year follows which: an event is no earlier than a day before the latest one
//! before it. The last event has the last year in which it is no later than a day after a known time: that of the first
//! event with a year, else the time at which the log was written. A day is left for time zones and for writers whose
//! events overtake each other. February 29 is in leap years only. No year is invented: if none fits, the time stays as it
//! is written.

use crate::ad::AbsoluteTime;
use crate::ad::time::{CalendarTime, SECONDS_PER_DAY, clock_seconds, days_from_date};

use super::{EventHead, begins_event};

/// The years that an event may get: from that in which times begin to the last one of four digits.
const FIRST_YEAR: i64 = 1970;
const LAST_YEAR: i64 = 9999;

/// Maximum number of years that are tried for an event. There are at most 8 years from one February 29 to the next.
const MAX_TRIED_YEARS: i64 = 9;

/// A year that has all the days that a year can have.
const LEAP_YEAR: i64 = 2000;

/// The years of the events of a block of a log.
pub struct EventYears {
    /// The years that were found, each with the byte offset of its event.
    years: Vec<(usize, i64)>,
    /// Which events have no year of their own; `None` if all have one.
    pub yearless: Option<YearlessEvents>,
    /// The time of the latest event so far, in seconds since 1970; `None` if none is known.
    pub latest: Option<i64>,
}

/// Which events of a log have no year of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YearlessEvents {
    /// All events. The last one has its year by the time at which the log was written.
    All,
    /// Some events. They have their years by those of the others.
    Some,
    /// At least one event for which no year fits.
    Unfitting,
}

/// The time of an event.
#[derive(Clone, Copy)]
pub enum LoggedTime {
    /// Seconds since 1970, in whatever zone.
    Whole(i64),
    /// Month, day, and seconds of the day.
    Yearless(i64, i64, i64),
}

impl LoggedTime {
    /// Reads a time such as `2026-11-22T23:35:27.5Z` or `11/22 23:35:27`. `None` if it is not a time.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let numbers = |text: &str, mark: char| text.split(mark).map(number).collect::<Option<Vec<i64>>>();
        let (date, clock) = text.split_once(['T', ' '])?;
        let clock = &clock[..clock.find(|char: char| char != ':' && !char.is_ascii_digit()).unwrap_or(clock.len())];
        let [hour, minute, second] = numbers(clock, ':')?[..] else { return None };
        if hour > 23 || minute > 59 || second > 61 {
            return None;
        }
        let is_date = |year, month, day| {
            (1..=12).contains(&month)
                && (1..=days_from_date(year, month + 1, 1) - days_from_date(year, month, 1)).contains(&day)
        };
        if let Some(parts) = numbers(date, '/') {
            let [month, day] = parts[..] else { return None };
            let of_day = hour * 3600 + minute * 60 + second;
            return is_date(LEAP_YEAR, month, day).then_some(LoggedTime::Yearless(month, day, of_day));
        }
        let [year, month, day] = numbers(date, '-')?[..] else { return None };
        let is_year = (0..=LAST_YEAR).contains(&year) && is_date(year, month, day);
        is_year.then(|| LoggedTime::Whole(clock_seconds([year, month, day], [hour, minute, second])))
    }
}

impl EventYears {
    /// Finds the years of the events of a block of a log. `written` is the time at which the log was written, `before`
    /// that of the latest event before the block; `None` if there is none. Both are in seconds since 1970.
    pub fn of(block: &[u8], written: i64, before: Option<i64>) -> Self {
        // The event before the block stands for those before it.
        let before = before.map(|time| (0, LoggedTime::Whole(time)));
        let times: Vec<(usize, LoggedTime)> = before.into_iter().chain(times(block)).collect();
        let is_whole = |(_, time): &(usize, LoggedTime)| matches!(time, LoggedTime::Whole(_));
        let lacking = times.iter().filter(|time| !is_whole(time)).count();
        let mut years = Vec::new();
        let (first, behind) = times.split_at(times.iter().position(is_whole).unwrap_or(times.len()));
        let known = match behind.first() {
            Some((_, LoggedTime::Whole(time))) => Some(*time),
            _ => None,
        };
        let mut latest = years_until(first, known.unwrap_or(written), &mut years);
        if let Some(known) = known {
            latest = follow(behind, known, &mut years);
        }
        let yearless = match lacking {
            0 => None,
            lacking if years.len() < lacking => Some(YearlessEvents::Unfitting),
            _ => Some(if known.is_none() { YearlessEvents::All } else { YearlessEvents::Some }),
        };
        EventYears { years, yearless, latest }
    }

    /// Returns the year of the event at a byte offset. `None` if it has a year of its own, or if no year fits.
    pub fn year_at(&self, offset: usize) -> Option<i64> {
        let at = self.years.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        Some(self.years[at].1)
    }
}

/// Returns the time of the latest event in a block of a log; `None` if it is not known. `before` is that of the latest
/// event before the block.
pub fn latest_time(block: &[u8], before: Option<i64>) -> Option<i64> {
    // Without an event whose time is known, no time counts.
    EventYears::of(block, i64::MIN, before).latest
}

/// Whether the first event of a log that has a time has no year.
pub fn begins_without_year(log: &[u8]) -> bool {
    matches!(times(log).next(), Some((_, LoggedTime::Yearless(..))))
}

/// Returns the times of the events of a log, each with the byte offset of its event.
fn times(log: &[u8]) -> impl Iterator<Item = (usize, LoggedTime)> {
    let mut end = 0;
    log.split_inclusive(|byte| *byte == b'\n').filter_map(move |line| {
        end += line.len();
        let head = EventHead::parse(line.trim_ascii_end()).filter(|_| begins_event(line))?;
        Some((end - line.len(), LoggedTime::parse(&head.time)?))
    })
}

/// Finds the years of events without years, of which the latest one is no later than a day after `latest`. Returns the
/// time of the latest one. Finds none if the events need more years than there are.
fn years_until(events: &[(usize, LoggedTime)], latest: i64, years: &mut Vec<(usize, i64)>) -> Option<i64> {
    // The first event may be at the beginning of its year.
    let start = |year| clock_seconds([year, 1, 1], [0; 3]) + SECONDS_PER_DAY;
    let last_year = date(latest).year.clamp(FIRST_YEAR, LAST_YEAR);
    let span = date(follow(events, start(last_year), years)?.max(start(last_year))).year - last_year;
    // A February 29 may have made the span longer than it is.
    for first_year in (last_year - span - MAX_TRIED_YEARS..=last_year - span + MAX_TRIED_YEARS).rev() {
        years.clear();
        let end = follow(events, start(first_year), years);
        if first_year >= FIRST_YEAR && end.is_some_and(|end| end <= latest.saturating_add(SECONDS_PER_DAY)) {
            return end;
        }
    }
    years.clear();
    None
}

/// Gives each event without a year the first one in which it is no earlier than a day before the latest event before it.
/// `latest` is the time of that event before the first one. Returns the time of the latest of the events; `None` if none
/// has a year.
fn follow(events: &[(usize, LoggedTime)], mut latest: i64, years: &mut Vec<(usize, i64)>) -> Option<i64> {
    let mut end = None;
    for (offset, time) in events {
        match *time {
            LoggedTime::Whole(time) => (latest, end) = (time, Some(time)),
            LoggedTime::Yearless(month, day, second) => {
                let earliest = latest.saturating_sub(SECONDS_PER_DAY);
                let first = date(earliest).year;
                let midnight = |year: i64| days_from_date(year, month, day) * SECONDS_PER_DAY;
                // A leap second is one of the next day.
                let of_year = |year: i64| midnight(year) + second;
                let has_day = |time: CalendarTime| (time.month, time.day) == (month, day);
                let is_possible = |year: &i64| of_year(*year) >= earliest && has_day(date(midnight(*year)));
                let mut years_to_try = first..(first + MAX_TRIED_YEARS).min(LAST_YEAR + 1);
                let Some(year) = years_to_try.find(is_possible) else { continue };
                latest = end.unwrap_or(i64::MIN).max(of_year(year));
                end = Some(latest);
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

#[cfg(test)]
mod tests {
    use super::{EventYears, latest_time};
    use crate::ad::AbsoluteTime;

    /// Returns the times of events, of a log that was written at a time.
    fn times(times: &[&str], written: &str) -> Vec<String> {
        let log = times.iter().map(|time| format!("000 (1.0.0) {time} Job\n...\n")).collect::<Vec<_>>().concat();
        let written = AbsoluteTime::parse(&format!("{written}+00:00")).expect("it is a time");
        let years = EventYears::of(log.as_bytes(), written.seconds, None);
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
            (&["07/05 10:34:57"], "2026-07-04T10:34:57", &["2026"]),
            (&["07/05 10:34:57"], "2026-07-04T10:34:56", &["2025"]),
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
            // Times begin in 1970.
            (&["01/01 00:00:00"], "1970-01-01T00:00:00", &["1970"]),
            (&["12/31 00:00:00"], "1970-01-01T00:00:00", &[""]),
            // The leap years around 2100 are eight years apart.
            (&["2096-03-02 00:00:00", "02/29 00:00:00"], "2026-04-01T00:00:00", &["", "2104"]),
            (&["02/29 00:00:00"], "2103-04-01T00:00:00", &["2096"]),
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
    fn years_say_which_events_lacked_them() {
        use super::YearlessEvents::{All, Some as Part, Unfitting};
        let alternating = ["12/31 00:00:00", "01/01 12:00:00", "03/01 00:00:00"].repeat(100);
        for (times, written, before, expected) in [
            (&["2020-01-01 00:00:00"][..], 1_783_296_000, None, None),
            (&["07/05 10:34:57"], 1_783_296_000, None, Some(All)),
            (&["07/05 10:34:57"], 1_783_296_000, Some(1_700_000_000), Some(Part)),
            (&["2020-01-01 00:00:00", "01/02 00:00:00"], 1_783_296_000, None, Some(Part)),
            (&["01/02 00:00:00", "2020-01-01 00:00:00"], 1_783_296_000, None, Some(Part)),
            // February 29 would be in 1968.
            (&["02/29 00:00:00", "01/01 00:00:00"], 40_000_000, None, Some(Unfitting)),
            (&alternating, 1_783_296_000, None, Some(Unfitting)),
            (&["9999-12-31 00:00:00", "02/01 00:00:00"], 1_783_296_000, None, Some(Unfitting)),
            // What is not a date lacks nothing.
            (&["13/45 00:00:00", "02/30 00:00:00", "01/01 24:00:00"], 1_783_296_000, None, None),
            (&["00/01 00:00:00", "01/00 00:00:00", "01/32 00:00:00"], 1_783_296_000, None, None),
            (&["01/01 00:60:00", "01/01 00:00:62", "01/01 00:00", "01/01/26 00:00:00"], 1_783_296_000, None, None),
            (&["12/31 23:59:61"], 1_783_296_000, None, Some(All)),
            // A year of five digits is no year.
            (&["10000-01-01 00:00:00"], 1_783_296_000, None, None),
            (&["01/02 00:00:00", "10000-01-01 00:00:00"], 1_783_296_000, None, Some(All)),
            (&["01/02 00:00:00", "9999-12-31 00:00:00"], 1_783_296_000, None, Some(Part)),
            (&["01/01 00:00:00"], 0, None, Some(All)),
            (&["12/31 00:00:00"], 0, None, Some(Unfitting)),
            (&[], 1_783_296_000, None, None),
        ] {
            let log = times.iter().map(|time| format!("000 (1.0.0) {time} Job\n...\n")).collect::<Vec<_>>().concat();
            let years = EventYears::of(log.as_bytes(), written, before);
            assert_eq!(years.yearless, expected, "{times:?} {before:?}");
        }
    }

    #[test]
    fn the_latest_event_of_a_block_tells_the_years_of_the_next() {
        let blocks = ["2019-12-30 10:00:00", "12/31 10:00:00", "01/01 10:00:00", "12/31 10:00:00", "12/30 10:00:00"];
        let head = |time: &str| format!("000 (1.0.0) {time} Job\n...\n");
        let (mut before, mut found) = (None, Vec::new());
        for block in blocks {
            found.push(EventYears::of(head(block).as_bytes(), 0, before).year_at(0));
            before = latest_time(head(block).as_bytes(), before);
        }
        assert_eq!(found, [None, Some(2019), Some(2020), Some(2019), Some(2020)]);
        assert_eq!(latest_time(head("12/31 10:00:00").as_bytes(), None), None);
    }

    #[test]
    fn more_years_than_there_are_fit_no_log() {
        let events = ["03/05 00:00:00", "03/01 00:00:00"].repeat(60);
        assert_eq!(times(&events, "2026-04-01T00:00:00"), events);
    }
}
