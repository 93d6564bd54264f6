//! Claiming a match: each party verifies that it still stands, then all commit or none (thesis §3.7).

mod redocking;
mod transcript;

pub use transcript::{Message, Word};

use std::fmt;

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::eval::Context;
use crate::protocol::{Advertisement, Protocol};

use super::{Notice, Party};
use redocking::Meeting;

/// Claims matches, one after the other, on the ads as they are now.
pub struct Claimer<'a> {
    ads: &'a [Ad],
    protocol: Protocol,
    context: Context,
    /// When the claims are made: ads must not have expired by then.  Without a time none has.
    at: Option<i64>,
    /// The match that has claimed an ad.
    claimed: FxHashMap<usize, String>,
    /// Constraints evaluated.
    pub evaluations: u64,
    /// Evaluations that exceeded a budget.
    pub failures: u64,
}

/// Why a party votes ABORT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Veto {
    /// No ad is called like that any more.
    Gone,
    /// So many ads are.
    Ambiguous(usize),
    /// It counted until this time.
    Expired(i64),
    /// Its ticket is not the one that the match was made with.
    OtherTicket,
    /// It carries no ticket any more.
    NoTicket,
    /// Another match has claimed it.
    Claimed(String),
    /// It has no such port, or its ports cannot be used.
    Ports(String),
    /// It does not accept the party that it is docked to.
    Refuses(String),
    /// The party that it is docked to does not accept it.
    Refused(String),
    /// Those docked at these ports voted ABORT, and it does not go on without them.
    Left(Vec<String>),
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Veto::Gone => f.write_str("there is no such ad any more"),
            Veto::Ambiguous(count) => write!(f, "{count} ads are called so"),
            Veto::Expired(time) => write!(f, "it has expired: it counted until {time}"),
            Veto::OtherTicket => f.write_str("its ClaimId is another one"),
            Veto::NoTicket => f.write_str("it has no ClaimId any more"),
            Veto::Claimed(id) => write!(f, "the match {id} has claimed it"),
            Veto::Ports(reason) => f.write_str(reason),
            Veto::Refuses(other) => write!(f, "it does not accept {other}"),
            Veto::Refused(other) => write!(f, "{other} does not accept it"),
            Veto::Left(labels) => write!(f, "without {} it does not go on", labels.join(", ")),
        }
    }
}

/// What became of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The parties that are claimed, as indexes; none if the match was given up.
    pub claimed: Vec<usize>,
    /// Why parties voted ABORT, in the order of the parties.
    pub vetoes: Vec<(usize, Veto)>,
    /// What was said.
    pub transcript: Vec<Message>,
}

impl Claim {
    /// Whether anything was claimed.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        !self.claimed.is_empty()
    }
}

/// A claim that is being made.
struct Vote<'a> {
    notice: &'a Notice,
    /// The ads of the parties, where there are any.
    ads: Vec<Option<&'a Ad>>,
    /// Why each party has voted ABORT, if it has.
    vetoes: Vec<Option<Veto>>,
    /// Parties that take no part any more: they, or one above them, voted ABORT before.
    gone: Vec<bool>,
}

impl<'a> Claimer<'a> {
    /// On these ads, none of which may have expired at a time, if one is given.
    #[must_use]
    pub fn new(ads: &'a [Ad], protocol: Protocol, context: Context, at: Option<i64>) -> Self {
        Claimer { ads, protocol, context, at, claimed: FxHashMap::default(), evaluations: 0, failures: 0 }
    }

    /// Claims a match whose parties are these ads now, given as indexes, or are missing for a reason.
    ///
    /// All parties verify, those below before those above them, so that each answers for what is docked at it.
    /// One whose subordinates vote ABORT does so, too, unless its `AcceptPartial` is true when `aborted` is the
    /// list of the labels that are left empty; then those that remain verify again without what was lost.
    pub fn claim(&mut self, notice: &Notice, indexes: &[Result<usize, Veto>]) -> Claim {
        let ad = |index: &Result<usize, Veto>| index.as_ref().ok().and_then(|index| self.ads.get(*index));
        let mut vote = Vote {
            notice,
            ads: indexes.iter().map(ad).collect(),
            vetoes: notice.parties.iter().zip(indexes).map(|(party, index)| self.own_veto(party, index)).collect(),
            gone: vec![false; notice.parties.len()],
        };
        // Whoever cannot take part asks nobody below.
        vote.release_below();
        let mut transcript = Vec::new();
        for round in 1.. {
            self.verify(&mut vote);
            transcript::verify(&vote, round, &mut transcript);
            let mut vetoed = (0..vote.gone.len()).filter(|&party| !vote.gone[party] && vote.vetoes[party].is_some());
            match vetoed.next() {
                None => {
                    transcript::commit(&vote, round, &mut transcript);
                    break;
                }
                Some(0) => {
                    transcript::abort(&vote, round, 0, &mut transcript);
                    return Claim { claimed: Vec::new(), vetoes: vote.vetoes(), transcript };
                }
                Some(first) => {
                    std::iter::once(first)
                        .chain(vetoed)
                        .for_each(|party| transcript::abort(&vote, round, party, &mut transcript));
                    vote.release();
                }
            }
        }
        let claimed: Vec<usize> = (0..vote.gone.len()).filter(|&party| !vote.gone[party]).collect();
        // The parts of an ad are claimed one by one.
        let wholes = claimed.iter().filter(|&&party| notice.parties[party].part_of.is_none());
        let ads = wholes.filter_map(|&party| indexes.get(party)?.as_ref().ok());
        self.claimed.extend(ads.map(|ad| (*ad, notice.id.clone())));
        Claim { claimed, vetoes: vote.vetoes(), transcript }
    }

    /// What keeps a party from any match, whoever else takes part.
    fn own_veto(&self, party: &Party, index: &Result<usize, Veto>) -> Option<Veto> {
        let index = match index {
            Ok(index) => *index,
            Err(veto) => return Some(veto.clone()),
        };
        let Some(ad) = self.ads.get(index) else { return Some(Veto::Gone) };
        let advertisement = Advertisement::new(ad, &self.context);
        if self.at.is_some_and(|at| advertisement.standing().has_expired(at)) {
            return advertisement.expiration().map(Veto::Expired);
        }
        match (&party.ticket, advertisement.ticket()) {
            (Some(_), None) => return Some(Veto::NoTicket),
            (Some(ticket), Some(other)) if *ticket != other => return Some(Veto::OtherTicket),
            _ => {}
        }
        let other = self.claimed.get(&index).filter(|_| party.part_of.is_none());
        other.map(|other| Veto::Claimed(other.clone()))
    }

    /// Asks the parties that are left, those below first.
    fn verify(&mut self, vote: &mut Vote) {
        let (mut meeting, faults) = Meeting::new(vote, &self.protocol, &self.context);
        for (party, reason) in faults {
            vote.vetoes[party].get_or_insert(Veto::Ports(reason));
        }
        let parties = &vote.notice.parties;
        // The labels of each party's ports that are left empty, the last one first: so they are come by.
        let mut aborted: Vec<Vec<String>> = vec![Vec::new(); parties.len()];
        for party in (0..parties.len()).rev() {
            if !vote.gone[party] && vote.vetoes[party].is_none() {
                aborted[party].reverse();
                vote.vetoes[party] = if meeting.goes_on_without(vote.ads[party], &aborted[party]) {
                    meeting.refusal(vote, party)
                } else {
                    Some(Veto::Left(aborted[party].clone()))
                };
            }
            if let Some(docking) = parties[party].docking.as_ref().filter(|_| vote.vetoes[party].is_some()) {
                aborted[docking.parent].push(docking.label.clone());
            }
        }
        self.evaluations += meeting.evaluations;
        self.failures += meeting.failures;
    }
}

impl Vote<'_> {
    /// Where a party is docked, if it is.
    fn parent(&self, party: usize) -> Option<usize> {
        self.notice.parties[party].docking.as_ref().map(|docking| docking.parent)
    }

    /// Those below parties that have voted ABORT take no part any more; parents come before those below them.
    fn release_below(&mut self) {
        for party in 0..self.gone.len() {
            let above = self.parent(party).is_some_and(|parent| self.gone[parent] || self.vetoes[parent].is_some());
            self.gone[party] |= above;
        }
    }

    /// Neither do those that have.
    fn release(&mut self) {
        self.release_below();
        for party in 0..self.gone.len() {
            self.gone[party] |= self.vetoes[party].is_some();
        }
    }

    /// Whether a party still takes part and can be met.
    fn is_present(&self, party: usize) -> bool {
        !self.gone[party] && self.vetoes[party].is_none() && self.ads[party].is_some()
    }

    /// The vetoes that there are, with their parties.
    fn vetoes(self) -> Vec<(usize, Veto)> {
        let vetoes = self.vetoes.into_iter().enumerate();
        vetoes.filter_map(|(party, veto)| Some((party, veto?))).collect()
    }
}
