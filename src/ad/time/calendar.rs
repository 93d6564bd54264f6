//! The proleptic Gregorian calendar and the machine's time zone.
//!
//! The arithmetic is written out here, because it must also hold for years that no library supports.

use std::sync::LazyLock;

use super::{AbsoluteTime, SECONDS_PER_DAY};

/// The local time zone. To look it up costs more than to use it.
static LOCAL_ZONE: LazyLock<jiff::tz::TimeZone> = LazyLock::new(jiff::tz::TimeZone::system);

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarTime {
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
    /// 0 for Sunday to 6 for Saturday.
    pub weekday: i64,
    /// Number of days since January 1: 0 to 365.
    pub day_of_year: i64,
}

/// Returns the number of days from 1970-01-01 to a date of the proleptic Gregorian calendar.  Months and days out of
/// range carry over: month 13 is January of the next year.
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

/// Returns the seconds from 1970-01-01T00:00:00 to a date (year, month, day) and a clock time (hour, minute,
/// second) in the same time zone.
pub fn clock_seconds([year, month, day]: [i64; 3], [hour, minute, second]: [i64; 3]) -> i64 {
    let days = days_from_date(year, month, day).saturating_mul(SECONDS_PER_DAY);
    let of_day = hour.saturating_mul(3600).saturating_add(minute.saturating_mul(60)).saturating_add(second);
    days.saturating_add(of_day)
}

/// Returns year, month and day for a number of days since 1970-01-01.
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

/// Returns the offset of the local time zone from UTC at a moment, in seconds east.  The environment variable `TZ`
/// names the zone; without it, the system's zone counts.
pub fn local_offset(seconds: i64) -> i32 {
    let offset = LOCAL_ZONE.to_offset(clamped_timestamp(seconds)).seconds();
    // Offsets from the years before time zones contain seconds; times are printed with whole minutes.
    offset / 60 * 60
}

/// Converts seconds since 1970 to an absolute time with the offset of the local time zone.
#[must_use]
pub fn in_local_zone(seconds: i64) -> AbsoluteTime {
    AbsoluteTime { seconds, offset: local_offset(seconds) }
}

/// Returns the abbreviation of the local time zone at a moment, such as `CEST`.
pub fn local_zone_name(seconds: i64) -> String {
    let zone = &*LOCAL_ZONE;
    if zone.is_unknown() {
        return "UTC".to_owned();
    }
    zone.to_offset_info(clamped_timestamp(seconds)).abbreviation().to_owned()
}

/// Writes a moment for people: `2026-07-06 21:13:48 CEST`, in the local time zone.
#[must_use]
pub fn local_moment(seconds: i64) -> String {
    let local = in_local_zone(seconds);
    let CalendarTime { year, month, day, hour, minute, second, .. } = local.calendar_time(local.offset);
    let zone = local_zone_name(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} {zone}")
}

/// Writes a moment for programs as ISO 8601 does: `2026-07-06T21:13:48+02:00`, in the local time zone.
#[must_use]
pub fn iso_moment(seconds: i64) -> String {
    let text = in_local_zone(seconds).to_string();
    text.strip_suffix("-00:00").map_or(text.clone(), |utc| format!("{utc}Z"))
}

/// Clamps a moment to the range of the time zone database, the years -9999 to 9999.
fn clamped_timestamp(seconds: i64) -> jiff::Timestamp {
    let known = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    jiff::Timestamp::from_second(known).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Converts local clock time, in seconds after 1970-01-01T00:00:00 local time, to a moment.  When the clocks are put
/// back, a clock time occurs twice: the second occurrence counts, as in HTCondor.
#[must_use]
pub fn from_local_clock(clock: i64) -> AbsoluteTime {
    // The clocks change at most once between the day before and the day after.  If they change, the smaller of the two
    // days' offsets is that of standard time.
    let standard =
        local_offset(clock.saturating_sub(SECONDS_PER_DAY)).min(local_offset(clock.saturating_add(SECONDS_PER_DAY)));
    let offset = local_offset(clock.saturating_sub(i64::from(standard)));
    AbsoluteTime { seconds: clock.saturating_sub(i64::from(offset)), offset }
}

impl AbsoluteTime {
    /// Returns date and time of day of this moment in a zone that is `offset` seconds east of UTC.
    #[must_use]
    pub fn calendar_time(self, offset: i32) -> CalendarTime {
        let clock = self.seconds.saturating_add(i64::from(offset));
        let days = clock.div_euclid(SECONDS_PER_DAY);
        let (year, month, day) = date_from_days(days);
        let of_day = clock.rem_euclid(SECONDS_PER_DAY);
        CalendarTime {
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
}
