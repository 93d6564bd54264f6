//! Claiming of matches (thesis 3.7): each party votes on whether it can still take part. Then the match is committed,
//! in whole or in part, or it is aborted.

mod redocking;
#[cfg(test)]
mod tests;
mod transcript;
mod usual_portion;

pub use transcript::{ClaimMessage, ClaimMessageKind};
pub use usual_portion::claimed_portion;

use std::fmt;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::eval::Context;
use crate::protocol::{Advertisement, Protocol, without_portion};

use super::{Notice, Party};
use redocking::RedockedMatch;

/// Claims matches with the current ads, one match at a time. A claimed ad cannot be claimed again by a later match.
pub struct Claimer {
    /// The current ads. What is claimed of a divided offer is gone from its ad.
    ads: Vec<Ad>,
    protocol: Protocol,
    context: Context,
    /// Time of the claims in seconds since 1970. An ad that expired before this time votes ABORT. If `None`, no ad
    /// counts as expired.
    at: Option<i64>,
    /// Identifier of the match that claimed an ad, by the index of the ad.
    claimed: FxHashMap<usize, String>,
    /// Number of constraints and `AcceptPartial` expressions evaluated.
    pub evaluations: u64,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

/// The reason for which a party votes ABORT.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Veto {
    /// No current ad has the identity of the party.
    Gone,
    /// Several current ads have the identity of the party. Holds the number of these ads.
    Ambiguous(usize),
    /// The ad has expired. Holds the last second in which the ad was valid, in seconds since 1970.
    Expired(i64),
    /// The ticket of the current ad differs from the ticket in the notice.
    TicketDiffers,
    /// The notice has a ticket for the party, but the current ad has no ticket.
    TicketMissing,
    /// Another match has claimed the ad. Holds the identifier of that match.
    AlreadyClaimed(String),
    /// The offer has less left of a resource than the match takes. Holds the resource.
    TooLittleLeft(Name),
    /// A port that the match needs is missing, or the ports of the ad cannot be used. Holds the reason as a phrase.
    Ports(String),
    /// The party does not accept its parent. Holds the identity of the parent.
    RejectsParent(String),
    /// The parent does not accept the party. Holds a phrase that names the parent; in a gang the phrase names the
    /// parent's port, too.
    RejectedByParent(String),
    /// Parties docked at this party voted ABORT, and `AcceptPartial` of the party's ad is not true. Holds the labels of
    /// the ports that became empty.
    LostPartners(Vec<String>),
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Veto::Gone => f.write_str("it is not among the current ads"),
            Veto::Ambiguous(count) => write!(f, "{count} ads have this name"),
            Veto::Expired(time) => write!(f, "it has expired: it was valid until {time} (in seconds since 1970)"),
            Veto::TicketDiffers => f.write_str("its ClaimId has changed"),
            Veto::TicketMissing => f.write_str("it no longer has a ClaimId"),
            Veto::AlreadyClaimed(id) => write!(f, "the match {id} has already claimed it"),
            Veto::TooLittleLeft(resource) => write!(f, "it has too little {resource} left"),
            Veto::Ports(reason) => f.write_str(reason),
            Veto::RejectsParent(other) => write!(f, "it does not accept {other}"),
            Veto::RejectedByParent(other) => write!(f, "{other} does not accept it"),
            Veto::LostPartners(labels) => write!(f, "it requires {}", labels.join(", ")),
        }
    }
}

/// The outcome of claiming a match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimResult {
    /// Indexes of the claimed parties in [`Notice::parties`]; empty if the match was aborted.
    pub claimed: Vec<usize>,
    /// Index and reason of each party that voted ABORT, in the order of [`Notice::parties`].
    pub vetoes: Vec<(usize, Veto)>,
    /// Messages that the parties exchanged, in chronological order.
    pub transcript: Vec<ClaimMessage>,
    /// What is claimed of each party that is claimed in part, by its index in [`Notice::parties`].
    pub portions: FxHashMap<usize, Ad>,
}

impl ClaimResult {
    /// Whether the match was committed, in whole or in part.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        !self.claimed.is_empty()
    }
}

/// The votes of the parties while one match is claimed.
struct ClaimState<'a> {
    notice: &'a Notice,
    /// The current ad of each party; `None` if the party has no current ad.
    ads: Vec<Option<Ad>>,
    /// What the match takes of each offer that it divides, and what is left of the offer; `None` for other parties.
    portions: Vec<Option<(Ad, Ad)>>,
    /// The reason for which each party voted ABORT; `None` if the party has not voted ABORT.
    vetoes: Vec<Option<Veto>>,
    /// For each party, whether the party is left out of the current round. A party is left out if the party itself or a
    /// party above it voted ABORT earlier.
    excluded: Vec<bool>,
}

impl Claimer {
    /// Creates a claimer for the current ads. `at` is the time of the claims in seconds since 1970; if it is `None`,
    /// no ad counts as expired.
    #[must_use]
    pub fn new(ads: &[Ad], protocol: Protocol, context: Context, at: Option<i64>) -> Self {
        Claimer { ads: ads.to_vec(), protocol, context, at, claimed: FxHashMap::default(), evaluations: 0, failures: 0 }
    }

    /// Lets the parties of a match vote, and claims the ads of the parties that commit. `indexes` gives for each party
    /// the index of its current ad, or the reason why the party has no ad.
    ///
    /// A party votes after the parties docked at it. A party votes ABORT if a party docked at it voted ABORT and
    /// `AcceptPartial` in its own ad is not true. In `AcceptPartial` the name `aborted` denotes the list of the labels
    /// of the ports that became empty.
    ///
    /// If the request votes ABORT, the match is aborted. If only offers vote ABORT, the remaining parties vote again in
    /// another round.
    ///
    /// Of an offer that the match divides, only what the match takes is claimed. Later matches claim of what is left.
    pub fn claim(&mut self, notice: &Notice, indexes: &[Result<usize, Veto>]) -> ClaimResult {
        let ad = |index: &Result<usize, Veto>| index.as_ref().ok().and_then(|index| self.ads.get(*index).cloned());
        let ads: Vec<Option<Ad>> = indexes.iter().map(ad).collect();
        let (mut portions, mut vetoes) = (vec![None; ads.len()], Vec::with_capacity(ads.len()));
        for (party, index) in indexes.iter().enumerate() {
            let portion = self.portion(notice, &ads, party);
            let own = self.own_veto(&notice.parties[party], index, portion.is_some());
            match portion.transpose() {
                Ok(portion) => portions[party] = portion,
                Err(resource) if own.is_none() => {
                    vetoes.push(Some(Veto::TooLittleLeft(resource)));
                    continue;
                }
                Err(_) => {}
            }
            vetoes.push(own);
        }
        let mut vote = ClaimState { notice, ads, portions, vetoes, excluded: vec![false; notice.parties.len()] };
        // Parties below a party that cannot take part are not asked to vote.
        vote.exclude_below_vetoes();
        let mut transcript = Vec::new();
        for round in 1.. {
            self.verify(&mut vote);
            transcript::record_verify(&vote, round, &mut transcript);
            let against: Vec<usize> = vote.participants().filter(|&party| vote.vetoes[party].is_some()).collect();
            match against.as_slice() {
                [] => {
                    transcript::record_commit(&vote, round, &mut transcript);
                    break;
                }
                [0, ..] => {
                    transcript::record_abort(&vote, round, 0, &mut transcript);
                    return ClaimResult { vetoes: vote.into_vetoes(), transcript, ..ClaimResult::default() };
                }
                against => {
                    for &party in against {
                        transcript::record_abort(&vote, round, party, &mut transcript);
                    }
                    vote.exclude_vetoes();
                }
            }
        }
        let claimed: Vec<usize> = vote.participants().collect();
        let mut portions = FxHashMap::default();
        for &party in &claimed {
            let Some(Ok(index)) = indexes.get(party) else { continue };
            if let Some((portion, rest)) = vote.portions[party].take() {
                self.ads[*index] = rest;
                portions.insert(party, portion);
            } else if !notice.parties[party].is_part() {
                // Only whole ads are recorded as claimed, because several matches may claim parts of one ad.
                self.claimed.insert(*index, notice.id.clone());
            }
        }
        ClaimResult { claimed, vetoes: vote.into_vetoes(), transcript, portions }
    }

    /// Returns what a match takes of a party that it divides, and what is left of it. `None` if it takes the whole ad, or
    /// if there is no ad.
    ///
    /// # Errors
    ///
    /// The resource of which the ad has too little left.
    fn portion(&self, notice: &Notice, ads: &[Option<Ad>], party: usize) -> Option<Result<(Ad, Ad), Name>> {
        let Party { portion, docking, .. } = &notice.parties[party];
        let ad = ads[party].as_ref()?;
        let parent = ads.get(docking.as_ref()?.parent)?.as_ref();
        let portion = claimed_portion(portion.as_ref(), parent, ad, &self.context)?;
        Some(without_portion(ad, &portion, &self.context).map(|rest| (portion, rest)))
    }

    /// Returns the reason why a party cannot take part, whatever the other parties are; `None` if there is no reason.
    /// Reasons: the party's ad is missing, ambiguous, expired or already claimed, or lacks the ticket in the notice. Of an
    /// ad that is divided, other matches may have claimed other portions.
    fn own_veto(&self, party: &Party, index: &Result<usize, Veto>, is_divided: bool) -> Option<Veto> {
        let index = match index {
            Ok(index) => index,
            Err(veto) => return Some(veto.clone()),
        };
        let Some(ad) = self.ads.get(*index) else { return Some(Veto::Gone) };
        let advertisement = Advertisement::new(ad, &self.context);
        if self.at.is_some_and(|at| advertisement.header().has_expired(at)) {
            return advertisement.expiration().map(Veto::Expired);
        }
        match (&party.ticket, advertisement.ticket()) {
            (Some(_), None) => return Some(Veto::TicketMissing),
            (Some(ticket), Some(other)) if *ticket != other => return Some(Veto::TicketDiffers),
            _ => {}
        }
        let other = self.claimed.get(index).filter(|_| !is_divided && !party.is_part());
        other.map(|other| Veto::AlreadyClaimed(other.clone()))
    }

    /// Lets the parties that are not excluded vote. Each party votes after the parties docked at it.
    fn verify(&mut self, vote: &mut ClaimState) {
        let (mut meeting, faults) = RedockedMatch::new(vote, &self.protocol, &self.context);
        for (party, reason) in faults {
            vote.vetoes[party].get_or_insert(Veto::Ports(reason));
        }
        let parties = &vote.notice.parties;
        // For each party the labels of its ports that became empty. The labels are in reverse order, because the loop
        // visits the last party first.
        let mut aborted: Vec<Vec<String>> = vec![Vec::new(); parties.len()];
        for party in (0..parties.len()).rev() {
            if !vote.excluded[party] && vote.vetoes[party].is_none() {
                aborted[party].reverse();
                vote.vetoes[party] = if meeting.accepts_partial(vote.ads[party].as_ref(), &aborted[party]) {
                    meeting.docking_veto(vote, party)
                } else {
                    Some(Veto::LostPartners(aborted[party].clone()))
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

impl ClaimState<'_> {
    /// Iterates over the parties that are not excluded.
    fn participants(&self) -> impl Iterator<Item = usize> {
        (0..self.excluded.len()).filter(|&party| !self.excluded[party])
    }

    /// Returns the index of the party that `party` is docked to; `None` for the request.
    fn parent(&self, party: usize) -> Option<usize> {
        self.notice.parties[party].docking.as_ref().map(|docking| docking.parent)
    }

    /// Excludes every party below a party that voted ABORT. One pass suffices, because a parent has a lower index than
    /// the parties docked at it.
    fn exclude_below_vetoes(&mut self) {
        for party in 0..self.excluded.len() {
            let above = self.parent(party).is_some_and(|parent| self.excluded[parent] || self.vetoes[parent].is_some());
            self.excluded[party] |= above;
        }
    }

    /// Excludes the parties that voted ABORT, and the parties below them.
    fn exclude_vetoes(&mut self) {
        self.exclude_below_vetoes();
        for (excluded, veto) in self.excluded.iter_mut().zip(&self.vetoes) {
            *excluded |= veto.is_some();
        }
    }

    /// Whether a party is not excluded, has not voted ABORT, and has a current ad.
    fn is_present(&self, party: usize) -> bool {
        !self.excluded[party] && self.vetoes[party].is_none() && self.ads[party].is_some()
    }

    /// Returns the index and the reason of each party that voted ABORT.
    fn into_vetoes(self) -> Vec<(usize, Veto)> {
        let vetoes = self.vetoes.into_iter().enumerate();
        vetoes.filter_map(|(party, veto)| Some((party, veto?))).collect()
    }
}
