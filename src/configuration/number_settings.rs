//! Settings that must be numbers: limits, quotas, maximum numbers of jobs.

use crate::eval::Context;
use crate::format::Problem;

use super::constants::constant_number;
use super::dump::Configuration;
use super::rules::{ConfiguredRule, is_bracketed_rules};
use super::texts::ConfigurationEntry;

/// Names of settings that must be numbers, where `*` stands for any name, each with whether a negative number has a meaning.
const NUMBERS: [(&str, bool); 10] = [
    ("*_LIMIT", false),
    ("CONCURRENCY_LIMIT_DEFAULT", false),
    ("CONCURRENCY_LIMIT_DEFAULT_*", false),
    ("GROUP_QUOTA_*", false),
    ("JOB_ROUTER_DEFAULT_MAX_IDLE_JOBS_PER_ROUTE", true),
    ("JOB_ROUTER_DEFAULT_MAX_JOBS_PER_ROUTE", false),
    ("JOB_ROUTER_MAX_JOBS", true),
    ("MAX_JOBS_*", false),
    ("MAX_CONCURRENT_*", false),
    ("MAX_RUNNING_*", false),
];

/// Settings of these names that negotiation reads: their problems are errors.
const READ_ELSEWHERE: [&str; 3] =
    ["CONCURRENCY_LIMIT_DEFAULT", "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", "JOB_ROUTER_MAX_JOBS"];

/// Returns a warning for each setting that must be a number and is none, or is negative.
#[must_use]
pub fn number_problems(configuration: &Configuration, context: &Context) -> Vec<Problem> {
    let groups: Vec<String> = configuration.words("GROUP_NAMES", context).unwrap_or_default();
    let is_read = |name: &str| {
        READ_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(name))
            || groups.iter().any(|group| {
                ["GROUP_QUOTA_", "GROUP_QUOTA_DYNAMIC_"]
                    .iter()
                    .any(|prefix| format!("{prefix}{group}").eq_ignore_ascii_case(name))
            })
    };
    let problem = |entry: &ConfigurationEntry| {
        let (_, may_be_negative) = NUMBERS.iter().find(|(pattern, _)| matches(pattern, &entry.name))?;
        let (value, gap) = configuration.expand_leniently(entry, context).ok()?;
        let text = value.text.trim();
        let warning = |message: String| Problem::error_at(entry.value_range.clone(), 0, message).as_warning();
        match constant_number(text, context) {
            _ if gap.is_some() || text.is_empty() => None,
            None if is_read(&entry.name) => None,
            None => Some(
                warning(format!("{}: `{text}` is not a number", entry.name))
                    .with_help("write a number, or an expression whose value is one, such as `10 / 5`"),
            ),
            Some(number) if number < 0.0 && !may_be_negative => {
                Some(warning(format!("{} is negative: {number}", entry.name)))
            }
            Some(_) => None,
        }
    };
    let last =
        |entry: &&ConfigurationEntry| configuration.entry(&entry.name).is_some_and(|last| std::ptr::eq(last, *entry));
    configuration.entries().iter().filter(last).filter_map(problem).collect()
}

/// Whether a name is one of a pattern; case is ignored.
fn matches(pattern: &str, name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, behind)) => {
            name.len() > before.len() + behind.len() && name.starts_with(before) && name.ends_with(behind)
        }
    }
}

/// Settings with rules that HTCondor reads no longer.
const DEAD_SETTINGS: [&str; 3] = ["JOB_ROUTER_ENTRIES", "JOB_ROUTER_ENTRIES_CMD", "JOB_ROUTER_ENTRIES_FILE"];

/// Returns a warning for each setting with rules that HTCondor 25.8 and later do not read: rules in brackets, of which
/// `rules` are those in use, and the settings of old routes.
#[must_use]
pub fn unread_rules(configuration: &Configuration, rules: &[ConfiguredRule]) -> Vec<Problem> {
    let problem = |entry: &ConfigurationEntry| {
        let is_old = DEAD_SETTINGS.iter().any(|name| name.eq_ignore_ascii_case(&entry.name));
        let is_used = rules.iter().any(|rules| rules.is_bracketed && rules.knob.eq_ignore_ascii_case(&entry.name));
        let is_bracketed = is_used && is_bracketed_rules(configuration.raw_value(entry).as_bytes());
        if entry.value_range.is_empty() || !(is_old || is_bracketed) {
            return None;
        }
        let what = if is_bracketed { "rules in the form of old job routes" } else { "this setting" };
        let message = format!("{} has no effect: HTCondor 25.8 and later do not read {what}", entry.name);
        let help = "`transform --config ... --print-rules` converts transforms; with --route NAME, it converts a route";
        let problem = Problem::error_at(entry.name_range.clone(), 0, message).as_warning();
        Some(if is_bracketed { problem.with_help(help) } else { problem })
    };
    configuration.entries().iter().filter_map(problem).collect()
}
