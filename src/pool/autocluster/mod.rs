//! Autoclusters: requests that no offer and no policy can tell apart (2006 paper §4.1).

mod interner;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{Protocol, RESOURCE_COUNT, resource_count};

use interner::{Known, Number};

/// The attribute of a resource-request ad that says which autocluster it stands for.
pub const CLUSTER_ID: &str = "AutoClusterId";

/// What policies evaluate besides the ads' own constraints and ranks.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    /// Evaluated in requests, with `other` and `label` for the offer.
    pub in_requests: Vec<Expression>,
    /// Evaluated in offers, with `other` for the request.
    pub in_offers: Vec<Expression>,
}

/// Requests that are alike.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The first of them, which stands for all.
    pub representative: Ad,
    /// How many there are; a resource request counts as many as it asks for.
    pub members: usize,
    /// The attributes in which they are alike, present or absent, by name.
    pub significant: Vec<Name>,
}

impl Cluster {
    /// The significant attributes that the requests have; the names as they were first met.
    pub fn attributes(&self) -> impl Iterator<Item = (&Name, &Expression)> {
        self.significant.iter().filter_map(|name| Some((name, self.representative.get(name)?)))
    }

    /// The resource-request ad that stands for so many requests (2006 paper §4.3): their significant attributes,
    /// the number of the cluster and the count.
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
    /// The clusters, in the order in which the first request of each comes.
    pub clusters: Vec<Cluster>,
    /// Which cluster each request is in.
    pub of: Vec<usize>,
}

impl Clusters {
    /// Groups requests by their significant attributes: those that the offers' constraints and ranks look for in
    /// them, those that their own constraint and rank reach, and those that the policies reach; through
    /// attributes that are expressions, on either side, as far as it goes.
    ///
    /// Two requests are alike if these have, or lack, the same ones, bound to expressions that are written alike.
    /// A request of which anything may be read is like another only if all its attributes are.
    #[must_use]
    pub fn new(requests: &[Ad], offers: &[Ad], policies: &Policies, protocol: &Protocol, context: &Context) -> Self {
        let mut reach = Reach::new(protocol, context);
        reach.policies(policies);
        // Ads that were read as one are one.
        let distinct: IndexMap<usize, &Ad, FxBuildHasher> = offers.iter().map(|ad| (ad.identity(), ad)).collect();
        let (mut before, mut signatures) = (None, FxHashMap::default());
        loop {
            for offer in distinct.values() {
                reach.walk(offer, Side::Offers);
            }
            // Nothing new is looked for in the requests: what they reach is known.
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

    /// All significant attributes, in the order in which the clusters have them.
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

/// What is looked up in every ad of a side.
#[derive(Default)]
struct Wanted {
    names: IndexSet<Number, FxBuildHasher>,
    everything: bool,
}

/// An attribute that is not there.
const ABSENT: Number = Number::MAX;

/// The names that are read of a request, and what is bound to them.
type Signature = Vec<(Number, Number)>;

/// What is reached from constraints, ranks and policies.
struct Reach<'c> {
    protocol: &'c Protocol,
    known: Known,
    wanted: [Wanted; 2],
    /// The names met on the walk through one ad, and those whose expressions are still to be looked at.
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

    /// How much is looked up, and whether anything may be, on both sides.
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

    /// Finds out what is read of an ad, and what that looks for on the other side.
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

    /// Groups requests by what is read of them.
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
