//! Offers that would match a request and that the docking vector of the policy discards, and why it does.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::ad::{Ad, Expression, Value};
use crate::eval::FreeNames;
use crate::matching::policy::PolicyVector;
use crate::protocol::{PRIORITY_SIDES, PriorityValue, priority_attributes};

use super::clauses::text;
use super::evaluation::OfferTable;
use super::report::RequestVerdict;
use super::slots::SlotsByState;

/// A row that is discarded, and the index of the component that discards it.
pub type DiscardedRow = (usize, usize);

/// Attributes that say who uses a slot, `SlotUser` in the policy `htcondor`.
const USE_ATTRIBUTES: [&str; 6] = ["SlotUser", "RemoteUser", "RemoteOwner", "AccountingGroup", "State", "Activity"];

/// Maximum number of rows for which priorities are tried.
const MAX_TRIED_ROWS: usize = 100;

/// The least and the greatest priority or weight that is tried.
const LEAST: f64 = 0.5;
const MOST: f64 = 1e9;

/// Whether the policy discards these slots because they are in use: no slot is free, and each discarding component reads
/// an attribute of the slot's user. False if the offers are not slots.
pub fn are_discarded_for_use(table: &OfferTable, slots: Option<&SlotsByState>, discarded: &[DiscardedRow]) -> bool {
    let mut rows = FixedBitSet::with_capacity(table.row_count());
    rows.extend(discarded.iter().map(|(row, _)| *row));
    let reads_use = |component: &usize| {
        let mentions = names_of_component(table, *component);
        let mut names = mentions.theirs.iter().chain(&mentions.names);
        names.any(|name| USE_ATTRIBUTES.iter().any(|of_use| name.is(of_use)))
    };
    let components: FxHashSet<usize> = discarded.iter().map(|(_, component)| *component).collect();
    slots.is_some_and(|slots| slots.free_of(&rows) == 0) && components.iter().all(reads_use)
}

/// Whether one of these rows would not be discarded if priorities and usage favoured the request as much as they can. Only
/// a negotiation cycle knows them. At most [`MAX_TRIED_ROWS`] rows are tried.
pub fn depends_on_priorities(table: &OfferTable, request: &Ad, discarded: &[DiscardedRow]) -> bool {
    let [submitter, remote] = PRIORITY_SIDES;
    let request = with_priorities(request, submitter, [LEAST, LEAST, MOST, LEAST]);
    discarded.iter().take(MAX_TRIED_ROWS).any(|(row, _)| {
        let offer = with_priorities(&table.ads[*row], remote, [MOST, MOST, LEAST, MOST]);
        matches!(PolicyVector::first_unordered(&table.docking, &request, &offer, &table.context), Ok(None))
    })
}

/// Returns an ad with these values of the attributes of a side: priority, usage, quota and usage of the group.
fn with_priorities(ad: &Ad, side: &str, [priority, usage, quota, group_usage]: [f64; 4]) -> Ad {
    let value = |kind: PriorityValue| match kind {
        PriorityValue::Priority => Some(priority),
        PriorityValue::Usage => Some(usage),
        PriorityValue::GroupQuota => Some(quota),
        PriorityValue::GroupUsage => Some(group_usage),
        PriorityValue::Group => None,
    };
    let known = priority_attributes(side).into_iter().filter_map(|(name, kind)| Some((name, value(kind)?)));
    known.fold(ad.clone(), |ad, (name, value)| ad.with(name, Expression::literal(Value::Real(value))))
}

/// The verdict on a request for which each row that would match is discarded.
pub fn discarded_verdict(table: &OfferTable, discarded: &[DiscardedRow]) -> RequestVerdict {
    let mut counts = vec![0; table.docking.len()];
    for (row, component) in discarded {
        counts[*component] += table.weights.of_row(*row);
    }
    // `max_by_key` returns the last of several maxima. In reverse order this is the first component.
    let component = (0..counts.len()).rev().max_by_key(|component| counts[*component]).unwrap_or_default();
    let mentions = names_of_component(table, component);
    let missing = mentions.theirs.into_iter().find(|name| table.offers_with(name) == 0);
    let missing = missing.map(|name| {
        let near = table.similar_attributes(&name);
        (name, near)
    });
    let rule = &table.docking[component];
    let written = || text(&rule.expression, table.context.dialect);
    let name = rule.name.as_ref().map_or_else(written, ToString::to_string);
    RequestVerdict::Discarded { component, text: name, missing }
}

/// Returns the names that a component of the docking vector mentions.
fn names_of_component(table: &OfferTable, component: usize) -> FreeNames {
    let mut mentions = FreeNames::default();
    mentions.add_policy_expression(&table.docking[component].expression, table.context.dialect);
    mentions
}
