//! Test results as text: a summary line, then an annotated excerpt of each failed case.

use std::io::Write;

use miette::Severity;

use classad::policy_test::DiffLine;
use classad::text::counted;

use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics::{self, ExcerptLimits, SourceDiagnostic};
use crate::cli::session::Session;

use super::report::{CaseResult, CaseStatus, SpecResult, TestReport, located};

/// Maximum number of cases that the summary line names for each kind of failure.
const MAX_NAMED_CASES: usize = 3;

/// Maximum number of lines printed from each end of the difference between an expected and an actual value. The lines
/// in the middle are omitted.
const MAX_DIFF_LINES_PER_END: usize = 30;

/// Prints the selected cases with their tags.
pub fn list(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    for file in &report.files {
        for outcome in &file.outcomes {
            let place = located(&file.name, outcome.position);
            let tags = if outcome.tags.is_empty() { String::new() } else { format!(" [{}]", outcome.tags.join(", ")) };
            writeln!(out, "{}", diagnostics::single_line(&format!("{place}: {}{tags}", outcome.name)))?;
        }
    }
    Ok(())
}

/// Prints the summary and the failed cases.
pub fn write(out: &mut dyn Write, session: &Session, report: &TestReport) -> Result<(), Failure> {
    writeln!(out, "{}", diagnostics::single_line(&summary(report)))?;
    for file in &report.files {
        for outcome in file.outcomes.iter().filter(|outcome| outcome.status == CaseStatus::Failed) {
            write_failure(out, session, file, outcome)?;
        }
    }
    Ok(())
}

/// Returns the summary line: how many cases passed or failed, and the names of the first cases that did not pass.
pub(super) fn summary(report: &TestReport) -> String {
    let all = report.outcomes().count();
    // A case that did not pass always has a position, so that `located` can print it.
    let named = |status: CaseStatus| -> Vec<String> {
        let outcomes = report.files.iter().flat_map(|file| file.outcomes.iter().map(move |outcome| (file, outcome)));
        let outcomes = outcomes.filter(|(_, outcome)| outcome.status == status);
        outcomes.map(|(file, case)| format!("{} ({})", case.name, located(&file.name, case.position))).collect()
    };
    let [failed, stopped, unusable] = [CaseStatus::Failed, CaseStatus::OverBudget, CaseStatus::Unusable].map(named);
    let broken = report.files.iter().filter(|file| !file.problems.is_empty()).map(|file| file.name.clone());
    let broken: Vec<String> = broken.collect();
    let cases = counted(all, "case");
    let mut parts = vec![match (failed.len(), stopped.len() + unusable.len()) {
        _ if all == 0 && broken.is_empty() => "no case is selected".to_owned(),
        _ if all == 0 => "no case was run".to_owned(),
        (0, 0) => format!("{cases} passed"),
        (0, stopped) => format!("{} of {cases} passed", all - stopped),
        (count, _) => format!("{count} of {cases} failed: {}", first_names(&failed)),
    }];
    if !stopped.is_empty() {
        parts.push(format!("{} exceeded a budget: {}", stopped.len(), first_names(&stopped)));
    }
    if !unusable.is_empty() {
        parts.push(format!("{} cannot be run: {}", unusable.len(), first_names(&unusable)));
    }
    if !broken.is_empty() {
        let are = if broken.len() == 1 { "is" } else { "are" };
        parts.push(format!("{} {are} broken: {}", counted(broken.len(), "spec"), first_names(&broken)));
    }
    if report.updated > 0 {
        parts.push(format!("{} rewritten", counted(report.updated, "expectation")));
    }
    parts.join("; ")
}

/// Lists up to [`MAX_NAMED_CASES`] names, and the number of the remaining ones.
fn first_names(names: &[String]) -> String {
    let first = names.iter().take(MAX_NAMED_CASES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMED_CASES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Prints the excerpt of a failed case, its differences and its reasons.
fn write_failure(out: &mut dyn Write, session: &Session, file: &SpecResult, case: &CaseResult) -> Result<(), Failure> {
    let colored = diagnostics::colors_stdout(&session.options);
    writeln!(out)?;
    if let Some(text) = &file.text {
        let (marks, limits) = (case.marks.clone(), ExcerptLimits::for_problems());
        let picture = SourceDiagnostic::from_marks(text, Severity::Error, marks, None, limits);
        writeln!(out, "{}", picture.with_message(&case.name).render(colored))?;
    }
    for unmet in &case.unmet {
        let lines = unmet.expected.difference(&unmet.actual);
        let signed = |(sign, text): &DiffLine| diagnostics::signed_line(colored, "  ", *sign, text);
        if let [('-', expected), ('+', actual)] = lines.as_slice() {
            writeln!(out, "{}", signed(&('-', format!("{}: {expected}", unmet.key))))?;
            writeln!(out, "{}", signed(&('+', format!("{}: {actual}", unmet.key))))?;
            continue;
        }
        writeln!(out, "  {}:", unmet.key)?;
        let left_out = lines.len().saturating_sub(2 * MAX_DIFF_LINES_PER_END);
        for (at, line) in lines.iter().enumerate() {
            if left_out > 0 && at == MAX_DIFF_LINES_PER_END {
                writeln!(out, "    ... {} ...", counted(left_out, "more line"))?;
            }
            if (MAX_DIFF_LINES_PER_END..MAX_DIFF_LINES_PER_END + left_out).contains(&at) {
                continue;
            }
            match line {
                (' ', text) => writeln!(out, "    {}", diagnostics::single_line(text))?,
                line => writeln!(out, "{}", signed(line))?,
            }
        }
    }
    let mut reasons = String::new();
    for reason in &case.reasons {
        let words = reason.split(' ').map(str::to_owned);
        diagnostics::push_words(&mut reasons, "  ", words, diagnostics::terminal_width());
    }
    out.write_all(reasons.as_bytes())?;
    Ok(())
}
