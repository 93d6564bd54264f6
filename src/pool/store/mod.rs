//! A column store of ads, for many queries over one pool.
//!
//! Each attribute is a dictionary column: a code per ad, with each distinct text stored and parsed once.  Ads with
//! the same attributes share one shape, the list of their names.  Ads come out unchanged, except for comments and
//! white space.

mod load;
mod select;
mod text_column;

use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::ParseOptions;

use super::AttributeColumn;

pub use select::StoreSelection;
use text_column::{ABSENT, TextColumn};

/// A column store of ads.
pub struct Store {
    rules: ParseOptions,
    /// The dictionary column of each attribute, in the order of first appearance.
    attributes: IndexMap<Name, TextColumn, FxBuildHasher>,
    /// Each spelling of a name, with the index of its attribute in `attributes`.
    spellings: IndexMap<Box<[u8]>, usize, FxBuildHasher>,
    /// The shapes: lists of indexes into `spellings`, in the order of an ad's attributes.
    shapes: IndexSet<Box<[u32]>, FxBuildHasher>,
    /// For each ad the index of its shape.
    rows: Vec<u32>,
    /// Cached value columns by index of the attribute; `None` for attributes that are not literals in all ads.
    columns: FxHashMap<usize, Option<Rc<AttributeColumn>>>,
}

impl Store {
    /// Creates an empty store.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Store {
            rules: ParseOptions::long(dialect),
            attributes: IndexMap::default(),
            spellings: IndexMap::default(),
            shapes: IndexSet::default(),
            rows: Vec::new(),
            columns: FxHashMap::default(),
        }
    }

    /// Number of ads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the store has no ads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of shapes: distinct lists of attributes.
    #[must_use]
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// Iterates over the names of all attributes, in the order of first appearance.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.attributes.keys()
    }

    /// Builds the ad with a 0-based number; `None` if there are not that many.
    #[must_use]
    pub fn ad(&self, row: usize) -> Option<Ad> {
        let shape = self.shapes.get_index(*self.rows.get(row)? as usize)?;
        let attributes = shape.iter().filter_map(|spelling| {
            let (name, place) = self.spellings.get_index(*spelling as usize)?;
            let texts = &self.attributes[*place];
            let expression = texts.expression(texts.code(row), self.rules)?;
            Some((Name::new(&String::from_utf8_lossy(name)), expression))
        });
        Some(attributes.collect())
    }

    /// Interns a spelling of a name: returns its index in `spellings`.
    fn intern_spelling(&mut self, name: &Name) -> u32 {
        let place = match self.attributes.get_index_of(name) {
            Some(place) => place,
            None => self.attributes.insert_full(name.clone(), TextColumn::new()).0,
        };
        let (spelling, _) = self.spellings.insert_full(name.as_str().as_bytes().into(), place);
        u32::try_from(spelling).unwrap_or(u32::MAX)
    }

    /// Adds an ad: pairs of a spelling and a code.  A name that occurs repeatedly keeps its first spelling and position
    /// and takes the last code.
    fn push_row(&mut self, attributes: &[(u32, u32)]) {
        let row = self.rows.len();
        let mut shape: Vec<u32> = Vec::with_capacity(attributes.len());
        for (spelling, code) in attributes {
            let texts = &mut self.attributes[self.spellings[*spelling as usize]];
            if texts.code(row) == ABSENT {
                shape.push(*spelling);
            }
            texts.set(row, *code);
        }
        let last = self.rows.last().and_then(|last| self.shapes.get_index(*last as usize));
        let shape = match last {
            Some(last) if **last == *shape => self.rows[row - 1],
            _ => u32::try_from(self.shapes.insert_full(shape.into()).0).unwrap_or(u32::MAX),
        };
        self.rows.push(shape);
        self.columns.clear();
    }
}

#[cfg(test)]
mod tests;
