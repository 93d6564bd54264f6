//! Checks the policies of a job beside the life of a healthy job: which are undefined, and which hit every job.
//!
//! HTCondor counts an undefined policy as false since 9.5, and did something with the job before (`user_job_policy.cpp`).

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, ScopeAd, UnaryOperator, Value};
use crate::configuration::{PolicyEffectKind, policy_attributes, system_policy};
use crate::constraint::ClauseOperand;
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::text::closest_names;

use super::finding::LintFinding;
use super::fix::LintFix;
use super::job_life::{JobMoment, JobPhase};
use super::rules;
use super::short_text::short_text;
use super::standard_attributes::{StandardType, is_of_one_side};
use super::subexpressions::{guarded_parts, subexpressions};

/// A long time, in seconds: no limit of a policy is longer.
const LONG_TIME: i64 = 400 * 86400;

/// A time at which a job was submitted, for policies that read no time of the job.
const USUAL_SUBMIT_TIME: i64 = 1_750_000_000;

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

/// A job with policies.
struct JobPolicyCheck<'a> {
    job: &'a Ad,
    context: &'a Context,
    submitted: i64,
    /// The names that the policy reads, directly or through attributes of the job.
    reads: Vec<Name>,
}

/// What a policy is at a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PolicyTruth {
    True,
    False,
    /// Undefined, or anything that is no number.
    Nothing,
}

/// Returns the findings about the policies of a job. `submitted` is the time at which it was submitted; `None` for any.
pub(super) fn check(job: &Ad, submitted: Option<i64>, context: &Context) -> Vec<LintFinding> {
    let own = policy_attributes().filter_map(|(name, effect, states)| {
        let name = Name::new(name);
        let expression = job.get(&name)?;
        JobPolicyCheck::new(job, expression, submitted, context).check_policy(&name, expression, effect, states)
    });
    own.collect()
}

impl<'a> JobPolicyCheck<'a> {
    /// Prepares to check a policy. `submitted` is the time at which the job was submitted; `None` for any.
    fn new(job: &'a Ad, expression: &Expression, submitted: Option<i64>, context: &'a Context) -> Self {
        let reads = read_names(job, expression, context.dialect);
        JobPolicyCheck { job, context, submitted: submitted.unwrap_or(USUAL_SUBMIT_TIME), reads }
    }

    /// Returns the finding about a policy that fires for every healthy job; `None` if it does not.
    fn check_firing(
        &self,
        name: &Name,
        expression: &Expression,
        effect: PolicyEffectKind,
        states: &[i64],
    ) -> Option<LintFinding> {
        let (which, does) = self.firing(expression, effect, states)?;
        let finding = LintFinding::new(&rules::FIRES, format!("{name} {which}: {does}")).at(name, expression, "");
        let finding = match effect {
            PolicyEffectKind::Requeues => {
                finding.with_help("write a sign of success, as in `ExitBySignal == false && ExitCode == 0`")
            }
            PolicyEffectKind::Holds if states.is_empty() => {
                finding.with_help("write a sign of failure, as in `ExitBySignal || ExitCode != 0`")
            }
            PolicyEffectKind::Releases => finding
                .with_help("name the holds that pass by themselves, as in `HoldReasonCode == 13 && NumJobStarts < 5`"),
            _ => finding,
        };
        // A policy that spares jobs which fail was meant the other way round.
        let is_inverted = states.is_empty()
            && !self.fires_at_exit(expression, effect, 1)
            && !matches!(expression.kind(), ExpressionKind::Literal(_));
        Some(if is_inverted {
            let negated =
                ExpressionKind::Unary(UnaryOperator::Not, ExpressionKind::Parentheses(expression.clone()).into());
            let negated: Expression = negated.into();
            let help =
                format!("if it is meant for jobs that fail, write `{}`", short_text(&negated, self.context.dialect));
            let fix = Some(LintFix::new(name, false, vec![(expression.clone(), negated)]));
            LintFinding { fix, ..finding.with_help(help) }
        } else {
            finding
        })
    }

    /// Returns for which healthy jobs a policy fires, all of them, and what becomes of them; `None` if it spares some.
    fn firing(
        &self,
        expression: &Expression,
        effect: PolicyEffectKind,
        states: &[i64],
    ) -> Option<(&'static str, &'static str)> {
        let (idle, running, held) = (JobMoment::IDLE, JobMoment::RUNNING, JobMoment::HELD);
        let fires = |moment: JobMoment| self.fires(expression, effect, &moment);
        let is_cron =
            || self.job.shape().names().iter().any(|name| name.as_str().to_ascii_lowercase().starts_with("cron"));
        let later = |moment: JobMoment| JobMoment { age: 600, ..moment };
        Some(match effect {
            PolicyEffectKind::Requeues if !is_cron() && self.fires_at_exit(expression, effect, self.success_code()) => {
                ("is false for a job that succeeds", "it runs again each time")
            }
            PolicyEffectKind::Requeues => return None,
            PolicyEffectKind::Holds
                if states.is_empty() && self.fires_at_exit(expression, effect, self.success_code()) =>
            {
                ("is true for a job that succeeds", "each is held at its end")
            }
            _ if states.is_empty() => return None,
            PolicyEffectKind::Releases => {
                let often = JobMoment { starts: 20, age: 10 * 86400, ..held };
                let codes = [13, 34, 6, 26].map(|hold_code| JobMoment { hold_code, ..held });
                let is_always = codes.into_iter().chain([later(held), often]).all(fires);
                if !is_always {
                    return None;
                }
                ("is true for every held job", "no hold lasts but that of its owner")
            }
            _ if states.contains(&1) && fires(idle) && fires(later(idle)) => {
                ("is true for every job that waits", PAST[usize::from(effect == PolicyEffectKind::Removes)])
            }
            _ if fires(running) && fires(later(running)) => (
                "is true for every job that runs",
                match effect {
                    PolicyEffectKind::Vacates => "each is taken from its slot, again and again",
                    effect => PAST[usize::from(effect == PolicyEffectKind::Removes)],
                },
            ),
            _ => return None,
        })
    }

    /// Whether a policy has its effect at a moment.
    fn fires(&self, expression: &Expression, effect: PolicyEffectKind, moment: &JobMoment) -> bool {
        let truth = self.truth(expression, moment, Some(JobPhase::Submit));
        truth == if effect == PolicyEffectKind::Requeues { PolicyTruth::False } else { PolicyTruth::True }
    }

    /// Whether a policy has its effect on each job that exits with a code, also after many starts.
    fn fires_at_exit(&self, expression: &Expression, effect: PolicyEffectKind, code: i64) -> bool {
        let ended = JobMoment { exit: Some(("ExitCode", code)), ..JobMoment::EXITED };
        let often = JobMoment { starts: 20, age: 10 * 86400, ..ended };
        [ended, often].iter().all(|moment| self.fires(expression, effect, moment))
    }

    fn check_policy(
        &self,
        name: &Name,
        expression: &Expression,
        effect: PolicyEffectKind,
        states: &[i64],
    ) -> Option<LintFinding> {
        if let Some(found) = self.check_firing(name, expression, effect, states) {
            return Some(found);
        }
        if expression.as_literal().is_some() {
            return None;
        }
        let of_states = [JobMoment::IDLE, JobMoment::RUNNING, JobMoment::HELD].into_iter();
        let mut moments: Vec<JobMoment> = of_states.filter(|moment| states.contains(&moment.status)).collect();
        if states.is_empty() {
            moments.push(JobMoment::EXITED);
        }
        let aged: Vec<JobMoment> = moments.iter().map(|moment| JobMoment { age: LONG_TIME, ..*moment }).collect();
        moments.extend(aged);
        self.check_never(name, expression, &moments)
            .or_else(|| self.check_signal(name, expression, states))
            .or_else(|| self.check_early(name, expression, if states.is_empty() { &[] } else { &moments }))
    }

    /// Reports a policy, or a part of one, that is undefined whatever HTCondor sets.
    fn check_never(&self, name: &Name, expression: &Expression, moments: &[JobMoment]) -> Option<LintFinding> {
        let all = Some(JobPhase::End);
        let missing = self.missing(expression, moments.first()?, all);
        if let Some(other) = missing.theirs.first() {
            let message = format!("{name} is evaluated without a slot, so that TARGET.{other} is undefined");
            let finding = LintFinding::new(&rules::UNDEFINED_POLICY, message).at(name, expression, "");
            if self.job.get(other).is_none() && JobPhase::of(other).is_none() {
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
        let is_undefined = |moment: &JobMoment| self.truth(expression, moment, all) == PolicyTruth::Nothing;
        let undefined = moments.iter().copied().chain(often).chain(of_codes).find(is_undefined)?;
        let missing = self.missing(expression, &undefined, all);
        let is_unknown = |name: &&Name| {
            JobPhase::of(name).is_none()
                && (StandardType::of(name).is_none() || is_of_one_side(name, true))
                && !LATER_BEGINNINGS.iter().any(|begin| has_beginning(name.as_str(), begin))
        };
        let lost = missing.own.iter().find(is_unknown)?;
        let message = format!("{name} is undefined, which counts as false: this job has no {lost}");
        let mut names: Vec<&str> = self.job.shape().names().iter().map(Name::as_str).collect();
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
        let place = Self::place(expression, lost);
        Some(LintFinding::new(&rules::UNDEFINED_POLICY, message).with_help(help).at(name, place, ""))
    }

    /// Reports a policy at the end of a run that is undefined for a job which a signal ends.
    fn check_signal(&self, name: &Name, expression: &Expression, states: &[i64]) -> Option<LintFinding> {
        let killed = JobMoment { exit: Some(("ExitSignal", 9)), ..JobMoment::EXITED };
        if !states.is_empty() || self.truth(expression, &killed, Some(JobPhase::Submit)) != PolicyTruth::Nothing {
            return None;
        }
        let code = Name::new("ExitCode");
        self.missing(expression, &killed, Some(JobPhase::Submit)).own.iter().find(|lost| **lost == code)?;
        let counts = if name.is("OnExitRemove") { "the job leaves the queue" } else { "the job is not held" };
        let message = format!("{name} is undefined for a job that a signal ends, which has no ExitCode: {counts}");
        let finding = LintFinding::new(&rules::UNDEFINED_POLICY, message).at(name, Self::place(expression, &code), "");
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
        let help = format!("write `{}`", short_text(first, self.context.dialect));
        let fix = Some(LintFix::new(name, false, replacements));
        Some(LintFinding { fix, ..finding.with_help(help) })
    }

    /// Notes that a policy is undefined until HTCondor sets an attribute.
    fn check_early(&self, name: &Name, expression: &Expression, moments: &[JobMoment]) -> Option<LintFinding> {
        let early = |moment: &JobMoment| JobMoment { complete: JobPhase::Submit, ..*moment };
        let undefined =
            |expression: &Expression, moment: &JobMoment| self.truth(expression, moment, None) == PolicyTruth::Nothing;
        let moments: Vec<JobMoment> =
            moments.iter().map(early).filter(|moment| undefined(expression, moment)).collect();
        let phase =
            |name: &Name| JobPhase::of(name).filter(|phase| !matches!(phase, JobPhase::Start | JobPhase::Incident));
        let (lost, set) = moments.iter().find_map(|moment| {
            self.missing(expression, moment, None).own.into_iter().find_map(|name| Some((name.clone(), phase(&name)?)))
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
            |fixed: &Expression| moments.iter().all(|moment| self.truth(fixed, moment, None) == PolicyTruth::False);
        let fix =
            Some(fix).filter(|fix| !names.is_empty() && fix.corrected(expression).as_ref().is_some_and(is_harmless));
        let write =
            if fix.is_some() { format!("write `({lost} ?: 0)`") } else { format!("test `isUndefined({lost})` first") };
        let help = format!("HTCondor sets it {set}, and before 9.5 held such jobs; to be exact, {write}");
        let finding = LintFinding::new(&rules::EARLY_POLICY, message).with_help(help);
        Some(LintFinding { fix, ..finding.at(name, Self::place(expression, &lost), "") })
    }

    /// The exit code with which the job says that it succeeds.
    fn success_code(&self) -> i64 {
        match self.job.get_str("JobSuccessExitCode").and_then(Expression::as_literal) {
            Some(Value::Integer(code)) => *code,
            _ => 0,
        }
    }

    /// Returns what a policy is at a moment. The job has all attributes of the phases up to `assumed`.
    fn truth(&self, expression: &Expression, moment: &JobMoment, assumed: Option<JobPhase>) -> PolicyTruth {
        let (ad, now) = moment.ad(self.job, &self.reads, self.submitted, assumed);
        let context = Context { now: Some(now), ..self.context.clone() };
        let (environment, frame) = Environment::single(ad);
        match Evaluator::new(&environment, &context).evaluate(expression, &frame) {
            Ok(Value::Boolean(true)) => PolicyTruth::True,
            Ok(Value::Boolean(false)) => PolicyTruth::False,
            Ok(Value::Integer(number)) => [PolicyTruth::False, PolicyTruth::True][usize::from(number != 0)],
            Ok(Value::Real(number)) => [PolicyTruth::False, PolicyTruth::True][usize::from(number.trunc() != 0.0)],
            _ => PolicyTruth::Nothing,
        }
    }

    /// Returns the names that an expression reads without a guard, directly or through attributes of the job, and that the job
    /// has not at a moment, as [`JobPolicyCheck::truth`] assumes it.
    fn missing(&self, expression: &Expression, moment: &JobMoment, assumed: Option<JobPhase>) -> MissingNames {
        let (ad, _) = moment.ad(self.job, &self.reads, self.submitted, assumed);
        missing_names(&ad, expression, self.context.dialect)
    }

    /// Returns the part of a policy that is a name; the whole policy if it reads the name through other attributes.
    fn place<'e>(expression: &'e Expression, name: &Name) -> &'e Expression {
        subexpressions(expression).find(|part| own_name(part) == Some(name)).unwrap_or(expression)
    }
}

/// What becomes of jobs that a policy hits: they are held, or removed.
const PAST: [&str; 2] = ["each is held", "each is removed"];

/// Returns the names that an expression of a job reads, directly or through attributes of the job.
fn read_names(job: &Ad, expression: &Expression, dialect: Dialect) -> Vec<Name> {
    let (mut names, mut next) = (FreeNames::of(expression, dialect).names, 0);
    while let Some(name) = names.get_index(next).cloned() {
        next += 1;
        let bound = job.get(&name).filter(|bound| bound.as_literal().is_none());
        names.extend(bound.into_iter().flat_map(|bound| FreeNames::of(bound, dialect).names));
    }
    names.into_iter().collect()
}

/// Names that an expression reads and that an ad has not.
#[derive(Default)]
pub(super) struct MissingNames {
    /// Those of the ad itself.
    pub own: Vec<Name>,
    /// Those of the other ad.
    pub theirs: Vec<Name>,
}

/// Returns the names that an expression of an ad reads without a guard, directly or through other attributes, and that the ad
/// has not.
pub(super) fn missing_names(ad: &Ad, expression: &Expression, dialect: Dialect) -> MissingNames {
    let (mut missing, mut pending, mut seen) = (MissingNames::default(), vec![expression.clone()], Vec::new());
    while let Some(expression) = pending.pop() {
        let guarded: Vec<&Name> = guarded_parts(&expression).filter_map(any_name).collect();
        let read = FreeNames::of(&expression, dialect);
        missing.theirs.extend(read.theirs.into_iter().filter(|name| !guarded.contains(&name)));
        for name in read.mine.into_iter().chain(read.unqualified) {
            if seen.contains(&name) || guarded.contains(&&name) || name.is("CurrentTime") {
                continue;
            }
            match ad.get(&name) {
                Some(bound) if bound.as_literal().is_none() => pending.push(bound.clone()),
                Some(_) => {}
                None => missing.own.push(name.clone()),
            }
            seen.push(name);
        }
    }
    missing
}

/// The name of an attribute of the own ad, if the expression is one.
fn own_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)
            if !matches!(expression.kind(), ExpressionKind::Parentheses(_)) =>
        {
            Some(name)
        }
        _ => None,
    }
}

/// The name of an attribute of either ad, if the expression is one.
fn any_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) | ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Literal(_) => None,
    }
}

fn has_beginning(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

/// Returns the finding about a variable of a configuration that holds a policy for all jobs, if it fires for every healthy
/// job.
#[must_use]
pub fn check_system_policy(knob: &Name, expression: &Expression, context: &Context) -> Option<LintFinding> {
    let (effect, states) = system_policy(knob.as_str())?;
    let context = Context { random: None, ..context.clone() };
    // What HTCondor does not set may be missing, small or large, such as the time at which a proxy expires.
    let unknown: Vec<Name> = read_names(&Ad::default(), expression, context.dialect)
        .into_iter()
        .filter(|name| JobPhase::of(name).is_none() && ScopeAd::of(name).is_none() && !name.is("CurrentTime"))
        .collect();
    let finding = |value: Option<i64>| {
        let value = value.map(|value| Expression::literal(Value::Integer(value)));
        let job: Ad = unknown.iter().filter_map(|name| Some((name.clone(), value.clone()?))).collect();
        JobPolicyCheck::new(&job, expression, None, &context).check_firing(knob, expression, effect, states)
    };
    let found = [None, Some(4320), Some(4_000_000_000)].map(finding);
    let found = found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().next()?;
    let message = found.message.replacen(knob.as_str(), "this", 1);
    Some(LintFinding { message, ..found })
}
