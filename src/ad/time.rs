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
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar; months and days beyond their
/// range carry over.
#[must_use]
pub fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let months = year.saturating_mul(12).saturating_add(month - 1);
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    // Years are counted from March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let century = year.div_euclid(400);
    let year_of_century = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5;
    let day_of_century = year_of_century * 365 + year_of_century / 4 - year_of_century / 100 + day_of_year;
    century.saturating_mul(146_097).saturating_add(day_of_century - 719_468 + day - 1)
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
    let zone = jiff::tz::TimeZone::system();
    let clamped = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    jiff::Timestamp::from_second(clamped).map_or(0, |at| zone.to_offset(at).seconds())
}

/// The moment that the clocks of the machine's zone show as these seconds after 1970-01-01T00:00:00.
#[must_use]
pub fn from_local(clock: i64) -> AbsoluteTime {
    let guess = local_offset(clock);
    let offset = local_offset(clock.saturating_sub(i64::from(guess)));
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

    /// Reads the string of `absTime("...")`: four digits of year, then two each of month, day, hour,
    /// minute and second with anything between them, and an offset `Z`, `+hhmm` or `+hh:mm`; without
    /// an offset it is the machine's local time.  Parts that are left out are the first of their kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<AbsoluteTime> {
        let text = text.trim();
        let (body, offset) = split_offset(text);
        let mut rest = body.as_bytes();
        let year = take_digits(&mut rest, 4)?;
        let month = take_digits(&mut rest, 2).unwrap_or(1);
        let day = take_digits(&mut rest, 2).unwrap_or(1);
        let hour = take_digits(&mut rest, 2).unwrap_or(0);
        let minute = take_digits(&mut rest, 2).unwrap_or(0);
        let second = take_digits(&mut rest, 2).unwrap_or(0);
        let clock = days_from_date(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
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

/// Cuts the offset, in seconds east, off the end of a time; `None` if there is none.
fn split_offset(text: &str) -> (&str, Option<i32>) {
    if let Some(body) = text.strip_suffix(['z', 'Z']) {
        return (body, Some(0));
    }
    for (length, colon) in [(6, true), (5, false)] {
        let Some(at) = text.len().checked_sub(length) else { continue };
        let Some(tail) = text.get(at..) else { continue };
        let negative = match tail.as_bytes()[0] {
            b'+' => false,
            b'-' => true,
            _ => continue,
        };
        let (hours, minutes) = match colon {
            true if tail.as_bytes()[3] == b':' => (&tail[1..3], &tail[4..6]),
            false => (&tail[1..3], &tail[3..5]),
            true => continue,
        };
        if let (Some(hours), Some(minutes)) = (number(hours, 2), number(minutes, 2)) {
            let offset = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0);
            return (&text[..at], Some(if negative { -offset } else { offset }));
        }
    }
    (text, None)
}

/// Skips to the next digit and reads `count` of them.
fn take_digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let start = rest.iter().position(u8::is_ascii_digit)?;
    let digits = rest.get(start..start + count)?;
    // As HTCondor has it, fewer digits than asked for end the number.
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 4 && length < 4 {
        return None;
    }
    let value = digits[..length].iter().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
    *rest = &rest[start + count..];
    Some(value)
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
    /// eight minutes.
    #[must_use]
    pub fn parse_condor(text: &str) -> Option<RelativeTime> {
        let text = text.trim();
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (days, clock) = match text.split_once('+') {
            Some((days, clock)) => (number(days.trim(), 9)?, clock),
            None => (0, text),
        };
        let mut fields: Vec<&str> = clock.split(':').collect();
        let mut seconds = decimal(fields.pop()?)?;
        for unit in [60, 3600] {
            if let Some(field) = fields.pop() {
                seconds += whole(number(field, 9)? * unit);
            }
        }
        fields.is_empty().then(|| signed(negative, whole(days * DAY) + seconds))
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
    use super::{AbsoluteTime, RelativeTime};

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
        assert_eq!(condor(""), None);
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
    }

    #[test]
    fn fractions_read_back() {
        for seconds in [0.1, 1.7, 93_784.000_000_001, 1e-7] {
            let text = RelativeTime { seconds }.to_string();
            assert_eq!(RelativeTime::parse_condor(&text).unwrap().seconds, seconds, "{text}");
        }
    }
}
