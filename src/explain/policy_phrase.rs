//! Sentences about what the policies of a job will do.

use crate::ad::time::local_moment;
use crate::configuration::PolicyEffectKind;
use crate::text::{duration, join_and, join_with, shorten};

use super::failure_phrase::FailureWriter;
use super::foreseen_effect::ForeseenEffect;
use super::job_outlook::JobOutlook;
use super::policy_outlook::{PolicyGap, PolicyMoment, PolicyOutlook};

/// Attributes that are true when a time has come, and what is said then.
const TIMES: [(&str, &str); 3] =
    [("AllowedExecuteDuration", "is over"), ("AllowedJobDuration", "is over"), ("TimerRemove", "has come")];

/// Writes sentences about what policies will do to a job.
#[derive(Clone, Copy)]
pub struct PolicyWriter<'w> {
    pub(super) subject: &'w str,
    pub(super) is_plural: bool,
    pub(super) failures: FailureWriter<'w>,
}

impl PolicyWriter<'_> {
    fn verb<'v>(&self, singular: &'v str, plural: &'v str) -> &'v str {
        if self.is_plural { plural } else { singular }
    }

    /// Says what happens at the next evaluation: `1.0 will be held within 1 min: PeriodicHold is true: ...`. `None` if nothing
    /// does.
    #[must_use]
    pub fn imminent(&self, outlook: &JobOutlook) -> Option<String> {
        let foreseen = outlook.imminent()?;
        let (subject, done, within) = (self.subject, foreseen.effect.kind.participle(), within(outlook));
        let is =
            outlook.first().map_or_else(|| foreseen.effect.knob.clone(), |first| Self::is_true(first, outlook, ""));
        Some(format!("{subject} will be {done}{within}{}: {is}", codes(foreseen)))
    }

    /// Says that a policy of the job has no value, for a job that does not wait; empty if each has one.
    #[must_use]
    pub fn faults(&self, outlook: &JobOutlook) -> String {
        let faulty = outlook.faulty().and_then(|policy| Some((policy, self.fault(policy)?)));
        faulty.map_or_else(String::new, |(policy, fault)| format!("; {} {fault}", policy.name))
    }

    /// Says of each policy what it does, in a line of its own. One line for those that do nothing by the clock alone.
    /// What [`PolicyWriter::faults`] says is left out if it is told.
    #[must_use]
    pub fn lines(&self, outlook: &JobOutlook, faults_are_told: bool) -> Vec<String> {
        let is_foreseen = |policy: &PolicyOutlook| {
            policy.moment != PolicyMoment::AtExit && outlook.course.iter().any(|next| next.effect.knob == policy.name)
        };
        let (mut lines, mut quiet) = (Vec::new(), Vec::new());
        let first = outlook.first();
        for policy in &outlook.policies {
            let is_first = first.is_some_and(|first| std::ptr::eq(first, policy));
            let is_quiet = policy.moment == PolicyMoment::Never && !policy.is_faulty();
            if is_first {
                lines.extend(self.first_line(policy, outlook, faults_are_told));
                lines.extend(self.course(outlook));
            } else if is_quiet {
                quiet.push(policy);
            } else if !(is_foreseen(policy) || faults_are_told && policy.moment == PolicyMoment::Never) {
                lines.push(self.line(policy, outlook, faults_are_told));
            }
        }
        lines.extend(quiet_line(&quiet));
        lines
    }

    /// Says what the policy with the first effect does. What the first sentence of the report says is left out.
    fn first_line(&self, policy: &PolicyOutlook, outlook: &JobOutlook, faults_are_told: bool) -> Option<String> {
        if outlook.imminent().is_none() {
            return Some(self.line(policy, outlook, faults_are_told));
        }
        let reason = &outlook.course.first()?.effect.reason;
        (!reason.is_empty()).then(|| format!("{} gives the reason: {}", policy.name, shorten(reason, MAX_REASON_CHARS)))
    }

    /// Says what one policy does.
    fn line(&self, policy: &PolicyOutlook, outlook: &JobOutlook, faults_are_told: bool) -> String {
        let [it, its] = [self.verb("it", "they"), self.verb("its", "their")];
        let PolicyOutlook { name, part, .. } = policy;
        let known = outlook.course.first().filter(|first| first.effect.knob == *name);
        let effect = known.map_or(policy.effect, |known| known.effect.kind);
        let told = known.map(|known| codes(known) + &reason(known)).unwrap_or_default();
        let done = format!("{it} will be {}", effect.participle());
        let fault = self.fault(policy);
        match policy.moment {
            PolicyMoment::Now => format!("{}: {done}{}{told}", Self::is_true(policy, outlook, ""), within(outlook)),
            PolicyMoment::From(at, is_sampled) => {
                let about = if is_sampled { "about " } else { "" };
                let from = format!(" from {about}{} on, in {}", local_moment(at), duration(at - outlook.now));
                let now =
                    fault.filter(|_| !faults_are_told).map_or_else(String::new, |fault| format!("; now it {fault}"));
                format!("{}: {done} then{told}{now}", Self::is_true(policy, outlook, &from))
            }
            PolicyMoment::AtExit => {
                let (done, condition) = match effect {
                    PolicyEffectKind::Requeues => (format!("{it} {} again", self.verb("runs", "run")), "unless"),
                    _ => (done, "if"),
                };
                let condition = part.as_ref().map(|part| format!(", {condition} {}", self.failures.quoted(part)));
                format!("{name}: {done} when {its} run ends{}", condition.unwrap_or_default())
            }
            PolicyMoment::Unknown(at) => {
                let what = match &policy.fault {
                    Some(PolicyGap::Undefined(names)) if !names.is_empty() => join_and(names),
                    _ => "what the ad lacks".to_owned(),
                };
                let (from, after) = (local_moment(at), duration(at - outlook.now));
                format!("{name} depends on {what} from {from} on, in {after}: not defined in this ad")
            }
            PolicyMoment::Never => format!("{name} {}", fault.unwrap_or_default()),
        }
    }

    /// Says that a policy is true, and which part of it. `when` says from when on.
    fn is_true(policy: &PolicyOutlook, outlook: &JobOutlook, when: &str) -> String {
        let is = TIMES.iter().find(|(name, _)| *name == policy.name).map_or("is true", |(_, words)| words);
        let has_no_value = |next: &ForeseenEffect| next.effect.knob == policy.name && next.effect.kind != policy.effect;
        let is = if outlook.course.first().is_some_and(has_no_value) { "has no value" } else { is };
        let part = policy.part.as_ref().map(|part| format!(": `{}`", shorten(part, MAX_PART_CHARS)));
        format!("{} {is}{when}{}", policy.name, part.unwrap_or_default())
    }

    /// Says why a policy has no value; `None` if it has one.
    fn fault(&self, policy: &PolicyOutlook) -> Option<String> {
        let counts = "and counts as false";
        match policy.fault.as_ref()? {
            PolicyGap::Undefined(names) => {
                let (missing, are) = (join_with(names, "or"), "is not defined");
                let as_told = if names.is_empty() { String::new() } else { format!(", as {missing} {are},") };
                Some(format!("is undefined{as_told} {counts} (HTCondor before 9.5 held such a job)"))
            }
            PolicyGap::Error => {
                let part = policy.part.as_ref().map(|part| format!(" ({})", self.failures.quoted(part)));
                Some(format!("is an error{} {counts}", part.unwrap_or_default()))
            }
        }
    }

    /// Says what happens after the first effect.
    fn course(&self, outlook: &JobOutlook) -> Vec<String> {
        let after = outlook.course.iter().zip(outlook.course.iter().skip(1)).enumerate();
        after
            .map(|(place, (before, next))| {
                let is_again = outlook.course[..=place].iter().any(|known| known.effect.knob == next.effect.knob);
                let [again, end] = if is_again { [" again", ", and so on"] } else { ["", ""] };
                let later = match next.from - before.from {
                    0 => " at the evaluation after that".to_owned(),
                    seconds => format!(" {} later", duration(seconds)),
                };
                let it = self.verb("it", "they");
                let (knob, done) = (&next.effect.knob, next.effect.kind.participle());
                format!("then {it} will be {done}{again}{later}, by {knob}{}{}{end}", codes(next), reason(next))
            })
            .collect()
    }

    /// Says what can be done about what a policy does at the next evaluation, or about one that has no value.
    #[must_use]
    pub fn remedies(&self, outlook: &JobOutlook) -> Vec<String> {
        let it = self.verb("it", "them");
        let imminent = outlook.imminent().map(|ForeseenEffect { effect, .. }| {
            let knob = &effect.knob;
            match (effect.kind, effect.line) {
                (PolicyEffectKind::Releases, _) => format!("wait: {knob} releases {it}{}", within(outlook)),
                (_, Some(line)) => {
                    format!("ask the administrator of the access point about {knob}, line {line} of the configuration")
                }
                (kind, None) => format!("change {knob} to keep {it} from being {}", kind.participle()),
            }
        });
        let released = outlook.course.first().filter(|first| first.from > outlook.now);
        let released = released.filter(|first| first.effect.kind == PolicyEffectKind::Releases).map(|first| {
            let (at, until) = (local_moment(first.from), duration(first.from - outlook.now));
            format!("wait until {at}, in {until}, when {} releases {it}", first.effect.knob)
        });
        imminent.into_iter().chain(released).collect()
    }
}

/// Says which policies have no effect. Those of a configuration are counted; `None` if there is none of either.
fn quiet_line(quiet: &[&PolicyOutlook]) -> Option<String> {
    let (own, system): (Vec<&PolicyOutlook>, Vec<_>) = quiet.iter().partition(|policy| policy.line.is_none());
    let own = own.into_iter().map(|policy| policy.name.clone());
    let system = match system.as_slice() {
        [] => None,
        [only] => Some(only.name.clone()),
        several => Some(format!("{} policies of the configuration", several.len())),
    };
    let named: Vec<String> = own.chain(system).collect();
    let is = if quiet.len() == 1 { "is not true, and not" } else { "are not true, and none is" };
    (!named.is_empty()).then(|| format!("{} {is} by the clock alone", join_and(&named)))
}

/// Says how soon the policies are evaluated next; nothing if they never are.
fn within(outlook: &JobOutlook) -> String {
    if outlook.interval > 0 { format!(" within {}", duration(outlook.interval)) } else { String::new() }
}

/// Maximum number of characters of a reason in a sentence.
const MAX_REASON_CHARS: usize = 100;

/// Maximum number of characters of the part of a policy that decides.
const MAX_PART_CHARS: usize = 70;

/// Says with which codes a job is held.
fn codes(foreseen: &ForeseenEffect) -> String {
    match (foreseen.effect.code, foreseen.effect.subcode) {
        (Some(code), Some(subcode)) => format!(" (code {code}, subcode {subcode})"),
        (Some(code), None) => format!(" (code {code})"),
        _ => String::new(),
    }
}

/// Says for which reason something is done to a job. A reason of HTCondor says no more than the policy.
fn reason(foreseen: &ForeseenEffect) -> String {
    let reason = &foreseen.effect.reason;
    if reason.is_empty() { String::new() } else { format!(": {}", shorten(reason, MAX_REASON_CHARS)) }
}
