//! When jobs are expected to start, in words, as rows and as JSON.

use classad::ad::AbsoluteTime;
use classad::ad::time::local_moment;
use classad::explain::{Cause, ForeseenEffect, RequestReport, RequestVerdict};
use classad::matching::negotiate::{RequestLoad, RunBasis, RunBasisUse, StartForecast};
use classad::text::{counted, duration_range, join_and, rounded, with_commas};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::case::ExplanationInput;
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// The name of the JSON schema.
pub const STARTS_SCHEMA: &str = "classad.explain.starts/1";

/// The columns of the rows.
pub const START_COLUMNS: [&str; 7] =
    ["request", "verdict", "earliest", "latest", "jobs_before", "cores_before", "summary"];

/// Maximum number of users who are named with what starts before a job.
const MAX_USERS: usize = 3;

/// Length in seconds from which an interval is given without seconds.
const MINUTES_FROM: i64 = 600;

/// Equivalent jobs, and when they are expected to start.
pub struct StartGroup {
    /// The jobs, by index.
    pub group: Vec<usize>,
    /// Why they match, or why they do not.
    pub report: RequestReport,
    /// When each of them is expected to start. Empty if they never start.
    pub forecasts: Vec<StartForecast>,
    /// The policies that end jobs before they would start, by job. Empty if no job has policies.
    pub ended_by: Vec<Option<ForeseenEffect>>,
}

impl StartGroup {
    /// Whether a policy ends a job before it would start.
    fn is_ended(&self) -> bool {
        self.ended_by.iter().any(Option::is_some)
    }
}

/// Writes when jobs are expected to start.
pub struct StartWriter<'c> {
    pub case: &'c ExplanationInput<'c>,
    /// The time of the ads.
    pub now: i64,
    /// Number of seconds within which starts are sought.
    pub horizon: i64,
}

impl StartWriter<'_> {
    /// Says when a group is expected to start: `1.0 is expected to start between 10:05 and 10:40`.
    pub fn sentence(&self, session: &Session, of: &StartGroup) -> String {
        let Some(forecast) = first_of(&of.forecasts) else {
            let summary = self.case.summary(session, &of.group, &of.report, super::limits::MAX_CLAUSE_CHARS);
            // The other verdicts say so.
            let is_said = matches!(of.report.verdict, RequestVerdict::NotWaiting(_) | RequestVerdict::Limited(_));
            return if is_said { summary } else { format!("{summary}; {}", without_start(of)[1]) };
        };
        let name = self.case.group_name(&of.group);
        let (is, it) = if of.group.len() == 1 { ("is", "it") } else { ("are", "the first") };
        let before = before_phrase(&forecast.before, it);
        let within = duration_range(self.horizon, self.horizon);
        match (forecast.earliest, forecast.latest) {
            (Some(earliest), Some(latest)) => {
                let [from, to] = self.clock([earliest, latest]);
                let wait = wait_phrase(earliest - self.now, latest - self.now);
                format!("{name} {is} expected to start between {from} and {to} UTC ({wait}); {before}")
            }
            (Some(earliest), None) => {
                let [from, _] = self.clock([earliest, earliest.saturating_add(MINUTES_FROM)]);
                format!("{name} {is} expected to start after {from} UTC, and perhaps not within {within}; {before}")
            }
            _ if of.is_ended() => {
                format!("{name} {is} not expected to start: {}", end_phrase(of))
            }
            _ => format!("{name} {is} not expected to start within {within}; {before}{}", limit_phrase(&of.report)),
        }
    }

    /// Returns the times of an interval: with the day unless it is today, and with seconds if the interval is short.
    fn clock(&self, [from, to]: [i64; 2]) -> [String; 2] {
        let text = |seconds: i64| AbsoluteTime { seconds, offset: 0 }.to_string();
        let day = |seconds: i64| text(seconds).chars().take(10).collect::<String>();
        let length = if to - from < MINUTES_FROM { 8 } else { 5 };
        [from, to].map(|at| {
            let clock: String = text(at).chars().skip(11).take(length).collect();
            if day(at) == day(self.now) { clock } else { format!("{} {clock}", day(at)) }
        })
    }

    /// Returns the cells of a table for people: names, interval, jobs and cores before it.
    pub fn table_row(&self, session: &Session, of: &StartGroup) -> Vec<String> {
        let name = self.case.group_name(&of.group);
        let Some(forecast) = first_of(&of.forecasts) else {
            return vec![name, without_start(of)[0].to_owned(), String::new(), String::new(), self.reason(session, of)];
        };
        if forecast.earliest.is_none() && of.is_ended() {
            return vec![name, "no start".to_owned(), String::new(), String::new(), end_phrase(of)];
        }
        let start = match (forecast.earliest, forecast.latest) {
            (Some(earliest), Some(latest)) => self.clock([earliest, latest]).join(" to "),
            (Some(earliest), None) => format!("after {}", self.clock([earliest, i64::MAX])[0]),
            _ => format!("not within {}", duration_range(self.horizon, self.horizon)),
        };
        let all = forecast.load();
        let about = match (forecast.earliest, forecast.latest) {
            (Some(earliest), Some(latest)) => wait_phrase(earliest - self.now, latest - self.now),
            _ => self.reason(session, of),
        };
        vec![name, start, with_commas(all.requests), rounded(all.cores).to_string(), about]
    }

    /// Says why the jobs of a group wait or never start.
    fn reason(&self, session: &Session, of: &StartGroup) -> String {
        self.case.summary(session, &of.group, &of.report, super::limits::MAX_CLAUSE_CHARS)
    }

    /// Returns a row for each job of a group, with the index of the job.
    pub fn rows(&self, session: &Session, of: &StartGroup) -> Vec<(usize, Vec<TableCell>)> {
        let row = |(place, job): (usize, &usize)| {
            let one = of_job(of, place);
            let forecast = of.forecasts.get(place).filter(|_| !one.is_ended());
            let time = |at: Option<i64>| at.map_or_else(|| String::new().into(), |at| TableCell::from(i128::from(at)));
            let all = forecast.map(StartForecast::load);
            let row = vec![
                self.case.subjects[*job].id().into(),
                of.report.verdict.as_str().into(),
                time(forecast.and_then(|forecast| forecast.earliest)),
                time(forecast.and_then(|forecast| forecast.latest)),
                all.map_or_else(|| String::new().into(), |all| all.requests.into()),
                all.map_or_else(|| String::new().into(), |all| all.cores.into()),
                self.sentence(session, &one).into(),
            ];
            (*job, row)
        };
        of.group.iter().enumerate().map(row).collect()
    }

    /// Returns a JSON object for each job of a group, with the index of the job.
    pub fn json(&self, session: &Session, of: &StartGroup) -> Vec<(usize, Json)> {
        let object = |(place, job): (usize, &usize)| {
            let one = of_job(of, place);
            let forecast = of.forecasts.get(place).filter(|_| !one.is_ended());
            let before = |(user, load): (&String, &RequestLoad)| json!({ "user": user, "jobs": load.requests, "cores": load.cores });
            let before = forecast.map(|forecast| forecast.before.iter().map(before).collect::<Json>());
            let report = json!({
                "request": self.case.subjects[*job].id(),
                "verdict": of.report.verdict.as_str(),
                "earliest": forecast.and_then(|forecast| forecast.earliest),
                "latest": forecast.and_then(|forecast| forecast.latest),
                "before": before,
                "summary": self.sentence(session, &one),
            });
            (*job, report)
        };
        of.group.iter().enumerate().map(object).collect()
    }
}

/// Says in a cell, and in a sentence, that jobs have no forecast. A simulation gives a job one slot: several at once are not
/// foreseen.
fn without_start(of: &StartGroup) -> [&'static str; 2] {
    if of.report.cause() == Cause::TooFew {
        ["not foreseen", "a start is not foreseen"]
    } else {
        ["no start", "no start is expected"]
    }
}

/// Says which policy ends the jobs before they would start; of several, the first one: `PeriodicRemove removes it from ... on`.
fn end_phrase(of: &StartGroup) -> String {
    let first = of.ended_by.iter().flatten().min_by_key(|end| end.from);
    let them = if of.group.len() == 1 { "it" } else { "them" };
    first.map_or_else(String::new, |ForeseenEffect { from, effect, .. }| {
        format!("{} {} {them} from {} on", effect.knob, effect.kind.as_str(), local_moment(*from))
    })
}

/// Returns a group of one of the jobs of a group.
fn of_job(of: &StartGroup, place: usize) -> StartGroup {
    StartGroup {
        group: vec![of.group[place]],
        report: of.report.clone(),
        forecasts: of.forecasts.get(place).cloned().into_iter().collect(),
        ended_by: of.ended_by.get(place).cloned().into_iter().collect(),
    }
}

/// Returns the time in which all of some jobs start, with what starts before the first of them. `None` if they never start.
fn first_of(forecasts: &[StartForecast]) -> Option<StartForecast> {
    let first = forecasts.iter().min_by_key(|of| of.load().requests)?;
    Some(StartForecast {
        earliest: forecasts.iter().filter_map(|of| of.earliest).min(),
        latest: forecasts.iter().map(|of| of.latest).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max()),
        before: first.before.clone(),
    })
}

/// Says how long jobs wait from now on.
fn wait_phrase(from: i64, to: i64) -> String {
    if from <= 0 {
        format!("within {}", duration_range(to, to))
    } else {
        format!("{} from now", duration_range(from, to))
    }
}

/// Says what starts before a job: `37 jobs of alice (148 cores) and 3 of bob (3 cores) start before it`.
fn before_phrase(before: &IndexMap<String, RequestLoad>, it: &str) -> String {
    let mut shown: Vec<(String, RequestLoad)> = before.iter().map(|(user, of)| (user.clone(), *of)).collect();
    if shown.len() > MAX_USERS + 1 {
        let others = shown.split_off(MAX_USERS);
        shown.push((format!("{} other users", with_commas(others.len())), others.into_iter().map(|(_, of)| of).sum()));
    }
    let phrase = |(place, (user, of)): (usize, &(String, RequestLoad))| {
        let requests = if place == 0 { counted(of.requests, "job") } else { with_commas(of.requests) };
        let cores = rounded(of.cores);
        let unit = if (cores - 1.0).abs() < f64::EPSILON { "core" } else { "cores" };
        format!("{requests} of {user} ({cores} {unit})")
    };
    let phrases: Vec<String> = shown.iter().enumerate().map(phrase).collect();
    match shown.iter().map(|(_, of)| of.requests).sum::<usize>() {
        0 => format!("nothing starts before {it}"),
        1 => format!("{} starts before {it}", join_and(&phrases)),
        _ => format!("{} start before {it}", join_and(&phrases)),
    }
}

/// Says which limit a group waits for, if there is one.
fn limit_phrase(report: &RequestReport) -> String {
    if let RequestVerdict::Limited(limit) = &report.verdict { format!("; {limit}") } else { String::new() }
}

/// Says which runs stand for how many jobs.
pub fn basis_phrase(uses: &[RunBasisUse]) -> String {
    let part = |of: &RunBasisUse| {
        let runs = counted(of.runs, "run");
        let whose = match of.basis {
            RunBasis::OwnerAndCommand => "of the same owner and command",
            RunBasis::Owner => "of the same owner",
            RunBasis::All => "of all owners",
        };
        format!("of {} by {runs} {whose}", counted(of.jobs, "job"))
    };
    format!("run times: {}", join_and(&uses.iter().map(part).collect::<Vec<_>>()))
}

/// Returns which runs stand for how many jobs, as JSON.
pub fn basis_json(uses: &[RunBasisUse]) -> Json {
    let of = |of: &RunBasisUse| {
        let basis = match of.basis {
            RunBasis::OwnerAndCommand => "owner and command",
            RunBasis::Owner => "owner",
            RunBasis::All => "all",
        };
        json!({ "basis": basis, "jobs": of.jobs, "runs": of.runs })
    };
    uses.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use classad::protocol::Protocol;

    use super::*;
    use crate::cli::args::policy::LoadedPolicy;
    use crate::cli::io::counted_offers::CountedOffers;
    use crate::cli::io::parties::Parties;
    use crate::cli::program::session_of;

    fn before(users: &[(&str, usize, f64)]) -> IndexMap<String, RequestLoad> {
        users
            .iter()
            .map(|(user, requests, cores)| ((*user).to_owned(), RequestLoad { requests: *requests, cores: *cores }))
            .collect()
    }

    #[test]
    fn what_starts_before_is_told_by_user() {
        let five = ["a", "b", "c", "d", "e"].map(|user| (user, 1, 1.0));
        for (users, expected) in [
            (&[][..], "nothing starts before it"),
            (&[("a", 0, 0.0)], "nothing starts before it"),
            (&five[..1], "1 job of a (1 core) starts before it"),
            (&[("a", 1, 2.5)], "1 job of a (2.5 cores) starts before it"),
            (&[("a", 1200, 0.5)], "1,200 jobs of a (0.5 cores) start before it"),
            (&[five[0], ("b", 2, 8.0)], "1 job of a (1 core) and 2 of b (8 cores) start before it"),
            (&five[..4], "1 job of a (1 core), 1 of b (1 core), 1 of c (1 core) and 1 of d (1 core) start before it"),
            (
                &five,
                "1 job of a (1 core), 1 of b (1 core), 1 of c (1 core) and 2 of 2 other users (2 cores) start before it",
            ),
        ] {
            assert_eq!(before_phrase(&before(users), "it"), expected);
        }
    }

    #[test]
    fn a_wait_begins_now_or_later() {
        assert_eq!(wait_phrase(-5, 90), format!("within {}", duration_range(90, 90)));
        assert_eq!(wait_phrase(0, 90), format!("within {}", duration_range(90, 90)));
        assert_eq!(wait_phrase(1, 90), format!("{} from now", duration_range(1, 90)));
    }

    #[test]
    fn run_times_have_a_basis() {
        let [one, two] = [
            RunBasisUse { basis: RunBasis::OwnerAndCommand, jobs: 1, runs: 2 },
            RunBasisUse { basis: RunBasis::Owner, jobs: 3, runs: 1 },
        ];
        let all = RunBasisUse { basis: RunBasis::All, jobs: 2, runs: 9 };
        assert_eq!(basis_phrase(&[one]), "run times: of 1 job by 2 runs of the same owner and command");
        assert_eq!(
            basis_phrase(&[two, all]),
            "run times: of 3 jobs by 1 run of the same owner and of 2 jobs by 9 runs of all owners"
        );
        assert_eq!(
            basis_json(&[one, two, all]).to_string(),
            json!([
                { "basis": "owner and command", "jobs": 1, "runs": 2 },
                { "basis": "owner", "jobs": 3, "runs": 1 },
                { "basis": "all", "jobs": 2, "runs": 9 },
            ])
            .to_string()
        );
    }

    #[test]
    fn a_group_starts_with_its_first_job() {
        let forecast =
            |earliest, latest, requests| StartForecast { earliest, latest, before: before(&[("a", requests, 1.0)]) };
        assert_eq!(first_of(&[]), None);
        for (forecasts, expected) in [
            (vec![forecast(Some(5), Some(9), 2)], forecast(Some(5), Some(9), 2)),
            (vec![forecast(Some(5), Some(9), 2), forecast(Some(4), Some(8), 3)], forecast(Some(4), Some(9), 2)),
            (vec![forecast(Some(5), Some(9), 2), forecast(Some(6), None, 1)], forecast(Some(5), None, 1)),
            (vec![forecast(None, None, 2), forecast(Some(6), Some(7), 3)], forecast(Some(6), None, 2)),
        ] {
            assert_eq!(first_of(&forecasts), Some(expected));
        }
    }

    #[test]
    fn a_clock_has_a_date_on_other_days_and_seconds_for_short_times() {
        let session = session_of(&["repl", "--quiet"]);
        let (parties, counted, policy) =
            (Parties::new([Vec::new(), Vec::new()]), CountedOffers::all(0), LoadedPolicy::default());
        let protocol = Protocol::new(session.dialect());
        let case = ExplanationInput::new(&session, (&parties, &counted), false, protocol, &policy, 0, true);
        let writer = StartWriter { case: &case, now: 3600, horizon: 60 };
        for (times, expected) in [
            ([0, 599], ["00:00:00", "00:09:59"]),
            ([0, 600], ["00:00", "00:10"]),
            ([86_399, 86_400], ["23:59:59", "1970-01-02 00:00:00"]),
            ([86_400, 172_800], ["1970-01-02 00:00", "1970-01-03 00:00"]),
        ] {
            assert_eq!(writer.clock(times), expected);
        }
    }
}
