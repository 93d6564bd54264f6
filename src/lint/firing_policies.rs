//! Finds policies of jobs that hit every healthy job.

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeAd, UnaryOperator, Value};
use crate::configuration::{PolicyEffectKind, system_policy};
use crate::eval::Context;

use super::finding::LintFinding;
use super::fix::LintFix;
use super::job_life::{JobMoment, JobPhase};
use super::missing_names::read_names;
use super::policy_trial::{PolicyTrial, PolicyTruth};
use super::rules;
use super::short_text::short_text;

/// What becomes of jobs that a policy hits: they are held, or removed.
const PAST: [&str; 2] = ["each is held", "each is removed"];

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
        let trial = PolicyTrial::new(&job, expression, None, &context);
        FiringCheck { trial: &trial, expression, effect, states }.check(knob)
    };
    let found = [None, Some(4320), Some(4_000_000_000)].map(finding);
    let found = found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().next()?;
    let message = found.message.replacen(knob.as_str(), "this", 1);
    Some(LintFinding { message, ..found })
}

/// A policy that may hit every job.
pub(super) struct FiringCheck<'a> {
    pub trial: &'a PolicyTrial<'a>,
    pub expression: &'a Expression,
    pub effect: PolicyEffectKind,
    /// The states of jobs in which HTCondor evaluates the policy; none if it does so at the end of a run.
    pub states: &'a [i64],
}

impl FiringCheck<'_> {
    /// Returns the finding that the policy fires for every healthy job; `None` if it does not. `name` is what holds it.
    pub(super) fn check(&self, name: &Name) -> Option<LintFinding> {
        let FiringCheck { trial, expression, effect, states } = *self;
        let (which, does) = self.firing()?;
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
        let is_inverted =
            states.is_empty() && !self.fires_at_exit(1) && !matches!(expression.kind(), ExpressionKind::Literal(_));
        Some(if is_inverted {
            let negated =
                ExpressionKind::Unary(UnaryOperator::Not, ExpressionKind::Parentheses(expression.clone()).into());
            let negated: Expression = negated.into();
            let help =
                format!("if it is meant for jobs that fail, write `{}`", short_text(&negated, trial.context.dialect));
            let fix = Some(LintFix::new(name, false, vec![(expression.clone(), negated)]));
            LintFinding { fix, ..finding.with_help(help) }
        } else {
            finding
        })
    }

    /// Returns for which healthy jobs a policy fires, all of them, and what becomes of them; `None` if it spares some.
    fn firing(&self) -> Option<(&'static str, &'static str)> {
        let FiringCheck { trial, effect, states, .. } = *self;
        let (idle, running, held) = (JobMoment::IDLE, JobMoment::RUNNING, JobMoment::HELD);
        let fires = |moment: JobMoment| self.fires(&moment);
        let is_cron =
            || trial.job.shape().names().iter().any(|name| name.as_str().to_ascii_lowercase().starts_with("cron"));
        let later = |moment: JobMoment| JobMoment { age: 600, ..moment };
        Some(match effect {
            PolicyEffectKind::Requeues if !is_cron() && self.fires_at_exit(self.success_code()) => {
                ("is false for a job that succeeds", "it runs again each time")
            }
            PolicyEffectKind::Requeues => return None,
            PolicyEffectKind::Holds if states.is_empty() && self.fires_at_exit(self.success_code()) => {
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
    fn fires(&self, moment: &JobMoment) -> bool {
        let truth = self.trial.truth(self.expression, moment, Some(JobPhase::Submit));
        truth == if self.effect == PolicyEffectKind::Requeues { PolicyTruth::False } else { PolicyTruth::True }
    }

    /// Whether a policy has its effect on each job that exits with a code, also after many starts.
    fn fires_at_exit(&self, code: i64) -> bool {
        let ended = JobMoment { exit: Some(("ExitCode", code)), ..JobMoment::EXITED };
        let often = JobMoment { starts: 20, age: 10 * 86400, ..ended };
        [ended, often].iter().all(|moment| self.fires(moment))
    }

    /// The exit code with which the job says that it succeeds.
    fn success_code(&self) -> i64 {
        match self.trial.job.get_str("JobSuccessExitCode").and_then(Expression::as_literal) {
            Some(Value::Integer(code)) => *code,
            _ => 0,
        }
    }
}
