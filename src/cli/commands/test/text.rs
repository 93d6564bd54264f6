//! Test results as text: a summary line, then an annotated excerpt of each failed case.

use std::io::Write;

use miette::Severity;

use classad::policy_test::{CaseError, DiffLine};
use classad::text::counted_plain;

use crate::cli::Failure;
use crate::cli::render::diagnostics::{self, ExcerptLimits, SourceDiagnostic};
use crate::cli::session::Session;

use super::report::{CaseResult, CaseVerdict, SpecResult, TestReport, UnmetExpectation};

/// Maximum number of cases of each kind named in the summary line.
const MAX_NAMED_CASES: usize = 3;

/// Maximum number of lines printed from the start of a difference, and again from the end. The lines between are
/// omitted.
const MAX_DIFF_LINES_PER_END: usize = 30;

/// Prints the selected cases with their tags.
pub fn list(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    for file in &report.files {
        for outcome in &file.outcomes {
            let place = outcome.position.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
            let tags = if outcome.tags.is_empty() { String::new() } else { format!(" [{}]", outcome.tags.join(", ")) };
            writeln!(out, "{}", diagnostics::single_line(&format!("{}{place}: {}{tags}", file.name, outcome.name)))?;
        }
    }
    Ok(())
}

/// Prints the summary and the failed cases.
pub fn write(out: &mut dyn Write, session: &Session, report: &TestReport) -> Result<(), Failure> {
    writeln!(out, "{}", diagnostics::single_line(&summary(report)))?;
    for file in &report.files {
        for outcome in &file.outcomes {
            if let CaseVerdict::Failed(unmet) = &outcome.verdict {
                write_failure(out, session, file, outcome, unmet)?;
            }
        }
    }
    Ok(())
}

/// Returns the summary line: how many cases passed or failed, and the names of the first cases that did not pass.
fn summary(report: &TestReport) -> String {
    let all = report.outcomes().count();
    let named = |is: &dyn Fn(&CaseVerdict) -> bool| -> Vec<String> {
        let of_file = |file: &SpecResult| {
            let outcomes = file.outcomes.iter().filter(|outcome| is(&outcome.verdict));
            let named = outcomes.map(|outcome| match outcome.position {
                Some(place) => format!("{} ({}:{}:{})", outcome.name, file.name, place.line, place.column),
                None => outcome.name.clone(),
            });
            named.collect::<Vec<_>>()
        };
        report.files.iter().flat_map(of_file).collect()
    };
    let failed = named(&|verdict| matches!(verdict, CaseVerdict::Failed(_)));
    let halted = named(&|verdict| {
        matches!(verdict, CaseVerdict::Stopped(CaseError::BudgetExceeded(_) | CaseError::FailedEvaluations(_)))
    });
    let refused = named(&|verdict| matches!(verdict, CaseVerdict::Stopped(CaseError::Unusable(_))));
    let broken = report.files.iter().filter(|file| !file.problems.is_empty()).map(|file| file.name.clone());
    let broken: Vec<String> = broken.collect();
    let mut parts = Vec::new();
    if all == 0 {
        parts.push(if broken.is_empty() { "no case is selected".to_owned() } else { "no case was run".to_owned() });
    } else if failed.is_empty() && halted.is_empty() && refused.is_empty() {
        parts.push(format!("{} passed", counted_plain(all, "case")));
    } else if failed.is_empty() {
        parts.push(format!("{} of {} passed", all - halted.len() - refused.len(), counted_plain(all, "case")));
    } else {
        parts.push(format!("{} of {} failed: {}", failed.len(), counted_plain(all, "case"), first_names(&failed)));
    }
    if !halted.is_empty() {
        parts.push(format!("{} exceeded a budget: {}", halted.len(), first_names(&halted)));
    }
    if !refused.is_empty() {
        parts.push(format!("{} cannot be run: {}", refused.len(), first_names(&refused)));
    }
    if !broken.is_empty() {
        let are = if broken.len() == 1 { "is" } else { "are" };
        parts.push(format!("{} {are} broken: {}", counted_plain(broken.len(), "spec"), first_names(&broken)));
    }
    if report.updated > 0 {
        parts.push(format!("{} rewritten", counted_plain(report.updated, "expectation")));
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
fn write_failure(
    out: &mut dyn Write,
    session: &Session,
    file: &SpecResult,
    outcome: &CaseResult,
    unmet: &[UnmetExpectation],
) -> Result<(), Failure> {
    let colored = diagnostics::colors_stdout(&session.options);
    writeln!(out)?;
    if let Some(text) = &file.text {
        let picture = SourceDiagnostic::from_marks(
            text,
            Severity::Error,
            outcome.marks.clone(),
            None,
            ExcerptLimits::for_problems(),
        );
        writeln!(out, "{}", picture.with_message(&outcome.name).render(colored))?;
    }
    for unmet in unmet {
        let lines = unmet.expected.difference(&unmet.actual);
        let signed = |(sign, text): &DiffLine| diagnostics::signed_line(colored, "  ", *sign, text);
        if let [(_, expected), (_, actual)] = lines.as_slice() {
            writeln!(out, "{}", signed(&('-', format!("{}: {expected}", unmet.key))))?;
            writeln!(out, "{}", signed(&('+', format!("{}: {actual}", unmet.key))))?;
            continue;
        }
        writeln!(out, "  {}:", unmet.key)?;
        let left_out = lines.len().saturating_sub(2 * MAX_DIFF_LINES_PER_END);
        for (at, line) in lines.iter().enumerate() {
            match left_out {
                left_out if left_out > 0 && at == MAX_DIFF_LINES_PER_END => {
                    writeln!(out, "    ... {left_out} more lines ...")?;
                }
                left_out
                    if left_out > 0 && (MAX_DIFF_LINES_PER_END..MAX_DIFF_LINES_PER_END + left_out).contains(&at) => {}
                _ if line.0 == ' ' => writeln!(out, "    {}", diagnostics::single_line(&line.1))?,
                _ => writeln!(out, "{}", signed(line))?,
            }
        }
    }
    let mut reasons = String::new();
    for reason in &outcome.reasons {
        diagnostics::push_words(
            &mut reasons,
            "  ",
            reason.split(' ').map(str::to_owned),
            diagnostics::terminal_width(),
        );
    }
    out.write_all(reasons.as_bytes())?;
    Ok(())
}
