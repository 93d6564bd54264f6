//! Absolute and relative times (thesis 2.3).

mod calendar;
mod parse;

use std::fmt;

pub use calendar::{CalendarTime, from_local_clock, in_local_zone, iso_moment, local_moment};
pub(crate) use calendar::{clock_seconds, days_from_date, local_zone_name};
pub(crate) use parse::{MONTHS, month_number};

/// A moment, with the offset from UTC in which it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbsoluteTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Offset from UTC, in seconds east.
    pub offset: i32,
}

/// A length of time.
#[derive(Clone, Copy, Debug)]
pub struct RelativeTime {
    /// The length in seconds, with fractions; may be negative.
    pub seconds: f64,
    /// Whether the time is a literal, or was computed from one by operators. HTCondor's library takes such a time for a
    /// real, so that a conversion to a number keeps the fraction. It makes no other difference: equal lengths are equal.
    pub is_written: bool,
}

impl PartialEq for RelativeTime {
    fn eq(&self, other: &Self) -> bool {
        self.seconds == other.seconds
    }
}

pub(crate) const SECONDS_PER_DAY: i64 = 86_400;
/// 2^63: reals from this value on do not fit into `i64`.
const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;

impl fmt::Display for AbsoluteTime {
    /// Writes `2001-02-03T04:05:06-06:00`, in the value's own offset; UTC is `-00:00`, as in HTCondor.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CalendarTime { year, month, day, hour, minute, second, .. } = self.calendar_time(self.offset);
        let sign = if self.offset > 0 { '+' } else { '-' };
        let minutes = self.offset.unsigned_abs() / 60;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl RelativeTime {
    /// Returns a computed length of time.
    #[must_use]
    pub fn new(seconds: f64) -> Self {
        RelativeTime { seconds, is_written: false }
    }

    /// Returns the length as one that a literal says.
    #[must_use]
    pub fn written(self) -> Self {
        RelativeTime { is_written: true, ..self }
    }

    /// Returns the seconds as HTCondor converts them to a number: without a fraction, unless the time is written.
    #[must_use]
    pub fn seconds_in_condor(self) -> f64 {
        if self.is_written { self.seconds } else { self.seconds.trunc() }
    }

    /// Returns whether the length is negative, and the absolute value as days, hours, minutes, whole seconds and the
    /// fraction of a second.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // `as` saturates, which only matters from 2^63 on
    pub fn split(self) -> (bool, i64, i64, i64, i64, f64) {
        let total = self.seconds.abs();
        let seconds = total.trunc() as i64;
        let sign = self.seconds.is_sign_negative() && self.seconds != 0.0;
        (sign, seconds / SECONDS_PER_DAY, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, total.fract())
    }

    /// Formats the time as HTCondor's library does: `[-][d+][hh:][mm:]ss[.f]`, without leading parts that are zero.
    #[must_use]
    pub fn to_library_string(self) -> String {
        let (negative, days, hours, minutes, seconds, fraction) = self.split();
        let sign = if negative { "-" } else { "" };
        let seconds = if fraction > 0.0 { format_general(seconds, fraction) } else { format!("{seconds:02}") };
        if days > 0 {
            format!("{sign}{days}+{hours:02}:{minutes:02}:{seconds}")
        } else if hours > 0 {
            format!("{sign}{hours:02}:{minutes:02}:{seconds}")
        } else if minutes > 0 {
            format!("{sign}{minutes:02}:{seconds}")
        } else {
            format!("{sign}{seconds}")
        }
    }
}

/// Formats seconds below 60 like C's `%g`: six significant digits.
fn format_general(seconds: i64, fraction: f64) -> String {
    let whole = i32::try_from(seconds).map_or(0.0, f64::from);
    let places = if seconds >= 10 { 4 } else { 5 };
    let text = format!("{:.places$}", whole + fraction);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for RelativeTime {
    /// Writes `[-]d+hh:mm:ss[.f]`; the days are written even if they are 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, days, hours, minutes, seconds, fraction) = self.split();
        let sign = if negative { "-" } else { "" };
        if self.seconds.abs() >= TWO_POW_63 {
            // The whole seconds do not fit into `split`'s integers: print them without splitting.
            return write!(f, "{sign}0+00:00:{:.0}", self.seconds.abs());
        }
        write!(f, "{sign}{days}+{hours:02}:{minutes:02}:{seconds:02}")?;
        if fraction > 0.0 {
            // Take the digits of the fraction from the whole length, so that the text parses back to the same bits.
            let text = self.seconds.abs().to_string();
            f.write_str(text.find('.').map_or("", |dot| &text[dot..]))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{AbsoluteTime, RelativeTime, days_from_date, from_local_clock, local_zone_name};

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
    fn printed_lengths_are_read_back() {
        let mut random = fastrand::Rng::with_seed(1);
        let lengths = std::iter::repeat_with(|| {
            let hundredths = f64::from(random.i32(-999_999_999..999_999_999)) / 100.0;
            if random.bool() { hundredths } else { hundredths * random.f64() }
        });
        for seconds in lengths.take(20_000).chain([102.54, -0.1, 1e15 + 0.5, 1e300, f64::MIN_POSITIVE]) {
            let time = RelativeTime::new(seconds);
            let text = time.to_string();
            assert_eq!(RelativeTime::parse_condor(&text), Some(time), "{text}");
            assert_eq!(RelativeTime::parse_classad(&text), Some(time), "{text}");
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
            let text = RelativeTime::new(seconds).to_string();
            assert_eq!(RelativeTime::parse_condor(&text).map(|time| time.seconds), Some(seconds), "{text}");
        }
    }

    #[test]
    fn absolute_times_read_back() {
        let time = AbsoluteTime::parse_asctime("Mon Jan 11 10:53:31 1999 (CST) -06:00").unwrap();
        assert_eq!(time, AbsoluteTime { seconds: 916_073_611, offset: -21_600 });
        assert_eq!(time.to_string(), "1999-01-11T10:53:31-06:00");
        let named = AbsoluteTime::parse_asctime("Mon Jan 11 10:53:31 1999 (Central Standard Time) -06:00");
        assert_eq!(named, Some(time));
        assert_eq!(AbsoluteTime::parse_asctime("Tue Feb 30 10:53:31 1999 Z"), None);
        for (text, expected) in [
            ("Jan 11 10:53:31 1999 Z", "1999-01-11T10:53:31-00:00"),
            ("mon JAN 1 10:53:31 1999 z", "1999-01-01T10:53:31-00:00"),
            ("Jan 31 23:59:61 1999 +01:30", "1999-02-01T00:00:01+01:30"),
            ("Jan 11 10:53:31 9999 Z", "9999-01-11T10:53:31-00:00"),
            ("Jan 11 10:53:31 10000 Z", ""),
            ("Jan 32 10:53:31 1999 Z", ""),
            ("Jan 0 10:53:31 1999 Z", ""),
            ("Jan 011 10:53:31 1999 Z", ""),
            ("Jan 11 24:53:31 1999 Z", ""),
            ("Jan 11 10:60:31 1999 Z", ""),
            ("Jan 11 10:53:62 1999 Z", ""),
            ("Jan 11 10:53:031 1999 Z", ""),
            ("Jan 11 1999 Z", ""),
            ("Mond Jan 11 10:53:31 1999 Z", ""),
            ("M2n Jan 11 10:53:31 1999 Z", ""),
            ("Mon Mon Jan 11 10:53:31 1999 Z", ""),
            ("Jan 11 10:53:31 1999 X", ""),
            ("Jan 11 10:53:31 1999 Z Z", ""),
            ("Jan 11 10:53:31 1999 )CST( Z", ""),
            ("", ""),
        ] {
            let time = AbsoluteTime::parse_asctime(text);
            assert_eq!(time.map_or(String::new(), |time| time.to_string()), expected, "{text}");
        }
        assert_eq!(AbsoluteTime::parse(&time.to_string()), Some(time));
        let utc = AbsoluteTime { seconds: 3_000_000_000, offset: 0 };
        assert_eq!(utc.to_string(), "2065-01-24T05:20:00-00:00");
        assert_eq!(AbsoluteTime::parse(&utc.to_string()), Some(utc));
    }

    #[test]
    fn the_calendar_is_total() {
        for seconds in [i64::MIN, -1, 0, i64::MAX] {
            let parts = AbsoluteTime { seconds, offset: 0 }.calendar_time(0);
            assert!((1..=12).contains(&parts.month) && (1..=31).contains(&parts.day));
        }
        for extreme in [i64::MIN, i64::MAX] {
            let _ = (days_from_date(extreme, extreme, extreme), from_local_clock(extreme), local_zone_name(extreme));
        }
    }

    #[test]
    fn fractions_read_back() {
        for seconds in [0.1, 1.7, 93_784.000_000_001, 1e-7] {
            let text = RelativeTime::new(seconds).to_string();
            let again = RelativeTime::parse_condor(&text).unwrap();
            assert_eq!(again.seconds.to_bits(), seconds.to_bits(), "{text}");
        }
    }
}
