//! Many explanations at a glance: the causes, each with its jobs and the change that helps most of them.

use classad::text::{counted, join_first, shorten, with_commas};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

use super::cause_entry::{CauseEntry, EntryChange, MAX_NAMED};
use crate::cli::render::chart::percent;
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::rows::ResultTable;
use crate::cli::render::svg::bars::{Bar, BarGroup, draw_above};
use crate::cli::render::svg::{Drawing, Fill};
use crate::cli::render::table::TableLayout;

use super::spread_text::{SpreadText, text_pieces};
use super::verdict_codes::{CLAIMED, LIMITED, NOT_WAITING, PARTLY_SERVED, TAKEN, needs_change, no_change_phrase};

/// Maximum length of a change in the table, in characters. The reports below the table have all of it.
const MAX_CHANGE_CHARS: usize = 240;

/// Maximum number of causes in a picture; the others are counted together.
const MAX_DRAWN_CAUSES: usize = 12;

/// The explanations of a run, by cause.
pub struct CauseTable {
    /// The causes by their texts, with numbers struck out.
    causes: IndexMap<String, CauseRow>,
    /// The noun for what is explained, singular: `job`, `request`, `slot` or `offer`.
    noun: String,
    /// Number of subjects that match.
    matching: usize,
    /// Number of all subjects.
    all: usize,
    /// Number of further subjects, which get a partner and are not explained; `None` unless the run gives partners away.
    served: Option<usize>,
}

/// Subjects that have one cause, but for numbers.
struct CauseRow {
    verdict: String,
    /// What can be done about the limit that keeps the subjects from offers.
    remedy: String,
    /// Whether smaller requests may find what is left of divided offers.
    has_scarce_resources: bool,
    /// The cause in words.
    text: SpreadText,
    subjects: usize,
    users: FxHashSet<String>,
    /// The changes that help, by their texts with numbers struck out.
    changes: IndexMap<String, HelpfulChange>,
    /// Size, first names and report of the largest group.
    largest: (usize, Vec<String>, String),
    /// The first names of the other groups.
    other_names: Vec<String>,
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
        CauseTable { causes: IndexMap::new(), noun, matching: 0, all: 0, served }
    }

    /// Adds the report of a group. `text` is the whole report. Damaged partial results may claim more subjects than there
    /// can be.
    pub fn add(&mut self, entry: CauseEntry, text: String) {
        self.all = self.all.saturating_add(entry.subjects);
        if entry.matches {
            self.matching = self.matching.saturating_add(entry.subjects);
            return;
        }
        let cause = self.causes.entry(strike_numbers(&entry.text)).or_insert_with(|| CauseRow {
            verdict: entry.verdict,
            remedy: entry.remedy,
            has_scarce_resources: false,
            text: SpreadText::new(&entry.text),
            subjects: 0,
            users: FxHashSet::default(),
            changes: IndexMap::new(),
            largest: (0, Vec::new(), String::new()),
            other_names: Vec::new(),
        });
        cause.has_scarce_resources |= entry.has_scarce_resources;
        cause.text.include(&entry.text, entry.subjects);
        cause.subjects = cause.subjects.saturating_add(entry.subjects);
        cause.users.extend(entry.users);
        let mut counted: FxHashSet<String> = FxHashSet::default();
        for EntryChange { text, matches, free, is_far_less } in entry.changes {
            let struck = strike_numbers(&text);
            if counted.insert(struck.clone()) {
                let known = cause.changes.entry(struck).or_insert_with(|| HelpfulChange {
                    text: SpreadText::new(&text),
                    helped: 0,
                    served: 0,
                    served_by_free: Some(0),
                    far_less: 0,
                });
                known.far_less = known.far_less.saturating_add(if is_far_less { entry.subjects } else { 0 });
                known.helped = known.helped.saturating_add(entry.subjects);
                known.served = known.served.saturating_add(matches.min(entry.subjects));
                let served_by_free = known.served_by_free.zip(free);
                known.served_by_free =
                    served_by_free.map(|(served, free)| served.saturating_add(free.min(entry.subjects)));
                known.text.include(&text, entry.subjects);
            }
        }
        let others = if entry.subjects > cause.largest.0 {
            std::mem::replace(&mut cause.largest, (entry.subjects, entry.names, text)).1
        } else {
            entry.names
        };
        let missing = MAX_NAMED.saturating_sub(cause.other_names.len());
        cause.other_names.extend(others.into_iter().take(missing));
    }

    /// Sorts the causes by their numbers of subjects, the most first.
    fn sort(&mut self) {
        self.causes.sort_by(|_, one, _, other| other.subjects.cmp(&one.subjects));
    }

    /// Says how many subjects there are, how many of them match, and how many do not wait.
    fn headline(&self) -> String {
        let (article, partner) = if self.noun == "job" { ("a", "slot") } else { ("an", "offer") };
        match (self.all, self.served) {
            (0, Some(0)) => return format!("no selected {} waits", self.noun),
            (0, Some(1)) => return format!("the {} gets {article} {partner}", self.noun),
            (0, Some(served)) => return format!("all {} get {article} {partner}", counted(served, &self.noun)),
            // Those with ports have reports of their own.
            (0, None) => return format!("no {} without ports", self.noun),
            _ => {}
        }
        let count = |verdict| count_subjects(self.causes.values().filter(|cause| cause.verdict == verdict));
        let (taken, claimed) = (count(TAKEN), count(CLAIMED));
        let (limited, partly) = (count(LIMITED), count(PARTLY_SERVED));
        let all = match self.served {
            Some(served) => {
                let verb = if self.all == 1 { "gets" } else { "get" };
                let total = counted(self.all.saturating_add(served), &self.noun);
                let too_few = if partly > 0 { " or too few" } else { "" };
                format!("{} of {total} {verb} no {partner}{too_few}", with_commas(self.all))
            }
            None => counted(self.all, &self.noun),
        };
        let matching = match self.matching {
            0 if taken + limited + partly > 0 => {
                let none = self.all.saturating_sub(taken + limited + partly + claimed + count(NOT_WAITING));
                let phrases = [
                    verb_phrase(none, ["matches", "match"], "nothing"),
                    verb_phrase(claimed, ["matches", "match"], "only slots in use"),
                    verb_phrase(taken, ["matches", "match"], "only what others take"),
                    verb_phrase(limited, ["is", "are"], "kept back by a limit or a quota"),
                    verb_phrase(partly, ["gets", "get"], "too few"),
                ];
                phrases.into_iter().flatten().collect::<Vec<_>>().join(", ")
            }
            0 if claimed > 0 => format!("none matches a free {partner}"),
            0 => "none matches".to_owned(),
            1 => "1 matches".to_owned(),
            some if some == self.all => "all match".to_owned(),
            some => format!("{} match", with_commas(some)),
        };
        let not_waiting = count(NOT_WAITING);
        if not_waiting == self.all {
            return format!("{all}: none waits");
        }
        let not_waiting = match not_waiting {
            0 => String::new(),
            1 => "; 1 does not wait".to_owned(),
            some => format!("; {} do not wait", with_commas(some)),
        };
        format!("{all}: {matching}{not_waiting}")
    }

    /// Returns the table as text, and the report of the largest group of each cause, unless `is_short`.
    pub fn into_text(mut self, is_short: bool) -> String {
        self.sort();
        let mut text = self.headline() + "\n";
        if self.causes.is_empty() {
            return text;
        }
        let nouns = format!("{}s", self.noun);
        // Slots, and ads that are not jobs, have no owners.
        let has_owners = self.causes.values().any(|cause| !cause.users.is_empty());
        let header: Vec<&str> = [nouns.as_str(), "owners", "cause", "what would help"]
            .into_iter()
            .filter(|title| has_owners || *title != "owners")
            .collect();
        let (numbers, expendable): (&[usize], &[usize]) = if has_owners { (&[0, 1], &[1]) } else { (&[0], &[]) };
        let mut grid = TableLayout::new(&header).with_number_columns(numbers).with_expendable_columns(expendable);
        for cause in self.causes.values() {
            let helps = cause.help_phrase();
            let owners = has_owners.then(|| with_commas(cause.users.len()));
            let row = [Some(with_commas(cause.subjects)), owners, Some(cause.text.to_string()), Some(helps)];
            grid.push_row(row.into_iter().flatten());
        }
        text.push_str(&grid.render(diagnostics::table_width()));
        if !is_short {
            for cause in self.causes.values() {
                text.push('\n');
                text.push_str(&cause.largest.2);
                text.extend(cause.others_sentence());
            }
        }
        text
    }

    /// Returns the table as a picture: a bar for each cause. `line` says more below the title.
    pub fn into_picture(mut self, line: &str) -> String {
        self.sort();
        let mut drawing = Drawing::new(&self.headline(), line);
        let all = self.all;
        let bar = |label: String, count: usize, fill: Fill, remark: String| Bar {
            label,
            count,
            share: format!("{} %", percent(count, all, 1)),
            fill,
            remark,
        };
        let matching = (self.matching > 0).then(|| {
            let label = if self.matching == 1 { "matches" } else { "match" };
            bar(label.to_owned(), self.matching, Fill::Good, String::new())
        });
        let rest = count_subjects(self.causes.values().skip(MAX_DRAWN_CAUSES));
        let rest = (rest > 0).then(|| {
            let causes = counted(self.causes.len() - MAX_DRAWN_CAUSES, "other cause");
            bar(causes, rest, Fill::Rest, String::new())
        });
        let causes = self.causes.values().take(MAX_DRAWN_CAUSES).map(|cause| {
            let fill = if cause.verdict == NOT_WAITING { Fill::Rest } else { Fill::Bad };
            let owners = cause.users.len();
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
        let rows = self.causes.values().map(|cause| {
            let best = cause.best_change();
            vec![
                cause.verdict.clone().into(),
                cause.subjects.into(),
                cause.users.len().into(),
                cause.text.to_string().into(),
                best.map_or(String::new(), |change| change.text.to_string()).into(),
                best.map_or(0, |change| change.helped).into(),
            ]
        });
        ResultTable::with_rows(&["verdict", "requests", "owners", "cause", "change", "helps"], rows)
    }

    /// Returns the table as JSON.
    pub fn into_json(mut self) -> Json {
        self.sort();
        let causes = self.causes.values().map(|cause| {
            let best = cause.best_change();
            json!({
                "verdict": cause.verdict,
                "cause": cause.text.to_string(),
                "requests": cause.subjects,
                "owners": cause.users.len(),
                "change": best.map(|change| change.text.to_string()),
                "helps": best.map(|change| change.helped),
            })
        });
        let causes: Json = causes.collect();
        let mut totals = json!({ "requests": self.all, "matching": self.matching, "causes": causes });
        if let (Some(served), Some(members)) = (self.served, totals.as_object_mut()) {
            members.insert("served".to_owned(), served.into());
        }
        totals
    }
}

/// Returns the number of subjects of some causes.
fn count_subjects<'c>(causes: impl Iterator<Item = &'c CauseRow>) -> usize {
    causes.fold(0, |subjects, cause| subjects.saturating_add(cause.subjects))
}

/// Says what a number of subjects do: `2 match nothing`; `None` if there are none.
fn verb_phrase(number: usize, [singular, plural]: [&str; 2], object: &str) -> Option<String> {
    let verb = if number == 1 { singular } else { plural };
    (number > 0).then(|| format!("{} {verb} {object}", with_commas(number)))
}

impl CauseRow {
    /// Names the subjects whose reports are left out because they have the same cause; `None` if there are none.
    fn others_sentence(&self) -> Option<String> {
        let others = self.subjects - self.largest.0;
        let names = join_first(&self.other_names, others, MAX_NAMED);
        (others > 0).then(|| format!("the same cause: {}\n", single_line(&names)))
    }

    /// Returns the change that helps most, and how many subjects it helps if it does not help all.
    fn help_phrase(&self) -> String {
        if self.changes.is_empty() && needs_change(&self.verdict) {
            return no_change_phrase(&self.text.to_string()).to_owned();
        }
        if self.changes.is_empty() && self.verdict == LIMITED {
            return self.remedy.clone();
        }
        if self.changes.is_empty() && [TAKEN, PARTLY_SERVED].contains(&self.verdict.as_str()) {
            let is_divided = self.has_scarce_resources;
            return if is_divided { "wait, or test smaller requests with --what-if" } else { "wait" }.to_owned();
        }
        if self.changes.is_empty() && self.verdict == CLAIMED {
            return "wait until slots are free".to_owned();
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
            let text = if self.verdict == CLAIMED { format!("wait, or {text}") } else { text };
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

/// Replaces the numbers in a sentence by `N`.
fn strike_numbers(text: &str) -> String {
    text_pieces(text)
        .map(|(before, number)| if number.is_empty() { before.to_owned() } else { format!("{before}N") })
        .collect()
}
#[cfg(test)]
mod tests {
    use super::strike_numbers;

    #[test]
    fn numbers_are_struck_out_of_sentences_and_not_of_names() {
        assert_eq!(
            strike_numbers("no slot has Memory >= 5,000.5; the largest is 64"),
            "no slot has Memory >= N; the largest is N"
        );
        assert_eq!(strike_numbers("Arch == \"x86_64\" in slot1"), "Arch == \"x86_64\" in slot1");
    }
}
