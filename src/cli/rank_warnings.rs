//! Warnings of ranks that are not numbers and count as 0 (1998, section 3.2).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect, Expression, ExpressionKind, Value};
use classad::matching::gang::NonNumericRank;
use classad::matching::negotiate::NegotiationSettings;
use classad::matching::policy::PolicyRule;
use classad::matching::{BilateralMatch, Pair, PairSide};
use classad::protocol::{is_typed_rank, rank_number};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::io::named_ad::NamedAd;
use super::io::parties::Parties;
use super::session::Session;

/// Maximum number of pairs in which one rank expression is evaluated.
const MAX_PAIRS_PER_RANK: usize = 16;

/// Maximum number of pairs in which matches are looked for, to evaluate ranks.
const MAX_SEARCHED_PAIRS: usize = 20_000;

/// Maximum number of offers with which a request is tried, to find ranks of several types.
const MAX_SEARCHED_OFFERS: usize = 1000;

/// Warnings of ranks that are not numbers: one for all requests, or all offers, with the same port and type.
#[derive(Default)]
pub struct RankWarnings {
    /// For each side, port and type: the first ad with such a rank, and all such ads by their indexes.
    found: IndexMap<RankPlace, (String, BTreeSet<usize>)>,
}

/// Where a rank is not a number: the side, the port (`None` for the rank of a whole ad), and the type of the value in
/// words.
type RankPlace = (&'static str, Option<String>, String);

/// A rank that counts as 0 in a pair, and was therefore evaluated once more.
#[derive(Serialize, Deserialize)]
pub struct ZeroRank {
    /// The place of the pair: among the pairs of a run, or among those of all shares.
    place: (usize, usize),
    is_of_offer: bool,
    /// The address of the expression; in a share the index of the first ad with it, which all shares agree on.
    expression: usize,
    /// The type of the value in words, the index of the ad and its name, if the value is not a number.
    wrong: Option<(String, usize, String)>,
}

/// A string or time that counts as 0 in a rank, because the request has other candidates whose ranks are numbers.
#[derive(Serialize, Deserialize)]
pub struct MixedRank {
    /// Index of the request.
    request: usize,
    is_of_offer: bool,
    /// The type of the value in words.
    kind: String,
    /// Index of the ad with the rank, and its name.
    index: usize,
    id: String,
}

impl MixedRank {
    /// Finds such ranks in the pairs of some requests with the offers that match.
    pub fn of_requests(
        parties: &Parties,
        settings: &NegotiationSettings,
        requests: impl Iterator<Item = usize>,
    ) -> Vec<MixedRank> {
        let mut found = Vec::new();
        if !settings.policy.has_typed_ranks() {
            return found;
        }
        let (name, dialect) = (settings.protocol.rank_name(), settings.context.dialect);
        let mut seen = FxHashSet::default();
        for request in requests.filter(|request| seen.insert(parties.requests[*request].ad.identity())) {
            let mut ranks: [Vec<(usize, Value)>; 2] = Default::default();
            visit_matches(parties, settings, request, &mut { MAX_SEARCHED_OFFERS }, |offer, pair| {
                for (side, index) in [(PairSide::Request, request), (PairSide::Offer, offer)] {
                    let value = pair.evaluate_attribute(side, name).ok();
                    ranks[usize::from(side == PairSide::Offer)].extend(value.map(|value| (index, value)));
                }
                ControlFlow::Continue(())
            });
            for (is_of_offer, ranks) in [false, true].into_iter().zip(ranks) {
                let ads = if is_of_offer { &parties.offers } else { &parties.requests };
                let has_number = ranks.iter().any(|(_, value)| rank_number(value).is_some());
                let typed = ranks.into_iter().filter(|(_, value)| has_number && is_typed_rank(value, dialect));
                found.extend(typed.map(|(index, value)| {
                    let (kind, id) = (value.value_type().phrase().to_owned(), ads[index].id().to_owned());
                    MixedRank { request, is_of_offer, kind, index, id }
                }));
            }
        }
        found
    }
}

impl ZeroRank {
    /// Evaluates the ranks of pairs that decide and count as 0, of each expression those of the first pairs.
    fn of_pairs(
        parties: &Parties,
        settings: &NegotiationSettings,
        pairs: impl Iterator<Item = BilateralMatch>,
    ) -> Vec<ZeroRank> {
        let (mut found, mut evaluated) = (Vec::new(), FxHashMap::<(bool, usize), usize>::default());
        let (name, ranked, dialect) = (settings.protocol.rank_name(), ranked_sides(settings), settings.context.dialect);
        for (at, BilateralMatch { request, offer, request_rank, offer_rank }) in pairs.enumerate() {
            if ranked.is_empty() || request_rank != 0.0 && offer_rank != 0.0 {
                continue;
            }
            let ads = [&parties.requests[request], &parties.offers[offer]];
            let sides = [(PairSide::Request, request, request_rank), (PairSide::Offer, offer, offer_rank)];
            for ((side, index, rank), ad) in sides.into_iter().zip(ads) {
                let Some(expression) = ad.ad.get(name).filter(|_| rank == 0.0 && ranked.contains(&side)) else {
                    continue;
                };
                let is_number = expression.as_literal().is_some_and(|value| wrong_rank(value, dialect).is_none());
                let (is_of_offer, expression) = (side == PairSide::Offer, expression.identity());
                let pairs = evaluated.entry((is_of_offer, expression)).or_default();
                if is_number || *pairs >= MAX_PAIRS_PER_RANK {
                    continue;
                }
                *pairs += 1;
                let [request, offer] = ads.map(|ad| ad.ad.clone());
                let pair = Pair::new(request, offer, settings.protocol.clone(), settings.context.clone());
                let value = pair.evaluate_attribute(side, name);
                let wrong = value.ok().as_ref().and_then(|value| wrong_rank(value, dialect));
                let wrong = wrong.map(|phrase| (phrase.to_owned(), index, ad.id().to_owned()));
                found.push(ZeroRank { place: (at, 0), is_of_offer, expression, wrong });
            }
        }
        found
    }

    /// Collects the ranks of the pairs of a share. `places` has the place of each pair among those of all shares.
    pub fn of_share(
        parties: &Parties,
        settings: &NegotiationSettings,
        pairs: impl Iterator<Item = BilateralMatch>,
        places: &[(usize, usize)],
    ) -> Vec<ZeroRank> {
        let first = [&parties.requests, &parties.offers].map(|ads| {
            let ranks = ads.iter().map(|ad| ad.ad.get(settings.protocol.rank_name()).map(Expression::identity));
            // Of equal keys the last one counts, which is that of the first ad.
            ranks.enumerate().filter_map(|(index, rank)| Some((rank?, index))).rev().collect::<FxHashMap<_, _>>()
        });
        let mut found = ZeroRank::of_pairs(parties, settings, pairs);
        for rank in &mut found {
            rank.place = places[rank.place.0];
            rank.expression = first[usize::from(rank.is_of_offer)][&rank.expression];
        }
        found
    }
}

/// Calls `visit` with the offers with which a request matches, each with the pair, until it breaks or `left` pairs were
/// tried.
fn visit_matches(
    parties: &Parties,
    settings: &NegotiationSettings,
    request: usize,
    left: &mut usize,
    mut visit: impl FnMut(usize, &Pair) -> ControlFlow<()>,
) {
    let request = parties.requests[request].ad.clone();
    // One pair for all offers: it compiles what it evaluates often.
    let mut pair = Pair::new(request, Ad::default(), settings.protocol.clone(), settings.context.clone());
    for (offer, ad) in parties.offers.iter().enumerate() {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        pair.replace(PairSide::Offer, &Pair::make_scope(ad.ad.clone(), PairSide::Offer));
        let is_match = [PairSide::Request, PairSide::Offer].iter().all(|side| pair.accepts(*side) == Ok(true));
        if is_match && visit(offer, &pair).is_break() {
            return;
        }
    }
}

impl RankWarnings {
    /// Collects the ranks of the requests that are wanted: of each expression those for the first offers with which it matches.
    pub fn of_requests(
        parties: &Parties,
        settings: &NegotiationSettings,
        is_wanted: impl Fn(&NamedAd) -> bool,
    ) -> Self {
        let (name, mut seen, mut left) = (settings.protocol.rank_name(), FxHashSet::default(), MAX_SEARCHED_PAIRS);
        let mut pairs = Vec::new();
        for (request, ad) in parties.requests.iter().enumerate().filter(|(_, ad)| is_wanted(ad)) {
            let rank = ad.ad.get(name).filter(|rank| {
                rank.as_literal().is_none_or(|rank| wrong_rank(rank, settings.context.dialect).is_some())
            });
            if !rank.is_some_and(|rank| seen.insert(rank.identity())) {
                continue;
            }
            let most = pairs.len() + MAX_PAIRS_PER_RANK;
            visit_matches(parties, settings, request, &mut left, |offer, _| {
                pairs.push(BilateralMatch { request, offer, request_rank: 0.0, offer_rank: 1.0 });
                if pairs.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        }
        let mut warnings = RankWarnings::default();
        warnings.add_pairs(parties, settings, pairs.into_iter());
        warnings
    }

    /// Adds ranks that count as 0 among numbers.
    pub fn add_mixed(&mut self, mut ranks: Vec<MixedRank>) {
        ranks.sort_by_key(|rank| rank.request);
        for MixedRank { is_of_offer, kind, index, id, .. } in ranks {
            self.add(is_of_offer, None, kind, (index, &id));
        }
    }

    /// Adds the ranks of the matched pairs.
    pub fn add_pairs(
        &mut self,
        parties: &Parties,
        settings: &NegotiationSettings,
        pairs: impl Iterator<Item = BilateralMatch>,
    ) {
        self.add_zero_ranks(ZeroRank::of_pairs(parties, settings, pairs));
    }

    /// Adds the ranks that runs or shares of the work have kept. Of each expression only the first ranks count, as many as
    /// one run evaluates.
    pub fn add_zero_ranks(&mut self, mut ranks: Vec<ZeroRank>) {
        ranks.sort_by_key(|rank| (rank.place, rank.is_of_offer));
        let mut evaluated: FxHashMap<(bool, usize), usize> = FxHashMap::default();
        for ZeroRank { is_of_offer, expression, wrong, .. } in ranks {
            let pairs = evaluated.entry((is_of_offer, expression)).or_default();
            *pairs += 1;
            if let Some((phrase, index, id)) = wrong.filter(|_| *pairs <= MAX_PAIRS_PER_RANK) {
                self.add(is_of_offer, None, phrase, (index, &id));
            }
        }
    }

    /// Adds the ranks of ports that were found while the gang of a request was searched.
    pub fn add_ports(&mut self, parties: &Parties, request: usize, ranks: impl IntoIterator<Item = NonNumericRank>) {
        for NonNumericRank { offer, label, value_type } in ranks {
            let (index, ad) = match offer {
                Some(offer) => (offer, &parties.offers[offer]),
                None => (request, &parties.requests[request]),
            };
            self.add(offer.is_some(), Some(label), value_type.phrase().to_owned(), (index, ad.id()));
        }
    }

    fn add(&mut self, is_of_offer: bool, port: Option<String>, kind: String, (index, id): (usize, &str)) {
        let side = if is_of_offer { "offer" } else { "request" };
        let found = self.found.entry((side, port, kind));
        found.or_insert_with(|| (id.to_owned(), BTreeSet::new())).1.insert(index);
    }

    /// Prints the warnings.
    pub fn report(&self, session: &Session) {
        for ((side, port, kind), (first, ads)) in &self.found {
            let others = ads.len() - 1;
            let more = match others {
                0 => String::new(),
                1 => format!(" and of 1 other {side}"),
                _ => format!(" and of {others} other {side}s"),
            };
            let port = port.as_ref().map_or(String::new(), |label| format!("the port {label} of "));
            session.warning(&format!("the rank of {port}{first}{more} is {kind} and counts as 0"));
        }
    }
}

/// Returns the value of a rank in words, if it counts as 0 although it is not. An undefined rank is none, which needs no
/// warning.
pub fn wrong_rank(value: &Value, dialect: Dialect) -> Option<&'static str> {
    match value {
        Value::Undefined => None,
        Value::Real(real) if real.is_nan() => Some("NaN"),
        value if rank_number(value).is_some() || is_typed_rank(value, dialect) => None,
        value => Some(value.value_type().phrase()),
    }
}

/// Returns the sides whose ranks decide: both without a docking vector; with one, that of requests if a component is
/// their rank.
fn ranked_sides(settings: &NegotiationSettings) -> &'static [PairSide] {
    let docking = &settings.policy.docking;
    let is_rank = |rule: &PolicyRule| {
        let is_named = match rule.expression.without_parentheses().kind() {
            ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) => name == settings.protocol.rank_name(),
            _ => false,
        };
        rule.rank.is_some() && is_named
    };
    if docking.is_empty() || settings.policy.has_typed_ranks() {
        &[PairSide::Request, PairSide::Offer]
    } else if docking.iter().any(is_rank) {
        &[PairSide::Request]
    } else {
        &[]
    }
}

#[cfg(test)]
mod tests;
