//! The form of one part of a constraint: what an index can look up, and what only evaluation can tell
//! (thesis §4.4: exported and imported intervals).

use crate::ad::{BinaryOperator, Dialect, Expression, Group, Kind, KnownName, Name, Text, Value};

/// A side of a comparison, as far as it can be told without an ad.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'e> {
    /// `target.x` or `other.x`: an attribute of the other side.
    Other(&'e Name),
    /// `my.x` or `self.x`: an attribute of this side.
    Own(&'e Name),
    /// `x`: an attribute of this side or, if it has none of that name, of the other.
    Free(&'e Name),
    /// A value, written out.
    Literal(&'e Value),
}

/// What a part of a constraint asks.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'e> {
    /// A comparison or an identity (`is`) of two operands.
    Comparison(BinaryOperator, Operand<'e>, Operand<'e>),
    /// That an attribute is true.
    Truth(Operand<'e>),
    /// That an attribute is an item of a list in a string: `stringListMember(attribute, "a, b")`.
    Listed(Operand<'e>, &'e Text),
    /// Anything else.
    Residue,
}

impl<'e> Operand<'e> {
    /// The operand that an expression is; none if it is more than a value or the name of an attribute.
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
    /// The condition that an expression is.
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

/// What one ad of a pair calls itself.
const OWN: &[KnownName] = &[KnownName::new("my"), KnownName::new("self")];

/// What it calls the other.
const OTHER: &[KnownName] = &[KnownName::new("target"), KnownName::new("other")];

/// What the ads around an ad are called, and the time.
const ABOVE: &[KnownName] =
    &[KnownName::new("root"), KnownName::new("parent"), KnownName::new("toplevel"), KnownName::new("CurrentTime")];

/// Whether a name is, in any scope, an ad or the time and not an attribute; `x.self` is `x`, too.
#[must_use]
pub fn stands_for_an_ad(name: &Name) -> bool {
    stands_for_a_side(name) || name.is_any(ABOVE)
}

/// Whether a literal evaluates to what is written: the papers' integers have 32 bits.
#[must_use]
pub fn is_plain(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Integer(integer) => dialect.is_condor() || i32::try_from(*integer).is_ok(),
        Value::Error(_) | Value::List(_) | Value::Ad(_) => false,
        _ => true,
    }
}

/// Whether a name is one of those that one ad of a pair has for itself or for the other.
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
