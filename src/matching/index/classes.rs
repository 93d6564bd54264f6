//! Offers that some attributes do not tell apart, and requests that they do not.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::pool::{Cell, Column, Key, Partition};

use super::request::{Numbered, Request};

/// Offers by the values of some attributes; and requests, as they come, by the values of the same.
pub struct Groups {
    /// Which of all groups these are.
    id: usize,
    /// The attributes.
    names: Vec<Name>,
    /// The offers; those in which one of the attributes is open are in no group.
    pub offers: Partition,
    requests: FxHashMap<Box<[Key]>, usize>,
}

impl Groups {
    /// The groups of so many offers by these columns, one for each name.
    pub fn new(id: usize, names: Vec<Name>, columns: &[Rc<Column>], offers: usize) -> Self {
        let mut groups = Groups { id, names, offers: Partition::new(offers), requests: FxHashMap::default() };
        for column in columns {
            groups.offers.split(column.codes(), |offer| (!column.is_open(offer)).then(|| column.code(offer)));
        }
        groups
    }

    /// A number for a request, the same for all that the attributes do not tell apart; none if one is open.
    pub fn request(&mut self, request: &mut Request<'_>) -> Option<usize> {
        if let Numbered::As(number) = request.number(self.id) {
            return number;
        }
        let number = self.number(|name| request.cell(name));
        request.remember(self.id, number);
        number
    }

    fn number(&mut self, mut cell: impl FnMut(&Name) -> Cell) -> Option<usize> {
        let keys: Option<Box<[Key]>> = self
            .names
            .iter()
            .map(|name| match cell(name) {
                Cell::Absent => Some(Key::Absent),
                // Its address may be another's when it is gone.
                Cell::Constant(value) => Some(Key::of(&value)).filter(|key| !matches!(key, Key::Structure(_))),
                Cell::Open => None,
            })
            .collect();
        let next = self.requests.len();
        Some(*self.requests.entry(keys?).or_insert(next))
    }
}
