//! Writer of rows under a print mask.

use std::io::{self, Write};

use super::{MaskCell, MaskColumn, PrintMask};
use crate::cli::render::alignment::left_aligned;

/// Writes rows under a print mask. If no width depends on the rows, writes each row at once. Else writes all rows at
/// the end.
pub struct PrintMaskWriter<'m> {
    mask: &'m PrintMask,
    rows: Vec<Vec<MaskCell>>,
}

impl<'m> PrintMaskWriter<'m> {
    pub fn new(mask: &'m PrintMask) -> Self {
        PrintMaskWriter { mask, rows: Vec::new() }
    }

    pub fn write(&mut self, out: &mut dyn Write, row: Vec<MaskCell>) -> io::Result<()> {
        if self.mask.has_heading || self.mask.columns.iter().any(|column| column.fits_cells) {
            self.rows.push(row);
            return Ok(());
        }
        let widths: Vec<usize> = self.mask.columns.iter().map(|column| column.width).collect();
        self.write_row(out, &row, &widths)
    }

    /// Writes the heading and the rows that waited for the column widths. `after_heading` is written after the heading.
    pub fn finish(&self, out: &mut dyn Write, after_heading: &str) -> io::Result<()> {
        let column = |(index, column): (usize, &MaskColumn)| column.width_with(self.rows.iter().map(|row| &row[index]));
        let widths: Vec<usize> = self.mask.columns.iter().enumerate().map(column).collect();
        if self.mask.has_heading {
            let cell = |(column, width): (&MaskColumn, &usize)| left_aligned(&column.heading, *width);
            self.write_line(out, self.mask.columns.iter().zip(&widths).map(cell), false)?;
            out.write_all(after_heading.as_bytes())?;
        }
        self.rows.iter().try_for_each(|row| self.write_row(out, row, &widths))
    }

    fn write_row(&self, out: &mut dyn Write, row: &[MaskCell], widths: &[usize]) -> io::Result<()> {
        let columns = self.mask.columns.iter();
        let cells = columns.zip(row).zip(widths).map(|((column, cell), width)| column.padded(cell, *width));
        self.write_line(out, cells, self.mask.trims_rows)
    }

    fn write_line(&self, out: &mut dyn Write, cells: impl Iterator<Item = String>, is_trimmed: bool) -> io::Result<()> {
        let PrintMask { columns, separators, .. } = self.mask;
        let mut line = separators.before_row.clone();
        for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
            if index > 0 && column.has_prefix {
                line.push_str(&separators.before);
            }
            line.push_str(&cell);
            if index + 1 < columns.len() && column.has_suffix {
                line.push_str(&separators.after);
            }
        }
        if is_trimmed {
            line.truncate(line.trim_end().len());
        }
        line.push_str(&separators.after_row);
        out.write_all(line.as_bytes())
    }
}
