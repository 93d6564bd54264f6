//! Ready policies, and what a configuration of HTCondor sets in a policy.

use std::collections::BTreeMap;

use crate::configuration::{Configuration, ConfigurationEntry, constant_number};
use crate::eval::Context;
use crate::format::Problem;

use super::usage::Accountant;
use super::{AccountingGroup, ConcurrencyLimits, GroupQuota, GroupTree, Policy, PriorityFactors};

/// The ready policies: name and text.
pub const READY_POLICIES: [(&str, &str); 1] = [("htcondor", include_str!("ready/htcondor.yaml"))];

/// Returns the text of a ready policy; `None` if there is none of this name.
#[must_use]
pub fn ready_policy(name: &str) -> Option<&'static str> {
    READY_POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Sets the groups and limits of a policy from a configuration: `GROUP_NAMES` and what belongs to it, if the policy
/// has shares by weight, and the variables `..._LIMIT`, if it has limits.
///
/// Returns the names of the groups that are left out, because they are named twice or their parents are missing.
///
/// # Errors
///
/// The problems of the variables, with their ranges in the configuration.
pub fn configure(
    policy: &mut Policy,
    configuration: &Configuration,
    context: &Context,
) -> Result<Vec<String>, Vec<Problem>> {
    let mut reader = KnobReader::new(configuration, context);
    let mut left_out = Vec::new();
    if let Some(weighted) = policy.share.as_mut().and_then(|share| share.weighted.as_mut()) {
        weighted.factors = reader.priority_factors();
        weighted.round_robin_rate = reader.round_robin_rate();
        let groups = reader.groups();
        if !groups.is_empty() {
            let oversubscribes = weighted.groups.oversubscribes;
            let (tree, faults) = GroupTree::new(groups);
            (weighted.groups, left_out) = (tree.with_oversubscription(oversubscribes), faults);
        }
    }
    if let Some(limits) = &mut policy.limits {
        reader.add_maxima(limits);
    }
    if let Some(leftovers) = &mut policy.leftovers {
        // Both daemons must use leftovers; a dump may have settings of their own.
        let of_all = leftovers.are_used;
        let uses = |daemon: &str| reader.truth(&format!("{daemon}.CLAIM_PARTITIONABLE_LEFTOVERS"), of_all);
        leftovers.are_used = ["SCHEDD", "STARTD"].map(uses).into_iter().all(|uses| uses);
    }
    if reader.problems.is_empty() { Ok(left_out) } else { Err(reader.problems) }
}

/// Beginning of the names of the variables that set factors of priorities of groups.
const GROUP_FACTOR: &str = "GROUP_PRIO_FACTOR_";

/// Factor of the priorities of submitters that are not local, by default.
const REMOTE_FACTOR: f64 = 1e7;

/// Sum of dynamic quotas, as a part of the whole, above which HTCondor divides each by the sum. The difference to 1 is
/// for rounding.
const MAX_DYNAMIC_QUOTAS: f64 = 1.0 + 1e-9;

/// Returns the problems of the negotiator's settings in a configuration: as errors, what the ready policy cannot use; as
/// warnings, groups that are left out or have no quota, and quotas of more than the whole.
#[must_use]
pub fn negotiator_problems(configuration: &Configuration, context: &Context) -> Vec<Problem> {
    let mut reader = KnobReader::new(configuration, context);
    let groups = reader.groups();
    for name in
        ["NEGOTIATOR_CONSIDER_PREEMPTION", "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", "NEGOTIATOR_USE_SLOT_WEIGHTS"]
    {
        reader.truth(name, false);
    }
    for name in ["GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", "CONCURRENCY_LIMIT_DEFAULT"] {
        reader.number_of(name);
    }
    let mut problems = reader.problems;
    let Some(list) = configuration.entry("GROUP_NAMES") else { return problems };
    let mut warn = |message: String| {
        let message = format!("{}: {message}", list.name);
        problems.push(Problem::error_at(list.value_range.clone(), 0, message).as_warning());
    };
    let (tree, left_out) = GroupTree::new(groups);
    let (mut dynamic, mut fixed): (BTreeMap<String, f64>, BTreeMap<String, f64>) = Default::default();
    // The first group is the root.
    for group in tree.groups().iter().skip(1) {
        let parent = group.name.rsplit_once('.').map_or("", |(parent, _)| parent).to_ascii_lowercase();
        let is_set = |prefix: &str| configuration.entry(&format!("{prefix}{}", group.name)).is_some();
        match group.quota {
            GroupQuota::Dynamic(_) if !is_set("GROUP_QUOTA_") && !is_set("GROUP_QUOTA_DYNAMIC_") => {
                warn(format!("{} has no quota, so its quota is 0", group.name));
            }
            GroupQuota::Dynamic(part) => *dynamic.entry(parent).or_default() += part,
            GroupQuota::Static(weight) => {
                *fixed.entry(parent).or_default() += weight;
                if weight > 0.0 && weight < 1.0 {
                    let meant = format!("did you mean GROUP_QUOTA_DYNAMIC_{}?", group.name);
                    warn(format!("the quota {weight} of {} is less than 1 and counts as 0; {meant}", group.name));
                }
            }
        }
    }
    let parents = tree.groups().iter().skip(1).filter_map(|group| match group.quota {
        GroupQuota::Static(weight) => Some((group, weight, *fixed.get(&group.name.to_ascii_lowercase())?)),
        GroupQuota::Dynamic(_) => None,
    });
    for (group, quota, sum) in parents.filter(|(_, quota, sum)| *sum > quota * MAX_DYNAMIC_QUOTAS) {
        let sum = (sum * 1e6).round() / 1e6;
        let name = &group.name;
        warn(format!("the quotas of the subgroups of {name} add up to {sum}, more than its quota of {quota}"));
    }
    for (parent, sum) in dynamic.into_iter().filter(|(_, sum)| *sum > MAX_DYNAMIC_QUOTAS) {
        let of = if parent.is_empty() { String::new() } else { format!(" of the groups in {parent}") };
        let sum = (sum * 1e6).round() / 1e6;
        warn(format!("the dynamic quotas{of} add up to {sum}: each is divided by {sum}"));
    }
    for fault in left_out {
        warn(format!("{fault}, so this entry is ignored"));
    }
    problems
}

/// The times that a configuration sets for cycles that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleTimes {
    /// Number of seconds from a cycle to the next: `NEGOTIATOR_INTERVAL`.
    pub interval: i64,
    /// Number of seconds after which the real priority of a submitter without offers is halved: `PRIORITY_HALFLIFE`.
    pub half_life: f64,
    /// Number of seconds from an evaluation of the policies of jobs to the next, 0 for none: `PERIODIC_EXPR_INTERVAL`.
    pub policies: i64,
    /// Number of seconds from a look of the access point at claims without jobs to the next: `SCHEDD_INTERVAL`. `None` if it is
    /// not set.
    pub claims: Option<i64>,
}

impl Default for CycleTimes {
    /// HTCondor's defaults.
    fn default() -> Self {
        CycleTimes { interval: 60, half_life: Accountant::default().half_life_seconds, policies: 60, claims: None }
    }
}

impl CycleTimes {
    /// Reads the times. A configuration that does not set one has HTCondor's default.
    ///
    /// # Errors
    ///
    /// A variable is no number of at least 1.
    pub fn read(configuration: &Configuration, context: &Context) -> Result<Self, Vec<Problem>> {
        let mut reader = KnobReader::new(configuration, context);
        let mut seconds = |name: &str, default: f64| {
            let number = reader.number_of(name);
            if let (Some(entry), Some(..1.0)) = (configuration.entry(name), number) {
                let message = format!("{name} must be at least 1 second");
                reader.problems.push(Problem::error_at(entry.value_range.clone(), 0, message));
            }
            number.unwrap_or(default)
        };
        let default = CycleTimes::default();
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // saturates
        let interval = seconds("NEGOTIATOR_INTERVAL", default.interval as f64) as i64;
        let half_life = seconds("PRIORITY_HALFLIFE", default.half_life);
        #[allow(clippy::cast_possible_truncation)] // saturates
        let policies = reader.number_of("PERIODIC_EXPR_INTERVAL").map_or(default.policies, |seconds| seconds as i64);
        #[allow(clippy::cast_possible_truncation)] // saturates
        let claims = reader.number_of("SCHEDD_INTERVAL").map(|seconds| seconds as i64).filter(|seconds| *seconds > 0);
        if reader.problems.is_empty() {
            Ok(CycleTimes { interval, half_life, policies, claims })
        } else {
            Err(reader.problems)
        }
    }
}

/// Reads variables and collects their problems.
pub(super) struct KnobReader<'c> {
    configuration: &'c Configuration,
    context: &'c Context,
    problems: Vec<Problem>,
}

impl<'c> KnobReader<'c> {
    pub fn new(configuration: &'c Configuration, context: &'c Context) -> Self {
        KnobReader { configuration, context, problems: Vec::new() }
    }

    /// Reads the accounting groups. A group without quota has none.
    pub fn groups(&mut self) -> Vec<AccountingGroup> {
        let names = self.configuration.words("GROUP_NAMES", self.context);
        let names = self.checked(names).unwrap_or_default();
        let surplus = self.truth("GROUP_ACCEPT_SURPLUS", false);
        let regroup = self.truth("GROUP_AUTOREGROUP", false);
        let group = |name: String| {
            let fixed = self.number_of(&format!("GROUP_QUOTA_{name}"));
            let fraction = self.number_of(&format!("GROUP_QUOTA_DYNAMIC_{name}"));
            AccountingGroup {
                quota: match fixed {
                    Some(weight) => GroupQuota::Static(weight),
                    None => GroupQuota::Dynamic(fraction.unwrap_or(0.0)),
                },
                accepts_surplus: self.truth(&format!("GROUP_ACCEPT_SURPLUS_{name}"), surplus),
                regroups: self.truth(&format!("GROUP_AUTOREGROUP_{name}"), regroup),
                name,
            }
        };
        names.into_iter().map(group).collect()
    }

    /// Reads by how much groups may get more from turn to turn. HTCondor takes at least 1.
    fn round_robin_rate(&mut self) -> f64 {
        let rate = self.number_of("GROUP_QUOTA_ROUND_ROBIN_RATE").or_else(|| self.number_of("HFS_ROUND_ROBIN_RATE"));
        rate.map_or(f64::INFINITY, |rate| rate.max(1.0))
    }

    /// Reads the factors of priorities. HTCondor takes a factor below 1 for none.
    fn priority_factors(&mut self) -> PriorityFactors {
        let default = self.number_of("DEFAULT_PRIO_FACTOR").filter(|factor| *factor >= 1.0);
        let nice = self.number_of("NICE_USER_PRIO_FACTOR").filter(|factor| *factor >= 1.0);
        let local = self.configuration.entry("ACCOUNTANT_LOCAL_DOMAIN");
        let local = local.and_then(|entry| self.configuration.expand(entry, self.context).ok());
        let local = local.map(|value| value.text.trim().to_owned()).filter(|domain| !domain.is_empty());
        let remote = local.map(|domain| (domain, self.number_of("REMOTE_PRIO_FACTOR").unwrap_or(REMOTE_FACTOR)));
        let mut factors = PriorityFactors { default, nice, remote, of_groups: BTreeMap::new() };
        for entry in self.configuration.entries() {
            let group = entry.name.split_at_checked(GROUP_FACTOR.len());
            if let Some((_, group)) = group.filter(|(start, _)| start.eq_ignore_ascii_case(GROUP_FACTOR))
                && let Some(factor) = self.number(entry).filter(|factor| *factor >= 1.0)
            {
                factors.of_groups.insert(group.to_owned(), factor);
            }
        }
        factors
    }

    /// Reads the concurrency limits.
    pub fn limits(&mut self) -> ConcurrencyLimits {
        let default_maximum = self.number_of("CONCURRENCY_LIMIT_DEFAULT");
        let mut limits = ConcurrencyLimits { default_maximum, ..ConcurrencyLimits::default() };
        self.add_maxima(&mut limits);
        limits
    }

    /// Adds the maxima that the variables `..._LIMIT` set.
    fn add_maxima(&mut self, limits: &mut ConcurrencyLimits) {
        for entry in self.configuration.entries() {
            let name = entry.name.to_ascii_lowercase();
            if let Some(prefix) = name.strip_prefix("concurrency_limit_default_") {
                limits.prefix_maxima.extend(self.number(entry).map(|most| (prefix.to_owned(), most)));
            } else if let Some(limit) = name.strip_suffix("_limit") {
                // Other variables end in `_LIMIT`, too; they are limits that no job names.
                limits.maxima.extend(self.number_if_any(entry).map(|most| (limit.to_owned(), most)));
            }
        }
    }

    fn truth(&mut self, name: &str, default: bool) -> bool {
        let truth = self.configuration.truth(name, default, self.context);
        self.checked(truth).unwrap_or(default)
    }

    fn number_of(&mut self, name: &str) -> Option<f64> {
        let entry = self.configuration.entry(name)?;
        self.number(entry)
    }

    /// Reads a number from 0 on. Reports anything else.
    fn number(&mut self, entry: &ConfigurationEntry) -> Option<f64> {
        let number = self.number_if_any(entry);
        if number.is_none() {
            let message = format!("{} must be a number of at least 0", entry.name);
            self.problems.push(Problem::error_at(entry.value_range.clone(), 0, message));
        }
        number
    }

    /// Reads a number from 0 on, or an expression whose value is such a number; `None` for anything else.
    fn number_if_any(&mut self, entry: &ConfigurationEntry) -> Option<f64> {
        let value = self.configuration.expand(entry, self.context).ok()?;
        constant_number(&value.text, self.context).filter(|number| *number >= 0.0)
    }

    fn checked<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }
}
