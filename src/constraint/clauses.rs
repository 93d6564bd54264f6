//! The parts of a constraint that must all be true, followed through the ad's own attributes.

use crate::ad::{Ad, BinaryOperator, Expression, Kind, Name};

use super::Operand;

/// There is room for so many parts from the beginning.
const USUAL: usize = 8;

/// The parts of a constraint, in the order in which they are evaluated.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// They must all be true.
    pub parts: Vec<Part<'a>>,
    /// The attributes that were followed, the constraint's own first.  A part that refers back to one through which it
    /// was found is not evaluated there as it is by itself.
    followed: Vec<Followed<'a>>,
}

/// A part of a constraint that must be true.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What must be true.
    pub expression: &'a Expression,
    /// The attribute in which it stands, by its position among those that were followed.
    place: usize,
}

/// An attribute that was followed.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    name: &'a Name,
    /// The attribute that names it; none for the constraint itself.
    from: Option<usize>,
}

impl<'a> Parts<'a> {
    /// The parts of what an attribute is bound to: `Requirements = START && a`, where the ad has `START = b && c`, has
    /// three.  An attribute that is named twice is followed once.
    #[must_use]
    pub fn of(ad: &'a Ad, attribute: &'a Name) -> Self {
        let mut parts = Vec::with_capacity(USUAL);
        let mut followed = vec![Followed { name: attribute, from: None }];
        // The right side of a conjunction is looked at before the left one is taken apart: the nodes of many ads are in
        // no cache, and so several are waited for at once.
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

    /// The attributes through which any part was found.
    pub fn through(&self) -> impl Iterator<Item = &'a Name> + '_ {
        self.followed.iter().map(|followed| followed.name)
    }

    /// The attributes through which a part was found, the constraint's own first: it stands in the last one.
    #[must_use]
    pub fn way(&self, part: &Part<'a>) -> Vec<&'a Name> {
        let at = |place: usize| &self.followed[place];
        let back = std::iter::successors(Some(at(part.place)), |followed| followed.from.map(at));
        let mut way: Vec<&Name> = back.map(|followed| followed.name).collect();
        way.reverse();
        way
    }
}

/// The attribute, of its own ad if that has it, that a part is nothing but the name of.
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
