//! Autoclusters: groups of requests that no offer and no policy can tell apart (2006 paper 4.1).

mod identifiers;
mod interner;
mod port_names;
mod significant_attributes;

use significant_attributes::{OFFERS, REQUESTS, SignificantAttributes};
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{PORTS, Protocol, RESOURCE_COUNT, resource_count};

/// The attribute of a resource-request ad that holds the identifier of its autocluster.
pub const AUTOCLUSTER_ID: &str = "AutoClusterId";

/// The attribute of a request that holds the significant attributes by which its `AutoClusterId` was found.
pub const AUTOCLUSTER_ATTRIBUTES: &str = "AutoClusterAttrs";

/// The attribute of a request that holds a hash of the expressions of its significant attributes when its
/// `AutoClusterId` was found. HTCondor has no such attribute: its access point discards the identifier of a job that is
/// edited.
pub const AUTOCLUSTER_SIGNATURE: &str = "AutoClusterSignature";

/// Whether an attribute identifies an autocluster. It tells no requests apart unless an expression names it.
fn is_identifier(name: &Name) -> bool {
    [AUTOCLUSTER_ID, AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_SIGNATURE].iter().any(|own| name.is(own))
}

/// The expressions that policies evaluate besides the ads' own constraints and ranks.
#[derive(Clone, Debug, Default)]
pub struct PolicyExpressions {
    /// Expressions evaluated in requests, where `other` and `label` mean the offer.
    pub in_requests: Vec<Expression>,
    /// Expressions evaluated in offers, where `other` means the request.
    pub in_offers: Vec<Expression>,
}

/// An autocluster: requests with equal significant attributes.
#[derive(Clone, Debug)]
pub struct RequestCluster {
    /// The first request of the autocluster, which represents the others.
    pub representative: Ad,
    /// Number of requests in the autocluster. A resource-request ad counts as all the requests that it stands for.
    pub members: usize,
    /// Names of the significant attributes. For each name, either all requests of the autocluster bind equal expressions
    /// to the attribute, or all lack the attribute.
    pub significant: SignificantNames,
}

/// Names of the significant attributes of an autocluster. Autoclusters share the names that offers and policies read, as
/// there can be thousands of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignificantNames {
    /// Names that offers and policies read, sorted.
    shared: Arc<[Name]>,
    /// Names that only the requests of the autocluster read, sorted.
    own: Arc<[Name]>,
}

impl SignificantNames {
    /// Returns the names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Name> {
        let (mut shared, mut own) = (self.shared.iter().peekable(), self.own.iter().peekable());
        std::iter::from_fn(move || match (shared.peek(), own.peek()) {
            (Some(one), Some(other)) if one > other => own.next(),
            (Some(_), _) => shared.next(),
            (None, _) => own.next(),
        })
    }

    /// Whether an attribute is significant.
    #[must_use]
    pub fn contains(&self, name: &Name) -> bool {
        [&self.shared, &self.own].into_iter().any(|names| names.binary_search(name).is_ok())
    }
}

impl RequestCluster {
    /// Returns the significant attributes that the requests have, sorted. Each name is in the spelling that was read
    /// first.
    pub fn attributes(&self) -> impl Iterator<Item = (&Name, &Expression)> {
        let SignificantNames { shared, own } = &self.significant;
        let known = |names: &Arc<[Name]>, name: &Name| names.binary_search(name).ok();
        let mut found: Vec<(&Name, &Expression)> = if shared.len() <= self.representative.len() {
            self.significant.iter().filter_map(|name| Some((name, self.representative.get(name)?))).collect()
        } else {
            // An ad has few of the names that thousands of offers read.
            let name =
                |name: &Name| known(shared, name).map(|at| &shared[at]).or_else(|| known(own, name).map(|at| &own[at]));
            self.representative
                .iter()
                .filter_map(|attribute| Some((name(attribute.name)?, attribute.expression)))
                .collect()
        };
        found.sort_unstable_by_key(|(name, _)| *name);
        found.into_iter()
    }

    /// Builds the resource-request ad that stands for `count` requests (2006 paper 4.3). The ad has the significant
    /// attributes of the requests, the identifier `id` of the autocluster, and the count.
    #[must_use]
    pub fn resource_request(&self, id: i64, count: usize) -> Ad {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let significant = self.attributes().map(|(name, expression)| (name.clone(), expression.clone()));
        let own = [(AUTOCLUSTER_ID, id), (RESOURCE_COUNT, count)];
        let own = own.map(|(name, number)| (Name::new(name), Expression::literal(Value::Integer(number))));
        significant.chain(own).collect()
    }
}

/// The autoclusters of a set of requests.
#[derive(Clone, Debug, Default)]
pub struct RequestClusters {
    /// The autoclusters, in the order of their first requests.
    pub clusters: Vec<RequestCluster>,
    /// For each request, the index of its autocluster in `clusters`.
    pub cluster_of: Vec<usize>,
}

impl RequestClusters {
    /// Groups requests by their significant attributes. Requests are in one autocluster if the same significant
    /// attributes are present, bound to equal expressions.
    ///
    /// An attribute is significant if a constraint or a rank of either side, or a policy, may read it. The list of ports
    /// is significant, with all that it reads of the request. An attribute may be read directly, by the label of a port, or
    /// through other attributes of either side. If an expression may read attributes that it does not name, as with
    /// `eval(Text)`, all attributes are significant. What an attribute of offers reads that only some requests read is significant
    /// for these alone.
    ///
    /// With ports, computes a fixpoint: visits all offers and all requests in alternation, until no new name is read.
    #[must_use]
    pub fn new(
        requests: &[Ad],
        offers: &[Ad],
        policies: &PolicyExpressions,
        protocol: &Protocol,
        context: &Context,
    ) -> Self {
        let mut reach = SignificantAttributes::new(protocol, context);
        reach.has_nested_gangs = offers.iter().any(|offer| offer.get(&PORTS).is_some());
        reach.add_policies(policies);
        reach.note_requests(requests);
        let distinct = reach.distinct_shapes(offers);
        let (mut before, mut signatures) = (None, FxHashMap::default());
        if reach.knows_requests() {
            reach.read_offers(&distinct);
            for request in requests {
                signatures.entry(request.identity()).or_insert_with(|| reach.signature(request, REQUESTS, &distinct));
            }
        }
        while !reach.knows_requests() {
            for offer in &distinct {
                reach.signature(offer, OFFERS, &[]);
            }
            // The last visit of the offers added no name, so that the significant attributes of the requests are final.
            if before.replace(reach.size()) == Some(reach.size()) {
                break;
            }
            signatures.clear();
            for request in requests {
                signatures.entry(request.identity()).or_insert_with(|| reach.signature(request, REQUESTS, &[]));
            }
        }
        let mut found = reach.group(requests, &signatures);
        for (request, cluster) in requests.iter().zip(&found.cluster_of) {
            found.clusters[*cluster].members += resource_count(request, context).unwrap_or(1);
        }
        found
    }

    /// Returns the significant attributes of all autoclusters, in the order of first appearance.
    #[must_use]
    pub fn significant(&self) -> IndexSet<&Name> {
        let mut clusters = self.clusters.iter().map(|cluster| &cluster.significant);
        let first = clusters.next().into_iter().flat_map(SignificantNames::iter);
        // All autoclusters share the names that offers and policies read.
        first.chain(clusters.flat_map(|names| names.own.iter())).collect()
    }
}

#[cfg(test)]
mod tests;
