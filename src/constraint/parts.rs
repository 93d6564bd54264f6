//! The parts of a constraint that must all be true, followed through the ad's own attributes.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Expression, Kind, Name};

use super::Operand;

/// There is room for so many parts from the beginning.
const USUAL: usize = 8;

/// A part of a constraint that must be true.
#[derive(Clone, Debug)]
pub struct Part {
    /// What must be true.
    pub expression: Expression,
    /// The attributes through which it was found, the constraint's own first: it stands in the last one.  A part that
    /// refers back to one of these is not evaluated there as it is by itself.
    pub through: Arc<[Name]>,
}

/// The parts of what an attribute is bound to, in the order in which they are evaluated: `Requirements = START && a`,
/// where the ad has `START = b && c`, has three.  An attribute that is named twice is followed once.
#[must_use]
pub fn parts(ad: &Ad, attribute: &Name) -> Vec<Part> {
    let mut found = Vec::with_capacity(USUAL);
    let mut followed = vec![attribute.clone()];
    let mut pending: Vec<(&Expression, Arc<[Name]>)> = Vec::with_capacity(USUAL);
    pending.extend(ad.get(attribute).map(|expression| (expression, Arc::from([attribute.clone()]))));
    while let Some((expression, through)) = pending.pop() {
        if let Kind::Binary(BinaryOperator::And, left, right) = expression.bare().kind() {
            pending.push((right, Arc::clone(&through)));
            pending.push((left, through));
            continue;
        }
        let named = named(expression).filter(|name| !followed.contains(name));
        let bound = named.and_then(|name| ad.attribute(name));
        match bound.filter(|bound| !matches!(bound.expression.kind(), Kind::Literal(_))) {
            Some(bound) => {
                followed.push(bound.name.clone());
                pending.push((bound.expression, through.iter().chain([bound.name]).cloned().collect()));
            }
            None => found.push(Part { expression: expression.clone(), through }),
        }
    }
    found
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
    use super::parts;
    use crate::ad::Name;
    use crate::syntax::{Rules, Style, parse_ad, print};

    fn found(text: &str) -> Vec<String> {
        let ad = parse_ad(text.as_bytes(), Rules::default()).unwrap();
        let parts = parts(&ad, &Name::new("Requirements"));
        let shown = parts.iter().map(|part| {
            let through: Vec<&str> = part.through.iter().map(Name::as_str).collect();
            format!("{}: {}", through.join(" "), String::from_utf8_lossy(&print(&part.expression, Style::New)))
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
