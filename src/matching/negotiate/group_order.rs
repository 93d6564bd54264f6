//! The order in which groups negotiate.

use crate::ad::{Expression, Name, Value};
use crate::eval::Context;
use crate::matching::policy::{GroupAllocation, WeightedShare};
use crate::protocol::rank_number;

/// Place of a group for which the rule that orders groups is no number: `FLT_MAX`, as in HTCondor.
const NO_GROUP_ORDER: f64 = 3.402_823_466_385_288_6e38;

/// Returns the groups in the order in which they negotiate. `usage` is what each group uses.
pub fn group_order(
    share: &WeightedShare,
    allocation: &GroupAllocation,
    usage: &[f64],
    context: &Context,
) -> Vec<usize> {
    let tree = &share.groups;
    let key = |group: usize| match &share.group_order {
        Some(_) if tree.groups()[0].regroups && group == 0 => f64::INFINITY,
        Some(rule) => {
            let numbers = [
                ("GroupQuota", allocation.quotas[group]),
                ("GroupResourcesAllocated", allocation.allocated[group]),
                ("GroupResourcesInUse", usage[group]),
            ];
            let name = Value::string(tree.groups()[group].name.clone());
            let values = numbers.into_iter().map(|(name, number)| (name, Value::Real(number)));
            let values = values.chain([("AccountingGroup", name)]);
            let ad = values.map(|(name, value)| (Name::new(name), Expression::literal(value))).collect();
            let value = rule.evaluate(&ad, context).ok();
            value.as_ref().and_then(rank_number).unwrap_or(NO_GROUP_ORDER)
        }
        // The group that uses the smallest part of its quota comes first, groups without quota later, the root last.
        None if group == 0 => f64::INFINITY,
        None if allocation.quotas[group] > 0.0 => usage[group] / allocation.quotas[group],
        None => f64::MAX,
    };
    let mut order: Vec<(f64, usize)> = tree.breadth_first().into_iter().map(|group| (key(group), group)).collect();
    order.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    order.into_iter().map(|(_, group)| group).collect()
}
