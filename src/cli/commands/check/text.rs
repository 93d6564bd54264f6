//! Findings as annotated source excerpts for the terminal.

use std::collections::HashMap;
use std::io::{self, Write};

use classad::lint::{LintFinding, LintLevel, RULES};
use classad::text::counted;

use crate::cli::render::diagnostics;
use crate::cli::session::Session;

use super::located::CheckReport;

/// Maximum number of findings drawn per rule; further ones are only counted.
const MAX_DRAWN_PER_RULE: usize = 50;

pub fn write(out: &mut impl Write, session: &Session, report: CheckReport) -> io::Result<()> {
    let colored = diagnostics::colors_stdout(&session.options);
    let mut shown: HashMap<&str, usize> = HashMap::new();
    let summary = summary(&report);
    for found in report.findings {
        let LintFinding { rule, message, .. } = &found.finding;
        let times = shown.entry(rule.name).or_default();
        *times += 1;
        if *times > MAX_DRAWN_PER_RULE {
            continue;
        }
        let place = match (found.ad_label(), found.ad_count) {
            (whose, _) if whose.is_empty() => String::new(),
            (whose, 1) => format!(" ({whose})"),
            (whose, ads) => format!(" ({whose} and {})", counted(ads - 1, "more ad")),
        };
        let picture = found.picture.with_code(rule.name).with_message(&format!("{message}{place}"));
        writeln!(out, "{}\n", picture.render(colored))?;
    }
    for (rule, times) in RULES.iter().filter_map(|rule| Some((rule, shown.get(rule.name)?))) {
        if *times > MAX_DRAWN_PER_RULE {
            writeln!(out, "{} of the rule {}", counted(times - MAX_DRAWN_PER_RULE, "more finding"), rule.name)?;
        }
    }
    writeln!(out, "{summary}")
}

/// Returns one line that counts the findings of each level and the checked ads, such as `2 errors, 1 note in 7 ads`.
fn summary(report: &CheckReport) -> String {
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
