//! Many explanations at a glance: the causes, each with its jobs and the change that helps most of them.

use classad::explain::{Cause, MAX_SHORT_CAUSE_CHARS};
use classad::text::{counted, join_and, join_first, shorten, with_commas};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

use super::cause_entry::{CauseEntry, EntryChange, MAX_NAMED, strike_numbers};
use super::queue_counts::QueueCounts;
use crate::cli::render::chart::percent;
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::rows::ResultTable;
use crate::cli::render::svg::bars::{Bar, BarGroup, draw_above};
use crate::cli::render::svg::{Drawing, Fill};
use crate::cli::render::tally_table::{self, NameCounts, TallyRow, TallyTable, unfolded_rows};

use super::spread_text::SpreadText;
use super::verdict_codes::{CLAIMED, LIMITED, NOT_WAITING, PARTLY_SERVED, TAKEN, needs_change, no_change_phrase};

/// Maximum length of a change in the table, in characters. The reports below the table have all of it.
const MAX_CHANGE_CHARS: usize = 240;

/// Maximum number of causes in a picture; the others are counted together.
const MAX_DRAWN_CAUSES: usize = 12;

/// The explanations of a run, by cause.
pub struct CauseTable {
    /// The causes by their identifiers.
    causes: IndexMap<String, CauseRow>,
    /// The noun for what is explained, singular: `job`, `request`, `slot` or `offer`.
    noun: String,
    counts: QueueCounts,
    /// Number of further subjects, which get a partner and are not explained; `None` unless the run gives partners away.
    served: Option<usize>,
}

/// Subjects that have one cause, but for numbers.
struct CauseRow {
    verdict: String,
    /// What can be done where no change helps: about a limit, or about the reason of a hold.
    remedy: SpreadText,
    /// What the site says of the cause; empty if nothing.
    of_site: String,
    /// Whether the cause is a mistake of the subjects, for which there is nothing to wait.
    is_mistake: bool,
    /// The resources of which divided offers have too little left, with the numbers of subjects.
    scarce: NameCounts,
    /// Whether the subjects are jobs that do not wait, are not held, and have no policy to tell of.
    is_past: bool,
    /// The cause in words.
    text: SpreadText,
    subjects: usize,
    owners: NameCounts,
    /// The changes that help, by their texts with numbers struck out.
    changes: IndexMap<String, HelpfulChange>,
    largest: LargestGroup,
    /// The first names of the other groups.
    other_names: Vec<String>,
}

/// The largest group of subjects with one cause.
#[derive(Default)]
struct LargestGroup {
    subjects: usize,
    /// Number of subjects of which the report tells.
    told: usize,
    /// The first names.
    names: Vec<String>,
    /// The changes that help it, with struck numbers.
    changes: Vec<String>,
    report: String,
}

/// A change with which some subjects match.
struct HelpfulChange {
    text: SpreadText,
    /// Number of subjects that match something after the change.
    helped: usize,
    /// Number of subjects that can match different partners after the change: of 26 jobs that then match one and the
    /// same slot, one.
    served: usize,
    /// The same for partners that are free. `None` if it is not known which ones are.
    served_by_free: Option<usize>,
    /// Number of subjects that it helps and that would ask for much less.
    far_less: usize,
}

impl CauseTable {
    pub fn new(noun: String, served: Option<usize>) -> Self {
        CauseTable { causes: IndexMap::new(), noun, counts: QueueCounts::default(), served }
    }

    /// Adds the report of a group. `text` is the whole report. Damaged partial results may claim more subjects than there
    /// can be.
    pub fn add(&mut self, entry: CauseEntry, text: String) {
        self.counts.add(&entry);
        if entry.matches && !entry.has_policy {
            return;
        }
        let is_mistake = entry.cause_id.starts_with(Cause::Mistake.identifier());
        let cause = self.causes.entry(entry.cause_id).or_insert_with(|| CauseRow {
            verdict: entry.verdict.clone(),
            remedy: SpreadText::new(&entry.remedy),
            of_site: entry.of_site.clone(),
            is_mistake,
            scarce: NameCounts::default(),
            is_past: entry.verdict == NOT_WAITING && !entry.is_held && !entry.has_policy,
            text: SpreadText::new(&entry.text),
            subjects: 0,
            owners: NameCounts::default(),
            changes: IndexMap::new(),
            largest: LargestGroup::default(),
            other_names: Vec::new(),
        });
        entry.scarce.into_iter().for_each(|resource| cause.scarce.add(resource, entry.subjects));
        cause.text.include(&entry.text, entry.subjects);
        cause.remedy.include(&entry.remedy, entry.subjects);
        cause.subjects = cause.subjects.saturating_add(entry.subjects);
        entry.owners.into_iter().for_each(|(owner, subjects)| cause.owners.add(owner, subjects));
        let changes = entry.changes.iter().map(|change| strike_numbers(&change.text)).collect();
        cause.add_changes(entry.changes, entry.subjects);
        let mut names = entry.names;
        let mut others = if entry.subjects > cause.largest.subjects {
            let own = names.drain(..entry.told.min(names.len())).collect();
            let group = LargestGroup { subjects: entry.subjects, told: entry.told, names: own, changes, report: text };
            cause.verdict = entry.verdict;
            [names, std::mem::replace(&mut cause.largest, group).names].concat()
        } else {
            names
        };
        others.truncate(MAX_NAMED.saturating_sub(cause.other_names.len()));
        cause.other_names.extend(others);
    }

    /// Sorts the causes by their numbers of subjects, the most first.
    fn sort(&mut self) {
        self.causes.sort_by(|_, one, _, other| other.subjects.cmp(&one.subjects));
    }

    /// Returns the table as text, and the report of the largest group of each listed cause, unless `is_short`.
    /// `lists_all` lists the causes with few subjects, too.
    pub fn into_text(mut self, is_short: bool, lists_all: bool) -> String {
        self.sort();
        let mut text = String::new();
        let sentence = self.counts.sentence(&self.noun, self.served);
        diagnostics::push_words(&mut text, "", sentence.split(' ').map(str::to_owned), tally_table::width());
        let (past, causes): (Vec<CauseRow>, Vec<CauseRow>) = self.causes.into_values().partition(|cause| cause.is_past);
        let listed = if lists_all { causes.len() } else { unfolded_rows(causes.len()) };
        let reports: String = causes[..listed].iter().map(CauseRow::report_section).collect();
        let rows = |causes: Vec<CauseRow>| causes.into_iter().map(CauseRow::into_row).collect();
        let table = TallyTable {
            noun: &self.noun,
            titles: ["cause", "what would help"],
            rows: rows(causes),
            last_rows: rows(past),
            is_partition: true,
        };
        text.push_str(&table.render(listed));
        if is_short { text } else { text + &reports }
    }

    /// Returns the table as a picture: a bar for each cause. `line` says more below the title.
    pub fn into_picture(mut self, line: &str) -> String {
        self.sort();
        let mut drawing = Drawing::new(&self.counts.sentence(&self.noun, self.served), line);
        let QueueCounts { all, matching, .. } = self.counts;
        let bar = |label: String, count: usize, fill: Fill, remark: String| Bar {
            label,
            count,
            share: format!("{} %", percent(count, all, 1)),
            fill,
            remark,
        };
        let matching = (matching > 0).then(|| {
            let label = if matching == 1 { "matches" } else { "match" };
            bar(label.to_owned(), matching, Fill::Good, String::new())
        });
        let rest = count_subjects(self.causes.values().skip(MAX_DRAWN_CAUSES));
        let rest = (rest > 0).then(|| {
            let causes = counted(self.causes.len() - MAX_DRAWN_CAUSES, "other cause");
            bar(causes, rest, Fill::Rest, String::new())
        });
        let causes = self.causes.values().take(MAX_DRAWN_CAUSES).map(|cause| {
            let fill = if cause.verdict == NOT_WAITING { Fill::Rest } else { Fill::Bad };
            let owners = cause.owners.count();
            let owners = if owners > 1 { counted(owners, "owner") } else { String::new() };
            let helps = cause.help_phrase();
            let helps = if helps.is_empty() { helps } else { format!("what would help: {helps}") };
            let remark: Vec<String> = [owners, helps].into_iter().filter(|part| !part.is_empty()).collect();
            bar(cause.text.to_string(), cause.subjects, fill, remark.join("; "))
        });
        let bars = matching.into_iter().chain(causes).chain(rest).collect();
        draw_above(&mut drawing, &BarGroup { heading: String::new(), about: String::new(), bars });
        drawing.finish()
    }

    /// Returns a row for each cause.
    pub fn into_table(mut self) -> ResultTable {
        self.sort();
        let rows = self.causes.iter().map(|(id, cause)| {
            let best = cause.best_change();
            vec![
                cause.verdict.clone().into(),
                cause.subjects.into(),
                cause.owners.count().into(),
                cause.text.to_string().into(),
                best.map_or(String::new(), |change| change.text.to_string()).into(),
                best.map_or(0, |change| change.helped).into(),
                id.as_str().into(),
                cause.owners.names().join(",").into(),
                cause.example().into(),
            ]
        });
        let header = ["verdict", "requests", "owners", "cause", "change", "helps", "cause_id", "names", "example"];
        ResultTable::with_rows(&header, rows)
    }

    /// Returns the table as JSON.
    pub fn into_json(mut self) -> Json {
        self.sort();
        let causes = self.causes.iter().map(|(id, cause)| {
            let best = cause.best_change();
            json!({
                "cause_id": id,
                "verdict": cause.verdict,
                "cause": cause.text.to_string(),
                "requests": cause.subjects,
                "owners": cause.owners.count(),
                "owner_names": cause.owners.names(),
                "example": cause.example(),
                "change": best.map(|change| change.text.to_string()),
                "helps": best.map(|change| change.helped),
            })
        });
        let causes: Json = causes.collect();
        let mut totals = json!({ "requests": self.counts.all, "matching": self.counts.matching, "causes": causes });
        if let Some(members) = totals.as_object_mut() {
            members.extend(self.served.map(|served| ("served".to_owned(), served.into())));
            self.counts.write_into(members);
        }
        totals
    }
}

/// Returns the number of subjects of some causes.
fn count_subjects<'c>(causes: impl Iterator<Item = &'c CauseRow>) -> usize {
    causes.fold(0, |subjects, cause| subjects.saturating_add(cause.subjects))
}

impl CauseRow {
    /// Adds the changes that help a group of subjects.
    fn add_changes(&mut self, changes: Vec<EntryChange>, subjects: usize) {
        let mut counted: FxHashSet<String> = FxHashSet::default();
        for EntryChange { text, matches, free, is_far_less } in changes {
            let struck = strike_numbers(&text);
            if counted.insert(struck.clone()) {
                let known = self.changes.entry(struck).or_insert_with(|| HelpfulChange {
                    text: SpreadText::new(&text),
                    helped: 0,
                    served: 0,
                    served_by_free: Some(0),
                    far_less: 0,
                });
                known.far_less = known.far_less.saturating_add(if is_far_less { subjects } else { 0 });
                known.helped = known.helped.saturating_add(subjects);
                known.served = known.served.saturating_add(matches.min(subjects));
                let served_by_free = known.served_by_free.zip(free);
                known.served_by_free = served_by_free.map(|(served, free)| served.saturating_add(free.min(subjects)));
                known.text.include(&text, subjects);
            }
        }
    }

    /// The row of the cause in the table.
    fn into_row(self) -> TallyRow {
        let help = self.help_phrase();
        let texts = [help, self.of_site.clone()].into_iter().filter(|text| !text.is_empty());
        let remark = texts.collect::<Vec<_>>().join("; ");
        let label = self.text.shortened(MAX_SHORT_CAUSE_CHARS);
        TallyRow { count: self.subjects, owners: self.owners, label, remark }
    }

    /// The report of the largest group, and the names of subjects whose reports are left out because they have the same
    /// cause.
    fn report_section(&self) -> String {
        let others = self.subjects.saturating_sub(self.largest.told);
        let names = join_first(&self.other_names, others, MAX_NAMED);
        let others = if others > 0 { format!("the same cause: {}\n", single_line(&names)) } else { String::new() };
        let changes = self.changes.iter().filter(|(struck, _)| !self.largest.changes.contains(struck));
        let changes = changes.take(MAX_NAMED).map(|(_, change)| {
            format!("  with another change: {} (helps {})\n", change.text, with_commas(change.helped))
        });
        format!("\n{}{others}{}", self.largest.report, changes.collect::<String>())
    }

    /// The name of a subject with the cause.
    fn example(&self) -> &str {
        self.largest.names.first().map_or("", String::as_str)
    }

    /// Returns the change that helps most, and how many subjects it helps if it does not help all.
    fn help_phrase(&self) -> String {
        if self.changes.is_empty() && needs_change(&self.verdict) {
            let remedy = self.remedy.shortened(MAX_CHANGE_CHARS);
            if !remedy.is_empty() {
                return remedy;
            }
            return no_change_phrase(self.text.to_string().split(|c: char| !c.is_alphanumeric())).to_owned();
        }
        if [LIMITED, PARTLY_SERVED, NOT_WAITING, "matches"].contains(&self.verdict.as_str()) {
            return self.remedy.to_string();
        }
        // Where most of the subjects can only wait, a change for few of them is in their reports.
        let is_rare = |change: &HelpfulChange| change.helped.saturating_mul(2) < self.subjects;
        let waits = [TAKEN, CLAIMED].contains(&self.verdict.as_str()) && !self.is_mistake;
        if waits && self.best_change().is_none_or(is_rare) {
            return match self.scarce.names().as_slice() {
                [] => "wait".to_owned(),
                scarce => {
                    let run = if scarce.len() == 1 { "runs" } else { "run" };
                    format!("wait, or test smaller requests with --what-if: {} {run} out", join_and(scarce))
                }
            };
        }
        self.best_change().map_or(String::new(), |change| {
            let helped = (change.helped < self.subjects)
                .then(|| format!("for at least {} of {}", with_commas(change.helped), with_commas(self.subjects)));
            let none_free = (change.served_by_free == Some(0)).then(|| "nothing that matches is free".to_owned());
            let far_less = match change.far_less {
                0 => None,
                all if all == change.helped => Some("much less than requested".to_owned()),
                some => Some(format!("much less than requested for {}", with_commas(some))),
            };
            let remarks: Vec<String> = [far_less, helped, none_free].into_iter().flatten().collect();
            let text = shorten(&change.text.to_string(), MAX_CHANGE_CHARS);
            let text = if waits { format!("wait, or {text}") } else { text };
            if remarks.is_empty() { text } else { format!("{text} ({})", remarks.join("; ")) }
        })
    }

    /// The change that helps the most subjects. Subjects that match different free partners count first, then those that
    /// match different partners. The first one of several is returned.
    fn best_change(&self) -> Option<&HelpfulChange> {
        // A job that does not wait needs no change.
        if self.verdict == NOT_WAITING {
            return None;
        }
        self.changes.values().rev().max_by_key(|change| (change.served_by_free, change.served, change.helped))
    }
}

#[cfg(test)]
#[path = "causes_tests.rs"]
mod tests;
