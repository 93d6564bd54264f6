//! The form of one clause: either a shape that an index can look up, or a residue that needs evaluation (thesis 4.4:
//! exported and imported intervals).

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, ScopeAd, Value};
use crate::eval::CURRENT_TIME;

/// An operand of a comparison, classified without looking at an ad.
#[derive(Clone, Copy, Debug)]
pub enum ClauseOperand<'e> {
    /// `target.x` or `other.x`: an attribute of the other side.
    Other(&'e Name),
    /// `my.x` or `self.x`: an attribute of this side.
    Own(&'e Name),
    /// `x`: an attribute of this side or, if this side lacks it, of the other.
    Unqualified(&'e Name),
    /// A literal value.
    Literal(&'e Value),
}

/// The form of one clause of a constraint.
#[derive(Clone, Copy, Debug)]
pub enum ClauseForm<'e> {
    /// `left operator right`: a comparison or an identity test (`is`, `isnt`).
    Comparison(BinaryOperator, ClauseOperand<'e>, ClauseOperand<'e>),
    /// An attribute that must be true.
    Truth(ClauseOperand<'e>),
    /// An attribute that must be an item of a string list: `stringListMember(attribute, "a, b")`.
    StringListMember(ClauseOperand<'e>, &'e ByteString),
    /// Any other expression.
    Residue,
}

impl<'e> ClauseOperand<'e> {
    /// Classifies an expression as an operand; `None` if it is neither a literal nor a reference to an attribute of
    /// one side.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Option<Self> {
        match expression.without_parentheses().kind() {
            ExpressionKind::Literal(value) => Some(ClauseOperand::Literal(value)),
            ExpressionKind::Attribute(name) if !is_scope_name(name) => Some(ClauseOperand::Unqualified(name)),
            ExpressionKind::Select(ad, name) if !is_scope_name(name) => match ad.without_parentheses().kind() {
                ExpressionKind::Attribute(side) => match ScopeAd::of(side)? {
                    ScopeAd::Other => Some(ClauseOperand::Other(name)),
                    ScopeAd::Own => Some(ClauseOperand::Own(name)),
                    ScopeAd::Parent | ScopeAd::Root => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'e> ClauseForm<'e> {
    /// Classifies a clause.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Self {
        let bare = expression.without_parentheses();
        if let ExpressionKind::Binary(operator, left, right) = bare.kind()
            && matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity)
            && let (Some(left), Some(right)) = (ClauseOperand::of(left), ClauseOperand::of(right))
        {
            return ClauseForm::Comparison(*operator, left, right);
        }
        if let ExpressionKind::Call(function, arguments) = bare.kind()
            && function.is("stringListMember")
            && let [item, list] = arguments.as_ref()
            && let ExpressionKind::Literal(Value::String(list)) = list.without_parentheses().kind()
            && let Some(operand) = ClauseOperand::of(item)
        {
            return ClauseForm::StringListMember(operand, list);
        }
        match ClauseOperand::of(bare) {
            Some(operand) => ClauseForm::Truth(operand),
            None => ClauseForm::Residue,
        }
    }
}

/// Whether a name denotes a scope or the current time rather than an attribute, as in `x.self`, which is `x`.
#[must_use]
pub fn is_scope_name(name: &Name) -> bool {
    ScopeAd::of(name).is_some() || name.is_known(CURRENT_TIME)
}

/// Whether a literal evaluates to itself. Lists and ads do not (they need a scope), nor do integers beyond 32 bits in
/// the papers' dialect.
#[must_use]
pub fn is_self_evaluating(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Integer(integer) => dialect.is_condor() || i32::try_from(*integer).is_ok(),
        Value::Error(_) | Value::List(_) | Value::Ad(_) => false,
        _ => true,
    }
}

/// Whether a name denotes one ad of a pair: `my`, `self`, `target` or `other`.
#[must_use]
pub fn is_side_name(name: &Name) -> bool {
    ScopeAd::of(name).is_some_and(ScopeAd::is_side)
}

#[cfg(test)]
mod tests {
    use super::{ClauseForm, ClauseOperand};
    use crate::syntax::{ParseOptions, parse_expression};

    fn operand(operand: &ClauseOperand<'_>) -> String {
        match operand {
            ClauseOperand::Other(name) => format!("other {name}"),
            ClauseOperand::Own(name) => format!("own {name}"),
            ClauseOperand::Unqualified(name) => format!("free {name}"),
            ClauseOperand::Literal(value) => format!("{value:?}"),
        }
    }

    fn condition(text: &str) -> String {
        let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
        match ClauseForm::of(&tree) {
            ClauseForm::Comparison(operator, left, right) => {
                format!("{} {} {}", operand(&left), operator.symbol(), operand(&right))
            }
            ClauseForm::Truth(of) => operand(&of),
            ClauseForm::StringListMember(of, list) => format!("{} in {}", operand(&of), list.to_str()),
            ClauseForm::Residue => "residue".to_owned(),
        }
    }

    #[test]
    fn what_can_be_looked_up() {
        for (text, expected) in [
            ("(TARGET.Memory) >= (MY.RequestMemory)", "other Memory >= own RequestMemory"),
            ("other.x is 5", "other x is Integer(5)"),
            ("x != \"a\"", "free x != String(\"a\")"),
            ("(HasDocker)", "free HasDocker"),
            ("stringListMember(TARGET.Owner, \"a, b\")", "other Owner in a, b"),
            ("stringListMember(TARGET.Owner, \"a; b\", \";\")", "residue"),
            ("stringListMember(\"a\", list)", "residue"),
            ("x + 1 > 2", "residue"),
            ("my", "residue"),
            ("target.my > 1", "residue"),
            ("a.b > 1", "residue"),
            ("a && b", "residue"),
        ] {
            assert_eq!(condition(text), expected, "{text}");
        }
    }
}
