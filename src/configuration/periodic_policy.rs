//! One policy of jobs in the queue: its condition, and what it does to a job.

use crate::ad::{Ad, AdExtension, Dialect, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::syntax::{ParseOptions, Style, expression_text, parse_expression};

use super::policy_effect::{PolicyEffect, PolicyEffectKind, text_of};

/// The attributes of a job that say how long it may run, from the start of its shadow and from that of its program.
pub(super) const ALLOWED_JOB_DURATION: &str = "AllowedJobDuration";
pub(super) const ALLOWED_EXECUTE_DURATION: &str = "AllowedExecuteDuration";

/// Values of `JobStatus` of a job that a shadow runs.
pub(super) const RUNNING: [i64; 3] = [2, 6, 7];

/// How often the program of a job began.
const JOB_STARTS: &str = "NumJobStarts";

/// The seconds that a job ran.
const WALL_CLOCK: &str = "RemoteWallClockTime";

/// The time at which the shadow of a running job began.
const SHADOW_BIRTH: &str = "ShadowBday";

/// The time at which a job is removed. One that is no number ends the evaluation: nothing behind it is tried.
pub(super) const TIMER_REMOVE: &str = "TimerRemove";

/// The attributes of a job that say what becomes of it when its run ends: it is held, or it stays in the queue if false.
pub(super) const ON_EXIT_HOLD: &str = "OnExitHold";
pub(super) const ON_EXIT_REMOVE: &str = "OnExitRemove";

/// A policy that can have an effect on a job in the queue.
#[derive(Clone, Debug)]
pub struct JobPolicy {
    /// The attribute of the job, or the variable of the configuration.
    pub name: String,
    /// 1-based number of the variable's line in the dump; `None` for an attribute of the job.
    pub line: Option<usize>,
    /// The expression as it is written.
    pub expression: Expression,
    /// The condition in the ad of the job under which the policy has its effect. That of `OnExitRemove` keeps it from the effect.
    pub condition: Expression,
    /// What the policy does.
    pub effect: PolicyEffectKind,
    /// Whether it is evaluated when a run ends by itself. Another policy is evaluated periodically.
    pub is_at_exit: bool,
    /// Whether HTCondor evaluates it while the job is as it is.
    pub applies: bool,
}

/// Condition under which something happens to a job in the queue.
#[derive(Clone, Debug)]
pub(super) struct PeriodicPolicy {
    /// The attribute of the job, or the variable.
    pub name: String,
    /// 1-based number of the variable's line in the dump; `None` for an attribute of the job.
    pub line: Option<usize>,
    pub condition: Expression,
    pub reason: Option<Expression>,
    pub subcode: Option<Expression>,
    /// Index in the table of periodic policies; `None` for a policy at the end of a run.
    pub kind: Option<usize>,
    /// The first word of the variable, and its value, as the reason of HTCondor tells them; empty for an attribute of the job.
    pub knob: [String; 2],
    /// Whether the condition is made of the attribute, such as a time.
    pub is_derived: bool,
}

impl PeriodicPolicy {
    /// Returns the expression as the job or the configuration has it.
    pub fn written<'e>(&'e self, job: &'e Ad) -> Option<&'e Expression> {
        if self.line.is_some() { Some(&self.condition) } else { job.get_str(&self.name) }
    }

    /// Whether the policy can ever have an effect on a job.
    pub fn may_fire(&self, job: &Ad) -> bool {
        let Some(literal) = self.written(job).map(|written| written.as_literal().filter(|_| !self.is_derived)) else {
            return false;
        };
        let unless = self.name == ON_EXIT_REMOVE;
        literal.is_none_or(|value| integer(value).is_some_and(|number| (number != 0) != unless))
    }

    /// Returns what the policy does to a job for which it fires.
    pub fn effect(&self, kind: PolicyEffectKind, job: &Ad, context: &Context) -> PolicyEffect {
        let value = |expression: &Expression| value_in(expression, job, context);
        let has_codes = matches!(kind, PolicyEffectKind::Holds | PolicyEffectKind::Vacates);
        let is_undefined = self.name == TIMER_REMOVE && kind == PolicyEffectKind::Holds;
        let subcode = self.subcode.as_ref().filter(|_| has_codes);
        let code = match self.name.as_str() {
            ALLOWED_JOB_DURATION => 46,
            ALLOWED_EXECUTE_DURATION => 47,
            _ if is_undefined => 5,
            _ if kind == PolicyEffectKind::Vacates => 1000,
            _ if self.line.is_some() => 26,
            _ => 3,
        };
        let outcome = match kind {
            PolicyEffectKind::Requeues => "FALSE",
            _ if is_undefined => "UNDEFINED",
            _ => "TRUE",
        };
        let standard_reason = match (code, &self.knob) {
            (46 | 47, _) => {
                let what = if code == 46 { "job" } else { "execute" };
                let allowed = number_in(job, &self.name, context).unwrap_or_default();
                format!("The job exceeded allowed {what} duration of {}", short_time(allowed))
            }
            (26, [knob, text]) => format!("The system macro {knob} expression '{text}' evaluated to {outcome}"),
            _ => {
                let text = job.get_str(&self.name).map(|own| expression_text(own, Style::LongLibrary));
                let (name, text) = (&self.name, text.unwrap_or_default());
                format!("The job attribute {name} expression '{text}' evaluated to {outcome}")
            }
        };
        PolicyEffect {
            knob: self.name.clone(),
            line: self.line,
            kind,
            reason: text_of(self.reason.as_ref().and_then(value)),
            subcode: subcode.and_then(value).as_ref().and_then(integer).filter(|subcode| *subcode != 0),
            code: has_codes.then_some(code),
            standard_reason,
        }
    }
}

/// Returns the ad of a job as policies see it. The shadow of a running job adds the present run to `RemoteWallClockTime`, and counts
/// it in `NumJobStarts` before the access point does.
pub(super) fn as_evaluated(job: &Ad, context: &Context) -> Ad {
    let number = |name: &str| number_in(job, name, context);
    let is_run = number("JobStatus").is_some_and(|status| RUNNING.contains(&status));
    let Some(birth) = job.get_str(SHADOW_BIRTH).filter(|_| is_run).and_then(|_| number(SHADOW_BIRTH)) else {
        return job.clone();
    };
    let before = job.get_str(WALL_CLOCK).map(|before| expression_text(before, Style::of(Dialect::Condor)));
    let clock = before.and_then(|before| parsed(&format!("({before}) + (time() - {birth})")));
    let executes = number("JobCurrentStartExecutingDate").is_some_and(|start| start >= birth);
    let starts = (executes && number(JOB_STARTS) == Some(0)).then(|| Expression::literal(Value::Integer(1)));
    let seen = [(WALL_CLOCK, clock), (JOB_STARTS, starts)].into_iter();
    let seen = seen.filter_map(|(name, value)| Some((Name::new(name), value?)));
    AdExtension::new(seen.collect()).extend(job)
}

/// Returns the ad of a job whose run, if there is one, ends at a time: the run is in `RemoteWallClockTime`, and no shadow is
/// left.
pub(super) fn after_run(job: &Ad, at: i64, context: &Context) -> Ad {
    let context = Context { now: Some(at), ..context.clone() };
    let name = Name::new(WALL_CLOCK);
    let seen = as_evaluated(job, &context);
    match seen.get(&name).and_then(|clock| value_in(clock, &seen, &context)) {
        Some(value) => {
            let values = [(name, value), (Name::new(SHADOW_BIRTH), Value::Undefined)];
            let values = values.into_iter().map(|(name, value)| (name, Expression::literal(value)));
            AdExtension::new(values.collect()).extend(job)
        }
        None => job.clone(),
    }
}

/// Writes seconds as HTCondor does in reasons: `01:15`, `1:00:00`, `1+00:00:00`.
pub(super) fn short_time(seconds: i64) -> String {
    let [days, hours, minutes, rest] = [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    match (days, hours) {
        (0, 0) => format!("{minutes:02}:{rest:02}"),
        (0, hours) => format!("{hours}:{minutes:02}:{rest:02}"),
        (days, hours) => format!("{days}+{hours:02}:{minutes:02}:{rest:02}"),
    }
}

/// Returns an attribute of a job as a policy reads it; `None` if it is no number.
pub(super) fn number_in(job: &Ad, name: &str, context: &Context) -> Option<i64> {
    job.get_str(name).and_then(|own| value_in(own, job, context)).as_ref().and_then(integer)
}

/// Returns an expression of the table; `None` would be an error in it.
pub(super) fn parsed(text: &str) -> Option<Expression> {
    parse_expression(text.as_bytes(), ParseOptions::long(Dialect::Condor)).ok()
}

/// Returns the value of an expression in a job's ad; `None` if the evaluation stopped.
pub(super) fn value_in(expression: &Expression, job: &Ad, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(job.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

/// Returns a value as the integer for which a policy takes it: 0.5 is 0. `None` for what is no number, such as undefined.
#[expect(clippy::cast_possible_truncation, reason = "HTCondor cuts off the fraction")]
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Boolean(is) => Some(i64::from(*is)),
        Value::Integer(number) => Some(*number),
        Value::Real(number) => Some(*number as i64),
        _ => None,
    }
}
