//! C's `strftime` in the C locale, with the flags and widths of the GNU library.

use crate::ad::AbsoluteTime;
use crate::ad::time::{CalendarTime, MONTHS, clock_seconds, from_local_clock, local_zone_name};

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Returns the number of a day, counted from 1 for the first of January of year 1. The day is in the year of `time`.
/// `month` may be out of range: months before January and after December have 30 or 31 days, as in HTCondor.
fn day_number(time: &CalendarTime, month: i64, day: i64) -> i64 {
    let before = time.year - 1;
    let short_february = match month {
        ..=2 => 0,
        _ if is_leap(time.year) => 1,
        _ => 2,
    };
    365 * before + before / 4 - before / 100 + before / 400 + (367 * month - 362) / 12 - short_february + day
}

/// Returns the day of the week from 0, which is Sunday, to 6.
fn weekday(time: &CalendarTime) -> i64 {
    day_number(time, time.month, time.day) % 7
}

/// Returns the day of the year, from 0 for the first of January.
fn day_of_year(time: &CalendarTime) -> i64 {
    day_number(time, time.month, time.day) - day_number(time, 1, 1)
}

/// Converts an hour from 0 to 23 to the hour on a 12-hour clock, from 1 to 12.
fn hour_of_twelve(hour: i64) -> i64 {
    match hour {
        0 => 12,
        13.. => hour - 12,
        hour => hour,
    }
}

/// Returns the ISO 8601 year and week number, which are those of the week's Thursday.
fn iso_week(time: &CalendarTime) -> (i64, i64) {
    let length = |year| if is_leap(year) { 366 } else { 365 };
    let thursday = day_of_year(time) - (weekday(time) + 6) % 7 + 3;
    let (year, thursday) = if thursday < 0 {
        (time.year - 1, thursday + length(time.year - 1))
    } else if thursday >= length(time.year) {
        (time.year + 1, thursday - length(time.year))
    } else {
        (time.year, thursday)
    };
    (year, thursday / 7 + 1)
}

/// Returns the number of the week in the year if weeks begin on the weekday `first`, 0 for Sunday. The days before the
/// first such weekday are in week 0.
fn week_from(first: i64, time: &CalendarTime) -> i64 {
    (day_of_year(time) - (weekday(time) - first + 7) % 7 + 7) / 7
}

/// Returns the absolute time that is this date and clock time in the local time zone.
fn to_absolute(time: &CalendarTime) -> AbsoluteTime {
    from_local_clock(clock_seconds([time.year, time.month, time.day], [time.hour, time.minute, time.second]))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Formats a time by a template. The text is cut off after `most` bytes. The parts of the time may be out of range. The
/// weekday and the day of the year are computed from the date, as HTCondor does.
pub(super) fn format(time: &CalendarTime, template: &[u8], most: usize) -> Vec<u8> {
    let mut writer = TimeFormatter { time, out: Vec::new(), max_bytes: most };
    writer.template(template);
    writer.out
}

/// Letter case of a formatted text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterCase {
    AsItIs,
    Upper,
    Lower,
}

/// Conversion specification `%...` of a template.
#[derive(Clone, Copy, Default)]
struct FormatDirective<'t> {
    /// The whole specification, as it is written.
    text: &'t [u8],
    /// Padding flag: `_` for blanks, `-` for none, `0` for zeros. `None` if the padding is the usual one of the
    /// conversion letter.
    padding: Option<u8>,
    /// Flag `^`: upper case.
    upper: bool,
    /// Flag `#`: swapped case, such as `am` for `AM`.
    swapped: bool,
    width: usize,
    /// Modifier `E` or `O`, which changes nothing in the C locale.
    modifier: Option<u8>,
    /// Conversion letter, such as `Y`; `None` if the template ends before it.
    letter: Option<u8>,
}

impl<'t> FormatDirective<'t> {
    /// Reads the conversion specification at the beginning of a template, which must begin with `%`.
    fn read(template: &'t [u8]) -> Self {
        let mut directive = FormatDirective::default();
        let mut bytes = template[1..].iter().copied().peekable();
        while let Some(flag) = bytes.next_if(|byte| b"_-0^#".contains(byte)) {
            match flag {
                b'^' => directive.upper = true,
                b'#' => directive.swapped = true,
                padding => directive.padding = Some(padding),
            }
        }
        while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
            directive.width = directive.width.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        }
        directive.modifier = bytes.next_if(|byte| b"EO".contains(byte));
        directive.letter = bytes.next();
        directive.text = &template[..template.len() - bytes.len()];
        directive
    }

    /// Returns the letter case of a text to which the flag `#` does not apply.
    fn case(self) -> LetterCase {
        if self.upper { LetterCase::Upper } else { LetterCase::AsItIs }
    }

    /// Returns the letter case of the name of a day or a month. The flag `#` turns it into capitals, as `^` does.
    fn case_of_name(self) -> LetterCase {
        if self.swapped { LetterCase::Upper } else { self.case() }
    }

    /// Returns the letter case of a text that is usually in capitals, such as `AM`. The flag `#` turns it into lower
    /// case.
    fn case_of_capitals(self) -> LetterCase {
        if self.swapped { LetterCase::Lower } else { self.case() }
    }

    /// Whether `strftime` defines the conversion letter with the modifier, such as `%Ey`.
    fn is_known(self) -> bool {
        let Some(letter) = self.letter else { return false };
        match self.modifier {
            None => b"%aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ".contains(&letter),
            Some(b'E') => b"%cCnpPrRstTuxXyYzZ".contains(&letter),
            Some(_) => b"%bBCdegGhHIjklmMnpPrRsStTuUVwWyzZ".contains(&letter),
        }
    }
}

struct TimeFormatter<'c> {
    time: &'c CalendarTime,
    out: Vec<u8>,
    max_bytes: usize,
}

impl TimeFormatter<'_> {
    fn template(&mut self, template: &[u8]) {
        let mut rest = template;
        while !rest.is_empty() && self.out.len() < self.max_bytes {
            let (literal, after) = rest.split_at(memchr::memchr(b'%', rest).unwrap_or(rest.len()));
            self.write(literal);
            rest = after;
            if !rest.is_empty() {
                let directive = FormatDirective::read(rest);
                self.directive(directive);
                rest = &rest[directive.text.len()..];
            }
        }
    }

    fn directive(&mut self, directive: FormatDirective<'_>) {
        if !directive.is_known() {
            return self.put(directive.text, directive, directive.case());
        }
        let time = self.time;
        match directive.letter.unwrap_or_default() {
            b'a' => self.name(&WEEKDAYS, weekday(time), Some(3), directive),
            b'A' => self.name(&WEEKDAYS, weekday(time), None, directive),
            b'b' | b'h' => self.name(&MONTHS, time.month - 1, Some(3), directive),
            b'B' => self.name(&MONTHS, time.month - 1, None, directive),
            b'c' => self.write_template("%a %b %e %H:%M:%S %Y", directive),
            b'D' | b'x' => self.write_template("%m/%d/%y", directive),
            b'F' => self.write_template("%Y-%m-%d", directive),
            b'r' => self.write_template("%I:%M:%S %p", directive),
            b'R' => self.write_template("%H:%M", directive),
            b'T' | b'X' => self.write_template("%H:%M:%S", directive),
            b'C' => self.number(time.year.div_euclid(100), 1, directive),
            b'd' => self.number(time.day, 2, directive),
            b'e' => self.spaced_number(time.day, directive),
            b'g' => self.number(iso_week(time).0.rem_euclid(100), 2, directive),
            b'G' => self.number(iso_week(time).0, 1, directive),
            b'H' => self.number(time.hour, 2, directive),
            b'I' => self.number(hour_of_twelve(time.hour), 2, directive),
            b'j' => self.number(day_of_year(time) + 1, 3, directive),
            b'k' => self.spaced_number(time.hour, directive),
            b'l' => self.spaced_number(hour_of_twelve(time.hour), directive),
            b'm' => self.number(time.month, 2, directive),
            b'M' => self.number(time.minute, 2, directive),
            b'p' => self.put(self.half_of_day(), directive, directive.case_of_capitals()),
            b'P' => self.put(self.half_of_day(), directive, LetterCase::Lower),
            b's' => self.put(to_absolute(time).seconds.to_string().as_bytes(), directive, LetterCase::AsItIs),
            b'S' => self.number(time.second, 2, directive),
            b'u' => self.number((weekday(time) + 6) % 7 + 1, 1, directive),
            b'U' => self.number(week_from(0, time), 2, directive),
            b'V' => self.number(iso_week(time).1, 2, directive),
            b'w' => self.number(weekday(time), 1, directive),
            b'W' => self.number(week_from(1, time), 2, directive),
            b'y' => self.number(time.year.rem_euclid(100), 2, directive),
            b'Y' => self.number(time.year, 1, directive),
            b'z' => self.offset(directive),
            b'Z' => {
                let name = local_zone_name(to_absolute(time).seconds);
                self.put(name.as_bytes(), directive, directive.case_of_capitals());
            }
            b'n' => self.put(b"\n", directive, LetterCase::AsItIs),
            b't' => self.put(b"\t", directive, LetterCase::AsItIs),
            _ => self.put(b"%", directive, LetterCase::AsItIs),
        }
    }

    fn half_of_day(&self) -> &'static [u8] {
        if self.time.hour > 11 { b"PM" } else { b"AM" }
    }

    /// Appends the name of a day or a month, or its first `letters` letters. `number` is a 0-based index into `names`;
    /// for any other number the name is `?`.
    fn name(&mut self, names: &[&str], number: i64, letters: Option<usize>, directive: FormatDirective<'_>) {
        let name = usize::try_from(number).ok().and_then(|number| names.get(number));
        let name = name.map_or("?", |name| letters.and_then(|letters| name.get(..letters)).unwrap_or(name));
        self.put(name.as_bytes(), directive, directive.case_of_name());
    }

    /// Appends the time as another template formats it.
    fn write_template(&mut self, template: &str, directive: FormatDirective<'_>) {
        let text = format(self.time, template.as_bytes(), self.max_bytes);
        self.put(&text, directive, directive.case());
    }

    /// Appends a number that is padded to two characters, with blanks unless the directive says otherwise.
    fn spaced_number(&mut self, number: i64, directive: FormatDirective<'_>) {
        self.number(number, 2, FormatDirective { padding: directive.padding.or(Some(b'_')), ..directive });
    }

    /// Appends a number, padded on the left to `digits` characters or to the width of the directive if the width is
    /// larger. With the flag `-` only the width counts.
    fn number(&mut self, number: i64, digits: usize, directive: FormatDirective<'_>) {
        let sign = if number < 0 { "-" } else { "" };
        let magnitude = number.unsigned_abs().to_string();
        // The formatted text is cut off after `max_bytes`, so longer padding is not needed.
        let length = digits.max(directive.width).min(self.max_bytes);
        let missing = length.saturating_sub(sign.len() + magnitude.len());
        let text = match directive.padding {
            Some(b'-') => format!("{sign}{magnitude}"),
            Some(b'_') => format!("{}{sign}{magnitude}", " ".repeat(missing)),
            _ => format!("{sign}{}{magnitude}", "0".repeat(missing)),
        };
        self.put(text.as_bytes(), directive, LetterCase::AsItIs);
    }

    /// Appends the local offset from UTC, `+hhmm`.
    fn offset(&mut self, directive: FormatDirective<'_>) {
        let offset = i64::from(to_absolute(self.time).offset);
        self.put(if offset < 0 { b"-" } else { b"+" }, directive, LetterCase::AsItIs);
        let minutes = offset.abs() / 60;
        self.number(minutes / 60 * 100 + minutes % 60, 4, directive);
    }

    /// Appends a text in the given letter case, padded on the left to the width of the directive.
    fn put(&mut self, text: &[u8], directive: FormatDirective<'_>, case: LetterCase) {
        let padding = if directive.padding == Some(b'0') { b'0' } else { b' ' };
        let room = self.max_bytes.saturating_sub(self.out.len());
        let missing = directive.width.saturating_sub(text.len()).min(room);
        self.out.resize(self.out.len() + missing, padding);
        match case {
            LetterCase::AsItIs => self.write(text),
            LetterCase::Upper => self.write(&text.to_ascii_uppercase()),
            LetterCase::Lower => self.write(&text.to_ascii_lowercase()),
        }
    }

    fn write(&mut self, text: &[u8]) {
        let room = self.max_bytes.saturating_sub(self.out.len());
        self.out.extend_from_slice(text.get(..room).unwrap_or(text));
    }
}

#[cfg(test)]
mod tests {
    use super::format;
    use crate::ad::time::CalendarTime;

    fn date(year: i64, month: i64, day: i64) -> CalendarTime {
        CalendarTime { year, month, day, hour: 0, minute: 0, second: 0, weekday: 0, day_of_year: 0 }
    }

    fn text(template: &str) -> String {
        let time = CalendarTime { hour: 14, minute: 5, second: 6, ..date(2001, 2, 3) };
        String::from_utf8(format(&time, template.as_bytes(), 1022)).expect("only ASCII is made")
    }

    #[test]
    fn every_directive() {
        for (template, expected) in [
            ("%a %A %b %B %h", "Sat Saturday Feb February Feb"),
            (
                "%c|%D|%F|%r|%R|%T|%x|%X",
                "Sat Feb  3 14:05:06 2001|02/03/01|2001-02-03|02:05:06 PM|14:05|14:05:06|02/03/01|14:05:06",
            ),
            ("%C %y %Y %g %G %m %d %e %j", "20 01 2001 01 2001 02 03  3 034"),
            ("%H %I %k %l %M %S %p %P", "14 02 14  2 05 06 PM pm"),
            ("%u %w %U %V %W", "6 6 04 05 05"),
            ("%n%t%%", "\n\t%"),
            ("é %Q %", "é %Q %"),
        ] {
            assert_eq!(text(template), expected, "{template}");
        }
    }

    #[test]
    fn negative_years_are_padded_behind_their_sign() {
        let time = date(-1199, 2, 3);
        for (template, expected) in [
            ("%Y|%5Y|%06Y|%_8Y|%8Y|%-8Y", "-1199|-1199|-01199|   -1199|-0001199|   -1199"),
            ("%8G|%8C|%_8C", "-0001199|-0000012|     -12"),
        ] {
            assert_eq!(String::from_utf8(format(&time, template.as_bytes(), 1022)).unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn flags_widths_and_modifiers() {
        for (template, expected) in [
            ("%_d|%-d|%5d|%_5d|%-5d|%05e", " 3|3|00003|    3|    3|00003"),
            ("%10a|%010a|%^a|%#a|%#p|%^B", "       Sat|0000000Sat|SAT|SAT|pm|FEBRUARY"),
            ("%10D|%010D|%^c", "  02/03/01|0002/03/01|SAT FEB  3 14:05:06 2001"),
            ("%EY|%Od|%Ed|%OY|%E", "2001|03|%Ed|%OY|%E"),
        ] {
            assert_eq!(text(template), expected, "{template}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(text("%99999999999999999999Y").len(), 1022);
        assert_eq!(text(&"%Y".repeat(500)).len(), 1022);
        assert_eq!(text(&"%c".repeat(500)).len(), 1022);
    }

    #[test]
    fn weeks_of_iso_8601() {
        for (year, month, day, week) in [(2004, 12, 31, "2004-53"), (2005, 1, 1, "2004-53"), (2008, 12, 29, "2009-01")]
        {
            assert_eq!(format(&date(year, month, day), b"%G-%V", 1022), week.as_bytes(), "{year}-{month}-{day}");
        }
    }
}
