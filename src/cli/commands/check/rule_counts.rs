//! How many ads break each rule, and whose they are.

use std::collections::BTreeMap;

use classad::lint::{AdFindings, LintRule};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::cli::render::tally_table::NameCounts;

/// Ads, with their owners.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct AdCount {
    pub ads: usize,
    /// The owners, each with its number of ads, and with the 0-based number of the first of them. Ads without an owner are
    /// left out.
    owners: BTreeMap<String, (usize, usize)>,
}

impl AdCount {
    /// Counts an ad. `number` is 0-based.
    pub fn add_ad(&mut self, owner: Option<String>, number: usize) {
        self.ads += 1;
        if let Some(owner) = owner {
            self.owners.entry(owner).or_insert((0, number)).0 += 1;
        }
    }

    /// Adds ads that come after `before` others. Damaged partial results may claim more than there can be.
    fn add(&mut self, other: &AdCount, before: usize) {
        self.ads = self.ads.saturating_add(other.ads);
        for (owner, (ads, first)) in &other.owners {
            let first = first.saturating_add(before);
            let (known, first_known) = self.owners.entry(owner.clone()).or_insert((0, first));
            *known = known.saturating_add(*ads);
            *first_known = first.min(*first_known);
        }
    }

    /// Returns the owners, those with the most ads first, and of these the one with the first ad.
    pub fn owners(&self) -> NameCounts {
        let mut owners: Vec<(&String, &(usize, usize))> = self.owners.iter().collect();
        owners.sort_by_key(|(_, (_, first))| *first);
        let mut names = NameCounts::default();
        for (owner, (ads, _)) in owners {
            names.add(owner.clone(), *ads);
        }
        names
    }
}

/// The ads with findings of each rule.
#[derive(Default)]
pub struct RuleCounts(IndexMap<&'static str, AdCount>);

impl RuleCounts {
    /// Adds ads with findings of a rule, which come after `before` others.
    pub fn add(&mut self, rule: &'static LintRule, count: &AdCount, before: usize) {
        self.0.entry(rule.name).or_default().add(count, before);
    }

    /// Adds ads that have exactly these findings, and come after `before` others. Findings of rules that are not `wanted`
    /// do not count.
    pub fn add_findings(
        &mut self,
        findings: &AdFindings,
        (count, before): (&AdCount, usize),
        wanted: &dyn Fn(&LintRule) -> bool,
    ) {
        let mut seen: Vec<&str> = Vec::new();
        for rule in findings.iter().map(|finding| finding.rule).filter(|rule| wanted(rule)) {
            if !seen.contains(&rule.name) {
                seen.push(rule.name);
                self.add(rule, count, before);
            }
        }
    }

    /// Returns the count of a rule.
    pub fn get(&self, rule: &str) -> Option<&AdCount> {
        self.0.get(rule)
    }

    /// Returns the counts in a form that can be written down.
    pub fn into_records(self) -> Vec<(String, AdCount)> {
        self.0.into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect()
    }
}
