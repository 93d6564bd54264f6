//! What an ad binds: found by name, in the order in which it was written.

use super::{Expression, Name};

/// Names bound to expressions, no name twice.
///
/// Pools have many ads of few attributes: in a hundred thousand of them a byte for each place counts.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    bound: Vec<(Name, Expression)>,
    places: Places,
}

/// Fewer attributes are compared one by one.
const FEW: usize = 8;

/// Positions of attributes, each at the first free place from that of its name on; at least every second one is free.
#[derive(Clone)]
enum Places {
    /// Positions below 255, which stands for a free place; none at all for a few attributes.
    Bytes(Box<[u8]>),
    /// Any positions.
    Words(Box<[u32]>),
}

impl Default for Places {
    fn default() -> Self {
        Places::Bytes(Box::default())
    }
}

impl Places {
    /// Room for so many attributes, all of it free.
    fn new(attributes: usize) -> Self {
        let length = if attributes > FEW { (2 * attributes).next_power_of_two() } else { 0 };
        if attributes < usize::from(u8::MAX) {
            Places::Bytes(vec![u8::MAX; length].into())
        } else {
            Places::Words(vec![u32::MAX; length].into())
        }
    }

    fn len(&self) -> usize {
        match self {
            Places::Bytes(places) => places.len(),
            Places::Words(places) => places.len(),
        }
    }

    fn set(&mut self, place: usize, position: usize) {
        match self {
            Places::Bytes(places) => places[place] = u8::try_from(position).unwrap_or(u8::MAX),
            Places::Words(places) => places[place] = u32::try_from(position).unwrap_or(u32::MAX),
        }
    }

    /// How many attributes there is room for.
    fn room(&self) -> usize {
        match self {
            _ if self.len() == 0 => FEW,
            Places::Bytes(places) => (places.len() / 2).min(usize::from(u8::MAX) - 1),
            Places::Words(places) => places.len() / 2,
        }
    }

    /// Where a name is, if it is the one that is bound at a position.
    fn find(&self, name: &Name, is_at: impl Fn(usize) -> bool) -> Sought {
        match self {
            Places::Bytes(places) => sought(places, name, |at| (at != u8::MAX).then_some(usize::from(at)), is_at),
            Places::Words(places) => sought(places, name, |at| (at != u32::MAX).then_some(at as usize), is_at),
        }
    }
}

/// Where a name is, or could be.
enum Sought {
    /// At this position.
    Bound(usize),
    /// Nowhere; this place is free for it.
    Free(usize),
}

fn sought<P: Copy>(
    places: &[P],
    name: &Name,
    position: impl Fn(P) -> Option<usize>,
    is_at: impl Fn(usize) -> bool,
) -> Sought {
    let last = places.len() - 1;
    // The upper bits of the product depend on all bits of the hash.
    let mixed = u64::from(name.folded()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut place = usize::try_from(mixed).unwrap_or_default() & last;
    // There always is a free place.
    loop {
        match position(places[place]) {
            None => return Sought::Free(place),
            Some(position) if is_at(position) => return Sought::Bound(position),
            Some(_) => place = (place + 1) & last,
        }
    }
}

impl Attributes {
    /// Nothing yet, with room for so many.
    pub(super) fn with_capacity(attributes: usize) -> Self {
        Attributes { bound: Vec::with_capacity(attributes), places: Places::new(attributes) }
    }

    pub(super) fn len(&self) -> usize {
        self.bound.len()
    }

    /// In the order in which they were first bound.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (Name, Expression)> {
        self.bound.iter()
    }

    /// The name, as it was first written, and what is bound to it.
    pub(super) fn get(&self, name: &Name) -> Option<&(Name, Expression)> {
        match self.find(name) {
            Sought::Bound(position) => self.bound.get(position),
            Sought::Free(_) => None,
        }
    }

    /// Binds a name, or binds it anew: its first spelling and its place are kept.
    pub(super) fn bind(&mut self, name: Name, expression: Expression) {
        let position = self.bound.len();
        match self.find(&name) {
            Sought::Bound(position) => self.bound[position].1 = expression,
            Sought::Free(place) if position < self.places.room() => {
                self.bound.push((name, expression));
                if self.places.len() > 0 {
                    self.places.set(place, position);
                }
            }
            Sought::Free(_) => {
                self.bound.push((name, expression));
                self.places = Places::new(2 * self.bound.len());
                for (position, (name, _)) in self.bound.iter().enumerate() {
                    // No name is there twice.
                    if let Sought::Free(place) = self.places.find(name, |_| false) {
                        self.places.set(place, position);
                    }
                }
            }
        }
    }

    /// Moves all expressions out.
    pub(super) fn take_expressions(&mut self, into: &mut Vec<Expression>) {
        self.places = Places::default();
        into.extend(self.bound.drain(..).map(|(_, expression)| expression));
    }

    fn find(&self, name: &Name) -> Sought {
        if self.places.len() == 0 {
            let position = self.bound.iter().position(|(bound, _)| bound == name);
            return position.map_or(Sought::Free(0), Sought::Bound);
        }
        self.places.find(name, |position| self.bound[position].0 == *name)
    }
}

#[cfg(test)]
mod tests {
    use super::Attributes;
    use crate::ad::{Expression, Kind, Name, Span, Value};

    fn number(value: i64) -> Expression {
        Expression::new(Kind::Literal(Value::Integer(value)), Span::default())
    }

    /// As a list of pairs would have it, whatever the room that was asked for.
    #[test]
    fn every_attribute_is_found_in_its_order() {
        let mut random = fastrand::Rng::with_seed(1);
        for (names, bindings) in [(3, 9), (8, 40), (9, 40), (60, 300), (254, 2000), (255, 2000), (2000, 9000)] {
            for room in [0, names, 300] {
                let mut attributes = Attributes::with_capacity(room);
                let mut expected: Vec<(String, i64)> = Vec::new();
                for value in 0..bindings {
                    let name = format!("{}ttribute{}", ["A", "a"][random.usize(..2)], random.usize(..names));
                    attributes.bind(Name::new(&name), number(value));
                    match expected.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                        Some(known) => known.1 = value,
                        None => expected.push((name, value)),
                    }
                }
                assert_eq!(attributes.len(), expected.len());
                for ((name, value), (bound, expression)) in expected.iter().zip(attributes.iter()) {
                    assert_eq!(bound.as_str(), name);
                    let found = attributes.get(&Name::new(&name.to_uppercase())).expect("it was bound");
                    assert!(found.1.same(expression));
                    assert!(matches!(expression.kind(), Kind::Literal(Value::Integer(found)) if found == value));
                }
                assert!(attributes.get(&Name::new("other")).is_none());
                let mut expressions = Vec::new();
                attributes.take_expressions(&mut expressions);
                assert_eq!((expressions.len(), attributes.len()), (expected.len(), 0));
                assert!(attributes.get(&Name::new("Attribute0")).is_none());
            }
        }
    }
}
