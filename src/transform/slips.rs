//! Statements of rules that HTCondor does not carry out as they are probably meant.

use crate::ad::{Expression, Name};
use crate::constraint::own_names;
use crate::format::Problem;
use crate::syntax::parse_expression;

use super::keywords::error;
use super::macros;
use super::rule::{RuleAction, RuleOperand, RuleStatement, TransformRule};

/// Returns a warning for each statement that sets an attribute to an expression that refers to it, and for each condition
/// that HTCondor does not support. Ranges are those of the statements.
#[must_use]
pub fn rule_slips(rule: &TransformRule) -> Vec<Problem> {
    let slip = |action: &RuleAction| match action {
        RuleAction::Set(name, operand) | RuleAction::Default(name, operand) if operand.refers_to(name) => {
            let help = match action {
                RuleAction::Set(..) => {
                    format!("EVALSET {name} uses the old value; in SET, `$(MY.{name})` is the old expression")
                }
                _ => format!("DEFAULT sets {name} only if it is missing: write another expression"),
            };
            Some((format!("{name} refers to itself, not to its old value"), help))
        }
        RuleAction::If(condition) | RuleAction::ElseIf(condition) if condition.is_complex() => {
            let message = "HTCondor does not support complex conditionals: where this one is not true, the rules fail";
            let help = "give its value to a variable with EVALMACRO, and write `if $(variable)`";
            Some((message.to_owned(), help.to_owned()))
        }
        _ => None,
    };
    let problem = |statement: &RuleStatement| {
        let (message, help) = slip(&statement.action)?;
        Some(error(statement.range.clone(), message).with_help(help).as_warning())
    };
    rule.statements.iter().filter_map(problem).collect()
}

impl RuleOperand {
    /// Whether the expression looks a name up in the ad itself, whatever its macros stand for.
    #[must_use]
    pub fn refers_to(&self, name: &Name) -> bool {
        let contains = |expression: &Expression| own_names([expression]).contains(name);
        self.expression().map_or_else(
            || {
                let text = macros::with_placeholders(self.text(), "1");
                parse_expression(text.as_bytes(), self.rules).is_ok_and(|expression| contains(&expression))
            },
            contains,
        )
    }
}
