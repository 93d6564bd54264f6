//! The job router of a configuration: its routes, and which of them takes a job.

use crate::ad::{Ad, Expression, Name, Value};
use crate::constraint::conjuncts;
use crate::eval::{Context, Environment, Evaluator};
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};
use crate::transform::{RuleAction, RuleOperand, Transform};

use super::bracketed::replace_scope;
use super::constants::value_truth;
use super::dump::Configuration;
use super::policy::ConfiguredPolicy;
use super::route::JobRoute;
use super::rules::{ConfiguredRule, SharedVariables};

/// Job router: routes in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub struct JobRouter {
    /// Condition that a job must satisfy for any route; `None` if there is none.
    pub constraint: Option<ConfiguredPolicy>,
    /// Routes in order.
    pub routes: Vec<JobRoute>,
    /// Transforms that are applied to a job before its route.
    pub pre_route_transforms: Vec<ConfiguredRule>,
    /// Transforms that are applied to a job after its route.
    pub post_route_transforms: Vec<ConfiguredRule>,
    /// Maximum number of jobs of all routes together; `None` if there is none.
    pub max_jobs: Option<i64>,
    /// Whether the routes that match a job take turns, instead of the first taking it.
    pub is_round_robin: bool,
    /// The name by which the router knows jobs that it made itself.
    pub name: String,
    /// Routes that the configuration defines, but that are not in `JOB_ROUTER_ROUTE_NAMES`.
    pub disabled: Vec<String>,
}

/// The beginning of the names of variables with a route.
const PREFIX: &str = "JOB_ROUTER_ROUTE_";

/// The variable that lists the routes in order.
const LIST: &str = "JOB_ROUTER_ROUTE_NAMES";

/// The variables that list the transforms before and after the routes, and the beginning of the names of these.
const LIST_BEFORE: &str = "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES";
const LIST_BEHIND: &str = "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES";
const TRANSFORM_PREFIX: &str = "JOB_ROUTER_TRANSFORM_";

/// The `JobStatus` of jobs that are removed or completed, and of those that run or transfer output.
const FINISHED: [i64; 2] = [3, 4];
const RUNNING: [i64; 2] = [2, 6];

/// What a router does with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingDecision {
    /// Why the router leaves the job alone whatever its routes are; `None` if it looks for a route.
    pub excluded: Option<String>,
    /// The route that made the job, and whether the job runs; `None` if no route made it, or it is finished.
    pub made_by: Option<(usize, bool)>,
    /// Indexes of the routes that can take jobs and whose requirements the job satisfies, in order.
    pub matching: Vec<usize>,
}

/// Conditions that a job must satisfy for any route, each with the reason if it does not.
const JOB_CONDITIONS: [(&str, &str); 7] = [
    ("ProcId >= 0", "the ProcId of the job is missing, negative or not a number"),
    ("JobStatus == 1", "the job is not idle (JobStatus is not 1)"),
    (
        "StageInStart is undefined || StageInFinish isnt undefined",
        "the input files of the job are not transferred yet (StageInFinish is undefined)",
    ),
    (
        "Managed isnt \"ScheddDone\"",
        "another program has managed the job and returned it to the schedd (Managed is ScheddDone)",
    ),
    ("Managed isnt \"External\"", "another program manages the job (Managed is External)"),
    ("Owner isnt undefined", "the Owner of the job is undefined"),
    // The router's name is appended as a string, because it is configurable.
    ("RoutedBy isnt ", "this router created the job (RoutedBy is the name of the router)"),
];

/// Returns what was read; else notes the problem.
fn noted<T>(read: Result<T, Problem>, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|problem| problems.push(problem)).ok()
}

impl JobRouter {
    /// Reads the router of a configuration. `None` if the configuration has no routes. A route with an error is left
    /// out.
    #[must_use]
    pub fn read(configuration: &Configuration, context: &Context) -> (Option<Self>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut router = JobRouter::with_settings(configuration, context, &mut problems);
        let mut found = SharedVariables::default();
        let before = configuration.named_rules(LIST_BEFORE, TRANSFORM_PREFIX, &mut found, context);
        router.pre_route_transforms = before.0;
        problems.extend(before.1);
        let defined = router.defined_routes(configuration, &mut found, context, &mut problems);
        if defined.is_empty() && router.disabled.is_empty() {
            return (None, problems);
        }
        let behind = configuration.named_rules(LIST_BEHIND, TRANSFORM_PREFIX, &mut found, context);
        router.post_route_transforms = behind.0;
        problems.extend(behind.1);
        let around = [&router.pre_route_transforms[..], &router.post_route_transforms];
        let defined = defined.into_iter().map(|rules| JobRoute::new(rules, &around, configuration, context)).collect();
        router.put_in_order(configuration, defined, context, &mut problems);
        problems.sort_by_key(|problem| problem.range.start);
        (Some(router), problems)
    }

    /// Returns a router without routes and transforms.
    fn with_settings(configuration: &Configuration, context: &Context, problems: &mut Vec<Problem>) -> Self {
        let name = configuration.entry("JOB_ROUTER_NAME").map(|entry| configuration.expand(entry, context));
        let name = name.and_then(|name| noted(name, problems)).map_or_else(|| "jobrouter".to_owned(), |name| name.text);
        let constraint = ConfiguredPolicy::find(configuration, "JOB_ROUTER_SOURCE_JOB_CONSTRAINT", context);
        let is_round_robin = configuration.truth("JOB_ROUTER_ROUND_ROBIN_SELECTION", false, context);
        let max_jobs = noted(configuration.number("JOB_ROUTER_MAX_JOBS", context), problems).flatten();
        JobRouter {
            name,
            constraint: noted(constraint, problems).unwrap_or_default(),
            is_round_robin: noted(is_round_robin, problems).unwrap_or_default(),
            #[allow(clippy::cast_possible_truncation)] // HTCondor drops fractions
            max_jobs: max_jobs.map(|most| most as i64).filter(|most| *most >= 0),
            ..JobRouter::default()
        }
    }

    /// Returns the rules of each route, and notes the names of those that are not in the list of routes. `found` are the
    /// variables of the transforms before the routes; those of the routes are added.
    fn defined_routes(
        &mut self,
        configuration: &Configuration,
        found: &mut SharedVariables,
        context: &Context,
        problems: &mut Vec<Problem>,
    ) -> Vec<ConfiguredRule> {
        let mut of_routes = SharedVariables::default();
        let defaults = noted(configuration.route_defaults(context), problems).unwrap_or_default();
        let mut defined: Vec<ConfiguredRule> = Vec::new();
        let mut add = |rules: ConfiguredRule| {
            defined.retain(|known| !known.name().eq_ignore_ascii_case(rules.name()));
            defined.push(rules);
        };
        // Only the name of an unlisted route is read. `put_in_order` reports the problems of the list.
        let listed = configuration.entry(LIST).map(|_| configuration.words(LIST, context).unwrap_or_default());
        let is_listed = |name: &str| {
            listed.as_ref().is_none_or(|listed| listed.iter().any(|known| known.eq_ignore_ascii_case(name)))
        };
        for entry in configuration.entries() {
            let suffix =
                entry.name.get(PREFIX.len()..).filter(|_| entry.name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX));
            let is_list = entry.name.eq_ignore_ascii_case("JOB_ROUTER_ENTRIES");
            let name = match suffix {
                Some(suffix) if !suffix.eq_ignore_ascii_case("NAMES") => suffix,
                None if is_list => "",
                _ => continue,
            };
            if entry.value_range.is_empty() {
                continue;
            }
            if !is_list && !is_listed(name) {
                self.disabled.push(name.to_owned());
                continue;
            }
            let mut own = found.clone();
            let (rules, faults) = configuration.rules_of(entry, name, &defaults, true, &mut own, context);
            of_routes.extend(own);
            problems.extend(faults);
            for mut rules in rules {
                if !is_list {
                    rules.rule.name = Some(name.to_owned());
                } else if rules.rule.name.is_none() {
                    rules.rule.name = Some(format!("line {}", rules.line));
                }
                add(rules);
            }
        }
        found.extend(of_routes);
        defined
    }

    /// Takes over the routes that `JOB_ROUTER_ROUTE_NAMES` has, in its order; all of them if there is no such list.
    fn put_in_order(
        &mut self,
        configuration: &Configuration,
        mut defined: Vec<JobRoute>,
        context: &Context,
        problems: &mut Vec<Problem>,
    ) {
        let Some(list) = configuration.entry(LIST) else {
            self.routes = defined;
            self.drop_unconditional(configuration, problems);
            return;
        };
        match configuration.words(LIST, context) {
            Err(problem) => problems.push(problem),
            Ok(names) => {
                for name in names.iter().filter(|name| !name.eq_ignore_ascii_case("NAMES")) {
                    match defined.iter().position(|route| route.name().eq_ignore_ascii_case(name)) {
                        Some(index) => self.routes.push(defined.remove(index)),
                        None if self.routes.iter().any(|route| route.name().eq_ignore_ascii_case(name)) => {}
                        None => {
                            let message = format!("{LIST} names a route {name} that is missing or has an error");
                            problems.push(Problem::error_at(list.value_range.clone(), 0, message).as_warning());
                        }
                    }
                }
            }
        }
        self.disabled.extend(defined.iter().map(|route| route.name().to_owned()));
        self.drop_unconditional(configuration, problems);
    }

    /// Leaves out routes without requirements, unless there is a condition for all of them.
    fn drop_unconditional(&mut self, configuration: &Configuration, problems: &mut Vec<Problem>) {
        if self.constraint.is_some() {
            return;
        }
        self.routes.retain(|route| {
            let (rules, name) = (&route.rules, route.name());
            let is_kept = rules.rule.requirements.is_some();
            if !is_kept && let Some(entry) = configuration.entry(&rules.knob) {
                let message = format!("{}: HTCondor ignores a route without REQUIREMENTS: {name}", rules.knob);
                let help = "add REQUIREMENTS to the route (`true` accepts all jobs), or set \
                            JOB_ROUTER_SOURCE_JOB_CONSTRAINT";
                problems.push(Problem::error_at(entry.name_range.clone(), 0, message).with_help(help));
            }
            is_kept
        });
    }

    /// Decides which routes can take a job. `checks_state` says that only jobs that wait in a queue are routed, as
    /// HTCondor does it.
    #[must_use]
    pub fn decide(&self, job: &Ad, context: &Context, checks_state: bool) -> RoutingDecision {
        let maker = self.maker(job, context);
        let made_by = maker.as_ref().and_then(|name| self.find(name)).and_then(|route| {
            let status = job_status(job, context);
            (!FINISHED.contains(&status)).then_some((route, RUNNING.contains(&status)))
        });
        let excluded = self.exclusion(job, context, checks_state);
        let matching = match excluded {
            Some(_) => Vec::new(),
            None => (0..self.routes.len()).filter(|route| self.accepts(*route, job, context)).collect(),
        };
        RoutingDecision { excluded, made_by, matching }
    }

    /// Returns the name of the route of this router that made a job; `None` if none made it. As in HTCondor, the job is of
    /// this router if `RoutedBy` says so: `RouteName` alone can be of another router, or of a user.
    fn maker(&self, job: &Ad, context: &Context) -> Option<String> {
        let text = |name: &str| match value_in(job.get_str(name)?, job, context) {
            Some(Value::String(text)) => Some(text.to_str().into_owned()),
            _ => None,
        };
        let is_own = text("RoutedBy").is_some_and(|router| router.eq_ignore_ascii_case(&self.name));
        text("RouteName").filter(|_| is_own)
    }

    /// Returns why no route can take a job; `None` if one may.
    fn exclusion(&self, job: &Ad, context: &Context, checks_state: bool) -> Option<String> {
        let (environment, frame) = Environment::known(None, Some(job.clone()));
        let holds = |expression: &Expression| {
            let value = Evaluator::new(&environment, context).evaluate(expression, &frame);
            value.is_ok_and(|value| value_truth(&value) == Some(true))
        };
        if checks_state {
            for (condition, reason) in JOB_CONDITIONS {
                let condition = if condition.ends_with(' ') {
                    format!("{condition}\"{}\"", self.name)
                } else {
                    condition.to_owned()
                };
                let expression = parse_expression(condition.as_bytes(), ParseOptions::new(context.dialect));
                if !expression.is_ok_and(|expression| holds(&expression)) {
                    return Some(reason.to_owned());
                }
            }
        }
        let constraint = self.constraint.as_ref()?;
        (!holds(&constraint.expression)).then(|| format!("{} is not true", constraint.name))
    }

    /// Whether a job satisfies the requirements of a route.
    fn accepts(&self, route: usize, job: &Ad, context: &Context) -> bool {
        if self.routes[route].obstacle.is_some() {
            return false;
        }
        let requirements = self.requirements(route);
        requirements.is_none_or(|requirements| {
            value_in(requirements, job, context).is_some_and(|value| value_truth(&value) == Some(true))
        })
    }

    /// Returns the first clause of a route's requirements that a job does not satisfy, with its value; `None` if it
    /// satisfies all of them.
    #[must_use]
    pub fn refusing_clause(&self, route: usize, job: &Ad, context: &Context) -> Option<(Expression, Option<Value>)> {
        let requirements = self.requirements(route)?;
        let clauses =
            conjuncts(requirements).into_iter().map(|clause| (clause.clone(), value_in(clause, job, context)));
        clauses.into_iter().find(|(_, value)| value.as_ref().and_then(value_truth) != Some(true))
    }

    fn requirements(&self, route: usize) -> Option<&Expression> {
        self.routes[route].rules.rule.requirements.as_ref().and_then(RuleOperand::expression)
    }

    /// Returns the text of a route's variable, such as `MaxJobs`; `None` if the route gives it no value.
    #[must_use]
    pub fn variable(&self, route: usize, name: &str) -> Option<&str> {
        let statements = self.routes[route].rules.rule.statements.iter().rev();
        statements.into_iter().find_map(|statement| match &statement.action {
            RuleAction::Assign(variable, text) if variable.eq_ignore_ascii_case(name) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the transform that a route applies to a job: the transforms before the route, the route, and those after
    /// it. A job that does not satisfy the route's requirements stays unchanged. With `sets_universe`, the first rule is
    /// what the router does before all of them: it sets universe and grid resource.
    #[must_use]
    pub fn transform(&self, route: usize, configuration: &Configuration, sets_universe: bool) -> Transform {
        let route = &self.routes[route];
        let mut own = route.rules.rule.clone();
        // The route is chosen by the job as it is before the transforms.
        let requirements = own.requirements.take();
        let condition = requirements.as_ref().and_then(RuleOperand::expression).cloned();
        let place = configuration.entry(&route.rules.knob).map_or(0..0, |entry| entry.name_range.clone());
        let first = route.universe_rule(place).filter(|_| sets_universe);
        let of = |transforms: &[ConfiguredRule]| transforms.iter().map(|rules| rules.rule.clone()).collect::<Vec<_>>();
        let rules = first.into_iter().chain(of(&self.pre_route_transforms)).chain([own]);
        let rules = rules.chain(of(&self.post_route_transforms)).collect();
        Transform { rules, condition, variables: configuration.variables().clone(), ..Transform::default() }
    }

    /// Returns warnings of routes that take no job, and of limits that are no numbers.
    #[must_use]
    pub fn doubts(&self, configuration: &Configuration) -> Vec<Problem> {
        let of_route = |route: &JobRoute| {
            let obstacle = route.obstacle.as_ref().map(|obstacle| obstacle.problem(&route.rules.knob));
            obstacle.into_iter().chain(route.limit_problems.clone()).collect::<Vec<_>>()
        };
        let unlisted = self.disabled.iter().filter_map(|name| {
            let entry = configuration.entry(&format!("{PREFIX}{name}"))?;
            let message = format!("{} has no effect: {LIST} does not list {name}", entry.name);
            let help = format!("add {name} to {LIST}, or delete this setting");
            Some(Problem::error_at(entry.name_range.clone(), 0, message).with_help(help).as_warning())
        });
        let first = self.routes.iter().find(|route| !route.rules.is_bracketed);
        let unnamed = first.filter(|_| configuration.entry(LIST).is_none()).and_then(|route| {
            let entry = configuration.entry(&route.rules.knob)?;
            let message = format!("{} has no effect: {LIST} is missing, so that HTCondor routes no job", entry.name);
            let help = format!("write `{LIST} = {}`, with all routes in their order", route.name());
            Some(Problem::error_at(entry.name_range.clone(), 0, message).with_help(help).as_warning())
        });
        self.routes.iter().flat_map(of_route).chain(unlisted).chain(unnamed).collect()
    }

    /// Returns all that a route requires of a job, and its own requirements; `None` if it has none.
    #[must_use]
    pub fn whole_condition(&self, route: &JobRoute, context: &Context) -> Option<(Expression, Expression)> {
        let own = route.rules.rule.requirements.as_ref().and_then(RuleOperand::expression)?;
        let plain = |expression: &Expression| replace_scope(expression, "TARGET", None);
        let state = JOB_CONDITIONS[..2].iter().filter_map(|(condition, _)| {
            parse_expression(condition.as_bytes(), ParseOptions::new(context.dialect)).ok()
        });
        let constraint = self.constraint.iter().map(|constraint| plain(&constraint.expression));
        let own = plain(own);
        Some((state.chain(constraint).fold(own.clone(), |whole, part| Expression::and(part, whole)), own))
    }

    /// Returns the index of the route of this name; case is ignored.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.routes.iter().position(|route| Name::new(route.name()) == Name::new(name))
    }
}

/// Returns the value of an expression in a job; `None` if the evaluation stopped.
fn value_in(expression: &Expression, job: &Ad, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(job.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

/// Returns the `JobStatus` of a job; 1, which is idle, if it has none.
fn job_status(job: &Ad, context: &Context) -> i64 {
    match job.get_str("JobStatus").and_then(|status| value_in(status, job, context)) {
        Some(Value::Integer(status)) => status,
        _ => 1,
    }
}
