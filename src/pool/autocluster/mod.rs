//! Autoclusters: groups of requests that no offer and no policy can tell apart (2006 paper 4.1).

mod interner;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{Protocol, RESOURCE_COUNT, resource_count};

use interner::{Known, Number};

/// The attribute of a resource-request ad that holds the number of its autocluster.
pub const CLUSTER_ID: &str = "AutoClusterId";

/// The expressions that policies evaluate besides the ads' own constraints and ranks.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Expressions evaluated in requests, where `other` and `label` mean the offer.
    pub in_requests: Vec<Expression>,
    /// Expressions evaluated in offers, where `other` means the request.
    pub in_offers: Vec<Expression>,
}

/// An autocluster: requests with equal significant attributes.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first request, which represents all.
    pub representative: Ad,
    /// Number of requests; a resource-request ad counts as the number of requests that it stands for.
    pub members: usize,
    /// Names of the attributes in which the requests agree, present or absent, sorted.
    pub significant: Vec<Name>,
}

impl Cluster {
    /// Returns the significant attributes that the requests have, each name in the spelling first met.
    pub fn attributes(&self) -> impl Iterator<Item = (&Name, &Expression)> {
        self.significant.iter().filter_map(|name| Some((name, self.representative.get(name)?)))
    }

    /// Builds the resource-request ad that stands for `count` requests (2006 paper 4.3): their significant attributes,
    /// the autocluster's number `id`, and the count.
    #[must_use]
    pub fn resource_request(&self, id: usize, count: usize) -> Ad {
        let number = |number: usize| Expression::literal(Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
        let significant = self.attributes().map(|(name, expression)| (name.clone(), expression.clone()));
        let own = [(Name::new(CLUSTER_ID), number(id)), (Name::new(RESOURCE_COUNT), number(count))];
        significant.chain(own).collect()
    }
}

/// The autoclusters of a set of requests.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The autoclusters, in the order of their first requests.
    pub clusters: Vec<Cluster>,
    /// For each request the index into `clusters`.
    pub of: Vec<usize>,
}

impl Clusters {
    /// Groups requests by their significant attributes.
    ///
    /// An attribute is significant if a constraint or rank of the request, a constraint or rank of an offer, or a
    /// policy may read it, directly or through attributes of either side that are expressions.  Requests are in one
    /// autocluster if the same significant attributes are present, bound to equal expressions.  If an expression may
    /// read attributes that it does not name, all attributes are significant.
    ///
    /// Computes a fixpoint: alternates over offers and requests until no further name is read.
    #[must_use]
    pub fn new(requests: &[Ad], offers: &[Ad], policies: &Policies, protocol: &Protocol, context: &Context) -> Self {
        let mut reach = Reach::new(protocol, context);
        reach.policies(policies);
        // Clones of one ad are visited once.
        let distinct: IndexMap<usize, &Ad, FxBuildHasher> = offers.iter().map(|ad| (ad.identity(), ad)).collect();
        let (mut before, mut signatures) = (None, FxHashMap::default());
        loop {
            for offer in distinct.values() {
                reach.walk(offer, Side::Offers);
            }
            // The offers read nothing new, so the requests' signatures are final.
            if before.replace(reach.size()) == Some(reach.size()) {
                break;
            }
            signatures.clear();
            for request in requests {
                signatures.entry(request.identity()).or_insert_with(|| reach.walk(request, Side::Requests));
            }
        }
        let mut found = reach.group(requests, &signatures);
        for (request, cluster) in requests.iter().zip(&found.of) {
            found.clusters[*cluster].members += resource_count(request, context).unwrap_or(1);
        }
        found
    }

    /// Returns the significant attributes of all autoclusters, in the order of first appearance.
    #[must_use]
    pub fn significant(&self) -> IndexSet<&Name> {
        self.clusters.iter().flat_map(|cluster| &cluster.significant).collect()
    }
}

/// The two sides of a match.
#[derive(Clone, Copy)]
enum Side {
    Requests,
    Offers,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Requests => Side::Offers,
            Side::Offers => Side::Requests,
        }
    }
}

/// The names that are read of every ad of one side, and whether all attributes may be read.
#[derive(Default)]
struct Wanted {
    names: IndexSet<Number, FxBuildHasher>,
    everything: bool,
}

/// Stands for the expression of an absent attribute in a [`Signature`].
const ABSENT: Number = Number::MAX;

/// The significant attributes of a request: numbers of names and of their expressions, sorted.
type Signature = Vec<(Number, Number)>;

/// Computes the attributes that constraints, ranks and policies can read.
struct Reach<'c> {
    protocol: &'c Protocol,
    known: Known,
    wanted: [Wanted; 2],
    /// Worklist of the walk through one ad: names already visited, and names still to visit.
    met: FxHashSet<Number>,
    pending: Vec<Number>,
}

impl<'c> Reach<'c> {
    fn new(protocol: &'c Protocol, context: &'c Context) -> Self {
        Reach {
            protocol,
            known: Known::new(context.dialect),
            wanted: [Wanted::default(), Wanted::default()],
            met: FxHashSet::default(),
            pending: Vec::new(),
        }
    }

    /// Returns, for each side, the number of names read and whether all attributes may be read; unchanged at the
    /// fixpoint.
    fn size(&self) -> [(usize, bool); 2] {
        [Side::Requests, Side::Offers].map(|side| {
            let wanted = &self.wanted[side as usize];
            (wanted.names.len(), wanted.everything)
        })
    }

    fn policies(&mut self, policies: &Policies) {
        for (side, expressions) in [(Side::Requests, &policies.in_requests), (Side::Offers, &policies.in_offers)] {
            for expression in expressions {
                let mentions = self.known.mentions_of_rule(expression);
                for (side, names) in [(side, &mentions.own), (side.other(), &mentions.other)] {
                    let wanted = &mut self.wanted[side as usize];
                    wanted.names.extend(names.iter().chain(&mentions.either));
                    wanted.everything |= mentions.everything;
                }
            }
        }
    }

    /// Returns the significant attributes of an ad, and records the names that they read on the other side.
    fn walk(&mut self, ad: &Ad, side: Side) -> Signature {
        let mut signature = Signature::new();
        let mut everything = self.wanted[side as usize].everything;
        self.met.clear();
        self.pending.clear();
        for name in self.protocol.constraint(ad).into_iter().chain([self.protocol.rank()]) {
            let name = self.known.name(name);
            self.pending.push(name);
        }
        self.pending.extend(&self.wanted[side as usize].names);
        loop {
            if everything {
                for attribute in ad.iter() {
                    let name = self.known.name(attribute.name);
                    self.pending.push(name);
                }
            }
            let had_everything = everything;
            while let Some(name) = self.pending.pop() {
                if !self.met.insert(name) {
                    continue;
                }
                let bound = ad.get(&self.known.names[name as usize]);
                let Some(expression) = bound else {
                    signature.push((name, ABSENT));
                    continue;
                };
                let expression = self.known.expression(expression);
                signature.push((name, expression));
                let mentions = self.known.mentions(expression);
                everything |= mentions.everything;
                self.pending.extend(mentions.own.iter().chain(&mentions.either));
                let missing =
                    mentions.either.iter().filter(|name| ad.get(&self.known.names[**name as usize]).is_none());
                let other = &mut self.wanted[side.other() as usize];
                other.names.extend(mentions.other.iter().chain(missing));
                other.everything |= mentions.everything;
            }
            if everything == had_everything {
                break;
            }
        }
        signature.sort_unstable();
        signature
    }

    /// Groups requests by their signatures.
    fn group(&self, requests: &[Ad], signatures: &FxHashMap<usize, Signature>) -> Clusters {
        let (mut numbers, mut by_ad) = (FxHashMap::<&Signature, usize>::default(), FxHashMap::default());
        let mut found = Clusters::default();
        for request in requests {
            let Some(signature) = signatures.get(&request.identity()) else { continue };
            let number = *by_ad.entry(request.identity()).or_insert_with(|| {
                let next = found.clusters.len();
                *numbers.entry(signature).or_insert_with(|| {
                    let name = |(name, _): &(Number, Number)| self.known.names[*name as usize].clone();
                    let mut significant: Vec<Name> = signature.iter().map(name).collect();
                    significant.sort();
                    found.clusters.push(Cluster { representative: request.clone(), members: 0, significant });
                    next
                })
            });
            found.of.push(number);
        }
        found
    }
}

#[cfg(test)]
mod tests;
