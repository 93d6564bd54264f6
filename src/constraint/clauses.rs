//! The clauses of a constraint, collected through the ad's own attributes.

use crate::ad::{Ad, BinaryOperator, Expression, Kind, Name};

use super::Operand;

/// Initial capacity for clauses and for the work list.
const USUAL: usize = 8;

/// The clauses of a constraint, in evaluation order: the constraint is their conjunction.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The clauses.
    pub parts: Vec<Part<'a>>,
    /// The attributes that were expanded, the constraint's own first. A clause that refers back to one of them is
    /// circular: it evaluates differently here than by itself.
    followed: Vec<Followed<'a>>,
}

/// One clause of a constraint.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The expression that must be true.
    pub expression: &'a Expression,
    /// Index into [`Parts::followed`] of the attribute that contains the clause.
    place: usize,
}

/// An expanded attribute, linked to the attribute whose clause names it.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    name: &'a Name,
    /// Index of the attribute that refers to this one; `None` for the constraint itself.
    from: Option<usize>,
}

impl<'a> Parts<'a> {
    /// Collects the clauses of the constraint in `attribute`. A clause that only names an attribute of the ad is
    /// replaced by the clauses of that attribute: `Requirements = START && a` with `START = b && c` has three
    /// clauses. An attribute that is named twice is expanded once.
    #[must_use]
    pub fn of(ad: &'a Ad, attribute: &'a Name) -> Self {
        let mut parts = Vec::with_capacity(USUAL);
        let mut followed = vec![Followed { name: attribute, from: None }];
        // Both operands are dereferenced when they are pushed, before either is processed. With many ads the nodes
        // are not in the CPU cache, so that several cache misses overlap.
        let mut pending = Vec::with_capacity(USUAL);
        let push = |pending: &mut Vec<_>, part: Part<'a>| pending.push((part, part.expression.bare().kind()));
        if let Some(expression) = ad.get(attribute) {
            push(&mut pending, Part { expression, place: 0 });
        }
        while let Some((part, kind)) = pending.pop() {
            if let Kind::Binary(BinaryOperator::And, left, right) = kind {
                push(&mut pending, Part { expression: right, ..part });
                push(&mut pending, Part { expression: left, ..part });
                continue;
            }
            let named = named(part.expression).filter(|name| followed.iter().all(|known| known.name != *name));
            let bound = named.and_then(|name| ad.attribute(name));
            match bound.filter(|bound| !matches!(bound.expression.kind(), Kind::Literal(_))) {
                Some(bound) => {
                    push(&mut pending, Part { expression: bound.expression, place: followed.len() });
                    followed.push(Followed { name: bound.name, from: Some(part.place) });
                }
                None => parts.push(part),
            }
        }
        Parts { parts, followed }
    }

    /// Iterates over the names of all expanded attributes, the constraint's own first.
    pub fn through(&self) -> impl Iterator<Item = &'a Name> + '_ {
        self.followed.iter().map(|followed| followed.name)
    }

    /// Returns the path of attribute names from the constraint to the attribute that contains the clause.
    #[must_use]
    pub fn way(&self, part: &Part<'a>) -> Vec<&'a Name> {
        let at = |place: usize| &self.followed[place];
        let back = std::iter::successors(Some(at(part.place)), |followed| followed.from.map(at));
        let mut way: Vec<&Name> = back.map(|followed| followed.name).collect();
        way.reverse();
        way
    }
}

/// Returns the name if the clause consists only of a reference to an attribute that may be the ad's own (`x` or
/// `MY.x`); else `None`.
#[must_use]
pub fn named(part: &Expression) -> Option<&Name> {
    match Operand::of(part) {
        Some(Operand::Own(name) | Operand::Free(name)) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;
    use crate::ad::Name;
    use crate::syntax::{Rules, Style, parse_ad, print};

    fn found(text: &str) -> Vec<String> {
        let ad = parse_ad(text.as_bytes(), Rules::default()).unwrap();
        let requirements = Name::new("Requirements");
        let parts = Parts::of(&ad, &requirements);
        let shown = parts.parts.iter().map(|part| {
            let way: Vec<&str> = parts.way(part).into_iter().map(Name::as_str).collect();
            format!("{}: {}", way.join(" "), String::from_utf8_lossy(&print(part.expression, Style::New)))
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
