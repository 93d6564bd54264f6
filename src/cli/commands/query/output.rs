//! Output of `query`: prints the findings of the scan as ads, rows, counts or groups.

use std::io::Write;

use classad::ad::{Ad, Expression};
use classad::eval::{Context, Environment, Reference, external_references};
use classad::format::FileFormat;
use classad::query::ScanItem;
use classad::syntax::print_name;

use super::QueryCommand;
use super::columns::{Columns, Row, default_columns};
use super::finding::{FindingSink, QueryFinding};
use super::groups::{GroupColumns, GroupedAds};
use super::plan::QueryPlan;
use super::print_mask::PrintMaskWriter;
use super::scan::NeededPart;
use super::tables::TableOutput;
use crate::cli::clock::current_time;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{AdWriter, BufferedStdout, OutputForm, out};
use crate::cli::render::parquet::{ColumnType, ParquetWriter};
use crate::cli::render::rows::{TableCell, TableWriter};
use crate::cli::session::Session;

/// Output of a query. Takes findings in the order of the scan, and prints them as soon as their order allows.
pub struct QueryOutput<'q> {
    sink: FindingSink<'q>,
    printer: QueryPrinter<'q>,
}

/// Prints findings in their order.
struct QueryPrinter<'q> {
    query: &'q QueryCommand,
    columns: &'q Columns,
    constraint: &'q Expression,
    context: Context,
    out: BufferedStdout,
    mode: OutputMode<'q>,
    /// Whether what was found has a row: no group has one if `--having` accepts none.
    has_rows: bool,
    /// Number of evaluations of the default columns and of `--having` that exceeded a budget.
    failures: u64,
}

/// What the options select to print.
enum OutputMode<'q> {
    Nothing,
    Count,
    Ads(AdWriter),
    /// Rows with the values of `--af`.
    Rows(TableWriter),
    /// Rows with the values of `--af` in typed columns.
    ParquetRows(Option<Box<ParquetWriter>>),
    /// Rows of HTCondor's `-autoformat` and `-format`.
    PrintMask(PrintMaskWriter<'q>),
    /// A table of HTCondor's tools.
    Table(TableOutput<'q>),
    /// A row for each ad with the attributes that it lacks, for `--undefined`.
    MissingNames(TableWriter),
    /// A row for each group of `--group-by`, or for all ads.
    Groups(&'q GroupColumns),
    /// A table of the default columns, which depend on all of the ads.
    DefaultTable(Vec<NamedAd>),
}

impl<'q> QueryOutput<'q> {
    pub fn new(
        session: &Session,
        query: &'q QueryCommand,
        plan: &'q QueryPlan,
        input: FileFormat,
    ) -> Result<Self, Failure> {
        let columns = &plan.columns;
        // Only the groups tell whether --having accepts one.
        let is_told_by_groups = columns.group.as_ref().is_some_and(GroupColumns::has_condition);
        let prints_nothing = session.options.quiet && !is_told_by_groups;
        let mode = if prints_nothing { OutputMode::Nothing } else { OutputMode::new(query, plan, input)? };
        let printer = QueryPrinter {
            query,
            columns,
            constraint: &plan.constraint,
            context: session.context(),
            out: out(),
            mode,
            has_rows: true,
            failures: 0,
        };
        Ok(QueryOutput { sink: FindingSink::new(query, columns, false), printer })
    }

    /// Begins the output of rows in typed columns.
    ///
    /// # Errors
    ///
    /// As for [`ParquetWriter::new`].
    pub fn begin_parquet_rows(&mut self, columns: Vec<(String, ColumnType)>) -> Result<(), Failure> {
        self.printer.mode = OutputMode::ParquetRows(Some(Box::new(ParquetWriter::new(columns)?)));
        Ok(())
    }

    /// Returns which part of each matching ad the output needs.
    pub fn needed_part(&self) -> NeededPart {
        let QueryPrinter { query, columns, mode, .. } = &self.printer;
        match mode {
            OutputMode::Count if query.distinct => NeededPart::Row,
            OutputMode::Nothing | OutputMode::Count => NeededPart::Presence,
            OutputMode::Ads(_) if columns.attributes.is_empty() => NeededPart::Whole,
            OutputMode::Groups(_) => NeededPart::Group,
            OutputMode::Table(_) => NeededPart::Record,
            OutputMode::Rows(_) | OutputMode::ParquetRows(_) | OutputMode::PrintMask(_) => NeededPart::Row,
            OutputMode::Ads(_) | OutputMode::MissingNames(_) | OutputMode::DefaultTable(_) => NeededPart::Projected,
        }
    }

    /// Takes what a scan of `text` has found. Returns false if the output needs no more. `ads_before` is the number of ads
    /// before `text` in the source; the scan numbers the ads of `text` from 1.
    pub fn add_item(
        &mut self,
        session: &mut Session,
        text: &SourceText,
        ads_before: usize,
        item: ScanItem<QueryFinding>,
    ) -> Result<bool, Failure> {
        match item {
            ScanItem::Found(finding) => self.add(session, &text.name, finding.after_ads(ads_before)),
            ScanItem::Problem(problem) => session.report_problem(text, &problem.after_ads(ads_before)).map(|()| true),
            ScanItem::Halted(halt, number) => {
                self.add(session, &text.name, QueryFinding::Halted { halt, number: number + ads_before })
            }
            ScanItem::Stop => Ok(false),
        }
    }

    /// Takes a finding in the file `file`, whose ads it numbers from 1. Returns false if the output needs no more.
    pub fn add(&mut self, session: &mut Session, file: &str, mut finding: QueryFinding) -> Result<bool, Failure> {
        match &mut finding {
            QueryFinding::Halted { halt, number } => {
                session.report_abort(halt, &format!("{file}: ad {number}"));
                return Ok(true);
            }
            QueryFinding::Ad { name, number, .. } => drop(name.get_or_insert_with(|| format!("{file}:{number}"))),
            _ => {}
        }
        let printer = &mut self.printer;
        let needs_more = self.sink.add(finding, &mut |finding| printer.print(session, finding))?;
        Ok(needs_more && !(self.sink.has_found && matches!(self.printer.mode, OutputMode::Nothing)))
    }

    /// Prints what waited for the end of the scan: sorted ads, the default table, the count or the groups. Ends the
    /// output.
    pub fn finish(mut self, session: &mut Session) -> Result<Status, Failure> {
        let QueryOutput { sink, printer } = &mut self;
        sink.finish(&mut |finding| printer.print(session, finding))?;
        let has_rows = printer.finish(session, sink.count)?;
        session.report_budget_failures(sink.failures.saturating_add(printer.failures));
        Ok(Status::of(sink.has_found && has_rows))
    }
}

impl<'q> OutputMode<'q> {
    fn new(query: &'q QueryCommand, plan: &'q QueryPlan, input: FileFormat) -> Result<Self, Failure> {
        let columns = &plan.columns;
        Ok(match (&columns.table, &columns.group, &columns.mask) {
            (_, None, _) if query.count => OutputMode::Count,
            (Some(table), ..) => OutputMode::Table(TableOutput::new(table)),
            _ if plan.writes_ads => {
                let writer = AdWriter::new(query.output.form, input)?;
                OutputMode::Ads(if columns.attributes.is_empty() { writer } else { writer.keeping_private() })
            }
            _ if columns.writes_parquet => OutputMode::ParquetRows(None),
            (_, Some(group), _) => OutputMode::Groups(group),
            _ if !columns.af.is_empty() => {
                let header = columns.af.iter().map(|(text, _)| text.clone()).collect();
                // Rows of a followed file come one by one, on a terminal, too.
                let form = query.output.form.or(Some(OutputForm::Tsv).filter(|_| query.follow));
                let rows = TableWriter::new(header, form, query.has_heading())?;
                OutputMode::Rows(rows.keeping_columns().with_null(query.null.null.as_ref()))
            }
            _ if query.undefined => {
                let header = ["id", "lacks"].map(str::to_owned).into();
                OutputMode::MissingNames(TableWriter::new(header, query.output.form, !query.output.no_header)?)
            }
            (.., Some(mask)) => OutputMode::PrintMask(PrintMaskWriter::new(mask)),
            _ => OutputMode::DefaultTable(Vec::new()),
        })
    }
}

impl QueryPrinter<'_> {
    /// Prints a finding, or keeps it for the end of a table.
    fn print(&mut self, session: &mut Session, finding: QueryFinding) -> Result<(), Failure> {
        match (&mut self.mode, finding) {
            (OutputMode::Table(table), QueryFinding::Record(record)) => table.add(*record),
            (OutputMode::Rows(rows), QueryFinding::Row(row)) => rows.write(&mut self.out, row.cells)?,
            (OutputMode::ParquetRows(Some(rows)), QueryFinding::Row(row)) => rows.push(&row.values)?,
            (OutputMode::PrintMask(rows), QueryFinding::Row(row)) => rows.write(&mut self.out, row.masked)?,
            (OutputMode::Groups(_), QueryFinding::Groups(groups)) => self.print_groups(session, groups)?,
            (mode, QueryFinding::Ad { ad, name, .. }) => {
                let Some(ad) = ad.into_ad(session.dialect()) else { return refuse("a partial result is damaged") };
                let ad = NamedAd::unnamed(ad).with_name(name.unwrap_or_default());
                match mode {
                    OutputMode::Ads(writer) if self.columns.attributes.is_empty() => {
                        writer.write(session, &mut self.out, &ad)?;
                    }
                    OutputMode::Ads(writer) => {
                        let kept = self.columns.project(&ad.ad);
                        writer.write(session, &mut self.out, &NamedAd::unnamed(kept).with_name(ad.id().to_owned()))?;
                    }
                    OutputMode::MissingNames(rows) => {
                        let lacks = missing_names(&ad.ad, self.constraint, &self.context);
                        rows.write(&mut self.out, vec![ad.id().into(), lacks.into()])?;
                    }
                    OutputMode::DefaultTable(ads) => ads.push(ad),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints the rows of the groups. No group is left if `--having` accepts none.
    fn print_groups(&mut self, session: &Session, groups: GroupedAds) -> Result<(), Failure> {
        let OutputMode::Groups(columns) = self.mode else { return Ok(()) };
        let (groups, failures) = groups.into_rows(session, columns, self.query.limit.unwrap_or(usize::MAX));
        self.failures = self.failures.saturating_add(failures);
        self.has_rows = !groups.is_empty();
        if session.options.quiet {
            return Ok(());
        }
        let output = &self.query.output;
        let mut rows = TableWriter::new(columns.header(), output.form, !output.no_header)?
            .keeping_columns()
            .with_null(self.query.null.null.as_ref());
        for row in groups {
            rows.write(&mut self.out, row)?;
        }
        rows.finish(&mut self.out)
    }

    /// Ends the output. Returns false if what was found has no row. `count` is the number of ads or rows.
    fn finish(&mut self, session: &mut Session, count: usize) -> Result<bool, Failure> {
        let limit = self.query.limit.unwrap_or(usize::MAX);
        match &mut self.mode {
            OutputMode::Nothing | OutputMode::Groups(_) => {}
            OutputMode::Count => writeln!(self.out, "{}", count.min(limit))?,
            OutputMode::Ads(writer) => writer.finish(&mut self.out)?,
            OutputMode::Rows(rows) | OutputMode::MissingNames(rows) => rows.finish(&mut self.out)?,
            OutputMode::ParquetRows(rows) => rows.take().map_or(Ok(()), |rows| rows.finish(session))?,
            OutputMode::PrintMask(rows) => rows.finish(&mut self.out, "")?,
            OutputMode::Table(table) => {
                let now = self.context.now.unwrap_or_else(current_time);
                table.finish(&mut self.out, &self.context, limit, now)?;
            }
            OutputMode::DefaultTable(ads) => {
                let ads = std::mem::take(ads);
                self.print_default_table(session, &ads)?;
            }
        }
        Ok(self.has_rows)
    }

    /// Prints a row of the default columns for each ad.
    fn print_default_table(&mut self, session: &Session, ads: &[NamedAd]) -> Result<(), Failure> {
        let (columns, output) = (default_columns(ads), &self.query.output);
        if output.form.is_some_and(OutputForm::has_lines_of_cells) {
            session.note("the rows have the usual attributes only; --attributes or --af chooses others");
        }
        let names = columns.iter().map(|(text, _)| text.clone());
        let header = std::iter::once("id".to_owned()).chain(names).collect();
        let rows = TableWriter::new(header, output.form, self.query.has_heading())?;
        let mut rows = rows.with_null(self.query.null.null.as_ref());
        for ad in ads {
            let row = Row::evaluate(&ad.ad, columns.iter().map(|(_, expression)| expression), &self.context);
            self.failures = self.failures.saturating_add(row.failures);
            let id = TableCell::from(ad.id());
            rows.write(&mut self.out, std::iter::once(id).chain(row.cells).collect())?;
        }
        rows.finish(&mut self.out)
    }
}

/// Returns the names that the constraint reads and the ad lacks.
fn missing_names(ad: &Ad, constraint: &Expression, context: &Context) -> Vec<String> {
    let (environment, frame) = Environment::single(ad.clone());
    let references = external_references(constraint, &frame, &environment, context);
    let name = |reference: &Reference| reference.path.iter().map(print_name).collect::<Vec<_>>().join(".");
    references.iter().map(name).collect()
}
