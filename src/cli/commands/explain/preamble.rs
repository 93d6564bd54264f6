//! What stands before the first report.

use super::configured_policies::JobEffects;
use super::match_difference::MatchDifference;
use crate::cli::render::explanation::ExplanationInput;
use crate::cli::session::Session;

/// What a match means in the sentence about hypothetical attributes.
const WHAT_IS_COUNTED: &str = "several requests can match one offer here; in `match --what-if`, requests compete";

/// Returns what the hypothetical attributes and the policies of a configuration change, if anything, as text.
pub fn preamble(
    session: &Session,
    case: &ExplanationInput<'_>,
    (difference, effects): (Option<&MatchDifference>, Option<&JobEffects>),
) -> String {
    if difference.is_some_and(MatchDifference::counts_taken_offers) {
        session.note(WHAT_IS_COUNTED);
    }
    let difference = difference.map(|difference| difference.sentence(case, case.subject_noun(session)) + "\n\n");
    let policies = effects.and_then(JobEffects::text).map(|text| text + "\n");
    difference.into_iter().chain(policies).collect()
}
