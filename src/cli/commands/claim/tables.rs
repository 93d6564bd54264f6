//! The tables that `claim` prints.

use classad::matching::Notice;
use classad::matching::claim::{ClaimMessageKind, ClaimResult, Veto};

use crate::cli::io::match_records::{ClaimOutcome, RecordedMatch};
use crate::cli::render::rows::{ResultTable, TableCell};

/// Returns a row for each match in force: who is matched with whom.
pub fn match_table(matches: &[RecordedMatch]) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "state", "time", "request", "offers"]);
    for one in matches {
        let request = one.notice.parties.first().map(|party| party.id.clone()).unwrap_or_default();
        let offers: Vec<String> = one.bound_offers().map(|(_, party)| party.id.clone()).collect();
        let state = if one.is_claimed { "claimed" } else { "matched" };
        let time = one.notice.time.map(|time| time.to_string()).unwrap_or_default();
        rows.rows.push(vec![one.notice.id.clone().into(), state.into(), time.into(), request.into(), offers.into()]);
    }
    rows
}

/// Returns a row for each match: the outcome, the claimed parties, and the reasons of the parties that refused.
pub fn outcome_table(notices: &[Notice], claims: &[ClaimResult], is_release: bool) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "outcome", "claimed", "reason"]);
    for (notice, claim) in notices.iter().zip(claims) {
        let name = |party: usize| notice.parties[party].id.as_str();
        let claimed: Vec<String> = claim.claimed.iter().map(|&party| name(party).to_owned()).collect();
        // `LostPartners` only follows from the veto of another party, so it is no reason of its own.
        let own = claim.vetoes.iter().filter(|(_, veto)| !matches!(veto, Veto::LostPartners(_)));
        let reasons: Vec<String> = own.map(|(party, veto)| format!("{}: {veto}", name(*party))).collect();
        let (outcome, reason) = (outcome(claim, is_release).as_str().to_owned(), reasons.join("; "));
        rows.rows.push(vec![notice.id.clone().into(), outcome.into(), claimed.into(), reason.into()]);
    }
    rows
}

/// Returns the outcome of a claim, or of a release if `is_release` is set.
fn outcome(claim: &ClaimResult, is_release: bool) -> ClaimOutcome {
    match (claim.is_committed(), claim.vetoes.is_empty()) {
        (true, _) if is_release => ClaimOutcome::Released,
        (true, true) => ClaimOutcome::Committed,
        (true, false) => ClaimOutcome::Partial,
        (false, _) if is_release => ClaimOutcome::Kept,
        (false, _) => ClaimOutcome::Aborted,
    }
}

/// Returns the rows of all matches. A match has one row for each message, and a last row with the outcome.
pub fn message_table(notices: &[Notice], claims: &[ClaimResult]) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "round", "message", "from", "to", "reason"]);
    for (notice, claim) in notices.iter().zip(claims) {
        let name = |party: usize| notice.parties[party].id.clone();
        let mut push = |round: usize, message: &str, from: String, to: String, reason: String| {
            let texts = [message.to_owned(), from, to, reason].map(TableCell::from);
            rows.rows.push([notice.id.clone().into(), round.into()].into_iter().chain(texts).collect());
        };
        for message in &claim.transcript {
            let reason = match &message.kind {
                ClaimMessageKind::Veto(veto) => veto.to_string(),
                _ => String::new(),
            };
            push(message.round, message.kind.as_str(), name(message.from), name(message.to), reason);
        }
        let rounds = claim.transcript.last().map_or(1, |message| message.round);
        let root = claim.vetoes.iter().find(|(party, _)| *party == 0);
        let reason = root.map(|(_, veto)| veto.to_string()).unwrap_or_default();
        push(rounds, outcome(claim, false).as_str(), name(0), String::new(), reason);
    }
    rows
}

#[cfg(test)]
mod tests {
    use classad::matching::claim::{ClaimResult, Veto};

    use super::outcome;

    #[test]
    fn a_claim_is_whole_partial_or_aborted() {
        for (claimed, vetoes, claim, release) in [
            (&[][..], 0, "aborted", "kept"),
            (&[], 1, "aborted", "kept"),
            (&[1], 0, "committed", "released"),
            (&[1, 2], 1, "partial", "released"),
        ] {
            let vetoes = vec![(2, Veto::Gone); vetoes];
            let result = ClaimResult { claimed: claimed.to_vec(), vetoes, ..ClaimResult::default() };
            assert_eq!((outcome(&result, false).as_str(), outcome(&result, true).as_str()), (claim, release));
        }
    }
}
