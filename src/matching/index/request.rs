//! A request, as the index sees it.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::Parts;
use crate::eval::Context;
use crate::pool::Cell;
use crate::protocol::Protocol;

use super::one_sided::{computed, literal};

/// A request and what has been found out about it.
pub struct Request<'r> {
    /// The request.
    pub ad: &'r Ad,
    /// The parts of its constraint.
    pub parts: Parts<'r>,
    protocol: &'r Protocol,
    context: &'r Context,
    /// Its number among the requests of each group, by the id of the group.
    numbers: Vec<Numbered>,
    /// What is no literal, and was asked for.
    cells: FxHashMap<Name, Cell>,
}

/// What number a request has in a group.
#[derive(Clone, Copy, Default)]
pub enum Numbered {
    /// That has not been asked yet.
    #[default]
    NotYet,
    /// This, or none.
    As(Option<usize>),
}

impl<'r> Request<'r> {
    /// A request with this constraint.
    pub fn new(ad: &'r Ad, constraint: &'r Name, protocol: &'r Protocol, context: &'r Context) -> Self {
        let parts = Parts::of(ad, constraint);
        Request { ad, parts, protocol, context, numbers: Vec::new(), cells: FxHashMap::default() }
    }

    /// Its number in a group.
    pub fn number(&self, group: usize) -> Numbered {
        self.numbers.get(group).copied().unwrap_or_default()
    }

    /// Notes its number in a group.
    pub fn remember(&mut self, group: usize, number: Option<usize>) {
        self.numbers.resize(self.numbers.len().max(group + 1), Numbered::default());
        self.numbers[group] = Numbered::As(number);
    }

    /// What an attribute of it is.
    pub fn cell(&mut self, name: &Name) -> Cell {
        let Some(expression) = self.ad.get(name) else { return Cell::Absent };
        if let Some(value) = literal(expression, self.context.dialect) {
            return Cell::Constant(value.clone());
        }
        if let Some(known) = self.cells.get(name) {
            return known.clone();
        }
        // The attributes whose values differ from what they are by themselves where they lead back here.
        let through: Vec<Name> = self.parts.through().chain([self.protocol.rank()]).cloned().collect();
        let cell = computed(self.ad, name, expression, &through, self.context);
        self.cells.insert(name.clone(), cell.clone());
        cell
    }
}
