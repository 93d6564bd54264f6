//! A request during one probe of the index.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::Parts;
use crate::eval::Context;
use crate::pool::Cell;
use crate::protocol::Protocol;

use super::one_sided::{computed, literal};

/// A request with cached attribute values and classes.
pub struct Request<'r> {
    /// The request's ad.
    pub ad: &'r Ad,
    /// The clauses of its constraint.
    pub parts: Parts<'r>,
    protocol: &'r Protocol,
    context: &'r Context,
    /// Its class in each classification, by the classification's number.
    numbers: Vec<Numbered>,
    /// Cached cells of attributes that are not literals.
    cells: FxHashMap<Name, Cell>,
}

/// The cached class of a request in one classification.
#[derive(Clone, Copy, Default)]
pub enum Numbered {
    /// Not computed yet.
    #[default]
    NotYet,
    /// The class; `None` if the request is in none, because an attribute is open.
    As(Option<usize>),
}

impl<'r> Request<'r> {
    /// Prepares a request for a probe; `constraint` is the attribute that holds its constraint.
    pub fn new(ad: &'r Ad, constraint: &'r Name, protocol: &'r Protocol, context: &'r Context) -> Self {
        let parts = Parts::of(ad, constraint);
        Request { ad, parts, protocol, context, numbers: Vec::new(), cells: FxHashMap::default() }
    }

    /// Returns its class in a classification, if cached.
    pub fn number(&self, group: usize) -> Numbered {
        self.numbers.get(group).copied().unwrap_or_default()
    }

    /// Caches its class in a classification.
    pub fn remember(&mut self, group: usize, number: Option<usize>) {
        self.numbers.resize(self.numbers.len().max(group + 1), Numbered::default());
        self.numbers[group] = Numbered::As(number);
    }

    /// Returns the cell of one of its attributes.
    pub fn cell(&mut self, name: &Name) -> Cell {
        let Some(expression) = self.ad.get(name) else { return Cell::Absent };
        if let Some(value) = literal(expression, self.context.dialect) {
            return Cell::Constant(value.clone());
        }
        if let Some(known) = self.cells.get(name) {
            return known.clone();
        }
        // Attributes whose values may be circular when they are reached from the constraint or the rank.
        let through: Vec<Name> = self.parts.through().chain([self.protocol.rank()]).cloned().collect();
        let cell = computed(self.ad, name, expression, &through, self.context);
        self.cells.insert(name.clone(), cell.clone());
        cell
    }
}
