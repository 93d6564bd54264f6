//! Sparse bit sets of rows, which are often intersected with dense bit sets.

use fixedbitset::FixedBitSet;

/// A sparse bit set. It stores only nonzero words, so that a few rows take little memory. An intersection handles all
/// rows of a word at once.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    /// The nonzero words, each with its position, by ascending position.
    words: Vec<(u32, usize)>,
}

impl SparseRows {
    /// Adds the rows of one word: bit `n` stands for the row `position * 64 + n`, with the number of bits of a `usize`
    /// for 64. The position must be greater than that of any row in the set.
    pub fn push_word(&mut self, position: usize, word: usize) {
        self.words.push((super::code(position), word));
    }

    /// Whether a row is in the set.
    #[must_use]
    pub fn contains(&self, row: usize) -> bool {
        let position = super::code(row / WORD_BITS);
        let found = self.words.binary_search_by_key(&position, |(position, _)| *position);
        found.is_ok_and(|index| self.words[index].1 >> (row % WORD_BITS) & 1 == 1)
    }

    /// Iterates over the nonzero words, each with its position, by ascending position.
    pub fn words(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.words.iter().map(|(position, word)| (*position as usize, *word))
    }

    /// Returns the rows that are also in `set`.
    #[must_use]
    pub fn within(&self, set: &FixedBitSet) -> SparseRows {
        let set = set.as_slice();
        let words = self.words.iter().filter_map(|(position, word)| {
            let word = word & set.get(*position as usize).copied().unwrap_or(0);
            (word != 0).then_some((*position, word))
        });
        SparseRows { words: words.collect() }
    }

    /// Number of words that are stored.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Iterates over the rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().flat_map(|(position, word)| bit_rows(position, word))
    }

    /// Adds a row. The row must not be less than any row in the set.
    pub fn push(&mut self, row: usize) {
        let (position, bit) = (super::code(row / WORD_BITS), 1 << (row % WORD_BITS));
        match self.words.last_mut() {
            Some((last, word)) if *last == position => *word |= bit,
            _ => self.words.push((position, bit)),
        }
    }

    /// Iterates over the rows that are also in `set`, ascending.
    pub fn intersection<'r>(&'r self, set: &'r FixedBitSet) -> impl Iterator<Item = usize> + 'r {
        let set = set.as_slice();
        let common = move |(position, word)| bit_rows(position, word & set.get(position).copied().unwrap_or(0));
        self.words().flat_map(common)
    }
}

/// Iterates over the rows of a word at a position, ascending.
pub fn bit_rows(position: usize, word: usize) -> impl Iterator<Item = usize> {
    // Each step removes the lowest bit of the word, which stands for one row.
    let rests = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
    let rests = rests.take_while(|word| *word != 0);
    rests.map(move |word| position * WORD_BITS + word.trailing_zeros() as usize)
}

impl FromIterator<usize> for SparseRows {
    /// Collects rows, which must be ascending.
    fn from_iter<I: IntoIterator<Item = usize>>(ascending: I) -> Self {
        let mut rows = SparseRows::default();
        ascending.into_iter().for_each(|row| rows.push(row));
        rows
    }
}

/// Number of bits in a word of a bit set.
pub const WORD_BITS: usize = usize::BITS as usize;

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
            let all: SparseRows = rows.iter().copied().collect();
            prop_assert!(all.rows().eq(rows.iter().copied()));
            prop_assert!((0..400).all(|row| all.contains(row) == rows.contains(&row)));
            let mut copied = SparseRows::default();
            all.words().for_each(|(position, word)| copied.push_word(position, word));
            prop_assert!(copied.rows().eq(rows.iter().copied()));
        }
    }
}
