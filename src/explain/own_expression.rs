//! The expression behind an attribute of a request, such as a request for memory that depends on an earlier run.

use crate::ad::{Expression, Name, Value};
use crate::eval::FreeNames;
use crate::lint::SizeUnit;
use crate::protocol::{evaluate_attribute, requested_resource};
use crate::text::join_and;

use super::clauses::text;
use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};

/// Says which expression is behind the first request for a resource in a clause, and which values it reads. `None` if the
/// requests are literals.
pub fn own_expression(clause: &Expression, table: &OfferTable, request: &RequestContext) -> Option<String> {
    let (dialect, context) = (table.context.dialect, &table.context);
    let own_names = |expression: &Expression| {
        let mentions = FreeNames::of(expression, dialect);
        mentions.mine.into_iter().chain(mentions.unqualified).collect::<Vec<Name>>()
    };
    let (name, behind) = own_names(clause).into_iter().find_map(|name| {
        requested_resource(&name)?;
        let behind = request.ad.get(&name).filter(|behind| behind.as_literal().is_none())?;
        Some((name, behind))
    })?;
    let value = |read: Name| match evaluate_attribute(&request.ad, &read, context) {
        None | Some(Value::Undefined) => format!("{read} is not defined"),
        Some(value) => {
            let size = SizeUnit::of(&read).zip(as_number(&value));
            let size = size.map(|(unit, amount)| format!(" ({})", unit.readable(amount))).unwrap_or_default();
            format!("{read} is {value}{size}")
        }
    };
    let mut read = own_names(behind);
    read.retain(|read| *read != name && !read.is_secret());
    read.dedup();
    let values: Vec<String> = read.into_iter().map(value).collect();
    let values = if values.is_empty() { String::new() } else { format!(", and {}", join_and(&values)) };
    Some(format!("{name} is {}{values}", text(behind, dialect)))
}
