//! The findings at a glance: the rules, each with its ads, whose they are, and the first place.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::located::{CheckReport, LocatedFinding};
use super::rule_counts::AdCount;
use crate::cli::render::tally_table::{TallyRow, TallyTable, unfolded_rows};

/// Minimum number of ads that break a rule, for which there is a table. Of fewer, the findings say as much.
const MIN_ADS: usize = 3;

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
        let Some(count) = report.rules.get(name) else { continue };
        rows.entry(name).or_insert(RuleRow { count, findings: 0, first: found }).findings += 1;
    }
    let mut rows: Vec<RuleRow<'_>> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count.ads));
    rows
}

/// Returns the table as text. It is empty unless [`MIN_ADS`] ads break one rule. `lists_all` lists the rules with few ads, too.
pub fn text(report: &CheckReport, lists_all: bool) -> String {
    let rows = rows(report);
    if rows.first().is_none_or(|row| row.count.ads < MIN_ADS) {
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
    table.render(if lists_all { rows.len() } else { unfolded_rows(rows.len()) })
}

/// Returns the table as JSON.
pub fn json(report: &CheckReport) -> Value {
    let row = |row: RuleRow<'_>| {
        let place = row.first.regions.first().map(|place| place.start);
        json!({
            "rule": row.first.finding.rule.name,
            "level": row.first.finding.rule.level.as_str(),
            "ads": row.count.ads,
            "owners": row.count.owners().count(),
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
