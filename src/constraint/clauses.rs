//! The clauses of a constraint, including those in attributes of the ad that the constraint names.

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Attribute, BinaryOperator, Expression, ExpressionKind, Name};

use super::ClauseOperand;

/// Initial capacity for clauses and for the work list, so that short constraints need no reallocation.
const INITIAL_CAPACITY: usize = 8;

/// The clauses of a constraint, in evaluation order: the constraint is their conjunction.
#[derive(Clone, Debug)]
pub struct ConstraintClauses<'a> {
    /// The clauses.
    pub items: Vec<ConstraintClause<'a>>,
    /// The attributes whose clauses were collected, the constraint's own attribute first. A clause that names one of
    /// these attributes again is kept as a clause, so that circular references are not followed endlessly.
    followed: Vec<FollowedAttribute<'a>>,
}

/// One clause of a constraint.
#[derive(Clone, Copy, Debug)]
pub struct ConstraintClause<'a> {
    /// The expression that must be true.
    pub expression: &'a Expression,
    /// Index into [`ConstraintClauses::followed`] of the attribute that contains the clause.
    followed_index: usize,
}

/// An attribute whose clauses were collected: the constraint's own attribute, or an attribute such as `START` in
/// `START && a`, whose clauses replace the clause `START`.
#[derive(Clone, Copy, Debug)]
struct FollowedAttribute<'a> {
    name: &'a Name,
    /// Index of the followed attribute whose clause names this one; `None` for the constraint itself.
    parent: Option<usize>,
}

impl<'a> ConstraintClauses<'a> {
    /// Collects the clauses of the constraint in `attribute`. A clause that only names an attribute of the ad is
    /// replaced by the clauses of that attribute: `Requirements = START && a` with `START = b && c` has three clauses.
    /// An attribute that is named twice is followed once, an attribute with a literal value never.
    #[must_use]
    pub fn of(ad: &'a Ad, attribute: &'a Name) -> Self {
        ConstraintClauses::resolved(attribute, ad.get(attribute), |name| {
            ad.attribute(name).filter(|bound| !matches!(bound.expression.kind(), ExpressionKind::Literal(_)))
        })
    }

    /// Collects the clauses of a constraint. `attribute` is the name of the attribute that holds the constraint.
    /// There are no clauses if `constraint` is `None`. For a clause that is only a name, `resolve` returns the
    /// attribute whose clauses replace the clause, or `None` to keep the clause.
    pub fn resolved(
        attribute: &'a Name,
        constraint: Option<&'a Expression>,
        resolve: impl Fn(&'a Name) -> Option<Attribute<'a>>,
    ) -> Self {
        let mut items = Vec::with_capacity(INITIAL_CAPACITY);
        let mut followed = vec![FollowedAttribute { name: attribute, parent: None }];
        let mut followed_names = FollowedNames::default();
        // An entry is a clause and the root node of its expression. Both operands of an `&&` are pushed before one of
        // them is processed, so that the CPU can fetch both root nodes from memory at the same time.
        let mut pending = Vec::with_capacity(INITIAL_CAPACITY);
        let push = |pending: &mut Vec<_>, part: ConstraintClause<'a>| {
            pending.push((part, part.expression.without_parentheses().kind()));
        };
        if let Some(expression) = constraint {
            push(&mut pending, ConstraintClause { expression, followed_index: 0 });
        }
        while let Some((part, kind)) = pending.pop() {
            if let ExpressionKind::Binary(BinaryOperator::And, left, right) = kind {
                push(&mut pending, ConstraintClause { expression: right, ..part });
                push(&mut pending, ConstraintClause { expression: left, ..part });
                continue;
            }
            let named = own_attribute_name(part.expression).filter(|name| !followed_names.contains(&followed, name));
            match named.and_then(&resolve) {
                Some(bound) => {
                    let first = ConstraintClause { expression: bound.expression, followed_index: followed.len() };
                    push(&mut pending, first);
                    followed.push(FollowedAttribute { name: bound.name, parent: Some(part.followed_index) });
                }
                None => items.push(part),
            }
        }
        ConstraintClauses { items, followed }
    }

    /// Iterates over the names of all followed attributes, the constraint's own first.
    pub fn followed(&self) -> impl Iterator<Item = &'a Name> + '_ {
        self.followed.iter().map(|followed| followed.name)
    }

    /// Returns the attribute that contains the clause.
    #[must_use]
    pub fn attribute(&self, part: &ConstraintClause<'a>) -> &'a Name {
        self.followed[part.followed_index].name
    }

    /// Returns the path of attribute names from the constraint to the attribute that contains the clause.
    #[must_use]
    pub fn path(&self, part: &ConstraintClause<'a>) -> Vec<&'a Name> {
        let indices = std::iter::successors(Some(part.followed_index), |index| self.followed[*index].parent);
        let mut path: Vec<&Name> = indices.map(|index| self.followed[index].name).collect();
        path.reverse();
        path
    }

    /// Returns the names of the attributes on the paths to some clauses, each once, the constraint's own first. O(n) in
    /// the number of clauses and followed attributes, whatever the lengths of the paths.
    #[must_use]
    pub fn attributes_on_paths(&self, parts: &[ConstraintClause<'a>]) -> Vec<&'a Name> {
        let mut is_on_path = vec![false; self.followed.len()];
        for part in parts {
            let mut next = Some(part.followed_index);
            while let Some(index) = next.filter(|index| !is_on_path[*index]) {
                is_on_path[index] = true;
                next = self.followed[index].parent;
            }
        }
        let on_path = self.followed.iter().zip(is_on_path).filter(|(_, is_on_path)| *is_on_path);
        on_path.map(|(followed, _)| followed.name).collect()
    }
}

/// The names of the followed attributes, as a set once they are many.
#[derive(Default)]
struct FollowedNames<'a>(FxHashSet<&'a Name>);

impl<'a> FollowedNames<'a> {
    /// Whether a name is that of one of the attributes. These are the same as before, and further ones at the end.
    fn contains(&mut self, followed: &[FollowedAttribute<'a>], name: &Name) -> bool {
        const MAX_COMPARED: usize = 16;
        if followed.len() <= MAX_COMPARED {
            return followed.iter().any(|known| known.name == name);
        }
        let new = &followed[self.0.len()..];
        self.0.extend(new.iter().map(|known| known.name));
        self.0.contains(name)
    }
}

/// Returns the name if the clause is only a reference `x` or `MY.x`, which may denote an attribute of the ad itself.
/// `None` for any other clause.
#[must_use]
pub fn own_attribute_name(part: &Expression) -> Option<&Name> {
    match ClauseOperand::of(part) {
        Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::ConstraintClauses;
    use crate::ad::Name;
    use crate::syntax::{ParseOptions, parse_ad};

    fn found(text: &str) -> Vec<String> {
        let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let requirements = Name::new("Requirements");
        let parts = ConstraintClauses::of(&ad, &requirements);
        let shown = parts.items.iter().map(|part| {
            let way: Vec<&str> = parts.path(part).into_iter().map(Name::as_str).collect();
            format!("{}: {}", way.join(" "), part.expression)
        });
        shown.collect()
    }

    #[test]
    fn in_the_order_of_evaluation() {
        let text = "[ Requirements = a > 1 && (START && MY.Fits) && c; START = b && d; fits = e; c = true ]";
        let requirements = ["Requirements: a > 1", "Requirements START: b", "Requirements START: d"];
        assert_eq!(found(text), [&requirements[..], &["Requirements fits: e", "Requirements: c"]].concat());
        assert_eq!(found("[ START = 1 ]"), [] as [&str; 0]);
    }

    #[test]
    fn attributes_of_many_paths_are_listed_once() {
        let chain: Vec<String> = (0..1000).map(|n| format!("c{n} = c{} && other.a > {n};", n + 1)).collect();
        let text = format!("[ Requirements = d && c0; d = e && other.b; e = other.c > 1; {} ]", chain.concat());
        let ad = parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        let requirements = Name::new("Requirements");
        let parts = ConstraintClauses::of(&ad, &requirements);
        // The last clause that is found is the first of the chain.
        let last: Vec<&Name> = parts.attributes_on_paths(&parts.items[parts.items.len() - 1..]);
        assert_eq!(last, parts.path(&parts.items[parts.items.len() - 1]));
        let all = parts.attributes_on_paths(&parts.items);
        assert_eq!(all.len(), 1003);
        assert_eq!(all, parts.followed().collect::<Vec<_>>());
    }

    #[test]
    fn circles_end() {
        let text = "[ Requirements = START && x; START = (Requirements && y) && START ]";
        assert_eq!(
            found(text),
            [
                "Requirements START: Requirements",
                "Requirements START: y",
                "Requirements START: START",
                "Requirements: x"
            ]
        );
    }
}
