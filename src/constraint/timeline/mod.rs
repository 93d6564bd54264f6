//! When something is true: how the value of an expression changes with the clock.
//!
//! The structure of the expression tells at which seconds its value may change: where a comparison of the clock with a
//! constant turns, where a remainder begins anew, where a local hour or day begins. The evaluator tells the values
//! between them, so that its word alone counts. What has no such structure, as the text of a time, is sampled.

mod calendar_fields;
mod clock_attributes;
mod curve;
mod operations;
mod solver;

use std::ops::Range;
use std::sync::Arc;

use crate::ad::{Expression, ScopeFrame, Truth};
use crate::eval::{Context, Environment, Evaluator};

pub use clock_attributes::{CLOCK_TIMES, is_clock_attribute, with_moving_clock};
use solver::{MAX_SAMPLES, Solver};

/// Maximum number of seconds that a timeline covers: a leap year.
pub const MAX_SPAN_SECONDS: i64 = 366 * 86_400;

/// Maximum number of seconds of which each is tried, so that no expression is sampled.
pub const EXACT_SPAN_SECONDS: i64 = MAX_SAMPLES;

/// The seconds of which the calendar knows the dates: those of the years 1 to 9999.
const CALENDAR: Range<i64> = -62_135_596_800..253_402_300_800;

/// A stretch of time in which something stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineInterval<T> {
    /// The seconds since 1970, from the first up to the second after the last.
    pub seconds: Range<i64>,
    /// What it is.
    pub value: T,
}

/// What something is over a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline<T> {
    /// The intervals in order. They adjoin, and two that adjoin differ.
    pub intervals: Vec<TimelineInterval<T>>,
    /// Seconds between two samples; `None` if the bounds of the intervals are exact.
    pub sampling: Option<i64>,
}

impl<T> Timeline<T> {
    /// The second up to which the search looked.
    #[must_use]
    pub fn end(&self) -> Option<i64> {
        self.intervals.last().map(|interval| interval.seconds.end)
    }

    /// The intervals with a value for which `is` holds.
    pub fn seconds_in(&self, is: impl Fn(&T) -> bool) -> impl Iterator<Item = &Range<i64>> {
        self.intervals.iter().filter(move |interval| is(&interval.value)).map(|interval| &interval.seconds)
    }
}

/// The seconds at which the truth of expressions may change within a span of time.
#[derive(Clone, Debug)]
pub struct ClockBreaks {
    /// The beginnings of the stretches without a change; empty for an empty span.
    starts: Vec<i64>,
    end: i64,
    sampling: Option<i64>,
}

impl ClockBreaks {
    /// Finds the breaks of an expression. The part of the span that the calendar does not know is left out, and what is
    /// longer than [`MAX_SPAN_SECONDS`].
    #[must_use]
    pub fn of(
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
        environment: &Environment,
        context: &Context,
        span: Range<i64>,
    ) -> Self {
        let start = span.start.clamp(CALENDAR.start, CALENDAR.end);
        let end = span.end.clamp(start, CALENDAR.end).min(start.saturating_add(MAX_SPAN_SECONDS));
        if start >= end {
            return ClockBreaks { starts: Vec::new(), end, sampling: None };
        }
        let mut solver = Solver::new(environment, context, start..end);
        let mut starts = solver.breaks(expression, frame);
        starts.retain(|start| *start < solver.end);
        ClockBreaks { starts, end: solver.end, sampling: solver.sampling() }
    }

    /// Returns the breaks of these and of other expressions in the same span.
    #[must_use]
    pub fn and(mut self, other: ClockBreaks) -> Self {
        let end = self.end.min(other.end);
        self.starts.extend(other.starts);
        self.starts.retain(|start| *start < end);
        self.starts.sort_unstable();
        self.starts.dedup();
        ClockBreaks { starts: self.starts, end, sampling: self.sampling.max(other.sampling) }
    }

    /// Returns what something is between the breaks. `value` tells what it is from the first to the last of these
    /// seconds; `None` ends the search there.
    pub fn timeline<T: PartialEq>(&self, mut value: impl FnMut(Range<i64>) -> Option<T>) -> Timeline<T> {
        let mut intervals: Vec<TimelineInterval<T>> = Vec::new();
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        for (start, end) in self.starts.iter().copied().zip(ends) {
            let Some(value) = value(start..end) else { break };
            match intervals.last_mut() {
                Some(last) if last.value == value => last.seconds.end = end,
                _ => intervals.push(TimelineInterval { seconds: start..end, value }),
            }
        }
        Timeline { intervals, sampling: self.sampling }
    }
}

/// Returns when an expression has which truth value. `None` stands for a truth that depends on what is unknown: an ad, or
/// random numbers.
#[must_use]
pub fn truth_timeline(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
    span: Range<i64>,
) -> Timeline<Option<Truth>> {
    let breaks = ClockBreaks::of(expression, frame, environment, context, span);
    breaks.timeline(|seconds| {
        let at = Context { now: Some(seconds.start), random: None, ..context.clone() };
        let value = Evaluator::new(environment, &at).evaluate(expression, frame).ok();
        (!context.is_interrupted()).then(|| value.map(|value| Truth::of(&value, context.dialect)))
    })
}

#[cfg(test)]
mod tests;
