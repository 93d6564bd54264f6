//! Sparse bit sets of rows, for repeated intersection with a dense one.

use fixedbitset::FixedBitSet;

/// A sparse bit set: stores only the nonzero words, so that few rows take few words, and many are intersected 64
/// at a time.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    /// The nonzero words with their positions, ascending.
    words: Vec<(u32, usize)>,
}

impl SparseRows {
    /// Adds a row, which must not be less than any other in the set.
    pub fn push(&mut self, row: usize) {
        let (position, bit) = (super::code(row / WORD_BITS), 1 << (row % WORD_BITS));
        match self.words.last_mut() {
            Some((last, word)) if *last == position => *word |= bit,
            _ => self.words.push((position, bit)),
        }
    }

    /// Iterates over the intersection with a set, ascending.
    pub fn intersection<'r>(&'r self, set: &'r FixedBitSet) -> impl Iterator<Item = usize> + 'r {
        let set = set.as_slice();
        let rows = move |(position, word): &(u32, usize)| {
            let position = *position as usize;
            let word = word & set.get(position).copied().unwrap_or(0);
            // Each step removes the least bit.
            let rests = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let rests = rests.take_while(|word| *word != 0);
            rests.map(move |word| position * WORD_BITS + word.trailing_zeros() as usize)
        };
        self.words.iter().flat_map(rows)
    }
}

impl FromIterator<usize> for SparseRows {
    /// Collects rows, which must be ascending.
    fn from_iter<I: IntoIterator<Item = usize>>(ascending: I) -> Self {
        let mut rows = SparseRows::default();
        ascending.into_iter().for_each(|row| rows.push(row));
        rows
    }
}

/// Number of bits in a word.
const WORD_BITS: usize = usize::BITS as usize;

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;
    use proptest::prelude::*;

    use super::SparseRows;

    proptest! {
        #[test]
        fn within_a_set_are_those_that_are_in_both(
            rows in proptest::collection::btree_set(0..300_usize, 0..40),
            set in proptest::collection::btree_set(0..200_usize, 0..100),
        ) {
            let bits: FixedBitSet = set.iter().copied().collect();
            let found: Vec<usize> = rows.iter().copied().collect::<SparseRows>().intersection(&bits).collect();
            prop_assert_eq!(found, rows.intersection(&set).copied().collect::<Vec<_>>());
        }
    }
}
