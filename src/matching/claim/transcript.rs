//! The messages that the parties of a match exchange in the claiming protocol.

use super::{Veto, Vote};

/// A message between two parties.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Number of the verification round, from 1; every partial abort starts another round.
    pub round: usize,
    /// Index of the sending party.
    pub from: usize,
    /// Index of the receiving party.
    pub to: usize,
    /// Its kind.
    pub word: Word,
}

/// The kind of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
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

impl Word {
    /// Returns the message's name in the thesis.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Word::Verify => "VERIFY",
            Word::Ok => "OK",
            Word::Veto(_) | Word::Abort => "ABORT",
            Word::Commit => "COMMIT",
        }
    }
}

/// Iterates over the present parties with their parents, in preorder.
fn present<'v>(vote: &'v Vote) -> impl Iterator<Item = (usize, usize)> + 'v {
    (0..vote.gone.len()).filter(|&party| !vote.gone[party]).filter_map(|party| Some((vote.parent(party)?, party)))
}

/// Records the messages of a verification round: each party asks the ones docked at it, and answers its parent
/// afterwards.
pub fn verify(vote: &Vote, round: usize, transcript: &mut Vec<Message>) {
    let mut say = |from, to, word| transcript.push(Message { round, from, to, word });
    let answer = |party: usize| vote.vetoes[party].clone().map_or(Word::Ok, Word::Veto);
    // Stack of the parties that were asked and have not answered.
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for (parent, party) in present(vote) {
        while let Some(&(above, below)) = asked.last().filter(|(_, below)| *below != parent) {
            say(below, above, answer(below));
            asked.pop();
        }
        say(parent, party, Word::Verify);
        asked.push((parent, party));
    }
    for (above, below) in asked.into_iter().rev() {
        say(below, above, answer(below));
    }
}

/// Records that all present parties are told to commit.
pub fn commit(vote: &Vote, round: usize, transcript: &mut Vec<Message>) {
    transcript.extend(present(vote).map(|(from, to)| Message { round, from, to, word: Word::Commit }));
}

/// Records that the parties below `top` that voted OK are told to abort.
pub fn abort(vote: &Vote, round: usize, top: usize, transcript: &mut Vec<Message>) {
    let mut below = vec![false; vote.gone.len()];
    below[top] = true;
    for (from, to) in present(vote) {
        // Parents come first.
        if below[from] {
            below[to] = true;
            if vote.vetoes[to].is_none() {
                transcript.push(Message { round, from, to, word: Word::Abort });
            }
        }
    }
}
