//! What came of the cases, without the specs.

use std::collections::BTreeSet;
use std::ops::Range;

use classad::eval::Halt;
use classad::explain::shortened;
use classad::format::document_tree::Outline;
use classad::format::{Position, Problem};
use classad::policy_test::{Case, Fact, Mismatch, Stop};

use crate::cli::io::source::Text;
use crate::cli::render::diagnostics::Mark;

/// What is expected and what comes are cut off behind so many characters in a sentence.
const LONGEST: usize = 100;

/// What came of all specs.
#[derive(Default)]
pub struct Report {
    pub files: Vec<File>,
    /// How many expected values were rewritten.
    pub updated: usize,
    /// The tags of all cases, selected or not.
    pub tags: BTreeSet<String>,
}

/// What came of a spec.
pub struct File {
    pub name: String,
    /// None if it cannot be read.
    pub text: Option<Text>,
    pub outcomes: Vec<Outcome>,
    /// Why it is broken: places and what is wrong there.
    pub problems: Vec<(Option<Position>, String)>,
}

/// What came of a case.
pub struct Outcome {
    pub name: String,
    pub tags: Vec<String>,
    /// Where the question stands, if anybody is to be told.
    pub place: Option<Position>,
    pub verdict: Verdict,
    /// What is where in the spec.
    pub marks: Vec<Mark>,
    /// Why it came out so.
    pub reasons: Vec<String>,
}

/// Whether a case passed.
pub enum Verdict {
    /// It was not run.
    Listed,
    Passed,
    Failed(Vec<Unmet>),
    Stopped(Stop),
}

/// An expectation that was not met.
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

    /// Notes that a spec has no outcomes.
    pub fn broken(&mut self, name: &str, mut problems: Vec<(Option<Position>, String)>, reason: String) {
        if problems.is_empty() {
            problems.push((None, reason));
        }
        self.files.push(File { name: name.to_owned(), text: None, outcomes: Vec::new(), problems });
    }
}

/// Problems with their places.
pub fn placed(text: &Text, problems: &[Problem]) -> Vec<(Option<Position>, String)> {
    let place = |problem: &Problem| (Some(text.block.position(problem.range.start)), problem.message.clone());
    problems.iter().map(place).collect()
}

impl Outcome {
    /// What came of a case that was run, or would come if it were.
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
    /// `expect: 2.0 (a real), where 2 (an integer) was expected`
    pub fn sentence(&self) -> String {
        let [expected, actual] = [&self.expected, &self.actual].map(|fact| shortened(&fact.text(), LONGEST));
        let (of_expected, of_actual) = (phrase(&self.expected, &self.actual), phrase(&self.actual, &self.expected));
        format!("{}: {actual}{of_actual}, where {expected}{of_expected} was expected", self.key)
    }
}

/// Why a case has no answer.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Halt(halt @ Halt::TooLong(_)) => format!("{halt} (max-steps)"),
        Stop::Halt(halt @ Halt::TooDeep(_)) => format!("{halt} (max-depth)"),
        Stop::Halt(halt @ (Halt::Unknown | Halt::Interrupted)) => halt.to_string(),
        Stop::Failures(count) => format!("{count} evaluations exceeded their budget (max-steps, max-depth)"),
        Stop::Refused(reason) => reason.clone(),
    }
}

/// The type of a value, if it is not that of the other.
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
