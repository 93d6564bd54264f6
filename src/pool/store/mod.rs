//! A pool held for many questions: an attribute is a column of codes, each distinct text is kept and parsed
//! once, and ads with the same attributes share the list of their names.
//!
//! Nothing is lost: an ad comes out as it went in, but for comments and blanks.

mod load;
mod select;
mod text_column;

use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::Rules;

use super::Column;

pub use select::Selected;
use text_column::{ABSENT, Texts};

/// Many ads in little memory.
pub struct Store {
    rules: Rules,
    /// The texts of each attribute, in the order of first appearance.
    attributes: IndexMap<Name, Texts, FxBuildHasher>,
    /// Each spelling of a name, and its place among the attributes.
    spellings: IndexMap<Box<[u8]>, usize, FxBuildHasher>,
    /// Lists of spellings: the attributes of an ad in their order.
    shapes: IndexSet<Box<[u32]>, FxBuildHasher>,
    /// The shape of each ad.
    rows: Vec<u32>,
    /// Columns that were asked for; none for attributes that are more than literals.
    columns: FxHashMap<usize, Option<Rc<Column>>>,
}

impl Store {
    /// A store without ads.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Store {
            rules: Rules::long(dialect),
            attributes: IndexMap::default(),
            spellings: IndexMap::default(),
            shapes: IndexSet::default(),
            rows: Vec::new(),
            columns: FxHashMap::default(),
        }
    }

    /// How many ads there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many distinct lists of attributes the ads have.
    #[must_use]
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// The names of all attributes, in the order of first appearance.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.attributes.keys()
    }

    /// An ad by its number; the first is 0.
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

    /// A number for a spelling of a name, also a new one.
    fn spelling(&mut self, name: &Name) -> u32 {
        let place = match self.attributes.get_index_of(name) {
            Some(place) => place,
            None => self.attributes.insert_full(name.clone(), Texts::new()).0,
        };
        let (spelling, _) = self.spellings.insert_full(name.as_str().as_bytes().into(), place);
        u32::try_from(spelling).unwrap_or(u32::MAX)
    }

    /// Adds an ad: spellings of names, and codes of their texts.  Of several texts for one name the last counts;
    /// the first spelling and place are kept.
    fn push(&mut self, attributes: &[(u32, u32)]) {
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
