//! What the policies of a configuration would do: those about jobs to each request, and on demand START and RANK as the
//! offers'.

use classad::ad::Name;
use classad::configuration::{ConfiguredPolicy, JobPolicies, PolicyEffect, PolicyEffectKind};
use classad::eval::Context;
use classad::matching::Query;
use classad::protocol::{AdvertisedState, JobState};
use classad::text::{counted, join_and, join_first};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::ExplainCommand;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::io::what_if::WhatIf;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Maximum number of jobs that are named for an effect of a policy.
const MAX_NAMED_JOBS: usize = 10;

/// Variables of a configuration that become attributes of each machine, and the attributes.
const MACHINE_POLICIES: [(&str, &str); 2] = [("START", "Start"), ("RANK", "Rank")];

/// Returns what the policies about jobs do to the selected requests, and the parties with the jobs as transforms leave them; the
/// latter are `None` if no transform changes a job.
pub fn apply(
    command: &ExplainCommand,
    session: &mut Session,
    (configuration, policies): (Option<&LoadedConfiguration>, &JobPolicies),
    parties: &Parties,
    filter: Option<&Query>,
) -> (Option<JobEffects>, Option<Parties>) {
    if configuration.is_none() {
        return (None, None);
    }
    let context = session.context();
    let wanted = WantedAds::new(&command.request, &parties.requests, &context).filter(|_| !command.reverse);
    let meets = |request: &NamedAd| filter.is_none_or(|filter| filter.accepts(&request.ad).unwrap_or(false));
    let is_selected =
        |request: &NamedAd| wanted.as_ref().is_none_or(|wanted| wanted.selects(request, &context)) && meets(request);
    let (effects, transformed) = JobEffects::new(session, policies, &parties.requests, &is_selected);
    (Some(effects), transformed.map(|requests| Parties::new([requests, parties.offers.clone()])))
}

/// Adds the policies of machines of a configuration, if there is one, to the hypothetical attributes. Returns the
/// condition in words.
///
/// # Errors
///
/// The configuration has none.
pub fn add_to_offers(
    session: &mut Session,
    loaded: Option<&LoadedConfiguration>,
    what_if: &mut WhatIf,
) -> Result<Option<String>, Failure> {
    let Some(loaded) = loaded else { return Ok(None) };
    let (mut policies, mut knobs, mut is_set) = (Vec::new(), Vec::new(), false);
    for (knob, attribute) in MACHINE_POLICIES {
        match ConfiguredPolicy::find(&loaded.configuration, knob, &session.context()) {
            Ok(None) => {}
            Ok(Some(policy)) => {
                policies.push((Name::new(attribute), policy.expression));
                is_set |= !policy.is_default;
                knobs.push(if policy.is_default { format!("{knob} (HTCondor's default)") } else { knob.to_owned() });
            }
            Err(problem) => loaded.report(session, &problem)?,
        }
    }
    let file = &loaded.text.name;
    if !is_set {
        return refuse(format!("{file} has neither START nor RANK for --what-if-config"));
    }
    what_if.add_to_offers(policies);
    Ok(Some(format!("if every slot had {} of {file}", join_and(&knobs))))
}

/// What the policies about jobs do to the requests: each effect with the jobs that have it.
pub struct JobEffects {
    effects: IndexMap<(String, &'static str), (PolicyEffect, Vec<String>)>,
    /// Whether a job that waits is refused, held or removed.
    ends_waiting: bool,
}

impl JobEffects {
    /// Applies the policies of a configuration to each request, and keeps the effects on selected ones. Also returns
    /// the requests as transforms leave them, if one changes.
    fn new(
        session: &mut Session,
        policies: &JobPolicies,
        requests: &[NamedAd],
        is_selected: &dyn Fn(&NamedAd) -> bool,
    ) -> (Self, Option<Vec<NamedAd>>) {
        let context: Context = session.context();
        let skipped: Vec<String> = policies.skipped_requirements().map(str::to_owned).collect();
        if !skipped.is_empty() {
            session.note(&format!("not evaluated without the ad of the schedd: {}", join_and(&skipped)));
        }
        if !policies.unevaluated().is_empty() {
            let names = join_and(policies.unevaluated());
            session.note(&format!("HTCondor does not evaluate {names}: only a job's own PeriodicVacate vacates it"));
        }
        let (mut effects, mut ends_waiting) = (IndexMap::new(), false);
        let (mut transformed, mut is_changed) = (requests.to_vec(), false);
        for request in &mut transformed {
            let (submitted, of_request) = policies.submit(request.advertisement(), &context);
            let is_selected = is_selected(request);
            if of_request.iter().any(|effect| effect.kind == PolicyEffectKind::Changes) {
                *request = request.clone().with_ad(submitted);
                is_changed = true;
            }
            let waits = matches!(request.state(&context), AdvertisedState::Job(JobState::Idle));
            for effect in of_request.into_iter().filter(|_| is_selected) {
                ends_waiting |= waits && effect.kind.ends_waiting();
                let key = (effect.knob.clone(), effect.kind.as_str());
                let (_, jobs) = effects.entry(key).or_insert_with(|| (effect, Vec::new()));
                jobs.push(request.id().to_owned());
            }
        }
        (JobEffects { effects, ends_waiting }, is_changed.then_some(transformed))
    }

    /// Returns a line for each effect, such as `SYSTEM_PERIODIC_HOLD_Starts holds 1 job: 105.0 (often)`; `None` if there
    /// is none.
    pub fn text(&self) -> Option<String> {
        let line = |(effect, jobs): &(PolicyEffect, Vec<String>)| {
            let named = join_first(jobs, jobs.len(), MAX_NAMED_JOBS);
            let subcode = effect.subcode.map(|subcode| format!("subcode {subcode}"));
            let given = [Some(effect.reason.clone()).filter(|reason| !reason.is_empty()), subcode];
            let given: Vec<String> = given.into_iter().flatten().collect();
            let given = given.join(", ");
            let reason = match jobs.first() {
                Some(first) if effect.kind == PolicyEffectKind::Changes && jobs.len() > 1 => {
                    format!(" ({given} in {first})")
                }
                Some(first) if !given.is_empty() && jobs.len() > 1 => format!("; the reason for {first}: {given}"),
                Some(_) if !given.is_empty() => format!(" ({given})"),
                _ => String::new(),
            };
            let verb = if effect.kind == PolicyEffectKind::WarnsOf { "warns about" } else { effect.kind.as_str() };
            let (knob, count) = (&effect.knob, counted(jobs.len(), "job"));
            format!("{knob} {verb} {count}: {named}{reason}\n")
        };
        let mut text: String = self.effects.values().map(line).collect();
        if self.ends_waiting {
            text += "below, jobs that are refused, held or removed are counted as waiting\n";
        }
        (!text.is_empty()).then_some(text)
    }

    /// Returns the effects as JSON.
    pub fn to_json(&self) -> Json {
        let effects = self.effects.values().map(|(effect, jobs)| {
            json!({
                "knob": effect.knob,
                "line": effect.line,
                "effect": effect.kind.as_str(),
                "reason": effect.reason,
                "subcode": effect.subcode,
                "jobs": jobs.len(),
                "examples": jobs.iter().take(MAX_NAMED_JOBS).collect::<Vec<_>>(),
            })
        });
        effects.collect()
    }
}

#[cfg(test)]
mod tests {
    use classad::configuration::{PolicyEffect, PolicyEffectKind};

    use super::JobEffects;

    /// What is said of effects: knob, kind, reason and subcode of each, and the number of its jobs.
    fn text(effects: &[(&str, PolicyEffectKind, &str, Option<i64>, usize)], ends_waiting: bool) -> Option<String> {
        let effect = |(knob, kind, reason, subcode, jobs): &(&str, PolicyEffectKind, &str, Option<i64>, usize)| {
            let (knob, reason) = ((*knob).to_owned(), (*reason).to_owned());
            let jobs = (0..*jobs).map(|job| format!("{job}.0")).collect();
            let effect = PolicyEffect { knob, kind: *kind, reason, subcode: *subcode, ..PolicyEffect::default() };
            ((effect.knob.clone(), kind.as_str()), (effect, jobs))
        };
        JobEffects { effects: effects.iter().map(effect).collect(), ends_waiting }.text()
    }

    #[test]
    fn effects_name_their_jobs_and_the_first_reason() {
        use PolicyEffectKind::{Changes, Holds, Refuses, WarnsOf};
        for (effect, expected) in [
            (("H", Holds, "", None, 1), "H holds 1 job: 0.0"),
            (("H", Holds, "often", None, 1), "H holds 1 job: 0.0 (often)"),
            (("H", Holds, "", Some(7), 1), "H holds 1 job: 0.0 (subcode 7)"),
            (("H", Holds, "often", Some(7), 1), "H holds 1 job: 0.0 (often, subcode 7)"),
            (("H", Holds, "", None, 2), "H holds 2 jobs: 0.0 and 1.0"),
            (("H", Holds, "often", None, 2), "H holds 2 jobs: 0.0 and 1.0; the reason for 0.0: often"),
            (("T", Changes, "sets A", None, 1), "T changes 1 job: 0.0 (sets A)"),
            (("T", Changes, "sets A", None, 2), "T changes 2 jobs: 0.0 and 1.0 (sets A in 0.0)"),
            (("W", WarnsOf, "big", None, 1), "W warns about 1 job: 0.0 (big)"),
            (("R", Refuses, "", None, 3), "R refuses 3 jobs: 0.0, 1.0 and 2.0"),
        ] {
            assert_eq!(text(&[effect], false), Some(format!("{expected}\n")));
        }
        let many = text(&[("H", Holds, "", None, 11)], false).unwrap();
        assert!(many.starts_with("H holds 11 jobs: 0.0, ") && many.ends_with(", 9.0 and 1 more\n"), "{many}");
        assert_eq!(text(&[], false), None);
        let end = "below, jobs that are refused, held or removed are counted as waiting\n";
        assert_eq!(text(&[], true).as_deref(), Some(end));
        let both = text(&[("H", Holds, "", None, 1), ("R", Refuses, "", None, 1)], true);
        assert_eq!(both, Some(format!("H holds 1 job: 0.0\nR refuses 1 job: 0.0\n{end}")));
    }
}
