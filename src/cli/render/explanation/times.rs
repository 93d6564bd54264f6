//! When jobs and slots accept each other, in words, as rows and as JSON.

use std::ops::Range;

use classad::ad::time::{iso_moment, local_moment};
use classad::explain::{AdNames, MatchTimes, OfferTimes};
use classad::text::{counted, duration, with_commas};
use serde_json::{Value as Json, json};

use super::case::ExplanationInput;
use crate::cli::render::rows::TableCell;
use crate::cli::render::table::TableLayout;
use crate::cli::session::Session;

/// The name of the JSON schema.
pub const TIMES_SCHEMA: &str = "classad.explain.times/1";

/// The columns of the rows: those of a job, with the number of slots that match, and behind them those of its best slots.
pub const TIME_COLUMNS: [&str; 7] = ["request", "slot", "from", "from_time", "to", "to_time", "slots"];

/// Maximum number of intervals of a slot that a line names.
const MAX_NAMED_INTERVALS: usize = 3;

/// Equivalent jobs, and when they match which slots.
pub struct TimesGroup {
    /// The jobs, by index.
    pub group: Vec<usize>,
    pub times: MatchTimes,
}

/// Writes when jobs and slots accept each other.
pub struct TimesWriter<'c> {
    pub case: &'c ExplanationInput<'c>,
    /// The time of the evaluations, in seconds since 1970.
    pub now: i64,
    /// Number of slots that count.
    pub slots: usize,
    /// Maximum number of slots that are listed for a job.
    pub most_listed: usize,
}

impl TimesWriter<'_> {
    /// Says when a group matches: `7.0 matches none of 40 slots now, and 14 from 2026-07-06 18:00:00 UTC on, in 3 h`.
    pub fn sentence(&self, of: &TimesGroup) -> String {
        let name = self.case.group_name(&of.group);
        let matches = if of.group.len() == 1 { "matches" } else { "match" };
        let all = counted(self.slots, "slot");
        let number = |number: usize| if number == 0 { "none".to_owned() } else { with_commas(number) };
        let about = if of.times.counts.sampling.is_some() { "about " } else { "" };
        let intervals = &of.times.counts.intervals;
        let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else {
            return format!("{name} {matches} none of {all}");
        };
        let now = format!("{name} {matches} {} of {all}", number(first.value));
        let Some(next) = intervals.get(1) else {
            let throughout = if first.value == 0 { "at no time" } else { "all the time" };
            return format!("{now}, {throughout} up to {}", local_moment(last.seconds.end));
        };
        let from = format!("from {about}{}", local_moment(next.seconds.start));
        let to = match next.seconds.end {
            end if end == last.seconds.end => " on".to_owned(),
            end => format!(" to {}", local_moment(end)),
        };
        format!("{now} now, and {} {from}{to}, in {}", number(next.value), duration(next.seconds.start - self.now))
    }

    /// Returns a report: the sentence, the numbers of slots over time, and the best slots.
    pub fn report(&self, session: &Session, of: &TimesGroup, width: usize) -> String {
        let mut text = crate::cli::render::diagnostics::sentence_line(&self.sentence(of));
        if of.times.counts.intervals.len() > 1 {
            let mut table = TableLayout::new(&["from", "to", "slots"]).with_number_columns(&[2]);
            for interval in &of.times.counts.intervals {
                let [from, to] = [interval.seconds.start, interval.seconds.end].map(local_moment);
                table.push_row(vec![from, to, with_commas(interval.value)]);
            }
            text += &table.render(Some(width));
        }
        let listed = self.listed(of);
        if listed.is_empty() {
            return text;
        }
        let mut table = TableLayout::new(&["slot", "matches", "state"]);
        for times in listed {
            let state = self.state(session, of, times);
            table.push_row(vec![self.case.partners[times.offer].id().to_owned(), self.when(times), state]);
        }
        text += &table.render(Some(width));
        if of.times.offers.len() > listed.len() {
            let more = counted(of.times.offers.len() - listed.len(), "more slot");
            text = format!("{text}and {more} (--all-offers)\n");
        }
        text
    }

    /// Returns the cells of a table of several groups.
    pub fn table_row(&self, of: &TimesGroup) -> Vec<String> {
        let intervals = &of.times.counts.intervals;
        let first = intervals.first().map_or(0, |first| first.value);
        let most = intervals.iter().map(|interval| interval.value).max().unwrap_or_default();
        let next = intervals.get(1).map_or_else(String::new, |next| local_moment(next.seconds.start));
        vec![self.case.group_name(&of.group), with_commas(first), with_commas(most), next]
    }

    /// Returns the rows of each job of a group, with the index of the job.
    pub fn rows(&self, of: &TimesGroup) -> Vec<(usize, Vec<TableCell>)> {
        let moments = |seconds: &Range<i64>| {
            [seconds.start, seconds.end].into_iter().flat_map(|at| [i128::from(at).into(), iso_moment(at).into()])
        };
        let row = |job: usize, slot: &str, seconds: &Range<i64>, slots: usize| {
            let cells = [self.case.subjects[job].id().into(), slot.into()].into_iter().chain(moments(seconds));
            (job, cells.chain([slots.into()]).collect())
        };
        let mut rows = Vec::new();
        for job in &of.group {
            rows.extend(of.times.counts.intervals.iter().map(|of| row(*job, "", &of.seconds, of.value)));
            for times in self.listed(of) {
                let slot = self.case.partners[times.offer].id();
                rows.extend(times.seconds.iter().map(|seconds| row(*job, slot, seconds, 1)));
            }
        }
        rows
    }

    /// Returns a JSON object for each job of a group, with the index of the job.
    pub fn json(&self, session: &Session, of: &TimesGroup) -> Vec<(usize, Json)> {
        let moment = |seconds: i64| json!({ "seconds": seconds, "iso": iso_moment(seconds) });
        let span = |seconds: &Range<i64>| json!({ "from": moment(seconds.start), "to": moment(seconds.end) });
        let counts = of.times.counts.intervals.iter();
        let counts: Json = counts
            .map(|of| json!({ "from": moment(of.seconds.start), "to": moment(of.seconds.end), "slots": of.value }))
            .collect();
        let slot = |times: &OfferTimes| {
            json!({
                "slot": self.case.partners[times.offer].id(),
                "state": self.state(session, of, times),
                "intervals": times.seconds.iter().map(span).collect::<Json>(),
            })
        };
        let slots: Json = self.listed(of).iter().map(slot).collect();
        let report = |job: &usize| {
            let one = TimesGroup { group: vec![*job], times: of.times.clone() };
            let report = json!({
                "request": self.case.subjects[*job].id(),
                "sampled": of.times.counts.sampling,
                "intervals": counts,
                "matching": of.times.offers.len(),
                "slots": slots,
                "summary": self.sentence(&one),
            });
            (*job, report)
        };
        of.group.iter().map(report).collect()
    }

    fn listed<'t>(&self, of: &'t TimesGroup) -> &'t [OfferTimes] {
        &of.times.offers[..of.times.offers.len().min(self.most_listed)]
    }

    /// Says when a slot matches.
    fn when(&self, times: &OfferTimes) -> String {
        let end = |seconds: &Range<i64>| format!("{} - {}", local_moment(seconds.start), local_moment(seconds.end));
        let mut told: Vec<String> = times.seconds.iter().take(MAX_NAMED_INTERVALS).map(end).collect();
        if let [only] = times.seconds.as_slice()
            && only.start == self.now
        {
            told = vec![format!("up to {}", local_moment(only.end))];
        }
        if times.seconds.len() > MAX_NAMED_INTERVALS {
            told.push(format!("{} more", times.seconds.len() - MAX_NAMED_INTERVALS));
        }
        told.join(", ")
    }

    /// Says who has a slot now; empty if that does not count.
    fn state(&self, session: &Session, of: &TimesGroup, times: &OfferTimes) -> String {
        let user = self.case.user_of(session, &of.group);
        self.case.slot_state(times.offer, user.as_ref()).unwrap_or_default()
    }
}
