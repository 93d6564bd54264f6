//! Layout of tables at a given width.
//!
//! Words are never cut. Columns for which there is no room are dropped, with a note; if that does not suffice, each
//! row is written as a record, one line per column.

use std::fmt::Write;
use std::io::{self, IsTerminal};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

use super::diagnostics;
use super::terminal_text::is_hidden;
use crate::cli::render::alignment::left_aligned;

/// Number of blanks between two columns.
pub const COLUMN_GAP_CELLS: usize = 2;

/// Rows of texts with a header.
pub struct TableLayout {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Indexes of the columns that are aligned to the right.
    number_columns: Vec<usize>,
    /// Indexes of the columns that may be dropped for want of room, the first to be dropped first.
    expendable_columns: Vec<usize>,
    /// Indexes of the columns that are never shown.
    hidden_columns: Vec<usize>,
    pub with_header: bool,
}

impl TableLayout {
    /// Makes an empty table. By default, columns are dropped from the last to the third if the table is too wide. The
    /// first two stay, as they are the subject of a row and its result.
    pub fn new<H: AsRef<str>>(header: &[H]) -> Self {
        TableLayout {
            header: header.iter().map(|cell| without_controls(cell.as_ref())).collect(),
            rows: Vec::new(),
            number_columns: Vec::new(),
            expendable_columns: (2..header.len()).rev().collect(),
            hidden_columns: Vec::new(),
            with_header: true,
        }
    }

    /// Aligns these columns to the right.
    pub fn with_number_columns(mut self, columns: &[usize]) -> Self {
        self.number_columns = columns.to_vec();
        self
    }

    /// Sets the columns that may be dropped for want of room, the first to be dropped first.
    pub fn with_expendable_columns(mut self, columns: &[usize]) -> Self {
        self.expendable_columns = columns.to_vec();
        self
    }

    /// Hides a column always, because the column holds no information.
    pub fn hide_column(&mut self, column: usize) {
        self.hidden_columns.push(column);
    }

    /// Adds a row, with control characters in its cells replaced.
    pub fn push_row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(|cell| without_controls(cell.as_ref())).collect());
    }

    /// Returns the table as lines of at most `width` characters. With `None`, lines are as long as their cells need.
    pub fn render(&self, width: Option<usize>) -> String {
        let visible: Vec<usize> = (0..self.header.len()).filter(|at| !self.hidden_columns.contains(at)).collect();
        let mut columns = visible.clone();
        let Some(width) = width else { return self.render_table(&columns, &[], None) };
        let min_widths: Vec<usize> = (0..self.header.len()).map(|column| self.min_width(column)).collect();
        let fits = |columns: &[usize]| {
            columns.iter().map(|at| min_widths[*at] + COLUMN_GAP_CELLS).sum::<usize>() <= width + COLUMN_GAP_CELLS
        };
        for column in &self.expendable_columns {
            if fits(&columns) {
                break;
            }
            columns.retain(|at| at != column);
        }
        if fits(&columns) {
            self.render_table(&columns, &min_widths, Some(width))
        } else {
            self.render_records(&visible, width)
        }
    }

    /// Returns the number of characters of the longest word in a column. A narrower column would break this word.
    fn min_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let heading = self.header.get(column).filter(|_| self.with_header);
        cells.chain(heading).map(|cell| longest_word(cell)).max().unwrap_or_default()
    }

    fn render_table(&self, columns: &[usize], least: &[usize], width: Option<usize>) -> String {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        let cells = |width: usize| u16::try_from(width + COLUMN_GAP_CELLS).unwrap_or(u16::MAX);
        if let Some(width) = width {
            // comfy-table pads the last column, too. The given width includes this padding, which is trimmed below.
            table.set_width(cells(width));
        }
        if self.with_header {
            table.set_header(columns.iter().map(|at| self.cell(*at, &self.header[*at])));
        }
        for row in &self.rows {
            table.add_row(columns.iter().map(|at| self.cell(*at, row.get(*at).map_or("", String::as_str))));
        }
        for (at, column) in columns.iter().zip(table.column_iter_mut()) {
            column.set_padding((0, 2));
            if let Some(least) = least.get(*at) {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(cells(*least))));
            }
        }
        let mut text: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        let dropped = (0..self.header.len()).filter(|at| !columns.contains(at) && !self.hidden_columns.contains(at));
        let headings: Vec<&str> = dropped.map(|at| self.header[at].as_str()).collect();
        if !headings.is_empty() {
            let words = format!("(no room for: {})", headings.join(", "));
            diagnostics::push_words(&mut text, "", words.split(' ').map(str::to_owned), width.unwrap_or(usize::MAX));
        }
        text
    }

    fn cell(&self, column: usize, text: &str) -> Cell {
        let is_number = self.number_columns.contains(&column);
        Cell::new(text).set_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left })
    }

    /// Returns each row as a record: for each column a line with heading and cell, or several lines for a long cell.
    fn render_records(&self, columns: &[usize], width: usize) -> String {
        let headings = columns.iter().map(|at| self.header[*at].chars().count());
        let indent = if self.with_header { headings.max().unwrap_or_default() + COLUMN_GAP_CELLS } else { 0 };
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            text.push_str(if number > 0 { "\n" } else { "" });
            for at in columns {
                let (heading, cell) = (&self.header[*at], row.get(*at).map_or("", String::as_str));
                // A heading alone could be taken for that of the next line.
                let cell = if self.with_header && cell.is_empty() { "-" } else { cell };
                let longest = longest_word(cell);
                // If the longest word of the cell does not fit beside the heading, the cell is put below the heading.
                let (indent, heading) =
                    if self.with_header && indent + longest > width && longest + COLUMN_GAP_CELLS <= width {
                        let _ = writeln!(text, "{heading}");
                        (COLUMN_GAP_CELLS, "")
                    } else {
                        (indent, heading.as_str())
                    };
                let (mut lines, room) = (String::new(), width.saturating_sub(indent + 4));
                diagnostics::push_words(&mut lines, "", cell.split(' ').map(str::to_owned), room);
                for (place, line) in lines.lines().enumerate() {
                    let heading = if place == 0 && self.with_header { heading } else { "" };
                    let _ = writeln!(
                        text,
                        "{}",
                        format!("{}{}", left_aligned(heading, indent), line.trim_start()).trim_end()
                    );
                }
            }
        }
        text
    }
}

/// Number of characters of the longest word of a cell.
fn longest_word(cell: &str) -> usize {
    cell.split(' ').map(|word| word.chars().count()).max().unwrap_or_default()
}

/// Replaces control characters in a cell; on a terminal other hidden characters, too, so that columns are as wide as what
/// is seen.
fn without_controls(cell: &str) -> String {
    let is_hidden = |c: char| c.is_control() || is_hidden(c) && io::stdout().is_terminal();
    cell.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::TableLayout;

    fn grid() -> TableLayout {
        let mut grid = TableLayout::new(&["request", "offer", "rank", "what it says"]).with_number_columns(&[2]);
        grid.push_row(["job-1", "slot1@node-001.cluster.example.org", "1000", "some words of it"]);
        grid.push_row(["job-22", "slot1@b", "7", ""]);
        grid
    }

    /// Asserts that the rendered table contains every request and every offer of [`grid`] as an uncut word.
    fn has_all_words(text: &str) {
        for word in ["job-1", "slot1@node-001.cluster.example.org", "job-22", "slot1@b"] {
            assert!(text.split_whitespace().any(|found| found == word), "{word}: {text}");
        }
    }

    #[test]
    fn no_width_cuts_a_word() {
        for width in 20..120 {
            let text = grid().render(Some(width));
            has_all_words(&text);
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.max(48) && (longest <= width || width < 36), "{width}: {text}");
        }
    }

    #[test]
    fn what_does_not_fit_goes_then_rows_are_stacked() {
        assert_eq!(grid().render(Some(49)).lines().next(), Some("request  offer                               rank"));
        assert!(grid().render(Some(49)).ends_with("(no room for: what it says)\n"));
        let stacked = grid().render(Some(40));
        assert!(stacked.starts_with("request       job-1\noffer\n  slot1@node-001"), "{stacked}");
        assert!(stacked.contains("what it says  some words of it\n\nrequest       job-22\n"), "{stacked}");
        let wide = grid().render(None);
        assert_eq!(wide.lines().nth(2), Some("job-22   slot1@b                                7"));
        assert_eq!(TableLayout { with_header: false, ..grid() }.render(None).lines().count(), 2);
    }

    #[test]
    fn expendable_columns_go_in_their_order() {
        let text = grid().with_expendable_columns(&[2, 3]).render(Some(52));
        assert!(text.starts_with("request  offer                               what"), "{text}");
        assert!(text.ends_with("(no room for: rank)\n"), "{text}");
    }

    #[test]
    fn a_table_is_as_wide_as_its_words() {
        let mut table = TableLayout::new(&["a", "bb"]).with_number_columns(&[0]);
        table.push_row(["123", "x y"]);
        table.push_row(["4", ""]);
        let wide = "  a  bb\n123  x y\n  4\n";
        for (width, expected) in [
            (None, wide),
            (Some(20), wide),
            (Some(7), "  a  bb\n123  x\n     y\n  4\n"),
            // Two columns are not dropped.
            (Some(6), "a\n  123\nbb  x\n    y\n\na   4\nbb  -\n"),
        ] {
            assert_eq!(table.render(width), expected, "{width:?}");
        }
        table.hide_column(0);
        assert_eq!(table.render(None), "bb\nx y\n\n");
        table.with_header = false;
        assert_eq!(table.render(Some(80)), "x y\n\n");
    }

    #[test]
    fn rows_below_each_other_have_room_for_long_words() {
        let mut table = TableLayout::new(&["name", "b"]);
        table.push_row(["aaaaaaaaaa", "x"]);
        // The heading and two blanks stand beside a word, or two blanks stand before it.
        for (width, expected) in [
            (16, "name  aaaaaaaaaa\nb     x\n"),
            (12, "name\n  aaaaaaaaaa\nb     x\n"),
            (11, "name  aaaaaaaaaa\nb     x\n"),
        ] {
            assert_eq!(table.render_records(&[0, 1], width), expected, "{width}");
        }
        table.with_header = false;
        assert_eq!(table.render_records(&[0, 1], 12), "aaaaaaaaaa\nx\n");
    }

    #[test]
    fn control_characters_are_no_cells() {
        let mut table = TableLayout::new(&["a\n"]);
        table.push_row(["x\ty"]);
        assert_eq!(table.render(None), "a\u{fffd}\nx\u{fffd}y\n");
    }
}
