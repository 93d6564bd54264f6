//! Findings as annotated source excerpts for the terminal.

use std::collections::HashMap;
use std::io::{self, Write};

use classad::lint::{LintFinding, LintLevel, RULES};
use classad::text::counted;

use crate::cli::render::diagnostics;
use crate::cli::render::tally_table::LIST_ALL;
use crate::cli::session::Session;

use super::located::CheckReport;
use super::rule_table;

/// Maximum number of findings drawn per rule; further ones are only counted.
const MAX_DRAWN_PER_RULE: usize = 20;

pub fn write(out: &mut impl Write, session: &Session, report: &CheckReport, lists_all: bool) -> io::Result<()> {
    let colored = diagnostics::colors_stdout(&session.options);
    let mut shown: HashMap<&str, usize> = HashMap::new();
    let table = rule_table::text(report, lists_all);
    if !table.is_empty() {
        writeln!(out, "{table}")?;
    }
    for (found, others) in report.shown(lists_all) {
        let LintFinding { rule, message, .. } = &found.finding;
        let times = shown.entry(rule.name).or_default();
        *times += 1;
        if *times > MAX_DRAWN_PER_RULE && !lists_all {
            continue;
        }
        let more = (found.ad_count > 1).then(|| format!(" and {}", counted(found.ad_count - 1, "more ad")));
        let mut place = vec![found.ad_label() + &more.unwrap_or_default()];
        if others > 0 {
            place.push(format!("{} like it; {LIST_ALL} shows each", counted(others, "finding")));
        }
        place.retain(|part| !part.is_empty());
        let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join("; ")) };
        let picture = found.picture.clone().with_code(rule.name).with_message(&format!("{message}{place}"));
        writeln!(out, "{}\n", picture.render(colored))?;
    }
    for (rule, times) in RULES.iter().filter_map(|rule| Some((rule, shown.get(rule.name)?))) {
        if *times > MAX_DRAWN_PER_RULE && !lists_all {
            let more = counted(times - MAX_DRAWN_PER_RULE, "more finding");
            writeln!(out, "{more} of the rule {} ({LIST_ALL} shows each)", rule.name)?;
        }
    }
    writeln!(out, "{}", summary(report))
}

/// Returns one line that counts the findings of each level and the checked ads, such as `2 errors, 1 note in 7 ads`.
pub(super) fn summary(report: &CheckReport) -> String {
    let levels = [LintLevel::Error, LintLevel::Warning, LintLevel::Note].into_iter();
    let counts = levels.map(|level| (report.count_at_level(level), level.as_str())).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| counted(count, word)).collect();
    let what = if counts.is_empty() { "nothing found".to_owned() } else { counts.join(", ") };
    let mut checked = Vec::new();
    if report.ads_checked > 0 {
        let has_unreadable = report.findings.iter().any(|found| found.finding.rule.name == "syntax");
        let noun = if has_unreadable { "readable ad" } else { "ad" };
        checked.push(counted(report.ads_checked, noun));
    }
    if report.policies_checked.is_some() {
        checked.push("the configuration".to_owned());
    }
    if checked.is_empty() && counts.is_empty() && !report.has_expression {
        return "no ads to check".to_owned();
    }
    if checked.is_empty() { what } else { format!("{what} in {}", checked.join(" and ")) }
}
