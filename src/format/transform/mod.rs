//! Pipelines of ad writers: HTCondor's transform rules, and single changes.
//!
//! [`parse_rules`] reads a file in HTCondor's transform language; [`Transform::apply`] runs rules over an
//! ad and gives the ad that comes of it, with what was changed and by what.
//!
//! What a rule means was established with HTCondor 25.14's own library; where it ends in silence or in a
//! broken ad, there is a [`Fault`] or a [`Problem`](super::Problem) here instead.
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::format::transform::{Transform, parse_rules};
//! use classad::syntax::{Rules, parse_ad};
//!
//! let text = b"REQUIREMENTS RequestMemory < 512\nSET RequestMemory 512\n";
//! let (rules, problems) = parse_rules(text, Dialect::Condor);
//! assert!(problems.is_empty());
//! let ad = parse_ad(b"[ RequestMemory = 1 ]", Rules::new(Dialect::Condor))?;
//! let results = Transform { rules, only: None }.apply(&ad, &Context::new(Dialect::Condor));
//! assert_eq!(results[0].ad, parse_ad(b"[ RequestMemory = 512 ]", Rules::new(Dialect::Condor))?);
//! assert_eq!(results[0].fired[0].attribute.as_str(), "RequestMemory");
//! # Ok::<(), classad::syntax::SyntaxError>(())
//! ```

mod condition;
mod draft;
mod function;
mod iteration;
mod line;
mod macros;
mod number;
mod parse;
mod print;
mod rename;
mod rule;
mod run;
mod words;

pub use condition::Condition;
pub use iteration::{Items, Iteration};
pub use parse::parse_rules;
pub use rule::{Action, Operand, Pattern, Rule, Statement, Target};
pub use run::{Cause, Fault, Fired, Left, Transform, Transformed};
pub use words::{Keyword, read_target};
