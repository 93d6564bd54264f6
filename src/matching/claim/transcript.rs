//! The messages that the parties of a match exchange in the claiming protocol.

use super::{ClaimState, Veto};

/// A message between two parties.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimMessage {
    /// Number of the verification round, from 1; every partial abort starts another round.
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
pub enum ClaimMessageKind {
    /// Asks whether the receiver joins.
    Verify,
    /// Vote to join.
    Ok,
    /// Vote against, with the reason.
    Veto(Veto),
    /// The match is committed.
    Commit,
    /// The match is given up.
    Abort,
}

impl ClaimMessageKind {
    /// Returns the message's name in the thesis.
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

/// Iterates over the present parties with their parents, in preorder.
fn present_links<'v>(vote: &'v ClaimState) -> impl Iterator<Item = (usize, usize)> + 'v {
    vote.participants().filter_map(|party| Some((vote.parent(party)?, party)))
}

/// Records the messages of a verification round: each party asks the ones docked at it, and answers its parent after
/// they have answered.
pub fn record_verify(vote: &ClaimState, round: usize, transcript: &mut Vec<ClaimMessage>) {
    let mut say = |from, to, word| transcript.push(ClaimMessage { round, from, to, kind: word });
    let answer = |party: usize| vote.vetoes[party].clone().map_or(ClaimMessageKind::Ok, ClaimMessageKind::Veto);
    // Stack of the parties that were asked and have not answered.
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

/// Records that all present parties are told to commit.
pub fn record_commit(vote: &ClaimState, round: usize, transcript: &mut Vec<ClaimMessage>) {
    let message = |(from, to)| ClaimMessage { round, from, to, kind: ClaimMessageKind::Commit };
    transcript.extend(present_links(vote).map(message));
}

/// Records that the parties below `top` that voted OK are told to abort.
pub fn record_abort(vote: &ClaimState, round: usize, top: usize, transcript: &mut Vec<ClaimMessage>) {
    let mut below = vec![false; vote.excluded.len()];
    below[top] = true;
    for (from, to) in present_links(vote) {
        // Parents come before their subordinates, so that one pass suffices.
        if below[from] {
            below[to] = true;
            if vote.vetoes[to].is_none() {
                transcript.push(ClaimMessage { round, from, to, kind: ClaimMessageKind::Abort });
            }
        }
    }
}
