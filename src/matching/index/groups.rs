//! Offers that some attributes do not tell apart, and requests that they do not.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::pool::{Cell, Column, Key};

/// The group of an offer in which one of the attributes is open.
pub const OPEN: u32 = u32::MAX;

/// Offers by the values of some attributes; and requests, as they come, by the values of the same.
pub struct Groups {
    /// The attributes.
    pub names: Vec<Name>,
    /// For each offer its group.
    pub of: Vec<u32>,
    /// For each group its first offer.
    pub first: Vec<u32>,
    requests: FxHashMap<Box<[Key]>, usize>,
}

impl Groups {
    /// The groups of so many offers by these columns, one for each name.
    pub fn new(names: Vec<Name>, columns: &[Rc<Column>], offers: usize) -> Self {
        let mut groups = Groups { names, of: vec![0; offers], first: Vec::new(), requests: FxHashMap::default() };
        let mut count = usize::from(offers > 0);
        for column in columns {
            count = groups.split(column);
        }
        groups.first = vec![u32::MAX; count];
        for (offer, group) in groups.of.iter().enumerate().rev().filter(|(_, group)| **group != OPEN) {
            groups.first[*group as usize] = u32::try_from(offer).unwrap_or(u32::MAX);
        }
        groups
    }

    /// Splits every group by one more column; how many there are then.
    fn split(&mut self, column: &Column) -> usize {
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (offer, group) in self.of.iter_mut().enumerate() {
            if *group == OPEN {
                continue;
            }
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *group = if column.open().contains(offer) {
                OPEN
            } else {
                *known.entry((*group, column.code(offer))).or_insert(next)
            };
        }
        known.len()
    }

    /// A number for a request, the same for all that the attributes do not tell apart; none if one is open.
    pub fn request(&mut self, mut cell: impl FnMut(&Name) -> Cell) -> Option<usize> {
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
