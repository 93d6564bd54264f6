//! The section of a report with the values that offers have where a request asks for others.

use classad::explain::{OfferedRange, OfferedValue, OfferedValues};
use classad::text::{shorten, with_commas};

use super::case::ExplanationInput;
use super::limits::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS};
use super::listing::{push_rest, two_column_listing};

/// Lists values with the number of offers that have each. With `has_bound`, the first sentence tells the bound of a range.
pub fn values_listing(case: &ExplanationInput<'_>, offered: &OfferedValues, has_bound: bool) -> String {
    let having = |offers: usize, words: &str, example: usize| {
        let such_as = if offers == 1 { ":" } else { ", such as" };
        format!("{}{words}{such_as} {}", counted_offers(case, offers), case.partners[example].id())
    };
    let value = |value: &OfferedValue| {
        let shown = offered.shown(&shorten(&value.value, MAX_CLAUSE_CHARS));
        (vec![shown], having(value.offers, &free_words(value), value.example))
    };
    let range = |range: &OfferedRange, words: &str| {
        let [least, most] = &range.bounds;
        let shown = if least == most { least.to_string() } else { format!("{least} to {most}") };
        (vec![shown], having(range.offers, words, range.example))
    };
    let mut rows: Vec<_> = offered.values.iter().take(DEFAULT_MAX_ITEMS).map(value).collect();
    // A single bound stands in the first sentence.
    let is_told = offered.offline.is_none() && offered.absent == 0 && has_bound;
    rows.extend(offered.range.iter().filter(|_| !is_told).map(|numbers| range(numbers, "")));
    rows.extend(offered.offline.iter().map(|numbers| range(numbers, ", offline")));
    if rows.is_empty() {
        return String::new();
    }
    let kinds = [(offered.absent, "absent"), (offered.undefined, "undefined"), (offered.other, "of another type")];
    let kinds = kinds.into_iter().filter(|(offers, _)| *offers > 0);
    rows.extend(kinds.map(|(offers, kind)| (vec![format!("({kind})")], counted_offers(case, offers))));
    let mut text = two_column_listing(&format!("values of {}:", offered.name), &rows);
    push_rest(&mut text, offered.value_count, DEFAULT_MAX_ITEMS, "value");
    text
}

/// Says how many of the offers that have a value are free: `, 2 free`.
fn free_words(value: &OfferedValue) -> String {
    match value.free.map(|free| (free, value.offers)) {
        None => String::new(),
        Some((0, _)) => ", none free".to_owned(),
        Some((1, 1)) => ", free".to_owned(),
        Some((free, all)) if free == all => ", all free".to_owned(),
        Some((free, _)) => format!(", {} free", with_commas(free)),
    }
}

/// Formats a number of offers: `2 slots`.
fn counted_offers(case: &ExplanationInput<'_>, offers: usize) -> String {
    format!("{} {}", with_commas(offers), case.nouns[usize::from(offers != 1)])
}

#[cfg(test)]
mod tests {
    use super::{OfferedValue, free_words};

    #[test]
    fn free_offers_of_a_value_are_told() {
        for (free, offers, expected) in [
            (None, 2, ""),
            (Some(0), 1, ", none free"),
            (Some(0), 2, ", none free"),
            (Some(1), 1, ", free"),
            (Some(2), 2, ", all free"),
            (Some(1), 2, ", 1 free"),
            (Some(1200), 2000, ", 1,200 free"),
        ] {
            let value = OfferedValue { value: "a".to_owned(), offers, free, example: 0, refusals: Vec::new() };
            assert_eq!(free_words(&value), expected, "{free:?} of {offers}");
        }
    }
}
