//! Proposes changes with which a request gets a gang. Every change returned has been verified by the gang search.

use crate::ad::{Ad, BinaryOperator, Dialect, Value};
use crate::explain::changes::{
    ChangeProblem, DemandedValues, ObstacleCount, Proposal, RelaxableBound, RequestEdit, VerifiedChange, WeightedValue,
    add_value, convert_type, ports_of_group, rename_attribute, rewrite_proposal, search_changes, sort_by_preference,
};
use crate::explain::conflicts::{bit_positions, minimal_masks};
use crate::explain::distance::{as_number, relative_distance};
use crate::matching::gang::{DockedOffer, FailedClauses, Gang, GangFailure, GangFault, Gangmatcher, RejectedOffer};
use crate::protocol::read_ports;

use super::cause::{decisive_ports, missing_attribute, similar_attributes};

/// A verified change with which a request gets a gang.
#[derive(Clone, Debug)]
pub struct GangChange {
    /// The description of each edit; empty if `duplicate_offer` is set.
    pub steps: Vec<String>,
    /// The gang of the changed request, found by the search.
    pub gang: Gang,
    /// The changed request; the original one if `duplicate_offer` is set.
    pub request: Ad,
    /// Index of an offer of which a second copy would suffice instead of a change. `None` for a change of the request.
    pub duplicate_offer: Option<usize>,
}

impl GangChange {
    /// The description on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(", ")
    }
}

/// Maximum number of sets of parts considered per port.
const MAX_PART_SETS: usize = 6;
/// Maximum number of values proposed for one part, and of offers for which a second copy is tried.
const MAX_VALUES: usize = 3;

const SIZE_OF_DROP: f64 = 2.0;
const SIZE_OF_PORT: f64 = 4.0;

/// Returns the changes with which the request gets a gang, fewest and smallest first.
pub fn find_gang_changes(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    failure: &GangFailure,
) -> Result<Vec<GangChange>, GangFault> {
    let duplicate = try_duplicate_offer(matcher, index, request, failure)?;
    let changes = search_changes(&mut GangChanges { matcher, index }, request, failure, true)?;
    let change = |VerifiedChange { steps, found, request, .. }| GangChange {
        steps,
        gang: found,
        request,
        duplicate_offer: None,
    };
    Ok(duplicate.into_iter().chain(changes.into_iter().map(change)).collect())
}

/// Tries whether a second copy of an offer of the deepest gang would suffice. `None` if no second copy does, or if no
/// blocked port wants such an offer.
fn try_duplicate_offer(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    failure: &GangFailure,
) -> Result<Option<GangChange>, GangFault> {
    if failure.blocked.iter().all(|stuck| stuck.held.is_empty()) {
        return Ok(None);
    }
    for offer in failure.deepest.members().iter().map(|docked| docked.offer).take(MAX_VALUES) {
        let (mut larger, of) = matcher.with_extra_copy(offer);
        if let Some(mut gang) = larger.preview_gang(index, request)? {
            let mut pending: Vec<&mut DockedOffer> = gang.ports.iter_mut().collect();
            while let Some(docked) = pending.pop() {
                docked.offer = of[docked.offer];
                pending.extend(&mut docked.ports);
            }
            let request = request.clone();
            return Ok(Some(GangChange { steps: Vec::new(), gang, request, duplicate_offer: Some(offer) }));
        }
    }
    Ok(None)
}

/// The search for changes with which a request gets a gang.
struct GangChanges<'p> {
    matcher: &'p mut Gangmatcher,
    /// Index of the request.
    index: usize,
}

impl ChangeProblem for GangChanges<'_> {
    const KEEPS_BEST_VALUE: bool = true;

    type Match = Gang;
    type Failure = GangFailure;
    type Fault = GangFault;

    fn dialect(&self) -> Dialect {
        self.matcher.dialect()
    }

    /// A changed request whose ports are invalid gets no gang.
    fn find_match(&mut self, request: &Ad) -> Result<Option<Gang>, GangFault> {
        match self.matcher.preview_gang(self.index, request) {
            Err(GangFault::Ports(_)) => Ok(None),
            found => found,
        }
    }

    fn failure(&mut self, request: &Ad) -> Option<GangFailure> {
        self.matcher.gang_failure(self.index, request).ok().flatten()
    }

    /// Counts the ports without candidates, then the ports that the largest partial gang lacks.
    fn obstacles(&mut self, failure: &GangFailure) -> ObstacleCount {
        let empty = failure.ports.iter().filter(|port| port.is_required && port.independent == 0).count();
        (empty, failure.ports.len().saturating_sub(failure.deepest.ports.len()))
    }

    /// Proposes changes for the decisive ports.
    fn propose(&mut self, request: &Ad, failure: &GangFailure) -> Result<Vec<Proposal>, GangFault> {
        let mut found = Vec::new();
        let ports = decisive_ports(failure);
        for port in &ports {
            let obstacles = self.matcher.failed_clauses(request, failure, *port)?;
            found.extend(propose_for_port(self.matcher, &obstacles));
            found.extend(propose_port_drop(request, *port, ports.len() > 1));
        }
        Ok(found)
    }
}

/// Proposes changes for one port: of the clauses that offers do not meet, and of the values that offers demand.
fn propose_for_port(matcher: &Gangmatcher, obstacles: &FailedClauses) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let mut ready: Vec<&RejectedOffer> = obstacles.offers.iter().filter(|offer| offer.demand.is_none()).collect();
    if ready.is_empty() {
        ready = obstacles.offers.iter().collect();
    }
    let masks = minimal_masks(ready.iter().map(|offer| offer.failed_mask));
    for mask in masks.into_iter().filter(|mask| *mask != 0).take(MAX_PART_SETS) {
        let rows: Vec<&RejectedOffer> = ready.iter().copied().filter(|offer| offer.failed_mask == mask).collect();
        // With several unmet parts propose one fix each; the next rounds fix the other parts.
        let most = if mask.is_power_of_two() { usize::MAX } else { 1 };
        let mut dropped = Proposal { edits: Vec::new(), size: 0.0 };
        for part in bit_positions(mask) {
            proposals.extend(propose_part_fixes(matcher, obstacles, part, &rows).into_iter().take(most));
            dropped.edits.push(RequestEdit::Drop { clause: obstacles.clauses[part].expression.clone() });
            dropped.size += SIZE_OF_DROP;
        }
        proposals.push(dropped);
    }
    let mut demanded = DemandedValues::default();
    let suitable = obstacles.offers.iter().filter(|offer| offer.failed_mask == 0);
    for asked in suitable.filter_map(|offer| offer.demand.as_ref()?.bound.as_ref()) {
        if let Some(written) = &asked.literal
            && let Some(name) = &written.name
        {
            demanded.add(name, Some(&written.literal), asked.operator, &asked.value, 1);
        }
    }
    proposals.extend(demanded.propose(MAX_VALUES));
    proposals
}

/// Proposes fixes of a part, other than dropping the part, with which some of `offers` meet the part.
fn propose_part_fixes(
    matcher: &Gangmatcher,
    obstacles: &FailedClauses,
    part: usize,
    offers: &[&RejectedOffer],
) -> Vec<Proposal> {
    let clause = &obstacles.clauses[part];
    if let Some(name) = missing_attribute(matcher, clause) {
        let near = similar_attributes(matcher, &name).into_iter();
        let renamed = near.filter_map(|(known, _)| rename_attribute(&clause.expression, &name, &known));
        return renamed.map(|to| rewrite_proposal(&clause.expression, to, 0.0)).collect();
    }
    let is_fixable = |operator| !matches!(operator, BinaryOperator::NotEqual | BinaryOperator::Isnt);
    let Some(asked) = clause.bound.as_ref().filter(|asked| is_fixable(asked.operator)) else { return Vec::new() };
    let bound = RelaxableBound {
        clause: &clause.expression,
        operand: &asked.operand,
        operator: asked.operator,
        value: &asked.value,
        is_reversed: asked.is_value_on_left,
        holder: asked.literal.as_ref().and_then(|written| Some((written.name.as_ref()?, &written.literal))),
    };
    let mut values: Vec<WeightedValue> = Vec::new();
    for (_, value) in offers.iter().flat_map(|offer| &offer.actual_values).filter(|(at, _)| *at == part) {
        if !value.is_exceptional() && !matches!(value, Value::List(_) | Value::Ad(_)) {
            add_value(&mut values, value, 1);
        }
    }
    // For an inequality prefer the value closest to the bound: the largest for `>`.
    sort_by_preference(&mut values, asked.operator.converse().unwrap_or(asked.operator));
    let is_number = |value: &Value| as_number(value).is_some();
    let is_other = values.first().is_some_and(|(value, _)| is_number(value) != is_number(&asked.value));
    let converted = convert_type(&asked.value).filter(|_| is_other).and_then(|value| bound.relax(value, 0.0));
    let relaxed = values.into_iter().take(MAX_VALUES).filter_map(|(value, _)| {
        let size = relative_distance(&value, &asked.value);
        bound.relax(value, size)
    });
    converted.into_iter().chain(relaxed).collect()
}

/// Proposes to drop a port, or with `is_grouped` the group that contains the port. `None` if the ports are invalid.
fn propose_port_drop(request: &Ad, port: usize, is_grouped: bool) -> Option<Proposal> {
    let ports = read_ports(request).ok()?;
    let port = ports.list.get(port)?;
    let labels = match port.groups.first().filter(|_| is_grouped) {
        Some(group) => ports_of_group(&ports.list, group).map(|port| port.label.clone()).collect(),
        None => vec![port.label.clone()],
    };
    Some(Proposal { edits: vec![RequestEdit::DropPorts { labels }], size: SIZE_OF_PORT })
}
