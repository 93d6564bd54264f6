//! The form of one clause: either a shape that an index can look up, or a residue that needs evaluation (thesis 4.4:
//! exported and imported intervals).

use crate::ad::{BinaryOperator, Dialect, Expression, Group, Kind, KnownName, Name, Text, Value};

/// An operand of a comparison, classified without looking at an ad.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'e> {
    /// `target.x` or `other.x`: an attribute of the other side.
    Other(&'e Name),
    /// `my.x` or `self.x`: an attribute of this side.
    Own(&'e Name),
    /// `x`: an attribute of this side or, if this side lacks it, of the other.
    Free(&'e Name),
    /// A literal value.
    Literal(&'e Value),
}

/// The form of one clause of a constraint.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'e> {
    /// `left operator right`: a comparison or an identity test (`is`, `isnt`).
    Comparison(BinaryOperator, Operand<'e>, Operand<'e>),
    /// An attribute that must be true.
    Truth(Operand<'e>),
    /// An attribute that must be an item of a string list: `stringListMember(attribute, "a, b")`.
    Listed(Operand<'e>, &'e Text),
    /// Any other expression.
    Residue,
}

impl<'e> Operand<'e> {
    /// Classifies an expression as an operand; `None` if it is neither a literal nor a reference to an attribute of
    /// one side.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Option<Self> {
        match expression.bare().kind() {
            Kind::Literal(value) => Some(Operand::Literal(value)),
            Kind::Attribute(name) if !stands_for_an_ad(name) => Some(Operand::Free(name)),
            Kind::Select(ad, name) if !stands_for_an_ad(name) => match ad.bare().kind() {
                Kind::Attribute(side) if side.is_any(OTHER) => Some(Operand::Other(name)),
                Kind::Attribute(side) if side.is_any(OWN) => Some(Operand::Own(name)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'e> Condition<'e> {
    /// Classifies a clause.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Self {
        let bare = expression.bare();
        if let Kind::Binary(operator, left, right) = bare.kind()
            && matches!(operator.group(), Group::Comparison | Group::Identity)
            && let (Some(left), Some(right)) = (Operand::of(left), Operand::of(right))
        {
            return Condition::Comparison(*operator, left, right);
        }
        if let Kind::Call(function, arguments) = bare.kind()
            && function.is("stringListMember")
            && let [item, list] = arguments.as_ref()
            && let Kind::Literal(Value::String(list)) = list.bare().kind()
            && let Some(operand) = Operand::of(item)
        {
            return Condition::Listed(operand, list);
        }
        match Operand::of(bare) {
            Some(operand) => Condition::Truth(operand),
            None => Condition::Residue,
        }
    }
}

/// Names by which an ad of a pair refers to itself.
const OWN: &[KnownName] = &[KnownName::new("my"), KnownName::new("self")];

/// Names by which an ad of a pair refers to the other ad.
const OTHER: &[KnownName] = &[KnownName::new("target"), KnownName::new("other")];

/// Names of enclosing ads, and of the current time.
const ABOVE: &[KnownName] =
    &[KnownName::new("root"), KnownName::new("parent"), KnownName::new("toplevel"), KnownName::new("CurrentTime")];

/// Whether a name denotes a scope or the current time rather than an attribute, as in `x.self`, which is `x`.
#[must_use]
pub fn stands_for_an_ad(name: &Name) -> bool {
    stands_for_a_side(name) || name.is_any(ABOVE)
}

/// Whether a literal evaluates to itself. Lists and ads do not (they need a scope), nor do integers beyond 32 bits in
/// the papers' dialect.
#[must_use]
pub fn is_plain(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Integer(integer) => dialect.is_condor() || i32::try_from(*integer).is_ok(),
        Value::Error(_) | Value::List(_) | Value::Ad(_) => false,
        _ => true,
    }
}

/// Whether a name denotes one ad of a pair: `my`, `self`, `target` or `other`.
#[must_use]
pub fn stands_for_a_side(name: &Name) -> bool {
    name.is_any(OWN) || name.is_any(OTHER)
}

#[cfg(test)]
mod tests {
    use super::{Condition, Operand};
    use crate::syntax::{Rules, parse_expression};

    fn operand(operand: &Operand<'_>) -> String {
        match operand {
            Operand::Other(name) => format!("other {name}"),
            Operand::Own(name) => format!("own {name}"),
            Operand::Free(name) => format!("free {name}"),
            Operand::Literal(value) => format!("{value:?}"),
        }
    }

    fn condition(text: &str) -> String {
        let tree = parse_expression(text.as_bytes(), Rules::default()).unwrap();
        match Condition::of(&tree) {
            Condition::Comparison(operator, left, right) => {
                format!("{} {} {}", operand(&left), operator.symbol(), operand(&right))
            }
            Condition::Truth(of) => operand(&of),
            Condition::Listed(of, list) => format!("{} in {}", operand(&of), list.to_str()),
            Condition::Residue => "residue".to_owned(),
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
