//! `classad diff`: what changed between two files of ads.

use std::io::{self, Write};

use clap::Args;
use classad::ad::{Ad, Attribute, Expression};
use classad::constraint::identity;
use classad::format::diff::{Difference, Measure, Pair, differences, pair};
use classad::syntax::{Style, print, print_name};
use serde_json::{Value, json};

use super::output::{Cell, OutputForm, Rows, json_array, out};
use super::pattern::Pattern;
use super::session::Session;
use super::source::Source;
use super::{Failure, Status, input, report};

const EXAMPLES: &str = "\
Examples:
  classad diff yesterday.long today.long --ignore 'Last*,*Time,UpdateSequenceNumber'
  classad diff machines.long machines.json && echo 'nothing is lost'

Exit status: 0 no difference, 1 differences, 2 trouble.

JSON: {\"version\":1,\"changed\",\"added\",\"removed\",\"equal\",\"ads\":[{\"id\",\"change\":\"changed|added|removed\",
\"before\",\"after\",\"attributes\":[{\"name\",\"before\",\"after\"}]}]}: `id` is null for ads without one, `before`
and `after` of an ad are its numbers in the files, those of an attribute its expressions as texts, each null where
there is none. With `jsonl` each line is one of the `ads`.";

/// Show what changed between two files of ads, by identity and meaning
///
/// Ads are paired by what they are called; ads that are called the same, or have no name, in their order. The order
/// of ads and of attributes does not count, nor does how an expression is written.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Diff {
    /// The ads as they were
    #[arg(value_name = "A")]
    before: String,
    /// The ads as they are now
    #[arg(value_name = "B")]
    after: String,
    /// What an ad is called
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// Leave these attributes out; `*` stands for any letters
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Compare the printed texts: the spelling of names and parentheses count
    #[arg(long)]
    textual: bool,
    /// The form of the output, instead of lines with `~`, `-` and `+`
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    no_header: bool,
}

/// The ads of a file.
#[derive(Default)]
struct Side {
    ads: Vec<Ad>,
    identities: Vec<Option<String>>,
    /// Which ad of the file each is.
    numbers: Vec<usize>,
}

/// An ad that is not the same in both files.
struct Change<'a> {
    pair: Pair,
    identity: Option<&'a str>,
    /// Which ad it is in each file.
    before: Option<usize>,
    after: Option<usize>,
    differences: Vec<Difference<'a>>,
}

/// What was found.
#[derive(Default)]
struct Report<'a> {
    changes: Vec<Change<'a>>,
    changed: usize,
    added: usize,
    removed: usize,
    equal: usize,
}

impl Diff {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let sources = input::open(session, &[self.before.clone(), self.after.clone()])?;
        // What could not be read has been reported; without it everything would seem to have changed.
        let [before, after] = sources.as_slice() else { return Err(Failure::Refused(None)) };
        session.decide_dialect(&sources);
        let id = input::optional(session, "--id", self.id.as_deref())?;
        let before = Side::read(session, before, id.as_ref())?;
        let after = Side::read(session, after, id.as_ref())?;
        let report = self.compare(&before, &after);
        if !session.options.quiet {
            let mut out = out();
            self.write(session, &mut out, &report)?;
            out.flush()?;
            let Report { changed, added, removed, equal, .. } = report;
            let ads = if changed == 1 { "ad" } else { "ads" };
            session.note(&format!("{changed} {ads} changed, {added} added, {removed} removed, {equal} equal"));
        }
        Ok(Status::of(report.changes.is_empty()))
    }

    fn compare<'a>(&self, before: &'a Side, after: &'a Side) -> Report<'a> {
        let measure = if self.textual { Measure::Text } else { Measure::Meaning };
        let ignored: Vec<Pattern> = self.ignore.iter().map(|text| Pattern::new(text.trim())).collect();
        let counts = |one: &Difference| !ignored.iter().any(|pattern| pattern.matches(one.name().as_str()));
        let mut report = Report::default();
        for pair in pair(&before.identities, &after.identities) {
            let (old, new) = match pair {
                Pair::Both(old, new) => (Some(old), Some(new)),
                Pair::Removed(old) => (Some(old), None),
                Pair::Added(new) => (None, Some(new)),
            };
            let mut differences: Vec<Difference> = match (old, new) {
                (Some(old), Some(new)) => differences(&before.ads[old], &after.ads[new], measure),
                (Some(old), None) => before.ads[old].iter().map(Difference::Removed).collect(),
                (None, new) => new.iter().flat_map(|new| after.ads[*new].iter()).map(Difference::Added).collect(),
            };
            differences.retain(counts);
            match pair {
                Pair::Both(..) if differences.is_empty() => {
                    report.equal += 1;
                    continue;
                }
                Pair::Both(..) => report.changed += 1,
                Pair::Removed(_) => report.removed += 1,
                Pair::Added(_) => report.added += 1,
            }
            report.changes.push(Change {
                pair,
                identity: old.map_or_else(|| new.and_then(|new| after.identity(new)), |old| before.identity(old)),
                before: old.map(|old| before.numbers[old]),
                after: new.map(|new| after.numbers[new]),
                differences,
            });
        }
        report
    }

    fn write(&self, session: &Session, out: &mut dyn Write, report: &Report) -> Result<(), Failure> {
        match self.output {
            None => Lines { colored: report::colored_output(&session.options) }.write(out, &report.changes)?,
            Some(OutputForm::Json) => document(out, report)?,
            Some(OutputForm::Jsonl) => json_array(out, OutputForm::Jsonl, report.changes.iter().map(Change::json))?,
            form => rows(report, form).write(out, form, !self.no_header)?,
        }
        Ok(())
    }
}

impl Side {
    fn read(session: &mut Session, source: &Source, id: Option<&Expression>) -> Result<Self, Failure> {
        let mut side = Side::default();
        let context = session.context();
        input::each_ad(session, source, |_, entry| {
            side.identities.push(identity(&entry.ad, id, &context));
            side.numbers.push(entry.number);
            side.ads.push(entry.ad);
            Ok(true)
        })?;
        Ok(side)
    }

    fn identity(&self, place: usize) -> Option<&str> {
        self.identities[place].as_deref()
    }
}

impl Change<'_> {
    /// What the ad is called: if it has no name, by its number.
    fn label(&self) -> String {
        match (self.identity, self.before, self.after) {
            (Some(identity), ..) => identity.to_owned(),
            (None, Some(before), Some(after)) if before != after => format!("ad {before} (now ad {after})"),
            (None, before, after) => format!("ad {}", before.or(after).unwrap_or_default()),
        }
    }

    fn what(&self) -> &'static str {
        match self.pair {
            Pair::Both(..) => "changed",
            Pair::Removed(_) => "removed",
            Pair::Added(_) => "added",
        }
    }

    fn json(&self) -> Value {
        let attributes: Vec<Value> = self.differences.iter().map(|one| {
            json!({ "name": one.name().as_str(), "before": one.before().map(text), "after": one.after().map(text) })
        }).collect();
        json!({
            "id": self.identity,
            "change": self.what(),
            "before": self.before,
            "after": self.after,
            "attributes": attributes,
        })
    }
}

fn text(attribute: Attribute) -> String {
    String::from_utf8_lossy(&print(attribute.expression, Style::New)).into_owned()
}

/// Lines for people.
struct Lines {
    colored: bool,
}

impl Lines {
    fn write(&self, out: &mut dyn Write, changes: &[Change]) -> io::Result<()> {
        for change in changes {
            let label = change.label();
            match change.pair {
                Pair::Added(_) => self.line(out, "", '+', &label)?,
                Pair::Removed(_) => self.line(out, "", '-', &label)?,
                Pair::Both(..) => {
                    self.line(out, "", '~', &label)?;
                    for one in &change.differences {
                        self.side(out, '-', one.before())?;
                        self.side(out, '+', one.after())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn side(&self, out: &mut dyn Write, sign: char, attribute: Option<Attribute>) -> io::Result<()> {
        let line = |attribute: Attribute| format!("{} = {}", print_name(attribute.name), text(attribute));
        attribute.map_or(Ok(()), |attribute| self.line(out, "  ", sign, &line(attribute)))
    }

    fn line(&self, out: &mut dyn Write, indent: &str, sign: char, text: &str) -> io::Result<()> {
        let text = report::line(text);
        let color = match sign {
            '+' => "\x1b[32m",
            '-' => "\x1b[31m",
            _ => "\x1b[1m",
        };
        if self.colored {
            writeln!(out, "{indent}{color}{sign} {text}\x1b[0m")
        } else {
            writeln!(out, "{indent}{sign} {text}")
        }
    }
}

/// One JSON document; an ad on each line.
fn document(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Report { changes, changed, added, removed, equal } = report;
    write!(out, "{{\"version\":1,\"changed\":{changed},\"added\":{added},\"removed\":{removed},\"equal\":{equal},")?;
    write!(out, "\"ads\":")?;
    json_array(out, OutputForm::Json, changes.iter().map(Change::json))?;
    writeln!(out, "}}")
}

/// One row for each attribute; an ad that is new or gone is one row.  Names are those of the ads alone.
fn rows(report: &Report, form: Option<OutputForm>) -> Rows {
    let mut rows = Rows::new(&["id", "change", "attribute", "before", "after"]);
    for change in &report.changes {
        let row = |name: String, before: String, after: String| -> Vec<Cell> {
            [change.label(), change.what().to_owned(), name, before, after].map(Cell::from).into()
        };
        let side = |attribute: Option<Attribute>| attribute.map_or(String::new(), text);
        if matches!(change.pair, Pair::Both(..)) && form != Some(OutputForm::Names) {
            let differences = change.differences.iter();
            rows.rows.extend(differences.map(|one| row(one.name().to_string(), side(one.before()), side(one.after()))));
        } else {
            rows.rows.push(row(String::new(), String::new(), String::new()));
        }
    }
    rows
}
