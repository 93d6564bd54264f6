//! Equivalence classes of offers, and of requests, under the values of some attributes.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Name;
use crate::pool::{AttributeColumn, ColumnCell, Partition, ValueKey};

use super::request::{CachedClass, ProbedRequest};

/// Equivalence classes under the values of some attributes. Offers are classified when the index is built, requests
/// when they are probed.
pub struct AttributeClasses {
    /// Number of this classification, unique in the index of offers.
    id: usize,
    /// The attributes, sorted.
    names: Vec<Name>,
    /// The classes of offers; offers in which one of the attributes is deviant are in no class.
    pub offers: Partition,
    request_classes: FxHashMap<Box<[ValueKey]>, usize>,
}

impl AttributeClasses {
    /// Classifies the offers `0..offers` by these columns, one for each name.
    pub fn new(id: usize, names: Vec<Name>, columns: &[Rc<AttributeColumn>], offers: usize) -> Self {
        let mut groups =
            AttributeClasses { id, names, offers: Partition::new(offers), request_classes: FxHashMap::default() };
        for column in columns {
            column.split(&mut groups.offers);
        }
        groups
    }

    /// Returns the class of a request. `None` if one of the attributes is deviant, a list or an ad.
    pub fn request_class(&mut self, request: &mut ProbedRequest<'_>) -> Option<usize> {
        if let CachedClass::Known(number) = request.cached_class(self.id) {
            return number;
        }
        let number = self.class_of_cells(|name| request.cell(name));
        request.cache_class(self.id, number);
        number
    }

    fn class_of_cells(&mut self, mut cell: impl FnMut(&Name) -> ColumnCell) -> Option<usize> {
        let keys: Option<Box<[ValueKey]>> = self
            .names
            .iter()
            .map(|name| match cell(name) {
                ColumnCell::Absent => Some(ValueKey::Absent),
                // Lists and ads are keyed by address, which may be reused when this value is dropped, so that they give
                // no key.
                ColumnCell::Constant(value) => {
                    Some(ValueKey::of(&value)).filter(|key| !matches!(key, ValueKey::Structure(_)))
                }
                ColumnCell::Deviant => None,
            })
            .collect();
        let next = self.request_classes.len();
        Some(*self.request_classes.entry(keys?).or_insert(next))
    }
}
