//! `explain --what-if`: who gains and who loses a match by hypothetical attributes.

use classad::configuration::JobPolicies;
use classad::explain::RequestVerdict;
use classad::matching::Query;

use super::ExplainCommand;
use super::configured_policies::{self, JobEffects};
use super::groups::allocate;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::parties::{Parties, any_ports};
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::io::what_if::WhatIf;
use crate::cli::outcome::Failure;
use crate::cli::render::explanation::cause_entry::MAX_NAMED;
use crate::cli::render::explanation::group_report::explain_group;
use crate::cli::render::explanation::{ExplanationInput, OfferLists};
use crate::cli::render::gains_and_losses::gains_and_losses;
use crate::cli::session::Session;

/// What `--what-if` and a configuration do to ads.
pub struct PartyChanges {
    /// Which subjects gain or lose a match; `None` if no ad changes.
    pub difference: Option<MatchDifference>,
    /// What the policies of a configuration do to jobs; `None` without a configuration.
    pub effects: Option<JobEffects>,
}

/// Changes the ads as `--what-if` and a configuration ask for.
pub fn change_parties(
    command: &ExplainCommand,
    session: &mut Session,
    (configuration, policies): (Option<&LoadedConfiguration>, &JobPolicies),
    (parties, counted, policy): (&mut Parties, &CountedOffers, &LoadedPolicy),
    filter: Option<&Query>,
) -> Result<PartyChanges, Failure> {
    let context = session.context();
    let mut what_if = WhatIf::new(session, &command.what_if)?;
    what_if.note_misspelt(session, parties);
    let replacing = configuration.filter(|_| command.what_if_config);
    let condition = configured_policies::add_to_offers(session, replacing, &mut what_if)?;
    let given = (configuration, policies);
    let (effects, transformed) = configured_policies::apply(command, session, given, parties, filter);
    if what_if.is_empty() && transformed.is_none() {
        return Ok(PartyChanges { difference: None, effects });
    }
    let changed = what_if.apply_to_parties(transformed.as_ref().unwrap_or(parties), &context);
    let [before, after] = [&*parties, &changed].map(|parties| {
        matching_subjects(session, &command.case(session, parties, counted, policy, 0), command.unmatched)
    });
    let wanted = WantedAds::new(&command.request, &changed.requests, &context).filter(|_| !command.reverse);
    let is_wanted = |at: usize| wanted.as_ref().is_none_or(|wanted| wanted.selects(&changed.requests[at], &context));
    let difference = MatchDifference::new([&before?, &after?], command.unmatched, condition, is_wanted);
    *parties = changed;
    Ok(PartyChanges { difference: Some(difference), effects })
}

/// Who gains and who loses a match by `--what-if`, as indexes of subjects.
pub struct MatchDifference {
    /// Whether a match is an offer of one's own, which no other request gets.
    is_exclusive: bool,
    /// What the configuration changes of the offers, in words; `None` if it changes nothing.
    condition: Option<String>,
    gaining: Vec<usize>,
    losing: Vec<usize>,
}

impl MatchDifference {
    /// Compares who matches as the ads are with who matches with the hypothetical attributes. Only the subjects count
    /// whose indexes `is_wanted` accepts. `is_exclusive` is what [`matching_subjects`] got.
    pub fn new(
        [before, after]: [&[bool]; 2],
        is_exclusive: bool,
        condition: Option<String>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Self {
        let changed = |is: bool| {
            let changed = (0..before.len()).filter(|at| before[*at] != after[*at] && after[*at] == is);
            changed.filter(|at| is_wanted(*at)).collect()
        };
        MatchDifference { is_exclusive, condition, gaining: changed(true), losing: changed(false) }
    }

    /// Whether a request counts as a match even if another request gets the offer.
    pub fn counts_taken_offers(&self) -> bool {
        !self.is_exclusive
    }

    /// Says who gains and who loses a match: `2 jobs gain a match: 7.0 and 7.1; none loses one`, after the condition. With
    /// evidence the list is complete.
    pub fn sentence(&self, case: &ExplanationInput<'_>, noun: &str) -> String {
        let most = if case.evidence_level == 0 { MAX_NAMED } else { usize::MAX };
        let names = |subjects: &[usize]| subjects.iter().map(|at| case.subjects[*at].id()).collect::<Vec<_>>();
        let object = match (self.is_exclusive, noun) {
            (false, _) => "a match",
            (true, "job") => "a slot",
            (true, _) => "an offer",
        };
        let condition = self.condition.as_ref().map_or(String::new(), |condition| format!("{condition}: "));
        condition + &gains_and_losses(&names(&self.gaining), &names(&self.losing), [noun, object], most)
    }

    pub fn to_json(&self, case: &ExplanationInput<'_>) -> serde_json::Value {
        let names =
            |subjects: &[usize]| subjects.iter().map(|at| case.subjects[*at].id().to_owned()).collect::<Vec<_>>();
        serde_json::json!({ "gaining": names(&self.gaining), "losing": names(&self.losing) })
    }
}

/// Returns for each subject whether it matches; of slots only free ones count. If matches are exclusive, a request
/// matches if it gets an offer when each offer is given to one request.
///
/// # Errors
///
/// The policy is wrong.
pub fn matching_subjects(
    session: &mut Session,
    case: &ExplanationInput<'_>,
    is_exclusive: bool,
) -> Result<Vec<bool>, Failure> {
    if is_exclusive {
        let has_gangs = any_ports(&case.parties.requests) || any_ports(&case.parties.offers);
        return Ok(allocate(session, (case, None), has_gangs)?.0.are_served());
    }
    let explainer = case.explainer(session, OfferLists::default());
    let all: Vec<usize> = (0..case.subjects.len()).collect();
    let mut matches = vec![false; all.len()];
    for group in case.group_equivalent(session, &all) {
        let is_match = explain_group(session, case, &group, &explainer).verdict == RequestVerdict::Matches;
        for subject in group {
            matches[subject] = is_match;
        }
    }
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use super::MatchDifference;

    #[test]
    fn subjects_gain_or_lose_a_match() {
        let [before, after] = [[false, false, true, true, false, true], [false, true, false, true, true, false]];
        let of = |wanted: &dyn Fn(usize) -> bool| {
            let difference = MatchDifference::new([&before, &after], true, None, wanted);
            assert!(!difference.counts_taken_offers());
            (difference.gaining, difference.losing)
        };
        assert_eq!(of(&|_| true), (vec![1, 4], vec![2, 5]));
        assert_eq!(of(&|at| at > 2), (vec![4], vec![5]));
        assert!(MatchDifference::new([&[], &[]], false, None, |_| true).counts_taken_offers());
    }
}
