//! `classad diff`: differences between two files of ads.

mod ad_change;
mod ad_texts;
pub mod name_glob;

use std::io::{self, Write};

use clap::Args;
use classad::ad::{Ad, Attribute, Expression, Name};
use classad::eval::Context;
use classad::format::{AdEntry, FileFormat};
use classad::pool::diff::{DiffMode, Difference, UnpairedAds, differences};
use classad::protocol::{Advertisement, identity};
use classad::syntax::dialect_text;
use classad::text::{counted, with_commas};

use super::diff::ad_change::AdChange;
use super::diff::ad_texts::compare_texts;
use super::diff::name_glob::NameGlob;
use crate::cli::io::argument_text;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::unseen_names::{first_names, note_misspelt_names};
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::diagnostics;
use crate::cli::render::json::write_json_document;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad diff yesterday.long today.long --no-clocks --ignore 'LoadAvg'
  classad diff yesterday.long today.long --only State,Activity
  classad diff machines.long machines.json && echo 'nothing is lost'

Exit status: 0 if the ads do not differ, 1 if they do, 2 if a file or an ad cannot be read.

`classad help schema diff` describes the output of -o json. With jsonl, each line is one element of `ads`.";

/// Show the differences between two files of ads
///
/// Ads with the same name are paired; ads without a name are paired in the order of the files. The format, the order of
/// attributes and the layout of expressions do not matter.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Diff {
    /// File of the old ads
    #[arg(value_name = "A")]
    before: String,
    /// File of the new ads
    #[arg(value_name = "B")]
    after: String,
    /// Expression for the names of ads; ads with the same name are paired
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// Ignore these attributes; `*` matches any characters
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Ignore clocks, idle times and counters of updates, such as `LastHeardFrom` and `KeyboardIdle`, but not loads
    #[arg(long)]
    no_clocks: bool,
    /// Compare only these attributes; `*` matches any characters
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Treat `2` and `2.0` as equal
    #[arg(long, conflicts_with = "textual")]
    numeric: bool,
    /// Also compare parentheses, the case of names, and the order of attributes in nested ads
    #[arg(long)]
    textual: bool,
    /// Format of the output; without this option, lines that begin with `~`, `-` and `+`
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Omit the heading
    #[arg(long)]
    no_header: bool,
}

/// Returns the patterns of names that an option lists.
fn globs(names: &[String]) -> Vec<NameGlob> {
    names.iter().map(|name| NameGlob::new(name.trim())).collect()
}

/// The differences between two files.
#[derive(Default)]
struct DiffReport {
    changes: Vec<AdChange>,
    /// Number of pairs of equal ads.
    equal: usize,
}

/// How two files are compared: which ads are paired, how their expressions are compared, and which attributes are
/// ignored.
struct AdComparison {
    /// The expression of `--id`, by which ads are paired.
    id: Option<Expression>,
    measure: DiffMode,
    ignored: Vec<NameGlob>,
    /// The attributes that are compared; empty for all.
    compared: Vec<NameGlob>,
    /// An ad without attributes. An ad that only one file has is compared with it.
    no_ad: Ad,
    context: Context,
}

/// What is shown in place of a value that is not.
const PRIVATE: &str = "(private)";

/// The attributes of HTCondor's ads that change with time alone, or with each update.
const CLOCKS: [&str; 17] = [
    "ClockDay",
    "ClockMin",
    "ConsoleIdle",
    "EnteredCurrent*",
    "KeyboardIdle",
    "LastBenchmark",
    "LastHeardFrom",
    "LastUpdate*",
    "MonitorSelf*",
    "MyCurrentTime",
    "ServerTime",
    "TotalTime*",
    "UpdateSequenceNumber",
    "UpdatesHistory*",
    "UpdatesLost*",
    "UpdatesSequenced*",
    "UpdatesTotal*",
];

impl Diff {
    /// Returns the patterns of the clocks, if they are left out.
    fn clocks(&self) -> impl Iterator<Item = NameGlob> {
        CLOCKS.into_iter().filter(|_| self.no_clocks).map(NameGlob::new)
    }

    /// Notes names of --only and --ignore that are most likely misspelt.
    fn note_misspelt(&self, session: &Session, sources: &[AdSource]) {
        let plain = self.only.iter().chain(&self.ignore).filter(|pattern| !pattern.contains('*'));
        let names: Vec<Name> = plain.map(|name| Name::new(name)).collect();
        if let Some(known) = first_names(session, sources).filter(|_| !names.is_empty()) {
            note_misspelt_names(session, &names, &known);
        }
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut sources = input::open_sources(session, &[self.before.clone(), self.after.clone()])?;
        input::decide_dialect_and_time(session, &sources);
        // A file that could not be opened has been reported. Without both files every ad would seem to have changed.
        let [before, after] = sources.as_mut_slice() else { return Err(Failure::Refused(None)) };
        let comparison = AdComparison {
            id: argument_text::parse_optional_expression(session, "--id", self.id.as_deref())?,
            measure: match (self.textual, self.numeric) {
                (true, _) => DiffMode::Text,
                (_, true) => DiffMode::Numbers,
                _ => DiffMode::Meaning,
            },
            ignored: globs(&self.ignore).into_iter().chain(self.clocks()).collect(),
            compared: globs(&self.only),
            no_ad: Ad::default(),
            context: session.context(),
        };
        let report = comparison.compare(session, [before, after])?;
        self.note_misspelt(session, &sources);
        if !session.options.quiet {
            match self.write_report(session, &report, &comparison) {
                // The program that reads the output has read enough. The status says whether the files differ.
                Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
                written => written?,
            }
        }
        Ok(Status::of(report.changes.is_empty()))
    }

    /// Prints what differs, and how many ads do.
    fn write_report(&self, session: &Session, report: &DiffReport, comparison: &AdComparison) -> Result<(), Failure> {
        let counts = report.counts();
        let mut out = out();
        match self.output {
            None => {
                let colored = diagnostics::colors_stdout(&session.options);
                for change in &report.changes {
                    change.write(&mut out, colored, comparison)?;
                }
            }
            Some(form @ (OutputForm::Json | OutputForm::Jsonl)) => {
                let records = report.changes.iter().map(|change| change.json(comparison));
                write_json_document(&mut out, form, &counts, "ads", records)?;
            }
            form => change_table(report, comparison, form).write(&mut out, form, !self.no_header)?,
        }
        // Flush the results, so that the note on standard error comes after them.
        out.flush()?;
        let [(_, changed), (_, added), (_, removed), (_, equal)] = counts;
        let ads = counted(changed, "ad");
        session.note(&format!("{ads} changed, {added} added, {removed} removed, {equal} equal"));
        let by_form = comparison.changed_in_form_of_numbers(report);
        if by_form > 0 {
            let of = format!("{} of {}", with_commas(by_form), counted(changed, "changed ad"));
            session.note(&format!(
                "in {of}, only the type of numbers changed, such as 2 and 2.0; --numeric ignores such changes"
            ));
        }
        Ok(())
    }
}

impl DiffReport {
    /// Counts the changed, added, removed and equal ads. Returns each count with its key in the JSON output.
    fn counts(&self) -> [(&'static str, usize); 4] {
        let count = |kind| (kind, self.changes.iter().filter(|change| change.kind().0 == kind).count());
        [count("changed"), count("added"), count("removed"), ("equal", self.equal)]
    }
}

impl AdComparison {
    /// Returns the text of an expression, as users of the dialect write it. `None` if it is not shown.
    fn text(&self, change: &AdChange, attribute: Attribute) -> Option<String> {
        (!self.hides(change, attribute.name)).then(|| dialect_text(attribute.expression, self.context.dialect))
    }

    /// Whether the values of an attribute are not shown: those of HTCondor's private attributes, unless `--only` names
    /// them.
    fn hides(&self, change: &AdChange, name: &Name) -> bool {
        let mut ads = change.before.iter().chain(&change.after);
        self.compared.is_empty() && ads.any(|entry| entry.ad.hides(name, self.context.dialect))
    }

    /// Returns the number of changed ads whose numbers have equal values and other types. 0 if types do not count, or if
    /// texts are compared.
    fn changed_in_form_of_numbers(&self, report: &DiffReport) -> usize {
        if self.measure != DiffMode::Meaning {
            return 0;
        }
        let changed = report.changes.iter().filter_map(|change| change.before.as_ref().zip(change.after.as_ref()));
        let is_equal = |(before, after): &(&AdEntry, &AdEntry)| {
            self.differences_by(DiffMode::Numbers, Some(before), Some(after)).is_empty()
        };
        changed.filter(is_equal).count()
    }

    /// Compares two files. Reads `before` into memory and streams `after`. Drops each pair of equal ads at once, to
    /// save memory. Changed and removed ads come first, in the order of the first file, then added ads in the order of
    /// the second file.
    fn compare(&self, session: &mut Session, [before, after]: [&mut AdSource; 2]) -> Result<DiffReport, Failure> {
        let are_long = before.form == FileFormat::Long && after.form == FileFormat::Long;
        // With `--seed`, the identities of all ads draw random numbers in the order of the ads.
        let mut report = if are_long && session.options.seed.is_none() {
            compare_texts(session, self, [before, after])?
        } else {
            self.compare_trees(session, [before, after])?
        };
        // Sort changed and removed ads by their numbers in the first file. Added ads come last, in the order of the
        // second file, because the sort is stable.
        report.changes.sort_by_key(|change| change.before.as_ref().map_or(usize::MAX, |old| old.number));
        Ok(report)
    }

    /// Compares two files in any form by the trees of their ads. The changes are in no order.
    fn compare_trees(&self, session: &mut Session, [before, after]: [&mut AdSource; 2]) -> Result<DiffReport, Failure> {
        let mut old_ads: Vec<Option<AdEntry>> = Vec::new();
        let mut identities = Vec::new();
        let (limit, mut has_more) = (input::held_ads_limit(session, before), false);
        input::for_each_ad(session, [&mut *before], |_, _, entry| {
            has_more = old_ads.len() == limit;
            if !has_more {
                identities.push(identity(&entry.ad, self.id.as_ref(), &self.context));
                old_ads.push(Some(entry));
            }
            Ok(!has_more)
        })?;
        if has_more {
            // The other ads would all seem to be added.
            input::report_held_ads(session, before);
            return Err(Failure::Refused(None));
        }
        let mut partners: UnpairedAds<Option<String>> = identities.iter().cloned().collect();
        let mut report = DiffReport::default();
        input::for_each_ad(session, [after], |session, _, new| {
            let identity = identity(&new.ad, self.id.as_ref(), &self.context);
            let old = partners.take_partner(&identity).and_then(|place| old_ads.get_mut(place)?.take());
            match old {
                Some(old) if self.are_equal(&old, &new) => report.equal += 1,
                before => report.changes.push(self.change(identity, before, Some(new))),
            }
            Ok(!session.options.quiet || report.changes.is_empty())
        })?;
        let unpaired = old_ads.into_iter().zip(identities).filter(|(old, _)| old.is_some());
        report.changes.extend(unpaired.map(|(before, identity)| self.change(identity, before, None)));
        Ok(report)
    }

    /// Makes a change of a pair of ads. One of the two can be missing. With `--id`, the identity is also the name.
    fn change(&self, identity: Option<String>, before: Option<AdEntry>, after: Option<AdEntry>) -> AdChange {
        let ad = || Some(&before.as_ref().or(after.as_ref())?.ad);
        let own = || Advertisement::new(ad()?, &self.context).display_name();
        AdChange { name: if self.id.is_some() { identity } else { own() }, before, after }
    }

    /// Whether no attributes differ but ignored ones.
    fn are_equal(&self, before: &AdEntry, after: &AdEntry) -> bool {
        self.differences(Some(before), Some(after)).is_empty()
    }

    /// Returns the attributes that differ and are not ignored. If only one file has the ad, all its attributes differ.
    fn differences<'a>(&'a self, before: Option<&'a AdEntry>, after: Option<&'a AdEntry>) -> Vec<Difference<'a>> {
        self.differences_by(self.measure, before, after)
    }

    /// Returns the attributes that differ by a measure, as [`AdComparison::differences`] does.
    fn differences_by<'a>(
        &'a self,
        measure: DiffMode,
        before: Option<&'a AdEntry>,
        after: Option<&'a AdEntry>,
    ) -> Vec<Difference<'a>> {
        let [before, after] = [before, after].map(|entry| entry.map_or(&self.no_ad, |entry| &entry.ad));
        let mut differences = differences(before, after, measure);
        let has = |patterns: &[NameGlob], name: &str| patterns.iter().any(|pattern| pattern.matches(name));
        differences.retain(|one| {
            let name = one.name().as_str();
            !has(&self.ignored, name) && (self.compared.is_empty() || has(&self.compared, name))
        });
        differences
    }
}

/// Returns one row for each attribute that differs, and one for each ad that only one file has. With `-o names`,
/// returns one row for each ad.
fn change_table(report: &DiffReport, comparison: &AdComparison, form: Option<OutputForm>) -> ResultTable {
    let mut rows = ResultTable::new(&["id", "change", "attribute", "before", "after"]);
    for change in &report.changes {
        let (kind, _) = change.kind();
        let row = |name: String, before: String, after: String| -> Vec<TableCell> {
            vec![change.label().into(), kind.into(), name.into(), before.into(), after.into()]
        };
        let side = |attribute: Option<Attribute>| {
            attribute.map_or(String::new(), |side| comparison.text(change, side).unwrap_or_else(|| PRIVATE.to_owned()))
        };
        if kind == "changed" && form != Some(OutputForm::Names) {
            let differences = change.differences(comparison).into_iter();
            rows.rows.extend(differences.map(|one| row(one.name().to_string(), side(one.before()), side(one.after()))));
        } else {
            rows.rows.push(row(String::new(), String::new(), String::new()));
        }
    }
    rows
}
