//! The model of test results that all output forms share. The model owns its data, so that the parsed specs can be
//! dropped.

use std::collections::BTreeSet;
use std::ops::Range;

use classad::eval::Abort;
use classad::format::document_tree::YamlTree;
use classad::format::{Position, Problem};
use classad::policy_test::{CaseAnswer, CaseError, Mismatch, TestCase};
use classad::text::shorten;

use crate::cli::io::source::SourceText;
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

/// Results of the selected cases of a spec, or the problems of a malformed spec.
pub struct SpecResult {
    pub name: String,
    /// Text of the spec; `None` if it cannot be read or is malformed.
    pub text: Option<SourceText>,
    pub outcomes: Vec<CaseResult>,
    /// Problems of a malformed spec: position and message.
    pub problems: Vec<(Option<Position>, String)>,
}

/// Result of a case: the verdict, and what the output needs to locate and explain it.
pub struct CaseResult {
    pub name: String,
    pub tags: Vec<String>,
    /// Position of the case's expression, of the first unmet expectation, or of the case. `None` for passed and listed
    /// cases if the output does not print their positions.
    pub position: Option<Position>,
    pub verdict: CaseVerdict,
    /// Marks to draw in the text of the spec.
    pub marks: Vec<LabeledRange>,
    /// Explanations why a failed case has its actual values; empty for other verdicts.
    pub reasons: Vec<String>,
}

/// Whether a case passed, and if not, why.
pub enum CaseVerdict {
    /// Listed by `--list`, not run.
    Listed,
    Passed,
    Failed(Vec<UnmetExpectation>),
    Stopped(CaseError),
}

/// An unmet expectation: its key in the spec, its position, and the values.
pub struct UnmetExpectation {
    pub key: &'static str,
    pub position: Position,
    pub expected: CaseAnswer,
    pub actual: CaseAnswer,
}

impl TestReport {
    pub fn outcomes(&self) -> impl Iterator<Item = &CaseResult> {
        self.files.iter().flat_map(|file| &file.outcomes)
    }

    /// Adds a spec that cannot be read or is malformed. If `problems` is empty, `reason` becomes the only problem.
    pub fn add_malformed(&mut self, name: &str, mut problems: Vec<(Option<Position>, String)>, reason: String) {
        if problems.is_empty() {
            problems.push((None, reason));
        }
        self.files.push(SpecResult { name: name.to_owned(), text: None, outcomes: Vec::new(), problems });
    }
}

/// Returns the messages of problems with their positions in `text`.
pub fn with_positions(text: &SourceText, problems: &[Problem]) -> Vec<(Option<Position>, String)> {
    let place = |problem: &Problem| (Some(text.block.position(problem.range.start)), problem.message.clone());
    problems.iter().map(place).collect()
}

impl CaseResult {
    /// Builds the result of a case; `result` is `None` if it was only listed. `is_placed` is whether the output shows
    /// the positions of passed and listed cases.
    pub fn of<'o>(
        case: &TestCase<'o>,
        outline: &YamlTree<'_>,
        text: &SourceText,
        result: Option<Result<Vec<Mismatch<'o>>, CaseError>>,
        is_placed: bool,
    ) -> Self {
        let mut outcome = CaseResult {
            name: case.name.clone(),
            tags: case.tags.clone(),
            position: None,
            verdict: CaseVerdict::Passed,
            marks: Vec::new(),
            reasons: Vec::new(),
        };
        match result {
            None => outcome.verdict = CaseVerdict::Listed,
            Some(Ok(mismatches)) if mismatches.is_empty() => {}
            Some(Ok(mismatches)) => outcome.fail(case, outline, text, mismatches),
            Some(Err(stop)) => outcome.verdict = CaseVerdict::Stopped(stop),
        }
        outcome.position = match &outcome.verdict {
            CaseVerdict::Passed | CaseVerdict::Listed if !is_placed => None,
            CaseVerdict::Failed(unmet) if case.expression_node().is_none() => unmet.first().map(|unmet| unmet.position),
            _ => Some(text.block.position(outline.range(case.expression_node().unwrap_or(case.start_node())).start)),
        };
        outcome
    }

    /// Sets the verdict, marks and reasons of a case with unmet expectations.
    fn fail<'o>(
        &mut self,
        case: &TestCase<'o>,
        outline: &YamlTree<'_>,
        text: &SourceText,
        mismatches: Vec<Mismatch<'o>>,
    ) {
        let evidence = case.failure_details(&mismatches);
        let of_part = |(node, part, words): (&_, Range<usize>, String)| (outline.scalar_part_range(node, part), words);
        self.marks.extend(evidence.marks.into_iter().map(of_part));
        self.reasons = evidence.reasons;
        let unmet = mismatches.into_iter().map(|mismatch| {
            let range = outline.range(mismatch.expectation.node);
            let place = text.block.position(range.start);
            self.marks.push((range, "was expected".to_owned()));
            let Mismatch { expectation, actual } = mismatch;
            UnmetExpectation { key: expectation.key, position: place, expected: expectation.fact, actual }
        });
        self.verdict = CaseVerdict::Failed(unmet.collect());
    }
}

impl UnmetExpectation {
    /// Describes the mismatch: `expect: 2.0 (a real), where 2 (an integer) was expected`.
    pub fn sentence(&self) -> String {
        let [expected, actual] = [&self.expected, &self.actual].map(|fact| shorten(&fact.to_line(), MAX_VALUE_CHARS));
        let (of_expected, of_actual) =
            (type_suffix(&self.expected, &self.actual), type_suffix(&self.actual, &self.expected));
        format!("{}: {actual}{of_actual}, where {expected}{of_expected} was expected", self.key)
    }
}

/// Explains why a case stopped without a result.
pub fn stop_reason(stop: &CaseError) -> String {
    match stop {
        CaseError::BudgetExceeded(halt @ Abort::TooManySteps(_)) => format!("{halt} (max-steps)"),
        CaseError::BudgetExceeded(halt @ Abort::TooDeep(_)) => format!("{halt} (max-depth)"),
        CaseError::BudgetExceeded(halt @ (Abort::Unknown | Abort::Interrupted)) => halt.to_string(),
        CaseError::FailedEvaluations(count) => {
            format!("{count} evaluations exceeded their budget (max-steps, max-depth)")
        }
        CaseError::Unusable(reason) => reason.clone(),
    }
}

/// Returns the type of `fact` in parentheses if `other` has a different type; else an empty text.
fn type_suffix(fact: &CaseAnswer, other: &CaseAnswer) -> String {
    use classad::ad::{ExpressionKind, Type};
    let kind = |fact: &CaseAnswer| match fact {
        CaseAnswer::Value(value) => Some(match value.kind() {
            ExpressionKind::Literal(value) => value.value_type(),
            ExpressionKind::List(_) => Type::List,
            _ => Type::Ad,
        }),
        _ => None,
    };
    match (kind(fact), kind(other)) {
        (None | Some(Type::Undefined | Type::Error), _) => String::new(),
        (Some(kind), Some(other)) if kind != other => format!(" ({})", kind.phrase()),
        _ => String::new(),
    }
}
