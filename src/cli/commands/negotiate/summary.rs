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
    if !outcome.tied_submitters.is_empty() && !outcome.grants.is_empty() {
        let tied = &outcome.tied_submitters;
        let names = join_first(tied, tied.len(), MAX_NAMED_SUBMITTERS);
        let count = with_commas(tied.len());
        session.note(&format!(
            "{count} submitters have the same priority and use ({names}): here the order of their names decides, in HTCondor \
             that of the collector"
        ));
    }
    if outcome.ties > 0 && policy.weighted_share().is_some() {
        let ties = with_commas(outcome.ties);
        let of = matches_text(outcome.grants.len());
        let were = if outcome.ties == 1 { "was a tie" } else { "were ties" };
        session.note(&format!("{ties} of {of} {were}: of equal offers, the first in the input won"));
    }
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
    use classad::matching::negotiate::{Grant, RequestStarts};

    use super::starts_text;

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
}
