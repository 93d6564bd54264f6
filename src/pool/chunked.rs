//! Vector in chunks, which grows without copying and without much free memory.

/// Items in chunks of `CHUNK` items, a power of two. Offsets count the items of full chunks, so that there are gaps where an extension did
/// not fit into a chunk.
#[derive(Clone, Debug)]
pub(super) struct ChunkedVec<T, const CHUNK: usize> {
    chunks: Vec<Vec<T>>,
}

impl<T: Copy, const CHUNK: usize> ChunkedVec<T, CHUNK> {
    /// Creates an empty vector.
    pub(super) fn new() -> Self {
        ChunkedVec { chunks: Vec::new() }
    }

    /// Appends items, which stay next to each other. Returns the offset of the first. There must not be more items than
    /// a chunk has.
    pub(super) fn extend(&mut self, items: &[T]) -> u32 {
        if self.chunks.last().is_none_or(|last| last.len() + items.len().max(1) > CHUNK) {
            // The first chunk grows as needed, because most vectors are short.
            let length = if self.chunks.is_empty() { items.len() } else { CHUNK };
            self.chunks.push(Vec::with_capacity(length));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let offset = number * CHUNK + chunk.len();
        chunk.extend_from_slice(items);
        u32::try_from(offset).unwrap_or(u32::MAX)
    }

    /// Returns the item at an offset.
    pub(super) fn get(&self, offset: u32) -> &T {
        let offset = offset as usize;
        &self.chunks[offset / CHUNK][offset % CHUNK]
    }

    /// Returns the item at an offset.
    pub(super) fn get_mut(&mut self, offset: u32) -> &mut T {
        let offset = offset as usize;
        &mut self.chunks[offset / CHUNK][offset % CHUNK]
    }

    /// Returns the items at an offset that were appended together.
    pub(super) fn slice(&self, offset: u32, length: u32) -> &[T] {
        let start = offset as usize % CHUNK;
        &self.chunks[offset as usize / CHUNK][start..start + length as usize]
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Iterates over the items.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::ChunkedVec;

    fn check<const CHUNK: usize>() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut chunked: ChunkedVec<u8, CHUNK> = ChunkedVec::new();
        let mut expected: Vec<(u32, Vec<u8>)> = Vec::new();
        for _ in 0..200 {
            let items: Vec<u8> = (0..random.usize(..=CHUNK)).map(|_| random.u8(..)).collect();
            expected.push((chunked.extend(&items), items));
        }
        for (offset, items) in &mut expected {
            let length = u32::try_from(items.len()).unwrap();
            assert_eq!(chunked.slice(*offset, length), *items);
            if let Some(first) = items.first_mut() {
                assert_eq!(chunked.get(*offset), first);
                *first ^= 1;
                *chunked.get_mut(*offset) = *first;
            }
        }
        assert!(chunked.iter().eq(expected.iter().flat_map(|(_, items)| items)));
        assert_eq!(chunked.len(), expected.iter().map(|(_, items)| items.len()).sum::<usize>());
    }

    #[test]
    fn what_was_appended_is_at_its_offset() {
        check::<1>();
        check::<4>();
        check::<16>();
    }
}
