//! When a clause of a request that reads the clock is true next.

use crate::ad::time::local_moment;
use std::ops::Range;

use crate::ad::{Ad, Expression, Truth};
use crate::constraint::{EXACT_SPAN_SECONDS, MAX_SPAN_SECONDS, truth_timeline, with_moving_clock};
use crate::eval::{ConstraintVerdict, Context, Environment, SpecializeOptions, specialize};
use crate::text::duration;

/// Seconds within which a time is sought first: a week and a day, as days of the week come again.
const WEEK_SECONDS: i64 = 8 * 86_400;

/// When a clause is true next that is not true now of any offer, because it reads the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClauseTime {
    /// The present, in seconds since 1970.
    pub now: i64,
    /// The second from which the clause is true; `None` if it is not within [`MAX_SPAN_SECONDS`].
    pub from: Option<i64>,
    /// The second up to which it is true; `None` if it is true as long as the search looked.
    pub to: Option<i64>,
    /// The second from which it is not true any more, if it is not within reach; `None` if it was not true in the past either.
    pub since: Option<i64>,
    /// Why the job waits for a time, and the time at which it starts; `None` if the clause alone tells.
    pub start: Option<(&'static str, i64)>,
    /// Whether the time is seen in samples.
    pub is_sampled: bool,
}

impl ClauseTime {
    /// Finds the next time at which the clause of an offer accepts a request. `None` if the clause does not read the clock, or
    /// if it accepts the request at no time.
    pub(super) fn of_offer(ads: [&Ad; 2], expression: &Expression, context: &Context) -> Option<Self> {
        Some(ClauseTime::of(context.now?, Some(next_interval(ads, expression, context)?)))
    }

    /// Returns the time of the next interval; that none is in reach without one.
    pub(super) fn of(now: i64, next: Option<NextInterval>) -> Self {
        ClauseTime {
            now,
            from: next.as_ref().map(|next| next.seconds.start),
            to: next.as_ref().filter(|next| !next.is_open).map(|next| next.seconds.end),
            since: None,
            start: None,
            is_sampled: next.is_some_and(|next| next.is_sampled),
        }
    }

    /// Says when the clause is true: `not before 2026-07-06 21:13:48 UTC, in 23 h 54 min`.
    #[must_use]
    pub fn phrase(&self) -> String {
        let Some(from) = self.from else {
            if let Some(since) = self.since {
                return format!("not any more since {}, {} ago", local_moment(since), duration(self.now - since));
            }
            return format!("not within {}", duration(MAX_SPAN_SECONDS));
        };
        if from <= self.now {
            return "true by now, as the clocks of the slots go on".to_owned();
        }
        let about = if self.is_sampled { "about " } else { "" };
        let to = self.to.map_or_else(String::new, |to| format!(", up to {}", local_moment(to)));
        format!("not before {about}{}, in {}{to}", local_moment(from), duration(from - self.now))
    }

    /// Says why the job waits; `None` if the clause alone tells.
    pub(super) fn start_phrase(&self) -> Option<String> {
        let (kind, start) = self.start?;
        let passed = if start <= self.now { ", which has passed" } else { "" };
        Some(format!("it starts at {} ({kind}){passed}", local_moment(start)))
    }

    /// Says that the time at which the job starts has passed, and since when the clause is not true; `None` if it has not.
    pub(super) fn passed_phrase(&self) -> Option<String> {
        let (kind, start) = self.start.filter(|(_, start)| self.from.is_none() && *start <= self.now)?;
        let since = self.since?;
        let ago = duration(self.now - since);
        let start = local_moment(start);
        Some(format!("its time to start ({kind}) was {start}, up to {}, {ago} ago", local_moment(since)))
    }

    /// Says when a clause comes true that no offer meets now. `shown` is its quoted text.
    pub(super) fn unmet_phrase(&self, shown: &str) -> String {
        if let Some(passed) = self.passed_phrase() {
            return passed;
        }
        match (self.start_phrase(), self.from) {
            (_, Some(from)) if from <= self.now => format!("{shown} is {}", self.phrase()),
            (Some(why), Some(_)) => format!("{}: {why}", self.phrase()),
            (_, Some(_)) => format!("{}: {shown} is not true yet", self.phrase()),
            (_, None) => format!("{}: {shown} is not true", self.phrase()),
        }
    }

    /// Says when the clause of an offer accepts a request: `from 2026-07-06 18:00:00 UTC on, in 3 h`.
    pub(super) fn opening(&self) -> Option<String> {
        let from = self.from?;
        if from <= self.now {
            return Some("by now, as the clock of the slot goes on".to_owned());
        }
        let about = if self.is_sampled { "about " } else { "" };
        let to = self.to.map_or_else(|| " on".to_owned(), |to| format!(" to {}", local_moment(to)));
        Some(format!("from {about}{}{to}, in {}", local_moment(from), duration(from - self.now)))
    }

    /// Says until when to wait; `None` if that time does not come.
    pub(super) fn remedy(&self) -> Option<String> {
        if let (None, Some((_, start))) = (self.from, self.start)
            && start <= self.now
        {
            return Some(
                "set a later DeferralTime, or a DeferralWindow that reaches from it to the present".to_owned(),
            );
        }
        if self.from.is_some_and(|from| from <= self.now) {
            return Some("wait for the next ad of the slot".to_owned());
        }
        self.from.map(|from| format!("wait until {}, in {}", local_moment(from), duration(from - self.now)))
    }
}

/// Returns the second from which an expression of the first of two ads is not true any more; `None` if it was not true within
/// [`MAX_SPAN_SECONDS`] before.
pub(super) fn true_until(ads: [&Ad; 2], expression: &Expression, context: &Context) -> Option<i64> {
    let now = context.now?;
    let (environment, [frame, _]) = Environment::pair(ads[0].clone(), ads[1].clone());
    [WEEK_SECONDS, MAX_SPAN_SECONDS].into_iter().find_map(|length| {
        let found = truth_timeline(expression, &frame, &environment, context, now.saturating_sub(length)..now);
        found.seconds_in(|truth| *truth == Some(Truth::True)).last().map(|seconds| seconds.end)
    })
}

/// Returns what is found first in a span of so many seconds. What is seen in samples of a long span, or not at all, is sought
/// once more in one of which each second can be tried.
pub(super) fn soonest<T>(find: impl Fn(i64) -> Option<T>, is_sampled: impl Fn(&T) -> bool) -> Option<T> {
    // Bounds that come within a week are exact more often than those of a year.
    let found = [WEEK_SECONDS, MAX_SPAN_SECONDS].into_iter().find_map(&find);
    if found.as_ref().is_none_or(is_sampled) { find(EXACT_SPAN_SECONDS).or(found) } else { found }
}

/// The next interval in which something is true.
pub(super) struct NextInterval {
    pub(super) seconds: Range<i64>,
    /// Whether the search looked no further than the end.
    is_open: bool,
    is_sampled: bool,
}

/// Returns the next interval in which an expression of the first of two ads is true. `None` if it does not read the clock, or
/// is not true within [`MAX_SPAN_SECONDS`].
pub(super) fn next_interval(ads: [&Ad; 2], expression: &Expression, context: &Context) -> Option<NextInterval> {
    let now = context.now?;
    let [own, partner] = ads.map(|ad| with_moving_clock(ad, context).unwrap_or_else(|| ad.clone()));
    let (environment, [frame, _]) = Environment::pair(own, partner);
    let timeless = Context { now: None, random: None, ..context.clone() };
    let found = specialize(expression, &frame, &environment, &timeless, SpecializeOptions::default());
    if found.value.is_some() || found.verdict == ConstraintVerdict::Never {
        return None;
    }
    let find = |length: i64| {
        let span = now..now.saturating_add(length);
        let found = truth_timeline(expression, &frame, &environment, context, span);
        // It may be true by now of a slot whose ad was made earlier.
        let next = found.seconds_in(|truth| *truth == Some(Truth::True)).find(|seconds| seconds.end > now)?;
        let is_open = Some(next.end) == found.end();
        let seconds = next.start.max(now)..next.end;
        Some(NextInterval { seconds, is_open, is_sampled: found.sampling.is_some() })
    };
    soonest(find, |next| next.is_sampled)
}

#[cfg(test)]
mod tests {
    use super::{ClauseTime, NextInterval};
    use crate::ad::time::local_moment;

    #[test]
    fn what_is_true_from_the_present_on_is_true_by_now() {
        let (by_now, wait) = ("true by now, as the clocks of the slots go on", "wait for the next ad of the slot");
        for (from, phrase, opening, remedy) in [
            (999, by_now, "by now, as the clock of the slot goes on", wait),
            (1000, by_now, "by now, as the clock of the slot goes on", wait),
            (1001, "not before FROM, in 1 s, up to TO", "from FROM to TO, in 1 s", "wait until FROM, in 1 s"),
        ] {
            let next = NextInterval { seconds: from..1300, is_open: false, is_sampled: false };
            let time = ClauseTime::of(1000, Some(next));
            let plain = |text: String| text.replace(&local_moment(from), "FROM").replace(&local_moment(1300), "TO");
            assert_eq!(plain(time.phrase()), phrase, "{from}");
            assert_eq!(time.opening().map(plain).as_deref(), Some(opening), "{from}");
            assert_eq!(time.remedy().map(plain).as_deref(), Some(remedy), "{from}");
        }
    }

    #[test]
    fn times_to_start_are_told() {
        let never = "not within 366 days: `x` is not true";
        for (from, since, start, unmet, remedy) in [
            (None, None, None, never, None),
            (None, Some(900), None, "not any more since SINCE, 1 min 40 s ago: `x` is not true", None),
            (
                Some(1000),
                None,
                None,
                "`x` is true by now, as the clocks of the slots go on",
                Some("wait for the next ad of the slot"),
            ),
            (Some(1001), None, None, "not before FROM, in 1 s: `x` is not true yet", Some("wait until FROM, in 1 s")),
            (
                Some(1001),
                None,
                Some(1001),
                "not before FROM, in 1 s: it starts at FROM (deferral)",
                Some("wait until FROM, in 1 s"),
            ),
            (
                Some(1001),
                None,
                Some(1000),
                "not before FROM, in 1 s: it starts at NOW (deferral), which has passed",
                Some("wait until FROM, in 1 s"),
            ),
            (
                None,
                Some(900),
                Some(1000),
                "its time to start (deferral) was NOW, up to SINCE, 1 min 40 s ago",
                Some("set a later DeferralTime, or a DeferralWindow that reaches from it to the present"),
            ),
            (None, Some(900), Some(1001), "not any more since SINCE, 1 min 40 s ago: `x` is not true", None),
            (
                None,
                None,
                Some(1000),
                never,
                Some("set a later DeferralTime, or a DeferralWindow that reaches from it to the present"),
            ),
        ] {
            let start = start.map(|start| ("deferral", start));
            let time = ClauseTime { now: 1000, from, to: None, since, start, is_sampled: false };
            let moments = [(1001, "FROM"), (1000, "NOW"), (900, "SINCE")];
            let plain =
                |text: String| moments.iter().fold(text, |text, (at, word)| text.replace(&local_moment(*at), word));
            assert_eq!(plain(time.unmet_phrase("`x`")), unmet, "{time:?}");
            assert_eq!(time.remedy().map(plain).as_deref(), remedy, "{time:?}");
        }
        let sampled = ClauseTime { is_sampled: true, ..ClauseTime::of(1000, None) };
        let sampled = ClauseTime { from: Some(1001), ..sampled };
        let plain = |text: String| text.replace(&local_moment(1001), "FROM");
        assert_eq!(plain(sampled.phrase()), "not before about FROM, in 1 s");
        assert_eq!(plain(sampled.opening().unwrap()), "from about FROM on, in 1 s");
        assert_eq!(ClauseTime::of(1000, None).opening(), None);
    }
}
