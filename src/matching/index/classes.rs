//! Equivalence classes of offers, and of requests, under the values of some attributes.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::pool::{Cell, Column, Key, Partition};

use super::request::{Numbered, Request};

/// Equivalence classes under the values of some attributes. Offers are classified when the index is built, requests
/// when they come.
pub struct Groups {
    /// Number of this classification, unique in its index.
    id: usize,
    /// The attributes, sorted.
    names: Vec<Name>,
    /// The classes of offers; offers in which one of the attributes is open are in none.
    pub offers: Partition,
    requests: FxHashMap<Box<[Key]>, usize>,
}

impl Groups {
    /// Classifies the offers `0..offers` by these columns, one for each name.
    pub fn new(id: usize, names: Vec<Name>, columns: &[Rc<Column>], offers: usize) -> Self {
        let mut groups = Groups { id, names, offers: Partition::new(offers), requests: FxHashMap::default() };
        for column in columns {
            groups.offers.split(column.codes(), |offer| (!column.is_open(offer)).then(|| column.code(offer)));
        }
        groups
    }

    /// Returns the class of a request. `None` if one of the attributes is open.
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
                // Lists and ads are keyed by address, which may be reused when this value is dropped.
                Cell::Constant(value) => Some(Key::of(&value)).filter(|key| !matches!(key, Key::Structure(_))),
                Cell::Open => None,
            })
            .collect();
        let next = self.requests.len();
        Some(*self.requests.entry(keys?).or_insert(next))
    }
}
