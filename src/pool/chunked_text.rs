//! Texts in chunks, which grow without copying and without much free memory.

/// Texts one after the other, in chunks of `CHUNK` bytes, a power of two. Offsets count the bytes of full chunks, so that
/// there are gaps where a text did not fit into a chunk.
#[derive(Clone, Debug)]
pub(super) struct ChunkedText<const CHUNK: usize> {
    chunks: Vec<Vec<u8>>,
}

impl<const CHUNK: usize> ChunkedText<CHUNK> {
    pub(super) fn new() -> Self {
        ChunkedText { chunks: Vec::new() }
    }

    /// Appends a text of at most `CHUNK` bytes. Returns its offset.
    pub(super) fn push(&mut self, text: &[u8]) -> u32 {
        if self.chunks.last().is_none_or(|last| last.len() + text.len().max(1) > CHUNK) {
            // The first chunk grows as needed, because most attributes have few values.
            let length = if self.chunks.is_empty() { text.len() } else { CHUNK };
            self.chunks.push(Vec::with_capacity(length));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let offset = number * CHUNK + chunk.len();
        chunk.extend_from_slice(text);
        u32::try_from(offset).unwrap_or(u32::MAX)
    }

    /// Returns a text by its offset and length.
    pub(super) fn get(&self, offset: u32, length: u32) -> &[u8] {
        let start = offset as usize % CHUNK;
        &self.chunks[offset as usize / CHUNK][start..start + length as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::ChunkedText;

    fn check<const CHUNK: usize>() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut chunked: ChunkedText<CHUNK> = ChunkedText::new();
        let mut expected: Vec<(u32, Vec<u8>)> = Vec::new();
        for _ in 0..200 {
            let text: Vec<u8> = (0..random.usize(..=CHUNK)).map(|_| random.u8(..)).collect();
            expected.push((chunked.push(&text), text));
        }
        for (offset, text) in &expected {
            assert_eq!(chunked.get(*offset, u32::try_from(text.len()).unwrap()), *text);
        }
        let order = |(offset, text): &(u32, Vec<u8>)| (*offset, text.len());
        assert!(expected.iter().filter(|(_, text)| !text.is_empty()).is_sorted_by_key(order));
    }

    #[test]
    fn what_was_appended_is_at_its_offset() {
        check::<1>();
        check::<4>();
        check::<16>();
    }
}
