//! What stays from cycle to cycle: the autoclusters of the requests, their order, and which offers they are compatible with.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Ad, ByIdentity, Name};
use crate::eval::{Context, FreeNames, NameSet};
use crate::pool::RequestClusters;
use crate::protocol::{PRIORITY_SIDES, priority_attributes};

use super::super::match_table::{KnownMatches, MatchTable};
use super::super::priority_attributes::PriorityAttributes;
use super::super::{KnownAds, NegotiationSettings, negotiation_names};
use super::narrow_ads::{BoundExpressions, NarrowAds};
use super::request::SimulatedRequest;

/// The names that cycles read in ads.
pub struct NamesOfCycles {
    /// What a cycle reads. `None` if it may read any attribute.
    pub all: Option<NameSet>,
    /// What constraints and ranks read. `None` if they may read any attribute, or one of a request that changes while its ad stays the
    /// same.
    of_matches: Option<NameSet>,
    /// Whether the order of the requests stays the same.
    keeps_order: bool,
    /// Whether the clock may change which requests and offers are compatible.
    pub moves: bool,
}

/// What is known before a cycle.
pub struct LastingFacts {
    clusters: RequestClusters,
    /// The requests in the order in which they are served. `None` if the order changes from cycle to cycle.
    order: Option<Vec<usize>>,
    /// `None` if matches change from cycle to cycle.
    matches: Option<LastingMatches>,
}

/// Which requests and offers are compatible.
struct LastingMatches {
    table: Rc<RefCell<MatchTable>>,
    narrowing: NarrowAds,
    /// What constraints and ranks read of each offer of the last cycle.
    narrow: ByIdentity<Ad, Ad>,
}

impl NamesOfCycles {
    /// Finds the names in ads, and in what is made of these ads.
    pub fn of<'a>(settings: &NegotiationSettings, requests: &'a [Ad], offers: impl Iterator<Item = &'a Ad>) -> Self {
        let NegotiationSettings { policy, protocol, context, .. } = settings;
        let dialect = context.dialect;
        let (Some(bound), Some(in_requests)) = (
            BoundExpressions::of(requests.iter().chain(offers), dialect),
            BoundExpressions::of(requests.iter(), dialect),
        ) else {
            return NamesOfCycles { all: None, of_matches: None, keeps_order: false, moves: true };
        };
        let mut mentions = negotiation_names(policy, dialect);
        mentions.names.extend(protocol.attribute_names().cloned());
        let names = protocol.attribute_names().cloned().collect();
        let of_matches = bound.read_names(FreeNames { names, ..FreeNames::default() });
        let is_added = |name: &Name| {
            policy.offer_attributes.iter().any(|(added, _)| added == name)
                || priority_attributes(PRIORITY_SIDES[1]).iter().any(|(added, _)| added == name)
        };
        let rules = policy.roots.iter().chain(&policy.order);
        let is_lasting = |name: &Name| !is_added(name) && in_requests.are_lasting(name);
        NamesOfCycles {
            all: bound.read_names(mentions),
            moves: of_matches.as_ref().is_none_or(|names| !names.iter().all(|name| bound.are_lasting(name))),
            of_matches: of_matches.filter(|names| names.iter().all(is_lasting)),
            keeps_order: in_requests.keep_values(rules.map(|rule| &rule.expression)),
        }
    }
}

impl LastingFacts {
    /// Finds what stays. `offers` has what cycles read of all offers, `order` the requests in the order of the policy. The offers of later cycles
    /// are made of these, and read no further attributes. `None` if no autoclusters are wanted, or if requests get attributes that
    /// change.
    pub fn new(
        settings: &NegotiationSettings,
        requests: &[SimulatedRequest],
        (offers, order): (&[Ad], Vec<usize>),
        names: NamesOfCycles,
    ) -> Option<Self> {
        let NegotiationSettings { policy, protocol, context, accelerations, .. } = settings;
        if !accelerations.autoclusters || PriorityAttributes::new(policy, context).are_read_of_requests() {
            return None;
        }
        let prepared: Vec<Ad> = requests.iter().map(|request| request.prepared.clone()).collect();
        let is_counted = requests.iter().any(|request| request.is_counted);
        // Without a docking vector, a cycle ranks only the offers that it needs.
        let has_table = accelerations.index && !policy.docking.is_empty();
        let matches = |names| LastingMatches {
            table: Rc::new(RefCell::new(MatchTable::new(protocol.clone(), context.clone()))),
            narrowing: NarrowAds::new(Some(names), &[]),
            narrow: ByIdentity::default(),
        };
        Some(LastingFacts {
            clusters: RequestClusters::new(&prepared, offers, &policy.match_policies(), protocol, context),
            order: Some(order).filter(|_| names.keeps_order && !is_counted),
            matches: names.of_matches.filter(|_| has_table).map(matches),
        })
    }

    /// The autoclusters of all requests.
    pub fn clusters(&self) -> &RequestClusters {
        &self.clusters
    }

    /// Returns what is known of the requests that ask in a cycle, and of its offers.
    pub fn of_cycle(
        &mut self,
        (requests, asking): (&[SimulatedRequest], &[usize]),
        offers: &[Ad],
        context: &Context,
    ) -> KnownAds {
        let RequestClusters { clusters, cluster_of } = &self.clusters;
        let order = self.order.as_ref().map(|order| {
            let mut place = vec![usize::MAX; requests.len()];
            asking.iter().enumerate().for_each(|(index, request)| place[*request] = index);
            order.iter().map(|request| place[*request]).filter(|place| *place != usize::MAX).collect()
        });
        let matches = self.matches.as_mut().map(|matches| matches.of_cycle(offers, context));
        KnownAds {
            clusters: Some(RequestClusters {
                clusters: clusters.clone(),
                cluster_of: asking.iter().map(|request| cluster_of[*request]).collect(),
            }),
            submitters: Some(asking.iter().map(|request| requests[*request].submitter.clone()).collect()),
            order,
            matches,
        }
    }
}

impl LastingMatches {
    fn of_cycle(&mut self, offers: &[Ad], context: &Context) -> KnownMatches {
        let before = std::mem::take(&mut self.narrow);
        let mut narrow = |offer: &Ad| before.get(offer).cloned().unwrap_or_else(|| self.narrowing.narrow(offer));
        let narrowed: Vec<Ad> =
            offers.iter().map(|offer| self.narrow.get_or_insert_with(offer, || narrow(offer)).clone()).collect();
        MatchTable::begin_cycle(&self.table, &narrowed, context)
    }
}
