//! The findings at a glance: the rules, each with its ads, whose they are, and the first place.

use std::collections::BTreeMap;

use classad::lint::{AdFindings, LintRule};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::located::{CheckReport, LocatedFinding};
use crate::cli::render::tally_table::{NameCounts, TallyRow, TallyTable, unfolded_rows};

/// Minimum number of ads that break a rule, for which there is a table. Of fewer, the findings say as much.
const MIN_ADS: usize = 3;

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
    fn owners(&self) -> NameCounts {
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

    /// Returns the counts in a form that can be written down.
    pub fn into_records(self) -> Vec<(String, AdCount)> {
        self.0.into_iter().map(|(rule, count)| (rule.to_owned(), count)).collect()
    }
}

/// A rule with findings in ads.
struct RuleRow<'r> {
    count: &'r AdCount,
    /// Number of different findings.
    findings: usize,
    /// The first finding.
    first: &'r LocatedFinding,
}

/// Returns the rules with findings in ads, those with the most ads first.
fn rows(report: &CheckReport) -> Vec<RuleRow<'_>> {
    let mut rows: IndexMap<&str, RuleRow<'_>> = IndexMap::new();
    for found in report.findings.iter().filter(|found| found.ad_number > 0) {
        let name = found.finding.rule.name;
        let Some(count) = report.rules.0.get(name) else { continue };
        rows.entry(name).or_insert(RuleRow { count, findings: 0, first: found }).findings += 1;
    }
    let mut rows: Vec<RuleRow<'_>> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count.ads));
    rows
}

/// Returns the table as text. It is empty unless [`MIN_ADS`] ads break one rule. `lists_all` lists the rules with few ads, too.
pub fn text(report: &CheckReport, lists_all: bool) -> String {
    let rows = rows(report);
    let counts: Vec<usize> = rows.iter().map(|row| row.count.ads).collect();
    if counts.first().is_none_or(|most| *most < MIN_ADS) {
        return String::new();
    }
    let row = |row: &RuleRow<'_>| {
        let place = row
            .first
            .regions
            .first()
            .map_or_else(String::new, |place| format!(":{}:{}", place.start.line, place.start.column));
        TallyRow {
            count: row.count.ads,
            owners: row.count.owners(),
            label: row.first.finding.rule.name.to_owned(),
            remark: format!("{}{place} ({})", row.first.file, row.first.ad_label()),
        }
    };
    let table = TallyTable {
        noun: "ad",
        titles: ["rule", "example"],
        rows: rows.iter().map(row).collect(),
        last_rows: Vec::new(),
        is_partition: false,
    };
    table.render(if lists_all { rows.len() } else { unfolded_rows(&counts) })
}

/// Returns the table as JSON.
pub fn json(report: &CheckReport) -> Value {
    let row = |row: RuleRow<'_>| {
        let place = row.first.regions.first().map(|place| place.start);
        json!({
            "rule": row.first.finding.rule.name,
            "level": row.first.finding.rule.level.as_str(),
            "ads": row.count.ads,
            "owners": row.count.owners.len(),
            "owner_names": row.count.owners().names(),
            "findings": row.findings,
            "example": {
                "file": &*row.first.file,
                "ad": row.first.ad_number,
                "id": row.first.id,
                "line": place.map(|place| place.line),
                "column": place.map(|place| place.column),
            },
        })
    };
    rows(report).into_iter().map(row).collect()
}
