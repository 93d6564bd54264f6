//! Warnings of ranks that are not numbers and count as 0 (1998, section 3.2).

use std::collections::BTreeSet;

use classad::ad::{Type, Value};
use classad::matching::gang::NonNumericRank;
use classad::matching::negotiate::{Grant, NegotiationSettings};
use classad::matching::{Pair, PairSide};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::io::parties::Parties;
use super::session::Session;

/// Maximum number of pairs in which one rank expression is evaluated.
const MAX_PAIRS_PER_RANK: usize = 16;

/// Warnings of ranks that are not numbers: one for all requests, or all offers, with the same port and type.
#[derive(Default)]
pub struct RankWarnings {
    /// For each side, port and type: the first ad with such a rank, and all such ads by their indexes.
    found: IndexMap<RankPlace, (String, BTreeSet<usize>)>,
}

/// Where a rank is not a number: the side (`request` or `offer`), the port (`None` for the rank of a whole ad), and the
/// type of the value.
type RankPlace = (&'static str, Option<String>, Type);

impl RankWarnings {
    /// Collects the ranks of the matched pairs.
    pub fn of_pairs(parties: &Parties, settings: &NegotiationSettings, grants: &[Grant]) -> Self {
        let mut warnings = RankWarnings::default();
        warnings.add_pairs(parties, settings, grants);
        warnings
    }

    /// Adds the ranks of the matched pairs; gangs are left out.
    pub fn add_pairs(&mut self, parties: &Parties, settings: &NegotiationSettings, grants: &[Grant]) {
        let mut evaluated = FxHashMap::default();
        let name = settings.protocol.rank_name();
        let pairs = grants.iter().filter(|grant| grant.gang.is_none());
        for (request, granted) in pairs.flat_map(|grant| grant.offers.iter().map(|offer| (grant.request, offer))) {
            let ads = [&parties.requests[request], &parties.offers[granted.offer]];
            let sides = [
                ("request", PairSide::Request, request, granted.request_rank),
                ("offer", PairSide::Offer, granted.offer, granted.offer_rank),
            ];
            for ((side, pair_side, index, rank), ad) in sides.into_iter().zip(ads) {
                let Some(expression) = ad.ad.get(name).filter(|_| rank == 0.0) else { continue };
                let is_number = matches!(expression.as_literal(), Some(Value::Integer(_) | Value::Real(_)));
                let pairs: &mut usize = evaluated.entry((side, expression.identity())).or_default();
                if is_number || *pairs >= MAX_PAIRS_PER_RANK {
                    continue;
                }
                *pairs += 1;
                let [request, offer] = ads.map(|ad| ad.ad.clone());
                let pair = Pair::new(request, offer, settings.protocol.clone(), settings.context.clone());
                let value = pair.evaluate_attribute(pair_side, name);
                if let Some(value) = value.ok().filter(|value| !value.is_exceptional() && !is_numeric(value)) {
                    self.add(side, None, value.value_type(), (index, ad.id()));
                }
            }
        }
    }

    /// Adds the ranks of ports that were found while the gang of a request was searched.
    pub fn add_ports(&mut self, parties: &Parties, request: usize, ranks: impl IntoIterator<Item = NonNumericRank>) {
        for NonNumericRank { offer, label, value_type } in ranks {
            let (side, index, ad) = match offer {
                Some(offer) => ("offer", offer, &parties.offers[offer]),
                None => ("request", request, &parties.requests[request]),
            };
            self.add(side, Some(label), value_type, (index, ad.id()));
        }
    }

    fn add(&mut self, side: &'static str, port: Option<String>, value_type: Type, (index, id): (usize, &str)) {
        let found = self.found.entry((side, port, value_type));
        found.or_insert_with(|| (id.to_owned(), BTreeSet::new())).1.insert(index);
    }

    /// Prints the warnings.
    pub fn report(&self, session: &Session) {
        for ((side, port, value_type), (first, ads)) in &self.found {
            let (kind, others) = (value_type.phrase(), ads.len() - 1);
            let more = match others {
                0 => String::new(),
                1 => format!(" and of 1 other {side}"),
                _ => format!(" and of {others} other {side}s"),
            };
            let port = port.as_ref().map_or(String::new(), |label| format!("the port {label} of "));
            session.warning(&format!("the rank of {port}{first}{more} is {kind}, which counts as 0"));
        }
    }
}

/// Whether a value counts as a number in a rank.
fn is_numeric(value: &Value) -> bool {
    matches!(value, Value::Boolean(_) | Value::Integer(_) | Value::Real(_))
}
