//! Notes about what a cycle did: matches and starts, quotas that starts exceed, and decisions that were ties.

use classad::matching::negotiate::{ExceededQuota, NegotiationOutcome, RequestStarts};
use classad::matching::policy::Policy;
use classad::text::{counted, join_first, rounded, with_commas};

use crate::cli::args::policy::LoadedPolicy;
use crate::cli::session::Session;

/// Maximum number of submitters that a note names.
const MAX_NAMED_SUBMITTERS: usize = 3;

/// Prints notes about the starts, if they were asked for, and about ties.
pub fn note_outcome(session: &Session, policy: &Policy, outcome: &NegotiationOutcome) {
    if let Some(starts) = &outcome.starts {
        session.note(&starts_text(outcome.grants.len(), starts));
        for ExceededQuota { group, quota, weight } in &starts.exceeded {
            let (weight, quota) = (rounded(*weight), rounded(*quota));
            session.note(&format!(
                "the group {group} uses {weight} when these requests run, more than its quota of {quota}: the cycle counts \
                 matches, not what starts in the rest of a slot"
            ));
        }
    }
    LoadedPolicy::note_without_weight(session, outcome.without_weight);
    for note in tie_notes(outcome, policy.weighted_share().is_some()) {
        session.note(&note);
    }
}

/// Says which submitters and how many matches were equal to others, so that an order decided. `by_weight` tells whether
/// submitters share by weight.
fn tie_notes(outcome: &NegotiationOutcome, by_weight: bool) -> Vec<String> {
    let (names, matches) = (&outcome.tied_submitters, outcome.grants.len());
    let of_submitters = (!names.is_empty() && matches > 0).then(|| {
        format!(
            "{} submitters have the same priority and use ({}): here the order of their names decides, in HTCondor that of \
             the collector",
            with_commas(names.len()),
            join_first(names, names.len(), MAX_NAMED_SUBMITTERS)
        )
    });
    let of_matches = (outcome.ties > 0 && by_weight).then(|| {
        let (count, all) = (with_commas(outcome.ties), matches_text(matches));
        let were = if outcome.ties == 1 { "was a tie" } else { "were ties" };
        format!("{count} of {all} {were}: of equal offers, the first in the input won")
    });
    of_submitters.into_iter().chain(of_matches).collect()
}

/// Says how many requests start, and where.
fn starts_text(matches: usize, starts: &RequestStarts) -> String {
    let count = starts.grants.len();
    let verb = if count == 1 { "starts" } else { "start" };
    let mut parts = vec![format!("{}; {} {verb}", matches_text(matches), counted(count, "request"))];
    if starts.in_rests > 0 {
        parts
            .push(format!(", {} of them in the rest of a slot that their submitter got", with_commas(starts.in_rests)));
    }
    if starts.preempting > 0 {
        let later = counted(starts.preempting, "more request");
        let verb = if starts.preempting == 1 { "starts" } else { "start" };
        parts.push(format!("; {later} {verb} when the users before have left their slots"));
    }
    parts.concat()
}

/// Counts matches: `2 matches`.
fn matches_text(count: usize) -> String {
    if count == 1 { "1 match".to_owned() } else { format!("{} matches", with_commas(count)) }
}

#[cfg(test)]
mod tests {
    use classad::matching::negotiate::{Grant, NegotiationOutcome, RequestStarts};

    use super::{starts_text, tie_notes};

    #[test]
    fn what_starts_is_counted() {
        let grant = Grant { request: 0, unit: None, offers: Vec::new(), gang: None, choice: None };
        for (matches, [starts, in_rests, preempting], expected) in [
            (0, [0, 0, 0], "0 matches; 0 requests start"),
            (1, [1, 0, 0], "1 match; 1 request starts"),
            (2, [5, 3, 0], "2 matches; 5 requests start, 3 of them in the rest of a slot that their submitter got"),
            (
                2,
                [1, 0, 1],
                "2 matches; 1 request starts; 1 more request starts when the users before have left their slots",
            ),
            (
                3,
                [1, 0, 2],
                "3 matches; 1 request starts; 2 more requests start when the users before have left their slots",
            ),
        ] {
            let grants = vec![grant.clone(); starts];
            let starts = RequestStarts { grants, in_rests, preempting, ..RequestStarts::default() };
            assert_eq!(starts_text(matches, &starts), expected);
        }
    }

    #[test]
    fn ties() {
        let of_order = "here the order of their names decides, in HTCondor that of the collector";
        let won = "of equal offers, the first in the input won";
        for (tied, ties, matches, by_weight, expected) in [
            (&[][..], 0, 2, true, vec![]),
            (
                &["b", "a"],
                0,
                2,
                true,
                vec![format!("2 submitters have the same priority and use (a and b): {of_order}")],
            ),
            (
                &["a", "b", "c", "d"],
                0,
                1,
                true,
                vec![format!("4 submitters have the same priority and use (a, b, c and 1 more): {of_order}")],
            ),
            // Nothing was decided where nobody got anything.
            (&["a", "b"], 0, 0, true, vec![]),
            (&[], 1, 2, true, vec![format!("1 of 2 matches was a tie: {won}")]),
            (&[], 2, 2, true, vec![format!("2 of 2 matches were ties: {won}")]),
            (&[], 1, 1, true, vec![format!("1 of 1 match was a tie: {won}")]),
            (&[], 2, 2, false, vec![]),
            (
                &["a", "b"],
                1234,
                5678,
                true,
                vec![
                    format!("2 submitters have the same priority and use (a and b): {of_order}"),
                    format!("1,234 of 5,678 matches were ties: {won}"),
                ],
            ),
        ] {
            let grant = Grant { request: 0, unit: None, offers: Vec::new(), gang: None, choice: None };
            let outcome = NegotiationOutcome {
                ties,
                tied_submitters: tied.iter().map(|name| (*name).to_owned()).collect(),
                grants: vec![grant; matches],
                ..NegotiationOutcome::default()
            };
            assert_eq!(tie_notes(&outcome, by_weight), expected, "{tied:?} {ties} {matches}");
        }
    }
}
