//! Partition refinement: groups of rows that agree in some attributes.

use rustc_hash::FxHashMap;

/// A partition of rows into groups, refined by splitting.
pub struct Partition {
    /// The group of each row, or [`NO_GROUP`].
    group_of: Vec<u32>,
    /// The first row of each group.
    first_rows: Vec<u32>,
}

/// Stands for the group of a row that is in no group.
const NO_GROUP: u32 = u32::MAX;

impl Partition {
    /// Creates a partition with all rows in one group.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Partition { group_of: vec![0; rows], first_rows: vec![0; rows.min(1)] }
    }

    /// Creates a partition with each row in a group of its own.
    #[must_use]
    pub fn discrete(rows: usize) -> Self {
        let numbers: Vec<u32> = (0..super::code::code(rows)).collect();
        Partition { group_of: numbers.clone(), first_rows: numbers }
    }

    /// Number of rows, including rows that are in no group.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.group_of.len()
    }

    /// Returns the group of a row; `None` if the row is in no group.
    #[must_use]
    pub fn group(&self, row: usize) -> Option<usize> {
        self.group_of.get(row).copied().filter(|group| *group != NO_GROUP).map(|group| group as usize)
    }

    /// Returns the group of each row. If rows left their groups, the slice has a number there that is not a group.
    #[must_use]
    pub fn groups(&self) -> &[u32] {
        &self.group_of
    }

    /// Returns the first row of each group.
    #[must_use]
    pub fn first_rows(&self) -> &[u32] {
        &self.first_rows
    }

    /// Splits every group, so that the rows of a group have the same code. Codes are less than `codes`. A row without a
    /// code leaves its group. O(n) in the number of rows, plus the clearing of a table of at most four entries per row.
    pub fn split(&mut self, codes: usize, code: impl Fn(usize) -> Option<u32>) {
        let mut known = GroupTable::new(self.first_rows.len().saturating_mul(codes), self.group_of.len());
        self.first_rows.clear();
        for (row, group) in self.group_of.iter_mut().enumerate().filter(|(_, group)| **group != NO_GROUP) {
            let Some(code) = code(row) else {
                *group = NO_GROUP;
                continue;
            };
            let next = u32::try_from(self.first_rows.len()).unwrap_or(NO_GROUP);
            *group = known.group_of(*group as usize * codes + code as usize, next);
            if *group == next {
                self.first_rows.push(u32::try_from(row).unwrap_or(NO_GROUP));
            }
        }
    }
}

/// The new group for each pair of an old group and a code. The two are combined into one number.
enum GroupTable {
    /// An array with an entry for each possible pair.
    Dense(Vec<u32>),
    /// A hash map with the pairs that occur. Used if far more pairs are possible than rows exist.
    Sparse(FxHashMap<usize, u32>),
}

impl GroupTable {
    /// Creates an empty table for `possible` pairs of a group and a code, of which at most `rows` occur.
    fn new(possible: usize, rows: usize) -> Self {
        if possible <= 4 * rows {
            GroupTable::Dense(vec![NO_GROUP; possible])
        } else {
            GroupTable::Sparse(FxHashMap::default())
        }
    }

    /// Returns the new group for a pair of an old group and a code, which are combined into `number`. A pair that has
    /// no new group yet gets the group `next`.
    fn group_of(&mut self, number: usize, next: u32) -> u32 {
        let known = match self {
            GroupTable::Dense(known) => &mut known[number],
            GroupTable::Sparse(known) => known.entry(number).or_insert(NO_GROUP),
        };
        if *known == NO_GROUP {
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
        assert_eq!(partition.first_rows(), [0, 1, 3]);
        assert_eq!(Partition::new(0).first_rows(), [0; 0]);
    }
}
