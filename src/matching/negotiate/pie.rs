//! The weight that the submitters of a group share, divided among them again and again: the pie spins of HTCondor's manual
//! (`Matchmaker::negotiateWithGroup`).

use rustc_hash::FxHashSet;

use crate::matching::policy::{PolicyFault, WeightedShare};

use super::Submitter;
use super::allowance::{Allowance, WeightAllowance};
use super::cycle::{Consideration, NegotiationCycle};
use super::event::NegotiationEvent;
use super::limit_record::GroupMaximum;
use super::weight_accounts::WeightAccounts;

/// What a group may use in a negotiation.
#[derive(Clone, Copy)]
pub struct GroupLimit {
    /// Index of the group. `None` if no quota holds: there are no groups, or the submitters negotiate as if they were in
    /// none.
    pub group: Option<usize>,
    /// Weight that the group may use, with what it uses already.
    pub quota: f64,
    /// Weight that the quota gives the group itself.
    pub own: f64,
}

impl GroupLimit {
    /// Returns what the group may use; `None` if no quota holds.
    fn maximum(self) -> Option<GroupMaximum> {
        self.group.map(|group| GroupMaximum { group, quota: self.own, maximum: self.quota, is_skipped: false })
    }
}

/// What the submitters of a group share.
pub struct Pie<'p, 'c> {
    cycle: &'p mut NegotiationCycle<'c>,
    share: &'p WeightedShare,
    limit: GroupLimit,
    /// Whether the submitters get no more than their floors.
    is_of_floors: bool,
}

/// One division of a pie.
struct PieSpin {
    /// 1 for the first one.
    number: usize,
    /// Whether the submitters may get more than the quota of their group, by preemption.
    goes_beyond: bool,
    /// Whether what is claimed already counts as left.
    preempts: bool,
    /// Weight that is divided.
    pie: f64,
    /// Sum of the parts of all submitters: of 1 / priority.
    whole: f64,
    /// Weight that the group may still get.
    left_of_group: f64,
    /// Weight that is left for the submitters.
    left: f64,
}

impl PieSpin {
    /// Returns the weight that a submitter may still get, and how much of it from offers that nobody uses.
    fn share_of(&self, accounts: &WeightAccounts, submitter: &Submitter) -> (f64, f64) {
        let own = 1.0 / submitter.priority / self.whole * self.pie;
        let left = (own - accounts.usage(&submitter.name)).max(0.0);
        let unclaimed = left.min(self.left_of_group);
        (if self.preempts { left } else { unclaimed }, unclaimed)
    }
}

impl<'p, 'c> Pie<'p, 'c> {
    /// Makes the pie of a group.
    pub fn new(cycle: &'p mut NegotiationCycle<'c>, share: &'p WeightedShare, limit: GroupLimit) -> Self {
        Pie { cycle, share, limit, is_of_floors: false }
    }

    /// Makes the pie of which submitters get no more than their floors.
    pub fn of_floors(cycle: &'p mut NegotiationCycle<'c>, share: &'p WeightedShare, limit: GroupLimit) -> Self {
        Pie { is_of_floors: true, ..Pie::new(cycle, share, limit) }
    }

    /// Divides the pie until nobody gets anything more; once for floors. `members` are the indexes of the submitters that
    /// share it. Removes those that got all that they can get.
    pub fn spin(&mut self, submitters: &mut [Submitter], members: &mut Vec<usize>) -> Result<(), PolicyFault> {
        let preempts = self.share.preempts;
        for number in 1.. {
            let goes_beyond = number == 1 && preempts;
            if self.is_at_quota(goes_beyond) {
                self.tell_quota(submitters, members);
                break;
            }
            if !preempts {
                members.retain(|member| self.cycle.open_demand(&submitters[*member]) > 0);
            }
            let mut spin = self.spin_for(number, submitters, members);
            if !preempts && spin.left <= 0.0 {
                break;
            }
            if number == 1 {
                self.put_in_order(submitters, members, &spin);
            }
            let before = (spin.left, members.len());
            self.cycle.report(NegotiationEvent::Spin { number, weight: spin.left.min(spin.left_of_group) });
            self.serve(&mut spin, submitters, members)?;
            let is_idle = spin.left >= before.0 && members.len() >= before.1;
            if is_idle || members.is_empty() || self.is_of_floors || self.cycle.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Begins to divide the pie once more.
    fn spin_for(&self, number: usize, submitters: &[Submitter], members: &[usize]) -> PieSpin {
        let (share, limit) = (self.share, self.limit);
        let left_of_group = limit.group.map_or(f64::INFINITY, |_| (limit.quota - self.group_usage()).max(0.0));
        let mut spin = PieSpin {
            number,
            goes_beyond: number == 1 && share.preempts,
            preempts: share.preempts,
            pie: self.accounts().total.min(limit.quota),
            whole: members.iter().map(|member| 1.0 / submitters[*member].priority).sum(),
            left_of_group,
            left: 0.0,
        };
        let shares = members.iter().map(|member| spin.share_of(self.accounts(), &submitters[*member]).0);
        // The sum of nothing is -0.
        spin.left = shares.sum::<f64>() + 0.0;
        spin
    }

    /// Serves all members in their order, until the group has its quota. Removes those that got all that they can get.
    fn serve(
        &mut self,
        spin: &mut PieSpin,
        submitters: &mut [Submitter],
        members: &mut Vec<usize>,
    ) -> Result<(), PolicyFault> {
        let mut kept = Vec::new();
        for (place, member) in members.iter().enumerate() {
            if self.is_at_quota(spin.goes_beyond) || self.cycle.is_ended {
                kept.extend(&members[place..]);
                break;
            }
            if self.serve_one(spin, &mut submitters[*member])? {
                kept.push(*member);
            }
        }
        *members = kept;
        Ok(())
    }

    /// Serves a submitter, if its share suffices. Returns whether it may get more in another spin.
    fn serve_one(&mut self, spin: &mut PieSpin, submitter: &mut Submitter) -> Result<bool, PolicyFault> {
        if self.cycle.open_demand(submitter) == 0 {
            return Ok(false);
        }
        let (share, smallest) = (self.share, self.accounts().smallest);
        let (claimed_limit, unclaimed_limit) = spin.share_of(self.accounts(), submitter);
        let floor = share.floors.get(&submitter.name).filter(|_| self.is_of_floors);
        let claimed_limit = floor.map_or(claimed_limit, |floor| floor.min(claimed_limit));
        let allowance = WeightAllowance {
            limit: claimed_limit.min(spin.left),
            unclaimed_limit: if self.is_of_floors { unclaimed_limit.min(claimed_limit) } else { unclaimed_limit },
            ceiling: self.headroom(submitter),
            goes_beyond: spin.goes_beyond,
            ..WeightAllowance::default()
        };
        if spin.number > 1 && (allowance.limit < smallest || spin.left < smallest) {
            let (submitter, limit) = (submitter.name.as_str(), allowance.limit.min(spin.left));
            self.cycle.report(NegotiationEvent::ShareTooSmall { submitter, limit, smallest });
            return Ok(true);
        }
        if allowance.ceiling <= 0.0 || allowance.ceiling < smallest {
            let ceiling = share.ceilings.get(&submitter.name).copied().unwrap_or_default();
            self.cycle.report(NegotiationEvent::CeilingReached { submitter: &submitter.name, ceiling });
            self.cycle.note_limits(share, |record, books| record.note_turn(books, submitter, (None, 0.0)));
            return Ok(false);
        }
        let own = claimed_limit + self.accounts().usage(&submitter.name);
        let (is_done, used) = self.run_weighted_turn(submitter, allowance)?;
        let maximum = self.limit.maximum();
        self.cycle.note_limits(share, |record, books| record.note_turn(books, submitter, (maximum, own)));
        spin.left -= used;
        Ok(!is_done)
    }

    /// Puts submitters in the order of their turns: by priority, then by the part of the share that they use already, then by
    /// name. Records those that ask and are equal but for their names.
    fn put_in_order(&mut self, submitters: &[Submitter], members: &mut [usize], spin: &PieSpin) {
        let accounts = &self.cycle.ledger.weights;
        let key = |member: &usize| {
            let submitter = &submitters[*member];
            let usage = accounts.usage(&submitter.name);
            let all = usage + spin.share_of(accounts, submitter).0;
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

    /// Returns what submitters and groups use.
    fn accounts(&self) -> &WeightAccounts {
        &self.cycle.ledger.weights
    }

    /// Returns what the group uses; 0 if no quota holds.
    fn group_usage(&self) -> f64 {
        self.limit.group.map_or(0.0, |group| self.accounts().group_usage[group])
    }

    /// Whether the group has all that its quota allows.
    fn is_at_quota(&self, goes_beyond: bool) -> bool {
        !goes_beyond && self.limit.group.is_some() && self.group_usage() >= self.limit.quota
    }

    /// Reports that the group has all that its quota allows.
    fn tell_quota(&mut self, submitters: &[Submitter], members: &[usize]) {
        if !self.is_of_floors {
            let (quota, usage) = (self.limit.quota, self.group_usage());
            self.cycle.report(NegotiationEvent::QuotaReached { quota, usage });
        }
        if let Some(maximum) = self.limit.maximum() {
            let members = members.iter().map(|member| &submitters[*member]);
            self.cycle.note_limits(self.share, |record, books| record.note_group(books, maximum, members));
        }
    }
}
