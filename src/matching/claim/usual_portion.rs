//! What a request takes of a partitionable slot where no notice says it: what HTCondor gives it.

use std::sync::LazyLock;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Name, Value};
use crate::eval::{Context, Environment};
use crate::matching::policy::{Policy, ready_policy, with_attributes};
use crate::protocol::{is_partitionable, machine_resources, requested_resource, taken_portion};

/// HTCondor's policy, with its division of partitionable slots.
static POLICY: LazyLock<Option<Policy>> =
    LazyLock::new(|| Policy::parse(ready_policy("htcondor")?.as_bytes(), Dialect::Condor).ok());

/// Returns the portion of an offer that a request claims: `named` is that of its notice. As a policy divides only the
/// resources that it knows, those that an administrator defines are added. `None` if the request gets all of the offer.
#[must_use]
pub fn claimed_portion(named: Option<&Ad>, request: Option<&Ad>, offer: &Ad, context: &Context) -> Option<Ad> {
    let usual = request.and_then(|request| usual_portion(request, offer, context));
    let (Some(named), Some(usual)) = (named, &usual) else { return named.cloned().or(usual) };
    let residual = &POLICY.as_ref()?.leftovers.as_ref()?.division;
    let is_missing = |name: &Name| named.get(name).is_none() && !residual.names().any(|known| known == name);
    let missing = usual.iter().filter(|attribute| is_missing(attribute.name));
    Some(missing.fold(named.clone(), |all, attribute| all.with(attribute.name.clone(), attribute.expression.clone())))
}

/// Returns the portion of a partitionable slot that becomes the dynamic slot of a request: `RequestCpus` and so on,
/// rounded as by default. `None` if the offer is no partitionable slot: the request gets all of it.
fn usual_portion(request: &Ad, offer: &Ad, context: &Context) -> Option<Ad> {
    let policy = POLICY.as_ref().filter(|_| is_partitionable(offer, context))?;
    let mut residual = policy.leftovers.as_ref()?.division.clone();
    let known: Vec<Name> = residual.names().cloned().collect();
    // Resources that an administrator defines are divided in the same way.
    for attribute in request.iter() {
        let Some(resource) = requested_resource(attribute.name) else { continue };
        if machine_resources(offer, context).contains(&resource) && !known.contains(&resource) {
            let requested = Expression::select(Expression::attribute("other"), attribute.name.clone());
            let rest = Expression::binary(BinaryOperator::Subtract, Expression::attribute(resource.clone()), requested);
            residual.set.push((resource, rest.into()));
        }
    }
    let request = with_attributes(std::slice::from_ref(request), &policy.request_attributes).pop()?;
    let (environment, [_, frame]) = Environment::pair(request, offer.clone());
    let rest = residual.rest(&frame, &environment, context).ok()??;
    let portion = taken_portion(offer, &rest, residual.names(), context);
    // A request that is no number gets none of such a resource.
    let is_number = |taken: &Expression| matches!(taken.as_literal(), Some(Value::Integer(_) | Value::Real(_)));
    let taken = portion.iter().filter(|taken| known.contains(taken.name) || is_number(taken.expression));
    Some(taken.map(|taken| (taken.name.clone(), taken.expression.clone())).collect())
}
