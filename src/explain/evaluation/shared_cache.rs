//! A cache of results that threads share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

/// A cache of results that threads share. Each result is computed once, by one thread.
///
/// The cache has two generations, because results of few requests would fill the memory. A result that is asked for
/// enters the younger generation. When the younger generation is full, it becomes the older one, and the older one is
/// dropped.
pub struct SharedCache<V> {
    generations: Mutex<CacheGenerations<V>>,
    /// Maximum size of the younger generation, in bytes.
    max_bytes: usize,
    /// Returns the size of a result in bytes.
    size: fn(&V) -> usize,
}

/// A key: numbers that say on what a result depends.
pub type CacheKey = Box<[usize]>;

/// The place of a result; empty while the result is computed.
type CacheSlot<V> = Arc<OnceLock<Arc<V>>>;

struct CacheGenerations<V> {
    younger: FxHashMap<CacheKey, CacheSlot<V>>,
    older: FxHashMap<CacheKey, CacheSlot<V>>,
    /// Size of the results in `younger`, in bytes.
    younger_bytes: usize,
}

impl<V> SharedCache<V> {
    /// Creates an empty cache of at most `max_bytes` bytes. Each of its two generations has half of them.
    pub fn new(max_bytes: usize, size: fn(&V) -> usize) -> Self {
        let generations =
            CacheGenerations { younger: FxHashMap::default(), older: FxHashMap::default(), younger_bytes: 0 };
        SharedCache { generations: Mutex::new(generations), max_bytes: max_bytes / 2, size }
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
            self.lock().add_bytes((self.size)(value), self.max_bytes);
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
            generations.add_bytes((self.size)(value), self.max_bytes);
        }
        slot
    }

    fn lock(&self) -> MutexGuard<'_, CacheGenerations<V>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> CacheGenerations<V> {
    fn add_bytes(&mut self, bytes: usize, max_bytes: usize) {
        self.younger_bytes += bytes;
        if self.younger_bytes > max_bytes {
            (self.older, self.younger_bytes) = (std::mem::take(&mut self.younger), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SharedCache;

    #[test]
    fn what_is_asked_for_stays() {
        let cache: SharedCache<String> = SharedCache::new(200, String::len);
        let mut computed = Vec::new();
        let mut ask = |key: usize| {
            let value = cache.get_or_compute([key].into(), || {
                computed.push(key);
                "x".repeat(40) + &key.to_string()
            });
            assert!(value.ends_with(&key.to_string()));
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
