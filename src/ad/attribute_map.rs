//! The attributes of an ad: a hash map that keeps the order of insertion.

use super::{Expression, Name};

/// Distinct names bound to expressions, in the order of insertion.
///
/// The hash table stores the index of an attribute in one byte if possible, to save memory: a pool has hundreds of
/// thousands of ads with few attributes each.
#[derive(Clone, Default)]
pub(super) struct AttributeMap {
    entries: Vec<(Name, Expression)>,
    positions: PositionTable,
}

/// Maximum number of attributes that are searched linearly, without a hash table.
const MAX_LINEAR_ATTRIBUTES: usize = 8;

/// An open-addressing hash table with linear probing: maps a name to the position of its attribute.
/// The number of slots is a power of two, and at least half of them are free.
#[derive(Clone)]
enum PositionTable {
    /// Positions below 255; 255 marks a free slot.  There are no slots if the attributes are searched linearly.
    Bytes(Box<[u8]>),
    /// Positions in a table for 255 or more attributes; `u32::MAX` marks a free slot.
    Words(Box<[u32]>),
}

impl Default for PositionTable {
    fn default() -> Self {
        PositionTable::Bytes(Box::default())
    }
}

impl PositionTable {
    /// Creates a table with room for the positions of `attributes` attributes.  The table has no slots for up to
    /// [`MAX_LINEAR_ATTRIBUTES`] attributes, which are searched linearly.
    fn new(attributes: usize) -> Self {
        let length = if attributes > MAX_LINEAR_ATTRIBUTES { (2 * attributes).next_power_of_two() } else { 0 };
        if attributes < usize::from(u8::MAX) {
            PositionTable::Bytes(vec![u8::MAX; length].into())
        } else {
            PositionTable::Words(vec![u32::MAX; length].into())
        }
    }

    fn len(&self) -> usize {
        match self {
            PositionTable::Bytes(slots) => slots.len(),
            PositionTable::Words(slots) => slots.len(),
        }
    }

    fn set(&mut self, slot: usize, position: usize) {
        match self {
            PositionTable::Bytes(slots) => slots[slot] = u8::try_from(position).unwrap_or(u8::MAX),
            PositionTable::Words(slots) => slots[slot] = u32::try_from(position).unwrap_or(u32::MAX),
        }
    }

    /// Number of attributes that fit into the table before it must grow.
    fn capacity(&self) -> usize {
        match self {
            _ if self.len() == 0 => MAX_LINEAR_ATTRIBUTES,
            PositionTable::Bytes(slots) => (slots.len() / 2).min(usize::from(u8::MAX) - 1),
            PositionTable::Words(slots) => slots.len() / 2,
        }
    }

    /// Looks a name up; `is_at` tells whether the attribute at a position has that name.
    fn find(&self, name: &Name, is_at: impl Fn(usize) -> bool) -> SlotProbe {
        match self {
            PositionTable::Bytes(slots) => probe(slots, name, |at| (at != u8::MAX).then_some(usize::from(at)), is_at),
            PositionTable::Words(slots) => probe(slots, name, |at| (at != u32::MAX).then_some(at as usize), is_at),
        }
    }
}

/// Result of looking a name up in a [`PositionTable`].
enum SlotProbe {
    /// The name is bound at this position.
    Occupied(usize),
    /// The name is not bound; this slot is free for it.
    Vacant(usize),
}

fn probe<P: Copy>(
    slots: &[P],
    name: &Name,
    position: impl Fn(P) -> Option<usize>,
    is_at: impl Fn(usize) -> bool,
) -> SlotProbe {
    let last = slots.len() - 1;
    // Fibonacci hashing: the upper bits of the product depend on all bits of the hash.
    let mixed = u64::from(name.case_insensitive_hash()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let mut slot = usize::try_from(mixed).unwrap_or_default() & last;
    // Terminates: at least one slot is free.
    loop {
        match position(slots[slot]) {
            None => return SlotProbe::Vacant(slot),
            Some(position) if is_at(position) => return SlotProbe::Occupied(position),
            Some(_) => slot = (slot + 1) & last,
        }
    }
}

impl AttributeMap {
    /// Creates an empty map with room for `attributes` attributes.
    pub(super) fn with_capacity(attributes: usize) -> Self {
        AttributeMap { entries: Vec::with_capacity(attributes), positions: PositionTable::new(attributes) }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Iterates in the order in which the names were first bound.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (Name, Expression)> {
        self.entries.iter()
    }

    /// Returns the name in its first spelling and its expression; `None` if the name is not bound.
    pub(super) fn get(&self, name: &Name) -> Option<&(Name, Expression)> {
        match self.find(name) {
            SlotProbe::Occupied(position) => self.entries.get(position),
            SlotProbe::Vacant(_) => None,
        }
    }

    /// Binds a name to an expression.  A name that is bound already keeps its spelling and position.
    pub(super) fn bind(&mut self, name: Name, expression: Expression) {
        let position = self.entries.len();
        match self.find(&name) {
            SlotProbe::Occupied(position) => self.entries[position].1 = expression,
            SlotProbe::Vacant(slot) if position < self.positions.capacity() => {
                self.entries.push((name, expression));
                if self.positions.len() > 0 {
                    self.positions.set(slot, position);
                }
            }
            SlotProbe::Vacant(_) => {
                self.entries.push((name, expression));
                self.positions = PositionTable::new(2 * self.entries.len());
                for (position, (name, _)) in self.entries.iter().enumerate() {
                    // The names are distinct: each one goes to a free slot without being compared with the others.
                    if let SlotProbe::Vacant(slot) = self.positions.find(name, |_| false) {
                        self.positions.set(slot, position);
                    }
                }
            }
        }
    }

    /// Moves all expressions into `into` and leaves the map empty.
    pub(super) fn take_expressions(&mut self, into: &mut Vec<Expression>) {
        self.positions = PositionTable::default();
        into.extend(self.entries.drain(..).map(|(_, expression)| expression));
    }

    fn find(&self, name: &Name) -> SlotProbe {
        if self.positions.len() == 0 {
            let position = self.entries.iter().position(|(bound, _)| bound == name);
            return position.map_or(SlotProbe::Vacant(0), SlotProbe::Occupied);
        }
        self.positions.find(name, |position| self.entries[position].0 == *name)
    }
}

#[cfg(test)]
mod tests {
    use super::AttributeMap;
    use crate::ad::{Expression, ExpressionKind, Name, Value};

    fn number(value: i64) -> Expression {
        Expression::literal(Value::Integer(value))
    }

    /// Compares maps of several initial capacities with a list of pairs of name and value.
    #[test]
    fn every_attribute_is_found_in_its_order() {
        let mut random = fastrand::Rng::with_seed(1);
        for (names, bindings) in [(3, 9), (8, 40), (9, 40), (60, 300), (254, 2000), (255, 2000), (2000, 9000)] {
            for room in [0, names, 300] {
                let mut attributes = AttributeMap::with_capacity(room);
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
                    assert!(found.1.ptr_eq(expression));
                    assert!(
                        matches!(expression.kind(), ExpressionKind::Literal(Value::Integer(found)) if found == value)
                    );
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
