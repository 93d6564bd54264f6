//! Phrases about a constraint on the ads of a list that none of them meets.

use crate::ad::Name;
use crate::lint::SizeUnit;
use crate::text::join_first;

use super::distance::as_number;
use super::nested_constraint::NestedFailure;
use super::value_phrase::{closest_value_phrase, offered_phrase};

/// Maximum number of attributes of the ads of a list that a sentence names.
const MAX_PROPERTIES: usize = 5;

/// Returns what an ad of the list is called: `a free GPU` for `AvailableGPUs`, and `a GPU` where none in use is meant either.
pub fn entry(nested: &NestedFailure) -> String {
    let list = nested.list.as_str();
    let free = if nested.is_of_all { "" } else { "free " };
    let entry = list.strip_prefix("Available").and_then(|entry| entry.strip_suffix('s'));
    entry.map_or_else(|| format!("an entry in {list}"), |entry| format!("a {free}{entry}"))
}

/// Returns the values of the request that contradict each other, or the name of the constraint if it reads none.
pub fn clashing_values(nested: &NestedFailure) -> String {
    // The names of the values tell whose they are.
    if nested.own_values.is_empty() { nested.holder.0.to_string() } else { nested.own_values.join(", ") }
}

/// Says which values the ads have instead: `; the largest is 40960 (40 GiB of 80 GiB)`. At most `most_told` strings are told.
/// Empty if nothing is known of them.
pub fn values(nested: &NestedFailure, most_told: usize) -> String {
    let plural = nested.list.as_str().strip_prefix("Available").unwrap_or("the entries");
    if let Some((name, known)) = &nested.renamed {
        return format!("; {plural} have no {name}, but {known}");
    }
    if let Some((name, known)) = &nested.absent {
        let known = join_first(known.iter().map(Name::to_string), known.len(), MAX_PROPERTIES);
        return format!("; {plural} have no {name}, but {known}");
    }
    let closest = nested.closest.as_ref();
    let offered = nested.offered.as_ref().filter(|offered| offered.value_count > 0);
    let phrase = match (offered, closest) {
        (Some(offered), _) => offered_phrase(offered, most_told),
        (None, Some((operator, bound, closest))) => closest_value_phrase(*operator, closest, bound),
        (None, None) => return String::new(),
    };
    // A number of MiB is hard to read.
    let unit = nested.read.first().and_then(SizeUnit::of).zip(closest);
    let readable = unit.and_then(|(unit, (_, bound, closest))| {
        let [asked, found] = [bound, closest].map(|value| as_number(value).map(|number| unit.readable(number)));
        Some(format!(" ({} of {})", found?, asked?))
    });
    format!("; {phrase}{}", readable.unwrap_or_default())
}
