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
        let memory = || lint::find_kibibytes(name, value).filter(|_| exceeds(value, &MEMORY, table) == table.ads.len());
        // A few slots can have the space of a whole site.
        let most = |rows: usize| rows * 10 >= table.ads.len() * 9;
        let disk = || lint::find_bytes(name, value).filter(|_| most(exceeds(value, &DISK, table)));
        return lint::find_setting_slip(name, value).or_else(memory).or_else(disk).into_iter().collect();
    }
    let slips = lint::find_slips(value, dialect, None).into_iter().filter(|slip| slip.rule.level > LintLevel::Note);
    let is_defined = |word: &Name| ad.get(word).is_some() || table.offers_with(word) > 0;
    let word = match value.without_parentheses().kind() {
        ExpressionKind::Attribute(word) if !is_defined(word) => lint::find_unquoted_setting(value),
        _ => None,
    };
    slips.chain(word).chain(lint::find_undivided(name, value)).collect()
}

/// The attributes of slots with their memory, now and without jobs.
const MEMORY: [&str; 2] = ["Memory", "TotalSlotMemory"];

/// The attributes of slots with their disk space, now and without jobs.
const DISK: [&str; 2] = ["Disk", "TotalSlotDisk"];

/// Number of rows in which an amount is larger than each of these attributes.
fn exceeds(amount: &Expression, names: &[&str], table: &OfferTable) -> usize {
    let of_slot = |ad: &Ad, name: &str| ad.get_str(name)?.as_literal()?.as_integer();
    let wanted = amount.as_literal().and_then(Value::as_integer);
    let is_less = |ad: &&Ad| names.iter().all(|name| of_slot(ad, name) < wanted);
    table.ads.iter().filter(is_less).count()
}
