//! The index of the offers (thesis ch. 4): what requests ask of them, and what they ask of requests.
//!
//! Every constraint is taken apart into the conditions that must all be true.  A comparison of the other
//! side's attribute with a constant is an interval: exported by a request, it is looked up in the column of
//! that attribute of the offers; imported by offers, all their bounds on one attribute are a column, too, in
//! which the request's value is looked up.  What is neither is evaluated, once for each group of offers and
//! requests that the part cannot tell apart.  Ads in which something depends on the other side (thesis
//! §4.4: deviant) are answered as not sure: the evaluation of the pair has the last word on them.

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

/// The offers, as far as they can be looked up.
pub struct Index {
    offers: Vec<Ad>,
    protocol: Rc<Protocol>,
    context: Rc<Context>,
    /// Offers that may accept someone.
    willing: FixedBitSet,
    /// Offers whose constraints only the evaluation of the pair can tell.
    opaque: FixedBitSet,
    /// What offers compare attributes of requests with.
    imported: Vec<Imported>,
    /// What offers want attributes of requests to be one of.
    listed: Vec<Listed>,
    /// Other parts of the constraints of offers, each with those that have it.
    demands: Vec<(Residue<bool>, Rows)>,
    /// Other parts of the constraints of requests, and what each mentions.
    wishes: Vec<(Mentions, Residue<bool>)>,
    distinct_wishes: Distinct,
    /// What requests rank by, and the rank that each offer got from the last one that computes it.
    request_ranks: Ranks,
    ranks_by_request: Vec<f64>,
    /// What offers rank by.
    offer_ranks: OfferRanks,
    /// Offers of which nothing can be looked up.
    odd: FixedBitSet,
    /// Attributes through which the constraints of offers lead.
    through: Vec<Name>,
    columns: FxHashMap<Name, Rc<Column>>,
    groups: FxHashMap<Vec<Name>, Rc<RefCell<Groups>>>,
    scratch: FixedBitSet,
}

/// What offers compare one attribute of requests with.
struct Imported {
    attribute: Name,
    /// By operator.
    bounds: Vec<Bounds>,
}

/// Bounds that offers have on an attribute: `attribute operator bound`.
struct Bounds {
    operator: BinaryOperator,
    offers: FixedBitSet,
    column: Column,
}

/// The items of which an attribute of requests must be one.
struct Listed {
    attribute: Name,
    offers: FixedBitSet,
    /// The offers that list an item.
    by_item: FxHashMap<Text, Vec<u32>>,
}

impl Index {
    /// The index of some offers.
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

    /// An offer is no answer any more.
    pub fn withdraw(&mut self, offer: usize) {
        self.willing.set(offer, false);
        self.odd.set(offer, false);
    }

    /// Finds out what the offers rank by.
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

    /// What a request ranks by that is not odd.
    fn rank_of_request(&mut self, request: &Ad) -> Rank {
        let mut ranks = std::mem::replace(&mut self.request_ranks, Ranks::new(Side::Left));
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        let rank = ranks.of(request, &protocol, &context, false, |mentions| self.groups(mentions));
        self.request_ranks = ranks;
        rank
    }

    /// The column of an attribute of the offers.
    fn column(&mut self, name: &Name) -> Rc<Column> {
        if let Some(column) = self.columns.get(name) {
            return Rc::clone(column);
        }
        let mut cells = Cells::default();
        // Ads that were read together have equal literals in common.
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

    /// The groups of offers that the attributes an expression mentions do not tell apart.
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

/// The value of a cell; that of an absent attribute is undefined, and none that of an open one.
fn constant(cell: Cell) -> Option<Value> {
    match cell {
        Cell::Absent => Some(Value::Undefined),
        Cell::Constant(value) => Some(value),
        Cell::Open => None,
    }
}

/// The offers of which nothing can be looked up.
fn odd_rows(offers: &[Ad]) -> FixedBitSet {
    let mut odd = FixedBitSet::with_capacity(offers.len());
    odd.extend(offers.iter().enumerate().filter(|(_, ad)| is_odd(ad)).map(|(row, _)| row));
    odd
}
