//! Finds the decisive port of a request that gets no gang, and the reason why the port stays empty.

use indexmap::IndexMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::constraint::ClauseComparison;
use crate::explain::cause::Cause;
use crate::explain::clauses::text;
use crate::explain::conflicts::{Conflicts, bit_positions, minimal_masks};
use crate::explain::distance::closest_value;
use crate::lint::similar_names;
use crate::matching::gang::{FailedClauses, GangFailure, GangFault, Gangmatcher, PortClause};

/// A port that stays empty, with the reason.
#[derive(Clone, Debug)]
pub struct EmptyPort {
    /// Index of the port in the request.
    pub port: usize,
    /// The reason why the port stays empty.
    pub cause: EmptyPortCause,
}

/// The reason why no offer docks at a port. Clauses of the port's constraint are given by their index into
/// [`FailedClauses::clauses`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EmptyPortCause {
    /// The port has no constraint, and so accepts no offer.
    NoConstraint,
    /// A clause of the port's constraint reads an attribute that no offer has.
    Missing {
        /// Index of the clause.
        part: usize,
        /// The missing attribute.
        name: Name,
        /// The offers' attributes with a similar name, each with the number of offers that have it.
        near: Vec<(Name, usize)>,
    },
    /// No offer meets a clause of the port's constraint.
    Unmet {
        /// Index of the clause.
        part: usize,
        /// The text of the clause in the classad syntax. The text is looked up among the texts of the failed
        /// conditions, which are in the classad syntax, too.
        text: String,
        /// The clause as a comparison with a constant, and the offers' value that comes closest to meeting the
        /// comparison. `None` if the clause is anything else, or if no value is comparable.
        closest: Option<Box<(ClauseComparison, Value)>>,
    },
    /// Each clause of the port's constraint is met by some offer, but no offer meets all clauses with these indices.
    Conflict(Vec<usize>),
    /// Some offers meet the port's constraint, but all of these offers refuse the request.
    Refused {
        /// Number of offers that meet the port's constraint.
        suitable: usize,
    },
    /// All offers that fit the port are docked at other ports already.
    AllDocked,
    /// The docking vector discards every candidate.
    Discarded,
    /// Offers fit the port, but cannot serve it with their own ports.
    OwnPorts,
    /// Offers fit the port, but the port belongs to a group whose ports cannot be filled together.
    GroupUnfillable,
}

impl EmptyPortCause {
    /// The cause, as the table of causes has it.
    pub(super) fn cause(&self) -> Cause {
        match self {
            EmptyPortCause::NoConstraint => Cause::NoConstraint,
            EmptyPortCause::Missing { .. } => Cause::MissingAttribute,
            EmptyPortCause::Unmet { closest: Some(closest), .. } if closest.0.bound_is_amount() => Cause::Size,
            EmptyPortCause::Unmet { .. } => Cause::Value,
            EmptyPortCause::Conflict(_) => Cause::Conflict,
            EmptyPortCause::Refused { .. } => Cause::Refused,
            EmptyPortCause::Discarded => Cause::Unranked,
            EmptyPortCause::AllDocked | EmptyPortCause::OwnPorts | EmptyPortCause::GroupUnfillable => Cause::Gang,
        }
    }

    /// Indices of the decisive clauses of the port's constraint.
    #[must_use]
    pub fn parts(&self) -> Vec<usize> {
        match self {
            EmptyPortCause::Missing { part, .. } | EmptyPortCause::Unmet { part, .. } => vec![*part],
            EmptyPortCause::Conflict(parts) => parts.clone(),
            _ => Vec::new(),
        }
    }
}

/// Returns the indices of the decisive ports, the most decisive first. A required port that no offer fits, even with
/// nothing else docked, is the only decisive port. Without such a port, all blocked ports are decisive.
pub fn decisive_ports(failure: &GangFailure) -> Vec<usize> {
    if let Some(empty) = failure.ports.iter().position(|port| port.is_required && port.independent == 0) {
        return vec![empty];
    }
    let mut blocked: Vec<_> = failure.blocked.iter().map(|blocked| (blocked.fitting > 0, blocked.port)).collect();
    blocked.sort_unstable();
    blocked.into_iter().map(|(_, port)| port).collect()
}

/// Finds the decisive port and the reason why this port stays empty. Also returns the failed clauses at the port.
pub fn find_cause(
    matcher: &mut Gangmatcher,
    request: &Ad,
    failure: &GangFailure,
) -> Result<(EmptyPort, FailedClauses), GangFault> {
    let port = decisive_ports(failure).first().copied().unwrap_or_default();
    let failed = matcher.failed_clauses(request, failure, port)?;
    let is_empty = failure.ports[port].independent == 0;
    let cause = match failure.blocked.iter().find(|blocked| blocked.port == port && !is_empty) {
        Some(blocked) if blocked.fitting > 0 => EmptyPortCause::GroupUnfillable,
        Some(blocked) if !blocked.unserved.is_empty() => EmptyPortCause::OwnPorts,
        Some(blocked) if blocked.unacceptable > 0 => EmptyPortCause::Discarded,
        Some(blocked) if blocked.conditions.is_empty() => EmptyPortCause::AllDocked,
        _ if failed.clauses.is_empty() => EmptyPortCause::NoConstraint,
        _ => cause_from_offers(matcher, &failed),
    };
    Ok((EmptyPort { port, cause }, failed))
}

fn cause_from_offers(matcher: &Gangmatcher, failed: &FailedClauses) -> EmptyPortCause {
    let never = failed.offers.iter().fold(u128::MAX, |never, offer| never & offer.failed_mask);
    let never: Vec<usize> = bit_positions(never).into_iter().filter(|part| *part < failed.clauses.len()).collect();
    // Report a misspelt attribute first. If there is none, report the first clause that no offer meets.
    let missing = |part: &usize| {
        let name = missing_attribute(matcher, &failed.clauses[*part])?;
        let near = similar_attributes(matcher, &name);
        Some(EmptyPortCause::Missing { part: *part, name, near })
    };
    let is_misspelt =
        |cause: &EmptyPortCause| matches!(cause, EmptyPortCause::Missing { near, .. } if !near.is_empty());
    let misspelt = never.iter().filter_map(missing).find(is_misspelt);
    if let Some(cause) = misspelt.or_else(|| never.first().and_then(missing)) {
        return cause;
    }
    if let Some(part) = never.first() {
        let clause = &failed.clauses[*part];
        let closest = clause
            .bound
            .as_ref()
            .and_then(|bound| Some(Box::new((bound.clone(), nearest_value(matcher, failed, *part, bound)?))));
        return EmptyPortCause::Unmet { part: *part, text: text(&clause.expression, Dialect::Classad), closest };
    }
    let suitable = failed.offers.iter().filter(|offer| offer.failed_mask == 0).count();
    if suitable > 0 {
        return EmptyPortCause::Refused { suitable };
    }
    let failing = minimal_masks(failed.offers.iter().map(|offer| offer.failed_mask));
    EmptyPortCause::Conflict(Conflicts::from_failures(&failing).sets.into_iter().next().unwrap_or_default())
}

/// Returns the first attribute that a clause of a port reads in the candidate and that no offer has. `None` if there is
/// no such attribute.
pub fn missing_attribute(matcher: &Gangmatcher, part: &PortClause) -> Option<Name> {
    part.candidate_attributes.iter().find(|name| matcher.offers_with_attribute(name) == 0).cloned()
}

/// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
pub fn similar_attributes(matcher: &Gangmatcher, name: &Name) -> Vec<(Name, usize)> {
    similar_names(name, matcher.attribute_names(), |name| matcher.offers_with_attribute(name))
}

/// Returns the offers' value that comes closest to meeting the clause with the index `part`. `None` if no value is
/// comparable.
fn nearest_value(
    matcher: &Gangmatcher,
    failed: &FailedClauses,
    part: usize,
    bound: &ClauseComparison,
) -> Option<Value> {
    let mut values: IndexMap<String, (&Value, usize)> = IndexMap::new();
    for (_, value) in failed.offers.iter().flat_map(|offer| &offer.actual_values).filter(|(at, _)| *at == part) {
        values.entry(value.to_string()).or_insert((value, 0)).1 += 1;
    }
    closest_value(bound.operator, &bound.bound, values.into_values(), matcher.dialect())
}
