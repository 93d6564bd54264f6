//! Splits a constraint into clauses.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, ScopeAd};
use crate::constraint::{ClauseOperand, ConstraintClause, ConstraintClauses};
use crate::syntax::{Style, expression_text};

/// A clause: one conjunct of a constraint, found directly or through attributes that the constraint names.
#[derive(Clone, Debug)]
pub struct ExplainedClause {
    /// The expression of the clause.
    pub expression: Expression,
    /// The names of the attributes that lead to the clause. The first is the constraint's own attribute, the last is
    /// the attribute that contains the clause. For joined clauses these are the attributes that lead to any of them.
    pub path: Arc<[Name]>,
    /// Whether the clause is the whole constraint. A constraint that refers to itself is not split, because its clauses
    /// would have other values on their own.
    pub is_whole: bool,
}

/// Maximum number of clauses per constraint. Each clause is one bit in a `u128` mask. Further clauses are joined into
/// the last one.
pub const MAX_CLAUSES: usize = u128::BITS as usize;

/// Returns the clauses of the constraint that `ad` has in the attribute `constraint`.
pub fn split_constraint(ad: &Ad, constraint: &Name) -> Vec<ExplainedClause> {
    let parts = ConstraintClauses::of(ad, constraint);
    let (single, rest) = match parts.items.len() {
        number if number > MAX_CLAUSES => parts.items.split_at(MAX_CLAUSES - 1),
        _ => (&parts.items[..], &[][..]),
    };
    let clause = |part: &ConstraintClause<'_>| ExplainedClause {
        expression: part.expression.clone(),
        path: parts.path(part).into_iter().cloned().collect(),
        is_whole: false,
    };
    let mut clauses: Vec<ExplainedClause> = single.iter().map(clause).collect();
    let joined = rest.iter().map(|part| part.expression.clone()).reduce(|left, right| {
        let span = left.span();
        Expression::new(ExpressionKind::Binary(BinaryOperator::And, left, right), span)
    });
    clauses.extend(joined.map(|expression| {
        let path = parts.attributes_on_paths(rest).into_iter().cloned().collect();
        ExplainedClause { expression, path, is_whole: false }
    }));
    clauses
}

impl ExplainedClause {
    /// Makes a clause of an expression that stands in no attribute of an ad.
    pub(super) fn detached(expression: Expression) -> Self {
        ExplainedClause { expression, path: Arc::from([]), is_whole: false }
    }

    /// Makes one clause of the whole constraint of an ad. `None` if the ad lacks the attribute.
    pub(super) fn whole_constraint(ad: &Ad, constraint: &Name) -> Option<Self> {
        let expression = ad.get(constraint)?.clone();
        Some(ExplainedClause { expression, path: Arc::from([constraint.clone()]), is_whole: true })
    }

    /// The attribute that contains the clause. `None` for an expression that belongs to no attribute.
    #[must_use]
    pub fn attribute(&self) -> Option<&Name> {
        self.path.last()
    }
}

/// The names that an expression selects from something, as `Hours` is selected in `MY.Hours` and in `f().Hours`.
/// `FreeNames` has also the names that are selected from computed values, because the value may be an ad of either side.
pub struct SelectedNames<'e> {
    /// Names that are selected from the ad of the side.
    of_side: FxHashSet<&'e Name>,
    /// Names that are selected from anything else.
    elsewhere: FxHashSet<&'e Name>,
}

impl<'e> SelectedNames<'e> {
    /// Returns the names that an expression selects; `side` is the side that [`SelectedNames::reads`] is about.
    pub fn new(expression: &'e Expression, side: ScopeAd) -> Self {
        let (mut of_side, mut elsewhere) = (FxHashSet::default(), FxHashSet::default());
        for part in expression.parts() {
            if let ExpressionKind::Select(of, selected) = part.kind() {
                match of.without_parentheses().kind() {
                    ExpressionKind::Attribute(of) if ScopeAd::of(of) == Some(side) => of_side.insert(selected),
                    _ => elsewhere.insert(selected),
                };
            }
        }
        SelectedNames { of_side, elsewhere }
    }

    /// Whether the expression reads a name of the ad of the side.
    pub fn reads(&self, name: &Name) -> bool {
        self.of_side.contains(name) || !self.elsewhere.contains(name)
    }
}

/// Puts an expression in parentheses, unless it has them.
pub fn parenthesized(expression: &Expression) -> Expression {
    match expression.kind() {
        ExpressionKind::Parentheses(_) => expression.clone(),
        _ => ExpressionKind::Parentheses(expression.clone()).into(),
    }
}

/// Prints an expression in the syntax of `dialect`, on one line.
pub fn text(expression: &Expression, dialect: Dialect) -> String {
    expression_text(expression.without_parentheses(), Style::of(dialect))
}

/// Prints an operand of a comparison as [`text`] does, in parentheses if the comparison would bind tighter.
pub fn operand_text(operand: &Expression, dialect: Dialect) -> String {
    let text = text(operand, dialect);
    let is_loose = match operand.without_parentheses().kind() {
        ExpressionKind::Conditional(..) | ExpressionKind::Elvis(..) => true,
        ExpressionKind::Binary(operator, ..) => operator.precedence() <= BinaryOperator::Less.precedence(),
        _ => false,
    };
    if is_loose { format!("({text})") } else { text }
}

/// Says what `countMatches(MY.RequireGPUs, TARGET.AvailableGPUs)` counts: `AvailableGPUs that meet RequireGPUs`. `None` for any other
/// operand.
pub fn counted_list_text(operand: &Expression) -> Option<String> {
    let ExpressionKind::Call(function, arguments) = operand.without_parentheses().kind() else { return None };
    let [constraint, list] = &**arguments else { return None };
    let name = |operand: &Expression| match ClauseOperand::of(operand)? {
        ClauseOperand::Own(name) | ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) => Some(name.clone()),
        ClauseOperand::Literal(_) => None,
    };
    let (constraint, list) = (name(constraint)?, name(list)?);
    function.is("countMatches").then(|| format!("{list} that meet {constraint}"))
}

#[cfg(test)]
mod tests {
    use super::{MAX_CLAUSES, operand_text, split_constraint};
    use crate::ad::{Dialect, Name};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn joined_clauses_name_each_attribute_once() {
        let chain: Vec<String> = (0..500).map(|n| format!("c{n} = c{} && other.a{n} > 1;", n + 1)).collect();
        let many: Vec<String> = (0..300).map(|n| format!("other.b{n} > 1")).collect();
        let text = format!("[ Constraint = {} && c0; {} ]", many.join(" && "), chain.concat());
        let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let clauses = split_constraint(&ad, &Name::new("Constraint"));
        assert_eq!(clauses.len(), MAX_CLAUSES);
        assert_eq!(clauses[0].path.len(), 1);
        // The constraint and the 500 attributes, not the path of each of the 673 clauses.
        assert_eq!(clauses[MAX_CLAUSES - 1].path.len(), 501);
    }

    #[test]
    fn loose_operands_are_in_parentheses() {
        for (operand, expected) in [
            ("(a ?: 0)", "(a ?: 0)"),
            ("a ?: 0", "(a ?: 0)"),
            ("(a == b)", "(a == b)"),
            ("(a < b)", "(a < b)"),
            ("(a + 1)", "a + 1"),
            ("f(a)", "f(a)"),
        ] {
            let operand = parse_expression(operand.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            assert_eq!(operand_text(&operand, Dialect::Condor), expected);
        }
    }
}
