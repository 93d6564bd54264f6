//! Output of a table: collects the records of ads, then prints the title, the rows and the totals.

use std::io::{self, Write};

use classad::ad::Value;
use classad::eval::Context;

use super::ad_table::{AdTable, TableRecord};
use super::batches::{HELD_COLUMN, batch_rows};
use super::dag_nodes::sort_by_dag;
use super::job_facts::JobCounts;
use super::machine_rows::machine_rows;
use super::slot_totals::AdTotals;
use super::{RowGrouping, TableSubject};
use crate::cli::commands::query::format_string::FormatString;
use crate::cli::commands::query::print_format::{FormatSummary, WidthRule, read_print_format};
use crate::cli::commands::query::print_mask::{MaskCell, MaskValues, PrintMask, PrintMaskWriter};
use crate::cli::commands::query::units;
use classad::query::compare_values;
use classad::query::{AdLookup, to_text};

/// The output of a table.
pub struct TableOutput<'t> {
    table: &'t AdTable,
    records: Vec<TableRecord>,
}

impl<'t> TableOutput<'t> {
    pub fn new(table: &'t AdTable) -> Self {
        TableOutput { table, records: Vec::new() }
    }

    pub fn add(&mut self, record: TableRecord) {
        self.records.push(record);
    }

    /// Prints the table of the first ads, `limit` at most. `now` is the time in the title if no job tells the access
    /// point's.
    pub fn finish(&mut self, out: &mut dyn Write, context: &Context, limit: usize, now: i64) -> io::Result<()> {
        self.sort();
        self.records.truncate(limit);
        let table = self.table;
        let mut mask = table.format.mask.clone();
        mask.trims_rows = table.subject == TableSubject::Jobs && !table.is_custom;
        let mut counts = JobCounts::default();
        self.records.iter().filter_map(|record| record.job.as_ref()).for_each(|job| counts.add(job));
        if table.subject == TableSubject::Jobs && table.format.has_title {
            let times = self.records.iter().filter_map(|record| record.job.as_ref()).map(|job| job.server_time);
            let time = times.into_iter().find(|time| *time != 0).unwrap_or(now);
            writeln!(out, "\n\n-- {} @ {}", table.title, units::title_time(time))?;
        }
        if table.subject == TableSubject::Slots && self.records.is_empty() {
            return Ok(());
        }
        if !table.is_totals_only {
            let rows = self.rows(&mut mask);
            write_rows(out, &mask, &rows, if self.has_gap() { "\n" } else { "" })?;
        }
        match table.subject {
            TableSubject::Jobs => write_job_summary(out, table, &counts, context),
            TableSubject::Slots => self.write_slot_totals(out),
        }
    }

    /// Whether a blank line stands between the heading and the rows: in the tables of slots.
    fn has_gap(&self) -> bool {
        self.table.subject == TableSubject::Slots && !self.table.is_custom
    }

    fn sort(&mut self) {
        let keys = &self.table.order;
        match self.table.subject {
            TableSubject::Jobs => self.records.sort_by(|a, b| {
                let id = |record: &TableRecord| record.job.as_ref().map(super::JobFacts::id);
                compare_values(keys, &a.order, &b.order).then_with(|| id(a).cmp(&id(b)))
            }),
            TableSubject::Slots => self.records.sort_by(|a, b| compare_values(keys, &a.order, &b.order)),
        }
    }

    /// Returns the rows, and adapts the columns of the mask to them.
    fn rows(&mut self, mask: &mut PrintMask) -> Vec<MaskValues> {
        match self.table.grouping {
            RowGrouping::None => {}
            RowGrouping::Batches => {
                let (mut rows, is_any_held) = batch_rows(&self.records, self.table.is_partial);
                if let Some(column) = mask.columns.last_mut() {
                    // The ids of the batch take the place of the function's value.
                    column.function = None;
                    column.format = FormatString::parse("%s").ok();
                }
                if rows.is_empty() {
                    // HTCondor's column of names is wider as long as there is none.
                    mask.columns[1].width = 12;
                    return rows;
                }
                widen_owners(mask, &rows, &self.records);
                if !is_any_held {
                    mask.columns.remove(HELD_COLUMN);
                    for row in &mut rows {
                        row.remove(HELD_COLUMN);
                    }
                }
                return rows;
            }
            RowGrouping::DagNodes => self.records = sort_by_dag(std::mem::take(&mut self.records)),
            RowGrouping::Machines => {
                // As in HTCondor, columns fit all slots.
                let cells: Vec<Vec<MaskCell>> = self.records.iter().map(|record| mask.cells(&record.values)).collect();
                for (index, column) in mask.columns.iter_mut().enumerate() {
                    column.width = column.width_with(cells.iter().map(|row| &row[index]));
                }
                return machine_rows(&self.records);
            }
        }
        self.records.iter_mut().map(|record| std::mem::take(&mut record.values)).collect()
    }

    fn write_slot_totals(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(style) = self.table.standard.totals.filter(|_| self.table.has_totals) else { return Ok(()) };
        let mut totals = AdTotals::default();
        let entries = || self.records.iter().flat_map(|record| &record.totals);
        entries().for_each(|entry| totals.add(entry));
        let is_named = self.table.grouping == RowGrouping::Machines;
        let names = entries().filter_map(|entry| entry.name.as_ref()).map(|name| name.chars().count());
        writeln!(out)?;
        totals.write(out, style, if is_named { names.max().unwrap_or(0) } else { 0 })?;
        // HTCondor leaves room for what it says about GPUs only if it is asked for it.
        if self.records.iter().any(|record| record.has_gpus) { writeln!(out) } else { Ok(()) }
    }
}

/// Writes the rows; `gap` is written after the heading.
fn write_rows(out: &mut dyn Write, mask: &PrintMask, rows: &[MaskValues], gap: &str) -> io::Result<()> {
    if mask.columns.is_empty() {
        return Ok(());
    }
    let mut writer = PrintMaskWriter::new(mask);
    for row in rows {
        writer.write(out, mask.cells(row))?;
    }
    writer.finish(out, gap)
}

/// Widens the column of owners if the owners in the rows are narrower than the widest one of all jobs, or than the
/// heading, as HTCondor does.
fn widen_owners(mask: &mut PrintMask, rows: &[MaskValues], records: &[TableRecord]) {
    const MIN_WIDTH: usize = 8;
    let width_of = |values: &MaskValues| values[0].as_ref().and_then(to_text).map_or(0, |owner| owner.chars().count());
    let widest = rows.iter().map(width_of).max().unwrap_or(0);
    let widest_of_all = records.iter().map(|record| width_of(&record.values)).max().unwrap_or(0);
    if let Some(column) = mask.columns.first_mut().filter(|column| widest < column.width.max(widest_of_all)) {
        column.width = MIN_WIDTH.max(widest);
    }
}

fn write_job_summary(out: &mut dyn Write, table: &AdTable, counts: &JobCounts, context: &Context) -> io::Result<()> {
    let format;
    let mask = match &table.format.summary {
        FormatSummary::Nothing => return Ok(()),
        FormatSummary::Columns(mask) => mask,
        FormatSummary::Standard => {
            format = read_print_format(include_str!("formats/job-summary"), context.dialect, WidthRule::Cuts)
                .unwrap_or_default();
            &format.mask
        }
    };
    if !table.is_totals_only {
        writeln!(out)?;
    }
    let ad = counts.to_ad();
    let values: Vec<Option<Value>> = mask.values(&mut AdLookup::new(&ad, context));
    write_rows(out, mask, &[values], "")?;
    writeln!(out)
}
