//! Proposes smaller requests for resources: for each of `RequestCpus`, `RequestMemory` and their like, the largest value
//! with which the job matches a slot, and the one with which it matches the most slots.

use crate::ad::{Ad, Expression, Name, Value};
use crate::explain::distance::{as_number, relative_distance};
use crate::explain::evaluation::{OfferTable, RequestContext};
use crate::explain::request_analysis::RequestAnalysis;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::advice;
use super::edit::RequestEdit;
use super::needs;
use super::search::Proposal;

/// How many times smaller than the one that is asked for a proposed value may be. The largest value that any slot has is
/// proposed nevertheless, because it tells what can be had.
const MAX_REDUCTION: f64 = 128.0;

/// Proposes smaller values for each resource that the request asks for: the largest with which the job matches, the one
/// with which it matches the most slots, and one between them, which is the best product of value and slots. A request
/// for GPUs is not dropped: the job needs them.
pub fn propose_smaller_requests(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<Proposal> {
    let request = &analysis.request.ad;
    let resources = request.iter().filter_map(|attribute| Some((attribute.name, requested_resource(attribute.name)?)));
    resources.flat_map(|(name, resource)| propose_for_resource(table, request, [name, &resource])).collect()
}

/// Proposes the largest value of a request for a resource with which `request` matches. `None` for another attribute.
pub fn propose_largest(table: &OfferTable, request: &Ad, name: &Name) -> Option<RequestEdit> {
    let resource = requested_resource(name)?;
    propose_for_resource(table, request, [name, &resource]).into_iter().next()?.edits.pop()
}

/// An amount of a resource that slots have.
struct Amount<'v> {
    number: f64,
    value: &'v Value,
    /// Number of slots that have as much or more.
    slots: usize,
}

impl Amount<'_> {
    /// The product of the amount and its slots.
    #[allow(clippy::cast_precision_loss)] // a measure to compare
    fn worth(&self) -> f64 {
        self.number * self.slots as f64
    }
}

/// An amount without its fraction: a part of a slot can be any number, a request is a whole one.
#[expect(clippy::cast_possible_truncation, reason = "amounts of resources are far below 2^53")]
fn whole(amount: &Value) -> Value {
    match amount {
        Value::Real(real) if *real >= 1.0 => Value::Integer(real.floor() as i64),
        amount => amount.clone(),
    }
}

fn propose_for_resource(table: &OfferTable, request: &Ad, [name, resource]: [&Name; 2]) -> Vec<Proposal> {
    let Some(from) = request.get(name).filter(|_| table.offers_with(resource) > 0) else { return Vec::new() };
    let least = Value::Integer(1);
    let Some(current) = evaluate_attribute(request, name, &table.context) else { return Vec::new() };
    let Some(wanted) = as_number(&current).filter(|wanted| *wanted > 1.0) else { return Vec::new() };
    let proposal = |value: &Value| {
        let to = Expression::literal(whole(value));
        let edit = RequestEdit::Set { name: name.clone(), from: Some(from.clone()), to };
        Proposal::new(edit, relative_distance(value, &current))
    };
    // An expression that grows with each run asks for more than the job was measured to use.
    let enough = needs::enough(request, name, &table.context);
    if let Some(enough) = enough.filter(|enough| as_number(enough) < Some(wanted)) {
        return vec![proposal(&enough)];
    }
    let with = |value: Value| request.with(name.clone(), Expression::literal(value));
    // The slots that match with the least request are all that any value can win.
    let smallest = RequestContext::new(&with(least));
    let rows: Vec<usize> = table.matching_rows(&smallest).ones().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let least = needs::least_needed(request, name, &table.context).unwrap_or_default().max(1.0);
    let values = table.expression_values(&smallest, &advice::lasting_amount(resource, table.context.dialect));
    let found = values.weighted_values_in(&rows, &table.weights).filter_map(|(value, slots)| {
        let number = as_number(value).filter(|number| *number >= least && *number < wanted)?;
        Some(Amount { number, value, slots })
    });
    let mut found: Vec<Amount<'_>> = found.collect();
    found.sort_by(|one, other| other.number.total_cmp(&one.number));
    let mut amounts: Vec<Amount<'_>> = Vec::new();
    let mut slots = 0;
    for amount in found {
        slots += amount.slots;
        amounts.pop_if(|last| last.number.total_cmp(&amount.number).is_eq());
        amounts.push(Amount { slots, ..amount });
    }
    let Some((largest, smaller)) = amounts.split_first() else { return Vec::new() };
    let far_less = smaller.iter().position(|amount| amount.number * MAX_REDUCTION < wanted);
    let smaller = &smaller[..far_less.unwrap_or(smaller.len())];
    let between = smaller.split_last().map(|(_, between)| between).unwrap_or_default();
    let best = between.iter().max_by(|one, other| one.worth().total_cmp(&other.worth()));
    let tried = [Some(largest), best, smaller.last()].into_iter().flatten().map(|amount| amount.value);
    tried.map(proposal).collect()
}

#[cfg(test)]
mod tests {
    use super::propose_for_resource;
    use crate::ad::{Ad, Dialect, Name};
    use crate::eval::Context;
    use crate::explain::evaluation::OfferTable;
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn the_largest_the_best_and_the_least_amount_are_proposed() {
        for (wanted, slots, expected) in [
            (100, &[50][..], &[50][..]),
            (100, &[20, 50], &[50, 20]),
            // Of those between, the one with the greatest product of the amount and its slots: 2 have 20, 3 have 14.
            (100, &[50, 20, 14, 10], &[50, 14, 10]),
            (100, &[50, 20, 20, 14, 10], &[50, 20, 10]),
            // What is far less than is asked for is no advice.
            (1000, &[500, 8, 7], &[500, 8]),
            (1000, &[7], &[7]),
            (100, &[100, 200], &[]),
            (1, &[1, 2], &[]),
        ] {
            let request = ad(&format!("[ RequestCpus = {wanted}; Requirements = TARGET.Cpus >= RequestCpus ]"));
            let offers = slots.iter().map(|cpus| ad(&format!("[ Cpus = {cpus}; Requirements = true ]")));
            let offers: Vec<Ad> = offers.collect();
            let protocol = Protocol::new(Dialect::Condor);
            let table = OfferTable::new(&offers, protocol, Context::new(Dialect::Condor));
            let names = ["RequestCpus", "Cpus"].map(Name::new);
            let found = propose_for_resource(&table, &request, names.each_ref());
            let found: Vec<String> = found.iter().map(|proposal| proposal.edits[0].text(Dialect::Condor)).collect();
            let expected: Vec<String> = expected.iter().map(|cpus| format!("RequestCpus {wanted} -> {cpus}")).collect();
            assert_eq!(found, expected, "{wanted} {slots:?}");
        }
    }
}
