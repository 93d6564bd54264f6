//! The attributes of a slot that its startd sets by its clock.

use crate::ad::time::in_local_zone;
use crate::ad::{Ad, Name, Value};
use crate::syntax::{ParseOptions, parse_expression};

use crate::eval::Context;

/// The attributes that a startd sets by its local clock: minutes since midnight, and the day of the week from 0 for
/// Sunday.
const CLOCK_ATTRIBUTES: [&str; 2] = ["ClockMin", "ClockDay"];

/// The attributes that tell when the ad of a slot was made, and so at which time `ClockMin` was what it is.
pub const CLOCK_TIMES: [&str; 2] = ["MyCurrentTime", "LastHeardFrom"];

const MINUTES_PER_DAY: i64 = 1440;

/// Minutes of which the difference of two zones is a multiple.
const ZONE_STEP: i64 = 15;

/// Maximum age in minutes of `ClockMin` in an ad: the usual time between two updates of a slot.
const MAX_AGE: i64 = 5;

/// Returns the ad of a slot with `ClockMin` and `ClockDay` as functions of the clock, in the time zone of the slot as its ad
/// tells it. `None` if the ad has no number in these.
#[must_use]
pub fn with_moving_clock(ad: &Ad, context: &Context) -> Option<Ad> {
    let number = |name: &str| match ad.get_str(name)?.as_literal() {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let [minute, day] = CLOCK_ATTRIBUTES.map(number);
    if minute.is_none() && day.is_none() {
        return None;
    }
    let told = CLOCK_TIMES.into_iter().find_map(number).or(context.now)?;
    let shift = minute.map_or(0, |minute| zone_shift(minute, told)) * 60;
    let texts = [
        format!("(int(dayTime()) + {}) / 60 % {MINUTES_PER_DAY}", shift + MINUTES_PER_DAY * 60),
        format!("getDayOfWeek(absTime(time() + {shift}))"),
    ];
    let mut moving = ad.clone();
    for ((name, text), told) in CLOCK_ATTRIBUTES.into_iter().zip(texts).zip([minute, day]) {
        let parsed = parse_expression(text.as_bytes(), ParseOptions::new(context.dialect));
        if let (Some(_), Ok(expression)) = (told, parsed) {
            moving = moving.with(Name::new(name), expression);
        }
    }
    Some(moving)
}

/// Returns how many minutes the clock of a slot is ahead of the local clock, whose `ClockMin` was `minute` at a time.
fn zone_shift(minute: i64, told: i64) -> i64 {
    let local = in_local_zone(told);
    let of_day = (local.seconds.saturating_add(i64::from(local.offset))).div_euclid(60).rem_euclid(MINUTES_PER_DAY);
    let half = MINUTES_PER_DAY / 2;
    let ahead = (minute - of_day + half).rem_euclid(MINUTES_PER_DAY) - half;
    let zones = (ahead + ZONE_STEP / 2).div_euclid(ZONE_STEP) * ZONE_STEP;
    if (ahead - zones).abs() <= MAX_AGE { zones } else { ahead }
}

/// Whether a name is one of the clock attributes of slots.
#[must_use]
pub fn is_clock_attribute(name: &Name) -> bool {
    CLOCK_ATTRIBUTES.into_iter().any(|known| name.is(known))
}

#[cfg(test)]
mod tests {
    use super::zone_shift;

    #[test]
    fn the_zone_of_a_slot() {
        let local = crate::ad::time::in_local_zone(1_783_286_388);
        let minute = (local.seconds + i64::from(local.offset)).rem_euclid(86_400) / 60;
        for (ahead, shift) in
            [(0, 0), (-4, 0), (4, 0), (-5, 0), (-6, -6), (60, 60), (57, 60), (-303, -300), (720, -720)]
        {
            assert_eq!(zone_shift((minute + ahead).rem_euclid(1440), local.seconds), shift, "{ahead}");
        }
    }
}
