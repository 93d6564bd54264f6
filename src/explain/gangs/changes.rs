//! Proposes changes with which a request gets a gang. Every change returned has been verified by the gang search.

use indexmap::IndexMap;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::explain::changes::{
    closest_bound, convert_to_bound_type, convert_type, is_identity_attribute, relaxed_comparison, rewrite_expression,
    sort_by_preference, value_meeting,
};
use crate::explain::clauses::text;
use crate::explain::conflicts::{bit_positions, minimal_masks};
use crate::explain::distance::{as_number, relative_distance};
use crate::matching::gang::{
    ClauseBound, DockedOffer, FailedClauses, Gang, GangFailure, GangFault, Gangmatcher, RejectedOffer,
};
use crate::protocol::{Port, read_ports};
use crate::text::join_and;

use super::cause::{decisive_ports, missing_attribute, similar_attributes};

/// A verified change with which a request gets a gang.
#[derive(Clone, Debug)]
pub struct GangChange {
    /// The description of each edit; empty if `another` is set.
    pub steps: Vec<String>,
    /// The gang of the changed request, found by the search.
    pub gang: Gang,
    /// The changed request.
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

/// A changed request that has not been verified.
struct GangDraft {
    request: Ad,
    steps: Vec<String>,
    /// The size of the change: 0 for corrected slips, up to 1 for each changed value, 2 for each dropped part, 4 for
    /// each dropped port or group.
    size: f64,
}

/// Maximum number of changed requests tried.
const MAX_TRIED_REQUESTS: usize = 60;
/// Maximum number of changes returned.
const MAX_CHANGES: usize = 10;

/// Maximum number of edits in a change.
const MAX_EDITS: usize = 3;
/// Maximum number of insufficient changes extended per round.
const MAX_EXTENDED_CHANGES: usize = 4;

/// Maximum number of sets of parts considered per port.
const MAX_PART_SETS: usize = 6;
/// Maximum number of values proposed for one part.
const MAX_VALUES: usize = 3;

/// Returns the changes with which the request gets a gang, fewest and smallest first.
pub fn find_gang_changes(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    impasse: &GangFailure,
) -> Result<Vec<GangChange>, GangFault> {
    let first = GangDraft { request: request.clone(), steps: Vec::new(), size: 0.0 };
    let mut drafts = vec![(first, impasse.clone())];
    let mut found: Vec<(f64, GangChange)> =
        try_duplicate_offer(matcher, index, request, impasse)?.into_iter().collect();
    let mut tried: Vec<Vec<String>> = Vec::new();
    for _ in 0..MAX_EDITS {
        let mut further: Vec<GangDraft> = Vec::new();
        for (draft, impasse) in &drafts {
            let mut proposals = proposals(matcher, draft, impasse)?;
            proposals.sort_by(|a, b| a.size.total_cmp(&b.size));
            for proposal in proposals {
                if tried.len() >= MAX_TRIED_REQUESTS || tried.contains(&proposal.steps) {
                    continue;
                }
                tried.push(proposal.steps.clone());
                // Skip a changed request whose ports are invalid.
                match matcher.preview_gang(index, &proposal.request) {
                    Ok(Some(gang)) => {
                        let GangDraft { request, steps, size } = proposal;
                        found.push((size, GangChange { steps, gang, request, duplicate_offer: None }));
                    }
                    Ok(None) => further.push(proposal),
                    Err(GangFault::Ports(_)) => {}
                    Err(fault) => return Err(fault),
                }
            }
        }
        if found.iter().any(|(_, change)| change.duplicate_offer.is_none()) {
            break;
        }
        let mut kept: Vec<(GangDraft, GangFailure)> = Vec::new();
        for draft in further {
            if kept.len() < MAX_EXTENDED_CHANGES
                && let Ok(Some(left)) = matcher.gang_failure(index, &draft.request)
                && let Some((_, before)) = drafts.first()
                && progress(&left) > progress(before)
            {
                kept.push((draft, left));
            }
        }
        drafts = kept;
    }
    found.sort_by(|(a_size, a), (b_size, b)| a.steps.len().cmp(&b.steps.len()).then(a_size.total_cmp(b_size)));
    // Of several values for one attribute keep the best.
    let mut told: Vec<Vec<String>> = Vec::new();
    found.retain(|(_, change)| {
        let is_value = |step: &&String| !step.starts_with('`') && step.contains(VALUE_ARROW);
        let of: Vec<String> = change
            .steps
            .iter()
            .map(|step| match Some(step).filter(is_value) {
                Some(step) => step.split(VALUE_ARROW).next().unwrap_or_default().to_owned(),
                None => step.clone(),
            })
            .collect();
        let is_new = !told.contains(&of) || of.is_empty();
        told.push(of);
        is_new
    });
    Ok(found.into_iter().take(MAX_CHANGES).map(|(_, change)| change).collect())
}

/// Separates the old from the new value in the description of an edit.
const VALUE_ARROW: &str = " -> ";

/// Measures the progress towards a gang: the number of ports with candidates, then the number of ports in the largest
/// partial gang.
fn progress(impasse: &GangFailure) -> (usize, usize) {
    let have = impasse.ports.iter().filter(|port| !port.is_required || port.independent > 0).count();
    (have, impasse.deepest.ports.len())
}

/// Tries whether a second copy of an offer that several ports want would suffice.
fn try_duplicate_offer(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    impasse: &GangFailure,
) -> Result<Option<(f64, GangChange)>, GangFault> {
    if impasse.blocked.iter().all(|stuck| stuck.held.is_empty()) {
        return Ok(None);
    }
    for offer in impasse.deepest.members().iter().map(|docked| docked.offer).take(MAX_VALUES) {
        let (mut larger, of) = matcher.with_extra_copy(offer);
        if let Some(mut gang) = larger.preview_gang(index, request)? {
            let mut pending: Vec<&mut DockedOffer> = gang.ports.iter_mut().collect();
            while let Some(docked) = pending.pop() {
                docked.offer = of[docked.offer];
                pending.extend(&mut docked.ports);
            }
            let change = GangChange { steps: Vec::new(), gang, request: request.clone(), duplicate_offer: Some(offer) };
            return Ok(Some((SIZE_OF_OFFER, change)));
        }
    }
    Ok(None)
}

const SIZE_OF_DROP: f64 = 2.0;
const SIZE_OF_OFFER: f64 = 3.0;
const SIZE_OF_PORT: f64 = 4.0;

/// Proposes changes for the decisive ports.
fn proposals(matcher: &mut Gangmatcher, draft: &GangDraft, impasse: &GangFailure) -> Result<Vec<GangDraft>, GangFault> {
    let mut found = Vec::new();
    let ports = decisive_ports(impasse);
    for port in &ports {
        let obstacles = matcher.failed_clauses(&draft.request, impasse, *port)?;
        found.extend(propose_for_port(matcher, draft, &obstacles));
        found.extend(draft.drop_port(*port, ports.len() > 1));
    }
    Ok(found)
}

/// Proposes changes for the obstacles at one port.
fn propose_for_port(matcher: &Gangmatcher, draft: &GangDraft, obstacles: &FailedClauses) -> Vec<GangDraft> {
    let dialect = matcher.dialect();
    let mut proposals = Vec::new();
    let mut ready: Vec<&RejectedOffer> = obstacles.offers.iter().filter(|offer| offer.demand.is_none()).collect();
    if ready.is_empty() {
        ready = obstacles.offers.iter().collect();
    }
    let masks = minimal_masks(ready.iter().map(|offer| offer.failed_mask));
    for mask in masks.into_iter().filter(|mask| *mask != 0).take(MAX_PART_SETS) {
        let rows: Vec<&RejectedOffer> = ready.iter().copied().filter(|offer| offer.failed_mask == mask).collect();
        let mut all_dropped = Some(draft.copy());
        for part in bit_positions(mask) {
            let mends = propose_part_fixes(matcher, draft, obstacles, part, &rows);
            let dropped = draft.drop_part(obstacles, part, dialect);
            let is_only = mask.is_power_of_two();
            // With several unmet parts propose one fix each; the next rounds fix the other parts.
            proposals.extend(mends.into_iter().take(if is_only { usize::MAX } else { 1 }));
            if is_only {
                proposals.extend(dropped);
            } else {
                all_dropped = all_dropped.and_then(|all| all.drop_part(obstacles, part, dialect));
            }
        }
        proposals.extend(all_dropped.filter(|all| all.steps.len() > draft.steps.len()));
    }
    proposals.extend(propose_demanded_values(draft, obstacles));
    proposals
}

/// Proposes fixes of a part, other than dropping it, with which some of these offers meet it.
fn propose_part_fixes(
    matcher: &Gangmatcher,
    draft: &GangDraft,
    obstacles: &FailedClauses,
    part: usize,
    offers: &[&RejectedOffer],
) -> Vec<GangDraft> {
    let (told, dialect) = (&obstacles.clauses[part], matcher.dialect());
    let mut mends = Vec::new();
    let rewrite = |to: Option<Expression>, size| {
        let to = to?;
        let step = format!("`{}` -> `{}`", text(&told.expression, dialect), text(&to, dialect));
        draft.replace(&told.expression, &to, step, size)
    };
    if let Some(name) = missing_attribute(matcher, told) {
        for (known, _) in similar_attributes(matcher, &name) {
            let renamed = rewrite_expression(&told.expression, &mut |part| match part.kind() {
                ExpressionKind::Select(of, found) if *found == name => {
                    Some(Expression::new(ExpressionKind::Select(of.clone(), known.clone()), part.span()))
                }
                _ => None,
            });
            mends.extend(rewrite(renamed, 0.0));
        }
        return mends;
    }
    let Some(asked) = &told.bound else { return mends };
    let mut values: Vec<(Value, usize)> = Vec::new();
    for (_, value) in offers.iter().flat_map(|offer| &offer.actual_values).filter(|(at, _)| *at == part) {
        if value.is_exceptional() || matches!(value, Value::List(_) | Value::Ad(_)) {
            continue;
        }
        match values.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => values.push((value.clone(), 1)),
        }
    }
    // For an inequality prefer the value closest to the bound.
    values.sort_by(|(a, a_count), (b, b_count)| match (asked.operator, as_number(a), as_number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => a.total_cmp(&b),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => b.total_cmp(&a),
        _ => b_count.cmp(a_count),
    });
    let other =
        values.first().is_some_and(|(value, _)| as_number(value).is_some() != as_number(&asked.value).is_some());
    if let Some(value) = convert_type(&asked.value).filter(|_| other) {
        mends.extend(relax_bound(draft, told, asked, value, dialect));
    }
    for (value, _) in values.into_iter().take(MAX_VALUES) {
        mends.extend(relax_bound(draft, told, asked, value, dialect));
    }
    mends
}

/// Relaxes a comparison so that `value` meets it. `None` for `!=` and `isnt`, or if no such bound exists.
fn relax_bound(
    draft: &GangDraft,
    told: &crate::matching::gang::PortClause,
    asked: &ClauseBound,
    value: Value,
    dialect: Dialect,
) -> Option<GangDraft> {
    let operator = asked.operator;
    if matches!(operator, BinaryOperator::NotEqual | BinaryOperator::Isnt) {
        return None;
    }
    let size = relative_distance(&value, &asked.value);
    let value = convert_to_bound_type(value, operator, &asked.value);
    if let Some(written) = &asked.literal
        && let Some(name) = &written.name
    {
        let to = closest_bound(value, operator)?;
        return draft.replace_literal(name, &written.literal, to, size);
    }
    let to = relaxed_comparison(&asked.operand, operator, value, asked.is_value_on_left, told.expression.span())?;
    let step = format!("`{}` -> `{}`", text(&told.expression, dialect), text(&to, dialect));
    draft.replace(&told.expression, &to, step, size)
}

/// Proposes values for literals of the request, taken from the demands of offers that meet the port's constraint.
fn propose_demanded_values(draft: &GangDraft, obstacles: &FailedClauses) -> Vec<GangDraft> {
    type DemandedLiterals<'o> = IndexMap<(usize, BinaryOperator), (&'o ClauseBound, Vec<(Value, usize)>)>;
    let mut wanted = DemandedLiterals::new();
    let suitable = obstacles.offers.iter().filter(|offer| offer.failed_mask == 0);
    for asked in suitable.filter_map(|offer| offer.demand.as_ref()?.bound.as_ref()) {
        let Some(written) = &asked.literal else { continue };
        let key = (written.literal.identity(), asked.operator);
        let values = &mut wanted.entry(key).or_insert_with(|| (asked, Vec::new())).1;
        match values.iter_mut().find(|(known, _)| *known == asked.value) {
            Some((_, count)) => *count += 1,
            None => values.push((asked.value.clone(), 1)),
        }
    }
    let mut proposals = Vec::new();
    for ((_, operator), (asked, mut values)) in wanted {
        let Some(written) = &asked.literal else { continue };
        let Some(name) = written.name.as_ref().filter(|name| !is_identity_attribute(name)) else { continue };
        sort_by_preference(&mut values, operator);
        for (value, _) in values.into_iter().take(MAX_VALUES) {
            let Some(to) = value_meeting(operator, value) else { continue };
            let ExpressionKind::Literal(from) = written.literal.kind() else { continue };
            let size = relative_distance(&to, from);
            proposals.extend(draft.replace_literal(name, &written.literal, to, size));
        }
    }
    proposals
}

impl GangDraft {
    fn copy(&self) -> GangDraft {
        GangDraft { request: self.request.clone(), steps: self.steps.clone(), size: self.size }
    }

    /// Replaces an expression.
    fn replace(&self, expression: &Expression, to: &Expression, step: String, size: f64) -> Option<GangDraft> {
        let to = Expression::new(ExpressionKind::Parentheses(to.clone()), to.span());
        let by = &mut |part: &Expression| part.ptr_eq(expression).then(|| to.clone());
        self.rewrite(by, step, size)
    }

    /// Replaces a literal.
    fn replace_literal(&self, name: &Name, from: &Expression, to: Value, size: f64) -> Option<GangDraft> {
        let ExpressionKind::Literal(old) = from.kind() else { return None };
        if *old == to {
            return None;
        }
        let step = format!("{name} {old} -> {to}");
        let to = Expression::literal(to);
        self.rewrite(&mut |part| part.ptr_eq(from).then(|| to.clone()), step, size)
    }

    /// Drops a part of a constraint.
    fn drop_part(&self, obstacles: &FailedClauses, part: usize, dialect: Dialect) -> Option<GangDraft> {
        let part = &obstacles.clauses[part].expression;
        let step = format!("drop `{}`", text(part, dialect));
        self.replace(part, &Expression::literal(Value::Boolean(true)), step, SIZE_OF_DROP)
    }

    /// Drops a port, or the group that contains it.
    fn drop_port(&self, port: usize, is_grouped: bool) -> Option<GangDraft> {
        let ports = read_ports(&self.request).ok()?;
        let port = ports.list.get(port)?;
        let group = port.groups.first().filter(|_| is_grouped);
        let record = group.or(port.record.as_ref())?.identity();
        let is_left_out = |other: &&Port| match (group, other.groups.first()) {
            (Some(group), Some(of)) => group.identity() == of.identity(),
            _ => other.label == port.label,
        };
        let labels: Vec<String> = ports.list.iter().filter(is_left_out).map(|port| port.label.to_string()).collect();
        let is_it = |entry: &Expression| matches!(entry.without_parentheses().kind(), ExpressionKind::Ad(ad) if ad.identity() == record);
        let by = &mut |part: &Expression| match part.kind() {
            ExpressionKind::List(entries) if entries.iter().any(is_it) && entries.len() > 1 => {
                let left: Vec<Expression> = entries.iter().filter(|entry| !is_it(entry)).cloned().collect();
                Some(Expression::new(ExpressionKind::List(left.into()), part.span()))
            }
            _ => None,
        };
        self.rewrite(by, format!("do without {}", join_and(&labels)), SIZE_OF_PORT)
    }

    fn rewrite(
        &self,
        by: &mut dyn FnMut(&Expression) -> Option<Expression>,
        step: String,
        size: f64,
    ) -> Option<GangDraft> {
        let mut is_changed = false;
        let attributes = self.request.iter().map(|attribute| {
            let changed = rewrite_expression(attribute.expression, by);
            is_changed |= changed.is_some();
            (attribute.name.clone(), changed.unwrap_or_else(|| attribute.expression.clone()))
        });
        let request: Ad = attributes.collect();
        let steps = self.steps.iter().cloned().chain([step]).collect();
        is_changed.then_some(GangDraft { request, steps, size: self.size + size })
    }
}
