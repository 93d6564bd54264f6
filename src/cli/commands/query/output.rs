//! Output of `query`.

use std::collections::HashSet;
use std::io::Write;

use classad::ad::{Ad, Expression};
use classad::eval::{Context, Environment, external_references};
use indexmap::IndexMap;

use super::Query;
use super::columns::{Columns, Row, usual_columns};
use super::print_mask::MaskWriter;
use super::scan::{Finding, Need};
use super::sort::order;
use crate::cli::io::input::Identified;
use crate::cli::io::source::Text;
use crate::cli::render::output::{AdWriter, Out, out};
use crate::cli::render::rows::{Cell, RowWriter};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

/// Output of a query, which takes ads and rows as the scan finds them.
pub struct Answer<'q> {
    query: &'q Query,
    columns: &'q Columns,
    constraint: &'q Expression,
    context: Context,
    out: Out,
    shape: Shape<'q>,
    /// Ads that wait for the end of the scan, because of `--sort` or because all determine the columns.
    found: Vec<Identified>,
    /// Rows printed so far, for `--distinct`.
    printed: HashSet<Vec<Cell>>,
    /// Value and number of ads of each group, by the text of the value.
    groups: IndexMap<String, (Cell, usize)>,
    /// Number of ads found.
    total: usize,
    /// Number of ads, or of rows, that count toward `--limit`.
    counted: usize,
    /// Number of evaluations that exceeded a budget.
    failures: u64,
}

/// Kind of the output.
enum Shape<'q> {
    Nothing,
    Count,
    Ads(AdWriter),
    /// Rows with the values of `--af`.
    Rows(RowWriter),
    /// Rows of HTCondor's `-autoformat` and `-format`.
    Masked(MaskWriter<'q>),
    /// A row for each ad with the attributes that it lacks, for `--undefined`.
    Lacks(RowWriter),
    /// Values of `--group-by` with their numbers of ads.
    Groups,
    /// A table of the default columns.
    Usual,
}

impl<'q> Answer<'q> {
    pub fn new(
        session: &Session,
        query: &'q Query,
        constraint: &'q Expression,
        columns: &'q Columns,
        writes_ads: bool,
        input: classad::format::Form,
    ) -> Result<Self, Failure> {
        let header = || columns.af.iter().map(|(text, _)| text.clone()).collect();
        let masked = columns.mask.as_ref().map(|mask| Shape::Masked(MaskWriter::new(mask)));
        let shape = match () {
            () if session.options.quiet => Shape::Nothing,
            () if query.count => Shape::Count,
            () if writes_ads => Shape::Ads(AdWriter::new(query.output, input)?),
            () if columns.group.is_some() => Shape::Groups,
            () if !columns.af.is_empty() => Shape::Rows(RowWriter::new(header(), query.output, query.has_heading())?),
            () if query.undefined => {
                let header = ["id", "lacks"].map(str::to_owned).into();
                Shape::Lacks(RowWriter::new(header, query.output, !query.no_header)?)
            }
            () => masked.unwrap_or(Shape::Usual),
        };
        Ok(Answer {
            query,
            columns,
            constraint,
            context: session.context(),
            out: out(),
            shape,
            found: Vec::new(),
            printed: HashSet::new(),
            groups: IndexMap::new(),
            total: 0,
            counted: 0,
            failures: 0,
        })
    }

    /// Returns which part of each matching ad the output needs.
    pub fn need(&self) -> Need {
        match self.shape {
            Shape::Nothing | Shape::Count => Need::Presence,
            Shape::Ads(_) => Need::Whole,
            Shape::Groups => Need::Group,
            Shape::Rows(_) | Shape::Masked(_) if self.columns.sort.is_none() => Need::Row,
            Shape::Rows(_) | Shape::Masked(_) | Shape::Lacks(_) | Shape::Usual => Need::Part,
        }
    }

    /// Takes a finding of the scan of `text`. Returns false if no more are needed.
    pub fn take(&mut self, session: &mut Session, text: &Text, finding: Finding) -> Result<bool, Failure> {
        match finding {
            Finding::Problem(problem) => {
                session.problem(text, &problem)?;
                return Ok(true);
            }
            Finding::Halted { halt, number } => {
                session.halted(&halt, &format!("{}: ad {number}", text.name));
                return Ok(true);
            }
            Finding::Present => self.counted += 1,
            Finding::Ad { ad, name, number } => {
                let name = name.unwrap_or_else(|| format!("{}:{number}", text.name));
                self.ad(session, Identified::unnamed(ad).called(name))?;
            }
            Finding::Row(row) => self.row(row)?,
        }
        self.total += 1;
        let is_full = self.streams() && self.query.limit.is_some_and(|limit| self.counted >= limit);
        Ok(!(session.options.quiet || is_full))
    }

    /// Whether ads are printed as they are found, rather than after the scan.
    fn streams(&self) -> bool {
        self.columns.sort.is_none() && !matches!(self.shape, Shape::Groups)
    }

    fn limit(&self) -> usize {
        self.query.limit.unwrap_or(usize::MAX)
    }

    /// Prints an ad, or keeps it until the end of the scan.
    fn ad(&mut self, session: &mut Session, ad: Identified) -> Result<(), Failure> {
        if !self.streams() || matches!(self.shape, Shape::Usual) {
            self.counted += 1;
            self.found.push(ad);
            return Ok(());
        }
        self.print(session, &ad)
    }

    /// Prints an ad or its row, unless the limit has been reached.
    fn print(&mut self, session: &mut Session, ad: &Identified) -> Result<(), Failure> {
        let limit = self.limit();
        match &mut self.shape {
            Shape::Rows(_) | Shape::Masked(_) => return self.row(self.columns.row(&ad.ad, &self.context)),
            _ if self.counted >= limit => {}
            Shape::Ads(writer) if self.columns.attributes.is_empty() => writer.write(session, &mut self.out, ad)?,
            Shape::Ads(writer) => {
                let kept = self.columns.kept(&ad.ad);
                writer.write(session, &mut self.out, &Identified::unnamed(kept).called(ad.id().to_owned()))?;
            }
            Shape::Lacks(rows) => {
                let lacks = lacks(&ad.ad, self.constraint, &self.context);
                rows.write(&mut self.out, [ad.id().to_owned(), lacks].map(Cell::from).into())?;
            }
            Shape::Nothing | Shape::Count | Shape::Groups | Shape::Usual => {}
        }
        self.counted += 1;
        Ok(())
    }

    /// Prints a row or counts it in its group.
    fn row(&mut self, row: Row) -> Result<(), Failure> {
        let limit = self.limit();
        self.failures += row.failures;
        match &mut self.shape {
            Shape::Groups => {
                for cell in row.cells {
                    self.groups.entry(cell.text.clone()).or_insert((cell, 0)).1 += 1;
                }
            }
            // An equal row has been printed.
            Shape::Rows(_) if self.query.distinct && !self.printed.insert(row.cells.clone()) => {}
            Shape::Rows(rows) => {
                self.counted += 1;
                if self.counted <= limit {
                    rows.write(&mut self.out, row.cells)?;
                }
            }
            Shape::Masked(rows) => {
                self.counted += 1;
                if self.counted <= limit {
                    rows.write(&mut self.out, row.cells)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints the ads that waited for the end of the scan, and the end of the output.
    pub fn finish(mut self, session: &mut Session) -> Result<Status, Failure> {
        let mut found = std::mem::take(&mut self.found);
        if let Some(sort) = &self.columns.sort {
            order(&mut found, sort, &self.context, &mut self.failures);
            self.counted = if matches!(self.shape, Shape::Count) { self.counted } else { 0 };
        }
        if matches!(self.shape, Shape::Usual) {
            found.truncate(self.limit());
            let shown = usual_columns(session, &found);
            let names = shown.iter().map(|(text, _)| text.clone());
            let header = std::iter::once("id".to_owned()).chain(names).collect();
            let mut rows = RowWriter::new(header, self.query.output, self.query.has_heading())?;
            for ad in &found {
                let row = Row::of(&ad.ad, shown.iter().map(|(_, expression)| expression), &self.context);
                self.failures += row.failures;
                rows.write(&mut self.out, row.behind(ad.id().to_owned()))?;
            }
            rows.finish(&mut self.out)?;
        } else {
            for ad in &found {
                if self.counted >= self.limit() {
                    break;
                }
                self.print(session, ad)?;
            }
        }
        let limit = self.limit();
        match &mut self.shape {
            Shape::Nothing | Shape::Usual => {}
            Shape::Count => writeln!(self.out, "{}", self.counted.min(limit))?,
            Shape::Ads(writer) => writer.finish(&mut self.out)?,
            Shape::Rows(rows) | Shape::Lacks(rows) => rows.finish(&mut self.out)?,
            Shape::Masked(rows) => rows.finish(&mut self.out)?,
            Shape::Groups => {
                let header = vec![self.query.group_by.clone().unwrap_or_default(), "ads".to_owned()];
                let mut rows = RowWriter::new(header, self.query.output, !self.query.no_header)?;
                self.groups.sort_by(|_, (_, a), _, (_, b)| b.cmp(a));
                for (value, count) in std::mem::take(&mut self.groups).into_values().take(limit) {
                    rows.write(&mut self.out, vec![value, count.into()])?;
                }
                rows.finish(&mut self.out)?;
            }
        }
        self.out.flush()?;
        session.failures(self.failures);
        Ok(Status::of(self.total > 0))
    }
}

/// Lists the names that the constraint reads and the ad lacks.
fn lacks(ad: &Ad, constraint: &Expression, context: &Context) -> String {
    let (environment, frame) = Environment::alone(ad.clone());
    let references = external_references(constraint, &frame, &environment, context);
    let names: Vec<String> = references
        .iter()
        .map(|reference| reference.path.iter().map(classad::syntax::print_name).collect::<Vec<_>>().join("."))
        .collect();
    names.join(", ")
}
