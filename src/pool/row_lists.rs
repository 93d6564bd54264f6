//! Rows by code.

use super::code::code;

/// For each code the rows that have it, ascending: the posting lists of a column, or the rows of classes.
pub struct RowLists {
    /// Position in `rows` at which each code begins, followed by the end of the last one.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl RowLists {
    /// Lists the rows. `of_rows` has the code of each row, which is less than `codes`; `None` for a row in no list.
    pub fn new(codes: usize, of_rows: impl Iterator<Item = Option<u32>> + Clone) -> Self {
        let mut starts = vec![0; codes + 1];
        for code in of_rows.clone().flatten() {
            starts[code as usize + 1] += 1;
        }
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let (mut next, mut rows) = (starts.clone(), vec![0; starts[codes] as usize]);
        for (row, own) in of_rows.enumerate() {
            let Some(own) = own else { continue };
            let at = &mut next[own as usize];
            rows[*at as usize] = code(row);
            *at += 1;
        }
        RowLists { starts, rows }
    }

    /// Returns the rows of a code.
    #[must_use]
    pub fn rows(&self, code: u32) -> &[u32] {
        &self.rows[self.starts[code as usize] as usize..self.starts[code as usize + 1] as usize]
    }
}
