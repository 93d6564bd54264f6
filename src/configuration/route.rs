//! Routes of a job router: what the router knows of them before it takes a job, and how many jobs have them.

use std::ops::Range;

use crate::ad::{Dialect, Expression, Name};
use crate::eval::{ConstraintVerdict, Context, Environment, SpecializeOptions, specialize};
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};
use crate::transform::{RuleAction, RuleOperand, RuleStatement, RuleTarget, TransformRule};

use super::constants::{constant_number, value_truth};
use super::dump::Configuration;
use super::rules::ConfiguredRule;

/// Route of a job router.
#[derive(Clone, Debug)]
pub struct JobRoute {
    /// The rules of the route.
    pub rules: ConfiguredRule,
    /// The `JobUniverse` of the jobs that the route makes.
    pub universe: i64,
    /// The `GridResource` of these jobs; `None` if the route has no such variable, or another universe than grid.
    pub grid_resource: Option<String>,
    /// Condition under which the route changes a job itself instead of making another one; `None` if it never does.
    pub edits_in_place: Option<Expression>,
    /// Maximum number of jobs that the route has made and that are in the queue.
    pub max_jobs: i64,
    /// Maximum number of them that do not run; any number if it is negative.
    pub max_idle_jobs: i64,
    /// Why the route can take no job; `None` if it can.
    pub obstacle: Option<RouteObstacle>,
    /// Warnings of limits that are no numbers.
    pub limit_problems: Vec<Problem>,
}

/// Reason why a route can take no job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteObstacle {
    /// The reason, as a phrase.
    pub reason: String,
    /// What to do about it.
    pub help: String,
    /// Byte range in the dump.
    pub range: Range<usize>,
}

impl RouteObstacle {
    /// Returns the obstacle as a warning about the variable of the route.
    #[must_use]
    pub fn problem(&self, knob: &str) -> Problem {
        let message = format!("{knob}: the route takes no job: {}", self.reason);
        Problem::error_at(self.range.clone(), 0, message).with_help(&self.help).as_warning()
    }
}

/// The number of the grid universe.
const GRID_UNIVERSE: i64 = 9;

/// Universes by the names that UNIVERSE takes.
const UNIVERSES: [(&str, i64); 13] = [
    ("standard", 1),
    ("pipe", 2),
    ("linda", 3),
    ("pvm", 4),
    ("vanilla", 5),
    ("scheduler", 7),
    ("mpi", 8),
    ("grid", GRID_UNIVERSE),
    ("globus", GRID_UNIVERSE),
    ("java", 10),
    ("parallel", 11),
    ("local", 12),
    ("vm", 13),
];

/// Limits of routes: the variable of a route, the setting for routes without it, and the value without both.
const LIMITS: [(&str, &str, i64); 2] = [
    ("MaxJobs", "JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", 100),
    ("MaxIdleJobs", "JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE", 50),
];

impl JobRoute {
    /// Reads what the rules of a route say about the route as a whole. `others` are the transforms around it.
    pub(super) fn new(
        rules: ConfiguredRule,
        others: &[&[ConfiguredRule]],
        configuration: &Configuration,
        context: &Context,
    ) -> Self {
        let outline = rules.rule.outline(configuration.variables(), context);
        let value = |name: &str| {
            let text = outline.variables.get(name)?;
            let text = outline.variables.expand(text, context).ok()?.text;
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            Some(text).filter(|text| !text.is_empty())
        };
        let own_value = |name: &str| assigns(&rules.rule, name).then(|| value(name)).flatten();
        let number = |text: String| constant_number(&text, context);
        #[allow(clippy::cast_possible_truncation)] // HTCondor drops fractions
        let limit = |(name, setting, default): (&str, &str, i64)| {
            let number = own_value(name).and_then(number).or_else(|| value(setting).and_then(number));
            number.map_or(default, |number| number as i64)
        };
        let [max_jobs, max_idle_jobs] = LIMITS.map(limit);
        let limit_problem = |(name, _, _)| {
            let text = own_value(name).filter(|text| number(text.clone()).is_none())?;
            let statement = rules.rule.statements.iter().rev().find(|statement| is_assignment(statement, name))?;
            let message = format!(
                "{}: {name} is not a number: `{text}`; HTCondor uses {}",
                rules.knob,
                if name == LIMITS[0].0 { max_jobs } else { max_idle_jobs }
            );
            Some(Problem::error_at(statement.range.clone(), 0, message).as_warning())
        };
        let limit_problems = LIMITS.into_iter().filter_map(limit_problem).collect();
        let universe = rules.rule.universe.as_deref().and_then(universe_number);
        #[allow(clippy::cast_possible_truncation)] // as above
        let universe = universe
            .or_else(|| own_value("TargetUniverse").and_then(number).map(|number| number as i64))
            .unwrap_or(GRID_UNIVERSE);
        let resource = own_value("GridResource").map(|text| text.trim_matches('"').to_owned());
        let edits = own_value("EditJobInPlace")
            .and_then(|text| parse_expression(text.as_bytes(), ParseOptions::new(context.dialect)).ok());
        let mut route = JobRoute {
            universe,
            grid_resource: resource.filter(|text| !text.is_empty() && universe == GRID_UNIVERSE),
            edits_in_place: edits
                .filter(|edits| edits.as_literal().is_none_or(|value| value_truth(value).unwrap_or(false))),
            max_jobs,
            max_idle_jobs,
            obstacle: None,
            limit_problems,
            rules,
        };
        let undecided = outline.undecided.filter(|_| !route.rules.is_bracketed);
        route.obstacle = route.find_obstacle(undecided, others, configuration, context);
        route
    }

    /// Name of the route.
    #[must_use]
    pub fn name(&self) -> &str {
        self.rules.name()
    }

    fn find_obstacle(
        &self,
        undecided: Option<usize>,
        others: &[&[ConfiguredRule]],
        configuration: &Configuration,
        context: &Context,
    ) -> Option<RouteObstacle> {
        let rule = &self.rules.rule;
        let knob = configuration.entry(&self.rules.knob).map_or(0..1, |entry| entry.name_range.clone());
        let obstacle = |range: &Range<usize>, reason: String, help: &str| {
            Some(RouteObstacle { reason, help: help.to_owned(), range: range.clone() })
        };
        if let Some(statement) = undecided.and_then(|index| rule.statements.get(index)) {
            let reason = format!(
                "HTCondor does not use it, because complex conditionals are not supported, as in line {}",
                statement.line
            );
            let help = "give the value of the condition to a variable with EVALMACRO in a transform before the route, and \
                        write `if $(variable)`";
            return obstacle(&statement.range, reason, help);
        }
        let mut around = others.iter().flat_map(|rules| rules.iter()).map(|rules| &rules.rule).chain([rule]);
        if self.universe == GRID_UNIVERSE
            && self.grid_resource.is_none()
            && self.edits_in_place.is_none()
            && !around.any(|rule| sets(rule, "GridResource"))
        {
            let reason = match &rule.universe {
                Some(_) => "its universe is grid, and it has no GridResource",
                None => "it has neither UNIVERSE nor GridResource",
            };
            return obstacle(&knob, reason.to_owned(), "add `UNIVERSE VANILLA`, or `GridResource = ...` for grid jobs");
        }
        if self.is_never_met(context) {
            let reason = "its REQUIREMENTS are not true for any job".to_owned();
            return obstacle(&knob, reason, "correct REQUIREMENTS, or leave the route out of JOB_ROUTER_ROUTE_NAMES");
        }
        let limits = [("MaxJobs", self.max_jobs, 0), ("MaxIdleJobs", self.max_idle_jobs, -1)];
        let zero = limits.into_iter().find(|(_, limit, least)| *limit <= 0 && (*least == 0 || *limit == 0));
        zero.and_then(|(name, limit, _)| obstacle(&knob, format!("{name} is {limit}"), "write a limit of at least 1"))
    }

    /// Whether no job satisfies the requirements, whatever its attributes and the time are.
    fn is_never_met(&self, context: &Context) -> bool {
        let requirements = self.rules.rule.requirements.as_ref().and_then(RuleOperand::expression);
        let (environment, frame) = Environment::unknown();
        let context = Context { now: None, random: None, dialect: Dialect::Condor, ..context.clone() };
        let options = SpecializeOptions::default();
        requirements.is_some_and(|requirements| {
            specialize(requirements, &frame, &environment, &context, options).verdict == ConstraintVerdict::Never
        })
    }

    /// Returns the rule that stands for what the router itself does to a job before all rules: universe and grid resource.
    pub(super) fn universe_rule(&self, range: Range<usize>) -> Option<TransformRule> {
        let operand = |text: &str, expression| RuleOperand::of(text, expression);
        let mut actions = vec![
            RuleAction::Copy(RuleTarget::Name(Name::new("JobUniverse")), "Remote_JobUniverse".to_owned()),
            RuleAction::Set(
                Name::new("JobUniverse"),
                operand(&self.universe.to_string(), Expression::literal(self.universe)),
            ),
        ];
        if self.universe == GRID_UNIVERSE {
            let text = self.grid_resource.as_deref().unwrap_or_default();
            let literal = Expression::literal(crate::ad::Value::string(text));
            actions.push(RuleAction::Set(Name::new("GridResource"), operand(text, literal)));
        }
        let requirements = match &self.edits_in_place {
            None => None,
            Some(edits) if edits.as_literal().is_some() => return None,
            Some(edits) => {
                let text = format!("({edits}) isnt true");
                Some(RuleOperand::new(&text, ParseOptions::default()).ok()?)
            }
        };
        let statement = |action| RuleStatement { action, range: range.clone(), line: self.rules.line };
        Some(TransformRule {
            name: self.rules.rule.name.clone(),
            requirements,
            statements: actions.into_iter().map(statement).collect(),
            ..TransformRule::default()
        })
    }
}

/// Returns the number of a universe by its name or number; `None` for other texts.
fn universe_number(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text[..digits].parse().ok().filter(|number| *number != 0);
    number.or_else(|| UNIVERSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, number)| *number))
}

/// Whether a rule gives a value to a variable.
fn assigns(rule: &TransformRule, name: &str) -> bool {
    rule.statements.iter().any(|statement| is_assignment(statement, name))
}

fn is_assignment(statement: &RuleStatement, name: &str) -> bool {
    matches!(&statement.action, RuleAction::Assign(variable, _) if variable.eq_ignore_ascii_case(name))
}

/// Whether a statement of a rule may set an attribute.
fn sets(rule: &TransformRule, name: &str) -> bool {
    let attribute = Name::new(name);
    rule.statements.iter().any(|statement| match &statement.action {
        RuleAction::Set(target, _) | RuleAction::Default(target, _) | RuleAction::EvaluateSet(target, _) => {
            *target == attribute
        }
        RuleAction::Copy(_, new) | RuleAction::Rename(_, new) => {
            new.eq_ignore_ascii_case(name) || new.contains(['$', '\\'])
        }
        _ => false,
    })
}
