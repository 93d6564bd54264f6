//! The model of test results that all output forms share. It owns its data and does not borrow from the specs.

use std::collections::BTreeSet;
use std::ops::Range;

use classad::eval::Halt;
use classad::explain::shortened;
use classad::format::document_tree::Outline;
use classad::format::{Position, Problem};
use classad::policy_test::{Case, Fact, Mismatch, Stop};

use crate::cli::io::source::Text;
use crate::cli::render::diagnostics::Mark;

/// Maximum number of characters of an expected or actual value in a sentence; longer ones are cut.
const LONGEST: usize = 100;

/// Results of all specs.
#[derive(Default)]
pub struct Report {
    pub files: Vec<File>,
    /// Number of expectations rewritten by `--update`.
    pub updated: usize,
    /// Tags of all cases, selected or not.
    pub tags: BTreeSet<String>,
}

/// Results of a spec.
pub struct File {
    pub name: String,
    /// Text of the spec; `None` if it cannot be read or is malformed.
    pub text: Option<Text>,
    pub outcomes: Vec<Outcome>,
    /// Problems of a malformed spec: position and message.
    pub problems: Vec<(Option<Position>, String)>,
}

/// Result of a case.
pub struct Outcome {
    pub name: String,
    pub tags: Vec<String>,
    /// Position of the case's expression, of its first unmet expectation, or of the case; `None` if no output shows it.
    pub place: Option<Position>,
    pub verdict: Verdict,
    /// Marks to draw in the text of the spec.
    pub marks: Vec<Mark>,
    /// Reasons for the actual value.
    pub reasons: Vec<String>,
}

/// Verdict on a case.
pub enum Verdict {
    /// Listed by `--list`, not run.
    Listed,
    Passed,
    Failed(Vec<Unmet>),
    Stopped(Stop),
}

/// An unmet expectation: its key in the spec, its position, and the values.
pub struct Unmet {
    pub key: &'static str,
    pub place: Position,
    pub expected: Fact,
    pub actual: Fact,
}

impl Report {
    pub fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.files.iter().flat_map(|file| &file.outcomes)
    }

    /// Adds a spec that cannot be read or is malformed. Without `problems` the message is `reason`.
    pub fn broken(&mut self, name: &str, mut problems: Vec<(Option<Position>, String)>, reason: String) {
        if problems.is_empty() {
            problems.push((None, reason));
        }
        self.files.push(File { name: name.to_owned(), text: None, outcomes: Vec::new(), problems });
    }
}

/// Returns the messages of problems with their positions in `text`.
pub fn placed(text: &Text, problems: &[Problem]) -> Vec<(Option<Position>, String)> {
    let place = |problem: &Problem| (Some(text.block.position(problem.range.start)), problem.message.clone());
    problems.iter().map(place).collect()
}

impl Outcome {
    /// Builds the result of a case; `result` is `None` if it was only listed. `is_placed` is whether the output shows
    /// the positions of passed and listed cases.
    pub fn of<'o>(
        case: &Case<'o>,
        outline: &Outline<'_>,
        text: &Text,
        result: Option<Result<Vec<Mismatch<'o>>, Stop>>,
        is_placed: bool,
    ) -> Self {
        let mut outcome = Outcome {
            name: case.name.clone(),
            tags: case.tags.clone(),
            place: None,
            verdict: Verdict::Passed,
            marks: Vec::new(),
            reasons: Vec::new(),
        };
        match result {
            None => outcome.verdict = Verdict::Listed,
            Some(Ok(mismatches)) if mismatches.is_empty() => {}
            Some(Ok(mismatches)) => outcome.fail(case, outline, text, mismatches),
            Some(Err(stop)) => outcome.verdict = Verdict::Stopped(stop),
        }
        outcome.place = match &outcome.verdict {
            Verdict::Passed | Verdict::Listed if !is_placed => None,
            Verdict::Failed(unmet) if case.expression().is_none() => unmet.first().map(|unmet| unmet.place),
            _ => Some(text.block.position(outline.range(case.expression().unwrap_or(case.place())).start)),
        };
        outcome
    }

    /// Sets the verdict, marks and reasons of a case with unmet expectations.
    fn fail<'o>(&mut self, case: &Case<'o>, outline: &Outline<'_>, text: &Text, mismatches: Vec<Mismatch<'o>>) {
        let evidence = case.evidence(&mismatches);
        let of_part = |(node, part, words): (&_, Range<usize>, String)| (outline.part(node, part), words);
        self.marks.extend(evidence.marks.into_iter().map(of_part));
        self.reasons = evidence.reasons;
        let unmet = mismatches.into_iter().map(|mismatch| {
            let range = outline.range(mismatch.expectation.node);
            let place = text.block.position(range.start);
            self.marks.push((range, "was expected".to_owned()));
            let Mismatch { expectation, actual } = mismatch;
            Unmet { key: expectation.key, place, expected: expectation.fact, actual }
        });
        self.verdict = Verdict::Failed(unmet.collect());
    }
}

impl Unmet {
    /// Describes the mismatch: `expect: 2.0 (a real), where 2 (an integer) was expected`.
    pub fn sentence(&self) -> String {
        let [expected, actual] = [&self.expected, &self.actual].map(|fact| shortened(&fact.text(), LONGEST));
        let (of_expected, of_actual) = (phrase(&self.expected, &self.actual), phrase(&self.actual, &self.expected));
        format!("{}: {actual}{of_actual}, where {expected}{of_expected} was expected", self.key)
    }
}

/// Explains why a case stopped without a result.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Halt(halt @ Halt::TooLong(_)) => format!("{halt} (max-steps)"),
        Stop::Halt(halt @ Halt::TooDeep(_)) => format!("{halt} (max-depth)"),
        Stop::Halt(halt @ (Halt::Unknown | Halt::Interrupted)) => halt.to_string(),
        Stop::Failures(count) => format!("{count} evaluations exceeded their budget (max-steps, max-depth)"),
        Stop::Refused(reason) => reason.clone(),
    }
}

/// Returns the type of a value in parentheses if the other value has a different one; else nothing.
fn phrase(fact: &Fact, other: &Fact) -> String {
    use classad::ad::{Kind, Type};
    let kind = |fact: &Fact| match fact {
        Fact::Value(value) => Some(match value.kind() {
            Kind::Literal(value) => value.kind(),
            Kind::List(_) => Type::List,
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
