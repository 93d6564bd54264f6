//! Writing of reports to standard output, as text or as JSON.

use std::fmt::Write as _;
use std::io::Write as _;

use classad::ad::Name;
use classad::explain::{Change, Demand, GangReport, Near, Outcome, Refusal, Report, Verdict, lacks};

use crate::cli::Failure;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, line};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::table::Grid;
use crate::cli::session::Session;

use super::case::Case;
use super::json::{NOT_EXAMINED, write_json};
use super::listing::{listing, push_rest, push_section, push_wrapped};
use super::pair;
use super::{diagram, gangs, json};

/// Maximum number of characters of a clause that is quoted in a sentence.
pub const LONGEST: usize = 70;

/// Maximum number of changes and refusals printed without `-v`, and of nearest offers with it.
pub const FEW: usize = 3;

/// Maximum number of refusals and conflicts printed with `-v`.
pub const MANY: usize = 10;

/// Writes the reports of a run.
pub struct Page<'c> {
    case: &'c Case<'c>,
    form: OutputForm,
    /// The reports of a JSON document, which is written at the end.
    reports: Vec<serde_json::Value>,
    is_first: bool,
    was_brief: bool,
}

impl<'c> Page<'c> {
    pub fn new(case: &'c Case<'c>, form: Option<OutputForm>) -> Self {
        Page { case, form: form.unwrap_or(OutputForm::Table), reports: Vec::new(), is_first: true, was_brief: true }
    }

    pub fn add(&mut self, session: &mut Session, group: &[usize], report: &Report) -> Result<(), Failure> {
        if self.is_data() {
            let summary = self.case.summary(session, group, report, usize::MAX);
            return self.document(json::report(self.case, group, report, &summary));
        }
        let is_known = matches!(report.verdict, Verdict::Matches | Verdict::Taken(_)) && self.case.evidence == 0;
        let is_brief = is_known || report.verdict == Verdict::NoOffers;
        let mut text = self.case.summary(session, group, report, LONGEST) + "\n";
        if !is_brief {
            self.evidence(session, group, report, &mut text)?;
        }
        self.text(text)
    }

    /// Adds the report about the gang of a group of requests.
    pub fn add_gang(
        &mut self,
        session: &Session,
        group: &[usize],
        report: &GangReport,
        parties: &Parties,
    ) -> Result<(), Failure> {
        let subject = self.case.subject(group);
        let longest = if self.is_data() { usize::MAX } else { LONGEST };
        let (is_plural, dialect) = (group.len() > 1, session.dialect());
        let words = gangs::Words { parties, subject: &subject, is_plural, dialect, longest };
        if self.is_data() {
            let requests: Vec<&str> = group.iter().map(|at| self.case.asking[*at].id()).collect();
            return self.document(gangs::report(report, &requests, &words.summary(report), parties));
        }
        self.text(gangs::text(report, &words, self.case.evidence > 0))
    }

    fn is_data(&self) -> bool {
        matches!(self.form, OutputForm::Json | OutputForm::Jsonl)
    }

    /// Adds a report as JSON.
    fn document(&mut self, json: serde_json::Value) -> Result<(), Failure> {
        if self.form == OutputForm::Jsonl {
            writeln!(out(), "{json}")?;
        } else {
            self.reports.push(json);
        }
        Ok(())
    }

    /// Adds a report as text. Reports of several lines are separated by blank lines from their neighbours.
    fn text(&mut self, mut text: String) -> Result<(), Failure> {
        let is_brief = text.lines().count() == 1;
        if !self.is_first && (!is_brief || !self.was_brief) {
            text.insert(0, '\n');
        }
        (self.is_first, self.was_brief) = (false, is_brief);
        out().write_all(text.as_bytes())?;
        Ok(())
    }

    pub fn finish(self) -> Result<(), Failure> {
        if self.form == OutputForm::Json {
            write_json(&self.reports)?;
        }
        out().flush()?;
        Ok(())
    }

    /// Appends the sections below the summary sentence.
    fn evidence(&self, session: &Session, group: &[usize], report: &Report, text: &mut String) -> Result<(), Failure> {
        let has_all = self.case.evidence > 0;
        let most = if has_all { usize::MAX } else { FEW };
        let decisive = report.verdict.clauses();
        let never = |place: usize| report.clauses[place].counts.is_true == 0;
        let is_labelled = |place: usize| has_all || decisive.contains(&place) || never(place);
        if (0..report.clauses.len()).any(is_labelled) {
            let attribute = report.clauses[0].examined.clause.through.first();
            let attribute = attribute.map(ToString::to_string).unwrap_or_default();
            let name = format!("{attribute} of {}", self.case.asking[group[0]].id());
            push_section(text, &diagram::draw(session, &name, report, is_labelled));
        }
        if has_all && !report.clauses.is_empty() {
            push_section(text, &clause_table(report));
        }
        if has_all {
            push_section(text, &conflicts(report));
        }
        let is_refused = report.verdict == Verdict::Refused;
        if is_refused || has_all {
            push_section(text, &self.refusals(group, &report.refusals, if has_all { MANY } else { FEW }));
        }
        push_section(text, &changes(&report.changes, most, self.case.ads));
        push_section(text, &self.nearest(group, report, if has_all { FEW } else { 1 }));
        push_section(text, &findings(report, has_all));
        if has_all {
            push_wrapped(text, "", &format!("not examined: {}", NOT_EXAMINED.join(", ")));
        }
        if self.case.evidence > 1
            && let Some(near) = report.nearest.first()
        {
            push_section(text, &pair::trees(session, self.case, group[0], near.offer)?);
        }
        Ok(())
    }

    fn refusals(&self, group: &[usize], refusals: &[Refusal], most: usize) -> String {
        let has_suitable = refusals.iter().any(|refusal| refusal.suitable > 0);
        let shown: Vec<&Refusal> = refusals.iter().filter(|refusal| !has_suitable || refusal.suitable > 0).collect();
        let count = |refusal: &Refusal| if has_suitable { refusal.suitable } else { refusal.offers };
        let rows = shown.iter().take(most).map(|refusal| {
            let example = self.case.offered[refusal.example].id();
            let clause = match &refusal.clause {
                Some(clause) => {
                    let lacks = self.lacks(group, &refusal.lacking);
                    format!("`{}` is {}{lacks}", shortened(clause, LONGEST), refusal.outcome.phrase())
                }
                None => "they have no constraint".to_owned(),
            };
            (vec![clause], format!("{}, such as {example}", thousands(count(refusal))))
        });
        let rows: Vec<(Vec<String>, String)> = rows.collect();
        let mut text = listing(&format!("why {} refuse:", self.case.ads[1]), &rows);
        push_rest(&mut text, shown.len(), most);
        text
    }

    fn nearest(&self, group: &[usize], report: &Report, most: usize) -> String {
        let mut text = String::new();
        for near in report.nearest.iter().take(most) {
            push_wrapped(&mut text, "", &format!("nearest: {}", self.near(group, report, near)));
        }
        text
    }

    /// Returns which attributes the group lacks, such as ` (1.0 has no RequestDisk)`; empty if it lacks none.
    fn lacks(&self, group: &[usize], lacking: &[Name]) -> String {
        line(&lacks(&self.case.subject(group), group.len() > 1, lacking))
    }

    /// Returns what is in the way of one of the nearest offers, such as
    /// ``slot1@node003: `Memory > 4` is false; it refuses by `Owner == "a"` ``.
    fn near(&self, group: &[usize], report: &Report, near: &Near) -> String {
        let quoted = |text: &str| format!("`{}`", shortened(text, LONGEST));
        let mut reasons: Vec<String> = near
            .fails
            .iter()
            .map(|(clause, outcome)| format!("{} is {}", quoted(&report.clauses[*clause].text), outcome.phrase()))
            .collect();
        let refuses = |demand: &Demand| match demand.clause.as_str() {
            "" => "it has no constraint, and accepts nothing".to_owned(),
            clause => format!("it refuses by {}{}", quoted(clause), self.lacks(group, &demand.lacking)),
        };
        reasons.extend(near.refuses.iter().map(refuses));
        format!("{}: {}", self.case.offered[near.offer].id(), reasons.join("; "))
    }
}

/// Returns the section of changes with which the group would match.
fn changes(changes: &[Change], most: usize, ads: [&str; 2]) -> String {
    let rows = changes.iter().take(most).map(|change| {
        let matches = format!("{} {}", thousands(change.matches), ads[usize::from(change.matches != 1)]);
        (change.steps.clone(), matches)
    });
    let rows: Vec<(Vec<String>, String)> = rows.collect();
    let mut text = listing("it would match with:", &rows);
    push_rest(&mut text, changes.len(), most);
    text
}

fn conflicts(report: &Report) -> String {
    let sets: Vec<&Vec<usize>> = report.conflicts.sets.iter().filter(|set| set.len() > 1).collect();
    let mut text = String::new();
    for set in sets.iter().take(MANY) {
        let clauses: Vec<String> = set.iter().map(|place| (place + 1).to_string()).collect();
        let _ = writeln!(text, "no offer meets clauses {} together", clauses.join(" and "));
    }
    push_rest(&mut text, sets.len(), MANY);
    if !report.conflicts.is_complete {
        text.push_str("  there are too many conflicts: only some were sought\n");
    }
    text
}

/// Returns the findings that the summary sentence does not mention.
fn findings(report: &Report, has_all: bool) -> String {
    let told = report.verdict.clauses();
    let mut text = String::new();
    for finding in &report.findings {
        let is_told = told.contains(&finding.clause);
        let is_never = report.clauses[finding.clause].counts.is_true == 0;
        if has_all || (!is_told && is_never && finding.kind != "fall-through") {
            push_wrapped(&mut text, "", &format!("{}: {}", finding.kind, finding.text));
        }
    }
    text
}

/// Returns the table of all clauses with their counts.
fn clause_table(report: &Report) -> String {
    let header = ["#", "clause", "true", "false", "undef", "error", "left", "only", "best"];
    let mut grid = Grid::new(&header).numbers(&[2, 3, 4, 5, 6, 7]).expendable(&[8, 7, 6]);
    for (place, clause) in report.clauses.iter().enumerate() {
        let counts = &clause.counts;
        let numbers =
            [counts.is_true, counts.is_false, counts.undefined, counts.error, clause.remaining, clause.sole_blocker];
        let best = clause.best.as_ref().map(|best| crate::cli::render::rows::value_text(best, true));
        let best = best.map(|best| line(&String::from_utf8_lossy(&best))).unwrap_or_default();
        let texts = [(place + 1).to_string(), line(&clause.text)];
        grid.row(texts.into_iter().chain(numbers.map(thousands)).chain([best]));
    }
    grid.text(Some(diagnostics::width()))
}

/// Returns the word for an outcome in listings of clauses.
pub fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::True => "ok",
        Outcome::False => "false",
        Outcome::Undefined => "undefined",
        Outcome::Error => "error",
    }
}

pub use classad::explain::{shortened, thousands};
