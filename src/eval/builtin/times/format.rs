//! C's `strftime` in the C locale, with the flags and widths of the GNU library.

use crate::ad::time::{clock_seconds, from_local_clock, local_zone_name};

pub(super) const MONTHS: [&str; 12] = [
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
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Broken-down time, like C's `struct tm`. Every part may be out of range.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrokenDownTime {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl BrokenDownTime {
    /// Returns the number of a day, counted from year 1. Months out of range count with an average length, as in
    /// HTCondor.
    fn day_number(self, month: i64, day: i64) -> i64 {
        let before = self.year - 1;
        let short_february = match month {
            ..=2 => 0,
            _ if is_leap(self.year) => 1,
            _ => 2,
        };
        365 * before + before / 4 - before / 100 + before / 400 + (367 * month - 362) / 12 - short_february + day
    }

    /// Returns the day of the week; 0 is Sunday.
    fn weekday(self) -> i64 {
        self.day_number(self.month, self.day) % 7
    }

    /// Returns the day of the year; 0 is the first of January.
    fn day_of_year(self) -> i64 {
        self.day_number(self.month, self.day) - self.day_number(1, 1)
    }

    /// Returns the hour on a 12-hour clock.
    fn hour_of_twelve(self) -> i64 {
        match self.hour {
            0 => 12,
            13.. => self.hour - 12,
            hour => hour,
        }
    }

    /// Returns the ISO 8601 year and week number, which the Thursday of the week determines.
    fn iso_week(self) -> (i64, i64) {
        let length = |year| if is_leap(year) { 366 } else { 365 };
        let thursday = self.day_of_year() - (self.weekday() + 6) % 7 + 3;
        let (year, thursday) = if thursday < 0 {
            (self.year - 1, thursday + length(self.year - 1))
        } else if thursday >= length(self.year) {
            (self.year + 1, thursday - length(self.year))
        } else {
            (self.year, thursday)
        };
        (year, thursday / 7 + 1)
    }

    /// Returns the number of the week, if weeks begin on this weekday.
    fn week_from(self, weekday: i64) -> i64 {
        (self.day_of_year() - (self.weekday() - weekday + 7) % 7 + 7) / 7
    }

    /// Returns the absolute time in the local time zone.
    fn to_absolute(self) -> crate::ad::AbsoluteTime {
        from_local_clock(clock_seconds([self.year, self.month, self.day], [self.hour, self.minute, self.second]))
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Formats a time by a template, cut off after `most` bytes.
pub(super) fn format(clock: BrokenDownTime, template: &[u8], most: usize) -> Vec<u8> {
    let mut writer = TimeFormatter { clock, out: Vec::new(), max_bytes: most };
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
#[derive(Clone, Copy)]
struct FormatDirective<'t> {
    /// The whole specification, as it is written.
    text: &'t [u8],
    /// Flag `_`, `-` or `0`.
    padding: Option<u8>,
    /// Flag `^`: upper case.
    upper: bool,
    /// Flag `#`: swapped case.
    swapped: bool,
    width: usize,
    /// Modifier `E` or `O`.
    modifier: Option<u8>,
    /// Conversion letter; `None` at the end of the template.
    letter: Option<u8>,
}

impl<'t> FormatDirective<'t> {
    /// Reads the specification at the beginning of a template.
    fn read(template: &'t [u8]) -> Self {
        let mut directive = FormatDirective {
            text: template,
            padding: None,
            upper: false,
            swapped: false,
            width: 0,
            modifier: None,
            letter: None,
        };
        let mut at = 1;
        let byte = |at: usize| template.get(at).copied();
        while let Some(flag) = byte(at).filter(|b| b"_-0^#".contains(b)) {
            match flag {
                b'^' => directive.upper = true,
                b'#' => directive.swapped = true,
                padding => directive.padding = Some(padding),
            }
            at += 1;
        }
        while let Some(digit) = byte(at).filter(u8::is_ascii_digit) {
            directive.width = directive.width.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            at += 1;
        }
        directive.modifier = byte(at).filter(|b| b"EO".contains(b));
        at += usize::from(directive.modifier.is_some());
        directive.letter = byte(at);
        at += usize::from(directive.letter.is_some());
        directive.text = template.get(..at).unwrap_or(template);
        directive
    }

    /// Returns the case of ordinary texts.
    fn case(self) -> LetterCase {
        if self.upper { LetterCase::Upper } else { LetterCase::AsItIs }
    }

    /// Returns the case of names, which `#` turns into capitals as well.
    fn case_of_name(self) -> LetterCase {
        if self.swapped { LetterCase::Upper } else { self.case() }
    }

    /// Returns the case of texts in capitals, which `#` turns into lower case.
    fn case_of_capitals(self) -> LetterCase {
        if self.swapped { LetterCase::Lower } else { self.case() }
    }

    /// Whether `strftime` defines this combination of modifier and letter.
    fn is_known(self) -> bool {
        let Some(letter) = self.letter else { return false };
        match self.modifier {
            None => b"%aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ".contains(&letter),
            Some(b'E') => b"%cCnpPrRstTuxXyYzZ".contains(&letter),
            Some(_) => b"%bBCdegGhHIjklmMnpPrRsStTuUVwWyzZ".contains(&letter),
        }
    }
}

struct TimeFormatter {
    clock: BrokenDownTime,
    out: Vec<u8>,
    max_bytes: usize,
}

impl TimeFormatter {
    fn template(&mut self, template: &[u8]) {
        let mut rest = template;
        while !rest.is_empty() && self.out.len() < self.max_bytes {
            let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            let (text, after) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
            self.write(text);
            rest = after;
            if !rest.is_empty() {
                let directive = FormatDirective::read(rest);
                self.directive(directive);
                rest = rest.get(directive.text.len()..).unwrap_or_default();
            }
        }
    }

    fn directive(&mut self, directive: FormatDirective<'_>) {
        if !directive.is_known() {
            return self.put(directive.text, directive, directive.case());
        }
        let clock = self.clock;
        match directive.letter.unwrap_or_default() {
            b'a' => self.name(&WEEKDAYS, clock.weekday(), Some(3), directive),
            b'A' => self.name(&WEEKDAYS, clock.weekday(), None, directive),
            b'b' | b'h' => self.name(&MONTHS, clock.month - 1, Some(3), directive),
            b'B' => self.name(&MONTHS, clock.month - 1, None, directive),
            b'c' => self.write_template("%a %b %e %H:%M:%S %Y", directive),
            b'D' | b'x' => self.write_template("%m/%d/%y", directive),
            b'F' => self.write_template("%Y-%m-%d", directive),
            b'r' => self.write_template("%I:%M:%S %p", directive),
            b'R' => self.write_template("%H:%M", directive),
            b'T' | b'X' => self.write_template("%H:%M:%S", directive),
            b'C' => self.number(clock.year.div_euclid(100), 1, directive),
            b'd' => self.number(clock.day, 2, directive),
            b'e' => self.spaced_number(clock.day, directive),
            b'g' => self.number(clock.iso_week().0.rem_euclid(100), 2, directive),
            b'G' => self.number(clock.iso_week().0, 1, directive),
            b'H' => self.number(clock.hour, 2, directive),
            b'I' => self.number(clock.hour_of_twelve(), 2, directive),
            b'j' => self.number(clock.day_of_year() + 1, 3, directive),
            b'k' => self.spaced_number(clock.hour, directive),
            b'l' => self.spaced_number(clock.hour_of_twelve(), directive),
            b'm' => self.number(clock.month, 2, directive),
            b'M' => self.number(clock.minute, 2, directive),
            b'p' => self.put(self.half_of_day(), directive, directive.case_of_capitals()),
            b'P' => self.put(self.half_of_day(), directive, LetterCase::Lower),
            b's' => self.put(clock.to_absolute().seconds.to_string().as_bytes(), directive, LetterCase::AsItIs),
            b'S' => self.number(clock.second, 2, directive),
            b'u' => self.number((clock.weekday() + 6) % 7 + 1, 1, directive),
            b'U' => self.number(clock.week_from(0), 2, directive),
            b'V' => self.number(clock.iso_week().1, 2, directive),
            b'w' => self.number(clock.weekday(), 1, directive),
            b'W' => self.number(clock.week_from(1), 2, directive),
            b'y' => self.number(clock.year.rem_euclid(100), 2, directive),
            b'Y' => self.number(clock.year, 1, directive),
            b'z' => self.offset(directive),
            b'Z' => {
                let name = local_zone_name(clock.to_absolute().seconds);
                self.put(name.as_bytes(), directive, directive.case_of_capitals());
            }
            b'n' => self.put(b"\n", directive, LetterCase::AsItIs),
            b't' => self.put(b"\t", directive, LetterCase::AsItIs),
            _ => self.put(b"%", directive, LetterCase::AsItIs),
        }
    }

    fn half_of_day(&self) -> &'static [u8] {
        if self.clock.hour > 11 { b"PM" } else { b"AM" }
    }

    /// Appends the name of a day or a month, or its first `letters` letters.
    fn name(&mut self, names: &[&str], number: i64, letters: Option<usize>, directive: FormatDirective<'_>) {
        let name = usize::try_from(number).ok().and_then(|number| names.get(number));
        let name = name.map_or("?", |name| letters.and_then(|letters| name.get(..letters)).unwrap_or(name));
        self.put(name.as_bytes(), directive, directive.case_of_name());
    }

    /// Appends the text of another template.
    fn write_template(&mut self, template: &str, directive: FormatDirective<'_>) {
        let text = format(self.clock, template.as_bytes(), self.max_bytes);
        self.put(&text, directive, directive.case());
    }

    /// Appends a number that is padded with blanks by default.
    fn spaced_number(&mut self, number: i64, directive: FormatDirective<'_>) {
        self.number(number, 2, FormatDirective { padding: directive.padding.or(Some(b'_')), ..directive });
    }

    /// Appends a number with at least `digits` digits, or with the width of the directive.
    fn number(&mut self, number: i64, digits: usize, directive: FormatDirective<'_>) {
        let mut text = Vec::new();
        if number < 0 {
            text.push(b'-');
        }
        let magnitude = number.unsigned_abs().to_string();
        // Padding beyond the maximum length is never needed.
        let missing = digits.max(directive.width).min(self.max_bytes).saturating_sub(text.len() + magnitude.len());
        match directive.padding {
            Some(b'-') => {}
            Some(b'_') => {
                text.splice(0..0, std::iter::repeat_n(b' ', missing));
            }
            _ => text.resize(text.len() + missing, b'0'),
        }
        text.extend_from_slice(magnitude.as_bytes());
        self.put(&text, directive, LetterCase::AsItIs);
    }

    /// Appends the local offset from UTC, `+hhmm`.
    fn offset(&mut self, directive: FormatDirective<'_>) {
        let offset = i64::from(self.clock.to_absolute().offset);
        self.put(if offset < 0 { b"-" } else { b"+" }, directive, LetterCase::AsItIs);
        let minutes = offset.abs() / 60;
        self.number(minutes / 60 * 100 + minutes % 60, 4, directive);
    }

    /// Appends a text in this case, padded on the left to the width.
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
    use super::{BrokenDownTime, format};

    fn text(template: &str) -> String {
        let clock = BrokenDownTime { year: 2001, month: 2, day: 3, hour: 14, minute: 5, second: 6 };
        String::from_utf8(format(clock, template.as_bytes(), 1022)).expect("only ASCII is made")
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
            let clock = BrokenDownTime { year, month, day, hour: 0, minute: 0, second: 0 };
            assert_eq!(format(clock, b"%G-%V", 1022), week.as_bytes(), "{year}-{month}-{day}");
        }
    }
}
