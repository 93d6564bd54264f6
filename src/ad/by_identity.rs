//! Maps by identity.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::{Ad, Expression};

/// A value that can be told from equal ones by its place in memory. Clones have one identity.
pub trait Identity: Clone {
    /// Returns the identity. Another value may get it once this value and its clones are dropped.
    fn identity(&self) -> usize;
}

impl Identity for Expression {
    fn identity(&self) -> usize {
        Expression::identity(self)
    }
}

impl Identity for Ad {
    fn identity(&self) -> usize {
        Ad::identity(self)
    }
}

impl<T> Identity for Arc<T> {
    fn identity(&self) -> usize {
        Arc::as_ptr(self) as usize
    }
}

/// Map by the identity of its keys, in the order of insertion. It keeps the keys, so that no other value gets the identity
/// of one.
#[derive(Clone)]
pub struct ByIdentity<K, V> {
    entries: IndexMap<usize, (K, V), FxBuildHasher>,
}

impl<K, V> Default for ByIdentity<K, V> {
    fn default() -> Self {
        ByIdentity { entries: IndexMap::default() }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for ByIdentity<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.values().map(|(key, value)| (key, value))).finish()
    }
}

impl<K: Identity, V> ByIdentity<K, V> {
    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a key; `None` if there is none.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(&key.identity()).map(|(_, value)| value)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        self.entries.insert(key.identity(), (key, value));
    }

    /// Returns the value of a key. Calls `make` for a key without one.
    pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        &mut self.entries.entry(key.identity()).or_insert_with(|| (key.clone(), make())).1
    }
}

impl<K, V> IntoIterator for ByIdentity<K, V> {
    type Item = (K, V);
    type IntoIter = indexmap::map::IntoValues<usize, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_values()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::ByIdentity;
    use crate::ad::Expression;

    #[test]
    fn equal_keys_are_apart_and_clones_are_not() {
        let mut numbers = ByIdentity::default();
        for number in 0..100 {
            // Each expression is dropped at once; its identity stays taken.
            let expression = Expression::literal(1_i64);
            assert_eq!(numbers.get(&expression), None, "{number}");
            numbers.insert(expression.clone(), number);
            assert_eq!(numbers.get(&expression.clone()), Some(&number));
            assert_eq!(*numbers.get_or_insert_with(&expression, || 1000), number);
        }
        let mut texts = ByIdentity::default();
        let (first, second) = (Arc::new("x"), Arc::new("x"));
        assert_eq!([*texts.get_or_insert_with(&first, || 1), *texts.get_or_insert_with(&second, || 2)], [1, 2]);
        assert!(texts.into_iter().eq([(first, 1), (second, 2)]));
    }
}
