//! Numbers of offers: a row stands for all offers that share one ad in memory.

use fixedbitset::FixedBitSet;

use crate::pool::bit_rows;

/// The number of offers of each row.
pub struct RowWeights {
    weights: Box<[usize]>,
    /// Whether each row has one offer, so that counting rows counts offers.
    is_uniform: bool,
}

impl RowWeights {
    pub fn new(weights: Vec<usize>) -> Self {
        RowWeights { is_uniform: weights.iter().all(|weight| *weight == 1), weights: weights.into() }
    }

    /// Returns the number of offers of each row.
    pub fn to_vec(&self) -> Vec<usize> {
        self.weights.to_vec()
    }

    /// Number of offers of a row.
    pub fn of_row(&self, row: usize) -> usize {
        self.weights[row]
    }

    /// Number of offers of some rows.
    pub fn of_rows(&self, rows: impl IntoIterator<Item = usize>) -> usize {
        rows.into_iter().map(|row| self.weights[row]).sum()
    }

    /// Number of offers of a set of rows.
    pub fn of_set(&self, rows: &FixedBitSet) -> usize {
        self.of_words(rows.as_slice().iter().copied().enumerate())
    }

    /// Number of offers of the rows in both sets.
    pub fn of_intersection(&self, rows: &FixedBitSet, others: &FixedBitSet) -> usize {
        let words = rows.as_slice().iter().zip(others.as_slice()).map(|(word, other)| word & other);
        self.of_words(words.enumerate())
    }

    /// Number of offers of the rows in some words of a bit set. Each word comes with its position in the set.
    pub fn of_words(&self, words: impl Iterator<Item = (usize, usize)>) -> usize {
        if self.is_uniform {
            return words.map(|(_, word)| word.count_ones() as usize).sum();
        }
        self.of_rows(words.flat_map(|(position, word)| bit_rows(position, word)))
    }
}
