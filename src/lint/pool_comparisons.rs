//! Checks comparisons of an attribute of the pool, such as `TARGET.OpSys == "LINUX"`, against the values that it has there.

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, Type, Value};
use crate::constraint::{ClauseOperand, conjuncts};
use crate::eval::Context;
use crate::pool::BindingKind;

use super::finding::LintFinding;
use super::operand_types::is_other_type;
use super::pool_range::{self, constant_number};
use super::pool_statistics::{AttributeStatistics, PoolStatistics};
use super::rules;
use super::short_text::short_text;
use super::slips::is_comparison;
use super::standard_attributes::StandardType;
use super::subexpressions::subexpressions;

/// Checks the comparisons in an expression, which an attribute of an ad has. An attribute of the ad counts as a literal if
/// its expression is one.
pub(super) fn check(
    expression: &Expression,
    (ad, attribute): (&Ad, &Name),
    pool: &PoolStatistics,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let needed = conjuncts(expression);
    for part in subexpressions(expression) {
        let ExpressionKind::Binary(operator, left, right) = part.kind() else { continue };
        if !is_comparison(*operator) {
            continue;
        }
        for (side, other) in [(left, right), (right, left)] {
            let name = match ClauseOperand::of(side) {
                Some(ClauseOperand::Other(name)) => name,
                Some(ClauseOperand::Unqualified(name)) if ad.get(name).is_none() => name,
                _ => continue,
            };
            let Some(known) = pool.attributes.get(name) else { continue };
            let operator = *operator;
            let comparison = PoolComparison { ad, attribute, part, operator, name, known, other, context };
            found.extend(comparison.check_range(side.ptr_eq(left)));
            let Some(value) = comparison.value() else { continue };
            found.extend(comparison.check_type(value));
            found.extend(comparison.check_case(value));
            // An alternative that the pool does not have may be meant so, as in `Arch == "ARM" || ...`.
            if needed.iter().any(|needed| needed.without_parentheses().ptr_eq(part)) {
                found.extend(comparison.check_string(value));
            }
        }
    }
}

/// The comparison of an attribute of the pool with another operand.
struct PoolComparison<'a> {
    /// The ad that compares.
    ad: &'a Ad,
    /// The attribute of the ad that compares.
    attribute: &'a Name,
    /// The whole comparison.
    part: &'a Expression,
    operator: BinaryOperator,
    /// The attribute of the pool.
    name: &'a Name,
    /// What the pool has in it.
    known: &'a AttributeStatistics,
    /// The operand with which it is compared.
    other: &'a Expression,
    context: &'a Context,
}

impl<'a> PoolComparison<'a> {
    /// The value with which the attribute is compared; `None` if it is no literal.
    fn value(&self) -> Option<&'a Value> {
        match ClauseOperand::of(self.other) {
            Some(ClauseOperand::Literal(value)) => Some(value),
            Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
                self.ad.get(name).and_then(Expression::as_literal)
            }
            _ => None,
        }
    }

    /// Reports a comparison with a number that no ad of the pool satisfies, or all do because the unit is wrong. `is_left`
    /// says whether the attribute is the left operand.
    fn check_range(&self, is_left: bool) -> Option<LintFinding> {
        let own = match ClauseOperand::of(self.other) {
            Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => self.ad.get(name),
            _ => None,
        };
        let range = self.known.range()?;
        let number = constant_number(own.unwrap_or(self.other))?;
        let operator = if is_left { self.operator } else { self.operator.converse().unwrap_or(self.operator) };
        pool_range::check((self.attribute, self.part), self.name, range, operator, number, own.is_none())
    }

    /// Reports a comparison with a value, if the attribute has only values of other types in the pool.
    fn check_type(&self, value: &Value) -> Option<LintFinding> {
        let dialect = self.context.dialect;
        // A literal of another type than a standard attribute has a finding without the pool.
        let is_told = self.other.as_literal().is_some()
            && StandardType::of(self.name).is_some_and(|kind| is_other_type(kind, value, dialect));
        if is_told {
            return None;
        }
        let class = |kind: Type| match kind {
            Type::Integer | Type::Real => Some(Type::Real),
            Type::Boolean if dialect.is_condor() => Some(Type::Real),
            Type::Undefined | Type::Error => None,
            kind => Some(kind),
        };
        let known_class = |content: &BindingKind| match content {
            BindingKind::Value(kind) => class(*kind),
            BindingKind::Expression => None,
        };
        let contents = &self.known.contents;
        let kinds = contents.iter().map(|(content, _)| known_class(content)).collect::<Option<Vec<Type>>>()?;
        if kinds.contains(&class(value.value_type())?) {
            return None;
        }
        let has = match contents.iter().max_by_key(|(_, ads)| *ads) {
            Some((BindingKind::Value(kind), _)) => kind.phrase(),
            Some((BindingKind::Expression, _)) => "an expression",
            None => "nothing",
        };
        let result = match self.operator {
            BinaryOperator::Is => "false",
            BinaryOperator::Isnt => "true",
            _ => "an error",
        };
        let (name, is) = (self.name, value.value_type().phrase());
        let message = format!("{name} is {has} in the pool, but is compared with {is}: the result is {result}");
        Some(LintFinding::new(&rules::TYPE, message).at(self.attribute, self.part, ""))
    }

    /// Reports a comparison by `is` or `isnt` with a string, such as `"linux"`, if the pool has only a string that differs
    /// in case, such as `"LINUX"`.
    fn check_case(&self, value: &Value) -> Option<LintFinding> {
        let (Value::String(text), OperatorGroup::Identity) = (value, self.operator.group()) else { return None };
        let spelt = self.known.strings.other_spelling(text)?;
        let symbol = self.operator.symbol_in(self.context.dialect);
        let message = format!("the pool has \"{}\", and `{symbol}` is case-sensitive", spelt.to_str());
        let instead = if self.operator == BinaryOperator::Is { "==" } else { "!=" };
        let help = format!("write `{instead} {}` to ignore case", short_text(self.other, self.context.dialect));
        Some(LintFinding::new(&rules::LETTERS, message).with_help(help).at(self.attribute, self.part, ""))
    }

    /// Reports a comparison for equality with a string that the pool does not have.
    fn check_string(&self, value: &Value) -> Option<LintFinding> {
        let (Value::String(text), BinaryOperator::Equal | BinaryOperator::Is) = (value, self.operator) else {
            return None;
        };
        self.known.only_strings()?.check((self.attribute, self.part), self.name, text)
    }
}
