//! Finds mistakes that the linter knows in the value of an attribute of a request.

use crate::ad::{Ad, Expression, ExpressionKind, Name};
use crate::lint::{self, LintLevel, Slip};

use super::evaluation::OfferTable;

/// Returns the mistakes in the value of an attribute of a request.
pub fn setting_slips(ad: &Ad, name: &Name, value: &Expression, table: &OfferTable) -> Vec<Slip> {
    let dialect = table.context.dialect;
    if !dialect.is_condor() {
        return Vec::new();
    }
    if value.as_literal().is_some() {
        return lint::find_setting_slip(name, value).into_iter().collect();
    }
    let slips = lint::find_slips(value, dialect, None).into_iter().filter(|slip| slip.rule.level > LintLevel::Note);
    let is_defined = |word: &Name| ad.get(word).is_some() || table.offers_with(word) > 0;
    let word = match value.without_parentheses().kind() {
        ExpressionKind::Attribute(word) if !is_defined(word) => lint::find_unquoted_setting(value),
        _ => None,
    };
    slips.chain(word).collect()
}
