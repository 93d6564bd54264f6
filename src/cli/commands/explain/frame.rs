//! What the output of a run says beside the reports on groups.

use super::ExplainCommand;
use super::configured_policies::JobEffects;
use super::explained::{GroupExplainer, GroupOutput};
use super::match_difference::MatchDifference;
use super::matched::matched_text;
use super::page::ExplanationFrame;
use super::preamble::preamble;
use super::selection::SelectedSubjects;
use super::share::form_name;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Returns what the output says beside the reports on groups.
pub fn frame(
    command: &ExplainCommand,
    session: &Session,
    explainer: &GroupExplainer<'_>,
    subjects: &SelectedSubjects,
    (groups, has_gangs): (&[Vec<usize>], bool),
    (difference, effects): (Option<&MatchDifference>, Option<&JobEffects>),
) -> Result<ExplanationFrame, Failure> {
    let GroupExplainer { case, allocation, renderer, output, .. } = explainer;
    let SelectedSubjects { left, unserved, served, are_named } = subjects;
    // Without a job that waits there is nothing that matches.
    let is_waiting = |subject: &usize| !case.is_not_waiting(session, *subject);
    let mut opening = String::new();
    if !renderer.is_data() && *output == GroupOutput::Report && !session.options.quiet {
        opening = preamble(session, case, (difference, effects));
        if groups.is_empty() && unserved.is_empty() && *are_named {
            opening.push_str(&matched_text(session, case, allocation.as_ref(), served));
        }
    }
    let tells_unserved = !unserved.is_empty() && !session.options.quiet;
    let noun = case.subject_noun(session);
    let what_if = difference.map(|difference| ("what_if".to_owned(), difference.to_json(case)));
    let policies = effects.map(|effects| ("policies".to_owned(), effects.to_json()));
    Ok(ExplanationFrame {
        noun: noun.to_owned(),
        caption: difference.map_or(String::new(), |difference| difference.sentence(case, noun)),
        groups: groups.len(),
        served: allocation.is_some().then_some(served.len()),
        // The table of an empty queue is the sentence that every request gets an offer.
        has_cause_table: command.summary
            || groups.is_empty() && allocation.is_some() && !are_named
            || (groups.len() > 1 && session.options.verbose == 0 && !has_gangs)
            || groups.iter().any(|group| explainer.told(session, group) < group.len()),
        opening,
        unserved: if tells_unserved { Some(explainer.report_unserved(session, unserved)?) } else { None },
        totals: what_if.into_iter().chain(policies).collect(),
        all_served: unserved.is_empty() && (command.unmatched || left.is_empty() || left.iter().any(is_waiting)),
        form: form_name(command.ads.common.output),
    })
}
