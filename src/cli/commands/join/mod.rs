//! `classad join`: rows of the pairs of ads of two sets in which two expressions are equal.

mod equality_key;

use std::fs;
use std::io::Write;

use clap::Args;
use classad::ad::{Ad, BinaryOperator, Expression, Span, Value};
use classad::eval::{Context, Environment, Evaluator, Work, binary};
use classad::format::AdEntry;
use classad::protocol::{closest_attributes, display_name};
use classad::syntax::{StringSyntax, Token, lex};
use classad::text::{counted, suggestion, with_commas};
use rustc_hash::FxHashMap;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::named_expressions::{named_expressions, split_expressions};
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::ad_map::{MappedAd, map_ads};
use crate::cli::io::argument_text;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::unseen_names::{UnseenNames, first_names};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::render::rows::{TableCell, TableWriter, bytes_of_row, steps_of_text};
use crate::cli::session::Session;

use equality_key::EqualityKey;

const EXAMPLES: &str = "\
Examples:
  classad join samples/pool/jobs.long --with samples/pool/machines.long \\
      --on FileSystemDomain=FileSystemDomain --count
  classad join samples/pool/machines.long --with samples/pool/machines.long --on Machine \\
      --af Name,Other=TARGET.Name -o csv
  classad join samples/pool/machines.long --with samples/pool/jobs.long \\
      --on RemoteUser=User --left --af Name,Job=TARGET.ClusterId
  classad join samples/pool/machines.long --with samples/pool/machines.long --on Arch,OpSys=OpSys --count

Expressions are equal as with `==`: the case of strings does not matter. Undefined values, errors, lists and ads are not
equal to anything. Of several keys, all must be equal. In --af, MY is the ad of the files and TARGET is the ad of --with. A name without MY or TARGET is
looked up in MY, then in TARGET.

The number of rows is limited: see `classad help budgets`.

Exit status: 0 if there are rows, 1 if there are no rows, 2 for bad input.";

/// Pair ads with equal values, such as the jobs of a history with their machines
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct JoinCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Files with the other ads
    #[arg(long, value_name = "FILE", required = true)]
    with: Vec<String>,
    /// The expressions that must be equal: the first for the ads of the files, the second for those of --with. A single
    /// expression is for both. Several keys, such as `ClusterId,ProcId`, must all be equal
    #[arg(long, value_name = "EXPR[=EXPR],...", required = true, allow_hyphen_values = true)]
    on: Vec<String>,
    /// Also print a row for each ad of the files that has no partner; TARGET is undefined in this row
    #[arg(long)]
    left: bool,
    /// Print the values of these expressions for each pair; NAME=EXPR names a column
    #[arg(long, value_name = "EXPR,...", allow_hyphen_values = true)]
    af: Vec<String>,
    /// Print only the number of rows
    #[arg(long, conflicts_with_all = ["af", "output", "json", "csv", "no_header"])]
    count: bool,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// An ad of a side, with the values of its expressions of `--on`.
struct KeyedAd {
    ad: Ad,
    name: String,
    values: Vec<Value>,
}

/// Evaluates the expressions of `--on` in each ad.
struct KeyTask<'k> {
    expressions: &'k [Expression],
    context: Context,
    /// Attributes of the key, each marked once an ad of this side has it.
    names: UnseenNames,
}

/// The ads of the side that is held in memory.
struct HeldSide {
    ads: Vec<KeyedAd>,
    /// Indexes of the ads by the keys of their values.
    places: FxHashMap<Vec<EqualityKey>, Vec<usize>>,
    context: Context,
}

/// Makes the rows of pairs.
struct RowMaker {
    /// The columns: heading and expression. Empty for the names of both ads.
    columns: Vec<(String, Expression)>,
    context: Context,
    /// Number of evaluations that exceeded a budget.
    failures: u64,
}

/// Where rows go.
struct RowSink {
    context: Context,
    /// `None` if rows are only counted.
    writer: Option<TableWriter>,
    count: usize,
    /// Number of ads of the files without a partner, and of all.
    lonely: usize,
    lefts: usize,
}

/// Says which attributes of a key no ad of the files has.
fn note_unseen(session: &mut Session, task: &KeyTask<'_>, sources: &[AdSource]) {
    for name in task.names.unseen() {
        // A file without a readable ad has no names.
        let Some(known) = first_names(session, sources) else { continue };
        if known.iter().any(|known| name.is(known)) {
            continue;
        }
        let near = suggestion(&closest_attributes(name.as_str(), known.iter().map(String::as_str)));
        let source = sources.first().map_or("", |source| &source.name);
        session.note(&format!("no ad of {source} has the attribute {name}{near}"));
    }
}

impl JoinCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let paths = input::or_stdin(&self.input.paths()?);
        let [mut lefts, mut rights] = input::open_sides(session, &paths, &self.with)?;
        // A file that could not be opened has been reported. Without it, ads would seem to have no partner.
        if session.error_count() > 0 {
            return Err(Failure::Refused(None));
        }
        let (mut left_keys, mut right_keys) = (Vec::new(), Vec::new());
        for part in self.on.iter().flat_map(|list| split_expressions(list)) {
            let (left, right) = split_key(part);
            left_keys.push(argument_text::parse_argument_expression(session, "--on", left)?);
            right_keys.push(argument_text::parse_argument_expression(session, "--on", right)?);
        }
        if left_keys.is_empty() {
            return refuse("--on needs an expression");
        }
        let columns = named_expressions(session, "--af", &self.af)?;
        let columns: Vec<(String, Expression)> =
            columns.into_iter().map(|(name, text, expression)| (name.unwrap_or(text), expression)).collect();
        let header = match columns.as_slice() {
            [] => vec!["left".to_owned(), "right".to_owned()],
            columns => columns.iter().map(|(name, _)| name.clone()).collect(),
        };
        let mut rows = RowMaker { columns, context: session.context(), failures: 0 };
        let is_counted = self.count || session.options.quiet;
        let writer = || TableWriter::new(header, self.output.form, !self.output.no_header);
        let writer = if is_counted { None } else { Some(writer()?.keeping_columns()) };
        let mut sink = RowSink { context: session.context(), writer, count: 0, lonely: 0, lefts: 0 };
        let [left_task, right_task] = [&left_keys, &right_keys].map(|keys| KeyTask::new(keys, session.context()));
        if byte_count(&lefts) < byte_count(&rights) {
            let held = HeldSide::read(session, &mut lefts, &left_task)?;
            self.stream_right(session, &held, (&mut rights, &right_task), &mut rows, &mut sink)?;
        } else {
            let held = HeldSide::read(session, &mut rights, &right_task)?;
            self.stream_left(session, &held, (&mut lefts, &left_task), &mut rows, &mut sink)?;
        }
        note_unseen(session, &left_task, &lefts);
        note_unseen(session, &right_task, &rights);
        if sink.lonely > 0 && !self.left {
            let verb = if sink.lonely == 1 { "has" } else { "have" };
            let (lonely, all) = (with_commas(sink.lonely), counted(sink.lefts, "ad"));
            session.note(&format!("{lonely} of {all} {verb} no partner; --left keeps such ads"));
        }
        session.report_budget_failures(rows.failures);
        if let Some(mut writer) = sink.writer {
            writer.finish(&mut out())?;
        } else if !session.options.quiet {
            writeln!(out(), "{}", sink.count)?;
        }
        Ok(Status::of(sink.count > 0))
    }

    /// Reads the files ad by ad, and makes the rows of each with the held ads of `--with`.
    fn stream_left(
        &self,
        session: &mut Session,
        held: &HeldSide,
        (lefts, task): (&mut [AdSource], &KeyTask<'_>),
        rows: &mut RowMaker,
        sink: &mut RowSink,
    ) -> Result<(), Failure> {
        map_ads(session, lefts, None, &|entry: AdEntry| task.entry(entry.ad), |_, mapped| {
            let left = KeyedAd::of_result(mapped);
            let mut out = out();
            let partners: Vec<usize> = held.partners(&left.values).collect();
            for place in &partners {
                if sink.context.has_spent_comparisons() {
                    return Ok(false);
                }
                sink.add(&mut out, || rows.row(&left, Some(&held.ads[*place])))?;
            }
            sink.count_left(!partners.is_empty());
            if partners.is_empty() && self.left {
                sink.add(&mut out, || rows.row(&left, None))?;
            }
            Ok(true)
        })
    }

    /// Reads the files of `--with` ad by ad, and makes the rows of the held ads of the files when all are read.
    fn stream_right(
        &self,
        session: &mut Session,
        held: &HeldSide,
        (rights, task): (&mut [AdSource], &KeyTask<'_>),
        rows: &mut RowMaker,
        sink: &mut RowSink,
    ) -> Result<(), Failure> {
        let mut found: Vec<Vec<Vec<TableCell>>> = held.ads.iter().map(|_| Vec::new()).collect();
        let has_rows = sink.writer.is_some();
        map_ads(session, rights, None, &|entry: AdEntry| task.entry(entry.ad), |_, mapped| {
            let right = KeyedAd::of_result(mapped);
            for place in held.partners(&right.values) {
                if sink.context.has_spent_comparisons() {
                    return Ok(false);
                }
                let row = if has_rows { rows.row(&held.ads[place], Some(&right)) } else { Vec::new() };
                sink.context.charge(Work::JoinedRow, 1);
                sink.context.count_held_bytes(bytes_of_row(&row));
                found[place].push(row);
            }
            Ok(true)
        })?;
        let mut out = out();
        for (left, found) in held.ads.iter().zip(found) {
            sink.count_left(!found.is_empty());
            if found.is_empty() && self.left {
                sink.add(&mut out, || rows.row(left, None))?;
            }
            for row in found {
                sink.add(&mut out, || row)?;
            }
        }
        Ok(())
    }
}

/// Splits a key of `--on` at its `=`. A text without one is both expressions.
fn split_key(text: &str) -> (&str, &str) {
    let tokens = lex(text.as_bytes(), StringSyntax::Escaped);
    let equal = tokens.iter().find(|(token, _)| *token == Token::Assign);
    match equal.map(|(_, span)| span.range()) {
        Some(range) => (text[..range.start].trim(), text[range.end..].trim()),
        None => (text, text),
    }
}

/// Returns the number of bytes of files; the greatest number if one of them is a pipe.
fn byte_count(sources: &[AdSource]) -> u64 {
    let sizes = sources.iter().map(|source| fs::metadata(source.path()).ok().filter(fs::Metadata::is_file));
    sizes.map(|file| file.map(|file| file.len())).sum::<Option<u64>>().unwrap_or(u64::MAX)
}

/// The result of [`KeyTask`]: the ad, its name if it has one, and the values.
#[derive(Default)]
struct KeyedEntry {
    ad: Ad,
    name: Option<String>,
    values: Vec<Value>,
}

impl KeyedAd {
    /// Takes the result of [`KeyTask`]. An ad without a name is called by its place.
    fn of_result(mut mapped: MappedAd<'_, KeyedEntry>) -> Self {
        let KeyedEntry { ad, name, values } = std::mem::take(&mut mapped.output);
        KeyedAd { ad, name: name.unwrap_or_else(|| mapped.location()), values }
    }
}

impl<'k> KeyTask<'k> {
    fn new(expressions: &'k [Expression], context: Context) -> Self {
        KeyTask { expressions, context, names: UnseenNames::of_expressions(expressions) }
    }

    fn entry(&self, ad: Ad) -> KeyedEntry {
        self.names.mark_present(|name| ad.get(name).is_some());
        let name = display_name(&ad, None, &self.context);
        let (environment, frame) = Environment::single(ad.clone());
        // An evaluation that exceeds its budget has no value, and is equal to nothing.
        let value = |expression| Evaluator::new(&environment, &self.context).evaluate(expression, &frame);
        let values = self.expressions.iter().map(|expression| value(expression).unwrap_or(Value::Undefined)).collect();
        KeyedEntry { ad, name, values }
    }
}

impl HeldSide {
    fn read(session: &mut Session, sources: &mut [AdSource], task: &KeyTask<'_>) -> Result<Self, Failure> {
        let mut side = HeldSide { ads: Vec::new(), places: FxHashMap::default(), context: session.context() };
        map_ads(session, sources, None, &|entry: AdEntry| task.entry(entry.ad), |_, mapped| {
            let keyed = KeyedAd::of_result(mapped);
            if let Some(key) = EqualityKey::of_all(&keyed.values) {
                side.places.entry(key).or_default().push(side.ads.len());
            }
            side.ads.push(keyed);
            Ok(true)
        })?;
        Ok(side)
    }

    /// Returns the indexes of the ads whose values `==` finds equal to `values`, ascending.
    fn partners(&self, values: &[Value]) -> impl Iterator<Item = usize> {
        let places = EqualityKey::of_all(values).and_then(|key| self.places.get(&key));
        let is_equal = move |place: &usize| {
            values.iter().zip(&self.ads[*place].values).all(|(value, other)| {
                let equal = binary(BinaryOperator::Equal, value, other, self.context.dialect, Span::default());
                equal == Value::Boolean(true)
            })
        };
        places.into_iter().flatten().copied().filter(is_equal).collect::<Vec<_>>().into_iter()
    }
}

impl RowMaker {
    /// Returns the row of a pair, or of an ad without a partner.
    fn row(&mut self, left: &KeyedAd, right: Option<&KeyedAd>) -> Vec<TableCell> {
        if self.columns.is_empty() {
            let right = right.map_or_else(|| TableCell::from(&Value::Undefined), |right| right.name.as_str().into());
            return vec![left.name.as_str().into(), right];
        }
        let (environment, frame) = match right {
            Some(right) => {
                let (environment, [frame, _]) = Environment::pair(left.ad.clone(), right.ad.clone());
                (environment, frame)
            }
            None => Environment::single(left.ad.clone()),
        };
        let mut failures = 0;
        let cells = self.columns.iter().map(|(_, expression)| {
            let mut evaluator = Evaluator::new(&environment, &self.context);
            let value = evaluator.evaluate(expression, &frame);
            self.context.count_comparisons(Work::JoinedColumn.steps() + evaluator.steps());
            TableCell::from(&value.unwrap_or_else(|_| {
                failures += 1;
                Value::Undefined
            }))
        });
        let cells = cells.collect();
        self.failures += failures;
        cells
    }
}

impl RowSink {
    /// Counts an ad of the files.
    fn count_left(&mut self, has_partner: bool) {
        self.lefts += 1;
        self.lonely += usize::from(!has_partner);
    }

    fn add(&mut self, out: &mut dyn Write, row: impl FnOnce() -> Vec<TableCell>) -> Result<(), Failure> {
        self.count += 1;
        self.context.charge(Work::JoinedRow, 1);
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let row = row();
        self.context.count_comparisons(steps_of_text(&row));
        self.context.count_held_bytes(writer.held_bytes(&row));
        writer.write(out, row)
    }
}

#[cfg(test)]
mod tests {
    use super::split_key;

    #[test]
    fn a_key_is_split_at_its_first_equal_sign() {
        for (text, expected) in [
            ("A", ("A", "A")),
            (" A ", (" A ", " A ")),
            ("A=B", ("A", "B")),
            (" A = B ", ("A", "B")),
            ("A==B", ("A==B", "A==B")),
            ("A == 1 = B != 2", ("A == 1", "B != 2")),
            ("A =?= B", ("A =?= B", "A =?= B")),
            ("strcat(\"=\", A) = B", ("strcat(\"=\", A)", "B")),
            ("A=", ("A", "")),
            ("=B", ("", "B")),
            ("A=B=C", ("A", "B=C")),
        ] {
            assert_eq!(split_key(text), expected, "{text}");
        }
    }
}
