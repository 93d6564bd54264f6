//! The messages that the parties of a match exchange in the claiming protocol.

use super::{ClaimState, Veto};

/// A message between two parties.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimMessage {
    /// 1-based number of the verification round. Another round begins after each partial abort.
    pub round: usize,
    /// Index of the sending party.
    pub from: usize,
    /// Index of the receiving party.
    pub to: usize,
    /// What the message says.
    pub kind: ClaimMessageKind,
}

/// What a message says: a question, a vote or the decision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClaimMessageKind {
    /// Asks the receiver whether it joins the match.
    Verify,
    /// Vote to join the match.
    Ok,
    /// Vote not to join the match, with the reason.
    Veto(Veto),
    /// The match is committed.
    Commit,
    /// The match is given up.
    Abort,
}

impl ClaimMessageKind {
    /// Returns the name of the message in the thesis, such as `COMMIT`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            ClaimMessageKind::Verify => "VERIFY",
            ClaimMessageKind::Ok => "OK",
            ClaimMessageKind::Veto(_) | ClaimMessageKind::Abort => "ABORT",
            ClaimMessageKind::Commit => "COMMIT",
        }
    }
}

/// Iterates over pairs of indexes: a parent, and a party docked at the parent. Excluded parties are left out. The pairs
/// come in the order of the parties in the notice.
fn present_links<'v>(vote: &'v ClaimState) -> impl Iterator<Item = (usize, usize)> + 'v {
    vote.participants().filter_map(|party| Some((vote.parent(party)?, party)))
}

/// Records the messages of a verification round. Each party asks the parties docked at it to vote. After these votes,
/// the party sends its own vote to its parent.
pub fn record_verify(vote: &ClaimState, round: usize, transcript: &mut Vec<ClaimMessage>) {
    let mut say = |from, to, word| transcript.push(ClaimMessage { round, from, to, kind: word });
    let answer = |party: usize| vote.vetoes[party].clone().map_or(ClaimMessageKind::Ok, ClaimMessageKind::Veto);
    // Stack of pairs of a parent and a party: the parent has asked the party for its vote, and the party has not
    // answered yet.
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for (parent, party) in present_links(vote) {
        while let Some((above, below)) = asked.pop_if(|(_, below)| *below != parent) {
            say(below, above, answer(below));
        }
        say(parent, party, ClaimMessageKind::Verify);
        asked.push((parent, party));
    }
    for (above, below) in asked.into_iter().rev() {
        say(below, above, answer(below));
    }
}

/// Records that each parent tells the parties docked at it to commit.
pub fn record_commit(vote: &ClaimState, round: usize, transcript: &mut Vec<ClaimMessage>) {
    let message = |(from, to)| ClaimMessage { round, from, to, kind: ClaimMessageKind::Commit };
    transcript.extend(present_links(vote).map(message));
}

/// Records the message to abort for each party that is below `top` and voted OK.
pub fn record_abort(vote: &ClaimState, round: usize, top: usize, transcript: &mut Vec<ClaimMessage>) {
    let mut below = vec![false; vote.excluded.len()];
    below[top] = true;
    for (from, to) in present_links(vote) {
        // One pass finds all parties below `top`, because a parent comes before the parties docked at it.
        if below[from] {
            below[to] = true;
            if vote.vetoes[to].is_none() {
                transcript.push(ClaimMessage { round, from, to, kind: ClaimMessageKind::Abort });
            }
        }
    }
}
