//! The job router of a configuration: its routes, and which of them takes a job.

use crate::ad::{Ad, Expression, Name, Value};
use crate::constraint::conjuncts;
use crate::eval::{Context, Environment, Evaluator};
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};
use crate::transform::{RuleAction, RuleOperand, Transform};

use super::dump::Configuration;
use super::policy::ConfiguredPolicy;
use super::rules::ConfiguredRule;

/// Job router: routes in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub struct JobRouter {
    /// Condition that a job must satisfy for any route; `None` if there is none.
    pub constraint: Option<ConfiguredPolicy>,
    /// Routes in order.
    pub routes: Vec<ConfiguredRule>,
    /// Transforms that are applied to a job before its route.
    pub pre_route_transforms: Vec<ConfiguredRule>,
    /// Transforms that are applied to a job after its route.
    pub post_route_transforms: Vec<ConfiguredRule>,
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

/// What a router does with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingDecision {
    /// Why the router leaves the job alone whatever its routes are; `None` if it looks for a route.
    pub excluded: Option<String>,
    /// Indexes of the routes whose requirements the job satisfies, in order.
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

impl JobRouter {
    /// Reads the router of a configuration. `None` if the configuration has no routes. A route with an error is left
    /// out.
    #[must_use]
    pub fn read(configuration: &Configuration, context: &Context) -> (Option<Self>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut router = JobRouter { name: "jobrouter".to_owned(), ..JobRouter::default() };
        if let Some(entry) = configuration.entry("JOB_ROUTER_NAME") {
            match configuration.expand(entry, context) {
                Ok(value) => router.name = value.text,
                Err(problem) => problems.push(problem),
            }
        }
        match ConfiguredPolicy::find(configuration, "JOB_ROUTER_SOURCE_JOB_CONSTRAINT", context) {
            Ok(constraint) => router.constraint = constraint,
            Err(problem) => problems.push(problem),
        }
        match configuration.truth("JOB_ROUTER_ROUND_ROBIN_SELECTION", false, context) {
            Ok(is) => router.is_round_robin = is,
            Err(problem) => problems.push(problem),
        }
        let defaults = configuration.route_defaults(context).unwrap_or_else(|problem| {
            problems.push(problem);
            Ad::default()
        });
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
                router.disabled.push(name.to_owned());
                continue;
            }
            let (rules, faults) = configuration.rules_of(entry, name, &defaults, true, context);
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
        if defined.is_empty() && router.disabled.is_empty() {
            return (None, problems);
        }
        router.put_in_order(configuration, defined, context, &mut problems);
        for (list, into) in [
            ("JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES", &mut router.pre_route_transforms),
            ("JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES", &mut router.post_route_transforms),
        ] {
            let (rules, faults) = configuration.named_rules(list, "JOB_ROUTER_TRANSFORM_", context);
            *into = rules;
            problems.extend(faults);
        }
        problems.sort_by_key(|problem| problem.range.start);
        (Some(router), problems)
    }

    /// Takes over the routes that `JOB_ROUTER_ROUTE_NAMES` has, in its order; all of them if there is no such list.
    fn put_in_order(
        &mut self,
        configuration: &Configuration,
        mut defined: Vec<ConfiguredRule>,
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
                    match defined.iter().position(|rules| rules.name().eq_ignore_ascii_case(name)) {
                        Some(index) => self.routes.push(defined.remove(index)),
                        None if self.routes.iter().any(|rules| rules.name().eq_ignore_ascii_case(name)) => {}
                        None => {
                            let message = format!("{LIST} names a route {name} that is missing or has an error");
                            problems.push(Problem::error_at(list.value_range.clone(), 0, message).as_warning());
                        }
                    }
                }
            }
        }
        self.disabled.extend(defined.iter().map(|rules| rules.name().to_owned()));
        self.drop_unconditional(configuration, problems);
    }

    /// Leaves out routes without requirements, unless there is a condition for all of them.
    fn drop_unconditional(&mut self, configuration: &Configuration, problems: &mut Vec<Problem>) {
        if self.constraint.is_some() {
            return;
        }
        self.routes.retain(|rules| {
            let is_kept = rules.rule.requirements.is_some();
            if !is_kept && let Some(entry) = configuration.entry(&rules.knob) {
                let message =
                    format!("{}: HTCondor ignores a route without REQUIREMENTS: {}", rules.knob, rules.name());
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
        let excluded = self.exclusion(job, context, checks_state);
        let matching = match excluded {
            Some(_) => Vec::new(),
            None => (0..self.routes.len()).filter(|route| self.accepts(*route, job, context)).collect(),
        };
        RoutingDecision { excluded, matching }
    }

    /// Returns why no route can take a job; `None` if one may.
    fn exclusion(&self, job: &Ad, context: &Context, checks_state: bool) -> Option<String> {
        let (environment, frame) = Environment::known(None, Some(job.clone()));
        let holds = |expression: &Expression| {
            let value = Evaluator::new(&environment, context).evaluate(expression, &frame);
            value.is_ok_and(|value| is_true(&value))
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
        let requirements = self.routes[route].rule.requirements.as_ref().and_then(RuleOperand::expression);
        requirements
            .is_none_or(|requirements| value_in(requirements, job, context).is_some_and(|value| is_true(&value)))
    }

    /// Returns the first clause of a route's requirements that a job does not satisfy, with its value; `None` if it
    /// satisfies all of them.
    #[must_use]
    pub fn refusing_clause(&self, route: usize, job: &Ad, context: &Context) -> Option<(Expression, Option<Value>)> {
        let requirements = self.routes[route].rule.requirements.as_ref().and_then(RuleOperand::expression)?;
        let clauses =
            conjuncts(requirements).into_iter().map(|clause| (clause.clone(), value_in(clause, job, context)));
        clauses.into_iter().find(|(_, value)| !value.as_ref().is_some_and(is_true))
    }

    /// Returns the text of a route's variable, such as `MaxJobs`; `None` if the route gives it no value.
    #[must_use]
    pub fn variable(&self, route: usize, name: &str) -> Option<&str> {
        let statements = self.routes[route].rule.statements.iter().rev();
        statements.into_iter().find_map(|statement| match &statement.action {
            RuleAction::Assign(variable, text) if variable.eq_ignore_ascii_case(name) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the transform that a route applies to a job: the transforms before the route, the route, and those after
    /// it. A job that does not satisfy the route's requirements stays unchanged.
    #[must_use]
    pub fn transform(&self, route: usize, configuration: &Configuration) -> Transform {
        let mut own = self.routes[route].rule.clone();
        // The route is chosen by the job as it is before the transforms.
        let requirements = own.requirements.take();
        let condition = requirements.as_ref().and_then(RuleOperand::expression).cloned();
        let rules = self.pre_route_transforms.iter().map(|transform| transform.rule.clone()).chain([own]);
        let rules = rules.chain(self.post_route_transforms.iter().map(|transform| transform.rule.clone())).collect();
        Transform { rules, condition, variables: configuration.variables().clone() }
    }

    /// Returns the index of the route of this name; case is ignored.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.routes.iter().position(|rules| Name::new(rules.name()) == Name::new(name))
    }
}

/// Returns the value of an expression in a job; `None` if the evaluation stopped.
fn value_in(expression: &Expression, job: &Ad, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(job.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

/// Whether HTCondor takes a value for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Boolean(is) => *is,
        Value::Integer(number) => *number != 0,
        Value::Real(number) => *number != 0.0,
        _ => false,
    }
}
