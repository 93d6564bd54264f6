//! The attributes of an ad: a hash map that keeps the order of insertion.

use super::{Expression, Name};

/// Distinct names bound to expressions, in the order of insertion.
///
/// The hash table stores positions in one byte where they fit: pools have hundred thousands of ads with few
/// attributes each, so the table's size matters.
#[derive(Clone, Default)]
pub(super) struct Attributes {
    bound: Vec<(Name, Expression)>,
    places: Places,
}

/// Maximum number of attributes that are searched linearly, without a hash table.
const FEW: usize = 8;

/// An open-addressing hash table with linear probing: maps a name to the position of its attribute.
/// The number of slots is a power of two, and at least half of them are free.
#[derive(Clone)]
enum Places {
    /// Positions below 255; 255 marks a free slot.  Empty if the attributes are searched linearly.
    Bytes(Box<[u8]>),
    /// Positions that do not fit a byte; `u32::MAX` marks a free slot.
    Words(Box<[u32]>),
}

impl Default for Places {
    fn default() -> Self {
        Places::Bytes(Box::default())
    }
}

impl Places {
    /// Creates an empty table with capacity for a number of attributes.
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

    /// Number of attributes that fit without growing.
    fn room(&self) -> usize {
        match self {
            _ if self.len() == 0 => FEW,
            Places::Bytes(places) => (places.len() / 2).min(usize::from(u8::MAX) - 1),
            Places::Words(places) => places.len() / 2,
        }
    }

    /// Looks a name up; `is_at` tells whether the attribute at a position has that name.
    fn find(&self, name: &Name, is_at: impl Fn(usize) -> bool) -> Sought {
        match self {
            Places::Bytes(places) => sought(places, name, |at| (at != u8::MAX).then_some(usize::from(at)), is_at),
            Places::Words(places) => sought(places, name, |at| (at != u32::MAX).then_some(at as usize), is_at),
        }
    }
}

/// Result of a lookup.
enum Sought {
    /// The name is bound at this position.
    Bound(usize),
    /// The name is not bound; this slot is free for it.
    Free(usize),
}

fn sought<P: Copy>(
    places: &[P],
    name: &Name,
    position: impl Fn(P) -> Option<usize>,
    is_at: impl Fn(usize) -> bool,
) -> Sought {
    let last = places.len() - 1;
    // Fibonacci hashing: the upper bits of the product depend on all bits of the hash.
    let mixed = u64::from(name.folded()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut place = usize::try_from(mixed).unwrap_or_default() & last;
    // Terminates: at least one slot is free.
    loop {
        match position(places[place]) {
            None => return Sought::Free(place),
            Some(position) if is_at(position) => return Sought::Bound(position),
            Some(_) => place = (place + 1) & last,
        }
    }
}

impl Attributes {
    /// Creates an empty map with capacity for a number of attributes.
    pub(super) fn with_capacity(attributes: usize) -> Self {
        Attributes { bound: Vec::with_capacity(attributes), places: Places::new(attributes) }
    }

    pub(super) fn len(&self) -> usize {
        self.bound.len()
    }

    /// Iterates in the order in which the names were first bound.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (Name, Expression)> {
        self.bound.iter()
    }

    /// Returns the name in its first spelling and its expression; `None` if the name is not bound.
    pub(super) fn get(&self, name: &Name) -> Option<&(Name, Expression)> {
        match self.find(name) {
            Sought::Bound(position) => self.bound.get(position),
            Sought::Free(_) => None,
        }
    }

    /// Binds a name.  If it is bound already, only its expression is replaced; spelling and position stay.
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
                    // The names are distinct, so none needs to be compared.
                    if let Sought::Free(place) = self.places.find(name, |_| false) {
                        self.places.set(place, position);
                    }
                }
            }
        }
    }

    /// Moves all expressions into `into` and leaves the map empty.
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

    /// The map behaves like a list of pairs, for any initial capacity.
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
