//! Which limits of the accounting keep requests from offers, while a cycle runs.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::matching::policy::WeightedShare;

use super::Submitter;
use super::accounting_limit::{AccountingLimit, GroupUse, SubmitterUse};
use super::event::NegotiationEvent;
use super::weight_accounts::WeightAccounts;

/// The limits that a cycle reached, the last ones of each autocluster and of each submitter.
#[derive(Default)]
pub struct LimitRecord {
    /// The concurrency limit of an autocluster, by index.
    of_clusters: FxHashMap<usize, TurnLimit>,
    /// What ended the turns of a submitter, by name.
    of_submitters: FxHashMap<String, Arc<AccountingLimit>>,
    /// What each group used before the cycle.
    groups_before: Vec<f64>,
    /// What each submitter used before the cycle.
    submitters_before: FxHashMap<String, f64>,
}

/// A limit that ended the turn of a request, or of requests like it.
#[derive(Clone, Debug)]
pub struct TurnLimit {
    /// The limit.
    pub limit: Arc<AccountingLimit>,
    /// Whether it is the limit that keeps the request from offers. Without one that decides, the request would get nothing
    /// either: no offer that suits it is free.
    pub decides: bool,
}

/// What a group may use.
#[derive(Clone, Copy)]
pub struct GroupMaximum {
    /// Index of the group.
    pub group: usize,
    /// What the quota gives the group.
    pub quota: f64,
    /// What the group may use, with surplus.
    pub maximum: f64,
    /// Whether the cycle negotiated with the group in no round.
    pub is_skipped: bool,
}

/// What a submitter may use.
#[derive(Clone, Copy)]
pub enum SubmitterMaximum {
    Ceiling(f64),
    Share(f64),
}

impl LimitRecord {
    /// Opens the record at the beginning of a cycle.
    pub fn new(accounts: &WeightAccounts, submitters: &[Submitter]) -> Self {
        let used = |submitter: &Submitter| (submitter.name.clone(), accounts.usage(&submitter.name));
        LimitRecord {
            groups_before: accounts.group_usage.clone(),
            submitters_before: submitters.iter().map(used).collect(),
            ..LimitRecord::default()
        }
    }

    /// Records the groups and the submitters that use all that they may use before the cycle begins. `members` are the
    /// submitters of each group; without `quotas` of groups, no group has one.
    pub fn note_exhausted(
        &mut self,
        (share, accounts): (&WeightedShare, &WeightAccounts),
        submitters: &[Submitter],
        members: &[Vec<usize>],
        quotas: Option<&dyn Fn(usize) -> [f64; 2]>,
    ) {
        for (group, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
            let accepts_surplus = share.groups.groups()[group].accepts_surplus;
            let quotas = quotas.filter(|_| group > 0 && !accepts_surplus).map(|quotas| quotas(group));
            if let Some([quota, maximum]) = quotas.filter(|[_, most]| accounts.group_usage[group] >= most.trunc()) {
                let of = GroupMaximum { group, quota, maximum, is_skipped: false };
                self.note_group((share, accounts), of, members.iter().map(|member| &submitters[*member]));
            }
        }
        for submitter in submitters {
            if let Some(ceiling) = share.ceilings.get(&submitter.name)
                && is_used_up(*ceiling, accounts.usage(&submitter.name), accounts.smallest)
            {
                self.note_submitter(accounts, submitter, SubmitterMaximum::Ceiling(*ceiling));
            }
        }
    }

    /// Records what ended the turn of a submitter whose group may use `group`, and which may use `own` by its priority.
    pub fn note_turn(
        &mut self,
        (share, accounts): (&WeightedShare, &WeightAccounts),
        submitter: &Submitter,
        (group, own): (Option<GroupMaximum>, f64),
    ) {
        let is_full = |of: &GroupMaximum| is_used_up(of.maximum, accounts.group_usage[of.group], accounts.smallest);
        let ceiling = share.ceilings.get(&submitter.name).copied();
        let ceiling = ceiling.filter(|most| is_used_up(*most, accounts.usage(&submitter.name), accounts.smallest));
        match (ceiling, group.filter(is_full)) {
            (Some(ceiling), _) => self.note_submitter(accounts, submitter, SubmitterMaximum::Ceiling(ceiling)),
            (None, Some(group)) => self.note_group((share, accounts), group, std::iter::once(submitter)),
            (None, None) => self.note_submitter(accounts, submitter, SubmitterMaximum::Share(own)),
        }
    }

    /// Records the concurrency limit that an event tells of. A request that is considered again later may then find nothing
    /// free; the limit that kept it from a free offer stays.
    pub fn note_event(&mut self, event: &NegotiationEvent<'_>, cluster_of: impl Fn(usize) -> usize) {
        let NegotiationEvent::Rejected { request, refusals, .. } = event else { return };
        let cluster = cluster_of(*request);
        if self.of_clusters.get(&cluster).is_some_and(|known| !known.decides) {
            self.of_clusters.remove(&cluster);
        }
        if let Some(limit) = &refusals.limit {
            let limit = AccountingLimit::Concurrency(limit.clone());
            let decides = refusals.limit_keeps_free || limit.holds_before_cycle();
            let reached = TurnLimit { limit: Arc::new(limit), decides };
            if decides || !self.of_clusters.contains_key(&cluster) {
                self.of_clusters.insert(cluster, reached);
            }
        }
    }

    /// Records that a group uses all that it may use, so that these submitters get nothing.
    pub fn note_group<'s>(
        &mut self,
        (share, accounts): (&WeightedShare, &WeightAccounts),
        GroupMaximum { group, quota, maximum, is_skipped }: GroupMaximum,
        submitters: impl Iterator<Item = &'s Submitter>,
    ) {
        let (known, usage) = (&share.groups.groups()[group], accounts.group_usage[group]);
        let before = self.groups_before.get(group).copied().unwrap_or_default();
        let limit = Arc::new(AccountingLimit::Group(GroupUse {
            group: known.name.clone(),
            quota,
            maximum,
            usage,
            given: usage - before,
            accepts_surplus: known.accepts_surplus,
            is_skipped,
        }));
        self.of_submitters.extend(submitters.map(|submitter| (submitter.name.clone(), Arc::clone(&limit))));
    }

    /// Records that a submitter uses all that it may use.
    pub fn note_submitter(&mut self, accounts: &WeightAccounts, of: &Submitter, maximum: SubmitterMaximum) {
        let usage = accounts.usage(&of.name);
        let before = self.submitters_before.get(&of.name).copied().unwrap_or_default();
        let used = |maximum| SubmitterUse {
            submitter: of.name.clone(),
            priority: of.priority,
            maximum,
            usage,
            given: usage - before,
            smallest: accounts.smallest,
        };
        let limit = match maximum {
            SubmitterMaximum::Ceiling(maximum) => AccountingLimit::Ceiling(used(maximum)),
            SubmitterMaximum::Share(maximum) => AccountingLimit::Share(used(maximum)),
        };
        self.of_submitters.insert(of.name.clone(), Arc::new(limit));
    }

    /// Returns the limit that ended the turn of a request. `is_open` tells whether the request might get an offer without the
    /// share of its submitter.
    pub fn limit(&self, cluster: usize, submitter: &str, is_open: bool) -> Option<TurnLimit> {
        let of_cluster = self.of_clusters.get(&cluster).cloned();
        if of_cluster.as_ref().is_some_and(|known| known.decides) {
            return of_cluster;
        }
        let of_submitter = self.of_submitters.get(submitter).and_then(|limit| {
            let decides = match limit.as_ref() {
                AccountingLimit::Share(of) if of.usage + of.smallest <= of.maximum => return None,
                AccountingLimit::Share(_) => is_open,
                _ => true,
            };
            Some(TurnLimit { limit: Arc::clone(limit), decides })
        });
        of_submitter.filter(|known| known.decides || of_cluster.is_none()).or(of_cluster)
    }
}

/// Whether no offer fits in what is left of a maximum. Ceilings count whole weights in use, as in HTCondor.
fn is_used_up(maximum: f64, usage: f64, smallest: f64) -> bool {
    let left = maximum - usage.trunc();
    left <= 0.0 || left < smallest
}
