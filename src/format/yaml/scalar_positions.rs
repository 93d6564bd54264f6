//! Positions of all scalars of a document, found in one pass.
//!
//! `serde_yaml` reports positions only with errors. So the pass rejects each scalar, takes the position from the error,
//! and continues: a rejected scalar has already been consumed.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// Returns the line and column, both counted from 1, of each node of a document, in the order in which
/// [`super::document_tree`] numbers nodes.
///
/// An entry is `None` if the node is not a scalar. The result is empty if the document cannot be read in this way.
pub fn scalar_positions(text: &[u8]) -> Vec<Option<(usize, usize)>> {
    let reading = ScalarPositions::default();
    match ScalarPositionSeed(&reading).deserialize(serde_yaml::Deserializer::from_slice(text)) {
        Ok(()) => reading.positions.into_inner(),
        Err(_) => Vec::new(),
    }
}

/// Message of the error that rejects a scalar.
const REFUSED: &str = "refused";

/// State of the pass: the positions so far.
#[derive(Default)]
struct ScalarPositions {
    positions: RefCell<Vec<Option<(usize, usize)>>>,
    /// Whether the last error is the rejection of a scalar.
    is_refused: Cell<bool>,
}

/// Seed for one node.
#[derive(Clone, Copy)]
struct ScalarPositionSeed<'s>(&'s ScalarPositions);

/// Seed for a key of a mapping.
#[derive(Clone, Copy)]
struct KeyPositionSeed<'s>(&'s ScalarPositions);

impl ScalarPositions {
    fn note<E: fmt::Display>(&self, result: Result<(), E>) -> Result<(), E> {
        match result {
            Err(error) if self.is_refused.replace(false) => {
                self.positions.borrow_mut().push(location(&error.to_string()));
                Ok(())
            }
            result => result,
        }
    }
}

/// Returns the line and column in `refused at line 3 column 7`. Errors at the beginning of the text have no position.
fn location(error: &str) -> Option<(usize, usize)> {
    if error == REFUSED {
        return Some((1, 1));
    }
    let (_, place) = error.rsplit_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

impl<'de> DeserializeSeed<'de> for ScalarPositionSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.note(deserializer.deserialize_any(self))
    }
}

impl<'de> DeserializeSeed<'de> for KeyPositionSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.note(deserializer.deserialize_str(ScalarPositionSeed(self.0)))
    }
}

impl ScalarPositionSeed<'_> {
    fn refuse<E: Error>(self) -> Result<(), E> {
        self.0.is_refused.set(true);
        Err(E::custom(REFUSED))
    }
}

impl<'de> Visitor<'de> for ScalarPositionSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a document")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.refuse()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.refuse()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.refuse()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_i128<E: Error>(self, _: i128) -> Result<(), E> {
        self.refuse()
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<(), E> {
        self.refuse()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.refuse()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.refuse()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        self.0.positions.borrow_mut().push(None);
        while sequence.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<(), A::Error> {
        self.0.positions.borrow_mut().push(None);
        while mapping.next_key_seed(KeyPositionSeed(self.0))?.is_some() {
            mapping.next_value_seed(self)?;
        }
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let (_, content): (String, _) = tagged.variant()?;
        content.newtype_variant_seed(self)
    }
}
