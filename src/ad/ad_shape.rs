//! Shapes of ads: the distinct names of an ad's attributes, with a hash table.

use super::Name;

/// Distinct names in the order of insertion.  Ads with the same names in the same order may share one shape, so that a
/// pool keeps its names and their hash table once.
///
/// The hash table stores the position of a name in one byte if possible, to save memory.
#[derive(Clone, Debug, Default)]
pub struct AdShape {
    names: Vec<Name>,
    positions: PositionTable,
}

/// Maximum number of attributes that are searched linearly, without a hash table.
const MAX_LINEAR_ATTRIBUTES: usize = 8;

/// An open-addressing hash table with linear probing: maps a name to the position of its attribute.
/// The number of slots is a power of two, and at least half of them are free.
#[derive(Clone, Debug)]
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

impl AdShape {
    /// Creates an empty shape with room for `names` names.
    pub(super) fn with_capacity(names: usize) -> Self {
        AdShape { names: Vec::with_capacity(names), positions: PositionTable::new(names) }
    }

    /// The names in the order in which they were inserted.
    #[must_use]
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Returns the position of a name; `None` if the shape lacks the name.
    #[must_use]
    pub fn position(&self, name: &Name) -> Option<usize> {
        match self.find(name) {
            SlotProbe::Occupied(position) => Some(position),
            SlotProbe::Vacant(_) => None,
        }
    }

    /// Inserts a name unless the shape has it.  Returns the position of the name.
    pub(super) fn insert(&mut self, name: Name) -> usize {
        let position = self.names.len();
        match self.find(&name) {
            SlotProbe::Occupied(position) => return position,
            SlotProbe::Vacant(slot) if position < self.positions.capacity() => {
                self.names.push(name);
                if self.positions.len() > 0 {
                    self.positions.set(slot, position);
                }
            }
            SlotProbe::Vacant(_) => {
                self.names.push(name);
                self.positions = PositionTable::new(2 * self.names.len());
                for (position, name) in self.names.iter().enumerate() {
                    // The names are distinct: each one goes to a free slot without being compared with the others.
                    if let SlotProbe::Vacant(slot) = self.positions.find(name, |_| false) {
                        self.positions.set(slot, position);
                    }
                }
            }
        }
        position
    }

    fn find(&self, name: &Name) -> SlotProbe {
        if self.positions.len() == 0 {
            let hash = name.case_insensitive_hash();
            let is_it = |known: &Name| known.case_insensitive_hash() == hash && known == name;
            let position = self.names.iter().position(is_it);
            return position.map_or(SlotProbe::Vacant(0), SlotProbe::Occupied);
        }
        self.positions.find(name, |position| self.names[position] == *name)
    }
}

impl FromIterator<Name> for AdShape {
    /// Collects names.  A repeated name keeps its first spelling and position.
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        let names = names.into_iter();
        let mut shape = AdShape::with_capacity(names.size_hint().0);
        names.for_each(|name| {
            shape.insert(name);
        });
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::AdShape;
    use crate::ad::Name;

    /// Compares shapes of several initial capacities with a list of names.
    #[test]
    fn every_name_is_found_in_its_order() {
        let mut random = fastrand::Rng::with_seed(1);
        for (names, insertions) in [(3, 9), (8, 40), (9, 40), (60, 300), (254, 2000), (255, 2000), (2000, 9000)] {
            for room in [0, names, 300] {
                let mut shape = AdShape::with_capacity(room);
                let mut expected: Vec<String> = Vec::new();
                for _ in 0..insertions {
                    let name = format!("{}ttribute{}", ["A", "a"][random.usize(..2)], random.usize(..names));
                    let position = expected.iter().position(|known| known.eq_ignore_ascii_case(&name));
                    assert_eq!(shape.insert(Name::new(&name)), position.unwrap_or(expected.len()));
                    if position.is_none() {
                        expected.push(name);
                    }
                }
                assert!(shape.names().iter().map(Name::as_str).eq(expected.iter().map(String::as_str)));
                for (position, name) in expected.iter().enumerate() {
                    assert_eq!(shape.position(&Name::new(&name.to_uppercase())), Some(position));
                }
                assert_eq!(shape.position(&Name::new("other")), None);
            }
        }
    }
}
