//! Identifiers of autoclusters that the ads themselves carry (2006 paper 4.1, step 5).

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{Ad, Expression, Name, Value};
use crate::protocol::stable_hash;
use crate::syntax::{Style, print};

use super::{AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_ID, AUTOCLUSTER_SIGNATURE, RequestCluster, RequestClusters};

impl RequestCluster {
    /// Returns the list of the significant attributes as HTCondor writes it in `AutoClusterAttrs`: names with commas.
    #[must_use]
    pub fn attribute_list(&self) -> String {
        self.significant.iter().map(Name::as_str).collect::<Vec<_>>().join(",")
    }

    /// Returns a hash of the expressions of the significant attributes. It is the same for all requests of the autocluster
    /// and in every run.
    fn signature(&self) -> String {
        let mut text = Vec::new();
        for (name, expression) in self.attributes() {
            text.extend([name.as_str().to_ascii_lowercase().as_bytes(), b"="].concat());
            text.extend(without_case(&print(expression, Style::New)));
            text.push(b'\n');
        }
        format!("{:016x}", stable_hash(&text))
    }
}

impl RequestClusters {
    /// Returns a request with the identifier of its autocluster, the list of significant attributes and the signature of
    /// their expressions, for [`RequestClusters::identifiers`] to find again. `ids` are the identifiers of the
    /// autoclusters.
    #[must_use]
    pub fn annotated(&self, index: usize, request: &Ad, ids: &[i64]) -> Ad {
        let Some(cluster) = self.cluster_of.get(index) else { return request.clone() };
        let list = Value::string(self.clusters[*cluster].attribute_list());
        let id = Value::Integer(ids[*cluster]);
        let signature = Value::string(self.clusters[*cluster].signature());
        let own = [(AUTOCLUSTER_ID, id), (AUTOCLUSTER_ATTRIBUTES, list), (AUTOCLUSTER_SIGNATURE, signature)];
        own.into_iter().fold(request.clone(), |ad, (name, value)| ad.with(Name::new(name), Expression::literal(value)))
    }

    /// Returns the identifier of each autocluster.
    ///
    /// A request vouches for its `AutoClusterId` if its `AutoClusterAttrs` lists the significant attributes, in any order,
    /// and its `AutoClusterSignature` is that of its autocluster: the request was not edited since. An autocluster keeps
    /// the identifier for which most of its requests vouch, and one identifier goes to the autocluster with most such
    /// requests. Requests without a signature, as HTCondor's, count less than any request with one; among equals the first
    /// counts. Other autoclusters get numbers that no request has: the smallest ones that are greater than all of them.
    /// Numbers begin again from 1 if all lists are of other attributes.
    #[must_use]
    pub fn identifiers(&self, requests: &[Ad]) -> Vec<i64> {
        let [id, list, signature] = [AUTOCLUSTER_ID, AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_SIGNATURE].map(Name::new);
        let signatures: Vec<String> = self.clusters.iter().map(RequestCluster::signature).collect();
        let (mut known, mut is_current): (FxHashSet<i64>, bool) = Default::default();
        // For each autocluster and identifier, how many requests vouch for it: with a signature, and without.
        let mut votes: IndexMap<(usize, i64), [usize; 2], FxBuildHasher> = IndexMap::default();
        for (request, cluster) in requests.iter().zip(&self.cluster_of) {
            let literal = |name| request.get(name).and_then(Expression::as_literal);
            let Some(Value::Integer(number)) = literal(&id) else { continue };
            known.insert(*number);
            let Some(Value::String(text)) = literal(&list) else { continue };
            let has_list = lists(&text.to_str(), self.clusters[*cluster].significant.iter());
            let (is_edited, side) = match literal(&signature) {
                Some(Value::String(signature)) => (signature.to_str() != signatures[*cluster].as_str(), 0),
                _ => (false, 1),
            };
            is_current |= has_list || is_edited;
            if has_list && !is_edited && *number > 0 {
                votes.entry((*cluster, *number)).or_default()[side] += 1;
            }
        }
        known.retain(|_| is_current);
        // The sort is stable: among equals the first requests count.
        votes.sort_by(|_, one, _, other| other.cmp(one));
        let (mut kept, mut taken) = (vec![None; self.clusters.len()], FxHashSet::default());
        for (cluster, number) in votes.into_keys() {
            if kept[cluster].is_none() && taken.insert(number) {
                kept[cluster] = Some(number);
            }
        }
        let greatest = known.iter().copied().max().unwrap_or(0).max(0);
        let mut numbers = (greatest.saturating_add(1)..i64::MAX).chain(1..).filter(|number| !known.contains(number));
        kept.into_iter().map(|kept| kept.or_else(|| numbers.next()).unwrap_or(i64::MAX)).collect()
    }
}

/// Returns the text of an expression with lower-case letters outside of strings: the case of names does not count.
fn without_case(text: &[u8]) -> Vec<u8> {
    let (mut is_string, mut is_escaped) = (false, false);
    let letter = |letter: &u8| {
        is_string ^= *letter == b'"' && !is_escaped;
        is_escaped = is_string && *letter == b'\\' && !is_escaped;
        if is_string { *letter } else { letter.to_ascii_lowercase() }
    };
    text.iter().map(letter).collect()
}

/// Whether a text lists these names and no others, in any order, between commas and blanks.
fn lists<'n>(text: &str, names: impl IntoIterator<Item = &'n Name>) -> bool {
    let listed = text.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty());
    let listed: FxHashSet<Name> = listed.map(Name::new).collect();
    listed == names.into_iter().cloned().collect()
}
