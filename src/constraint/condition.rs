//! The form of one clause of a constraint: a test that an index can answer, or a residue that must be evaluated (thesis
//! 4.4).

use std::borrow::Borrow;

use indexmap::IndexSet;

use crate::ad::{
    Ad, BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, ScopeAd, Span, Value,
};
use crate::eval::{CURRENT_TIME, binary};

/// An operand of a clause, classified by its syntax alone.
#[derive(Clone, Copy, Debug)]
pub enum ClauseOperand<'e> {
    /// `target.x` or `other.x`: an attribute of the other side.
    Other(&'e Name),
    /// `my.x` or `self.x`: an attribute of this side.
    Own(&'e Name),
    /// `x`: an attribute of this side or, if this side lacks it, of the other side.
    Unqualified(&'e Name),
    /// A literal value.
    Literal(&'e Value),
}

/// The form of one clause of a constraint. `O` is the type of its operands.
#[derive(Clone, Copy, Debug)]
pub enum ClauseForm<'e, O = ClauseOperand<'e>> {
    /// `left operator right`: a comparison or an identity test (`is`, `isnt`).
    Comparison(BinaryOperator, O, O),
    /// An operand that must be true, such as the attribute `HasDocker`.
    Truth(O),
    /// An operand that must be an item of a string list: `stringListMember(attribute, "a, b")`.
    StringListMember(O, &'e ByteString),
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
    /// Returns the form of a clause, judged by its syntax alone; outer parentheses do not matter.
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

impl<O> ClauseForm<'_, O> {
    /// Replaces the operands of a [`ClauseForm::Comparison`] or a [`ClauseForm::Truth`] by what `map` returns for them.
    /// `None` for other forms, and if `map` returns `None`.
    pub fn map_operands<P>(self, mut map: impl FnMut(O) -> Option<P>) -> Option<ClauseForm<'static, P>> {
        match self {
            ClauseForm::Comparison(operator, left, right) => {
                Some(ClauseForm::Comparison(operator, map(left)?, map(right)?))
            }
            ClauseForm::Truth(operand) => Some(ClauseForm::Truth(map(operand)?)),
            ClauseForm::StringListMember(..) | ClauseForm::Residue => None,
        }
    }

    /// Returns the value of a [`ClauseForm::Comparison`] or a [`ClauseForm::Truth`], without the evaluator. `value`
    /// returns the value of an operand. `None` for other forms, and if `value` returns `None`.
    pub fn decide<'s, V: Borrow<Value>>(
        &'s self,
        dialect: Dialect,
        mut value: impl FnMut(&'s O) -> Option<V>,
    ) -> Option<Value> {
        match self {
            ClauseForm::Comparison(operator, left, right) => {
                let (left, right) = (value(left)?, value(right)?);
                Some(binary(*operator, left.borrow(), right.borrow(), dialect, Span::default()))
            }
            ClauseForm::Truth(operand) => Some(value(operand)?.borrow().clone()),
            ClauseForm::StringListMember(..) | ClauseForm::Residue => None,
        }
    }
}

/// Returns a comparison as `subject operator bound`, with operands exchanged if necessary: `5 < x` becomes `x > 5`.
/// The functions `subject` and `bound` decide which operand is the subject and which is the bound: each returns `None`
/// for an unsuitable operand. The comparison is `None` if the operands suit in neither order.
pub fn orient_comparison<O: Copy, S, B>(
    operator: BinaryOperator,
    left: O,
    right: O,
    subject: impl Fn(O) -> Option<S>,
    mut bound: impl FnMut(O) -> Option<B>,
) -> Option<(S, BinaryOperator, B)> {
    match subject(left).zip(bound(right)) {
        Some((subject, bound)) => Some((subject, operator, bound)),
        None => Some((subject(right)?, operator.converse()?, bound(left)?)),
    }
}

/// Whether a name denotes an ad or the current time rather than an attribute. In `x.self`, for example, `self` is no
/// attribute of `x`, but `x` itself.
#[must_use]
pub fn is_scope_name(name: &Name) -> bool {
    ScopeAd::of(name).is_some() || name.is_known(CURRENT_TIME)
}

/// Returns the names that expressions look up in the ad itself: `x`, and `y` of `MY.y`. A name that is selected from
/// anything else is one of a nested ad. Inside `[ ... ]`, names may be those of the nested ad.
pub fn own_names<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> IndexSet<Name> {
    let (mut names, mut pending) = (IndexSet::new(), expressions.into_iter().collect::<Vec<_>>());
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => {
                names.insert(name.clone());
            }
            ExpressionKind::Select(scope, name) => match scope.without_parentheses().kind() {
                ExpressionKind::Attribute(scope) if ScopeAd::of(scope) == Some(ScopeAd::Own) => {
                    names.insert(name.clone());
                }
                _ => pending.push(scope),
            },
            ExpressionKind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names
}

/// Whether an ad has an attribute called like a scope, such as `target`. The attribute changes the meaning of
/// `target.x`.
#[must_use]
pub fn has_scope_attribute(ad: &Ad) -> bool {
    ad.iter().any(|attribute| is_scope_name(attribute.name))
}

/// Whether a literal evaluates to itself. Lists and ads do not, because they need a scope. Errors do not either, nor do
/// integers beyond 32 bits in the papers' dialect.
#[must_use]
pub fn is_self_evaluating(value: &Value, dialect: Dialect) -> bool {
    match value {
        Value::Integer(integer) => dialect.is_condor() || i32::try_from(*integer).is_ok(),
        Value::Error(_) | Value::List(_) | Value::Ad(_) => false,
        _ => true,
    }
}

/// Returns the value of a literal that evaluates to itself; `None` for other expressions.
#[must_use]
pub fn literal_value(expression: &Expression, dialect: Dialect) -> Option<&Value> {
    match expression.kind() {
        ExpressionKind::Literal(value) if is_self_evaluating(value, dialect) => Some(value),
        _ => None,
    }
}

/// Whether a name denotes one ad of a pair: `my`, `self`, `target` or `other`.
#[must_use]
pub fn is_side_name(name: &Name) -> bool {
    ScopeAd::of(name).is_some_and(ScopeAd::is_side)
}

#[cfg(test)]
mod tests {
    use super::{
        ClauseForm, ClauseOperand, has_scope_attribute, is_scope_name, is_side_name, literal_value, orient_comparison,
        own_names,
    };
    use crate::ad::{BinaryOperator, Dialect, Name};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

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
            ("StringListMember((Owner), (\"a\"))", "free Owner in a"),
            ("stringListMember(\"a\", list)", "residue"),
            ("stringListMember(TARGET.Owner, \"a, b\") == true", "residue"),
            ("stringListIMember(TARGET.Owner, \"a, b\")", "residue"),
            ("stringListMember(size(Owner), \"a, b\")", "residue"),
            ("member(TARGET.Owner, \"a, b\")", "residue"),
            ("x + 1 > 2", "residue"),
            ("my", "residue"),
            ("target.my > 1", "residue"),
            ("a.b > 1", "residue"),
            ("a && b", "residue"),
        ] {
            assert_eq!(condition(text), expected, "{text}");
        }
    }
    #[test]
    fn the_names_of_the_own_ad_are_those_without_another_scope() {
        for (text, expected) in [
            ("a", "a"),
            ("MY.a && self.b", "a b"),
            ("TARGET.a && other.b", ""),
            ("a.b && (MY).c", "a c"),
            ("f(a, { b, c ? d : e })", "a b c d e"),
            ("[ a = b ].c", ""),
            ("my && target && CurrentTime", ""),
            ("MY.a.b", "a"),
            (".a", ""),
        ] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let mut names: Vec<String> = own_names([&tree]).iter().map(ToString::to_string).collect();
            names.sort_unstable();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn literals_evaluate_to_themselves_but_for_some() {
        for (text, in_condor, in_classad) in [
            ("5", true, true),
            ("2147483647", true, true),
            ("2147483648", true, false),
            ("-2147483648", true, true),
            ("-2147483649", true, false),
            ("5.5", true, true),
            ("\"a\"", true, true),
            ("undefined", true, true),
            ("error", false, false),
            ("{ 1 }", false, false),
            ("a", false, false),
        ] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let found = [Dialect::Condor, Dialect::Classad].map(|dialect| literal_value(&tree, dialect).is_some());
            assert_eq!(found, [in_condor, in_classad], "{text}");
        }
        for (text, expected) in [("[ a = 1 ]", false), ("[ target = 1 ]", true), ("[ a = 1; parent = 1 ]", true)] {
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            assert_eq!(has_scope_attribute(&ad), expected, "{text}");
        }
        for (name, is_scope, is_side) in [
            ("my", true, true),
            ("Self", true, true),
            ("target", true, true),
            ("other", true, true),
            ("parent", true, false),
            ("CurrentTime", true, false),
            ("a", false, false),
        ] {
            let name = Name::new(name);
            assert_eq!((is_scope_name(&name), is_side_name(&name)), (is_scope, is_side), "{name}");
        }
    }

    #[test]
    fn a_comparison_is_turned_to_its_subject() {
        use BinaryOperator::{Add, Equal, Greater, Less, LessEqual, NotEqual};
        let (even, odd) =
            (|number: i64| (number % 2 == 0).then_some(number), |number: i64| (number % 2 != 0).then_some(number));
        for (operator, left, right, expected) in [
            (Less, 2, 5, Some((2, Less, 5))),
            (Less, 5, 2, Some((2, Greater, 5))),
            (NotEqual, 5, 2, Some((2, NotEqual, 5))),
            (Equal, 2, 4, None),
            (LessEqual, 1, 3, None),
            (Add, 1, 2, None),
        ] {
            assert_eq!(orient_comparison(operator, left, right, even, odd), expected, "{left} {operator:?} {right}");
        }
    }
}
