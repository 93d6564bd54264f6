//! The fields of times, such as the hour: at which seconds they may change.

use std::ops::Range;

use crate::ad::time::in_local_zone;
use crate::ad::{Expression, Name, Value};

/// How a field changes between the seconds at which it may jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldChange {
    /// It stays as it is, as an hour does.
    Stays,
    /// It counts seconds.
    Counts,
}

/// A field of a time.
#[derive(Clone, Copy, Debug)]
pub struct CalendarField {
    pub change: FieldChange,
    /// The field jumps only at multiples of this number of seconds in local time.
    pub grain: i64,
}

/// Seconds of which the time zones' offsets from UTC are multiples today.
pub const ZONE_GRAIN: i64 = 900;

/// Seconds of a minute.
pub const MINUTE: i64 = 60;

/// The conversions of `formatTime()` that no part of a day changes, and those that change each hour or minute.
const CONVERSIONS: [(&str, i64); 2] = [("aAbBCdDeFgGhHIjklmnpPtuUVwWxyYzZ%", ZONE_GRAIN), ("MR", MINUTE)];

impl CalendarField {
    const SLOW: CalendarField = CalendarField { change: FieldChange::Stays, grain: ZONE_GRAIN };
    const MINUTES: CalendarField = CalendarField { change: FieldChange::Stays, grain: MINUTE };
    const SECONDS: CalendarField = CalendarField { change: FieldChange::Counts, grain: MINUTE };
    const TIME_OF_DAY: CalendarField = CalendarField { change: FieldChange::Counts, grain: ZONE_GRAIN };

    /// Returns the field that a call gives; `None` if it gives none.
    pub fn of_call(name: &Name, arguments: &[Expression]) -> Option<Self> {
        const SLOW: [&str; 7] =
            ["getYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDayOfWeek", "getDays", "getHours"];
        match arguments {
            [] if name.is("dayTime") => Some(Self::TIME_OF_DAY),
            [] if name.is("timeZoneOffset") => Some(Self::SLOW),
            [_] if name.is("getMinutes") => Some(Self::MINUTES),
            [_] if name.is("getSeconds") => Some(Self::SECONDS),
            [_] => SLOW.iter().any(|known| name.is(known)).then_some(Self::SLOW),
            [_, template] if name.is("formatTime") => match template.as_literal() {
                Some(Value::String(template)) => Self::of_template(&template.to_str()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the field that a template of `formatTime()` shows; `None` if it shows seconds.
    fn of_template(template: &str) -> Option<Self> {
        let mut letters = template.chars();
        let mut grain = ZONE_GRAIN;
        while let Some(letter) = letters.next() {
            if letter == '%' {
                let conversion = letters.next()?;
                grain = CONVERSIONS.iter().find(|(known, _)| known.contains(conversion))?.1.min(grain);
            }
        }
        Some(CalendarField { change: FieldChange::Stays, grain })
    }

    /// Returns the field of an ad that `splitTime()` gives.
    pub fn of_split_time(name: &Name) -> Self {
        match name {
            name if name.is("Minutes") => Self::MINUTES,
            name if name.is("Seconds") => Self::SECONDS,
            _ => Self::SLOW,
        }
    }

    /// Returns the field with the grain that the offset of a time from UTC needs; `None` if it has seconds.
    pub fn with_offset(self, offset: i32) -> Option<Self> {
        match i64::from(offset) {
            offset if offset % self.grain == 0 => Some(self),
            offset => (offset % MINUTE == 0).then_some(CalendarField { grain: MINUTE, ..self }),
        }
    }

    /// Returns the seconds of a piece, its first left out, at which the field may jump. `ahead` has the seconds by which
    /// the time is ahead of the clock. `None` if these are more than `most`.
    pub fn candidates(self, piece: &Range<i64>, ahead: i64, most: usize) -> Option<Vec<i64>> {
        let [first, last] = [piece.start, piece.end - 1].map(|second| second.checked_add(ahead));
        let (first, last) = (first?, last?);
        let offset = |time: i64| in_local_zone(time).offset;
        let grain = [first, last].into_iter().try_fold(self, |field, time| field.with_offset(offset(time)))?.grain;
        let multiples = last.div_euclid(grain) - first.div_euclid(grain);
        if usize::try_from(multiples).map_or(true, |multiples| multiples > most) {
            return None;
        }
        let mut found = Vec::new();
        let mut before = first;
        let ends = (1..=multiples).map(|number| (first.div_euclid(grain) + number) * grain).chain([last]);
        for time in ends {
            // The clocks are changed at most once between two multiples.
            if offset(before) != offset(time) {
                let (mut early, mut late) = (before, time);
                while late - early > 1 {
                    let middle = early + (late - early) / 2;
                    if offset(middle) == offset(before) { early = middle } else { late = middle }
                }
                found.push(late);
            }
            found.push(time);
            // A negative length of time is cut off towards zero.
            found.extend((time < 0).then_some(time + 1));
            before = time;
        }
        found.retain(|time| (first + 1..=last).contains(time));
        found.dedup();
        Some(found.into_iter().map(|time| time - ahead).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{CalendarField, MINUTE, ZONE_GRAIN};

    #[test]
    fn an_offset_from_utc_refines_the_grain() {
        for (field, offset, expected) in [
            (CalendarField::SLOW, 0, Some(ZONE_GRAIN)),
            (CalendarField::SLOW, -19_800, Some(ZONE_GRAIN)),
            (CalendarField::SLOW, 420, Some(MINUTE)),
            (CalendarField::MINUTES, 420, Some(MINUTE)),
            (CalendarField::SLOW, 421, None),
            (CalendarField::SECONDS, -1, None),
        ] {
            let found = field.with_offset(offset);
            assert_eq!(found.map(|field| field.grain), expected, "{offset}");
            assert!(found.is_none_or(|found| found.change == field.change));
        }
    }
}
