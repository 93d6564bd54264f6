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

use crate::ad::{Ad, BinaryOperator, Distinct, Name, Text, Value};
use crate::eval::{Context, Mentions};
use crate::pool::{Cell, Cells, Column, Rows};
use crate::protocol::Protocol;

use super::Side;

use build::Collected;
use classes::Groups;
use one_sided::{computed, is_odd, literal};
pub use probe::Meeting;
use ranks::{OfferRanks, Rank, Ranks};
use residue::Residue;

/// The index of a fixed list of offers. All offer sets are bitmaps over the positions in that list.
pub struct Index {
    offers: Vec<Ad>,
    protocol: Rc<Protocol>,
    context: Rc<Context>,
    /// Offers that have a constraint and were not withdrawn.
    willing: FixedBitSet,
    /// Offers with a clause that only evaluation of the pair can decide.
    opaque: FixedBitSet,
    /// Bounds of the offers on attributes of requests.
    imported: Vec<Imported>,
    /// String lists of the offers in which attributes of requests must occur.
    listed: Vec<Listed>,
    /// Residues of the offers' constraints, each with the offers that have it.
    demands: Vec<(Residue<bool>, Rows)>,
    /// Residues of the constraints of requests seen so far, each with its free names.
    wishes: Vec<(Mentions, Residue<bool>)>,
    distinct_wishes: Distinct,
    /// Rank expressions of the requests seen so far.
    request_ranks: Ranks,
    ranks_by_request: Vec<f64>,
    /// Rank expressions of the offers.
    offer_ranks: OfferRanks,
    /// Offers that cannot be indexed, because they redefine a scope name such as `target`.
    odd: FixedBitSet,
    /// Attributes that were expanded while the offers' constraints were split into clauses, and the rank. Their
    /// values can be circular.
    through: Vec<Name>,
    columns: FxHashMap<Name, Rc<Column>>,
    groups: FxHashMap<Vec<Name>, Rc<RefCell<Groups>>>,
    scratch: FixedBitSet,
}

/// Bounds of the offers on one attribute of requests.
struct Imported {
    attribute: Name,
    /// One column for each operator.
    bounds: Vec<Bounds>,
}

/// Bounds of the offers in `attribute operator bound`: one cell for each offer.
struct Bounds {
    operator: BinaryOperator,
    offers: FixedBitSet,
    column: Column,
}

/// String lists of the offers in which one attribute of requests must occur.
struct Listed {
    attribute: Name,
    offers: FixedBitSet,
    /// Posting lists: for each item the offers whose list has it.
    by_item: FxHashMap<Text, Vec<u32>>,
}

impl Index {
    /// Builds the index.
    #[must_use]
    pub fn new(offers: Vec<Ad>, protocol: Protocol, context: Context) -> Self {
        let empty = FixedBitSet::with_capacity(offers.len());
        let mut index = Index {
            protocol: Rc::new(protocol),
            context: Rc::new(context),
            willing: empty.clone(),
            opaque: empty.clone(),
            imported: Vec::new(),
            listed: Vec::new(),
            demands: Vec::new(),
            wishes: Vec::new(),
            distinct_wishes: Distinct::default(),
            request_ranks: Ranks::new(Side::Left),
            ranks_by_request: vec![0.0; offers.len()],
            offer_ranks: OfferRanks::new(offers.len()),
            odd: odd_rows(&offers),
            through: Vec::new(),
            columns: FxHashMap::default(),
            groups: FxHashMap::default(),
            scratch: empty,
            offers,
        };
        let mut collected = Collected::default();
        for offer in 0..index.offers.len() {
            index.collect(offer, &mut collected);
        }
        index.odd.intersect_with(&index.willing);
        index.through.extend([index.protocol.rank().clone()]);
        index.import(collected.bounds);
        index.list(collected.items);
        for (expression, mentions, offers) in collected.demands {
            index.demand(expression, &mentions, offers);
        }
        index.rank_of_offers();
        index
    }

    /// Excludes an offer from all later answers.
    pub fn withdraw(&mut self, offer: usize) {
        self.willing.set(offer, false);
        self.odd.set(offer, false);
    }

    /// Classifies the rank expressions of all offers.
    fn rank_of_offers(&mut self) {
        let mut known = OfferRanks::new(self.offers.len());
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        for offer in 0..self.offers.len() {
            let ad = self.offers[offer].clone();
            let is_odd = self.odd.contains(offer);
            let rank = known.ranks.of(&ad, &protocol, &context, is_odd, |mentions| self.groups(mentions));
            known.note(offer, rank);
        }
        self.offer_ranks = known;
    }

    /// Classifies the rank expression of a request, which must not redefine a scope name.
    fn rank_of_request(&mut self, request: &Ad) -> Rank {
        let mut ranks = std::mem::replace(&mut self.request_ranks, Ranks::new(Side::Left));
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        let rank = ranks.of(request, &protocol, &context, false, |mentions| self.groups(mentions));
        self.request_ranks = ranks;
        rank
    }

    /// Returns the column of an attribute of the offers; it is built on first use.
    fn column(&mut self, name: &Name) -> Rc<Column> {
        if let Some(column) = self.columns.get(name) {
            return Rc::clone(column);
        }
        let mut cells = Cells::default();
        // Ads that were read together share equal literals, so that the address of a literal identifies its code.
        let mut codes: FxHashMap<usize, u32> = FxHashMap::default();
        for ad in &self.offers {
            let Some(expression) = ad.get(name) else {
                cells.push(Cell::Absent);
                continue;
            };
            if let Some(code) = codes.get(&expression.identity()) {
                cells.push_code(*code);
            } else if let Some(value) = literal(expression, self.context.dialect) {
                codes.insert(expression.identity(), cells.push(Cell::Constant(value.clone())));
            } else {
                cells.push(computed(ad, name, expression, &self.through, &self.context));
            }
        }
        let column = Rc::new(Column::from(cells));
        self.columns.insert(name.clone(), Rc::clone(&column));
        column
    }

    /// Returns the equivalence classes of offers under the attributes that an expression mentions.
    fn groups(&mut self, mentions: &Mentions) -> Rc<RefCell<Groups>> {
        let names = residue::key(mentions);
        if let Some(groups) = self.groups.get(&names) {
            return Rc::clone(groups);
        }
        let columns: Vec<Rc<Column>> = names.iter().map(|name| self.column(name)).collect();
        let groups = Rc::new(RefCell::new(Groups::new(self.groups.len(), names.clone(), &columns, self.offers.len())));
        self.groups.insert(names, Rc::clone(&groups));
        groups
    }
}

/// Returns the value of a cell, undefined for an absent attribute; `None` for an open one.
fn constant(cell: Cell) -> Option<Value> {
    match cell {
        Cell::Absent => Some(Value::Undefined),
        Cell::Constant(value) => Some(value),
        Cell::Open => None,
    }
}

/// Returns the offers that cannot be indexed.
fn odd_rows(offers: &[Ad]) -> FixedBitSet {
    let mut odd = FixedBitSet::with_capacity(offers.len());
    odd.extend(offers.iter().enumerate().filter(|(_, ad)| is_odd(ad)).map(|(row, _)| row));
    odd
}
