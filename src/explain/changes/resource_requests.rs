//! Proposes smaller requests for resources: for each of `RequestCpus`, `RequestMemory` and their like, the largest value
//! with which the job matches a slot, and the one with which it matches the most slots.

use crate::ad::{Ad, Expression, Name, Value};
use crate::explain::distance::{as_number, relative_distance};
use crate::explain::evaluation::{OfferTable, RequestContext};
use crate::explain::explainer::RequestAnalysis;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::edit::RequestEdit;
use super::search::Proposal;

/// Maximum number of values of one resource that are tried.
const MAX_VALUES: usize = 3;

/// Proposes smaller values for each resource that the request asks for. A request for GPUs is not dropped: the job needs
/// them.
pub fn propose_smaller_requests(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<Proposal> {
    let request = &analysis.request.ad;
    let resources = request.iter().filter_map(|attribute| Some((attribute.name, requested_resource(attribute.name)?)));
    resources.flat_map(|(name, resource)| propose_for_resource(table, request, name, &resource)).collect()
}

fn propose_for_resource(table: &OfferTable, request: &Ad, name: &Name, resource: &Name) -> Vec<Proposal> {
    let Some(from) = request.get(name).filter(|_| table.offers_with(resource) > 0) else { return Vec::new() };
    let least = Value::Integer(1);
    let Some(current) = evaluate_attribute(request, name, &table.context) else { return Vec::new() };
    let Some(wanted) = as_number(&current).filter(|wanted| *wanted > 1.0) else { return Vec::new() };
    let with = |value: Value| request.with(name.clone(), Expression::literal(value));
    // The slots that match with the least request are all that any value can win.
    let smallest = RequestContext::new(&with(least));
    let rows: Vec<usize> = table.matching_rows(&smallest).ones().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let [_, other] = table.context.dialect.side_names();
    let amount = Expression::select(Expression::attribute(other), resource.clone());
    let values = table.expression_values(&smallest, &amount);
    let amounts = values.weighted_values_in(&rows, &table.weights).filter_map(|(value, _)| {
        let amount = as_number(value).filter(|amount| *amount >= 1.0 && *amount < wanted)?;
        Some((amount, value))
    });
    let mut amounts: Vec<(f64, &Value)> = amounts.collect();
    amounts.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    amounts.dedup_by(|(one, _), (other, _)| one.total_cmp(other).is_eq());
    // The largest amounts come first. With the smallest, all of the slots match.
    let fewest = amounts.len().saturating_sub(1);
    let tried = amounts.iter().enumerate().filter(|(place, _)| *place < MAX_VALUES - 1 || *place == fewest);
    let proposal = |(_, (_, value)): (usize, &(f64, &Value))| {
        let edit = RequestEdit::Set {
            name: name.clone(),
            from: Some(from.clone()),
            to: Expression::literal(Value::clone(value)),
        };
        Proposal::new(edit, relative_distance(value, &current))
    };
    tried.map(proposal).collect()
}
