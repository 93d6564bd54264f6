//! Unit tests of policies. A *spec* is a YAML file of cases. A case states the expected result of an expression, match,
//! query, gang or negotiation cycle, and fails if the actual result differs.
//!
//! ```
//! use classad::format::document_tree::YamlTree;
//! use classad::eval::EvaluationSettings;
//! use classad::policy_test::Spec;
//!
//! let text = b"ads:
//!   machine: { LoadAvg: 0.9, START: !expr LoadAvg < 0.3 }
//! cases:
//!   - name: an idle machine starts jobs
//!     my: { like: machine, with: { LoadAvg: 0.1 } }
//!     expression: START
//!     expect: true
//!   - name: a busy machine does not
//!     my: machine
//!     expression: START
//!     expect: true
//! ";
//! let outline = YamlTree::parse(text).map_err(|problem| problem.message)?;
//! let no_files = &mut |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let spec = Spec::read(&outline, &EvaluationSettings::default(), no_files).map_err(|problems| problems[0].message.clone())?;
//! let [first, second] = [&spec.cases[0], &spec.cases[1]].map(|case| case.run().unwrap());
//! assert!(first.is_empty());
//! assert_eq!((second[0].expectation.key, second[0].actual.to_line().as_str()), ("expect", "false"));
//! # Ok::<(), String>(())
//! ```

mod ads;
mod case_kind;
mod configured;
mod expectation;
mod failure_details;
mod normalize;
mod read;
mod runner;
mod settings;
mod update;
mod yaml_values;

pub use ads::{MAX_DERIVED_ATTRIBUTES, OpenFile};
pub use expectation::{CaseAnswer, DiffLine};
pub use failure_details::FailureDetails;
pub use runner::CaseError;
pub use update::update_expectations;

use crate::eval::EvaluationSettings;
use crate::format::document_tree::{YamlContent, YamlNode, YamlTree};
use runner::CaseQuestion;

/// The test cases of one file.
pub struct Spec<'o> {
    /// The YAML document.
    pub outline: &'o YamlTree<'o>,
    /// The cases, in the order of the file.
    pub cases: Vec<TestCase<'o>>,
}

/// A test case: a question with its expected answers.
pub struct TestCase<'o> {
    /// The name, unique in the spec.
    pub name: String,
    /// The tags, for selecting cases.
    pub tags: Vec<String>,
    node: &'o YamlNode,
    settings: EvaluationSettings,
    question: CaseQuestion<'o>,
    expectations: Vec<Expectation<'o>>,
}

/// The expected result that a case gives under one of its keys.
#[derive(Clone, Debug)]
pub struct Expectation<'o> {
    /// The key, for example `expect` or `refused-by`.
    pub key: &'static str,
    /// The YAML node of the expected result.
    pub node: &'o YamlNode,
    /// The expected result.
    pub fact: CaseAnswer,
}

/// An expectation that the actual result does not meet.
#[derive(Clone, Debug)]
pub struct Mismatch<'o> {
    /// The expectation.
    pub expectation: Expectation<'o>,
    /// The actual result.
    pub actual: CaseAnswer,
}

impl<'o> TestCase<'o> {
    /// Runs the case. Returns the expectations that are not met; empty if the case passes. Repeated runs are
    /// independent: each run starts its clock and random numbers anew.
    ///
    /// # Errors
    ///
    /// If a budget is exceeded, or if the ads or the policy of the case are invalid.
    pub fn run(&self) -> Result<Vec<Mismatch<'o>>, CaseError> {
        let context = self.settings.to_context();
        let facts = self.question.answer(&self.expectations, &context)?;
        let pairs = self.expectations.iter().zip(facts);
        let unmet = pairs.filter(|(expectation, actual)| !expectation.fact.is_met(actual, context.dialect));
        Ok(unmet.map(|(expectation, actual)| Mismatch { expectation: expectation.clone(), actual }).collect())
    }

    /// Collects details that explain the mismatches.
    #[must_use]
    pub fn failure_details(&self, mismatches: &[Mismatch<'o>]) -> FailureDetails<'o> {
        failure_details::collect_details(&self.question, mismatches, &self.settings.to_context())
    }

    /// The node where the case begins: its first key.
    #[must_use]
    pub fn start_node(&self) -> &'o YamlNode {
        match &self.node.content {
            YamlContent::Mapping(entries) => entries.first().map_or(self.node, |(key, _)| key),
            _ => self.node,
        }
    }

    /// The node of the expression that the case evaluates or specializes; `None` for other cases.
    #[must_use]
    pub fn expression_node(&self) -> Option<&'o YamlNode> {
        match &self.question {
            CaseQuestion::Value(scoped) | CaseQuestion::Residue { scoped, .. } => Some(scoped.node),
            _ => None,
        }
    }
}
