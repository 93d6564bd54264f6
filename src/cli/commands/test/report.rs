//! The model of test results that all output forms share. The model owns its data, so that the parsed specs can be
//! dropped.

use std::collections::BTreeSet;
use std::ops::Range;

use classad::ad::Type;
use classad::eval::Abort;
use classad::format::Position;
use classad::format::document_tree::YamlTree;
use classad::policy_test::{CaseAnswer, CaseError, FailureDetails, Mismatch, TestCase};
use classad::pool::BindingKind;
use classad::text::shorten;
use serde::Serialize;

use crate::cli::io::source_text::SourceText;
use crate::cli::render::diagnostics::LabeledRange;

/// Maximum number of characters of an expected or actual value in a sentence; longer ones are cut.
const MAX_VALUE_CHARS: usize = 100;

/// Results of all specs.
#[derive(Default)]
pub struct TestReport {
    pub files: Vec<SpecResult>,
    /// Number of expectations rewritten by `--update`.
    pub updated: usize,
    /// Tags of all cases, selected or not.
    pub tags: BTreeSet<String>,
}

impl TestReport {
    pub fn outcomes(&self) -> impl Iterator<Item = &CaseResult> {
        self.files.iter().flat_map(|file| &file.outcomes)
    }
}

/// Results of the selected cases of a spec, or the problems of a malformed spec.
#[derive(Default)]
pub struct SpecResult {
    pub name: String,
    /// Text of the spec; `None` if it cannot be read or is malformed.
    pub text: Option<SourceText>,
    pub outcomes: Vec<CaseResult>,
    /// Problems of a malformed spec: position and message.
    pub problems: Vec<(Option<Position>, String)>,
}

/// Result of a case: whether it passed, and what the output needs to locate and explain it.
pub struct CaseResult {
    pub name: String,
    pub tags: Vec<String>,
    /// Position of the case's expression. A case without an expression has the position of its first unmet expectation,
    /// or its own position if all are met. `None` for passed and listed cases if the output does not print their
    /// positions.
    pub position: Option<Position>,
    pub status: CaseStatus,
    /// Why the case did not pass; `None` for passed and listed cases.
    pub message: Option<String>,
    pub unmet: Vec<UnmetExpectation>,
    /// Byte ranges to mark in the text of the spec, with their labels.
    pub marks: Vec<LabeledRange>,
    /// Explanations why a failed case has its actual values; empty for other cases.
    pub reasons: Vec<String>,
}

/// Whether a case passed.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseStatus {
    /// Listed by `--list`, not run.
    Listed,
    Passed,
    Failed,
    /// Stopped because a budget was exceeded.
    #[serde(rename = "stopped")]
    OverBudget,
    /// Stopped because the ads or the policy of the case cannot be used.
    #[serde(rename = "stopped")]
    Unusable,
}

impl CaseStatus {
    pub fn is_good(self) -> bool {
        matches!(self, CaseStatus::Passed | CaseStatus::Listed)
    }
}

/// An unmet expectation: its key in the spec, its position, and the values.
pub struct UnmetExpectation {
    pub key: &'static str,
    pub position: Position,
    pub expected: CaseAnswer,
    pub actual: CaseAnswer,
}

impl CaseResult {
    /// Builds the result of a case. `result` is `None` if the case was only listed. `is_placed` is true if the output
    /// prints the positions of passed and listed cases.
    pub fn of<'o>(
        case: &TestCase<'o>,
        outline: &YamlTree<'_>,
        text: &SourceText,
        result: Option<Result<Vec<Mismatch<'o>>, CaseError>>,
        is_placed: bool,
    ) -> Self {
        let (status, message, mismatches) = match result {
            None => (CaseStatus::Listed, None, Vec::new()),
            Some(Ok(mismatches)) if mismatches.is_empty() => (CaseStatus::Passed, None, mismatches),
            Some(Ok(mismatches)) => (CaseStatus::Failed, Some(sentences(&mismatches)), mismatches),
            Some(Err(CaseError::Unusable(reason))) => (CaseStatus::Unusable, Some(reason), Vec::new()),
            Some(Err(CaseError::BudgetExceeded(halt))) => {
                (CaseStatus::OverBudget, Some(abort_reason(&halt)), Vec::new())
            }
            Some(Err(CaseError::FailedEvaluations(count))) => {
                let what = if count == 1 { "evaluation or search" } else { "evaluations or searches" };
                let reason = format!("{count} {what} exceeded a budget, such as max-steps");
                (CaseStatus::OverBudget, Some(reason), Vec::new())
            }
        };
        let details = if mismatches.is_empty() { FailureDetails::default() } else { case.failure_details(&mismatches) };
        let of_part = |(node, part, words): (&_, Range<usize>, String)| (outline.scalar_part_range(node, part), words);
        let mut marks: Vec<LabeledRange> = details.marks.into_iter().map(of_part).collect();
        let unmet: Vec<UnmetExpectation> = mismatches
            .into_iter()
            .map(|Mismatch { expectation, actual }| {
                let range = outline.range(expectation.node);
                let position = text.position(range.start);
                marks.push((range, "was expected".to_owned()));
                UnmetExpectation { key: expectation.key, position, expected: expectation.fact, actual }
            })
            .collect();
        let position = match (unmet.first(), case.expression_node()) {
            _ if status.is_good() && !is_placed => None,
            (Some(unmet), None) => Some(unmet.position),
            (_, node) => Some(text.position(outline.range(node.unwrap_or(case.start_node())).start)),
        };
        let (name, tags) = (case.name.clone(), case.tags.clone());
        CaseResult { name, tags, position, status, message, unmet, marks, reasons: details.reasons }
    }
}

/// Describes mismatches, such as `expect: 2.0 (a real), where 2 (an integer) was expected`.
fn sentences(mismatches: &[Mismatch<'_>]) -> String {
    let sentence = |Mismatch { expectation, actual }: &Mismatch<'_>| {
        let expected = &expectation.fact;
        let [was, is] = [expected, actual].map(|fact| shorten(&fact.to_line(), MAX_VALUE_CHARS));
        let [was_type, is_type] =
            [(expected, actual), (actual, expected)].map(|(fact, other)| type_suffix(fact, other));
        format!("{}: {is}{is_type}, where {was}{was_type} was expected", expectation.key)
    };
    mismatches.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

/// Returns why an evaluation was aborted, with the name of the setting for an exceeded budget, such as `max-steps`.
fn abort_reason(halt: &Abort) -> String {
    halt.setting().map_or_else(|| halt.to_string(), |setting| format!("{halt} ({setting})"))
}

/// Returns the type of `fact` in parentheses if `other` has a different type; else an empty text.
fn type_suffix(fact: &CaseAnswer, other: &CaseAnswer) -> String {
    let (CaseAnswer::Value(value), CaseAnswer::Value(other)) = (fact, other) else { return String::new() };
    match BindingKind::of(value) {
        BindingKind::Value(Type::Undefined | Type::Error) => String::new(),
        BindingKind::Value(kind) if BindingKind::of(other) != BindingKind::Value(kind) => {
            format!(" ({})", kind.phrase())
        }
        _ => String::new(),
    }
}

/// Returns `name`, with the line and the column after it if the position is known.
pub fn located(name: &str, position: Option<Position>) -> String {
    position.map_or_else(|| name.to_owned(), |Position { line, column }| format!("{name}:{line}:{column}"))
}
