//! Ranks of many offers at once, each computed once for offers and requests that it cannot tell apart.

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

/// The rank that an ad gives others.
#[derive(Clone, Copy)]
pub enum Rank {
    /// The same for all.
    Constant(f64),
    /// That of an expression, by its number.
    Computed(usize),
    /// Only the evaluation of the pair can tell.
    Opaque,
}

/// What offers rank requests by.
pub struct OfferRanks {
    /// The expressions.
    pub ranks: Ranks,
    /// For each expression the offers that have it.
    pub computed: Vec<Rows>,
    /// For each offer its rank: of all requests, or of the one that was asked about last.
    pub values: Vec<f64>,
    /// The offers whose ranks only the evaluation of the pair can tell.
    pub opaque: FixedBitSet,
}

impl OfferRanks {
    /// Of so many offers, none of which is known yet.
    pub fn new(offers: usize) -> Self {
        OfferRanks {
            ranks: Ranks::new(Side::Right),
            computed: Vec::new(),
            values: vec![0.0; offers],
            opaque: FixedBitSet::with_capacity(offers),
        }
    }

    /// Notes what an offer ranks by.
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

/// The expressions that ads of one side rank the other side by.
pub struct Ranks {
    side: Side,
    distinct: Distinct,
    residues: Vec<Residue<f64>>,
}

impl Ranks {
    /// No expression yet.
    pub fn new(side: Side) -> Self {
        Ranks { side, distinct: Distinct::default(), residues: Vec::new() }
    }

    /// What an ad ranks by; of an odd one nothing can be looked up.
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
            // Zero and minus zero are one rank.
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

    /// The ranks of some pairs; none where only the evaluation of the pair can tell.
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
