//! Checks the policies of a job beside the life of a healthy job: which hit every job, and which are undefined.
//!
//! HTCondor counts an undefined policy as false since 9.5, and did something with the job before (`user_job_policy.cpp`).

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::configuration::policy_attributes;
use crate::constraint::ClauseOperand;
use crate::eval::Context;
use crate::text::closest_names;

use super::finding::LintFinding;
use super::firing_policies::FiringCheck;
use super::fix::LintFix;
use super::job_life::{JobMoment, JobPhase};
use super::missing_names::own_name;
use super::policy_trial::{PolicyTrial, PolicyTruth};
use super::rules;
use super::short_text::short_text;
use super::standard_attributes::{StandardType, is_of_one_side};
use super::subexpressions::subexpressions;

/// A long time, in seconds: no limit of a policy is longer.
const LONG_TIME: i64 = 400 * 86400;

/// Maximum number of integers of a policy that are tried as codes of holds.
const MAX_CODES: usize = 8;

/// Beginnings of the names of attributes that jobs get from slots, from daemons and from their own programs.
const LATER_BEGINNINGS: [&str; 12] = [
    "Chirp",
    "Cumulative",
    "DAG",
    "GridJob",
    "Job",
    "Last",
    "MATCH_",
    "MachineAttr",
    "Num",
    "Remote",
    "Routed",
    "Transfer",
];

/// Returns the findings about the policies of a job. `submitted` is the time at which it was submitted; `None` for any.
pub(super) fn check(job: &Ad, submitted: Option<i64>, context: &Context) -> Vec<LintFinding> {
    let own = policy_attributes().filter_map(|(name, effect, states)| {
        let name = Name::new(name);
        let expression = job.get(&name)?;
        let trial = PolicyTrial::new(job, expression, submitted, context);
        let firing = FiringCheck { trial: &trial, expression, effect, states }.check(&name);
        firing.or_else(|| UndefinedCheck { trial: &trial, name: &name, expression }.check(states))
    });
    own.collect()
}

/// A policy of a job that may be undefined.
struct UndefinedCheck<'a> {
    trial: &'a PolicyTrial<'a>,
    /// The attribute of the policy.
    name: &'a Name,
    expression: &'a Expression,
}

impl UndefinedCheck<'_> {
    /// Returns the finding that the policy is undefined at some time. `states` are the states of jobs in which HTCondor
    /// evaluates it; none if it does so at the end of a run.
    fn check(&self, states: &[i64]) -> Option<LintFinding> {
        if self.expression.as_literal().is_some() {
            return None;
        }
        let of_states = [JobMoment::IDLE, JobMoment::RUNNING, JobMoment::HELD].into_iter();
        let mut moments: Vec<JobMoment> = of_states.filter(|moment| states.contains(&moment.status)).collect();
        if states.is_empty() {
            moments.push(JobMoment::EXITED);
        }
        let aged: Vec<JobMoment> = moments.iter().map(|moment| JobMoment { age: LONG_TIME, ..*moment }).collect();
        moments.extend(aged);
        self.check_never(&moments)
            .or_else(|| self.check_signal(states))
            .or_else(|| self.check_early(if states.is_empty() { &[] } else { &moments }))
    }

    /// Reports a policy, or a part of one, that is undefined whatever HTCondor sets.
    fn check_never(&self, moments: &[JobMoment]) -> Option<LintFinding> {
        let UndefinedCheck { trial, name, expression } = *self;
        let all = Some(JobPhase::End);
        let missing = trial.missing(expression, moments.first()?, all);
        if let Some(other) = missing.theirs.first() {
            let message = format!("{name} is evaluated without a slot, so that TARGET.{other} is undefined");
            let finding = LintFinding::new(&rules::UNDEFINED_POLICY, message).at(name, expression, "");
            if trial.job.get(other).is_none() && JobPhase::of(other).is_none() {
                return Some(
                    finding.with_help("name an attribute of the job; `job_machine_attrs` copies those of its slot"),
                );
            }
            let is_place =
                |part: &&Expression| matches!(ClauseOperand::of(part), Some(ClauseOperand::Other(of)) if of == other);
            let place = subexpressions(expression).find(is_place)?;
            let rewrite: Expression = ExpressionKind::Attribute(other.clone()).into();
            let fix = Some(LintFix::new(name, false, vec![(place.clone(), rewrite)]));
            return Some(LintFinding { fix, ..finding.with_help(format!("write `{other}`")) });
        }
        let codes = subexpressions(expression).filter_map(Expression::as_literal).filter_map(|value| match value {
            Value::Integer(code) => Some(*code),
            _ => None,
        });
        let while_held = moments.iter().filter(|moment| moment.status == 5);
        let codes: Vec<i64> = codes.take(MAX_CODES).collect();
        let of_codes =
            while_held.flat_map(|moment| codes.iter().map(|hold_code| JobMoment { hold_code: *hold_code, ..*moment }));
        let often = moments.iter().map(|moment| JobMoment { starts: 20, ..*moment });
        let is_undefined = |moment: &JobMoment| trial.truth(expression, moment, all) == PolicyTruth::Nothing;
        let undefined = moments.iter().copied().chain(often).chain(of_codes).find(is_undefined)?;
        let missing = trial.missing(expression, &undefined, all);
        let is_unknown = |name: &&Name| {
            JobPhase::of(name).is_none()
                && (StandardType::of(name).is_none() || is_of_one_side(name, true))
                && !LATER_BEGINNINGS.iter().any(|begin| has_beginning(name.as_str(), begin))
        };
        let lost = missing.own.iter().find(is_unknown)?;
        let message = format!("{name} is undefined, which counts as false: this job has no {lost}");
        let mut names: Vec<&str> = trial.job.shape().names().iter().map(Name::as_str).collect();
        names.extend(JobPhase::names().map(Name::as_str));
        let near = closest_names(lost.as_str(), names);
        let help = match near.first() {
            Some(near) => format!("did you mean {near}?"),
            None if is_of_one_side(lost, true) => {
                format!("{lost} is an attribute of slots; `job_machine_attrs` copies it to the job")
            }
            None => {
                format!("set {lost} when the job is submitted, or write `isUndefined({lost})` for a job without it")
            }
        };
        let place = self.place(lost);
        Some(LintFinding::new(&rules::UNDEFINED_POLICY, message).with_help(help).at(name, place, ""))
    }

    /// Reports a policy at the end of a run that is undefined for a job which a signal ends.
    fn check_signal(&self, states: &[i64]) -> Option<LintFinding> {
        let UndefinedCheck { trial, name, expression } = *self;
        let killed = JobMoment { exit: Some(("ExitSignal", 9)), ..JobMoment::EXITED };
        if !states.is_empty() || trial.truth(expression, &killed, Some(JobPhase::Submit)) != PolicyTruth::Nothing {
            return None;
        }
        let code = Name::new("ExitCode");
        trial.missing(expression, &killed, Some(JobPhase::Submit)).own.iter().find(|lost| **lost == code)?;
        let counts = if name.is("OnExitRemove") { "the job leaves the queue" } else { "the job is not held" };
        let message = format!("{name} is undefined for a job that a signal ends, which has no ExitCode: {counts}");
        let finding = LintFinding::new(&rules::UNDEFINED_POLICY, message).at(name, self.place(&code), "");
        let exact = |part: &Expression| match part.kind() {
            ExpressionKind::Binary(operator @ (BinaryOperator::Equal | BinaryOperator::NotEqual), left, right) => {
                let is_code = |operand: &Expression| own_name(operand) == Some(&code);
                let is_number = |operand: &Expression| matches!(operand.as_literal(), Some(Value::Integer(_)));
                let is_test = is_code(left) && is_number(right) || is_code(right) && is_number(left);
                let instead =
                    if *operator == BinaryOperator::Equal { BinaryOperator::Is } else { BinaryOperator::Isnt };
                is_test.then(|| Expression::binary(instead, left.clone(), right.clone()))
            }
            _ => None,
        };
        let replacements: Vec<(Expression, Expression)> =
            subexpressions(expression).filter_map(|part| Some((part.clone(), exact(part)?))).collect();
        let Some((_, first)) = replacements.first() else {
            return Some(finding.with_help("write `ExitBySignal || ...` for such jobs"));
        };
        let help = format!("write `{}`", short_text(first, trial.context.dialect));
        let fix = Some(LintFix::new(name, false, replacements));
        Some(LintFinding { fix, ..finding.with_help(help) })
    }

    /// Notes that a policy is undefined until HTCondor sets an attribute.
    fn check_early(&self, moments: &[JobMoment]) -> Option<LintFinding> {
        let UndefinedCheck { trial, name, expression } = *self;
        let early = |moment: &JobMoment| JobMoment { complete: JobPhase::Submit, ..*moment };
        let undefined =
            |expression: &Expression, moment: &JobMoment| trial.truth(expression, moment, None) == PolicyTruth::Nothing;
        let moments: Vec<JobMoment> =
            moments.iter().map(early).filter(|moment| undefined(expression, moment)).collect();
        let phase =
            |name: &Name| JobPhase::of(name).filter(|phase| !matches!(phase, JobPhase::Start | JobPhase::Incident));
        let (lost, set) = moments.iter().find_map(|moment| {
            trial.missing(expression, moment, None).own.into_iter().find_map(|name| Some((name.clone(), phase(&name)?)))
        })?;
        let set = match set {
            JobPhase::Update => "with the first update of a run",
            JobPhase::End => "when a run ends",
            _ => "when a job is submitted",
        };
        let message = format!("{name} is undefined, which counts as false, until the job has {lost}");
        let names: Vec<&Expression> = subexpressions(expression).filter(|part| own_name(part) == Some(&lost)).collect();
        let guarded = |place: &Expression| {
            let zero = Expression::literal(Value::Integer(0));
            let with: Expression = ExpressionKind::Elvis(place.clone(), zero).into();
            (place.clone(), ExpressionKind::Parentheses(with).into())
        };
        let fix = LintFix::new(name, false, names.iter().map(|place| guarded(place)).collect());
        let is_harmless =
            |fixed: &Expression| moments.iter().all(|moment| trial.truth(fixed, moment, None) == PolicyTruth::False);
        let fix =
            Some(fix).filter(|fix| !names.is_empty() && fix.corrected(expression).as_ref().is_some_and(is_harmless));
        let write =
            if fix.is_some() { format!("write `({lost} ?: 0)`") } else { format!("test `isUndefined({lost})` first") };
        let help = format!("HTCondor sets it {set}, and before 9.5 held such jobs; to be exact, {write}");
        let finding = LintFinding::new(&rules::EARLY_POLICY, message).with_help(help);
        Some(LintFinding { fix, ..finding.at(name, self.place(&lost), "") })
    }

    /// Returns the part of the policy that is a name; the whole policy if it reads the name through other attributes.
    fn place(&self, name: &Name) -> &Expression {
        subexpressions(self.expression).find(|part| own_name(part) == Some(name)).unwrap_or(self.expression)
    }
}

fn has_beginning(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}
