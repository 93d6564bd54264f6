//! A dictionary column of texts: one attribute in many ads, with each distinct text stored once.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::ad::{Expression, Value};
use crate::syntax::{ParseOptions, is_simple_literal, parse_prefix, simple_literal, simple_literal_with_span};

/// The code of an ad that has no such attribute.
pub const ABSENT: u32 = 0;

/// Prefix of a stored text in the bracketed form; no line of the long form can begin so.
const BRACKETED_PREFIX: &[u8] = b"\0";

/// The texts bound to one attribute.
pub struct TextColumn {
    /// The code of each ad's text.
    codes: PackedCodes,
    /// The code set last.
    last: u32,
    /// All texts, concatenated, and the end offset of each; code 1 is the first.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Codes by the hash of the text.  `None` if most ads have distinct texts, so that lookups do not pay: then a text
    /// may be stored more than once.
    codes_by_text: Option<HashTable<u32>>,
    /// Number of lookups.
    lookups: usize,
    /// Codes of the texts that are not simple literals.
    expressions: Vec<u32>,
}

/// Minimum number of lookups before deduplication is given up because most texts are new.
const MIN_LOOKUPS: usize = 512;

impl TextColumn {
    /// Creates an empty column.
    pub fn new() -> Self {
        TextColumn {
            codes: PackedCodes::default(),
            last: ABSENT,
            bytes: Vec::new(),
            ends: Vec::new(),
            codes_by_text: Some(HashTable::new()),
            lookups: 0,
            expressions: Vec::new(),
        }
    }

    /// Returns the code of an ad's text; [`ABSENT`] if it has none.
    pub fn code(&self, row: usize) -> u32 {
        self.codes.get(row)
    }

    /// Number of codes, including [`ABSENT`].
    pub fn codes(&self) -> usize {
        self.ends.len() + 1
    }

    /// Returns the text of a code.
    pub fn text(&self, code: u32) -> &[u8] {
        text(&self.bytes, &self.ends, code)
    }

    /// Returns the codes of the texts that are not simple literals.
    pub fn expressions(&self) -> &[u32] {
        &self.expressions
    }

    /// Parses the text of a code; `None` for [`ABSENT`].  Each call builds a new tree, so that attributes of different
    /// ads have different identities.
    pub fn expression(&self, code: u32, rules: ParseOptions) -> Option<Expression> {
        let text = self.text(code);
        let (text, rules) =
            text.strip_prefix(BRACKETED_PREFIX).map_or((text, rules), |text| (text, ParseOptions::new(rules.dialect)));
        simple_literal(text).or_else(|| parse_prefix(text, rules).ok().map(|(expression, _)| expression))
    }

    /// Returns the value of a text; `None` if it is not a simple literal.
    pub fn literal(&self, code: u32) -> Option<Value> {
        simple_literal_with_span(self.text(code)).map(|(value, _)| value)
    }

    /// Interns a text in the long form and returns its code; `None` if it is no expression.
    pub fn intern(&mut self, value: &[u8], rules: ParseOptions) -> Option<u32> {
        // Most ads have the text of the ad before them.
        if self.last != ABSENT && self.text(self.last) == value {
            return Some(self.last);
        }
        self.lookups += 1;
        let (bytes, ends) = (&self.bytes, &self.ends);
        let found = self
            .codes_by_text
            .as_ref()
            .and_then(|known| known.find(hash(value), |code| text(bytes, ends, *code) == value));
        if let Some(code) = found {
            return Some(*code);
        }
        let is_plain = is_simple_literal(value);
        if !is_plain {
            if value.starts_with(BRACKETED_PREFIX) {
                return None;
            }
            let (_, rest) = parse_prefix(value, rules).ok()?;
            if rest.is_some_and(|rest| !value[rest.range()].trim_ascii().is_empty()) {
                return None;
            }
        }
        self.add(value, is_plain)
    }

    /// Stores a text in the bracketed form and returns its code: for expressions that the long form cannot represent,
    /// such as strings of several lines.
    pub fn add_bracketed(&mut self, value: &[u8]) -> Option<u32> {
        self.add(&[BRACKETED_PREFIX, value].concat(), false)
    }

    fn add(&mut self, value: &[u8], is_plain: bool) -> Option<u32> {
        let code = u32::try_from(self.ends.len() + 1).ok()?;
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        if self.lookups > MIN_LOOKUPS && self.ends.len() * 2 > self.lookups {
            self.codes_by_text = None;
        }
        if let Some(known) = &mut self.codes_by_text {
            known.insert_unique(hash(value), code, |code| hash(text(bytes, ends, *code)));
        }
        if !is_plain {
            self.expressions.push(code);
        }
        Some(code)
    }

    /// Sets the code of an ad's text.
    pub fn set(&mut self, row: usize, code: u32) {
        self.codes.set(row, code);
        self.last = code;
    }

    /// Frees unused capacity.
    pub fn shrink(&mut self) {
        self.codes.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(known) = &mut self.codes_by_text {
            known.shrink_to_fit(|code| hash(text(bytes, ends, *code)));
        }
    }
}

/// A vector of codes, 0 by default, stored in byte planes: it takes as many bytes per row as the largest code needs,
/// usually one.
#[derive(Default)]
struct PackedCodes {
    /// The planes, least significant byte first; missing bytes at their ends are 0.
    planes: Vec<Vec<u8>>,
}

impl PackedCodes {
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

    use super::PackedCodes;

    proptest! {
        #[test]
        fn codes_are_kept_in_any_width(steps in proptest::collection::vec((0_usize..40, prop_oneof![0_u32..3, 0_u32..70_000, any::<u32>()]), 0..60)) {
            let (mut codes, mut plain) = (PackedCodes::default(), [0; 40]);
            for (row, code) in steps {
                codes.set(row, code);
                plain[row] = code;
                prop_assert!((0..41).all(|row| codes.get(row) == plain.get(row).copied().unwrap_or(0)));
            }
        }
    }
}
