//! The state of a cycle, and which requests are considered. What is done for one request is in `consideration.rs`.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::matching::Accelerations;
use crate::matching::policy::{Policy, PolicyFault, WeightedShare};
use crate::pool::RequestClusters;
use crate::protocol::{PortFault, resource_count};

use super::allowance::Allowance;
use super::event::{Grant, NegotiationEvent};
use super::ledger::CycleLedger;
use super::limit_record::{LimitRecord, TurnLimit};
use super::match_list::ClusterMatchList;
use super::match_table::KnownMatches;
use super::offers::CycleOffers;
use super::weight_accounts::WeightAccounts;
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

impl RequestProgress {
    /// Returns the number of offers for which the request asked in the beginning.
    pub fn asked(self) -> usize {
        self.remaining + self.granted
    }
}

pub struct NegotiationCycle<'c> {
    pub settings: &'c NegotiationSettings,
    pub ads: &'c [Ad],
    pub requests: Vec<RequestProgress>,
    clusters: Option<RequestClusters>,
    /// The autocluster of each request, also where autoclusters accelerate nothing, if a rule depends on them. Otherwise
    /// each request counts as an autocluster then.
    pub cluster_of: Vec<usize>,
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
    /// The first request of the run of requests of one autocluster that is considered, if its round has such runs.
    pub run_head: Option<usize>,
    /// The grants of requests that are no heads of their runs, by index. In HTCondor the access point chooses the job then.
    pub chosen_later: FixedBitSet,
    /// Called with each event as it happens.
    pub tell: &'c mut CycleObserver<'c>,
    /// Whether the observer has ended the cycle.
    pub is_ended: bool,
    /// What submitters use, and how much of the concurrency limits is in use.
    pub ledger: CycleLedger<'c>,
    /// The limits that keep requests from offers, if they are to be found.
    pub limits: Option<LimitRecord>,
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
        (ads, mut clusters): (&'c [Ad], Option<RequestClusters>),
        (offers, weights, known): (&[Ad], WeightAccounts, Option<KnownMatches>),
        tell: &'c mut CycleObserver<'c>,
    ) -> Self {
        let NegotiationSettings { policy, protocol, context, accelerations, .. } = settings;
        if clusters.is_none() && (accelerations.autoclusters || depends_on_autoclusters(policy)) {
            clusters = Some(RequestClusters::new(ads, offers, &policy.match_policies(), protocol, context));
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
        // The cycle keeps the match lists itself, and what is known needs no index.
        let of_offers =
            Accelerations { match_lists: false, index: accelerations.index && known.is_none(), ..*accelerations };
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
            offers: CycleOffers::new(ads, offers, settings, of_offers).with_known(known),
            lists: FxHashMap::default(),
            failed_clusters: FxHashMap::default(),
            gang_clusters: FxHashMap::default(),
            outcome,
            run_head: None,
            chosen_later: FixedBitSet::new(),
            tell,
            is_ended: false,
            ledger: CycleLedger::new(policy, (offers, weights), context),
            limits: None,
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
        if let Some(limits) = &mut self.limits {
            let clusters = &self.clusters;
            limits.note_event(&event, |at| clusters.as_ref().map_or(at, |clusters| clusters.cluster_of[at]));
        }
        self.is_ended |= (self.tell)(event).is_break();
    }

    /// Adds to the record of limits, if there is one, what the books say.
    pub fn note_limits(
        &mut self,
        share: &WeightedShare,
        add: impl FnOnce(&mut LimitRecord, (&WeightedShare, &WeightAccounts)),
    ) {
        if let Some(record) = &mut self.limits {
            add(record, (share, &self.ledger.weights));
        }
    }

    /// Whether there is nothing left to give away, or the observer has ended the cycle. Where all requests get gangs, the
    /// failure of each is reported, also when no offer is left.
    pub fn is_over(&self) -> bool {
        self.is_ended
            || self.settings.context.has_spent_comparisons()
            || self.offers.free_count == 0 && self.settings.gangs.ports != PortUse::Always
    }

    /// Returns the limits that ended the turns of waiting requests, by index of the request.
    pub fn limits(&self, submitters: &[Submitter]) -> FxHashMap<usize, TurnLimit> {
        let Some(record) = &self.limits else { return FxHashMap::default() };
        let limit = |submitter: &Submitter, request: usize| {
            let is_open = self.is_open(request) && !self.is_over();
            let waits = self.requests[request].remaining > 0;
            let limit = record.limit(self.cluster_of(request), &submitter.name, is_open).filter(|_| waits);
            limit.map(|limit| (request, limit))
        };
        let of_submitter = |submitter: &Submitter| {
            submitter.requests.iter().filter_map(|request| limit(submitter, *request)).collect::<Vec<_>>()
        };
        submitters.iter().flat_map(of_submitter).collect()
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
            self.report(NegotiationEvent::Skipped { request, cluster, submitter, requests });
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

    /// Keeps the match list of a request for the next request of its autocluster, if lists are kept, or if the order of the
    /// list depends on this request.
    pub fn keep_list(&mut self, request: usize, list: ClusterMatchList, is_needed: bool) {
        let bytes = self.kept_bytes + list.bytes();
        let is_kept = self.settings.accelerations.match_lists && self.clusters.is_some();
        if is_needed || is_kept && bytes <= self.max_kept_bytes {
            self.kept_bytes = bytes;
            self.lists.insert(self.cluster_of[request], list);
        }
    }

    /// Returns the match list of the autocluster of a request, which is no longer kept. Empty if none was kept.
    pub fn take_list(&mut self, request: usize) -> ClusterMatchList {
        let list = self.lists.remove(&self.cluster_of[request]).unwrap_or_default();
        self.kept_bytes = self.kept_bytes.saturating_sub(list.bytes());
        list
    }

    /// Leaves out a request for good, because its ports cannot be used.
    pub fn reject_ports(&mut self, request: usize, submitter: &str, fault: &PortFault) -> Consideration {
        self.requests[request].remaining = 0;
        self.report(NegotiationEvent::BadPorts { request, submitter, fault });
        Consideration::Failed
    }

    /// Records that a request got offers, which are taken already. Sets the unit of the grant. `weight` is what counts
    /// against the share.
    pub fn grant(&mut self, submitter: &str, grant: Grant, weight: Option<f64>) {
        let state = &mut self.requests[grant.request];
        state.remaining -= 1;
        state.granted += 1;
        let grant = Grant { unit: state.is_counted.then_some(state.granted), ..grant };
        if state.remaining == 0 {
            let asking = &mut self.asking[self.cluster_of[grant.request]];
            *asking -= 1;
            if *asking == 0 {
                self.take_list(grant.request);
            }
        }
        self.outcome.statistics.matched += 1;
        self.report(NegotiationEvent::Matched { grant: &grant, submitter, weight });
        if self.run_head.is_some_and(|head| head != grant.request) {
            self.chosen_later.grow_and_insert(self.outcome.grants.len());
        }
        self.outcome.grants.push(grant);
    }
}

/// Whether matches depend on autoclusters, so that they are needed also where they accelerate nothing.
fn depends_on_autoclusters(policy: &Policy) -> bool {
    let of_share = policy.weighted_share();
    of_share.is_some_and(|share| [&share.in_use_by, &share.beyond, &share.covers].into_iter().any(Option::is_some))
        || policy.residual.as_ref().is_some_and(|residual| residual.after_worse)
        || policy.leftovers.is_some()
}
