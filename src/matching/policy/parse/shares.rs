//! Reads shares, accounting groups and concurrency limits from YAML.

use std::collections::BTreeMap;

use crate::ad::{Dialect, Expression, Value};
use crate::configuration::{constant_number, constant_truth};
use crate::eval::Context;
use crate::format::document_tree::{YamlContent, YamlNode};
use crate::matching::policy::{
    AccountingGroup, ConcurrencyLimits, GroupQuota, GroupTree, PolicyRule, PriorityFactors, Share, WeightedShare,
};

use super::{NOT_POSITIVE, PolicyReader, positive_number};

/// Rounds in which groups are allocated what others could not use: `GROUP_QUOTA_MAX_ALLOCATION_ROUNDS` of HTCondor.
const ALLOCATION_ROUNDS: usize = 3;

/// The keys of `share`. Those behind the second make it one by weights.
const SHARE_KEYS: [&str; 14] = [
    "by",
    "priorities",
    "weight",
    "demand",
    "in-use-by",
    "beyond",
    "covers",
    "preempts",
    "groups",
    "oversubscribe",
    "group-order",
    "rounds",
    "floors",
    "ceilings",
];

/// Returns shares of weights in which every offer weighs 1.
fn plain_weighted_share() -> WeightedShare {
    WeightedShare {
        weight: PolicyRule::from(Expression::literal(Value::Integer(1))),
        demand: None,
        in_use_by: None,
        beyond: None,
        covers: None,
        preempts: true,
        groups: GroupTree::new(Vec::new()).0,
        group_order: None,
        allocation_rounds: ALLOCATION_ROUNDS,
        round_robin_rate: f64::INFINITY,
        factors: PriorityFactors::default(),
        floors: BTreeMap::new(),
        ceilings: BTreeMap::new(),
    }
}

impl<'o> PolicyReader<'o, '_> {
    /// Reads `share`.
    pub fn share(&mut self, node: &'o YamlNode) -> Option<Share> {
        let (mut by, mut priorities, mut has_by) = (None, Vec::new(), false);
        let mut weighted = None;
        for (key, value) in self.settings.known_entries(node, "share", &SHARE_KEYS) {
            match key {
                "by" => (by, has_by) = (self.rule(value), true),
                "priorities" => {
                    for (name, value) in self.settings.entries(value, "priorities") {
                        if let Some(priority) = self.constant(value, positive_number, NOT_POSITIVE) {
                            priorities.push((name.text().unwrap_or_default().to_owned(), priority));
                        }
                    }
                }
                _ => self.weighted_setting(weighted.get_or_insert_with(plain_weighted_share), node, (key, value)),
            }
        }
        if !has_by && matches!(node.content, YamlContent::Mapping(_)) {
            self.settings.report(
                node,
                "`by` is missing",
                "`by` names the submitter of a request, for example `by: Owner`",
            );
        }
        by.map(|by| Share { by, priorities, weighted })
    }

    /// Reads an entry of the `share` at `node` that is about weights.
    fn weighted_setting(&mut self, share: &mut WeightedShare, node: &'o YamlNode, (key, value): (&str, &'o YamlNode)) {
        match key {
            "weight" => share.weight = self.rule(value).unwrap_or_else(|| plain_weighted_share().weight),
            "demand" => share.demand = self.rule(value),
            "in-use-by" => share.in_use_by = self.rule(value),
            "beyond" => share.beyond = self.rule(value),
            "covers" => share.covers = self.rule(value),
            "preempts" => share.preempts = self.truth(value).unwrap_or(share.preempts),
            "groups" => {
                let (groups, left_out) = GroupTree::new(self.groups(value));
                for fault in left_out {
                    let help = "write each group once, for `a.b` also `a`, and at most 32 levels";
                    self.settings.report(node, format!("the group {fault}"), help);
                }
                share.groups = groups.with_oversubscription(share.groups.oversubscribes);
            }
            "oversubscribe" => share.groups.oversubscribes = self.truth(value).unwrap_or_default(),
            "group-order" => share.group_order = self.rule(value),
            "rounds" => share.allocation_rounds = self.amount(value).map_or(share.allocation_rounds, whole).max(1),
            "floors" => share.floors = self.amounts(value, "floors"),
            _ => share.ceilings = self.amounts(value, "ceilings"),
        }
    }

    /// Reads accounting groups: a quota each, or a mapping of quota, `surplus` and `regroup`.
    fn groups(&mut self, node: &'o YamlNode) -> Vec<AccountingGroup> {
        let mut groups = Vec::new();
        for (name, value) in self.settings.entries(node, "groups") {
            let mut group = AccountingGroup {
                name: name.text().unwrap_or_default().to_owned(),
                quota: GroupQuota::Dynamic(0.0),
                accepts_surplus: false,
                regroups: false,
            };
            if matches!(value.content, YamlContent::Mapping(_)) {
                for (key, value) in self.settings.known_entries(value, "a group", &["quota", "surplus", "regroup"]) {
                    match key {
                        "quota" => group.quota = self.quota(value).unwrap_or(group.quota),
                        "surplus" => group.accepts_surplus = self.truth(value).unwrap_or(false),
                        _ => group.regroups = self.truth(value).unwrap_or(false),
                    }
                }
            } else {
                group.quota = self.quota(value).unwrap_or(group.quota);
            }
            groups.push(group);
        }
        groups
    }

    /// Reads a quota: a number, or a percentage.
    fn quota(&mut self, node: &YamlNode) -> Option<GroupQuota> {
        let is_valid = |number: &f64| number.is_finite() && *number >= 0.0;
        let quota = |text: &str| match text.trim().strip_suffix('%') {
            Some(percent) => {
                percent.trim().parse().ok().filter(is_valid).map(|part: f64| GroupQuota::Dynamic(part / 100.0))
            }
            None => text.trim().parse().ok().filter(is_valid).map(GroupQuota::Static),
        };
        self.constant(node, quota, ("this is not a quota", "write a weight of slots (`20`) or a percentage (`25%`)"))
    }

    /// Reads `limits`.
    pub fn limits(&mut self, node: &'o YamlNode) -> ConcurrencyLimits {
        let mut limits = ConcurrencyLimits::default();
        for (key, value) in self.settings.known_entries(node, "limits", &["needs", "in-use", "max", "default"]) {
            match key {
                "needs" => limits.needs = self.rule(value),
                "in-use" => limits.in_use = self.rule(value),
                "default" => limits.default_maximum = self.amount(value),
                _ => {
                    for (name, most) in self.amounts(value, "max") {
                        let name = name.to_ascii_lowercase();
                        match name.strip_suffix(".*") {
                            Some(prefix) => limits.prefix_maxima.insert(prefix.to_owned(), most),
                            None => limits.maxima.insert(name, most),
                        };
                    }
                }
            }
        }
        limits
    }

    /// Reads a mapping of names to numbers that are not negative.
    fn amounts(&mut self, node: &'o YamlNode, what: &str) -> BTreeMap<String, f64> {
        let mut amounts = BTreeMap::new();
        for (name, value) in self.settings.entries(node, what) {
            if let Some(amount) = self.amount(value) {
                amounts.insert(name.text().unwrap_or_default().to_owned(), amount);
            }
        }
        amounts
    }

    fn amount(&mut self, node: &YamlNode) -> Option<f64> {
        let context = Context::new(Dialect::Condor);
        let amount = |text: &str| constant_number(text, &context).filter(|number| *number >= 0.0);
        self.constant(node, amount, ("expected a number of at least 0", "write a number such as `10`"))
    }

    pub fn truth(&mut self, node: &YamlNode) -> Option<bool> {
        let context = Context::new(Dialect::Condor);
        let truth = |text: &str| constant_truth(text, &context);
        self.constant(node, truth, ("expected true or false", "write `true` or `false`"))
    }
}

/// Converts a number from 0 on to a count.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // rounds down, and saturates
fn whole(number: f64) -> usize {
    number as usize
}
