//! Attributes that a request lacks and that an offer reads.

use crate::ad::{Ad, Name};
use crate::lint::is_of_one_side;
use crate::text::suggestion;

use super::evaluation::OfferTable;

/// An attribute that a request lacks and that an offer reads.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingAttribute {
    /// The name that the offer reads.
    pub name: Name,
    /// Attributes of the request with similar names. The offer may mean one of them. Empty for a standard attribute.
    pub near: Vec<Name>,
    /// Whether the offer reads the name without a qualifier, and lacks it, too.
    pub is_of_neither: bool,
}

impl MissingAttribute {
    /// Finds the attributes that an offer may mean by `name`, which the request lacks, and with `is_of_neither` the offer,
    /// too.
    #[must_use]
    pub fn of(table: &OfferTable, request: &Ad, name: Name, is_of_neither: bool) -> Self {
        let near = table.near_names.of(request, &name).into_iter();
        let near = near.filter(|near| !are_siblings(name.as_str(), near.as_str())).collect();
        MissingAttribute { name, near, is_of_neither }
    }

    /// Whether the attribute is one of slots: a request is not the ad to define it.
    #[must_use]
    pub fn is_of_slots(&self) -> bool {
        is_of_one_side(&self.name, true)
    }
}

/// Returns ` (1.0 has no RequestDisk)` for the first attribute in `missing`, or ` (neither ad defines LoadAvg)`; empty if
/// there is none.
pub fn missing_attribute_note(subject: &str, is_plural: bool, missing: &[MissingAttribute]) -> String {
    let has = if is_plural { "have" } else { "has" };
    let note = |missing: &MissingAttribute| {
        let (name, near) = (&missing.name, suggestion(&missing.near));
        if missing.is_of_neither {
            format!(" (neither ad defines {name}{near})")
        } else {
            format!(" ({subject} {has} no {name}{near})")
        }
    };
    missing.first().map(note).unwrap_or_default()
}

/// Whether names differ only in digits or in the last letter, as `HasGPU1` and `HasGPU2` do: neither is a misspelling of
/// the other.
fn are_siblings(one: &str, other: &str) -> bool {
    let without_digits = |name: &str| name.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let without_last = |name: &str| name.char_indices().next_back().map_or(0, |(last, _)| last);
    let [one_start, other_start] = [&one[..without_last(one)], &other[..without_last(other)]];
    without_digits(one).eq_ignore_ascii_case(&without_digits(other))
        || (one.len() == other.len() && one_start.eq_ignore_ascii_case(other_start))
}
