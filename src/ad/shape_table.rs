//! Table by the names of attributes.
//!
//! No bench row: `convert --to jsonl` of the bracketed form takes 1.11 times as many instructions without the cache of
//! positions.

use std::hash::Hash;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::{AdShape, Bounded, ByIdentity, Name};

/// What tells names apart.
pub trait NameKey: Eq + Hash {
    /// Returns the key of a name.
    fn of(name: &Name) -> Self;
}

/// Names that differ only in case are one name.
impl NameKey for Name {
    fn of(name: &Name) -> Self {
        name.clone()
    }
}

/// Each spelling is a name of its own.
impl NameKey for Box<str> {
    fn of(name: &Name) -> Self {
        name.as_str().into()
    }
}

/// Table with an entry for each name of attributes. Names have numbers from 0 on, in the order of insertion. The numbers
/// of the names of a shape are found at once, because most ads have one of a few shapes.
#[derive(Clone, Debug)]
pub struct ShapeTable<K, T> {
    entries: Bounded<IndexMap<K, T, FxBuildHasher>>,
    shapes: Bounded<ByIdentity<Arc<AdShape>, Arc<[usize]>>>,
}

impl<K, T> Default for ShapeTable<K, T> {
    fn default() -> Self {
        ShapeTable { entries: Bounded::default(), shapes: Bounded::default() }
    }
}

impl<K: NameKey, T> ShapeTable<K, T> {
    /// Returns the number of a name. Calls `new` for a new name.
    pub fn number(&mut self, name: &Name, new: impl FnOnce() -> T) -> usize {
        let entry = self.entries.entry(K::of(name));
        let number = entry.index();
        entry.or_insert_with(new);
        number
    }

    /// Returns the numbers of the names of a shape. Calls `new` for each new name.
    pub fn numbers(&mut self, shape: &Arc<AdShape>, mut new: impl FnMut(&Name) -> T) -> Arc<[usize]> {
        if let Some(known) = self.shapes.get(shape) {
            return Arc::clone(known);
        }
        let numbers: Arc<[usize]> = shape.names().iter().map(|name| self.number(name, || new(name))).collect();
        Arc::clone(self.shapes.get_or_insert_with(shape, size_of_val(&*numbers), || numbers))
    }

    /// Forgets everything if the table has very many names. Returns whether it did.
    pub fn forget_if_large(&mut self) -> bool {
        let is_large = self.entries.set_entries(self.entries.len());
        if is_large {
            self.shapes.forget();
        }
        is_large
    }
}

impl<K, T> Index<usize> for ShapeTable<K, T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.entries[number]
    }
}

impl<K, T> IndexMut<usize> for ShapeTable<K, T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.entries[number]
    }
}

impl<K, T> IntoIterator for ShapeTable<K, T> {
    type Item = (K, T);
    type IntoIter = indexmap::map::IntoIter<K, T>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.entries.take().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::bounded::MAX_ENTRIES;
    use super::{NameKey, ShapeTable};
    use crate::ad::{AdShape, Name};

    fn numbers<K: NameKey>(shapes: &[&[&str]]) -> Vec<Vec<usize>> {
        let mut table = ShapeTable::<K, String>::default();
        let shape = |names: &[&str]| Arc::new(names.iter().copied().map(Name::new).collect::<AdShape>());
        let mut number = |names: &[&str]| {
            let shape = shape(names);
            let numbers = table.numbers(&shape, ToString::to_string);
            for (number, name) in numbers.iter().zip(names) {
                assert!(table[*number].eq_ignore_ascii_case(name));
            }
            assert_eq!(table.numbers(&shape, |_| panic!("a known shape has no new names")), numbers);
            numbers.to_vec()
        };
        shapes.iter().map(|names| number(names)).collect()
    }

    #[test]
    fn names_keep_their_numbers() {
        let shapes: [&[&str]; 3] = [&["a", "b"], &["B", "c", "a"], &["b"]];
        assert_eq!(numbers::<Name>(&shapes), [vec![0, 1], vec![1, 2, 0], vec![1]]);
        assert_eq!(numbers::<Box<str>>(&shapes), [vec![0, 1], vec![2, 3, 0], vec![1]]);
    }

    #[test]
    fn a_large_table_forgets() {
        let mut table = ShapeTable::<Name, ()>::default();
        for number in 0..MAX_ENTRIES {
            assert!(!table.forget_if_large());
            assert_eq!(table.number(&Name::new(&format!("a{number}")), || ()), number);
        }
        assert!(table.forget_if_large());
        assert_eq!(table.number(&Name::new("b"), || ()), 0);
    }
}
