//! Policies under test: cases in a YAML file, the *spec*, say what expressions, matches, queries, gangs and negotiation
//! cycles come to; a case that comes out otherwise has failed.
//!
//! ```
//! use classad::explain::trial::{Conditions, Spec};
//! use classad::format::outline::Outline;
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
//! let outline = Outline::parse(text).map_err(|problem| problem.message)?;
//! let no_files = &mut |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let spec = Spec::read(&outline, &Conditions::default(), no_files).map_err(|problems| problems[0].message.clone())?;
//! let [first, second] = [&spec.cases[0], &spec.cases[1]].map(|case| case.run().unwrap());
//! assert!(first.is_empty());
//! assert_eq!((second[0].expectation.key, second[0].actual.text().as_str()), ("expect", "false"));
//! # Ok::<(), String>(())
//! ```

mod ads;
mod expectation;
mod failure_details;
mod normalize;
mod read;
mod runner;
mod settings;
mod update;
mod yaml_values;

pub use ads::Open;
pub use expectation::{Fact, Line};
pub use failure_details::Evidence;
pub use runner::Stop;
pub use settings::Conditions;
pub use update::updated;

use crate::format::document_tree::{Content, Node, Outline};
use runner::Question;

/// Cases that belong together, in one file.
pub struct Spec<'o> {
    /// The document.
    pub outline: &'o Outline<'o>,
    /// The cases, in their order.
    pub cases: Vec<Case<'o>>,
}

/// Something that is asked, and what is expected of the answer.
pub struct Case<'o> {
    /// What it is called; no other case of the spec is called so.
    pub name: String,
    /// The groups that it belongs to.
    pub tags: Vec<String>,
    node: &'o Node,
    conditions: Conditions,
    question: Question<'o>,
    expectations: Vec<Expectation<'o>>,
}

/// What is expected under one key of a case.
#[derive(Clone, Debug)]
pub struct Expectation<'o> {
    /// The key.
    pub key: &'static str,
    /// Where it stands.
    pub node: &'o Node,
    /// What is expected.
    pub fact: Fact,
}

/// An expectation that was not met.
#[derive(Clone, Debug)]
pub struct Mismatch<'o> {
    /// What was expected.
    pub expectation: Expectation<'o>,
    /// What came out.
    pub actual: Fact,
}

impl<'o> Case<'o> {
    /// Asks, and tells which expectations are not met; none is a pass.  The same again gives the same: each run has its
    /// own clock and chance.
    ///
    /// # Errors
    ///
    /// When there is no answer, because a budget was exceeded or ads or a policy cannot be used so.
    pub fn run(&self) -> Result<Vec<Mismatch<'o>>, Stop> {
        let context = self.conditions.context();
        let facts = self.question.answer(&self.expectations, &context)?;
        let pairs = self.expectations.iter().zip(facts);
        let unmet = pairs.filter(|(expectation, actual)| !expectation.fact.is_met(actual, context.dialect));
        Ok(unmet.map(|(expectation, actual)| Mismatch { expectation: expectation.clone(), actual }).collect())
    }

    /// What speaks for the answer, where this was expected.
    #[must_use]
    pub fn evidence(&self, mismatches: &[Mismatch<'o>]) -> Evidence<'o> {
        failure_details::of(&self.question, mismatches, &self.conditions.context())
    }

    /// Where it begins: its first key.
    #[must_use]
    pub fn place(&self) -> &'o Node {
        match &self.node.content {
            Content::Mapping(entries) => entries.first().map_or(self.node, |(key, _)| key),
            _ => self.node,
        }
    }

    /// The expression that is asked for, if that is the question.
    #[must_use]
    pub fn expression(&self) -> Option<&'o Node> {
        match &self.question {
            Question::Value(sighted) | Question::Residue { sighted, .. } => Some(sighted.node),
            _ => None,
        }
    }
}
