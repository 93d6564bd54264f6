//! Partition refinement: groups of rows that some attributes do not tell apart.

use rustc_hash::FxHashMap;

/// A partition of rows into groups, refined by splitting.
pub struct Partition {
    /// For each row its group, or [`NONE`].
    of: Vec<u32>,
    /// For each group its first row.
    first: Vec<u32>,
}

/// Marks a row that is in no group.
const NONE: u32 = u32::MAX;

impl Partition {
    /// Creates a partition with all rows in one group.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Partition { of: vec![0; rows], first: vec![0; rows.min(1)] }
    }

    /// Number of rows, in groups or not.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.of.len()
    }

    /// Returns the group of a row; `None` if it is in no group.
    #[must_use]
    pub fn group(&self, row: usize) -> Option<usize> {
        self.of.get(row).copied().filter(|group| *group != NONE).map(|group| group as usize)
    }

    /// For each group its first row.
    #[must_use]
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// Splits every group by the codes of its rows, which are below `codes`; a row without a code leaves its group.
    /// O(n) in the number of rows, plus the clearing of a table of at most four entries per row.
    pub fn split(&mut self, codes: usize, code: impl Fn(usize) -> Option<u32>) {
        let mut known = Known::new(self.first.len().saturating_mul(codes), self.of.len());
        self.first.clear();
        for (row, group) in self.of.iter_mut().enumerate().filter(|(_, group)| **group != NONE) {
            let Some(code) = code(row) else {
                *group = NONE;
                continue;
            };
            let next = u32::try_from(self.first.len()).unwrap_or(NONE);
            *group = known.of(*group as usize * codes + code as usize, next);
            if *group == next {
                self.first.push(u32::try_from(row).unwrap_or(NONE));
            }
        }
    }
}

/// Maps a pair of an old group and a code, as one number, to the new group.
enum Known {
    /// An array over all possible pairs.
    All(Vec<u32>),
    /// A hash map, if far more pairs are possible than rows exist.
    Some(FxHashMap<usize, u32>),
}

impl Known {
    /// Creates an empty table for a number of possible pairs and of rows.
    fn new(possible: usize, rows: usize) -> Self {
        if possible <= 4 * rows { Known::All(vec![NONE; possible]) } else { Known::Some(FxHashMap::default()) }
    }

    /// Returns the group of a pair, which is `next` if the pair is new.
    fn of(&mut self, number: usize, next: u32) -> u32 {
        let known = match self {
            Known::All(known) => &mut known[number],
            Known::Some(known) => known.entry(number).or_insert(NONE),
        };
        if *known == NONE {
            *known = next;
        }
        *known
    }
}

#[cfg(test)]
mod tests {
    use super::Partition;

    #[test]
    fn groups_are_split_by_every_code() {
        let mut partition = Partition::new(6);
        partition.split(2, |row| Some(u32::from(row >= 3)));
        partition.split(1000, |row| (row != 4).then_some(u32::from(row % 2 == 0) * 999));
        let groups: Vec<Option<usize>> = (0..7).map(|row| partition.group(row)).collect();
        assert_eq!(groups, [Some(0), Some(1), Some(0), Some(2), None, Some(2), None]);
        assert_eq!(partition.first(), [0, 1, 3]);
        assert_eq!(Partition::new(0).first(), [0; 0]);
    }
}
