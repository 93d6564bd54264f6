//! Identifiers of autoclusters that the ads themselves carry (2006 paper 4.1, step 5).

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Expression, Name, Value};

use super::{AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_ID, RequestCluster, RequestClusters};

impl RequestCluster {
    /// Returns the list of the significant attributes as HTCondor writes it in `AutoClusterAttrs`: names with commas.
    #[must_use]
    pub fn attribute_list(&self) -> String {
        self.significant.iter().map(Name::as_str).collect::<Vec<_>>().join(",")
    }
}

impl RequestClusters {
    /// Returns a request with the identifier of its autocluster and the list of significant attributes, for
    /// [`RequestClusters::identifiers`] to find again. `ids` are the identifiers of the autoclusters.
    #[must_use]
    pub fn annotated(&self, index: usize, request: &Ad, ids: &[i64]) -> Ad {
        let Some(cluster) = self.cluster_of.get(index) else { return request.clone() };
        let list = Value::string(self.clusters[*cluster].attribute_list());
        let id = Expression::literal(Value::Integer(ids[*cluster]));
        request.with(Name::new(AUTOCLUSTER_ID), id).with(Name::new(AUTOCLUSTER_ATTRIBUTES), Expression::literal(list))
    }

    /// Returns the identifier of each autocluster. An autocluster keeps the `AutoClusterId` of the first of its requests
    /// whose `AutoClusterAttrs` lists the significant attributes, in any order, and whose identifier no other autocluster
    /// keeps. Other autoclusters get the smallest numbers from 1 on that are greater than those kept.
    #[must_use]
    pub fn identifiers(&self, requests: &[Ad]) -> Vec<i64> {
        let (id, list) = (Name::new(AUTOCLUSTER_ID), Name::new(AUTOCLUSTER_ATTRIBUTES));
        let (mut kept, mut taken) = (vec![None; self.clusters.len()], FxHashSet::default());
        for (request, cluster) in requests.iter().zip(&self.cluster_of) {
            let literal = |name| request.get(name).and_then(Expression::as_literal);
            let (Some(Value::Integer(number)), Some(Value::String(text))) = (literal(&id), literal(&list)) else {
                continue;
            };
            let is_possible = *number > 0 && *number < i64::MAX && kept[*cluster].is_none();
            let has_list = || lists(&text.to_str(), self.clusters[*cluster].significant.iter());
            if is_possible && !taken.contains(number) && has_list() && taken.insert(*number) {
                kept[*cluster] = Some(*number);
            }
        }
        let mut next = kept.iter().flatten().max().copied().unwrap_or(0);
        let mut fresh = || {
            next = next.saturating_add(1);
            next
        };
        kept.into_iter().map(|kept| kept.unwrap_or_else(&mut fresh)).collect()
    }
}

/// Whether a text lists these names and no others, in any order, between commas and blanks.
fn lists<'n>(text: &str, names: impl IntoIterator<Item = &'n Name>) -> bool {
    let listed = text.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty());
    let listed: FxHashSet<Name> = listed.map(Name::new).collect();
    listed == names.into_iter().cloned().collect()
}
