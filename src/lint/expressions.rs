//! Checks of a single expression: operators, calls, literals.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value};
use crate::eval::find_function;
use crate::syntax::{Style, expression_text};
use crate::text::{did_you_mean, shorten};

use super::finding::LintFinding;
use super::rules;
use super::slips::{ChainedComparison, is_comparison, unknown_function};

/// Checks the operators and calls in an attribute's expression.
pub(super) fn check(attribute: &Name, expression: &Expression, dialect: Dialect, found: &mut Vec<LintFinding>) {
    if let ExpressionKind::Attribute(name) = expression.without_parentheses().kind()
        && is_quoted(expression.without_parentheses(), name)
    {
        ExpressionCheck { attribute, expression, dialect }.report_quotes(name, expression, found);
    }
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let at = ExpressionCheck { attribute, expression, dialect };
        match expression.kind() {
            ExpressionKind::Binary(operator, left, right) => {
                at.check_precedence(*operator, left, right, found);
                match operator.group() {
                    OperatorGroup::Comparison | OperatorGroup::Identity => {
                        at.check_comparison(*operator, left, right, found);
                    }
                    OperatorGroup::Logic => {
                        at.check_condition(operator.symbol(), left, found);
                        at.check_condition(operator.symbol(), right, found);
                    }
                    OperatorGroup::Bitwise => at.check_bitwise(*operator, left, right, found),
                    OperatorGroup::Arithmetic => {}
                }
            }
            ExpressionKind::Unary(UnaryOperator::Not, operand) => at.check_condition("!", operand, found),
            ExpressionKind::Conditional(condition, ..) => at.check_condition("?", condition, found),
            ExpressionKind::Call(name, arguments) => at.check_call(name, arguments.len(), found),
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
}

/// Prints an expression, cut to 60 characters.
pub(super) fn short_text(expression: &Expression, dialect: Dialect) -> String {
    const MAX_CHARS: usize = 60;
    shorten(&expression_text(expression, if dialect.is_condor() { Style::Long } else { Style::New }), MAX_CHARS)
}

struct ExpressionCheck<'e> {
    attribute: &'e Name,
    expression: &'e Expression,
    dialect: Dialect,
}

impl ExpressionCheck<'_> {
    fn short_text(&self, expression: &Expression) -> String {
        short_text(expression, self.dialect)
    }

    fn check_precedence(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        found: &mut Vec<LintFinding>,
    ) {
        for operand in [left, right] {
            match operand.kind() {
                ExpressionKind::Binary(inner, ..) if is_comparison(operator) && is_comparison(*inner) => {
                    let message = format!(
                        "`{}` compares the result of `{}`, which is true or false",
                        operator.symbol(),
                        inner.symbol()
                    );
                    let finding = LintFinding::new(&rules::PRECEDENCE, message)
                        .with_help(self.regrouped(operator, left, right))
                        .at(self.attribute, operand, format!("`{}` takes this whole", operator.symbol()));
                    found.push(finding);
                }
                ExpressionKind::Binary(BinaryOperator::And, ..) if operator == BinaryOperator::Or => {
                    let finding = LintFinding::new(&rules::MIXED, "`&&` binds tighter than the `||` beside it").at(
                        self.attribute,
                        operand,
                        "these belong together",
                    );
                    found.push(finding);
                }
                ExpressionKind::Unary(UnaryOperator::Not, negated)
                    if is_comparison(operator)
                        && operand.ptr_eq(left)
                        && !matches!(right.without_parentheses().kind(), ExpressionKind::Unary(..)) =>
                {
                    let message = format!("`!` binds tighter than `{}`", operator.symbol());
                    let (inner, right) = (self.short_text(negated), self.short_text(right));
                    let help = format!(
                        "write `!({inner} {0} {right})`, or `(!{inner}) {0} {right}` if that is meant",
                        operator.symbol()
                    );
                    found.push(LintFinding::new(&rules::PRECEDENCE, message).with_help(help).at(
                        self.attribute,
                        operand,
                        "only this is negated",
                    ));
                }
                _ => {}
            }
        }
    }

    /// Suggests parentheses for a comparison of a comparison.
    fn regrouped(&self, operator: BinaryOperator, left: &Expression, right: &Expression) -> String {
        if let Some(chain) = ChainedComparison::of(self.expression)
            && chain.second.as_literal().is_none()
        {
            let [first, second, last] = [chain.first, chain.second, chain.last].map(|part| self.short_text(part));
            let (inner, outer) = (chain.inner.symbol(), chain.outer.symbol());
            return format!(
                "write `{first} {inner} ({second} {outer} {last})`, or `({first} {inner} {second}) {outer} {last}` if that is meant"
            );
        }
        format!("write `({}) {} {}` if that is meant", self.short_text(left), operator.symbol(), self.short_text(right))
    }

    fn check_comparison(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        found: &mut Vec<LintFinding>,
    ) {
        for (operand, other) in [(left, right), (right, left)] {
            match operand.without_parentheses().kind() {
                ExpressionKind::Literal(value)
                    if value.is_exceptional() && operator.group() == OperatorGroup::Comparison =>
                {
                    let name = value.value_type().as_str();
                    let is_unequal = operator == BinaryOperator::NotEqual;
                    let instead = if is_unequal { BinaryOperator::Isnt } else { BinaryOperator::Is };
                    let instead = instead.symbol_in(self.dialect);
                    let finding = LintFinding::new(
                        &rules::UNDEFINED,
                        format!("`{} {name}` is always {}", operator.symbol(), value.value_type().phrase()),
                    )
                    .with_help(format!("write `{} {instead} {name}`", self.short_text(other)))
                    .at(self.attribute, self.expression, "");
                    found.push(finding);
                }
                ExpressionKind::Literal(Value::String(text))
                    if operator.group() == OperatorGroup::Identity
                        && text.as_bytes().iter().any(u8::is_ascii_alphabetic)
                        && !matches!(other.without_parentheses().kind(), ExpressionKind::Literal(_)) =>
                {
                    let plain = if operator == BinaryOperator::Is { "==" } else { "!=" };
                    let written = operator.symbol_in(self.dialect);
                    let what = self.short_text(other);
                    let finding = LintFinding::new(
                        &rules::CASE,
                        format!("`{what} {written} \"...\"` tells upper from lower case"),
                    )
                    .with_help(format!(
                        "write `{} {plain} {}` if case should not count",
                        self.short_text(other),
                        self.short_text(operand)
                    ))
                    .at(self.attribute, self.expression, "");
                    found.push(finding);
                }
                ExpressionKind::Attribute(name) if is_quoted(operand.without_parentheses(), name) => {
                    self.report_quotes(name, operand, found);
                }
                _ => {}
            }
        }
    }

    fn report_quotes(&self, name: &Name, quoted: &Expression, found: &mut Vec<LintFinding>) {
        let finding = LintFinding::new(&rules::QUOTES, format!("'{name}' is the name of an attribute, not a string"))
            .with_help(format!("write \"{name}\" for the string"))
            .at(self.attribute, quoted, "");
        found.push(finding);
    }

    /// Reports a string, list, ad or time where a condition is expected.
    fn check_condition(&self, operator: &str, operand: &Expression, found: &mut Vec<LintFinding>) {
        let what = match operand.without_parentheses().kind() {
            ExpressionKind::Literal(Value::String(_)) => "a string",
            ExpressionKind::List(_) => "a list",
            ExpressionKind::Ad(_) => "an ad",
            ExpressionKind::Literal(Value::AbsoluteTime(_) | Value::RelativeTime(_)) => "a time",
            _ => return,
        };
        let finding = LintFinding::new(
            &rules::NOT_BOOLEAN,
            format!("`{operator}` wants a condition, and this is {what}"),
        )
        .at(self.attribute, operand, "");
        found.push(finding);
    }

    fn check_bitwise(
        &self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        found: &mut Vec<LintFinding>,
    ) {
        let logical = |operand: &Expression| match operand.without_parentheses().kind() {
            ExpressionKind::Binary(inner, ..) => {
                matches!(inner.group(), OperatorGroup::Comparison | OperatorGroup::Identity | OperatorGroup::Logic)
            }
            ExpressionKind::Unary(UnaryOperator::Not, _) | ExpressionKind::Literal(Value::Boolean(_)) => true,
            _ => false,
        };
        let instead = match operator {
            BinaryOperator::BitAnd => "&&",
            BinaryOperator::BitOr => "||",
            _ => return,
        };
        if logical(left) || logical(right) {
            let message = format!("`{}` joins the bits of integers, not conditions", operator.symbol());
            let finding = LintFinding::new(&rules::BITWISE, message).with_help(format!("write `{instead}`")).at(
                self.attribute,
                self.expression,
                "",
            );
            found.push(finding);
        }
    }

    fn check_call(&self, name: &Name, arguments: usize, found: &mut Vec<LintFinding>) {
        let finding = match (unknown_function(name), find_function(name)) {
            (Some(near), _) => {
                let help = did_you_mean(&near).unwrap_or_else(|| rules::FUNCTION.help.to_owned());
                LintFinding::new(&rules::FUNCTION, format!("there is no function {name}")).with_help(help)
            }
            (None, Some(function)) if !function.accepts_count(arguments) => {
                let message = format!("{} takes {}, not {arguments}", function.name, function.arity());
                LintFinding::new(&rules::ARITY, message).with_help(function.signature)
            }
            _ => return,
        };
        found.push(finding.at(self.attribute, self.expression, ""));
    }
}

/// Whether a name is written in quotes: its span is two bytes longer than the name.
fn is_quoted(expression: &Expression, name: &Name) -> bool {
    let span = expression.span();
    span.end as usize - span.start as usize == name.as_str().len() + 2
}
