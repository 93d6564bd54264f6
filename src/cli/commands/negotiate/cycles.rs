//! `negotiate --cycles`: many cycles of a pool that moves.

use std::ops::ControlFlow;

use clap::Args;
use classad::ad::{Expression, Name, Value};
use classad::configuration::JobPolicies;
use classad::eval::FreeNames;
use classad::matching::negotiate::{
    HISTORY_ATTRIBUTES, HISTORY_RUN_TIME, NegotiationSettings, RunTime, SIMULATION_ATTRIBUTES, SimulatedCycle,
    SimulatedEffect, SimulatedGrant, SimulationSettings, SimulationTotals, runs_in_slot, simulate,
};
use classad::matching::policy::{Accountant, CycleTimes, Policy};
use classad::protocol::{evaluate_attribute, rank_number};
use classad::text::{counted, with_commas};
use indexmap::IndexMap;

use super::course::Course;
use super::cycle_document::CycleDocument;
use crate::cli::args::advertising::retain_queued;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::clock::utc_text;
use crate::cli::io::argument_text::parse_argument_expression;
use crate::cli::io::collector_snapshot::retain_flagged;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::report_progress;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::match_table::{PAIR_HEADER, pair_row};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::Session;

/// The attributes that tell whether a job of a history ran.
const RUN_ATTRIBUTES: [&str; 3] = ["JobStartDate", "JobCurrentStartDate", "RemoteWallClockTime"];

/// The options of many cycles.
#[derive(Args)]
pub struct CyclesArgs {
    /// Run N cycles: what a cycle leaves is what the next one finds
    ///
    /// A job waits from its `QDate` on, or from the end of its cool-down (`JobCoolDownExpiration`). It starts as with
    /// --starts, and its slots are free again when its run time is over. The clocks of slots (`ClockMin`, `ClockDay`) go on.
    /// What runs already keeps its slots until then, counted from its start. The next job of the submitter starts in the
    /// claim of one that ends, for `CLAIM_WORKLIFE` seconds. If none waits, the claim stays open for the job's
    /// `KeepClaimIdle`; the access point looks at such claims every `SCHEDD_INTERVAL` of --config, otherwise at once when a
    /// job comes. Policies of jobs and of the configuration hold, release, remove and vacate jobs. That happens every
    /// `PERIODIC_EXPR_INTERVAL`, and when a run ends. Usage and priorities follow. The rows are the matches of each cycle, or
    /// with --starts the jobs that start. With --by-submitter they are what each submitter has after each cycle. A table or a
    /// picture (-o svg) is about all cycles, and -o json has everything: see `classad help schema cycles`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000),
          conflicts_with_all = ["transcript", "why", "compare", "usage", "notify"])]
    pub cycles: Option<u64>,
    /// Seconds from one cycle to the next [default: `NEGOTIATOR_INTERVAL` of --config, or 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..), requires = "cycles")]
    interval: Option<i64>,
    /// Seconds that a job runs, such as `RunTime ?: 3600`: an expression about the job, with the slot as TARGET. Without it,
    /// jobs run until the end
    #[arg(long, value_name = "EXPR", requires = "cycles")]
    run_time: Option<String>,
    /// Take the jobs of this history as the queue: each waits from its `QDate`, and runs as long as it did. The first cycle is
    /// at the earliest `QDate`, when all slots are free
    #[arg(long, value_name = "FILE", requires = "cycles", conflicts_with = "requests")]
    pub from_history: Option<String>,
}

/// What the rows of the cycles are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CycleRows {
    Matches,
    Starts,
    Submitters,
}

impl CyclesArgs {
    /// Runs the cycles, and writes their rows.
    pub fn run(
        &self,
        session: &mut Session,
        parties: &Parties,
        settings: &NegotiationSettings,
        (accountant, times, policies): (Option<Accountant>, CycleTimes, JobPolicies),
        (rows, form, has_states): (CycleRows, TableOutputArgs, bool),
    ) -> Result<Status, Failure> {
        let of = self.settings(session, parties, (times, policies), has_states)?;
        let [requests, _] = parties.ads();
        let offers: Vec<_> = parties.offers.iter().map(|offer| (offer.id().to_owned(), offer.ad.clone())).collect();
        let mut accountant = Accountant { half_life_seconds: times.half_life, ..accountant.unwrap_or_default() };
        let mut writer = CycleWriter::new(parties, &settings.policy, &of, (rows, form))?;
        let mut failure = None;
        let mut effects = EffectCounts::default();
        let mut tell = |cycle: &SimulatedCycle| {
            effects.add(cycle);
            let done = usize::try_from(cycle.number).ok();
            report_progress(done.unwrap_or(usize::MAX), usize::try_from(of.cycles).ok());
            match writer.write(cycle) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let totals = simulate(settings, &of, (&requests, &offers), &mut accountant, &mut tell);
        let totals = totals.map_err(|fault| Failure::Refused(Some(fault.to_string())))?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        session.check_interrupt()?;
        writer.finish(&totals)?;
        session.note(&totals_text(of.cycles, &totals));
        effects.note(session, parties);
        if totals.without_run_time > 0 {
            let runs = counted(totals.without_run_time, "run");
            let rule = self.run_time(session)?.map_or(String::new(), |rule| rule.to_string());
            session.note(&format!("{runs}: `{rule}` is not a number of at least 0, and the job runs until the end"));
        }
        Ok(Status::of(totals.matches > 0))
    }

    /// Adds the names of attributes that many cycles read.
    pub fn add_names(
        &self,
        session: &mut Session,
        policy: &LoadedPolicy,
        names: &mut FreeNames,
    ) -> Result<(), Failure> {
        if self.cycles.is_some() {
            let (policies, _) = policy.job_policies(&session.context());
            policies.add_queue_names(names, session.dialect());
            names.names.extend(SIMULATION_ATTRIBUTES.iter().map(|name| Name::new(name)));
            names.names.extend(HISTORY_ATTRIBUTES.iter().chain(&RUN_ATTRIBUTES).map(|name| Name::new(name)));
            if let Some(expression) = self.run_time(session)? {
                names.add(&expression, session.dialect());
            }
        }
        Ok(())
    }

    /// Keeps the jobs that wait for slots or run in them. Jobs of a history need slots; those that never ran are left out unless
    /// --run-time tells how long they would have run. Prints notes of how many.
    pub fn retain_jobs(&self, session: &Session, jobs: Vec<NamedAd>) -> Vec<NamedAd> {
        let context = session.context();
        let value = |job: &NamedAd, name: &str| evaluate_attribute(&job.ad, &Name::new(name), &context);
        let kept: Vec<bool> = jobs.iter().map(|job| runs_in_slot(&job.ad, &context)).collect();
        let jobs = retain_flagged(session, jobs, "request", &kept, "of a universe that needs no slot");
        if self.from_history.is_none() {
            return retain_queued(session, jobs);
        }
        let has_run = |job: &NamedAd| {
            RUN_ATTRIBUTES
                .iter()
                .any(|name| value(job, name).as_ref().and_then(rank_number).is_some_and(|number| number > 0.0))
        };
        let kept: Vec<bool> = jobs.iter().map(|job| self.run_time.is_some() || has_run(job)).collect();
        retain_flagged(session, jobs, "request", &kept, "never ran (--run-time includes such jobs)")
    }

    /// Returns the expression of the seconds that a job runs.
    fn run_time(&self, session: &mut Session) -> Result<Option<Expression>, Failure> {
        let of_history = self.from_history.as_ref().map(|_| HISTORY_RUN_TIME);
        let text = self.run_time.as_deref().or(of_history);
        text.map(|text| parse_argument_expression(session, "--run-time", text)).transpose()
    }

    fn settings(
        &self,
        session: &mut Session,
        parties: &Parties,
        (times, policies): (CycleTimes, JobPolicies),
        has_states: bool,
    ) -> Result<SimulationSettings, Failure> {
        let run_time = self.run_time(session)?;
        let context = session.context();
        let arrival = |value| if let Some(Value::Integer(at)) = value { Some(at) } else { None };
        let arrivals =
            parties.requests.iter().filter_map(|of| arrival(evaluate_attribute(&of.ad, &Name::new("QDate"), &context)));
        let of_history = self.from_history.as_ref().and_then(|_| arrivals.min());
        Ok(SimulationSettings {
            cycles: self.cycles.unwrap_or(1),
            interval: self.interval.unwrap_or(times.interval),
            begin: of_history.or(context.now).unwrap_or_default(),
            run_time: run_time.map(RunTime::Expression),
            begins_idle: self.from_history.is_some() || !has_states,
            policies,
            policy_interval: times.policies,
            claim_interval: times.claims,
            skips_quiet: false,
        })
    }
}

/// What each policy did to jobs: how often, and the first job.
#[derive(Default)]
struct EffectCounts(IndexMap<(String, &'static str), (SimulatedEffect, usize)>);

impl EffectCounts {
    fn add(&mut self, cycle: &SimulatedCycle) {
        for effect in &cycle.effects {
            let key = (effect.effect.knob.clone(), effect.effect.kind.as_str());
            self.0.entry(key).or_insert_with(|| (effect.clone(), 0)).1 += 1;
        }
    }

    /// Prints a note for each policy.
    fn note(&self, session: &Session, parties: &Parties) {
        for ((knob, verb), (SimulatedEffect { request, time, effect }, count)) in &self.0 {
            let line = effect.line.map_or(String::new(), |line| format!(" (line {line})"));
            let reason = if effect.reason.is_empty() { String::new() } else { format!(": {}", effect.reason) };
            let first = parties.request_name(*request, None);
            let more = if *count > 1 { format!(" and {}", counted(count - 1, "more time")) } else { String::new() };
            session.note(&format!("{knob}{line} {verb} {first} at {}{more}{reason}", utc_text(*time)));
        }
    }
}

/// Writes rows of cycles as they end.
struct CycleWriter<'p> {
    parties: &'p Parties,
    rows: CycleRows,
    output: CycleOutput,
    course: Course<'p>,
    form: TableOutputArgs,
}

/// Where cycles are written.
enum CycleOutput {
    /// A row for each match, start or submitter.
    Rows(TableWriter),
    Document(CycleDocument),
    /// A table or a picture of all cycles in the end.
    Course,
}

impl<'p> CycleWriter<'p> {
    fn new(
        parties: &'p Parties,
        policy: &'p Policy,
        of: &SimulationSettings,
        (rows, form): (CycleRows, TableOutputArgs),
    ) -> Result<Self, Failure> {
        let groups = policy.weighted_share().map(|share| &share.groups).filter(|groups| groups.groups().len() > 1);
        let course = Course::new(groups);
        let kind = form.form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        let is_summed = rows == CycleRows::Submitters && matches!(kind, OutputForm::Table | OutputForm::Svg);
        let first = ["cycle", "time"].into_iter();
        let header: Vec<&str> = match rows {
            CycleRows::Matches => first.chain(PAIR_HEADER).chain(["preempted"]).collect(),
            CycleRows::Starts => first.chain(PAIR_HEADER).chain(["preempted", "evicted", "ends", "claim"]).collect(),
            CycleRows::Submitters => first.chain(course.header()).collect(),
        };
        let header = header.into_iter().map(str::to_owned).collect();
        let output = match kind {
            _ if is_summed => CycleOutput::Course,
            OutputForm::Json => CycleOutput::Document(CycleDocument::begin(of)?),
            _ => CycleOutput::Rows(TableWriter::new(header, form.form, !form.no_header)?),
        };
        Ok(CycleWriter { parties, rows, output, course, form })
    }

    fn write(&mut self, cycle: &SimulatedCycle) -> Result<(), Failure> {
        let table = match &mut self.output {
            CycleOutput::Rows(table) => table,
            CycleOutput::Document(document) => return document.write(cycle, self.parties, &self.course),
            CycleOutput::Course => {
                self.course.add(cycle);
                return Ok(());
            }
        };
        let mut out = out();
        #[allow(clippy::cast_possible_wrap)] // at most 10,000,000
        let first: [TableCell; 2] =
            [Value::Integer(cycle.number as i64), Value::Integer(cycle.time)].map(|number| TableCell::from(&number));
        let grants = match self.rows {
            CycleRows::Matches => &cycle.matches,
            CycleRows::Starts => &cycle.starts,
            CycleRows::Submitters => {
                for row in self.course.rows(cycle) {
                    table.write(&mut out, first.iter().cloned().chain(row).collect())?;
                }
                return Ok(());
            }
        };
        for SimulatedGrant { request, time, reuses_claim, offers, ranks, preempted, evicted, end } in grants {
            for offer in offers {
                let mut row = vec![first[0].clone(), (&Value::Integer(*time)).into()];
                row.extend(pair_row(self.parties.request_name(*request, None), offer.clone(), *ranks));
                row.push(preempted.clone().unwrap_or_default().into());
                if self.rows == CycleRows::Starts {
                    row.push(evicted.map_or(String::new(), |of| self.parties.request_name(of, None)).into());
                    row.push(end.map_or_else(|| String::new().into(), |end| (&Value::Integer(end)).into()));
                    row.push(if *reuses_claim { "reused" } else { "new" }.to_owned().into());
                }
                table.write(&mut out, row)?;
            }
        }
        Ok(())
    }

    fn finish(self, totals: &SimulationTotals) -> Result<(), Failure> {
        match self.output {
            CycleOutput::Rows(mut table) => table.finish(&mut out()),
            CycleOutput::Document(document) => document.finish(totals),
            CycleOutput::Course => self.course.write(self.form),
        }
    }
}

/// Says what happened in all cycles.
fn totals_text(cycles: u64, totals: &SimulationTotals) -> String {
    let SimulationTotals { matches, started, reused, ended, evicted, running, held, waiting, future, .. } = *totals;
    let matches = if matches == 1 { "1 match".to_owned() } else { format!("{} matches", with_commas(matches)) };
    let cycles = counted(usize::try_from(cycles).unwrap_or(usize::MAX), "cycle");
    let mut parts = vec![format!("{cycles}: {matches}, {}", counted(started, "start"))];
    if reused > 0 {
        parts.push(format!("{} of them in claims of ended jobs", with_commas(reused)));
    }
    parts.push(format!("{} ended", with_commas(ended)));
    if evicted > 0 {
        parts.push(format!("{} evicted", with_commas(evicted)));
    }
    let end = format!("in the end, {} run and {} wait", with_commas(running), with_commas(waiting));
    let others = [(held, "held"), (future, "come later")].into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, what)| format!(", {} {what}", with_commas(count)));
    format!("{}; {end}{}", parts.join(", "), others.collect::<String>())
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::configuration::{PolicyEffect, PolicyEffectKind};
    use classad::matching::negotiate::{SimulatedCycle, SimulatedEffect, SimulationTotals};
    use classad::matching::policy::CycleTimes;

    use super::{CyclesArgs, EffectCounts, totals_text};
    use crate::cli::io::named_ad::NamedAd;
    use crate::cli::io::parties::Parties;
    use crate::cli::io::source_text::SourceText;
    use crate::cli::session::Session;

    /// Jobs with these attributes, called `j0`, `j1` and so on.
    fn jobs(texts: &[&str]) -> Vec<NamedAd> {
        let job = |(number, text): (usize, &&str)| {
            let ad =
                SourceText::from_argument("ad", &format!("[ MyType = \"Job\"; {text} ]")).first_ad(Dialect::Condor);
            NamedAd::unnamed(ad.unwrap()).with_name(format!("j{number}"))
        };
        texts.iter().enumerate().map(job).collect()
    }

    fn args(interval: Option<i64>, run_time: Option<&str>, from_history: Option<&str>) -> CyclesArgs {
        let [run_time, from_history] = [run_time, from_history].map(|text| text.map(str::to_owned));
        CyclesArgs { cycles: Some(3), interval, run_time, from_history }
    }

    #[test]
    fn each_policy_is_told_once() {
        let effect = |request, time, knob: &str, line, reason: &str| {
            let (knob, reason, kind) = (knob.to_owned(), reason.to_owned(), PolicyEffectKind::Holds);
            SimulatedEffect {
                request,
                time,
                effect: PolicyEffect { knob, line, kind, reason, ..PolicyEffect::default() },
            }
        };
        let cycle = |effects| SimulatedCycle {
            number: 1,
            time: 0,
            matches: Vec::new(),
            starts: Vec::new(),
            effects,
            submitters: std::collections::BTreeMap::new(),
        };
        let mut counts = EffectCounts::default();
        counts.add(&cycle(vec![effect(1, 5, "H", Some(3), "often"), effect(0, 6, "H", Some(3), "late")]));
        counts.add(&cycle(vec![effect(0, 7, "K", None, ""), effect(0, 8, "H", Some(3), "")]));
        let session = Session::keeping("");
        counts.note(&session, &Parties::new([jobs(&["", ""]), Vec::new()]));
        let expected = [
            "note: H (line 3) holds j1 at 1970-01-01T00:00:05Z and 2 more times: often",
            "note: K holds j0 at 1970-01-01T00:00:07Z",
        ];
        assert_eq!(session.told(), expected);
    }

    #[test]
    fn jobs_of_a_history_are_those_that_ran() {
        let jobs = || {
            jobs(&[
                "JobStatus = 1; JobUniverse = 5",
                "JobStatus = 2; JobUniverse = 7",
                "JobStatus = 4; JobUniverse = 5; RemoteWallClockTime = 0.0",
                "JobStatus = 4; JobUniverse = 5; RemoteWallClockTime = 0.5",
                "JobStatus = 3; JobUniverse = 5; JobStartDate = 7",
            ])
        };
        let without_slot = "note: 1 of 5 requests left out: of a universe that needs no slot";
        for (args, kept, note) in [
            (args(None, None, None), "j0", "note: 3 of 4 requests left out: 2 completed and 1 removed"),
            (args(None, None, Some("h")), "j3 j4", "note: 2 of 4 requests left out: never ran"),
            (args(None, Some("60"), Some("h")), "j0 j2 j3 j4", ""),
        ] {
            let session = Session::keeping("");
            let left = args.retain_jobs(&session, jobs());
            assert_eq!(left.iter().map(NamedAd::id).collect::<Vec<_>>().join(" "), kept);
            let told = session.told();
            assert_eq!(told[0], without_slot);
            assert!(told.get(1).map_or("", String::as_str).starts_with(note), "{told:?}");
            assert_eq!(told.len(), 1 + usize::from(!note.is_empty()));
        }
    }

    #[test]
    fn cycles_begin_now_or_with_the_first_job_of_a_history() {
        let parties = Parties::new([jobs(&["QDate = 70", "QDate = 50", "QDate = \"x\"", ""]), Vec::new()]);
        let times = || CycleTimes { interval: 60, ..CycleTimes::default() };
        for (args, has_states, [begin, interval], begins_idle) in [
            (args(None, None, None), true, [900, 60], false),
            (args(Some(7), Some("60"), None), false, [900, 7], true),
            (args(None, None, Some("h")), true, [50, 60], true),
            (args(None, Some("60"), Some("h")), false, [50, 60], true),
        ] {
            let mut session = Session::keeping("--now 900");
            let policies =
                super::JobPolicies::read(&classad::configuration::Configuration::default(), &session.context()).0;
            let settings = args.settings(&mut session, &parties, (times(), policies), has_states);
            let settings = settings.unwrap_or_else(|failure| panic!("{failure:?}"));
            assert_eq!((settings.begin, settings.interval, settings.cycles), (begin, interval, 3));
            assert_eq!((settings.begins_idle, settings.skips_quiet), (begins_idle, false));
            let has_run_time = args.run_time.is_some() || args.from_history.is_some();
            assert_eq!(settings.run_time.is_some(), has_run_time);
        }
    }

    #[test]
    fn what_happened_is_counted() {
        let totals = SimulationTotals { matches: 1, started: 3, running: 2, ended: 1, ..SimulationTotals::default() };
        assert_eq!(totals_text(1, &totals), "1 cycle: 1 match, 3 starts, 1 ended; in the end, 2 run and 0 wait");
        let totals = SimulationTotals { reused: 2, evicted: 1, held: 5, future: 4, waiting: 1_200, ..totals };
        let expected = "20 cycles: 1 match, 3 starts, 2 of them in claims of ended jobs, 1 ended, 1 evicted; in the end, 2 run and 1,200 wait, 5 held, 4 come later";
        assert_eq!(totals_text(20, &totals), expected);
    }
}
