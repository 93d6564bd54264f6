//! Proposes changes with which a request gets a gang. Every change returned has been verified by the gang search.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value, rename_attribute};
use crate::eval::Work;
use crate::explain::changes::{
    ChangeProblem, DemandedValues, ObstacleCount, Proposal, RequestChange, RequestEdit, WeightedValue, add_value,
    convert_type, ports_of_group, rewrite_proposal, search_changes, sort_by_preference,
};
use crate::explain::conflicts::{bit_positions, minimal_masks};
use crate::explain::distance::{as_number, relative_distance};
use crate::matching::gang::{DockedOffer, FailedClauses, Gang, GangFailure, GangFault, Gangmatcher, RejectedOffer};
use crate::protocol::read_ports;

use super::cause::{decisive_ports, missing_attribute, similar_attributes};

/// Maximum number of sets of unmet clauses per port for which changes are proposed.
const MAX_PART_SETS: usize = 6;
/// Maximum number of values proposed for one clause of a port. Also the maximum number of offers of which a second copy
/// is tried.
const MAX_VALUES: usize = 3;

/// Counts the work of searches for gangs as steps of the run.
pub fn count_search<T>(matcher: &mut Gangmatcher, search: impl FnOnce(&mut Gangmatcher) -> T) -> T {
    let before = matcher.symbolic_visits();
    let found = search(matcher);
    matcher.context().charge(Work::SymbolicVisit, matcher.symbolic_visits() - before);
    found
}

/// The search for changes with which a request gets a gang.
pub struct GangChanges<'p> {
    pub matcher: &'p mut Gangmatcher,
    /// Index of the request to change.
    pub index: usize,
}

impl GangChanges<'_> {
    /// Returns the changes with which the request gets a gang. A second copy of an offer comes first, then changes with
    /// fewer edits, then smaller changes.
    pub fn find(mut self, request: &Ad, failure: &GangFailure) -> Result<Vec<RequestChange<Gang>>, GangFault> {
        let mut changes: Vec<_> = self.try_duplicate_offer(request, failure)?.into_iter().collect();
        changes.extend(search_changes(&mut self, request, failure, true)?);
        Ok(changes)
    }

    /// Tries whether the request gets a gang if one offer has a second copy. Tries only the first offers of
    /// `failure.deepest`, the gang that fills as many of the first ports as possible. `None` if no second copy
    /// suffices, or if no docked offer fits a blocked port.
    fn try_duplicate_offer(
        &self,
        request: &Ad,
        failure: &GangFailure,
    ) -> Result<Option<RequestChange<Gang>>, GangFault> {
        if failure.blocked.iter().all(|port| port.held.is_empty()) {
            return Ok(None);
        }
        for offer in failure.deepest.members().iter().map(|docked| docked.offer).take(MAX_VALUES) {
            if self.is_interrupted() {
                return Ok(None);
            }
            let (mut larger, of) = self.matcher.with_extra_copy(offer);
            if let Some(mut gang) = count_search(&mut larger, |larger| larger.preview_gang(self.index, request))? {
                let mut pending: Vec<&mut DockedOffer> = gang.ports.iter_mut().collect();
                while let Some(docked) = pending.pop() {
                    docked.offer = of[docked.offer];
                    pending.extend(&mut docked.ports);
                }
                return Ok(Some(RequestChange::of_duplicate(offer, request.clone(), gang)));
            }
        }
        Ok(None)
    }
}

impl ChangeProblem for GangChanges<'_> {
    const KEEPS_BEST_VALUE: bool = true;

    type Match = Gang;
    type Failure = GangFailure;
    type Fault = GangFault;

    fn dialect(&self) -> Dialect {
        self.matcher.dialect()
    }

    fn is_interrupted(&self) -> bool {
        self.matcher.context().is_interrupted() || self.matcher.context().has_spent_run()
    }

    /// Searches for a gang of a changed request. `None` also if the ports of the changed request are invalid, or if it
    /// has no ports left: a request without ports asks for nothing.
    fn find_match(&mut self, request: &Ad) -> Result<Option<Gang>, GangFault> {
        let index = self.index;
        match count_search(self.matcher, |matcher| matcher.preview_gang(index, request)) {
            Err(GangFault::Ports(_)) => Ok(None),
            found => Ok(found?.filter(|gang| !gang.ports.is_empty())),
        }
    }

    fn failure(&mut self, request: &Ad) -> Option<GangFailure> {
        let index = self.index;
        count_search(self.matcher, |matcher| matcher.gang_failure(index, request)).ok().flatten()
    }

    /// Returns the number of required ports without candidates, and the number of ports that the incomplete gang
    /// `failure.deepest` leaves empty.
    fn obstacles(&mut self, failure: &GangFailure) -> ObstacleCount {
        let empty = failure.ports.iter().filter(|port| port.is_required && port.independent == 0).count();
        (empty, failure.ports.len().saturating_sub(failure.deepest.ports.len()))
    }

    /// Proposes changes that help to fill the decisive ports. Also proposes to drop each of these ports. If several
    /// ports are decisive, a port is dropped together with the other ports of its group.
    fn propose(&mut self, request: &Ad, failure: &GangFailure) -> Result<Vec<Proposal>, GangFault> {
        let mut found = Vec::new();
        let ports = decisive_ports(failure);
        for port in &ports {
            let failed = self.matcher.failed_clauses(request, failure, *port)?;
            found.extend(propose_for_port(self.matcher, &failed));
            found.extend(propose_port_drop(request, *port, ports.len() > 1));
        }
        Ok(found)
    }
}

/// Proposes changes for one port. Some proposals change clauses that offers fail; others set attributes of the request
/// to values that offers demand.
fn propose_for_port(matcher: &Gangmatcher, failed: &FailedClauses) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let mut accepting: Vec<&RejectedOffer> = failed.offers.iter().filter(|offer| offer.demand.is_none()).collect();
    if accepting.is_empty() {
        accepting = failed.offers.iter().collect();
    }
    let masks = minimal_masks(accepting.iter().map(|offer| offer.failed_mask));
    for mask in masks.into_iter().filter(|mask| *mask != 0).take(MAX_PART_SETS) {
        let offers: Vec<&RejectedOffer> = accepting.iter().copied().filter(|offer| offer.failed_mask == mask).collect();
        let parts = bit_positions(mask);
        // Another kind of ad cannot take the place of a machine or a licence.
        if parts.iter().any(|part| reads_type(&failed.clauses[*part].expression)) {
            continue;
        }
        // Each fix changes a single clause. If several clauses are unmet, propose only one fix for each, because the
        // next rounds of the search add fixes of the other clauses.
        let most = if parts.len() == 1 { usize::MAX } else { 1 };
        for part in &parts {
            proposals.extend(fix_part(matcher, failed, *part, &offers).into_iter().take(most));
        }
        proposals.push(Proposal::drop_clauses(parts.iter().map(|part| &failed.clauses[*part].expression)));
    }
    let mut demanded = DemandedValues::default();
    let suitable = failed.offers.iter().filter(|offer| offer.failed_mask == 0);
    for demand in suitable.filter_map(|offer| offer.demand.as_ref()) {
        let Some(bound) = &demand.bound else { continue };
        let (name, literal) = match (&bound.bound_holder, &demand.missing) {
            (Some((name, literal)), _) => (name, Some(literal)),
            (None, Some(name)) => (name, None),
            _ => continue,
        };
        demanded.add(name, literal, bound.operator, &bound.bound, 1);
    }
    proposals.extend(demanded.propose(MAX_VALUES, false));
    proposals
}

/// Whether a clause reads the type of an ad, `MyType` or `TargetType`.
fn reads_type(clause: &Expression) -> bool {
    let is_type = |name: &Name| name.is("MyType") || name.is("TargetType");
    clause.parts().any(|part| {
        matches!(part.kind(), ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) if is_type(name))
    })
}

/// Proposes fixes of the clause with the index `part`. A fix renames a misspelt attribute, or changes the bound so that
/// it suits values of `offers`. Dropping the clause is not among the fixes.
fn fix_part(matcher: &Gangmatcher, failed: &FailedClauses, part: usize, offers: &[&RejectedOffer]) -> Vec<Proposal> {
    let clause = &failed.clauses[part];
    let expression = &clause.expression;
    if let Some(name) = missing_attribute(matcher, clause) {
        let near = similar_attributes(matcher, &name).into_iter();
        let renamed = near.filter_map(|(known, _)| rename_attribute(expression, &name, &known));
        return renamed.map(|to| rewrite_proposal(expression, to, 0.0)).collect();
    }
    let Some(comparison) = &clause.bound else { return Vec::new() };
    let operator = comparison.operator;
    if matches!(operator, BinaryOperator::NotEqual | BinaryOperator::Isnt) {
        return Vec::new();
    }
    let mut values: Vec<WeightedValue> = Vec::new();
    for (_, value) in offers.iter().flat_map(|offer| &offer.actual_values).filter(|(at, _)| *at == part) {
        if !value.is_exceptional() && !matches!(value, Value::List(_) | Value::Ad(_)) {
            add_value(&mut values, value, 1);
        }
    }
    // For an inequality, prefer the value closest to the bound. For `>` this is the largest value, because all values
    // are too small.
    sort_by_preference(&mut values, operator.converse().unwrap_or(operator));
    let is_number = |value: &Value| as_number(value).is_some();
    let differs = values.first().is_some_and(|(value, _)| is_number(value) != is_number(&comparison.bound));
    let converted = convert_type(&comparison.bound).filter(|_| differs);
    let converted = converted.and_then(|value| comparison.correct(expression, value));
    let relaxed = values.into_iter().take(MAX_VALUES).filter_map(|(value, _)| {
        let size = relative_distance(&value, &comparison.bound);
        comparison.relax(expression, value, size)
    });
    converted.into_iter().chain(relaxed).collect()
}

/// Proposes to drop a port. With `is_grouped`, proposes to drop the outermost group that contains the port. `None` if
/// the ports of the request are invalid.
fn propose_port_drop(request: &Ad, port: usize, is_grouped: bool) -> Option<Proposal> {
    let ports = read_ports(request).ok()?;
    let port = ports.list.get(port)?;
    let labels = match port.groups.first().filter(|_| is_grouped) {
        Some(group) => ports_of_group(&ports.list, group).map(|port| port.label.clone()).collect(),
        None => vec![port.label.clone()],
    };
    Some(Proposal::new(RequestEdit::DropPorts { labels }, 4.0))
}
