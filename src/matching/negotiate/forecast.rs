//! When requests will start: what simulations with short, usual and long run times have in common.

use std::collections::hash_map::Entry;
use std::iter::Sum;
use std::ops::ControlFlow;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Value};
use crate::configuration::JobPolicies;
use crate::eval::Context;
use crate::matching::policy::{Accountant, PolicyFault};
use crate::protocol::evaluate_attribute;

use super::NegotiationSettings;
use super::run_history::RunHistory;
use super::simulation::{RunTime, SPACING, SimulatedCycle, SimulationSettings, simulate};

/// The quantiles of run times in the simulations, and whether further requests arrive in each. What starts before a request is
/// that of the second.
const SCENARIOS: [(f64, bool); 4] = [(0.1, false), (0.5, false), (0.9, false), (0.5, true)];

/// The place of the simulation whose starts come before a request.
const USUAL: usize = 1;

/// What tells how long requests run.
#[derive(Clone, Debug)]
pub enum RunTimes {
    /// An expression of seconds, evaluated in the request, with the slot as the other ad.
    Expression(Expression),
    /// The completed runs of a history.
    History(Arc<RunHistory>),
}

/// What is forecast.
#[derive(Clone, Debug)]
pub struct ForecastSettings {
    /// How long requests run.
    pub run_times: RunTimes,
    /// Time between two cycles in seconds, at least 1.
    pub interval: i64,
    /// The time of the ads in seconds since 1970.
    pub begin: i64,
    /// Number of seconds within which starts are sought.
    pub horizon: i64,
    /// Requests that may come later, from their `QDate` on.
    pub arrivals: Vec<Ad>,
}

/// When a request will start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartForecast {
    /// The earliest time, in seconds since 1970. `None` if it does not start within the horizon.
    pub earliest: Option<i64>,
    /// The latest time. `None` if it may not start within the horizon.
    pub latest: Option<i64>,
    /// The requests that start before it, by user.
    pub before: IndexMap<String, RequestLoad>,
}

/// Requests, and the cores for which they ask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestLoad {
    /// Number of requests.
    pub requests: usize,
    /// Number of cores.
    pub cores: f64,
}

impl StartForecast {
    /// Returns all that starts before the request.
    #[must_use]
    pub fn load(&self) -> RequestLoad {
        self.before.values().copied().sum()
    }
}

impl Sum for RequestLoad {
    fn sum<I: Iterator<Item = Self>>(loads: I) -> Self {
        loads.fold(RequestLoad::default(), |all, of| RequestLoad {
            requests: all.requests + of.requests,
            cores: all.cores + of.cores,
        })
    }
}

/// Forecasts the starts of the `wanted` requests. Simulates cycles until they have started, or the horizon is passed. Also
/// returns the number of runs whose time is no number of at least 0, so that they do not end.
///
/// # Errors
///
/// Fails if values of the policy's vectors cannot be compared.
pub fn forecast_starts(
    settings: &NegotiationSettings,
    of: &ForecastSettings,
    (requests, offers): (&[Ad], &[(String, Ad)]),
    accountant: &Accountant,
    wanted: &[usize],
) -> Result<(Vec<StartForecast>, usize), PolicyFault> {
    let with_arrivals = [requests, &of.arrivals].concat();
    let mut courses = Vec::new();
    for (place, (part, have_arrivals)) in SCENARIOS.into_iter().enumerate() {
        let run_time = match &of.run_times {
            RunTimes::Expression(_) if place != USUAL => continue,
            _ if have_arrivals && of.arrivals.is_empty() => continue,
            RunTimes::Expression(expression) => RunTime::Expression(expression.clone()),
            RunTimes::History(history) => RunTime::Quantile(Arc::clone(history), part),
        };
        let simulated = SimulationSettings {
            cycles: u64::try_from(of.horizon / of.interval.max(1)).unwrap_or_default().saturating_add(1),
            interval: of.interval,
            begin: of.begin,
            run_time: Some(run_time),
            begins_idle: false,
            // What policies do to requests by then does not count.
            policies: JobPolicies::default(),
            policy_interval: 0,
            claim_interval: None,
            skips_quiet: true,
        };
        let parties = (if have_arrivals { &with_arrivals } else { requests }, offers);
        courses.push(StartOrder::simulate(settings, &simulated, parties, accountant.clone(), wanted)?);
    }
    let mut forecasts = vec![StartForecast::default(); wanted.len()];
    for (forecast, request) in forecasts.iter_mut().zip(wanted) {
        let starts = || courses.iter().map(|course| course.start(*request));
        // The next cycle begins at any time within the interval, and what ended since the last one was free before.
        let gap = |at: i64| of.interval.max(at.saturating_sub(of.begin) / i64::try_from(SPACING).unwrap_or(i64::MAX));
        let earliest = starts().flatten().min();
        forecast.earliest = earliest.map(|at| at.saturating_sub(gap(at)).max(of.begin));
        let latest = starts().collect::<Option<Vec<_>>>().and_then(|starts| starts.into_iter().max());
        forecast.latest = latest.map(|at| at.saturating_add(gap(at)));
    }
    let usual = if let RunTimes::Expression(_) = of.run_times { 0 } else { USUAL };
    courses[usual].add_loads(requests, wanted, &settings.context, &mut forecasts);
    Ok((forecasts, courses[usual].without_run_time))
}

/// The first starts of requests in a simulation.
#[derive(Default)]
struct StartOrder {
    /// Requests and times, in order.
    starts: Vec<(usize, i64)>,
    /// The place in this order, by request.
    places: FxHashMap<usize, usize>,
    /// Runs whose time is no number of at least 0.
    without_run_time: usize,
}

impl StartOrder {
    /// Simulates cycles until all of the `wanted` requests have started, or nothing can change any more.
    fn simulate(
        settings: &NegotiationSettings,
        of: &SimulationSettings,
        parties: (&[Ad], &[(String, Ad)]),
        mut accountant: Accountant,
        wanted: &[usize],
    ) -> Result<Self, PolicyFault> {
        let (mut order, mut missing) = (StartOrder::default(), wanted.iter().collect::<FxHashSet<_>>());
        let mut tell = |cycle: &SimulatedCycle| {
            for start in &cycle.starts {
                if let Entry::Vacant(first) = order.places.entry(start.request) {
                    first.insert(order.starts.len());
                    order.starts.push((start.request, start.time));
                    missing.remove(&start.request);
                }
            }
            if missing.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let totals = simulate(settings, of, parties, &mut accountant, &mut tell)?;
        order.without_run_time = totals.without_run_time;
        Ok(order)
    }

    fn start(&self, request: usize) -> Option<i64> {
        self.places.get(&request).map(|place| self.starts[*place].1)
    }

    /// Adds to each forecast what starts before its request; before one that does not start, all that does.
    fn add_loads(&self, requests: &[Ad], wanted: &[usize], context: &Context, forecasts: &mut [StartForecast]) {
        let place = |request: usize| self.places.get(&request).copied().unwrap_or(self.starts.len());
        let mut by_place: Vec<usize> = (0..wanted.len()).collect();
        by_place.sort_by_key(|at| place(wanted[*at]));
        let (mut loads, mut done) = (IndexMap::<String, RequestLoad>::new(), 0);
        for at in by_place {
            let until = place(wanted[at]);
            for (request, _) in &self.starts[done..until] {
                let load = loads.entry(user_of(&requests[*request], context)).or_default();
                load.requests += 1;
                load.cores += cores_of(&requests[*request], context);
            }
            done = until;
            forecasts[at].before.clone_from(&loads);
            forecasts[at].before.sort_by(|_, one, _, other| other.requests.cmp(&one.requests));
        }
    }
}

/// Returns the owner of a job, or the user.
fn user_of(job: &Ad, context: &Context) -> String {
    let text = |name: &str| match evaluate_attribute(job, &name.into(), context) {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    };
    text("Owner").or_else(|| text("User")).unwrap_or_default()
}

/// Returns the number of cores for which a job asks. A job that does not tell it asks for one.
fn cores_of(job: &Ad, context: &Context) -> f64 {
    match evaluate_attribute(job, &"RequestCpus".into(), context) {
        #[allow(clippy::cast_precision_loss)] // a number of cores
        Some(Value::Integer(cores)) => cores as f64,
        Some(Value::Real(cores)) if cores.is_finite() => cores,
        _ => 1.0,
    }
}
