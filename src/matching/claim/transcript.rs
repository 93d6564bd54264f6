//! What the parties of a match say to each other.

use super::{Veto, Vote};

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The parties verify in rounds, from 1: once more for each time that some are left out.
    pub round: usize,
    /// Who says it; index of a party.
    pub from: usize,
    /// To whom.
    pub to: usize,
    /// What is said.
    pub word: Word,
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Do you join?
    Verify,
    /// I do.
    Ok,
    /// I do not, and why.
    Veto(Veto),
    /// It is done.
    Commit,
    /// It is given up.
    Abort,
}

impl Word {
    /// The message as the thesis calls it.
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

/// The parties that still take part, as they are come by from the top.
fn present<'v>(vote: &'v Vote) -> impl Iterator<Item = (usize, usize)> + 'v {
    (0..vote.gone.len()).filter(|&party| !vote.gone[party]).filter_map(|party| Some((vote.parent(party)?, party)))
}

/// Each asks those below it, and answers when they have.
pub fn verify(vote: &Vote, round: usize, transcript: &mut Vec<Message>) {
    let mut say = |from, to, word| transcript.push(Message { round, from, to, word });
    let answer = |party: usize| vote.vetoes[party].clone().map_or(Word::Ok, Word::Veto);
    // Those that have been asked and have not answered, the last one asked on top.
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

/// All that are left are told to go ahead.
pub fn commit(vote: &Vote, round: usize, transcript: &mut Vec<Message>) {
    transcript.extend(present(vote).map(|(from, to)| Message { round, from, to, word: Word::Commit }));
}

/// All below a party that voted OK are told that it is given up.
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
