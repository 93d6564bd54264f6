//! Times and sizes as HTCondor's tools print them.

use classad::ad::time::{CalendarTime, in_local_zone};

/// Prints write seconds as days, hours, minutes and seconds: `  1+02:03:04`.
pub fn duration(seconds: i64) -> String {
    if seconds < 0 {
        return "[?????]".to_owned();
    }
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{days:3}+{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Prints a time, in seconds since 1970, as month, day, hour and minute in the local time zone: `11/23 00:04`.
pub fn month_and_day(seconds: i64) -> String {
    if seconds < 0 {
        return "    ???    ".to_owned();
    }
    let CalendarTime { month, day, hour, minute, .. } = local(seconds);
    format!("{month:2}/{day:<2} {hour:02}:{minute:02}")
}

/// Prints a time as in the titles of `condor_q`: `11/23/26 00:04:59`.
pub fn title_time(seconds: i64) -> String {
    let CalendarTime { year, month, day, hour, minute, second, .. } = local(seconds);
    format!("{month:02}/{day:02}/{:02} {hour:02}:{minute:02}:{second:02}", year.rem_euclid(100))
}

fn local(seconds: i64) -> CalendarTime {
    let time = in_local_zone(seconds);
    time.calendar_time(time.offset)
}

/// Prints a number of bytes with a unit: `39.6 GB`.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B ", "KB", "MB", "GB", "TB"];
    let (mut value, mut power) = (bytes, 0);
    while value > 1024.0 && power < UNITS.len() - 1 {
        value /= 1024.0;
        power += 1;
    }
    format!("{value:.1} {}", UNITS[power])
}

#[cfg(test)]
mod tests {
    use super::{bytes, duration, month_and_day};

    #[test]
    fn times_and_sizes_are_htcondors() {
        for (seconds, text) in [
            (0, "  0+00:00:00"),
            (24, "  0+00:00:24"),
            (59, "  0+00:00:59"),
            (60, "  0+00:01:00"),
            (3599, "  0+00:59:59"),
            (3600, "  0+01:00:00"),
            (86_399, "  0+23:59:59"),
            (86_400, "  1+00:00:00"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(duration(1000 * 86_400 + 3661), "1000+01:01:01");
        assert_eq!(duration(-1), "[?????]");
        for (number, text) in [(0.0, "0.0 B "), (1024.0, "1024.0 B "), (1025.0, "1.0 KB"), (4.3e10, "40.0 GB")] {
            assert_eq!(bytes(number), text);
        }
        for (power, text) in
            [(2, "1024.0 KB"), (3, "1024.0 MB"), (4, "1024.0 GB"), (5, "1024.0 TB"), (6, "1048576.0 TB")]
        {
            assert_eq!(bytes(1024_f64.powi(power)), text);
        }
        assert_eq!(bytes(1.5 * 1024_f64.powi(4)), "1.5 TB");
        assert_eq!(month_and_day(-1), "    ???    ");
        assert_eq!(month_and_day(0).len(), 11);
        assert_eq!(bytes(1e18), "909494.7 TB");
    }
}
