//! Parsers of times: the papers' literals, and the strings of `absTime("...")` and `relTime("...")`.

use super::calendar::{clock_seconds, days_from_date, from_local_clock};
use super::{AbsoluteTime, RelativeTime};

/// Names of the months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl AbsoluteTime {
    /// Parses the string of `absTime("...")` as HTCondor does, such as `2001-02-03T04:05:06-06:00`; `None` for a text
    /// of another form.
    ///
    /// The year has four digits, or as many as begin four characters: the year of `99-01-01` is 99.  Month, day, hour, minute and second have two digits each, with any other characters
    /// between them.  The offset at the end is `Z`, `+hhmm` or `+hh:mm`; a time without an offset is local time.
    /// Numbers out of range carry over.  A missing month or day is 1, a missing hour, minute or second is 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<AbsoluteTime> {
        if let Some(time) = parse_expanded(text) {
            return Some(time);
        }
        let (body, offset) = split_offset(text);
        let mut rest = body.as_bytes();
        skip_to_digit(&mut rest);
        let (year, after) = rest.split_at_checked(4)?;
        let year = leading_number(year);
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
            None => from_local_clock(clock),
        })
    }

    /// Parses the papers' literal `Mon Jan 11 10:53:31 1999 (CST) -06:00`; `None` for any other text.  Only the
    /// numeric offset counts; the names of the day and of the zone are ignored and may be missing.
    #[must_use]
    pub fn parse_asctime(text: &str) -> Option<AbsoluteTime> {
        // The zone's name in parentheses may have several words, so it is removed before the text is split into words.
        let without_zone = match (text.find('('), text.rfind(')')) {
            (Some(open), Some(close)) if open < close => format!("{} {}", &text[..open], &text[close + 1..]),
            _ => text.to_owned(),
        };
        let mut words: Vec<&str> = without_zone.split_ascii_whitespace().collect();
        if words.first().is_some_and(|w| w.len() == 3 && month_number(w).is_none() && is_alphabetic(w)) {
            words.remove(0);
        }
        let [month, day, clock, year, rest @ ..] = words.as_slice() else { return None };
        let month = month_number(month)?;
        let day: i64 = parse_digits(day, 2)?;
        let year: i64 = parse_digits(year, 4)?;
        let (hour, minute, second) = split_clock(clock)?;
        let [hour, minute, second] = [hour, minute, second].map(|part| parse_digits(part, 2));
        let (hour, minute, second) = (hour?, minute?, second?);
        let days_in_month = days_from_date(year, month + 1, 1) - days_from_date(year, month, 1);
        if !(1..=days_in_month).contains(&day) || hour > 23 || minute > 59 || second > 61 {
            return None;
        }
        let clock = clock_seconds([year, month, day], [hour, minute, second]);
        let offset = match rest {
            [] => return Some(from_local_clock(clock)),
            [zone] if zone.eq_ignore_ascii_case("z") => 0,
            [zone] => match split_offset(zone) {
                ("", Some(offset)) => offset,
                _ => return None,
            },
            _ => return None,
        };
        Some(AbsoluteTime { seconds: clock - i64::from(offset), offset })
    }
}

/// Splits `hh:mm:ss` or `hh:mm` into hours, minutes and seconds; missing seconds are `0`.  `None` if the text has no
/// colon.
fn split_clock(text: &str) -> Option<(&str, &str, &str)> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    Some((hours, minutes, seconds))
}

/// Parses a printed time with an unusual year or offset, such as `12001-02-03T04:05:06-06:00`.  An unusual year is
/// negative or does not have four digits; an unusual offset has 100 hours or more.  `None` for any other text.
fn parse_expanded(text: &str) -> Option<AbsoluteTime> {
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
    // A printed year has at most 12 digits: 2^63 seconds are fewer than 10^12 years.
    let year = parse_digits(year, 12)?;
    let year = if negative { -year } else { year };
    let [month, day, hour, minute, second, minutes] =
        [month, day, hour, minute, second, minutes].map(|part| parse_digits(part, 2));
    let clock = clock_seconds([year, month?, day?], [hour?, minute?, second?]);
    let offset_size = i32::try_from(parse_digits(hours, 6)? * 3600 + minutes? * 60).ok()?;
    let offset = if offset.starts_with('-') { -offset_size } else { offset_size };
    Some(AbsoluteTime { seconds: clock.saturating_sub(i64::from(offset)), offset })
}

/// Splits the offset off the end of a time.  Returns the text before it and the offset in seconds east of UTC, `None`
/// if the time has no offset.
fn split_offset(text: &str) -> (&str, Option<i32>) {
    let trimmed = text.trim_end_matches(is_blank);
    if let Some(body) = trimmed.strip_suffix(['z', 'Z'])
        && !body.is_empty()
    {
        return (body, Some(0));
    }
    // HTCondor does not recognize a numeric offset followed by blanks, so the blanks are not trimmed here.
    for length in [5, 6] {
        let Some(at) = text.len().checked_sub(length) else { break };
        let (Some(body), Some(tail)) = (text.get(..at), text.get(at..)) else { continue };
        let Some(size) = tail.strip_prefix(['+', '-']) else { continue };
        let halves = if length == 6 { size.split_once(':') } else { size.split_at_checked(2) };
        let Some((hours, minutes)) = halves else { continue };
        if hours.len() == 2
            && let (Some(hours), Some(minutes)) = (parse_digits(hours, 2), parse_digits(minutes, 2))
        {
            let size = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0);
            return (body, Some(if tail.starts_with('-') { -size } else { size }));
        }
    }
    (text, None)
}

/// Whether C's `isspace` accepts a character.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn skip_to_digit(rest: &mut &[u8]) {
    let digit = rest.iter().position(u8::is_ascii_digit).unwrap_or(rest.len());
    *rest = rest.get(digit..).unwrap_or_default();
}

/// Skips to the next digit and takes two bytes.  Returns the number that their leading digits form: 12 for `12`, 1 for
/// `1:`.  `None` if fewer than two bytes are left.
fn two_digits(rest: &mut &[u8]) -> Option<i64> {
    skip_to_digit(rest);
    let (pair, after) = rest.split_at_checked(2)?;
    *rest = after;
    Some(leading_number(pair))
}

/// Returns the number that the digits at the beginning of a text form; 0 if there are none.
fn leading_number(text: &[u8]) -> i64 {
    text.iter().take_while(|byte| byte.is_ascii_digit()).fold(0, |number, byte| number * 10 + i64::from(byte - b'0'))
}

fn parse_digits(text: &str, most: usize) -> Option<i64> {
    (!text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn is_alphabetic(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Returns 1 to 12 for the three-letter name of a month, ignoring case; `None` for any other word.
pub fn month_number(word: &str) -> Option<i64> {
    let position = MONTHS.iter().position(|month| word.eq_ignore_ascii_case(&month[..3]))?;
    i64::try_from(position + 1).ok()
}

impl RelativeTime {
    /// Parses the papers' literal `[-][Nd]H:M[:S]`, such as `8:00` for eight hours; `None` for any other text.  The
    /// seconds may have a fraction.
    #[must_use]
    pub fn parse_clock(text: &str) -> Option<RelativeTime> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (days, clock) = text.split_once(['d', 'D']).unwrap_or(("0", text));
        let (hours, minutes, seconds) = split_clock(clock)?;
        for digits in [days, hours, minutes] {
            parse_digits(digits, 9)?;
        }
        let rounded = parse_decimal(seconds)?;
        let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        // Only seconds beyond 64 bits have no exact sum. Beside them the other parts do not count.
        let parts = [(days, 86_400), (hours, 3_600), (minutes, 60), (seconds, 1)];
        Some(with_sign(negative, exact_seconds(parts, fraction).unwrap_or(rounded)))
    }

    /// Parses the string of HTCondor's `relTime("...")`: `[-][d+][[hh:]mm:]ss[.f]`, such as `8:00` for eight minutes;
    /// `None` for any other text.
    ///
    /// As in HTCondor, the letters `d`, `h`, `m` and `s` may replace the separators, as in `1h30m`, and any part may be
    /// missing.
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
        (rest.trim_end_matches(is_blank).is_empty() && length.is_finite()).then(|| with_sign(negative, length))
    }

    /// Parses the string of `relTime("...")` in the papers' dialect: the papers' literal, in which `+` may replace `d`,
    /// or else HTCondor's string.  `None` for any other text.
    #[must_use]
    pub fn parse_classad(text: &str) -> Option<RelativeTime> {
        let clock = text.trim();
        RelativeTime::parse_clock(clock)
            .or_else(|| RelativeTime::parse_clock(&clock.replacen('+', "d", 1)))
            .or_else(|| RelativeTime::parse_condor(text))
    }
}

fn with_sign(negative: bool, seconds: f64) -> RelativeTime {
    // A negative zero would be the same length as zero, so it is avoided.
    RelativeTime::new(if negative && seconds != 0.0 { -seconds } else { seconds })
}

/// Splits the digits off the end of `rest` and returns them; empty if there are none.
fn take_number<'t>(rest: &mut &'t str) -> &'t str {
    let before = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = rest.get(before.len()..).unwrap_or_default();
    *rest = before;
    digits
}

/// Splits a number and its unit off the end of `rest` and returns the digits; empty if the unit is missing.  `unit`
/// holds the characters that may denote the unit.
fn take_part<'t>(rest: &mut &'t str, unit: [char; 3]) -> &'t str {
    let Some(before) = rest.strip_suffix(unit) else { return "" };
    *rest = before.trim_end_matches(is_blank);
    let digits = take_number(rest);
    *rest = rest.trim_end_matches(is_blank);
    digits
}

/// Returns the sum, in seconds, of the parts and a fraction of a second.  A part is a number of units and the length of
/// the unit in seconds: `("2", 60)` is two minutes.  Only the exact sum is rounded to a real.  `None` if the whole
/// seconds exceed 64 bits.
fn exact_seconds(parts: [(&str, u64); 4], fraction: &str) -> Option<f64> {
    let mut total: u64 = 0;
    for (digits, unit) in parts {
        let count: u64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        total = total.checked_add(count.checked_mul(unit)?)?;
    }
    format!("{total}.{fraction}").parse().ok()
}

/// Returns the sum of the parts of [`exact_seconds`], computed in reals.  Used for sums beyond 64 bits: rounding loses
/// the fraction of a second in such a sum, so the function takes no fraction.
#[allow(clippy::cast_precision_loss)] // the units are small
fn nearest_seconds(parts: [(&str, u64); 4]) -> f64 {
    parts.into_iter().map(|(digits, unit)| digits.parse().unwrap_or(0.0) * unit as f64).sum()
}

fn parse_decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (plain && text.bytes().any(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}
