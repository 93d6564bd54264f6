//! What is printed of what is found.

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

/// The answer, as it comes to be.
pub struct Answer<'q> {
    query: &'q Query,
    columns: &'q Columns,
    constraint: &'q Expression,
    context: Context,
    out: Out,
    shape: Shape<'q>,
    /// Ads that can be printed only when all are known.
    found: Vec<Identified>,
    /// Rows that were printed, where equal ones are printed once.
    printed: HashSet<Vec<Cell>>,
    groups: IndexMap<String, (Cell, usize)>,
    /// How many ads were found, and how many of them, or of their rows, count for the limit.
    total: usize,
    counted: usize,
    /// Evaluations that exceeded a budget.
    failures: u64,
}

/// What is printed.
enum Shape<'q> {
    Nothing,
    Count,
    Ads(AdWriter),
    /// The values of `--af`.
    Rows(RowWriter),
    /// Rows in HTCondor's words.
    Masked(MaskWriter<'q>),
    /// Which attributes are wanting, for each ad.
    Lacks(RowWriter),
    Groups,
    /// The usual attributes of all ads.
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

    /// What it needs of each ad.
    pub fn need(&self) -> Need {
        match self.shape {
            Shape::Nothing | Shape::Count => Need::Presence,
            Shape::Ads(_) => Need::Whole,
            Shape::Groups => Need::Group,
            Shape::Rows(_) | Shape::Masked(_) if self.columns.sort.is_none() => Need::Row,
            Shape::Rows(_) | Shape::Masked(_) | Shape::Lacks(_) | Shape::Usual => Need::Part,
        }
    }

    /// Takes what is found in a piece of a source; false if it is enough.
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

    /// Whether ads are printed as they are found; otherwise all have to be known first.
    fn streams(&self) -> bool {
        self.columns.sort.is_none() && !matches!(self.shape, Shape::Groups)
    }

    fn limit(&self) -> usize {
        self.query.limit.unwrap_or(usize::MAX)
    }

    fn ad(&mut self, session: &mut Session, ad: Identified) -> Result<(), Failure> {
        if !self.streams() || matches!(self.shape, Shape::Usual) {
            self.counted += 1;
            self.found.push(ad);
            return Ok(());
        }
        self.print(session, &ad)
    }

    /// Prints an ad, or its row, unless there are enough.
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

    /// Prints a row, or counts it in its group.
    fn row(&mut self, row: Row) -> Result<(), Failure> {
        let limit = self.limit();
        self.failures += row.failures;
        match &mut self.shape {
            Shape::Groups => {
                for cell in row.cells {
                    self.groups.entry(cell.text.clone()).or_insert((cell, 0)).1 += 1;
                }
            }
            // It is there already.
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

    /// Prints what could not be printed before, and what ends the output.
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

/// The names that the constraint needs and the ad does not have.
fn lacks(ad: &Ad, constraint: &Expression, context: &Context) -> String {
    let (environment, frame) = Environment::alone(ad.clone());
    let references = external_references(constraint, &frame, &environment, context);
    let names: Vec<String> = references
        .iter()
        .map(|reference| reference.path.iter().map(classad::syntax::print_name).collect::<Vec<_>>().join("."))
        .collect();
    names.join(", ")
}
