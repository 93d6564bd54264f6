//! HTCondor's transform language: rules that edit ads.
//!
//! [`parse_rules`] reads a rules file; [`Transform::apply`] runs rules over an ad and returns the resulting ad, with
//! the changes and the statements that made them.
//!
//! The semantics were determined with the library of HTCondor 25.14. Where HTCondor fails silently or produces a broken
//! ad, this module reports a [`TransformFault`] or a [`Problem`](crate::format::Problem).
//!
//! ```
//! use classad::ad::Dialect;
//! use classad::eval::Context;
//! use classad::transform::{Transform, parse_rules};
//! use classad::syntax::{ParseOptions, parse_ad};
//!
//! let text = b"REQUIREMENTS RequestMemory < 512\nSET RequestMemory 512\n";
//! let (rules, problems) = parse_rules(text, Dialect::Condor);
//! assert!(problems.is_empty());
//! let ad = parse_ad(b"[ RequestMemory = 1 ]", ParseOptions::new(Dialect::Condor))?;
//! let results = Transform { rules, ..Transform::default() }.apply(&ad, &Context::new(Dialect::Condor));
//! assert_eq!(results[0].ad, parse_ad(b"[ RequestMemory = 512 ]", ParseOptions::new(Dialect::Condor))?);
//! assert_eq!(results[0].changes[0].attribute.as_str(), "RequestMemory");
//! # Ok::<(), classad::syntax::SyntaxError>(())
//! ```

mod ad_state;
mod branches;
mod condition;
mod edited_ad;
mod edited_shapes;
mod expander;
mod interpreter;
#[cfg(test)]
mod interpreter_tests;
mod iteration;
mod keywords;
mod line_syntax;
mod logical_line;
mod macro_function;
mod macro_scope;
mod macro_statement;
#[cfg(test)]
mod macro_tests;
mod macros;
mod named_file;
mod new_names;
mod open_if;
mod outline;
mod parse;
mod parse_blocks;
#[cfg(test)]
mod parse_tests;
mod path_function;
mod print;
mod result;
mod rule;
mod slips;
mod string_state;
mod text_transformer;
mod variable_uses;

/// Maximum number of bytes of the texts that rules put into an ad, 8 MiB. Copies of a long text would otherwise fill the
/// memory when the ad is printed.
pub const MAX_MADE_BYTES: usize = 8 << 20;

pub use condition::IfCondition;
pub(crate) use expander::{FOLDER, MacroGap};
pub use interpreter::{Transform, TransformCache};
pub use iteration::{IterationItems, TransformLine};
pub(crate) use keywords::is_variable;
pub use keywords::{Keyword, parse_target};
pub(crate) use logical_line::{LogicalLine, LogicalLines};
pub(crate) use macro_scope::{MacroScope, ScopedExpansion};
pub(crate) use macro_statement::{
    MAX_INCLUDE_DEPTH, MAX_INCLUDED_BYTES, MacroStatement, TextBranches, is_include_optional,
};
pub use macros::{Expansion, VariableTable};
pub(crate) use macros::{MacroReference, find_macros};
pub(crate) use named_file::read_named_file;
pub use outline::RuleOutline;
pub use parse::{ParsedRules, RuleSurroundings, parse_rules, parse_rules_within};
pub use result::{AppliedChange, FaultScope, StatementPosition, TransformFault, TransformResult};
pub use rule::{NamePattern, RuleAction, RuleOperand, RuleStatement, RuleTarget, TransformRule};
pub use slips::rule_slips;
pub use text_transformer::TextTransformer;
