//! Absolute and relative times: reading and writing them, and the calendar (thesis §2.3).
//!
//! Calendar arithmetic is our own because it must be total: a time may lie millions of years away.

use std::fmt;

/// A moment, and the offset from UTC in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbsoluteTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// A length of time, in seconds; fractions are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeTime {
    /// The length; negative lengths point into the past.
    pub seconds: f64,
}

/// A moment's parts on the calendar and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The year, negative before the common era.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
    /// 0 is Sunday.
    pub weekday: i64,
    /// 0 to 365.
    pub day_of_year: i64,
}

const DAY: i64 = 86_400;
/// 2^63
const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar; months and days beyond their
/// range carry over.
#[must_use]
pub fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let months = year.saturating_mul(12).saturating_add(month.saturating_sub(1));
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    // Years are counted from March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let century = year.div_euclid(400);
    let year_of_century = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let day_of_century = year_of_century * 365 + year_of_century / 4 - year_of_century / 100 + day_of_year;
    century.saturating_mul(146_097).saturating_add(day_of_century - 719_469).saturating_add(day)
}

/// Seconds from 1970-01-01T00:00:00 to what a calendar and a clock show, whatever their time zone.
#[must_use]
pub fn clock_seconds(date: [i64; 3], clock: [i64; 3]) -> i64 {
    let [year, month, day] = date;
    let [hour, minute, second] = clock;
    [days_from_date(year, month, day).saturating_mul(DAY), hour.saturating_mul(3600), minute.saturating_mul(60), second]
        .into_iter()
        .fold(0, i64::saturating_add)
}

/// The date of a day counted from 1970-01-01: year, month, day.
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let century = days.div_euclid(146_097);
    let day_of_century = days.rem_euclid(146_097);
    let year_of_century =
        (day_of_century - day_of_century / 1_460 + day_of_century / 36_524 - day_of_century / 146_096) / 365;
    let day_of_year = day_of_century - (365 * year_of_century + year_of_century / 4 - year_of_century / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_century + century * 400 + i64::from(month <= 2), month, day)
}

/// The offset of the machine's time zone from UTC at a moment, in seconds east.  The zone is the
/// system's, or the one that `TZ` names.
#[must_use]
pub fn local_offset(seconds: i64) -> i32 {
    jiff::tz::TimeZone::system().to_offset(nearest_timestamp(seconds)).seconds()
}

/// A moment, as the clocks of the machine's zone show it.
#[must_use]
pub fn here(seconds: i64) -> AbsoluteTime {
    AbsoluteTime { seconds, offset: local_offset(seconds) }
}

/// The short name of the machine's time zone at a moment, such as `CEST`.
#[must_use]
pub fn local_zone_name(seconds: i64) -> String {
    let zone = jiff::tz::TimeZone::system();
    if zone.is_unknown() {
        return "UTC".to_owned();
    }
    zone.to_offset_info(nearest_timestamp(seconds)).abbreviation().to_owned()
}

/// A moment for the time zone database, which knows ten thousand years.
fn nearest_timestamp(seconds: i64) -> jiff::Timestamp {
    let known = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    jiff::Timestamp::from_second(known).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// The moment that the clocks of the machine's zone show as these seconds after 1970-01-01T00:00:00.
/// Of the two moments when the clocks are put back it is the second, as in HTCondor.
#[must_use]
pub fn from_local(clock: i64) -> AbsoluteTime {
    // The zone's offset changes at most once in two days; the lesser one is that of standard time.
    let standard = local_offset(clock.saturating_sub(DAY)).min(local_offset(clock.saturating_add(DAY)));
    let offset = local_offset(clock.saturating_sub(i64::from(standard)));
    AbsoluteTime { seconds: clock.saturating_sub(i64::from(offset)), offset }
}

impl AbsoluteTime {
    /// The parts that a clock and a calendar at this offset from UTC show.
    #[must_use]
    pub fn parts_at(self, offset: i32) -> Parts {
        let clock = self.seconds.saturating_add(i64::from(offset));
        let days = clock.div_euclid(DAY);
        let (year, month, day) = date_from_days(days);
        let of_day = clock.rem_euclid(DAY);
        Parts {
            year,
            month,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_from_date(year, 1, 1),
        }
    }

    /// Reads the string of `absTime("...")` as HTCondor does: four digits of year, then two each of
    /// month, day, hour, minute and second with anything but digits between them, and an offset `Z`,
    /// `+hhmm` or `+hh:mm` at the end; without one it is the machine's local time.  Parts beyond their
    /// range carry over, and parts that are left out are the first of their kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<AbsoluteTime> {
        if let Some(time) = parse_far(text) {
            return Some(time);
        }
        let (body, offset) = split_offset(text);
        let mut rest = body.as_bytes();
        skip_to_digit(&mut rest);
        let (year, after) = rest.split_at_checked(4)?;
        let year = number(std::str::from_utf8(year).ok()?, 4)?;
        rest = after;
        let [month, day, hour, minute, second] =
            [1, 1, 0, 0, 0].map(|missing| two_digits(&mut rest).unwrap_or(missing));
        skip_to_digit(&mut rest);
        if !rest.is_empty() {
            return None;
        }
        let clock = clock_seconds([year, month, day], [hour, minute, second]);
        Some(match offset {
            Some(offset) => AbsoluteTime { seconds: clock - i64::from(offset), offset },
            None => from_local(clock),
        })
    }

    /// Reads the papers' literal `Mon Jan 11 10:53:31 1999 (CST) -06:00`.  The numeric offset decides;
    /// the names of the day and of the zone are commentary and may be left out.
    #[must_use]
    pub fn parse_asctime(text: &str) -> Option<AbsoluteTime> {
        let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.first().is_some_and(|w| w.len() == 3 && month_number(w).is_none() && is_alphabetic(w)) {
            words.remove(0);
        }
        let [month, day, clock, year, rest @ ..] = words.as_slice() else { return None };
        let month = month_number(month)?;
        let day: i64 = number(day, 2)?;
        let year: i64 = number(year, 4)?;
        let mut fields = clock.split(':');
        let hour = number(fields.next()?, 2)?;
        let minute = number(fields.next()?, 2)?;
        let second = fields.next().map_or(Some(0), |s| number(s, 2))?;
        if fields.next().is_some() || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 61 {
            return None;
        }
        let rest = match rest {
            [zone, rest @ ..] if zone.starts_with('(') && zone.ends_with(')') => rest,
            rest => rest,
        };
        let clock = days_from_date(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
        match rest {
            [] => Some(from_local(clock)),
            [zone] if zone.eq_ignore_ascii_case("z") => Some(AbsoluteTime { seconds: clock, offset: 0 }),
            [zone] => match split_offset(zone) {
                ("", Some(offset)) => Some(AbsoluteTime { seconds: clock - i64::from(offset), offset }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads what is printed for a time whose year has not just four digits, or whose offset is not
/// below 100 hours.
fn parse_far(text: &str) -> Option<AbsoluteTime> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (year, rest) = rest.split_once('-')?;
    let (date, rest) = rest.split_once('T')?;
    let (month, day) = date.split_once('-')?;
    let sign = rest.find(['+', '-'])?;
    let (clock, offset) = rest.split_at_checked(sign)?;
    if year.len() == 4 && !negative && offset.len() <= 6 {
        return None;
    }
    let fields: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = fields.as_slice() else { return None };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    // No year of 64 bits of seconds has more digits.
    let year = number(year, 12)?;
    let year = if negative { -year } else { year };
    let [month, day, hour, minute, second, minutes] =
        [month, day, hour, minute, second, minutes].map(|part| number(part, 2));
    let clock = clock_seconds([year, month?, day?], [hour?, minute?, second?]);
    let offset_size = i32::try_from(number(hours, 6)? * 3600 + minutes? * 60).ok()?;
    let offset = if offset.starts_with('-') { -offset_size } else { offset_size };
    Some(AbsoluteTime { seconds: clock.saturating_sub(i64::from(offset)), offset })
}

/// Cuts the offset, in seconds east, off the end of a time; `None` if there is none.
fn split_offset(text: &str) -> (&str, Option<i32>) {
    let trimmed = text.trim_end_matches(is_blank);
    if let Some(body) = trimmed.strip_suffix(['z', 'Z'])
        && !body.is_empty()
    {
        return (body, Some(0));
    }
    // Blanks behind an offset hide it from HTCondor.
    for length in [5, 6] {
        let Some(at) = text.len().checked_sub(length) else { break };
        let (Some(body), Some(tail)) = (text.get(..at), text.get(at..)) else { continue };
        let Some(size) = tail.strip_prefix(['+', '-']) else { continue };
        let halves = if length == 6 { size.split_once(':') } else { size.split_at_checked(2) };
        let Some((hours, minutes)) = halves else { continue };
        if hours.len() == 2
            && let (Some(hours), Some(minutes)) = (number(hours, 2), number(minutes, 2))
        {
            let size = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0);
            return (body, Some(if tail.starts_with('-') { -size } else { size }));
        }
    }
    (text, None)
}

/// White space to C.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn skip_to_digit(rest: &mut &[u8]) {
    let digit = rest.iter().position(u8::is_ascii_digit).unwrap_or(rest.len());
    *rest = rest.get(digit..).unwrap_or_default();
}

/// Skips to the next digit and takes it and the byte behind it, which counts if it is a digit too;
/// `None` if there are no two bytes.
fn two_digits(rest: &mut &[u8]) -> Option<i64> {
    skip_to_digit(rest);
    let (pair, after) = rest.split_at_checked(2)?;
    *rest = after;
    Some(pair.iter().take_while(|b| b.is_ascii_digit()).fold(0, |n, b| n * 10 + i64::from(b - b'0')))
}

fn number(text: &str, most: usize) -> Option<i64> {
    (!text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn is_alphabetic(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphabetic())
}

/// 1 to 12 for the three-letter name of a month, in any case.
#[must_use]
pub fn month_number(word: &str) -> Option<i64> {
    let position = MONTHS.iter().position(|m| word.eq_ignore_ascii_case(m))?;
    i64::try_from(position + 1).ok()
}

impl RelativeTime {
    /// Reads the papers' literal `[-][Nd]H:M[:S]`: two parts are hours and minutes, three are hours,
    /// minutes and seconds; a fraction of a second may follow.
    #[must_use]
    pub fn parse_clock(text: &str) -> Option<RelativeTime> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (days, clock) = match text.split_once(['d', 'D']) {
            Some((days, clock)) => (number(days, 9)?, clock),
            None => (0, text),
        };
        let mut fields = clock.split(':');
        let hours = number(fields.next()?, 9)?;
        let minutes = number(fields.next()?, 9)?;
        let seconds = match fields.next() {
            Some(seconds) => decimal(seconds)?,
            None => 0.0,
        };
        if fields.next().is_some() {
            return None;
        }
        Some(signed(negative, whole(days * DAY + hours * 3600 + minutes * 60) + seconds))
    }

    /// Reads the string of HTCondor's `relTime("...")`: `[-][d+][[hh:]mm:]ss[.f]`, so that `8:00` is
    /// eight minutes.  As there, it is read from its end, the letters `d` `h` `m` `s` may stand in place
    /// of the signs between the parts, and any part may be left out.
    #[must_use]
    pub fn parse_condor(text: &str) -> Option<RelativeTime> {
        let mut rest = text.trim_end_matches(is_blank);
        let (mut seconds, mut fraction) = ("", "");
        if rest.ends_with(|c: char| c.is_ascii_digit() || matches!(c, 's' | 'S')) {
            rest = rest.strip_suffix(['s', 'S']).unwrap_or(rest).trim_end_matches(is_blank);
            seconds = take_number(&mut rest);
            if let Some(before) = rest.strip_suffix('.') {
                (rest, fraction) = (before, seconds);
                seconds = take_number(&mut rest);
            }
            rest = rest.trim_end_matches(is_blank);
        }
        let minutes = take_part(&mut rest, ['m', 'M', ':']);
        let hours = take_part(&mut rest, ['h', 'H', ':']);
        let days = take_part(&mut rest, ['d', 'D', '+']);
        let (negative, rest) = rest.strip_suffix('-').map_or((false, rest), |rest| (true, rest));
        let parts = [(days, 86_400), (hours, 3_600), (minutes, 60), (seconds, 1)];
        let length = exact_seconds(parts, fraction).unwrap_or_else(|| nearest_seconds(parts));
        (rest.trim_end_matches(is_blank).is_empty() && length.is_finite()).then(|| signed(negative, length))
    }

    /// Reads the string of `relTime("...")` in the papers' dialect: as the quoted literal, or as
    /// HTCondor writes it when it is not one.
    #[must_use]
    pub fn parse_classad(text: &str) -> Option<RelativeTime> {
        RelativeTime::parse_clock(text.trim()).or_else(|| RelativeTime::parse_condor(text))
    }
}

fn signed(negative: bool, seconds: f64) -> RelativeTime {
    RelativeTime { seconds: if negative { -seconds } else { seconds } }
}

/// Takes the digits off the end of a text.
fn take_number<'t>(rest: &mut &'t str) -> &'t str {
    let before = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = rest.get(before.len()..).unwrap_or_default();
    *rest = before;
    digits
}

/// Takes a number and its unit off the end of a text; no digits if the unit is not there.
fn take_part<'t>(rest: &mut &'t str, unit: [char; 3]) -> &'t str {
    let Some(before) = rest.strip_suffix(unit) else { return "" };
    *rest = before.trim_end_matches(is_blank);
    let digits = take_number(rest);
    *rest = rest.trim_end_matches(is_blank);
    digits
}

/// The sum of counts of units, and a fraction of a second, rounded only once; none if it is too long.
fn exact_seconds(parts: [(&str, u64); 4], fraction: &str) -> Option<f64> {
    let mut total: u64 = 0;
    for (digits, unit) in parts {
        let count: u64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        total = total.checked_add(count.checked_mul(unit)?)?;
    }
    format!("{total}.{fraction}").parse().ok()
}

/// The sum of counts of units beyond 64 bits, where fractions no longer matter.
#[allow(clippy::cast_precision_loss)] // the units are small
fn nearest_seconds(parts: [(&str, u64); 4]) -> f64 {
    parts.into_iter().map(|(digits, unit)| digits.parse().unwrap_or(0.0) * unit as f64).sum()
}

fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (plain && text.bytes().any(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Counts of seconds below 2^53 are exact as reals.
#[allow(clippy::cast_precision_loss)]
fn whole(seconds: i64) -> f64 {
    seconds as f64
}

impl fmt::Display for AbsoluteTime {
    /// `2001-02-03T04:05:06-06:00`, in the value's own offset; UTC is `-00:00`, as HTCondor has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.parts_at(self.offset);
        let sign = if self.offset > 0 { '+' } else { '-' };
        let minutes = self.offset.unsigned_abs() / 60;
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{sign}{:02}:{:02}",
            p.year,
            p.month,
            p.day,
            p.hour,
            p.minute,
            p.second,
            minutes / 60,
            minutes % 60
        )
    }
}

impl RelativeTime {
    /// Sign, days, hours, minutes, whole seconds, and the fraction of a second.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // `as` saturates, and beyond 2^63 nothing is lost that was there
    pub fn split(self) -> (bool, i64, i64, i64, i64, f64) {
        let total = self.seconds.abs();
        let seconds = total.trunc() as i64;
        let sign = self.seconds.is_sign_negative() && self.seconds != 0.0;
        (sign, seconds / DAY, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, total.fract())
    }
}

impl fmt::Display for RelativeTime {
    /// `[-]d+hh:mm:ss[.f]`, always with all parts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, days, hours, minutes, seconds, fraction) = self.split();
        let sign = if negative { "-" } else { "" };
        if self.seconds.abs() >= BEYOND_INTEGERS {
            // So many seconds have no exact days.
            return write!(f, "{sign}0+00:00:{:.0}", self.seconds.abs());
        }
        write!(f, "{sign}{days}+{hours:02}:{minutes:02}:{seconds:02}")?;
        if fraction > 0.0 {
            // The digits of the whole number, so that reading them back gives the same bits.
            let text = self.seconds.abs().to_string();
            f.write_str(text.find('.').map_or("", |dot| &text[dot..]))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{AbsoluteTime, RelativeTime, days_from_date, from_local, local_zone_name};

    fn seconds(text: &str) -> Option<f64> {
        RelativeTime::parse_clock(text).map(|t| t.seconds)
    }

    #[test]
    fn the_papers_relative_times() {
        assert_eq!(seconds("00:23:12"), Some(1392.0));
        assert_eq!(seconds("00:15"), Some(900.0));
        assert_eq!(seconds("8:00"), Some(28800.0));
        assert_eq!(seconds("3d19:49:15"), Some(330_555.0));
        assert_eq!(seconds("-1:00"), Some(-3600.0));
        for wrong in ["", "5", "a:b", "1:2:3:4", "1d", "d1:00", "1:", "::"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn htcondors_relative_times() {
        let condor = |text| RelativeTime::parse_condor(text).map(|t| t.seconds);
        assert_eq!(condor("1+02:03:04"), Some(93784.0));
        assert_eq!(condor("8:00"), Some(480.0));
        assert_eq!(condor("-4.5"), Some(-4.5));
        assert_eq!(condor("1:2:3:4"), None);
        assert_eq!(condor(""), Some(0.0));
    }

    #[test]
    fn htcondors_relative_times_are_read_from_their_end() {
        let condor = |text| RelativeTime::parse_condor(text).map(|t| t.seconds);
        for (text, seconds) in [
            ("1d02h03m04s", 93_784.0),
            ("1 + 2 : 3 : 4.25 s", 93_784.25),
            ("-1+", -86_400.0),
            ("+5", 5.0),
            (":5", 5.0),
            ("5:", 300.0),
            (".5", 0.5),
            ("5.s", 5.0),
            ("2h", 7_200.0),
        ] {
            assert_eq!(condor(text), Some(seconds), "{text}");
        }
        for wrong in ["x", "1e3", "5.", "--5", "+-5", "1h2m3d", "5é", "é5"] {
            assert_eq!(condor(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn htcondors_absolute_times() {
        let utc = |text| AbsoluteTime::parse(text).map(|time| time.to_string());
        for (text, time) in [
            ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06-00:00"),
            ("20010203T040506+0130", "2001-02-03T04:05:06+01:30"),
            ("on 2001/02/03, 04h05 -06:00", "2001-02-03T04:05:00-06:00"),
            ("2001-13-32T25:61:61Z", "2002-02-02T02:02:01-00:00"),
            ("2001Z", "2001-01-01T00:00:00-00:00"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59-00:00"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(time), "{text}");
        }
        for wrong in ["", "x", "12", "2001-02-03T04:05:06.5Z", "2001-02-03T04:05:06+01", "20+aé1", "2001-02-03 4:5:6"]
        {
            assert_eq!(utc(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn far_times_read_back() {
        for seconds in [-1_000_000_000_000_000, -70_000_000_000, 253_402_300_800, 1_000_000_000_000_000_000] {
            for offset in [0, -21_600, 360_000] {
                let time = AbsoluteTime { seconds, offset };
                assert_eq!(AbsoluteTime::parse(&time.to_string()), Some(time), "{time}");
            }
        }
        for seconds in [9_007_199_254_740_993.0, 9.3e18, 1e30, -1e300, f64::MAX] {
            let text = RelativeTime { seconds }.to_string();
            assert_eq!(RelativeTime::parse_condor(&text).map(|time| time.seconds), Some(seconds), "{text}");
        }
    }

    #[test]
    fn absolute_times_read_back() {
        let time = AbsoluteTime::parse_asctime("Mon Jan 11 10:53:31 1999 (CST) -06:00").unwrap();
        assert_eq!(time, AbsoluteTime { seconds: 916_073_611, offset: -21_600 });
        assert_eq!(time.to_string(), "1999-01-11T10:53:31-06:00");
        assert_eq!(AbsoluteTime::parse(&time.to_string()), Some(time));
        let utc = AbsoluteTime { seconds: 3_000_000_000, offset: 0 };
        assert_eq!(utc.to_string(), "2065-01-24T05:20:00-00:00");
        assert_eq!(AbsoluteTime::parse(&utc.to_string()), Some(utc));
    }

    #[test]
    fn the_calendar_is_total() {
        for seconds in [i64::MIN, -1, 0, i64::MAX] {
            let parts = AbsoluteTime { seconds, offset: 0 }.parts_at(0);
            assert!((1..=12).contains(&parts.month) && (1..=31).contains(&parts.day));
        }
        for extreme in [i64::MIN, i64::MAX] {
            let _ = (days_from_date(extreme, extreme, extreme), from_local(extreme), local_zone_name(extreme));
        }
    }

    #[test]
    fn fractions_read_back() {
        for seconds in [0.1, 1.7, 93_784.000_000_001, 1e-7] {
            let text = RelativeTime { seconds }.to_string();
            let again = RelativeTime::parse_condor(&text).unwrap();
            assert_eq!(again.seconds.to_bits(), seconds.to_bits(), "{text}");
        }
    }
}
