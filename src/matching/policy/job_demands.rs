//! What jobs ask of the negotiator's settings: accounting groups and concurrency limits.

use std::collections::BTreeMap;

use crate::ad::{Ad, Expression, Name, Value};
use crate::configuration::{Configuration, ConfigurationEntry};
use crate::eval::Context;
use crate::format::Problem;
use crate::text::{closest_names, counted, suggestion};

use super::configured::KnobReader;
use super::{GroupTree, ROOT_GROUP, parse_limits};

/// The accounting groups and the concurrency limits that jobs name.
#[derive(Default)]
pub struct JobDemands {
    /// Number of jobs by accounting group, in lowercase.
    groups: BTreeMap<String, usize>,
    /// Number of jobs, and the most units that one of them needs, by concurrency limit in lowercase.
    limits: BTreeMap<String, (usize, f64)>,
}

impl JobDemands {
    /// Adds what the ad of a job names.  Expressions that are no strings do not count.
    pub fn add(&mut self, job: &Ad) {
        let text = |name: &str| match job.get(&Name::new(name)).and_then(Expression::as_literal)? {
            Value::String(text) => Some(text.to_str().into_owned()),
            _ => None,
        };
        // AccountingGroup is the group with the user, such as `physics.alice`.
        let of_user = || Some(text("AccountingGroup")?.rsplit_once('.')?.0.to_owned());
        if let Some(group) = text("AcctGroup").or_else(of_user).filter(|group| !group.is_empty()) {
            *self.groups.entry(group.to_ascii_lowercase()).or_default() += 1;
        }
        for (limit, units) in text("ConcurrencyLimits").map_or(Vec::new(), |list| parse_limits(&list)) {
            let (jobs, most) = self.limits.entry(limit).or_default();
            *jobs += 1;
            *most = most.max(units);
        }
    }

    /// Returns warnings about groups that the configuration lacks, and about limits that jobs cannot keep or that nothing
    /// sets.
    #[must_use]
    pub fn problems(&self, configuration: &Configuration, context: &Context) -> Vec<Problem> {
        let mut reader = KnobReader::new(configuration, context);
        let warning = |entry: &ConfigurationEntry, message: String| {
            Problem::error_at(entry.value_range.clone(), 0, format!("{}: {message}", entry.name)).as_warning()
        };
        let mut problems = Vec::new();
        if let Some(list) = configuration.entry("GROUP_NAMES") {
            let (tree, _) = GroupTree::new(reader.groups());
            for (group, jobs) in &self.groups {
                if tree.group_of(&format!("{group}.user@")) == 0 {
                    let names =
                        tree.groups().iter().map(|group| group.name.as_str()).filter(|name| *name != ROOT_GROUP);
                    let near = suggestion(&closest_names(group, names));
                    let jobs = counted(*jobs, "job");
                    let message = format!("{group}, the accounting group of {jobs}, is not in this list{near}");
                    problems.push(warning(list, message));
                }
            }
        }
        let limits = reader.limits();
        let maxima: Vec<(String, &ConfigurationEntry)> = configuration
            .entries()
            .iter()
            .filter_map(|entry| Some((entry.name.to_ascii_lowercase().strip_suffix("_limit")?.to_owned(), entry)))
            .collect();
        let setting = |name: &str| maxima.iter().find(|(limit, _)| limit == name).map(|(_, entry)| *entry);
        let default = |name: &str| {
            let prefix = name.rsplit_once('.').map(|(prefix, _)| format!("CONCURRENCY_LIMIT_DEFAULT_{prefix}"));
            let of_prefix = prefix.and_then(|prefix| configuration.entry(&prefix));
            of_prefix.or_else(|| configuration.entry("CONCURRENCY_LIMIT_DEFAULT"))
        };
        for (limit, (jobs, needed)) in &self.limits {
            let jobs = counted(*jobs, "job");
            match (setting(limit), limits.set_maximum(limit)) {
                (Some(entry), _) if !limits.maxima.contains_key(limit) => {
                    let message = format!("this setting limits {jobs} and must be a number of at least 0");
                    problems.push(warning(entry, message));
                }
                (own, Some(most)) if *needed > most => {
                    let message = format!("jobs that need more than {most} of {limit} never start; one needs {needed}");
                    problems.extend(own.or_else(|| default(limit)).map(|entry| warning(entry, message)));
                }
                (None, None) => {
                    let near = closest_names(limit, maxima.iter().map(|(name, _)| name.as_str()));
                    if let Some(entry) = near.first().and_then(|name| setting(name)) {
                        let meant = suggestion(&near);
                        let message = format!("nothing sets {limit}, the concurrency limit of {jobs}{meant}");
                        problems.push(warning(entry, message));
                    }
                }
                _ => {}
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::JobDemands;
    use crate::ad::Dialect;
    use crate::configuration::Configuration;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn what_the_configuration_lacks_is_reported() {
        let mut demands = JobDemands::default();
        for job in [
            "[ AcctGroup = \"physics\"; ConcurrencyLimits = \"matlab:3, tape, db.big\" ]",
            "[ AccountingGroup = \"Physcis.alice\"; ConcurrencyLimits = \"matlb\" ]",
            "[ AccountingGroup = \"physics.sub.bob\"; ConcurrencyLimits = \"other\" ]",
            "[ AccountingGroup = \"carol\"; ConcurrencyLimits = strcat(\"a\") ]",
        ] {
            demands.add(&parse_ad(job.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap());
        }
        let context = Context::new(Dialect::Condor);
        let problems = |dump: &str| {
            let (configuration, _) = Configuration::read(dump.as_bytes());
            let found = demands.problems(&configuration, &context);
            found.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
        };
        assert!(problems("START = true\n").is_empty());
        assert_eq!(
            problems(
                "GROUP_NAMES = physics, chemistry\nMATLAB_LIMIT = 2\nTAPE_LIMIT = ten\nDB.BIG_LIMIT = 4 / 2\nCONCURRENCY_LIMIT_DEFAULT_db = 1\n"
            ),
            [
                "GROUP_NAMES: physcis, the accounting group of 1 job, is not in this list; did you mean physics?",
                "MATLAB_LIMIT: jobs that need more than 2 of matlab never start; one needs 3",
                "MATLAB_LIMIT: nothing sets matlb, the concurrency limit of 1 job; did you mean matlab?",
                "TAPE_LIMIT: this setting limits 1 job and must be a number of at least 0",
            ]
        );
        // Exactly the limit is enough.
        assert!(problems("MATLAB_LIMIT = 3\nCONCURRENCY_LIMIT_DEFAULT = 1\n").is_empty());
        let of_default = problems("CONCURRENCY_LIMIT_DEFAULT = 2\nCONCURRENCY_LIMIT_DEFAULT_db = 0\n");
        assert_eq!(
            of_default,
            [
                "CONCURRENCY_LIMIT_DEFAULT_db: jobs that need more than 0 of db.big never start; one needs 1",
                "CONCURRENCY_LIMIT_DEFAULT: jobs that need more than 2 of matlab never start; one needs 3",
            ]
        );
    }
}
