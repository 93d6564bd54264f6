//! Bound of caches.

use std::ops::{Deref, DerefMut};

use super::{ByIdentity, Identity};

/// Maximum number of entries that a cache remembers.
const MAX_ENTRIES: usize = 64 * 1024;

/// Maximum total size of what a cache remembers, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// A cache that forgets everything when it is full. What it forgets is computed again, so that it never changes an
/// answer.
#[derive(Clone, Debug, Default)]
pub struct Bounded<C> {
    contents: C,
    entries: usize,
    bytes: usize,
}

impl<C: Default> Bounded<C> {
    /// Counts an entry that is about to be added, and its size in bytes. Forgets what was added before, if the cache
    /// would become too large. Returns whether it forgot.
    pub fn make_room(&mut self, bytes: usize) -> bool {
        let is_full = self.entries >= MAX_ENTRIES || self.bytes.saturating_add(bytes) > MAX_BYTES;
        if is_full {
            self.forget();
        }
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        is_full
    }

    /// Counts bytes that were added. Forgets nothing, so that what is in use remains.
    pub fn grow(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Whether the cache is too large.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries >= MAX_ENTRIES || self.bytes > MAX_BYTES
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

impl<K: Identity, V> Bounded<ByIdentity<K, V>> {
    /// Returns the value of a key. Calls `make` for a key without one; `bytes` is the size of the value.
    pub fn get_or_insert_with(&mut self, key: &K, bytes: usize, make: impl FnOnce() -> V) -> &mut V {
        if self.contents.get(key).is_none() {
            self.make_room(bytes);
        }
        self.contents.get_or_insert_with(key, make)
    }
}

impl<C> Deref for Bounded<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.contents
    }
}

impl<C> DerefMut for Bounded<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.contents
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounded, MAX_BYTES, MAX_ENTRIES};

    #[test]
    fn a_full_cache_forgets() {
        let mut cache = Bounded::<Vec<usize>>::default();
        for number in 0..=MAX_ENTRIES {
            assert_eq!(cache.make_room(1), number == MAX_ENTRIES, "{number}");
            cache.push(number);
        }
        assert_eq!(*cache, [MAX_ENTRIES]);
        // A single entry may exceed the limit, because it has to be kept for its caller.
        for (bytes, forgets) in [(MAX_BYTES - 1, false), (1, true), (MAX_BYTES, true), (usize::MAX, true)] {
            assert_eq!(cache.make_room(bytes), forgets, "{bytes}");
        }
        cache.forget();
        for (bytes, is_full) in [(MAX_BYTES, false), (1, true), (usize::MAX, true)] {
            cache.grow(bytes);
            assert_eq!(cache.is_full(), is_full, "{bytes}");
        }
    }
}
