//! Ranks of many offers at once, each computed once for offers and requests that it cannot tell apart.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Ad, Expression, Kind};
use crate::constraint::{Protocol, is_plain, rank_of};
use crate::eval::{Context, Mentions};

use super::super::Side;
use super::groups::Groups;
use super::parts::is_odd;
use super::request::Request;
use super::residue::{Distinct, Residue};

/// The rank that an ad gives others.
pub enum Rank {
    /// The same for all.
    Constant(f64),
    /// That of an expression, by its number.
    Computed(usize),
    /// Only the evaluation of the pair can tell.
    Opaque,
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

    /// What an ad ranks by.
    pub fn of(
        &mut self,
        ad: &Ad,
        protocol: &Protocol,
        context: &Context,
        groups: impl FnOnce(&Mentions) -> Rc<RefCell<Groups>>,
    ) -> Rank {
        let Some(expression) = ad.get(protocol.rank()) else { return Rank::Constant(0.0) };
        match expression.kind() {
            // Zero and minus zero are one rank.
            Kind::Literal(value) if is_plain(value, context.dialect) => return Rank::Constant(rank_of(value) + 0.0),
            _ if is_odd(ad) => return Rank::Opaque,
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
        offers: &[usize],
        evaluate: &mut dyn FnMut(Side, &Expression, usize) -> Option<f64>,
        answer: impl FnMut(usize, Option<f64>),
    ) {
        self.residues[number].ask(request, offers, evaluate, answer);
    }
}
