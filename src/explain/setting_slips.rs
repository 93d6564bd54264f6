//! Finds mistakes that the linter knows in the value of an attribute of a request.

use crate::ad::{Ad, Expression, ExpressionKind, Name, Value};
use crate::lint::{self, LintLevel, Slip};

use super::evaluation::OfferTable;

/// Returns the mistakes in the value of an attribute of a request.
pub fn setting_slips(ad: &Ad, name: &Name, value: &Expression, table: &OfferTable) -> Vec<Slip> {
    let dialect = table.context.dialect;
    if !dialect.is_condor() {
        return Vec::new();
    }
    if value.as_literal().is_some() {
        let beyond = || lint::find_kibibytes(name, value).filter(|_| exceeds_all_slots(value, table));
        return lint::find_setting_slip(name, value).or_else(beyond).into_iter().collect();
    }
    let slips = lint::find_slips(value, dialect, None).into_iter().filter(|slip| slip.rule.level > LintLevel::Note);
    let is_defined = |word: &Name| ad.get(word).is_some() || table.offers_with(word) > 0;
    let word = match value.without_parentheses().kind() {
        ExpressionKind::Attribute(word) if !is_defined(word) => lint::find_unquoted_setting(value),
        _ => None,
    };
    slips.chain(word).chain(lint::find_undivided(name, value)).collect()
}

/// Whether a request for memory is for more than any slot has without jobs.
fn exceeds_all_slots(value: &Expression, table: &OfferTable) -> bool {
    let amount = |ad: &Ad, name: &str| ad.get_str(name)?.as_literal()?.as_integer();
    let largest = table.ads.iter().flat_map(|ad| [amount(ad, "Memory"), amount(ad, "TotalSlotMemory")]).flatten().max();
    value.as_literal().and_then(Value::as_integer) > largest
}
