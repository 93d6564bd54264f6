//! Rules of a configuration: transforms and routes, in the language of rules or in brackets.

use crate::ad::{Ad, Name};
use crate::eval::Context;
use crate::format::{FileFormat, Position, Problem, Severity, attribute_spans, read};
use crate::transform::{RuleSurroundings, TransformRule, parse_rules_within};

use super::bracketed;
use super::dump::Configuration;
use super::texts::ConfigurationEntry;

/// Rules of one variable, or of one ad of a variable that holds several.
#[derive(Clone, Debug)]
pub struct ConfiguredRule {
    /// Name of the variable.
    pub knob: String,
    /// The rules. Their name is the end of the variable's, or that of the ad in brackets.
    pub rule: TransformRule,
    /// 1-based number of the line in the dump.
    pub line: usize,
    /// Whether the rules are in brackets.
    pub is_bracketed: bool,
}

impl ConfiguredRule {
    /// Name of the rule; the variable's name if the rule has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.rule.name.as_deref().unwrap_or(&self.knob)
    }
}

/// Names of variables that rules of a configuration give values, and that later rules find: HTCondor uses one set of
/// variables for a job.
pub(super) type SharedVariables = Vec<String>;

/// Rules of a configuration, and the problems in them. A rule with an error is left out.
pub type RulesWithProblems = (Vec<ConfiguredRule>, Vec<Problem>);

impl Configuration {
    /// Returns the transforms of jobs in the order in which they are applied.
    #[must_use]
    pub fn job_transforms(&self, context: &Context) -> RulesWithProblems {
        self.named_rules("JOB_TRANSFORM_NAMES", "JOB_TRANSFORM_", &mut SharedVariables::default(), context)
    }

    /// Returns the rules of the variables that begin with `prefix` and end with the names that the variable `list` has.
    /// They share their variables with those of `shared`, which gets theirs.
    pub(super) fn named_rules(
        &self,
        list: &str,
        prefix: &str,
        shared: &mut SharedVariables,
        context: &Context,
    ) -> RulesWithProblems {
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        match self.words(list, context) {
            Err(problem) => problems.push(problem),
            Ok(names) => {
                for name in names.iter().filter(|name| !name.eq_ignore_ascii_case("NAMES")) {
                    let knob = format!("{prefix}{name}");
                    let Some(entry) = self.entry(&knob) else {
                        problems.extend(self.entry(list).map(|list| {
                            let message = format!("{}: the variable {knob} has no value", list.name);
                            Problem::error_at(list.value_range.clone(), 0, message).as_warning()
                        }));
                        continue;
                    };
                    let (rules, faults) = self.rules_of(entry, name, &Ad::default(), false, shared, context);
                    found.extend(rules);
                    problems.extend(faults);
                }
            }
        }
        (found, problems)
    }

    /// Returns the rules of a variable. `name` is their name, unless they are in brackets and have one. `defaults` holds
    /// what all rules in brackets have.
    pub(super) fn rules_of(
        &self,
        entry: &ConfigurationEntry,
        name: &str,
        defaults: &Ad,
        is_route: bool,
        shared: &mut SharedVariables,
        context: &Context,
    ) -> RulesWithProblems {
        let raw = self.raw_value(entry);
        if is_bracketed_rules(raw.as_bytes()) {
            let (rules, problems) = self.bracketed_rules(entry, name, defaults, context);
            for rules in &rules {
                shared.extend(rules.rule.assigned_variables());
            }
            return (rules, problems);
        }
        let (variables, shared_variables) = (self.variables().clone(), shared.clone());
        let surroundings = RuleSurroundings { variables, shared_variables, is_route };
        let parsed = parse_rules_within(self.text(), entry.value_range.clone(), context.dialect, &surroundings);
        let problems = parsed.problems.into_iter().map(|problem| named(problem, &entry.name)).collect();
        // In a configuration a further NAME begins no rule.
        let merged = parsed.rules.into_iter().reduce(|mut first, next| {
            first.requirements = next.requirements.or(first.requirements);
            first.statements.extend(next.statements);
            first
        });
        if let Some(rule) = &merged {
            shared.extend(rule.assigned_variables());
        }
        let rules = merged.filter(|_| parsed.are_usable).map(|rule| ConfiguredRule {
            knob: entry.name.clone(),
            rule: TransformRule { name: Some(name.to_owned()), ..rule },
            line: entry.line,
            is_bracketed: false,
        });
        (rules.into_iter().collect(), problems)
    }

    /// Returns the rules of the ads in brackets that a variable holds.
    fn bracketed_rules(
        &self,
        entry: &ConfigurationEntry,
        name: &str,
        defaults: &Ad,
        context: &Context,
    ) -> RulesWithProblems {
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        let value = match self.expand_leniently(entry, context) {
            Ok((value, gap)) => {
                // HTCondor takes such rules, and tells nothing.
                problems.extend(gap.map(|problem| Problem { severity: Severity::Warning, ..problem }));
                value
            }
            Err(problem) => return (found, vec![problem]),
        };
        let start = entry.value_range.start;
        // A range in the expanded text is one of the dump only if nothing was expanded.
        let in_dump = |range: std::ops::Range<usize>| {
            if value.is_verbatim { start + range.start..start + range.end } else { entry.value_range.clone() }
        };
        let (rules, faults) = parse_bracketed_rules(value.text.as_bytes(), name, defaults, context);
        problems.extend(faults.into_iter().map(|problem| named(problem.map_ranges(in_dump), &entry.name)));
        for mut rule in rules {
            let mut first = entry.line;
            for (index, statement) in rule.statements.iter_mut().enumerate() {
                statement.range = in_dump(statement.range.clone());
                statement.line = Position::of_offset(self.text().as_bytes(), statement.range.start).line;
                first = if index == 0 { statement.line } else { first.min(statement.line) };
            }
            found.push(ConfiguredRule { knob: entry.name.clone(), rule, line: first, is_bracketed: true });
        }
        (found, problems)
    }

    /// Returns what all routes in brackets have: the ad of `JOB_ROUTER_DEFAULTS`, or all of its ads if
    /// `MERGE_JOB_ROUTER_DEFAULT_ADS` is true.
    pub(super) fn route_defaults(&self, context: &Context) -> Result<Ad, Problem> {
        let Some(entry) = self.entry("JOB_ROUTER_DEFAULTS") else { return Ok(Ad::default()) };
        let value = self.expand(entry, context)?;
        let merges = self.truth("MERGE_JOB_ROUTER_DEFAULT_ADS", false, context)?;
        let mut all = Ad::default();
        for item in read(value.text.as_bytes(), FileFormat::Bracketed, context.dialect) {
            let ad = item.map_err(|problem| {
                let start = entry.value_range.start;
                named(
                    problem.map_ranges(|range| {
                        if value.is_verbatim {
                            start + range.start..start + range.end
                        } else {
                            entry.value_range.clone()
                        }
                    }),
                    &entry.name,
                )
            })?;
            for attribute in ad.ad.iter() {
                all = all.with(attribute.name.clone(), attribute.expression.clone());
            }
            if !merges {
                break;
            }
        }
        Ok(all)
    }
}

/// Parses rules in brackets, one ad behind the other, into rules and problems. `name` is the name of a rule whose ad has
/// none; `defaults` holds attributes that all of the ads have unless they define them.
#[must_use]
pub fn parse_bracketed_rules(
    text: &[u8],
    name: &str,
    defaults: &Ad,
    context: &Context,
) -> (Vec<TransformRule>, Vec<Problem>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for item in read(text, FileFormat::Bracketed, context.dialect) {
        match item {
            Err(problem) => problems.push(problem),
            Ok(entry) => {
                let spans = attribute_spans(text, FileFormat::Bracketed, entry.offset, context.dialect);
                let place = |name: &Name| {
                    let span = spans.iter().rev().find(|span| span.name == *name);
                    let start = entry.offset.min(text.len());
                    let range = span.map_or(start..text.len().min(start + 1), |span| span.name_range.clone());
                    let line = Position::of_offset(text, range.start).line;
                    (range, line)
                };
                let ad = entry.ad.iter().fold(defaults.clone(), |all, attribute| {
                    all.with(attribute.name.clone(), attribute.expression.clone())
                });
                let (rule, faults) = bracketed::convert(ad, name, context, &place);
                rules.push(rule);
                problems.extend(faults);
            }
        }
    }
    (rules, problems)
}

/// Whether a text is of rules in brackets, and not of the language of rules.
#[must_use]
pub fn is_bracketed_rules(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with(b"[") || text.starts_with(b"/*")
}

/// Puts the name of a variable before the message of a problem.
fn named(problem: Problem, knob: &str) -> Problem {
    Problem { message: format!("{knob}: {}", problem.message), ..problem }
}
