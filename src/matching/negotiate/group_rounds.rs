//! Rounds of a cycle in which submitters share the weight of the pool, within the quotas of their groups, as HTCondor's
//! negotiator shares it (HTCondor's manual, "Negotiation Cycle" and "Group Accounting"; `Matchmaker::negotiateWithGroup`,
//! `GroupEntry::hgq_negotiate_with_all_groups`).

use rustc_hash::FxHashSet;

use crate::ad::Ad;
use crate::matching::policy::{AccountingGroup, GroupAllocation, PolicyFault, WeightedShare};

use super::Submitter;
use super::allowance::{Allowance, WeightAllowance};
use super::cycle::{Consideration, NegotiationCycle};
use super::event::{GroupBalance, NegotiationEvent};
use super::group_order::group_order;
use super::limit_record::{GroupMaximum, LimitRecord};
use super::weight_accounts::{WeightAccounts, weight};

/// What a group may use in a negotiation.
#[derive(Clone, Copy)]
struct GroupLimit {
    /// Index of the group. `None` if no quota holds: there are no groups, or the submitters negotiate as if they were in
    /// none.
    group: Option<usize>,
    /// Weight that the group may use, with what it uses already.
    quota: f64,
    /// Weight that the quota gives the group itself.
    own: f64,
}

impl GroupLimit {
    /// Returns what the group may use; `None` if no quota holds.
    fn maximum(self) -> Option<GroupMaximum> {
        self.group.map(|group| GroupMaximum { group, quota: self.own, maximum: self.quota, is_skipped: false })
    }
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
        let share = self.share;
        let tree = &share.groups;
        let count = tree.groups().len();
        let group_of: Vec<usize> = submitters.iter().map(|submitter| tree.group_of(&submitter.name)).collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (index, group) in group_of.iter().enumerate() {
            members[*group].push(index);
        }
        if count == 1 {
            self.note(|record, books| record.note_exhausted(books, submitters, &members, None));
            let everything = GroupLimit { group: None, quota: f64::INFINITY, own: f64::INFINITY };
            return self.negotiate_with(submitters, &mut members[0], everything);
        }
        let accounts = self.accounts();
        let (total, mut usage) = (accounts.total, accounts.group_usage.clone());
        let mut requested = usage.clone();
        for (submitter, group) in submitters.iter().zip(&group_of) {
            requested[*group] += submitter.requests.iter().map(|request| self.demand(*request)).sum::<f64>();
        }
        let demand_of = |member: &usize| self.cycle.open_demand(&submitters[*member]);
        let demands: Vec<usize> = members.iter().map(|members| members.iter().map(demand_of).sum()).collect();
        let regroups = tree.groups()[0].regroups;
        if regroups {
            let again = (1..count).filter(|group| tree.groups()[*group].regroups);
            let again: Vec<usize> = again.flat_map(|group| members[group].clone()).collect();
            members[0].extend(again);
        }
        let mut allocation = tree.allocation(total, requested);
        self.report_quotas(&allocation.quotas, &usage, &demands);
        let most = |group: usize| {
            let quota = allocation.quotas[group];
            [quota, tree.enforced(group, quota, &allocation, &usage)]
        };
        self.note(|record, books| record.note_exhausted(books, submitters, &members, Some(&most)));
        let mut had_turn = vec![false; count];
        for number in 1..=share.allocation_rounds {
            if number > 1 {
                self.cycle.report(NegotiationEvent::Allocation { number });
            }
            tree.allocate(&mut allocation);
            if regroups {
                allocation.quotas[0] = total;
                allocation.allocated[0] = total;
            }
            let order = group_order(share, &allocation, &usage, &self.cycle.settings.context);
            let some_accept_surplus = tree.groups().iter().skip(1).any(|group| group.accepts_surplus);
            let goals = if some_accept_surplus { &allocation.allocated } else { &allocation.quotas };
            // The largest weight that any group may still get.
            let most = goals.iter().zip(&usage).map(|(goal, used)| goal - used).fold(0.0, f64::max);
            // Groups that compete for the same offers take turns: in each, they may get a larger part of what they lack.
            let mut part = share.round_robin_rate.min(most);
            let turns = order.iter().copied().map(Some).chain([None]).cycle();
            for group in turns {
                let Some(group) = group else {
                    if part >= most {
                        break;
                    }
                    part = (part + share.round_robin_rate).min(most);
                    continue;
                };
                let used_up = usage[group] >= allocation.allocated[group] && !share.preempts;
                if allocation.allocated[group] <= 0.0 || used_up || members[group].is_empty() {
                    continue;
                }
                let target = f64::max(allocation.allocated[group], allocation.quotas[group]);
                // HTCondor negotiates for the whole part of the weight. If no group may get more, it divides by zero, and
                // a group that is below its quota gets nothing but slots that prefer its jobs.
                let may_share = most > 0.0 || target <= usage[group];
                let lacking = target - usage[group];
                let slots = if lacking > 0.0 { target.min(usage[group] + lacking * (part / most)) } else { target };
                let quota = if may_share {
                    tree.enforced(group, slots, &allocation, &self.accounts().group_usage).trunc()
                } else {
                    0.0
                };
                let is_free = regroups && group == 0;
                let name = &tree.groups()[group].name;
                let usage_now = self.accounts().group_usage[group];
                had_turn[group] = true;
                self.cycle.report(NegotiationEvent::Group {
                    name,
                    own: allocation.quotas[group],
                    quota,
                    usage: usage_now,
                });
                let limit = GroupLimit { group: (!is_free).then_some(group), quota, own: allocation.quotas[group] };
                self.negotiate_with(submitters, &mut members[group], limit)?;
            }
            usage.clone_from(&self.accounts().group_usage);
            let used_of_allocated = return_unused(&mut allocation, &usage);
            if used_of_allocated >= allocation.allocated.iter().sum() || self.cycle.is_over() {
                break;
            }
        }
        for group in (0..count).filter(|group| !had_turn[*group] && !members[*group].is_empty()) {
            let maximum = allocation.quotas[group].max(allocation.allocated[group]);
            let of = GroupMaximum { group, quota: allocation.quotas[group], maximum, is_skipped: true };
            self.skip_group(of, members[group].iter().map(|member| &submitters[*member]));
        }
        Ok(())
    }

    /// Reports a group that had no turn.
    fn skip_group<'s>(&mut self, of: GroupMaximum, members: impl Iterator<Item = &'s Submitter>) {
        let name = &self.share.groups.groups()[of.group].name;
        let usage = self.accounts().group_usage[of.group];
        self.cycle.report(NegotiationEvent::GroupSkipped { name, quota: of.quota, usage });
        self.note(|record, books| record.note_group(books, of, members));
    }

    /// Adds to the record of limits, if there is one.
    fn note(&mut self, add: impl FnOnce(&mut LimitRecord, (&WeightedShare, &WeightAccounts))) {
        if let Some(record) = &mut self.cycle.limits {
            add(record, (self.share, &self.cycle.ledger.weights));
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
            self.spin_pie(submitters, &mut below_floor, limit, true)?;
        }
        self.spin_pie(submitters, members, limit, false)
    }

    /// Divides the weight that is left among the submitters of a group again and again, until nobody gets anything more: the
    /// pie spins of HTCondor's manual.
    fn spin_pie(
        &mut self,
        submitters: &mut [Submitter],
        members: &mut Vec<usize>,
        limit: GroupLimit,
        is_floor_round: bool,
    ) -> Result<(), PolicyFault> {
        let share = self.share;
        for number in 1.. {
            let goes_beyond = number == 1 && share.preempts;
            let group_usage = self.group_usage(limit);
            let is_at_quota = |usage: f64| !goes_beyond && limit.group.is_some() && usage >= limit.quota;
            if is_at_quota(group_usage) {
                if !is_floor_round {
                    self.cycle.report(NegotiationEvent::QuotaReached { quota: limit.quota, usage: group_usage });
                }
                if let Some(maximum) = limit.maximum() {
                    let of_group = || members.iter().map(|member| &submitters[*member]);
                    self.note(|record, books| record.note_group(books, maximum, of_group()));
                }
                break;
            }
            if !share.preempts {
                members.retain(|member| self.cycle.open_demand(&submitters[*member]) > 0);
            }
            let pie = self.accounts().total.min(limit.quota);
            let whole: f64 = members.iter().map(|member| 1.0 / submitters[*member].priority).sum();
            let share_of = |accounts: &WeightAccounts, submitter: &Submitter| {
                let own = 1.0 / submitter.priority / whole * pie;
                let left = (own - accounts.usage(&submitter.name)).max(0.0);
                let of_group = limit.group.map_or(f64::INFINITY, |_| (limit.quota - group_usage).max(0.0));
                let unclaimed = left.min(of_group);
                (if share.preempts { left } else { unclaimed }, unclaimed)
            };
            let mut left: f64 = members.iter().map(|member| share_of(self.accounts(), &submitters[*member]).0).sum();
            if !share.preempts && left <= 0.0 {
                break;
            }
            if number == 1 {
                self.put_in_order(submitters, members, &share_of);
            }
            let (left_before, members_before) = (left, members.len());
            let of_group = limit.group.map_or(f64::INFINITY, |_| (limit.quota - group_usage).max(0.0));
            self.cycle.report(NegotiationEvent::Spin { number, weight: left.min(of_group) });
            let mut kept = Vec::new();
            for (place, member) in members.iter().enumerate() {
                if is_at_quota(self.group_usage(limit)) || self.cycle.is_ended {
                    kept.extend(&members[place..]);
                    break;
                }
                let submitter = &mut submitters[*member];
                let (claimed_limit, unclaimed_limit) = share_of(self.accounts(), submitter);
                let floor = share.floors.get(&submitter.name).filter(|_| is_floor_round);
                let claimed_limit = floor.map_or(claimed_limit, |floor| floor.min(claimed_limit));
                let allowance = WeightAllowance {
                    limit: claimed_limit.min(left),
                    unclaimed_limit: if is_floor_round { unclaimed_limit.min(claimed_limit) } else { unclaimed_limit },
                    ceiling: self.headroom(submitter),
                    goes_beyond,
                    ..WeightAllowance::default()
                };
                let smallest = self.accounts().smallest;
                if self.cycle.open_demand(submitter) == 0 {
                    continue;
                }
                if number > 1 && (allowance.limit < smallest || left < smallest) {
                    let (submitter, limit) = (submitter.name.as_str(), allowance.limit.min(left));
                    self.cycle.report(NegotiationEvent::ShareTooSmall { submitter, limit, smallest });
                    kept.push(*member);
                    continue;
                }
                if allowance.ceiling <= 0.0 || allowance.ceiling < smallest {
                    let submitter = submitter.name.as_str();
                    let ceiling = share.ceilings.get(submitter).copied().unwrap_or_default();
                    self.cycle.report(NegotiationEvent::CeilingReached { submitter, ceiling });
                    self.note(|record, books| record.note_turn(books, &submitters[*member], (None, 0.0)));
                    continue;
                }
                let own = claimed_limit + self.accounts().usage(&submitter.name);
                let (is_done, used) = self.run_weighted_turn(submitter, allowance)?;
                self.note(|record, books| record.note_turn(books, submitter, (limit.maximum(), own)));
                left -= used;
                if !is_done {
                    kept.push(*member);
                }
            }
            *members = kept;
            let is_idle = left >= left_before && members.len() >= members_before;
            if is_idle || members.is_empty() || is_floor_round || self.cycle.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Puts submitters in the order of their turns: by priority, then by the part of the share that they use already, then by
    /// name. `share_of` returns the weight that a submitter may still get. Records those that ask and are equal but for their
    /// names.
    fn put_in_order(
        &mut self,
        submitters: &[Submitter],
        members: &mut [usize],
        share_of: &dyn Fn(&WeightAccounts, &Submitter) -> (f64, f64),
    ) {
        let accounts = &self.cycle.ledger.weights;
        let key = |member: &usize| {
            let submitter = &submitters[*member];
            let usage = accounts.usage(&submitter.name);
            let all = usage + share_of(accounts, submitter).0;
            (submitter.priority, if all > 0.0 { usage / all } else { f64::MAX })
        };
        members.sort_by(|one, other| {
            let (one_key, other_key) = (key(one), key(other));
            let by_key = one_key.0.total_cmp(&other_key.0).then(one_key.1.total_cmp(&other_key.1));
            by_key.then_with(|| submitters[*one].name.cmp(&submitters[*other].name))
        });
        let is_asking = |member: &&usize| self.cycle.open_demand(&submitters[**member]) > 0;
        let asking: Vec<&usize> = members.iter().filter(is_asking).collect();
        let tied = asking.windows(2).filter(|pair| key(pair[0]) == key(pair[1])).flatten();
        let tied: Vec<String> = tied.map(|member| submitters[**member].name.clone()).collect();
        self.cycle.outcome.tied_submitters.extend(tied);
    }

    /// Serves the requests of a submitter. Returns whether the submitter got all that it can get, and the weight that it
    /// got.
    fn run_weighted_turn(
        &mut self,
        submitter: &mut Submitter,
        allowance: WeightAllowance,
    ) -> Result<(bool, f64), PolicyFault> {
        let (usage, requests) = (self.accounts().usage(&submitter.name), self.cycle.open_demand(submitter));
        self.cycle.report(NegotiationEvent::WeightedTurn {
            submitter: &submitter.name,
            priority: submitter.priority,
            limit: allowance.unclaimed_limit.min(allowance.limit).min(allowance.ceiling),
            usage,
            requests,
        });
        let mut allowance = Allowance::Weight(allowance);
        // The autoclusters that got nothing in this turn because of a share or a limit.
        let mut deferred: FxHashSet<usize> = FxHashSet::default();
        // The autocluster of the run of requests, and how many of its further requests the last offer covers.
        let (mut run, mut covered) = (None, 0);
        for request in submitter.requests.iter().copied() {
            let remaining = self.cycle.requests[request].remaining;
            if remaining == 0 {
                continue;
            }
            let (cluster, own) = (self.cycle.cluster_of(request), self.cycle.cluster_of[request]);
            if run.replace(own) != Some(own) {
                covered = 0;
                self.cycle.run_head = Some(request);
            }
            let mut waiting = remaining.min(covered);
            covered -= waiting;
            while self.cycle.is_open(request)
                && self.cycle.requests[request].remaining > waiting
                && !self.cycle.is_over()
                && !deferred.contains(&cluster)
            {
                if allowance.is_used_up() {
                    submitter.granted += allowance.granted();
                    return Ok((false, allowance.weight_used()));
                }
                match self.cycle.consider(request, &submitter.name, &mut allowance)? {
                    Consideration::Granted => {
                        covered = self.cycle.covered_by_last();
                        let here = covered.min(self.cycle.requests[request].remaining - waiting);
                        (waiting, covered) = (waiting + here, covered - here);
                    }
                    Consideration::Deferred => _ = deferred.insert(cluster),
                    Consideration::Failed => {}
                }
            }
        }
        submitter.granted += allowance.granted();
        Ok((!allowance.was_limited(), allowance.weight_used()))
    }

    /// Returns the weight that a submitter may still get until it reaches its ceiling.
    fn headroom(&self, submitter: &Submitter) -> f64 {
        let used = self.accounts().usage(&submitter.name).trunc();
        self.share.ceilings.get(&submitter.name).map_or(f64::INFINITY, |ceiling| (ceiling - used).max(0.0))
    }

    /// Returns the weight that a request and its units ask for.
    #[allow(clippy::cast_precision_loss)] // a count of offers
    fn demand(&self, request: usize) -> f64 {
        let one =
            |ad: &Ad| self.share.demand.as_ref().map_or(1.0, |rule| weight(rule, ad, &self.cycle.settings.context));
        one(&self.cycle.ads[request]) * self.cycle.requests[request].remaining as f64
    }

    /// Returns what a group uses; 0 if no quota holds.
    fn group_usage(&self, limit: GroupLimit) -> f64 {
        limit.group.map_or(0.0, |group| self.accounts().group_usage[group])
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
