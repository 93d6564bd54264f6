//! When a request and the offers of a pool accept each other, over a span of time.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ad::Ad;
use crate::constraint::{ClockBreaks, Timeline, TimelineInterval, with_moving_clock};
use crate::eval::{Context, Environment};
use crate::matching::{Pair, PairSide};
use crate::protocol::Protocol;

/// When a request and one offer accept each other.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferTimes {
    /// The index of the offer.
    pub offer: usize,
    /// The intervals, in seconds since 1970.
    pub seconds: Vec<Range<i64>>,
}

/// When a request and offers accept each other.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchTimes {
    /// The offers that match at some time: those that match first come first, and of these those that match longest.
    pub offers: Vec<OfferTimes>,
    /// The number of offers that match.
    pub counts: Timeline<usize>,
}

impl MatchTimes {
    /// Finds the times within a span. Each offer takes one evaluation for each time at which the clock changes something.
    #[must_use]
    pub fn of<'a>(
        request: &Ad,
        offers: impl IntoIterator<Item = &'a Ad>,
        protocol: &Protocol,
        context: &Context,
        span: Range<i64>,
    ) -> Self {
        let (mut found, mut end, mut sampling) = (Vec::new(), span.end, None);
        for (offer, ad) in offers.into_iter().enumerate() {
            let times = pair_times([request, ad], protocol, context, span.clone());
            end = end.min(times.end().unwrap_or(span.end));
            sampling = sampling.max(times.sampling);
            let seconds: Vec<Range<i64>> = times.seconds_in(|is| *is).cloned().collect();
            if !seconds.is_empty() {
                found.push(OfferTimes { offer, seconds });
            }
        }
        for times in &mut found {
            times.seconds.retain_mut(|seconds| {
                seconds.end = seconds.end.min(end);
                seconds.start < seconds.end
            });
        }
        found.retain(|times| !times.seconds.is_empty());
        let length = |times: &OfferTimes| times.seconds.iter().map(|seconds| seconds.end - seconds.start).sum::<i64>();
        found.sort_by_key(|times| (times.seconds[0].start, -length(times)));
        MatchTimes { counts: counts(&found, span.start..end, sampling), offers: found }
    }
}

/// Returns when two ads accept each other.
fn pair_times(ads: [&Ad; 2], protocol: &Protocol, context: &Context, span: Range<i64>) -> Timeline<bool> {
    let [request, offer] = ads.map(|ad| with_moving_clock(ad, context).unwrap_or_else(|| ad.clone()));
    let (environment, frames) = Environment::pair(request.clone(), offer.clone());
    let breaks = frames.iter().map(|frame| {
        let constraint = protocol.constraint_expression(&frame.ad)?;
        Some(ClockBreaks::of(constraint, frame, &environment, context, span.clone()))
    });
    // An ad without a constraint accepts nothing.
    let breaks = breaks.reduce(|one, other| Some(one?.and(other?))).flatten();
    let Some(breaks) = breaks else { return Timeline { intervals: Vec::new(), sampling: None } };
    breaks.timeline(|seconds| {
        let at = Context { now: Some(seconds.start), random: None, ..context.clone() };
        let pair = Pair::new(request.clone(), offer.clone(), protocol.clone(), at);
        let accept = [PairSide::Request, PairSide::Offer].into_iter().all(|side| pair.accepts(side).unwrap_or(false));
        (!context.is_interrupted()).then_some(accept)
    })
}

/// Returns how many of the offers match.
fn counts(offers: &[OfferTimes], span: Range<i64>, sampling: Option<i64>) -> Timeline<usize> {
    let mut changes: BTreeMap<i64, [usize; 2]> = BTreeMap::from([(span.start, [0, 0]), (span.end, [0, 0])]);
    for seconds in offers.iter().flat_map(|times| &times.seconds) {
        changes.entry(seconds.start).or_default()[0] += 1;
        changes.entry(seconds.end).or_default()[1] += 1;
    }
    let (mut count, mut intervals) = (0, Vec::<TimelineInterval<usize>>::new());
    let ends = changes.keys().skip(1);
    for ((start, [more, fewer]), end) in changes.iter().zip(ends) {
        count = count + more - fewer;
        match intervals.last_mut() {
            Some(last) if last.value == count => last.seconds.end = *end,
            _ => intervals.push(TimelineInterval { seconds: *start..*end, value: count }),
        }
    }
    Timeline { intervals, sampling }
}

#[cfg(test)]
mod tests {
    use super::MatchTimes;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    /// Says when a request matches, with the number of offers: `0-100 2`.
    fn told(request: &str, offers: &[&str]) -> (String, Vec<usize>) {
        let ad = |text: &str| parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let context = Context { now: Some(0), ..Context::new(Dialect::Condor) };
        let offers: Vec<_> = offers.iter().map(|text| ad(text)).collect();
        let times = MatchTimes::of(&ad(request), &offers, &Protocol::new(Dialect::Condor), &context, 0..1000);
        let counts = times.counts.intervals.iter();
        let counts: Vec<_> = counts.map(|of| format!("{}-{} {}", of.seconds.start, of.seconds.end, of.value)).collect();
        (counts.join(", "), times.offers.iter().map(|times| times.offer).collect())
    }

    #[test]
    fn requests_match_while_both_sides_accept() {
        let anything = "Requirements = true";
        let early = "Requirements = time() < 300";
        let late = "Requirements = time() >= 100 && time() < 600";
        for (request, offers, counts, order) in [
            (anything, &[anything, early, late][..], "0-100 2, 100-300 3, 300-600 2, 600-1000 1", vec![0, 1, 2]),
            (anything, &[early, anything], "0-300 2, 300-1000 1", vec![1, 0]),
            ("Requirements = time() > 199", &[early, late], "0-200 0, 200-300 2, 300-600 1, 600-1000 0", vec![1, 0]),
            (early, &["Requirements = TARGET.Cpus > 1"], "0-1000 0", vec![]),
            (anything, &["Memory = 1"], "0-1000 0", vec![]),
            (anything, &[], "0-1000 0", vec![]),
            (
                "Requirements = TARGET.Memory > 1; Cpus = 2",
                &["Requirements = TARGET.Cpus > 1; Memory = time()"],
                "0-2 0, 2-1000 1",
                vec![0],
            ),
        ] {
            assert_eq!(told(request, offers), (counts.to_owned(), order), "{request} {offers:?}");
        }
    }
}
