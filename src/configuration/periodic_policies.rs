//! The policies of jobs in the queue, periodic ones and those at the end of a run: which one is evaluated in which state, in
//! which order, and what it does.

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};

use super::constants::{constant_number, constant_truth};
use super::dump::Configuration;
use super::policy::ConfiguredPolicy;
use super::policy_effect::{PolicyEffect, PolicyEffectKind, text_of};

/// A kind of periodic policy: an attribute of the job, and the variables of a configuration that hold the same for all
/// jobs.
struct PeriodicKind {
    /// The attribute of the job.
    attribute: &'static str,
    /// Condition under which the attribute has its effect, in the ad of the job; empty if the attribute is the condition.
    condition: &'static str,
    /// Name of the variable, and beginning of the names of further ones; `None` if a configuration has none.
    knob: Option<&'static str>,
    effect: PolicyEffectKind,
    /// Values of `JobStatus` in which the policy is evaluated.
    states: &'static [i64],
}

/// The kinds of periodic policies in the order in which they are tried. The first that is true has its effect; the
/// job's own one of a kind precedes those of the configuration (HTCondor's `user_job_policy.cpp`; seen with 25.14.1).
/// A removed job (3) has none.
const PERIODIC_KINDS: [PeriodicKind; 7] = [
    PeriodicKind {
        attribute: "AllowedJobDuration",
        condition: "time() - ShadowBday >= int(AllowedJobDuration)",
        knob: None,
        effect: PolicyEffectKind::Holds,
        states: &[2, 7],
    },
    PeriodicKind {
        attribute: "AllowedExecuteDuration",
        condition: "JobCurrentStartExecutingDate >= ShadowBday && int(AllowedExecuteDuration) < time() - \
            max({ JobCurrentStartExecutingDate, TransferOutFinished ?: 0 })",
        knob: None,
        effect: PolicyEffectKind::Holds,
        states: &[2, 7],
    },
    PeriodicKind {
        attribute: "PeriodicVacate",
        condition: "",
        knob: None,
        effect: PolicyEffectKind::Vacates,
        states: &[2, 7],
    },
    PeriodicKind {
        attribute: TIMER_REMOVE,
        condition: "int(TimerRemove) >= 0 && int(TimerRemove) < time()",
        knob: None,
        effect: PolicyEffectKind::Removes,
        states: &[1, 2, 4, 5, 6, 7],
    },
    PeriodicKind {
        attribute: "PeriodicHold",
        condition: "",
        knob: Some("SYSTEM_PERIODIC_HOLD"),
        effect: PolicyEffectKind::Holds,
        states: &[1, 2, 6, 7],
    },
    PeriodicKind {
        attribute: "PeriodicRelease",
        condition: "",
        knob: Some("SYSTEM_PERIODIC_RELEASE"),
        effect: PolicyEffectKind::Releases,
        states: &[5],
    },
    PeriodicKind {
        attribute: "PeriodicRemove",
        condition: "",
        knob: Some("SYSTEM_PERIODIC_REMOVE"),
        effect: PolicyEffectKind::Removes,
        states: &[1, 2, 4, 5, 6, 7],
    },
];

/// The time at which a job is removed. One that is no number ends the evaluation: nothing behind it is tried.
const TIMER_REMOVE: &str = "TimerRemove";

/// The attributes of a job that say what becomes of it when its run ends: it is held, or it stays in the queue if false.
const ON_EXIT_HOLD: &str = "OnExitHold";
const ON_EXIT_REMOVE: &str = "OnExitRemove";

/// The variables that HTCondor reads and never evaluates, as 25.14.1 does not.
pub(super) const UNEVALUATED_KNOB: &str = "SYSTEM_PERIODIC_VACATE";

/// `HoldReasonCode` of a job that its user holds (`UserRequest`). No policy releases it.
const HELD_BY_USER: i64 = 1;

/// `HoldReasonCode` of a job whose input is still on its way to the access point (`SpoolingInput`). It has no policies.
const SPOOLING: i64 = 16;

/// The periodic policies of a configuration, and of the jobs themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct PeriodicPolicies {
    policies: Vec<PeriodicPolicy>,
    /// The policies at the end of a run, in their order.
    at_exit: Vec<PeriodicPolicy>,
    /// Maximum number of times that a job is held before no policy releases it any more.
    max_releases: Option<i64>,
    /// Variables with policies that are never evaluated.
    pub unevaluated: Vec<String>,
}

/// Condition under which something happens to a job in the queue.
#[derive(Clone, Debug)]
struct PeriodicPolicy {
    /// The attribute of the job, or the variable.
    name: String,
    /// 1-based number of the variable's line in the dump; `None` for an attribute of the job.
    line: Option<usize>,
    condition: Expression,
    reason: Option<Expression>,
    subcode: Option<Expression>,
    /// Index in [`PERIODIC_KINDS`]; `None` for a policy at the end of a run.
    kind: Option<usize>,
}

impl PeriodicPolicies {
    /// Reads the policies of a configuration. `list` returns the words of a variable, `keep` a policy without an error.
    pub(super) fn read(
        configuration: &Configuration,
        context: &Context,
        list: &mut impl FnMut(&str) -> Vec<String>,
        keep: &mut impl FnMut(Result<Option<ConfiguredPolicy>, Problem>) -> Option<ConfiguredPolicy>,
    ) -> Self {
        let mut policies = Vec::new();
        let mut names = |base: &str| -> Vec<String> {
            let names = list(&format!("{base}_NAMES")).into_iter().filter(|name| !name.eq_ignore_ascii_case("NAMES"));
            names.map(|name| format!("{base}_{name}")).chain([base.to_owned()]).collect()
        };
        for (kind, PeriodicKind { attribute, condition, knob, .. }) in PERIODIC_KINDS.iter().enumerate() {
            let condition = if condition.is_empty() { attribute } else { condition };
            policies.extend(parsed(condition).map(|condition| {
                let [reason, subcode] = ["Reason", "SubCode"].map(|end| parsed(&format!("{attribute}{end}")));
                PeriodicPolicy {
                    name: (*attribute).to_owned(),
                    line: None,
                    condition,
                    reason,
                    subcode,
                    kind: Some(kind),
                }
            }));
            for name in knob.map(&mut names).unwrap_or_default() {
                let mut find = |name: &str| keep(ConfiguredPolicy::find(configuration, name, context));
                let Some(ConfiguredPolicy { expression: condition, line, .. }) = find(&name) else { continue };
                let [reason, subcode] =
                    ["REASON", "SUBCODE"].map(|end| find(&format!("{name}_{end}")).map(|policy| policy.expression));
                policies.push(PeriodicPolicy { name, line: Some(line), condition, reason, subcode, kind: Some(kind) });
            }
        }
        let is_false = |name: &str| {
            let entry = configuration.entry(name);
            entry.is_none_or(|entry| constant_truth(configuration.raw_value(entry), context) == Some(false))
        };
        let unevaluated = names(UNEVALUATED_KNOB).into_iter().filter(|name| !is_false(name)).collect();
        let max_releases = configuration.entry("SYSTEM_MAX_RELEASES");
        let max_releases = max_releases.and_then(|entry| constant_number(configuration.raw_value(entry), context));
        #[expect(clippy::cast_possible_truncation, reason = "HTCondor reads an integer")]
        let max_releases = max_releases.map(|number| number as i64).filter(|number| *number != -1);
        let at_exit = [ON_EXIT_HOLD, ON_EXIT_REMOVE].into_iter().filter_map(|name| {
            let [reason, subcode] = ["Reason", "SubCode"].map(|end| parsed(&format!("{name}{end}")));
            Some(PeriodicPolicy {
                name: name.to_owned(),
                line: None,
                condition: parsed(name)?,
                reason,
                subcode,
                kind: None,
            })
        });
        PeriodicPolicies { policies, at_exit: at_exit.collect(), max_releases, unevaluated }
    }

    /// Adds the names that the policies read in jobs.
    pub(super) fn add_names(&self, names: &mut FreeNames, dialect: Dialect) {
        names.names.extend(["ExitBySignal", "ExitCode", "HoldReasonCode", "JobStatus", "NumHolds"].map(Name::new));
        for policy in self.policies.iter().chain(&self.at_exit) {
            names.names.insert(Name::new(&policy.name));
            for expression in
                [Some(&policy.condition), policy.reason.as_ref(), policy.subcode.as_ref()].into_iter().flatten()
            {
                names.add(expression, dialect);
            }
        }
    }

    /// Whether a policy can ever have an effect on a job. A constant that has none cannot.
    pub(super) fn watch(&self, job: &Ad) -> bool {
        let is_idle = |policy: &PeriodicPolicy, expression: &Expression, unless: i64| {
            let literal = expression
                .as_literal()
                .filter(|_| policy.kind.is_none_or(|of| PERIODIC_KINDS[of].condition.is_empty()));
            literal.is_some_and(|value| integer(value).is_none_or(|number| (number != 0) == (unless != 0)))
        };
        let may_fire = |policy: &PeriodicPolicy| match policy.line {
            Some(_) => !is_idle(policy, &policy.condition, 0),
            None => job
                .get_str(&policy.name)
                .is_some_and(|own| !is_idle(policy, own, i64::from(policy.name == ON_EXIT_REMOVE))),
        };
        self.policies.iter().chain(&self.at_exit).any(may_fire)
    }

    /// Returns the conditions of the periodic policies that a job has, its own ones and those of the configuration.
    pub(super) fn conditions<'a>(&'a self, job: &'a Ad) -> impl Iterator<Item = &'a Expression> {
        let has = |policy: &&PeriodicPolicy| policy.line.is_some() || job.get_str(&policy.name).is_some();
        self.policies.iter().filter(has).map(|policy| &policy.condition)
    }

    /// Returns the effect of the first policy that fires when a run ends by itself; `None` if the job leaves the queue. The job
    /// still counts as running.
    pub(super) fn exit_effect(&self, job: &Ad, context: &Context) -> Option<PolicyEffect> {
        let periodic = self.first_effect(job, context, |kind| kind != PolicyEffectKind::Vacates);
        periodic.or_else(|| {
            let truth = |policy: &PeriodicPolicy| value_in(&policy.condition, job, context).as_ref().and_then(integer);
            self.at_exit.iter().find_map(|policy| match (policy.name.as_str(), truth(policy)) {
                (ON_EXIT_REMOVE, Some(0)) => Some(policy.effect(PolicyEffectKind::Requeues, job, context)),
                (ON_EXIT_HOLD, Some(number)) if number != 0 => {
                    Some(policy.effect(PolicyEffectKind::Holds, job, context))
                }
                _ => None,
            })
        })
    }

    /// Returns the effect of the first policy that fires; `None` if none does.
    pub(super) fn effect(&self, job: &Ad, context: &Context) -> Option<PolicyEffect> {
        self.first_effect(job, context, |_| true)
    }

    fn first_effect(
        &self,
        job: &Ad,
        context: &Context,
        is_tried: impl Fn(PolicyEffectKind) -> bool,
    ) -> Option<PolicyEffect> {
        let value = |expression: &Expression| value_in(expression, job, context);
        let number = |name: &str| job.get_str(name).and_then(value).as_ref().and_then(integer);
        let status = number("JobStatus").unwrap_or(1);
        let hold_code = (status == 5).then(|| number("HoldReasonCode")).flatten();
        if hold_code == Some(SPOOLING) {
            return None;
        }
        let is_kept_held = hold_code == Some(HELD_BY_USER)
            || self.max_releases.is_some_and(|max| number("NumHolds").unwrap_or(0) >= max);
        for policy in &self.policies {
            let kind = &PERIODIC_KINDS[policy.kind?];
            if !kind.states.contains(&status)
                || !is_tried(kind.effect)
                || (kind.effect == PolicyEffectKind::Releases && is_kept_held)
            {
                continue;
            }
            let is_true = value(&policy.condition).as_ref().and_then(integer).is_some_and(|number| number != 0);
            // The shadow of a running job holds it instead.
            let is_no_time =
                policy.name == TIMER_REMOVE && job.get_str(TIMER_REMOVE).is_some() && number(TIMER_REMOVE).is_none();
            if !is_true && !is_no_time {
                continue;
            }
            if is_no_time && [1, 4, 5].contains(&status) {
                return None;
            }
            let effect = if is_no_time { PolicyEffectKind::Holds } else { kind.effect };
            return Some(policy.effect(effect, job, context));
        }
        None
    }
}

impl PeriodicPolicy {
    /// Returns what the policy does to a job for which it fires.
    fn effect(&self, kind: PolicyEffectKind, job: &Ad, context: &Context) -> PolicyEffect {
        let value = |expression: &Expression| value_in(expression, job, context);
        let subcode = self.subcode.as_ref().filter(|_| kind == PolicyEffectKind::Holds);
        PolicyEffect {
            knob: self.name.clone(),
            line: self.line,
            kind,
            reason: text_of(self.reason.as_ref().and_then(value)),
            subcode: subcode.and_then(value).as_ref().and_then(integer).filter(|subcode| *subcode != 0),
        }
    }
}

/// Returns an expression of the table; `None` would be an error in it.
fn parsed(text: &str) -> Option<Expression> {
    parse_expression(text.as_bytes(), ParseOptions::long(Dialect::Condor)).ok()
}

/// Returns the value of an expression in a job's ad; `None` if the evaluation stopped.
fn value_in(expression: &Expression, job: &Ad, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(job.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

/// Returns a value as the integer for which a policy takes it: 0.5 is 0. `None` for what is no number, such as undefined.
#[expect(clippy::cast_possible_truncation, reason = "HTCondor cuts off the fraction")]
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Boolean(is) => Some(i64::from(*is)),
        Value::Integer(number) => Some(*number),
        Value::Real(number) => Some(*number as i64),
        _ => None,
    }
}
