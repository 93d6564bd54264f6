//! Checks of a single expression: operators, calls, literals.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::ad::{
    BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value,
};
use crate::constraint::ClauseOperand;
use crate::eval::find_function;
use crate::syntax::{ParseOptions, parse_expression};
use crate::text::did_you_mean;

use super::precedence;
use super::rules::{self, LintRule};
use super::short_text::short_text;
use super::slip::Slip;
use super::slips::{GreedyConditional, is_comparison, unknown_function};
use super::standard_attributes::StandardType;
use super::subexpressions::subexpressions;

/// Checks the operators and calls in an expression.
pub(super) fn check(expression: &Expression, dialect: Dialect, found: &mut Vec<Slip>) {
    let (root, conditions) = (expression, OnceCell::new());
    ExpressionCheck { root, conditions: &conditions, expression, dialect, found }.check_quotes(expression);
    // The comparisons whose mistake is told of the conditional around them, by identity. It comes before them.
    let mut greedy = FxHashSet::default();
    for expression in subexpressions(root) {
        let mut check = ExpressionCheck { root, conditions: &conditions, expression, dialect, found };
        match expression.kind() {
            ExpressionKind::Binary(operator, left, right) => {
                if !greedy.contains(&expression.identity()) {
                    precedence::check_operands(expression, (*operator, left, right), dialect, check.found);
                }
                match operator.group() {
                    OperatorGroup::Comparison | OperatorGroup::Identity => {
                        check.check_comparison(*operator, left, right);
                    }
                    OperatorGroup::Logic => {
                        check.check_condition(operator.symbol(), left, None);
                        check.check_condition(operator.symbol(), right, Some((*operator, left)));
                    }
                    OperatorGroup::Bitwise => check.check_bitwise(*operator, [left, right]),
                    OperatorGroup::Arithmetic => {}
                }
            }
            ExpressionKind::Unary(UnaryOperator::Not, operand) => check.check_condition("!", operand, None),
            ExpressionKind::Conditional(condition, ..) => {
                check.check_condition("?", condition, None);
                if let Some(conditional) = GreedyConditional::of(expression) {
                    greedy.insert(conditional.taken.identity());
                    check.found.push(precedence::greedy_slip(expression, conditional, dialect));
                }
            }
            ExpressionKind::Call(name, arguments) => {
                check.check_call(name, arguments.len());
                check.check_tested(name, arguments);
                if let Some([condition, ..]) = expression.conditional() {
                    check.check_condition("ifThenElse", condition, None);
                }
            }
            _ => {}
        }
    }
}

/// Whether an operand is an attribute of HTCondor that is a boolean.
fn is_flag(operand: &Expression) -> bool {
    match ClauseOperand::of(operand) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
            StandardType::of(name) == Some(StandardType::Boolean)
        }
        _ => false,
    }
}

/// Returns the identities of an expression and of its parts that have only `&&`, `||` and parentheses around them.
fn condition_parts(expression: &Expression) -> FxHashSet<usize> {
    let (mut found, mut pending) = (FxHashSet::default(), vec![expression]);
    while let Some(part) = pending.pop() {
        found.insert(part.identity());
        match part.kind() {
            ExpressionKind::Parentheses(inner) => pending.push(inner),
            ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
                pending.extend([left, right]);
            }
            _ => {}
        }
    }
    found
}

/// The functions that test the type of a value.
const TYPE_TESTS: [&str; 8] =
    ["isUndefined", "isError", "isString", "isInteger", "isReal", "isBoolean", "isList", "isClassAd"];

/// A subexpression under check.
struct ExpressionCheck<'e> {
    /// The whole expression that is checked.
    root: &'e Expression,
    /// The identities of the [`condition_parts`] of the whole expression, once they are needed.
    conditions: &'e OnceCell<FxHashSet<usize>>,
    expression: &'e Expression,
    dialect: Dialect,
    found: &'e mut Vec<Slip>,
}

impl ExpressionCheck<'_> {
    fn short_text(&self, expression: &Expression) -> String {
        short_text(expression, self.dialect)
    }

    /// Adds a slip at the expression `marked`. If `help` is `None`, the slip has the help text of its rule.
    fn report(
        &mut self,
        rule: &'static LintRule,
        message: String,
        help: Option<String>,
        (marked, label): (&Expression, &str),
    ) {
        self.found.push(Slip { help, ..Slip::new(rule, marked, message).with_label(label) });
    }

    fn check_comparison(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression) {
        for (operand, other) in [(left, right), (right, left)] {
            self.check_quotes(operand);
            let Some(value) = operand.as_literal() else { continue };
            match (operator.group(), value) {
                (OperatorGroup::Comparison, Value::Undefined | Value::Error(_)) => {
                    let (symbol, name) = (operator.symbol(), value.value_type().as_str());
                    let is_unequal = operator == BinaryOperator::NotEqual;
                    let instead = if is_unequal { BinaryOperator::Isnt } else { BinaryOperator::Is };
                    let message = format!("`{symbol} {name}` is never true");
                    let help = format!("write `{} {} {name}`", self.short_text(other), instead.symbol_in(self.dialect));
                    let rewrite = Expression::binary(instead, other.clone(), operand.clone());
                    let slip = Slip::new(&rules::UNDEFINED, self.expression, message).with_help(help);
                    self.found.push(slip.with_rewrite(rewrite));
                }
                (OperatorGroup::Identity, Value::String(text))
                    if text.as_bytes().iter().any(u8::is_ascii_alphabetic)
                        && other.as_literal().is_none()
                        && !is_in_case_of(other, text) =>
                {
                    let (what, symbol) = (self.short_text(other), operator.symbol_in(self.dialect));
                    let message = format!("`{what} {symbol} \"...\"` is case-sensitive");
                    // Without the attribute, `==` and `!=` are undefined. A condition that is undefined counts as
                    // false, but its negation counts as false, too.
                    let rewrite = if operator == BinaryOperator::Is && self.is_condition() {
                        Expression::binary(BinaryOperator::Equal, left.clone(), right.clone())
                    } else {
                        let lower = Expression::call("toLower", [other.clone()]);
                        let text = text.as_bytes().to_ascii_lowercase();
                        Expression::binary(operator, lower, Expression::literal(Value::String(text.into())))
                    };
                    let help = format!("write `{}` to ignore case", self.short_text(&rewrite));
                    let slip = Slip::new(&rules::CASE, self.expression, message).with_help(help);
                    self.found.push(slip.with_rewrite(rewrite));
                }
                _ => {}
            }
        }
    }

    /// Whether false and undefined are the same for this part, if they are the same for the whole expression.
    fn is_condition(&self) -> bool {
        self.conditions.get_or_init(|| condition_parts(self.root)).contains(&self.expression.identity())
    }

    /// Reports an operand that is a name in single quotes. The parser drops the quotes, but the span of the name
    /// includes them.
    fn check_quotes(&mut self, operand: &Expression) {
        let inner = operand.without_parentheses();
        if let ExpressionKind::Attribute(name) = inner.kind()
            && inner.span().range().len() == name.as_str().len() + 2
        {
            let message = format!("'{name}' in single quotes is an attribute, not a string");
            let slip =
                Slip::new(&rules::QUOTES, operand, message).with_help(format!("write \"{name}\" for the string"));
            self.found.push(slip.with_rewrite(Expression::literal(Value::string(name.as_str()))));
        }
    }

    /// Reports a string, list, ad or time where a condition is expected. `before` is the operator and the operand on
    /// its left, if the operand is on the right of one.
    fn check_condition(&mut self, operator: &str, operand: &Expression, before: Option<(BinaryOperator, &Expression)>) {
        let what = match operand.without_parentheses().kind() {
            ExpressionKind::Literal(Value::String(_)) => "a string",
            ExpressionKind::List(_) => "a list",
            ExpressionKind::Ad(_) => "an ad",
            ExpressionKind::Literal(Value::AbsoluteTime(_) | Value::RelativeTime(_)) => "a time",
            _ => return,
        };
        let message = format!("`{operator}` needs a condition, but {} is {what}", self.short_text(operand));
        let slip = Slip::new(&rules::NOT_BOOLEAN, operand, message);
        // `x == "a" || "b"` means `x == "a" || x == "b"`.
        let rewrite = before.and_then(|(_, before)| compared_likewise(before, operand));
        let rewrite = rewrite.or_else(|| unquoted(operand, self.dialect));
        self.found.push(match rewrite {
            Some(rewrite) => slip.with_help(format!("write `{}`", self.short_text(&rewrite))).with_rewrite(rewrite),
            None => slip,
        });
    }

    fn check_bitwise(&mut self, operator: BinaryOperator, operands: [&Expression; 2]) {
        let is_logical = |operand: &Expression| match operand.without_parentheses().kind() {
            ExpressionKind::Binary(inner, ..) => is_comparison(*inner) || inner.group() == OperatorGroup::Logic,
            ExpressionKind::Unary(UnaryOperator::Not, _) | ExpressionKind::Literal(Value::Boolean(_)) => true,
            _ => self.dialect.is_condor() && is_flag(operand),
        };
        let instead = match operator {
            BinaryOperator::BitAnd => BinaryOperator::And,
            BinaryOperator::BitOr => BinaryOperator::Or,
            BinaryOperator::BitXor => {
                if let Some(rewrite) = meant_power(operands) {
                    let message = "`^` is the exclusive or of bits, and no power".to_owned();
                    let slip = Slip::new(&rules::BITWISE, self.expression, message);
                    let help = format!("write `{}`", self.short_text(&rewrite));
                    self.found.push(slip.with_help(help).with_rewrite(rewrite));
                }
                return;
            }
            _ => return,
        };
        if operands.into_iter().any(is_logical) {
            let message =
                format!("`{}` combines the bits of integers; conditions need another operator", operator.symbol());
            let [left, right] = operands.map(Clone::clone);
            let slip = Slip::new(&rules::BITWISE, self.expression, message);
            let slip = slip.with_help(format!("write `{}`", instead.symbol()));
            self.found.push(slip.with_rewrite(Expression::binary(instead, left, right)));
        }
    }

    /// Reports a string in a test of types, such as `isUndefined("TARGET.GPUs")`, which is the same for all ads.
    fn check_tested(&mut self, name: &Name, arguments: &[Expression]) {
        let [tested] = arguments else { return };
        let Some(Value::String(text)) = tested.without_parentheses().as_literal() else { return };
        let is_test = TYPE_TESTS.iter().any(|known| name.is(known));
        let Ok(inner) = parse_expression(text.as_bytes(), ParseOptions::new(self.dialect)) else { return };
        let is_name = matches!(inner.kind(), ExpressionKind::Attribute(_) | ExpressionKind::Select(..));
        if is_test && is_name {
            let message = format!("{name} of a string is the same for all ads");
            let slip = Slip::new(&rules::QUOTED, tested, message);
            self.found.push(
                slip.with_help(format!("write {}, without the quotes", self.short_text(&inner))).with_rewrite(inner),
            );
        }
    }

    fn check_call(&mut self, name: &Name, arguments: usize) {
        match (unknown_function(name, self.dialect), find_function(name)) {
            (Some(_), Some(papers_alone)) => {
                let message = format!("HTCondor has no function {}", papers_alone.name);
                let help = papers_alone.replacement.map(|replacement| format!("write `{replacement}`"));
                self.report(&rules::FUNCTION, message, help, (self.expression, ""));
            }
            (Some(near), None) => {
                let message = format!("there is no function {name}");
                self.report(&rules::FUNCTION, message, did_you_mean(&near), (self.expression, ""));
            }
            (None, Some(function)) if !function.accepts_count(arguments) => {
                let message = format!("{} takes {}, not {arguments}", function.name, function.arity());
                self.report(&rules::ARITY, message, Some(function.signature.to_owned()), (self.expression, ""));
            }
            _ => {}
        }
    }
}

/// Returns what a power was meant to be, of 2 or 10: `a <= 32768` for `a <= 2 ^ 15`, which is read as `(a <= 2) ^ 15`. `None`
/// for other operands.
fn meant_power([base, exponent]: [&Expression; 2]) -> Option<Expression> {
    let integer = |operand: &Expression| operand.without_parentheses().as_literal().and_then(Value::as_integer);
    let exponent = u32::try_from(integer(exponent)?).ok()?;
    let power = |base: &Expression| {
        let base = integer(base).filter(|base| [2, 10].contains(base))?;
        Some(Expression::literal(Value::Integer(base.checked_pow(exponent)?)))
    };
    match base.kind() {
        ExpressionKind::Binary(operator, left, right) if is_comparison(*operator) => {
            Some(Expression::binary(*operator, left.clone(), power(right)?))
        }
        _ => power(base),
    }
}

/// Returns the expression in a string, such as `Capability >= 8.0` of `"Capability >= 8.0"`. `None` if the expression is
/// no string, or the text in it is a word or no expression.
#[must_use]
pub fn unquoted(string: &Expression, dialect: Dialect) -> Option<Expression> {
    let Some(Value::String(text)) = string.without_parentheses().as_literal() else { return None };
    let inner = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).ok()?;
    let is_expression = match inner.without_parentheses().kind() {
        ExpressionKind::Binary(operator, ..) => is_comparison(*operator) || operator.group() == OperatorGroup::Logic,
        ExpressionKind::Unary(UnaryOperator::Not, _)
        | ExpressionKind::Call(..)
        | ExpressionKind::Select(..)
        | ExpressionKind::Literal(Value::Boolean(_)) => true,
        _ => false,
    };
    is_expression.then_some(inner)
}

/// Whether an operand is made lower or upper case, as the string is, so that case is ignored already.
fn is_in_case_of(operand: &Expression, text: &ByteString) -> bool {
    let ExpressionKind::Call(function, _) = operand.without_parentheses().kind() else { return false };
    let has = |is_of_case: fn(&u8) -> bool| text.as_bytes().iter().any(is_of_case);
    function.is("toLower") && !has(u8::is_ascii_uppercase) || function.is("toUpper") && !has(u8::is_ascii_lowercase)
}

/// Returns the comparison with a string on the right of `||` or `&&` that the comparison on its left has with another,
/// such as `x == "b"` for `x == "a"` and `"b"`. `None` if there is no such comparison.
fn compared_likewise(before: &Expression, operand: &Expression) -> Option<Expression> {
    /// Maximum number of operands that are passed over.
    const MAX_STEPS: usize = 100;
    let is_string = |operand: &Expression| matches!(operand.as_literal(), Some(Value::String(_)));
    let mut before = before.without_parentheses();
    for _ in 0..MAX_STEPS {
        let ExpressionKind::Binary(operator, left, right) = before.kind() else { return None };
        if is_comparison(*operator) && is_string(right) && is_string(operand) {
            return Some(Expression::binary(*operator, left.clone(), operand.without_parentheses().clone()));
        }
        if operator.group() != OperatorGroup::Logic {
            return None;
        }
        before = if is_string(right) { left } else { right }.without_parentheses();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unquoted;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn expressions_in_strings() {
        for (text, inner) in [
            ("\"Capability >= 8.0\"", Some("Capability >= 8.0")),
            ("(\"a && b\")", Some("a && b")),
            ("\"a ? b : c\"", None),
            ("\"1 + 2\"", None),
            ("\"!a\"", Some("!a")),
            ("\"-a\"", None),
            ("\"f(a)\"", Some("f(a)")),
            ("\"TARGET.a\"", Some("TARGET.a")),
            ("\"true\"", Some("true")),
            ("\"5\"", None),
            ("\"word\"", None),
            ("\"two words\"", None),
            ("a && b", None),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let found = unquoted(&expression, Dialect::Condor).map(|inner| inner.to_string());
            assert_eq!(found.as_deref(), inner, "{text}");
        }
    }
}
