//! Adds the attributes by which policies read priorities and usage to the ads of a cycle.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::eval::{Context, FreeNames};
use crate::matching::policy::{Policy, Share, WeightedShare};
use crate::protocol::{PRIORITY_SIDES, PriorityValue, priority_attributes};

use super::weight_accounts::WeightAccounts;
use super::{submitter_name, submitter_priority};

/// Adds the attributes of priorities and usage that the policy reads.
pub struct PriorityAttributes<'p> {
    share: Option<(&'p Share, &'p WeightedShare)>,
    context: &'p Context,
    reads: FreeNames,
}

impl<'p> PriorityAttributes<'p> {
    /// Finds the attributes that the policy reads. There are none without shares by weight.
    pub fn new(policy: &'p Policy, context: &'p Context) -> Self {
        let share = policy.share.as_ref().and_then(|share| Some((share, share.weighted.as_ref()?)));
        let reads = if share.is_some() { policy.free_names(context.dialect) } else { FreeNames::default() };
        PriorityAttributes { share, context, reads }
    }

    /// Returns the requests and offers with the attributes. `accounts` has the usage at the beginning of the cycle.
    pub fn add(
        &self,
        [requests, offers]: [Vec<Ad>; 2],
        accounts: &WeightAccounts,
        priority: &dyn Fn(&str) -> Option<f64>,
    ) -> [Vec<Ad>; 2] {
        let Some((share, weighted)) = self.share else { return [requests, offers] };
        // All ads of one user get the same attributes.
        let mut extensions: FxHashMap<(usize, String), AdExtension> = FxHashMap::default();
        let mut known: FxHashMap<(usize, String), Ad> = FxHashMap::default();
        let mut add = |ad: &Ad, side: usize, user: Option<String>| -> Ad {
            let Some(user) = user else { return ad.clone() };
            let make =
                || AdExtension::new(self.values(&user, PRIORITY_SIDES[side], (share, weighted), accounts, priority));
            let extension = extensions.entry((side, user.clone())).or_insert_with(make);
            known.entry((ad.identity(), user)).or_insert_with(|| extension.extend(ad)).clone()
        };
        let mut ads = [requests, offers];
        if self.are_read_of_requests() {
            for ad in &mut ads[0] {
                *ad = add(ad, 0, Some(submitter_name(share, ad, self.context)));
            }
        }
        if priority_attributes(PRIORITY_SIDES[1]).iter().any(|(name, _)| self.is_read(name)) {
            for (ad, user) in ads[1].iter_mut().zip(&accounts.users) {
                *ad = add(ad, 1, user.clone());
            }
        }
        ads
    }

    /// Whether the policy reads attributes that [`PriorityAttributes::add`] adds to requests.
    pub fn are_read_of_requests(&self) -> bool {
        priority_attributes(PRIORITY_SIDES[0]).iter().any(|(name, _)| self.is_read(name))
    }

    fn is_read(&self, name: &Name) -> bool {
        self.reads.reads_anything || self.reads.names.contains(name)
    }

    fn values(
        &self,
        user: &str,
        side: &str,
        (share, weighted): (&Share, &WeightedShare),
        accounts: &WeightAccounts,
        priority: &dyn Fn(&str) -> Option<f64>,
    ) -> Vec<(Name, Expression)> {
        let group = weighted.groups.group_of(user);
        let value = |value: PriorityValue| match value {
            PriorityValue::Priority => Some(Value::Real(submitter_priority(share, user, priority))),
            PriorityValue::Usage => Some(Value::Real(accounts.usage(user))),
            _ if group == 0 => None,
            PriorityValue::Group => Some(Value::string(weighted.groups.groups()[group].name.clone())),
            PriorityValue::GroupQuota => {
                let none = vec![0.0; weighted.groups.groups().len()];
                Some(Value::Real(weighted.groups.allocation(accounts.total, none).quotas[group]))
            }
            PriorityValue::GroupUsage => Some(Value::Real(accounts.group_usage[group])),
        };
        let read = priority_attributes(side).into_iter().filter(|(name, _)| self.is_read(name));
        read.filter_map(|(name, holds)| Some((name, Expression::literal(value(holds)?)))).collect()
    }
}
