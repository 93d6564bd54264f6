//! What the policies of a configuration do to a job: refuse it, change it, hold, release, remove or vacate it.

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Value};
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::format::Problem;
use crate::transform::Transform;

use super::bracketed::replace_scope;
use super::constants::value_truth;
use super::dump::Configuration;
use super::periodic_policies::PeriodicPolicies;
use super::periodic_policy::{self, JobPolicy};
use super::policy::ConfiguredPolicy;
use super::policy_effect::{PolicyEffect, PolicyEffectKind, text_of};
use super::rules::ConfiguredRule;

/// Policies of a configuration about jobs.
#[derive(Clone, Debug, Default)]
pub struct JobPolicies {
    /// Transforms in the order in which they are applied to a new job.
    pub transforms: Vec<ConfiguredRule>,
    requirements: Vec<SubmitRequirement>,
    periodic: PeriodicPolicies,
    /// The transforms as one, because they share their variables.
    transform: Transform,
}

/// Condition that a new job must satisfy.
#[derive(Clone, Debug)]
struct SubmitRequirement {
    condition: ConfiguredPolicy,
    reason: Option<ConfiguredPolicy>,
    /// Whether a job that does not satisfy it is accepted with a warning.
    only_warns: bool,
}

/// The beginning of the names of variables with a submit requirement.
const SUBMIT_REQUIREMENT: &str = "SUBMIT_REQUIREMENT_";

impl JobPolicies {
    /// Reads the policies about jobs. Those with an error are left out.
    #[must_use]
    pub fn read(configuration: &Configuration, context: &Context) -> (Self, Vec<Problem>) {
        let (transforms, mut problems) = configuration.job_transforms(context);
        let rules = transforms.iter().map(|rules| rules.rule.clone()).collect();
        let transform = Transform { rules, variables: configuration.variables().clone(), ..Transform::default() };
        let mut policies = JobPolicies { transforms, transform, ..JobPolicies::default() };
        let mut keep = |found: Result<Option<ConfiguredPolicy>, Problem>| {
            found.unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        let words = |name: &str| configuration.words(name, context);
        let mut faults = Vec::new();
        let mut list = |name: &str| words(name).map_err(|problem| faults.push(problem)).unwrap_or_default();
        for name in list("SUBMIT_REQUIREMENT_NAMES").iter().filter(|name| !name.eq_ignore_ascii_case("NAMES")) {
            let knob = format!("{SUBMIT_REQUIREMENT}{name}");
            let find = |knob: &str| ConfiguredPolicy::find(configuration, knob, context);
            let Some(condition) = keep(find(&knob)) else { continue };
            let reason = keep(find(&format!("{knob}_REASON")));
            let only_warns = configuration.truth(&format!("{knob}_IS_WARNING"), false, context).unwrap_or_default();
            policies.requirements.push(SubmitRequirement { condition, reason, only_warns });
        }
        policies.periodic = PeriodicPolicies::read(configuration, context, &mut list, &mut keep);
        problems.extend(faults);
        (policies, problems)
    }

    /// Returns the variables with periodic policies that HTCondor never evaluates.
    #[must_use]
    pub fn unevaluated(&self) -> &[String] {
        &self.periodic.unevaluated
    }

    /// Returns what the first policy that fires does to a job in the queue, be it of the job or of the configuration.
    #[must_use]
    pub fn queue_effect(&self, job: &Ad, context: &Context) -> Option<PolicyEffect> {
        self.periodic.effect(job, context)
    }

    /// Returns the conditions of the policies that a job in the queue has, its own ones and those of the configuration.
    pub fn queue_conditions<'a>(&'a self, job: &'a Ad) -> impl Iterator<Item = &'a Expression> {
        self.periodic.conditions(job)
    }

    /// Returns what becomes of a job whose run ends by itself, with `ExitBySignal` and `ExitCode` in its ad; `None` if it leaves
    /// the queue as usual.
    #[must_use]
    pub fn exit_effect(&self, job: &Ad, context: &Context) -> Option<PolicyEffect> {
        self.periodic.exit_effect(job, context)
    }

    /// Returns the ad of a job as the policies see it: with the present run in `RemoteWallClockTime`.
    #[must_use]
    pub fn evaluated_job(job: &Ad, context: &Context) -> Ad {
        periodic_policy::as_evaluated(job, context)
    }

    /// Returns the ad of a job whose run, if there is one, ends at a time.
    #[must_use]
    pub fn job_after_run(job: &Ad, at: i64, context: &Context) -> Ad {
        periodic_policy::after_run(job, at, context)
    }

    /// Returns the ad of a job after an effect at a time; `None` if the job leaves the queue.
    #[must_use]
    pub fn job_after(effect: &PolicyEffect, job: &Ad, at: i64, context: &Context) -> Option<Ad> {
        effect.changed_job(&periodic_policy::after_run(job, at, context), at, context)
    }

    /// Returns the policies that can have an effect on a job, in the order in which HTCondor tries them.
    #[must_use]
    pub fn of_job(&self, job: &Ad, context: &Context) -> Vec<JobPolicy> {
        self.periodic.of_job(job, context)
    }

    /// Adds the names that the policies of jobs in the queue read.
    pub fn add_queue_names(&self, names: &mut FreeNames, dialect: Dialect) {
        self.periodic.add_names(names, dialect);
    }

    /// Whether a policy can ever have an effect on a job in the queue.
    #[must_use]
    pub fn watch(&self, job: &Ad) -> bool {
        self.periodic.watch(job)
    }

    /// Returns the names of the requirements that [`JobPolicies::effects`] skips. They read the ad of the job queue, which
    /// is not among the inputs.
    pub fn skipped_requirements(&self) -> impl Iterator<Item = &str> {
        let skipped = self.requirements.iter().filter(|requirement| reads_queue(&requirement.condition.expression));
        skipped.map(|requirement| requirement.condition.name.as_str())
    }

    /// Returns what the policies do to a job: first the transforms and requirements, as if it were submitted now, then
    /// the first periodic policy that fires, be it of the job or of the configuration. A requirement that reads the ad of the job queue is left out.
    #[must_use]
    pub fn effects(&self, job: &Ad, context: &Context) -> Vec<PolicyEffect> {
        self.submit(job, context).1
    }

    /// Returns the job as the transforms leave it, and what the policies do to it, as [`JobPolicies::effects`] does.
    #[must_use]
    pub fn submit(&self, job: &Ad, context: &Context) -> (Ad, Vec<PolicyEffect>) {
        let (mut effects, mut submitted) = (Vec::new(), job.clone());
        if let Some(result) = self.transform.apply(&submitted, context).into_iter().next() {
            for (index, rules) in self.transforms.iter().enumerate() {
                let changes = result.changes.iter().filter(|change| change.position.rule == index);
                let mut names: Vec<&str> = changes.map(|change| change.attribute.as_str()).collect();
                names.dedup();
                if !names.is_empty() {
                    let (kind, reason) = (PolicyEffectKind::Changes, names.join(", "));
                    let (knob, line) = (rules.knob.clone(), Some(rules.line));
                    effects.push(PolicyEffect { knob, line, kind, reason, ..PolicyEffect::default() });
                }
            }
            submitted = result.ad;
        }
        for requirement in &self.requirements {
            let condition = &requirement.condition;
            if reads_queue(&condition.expression) {
                continue;
            }
            let name = condition.name.get(SUBMIT_REQUIREMENT.len()..).unwrap_or(&condition.name);
            let holds = value_of(&condition.expression, &submitted, context).as_ref().and_then(value_truth);
            let (kind, default) = match holds {
                Some(true) => continue,
                Some(false) if requirement.only_warns => {
                    (PolicyEffectKind::WarnsOf, format!("Submit requirement {name} not met."))
                }
                Some(false) => (PolicyEffectKind::Refuses, format!("Submit requirement {name} not met.")),
                // Such a job is refused even by a requirement that only warns, and for this reason.
                None => (PolicyEffectKind::Refuses, format!("Submit requirement {name} evaluated to non-boolean.")),
            };
            let given = requirement.reason.as_ref().filter(|_| holds.is_some());
            let given = text_of(given.and_then(|reason| value_of(&reason.expression, &submitted, context)));
            let reason = if given.is_empty() { default } else { given };
            let (knob, line) = (condition.name.clone(), Some(condition.line));
            effects.push(PolicyEffect { knob, line, kind, reason, ..PolicyEffect::default() });
            if kind == PolicyEffectKind::Refuses {
                break;
            }
        }
        effects.extend(self.periodic.effect(job, context));
        (submitted, effects)
    }
}

/// Returns the value of an expression of the job queue about a job, which is TARGET or JOB there; `None` if the
/// evaluation stopped.
fn value_of(expression: &Expression, job: &Ad, context: &Context) -> Option<Value> {
    let expression = replace_scope(expression, "JOB", Some("TARGET"));
    let (environment, frame) = Environment::known(None, Some(job.clone()));
    Evaluator::new(&environment, context).evaluate(&expression, &frame).ok()
}

/// Whether an expression reads the ad of the job queue, which no file of jobs has.
fn reads_queue(expression: &Expression) -> bool {
    expression.parts().any(|part| match part.kind() {
        ExpressionKind::Select(scope, _) => {
            matches!(scope.kind(), ExpressionKind::Attribute(scope) if scope.is("my") || scope.is("schedd"))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{JobPolicies, PolicyEffectKind};
    use crate::ad::Dialect;
    use crate::configuration::Configuration;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    const CONFIGURATION: &str = "JOB_TRANSFORM_NAMES = Memory\nJOB_TRANSFORM_Memory @=end\nREQUIREMENTS RequestMemory < 64\n\
        SET RequestMemory 64\n@end\nSUBMIT_REQUIREMENT_NAMES = Small, Named, Site\n\
        SUBMIT_REQUIREMENT_Small = RequestMemory <= $(MOST)\nSUBMIT_REQUIREMENT_Small_REASON = strcat(\"more than \", $(MOST))\n\
        SUBMIT_REQUIREMENT_Named = JOB.ProjectName =!= undefined\nSUBMIT_REQUIREMENT_Named_IS_WARNING = true\n\
        SUBMIT_REQUIREMENT_Site = SCHEDD.Site == \"x\"\nMOST = 1000\nSYSTEM_PERIODIC_HOLD_NAMES = Starts\n\
        SYSTEM_PERIODIC_HOLD_Starts = NumJobStarts > 5\nSYSTEM_PERIODIC_HOLD_Starts_REASON = \"often\"\n\
        SYSTEM_PERIODIC_REMOVE = NumJobStarts > 9\n";

    #[test]
    fn what_becomes_of_jobs() {
        let (configuration, _) = Configuration::read(CONFIGURATION.as_bytes());
        let context = Context::new(Dialect::Condor);
        let (policies, problems) = JobPolicies::read(&configuration, &context);
        assert!(problems.is_empty(), "{problems:?}");
        for (job, expected) in [
            ("RequestMemory = 100; ProjectName = \"p\"", ""),
            ("RequestMemory = 10; ProjectName = \"p\"", "changes by JOB_TRANSFORM_Memory:2 (RequestMemory)"),
            ("RequestMemory = 2000", "refuses by SUBMIT_REQUIREMENT_Small:7 (more than 1000)"),
            (
                "RequestMemory = 70; JobStatus = 1; NumJobStarts = 12",
                "warns of by SUBMIT_REQUIREMENT_Named:9 (Submit requirement Named not met.), holds by SYSTEM_PERIODIC_HOLD_Starts:14 (often)",
            ),
            (
                "RequestMemory = 70; JobStatus = 5; NumJobStarts = 12; ProjectName = 1",
                "removes by SYSTEM_PERIODIC_REMOVE:16 ()",
            ),
            (
                "ProjectName = 1",
                "refuses by SUBMIT_REQUIREMENT_Small:7 (Submit requirement Small evaluated to non-boolean.)",
            ),
        ] {
            let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let (submitted, effects) = policies.submit(&ad, &context);
            let is_changed = effects.iter().any(|effect| effect.kind == PolicyEffectKind::Changes);
            assert_eq!(submitted != ad, is_changed, "{job}");
            let shown = effects.iter().map(|effect| {
                let line = effect.line.unwrap_or_default();
                format!("{} by {}:{line} ({})", effect.kind.as_str(), effect.knob, effect.reason)
            });
            assert_eq!(shown.collect::<Vec<_>>().join(", "), expected, "{job}");
        }
    }
}
