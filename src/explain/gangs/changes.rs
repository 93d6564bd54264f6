//! Proposes changes with which a request gets a gang. Every change returned has been verified by the gang search.

use indexmap::IndexMap;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Kind, Name, Value};
use crate::explain::changes::{asks_no_more, beyond, is_fixed, like, meeting, of_other_type, prefer, rewritten};
use crate::explain::clauses::text;
use crate::explain::conflicts::{minimal, positions};
use crate::explain::distance::{distance, number};
use crate::explain::findings::value_text;
use crate::explain::summary::listed;
use crate::matching::gang::{Bound, Docked, Gang, GangFault, Gangmatcher, Hindered, Impasse, Obstacles};
use crate::protocol::{Port, ports};

use super::cause::{decisive, missing, near};

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
    pub another: Option<usize>,
}

impl GangChange {
    /// The description on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(", ")
    }
}

/// A changed request that has not been verified.
struct Draft {
    request: Ad,
    steps: Vec<String>,
    /// The size of the change: 0 for corrected slips, up to 1 for each changed value, 2 for each dropped part, 4 for
    /// each dropped port or group.
    size: f64,
}

/// Maximum number of changed requests tried.
const MOST_TRIED: usize = 60;
/// Maximum number of changes returned.
const MOST_TOLD: usize = 10;

/// Maximum number of edits in a change.
const MOST_STEPS: usize = 3;
/// Maximum number of insufficient changes extended per round.
const MOST_KEPT: usize = 4;

/// Maximum number of sets of parts considered per port.
const MOST_SETS: usize = 6;
/// Maximum number of values proposed for one part.
const MOST_VALUES: usize = 3;

/// Returns the changes with which the request gets a gang, fewest and smallest first.
pub fn changes(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    impasse: &Impasse,
) -> Result<Vec<GangChange>, GangFault> {
    let first = Draft { request: request.clone(), steps: Vec::new(), size: 0.0 };
    let mut drafts = vec![(first, impasse.clone())];
    let mut found: Vec<(f64, GangChange)> = another(matcher, index, request, impasse)?.into_iter().collect();
    let mut tried: Vec<Vec<String>> = Vec::new();
    for _ in 0..MOST_STEPS {
        let mut further: Vec<Draft> = Vec::new();
        for (draft, impasse) in &drafts {
            let mut proposals = proposals(matcher, draft, impasse)?;
            proposals.sort_by(|a, b| a.size.total_cmp(&b.size));
            for proposal in proposals {
                if tried.len() >= MOST_TRIED || tried.contains(&proposal.steps) {
                    continue;
                }
                tried.push(proposal.steps.clone());
                // Skip a changed request whose ports are invalid.
                match matcher.possible(index, &proposal.request) {
                    Ok(Some(gang)) => {
                        let Draft { request, steps, size } = proposal;
                        found.push((size, GangChange { steps, gang, request, another: None }));
                    }
                    Ok(None) => further.push(proposal),
                    Err(GangFault::Ports(_)) => {}
                    Err(fault) => return Err(fault),
                }
            }
        }
        if found.iter().any(|(_, change)| change.another.is_none()) {
            break;
        }
        let mut kept: Vec<(Draft, Impasse)> = Vec::new();
        for draft in further {
            if kept.len() < MOST_KEPT
                && let Ok(Some(left)) = matcher.impasse(index, &draft.request)
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
        let is_value = |step: &&String| !step.starts_with('`') && step.contains(VALUE);
        let of: Vec<String> = change
            .steps
            .iter()
            .map(|step| match Some(step).filter(is_value) {
                Some(step) => step.split(VALUE).next().unwrap_or_default().to_owned(),
                None => step.clone(),
            })
            .collect();
        let is_new = !told.contains(&of) || of.is_empty();
        told.push(of);
        is_new
    });
    Ok(found.into_iter().take(MOST_TOLD).map(|(_, change)| change).collect())
}

/// Separates the old from the new value in the description of an edit.
const VALUE: &str = " -> ";

/// Measures the progress towards a gang: the number of ports with candidates, then the number of ports in the largest
/// partial gang.
fn progress(impasse: &Impasse) -> (usize, usize) {
    let have = impasse.ports.iter().filter(|port| !port.is_needed || port.alone > 0).count();
    (have, impasse.deepest.ports.len())
}

/// Tries whether a second copy of an offer that several ports want would suffice.
fn another(
    matcher: &mut Gangmatcher,
    index: usize,
    request: &Ad,
    impasse: &Impasse,
) -> Result<Option<(f64, GangChange)>, GangFault> {
    if impasse.stuck.iter().all(|stuck| stuck.held.is_empty()) {
        return Ok(None);
    }
    for offer in impasse.deepest.members().iter().map(|docked| docked.offer).take(MOST_VALUES) {
        let (mut larger, of) = matcher.with_another(offer);
        if let Some(mut gang) = larger.possible(index, request)? {
            let mut pending: Vec<&mut Docked> = gang.ports.iter_mut().collect();
            while let Some(docked) = pending.pop() {
                docked.offer = of[docked.offer];
                pending.extend(&mut docked.ports);
            }
            let change = GangChange { steps: Vec::new(), gang, request: request.clone(), another: Some(offer) };
            return Ok(Some((SIZE_OF_OFFER, change)));
        }
    }
    Ok(None)
}

const SIZE_OF_DROP: f64 = 2.0;
const SIZE_OF_OFFER: f64 = 3.0;
const SIZE_OF_PORT: f64 = 4.0;

/// Proposes changes for the decisive ports.
fn proposals(matcher: &mut Gangmatcher, draft: &Draft, impasse: &Impasse) -> Result<Vec<Draft>, GangFault> {
    let mut found = Vec::new();
    let ports = decisive(impasse);
    for port in &ports {
        let obstacles = matcher.obstacles(&draft.request, impasse, *port)?;
        found.extend(of_port(matcher, draft, &obstacles));
        found.extend(draft.without(*port, ports.len() > 1));
    }
    Ok(found)
}

/// Proposes changes for the obstacles at one port.
fn of_port(matcher: &Gangmatcher, draft: &Draft, obstacles: &Obstacles) -> Vec<Draft> {
    let dialect = matcher.dialect();
    let mut proposals = Vec::new();
    let mut ready: Vec<&Hindered> = obstacles.offers.iter().filter(|offer| offer.wish.is_none()).collect();
    if ready.is_empty() {
        ready = obstacles.offers.iter().collect();
    }
    let masks = minimal(ready.iter().map(|offer| offer.failing));
    for mask in masks.into_iter().filter(|mask| *mask != 0).take(MOST_SETS) {
        let rows: Vec<&Hindered> = ready.iter().copied().filter(|offer| offer.failing == mask).collect();
        let mut all_dropped = Some(draft.again());
        for part in positions(mask) {
            let mends = mends(matcher, draft, obstacles, part, &rows);
            let dropped = draft.dropped(obstacles, part, dialect);
            let is_only = mask.is_power_of_two();
            // With several unmet parts propose one fix each; the next rounds fix the other parts.
            proposals.extend(mends.into_iter().take(if is_only { usize::MAX } else { 1 }));
            if is_only {
                proposals.extend(dropped);
            } else {
                all_dropped = all_dropped.and_then(|all| all.dropped(obstacles, part, dialect));
            }
        }
        proposals.extend(all_dropped.filter(|all| all.steps.len() > draft.steps.len()));
    }
    proposals.extend(wishes(draft, obstacles));
    proposals
}

/// Proposes fixes of a part, other than dropping it, with which some of these offers meet it.
fn mends(matcher: &Gangmatcher, draft: &Draft, obstacles: &Obstacles, part: usize, offers: &[&Hindered]) -> Vec<Draft> {
    let (told, dialect) = (&obstacles.parts[part], matcher.dialect());
    let mut mends = Vec::new();
    let rewrite = |to: Option<Expression>, size| {
        let to = to?;
        let step = format!("`{}` -> `{}`", text(&told.expression, dialect), text(&to, dialect));
        draft.with(&told.expression, &to, step, size)
    };
    if let Some(name) = missing(matcher, told) {
        for (known, _) in near(matcher, &name) {
            let renamed = rewritten(&told.expression, &mut |part| match part.kind() {
                Kind::Select(of, found) if *found == name => {
                    Some(Expression::new(Kind::Select(of.clone(), known.clone()), part.span()))
                }
                _ => None,
            });
            mends.extend(rewrite(renamed, 0.0));
        }
        return mends;
    }
    let Some(asked) = &told.asked else { return mends };
    let mut values: Vec<(Value, usize)> = Vec::new();
    for (_, value) in offers.iter().flat_map(|offer| &offer.has).filter(|(at, _)| *at == part) {
        if value.is_exceptional() || matches!(value, Value::List(_) | Value::Ad(_)) {
            continue;
        }
        match values.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => values.push((value.clone(), 1)),
        }
    }
    // For an inequality prefer the value closest to the bound.
    values.sort_by(|(a, a_count), (b, b_count)| match (asked.operator, number(a), number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => a.total_cmp(&b),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => b.total_cmp(&a),
        _ => b_count.cmp(a_count),
    });
    let other = values.first().is_some_and(|(value, _)| number(value).is_some() != number(&asked.value).is_some());
    if let Some(value) = of_other_type(&asked.value).filter(|_| other) {
        mends.extend(bound_to(draft, told, asked, value, dialect));
    }
    for (value, _) in values.into_iter().take(MOST_VALUES) {
        mends.extend(bound_to(draft, told, asked, value, dialect));
    }
    mends
}

/// Relaxes a comparison so that `value` meets it. `None` for `!=` and `isnt`, or if no such bound exists.
fn bound_to(
    draft: &Draft,
    told: &crate::matching::gang::Part,
    asked: &Bound,
    value: Value,
    dialect: Dialect,
) -> Option<Draft> {
    let operator = asked.operator;
    if matches!(operator, BinaryOperator::NotEqual | BinaryOperator::Isnt) {
        return None;
    }
    let size = distance(&value, &asked.value);
    let value = like(value, operator, &asked.value);
    if let Some(written) = &asked.written
        && let Some(name) = &written.name
    {
        let to = beyond(value, operator)?;
        return draft.set(name, &written.literal, to, size);
    }
    let to = asks_no_more(&asked.what, operator, value, asked.is_exchanged, told.expression.span())?;
    let step = format!("`{}` -> `{}`", text(&told.expression, dialect), text(&to, dialect));
    draft.with(&told.expression, &to, step, size)
}

/// Proposes values for literals of the request, taken from the demands of offers that meet the port's constraint.
fn wishes(draft: &Draft, obstacles: &Obstacles) -> Vec<Draft> {
    type Wanted<'o> = IndexMap<(usize, BinaryOperator), (&'o Bound, Vec<(Value, usize)>)>;
    let mut wanted = Wanted::new();
    let suitable = obstacles.offers.iter().filter(|offer| offer.failing == 0);
    for asked in suitable.filter_map(|offer| offer.wish.as_ref()?.asked.as_ref()) {
        let Some(written) = &asked.written else { continue };
        let key = (written.literal.identity(), asked.operator);
        let values = &mut wanted.entry(key).or_insert_with(|| (asked, Vec::new())).1;
        match values.iter_mut().find(|(known, _)| *known == asked.value) {
            Some((_, count)) => *count += 1,
            None => values.push((asked.value.clone(), 1)),
        }
    }
    let mut proposals = Vec::new();
    for ((_, operator), (asked, mut values)) in wanted {
        let Some(written) = &asked.written else { continue };
        let Some(name) = written.name.as_ref().filter(|name| !is_fixed(name)) else { continue };
        prefer(&mut values, operator);
        for (value, _) in values.into_iter().take(MOST_VALUES) {
            let Some(to) = meeting(operator, value) else { continue };
            let Kind::Literal(from) = written.literal.kind() else { continue };
            let size = distance(&to, from);
            proposals.extend(draft.set(name, &written.literal, to, size));
        }
    }
    proposals
}

impl Draft {
    fn again(&self) -> Draft {
        Draft { request: self.request.clone(), steps: self.steps.clone(), size: self.size }
    }

    /// Replaces an expression.
    fn with(&self, expression: &Expression, to: &Expression, step: String, size: f64) -> Option<Draft> {
        let to = Expression::new(Kind::Parentheses(to.clone()), to.span());
        let by = &mut |part: &Expression| part.same(expression).then(|| to.clone());
        self.changed(by, step, size)
    }

    /// Replaces a literal.
    fn set(&self, name: &Name, from: &Expression, to: Value, size: f64) -> Option<Draft> {
        let Kind::Literal(old) = from.kind() else { return None };
        if *old == to {
            return None;
        }
        let step = format!("{name} {} -> {}", value_text(old), value_text(&to));
        let to = Expression::literal(to);
        self.changed(&mut |part| part.same(from).then(|| to.clone()), step, size)
    }

    /// Drops a part of a constraint.
    fn dropped(&self, obstacles: &Obstacles, part: usize, dialect: Dialect) -> Option<Draft> {
        let part = &obstacles.parts[part].expression;
        let step = format!("drop `{}`", text(part, dialect));
        self.with(part, &Expression::literal(Value::Boolean(true)), step, SIZE_OF_DROP)
    }

    /// Drops a port, or the group that contains it.
    fn without(&self, port: usize, is_grouped: bool) -> Option<Draft> {
        let ports = ports(&self.request).ok()?;
        let port = ports.list.get(port)?;
        let group = port.groups.first().filter(|_| is_grouped);
        let record = group.or(port.record.as_ref())?.identity();
        let is_left_out = |other: &&Port| match (group, other.groups.first()) {
            (Some(group), Some(of)) => group.identity() == of.identity(),
            _ => other.label == port.label,
        };
        let labels: Vec<String> = ports.list.iter().filter(is_left_out).map(|port| port.label.to_string()).collect();
        let is_it = |entry: &Expression| matches!(entry.bare().kind(), Kind::Ad(ad) if ad.identity() == record);
        let by = &mut |part: &Expression| match part.kind() {
            Kind::List(entries) if entries.iter().any(is_it) && entries.len() > 1 => {
                let left: Vec<Expression> = entries.iter().filter(|entry| !is_it(entry)).cloned().collect();
                Some(Expression::new(Kind::List(left.into()), part.span()))
            }
            _ => None,
        };
        self.changed(by, format!("do without {}", listed(&labels)), SIZE_OF_PORT)
    }

    fn changed(&self, by: &mut dyn FnMut(&Expression) -> Option<Expression>, step: String, size: f64) -> Option<Draft> {
        let mut is_changed = false;
        let attributes = self.request.iter().map(|attribute| {
            let changed = rewritten(attribute.expression, by);
            is_changed |= changed.is_some();
            (attribute.name.clone(), changed.unwrap_or_else(|| attribute.expression.clone()))
        });
        let request: Ad = attributes.collect();
        let steps = self.steps.iter().cloned().chain([step]).collect();
        is_changed.then_some(Draft { request, steps, size: self.size + size })
    }
}
