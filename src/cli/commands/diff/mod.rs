//! `classad diff`: differences between two files of ads.

pub mod name_glob;

use std::io::{self, Write};

use clap::Args;
use classad::ad::{Ad, Attribute, Name};
use classad::format::AdEntry;
use classad::pool::diff::{DiffMode, Difference, UnpairedAds, differences};
use classad::protocol::identity;
use classad::syntax::print_name;
use classad::text::counted_plain;
use serde_json::{Value, json};

use super::diff::name_glob::NameGlob;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::render::diagnostics;
use crate::cli::render::json::write_json_array;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad diff yesterday.long today.long --ignore 'Last*,*Time,UpdateSequenceNumber'
  classad diff machines.long machines.json && echo 'nothing is lost'

Exit status: 0 no difference, 1 differences, 2 trouble.

JSON: {\"version\":1,\"changed\",\"added\",\"removed\",\"equal\",\"ads\":[{\"id\",\"change\",\"before\",\"after\",\
\"attributes\":[{\"name\",\"before\",\"after\"}]}]}
`change` is changed, added or removed; `id` is null for ads without one; `before` and `after` of an ad are its \
numbers in the files, those of an attribute its expressions as texts, null where there is none. With jsonl each \
line is one of the `ads`.";

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

/// An ad that changed, or that only one file has. At least one of `before` and `after` is `Some`.
struct AdChange {
    identity: Option<String>,
    before: Option<AdEntry>,
    after: Option<AdEntry>,
}

/// The differences between two files; `changed`, `added`, `removed` and `equal` are numbers of ads.
#[derive(Default)]
struct DiffReport {
    changes: Vec<AdChange>,
    changed: usize,
    added: usize,
    removed: usize,
    equal: usize,
}

/// When two ads count as equal: how expressions are compared, and which attributes are ignored.
struct AdComparison {
    measure: DiffMode,
    ignored: Vec<NameGlob>,
}

impl Diff {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut sources = input::open_sources(session, &[self.before.clone(), self.after.clone()])?;
        session.decide_dialect(&sources);
        // A file that could not be opened has been reported. Without both files every ad would seem to have changed.
        let [before, after] = sources.as_mut_slice() else { return Err(Failure::Refused(None)) };
        let comparison = AdComparison {
            measure: if self.textual { DiffMode::Text } else { DiffMode::Meaning },
            ignored: self.ignore.iter().map(|text| NameGlob::new(text.trim())).collect(),
        };
        let report = self.compare(session, before, after, &comparison)?;
        if !session.options.quiet {
            self.write(session, &mut out(), &report, &comparison)?;
            let DiffReport { changed, added, removed, equal, .. } = report;
            let ads = counted_plain(changed, "ad");
            session.note(&format!("{ads} changed, {added} added, {removed} removed, {equal} equal"));
        }
        Ok(Status::of(report.changes.is_empty()))
    }

    /// Compares two files. Reads `before` into memory and streams `after`. Drops each pair of equal ads at once, to
    /// save memory.
    fn compare(
        &self,
        session: &mut Session,
        before: &mut AdSource,
        after: &mut AdSource,
        comparison: &AdComparison,
    ) -> Result<DiffReport, Failure> {
        let id = input::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let context = session.context();
        let mut olds: Vec<Option<AdEntry>> = Vec::new();
        let mut identities = Vec::new();
        input::for_each_ad(session, [before], |_, _, entry| {
            identities.push(identity(&entry.ad, id.as_ref(), &context));
            olds.push(Some(entry));
            Ok(true)
        })?;
        let mut partners: UnpairedAds<Option<String>> = identities.iter().cloned().collect();
        let mut report = DiffReport::default();
        let mut changed: Vec<(usize, AdChange)> = Vec::new();
        let mut added = Vec::new();
        input::for_each_ad(session, [after], |session, _, new| {
            let identity = identity(&new.ad, id.as_ref(), &context);
            let place = partners.take_partner(&identity);
            match place.and_then(|place| Some((place, olds.get_mut(place)?.take()?))) {
                Some((_, old)) if comparison.differences(&old.ad, &new.ad).is_empty() => report.equal += 1,
                Some((place, old)) => changed.push((place, AdChange { identity, before: Some(old), after: Some(new) })),
                None => added.push(AdChange { identity, before: None, after: Some(new) }),
            }
            Ok(!session.options.quiet || changed.is_empty() && added.is_empty())
        })?;
        (report.changed, report.added) = (changed.len(), added.len());
        for (place, (old, identity)) in olds.into_iter().zip(identities).enumerate() {
            if let Some(old) = old {
                report.removed += 1;
                changed.push((place, AdChange { identity, before: Some(old), after: None }));
            }
        }
        changed.sort_by_key(|(place, _)| *place);
        report.changes = changed.into_iter().map(|(_, change)| change).chain(added).collect();
        Ok(report)
    }

    fn write(
        &self,
        session: &Session,
        out: &mut dyn Write,
        report: &DiffReport,
        comparison: &AdComparison,
    ) -> Result<(), Failure> {
        let json = report.changes.iter().map(|change| change.json(comparison));
        match self.output {
            None => {
                DiffPrinter { colored: diagnostics::colors_stdout(&session.options) }.write(out, report, comparison)?;
            }
            Some(OutputForm::Json) => {
                let DiffReport { changed, added, removed, equal, .. } = report;
                write!(out, "{{\"version\":1,\"changed\":{changed},\"added\":{added},\"removed\":{removed},")?;
                write!(out, "\"equal\":{equal},\"ads\":")?;
                write_json_array(out, OutputForm::Json, json)?;
                writeln!(out, "}}")?;
            }
            Some(OutputForm::Jsonl) => write_json_array(out, OutputForm::Jsonl, json)?,
            form => change_table(report, comparison, form).write(out, form, !self.no_header)?,
        }
        Ok(())
    }
}

impl AdComparison {
    fn differences<'a>(&self, before: &'a Ad, after: &'a Ad) -> Vec<Difference<'a>> {
        let mut differences = differences(before, after, self.measure);
        differences.retain(|one| self.includes(one.name()));
        differences
    }

    /// Whether an attribute is compared, that is, not ignored.
    fn includes(&self, name: &Name) -> bool {
        !self.ignored.iter().any(|pattern| pattern.matches(name.as_str()))
    }
}

impl AdChange {
    /// Returns the attributes that differ. For an ad that only one file has, returns all attributes that are not
    /// ignored.
    fn differences(&self, comparison: &AdComparison) -> Vec<Difference<'_>> {
        let counts = |one: &Difference| comparison.includes(one.name());
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => comparison.differences(&before.ad, &after.ad),
            (Some(one), None) => one.ad.iter().map(Difference::Removed).filter(counts).collect(),
            (None, one) => one.iter().flat_map(|one| one.ad.iter()).map(Difference::Added).filter(counts).collect(),
        }
    }

    /// Returns the identity of the ad, or `ad N` with the number of the ad in the file if it has no identity.
    fn label(&self) -> String {
        match (&self.identity, self.ad_numbers()) {
            (Some(identity), _) => identity.clone(),
            (None, (Some(before), Some(after))) if before != after => format!("ad {before} (now ad {after})"),
            (None, (before, after)) => format!("ad {}", before.or(after).unwrap_or_default()),
        }
    }

    /// Returns the 1-based numbers of the ad in the two files; `None` for a file without the ad.
    fn ad_numbers(&self) -> (Option<usize>, Option<usize>) {
        let number = |entry: &Option<AdEntry>| entry.as_ref().map(|entry| entry.number);
        (number(&self.before), number(&self.after))
    }

    fn kind_name(&self) -> &'static str {
        match (&self.before, &self.after) {
            (Some(_), None) => "removed",
            (None, _) => "added",
            (Some(_), Some(_)) => "changed",
        }
    }

    fn sign(&self) -> char {
        match (&self.before, &self.after) {
            (Some(_), None) => '-',
            (None, _) => '+',
            (Some(_), Some(_)) => '~',
        }
    }

    fn json(&self, comparison: &AdComparison) -> Value {
        let attributes = self.differences(comparison).into_iter().map(|one| {
            let [before, after] = [one.before(), one.after()].map(|side| side.map(expression_text));
            json!({ "name": one.name().as_str(), "before": before, "after": after })
        });
        let (before, after) = self.ad_numbers();
        json!({
            "id": self.identity,
            "change": self.kind_name(),
            "before": before,
            "after": after,
            "attributes": attributes.collect::<Value>(),
        })
    }
}

fn expression_text(attribute: Attribute) -> String {
    attribute.expression.to_string()
}

/// Writer of the default output: lines with `~`, `-` and `+`.
struct DiffPrinter {
    colored: bool,
}

impl DiffPrinter {
    fn write(&self, out: &mut dyn Write, report: &DiffReport, comparison: &AdComparison) -> io::Result<()> {
        for change in &report.changes {
            self.write_line(out, "", change.sign(), &change.label())?;
            if change.sign() == '~' {
                for one in change.differences(comparison) {
                    self.write_side(out, '-', one.before())?;
                    self.write_side(out, '+', one.after())?;
                }
            }
        }
        Ok(())
    }

    fn write_side(&self, out: &mut dyn Write, sign: char, attribute: Option<Attribute>) -> io::Result<()> {
        let line = |attribute: Attribute| format!("{} = {}", print_name(attribute.name), expression_text(attribute));
        attribute.map_or(Ok(()), |attribute| self.write_line(out, "  ", sign, &line(attribute)))
    }

    fn write_line(&self, out: &mut dyn Write, indent: &str, sign: char, text: &str) -> io::Result<()> {
        writeln!(out, "{}", diagnostics::signed_line(self.colored, indent, sign, text))
    }
}

/// Returns one row for each attribute that differs, and one for each ad that only one file has. With `-o names`,
/// returns one row for each ad.
fn change_table(report: &DiffReport, comparison: &AdComparison, form: Option<OutputForm>) -> ResultTable {
    let mut rows = ResultTable::new(&["id", "change", "attribute", "before", "after"]);
    for change in &report.changes {
        let row = |name: String, before: String, after: String| -> Vec<TableCell> {
            [change.label(), change.kind_name().to_owned(), name, before, after].map(TableCell::from).into()
        };
        let side = |attribute: Option<Attribute>| attribute.map_or(String::new(), expression_text);
        if change.sign() == '~' && form != Some(OutputForm::Names) {
            let differences = change.differences(comparison).into_iter();
            rows.rows.extend(differences.map(|one| row(one.name().to_string(), side(one.before()), side(one.after()))));
        } else {
            rows.rows.push(row(String::new(), String::new(), String::new()));
        }
    }
    rows
}
