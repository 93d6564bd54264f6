//! `explain --what-if`: who gains and who loses a match by hypothetical attributes.

use classad::eval::Context;
use classad::explain::RequestVerdict;

use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::render::explanation::ExplanationInput;
use crate::cli::render::explanation::causes::MAX_NAMED;
use crate::cli::render::gains_and_losses::gains_and_losses;
use crate::cli::session::Session;

/// Who gains and who loses a match by `--what-if`, as indexes of subjects.
pub struct MatchDifference {
    gaining: Vec<usize>,
    losing: Vec<usize>,
}

impl MatchDifference {
    /// Compares who matches as the ads are with who matches with the hypothetical attributes. With `wanted`, only these
    /// requests count.
    pub fn new(
        [before, after]: [&[bool]; 2],
        wanted: Option<&WantedAds>,
        (requests, context): (&[NamedAd], &Context),
    ) -> Self {
        let is_wanted = |at: &usize| wanted.is_none_or(|wanted| wanted.has(&requests[*at], context));
        let changed = |is: bool| {
            let changed = (0..before.len()).filter(|at| before[*at] != after[*at] && after[*at] == is);
            changed.filter(is_wanted).collect()
        };
        MatchDifference { gaining: changed(true), losing: changed(false) }
    }

    /// Says who gains and who loses a match: `2 jobs gain a match: 7.0 and 7.1; none loses one`. With evidence the list
    /// is complete.
    pub fn sentence(&self, case: &ExplanationInput<'_>, noun: &str) -> String {
        let most = if case.evidence_level == 0 { MAX_NAMED } else { usize::MAX };
        let names = |subjects: &[usize]| subjects.iter().map(|at| case.subjects[*at].id()).collect::<Vec<_>>();
        gains_and_losses(&names(&self.gaining), &names(&self.losing), [noun, "a match"], most)
    }

    pub fn to_json(&self, case: &ExplanationInput<'_>) -> serde_json::Value {
        let names =
            |subjects: &[usize]| subjects.iter().map(|at| case.subjects[*at].id().to_owned()).collect::<Vec<_>>();
        serde_json::json!({ "gaining": names(&self.gaining), "losing": names(&self.losing) })
    }
}

/// Returns for each subject whether it matches; of slots only free ones count.
pub fn matching_subjects(session: &Session, case: &ExplanationInput<'_>) -> Vec<bool> {
    let explainer = case.explainer(session, false);
    let all: Vec<usize> = (0..case.subjects.len()).collect();
    let mut matches = vec![false; all.len()];
    for group in case.group_equivalent(session, &all) {
        let is_match = case.explain(session, &group, &explainer).verdict == RequestVerdict::Matches;
        for subject in group {
            matches[subject] = is_match;
        }
    }
    matches
}
