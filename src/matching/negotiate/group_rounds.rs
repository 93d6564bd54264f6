//! Rounds of a cycle in which submitters share the weight of the pool, within the quotas of their groups, as HTCondor's
//! negotiator shares it (HTCondor's manual, "Negotiation Cycle" and "Group Accounting"; `Matchmaker::negotiateWithGroup`,
//! `GroupEntry::hgq_negotiate_with_all_groups`).

use crate::ad::Ad;
use crate::matching::policy::{AccountingGroup, GroupAllocation, PolicyFault, WeightedShare};

use super::Submitter;
use super::cycle::NegotiationCycle;
use super::event::{GroupBalance, NegotiationEvent};
use super::group_order::group_order;
use super::limit_record::GroupMaximum;
use super::pie::{GroupLimit, Pie};
use super::weight_accounts::{WeightAccounts, weight};

/// The submitters and the weight of each group. All lists are by index of the group.
struct DividedGroups {
    /// Indexes of the submitters that negotiate as members of the group, and did not yet get all that they can get.
    members: Vec<Vec<usize>>,
    allocation: GroupAllocation,
    /// Weight that the group uses at the beginning of a round.
    usage: Vec<f64>,
    had_turn: Vec<bool>,
}

/// Rounds of a cycle in which submitters share by weight.
pub struct GroupRounds<'r, 'c> {
    cycle: &'r mut NegotiationCycle<'c>,
    share: &'r WeightedShare,
}

impl<'r, 'c> GroupRounds<'r, 'c> {
    /// Prepares the rounds of a cycle with these shares.
    pub fn new(cycle: &'r mut NegotiationCycle<'c>, share: &'r WeightedShare) -> Self {
        GroupRounds { cycle, share }
    }

    /// Returns what submitters and groups use.
    pub fn accounts(&self) -> &WeightAccounts {
        &self.cycle.ledger.weights
    }

    /// Negotiates with all groups, in up to as many rounds as the policy allows.
    pub fn run(&mut self, submitters: &mut [Submitter]) -> Result<(), PolicyFault> {
        let (share, tree) = (self.share, &self.share.groups);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); tree.groups().len()];
        for (index, submitter) in submitters.iter().enumerate() {
            members[tree.group_of(&submitter.name)].push(index);
        }
        if let [all] = members.as_mut_slice() {
            let members = std::slice::from_ref(all);
            self.cycle.note_limits(share, |record, books| record.note_exhausted(books, submitters, members, None));
            let everything = GroupLimit { group: None, quota: f64::INFINITY, own: f64::INFINITY };
            return self.negotiate_with(submitters, all, everything);
        }
        let mut groups = self.divide(submitters, members);
        for number in 1..=share.allocation_rounds {
            if number > 1 {
                self.cycle.report(NegotiationEvent::Allocation { number });
            }
            tree.allocate(&mut groups.allocation);
            if tree.groups()[0].regroups {
                let total = self.accounts().total;
                groups.allocation.quotas[0] = total;
                groups.allocation.allocated[0] = total;
            }
            self.run_round(submitters, &mut groups)?;
            groups.usage.clone_from(&self.accounts().group_usage);
            let used_of_allocated = return_unused(&mut groups.allocation, &groups.usage);
            if used_of_allocated >= groups.allocation.allocated.iter().sum() || self.cycle.is_over() {
                break;
            }
        }
        self.skip_groups(submitters, &groups);
        Ok(())
    }

    /// Divides the submitters and the weight of the pool among the groups, and reports the quotas. `members` has the
    /// submitters of each group by their own names.
    fn divide(&mut self, submitters: &[Submitter], mut members: Vec<Vec<usize>>) -> DividedGroups {
        let (share, tree) = (self.share, &self.share.groups);
        let (total, usage) = (self.accounts().total, self.accounts().group_usage.clone());
        let mut requested = usage.clone();
        for (members, requested) in members.iter().zip(&mut requested) {
            for member in members {
                let requests = &submitters[*member].requests;
                *requested += requests.iter().map(|request| self.demand(*request)).sum::<f64>();
            }
        }
        let demand_of = |member: &usize| self.cycle.open_demand(&submitters[*member]);
        let demands: Vec<usize> = members.iter().map(|members| members.iter().map(demand_of).sum()).collect();
        if tree.groups()[0].regroups {
            let again = (1..members.len()).filter(|group| tree.groups()[*group].regroups);
            let again: Vec<usize> = again.flat_map(|group| members[group].clone()).collect();
            members[0].extend(again);
        }
        let allocation = tree.allocation(total, requested);
        self.report_quotas(&allocation.quotas, &usage, &demands);
        let most = |group: usize| {
            let quota = allocation.quotas[group];
            [quota, tree.enforced(group, quota, &allocation, &usage)]
        };
        self.cycle.note_limits(share, |record, books| record.note_exhausted(books, submitters, &members, Some(&most)));
        DividedGroups { had_turn: vec![false; members.len()], members, allocation, usage }
    }

    /// Lets the groups negotiate in turns, until none may get more of what is allocated to it. Groups that compete for the
    /// same offers get a larger part of what they lack in each turn.
    fn run_round(&mut self, submitters: &mut [Submitter], groups: &mut DividedGroups) -> Result<(), PolicyFault> {
        let DividedGroups { allocation, usage, .. } = groups;
        let order = group_order(self.share, allocation, usage, &self.cycle.settings.context);
        let accept_surplus = self.share.groups.groups().iter().skip(1).any(|group| group.accepts_surplus);
        let goals = if accept_surplus { &allocation.allocated } else { &allocation.quotas };
        // The largest weight that any group may still get.
        let most = goals.iter().zip(&*usage).map(|(goal, used)| goal - used).fold(0.0, f64::max);
        let mut part = self.share.round_robin_rate.min(most);
        loop {
            for group in &order {
                self.run_turn(submitters, groups, *group, [part, most])?;
            }
            if part >= most {
                return Ok(());
            }
            part = (part + self.share.round_robin_rate).min(most);
        }
    }

    /// Negotiates with a group that has something left to get. It may get `part` of `most` of what it lacks.
    fn run_turn(
        &mut self,
        submitters: &mut [Submitter],
        groups: &mut DividedGroups,
        group: usize,
        [part, most]: [f64; 2],
    ) -> Result<(), PolicyFault> {
        let tree = &self.share.groups;
        let DividedGroups { members, allocation, usage, had_turn } = groups;
        let (own, allocated, used) = (allocation.quotas[group], allocation.allocated[group], usage[group]);
        let is_used_up = used >= allocated && !self.share.preempts;
        if allocated <= 0.0 || is_used_up || members[group].is_empty() {
            return Ok(());
        }
        let target = f64::max(allocated, own);
        // HTCondor negotiates for the whole part of the weight. If no group may get more, it divides by zero, and a group
        // that is below its quota gets nothing but slots that prefer its jobs.
        let may_share = most > 0.0 || target <= used;
        let lacking = target - used;
        let slots = if lacking > 0.0 { target.min(used + lacking * (part / most)) } else { target };
        let quota =
            if may_share { tree.enforced(group, slots, allocation, &self.accounts().group_usage).trunc() } else { 0.0 };
        had_turn[group] = true;
        let (name, usage) = (&tree.groups()[group].name, self.accounts().group_usage[group]);
        self.cycle.report(NegotiationEvent::Group { name, own, quota, usage });
        let is_free = group == 0 && tree.groups()[0].regroups;
        let limit = GroupLimit { group: (!is_free).then_some(group), quota, own };
        self.negotiate_with(submitters, &mut members[group], limit)
    }

    /// Reports the groups with submitters that had no turn.
    fn skip_groups(&mut self, submitters: &[Submitter], groups: &DividedGroups) {
        let DividedGroups { members, allocation, had_turn, .. } = groups;
        for (group, members) in members.iter().enumerate().filter(|(group, of)| !had_turn[*group] && !of.is_empty()) {
            let maximum = allocation.quotas[group].max(allocation.allocated[group]);
            let of = GroupMaximum { group, quota: allocation.quotas[group], maximum, is_skipped: true };
            let name = &self.share.groups.groups()[group].name;
            let usage = self.accounts().group_usage[group];
            self.cycle.report(NegotiationEvent::GroupSkipped { name, quota: of.quota, usage });
            let members = members.iter().map(|member| &submitters[*member]);
            self.cycle.note_limits(self.share, |record, books| record.note_group(books, of, members));
        }
    }

    /// Reports what each group has, uses and asks for. All slices are by index of the group.
    fn report_quotas(&mut self, quotas: &[f64], usage: &[f64], demands: &[usize]) {
        let groups = self.share.groups.groups().iter().zip(quotas).zip(usage).zip(demands);
        let balance = |(((group, quota), usage), requests): (((&'r AccountingGroup, &f64), &f64), &usize)| {
            GroupBalance { name: &group.name, quota: *quota, usage: *usage, requests: *requests }
        };
        let groups: Vec<GroupBalance<'_>> = groups.map(balance).collect();
        self.cycle.report(NegotiationEvent::Quotas { groups: &groups });
    }

    /// Negotiates with submitters that are below their floors, then with all submitters of a group. Removes those that got
    /// all that they can get.
    fn negotiate_with(
        &mut self,
        submitters: &mut [Submitter],
        members: &mut Vec<usize>,
        limit: GroupLimit,
    ) -> Result<(), PolicyFault> {
        let is_below_floor = |member: &usize| {
            let name = &submitters[*member].name;
            self.share.floors.get(name).is_some_and(|floor| self.accounts().usage(name) < *floor)
        };
        let mut below_floor: Vec<usize> = members.iter().copied().filter(is_below_floor).collect();
        if !below_floor.is_empty() {
            Pie::of_floors(self.cycle, self.share, limit).spin(submitters, &mut below_floor)?;
        }
        Pie::new(self.cycle, self.share, limit).spin(submitters, members)
    }

    /// Returns the weight that a request and its units ask for.
    #[allow(clippy::cast_precision_loss)] // a count of offers
    fn demand(&self, request: usize) -> f64 {
        let one =
            |ad: &Ad| self.share.demand.as_ref().map_or(1.0, |rule| weight(rule, ad, &self.cycle.settings.context));
        one(&self.cycle.ads[request]) * self.cycle.requests[request].remaining as f64
    }
}

/// Lets others have what groups could not use of their allocations. Returns the weight that they used of them.
fn return_unused(allocation: &mut GroupAllocation, usage: &[f64]) -> f64 {
    let mut used_of_allocated = 0.0;
    for (group, used) in usage.iter().enumerate() {
        used_of_allocated += f64::min(*used, allocation.allocated[group]);
        if *used < allocation.allocated[group] {
            allocation.requested[group] = *used;
        } else {
            allocation.requested[group] += allocation.allocated[group];
        }
    }
    used_of_allocated
}
