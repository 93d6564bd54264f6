//! The values of one attribute in many ads: each distinct text once.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::ad::{Expression, Value};
use crate::syntax::{Rules, is_plain_literal, parse_prefix, plain_literal, plain_value};

/// The code of an ad that has no such attribute.
pub const ABSENT: u32 = 0;

/// What a text begins with that is not in the long form: no line can begin so.
const SPREAD: &[u8] = b"\0";

/// The texts that are bound to one name.
pub struct Texts {
    /// For each ad the code of its text.
    codes: Codes,
    /// The code of the last ad that has a text.
    last: u32,
    /// All texts, one behind the other, and where each ends: code 1 is the first.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Codes by the hash of the text; none for an attribute that has another text in most ads, which is not
    /// worth looking up: there a text may be kept more than once.
    known: Option<HashTable<u32>>,
    /// How many texts were looked up.
    lookups: usize,
    /// Codes of texts that are no plain literals.
    expressions: Vec<u32>,
}

/// After so many texts it is seen whether most are new.
const ENOUGH: usize = 512;

impl Texts {
    /// No text yet.
    pub fn new() -> Self {
        Texts {
            codes: Codes::default(),
            last: ABSENT,
            bytes: Vec::new(),
            ends: Vec::new(),
            known: Some(HashTable::new()),
            lookups: 0,
            expressions: Vec::new(),
        }
    }

    /// The code of the text of an ad.
    pub fn code(&self, row: usize) -> u32 {
        self.codes.get(row)
    }

    /// How many codes there are, with that for no text.
    pub fn codes(&self) -> usize {
        self.ends.len() + 1
    }

    /// The text of a code.
    pub fn text(&self, code: u32) -> &[u8] {
        text(&self.bytes, &self.ends, code)
    }

    /// The codes of texts that are more than plain literals.
    pub fn expressions(&self) -> &[u32] {
        &self.expressions
    }

    /// The expression that a text writes.  Each call makes a tree of its own: two attributes that are written
    /// alike are still two.
    pub fn expression(&self, code: u32, rules: Rules) -> Option<Expression> {
        let text = self.text(code);
        let (text, rules) = text.strip_prefix(SPREAD).map_or((text, rules), |text| (text, Rules::new(rules.dialect)));
        plain_literal(text).or_else(|| parse_prefix(text, rules).ok().map(|(expression, _)| expression))
    }

    /// The value of a text that is a plain literal.
    pub fn literal(&self, code: u32) -> Option<Value> {
        plain_value(self.text(code)).map(|(value, _)| value)
    }

    /// The code of a text, also of one that is new; none if it is no expression.
    pub fn intern(&mut self, value: &[u8], rules: Rules) -> Option<u32> {
        // Most ads say what the one before them says.
        if self.last != ABSENT && self.text(self.last) == value {
            return Some(self.last);
        }
        self.lookups += 1;
        let (bytes, ends) = (&self.bytes, &self.ends);
        let found =
            self.known.as_ref().and_then(|known| known.find(hash(value), |code| text(bytes, ends, *code) == value));
        if let Some(code) = found {
            return Some(*code);
        }
        let is_plain = is_plain_literal(value);
        if !is_plain {
            if value.starts_with(SPREAD) {
                return None;
            }
            let (_, rest) = parse_prefix(value, rules).ok()?;
            if rest.is_some_and(|rest| !value[rest.range()].trim_ascii().is_empty()) {
                return None;
            }
        }
        self.add(value, is_plain)
    }

    /// The code of a text that a line of the long form cannot carry: one with a string of several lines, say.
    pub fn intern_spread(&mut self, value: &[u8]) -> Option<u32> {
        self.add(&[SPREAD, value].concat(), false)
    }

    fn add(&mut self, value: &[u8], is_plain: bool) -> Option<u32> {
        let code = u32::try_from(self.ends.len() + 1).ok()?;
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        if self.lookups > ENOUGH && self.ends.len() * 2 > self.lookups {
            self.known = None;
        }
        if let Some(known) = &mut self.known {
            known.insert_unique(hash(value), code, |code| hash(text(bytes, ends, *code)));
        }
        if !is_plain {
            self.expressions.push(code);
        }
        Some(code)
    }

    /// Notes the text of an ad.
    pub fn set(&mut self, row: usize, code: u32) {
        self.codes.set(row, code);
        self.last = code;
    }

    /// Gives back what memory is not used.
    pub fn shrink(&mut self) {
        self.codes.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(known) = &mut self.known {
            known.shrink_to_fit(|code| hash(text(bytes, ends, *code)));
        }
    }
}

/// A number for each row, 0 if none was set, in as few bytes as the largest takes: most attributes have few texts.
#[derive(Default)]
struct Codes {
    /// The lowest byte of each number, the one above it, and so on; bytes behind the last are 0.
    planes: Vec<Vec<u8>>,
}

impl Codes {
    fn get(&self, row: usize) -> u32 {
        let bytes = self.planes.iter().rev().map(|plane| plane.get(row).copied().unwrap_or(0));
        bytes.fold(0, |code, byte| code << 8 | u32::from(byte))
    }

    fn set(&mut self, row: usize, code: u32) {
        let bytes = code.to_le_bytes();
        let needed = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |highest| highest + 1);
        if self.planes.len() < needed {
            self.planes.resize(needed, Vec::new());
        }
        for (plane, byte) in self.planes.iter_mut().zip(bytes) {
            if byte != 0 && plane.len() <= row {
                plane.resize(row + 1, 0);
            }
            if let Some(place) = plane.get_mut(row) {
                *place = byte;
            }
        }
    }

    fn shrink_to_fit(&mut self) {
        self.planes.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

fn text<'t>(bytes: &'t [u8], ends: &[usize], code: u32) -> &'t [u8] {
    let at = code as usize;
    let start = at.checked_sub(2).map_or(0, |before| ends[before]);
    &bytes[start..at.checked_sub(1).map_or(0, |at| ends[at])]
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Codes;

    proptest! {
        #[test]
        fn codes_are_kept_in_any_width(steps in proptest::collection::vec((0_usize..40, prop_oneof![0_u32..3, 0_u32..70_000, any::<u32>()]), 0..60)) {
            let (mut codes, mut plain) = (Codes::default(), [0; 40]);
            for (row, code) in steps {
                codes.set(row, code);
                plain[row] = code;
                prop_assert!((0..41).all(|row| codes.get(row) == plain.get(row).copied().unwrap_or(0)));
            }
        }
    }
}
