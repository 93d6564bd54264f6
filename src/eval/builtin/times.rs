//! Functions about times: clock, calendar, parts of times (thesis A.3 to A.7).

mod format;

use crate::ad::time::{CalendarTime, MONTHS, days_from_date, from_local_clock, in_local_zone, month_number};
use crate::ad::{AbsoluteTime, Ad, AdValue, Dialect, Expression, Name, Participant, RelativeTime, ScopeFrame, Value};

use super::conversion::{absolute_from_number, as_c_int, integer_value, local_now, relative_from_number};
use super::{Abort, BuiltinFunction, Call, CallResult};

macro_rules! clock {
    ($name:ident $type:literal, $doc:literal, $call:literal => $value:literal, $body:expr) => {
        function!($name(0, 0) Strict concat!("() -> ", $type),
            $doc,
            both $call => $value,
            $body)
    };
}

/// Table entry of a function that extracts a part of a time, such as `getHours()`. `$absolute` computes the part of an
/// absolute time; `None` if the function rejects absolute times. `$relative` does the same for relative times.
macro_rules! part {
    ($name:ident $of:literal, $doc:literal, $dialect:ident $call:literal => $value:literal, $absolute:expr, $relative:expr) => {
        function!($name(1, 1) Strict concat!("(", $of, ") -> int"),
            $doc,
            $dialect $call => $value,
            |call| part(call, $absolute, $relative))
    };
}

macro_rules! measure {
    ($name:ident, $doc:literal, $replacement:literal, $call:literal => $value:literal, $unit:literal) => {
        function!($name(1, 1) Strict "(time) -> real",
            $doc,
            papers = $replacement, $call => $value,
            |call| measure(call, $unit))
    };
}

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    clock!(time "int", "current time in seconds since 1970",
        "time() > 0" => "true", |call| Ok(integer_value(call, call.evaluator.now()?))),
    clock!(currentTime "abstime", "now",
        "currentTime() == absTime()" => "true", |call| Ok(Value::AbsoluteTime(local_now(call)?))),
    clock!(timeZoneOffset "reltime", "local time minus UTC, as a length of time",
        "isRelTime(timeZoneOffset())" => "true", |call| Ok(relative_seconds(i64::from(local_now(call)?.offset)))),
    clock!(dayTime "reltime", "time since midnight, as a length of time",
        "dayTime() < relTime(\"1+00:00:00\")" => "true", |call| {
        let parts = calendar_parts(local_now(call)?);
        Ok(relative_seconds(parts.hour * 3600 + parts.minute * 60 + parts.second))
    }),
    function!(makeDate(3, 3) Strict "(month, day, year) -> abstime",
        "local midnight at the beginning of a day; the month is a name or a number from 1",
        papers = "absTime(\"2001-02-03\")", "getDayOfYear(makeDate(\"mar\", 1, 2000))" => "60",
        make_date),
    function!(makeAbsTime(1, 1) Strict "(number) -> abstime",
        "convert seconds since 1970 (UTC) to a time",
        papers = "absTime(number)", "makeAbsTime(981173106) == absTime(\"2001-02-03T04:05:06Z\")" => "true",
        |call| call.convert(|call, value| absolute_from_number(call, value, None))),
    function!(makeRelTime(1, 1) Strict "(number) -> reltime",
        "convert a number of seconds to a length of time",
        papers = "relTime(number)", "makeRelTime(93784)" => "relTime(\"1+02:03:04\")",
        |call| call.convert(relative_from_number)),
    part!(getYear "abstime", "year of a time, in local time", both "getYear(absTime(\"2001-02-03\"))" => "2001",
        Some(|time, _| time.year), None),
    part!(getMonth "abstime", "month of a time, in local time: from 0 in the papers' dialect, from 1 in HTCondor's",
        condor "getMonth(absTime(\"2001-02-03\"))" => "2",
        Some(|time, dialect| if dialect.is_condor() { time.month } else { time.month - 1 }), None),
    part!(getDayOfYear "abstime", "day of the year in local time, from 0",
        both "getDayOfYear(absTime(\"2001-02-03\"))" => "33", Some(|time, _| time.day_of_year), None),
    part!(getDayOfMonth "abstime", "day of the month in local time, from 1",
        both "getDayOfMonth(absTime(\"2001-02-03\"))" => "3", Some(|time, _| time.day), None),
    part!(getDayOfWeek "abstime", "day of the week in local time, from 0 for Sunday",
        both "getDayOfWeek(absTime(\"2001-02-03\"))" => "6", Some(|time, _| time.weekday), None),
    part!(getDays "reltime", "whole days of a length of time", both "getDays(relTime(\"1+02:03:04\"))" => "1",
        None, Some(|seconds| seconds / 86_400)),
    part!(getHours "time", "hour of a time, in local time; of a length of time, the hours beyond whole days",
        both "getHours(relTime(\"1+02:03:04\"))" => "2",
        Some(|time, _| time.hour), Some(|seconds| seconds % 86_400 / 3600)),
    part!(getMinutes "time", "minute of a time, in local time; of a length of time, the minutes beyond whole hours",
        both "getMinutes(relTime(\"1+02:03:04\"))" => "3",
        Some(|time, _| time.minute), Some(|seconds| seconds % 3600 / 60)),
    part!(getSeconds "time", "second of a time; of a length of time, the seconds beyond whole minutes",
        both "getSeconds(relTime(\"1+02:03:04\"))" => "4",
        Some(|time, _| time.second), Some(|seconds| seconds % 60)),
    measure!(inDays, "number of days of a length of time, or from 1970 (UTC) to a time",
        "real(time) / 86400", "inDays(relTime(\"1+12:00:00\"))" => "1.5", 86_400.0),
    measure!(inHours, "number of hours of a length of time, or from 1970 (UTC) to a time",
        "real(time) / 3600", "inHours(relTime(\"1+12:00:00\"))" => "36.0", 3_600.0),
    measure!(inMinutes, "number of minutes of a length of time, or from 1970 (UTC) to a time",
        "real(time) / 60", "inMinutes(relTime(\"00:01:30\"))" => "1.5", 60.0),
    measure!(inSeconds, "number of seconds of a length of time, or from 1970 (UTC) to a time",
        "real(time)", "inSeconds(relTime(\"00:01:30\"))" => "90.0", 1.0),
    function!(splitTime(1, 1) Strict "(time | number) -> ad",
        "split a time into an ad with attributes such as Hours",
        both "splitTime(relTime(\"1+02:03:04\")).Hours" => "2",
        split_time),
    function!(formatTime(0, 2) Strict "([time | number | ad [, template]]) -> string",
        "format a time (default: now) or an ad of splitTime() with a template of strftime; a number is a time in \
        seconds since 1970, shown in local time",
        both "formatTime(absTime(\"2001-02-03T04:05:06-06:00\"), \"%d %b %Y, %H:%M\")" => "\"03 Feb 2001, 04:05\"",
        format_time),
];

/// Returns the calendar date and clock time of an absolute time at its own UTC offset.
fn calendar_parts(time: AbsoluteTime) -> CalendarTime {
    time.calendar_time(time.offset)
}

/// Returns a relative time of whole seconds.
#[allow(clippy::cast_precision_loss)] // exact below 2^53
fn relative_seconds(seconds: i64) -> Value {
    Value::RelativeTime(RelativeTime::new(seconds as f64))
}

fn make_date(call: &mut Call<'_, '_>) -> CallResult {
    let [month, day, year] = [call.value(0)?, call.value(1)?, call.value(2)?];
    let number = match &month {
        Value::Integer(number @ 1..=12) => *number,
        Value::Integer(number) => return Ok(call.error(format!("there is no month {number}"))),
        Value::String(name) => {
            month_of_name(&name.to_str()).ok_or_else(|| call.error(format!("\"{}\" is not a month", name.to_str())))?
        }
        other => return Ok(call.type_error(other, "a month")),
    };
    let (day, year) = match (&day, &year) {
        (Value::Integer(day), Value::Integer(year)) => (*day, *year),
        (Value::Integer(_), other) => return Ok(call.type_error(other, "a year")),
        (other, _) => return Ok(call.type_error(other, "a day")),
    };
    let first = days_from_date(year, number, 1);
    let length = days_from_date(year, number + 1, 1).saturating_sub(first);
    let midnight = first.checked_add(day.saturating_sub(1)).and_then(|days| days.checked_mul(86_400));
    Ok(match midnight {
        Some(midnight) if (1..=length).contains(&day) => Value::AbsoluteTime(from_local_clock(midnight)),
        _ => call.error(format!("there is no day {day} in month {number} of {year}")),
    })
}

/// Returns 1 to 12 for the name of a month or its first three letters, ignoring case; `None` for other names.
fn month_of_name(name: &str) -> Option<i64> {
    let is_whole = MONTHS.iter().any(|month| name.eq_ignore_ascii_case(month));
    month_number(if is_whole { &name[..3] } else { name })
}

/// Returns a part of the time in the first argument. `of_absolute` computes the part of an absolute time from its date
/// and clock in the local time zone. `of_relative` computes the part of a relative time from its whole seconds. If one
/// of the two is `None`, times of its kind are an error.
fn part(
    call: &mut Call<'_, '_>,
    of_absolute: Option<fn(&CalendarTime, Dialect) -> i64>,
    of_relative: Option<fn(i64) -> i64>,
) -> CallResult {
    let value = call.value(0)?;
    let number = match (&value, of_absolute, of_relative) {
        // The time is converted to the local UTC offset first, whatever the offset of the value is.
        (Value::AbsoluteTime(time), Some(part), _) => {
            part(&calendar_parts(in_local_zone(time.seconds)), call.dialect())
        }
        #[allow(clippy::cast_possible_truncation)] // `as` saturates
        (Value::RelativeTime(time), _, Some(part)) => part(time.seconds as i64),
        (_, Some(_), Some(_)) => return Ok(call.type_error(&value, "a time")),
        (_, Some(_), None) => return Ok(call.type_error(&value, "an absolute time")),
        (_, None, _) => return Ok(call.type_error(&value, "a relative time")),
    };
    Ok(integer_value(call, number))
}

#[allow(clippy::cast_precision_loss)] // beyond 2^53 seconds the nearest real
fn measure(call: &mut Call<'_, '_>, unit: f64) -> CallResult {
    Ok(match call.value(0)? {
        Value::AbsoluteTime(time) => Value::Real(time.seconds as f64 / unit),
        Value::RelativeTime(time) => Value::Real(time.seconds / unit),
        other => call.type_error(&other, "a time"),
    })
}

/// Returns the absolute time that an absolute time or a number of seconds since 1970 denotes; `None` for other values.
/// A real is converted to a 32-bit integer, as in HTCondor.
fn to_absolute(value: &Value) -> Option<AbsoluteTime> {
    match value {
        Value::AbsoluteTime(time) => Some(*time),
        Value::Integer(seconds) => Some(in_local_zone(*seconds)),
        Value::Real(seconds) => Some(in_local_zone(i64::from(as_c_int(*seconds)))),
        _ => None,
    }
}

fn split_time(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    Ok(match (&value, to_absolute(&value)) {
        (_, Some(time)) => ad_of_absolute(time),
        (Value::RelativeTime(time), _) => ad_of_relative(*time),
        (Value::Undefined, _) => value,
        _ => call.type_error(&value, "a time"),
    })
}

fn ad_of_absolute(time: AbsoluteTime) -> Value {
    let parts = calendar_parts(time);
    root_ad([
        ("Type", Value::string("AbsoluteTime")),
        ("Year", Value::Integer(parts.year)),
        ("Month", Value::Integer(parts.month)),
        ("Day", Value::Integer(parts.day)),
        ("Hours", Value::Integer(parts.hour)),
        ("Minutes", Value::Integer(parts.minute)),
        ("Seconds", Value::Integer(parts.second)),
        ("Offset", Value::Integer(i64::from(time.offset))),
    ])
}

/// Returns an ad with the parts of a relative time. Only the first non-zero part carries the sign.
fn ad_of_relative(time: RelativeTime) -> Value {
    let (mut negative, days, hours, minutes, seconds, fraction) = time.split();
    let mut signed = |part: i64| {
        let signed = if negative { -part } else { part };
        negative &= part == 0;
        Value::Integer(signed)
    };
    let (days, hours, minutes) = (signed(days), signed(hours), signed(minutes));
    let seconds = i32::try_from(seconds).map_or(0.0, f64::from) + fraction;
    root_ad([
        ("Type", Value::string("RelativeTime")),
        ("Days", days),
        ("Hours", hours),
        ("Minutes", minutes),
        ("Seconds", Value::Real(if negative { -seconds } else { seconds })),
    ])
}

/// Returns a value for an ad that no other ad encloses.
fn root_ad<const N: usize>(attributes: [(&str, Value); N]) -> Value {
    let ad: Ad = attributes.into_iter().map(|(name, value)| (Name::new(name), Expression::literal(value))).collect();
    Value::Ad(AdValue { frame: ScopeFrame::root(ad, Participant::REQUEST) })
}

/// Maximum number of bytes that `formatTime()` returns, as in HTCondor.
const MAX_FORMATTED_BYTES: usize = 1022;

fn format_time(call: &mut Call<'_, '_>) -> CallResult {
    let time = match call.arguments.len() {
        0 => calendar_parts(local_now(call)?),
        _ => match call.value(0)? {
            Value::Ad(nested) => calendar_time_of_ad(call, &nested)?,
            value => match to_absolute(&value) {
                Some(time) => calendar_parts(time),
                None => return Ok(call.type_error(&value, "an absolute time, a number or an ad")),
            },
        },
    };
    let template = if call.arguments.len() < 2 { Value::string("%c") } else { call.value(1)? };
    Ok(match template {
        Value::String(template) => Value::string(format::format(&time, template.as_bytes(), MAX_FORMATTED_BYTES)),
        other => call.type_error(&other, "a template"),
    })
}

/// Reads the parts of a time from attributes such as `Year`. The parts may be out of range. An integer is wrapped to 32
/// bits, as in HTCondor; any other value counts as a missing part.
fn calendar_time_of_ad(call: &mut Call<'_, '_>, nested: &AdValue) -> Result<CalendarTime, Abort> {
    let mut part = |name: &str, missing: i64| -> Result<i64, Abort> {
        Ok(match call.evaluator.attribute(&nested.frame, &Name::new(name))? {
            #[allow(clippy::cast_possible_truncation)] // wrapping is intended
            Value::Integer(part) => i64::from(part as i32),
            _ => missing,
        })
    };
    Ok(CalendarTime {
        year: part("Year", 1900)?,
        month: part("Month", 1)?,
        day: part("Day", 0)?,
        hour: part("Hours", 0)?,
        minute: part("Minutes", 0)?,
        second: part("Seconds", 0)?,
        // Nothing reads these zeros: `formatTime()` computes both numbers from the date, as HTCondor does.
        weekday: 0,
        day_of_year: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check_in as check;
    use crate::ad::Dialect;

    #[test]
    fn dates() {
        check(
            Dialect::Classad,
            &[
                ("makeDate(\"February\", 29, 2000) == makeDate(2, 29, 2000)", "true"),
                ("makeDate(2, 29, 2001)", "error"),
                ("makeDate(13, 1, 2001)", "error"),
                ("makeDate(\"fe\", 1, 2001)", "error"),
                ("getHours(makeDate(\"jul\", 4, 2001))", "0"),
            ],
        );
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("getDays(relTime(-93784))", "-1"),
                    ("getHours(relTime(-93784))", "-2"),
                    ("getYear(relTime(5))", "error"),
                    ("getDays(absTime(5))", "error"),
                ],
            );
        }
        check(Dialect::Condor, &[("getYear(undefined)", "error")]);
        check(Dialect::Classad, &[("getMonth(makeDate(2, 3, 2001))", "1"), ("getYear(undefined)", "undefined")]);
    }

    #[test]
    fn the_first_part_has_the_sign() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("splitTime(relTime(-93784.5)).Days", "-1"),
                    ("splitTime(relTime(-93784.5)).Seconds", "4.5"),
                    ("splitTime(relTime(-4000)).Hours", "-1"),
                    ("splitTime(relTime(-4000)).Minutes", "6"),
                    ("splitTime(relTime(-5.25)).Seconds", "-5.25"),
                ],
            );
        }
    }

    #[test]
    fn ads_are_formatted() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    (
                        "formatTime([ Year = 2000; Month = 1 + 1; Day = 3; Hours = \"4\" ], \"%F %T\")",
                        "\"2000-02-03 00:00:00\"",
                    ),
                    ("formatTime(splitTime(absTime(\"2001-02-03T04:05:06-06:00\")))", "\"Sat Feb  3 04:05:06 2001\""),
                    ("formatTime(relTime(5))", "error"),
                    ("formatTime(0, 1)", "error"),
                ],
            );
        }
    }
}
