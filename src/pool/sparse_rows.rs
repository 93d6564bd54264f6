//! Sets of rows that are looked through again and again for those that are left.

use fixedbitset::FixedBitSet;

/// Rows, as the words of a bit set in which one of them is: a few make few words, and many are told 64 at once.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Positions of words, ascending, and what they are.
    words: Vec<(u32, usize)>,
}

impl Rows {
    /// Adds a row behind all others.
    pub fn push(&mut self, row: usize) {
        let (position, bit) = (super::code(row / WORD), 1 << (row % WORD));
        match self.words.last_mut() {
            Some((last, word)) if *last == position => *word |= bit,
            _ => self.words.push((position, bit)),
        }
    }

    /// Those of them that are in a set, ascending.
    pub fn within<'r>(&'r self, set: &'r FixedBitSet) -> impl Iterator<Item = usize> + 'r {
        let set = set.as_slice();
        let left = move |(position, word): &(u32, usize)| {
            let position = *position as usize;
            Ones { word: word & set.get(position).copied().unwrap_or(0), first: position * WORD }
        };
        self.words.iter().flat_map(left)
    }
}

impl FromIterator<usize> for Rows {
    /// These rows, which ascend.
    fn from_iter<I: IntoIterator<Item = usize>>(ascending: I) -> Self {
        let mut rows = Rows::default();
        ascending.into_iter().for_each(|row| rows.push(row));
        rows
    }
}

/// Bits in a word of a bit set.
const WORD: usize = usize::BITS as usize;

/// The rows of a word.
struct Ones {
    word: usize,
    /// The row of its first bit.
    first: usize,
}

impl Iterator for Ones {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let bit = self.word.trailing_zeros() as usize;
        (self.word != 0).then(|| {
            self.word &= self.word - 1;
            self.first + bit
        })
    }
}

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;
    use proptest::prelude::*;

    use super::Rows;

    proptest! {
        #[test]
        fn within_a_set_are_those_that_are_in_both(
            rows in proptest::collection::btree_set(0..300_usize, 0..40),
            set in proptest::collection::btree_set(0..200_usize, 0..100),
        ) {
            let bits: FixedBitSet = set.iter().copied().collect();
            let found: Vec<usize> = rows.iter().copied().collect::<Rows>().within(&bits).collect();
            prop_assert_eq!(found, rows.intersection(&set).copied().collect::<Vec<_>>());
        }
    }
}
