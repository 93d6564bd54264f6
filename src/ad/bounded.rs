//! Bound of caches.

use std::ops::{Deref, DerefMut};

use super::{ByIdentity, Identity};

/// Maximum number of entries that a cache remembers.
pub(super) const MAX_ENTRIES: usize = 64 * 1024;

/// Maximum total size of what a cache remembers, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Maximum total size of what a large cache remembers, in bytes.
const MAX_LARGE_BYTES: usize = 64 << 20;

/// A cache that forgets everything when it is full. What it forgets is computed again, so that it never changes an
/// answer.
#[derive(Clone, Debug, Default)]
pub struct Bounded<C> {
    contents: C,
    entries: usize,
    bytes: usize,
    is_large: bool,
}

impl<C: Default> Bounded<C> {
    /// Creates a large cache, of what is known about the pairs of a pool. Only its bytes are limited.
    #[must_use]
    pub fn large() -> Self {
        Bounded { is_large: true, ..Bounded::default() }
    }

    /// Counts an entry that is about to be added, and its size in bytes. Forgets what was added before, if the cache
    /// would become too large. Returns whether it forgot.
    pub fn make_room(&mut self, bytes: usize) -> bool {
        let is_full = self.has_too_many() || self.bytes.saturating_add(bytes) > self.max_bytes();
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

    /// Sets the number of entries, of contents that know it. Forgets everything if there are too many. Returns whether
    /// it forgot.
    pub fn set_entries(&mut self, entries: usize) -> bool {
        self.entries = entries;
        let is_full = self.is_full();
        if is_full {
            self.forget();
        }
        is_full
    }

    /// Whether the cache is too large.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.has_too_many() || self.bytes > self.max_bytes()
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.take();
    }

    /// Returns what the cache remembers, and forgets it.
    pub fn take(&mut self) -> C {
        (self.entries, self.bytes) = (0, 0);
        std::mem::take(&mut self.contents)
    }

    fn has_too_many(&self) -> bool {
        self.entries >= MAX_ENTRIES && !self.is_large
    }

    fn max_bytes(&self) -> usize {
        if self.is_large { MAX_LARGE_BYTES } else { MAX_BYTES }
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
    use super::{Bounded, MAX_BYTES, MAX_ENTRIES, MAX_LARGE_BYTES};

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

    #[test]
    fn a_large_cache_has_room_for_more_entries() {
        let mut cache = Bounded::<Vec<usize>>::large();
        for number in 0..=MAX_ENTRIES {
            assert!(!cache.make_room(1));
            cache.push(number);
        }
        cache.grow(MAX_LARGE_BYTES - MAX_ENTRIES - 1);
        assert!(!cache.is_full());
        assert!(cache.make_room(1) && cache.is_empty());
        cache.grow(MAX_LARGE_BYTES);
        assert!(cache.is_full(), "it stays large, and the entry that was made room for counts");
        cache.push(7);
        assert_eq!(cache.take(), [7]);
        assert!(!cache.is_full() && cache.is_empty());
    }

    #[test]
    fn contents_may_know_their_number() {
        let mut cache = Bounded::<Vec<usize>>::default();
        cache.push(7);
        assert!(!cache.set_entries(MAX_ENTRIES - 1) && cache.len() == 1);
        assert!(cache.set_entries(MAX_ENTRIES) && cache.is_empty());
        assert!(!cache.set_entries(0));
    }
}
