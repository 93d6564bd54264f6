//! Ranks of many pairs at once: each expression is evaluated once for each class of offers and requests that it
//! cannot distinguish.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, Distinct, Expression, Kind};
use crate::constraint::is_plain;
use crate::eval::{Context, Mentions};
use crate::pool::Rows;
use crate::protocol::{Protocol, rank_of};

use super::super::Side;
use super::classes::Groups;
use super::request::Request;
use super::residue::Residue;

/// The form of an ad's rank.
#[derive(Clone, Copy)]
pub enum Rank {
    /// The same rank for every partner.
    Constant(f64),
    /// A rank that depends on the partner; index of its expression.
    Computed(usize),
    /// A rank that only evaluation of the pair can tell.
    Opaque,
}

/// The ranks that offers give requests.
pub struct OfferRanks {
    /// The distinct rank expressions.
    pub ranks: Ranks,
    /// For each expression the offers that rank by it.
    pub computed: Vec<Rows>,
    /// Rank of each offer: the constant one, or the one computed for the last request.
    pub values: Vec<f64>,
    /// Offers whose ranks only evaluation of the pair can tell.
    pub opaque: FixedBitSet,
}

impl OfferRanks {
    /// Creates the table for `offers` offers, all of which rank 0.
    pub fn new(offers: usize) -> Self {
        OfferRanks {
            ranks: Ranks::new(Side::Right),
            computed: Vec::new(),
            values: vec![0.0; offers],
            opaque: FixedBitSet::with_capacity(offers),
        }
    }

    /// Records the form of an offer's rank.
    pub fn note(&mut self, offer: usize, rank: Rank) {
        match rank {
            Rank::Constant(rank) => self.values[offer] = rank,
            Rank::Opaque => self.opaque.insert(offer),
            Rank::Computed(number) => {
                self.computed.resize_with(self.computed.len().max(number + 1), Rows::default);
                self.computed[number].push(offer);
            }
        }
    }
}

/// The distinct rank expressions of the ads of one side.
pub struct Ranks {
    side: Side,
    distinct: Distinct,
    residues: Vec<Residue<f64>>,
}

impl Ranks {
    /// Creates an empty table.
    pub fn new(side: Side) -> Self {
        Ranks { side, distinct: Distinct::default(), residues: Vec::new() }
    }

    /// Classifies the rank of an ad and interns its expression. The rank of an ad that cannot be indexed is opaque.
    pub fn of(
        &mut self,
        ad: &Ad,
        protocol: &Protocol,
        context: &Context,
        is_odd: bool,
        groups: impl FnOnce(&Mentions) -> Rc<RefCell<Groups>>,
    ) -> Rank {
        let Some(expression) = ad.get(protocol.rank()) else { return Rank::Constant(0.0) };
        match expression.kind() {
            // Adding 0.0 turns -0.0 into 0.0.
            Kind::Literal(value) if is_plain(value, context.dialect) => return Rank::Constant(rank_of(value) + 0.0),
            _ if is_odd => return Rank::Opaque,
            _ => {}
        }
        let (number, is_new) = self.distinct.number(expression);
        if is_new {
            let mentions = Mentions::of(expression, context.dialect);
            let is_opaque = mentions.is_opaque() || mentions.names.contains(protocol.rank());
            let groups = (!is_opaque).then(|| groups(&mentions));
            self.residues.push(Residue::new(expression.clone(), self.side, groups));
        }
        Rank::Computed(number)
    }

    /// Computes the ranks of a request paired with these offers. `answer` gets each offer and its rank, `None` where
    /// only evaluation of the pair can tell.
    pub fn ask(
        &mut self,
        number: usize,
        request: &mut Request<'_>,
        offers: impl Iterator<Item = usize>,
        evaluate: &mut dyn FnMut(Side, &Expression, usize) -> Option<f64>,
        answer: impl FnMut(usize, Option<f64>),
    ) {
        self.residues[number].ask(request, offers, evaluate, answer);
    }
}
