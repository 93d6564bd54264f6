//! The index of the offers (thesis 4), which narrows the candidates of a request without evaluating every pair.
//!
//! Every constraint is split into clauses that must all be true. A comparison of the other side's attribute with a
//! constant is an interval. Intervals that a request exports are looked up in the column of that attribute of the
//! offers. Intervals that the offers import are themselves columns of bounds, one for each attribute and operator, in
//! which the request's value is looked up. Any other clause is a residue: it is evaluated once for each class of
//! requests and offers that it cannot distinguish.
//!
//! An ad in which a needed value depends on the other side (thesis 4.4: deviant) is answered as unsure. The caller
//! decides on unsure offers by evaluating the pair.

mod build;
mod classes;
mod one_sided;
mod probe;
mod ranks;
mod request;
mod residue;

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, ByteString, ExpressionInterner, Name};
use crate::constraint::has_scope_attribute;
use crate::eval::{Context, FreeNames};
use crate::pool::{AttributeColumn, BoundColumn, SparseRows};
use crate::protocol::Protocol;

use super::PairSide;

use build::CollectedClauses;
use classes::AttributeClasses;
use one_sided::one_sided_cell;
pub use probe::PairEvaluator;
use ranks::{OfferRanks, RankExpressions, RankForm};
use residue::Residue;

/// The index of a fixed list of offers. All offer sets are bitmaps over the positions in that list.
pub struct OfferIndex {
    offers: Vec<Ad>,
    protocol: Rc<Protocol>,
    context: Rc<Context>,
    /// Offers that have a constraint and were not withdrawn.
    eligible: FixedBitSet,
    /// Offers with a clause that only evaluation of the pair can decide.
    needs_evaluation: FixedBitSet,
    /// Bounds of the offers on attributes of requests, sorted by attribute.
    imported_bounds: Vec<BoundColumn<Name>>,
    /// String lists of the offers in which attributes of requests must occur.
    item_postings: Vec<ItemPostings>,
    /// Residues of the offers' constraints, each with the offers that have it.
    offer_residues: Vec<(Residue<bool>, SparseRows)>,
    /// Residues of the constraints of requests seen so far, each with its free names.
    request_residues: Vec<(FreeNames, Residue<bool>)>,
    request_residue_interner: ExpressionInterner,
    /// Rank expressions of the requests seen so far.
    request_ranks: RankExpressions,
    request_rank_values: Vec<f64>,
    /// Rank expressions of the offers.
    offer_ranks: OfferRanks,
    /// Offers that cannot be indexed, because they redefine a scope name such as `target`.
    unindexable: FixedBitSet,
    /// Attributes that were followed while the offers' constraints were split into clauses, and the rank. Their values
    /// can be circular.
    followed: Vec<Name>,
    columns: FxHashMap<Name, Rc<AttributeColumn>>,
    classes: FxHashMap<Vec<Name>, Rc<RefCell<AttributeClasses>>>,
    scratch: FixedBitSet,
}

/// String lists of the offers in which one attribute of requests must occur.
struct ItemPostings {
    attribute: Name,
    offers: FixedBitSet,
    /// Posting lists: for each item the offers whose list has it.
    postings: FxHashMap<ByteString, Vec<u32>>,
}

impl OfferIndex {
    /// Builds the index from the constraints and ranks of the offers.
    #[must_use]
    pub fn new(offers: Vec<Ad>, protocol: Protocol, context: Context) -> Self {
        let empty = FixedBitSet::with_capacity(offers.len());
        let mut index = OfferIndex {
            protocol: Rc::new(protocol),
            context: Rc::new(context),
            eligible: empty.clone(),
            needs_evaluation: empty.clone(),
            imported_bounds: Vec::new(),
            item_postings: Vec::new(),
            offer_residues: Vec::new(),
            request_residues: Vec::new(),
            request_residue_interner: ExpressionInterner::default(),
            request_ranks: RankExpressions::new(PairSide::Request),
            request_rank_values: vec![0.0; offers.len()],
            offer_ranks: OfferRanks::new(offers.len()),
            unindexable: unindexable_offers(&offers),
            followed: Vec::new(),
            columns: FxHashMap::default(),
            classes: FxHashMap::default(),
            scratch: empty,
            offers,
        };
        let mut collected = CollectedClauses::default();
        for offer in 0..index.offers.len() {
            index.collect_clauses(offer, &mut collected);
        }
        index.unindexable.intersect_with(&index.eligible);
        index.followed.extend([index.protocol.rank_name().clone()]);
        index.build_bound_columns(collected.bounds);
        index.build_postings(collected.item_lists);
        for (expression, mentions, offers) in collected.residues {
            index.add_offer_residue(expression, &mentions, offers);
        }
        index.collect_offer_ranks();
        index
    }

    /// Excludes an offer from all later answers.
    pub fn withdraw(&mut self, offer: usize) {
        self.eligible.set(offer, false);
        self.unindexable.set(offer, false);
    }

    /// Classifies the rank expressions of all offers, and records constant ranks and the offers of each other
    /// expression.
    fn collect_offer_ranks(&mut self) {
        let mut known = OfferRanks::new(self.offers.len());
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        for offer in 0..self.offers.len() {
            let ad = self.offers[offer].clone();
            let is_odd = self.unindexable.contains(offer);
            let rank = known.expressions.classify(&ad, &protocol, &context, is_odd, |mentions| self.classes(mentions));
            known.record(offer, rank);
        }
        self.offer_ranks = known;
    }

    /// Classifies the rank expression of a request. The request must not redefine a scope name.
    fn classify_request_rank(&mut self, request: &Ad) -> RankForm {
        let mut ranks = std::mem::replace(&mut self.request_ranks, RankExpressions::new(PairSide::Request));
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        let rank = ranks.classify(request, &protocol, &context, false, |mentions| self.classes(mentions));
        self.request_ranks = ranks;
        rank
    }

    /// Returns the column of an attribute of the offers; it is built on first use.
    fn column(&mut self, name: &Name) -> Rc<AttributeColumn> {
        if let Some(column) = self.columns.get(name) {
            return Rc::clone(column);
        }
        let expressions = self.offers.iter().map(|ad| ad.get(name));
        let column =
            Rc::new(AttributeColumn::of_expressions(expressions, self.context.dialect, |offer, expression| {
                one_sided_cell(&self.offers[offer], name, expression, &self.followed, &self.context)
            }));
        self.columns.insert(name.clone(), Rc::clone(&column));
        column
    }

    /// Returns the equivalence classes of offers under the attributes that an expression mentions.
    fn classes(&mut self, mentions: &FreeNames) -> Rc<RefCell<AttributeClasses>> {
        let names = residue::classification_key(mentions);
        if let Some(groups) = self.classes.get(&names) {
            return Rc::clone(groups);
        }
        let columns: Vec<Rc<AttributeColumn>> = names.iter().map(|name| self.column(name)).collect();
        let groups = Rc::new(RefCell::new(AttributeClasses::new(
            self.classes.len(),
            names.clone(),
            &columns,
            self.offers.len(),
        )));
        self.classes.insert(names, Rc::clone(&groups));
        groups
    }
}

/// Returns the offers that cannot be indexed, because they redefine a scope name.
fn unindexable_offers(offers: &[Ad]) -> FixedBitSet {
    let mut odd = FixedBitSet::with_capacity(offers.len());
    odd.extend(offers.iter().enumerate().filter(|(_, ad)| has_scope_attribute(ad)).map(|(row, _)| row));
    odd
}
