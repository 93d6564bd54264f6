//! Checks of a single expression: operators, calls, literals.

use crate::ad::{BinaryOperator, Dialect, Expression, Group, Kind, Name, UnaryOperator, Value};
use crate::eval::{find_function, near_functions};
use crate::syntax::{Style, print};

use super::finding::Finding;
use super::rules;

/// Checks the operators and calls in an attribute's expression.
pub(super) fn check(attribute: &Name, expression: &Expression, dialect: Dialect, found: &mut Vec<Finding>) {
    if let Kind::Attribute(name) = expression.bare().kind()
        && is_quoted(expression.bare(), name)
    {
        At { attribute, expression, dialect }.quotes(name, expression, found);
    }
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let at = At { attribute, expression, dialect };
        match expression.kind() {
            Kind::Binary(operator, left, right) => {
                at.precedence(*operator, left, right, found);
                match operator.group() {
                    Group::Comparison | Group::Identity => at.comparison(*operator, left, right, found),
                    Group::Logic => {
                        at.condition(operator.symbol(), left, found);
                        at.condition(operator.symbol(), right, found);
                    }
                    Group::Bitwise => at.bits(*operator, left, right, found),
                    Group::Arithmetic => {}
                }
            }
            Kind::Unary(UnaryOperator::Not, operand) => at.condition("!", operand, found),
            Kind::Conditional(condition, ..) => at.condition("?", condition, found),
            Kind::Call(name, arguments) => at.call(name, arguments.len(), found),
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
}

/// Prints an expression, cut to 60 characters.
pub(super) fn shown(expression: &Expression, dialect: Dialect) -> String {
    const LONGEST: usize = 60;
    let text = print(expression, if dialect.is_condor() { Style::Long } else { Style::New });
    let text = String::from_utf8_lossy(&text);
    if text.chars().count() <= LONGEST {
        return text.into_owned();
    }
    text.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

struct At<'e> {
    attribute: &'e Name,
    expression: &'e Expression,
    dialect: Dialect,
}

impl At<'_> {
    fn shown(&self, expression: &Expression) -> String {
        shown(expression, self.dialect)
    }

    fn precedence(&self, operator: BinaryOperator, left: &Expression, right: &Expression, found: &mut Vec<Finding>) {
        let compares = |group| matches!(group, Group::Comparison | Group::Identity);
        for operand in [left, right] {
            match operand.kind() {
                Kind::Binary(inner, ..) if compares(operator.group()) && compares(inner.group()) => {
                    let message = format!(
                        "`{}` compares the result of `{}`, which is true or false",
                        operator.symbol(),
                        inner.symbol()
                    );
                    let finding = Finding::new(&rules::PRECEDENCE, message)
                        .with_help(self.regrouped(operator, left, right))
                        .at(self.attribute, operand, format!("`{}` takes this whole", operator.symbol()));
                    found.push(finding);
                }
                Kind::Binary(BinaryOperator::And, ..) if operator == BinaryOperator::Or => {
                    let finding = Finding::new(&rules::MIXED, "`&&` binds tighter than the `||` beside it").at(
                        self.attribute,
                        operand,
                        "these belong together",
                    );
                    found.push(finding);
                }
                Kind::Unary(UnaryOperator::Not, negated)
                    if compares(operator.group())
                        && operand.same(left)
                        && !matches!(right.bare().kind(), Kind::Unary(..)) =>
                {
                    let message = format!("`!` binds tighter than `{}`", operator.symbol());
                    let (inner, right) = (self.shown(negated), self.shown(right));
                    let help = format!(
                        "write `!({inner} {0} {right})`, or `(!{inner}) {0} {right}` if that is meant",
                        operator.symbol()
                    );
                    found.push(Finding::new(&rules::PRECEDENCE, message).with_help(help).at(
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
        if let Kind::Binary(inner, first, second) = left.kind()
            && !matches!(second.bare().kind(), Kind::Literal(_))
        {
            let (first, second, right, o, i) =
                (self.shown(first), self.shown(second), self.shown(right), operator, inner);
            return format!(
                "write `{first} {1} ({second} {0} {right})`, or `({first} {1} {second}) {0} {right}` if that is meant",
                o.symbol(),
                i.symbol()
            );
        }
        format!("write `({}) {} {}` if that is meant", self.shown(left), operator.symbol(), self.shown(right))
    }

    fn comparison(&self, operator: BinaryOperator, left: &Expression, right: &Expression, found: &mut Vec<Finding>) {
        let dialect = self.dialect;
        for (operand, other) in [(left, right), (right, left)] {
            match operand.bare().kind() {
                Kind::Literal(value) if value.is_exceptional() && operator.group() == Group::Comparison => {
                    let (name, condor) = (value.kind().as_str(), dialect.is_condor());
                    let instead = match (operator, condor) {
                        (BinaryOperator::NotEqual, true) => "=!=",
                        (BinaryOperator::NotEqual, false) => "isnt",
                        (_, true) => "=?=",
                        (_, false) => "is",
                    };
                    let finding = Finding::new(
                        &rules::UNDEFINED,
                        format!("`{} {name}` is always {}", operator.symbol(), value.kind().phrase()),
                    )
                    .with_help(format!("write `{} {instead} {name}`", self.shown(other)))
                    .at(self.attribute, self.expression, "");
                    found.push(finding);
                }
                Kind::Literal(Value::String(text))
                    if operator.group() == Group::Identity
                        && text.as_bytes().iter().any(u8::is_ascii_alphabetic)
                        && !matches!(other.bare().kind(), Kind::Literal(_)) =>
                {
                    let (written, plain) = match operator {
                        BinaryOperator::Is => (if dialect.is_condor() { "=?=" } else { "is" }, "=="),
                        _ => (if dialect.is_condor() { "=!=" } else { "isnt" }, "!="),
                    };
                    let what = self.shown(other);
                    let finding =
                        Finding::new(&rules::CASE, format!("`{what} {written} \"...\"` tells upper from lower case"))
                            .with_help(format!(
                                "write `{} {plain} {}` if case should not count",
                                self.shown(other),
                                self.shown(operand)
                            ))
                            .at(self.attribute, self.expression, "");
                    found.push(finding);
                }
                Kind::Attribute(name) if is_quoted(operand.bare(), name) => self.quotes(name, operand, found),
                _ => {}
            }
        }
    }

    fn quotes(&self, name: &Name, quoted: &Expression, found: &mut Vec<Finding>) {
        let finding = Finding::new(&rules::QUOTES, format!("'{name}' is the name of an attribute, not a string"))
            .with_help(format!("write \"{name}\" for the string"))
            .at(self.attribute, quoted, "");
        found.push(finding);
    }

    /// Reports a string, list, ad or time where a condition is expected.
    fn condition(&self, operator: &str, operand: &Expression, found: &mut Vec<Finding>) {
        let what = match operand.bare().kind() {
            Kind::Literal(Value::String(_)) => "a string",
            Kind::List(_) => "a list",
            Kind::Ad(_) => "an ad",
            Kind::Literal(Value::AbsoluteTime(_) | Value::RelativeTime(_)) => "a time",
            _ => return,
        };
        let finding = Finding::new(&rules::NOT_BOOLEAN, format!("`{operator}` wants a condition, and this is {what}"))
            .at(self.attribute, operand, "");
        found.push(finding);
    }

    fn bits(&self, operator: BinaryOperator, left: &Expression, right: &Expression, found: &mut Vec<Finding>) {
        let logical = |operand: &Expression| match operand.bare().kind() {
            Kind::Binary(inner, ..) => matches!(inner.group(), Group::Comparison | Group::Identity | Group::Logic),
            Kind::Unary(UnaryOperator::Not, _) | Kind::Literal(Value::Boolean(_)) => true,
            _ => false,
        };
        let instead = match operator {
            BinaryOperator::BitAnd => "&&",
            BinaryOperator::BitOr => "||",
            _ => return,
        };
        if logical(left) || logical(right) {
            let message = format!("`{}` joins the bits of integers, not conditions", operator.symbol());
            let finding = Finding::new(&rules::BITWISE, message).with_help(format!("write `{instead}`")).at(
                self.attribute,
                self.expression,
                "",
            );
            found.push(finding);
        }
    }

    fn call(&self, name: &Name, arguments: usize, found: &mut Vec<Finding>) {
        let finding = match find_function(name.as_str()) {
            None => {
                let near = near_functions(name.as_str());
                let help = match near.as_slice() {
                    [] => rules::FUNCTION.help.to_owned(),
                    near => format!("did you mean {}?", near.join(", ")),
                };
                Finding::new(&rules::FUNCTION, format!("there is no function {name}")).with_help(help)
            }
            Some(function) if !function.takes(arguments) => {
                let message = format!("{} takes {}, not {arguments}", function.name, function.arity());
                Finding::new(&rules::ARITY, message).with_help(function.signature)
            }
            Some(_) => return,
        };
        found.push(finding.at(self.attribute, self.expression, ""));
    }
}

/// Whether a name is written in quotes: its span is two bytes longer than the name.
fn is_quoted(expression: &Expression, name: &Name) -> bool {
    let span = expression.span();
    span.end as usize - span.start as usize == name.as_str().len() + 2
}
