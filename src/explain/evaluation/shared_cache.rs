//! A cache of results that threads share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::ad::Bounded;

/// A cache of results that threads share. Each result is computed once, by one thread.
///
/// The cache has two generations, because results of few requests would fill the memory. A result that is asked for
/// enters the younger generation. When the younger generation is full, it becomes the older one, and the older one is
/// dropped.
pub struct SharedCache<V> {
    generations: Mutex<CacheGenerations<V>>,
    /// Returns the size of a result in bytes.
    size: fn(&V) -> usize,
}

/// A key: numbers that say on what a result depends.
pub type CacheKey = Box<[usize]>;

/// The place of a result; empty while the result is computed.
type CacheSlot<V> = Arc<OnceLock<Arc<V>>>;

struct CacheGenerations<V> {
    younger: Bounded<FxHashMap<CacheKey, CacheSlot<V>>>,
    older: FxHashMap<CacheKey, CacheSlot<V>>,
}

impl<V> SharedCache<V> {
    /// Creates an empty cache. `size` returns the size of a result in bytes.
    pub fn new(size: fn(&V) -> usize) -> Self {
        let generations = CacheGenerations { younger: Bounded::large(), older: FxHashMap::default() };
        SharedCache { generations: Mutex::new(generations), size }
    }

    /// Returns the result of a key. Computes the result if the cache lacks it.
    pub fn get_or_compute(&self, key: CacheKey, compute: impl FnOnce() -> V) -> Arc<V> {
        let slot = self.slot(key);
        let mut is_new = false;
        let value = slot.get_or_init(|| {
            is_new = true;
            Arc::new(compute())
        });
        if is_new {
            self.lock().add_bytes((self.size)(value));
        }
        Arc::clone(value)
    }

    /// Returns the place of a key's result, which enters the younger generation.
    fn slot(&self, key: CacheKey) -> CacheSlot<V> {
        let mut generations = self.lock();
        if let Some(slot) = generations.younger.get(&key) {
            return Arc::clone(slot);
        }
        let slot = generations.older.remove(&key).unwrap_or_default();
        generations.younger.insert(key, Arc::clone(&slot));
        if let Some(value) = slot.get() {
            generations.add_bytes((self.size)(value));
        }
        slot
    }

    fn lock(&self) -> MutexGuard<'_, CacheGenerations<V>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> CacheGenerations<V> {
    fn add_bytes(&mut self, bytes: usize) {
        self.younger.grow(bytes);
        if self.younger.is_full() {
            self.older = self.younger.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SharedCache;

    #[test]
    fn what_is_asked_for_stays() {
        let cache: SharedCache<String> = SharedCache::new(|_| 25 << 20);
        let mut computed = Vec::new();
        let mut ask = |key: usize| {
            let value = cache.get_or_compute([key].into(), || {
                computed.push(key);
                key.to_string()
            });
            assert_eq!(*value, key.to_string());
        };
        // 0 is asked for again and again; of the others three fill a generation.
        for key in 1..10 {
            ask(0);
            ask(key);
        }
        [8, 1].into_iter().for_each(&mut ask);
        assert_eq!(computed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
    }
}
