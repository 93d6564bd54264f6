//! What is done for one request of a cycle: the best remaining offer or gang is found and given.

use crate::ad::{Ad, Value};
use crate::matching::gang::{GangFault, Gangmatcher};
use crate::matching::policy::PolicyFault;

use super::allowance::{Allowance, RefusalReasons};
use super::choice::Choice;
use super::cycle::{Consideration, NegotiationCycle};
use super::event::{Grant, NegotiationEvent};
use super::granted_offer::GrantedOffer;
use super::limit_counts::LimitNeeds;
use super::match_list::{ClusterMatchList, RankedCandidate};

impl NegotiationCycle<'_> {
    /// Gives a request the best remaining offer without ports that its submitter may get.
    pub fn consider_offer(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        self.outcome.statistics.roots += 1;
        let mut list = self.take_list(request);
        list.refresh(&mut self.offers, representative, allowance.is_repeated(self.cluster_of[request]))?;
        list.skip_taken(&self.offers);
        let mut refusals = RefusalReasons::default();
        let needs = self.ledger.limits_of(&mut self.offers, representative, None);
        let reached =
            self.ledger.limits.as_ref().zip(needs.as_ref()).and_then(|(limits, needs)| limits.first_reached(needs));
        if let Some(limit) = reached {
            let limit_keeps_free = list.free_from(&mut 0, &mut self.offers, representative)?.is_some();
            let counts = list.counts();
            let is_needed = list.is_disordered();
            self.keep_list(request, list, is_needed);
            let refusals = RefusalReasons { limit: Some(limit), limit_keeps_free, ..refusals };
            return Ok(self.reject((request, submitter), counts.into(), &refusals));
        }
        let demand = (request, representative, needs.as_ref());
        let [best, next] = self.best_of(&mut list, demand, allowance, &mut refusals)?;
        if self.settings.context.has_spent_comparisons() {
            // Some candidates of the list are not evaluated, so that another one may be the best.
            return Ok(Consideration::Deferred);
        }
        let counts = list.counts();
        let best_offer = best.as_ref().map(|best| best.candidate.offer).filter(|_| self.offers.puts_after_worse());
        let leaves_rest = best_offer.is_some_and(|offer| self.offers.rest(offer, &self.ads[request]).is_some());
        let is_needed = leaves_rest || list.is_disordered();
        self.keep_list(request, list, is_needed);
        let Some(best) = best else {
            allowance.note(&refusals);
            return Ok(self.reject((request, submitter), counts.into(), &refusals));
        };
        self.give((request, submitter), representative, (best, next), needs, allowance);
        Ok(Consideration::Granted)
    }

    /// Returns the best free offer of a list that the submitter may get, and the next free one if a runner-up is wanted.
    fn best_of(
        &mut self,
        list: &mut ClusterMatchList,
        (request, representative, needs): (usize, &Ad, Option<&LimitNeeds>),
        allowance: &mut Allowance,
        refusals: &mut RefusalReasons,
    ) -> Result<[Option<RankedCandidate>; 2], PolicyFault> {
        let is_repeated = allowance.begin(self.cluster_of[request]);
        let mut position = 0;
        while let Some(candidate) = list.free_from(&mut position, &mut self.offers, representative)? {
            let pair = (representative, candidate.candidate.offer);
            if self.ledger.is_permitted(&mut self.offers, pair, needs, (allowance, is_repeated), refusals) {
                self.outcome.ties += usize::from(list.is_tied(position, &self.offers));
                let next = if self.settings.finds_runner_up {
                    list.free_from(&mut position, &mut self.offers, representative)?
                } else {
                    None
                };
                return Ok([Some(candidate), next]);
            }
        }
        Ok([None, None])
    }

    /// Gives a request an offer. `next` is the runner-up.
    fn give(
        &mut self,
        (request, submitter): (usize, &str),
        representative: &Ad,
        (best, next): (RankedCandidate, Option<RankedCandidate>),
        needs: Option<LimitNeeds>,
        allowance: &mut Allowance,
    ) {
        let granted = |RankedCandidate { candidate, vector }: RankedCandidate| GrantedOffer {
            part: self.offers.parts[candidate.offer],
            vector,
            preempted: self.offers.user(candidate.offer),
            ..GrantedOffer::of_candidate(candidate)
        };
        let mut offer = granted(best);
        let choice = next.map(|next| Box::new(Choice::between_offers(&offer, &granted(next))));
        let needs = match needs {
            Some(needs) => needs,
            None => self.ledger.limits_of(&mut self.offers, representative, Some(offer.offer)).unwrap_or_default(),
        };
        offer.is_beyond =
            offer.preempted.is_some() && self.ledger.may_go_beyond(&mut self.offers, representative, offer.offer);
        offer.portion = self.offers.take(offer.offer, &self.ads[request]);
        let weight = self.ledger.settle(&self.offers, submitter, (&[offer.offer], &needs), allowance);
        self.grant(submitter, Grant { request, unit: None, offers: vec![offer], gang: None, choice }, weight);
    }

    /// Reports that a request gets nothing, with the numbers of compatible and of discarded offers. Returns whether it may get
    /// something later.
    fn reject(
        &mut self,
        (request, submitter): (usize, &str),
        [compatible, discarded]: [usize; 2],
        refusals: &RefusalReasons,
    ) -> Consideration {
        if !refusals.is_silent() {
            let cluster = self.cluster_of(request);
            let event = NegotiationEvent::Rejected { request, cluster, submitter, compatible, discarded, refusals };
            self.report(event);
        }
        if refusals.is_none() { Consideration::Failed } else { Consideration::Deferred }
    }

    /// Gives a request its best remaining gang, if its submitter may get it.
    pub fn consider_gang(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let found = self.offers.find_gang(request, representative);
        for rank in self.offers.gangs().map(Gangmatcher::take_non_numeric_ranks).unwrap_or_default() {
            self.report(NegotiationEvent::NonNumericRank { request, rank });
        }
        let gang = match found {
            Ok(gang) => gang,
            Err(GangFault::Ports(fault)) => return Ok(self.reject_ports(request, submitter, &fault)),
            Err(GangFault::Policy(fault)) => return Err(fault),
        };
        let Some(gang) = gang else {
            self.outcome.statistics.roots += 1;
            if let Some(matchmaker) = self.offers.gangs() {
                let event = NegotiationEvent::NoGang { request, submitter, matchmaker };
                self.is_ended |= (self.tell)(event).is_break();
            }
            return Ok(Consideration::Failed);
        };
        let members: Vec<usize> = gang.members().iter().map(|docked| docked.offer).collect();
        // The sum of nothing is -0.
        let weight = members.iter().filter_map(|offer| self.ledger.weights.weights.get(*offer)).sum::<f64>() + 0.0;
        if !allowance.permits_gang(members.len(), weight) {
            let left = allowance.remaining();
            self.report(NegotiationEvent::Deferred { request, submitter, offers: members.len(), weight, left });
            return Ok(Consideration::Deferred);
        }
        let needs = self.ledger.limits_of(&mut self.offers, representative, None).unwrap_or_default();
        if let Some(limit) = self.ledger.limits.as_ref().and_then(|limits| limits.first_reached(&needs)) {
            let refusals = RefusalReasons { limit: Some(limit), limit_keeps_free: true, ..RefusalReasons::default() };
            return Ok(self.reject((request, submitter), [members.len(), 0], &refusals));
        }
        self.outcome.statistics.roots += 1;
        let granted = gang.members().into_iter().map(|docked| GrantedOffer {
            offer: docked.offer,
            part: docked.part,
            request_rank: docked.rank,
            offer_rank: docked.offer_rank,
            vector: docked.vector.clone(),
            preempted: self.offers.user(docked.offer),
            is_beyond: false,
            portion: None,
        });
        let mut offers: Vec<GrantedOffer> = granted.collect();
        let next = match self.offers.gangs().filter(|_| self.settings.finds_runner_up) {
            Some(matchmaker) => matchmaker.find_runner_up(&gang)?,
            None => None,
        };
        let choice = next.map(|next| Box::new(Choice::between_gangs(&gang, &next)));
        self.offers.take_gang(&gang, &mut offers);
        let weight = self.ledger.settle(&self.offers, submitter, (&members, &needs), allowance);
        self.grant(submitter, Grant { request, unit: None, offers, gang: Some(gang), choice }, weight);
        Ok(Consideration::Granted)
    }

    /// Returns how many further requests the offer of the last grant covers, as the rule `covers` of the share says.
    pub fn covered_by_last(&mut self) -> usize {
        let share = self.settings.policy.weighted_share();
        let Some((rule, grant)) = share.and_then(|share| share.covers.as_ref()).zip(self.outcome.grants.last()) else {
            return 0;
        };
        let Some(offer) = grant.offers.first().map(|granted| granted.offer) else { return 0 };
        match self.offers.docking_value(rule, &self.ads[grant.request], offer) {
            Value::Integer(number) => usize::try_from(number.saturating_sub(1)).unwrap_or(0),
            _ => 0,
        }
    }
}
