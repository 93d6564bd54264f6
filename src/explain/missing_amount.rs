//! Amounts of resources in words, and clauses that ask for more than offers have.

use crate::ad::{Dialect, Name, Value};
use crate::lint::SizeUnit;

use super::clause_report::ClauseReport;
use super::distance::as_number;

/// Says that no offer has an amount, and how much they have: `no slot has Cpus >= 96 (at most 64)`. `one` is the noun for an
/// offer. `None` for a clause that asks for no amount.
pub fn missing_amount(clause: &ClauseReport, one: &str, dialect: Dialect) -> Option<String> {
    let comparison = clause.analysis.comparison.as_ref().filter(|comparison| comparison.bound_is_amount())?;
    let (name, operator) = (comparison.attribute()?, comparison.operator.symbol_in(dialect));
    let wanted = format!("no {one} has {name} {operator} {}", amount(name, &comparison.bound));
    let best = clause.closest_if_drained.as_ref().or(clause.closest_value.as_ref());
    let extreme = if comparison.asks_for_less() { "at least" } else { "at most" };
    Some(best.map_or(wanted.clone(), |best| format!("{wanted} ({extreme} {})", amount(name, best))))
}

/// An amount of a resource, with its unit if it is a size.
pub fn amount(name: &Name, value: &Value) -> String {
    match SizeUnit::of(name).zip(as_number(value)) {
        Some((unit, number)) => unit.readable(number),
        None => value.to_string(),
    }
}
