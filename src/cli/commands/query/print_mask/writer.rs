//! Writer of rows under a print mask.

use std::io::{self, Write};

use super::PrintMask;
use crate::cli::render::rows::TableCell;

/// Writes rows under a print mask. Without headings, writes each row at once. With headings, writes all rows at the
/// end, because the column widths depend on all rows.
pub struct PrintMaskWriter<'m> {
    mask: &'m PrintMask,
    rows: Vec<Vec<TableCell>>,
}

impl<'m> PrintMaskWriter<'m> {
    pub fn new(mask: &'m PrintMask) -> Self {
        PrintMaskWriter { mask, rows: Vec::new() }
    }

    pub fn write(&mut self, out: &mut dyn Write, row: Vec<TableCell>) -> io::Result<()> {
        if self.mask.has_heading {
            self.rows.push(row);
            return Ok(());
        }
        self.line(out, row.iter().map(|cell| cell.text.as_str()), &[])
    }

    /// Writes the headings and the rows that waited for the column widths.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.mask.has_heading {
            return Ok(());
        }
        let headings = || self.mask.columns.iter().map(|column| column.heading.as_str());
        let mut widths: Vec<usize> = headings().map(width).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = width(&cell.text).max(*widest);
            }
        }
        self.line(out, headings(), &widths)?;
        self.rows.iter().try_for_each(|row| self.line(out, row.iter().map(|cell| cell.text.as_str()), &widths))
    }

    fn line<'c>(
        &self,
        out: &mut dyn Write,
        cells: impl ExactSizeIterator<Item = &'c str>,
        widths: &[usize],
    ) -> io::Result<()> {
        let PrintMask { before_row, after_row, before, after, .. } = self.mask;
        let last = cells.len() - 1;
        out.write_all(before_row.as_bytes())?;
        for (index, cell) in cells.enumerate() {
            let before = if index == 0 { "" } else { before };
            let after = if index == last { "" } else { after };
            let blanks = widths.get(index).map_or(0, |widest| widest.saturating_sub(width(cell)));
            write!(out, "{before}{cell}{:blanks$}{after}", "")?;
        }
        out.write_all(after_row.as_bytes())
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}
