//! HTCondor's transform language: rules that edit ads.
//!
//! [`parse_rules`] reads a rules file; [`Transform::apply`] runs rules over an ad and returns the resulting ad, with
//! the changes and the statements that made them.
//!
//! The semantics were determined with the library of HTCondor 25.14. Where that fails silently or produces a broken
//! ad, there is a [`Fault`] or a [`Problem`](crate::format::Problem) here.
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::transform::{Transform, parse_rules};
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

mod c_numbers;
mod condition;
mod edited_ad;
mod function;
mod interpreter;
mod iteration;
mod keywords;
mod line;
mod macros;
mod parse;
mod print;
mod rename;
mod rule;

pub use condition::Condition;
pub use interpreter::{Cause, Fault, Fired, Left, Transform, Transformed};
pub use iteration::{Items, Iteration};
pub use keywords::{Keyword, read_target};
pub use parse::parse_rules;
pub use rule::{Action, Operand, Pattern, Rule, Statement, Target};
