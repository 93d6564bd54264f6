//! Tables of what many ads have in common, such as a cause or a rule: how many ads have it, whose they are, what it is.

use classad::text::{counted, join_first, shorten, with_commas};
use indexmap::IndexMap;

use super::diagnostics;
use super::table::{COLUMN_GAP_CELLS, TableLayout};

/// Width of a table that no terminal shows, in characters.
const DEFAULT_WIDTH: usize = 100;

/// The option of commands that lists what their tables fold, and shows each finding.
pub const LIST_ALL: &str = "--list-all";

/// Maximum number of owners that a row names.
const MAX_NAMED_OWNERS: usize = 3;

/// Minimum width of the names of owners, in characters, for which there is always room.
const MIN_OWNERS_CHARS: usize = 24;

/// Minimum width of the last column, in characters. Without room for it, the first rows have their remarks below them.
const MIN_LAST_CHARS: usize = 24;

/// Maximum number of rows of a table whose small rows are all listed: with its heading it has at most 25 lines.
const MAX_UNFOLDED_ROWS: usize = 20;

/// Maximum number of rows of a table that is folded.
const MAX_FOLDED_ROWS: usize = 18;

/// Maximum number of lines of a table whose texts go on in further lines. In a longer one, each row has one line.
const MAX_WRAPPED_LINES: usize = 24;

/// Maximum number of lines of a table of one line a row, with the remarks below its first rows.
const MAX_LINES_WITH_REMARKS: usize = 22;

/// Names, such as those of owners, with their numbers of ads.
#[derive(Default)]
pub struct NameCounts(IndexMap<String, usize>);

impl NameCounts {
    /// Adds ads to those of a name.
    pub fn add(&mut self, name: String, ads: usize) {
        let known = self.0.entry(name).or_default();
        *known = known.saturating_add(ads);
    }

    /// Number of names.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the names, those with the most ads first. Of names with equal numbers, the one that was added first is first.
    pub fn names(&self) -> Vec<&str> {
        let mut owners: Vec<(&String, &usize)> = self.0.iter().collect();
        owners.sort_by(|one, other| other.1.cmp(one.1));
        owners.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Names the first owners and counts the others: as many names as `room` characters have room for.
    fn phrase(&self, room: usize) -> String {
        let names = self.names();
        let mut phrases = (1..=MAX_NAMED_OWNERS).rev().map(|most| join_first(&names, names.len(), most));
        let fits = |text: &String| text.chars().count() <= room;
        let last = || match names.as_slice() {
            [] => String::new(),
            [only] => shorten(only, room),
            _ => counted(names.len(), "owner"),
        };
        phrases.find(fits).unwrap_or_else(last)
    }
}

/// A row of a table.
pub struct TallyRow {
    /// Number of ads.
    pub count: usize,
    pub owners: NameCounts,
    /// What the ads have in common.
    pub label: String,
    /// What else there is to say. It is cut to the width of the table.
    pub remark: String,
}

impl TallyRow {
    /// Returns the cells of the row, without its owners.
    fn cells(&self) -> [String; 4] {
        [with_commas(self.count), String::new(), self.label.clone(), self.remark.clone()]
    }
}

/// A table of what ads have in common.
pub struct TallyTable<'t> {
    /// The noun for the ads, singular.
    pub noun: &'t str,
    /// The nouns for what they have in common, and for what else there is to say.
    pub titles: [&'t str; 2],
    /// The rows, those with the most ads first.
    pub rows: Vec<TallyRow>,
    /// Rows that stand at the end, whatever their numbers are.
    pub last_rows: Vec<TallyRow>,
    /// Whether each ad is in one row only.
    pub is_partition: bool,
}

/// Returns the width that tables keep: that of the terminal, or of a page.
pub fn width() -> usize {
    diagnostics::table_width().unwrap_or(DEFAULT_WIDTH)
}

/// Returns the number of rows that a table of so many rows lists, if it folds small ones.
pub fn unfolded_rows(rows: usize) -> usize {
    if rows <= MAX_UNFOLDED_ROWS { rows } else { MAX_FOLDED_ROWS }
}

impl TallyTable<'_> {
    /// Returns the table as text. The rows behind the first `listed` are counted in one line. Long texts go on in further
    /// lines if there are few of these. Otherwise each row has one line.
    pub fn render(&self, listed: usize) -> String {
        let listed = listed.min(self.rows.len());
        let shown: Vec<&TallyRow> = self.rows[..listed].iter().chain(&self.last_rows).collect();
        let wrapped = self.lines(&shown, true);
        let is_short = wrapped.lines().count() <= MAX_WRAPPED_LINES;
        let table = if is_short { wrapped } else { self.lines(&shown, false) };
        table + &self.rest_line(&self.rows[listed..])
    }

    /// Returns the heading and the rows. With `wraps`, long texts go on in further lines.
    fn lines(&self, shown: &[&TallyRow], wraps: bool) -> String {
        if shown.is_empty() {
            return String::new();
        }
        let width = width();
        let mut cells: Vec<[String; 4]> = shown.iter().map(|row| row.cells()).collect();
        let room = width.saturating_sub(self.width_of(&cells, &[0, 2])).max(MIN_OWNERS_CHARS);
        cells.iter_mut().zip(shown).for_each(|(row, shown)| row[1] = shown.owners.phrase(room));
        let is_empty = |column: &usize| cells.iter().all(|row| row[*column].is_empty());
        let mut hidden: Vec<usize> = [1, 3].into_iter().filter(is_empty).collect();
        let fixed: Vec<usize> = (0..3).filter(|column| !hidden.contains(column)).collect();
        let room = width.saturating_sub(self.width_of(&cells, &fixed));
        let has_remarks_below = !wraps && room < MIN_LAST_CHARS;
        if has_remarks_below {
            hidden.push(3);
        } else if !wraps {
            for row in &mut cells {
                row[3] = shorten(&row[3], room);
            }
        }
        let indent = self.width_of(&cells, &[0]);
        let visible: Vec<usize> = (0..4).filter(|column| !hidden.contains(column)).collect();
        let fits = self.width_of(&cells, &visible) <= width + COLUMN_GAP_CELLS;
        let header = self.header();
        let header = header.each_ref().map(String::as_str);
        let mut layout = TableLayout::new(&header).with_number_columns(&[0]).with_expendable_columns(&[1]);
        for column in hidden {
            layout.hide_column(column);
        }
        for row in cells {
            layout.push_row(row);
        }
        let table = layout.render(Some(width).filter(|_| !fits));
        if has_remarks_below && fits { self.with_remarks(&table, shown, indent) } else { table }
    }

    /// Returns a table with the remarks of its first rows below them, as many as there is room for.
    fn with_remarks(&self, table: &str, shown: &[&TallyRow], indent: usize) -> String {
        let mut left = MAX_LINES_WITH_REMARKS.saturating_sub(table.lines().count());
        let remarks = [""].into_iter().chain(shown.iter().map(|row| row.remark.as_str()));
        let mut lines: Vec<String> = Vec::new();
        for (line, remark) in table.lines().zip(remarks) {
            lines.push(line.to_owned());
            if left > 0 && !remark.is_empty() {
                left -= 1;
                let remark = shorten(&format!("{}: {remark}", self.titles[1]), width().saturating_sub(indent));
                lines.push(" ".repeat(indent) + &remark);
            }
        }
        lines.join("\n") + "\n"
    }

    /// Returns the names of the columns.
    fn header(&self) -> [String; 4] {
        let [label, remark] = self.titles.map(str::to_owned);
        [format!("{}s", self.noun), "owners".to_owned(), label, remark]
    }

    /// Returns the width that some columns need, each with the gap behind it.
    fn width_of(&self, cells: &[[String; 4]], columns: &[usize]) -> usize {
        let header = self.header();
        let width_of = |column: &usize| {
            let texts = cells.iter().map(|row| row[*column].as_str()).chain([header[*column].as_str()]);
            texts.map(|text| text.chars().count()).max().unwrap_or_default() + COLUMN_GAP_CELLS
        };
        columns.iter().map(width_of).sum()
    }

    /// Counts the rows that are not listed, in one line.
    fn rest_line(&self, rest: &[TallyRow]) -> String {
        let (Some(largest), Some(smallest)) = (rest.first(), rest.last()) else { return String::new() };
        let ads = rest.iter().fold(0_usize, |ads, row| ads.saturating_add(row.count));
        let each = match (smallest.count, largest.count) {
            (least, most) if least == most => counted(least, self.noun),
            (least, most) if least + 1 == most => format!("{least} or {}", counted(most, self.noun)),
            (least, most) => format!("{least} to {}", counted(most, self.noun)),
        };
        let rows = counted(rest.len(), &format!("more {}", self.titles[0]));
        let all = if self.is_partition { format!(", {} in all", counted(ads, self.noun)) } else { String::new() };
        format!("{rows} with {each} each{all} ({LIST_ALL} lists them)\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{NameCounts, TallyRow, TallyTable, unfolded_rows};

    fn owners(names: &[(&str, usize)]) -> NameCounts {
        let mut owners = NameCounts::default();
        for (name, ads) in names {
            owners.add((*name).to_owned(), *ads);
        }
        owners
    }

    #[test]
    fn owners_with_the_most_ads_are_named_first() {
        for (names, expected) in [
            (&[][..], ""),
            (&[("ann", 1)], "ann"),
            (&[("ann", 1), ("bob", 5)], "bob and ann"),
            (&[("ann", 1), ("bob", 1), ("cid", 1), ("dan", 2), ("eve", 1)], "dan, ann, bob and 2 more"),
            (&[("a-very-long-name", 3), ("another-long-name", 2), ("c", 1)], "a-very-long-name and 2 more"),
            (&[("a-name-of-more-than-thirty-letters", 3), ("b", 2)], "2 owners"),
            (&[("a-name-of-more-than-thirty-letters", 3)], "a-name-of-more-than-thirty-..."),
        ] {
            assert_eq!(owners(names).phrase(30), expected, "{names:?}");
        }
    }

    #[test]
    fn rows_of_long_tables_are_folded() {
        for (rows, expected) in [(0, 0), (3, 3), (20, 20), (21, 18), (80, 18)] {
            assert_eq!(unfolded_rows(rows), expected, "{rows}");
        }
    }

    #[test]
    fn a_table_keeps_its_width() {
        let row = |count: usize, label: &str, remark: &str| TallyRow {
            count,
            owners: owners(&[("ann", 2), ("bob", 1)]),
            label: label.to_owned(),
            remark: remark.to_owned(),
        };
        let long = "a remark that says more than there is room for in a table of one hundred columns, much more";
        let table = |label: &str| TallyTable {
            noun: "job",
            titles: ["cause", "what would help"],
            rows: vec![row(1200, label, long), row(2, "small", ""), row(1, "small, too", "")],
            last_rows: vec![row(7, "does not wait", "")],
            is_partition: true,
        };
        let rows = table("short");
        let shown: Vec<&TallyRow> = rows.rows[..1].iter().chain(&rows.last_rows).collect();
        let expected = " jobs  owners       cause          what would help\n\
                        1,200  ann and bob  short          a remark that says more than there is room for in a table of o...\n\
                        \x20   7  ann and bob  does not wait\n";
        assert_eq!(rows.lines(&shown, false), expected);
        let text = rows.render(1);
        assert!(text.contains("much more") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let rest = "2 more causes with 1 or 2 jobs each, 3 jobs in all (--list-all lists them)\n";
        assert!(text.ends_with(rest), "{text}");
        // Many rows have one line each.
        let mut rows = table(&"x".repeat(60));
        for _ in 0..20 {
            rows.rows.push(row(1, "another", long));
        }
        let text = rows.render(23);
        assert!(text.lines().all(|line| line.chars().count() <= 100) && !text.contains("help"), "{text}");
        assert_eq!(text.lines().count(), 25);
        // What would help stands below the first rows.
        let text = rows.render(18);
        let below =
            "\n       what would help: a remark that says more than there is room for in a table of one hundred ...\n";
        assert_eq!((text.lines().count(), text.matches(below).count()), (23, 2), "{text}");
    }

    #[test]
    fn rows_that_are_not_listed_are_counted() {
        let row = |count: usize| TallyRow { count, owners: owners(&[]), label: "a".to_owned(), remark: String::new() };
        for (counts, is_partition, expected) in [
            (&[][..], true, ""),
            (&[1], true, "1 more cause with 1 job each, 1 job in all (--list-all lists them)\n"),
            (&[1, 1], true, "2 more causes with 1 job each, 2 jobs in all (--list-all lists them)\n"),
            (&[3, 3], false, "2 more causes with 3 jobs each (--list-all lists them)\n"),
            (&[2, 1], true, "2 more causes with 1 or 2 jobs each, 3 jobs in all (--list-all lists them)\n"),
            (&[3, 2, 1], true, "3 more causes with 1 to 3 jobs each, 6 jobs in all (--list-all lists them)\n"),
            (&[1200, 1], false, "2 more causes with 1 to 1,200 jobs each (--list-all lists them)\n"),
        ] {
            let table = TallyTable {
                noun: "job",
                titles: ["cause", "what"],
                rows: Vec::new(),
                last_rows: Vec::new(),
                is_partition,
            };
            let rest: Vec<TallyRow> = counts.iter().map(|count| row(*count)).collect();
            assert_eq!(table.rest_line(&rest), expected);
            assert_eq!(TallyTable { rows: rest, ..table }.render(0), expected);
        }
    }

    #[test]
    fn empty_columns_are_left_out() {
        let row = |owner: &[(&str, usize)], remark: &str| TallyRow {
            count: 2,
            owners: owners(owner),
            label: "a b".to_owned(),
            remark: remark.to_owned(),
        };
        let ann = [("ann", 2)];
        for (rows, expected) in [
            (vec![row(&[], "")], "jobs  cause\n   2  a b\n"),
            (vec![row(&ann, "")], "jobs  owners  cause\n   2  ann     a b\n"),
            (vec![row(&[], "c")], "jobs  cause  what\n   2  a b    c\n"),
            (vec![row(&ann, "c")], "jobs  owners  cause  what\n   2  ann     a b    c\n"),
            (
                vec![row(&[], ""), row(&ann, "c")],
                "jobs  owners  cause  what\n   2          a b\n   2  ann     a b    c\n",
            ),
        ] {
            let listed = rows.len();
            let table =
                TallyTable { noun: "job", titles: ["cause", "what"], rows, last_rows: Vec::new(), is_partition: false };
            assert_eq!(table.render(listed), expected);
            assert_eq!(table.render(listed + 1), expected);
        }
    }
}
