//! In which attributes offers have a string.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, ByteString, Name, Value};

/// Maximum number of rows whose strings are known.
const MAX_ROWS: usize = 500;

/// The strings of offers, but for blanks and case, each with the attributes that have it and with the numbers of their rows.
#[derive(Default)]
pub struct StringPlaces(FxHashMap<String, FxHashMap<(Name, ByteString), usize>>);

impl StringPlaces {
    /// Finds the strings of the first ads.
    pub fn of(ads: &[Ad]) -> Self {
        let mut places = StringPlaces::default();
        for attribute in ads.iter().take(MAX_ROWS).flat_map(Ad::iter) {
            if let Some(Value::String(text)) = attribute.expression.as_literal() {
                let of_text = places.0.entry(plain(text)).or_default();
                *of_text.entry((attribute.name.clone(), text.clone())).or_default() += 1;
            }
        }
        places
    }

    /// Whether an attribute has a string, but for blanks and case, in some row.
    pub fn has(&self, name: &Name, wanted: &ByteString) -> bool {
        self.0.get(&plain(wanted)).is_some_and(|places| places.keys().any(|(of, _)| of == name))
    }

    /// Returns the attribute that has a string, but for blanks and case, in the most rows, and how it spells the string. `None` if
    /// none has it. Of several attributes the first by the alphabet.
    pub fn most_frequent(&self, wanted: &ByteString) -> Option<&(Name, ByteString)> {
        let places = self.0.get(&plain(wanted)).filter(|_| !plain(wanted).is_empty())?;
        let most = places.iter().max_by(|(one, rows), (other, others)| {
            rows.cmp(others).then_with(|| (other.0.as_str(), &other.1).cmp(&(one.0.as_str(), &one.1)))
        });
        most.map(|(place, _)| place)
    }
}

/// A string without blanks, in lower case.
fn plain(text: &ByteString) -> String {
    text.to_str().replace([' ', '\t'], "").to_ascii_lowercase()
}
