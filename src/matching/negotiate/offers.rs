//! The offers of a cycle: which offers are taken, what remains of divided offers, and their docking vectors.

use std::sync::Arc;

use crate::ad::{Ad, Participant, ScopeFrame};
use crate::eval::{Context, Environment};
use crate::matching::policy::{Policy, PolicyFault, PolicyVector};
use crate::matching::{Accelerations, Matchmaker, Pair, PairSide, Statistics};
use crate::protocol::Advertisement;

use super::NegotiationSettings;

/// The state of all offers during a cycle.
pub struct CycleOffers {
    pub matchmaker: Matchmaker,
    environment: Environment,
    frames: Vec<Arc<ScopeFrame>>,
    /// 1-based number of the part of each offer that is offered now. Part 1 is the offer as advertised.
    pub parts: Vec<usize>,
    /// For each offer, whether the offer is unavailable. An offer is unavailable if it was given away and left no
    /// remainder, or if the rule `roots` of the policy is true in the offer.
    pub taken: Vec<bool>,
    /// Number of offers that are not taken.
    pub free_count: usize,
    /// Indexes of the offers that were divided, in chronological order. Dividing an offer replaces it by its remainder.
    pub divisions: Vec<usize>,
    pub policy: Policy,
    pub context: Context,
    /// Counters of the work that the matchmaker does not count.
    statistics: Statistics,
    /// Two counts for each component of the docking vector: how often the component was evaluated, and how often its
    /// value could be ordered.
    component_counts: Vec<(usize, usize)>,
}

impl CycleOffers {
    /// Prepares the offers for a cycle. An offer is never given away if the rule `roots` of the policy is true in the
    /// offer.
    pub fn new(ads: &[Ad], settings: &NegotiationSettings, accelerations: Accelerations) -> Self {
        let NegotiationSettings { policy, protocol, context, .. } = settings;
        let matchmaker = Matchmaker::new(ads, protocol.clone(), context.clone(), accelerations);
        let taken: Vec<bool> = ads.iter().map(|ad| !policy.is_offer(ad, context)).collect();
        CycleOffers {
            matchmaker,
            environment: Environment::pair(Ad::default(), Ad::default()).0,
            frames: ads.iter().map(|ad| Pair::make_scope(ad.clone(), PairSide::Offer)).collect(),
            parts: vec![1; ads.len()],
            free_count: taken.iter().filter(|taken| !**taken).count(),
            taken,
            divisions: Vec::new(),
            policy: policy.clone(),
            context: context.clone(),
            statistics: Statistics::default(),
            component_counts: vec![(0, 0); policy.docking.len()],
        }
    }

    /// Returns the current user of an offer. `None` if the offer has no user, or was divided: a remainder has no user.
    pub fn user(&self, offer: usize) -> Option<String> {
        let frame = self.frames.get(offer).filter(|_| self.parts[offer] == 1)?;
        Advertisement::new(&frame.ad, &self.context).user()
    }

    /// Returns the docking vector of a request for an offer. `None` if a component cannot be ordered or a budget was
    /// exceeded; the offer is discarded then.
    pub fn vector(&mut self, request: &Ad, offer: usize) -> Option<PolicyVector> {
        let request = put_pair(&mut self.environment, request, &self.frames[offer]);
        self.statistics.evaluations += self.policy.docking.len() as u64;
        let frames = [&request, &self.frames[offer]];
        let vector = PolicyVector::evaluate_docking(&self.policy.docking, &self.environment, frames, &self.context);
        self.statistics.failures += u64::from(vector.is_err());
        let vector = vector.ok()?;
        for ((values, places), component) in self.component_counts.iter_mut().zip(&vector.0) {
            *values += 1;
            *places += usize::from(component.is_some());
        }
        Some(vector).filter(PolicyVector::is_complete)
    }

    /// Returns the indexes of the components of the docking vector whose values could never be ordered. Such a
    /// component discards every candidate.
    pub fn unordered_components(&self) -> Vec<usize> {
        let docked = self.component_counts.iter().enumerate();
        docked.filter(|(_, (values, places))| *values > 0 && *places == 0).map(|(component, _)| component).collect()
    }

    /// Checks that these docking vectors can be compared. For example, a component must not be a number in one vector
    /// and a string in another.
    pub fn check_comparable<'v>(&self, vectors: impl IntoIterator<Item = &'v PolicyVector>) -> Result<(), PolicyFault> {
        PolicyVector::check_comparable(vectors, "docking", &self.policy.docking)
    }

    /// Gives an offer to a request. If the offer leaves a remainder, the remainder replaces the offer. Otherwise the
    /// offer is taken.
    pub fn take(&mut self, offer: usize, request: &Ad) {
        if let Some(remainder) = self.remainder(offer, request) {
            self.frames[offer] = Pair::make_scope(remainder.clone(), PairSide::Offer);
            self.matchmaker.replace(offer, remainder);
            self.parts[offer] += 1;
            self.divisions.push(offer);
        } else {
            self.taken[offer] = true;
            self.free_count -= 1;
        }
    }

    fn remainder(&mut self, offer: usize, request: &Ad) -> Option<Ad> {
        let residual = self.policy.residual.as_ref()?;
        put_pair(&mut self.environment, request, &self.frames[offer]);
        let remainder = residual.remainder(&self.frames[offer], &self.environment, &self.context);
        self.statistics.failures += u64::from(remainder.is_err());
        remainder.unwrap_or_default()
    }

    /// Returns the counters so far, including those of the matchmaker.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics;
        statistics.add(&self.matchmaker.statistics);
        statistics
    }
}

/// Pairs a request with an offer in an environment, and returns the scope of the request.
fn put_pair(environment: &mut Environment, request: &Ad, offer: &Arc<ScopeFrame>) -> Arc<ScopeFrame> {
    let request = Pair::make_scope(request.clone(), PairSide::Request);
    environment.replace_ad(Participant::REQUEST, &request);
    environment.replace_ad(Participant::PARTNER, offer);
    request
}
