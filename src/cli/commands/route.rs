//! `classad route`: which route of HTCondor's job router takes which job.

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Value};
use classad::configuration::{JobRoute, JobRouter, RouteLoads, RoutingDecision};
use classad::eval::Context;
use classad::format::Severity;
use classad::syntax::{Style, expression_text, print_value};
use classad::transform::RuleOperand;
use serde_json::{Value as Json, json};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::argument_text;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::input;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::json::write_json_value;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad route samples/routes/jobs.long --config samples/routes/config.dump
  classad route samples/routes/jobs.long --config samples/routes/config.dump --summary

The routes are tried in the order of JOB_ROUTER_ROUTE_NAMES, or without it in the order of CONFIG. The first route that
matches a job and is not full takes it. With JOB_ROUTER_ROUND_ROBIN_SELECTION, these routes take turns.

A route is full by MaxJobs and MaxIdleJobs. The jobs that it made before count, too: those in the input with its name as
RouteName and the name of the router as RoutedBy. A route without limits has those of JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE (100) and
JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE (50). With --all-states, no limit is applied.

A route takes no job if its universe is grid, which is the default, and it has no GridResource, or if it has an `if` that
HTCondor does not support.

Exit status: 0 if all jobs that the router may take have routes; 1 if one of them has none, or if there are no such
jobs; 2 for bad input.

`classad help schema route` describes the output of -o json. `excluded` is the reason why no route may take the job.
If all routes refuse the job, `refusals` has for each route the first clause that is not true.";

/// Show which route of HTCondor's job router takes each job, and why other jobs have no route
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RouteCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// The configuration with the routes: a file or a folder of it, or the output of `condor_config_val -dump`
    #[arg(long, value_name = "CONFIG")]
    config: String,
    /// Print only the table of routes, with the number of jobs of each
    #[arg(long)]
    summary: bool,
    /// Route jobs in every state, not only idle jobs that no other program manages, and apply no limits
    #[arg(long)]
    all_states: bool,
    /// Expression for the names of ads
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// Reason why a route does not take a job.
struct RouteRefusal {
    route: usize,
    /// The clause of the route's requirements that the job does not satisfy; `None` if the reason is another one.
    clause: Option<String>,
    /// Value of the clause; `None` if its evaluation stopped.
    value: Option<String>,
    /// The reason, as a phrase.
    reason: String,
}

/// What becomes of one job.
struct RoutedJobRow {
    id: String,
    route: Option<usize>,
    matching: Vec<usize>,
    excluded: Option<String>,
    refusals: Vec<RouteRefusal>,
}

/// The jobs of a run, and how many of them each route takes.
struct RoutingRun<'r> {
    router: &'r JobRouter,
    rows: Vec<RoutedJobRow>,
    /// Number of jobs that each route takes.
    taken: Vec<usize>,
    /// Number of jobs that satisfy the requirements of each route.
    matching: Vec<usize>,
    /// The jobs that the routes have.
    loads: RouteLoads<'r>,
}

impl RouteCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let form = self.output.form;
        if !form.is_none_or(|form| matches!(form, OutputForm::Table | OutputForm::Json) || form.has_lines_of_cells()) {
            return refuse("routes can be printed as table, json, csv, tsv or markdown");
        }
        let mut sources = input::open_sources(session, &self.input.paths()?)?;
        let loaded = LoadedConfiguration::read(session, &self.config)?;
        let forms = sources.iter().map(|source| (source.name.as_ref(), source.form));
        session.decide_dialect_by_forms(forms.chain([(loaded.text.name.as_ref(), loaded.text.block.form)]));
        input::decide_time(session, &sources);
        let id = argument_text::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let context = session.context();
        let (router, problems) = JobRouter::read(&loaded.configuration, &context);
        for problem in &problems {
            loaded.report(session, problem)?;
        }
        let Some(router) = router else {
            let is_reported = problems.iter().any(|problem| problem.severity == Severity::Error);
            let reason = format!("{} has no routes in JOB_ROUTER_ROUTE_* or JOB_ROUTER_ENTRIES", self.config);
            return Err(Failure::Refused((!is_reported).then_some(reason)));
        };
        warn_of_brackets(session, &router);
        let mut run = RoutingRun::new(&router);
        input::for_each_ad(session, &mut sources, |session, text, entry| {
            let job = input::name_ad(session, text, entry, id.as_ref());
            run.add(job.id().to_owned(), job.advertisement(), &context, !self.all_states);
            Ok(true)
        })?;
        run.choose_routes(!self.all_states);
        if !session.options.quiet {
            self.write(&run)?;
        }
        session.report_stopped_evaluations(session.has_stopped_evaluations());
        let mut candidates = run.rows.iter().filter(|row| row.excluded.is_none()).peekable();
        Ok(Status::of(candidates.peek().is_some() && candidates.all(|row| row.route.is_some())))
    }

    fn write(&self, run: &RoutingRun<'_>) -> Result<(), Failure> {
        let mut out = out();
        match self.output.form {
            Some(OutputForm::Json) => {
                write_json_value(&mut out, &run.json(!self.summary))?;
            }
            Some(form) if form.has_lines_of_cells() && !self.summary => self.output.write(&run.job_table())?,
            Some(form) if form.has_lines_of_cells() => self.output.write(&run.route_table())?,
            _ => {
                if !self.summary && !run.rows.is_empty() {
                    self.output.write(&run.job_table())?;
                    writeln!(out)?;
                }
                self.output.write(&run.route_table())?;
                if !run.router.disabled.is_empty() {
                    writeln!(out, "\nnot in JOB_ROUTER_ROUTE_NAMES: {}", run.router.disabled.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

/// Prints a note if routes are in brackets, which HTCondor reads no longer.
fn warn_of_brackets(session: &Session, router: &JobRouter) {
    let bracketed: Vec<&str> =
        router.routes.iter().filter(|route| route.rules.is_bracketed).map(JobRoute::name).collect();
    if !bracketed.is_empty() {
        session.note(&format!(
            "HTCondor 25 does not read routes that are written as ads: {} (`transform --config ... --route NAME \
            --print-rules` converts one)",
            bracketed.join(", ")
        ));
    }
}

impl<'r> RoutingRun<'r> {
    fn new(router: &'r JobRouter) -> Self {
        let zeros = vec![0; router.routes.len()];
        RoutingRun { router, rows: Vec::new(), taken: zeros.clone(), matching: zeros, loads: RouteLoads::new(router) }
    }

    /// Adds a job, with the routes that it matches.
    fn add(&mut self, id: String, job: &Ad, context: &Context, checks_state: bool) {
        let decision = self.router.decide(job, context, checks_state);
        if let Some((route, runs)) = decision.made_by {
            self.loads.add(route, runs);
        }
        let mut refusals = Vec::new();
        if decision.excluded.is_none() && decision.matching.is_empty() {
            refusals.extend((0..self.router.routes.len()).filter_map(|route| {
                if let Some(obstacle) = &self.router.routes[route].obstacle {
                    return Some(RouteRefusal { route, clause: None, value: None, reason: obstacle.reason.clone() });
                }
                let (clause, value) = self.router.refusing_clause(route, job, context)?;
                let (clause, value) = (expression_text(&clause, Style::Long), value.map(|value| value_text(&value)));
                let reason = match &value {
                    Some(value) => format!("`{clause}` is {value}"),
                    None => format!("`{clause}` cannot be evaluated"),
                };
                Some(RouteRefusal { route, clause: Some(clause), value, reason })
            }));
        }
        decision.matching.iter().for_each(|route| self.matching[*route] += 1);
        let RoutingDecision { matching, excluded, .. } = decision;
        self.rows.push(RoutedJobRow { id, route: None, matching, excluded, refusals });
    }

    /// Chooses the routes of the jobs in their order. With `is_limited`, a route that is full takes none.
    fn choose_routes(&mut self, is_limited: bool) {
        for row in self.rows.iter_mut().filter(|row| !row.matching.is_empty()) {
            row.route = self.loads.choose(&row.matching, is_limited);
            match row.route {
                Some(route) => self.taken[route] += 1,
                None => row.refusals.extend(row.matching.iter().map(|route| {
                    let reason = self.loads.full(*route).unwrap_or_default();
                    RouteRefusal { route: *route, clause: None, value: None, reason }
                })),
            }
        }
    }

    fn name(&self, route: usize) -> &str {
        self.router.routes[route].name()
    }

    fn job_table(&self) -> ResultTable {
        let rows = self.rows.iter().map(|row| {
            let others = row.matching.iter().filter(|route| Some(**route) != row.route);
            let others: Vec<&str> = others.map(|route| self.name(*route)).collect();
            let refusal = |refusal: &RouteRefusal| format!("{}: {}", self.name(refusal.route), refusal.reason);
            let refusals = || row.refusals.iter().map(refusal).collect::<Vec<_>>().join("; ");
            let why = row.excluded.clone().unwrap_or_else(refusals);
            let route = row.route.map_or("", |route| self.name(route));
            vec![row.id.as_str().into(), route.into(), others.join(", ").into(), why.into()]
        });
        ResultTable::with_rows(&["job", "route", "also", "why none"], rows)
    }

    fn route_table(&self) -> ResultTable {
        let rows = (0..self.router.routes.len()).map(|route| {
            let limit = |name| TableCell::from(self.router.variable(route, name).unwrap_or_default());
            vec![
                self.name(route).into(),
                self.taken[route].into(),
                self.matching[route].into(),
                limit("MaxJobs"),
                limit("MaxIdleJobs"),
                self.unused_reason(route).unwrap_or_default().into(),
            ]
        });
        ResultTable::with_rows(&["route", "takes", "matches", "MaxJobs", "MaxIdleJobs", "why none"], rows)
    }

    /// Returns why a route takes none of the jobs; `None` if it takes some.
    fn unused_reason(&self, route: usize) -> Option<String> {
        if self.taken[route] > 0 {
            return None;
        }
        if let Some(obstacle) = &self.router.routes[route].obstacle {
            return Some(obstacle.reason.clone());
        }
        if self.matching[route] == 0 {
            return Some("it matches no job that can be routed".to_owned());
        }
        let earlier = self.rows.iter().filter(|row| row.matching.contains(&route)).filter_map(|row| row.route);
        let earlier: std::collections::BTreeSet<usize> = earlier.collect();
        if earlier.is_empty() {
            return self.loads.full(route);
        }
        let names: Vec<&str> = earlier.into_iter().map(|route| self.name(route)).collect();
        Some(format!("it comes after {}", names.join(", ")))
    }

    fn json(&self, has_jobs: bool) -> Json {
        let jobs = self.rows.iter().map(|row| {
            let refusals: Json = row
                .refusals
                .iter()
                .map(|refusal| {
                    let RouteRefusal { route, clause, value, reason } = refusal;
                    json!({"route": self.name(*route), "clause": clause, "value": value, "reason": reason})
                })
                .collect();
            json!({
                "id": row.id,
                "route": row.route.map(|route| self.name(route)),
                "matching": row.matching.iter().map(|route| self.name(*route)).collect::<Vec<_>>(),
                "excluded": row.excluded,
                "refusals": refusals,
            })
        });
        let routes = self.router.routes.iter().enumerate().map(|(index, route)| {
            let rules = &route.rules;
            json!({
                "name": route.name(),
                "knob": rules.knob,
                "line": rules.line,
                "requirements": rules.rule.requirements.as_ref().map(RuleOperand::text),
                "jobs": self.taken[index],
                "matching": self.matching[index],
                "fires": self.taken[index] > 0,
                "max_jobs": self.router.variable(index, "MaxJobs"),
                "max_idle_jobs": self.router.variable(index, "MaxIdleJobs"),
                "universe": rules.rule.universe.as_deref().or_else(|| self.router.variable(index, "TargetUniverse")),
                "grid_resource": self.router.variable(index, "GridResource"),
                "obstacle": route.obstacle.as_ref().map(|obstacle| &obstacle.reason),
            })
        });
        let mut document = json!({"schema": "classad.route/1"});
        if has_jobs {
            document["jobs"] = jobs.collect();
        }
        document["routes"] = routes.collect();
        document["disabled"] = json!(self.router.disabled);
        document
    }
}

fn value_text(value: &Value) -> String {
    String::from_utf8_lossy(&print_value(value, Style::Long)).into_owned()
}
