//! `explain --when-start`: when waiting jobs are expected to start, and what starts before them.

use std::sync::Arc;

use clap::Args;
use classad::ad::{Ad, AdExtension, Expression, Name, Value};
use classad::eval::{Context, FreeNames};
use classad::explain::{Cause, Explainer, RequestReport, RequestVerdict};
use classad::matching::Query;
use classad::matching::negotiate::{
    ForecastSettings, GangSettings, HISTORY_ATTRIBUTES, HISTORY_RUN_TIME, NegotiationSettings, PortUse, RunHistory,
    RunTime, RunTimes, SIMULATION_ATTRIBUTES, forecast_starts, runs_in_slot,
};
use classad::matching::policy::{Accountant, CycleTimes};
use classad::protocol::{AdvertisedState, JobState, evaluate_attribute};
use classad::text::counted;
use serde_json::{Value as Json, json};

use super::ExplainCommand;
use super::groups::{allocate, explain_bilateral, group_requests};
use super::job_results::write_job_results;
use super::selection::{select_subjects, served_and_unserved};
use crate::cli::args::advertising::SlotSelection;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::argument_text::parse_argument_expression;
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::diagnostics::{sentence_line, terminal_width};
use crate::cli::render::explanation::ExplanationInput;
use crate::cli::render::explanation::starts::{
    START_COLUMNS, STARTS_SCHEMA, StartGroup, StartWriter, basis_json, basis_phrase,
};
use crate::cli::render::table::TableLayout;
use crate::cli::session::Session;

/// Number of seconds within which starts are sought.
const HORIZON_SECONDS: i64 = 7 * 86_400;

/// Number of seconds in which jobs come that are expected to come again.
const PERIOD_SECONDS: i64 = 86_400;

/// Maximum number of jobs that are expected to come for each job that is known, and at least.
const MAX_ARRIVALS: [usize; 2] = [3, 1000];

/// The state of waiting jobs (`JobStatus`).
const IDLE: i64 = 1;

/// The options about starts.
#[derive(Args, Clone)]
pub struct WhenStartArgs {
    /// Print when waiting jobs are expected to start, and how many jobs and cores start before them
    ///
    /// The cycles of the next 7 days are simulated, as by `negotiate --cycles`: see `classad help explain`. Without --policy,
    /// the policy is `htcondor`.
    #[arg(long, conflicts_with_all = ["reverse", "offer", "summary", "unmatchable", "fix", "fix_scripts"])]
    pub when_start: bool,
    /// Seconds that a job runs, such as `RunTime ?: 3600`: an expression about the job, with the slot as TARGET
    #[arg(long, value_name = "EXPR", requires = "when_start")]
    run_time: Option<String>,
    /// Take run times from the completed jobs of this history: those of the same owner and command
    #[arg(long, value_name = "FILE", requires = "when_start", conflicts_with = "run_time")]
    from_history: Vec<String>,
}

impl WhenStartArgs {
    /// Refuses --when-start without run times.
    pub fn check(&self) -> Result<(), Failure> {
        if self.when_start && self.run_time.is_none() && self.from_history.is_empty() {
            return refuse("--when-start needs run times: give --run-time EXPR, or --from-history FILE");
        }
        Ok(())
    }

    /// Adds the names of attributes that a forecast reads.
    pub fn add_names(&self, session: &mut Session, names: &mut FreeNames) -> Result<(), Failure> {
        if self.when_start {
            let read = SIMULATION_ATTRIBUTES.iter().chain(&HISTORY_ATTRIBUTES).chain(&["RequestCpus"]);
            names.names.extend(read.map(|name| Name::new(name)));
            let run_time = self.expression(session)?;
            let run_time = match run_time {
                Some(run_time) => run_time,
                None => parse_argument_expression(session, "--from-history", HISTORY_RUN_TIME)?,
            };
            names.add(&run_time, session.dialect());
        }
        Ok(())
    }

    fn expression(&self, session: &mut Session) -> Result<Option<Expression>, Failure> {
        let text = self.run_time.as_deref();
        text.map(|text| parse_argument_expression(session, "--run-time", text)).transpose()
    }

    /// Opens the files of the history.
    pub fn open_history(&self, session: &mut Session) -> Result<Vec<AdSource>, Failure> {
        if self.from_history.is_empty() { Ok(Vec::new()) } else { input::open_sources(session, &self.from_history) }
    }

    /// Returns the run times; `history` are the jobs that have left the queue.
    fn run_times(&self, session: &mut Session, history: &[NamedAd]) -> Result<RunTimes, Failure> {
        if let Some(expression) = self.expression(session)? {
            return Ok(RunTimes::Expression(expression));
        }
        let context = session.context();
        let run_time = RunTime::Expression(parse_argument_expression(session, "--from-history", HISTORY_RUN_TIME)?);
        let runs = history.iter().filter_map(|job| run_time.completed_run(&job.ad, &context));
        let history = RunHistory::new(runs);
        if history.is_empty() {
            return refuse(format!("there is no completed run in {}", self.from_history.join(", ")));
        }
        Ok(RunTimes::History(Arc::new(history)))
    }

    /// Prints when jobs are expected to start.
    pub fn explain(
        &self,
        session: &mut Session,
        command: &ExplainCommand,
        (case, explainer): (&ExplanationInput<'_>, &Explainer),
        filter: Option<&Query>,
        (history, times): (&[NamedAd], CycleTimes),
    ) -> Result<Status, Failure> {
        if (0..case.subjects.len()).any(|request| case.needs_gang(request)) {
            return refuse("--when-start knows nothing of gangs, and some ads have Ports");
        }
        let run_times = self.run_times(session, history)?;
        let (roots, unserved) = served_and_unserved(command, session, case)?;
        let (allocation, accounting) = allocate(session, (case, Some(explainer)), false)?;
        command.note_accounts(session, case, &accounting);
        let allocation = Some(&allocation).filter(|_| command.unmatched);
        let subjects = select_subjects(command, session, case, filter, [roots, unserved], allocation)?;
        let mut asked = [subjects.left, subjects.unserved].concat();
        asked.sort_unstable();
        if !subjects.are_named {
            asked.retain(|job| !case.is_not_waiting(session, *job));
        }
        let accounting = accounting.before_cycle();
        let groups = group_requests(session, case, None, (None, &accounting), (&asked, false));
        let mut groups: Vec<StartGroup> = groups
            .into_iter()
            .map(|group| {
                let report = explain_bilateral(session, case, &group, explainer, (None, &accounting));
                StartGroup { group, report, forecasts: Vec::new(), ended_by: Vec::new() }
            })
            .collect();
        let now = session.context().now.unwrap_or_default();
        let arrivals = match run_times {
            RunTimes::History(_) => {
                arrivals(history.iter().chain(case.subjects).map(|job| &job.ad), now, &session.context())
            }
            RunTimes::Expression(_) => Vec::new(),
        };
        let (begin, interval, horizon) = (now, times.interval, HORIZON_SECONDS);
        let of = ForecastSettings { run_times, interval, begin, horizon, arrivals };
        self.forecast(session, case, (&of, times), &mut groups)?;
        let writer = StartWriter { case, now, horizon: HORIZON_SECONDS };
        write_starts(session, (&writer, &of.run_times), &groups, command.ads.common.output)?;
        let has_all = groups.iter().flat_map(|of| &of.forecasts).all(|of| of.earliest.is_some());
        Ok(Status::of(has_all && !groups.is_empty() && groups.iter().all(|of| !of.forecasts.is_empty())))
    }

    /// Forecasts the starts of the groups that can start.
    fn forecast(
        &self,
        session: &mut Session,
        case: &ExplanationInput<'_>,
        (of, times): (&ForecastSettings, CycleTimes),
        groups: &mut [StartGroup],
    ) -> Result<(), Failure> {
        let context = session.context();
        let settings = NegotiationSettings {
            gangs: GangSettings { ports: PortUse::Ignored, ..GangSettings::default() },
            ..NegotiationSettings::new(case.policy.policy.clone(), case.protocol.clone(), context.clone())
        };
        let settings = case.parties.with_typed_ranks(settings);
        let taking_part: Vec<usize> =
            (0..case.subjects.len()).filter(|request| case.takes_part(session, *request)).collect();
        let requests: Vec<_> = taking_part.iter().map(|request| case.subjects[*request].ad.clone()).collect();
        let is_admitted = |offer: &usize| {
            !case.respects_states
                || SlotSelection::FreeAndClaimed.admits_ad(case.parties.offers[*offer].state(&context))
        };
        let offers = case.counted.in_input_order(case.parties.offers.len()).into_iter().filter(is_admitted);
        let named = |offer: usize| (case.parties.offers[offer].id().to_owned(), case.parties.offers[offer].ad.clone());
        let offers: Vec<_> = offers.map(named).collect();
        let place = |request: &usize| taking_part.binary_search(request).ok();
        let end = of.begin.saturating_add(of.horizon);
        let startable: Vec<&mut StartGroup> = groups.iter_mut().filter(|of| can_start(&of.report, end)).collect();
        let wanted: Vec<usize> = startable.iter().flat_map(|of| &of.group).filter_map(place).collect();
        let accounts = case.policy.accounts.clone().unwrap_or_default();
        let accountant = Accountant { half_life_seconds: times.half_life, ..accounts };
        let forecasts = forecast_starts(&settings, of, (&requests, &offers), &accountant, &wanted);
        let (forecasts, endless) = forecasts.map_err(|fault| case.policy.report_fault(session, fault))?;
        session.check_interrupt()?;
        if context.has_spent_comparisons() {
            let limit = if context.has_spent_held_bytes() { "--max-held-bytes" } else { "--max-comparison-steps" };
            return refuse(format!("the simulation ended early: name fewer jobs with --request, or raise {limit}"));
        }
        if let (true, Some(rule)) = (endless > 0, &self.run_time) {
            let runs = counted(endless, "run");
            session.note(&format!("{runs}: `{rule}` is not a number of at least 0, and the job runs until the end"));
        }
        let mut forecasts = forecasts.into_iter();
        for group in startable {
            group.forecasts = forecasts.by_ref().take(group.group.len()).collect();
            await_opening(group);
            end_by_policies(session, case, group);
        }
        Ok(())
    }
}

/// Returns the jobs that come within the horizon if as many come as came in the last day, or since the first of `jobs` came.
fn arrivals<'a>(jobs: impl Iterator<Item = &'a Ad> + Clone, now: i64, context: &Context) -> Vec<Ad> {
    let queued = |job: &Ad| match evaluate_attribute(job, &Name::new("QDate"), context) {
        Some(Value::Integer(at)) => Some(at).filter(|at| *at <= now),
        _ => None,
    };
    let first = jobs.clone().filter_map(queued).min();
    let period = first.map_or(0, |first| now - first).min(PERIOD_SECONDS);
    if period == 0 {
        return Vec::new();
    }
    let recent = jobs.filter_map(|job| Some((queued(job).filter(|at| now - at <= period)?, job)));
    let recent: Vec<(i64, &Ad)> = recent.filter(|(_, job)| runs_in_slot(job, context)).collect();
    let [each, least] = MAX_ARRIVALS;
    let most = recent.len().saturating_mul(each).max(least);
    let periods = (1..=HORIZON_SECONDS / period).take(most / recent.len().max(1));
    let attribute = |name: &str, value: i64| (Name::new(name), Expression::literal(Value::Integer(value)));
    let later = |(at, job): &(i64, &Ad), passed: i64| {
        let changed = [attribute("QDate", at + passed), attribute("JobStatus", IDLE)];
        AdExtension::new(changed.into_iter().collect()).extend(job)
    };
    periods.flat_map(|number| recent.iter().map(move |job| later(job, number * period))).collect()
}

/// Writes when jobs are expected to start.
fn write_starts(
    session: &Session,
    (writer, run_times): (&StartWriter<'_>, &RunTimes),
    groups: &[StartGroup],
    output: TableOutputArgs,
) -> Result<(), Failure> {
    let uses = match run_times {
        RunTimes::History(history) => {
            let jobs = writer.case.subjects.iter().enumerate();
            let jobs = jobs.filter(|(job, _)| writer.case.takes_part(session, *job));
            Some(history.uses(jobs.map(|(_, job)| &job.ad), &session.context()))
        }
        RunTimes::Expression(_) => None,
    };
    let document = |reports: Vec<Json>| {
        json!({
            "schema": STARTS_SCHEMA, "time": writer.now, "horizon": writer.horizon,
            "run_times": uses.as_deref().map(basis_json), "reports": reports,
        })
    };
    let text = || {
        let text = match groups {
            [] => "no selected job waits\n".to_owned(),
            [only] => sentence_line(&writer.sentence(session, only)),
            groups => {
                let header = ["jobs", "start (UTC)", "jobs before", "cores before", "wait"];
                let mut table = TableLayout::new(&header).with_number_columns(&[2, 3]);
                for of in groups {
                    table.push_row(writer.table_row(session, of));
                }
                table.render(Some(terminal_width()))
            }
        };
        let basis = uses.as_deref().map_or_else(String::new, |uses| sentence_line(&basis_phrase(uses)));
        text + &basis
    };
    let rows = || groups.iter().flat_map(|of| writer.rows(session, of)).collect();
    let reports = || groups.iter().flat_map(|of| writer.json(session, of)).collect();
    write_job_results(output, (&START_COLUMNS, rows), (reports, document), text)
}

/// Whether a job can start before a time, as far as the ads tell.
fn can_start(report: &RequestReport, end: i64) -> bool {
    match &report.verdict {
        // A simulation gives a job one slot.
        _ if report.cause() == Cause::TooFew => false,
        RequestVerdict::Matches | RequestVerdict::Claimed | RequestVerdict::IfDrained(_) => true,
        RequestVerdict::Limited(limit) => !limit.is_permanent(),
        _ => report.opens_from().is_some_and(|from| from < end),
    }
}

/// Corrects the forecasts of jobs that match nothing until the clock lets them.
fn await_opening(group: &mut StartGroup) {
    let Some(opens) = group.report.opens_from() else { return };
    // A cycle may begin at any time, but the jobs' own clauses are not true before this one.
    let from = group.report.awaited().map_or(i64::MIN, |_| opens);
    for forecast in &mut group.forecasts {
        forecast.earliest = forecast.earliest.map(|at| at.max(from));
    }
    // What keeps jobs from offers says more than that none come.
    if group.forecasts.iter().all(|of| of.earliest.is_none()) {
        group.forecasts.clear();
    }
}

/// Drops the starts of jobs that a policy holds or removes before.
fn end_by_policies(session: &Session, case: &ExplanationInput<'_>, group: &mut StartGroup) {
    if group.report.job.as_ref().is_none_or(|job| job.outlook.is_none()) {
        return;
    }
    for (job, forecast) in group.group.iter().zip(&mut group.forecasts) {
        let end = case.job_outlook(session, *job).and_then(|outlook| outlook.end().cloned());
        let is_before = |at: &i64| end.as_ref().is_none_or(|end| *at < end.from);
        forecast.latest = forecast.latest.filter(is_before);
        let is_ended = forecast.earliest.is_some_and(|at| !is_before(&at));
        if is_ended {
            forecast.earliest = None;
        }
        group.ended_by.push(end.filter(|_| is_ended));
    }
}

/// Whether a job is in a history rather than in the queue.
pub fn has_left_queue(state: AdvertisedState) -> bool {
    matches!(state, AdvertisedState::Job(JobState::Completed | JobState::Removed))
}

#[cfg(test)]
mod tests {
    use classad::ad::{Ad, Dialect, Expression, Name, Value};
    use classad::eval::Context;

    use super::arrivals;

    fn job(queued: i64, universe: i64) -> Ad {
        let attributes = [("QDate", queued), ("JobStatus", 2), ("JobUniverse", universe)];
        let attribute = |(name, value)| (Name::new(name), Expression::literal(Value::Integer(value)));
        attributes.map(attribute).into_iter().collect()
    }

    /// The times at which jobs come after 100,000, if these came before.
    fn times(jobs: &[Ad]) -> Vec<i64> {
        let integer = |job: &Ad, name: &str| match job.get_str(name).and_then(Expression::as_literal) {
            Some(Value::Integer(number)) => *number,
            other => panic!("{other:?}"),
        };
        let later = arrivals(jobs.iter(), 100_000, &Context::new(Dialect::Condor));
        assert!(later.iter().all(|job| integer(job, "JobStatus") == 1));
        later.iter().map(|job| integer(job, "QDate")).collect()
    }

    #[test]
    fn as_many_jobs_come_as_came_in_the_last_day() {
        let days = |first: i64| (1..=7).map(|day| first + day * 86_400).collect::<Vec<_>>();
        assert!(times(&[]).is_empty());
        // They come now, or later.
        assert!(times(&[job(100_000, 5), job(100_001, 5)]).is_empty());
        assert_eq!(times(&[job(0, 5), job(50_000, 5), job(100_001, 5)]), days(50_000));
        assert_eq!(times(&[job(13_599, 5), job(13_600, 5)]), days(13_600));
        // A job that needs no slot tells when jobs began to come.
        assert_eq!(times(&[job(0, 7), job(50_000, 7), job(50_000, 5)]), days(50_000));
        assert!(times(&[job(0, 7)]).is_empty());
        let [first, second] = [job(40_000, 5), job(50_000, 5)];
        let both = times(&[second, first]);
        assert_eq!(both[..4], [110_000, 100_000, 170_000, 160_000]);
        assert_eq!(both.len(), 20);
    }

    #[test]
    fn the_number_of_jobs_that_come_is_bounded() {
        let lately = times(&[job(99_990, 5)]);
        assert_eq!((lately.len(), lately.first(), lately.last()), (1000, Some(&100_000), Some(&109_990)));
        for (jobs, rounds) in [(142, 7), (143, 6), (200, 5), (333, 3), (334, 3), (500, 3), (501, 3)] {
            let many = vec![job(13_600, 5); jobs];
            assert_eq!(times(&many).len(), jobs * rounds, "{jobs}");
        }
    }
}
