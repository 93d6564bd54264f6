//! The state of a cycle, and what is done for one request: the best remaining offer or gang is found and given.

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::matching::Accelerations;
use crate::matching::gang::{GangFault, Gangmatcher};
use crate::matching::policy::PolicyFault;
use crate::pool::RequestClusters;
use crate::protocol::{PortFault, resource_count};

use super::allowance::{Allowance, RefusalReasons};
use super::choice::Choice;
use super::event::{Grant, NegotiationEvent};
use super::granted_offer::GrantedOffer;
use super::ledger::CycleLedger;
use super::match_list::{ClusterMatchList, RankedCandidate};
use super::offers::CycleOffers;
use super::{CycleObserver, NegotiationOutcome, NegotiationSettings, PortUse, Submitter};

/// The progress of one request.
#[derive(Clone, Copy)]
pub struct RequestProgress {
    /// Number of offers that the request still asks for.
    pub remaining: usize,
    /// Number of offers that the request has got.
    granted: usize,
    /// Whether the request is a resource request, which asks for a number of offers.
    is_counted: bool,
    /// Length of [`CycleOffers::divisions`] at the time when the request got no offer; `None` if it never failed. The
    /// request would fail again until another offer is divided.
    failed_at_division: Option<usize>,
}

pub struct NegotiationCycle<'c> {
    pub settings: &'c NegotiationSettings,
    pub ads: &'c [Ad],
    pub requests: Vec<RequestProgress>,
    clusters: Option<RequestClusters>,
    /// The autocluster of each request, also where autoclusters accelerate nothing, if a rule depends on them.
    cluster_of: Vec<usize>,
    pub offers: CycleOffers,
    /// The match list of each autocluster, by index of the autocluster.
    lists: FxHashMap<usize, ClusterMatchList>,
    /// Size of `lists` in bytes.
    kept_bytes: usize,
    /// Maximum of `kept_bytes`. Further lists are made again for the next request of their autocluster.
    max_kept_bytes: usize,
    /// Number of requests of each autocluster that still ask for offers.
    asking: Vec<usize>,
    /// Length of [`CycleOffers::divisions`] at the time when an autocluster got no offer, by index of the autocluster.
    failed_clusters: FxHashMap<usize, usize>,
    /// Whether the requests of an autocluster get gangs, by index of the autocluster, and the length of
    /// [`CycleOffers::divisions`] when this was found out.
    gang_clusters: FxHashMap<usize, (bool, usize)>,
    pub outcome: NegotiationOutcome,
    /// Called with each event as it happens.
    tell: &'c mut CycleObserver<'c>,
    /// Whether the observer has ended the cycle.
    pub is_ended: bool,
    /// What submitters use, and how much of the concurrency limits is in use.
    pub ledger: CycleLedger<'c>,
}

/// What came of considering a request once.
pub enum Consideration {
    /// The request got an offer or a gang.
    Granted,
    /// The request got nothing now, but may get something in a later round.
    Deferred,
    /// The request got nothing, and gets nothing until another offer is divided.
    Failed,
}

impl<'c> NegotiationCycle<'c> {
    pub fn new(
        settings: &'c NegotiationSettings,
        ads: &'c [Ad],
        offers: &[Ad],
        tell: &'c mut CycleObserver<'c>,
    ) -> Self {
        let NegotiationSettings { policy, protocol, context, accelerations, .. } = settings;
        let policies = policy.match_policies();
        let mut clusters = None;
        // The rule `beyond` depends on autoclusters, so that they are needed also where they accelerate nothing.
        let has_beyond = policy.weighted_share().is_some_and(|share| share.beyond.is_some());
        if accelerations.autoclusters || has_beyond {
            clusters = Some(RequestClusters::new(ads, offers, &policies, protocol, context));
        }
        let cluster_of = clusters.as_ref().map_or_else(|| (0..ads.len()).collect(), |found| found.cluster_of.clone());
        let clusters = clusters.filter(|_| accelerations.autoclusters);
        let mut outcome = NegotiationOutcome::default();
        outcome.statistics.autoclusters = clusters.as_ref().map_or(0, |clusters| clusters.clusters.len() as u64);
        let request = |ad| {
            let count = resource_count(ad, context);
            let (remaining, is_counted) = (count.unwrap_or(1), count.is_some());
            RequestProgress { remaining, granted: 0, is_counted, failed_at_division: None }
        };
        let mut asking = vec![0; cluster_of.iter().max().map_or(0, |last| last + 1)];
        for cluster in &cluster_of {
            asking[*cluster] += 1;
        }
        let of_run = context.run_budgets.as_ref().map_or(u64::MAX, |run| run.held_bytes.granted());
        NegotiationCycle {
            settings,
            ads,
            kept_bytes: 0,
            max_kept_bytes: usize::try_from(of_run).unwrap_or(usize::MAX),
            asking,
            cluster_of,
            requests: ads.iter().map(request).collect(),
            clusters,
            // The cycle keeps the match lists itself.
            offers: CycleOffers::new(ads, offers, settings, Accelerations { match_lists: false, ..*accelerations }),
            lists: FxHashMap::default(),
            failed_clusters: FxHashMap::default(),
            gang_clusters: FxHashMap::default(),
            outcome,
            tell,
            is_ended: false,
            ledger: CycleLedger::new(policy, offers, context),
        }
    }

    /// Whether a request still asks for offers. A request that got no offer stops asking until another offer is
    /// divided.
    pub fn is_open(&self, request: usize) -> bool {
        let request = &self.requests[request];
        request.remaining > 0 && request.failed_at_division != Some(self.offers.divisions.len())
    }

    /// Returns the number of offers for which the requests of a submitter still ask.
    pub fn open_demand(&self, submitter: &Submitter) -> usize {
        let left = submitter.requests.iter().filter(|request| self.is_open(**request));
        left.map(|request| self.requests[*request].remaining).sum()
    }

    /// Reports an event to the observer.
    pub fn report(&mut self, event: NegotiationEvent<'_>) {
        self.is_ended |= (self.tell)(event).is_break();
    }

    /// Whether there is nothing left to give away, or the observer has ended the cycle. Where all requests get gangs, the
    /// failure of each is reported, also when no offer is left.
    pub fn is_over(&self) -> bool {
        self.is_ended
            || self.settings.context.has_spent_comparisons()
            || self.offers.free_count == 0 && self.settings.gangs.ports != PortUse::Always
    }

    /// Returns the index of the autocluster of a request. Without autoclusters each request counts as an autocluster.
    pub fn cluster_of(&self, request: usize) -> usize {
        self.clusters.as_ref().map_or(request, |clusters| clusters.cluster_of[request])
    }

    /// Gives a request the best remaining offer or gang that its submitter may get.
    pub fn consider(
        &mut self,
        request: usize,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let divided = self.offers.divisions.len();
        let cluster = self.cluster_of(request);
        if self.failed_clusters.get(&cluster) == Some(&divided) {
            let requests = self.requests[request].remaining;
            self.outcome.statistics.skipped += requests as u64;
            self.requests[request].failed_at_division = Some(divided);
            self.report(NegotiationEvent::Skipped { request, submitter, requests });
            return Ok(Consideration::Failed);
        }
        let representative = match &self.clusters {
            Some(clusters) => clusters.clusters[cluster].representative.clone(),
            None => self.ads[request].clone(),
        };
        let needs_gang = match self.gang_clusters.get(&cluster) {
            Some((needs_gang, known_at)) if *known_at == divided => Ok(*needs_gang),
            _ => self.offers.needs_gang(&representative),
        };
        let considered = match needs_gang {
            Ok(needs_gang) => {
                self.gang_clusters.insert(cluster, (needs_gang, divided));
                if needs_gang {
                    self.consider_gang(request, &representative, submitter, allowance)?
                } else {
                    self.consider_offer(request, &representative, submitter, allowance)?
                }
            }
            Err(fault) => self.reject_ports(request, submitter, &fault),
        };
        if matches!(considered, Consideration::Failed) && self.requests[request].remaining > 0 {
            // Only the first unit of a resource request was tried. The other units would fail too and count as skipped.
            self.outcome.statistics.skipped += self.requests[request].remaining as u64 - 1;
            self.requests[request].failed_at_division = Some(divided);
            self.failed_clusters.insert(cluster, divided);
        }
        Ok(considered)
    }

    /// Keeps the match list of an autocluster for its next request, if lists are kept.
    fn keep_list(&mut self, cluster: usize, list: ClusterMatchList) {
        let bytes = self.kept_bytes + list.bytes();
        if self.settings.accelerations.match_lists && self.clusters.is_some() && bytes <= self.max_kept_bytes {
            self.kept_bytes = bytes;
            self.lists.insert(cluster, list);
        }
    }

    /// Returns the match list of an autocluster, which is no longer kept. Empty if none was kept.
    fn take_list(&mut self, cluster: usize) -> ClusterMatchList {
        let list = self.lists.remove(&cluster).unwrap_or_default();
        self.kept_bytes = self.kept_bytes.saturating_sub(list.bytes());
        list
    }

    /// Gives a request the best remaining offer without ports that its submitter may get.
    fn consider_offer(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let cluster = self.cluster_of(request);
        self.outcome.statistics.roots += 1;
        let mut list = self.take_list(cluster);
        list.refresh(&mut self.offers, representative)?;
        list.skip_taken(&self.offers);
        let mut refusals = RefusalReasons::default();
        let needs = self.ledger.limits_of(&mut self.offers, representative, None);
        let reached =
            self.ledger.limits.as_ref().zip(needs.as_ref()).and_then(|(limits, needs)| limits.first_reached(needs));
        if let Some(limit) = reached {
            let limit_keeps_free = list.free_from(&mut 0, &mut self.offers, representative)?.is_some();
            let (compatible, discarded) = list.counts();
            self.keep_list(cluster, list);
            let refusals = RefusalReasons { limit: Some(limit), limit_keeps_free, ..refusals };
            self.report(NegotiationEvent::Rejected { request, submitter, compatible, discarded, refusals: &refusals });
            return Ok(Consideration::Deferred);
        }
        let is_repeated = allowance.begin(self.cluster_of[request]);
        let mut best = None;
        let mut position = 0;
        while let Some(candidate) = list.free_from(&mut position, &mut self.offers, representative)? {
            if self.ledger.is_permitted(
                &mut self.offers,
                (representative, candidate.candidate.offer),
                needs.as_ref(),
                (allowance, is_repeated),
                &mut refusals,
            ) {
                best = Some(candidate);
                break;
            }
        }
        let next = match &best {
            Some(_) if self.settings.finds_runner_up => {
                list.free_from(&mut position, &mut self.offers, representative)?
            }
            _ => None,
        };
        if self.settings.context.has_spent_comparisons() {
            // Some candidates of the list are not evaluated, so that another one may be the best.
            return Ok(Consideration::Deferred);
        }
        let (compatible, discarded) = list.counts();
        self.keep_list(cluster, list);
        let Some(best) = best else {
            let is_final = refusals.is_none();
            if !refusals.is_silent() {
                self.report(NegotiationEvent::Rejected {
                    request,
                    submitter,
                    compatible,
                    discarded,
                    refusals: &refusals,
                });
            }
            allowance.note(&refusals);
            return Ok(if is_final { Consideration::Failed } else { Consideration::Deferred });
        };
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
        Ok(Consideration::Granted)
    }

    /// Gives a request its best remaining gang, if its submitter may get it.
    fn consider_gang(
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
        let weight = members.iter().filter_map(|offer| self.ledger.weights.weights.get(*offer)).sum();
        if !allowance.permits_gang(members.len(), weight) {
            let left = allowance.remaining();
            self.report(NegotiationEvent::Deferred { request, submitter, offers: members.len(), weight, left });
            return Ok(Consideration::Deferred);
        }
        let needs = self.ledger.limits_of(&mut self.offers, representative, None).unwrap_or_default();
        if let Some(limit) = self.ledger.limits.as_ref().and_then(|limits| limits.first_reached(&needs)) {
            let refusals = RefusalReasons { limit: Some(limit), limit_keeps_free: true, ..RefusalReasons::default() };
            self.report(NegotiationEvent::Rejected {
                request,
                submitter,
                compatible: members.len(),
                discarded: 0,
                refusals: &refusals,
            });
            return Ok(Consideration::Deferred);
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

    /// Leaves out a request for good, because its ports cannot be used.
    fn reject_ports(&mut self, request: usize, submitter: &str, fault: &PortFault) -> Consideration {
        self.requests[request].remaining = 0;
        self.report(NegotiationEvent::BadPorts { request, submitter, fault });
        Consideration::Failed
    }

    /// Records that a request got offers, which are taken already. Sets the unit of the grant. `weight` is what counts
    /// against the share.
    fn grant(&mut self, submitter: &str, grant: Grant, weight: Option<f64>) {
        let state = &mut self.requests[grant.request];
        state.remaining -= 1;
        state.granted += 1;
        let grant = Grant { unit: state.is_counted.then_some(state.granted), ..grant };
        if state.remaining == 0 {
            let asking = &mut self.asking[self.cluster_of[grant.request]];
            *asking -= 1;
            if *asking == 0 {
                let cluster = self.cluster_of(grant.request);
                self.take_list(cluster);
            }
        }
        self.outcome.statistics.matched += 1;
        self.report(NegotiationEvent::Matched { grant: &grant, submitter, weight });
        self.outcome.grants.push(grant);
    }
}
