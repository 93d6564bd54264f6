//! What a request takes of a partitionable slot when no notice says it: what HTCondor gives it.

use std::sync::LazyLock;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Name};
use crate::eval::{Context, Environment};
use crate::matching::policy::{Policy, ready_policy, with_attributes};
use crate::protocol::{is_partitionable, machine_resources, requested_resource, taken_portion};

/// HTCondor's policy, with its division of partitionable slots.
static POLICY: LazyLock<Option<Policy>> =
    LazyLock::new(|| Policy::parse(ready_policy("htcondor")?.as_bytes(), Dialect::Condor).ok());

/// Returns the portion of a partitionable slot that becomes the dynamic slot of a request: `RequestCpus` and so on,
/// rounded as by default. `None` if the offer is no partitionable slot: the request gets all of it.
#[must_use]
pub fn usual_portion(request: &Ad, offer: &Ad, context: &Context) -> Option<Ad> {
    let policy = POLICY.as_ref().filter(|_| is_partitionable(offer, context))?;
    let mut residual = policy.residual.clone()?;
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
    Some(taken_portion(offer, &rest, residual.names(), context))
}
