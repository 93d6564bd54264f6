//! The policies of jobs in the queue, periodic ones and those at the end of a run: which one is evaluated in which state, in
//! which order, and what it does.

use crate::ad::{Ad, Dialect, Expression, Name};
use crate::eval::{Context, FreeNames};
use crate::format::Problem;

use super::constants::{constant_number, constant_truth};
use super::dump::Configuration;
use super::periodic_policy::{
    ALLOWED_EXECUTE_DURATION, ALLOWED_JOB_DURATION, JobPolicy, ON_EXIT_HOLD, ON_EXIT_REMOVE, PeriodicPolicy, RUNNING,
    TIMER_REMOVE, as_evaluated, integer, number_in, parsed, value_in,
};
use super::policy::ConfiguredPolicy;
use super::policy_effect::{PolicyEffect, PolicyEffectKind};

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
        attribute: ALLOWED_JOB_DURATION,
        condition: "time() - ShadowBday >= int(AllowedJobDuration)",
        knob: None,
        effect: PolicyEffectKind::Holds,
        states: &[2, 7],
    },
    PeriodicKind {
        attribute: ALLOWED_EXECUTE_DURATION,
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

/// Returns the attributes of jobs that are policies, each with its effect and with the values of `JobStatus` in which it is
/// evaluated. Those of the end of a run have no such values; `OnExitRemove` has its effect if it is false.
pub fn policy_attributes() -> impl Iterator<Item = (&'static str, PolicyEffectKind, &'static [i64])> {
    let periodic = PERIODIC_KINDS.iter().filter(|kind| kind.condition.is_empty());
    let at_exit = [(ON_EXIT_HOLD, PolicyEffectKind::Holds), (ON_EXIT_REMOVE, PolicyEffectKind::Requeues)];
    let at_exit = at_exit.into_iter().map(|(name, effect)| (name, effect, &[][..]));
    periodic.map(|kind| (kind.attribute, kind.effect, kind.states)).chain(at_exit)
}

/// Returns the effect of a variable of a configuration that holds a policy for all jobs, and the values of `JobStatus` in which
/// it is evaluated. `None` for any other variable, and for a reason or a subcode.
#[must_use]
pub fn system_policy(knob: &str) -> Option<(PolicyEffectKind, &'static [i64])> {
    let ends_with = |end: &str| knob.len() >= end.len() && knob[knob.len() - end.len()..].eq_ignore_ascii_case(end);
    if !knob.is_ascii() || ["_NAMES", "_REASON", "_SUBCODE"].into_iter().any(ends_with) {
        return None;
    }
    let is_of = |base: &str| {
        let rest = knob.get(..base.len()).filter(|start| start.eq_ignore_ascii_case(base)).map(|_| &knob[base.len()..]);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let kind = PERIODIC_KINDS.iter().find(|kind| kind.knob.is_some_and(is_of))?;
    Some((kind.effect, kind.states))
}

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
            let is_derived = !condition.is_empty();
            let condition = if is_derived { condition } else { attribute };
            policies.extend(parsed(condition).map(|condition| {
                let [reason, subcode] = ["Reason", "SubCode"].map(|end| parsed(&format!("{attribute}{end}")));
                PeriodicPolicy {
                    name: (*attribute).to_owned(),
                    line: None,
                    condition,
                    reason,
                    subcode,
                    kind: Some(kind),
                    knob: Default::default(),
                    is_derived,
                }
            }));
            for name in knob.map(&mut names).unwrap_or_default() {
                let mut find = |name: &str| keep(ConfiguredPolicy::find(configuration, name, context));
                let Some(ConfiguredPolicy { expression: condition, line, text, .. }) = find(&name) else { continue };
                let [reason, subcode] =
                    ["REASON", "SUBCODE"].map(|end| find(&format!("{name}_{end}")).map(|policy| policy.expression));
                let (line, kind, knob) = (Some(line), Some(kind), [knob.unwrap_or_default().to_owned(), text]);
                policies.push(PeriodicPolicy { name, line, condition, reason, subcode, kind, knob, is_derived: false });
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
                knob: Default::default(),
                is_derived: false,
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
        self.policies.iter().chain(&self.at_exit).any(|policy| policy.may_fire(job))
    }

    /// Returns the policies that can have an effect on a job, in the order in which they are tried.
    pub(super) fn of_job(&self, job: &Ad, context: &Context) -> Vec<JobPolicy> {
        let watched = self.policies.iter().chain(&self.at_exit).filter(|policy| policy.may_fire(job));
        let mut found = Vec::new();
        for policy in watched {
            let Some(expression) = policy.written(job) else { continue };
            let status = number_in(job, "JobStatus", context).unwrap_or(1);
            let periodic = policy.kind.map(|kind| &PERIODIC_KINDS[kind]);
            let effect = match periodic {
                Some(kind) => kind.effect,
                None if policy.name == ON_EXIT_HOLD => PolicyEffectKind::Holds,
                None => PolicyEffectKind::Requeues,
            };
            let applies = match periodic {
                Some(PeriodicKind { effect: PolicyEffectKind::Releases, .. }) => {
                    status == 5 && !self.is_kept_held(job, context)
                }
                Some(kind) => kind.states.contains(&status),
                None => RUNNING.contains(&status),
            };
            found.push(JobPolicy {
                name: policy.name.clone(),
                line: policy.line,
                expression: expression.clone(),
                condition: policy.condition.clone(),
                effect,
                is_at_exit: policy.kind.is_none(),
                applies: applies && number_in(job, "HoldReasonCode", context).filter(|_| status == 5) != Some(SPOOLING),
            });
        }
        found
    }

    /// Whether no policy releases a held job.
    fn is_kept_held(&self, job: &Ad, context: &Context) -> bool {
        number_in(job, "HoldReasonCode", context) == Some(HELD_BY_USER)
            || self.max_releases.is_some_and(|max| number_in(job, "NumHolds", context).unwrap_or(0) >= max)
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
        let job = &as_evaluated(job, context);
        let value = |expression: &Expression| value_in(expression, job, context);
        let number = |name: &str| number_in(job, name, context);
        let status = number("JobStatus").unwrap_or(1);
        if status == 5 && number("HoldReasonCode") == Some(SPOOLING) {
            return None;
        }
        for policy in &self.policies {
            let kind = &PERIODIC_KINDS[policy.kind?];
            if !kind.states.contains(&status)
                || !is_tried(kind.effect)
                || (kind.effect == PolicyEffectKind::Releases && self.is_kept_held(job, context))
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
