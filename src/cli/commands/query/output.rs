//! Output of `query`: turns the findings of the scan into ads, rows, counts or groups.

use std::collections::HashSet;
use std::io::Write;

use classad::ad::{Ad, Expression};
use classad::eval::{Context, Environment, Reference, external_references};
use classad::syntax::print_name;

use super::QueryCommand;
use super::columns::{Columns, Row, default_columns};
use super::groups::{GroupColumns, GroupedAds};
use super::print_mask::PrintMaskWriter;
use super::scan::{NeededPart, ScanFinding};
use super::sort::SortedItems;
use super::tables::TableOutput;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source::SourceText;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{AdWriter, BufferedStdout, OutputForm, out};
use crate::cli::render::parquet::{ColumnType, ParquetWriter};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::{Session, current_time};

/// Output of a query. Takes ads and rows as the scan finds them, and prints them at once or at the end.
pub struct QueryOutput<'q> {
    query: &'q QueryCommand,
    columns: &'q Columns,
    constraint: &'q Expression,
    context: Context,
    out: BufferedStdout,
    mode: OutputMode<'q>,
    /// Ads and rows that wait for the end of the scan, because of `--sort` or because the default columns depend on all
    /// ads.
    waiting: SortedItems<WaitingItem>,
    /// Rows printed or counted so far, for `--distinct`.
    printed_rows: HashSet<Vec<TableCell>>,
    groups: GroupedAds,
    /// Number of ads found.
    found_count: usize,
    /// Number of ads, or of rows, that count toward `--limit`.
    limit_count: usize,
    /// Number of evaluations that exceeded a budget.
    failures: u64,
}

/// What waits for the end of the scan.
enum WaitingItem {
    Ad(Box<NamedAd>),
    Row(Row),
}

/// What the options select to print.
enum OutputMode<'q> {
    Nothing,
    Count,
    Ads(AdWriter),
    /// Rows with the values of `--af`.
    Rows(TableWriter),
    /// Rows with the values of `--af` in typed columns.
    TypedRows(Option<Box<ParquetWriter>>),
    /// Rows of HTCondor's `-autoformat` and `-format`.
    PrintMask(PrintMaskWriter<'q>),
    /// A table of HTCondor's tools.
    Table(TableOutput<'q>),
    /// A row for each ad with the attributes that it lacks, for `--undefined`.
    MissingNames(TableWriter),
    /// A row for each group of `--group-by`, or for all ads.
    Groups(&'q GroupColumns),
    /// A table of the default columns.
    DefaultTable,
}

impl<'q> QueryOutput<'q> {
    pub fn new(
        session: &Session,
        query: &'q QueryCommand,
        constraint: &'q Expression,
        columns: &'q Columns,
        writes_ads: bool,
        input: classad::format::FileFormat,
    ) -> Result<Self, Failure> {
        let header = || columns.af.iter().map(|(text, _)| text.clone()).collect();
        let masked = columns.mask.as_ref().map(|mask| OutputMode::PrintMask(PrintMaskWriter::new(mask)));
        let mode = match () {
            () if session.options.quiet => OutputMode::Nothing,
            () if query.count && columns.group.is_none() => OutputMode::Count,
            () if columns.table.is_some() => {
                columns.table.as_ref().map_or(OutputMode::Nothing, |table| OutputMode::Table(TableOutput::new(table)))
            }
            () if writes_ads => {
                let writer = AdWriter::new(query.output.form, input)?;
                OutputMode::Ads(if columns.attributes.is_empty() { writer } else { writer.keeping_private() })
            }
            () if columns.is_typed => OutputMode::TypedRows(None),
            () if columns.group.is_some() => columns.group.as_ref().map_or(OutputMode::Nothing, OutputMode::Groups),
            () if !columns.af.is_empty() => {
                let rows = TableWriter::new(header(), query.output.form, query.has_heading())?;
                OutputMode::Rows(rows.keeping_columns().with_null(query.null.null.as_ref()))
            }
            () if query.undefined => {
                let header = ["id", "lacks"].map(str::to_owned).into();
                OutputMode::MissingNames(TableWriter::new(header, query.output.form, !query.output.no_header)?)
            }
            () => masked.unwrap_or(OutputMode::DefaultTable),
        };
        Ok(QueryOutput {
            query,
            columns,
            constraint,
            context: session.context(),
            out: out(),
            mode,
            // All rows are needed to know which are equal.
            waiting: SortedItems::new(query.limit.filter(|_| !query.distinct).unwrap_or(usize::MAX)),
            printed_rows: HashSet::new(),
            groups: GroupedAds::default(),
            found_count: 0,
            limit_count: 0,
            failures: 0,
        })
    }

    /// Begins the output of rows in typed columns.
    ///
    /// # Errors
    ///
    /// As for [`ParquetWriter::new`].
    pub fn begin_typed_rows(&mut self, columns: Vec<(String, ColumnType)>) -> Result<(), Failure> {
        self.mode = OutputMode::TypedRows(Some(Box::new(ParquetWriter::new(columns)?)));
        Ok(())
    }

    /// Returns which part of each matching ad the output needs.
    pub fn needed_part(&self) -> NeededPart {
        match self.mode {
            OutputMode::Count if self.query.distinct => NeededPart::Row,
            OutputMode::Nothing | OutputMode::Count => NeededPart::Presence,
            OutputMode::Ads(_) if self.columns.attributes.is_empty() => NeededPart::Whole,
            OutputMode::Groups(_) => NeededPart::Group,
            OutputMode::Table(_) => NeededPart::Record,
            OutputMode::Rows(_) | OutputMode::TypedRows(_) | OutputMode::PrintMask(_) => NeededPart::Row,
            OutputMode::Ads(_) | OutputMode::MissingNames(_) | OutputMode::DefaultTable => NeededPart::Projected,
        }
    }

    /// Takes a finding of the scan of `text`. Returns false if the output needs no more findings. `ads_before` is the
    /// number of ads before `text` in the source; the finding numbers the ads of `text` from 1.
    pub fn add(
        &mut self,
        session: &mut Session,
        text: &SourceText,
        ads_before: usize,
        finding: ScanFinding,
    ) -> Result<bool, Failure> {
        match finding {
            ScanFinding::Problem(problem) => {
                return session.report_problem(text, &problem.after_ads(ads_before)).map(|()| true);
            }
            ScanFinding::Halted { halt, number } => {
                session.report_abort(&halt, &format!("{}: ad {}", text.name, number + ads_before));
                return Ok(true);
            }
            ScanFinding::Stop => return Ok(false),
            ScanFinding::Present(count) => {
                let left = self.limit().saturating_sub(self.limit_count).max(1);
                let count = if self.is_streaming() { count.min(left) } else { count };
                self.limit_count = self.limit_count.saturating_add(count);
                // One is added below.
                self.found_count = self.found_count.saturating_add(count.saturating_sub(1));
            }
            ScanFinding::Groups(table) => {
                self.found_count += table.ads();
                if let OutputMode::Groups(columns) = self.mode {
                    self.groups.merge(columns, table);
                }
                return Ok(true);
            }
            ScanFinding::Ad { ad, name, number, order, failures } => {
                let name = name.unwrap_or_else(|| format!("{}:{}", text.name, number + ads_before));
                let ad = NamedAd::unnamed(ad).with_name(name);
                self.failures = self.failures.saturating_add(failures);
                if self.is_streaming() && !matches!(self.mode, OutputMode::DefaultTable) {
                    self.print(session, &ad)?;
                } else {
                    self.limit_count += 1;
                    self.waiting.add(&self.columns.sort, order, WaitingItem::Ad(Box::new(ad)));
                }
            }
            ScanFinding::Row(mut row) => {
                self.failures = self.failures.saturating_add(row.failures);
                if self.is_streaming() || matches!(self.mode, OutputMode::Count) {
                    self.add_row(row)?;
                } else {
                    let order = std::mem::take(&mut row.order);
                    self.waiting.add(&self.columns.sort, order, WaitingItem::Row(row));
                }
            }
            ScanFinding::Record(record) => {
                self.failures += record.failures;
                self.limit_count += 1;
                if let OutputMode::Table(table) = &mut self.mode {
                    table.add(*record);
                }
            }
        }
        self.found_count = self.found_count.saturating_add(1);
        let is_full = self.is_streaming() && self.limit_count >= self.limit();
        Ok(!(session.options.quiet || is_full))
    }

    /// Whether the output has the order of the scan, so that `--limit` can end the scan early.
    fn is_streaming(&self) -> bool {
        self.columns.sort.is_empty() && !matches!(self.mode, OutputMode::Groups(_))
    }

    fn limit(&self) -> usize {
        self.query.limit.unwrap_or(usize::MAX)
    }

    /// Prints an ad or its row, unless the limit has been reached.
    fn print(&mut self, session: &mut Session, ad: &NamedAd) -> Result<(), Failure> {
        let limit = self.limit();
        match &mut self.mode {
            _ if self.limit_count >= limit => {}
            OutputMode::Ads(writer) if self.columns.attributes.is_empty() => {
                writer.write(session, &mut self.out, ad)?;
            }
            OutputMode::Ads(writer) => {
                let kept = self.columns.project(&ad.ad);
                writer.write(session, &mut self.out, &NamedAd::unnamed(kept).with_name(ad.id().to_owned()))?;
            }
            OutputMode::MissingNames(rows) => {
                let lacks = missing_names(&ad.ad, self.constraint, &self.context);
                rows.write(&mut self.out, vec![ad.id().into(), lacks.into()])?;
            }
            OutputMode::Nothing
            | OutputMode::Count
            | OutputMode::Rows(_)
            | OutputMode::TypedRows(_)
            | OutputMode::PrintMask(_)
            | OutputMode::Groups(_)
            | OutputMode::Table(_)
            | OutputMode::DefaultTable => {}
        }
        self.limit_count += 1;
        Ok(())
    }

    /// Prints a row, or counts it if only the number of rows is wanted.
    fn add_row(&mut self, row: Row) -> Result<(), Failure> {
        let limit = self.limit();
        match &mut self.mode {
            // An equal row has been printed or counted already.
            _ if self.query.distinct && !self.printed_rows.insert(row.cells.clone()) => {}
            mode => {
                self.limit_count += 1;
                match mode {
                    OutputMode::Rows(rows) if self.limit_count <= limit => rows.write(&mut self.out, row.cells)?,
                    OutputMode::TypedRows(Some(rows)) if self.limit_count <= limit => rows.push(&row.values)?,
                    OutputMode::PrintMask(rows) if self.limit_count <= limit => {
                        rows.write(&mut self.out, row.masked)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Prints what waited for the end of the scan: sorted ads, the default table, the count or the groups. Ends the
    /// output.
    pub fn finish(mut self, session: &mut Session) -> Result<Status, Failure> {
        let waiting = self.waiting.take(&self.columns.sort).into_iter().map(|(_, item)| item);
        if !self.columns.sort.is_empty() {
            self.limit_count = if matches!(self.mode, OutputMode::Count) { self.limit_count } else { 0 };
        }
        if matches!(self.mode, OutputMode::DefaultTable) {
            let ads = waiting.filter_map(|item| match item {
                WaitingItem::Ad(ad) => Some(*ad),
                WaitingItem::Row(_) => None,
            });
            let ads: Vec<NamedAd> = ads.take(self.limit()).collect();
            let columns = default_columns(&ads);
            if self.query.output.form.is_some_and(OutputForm::has_lines_of_cells) {
                session.note("the rows have the usual attributes only; --attributes or --af chooses others");
            }
            let names = columns.iter().map(|(text, _)| text.clone());
            let header = std::iter::once("id".to_owned()).chain(names).collect();
            let mut rows = TableWriter::new(header, self.query.output.form, self.query.has_heading())?
                .with_null(self.query.null.null.as_ref());
            for ad in &ads {
                let row = Row::evaluate(&ad.ad, columns.iter().map(|(_, expression)| expression), &self.context);
                self.failures = self.failures.saturating_add(row.failures);
                let id = TableCell::from(ad.id());
                rows.write(&mut self.out, std::iter::once(id).chain(row.cells).collect())?;
            }
            rows.finish(&mut self.out)?;
        } else {
            for item in waiting {
                if self.limit_count >= self.limit() {
                    break;
                }
                match item {
                    WaitingItem::Ad(ad) => self.print(session, &ad)?,
                    WaitingItem::Row(row) => self.add_row(row)?,
                }
            }
        }
        let limit = self.limit();
        match &mut self.mode {
            OutputMode::Nothing | OutputMode::DefaultTable => {}
            OutputMode::Count => writeln!(self.out, "{}", self.limit_count.min(limit))?,
            OutputMode::Ads(writer) => writer.finish(&mut self.out)?,
            OutputMode::Rows(rows) | OutputMode::MissingNames(rows) => rows.finish(&mut self.out)?,
            OutputMode::TypedRows(rows) => rows.take().map_or(Ok(()), |rows| rows.finish(session))?,
            OutputMode::PrintMask(rows) => rows.finish(&mut self.out, "")?,
            OutputMode::Table(table) => {
                let now = self.context.now.unwrap_or_else(current_time);
                table.finish(&mut self.out, &self.context, limit, now)?;
            }
            OutputMode::Groups(columns) => {
                let mut rows =
                    TableWriter::new(columns.header(), self.query.output.form, !self.query.output.no_header)?
                        .keeping_columns()
                        .with_null(self.query.null.null.as_ref());
                let groups = std::mem::take(&mut self.groups);
                self.failures += groups.failures;
                let groups = groups.into_rows(session, columns, limit);
                if groups.is_empty() {
                    self.found_count = 0;
                }
                for row in groups {
                    rows.write(&mut self.out, row)?;
                }
                rows.finish(&mut self.out)?;
            }
        }
        session.report_budget_failures(self.failures);
        Ok(Status::of(self.found_count > 0))
    }
}

/// Returns the names that the constraint reads and the ad lacks.
fn missing_names(ad: &Ad, constraint: &Expression, context: &Context) -> Vec<String> {
    let (environment, frame) = Environment::single(ad.clone());
    let references = external_references(constraint, &frame, &environment, context);
    let name = |reference: &Reference| reference.path.iter().map(print_name).collect::<Vec<_>>().join(".");
    references.iter().map(name).collect()
}
