//! `classad query`: one-way matching.

use std::cell::Cell;
use std::cmp::Ordering;
use std::io::Write;

use clap::Args;
use classad::ad::{Ad, BinaryOperator, Dialect, Expression, Name, Type, Value};
use classad::constraint::{IDENTITY, Simple};
use classad::eval::{Context, Environment, Evaluator, Mentions, compare, external_references};
use classad::format::Selection;
use classad::matching;

use super::input::{self, Identified};
use super::output::{self, AdWriter, OutputForm, Rows, out};
use super::session::Session;
use super::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad query 'Memory >= 16384 && PartitionableSlot' samples/pool/machines.long --af Name,Memory
  condor_status -long | classad query 'GPUs > 0' --count";

/// Print the ads that a constraint is true of
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Query {
    /// The constraint
    #[arg(allow_hyphen_values = true)]
    constraint: String,
    /// Files of ads; standard input if there are none
    files: Vec<String>,
    /// Print the values of these expressions for each ad
    #[arg(long, value_name = "EXPR,...")]
    af: Vec<String>,
    /// Put the ads in the order of this expression
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Print at most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print only how many there are
    #[arg(long)]
    count: bool,
    /// Print the ads that the constraint is not true of
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print the ads for which the constraint is undefined, and what they lack
    #[arg(long, conflicts_with = "invert")]
    undefined: bool,
    /// Print how many ads there are for each value of this expression
    #[arg(long, value_name = "EXPR")]
    group_by: Option<String>,
    /// Print equal rows of --af once
    #[arg(long, requires = "af")]
    distinct: bool,
    /// What an ad is called
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    no_header: bool,
    /// Parse all of every ad, and report whatever is bad in it
    ///
    /// Without it, of ads in the long form only the attributes that count are parsed; all other lines are checked
    /// to be blank, a comment, or a name, `=`, and text with closed quotes.
    #[arg(long)]
    strict_input: bool,
}

/// The expressions of the command line.
struct Columns {
    af: Vec<(String, Expression)>,
    sort: Option<Expression>,
    group: Option<Expression>,
    id: Option<Expression>,
    /// Evaluations of these that exceeded a budget.
    failures: Cell<u64>,
}

impl Query {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        input::not_an_option(&self.constraint, true)?;
        let mut sources = input::open(session, &self.files)?;
        session.decide_dialect(&sources);
        let constraint = input::expression(session, "constraint", &self.constraint)?;
        let columns = self.columns(session)?;
        let context = session.context();
        let query = matching::Query::new(constraint.clone(), context.clone());
        let streams = columns.sort.is_none();
        // Whole ads are written as they are found, so that memory does not grow with the input.
        let writes_ads = self.writes_ads(&columns);
        let mut out = out();
        let mut writer: Option<AdWriter> = None;
        let mut found: Vec<Identified> = Vec::new();
        // Rows that need no more than their ads are made as these are found, too.
        let lists = streams && !columns.af.is_empty() && columns.group.is_none();
        let mut rows = Self::rows(&columns.af, false);
        let mut total = 0_usize;
        let mut selection = self.selection(&constraint, &columns, writes_ads, &context);
        for source in &mut sources {
            let form = source.form;
            if writes_ads && writer.is_none() {
                writer = Some(AdWriter::new(self.output, form)?);
            }
            input::each_selected(session, source, selection.as_mut(), |session, entry| {
                let wanted = match query.value(&entry.ad) {
                    Ok(value) => self.wants(&value, context.dialect),
                    Err(halt) => {
                        session.halted(&halt, &format!("{}: ad {}", entry.place.text.name, entry.number));
                        false
                    }
                };
                let is_shown = wanted && !self.count && !session.options.quiet;
                total += usize::from(wanted && !is_shown);
                let entry = if is_shown && writes_ads { entry.read_whole(session)? } else { Some(entry) };
                if let Some(entry) = entry.filter(|_| is_shown) {
                    total += 1;
                    if lists {
                        self.add_row(&mut rows, columns.cells(&entry.ad, &columns.af, &context).collect());
                    } else {
                        let ad = input::identify(session, entry, columns.id.as_ref());
                        match &mut writer {
                            Some(writer) if streams => writer.write(session, &mut out, &ad)?,
                            _ => found.push(ad.without_place()),
                        }
                    }
                }
                let enough = session.options.quiet || (streams && self.limit.is_some_and(|limit| total >= limit));
                Ok(!(enough && total > 0))
            })?;
        }
        if let Some(sort) = &columns.sort {
            order(session, &mut found, sort, &columns);
        }
        found.truncate(self.limit.unwrap_or(usize::MAX));
        rows.rows.truncate(self.limit.unwrap_or(usize::MAX));
        match writer {
            _ if session.options.quiet => {}
            _ if self.count => writeln!(out, "{}", total.min(self.limit.unwrap_or(usize::MAX)))?,
            Some(mut writer) => {
                for ad in &found {
                    writer.write(session, &mut out, ad)?;
                }
                writer.finish(&mut out)?;
            }
            None if lists => self.write_rows(&mut out, &rows)?,
            None => self.print(session, &mut out, &found, &constraint, &columns)?,
        }
        out.flush()?;
        session.failures(columns.failures.get());
        Ok(Status::of(total > 0))
    }

    /// What has to be read of each ad to answer; none if that cannot be told.
    fn selection(
        &self,
        constraint: &Expression,
        columns: &Columns,
        writes_ads: bool,
        context: &Context,
    ) -> Option<Selection> {
        let mut asked = Mentions::default();
        let options = [&columns.sort, &columns.group, &columns.id].into_iter().flatten();
        for expression in columns.af.iter().map(|(_, expression)| expression).chain(options).chain([constraint]) {
            asked.add(expression, context.dialect);
        }
        if self.strict_input || asked.everything {
            return None;
        }
        if columns.af.is_empty() {
            asked.names.extend(IDENTITY.map(Name::new));
        }
        if columns.af.is_empty() && !writes_ads {
            asked.names.extend(USUAL.map(Name::new));
        }
        let selection = Selection::new(asked.names, context.dialect);
        let simple = Simple::new(constraint, context).filter(|_| !self.undefined);
        let Some(simple) = simple else { return Some(selection) };
        let (names, invert) = (simple.names().to_vec(), self.invert);
        Some(selection.sifted(&names, move |values| simple.is_met(values).is_none_or(|met| met != invert)))
    }

    /// Whether the ads are written themselves, and no rows about them.
    fn writes_ads(&self, columns: &Columns) -> bool {
        let table = self.output.is_none() && Session::is_terminal();
        let rows = self.output.is_some_and(|form| is_rows(form) && form != OutputForm::Names);
        let undecided = self.undefined && self.output.is_none_or(is_rows);
        columns.af.is_empty() && columns.group.is_none() && !undecided && !table && !rows
    }

    fn columns(&self, session: &mut Session) -> Result<Columns, Failure> {
        let mut af = Vec::new();
        for text in self.af.iter().flat_map(|list| split_expressions(list)) {
            af.push((text.to_owned(), input::expression(session, "--af", text)?));
        }
        Ok(Columns {
            af,
            sort: input::optional(session, "--sort", self.sort.as_deref())?,
            group: input::optional(session, "--group-by", self.group_by.as_deref())?,
            id: input::optional(session, "--id", self.id.as_deref())?,
            failures: Cell::new(0),
        })
    }

    fn wants(&self, value: &Value, dialect: Dialect) -> bool {
        if self.undefined {
            return value.kind() == Type::Undefined;
        }
        classad::constraint::is_met(value, dialect) != self.invert
    }

    fn print(
        &self,
        session: &mut Session,
        out: &mut dyn Write,
        found: &[Identified],
        constraint: &Expression,
        columns: &Columns,
    ) -> Result<(), Failure> {
        let context = session.context();
        if let Some(group) = &columns.group {
            return self.groups(out, found, group, columns, &context);
        }
        if self.undefined && columns.af.is_empty() && self.output.is_none_or(is_rows) {
            let mut rows = Rows::new(&["id", "lacks"]);
            for ad in found {
                rows.rows.push([ad.id.clone(), lacks(&ad.ad, constraint, &context)].map(output::Cell::from).into());
            }
            return rows.write(out, self.output, !self.no_header);
        }
        let shown = if columns.af.is_empty() { usual_columns(session, found) } else { columns.af.clone() };
        self.table(out, found, &shown, columns, &context)
    }

    /// One row for each ad.
    fn table(
        &self,
        out: &mut dyn Write,
        found: &[Identified],
        shown: &[(String, Expression)],
        columns: &Columns,
        context: &Context,
    ) -> Result<(), Failure> {
        let with_id = columns.af.is_empty();
        let mut rows = Self::rows(shown, with_id);
        for ad in found {
            let id = with_id.then(|| ad.id.clone().into());
            self.add_row(&mut rows, id.into_iter().chain(columns.cells(&ad.ad, shown, context)).collect());
        }
        self.write_rows(out, &rows)
    }

    /// No rows yet, under the heading of these columns.
    fn rows(shown: &[(String, Expression)], with_id: bool) -> Rows {
        let id = with_id.then_some("id");
        let header: Vec<&str> = id.into_iter().chain(shown.iter().map(|(text, _)| text.as_str())).collect();
        Rows::new(&header)
    }

    fn add_row(&self, rows: &mut Rows, row: Vec<output::Cell>) {
        if !self.distinct || !rows.rows.contains(&row) {
            rows.rows.push(row);
        }
    }

    /// A list of expressions without a form is for scripts: no heading.
    fn write_rows(&self, out: &mut dyn Write, rows: &Rows) -> Result<(), Failure> {
        let heading = !self.no_header && (self.output.is_some() || Session::is_terminal());
        rows.write(out, self.output, heading)
    }

    fn groups(
        &self,
        out: &mut dyn Write,
        found: &[Identified],
        by: &Expression,
        columns: &Columns,
        context: &Context,
    ) -> Result<(), Failure> {
        let mut counts = indexmap::IndexMap::<String, (output::Cell, usize)>::new();
        for ad in found {
            let value = columns.cell(&ad.ad, by, context);
            counts.entry(value.text.clone()).or_insert((value, 0)).1 += 1;
        }
        let mut rows = Rows::new(&[self.group_by.as_deref().unwrap_or_default(), "ads"]);
        counts.sort_by(|_, (_, a), _, (_, b)| b.cmp(a));
        rows.rows.extend(counts.into_values().map(|(value, count)| vec![value, count.into()]));
        rows.write(out, self.output, !self.no_header)
    }
}

fn is_rows(form: OutputForm) -> bool {
    matches!(form, OutputForm::Table | OutputForm::Csv | OutputForm::Tsv | OutputForm::Names)
}

/// The usual columns of a table.
const USUAL: [&str; 12] = [
    "Owner",
    "Type",
    "State",
    "Activity",
    "Arch",
    "OpSys",
    "Cpus",
    "Memory",
    "RequestCpus",
    "RequestMemory",
    "JobStatus",
    "Cmd",
];

/// The columns of a table when none are asked for: those of the usual ones that any ad has.
fn usual_columns(session: &Session, found: &[Identified]) -> Vec<(String, Expression)> {
    let present = USUAL.into_iter().filter(|name| found.iter().any(|ad| ad.ad.get_str(name).is_some()));
    let rules = classad::syntax::Rules::new(session.dialect());
    let columns = present.filter_map(|name| {
        let expression = classad::syntax::parse_expression(name.as_bytes(), rules).ok()?;
        Some((name.to_owned(), expression))
    });
    columns.take(6).collect()
}

impl Columns {
    /// The value of an expression in an ad; undefined, and counted, where it exceeds a budget.
    fn value(&self, ad: &Ad, expression: &Expression, context: &Context) -> Value {
        let (environment, frame) = Environment::alone(ad.clone());
        Evaluator::new(&environment, context).evaluate(expression, &frame).unwrap_or_else(|_| {
            self.failures.set(self.failures.get() + 1);
            Value::Undefined
        })
    }

    fn cells(&self, ad: &Ad, shown: &[(String, Expression)], context: &Context) -> impl Iterator<Item = output::Cell> {
        shown.iter().map(|(_, expression)| self.cell(ad, expression, context))
    }

    fn cell(&self, ad: &Ad, expression: &Expression, context: &Context) -> output::Cell {
        output::Cell::from(&self.value(ad, expression, context))
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

/// Puts ads in the order of an expression: numbers, then strings, then the rest; equal ones as they came.
fn order(session: &Session, found: &mut [Identified], by: &Expression, columns: &Columns) {
    let context = session.context();
    let rank = |value: &Value| match value.kind() {
        Type::Boolean | Type::Integer | Type::Real => 0,
        Type::String => 1,
        Type::AbsoluteTime => 2,
        Type::RelativeTime => 3,
        _ => 4,
    };
    found.sort_by_cached_key(|ad| {
        let value = columns.value(&ad.ad, by, &context);
        Sortable { rank: rank(&value), value }
    });
}

/// A value with an order.
struct Sortable {
    rank: u8,
    value: Value,
}

impl Ord for Sortable {
    fn cmp(&self, other: &Self) -> Ordering {
        let less = |a: &Value, b: &Value| compare(BinaryOperator::Less, a, b, Dialect::Condor) == Some(true);
        self.rank.cmp(&other.rank).then_with(|| {
            if less(&self.value, &other.value) {
                Ordering::Less
            } else if less(&other.value, &self.value) {
                Ordering::Greater
            } else {
                // NaN is behind all numbers, so that this is an order.
                let nan = |v: &Value| matches!(v, Value::Real(real) if real.is_nan());
                nan(&self.value).cmp(&nan(&other.value))
            }
        })
    }
}

impl PartialOrd for Sortable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sortable {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sortable {}

/// Splits a list of expressions at the commas that are in no bracket and no string.
fn split_expressions(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quoted, mut escaped, mut start) = (0_i32, None, false, 0);
    for (at, c) in list.char_indices() {
        match (c, quoted) {
            _ if escaped => {}
            ('\\', Some(_)) => {
                escaped = true;
                continue;
            }
            ('"' | '\'', None) => quoted = Some(c),
            (c, Some(quote)) if c == quote => quoted = None,
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth -= 1,
            (',', None) if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    parts.push(&list[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}
