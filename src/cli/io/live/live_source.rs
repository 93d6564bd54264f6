//! The names of live sources, and the commands that answer them.

use std::path::Path;

use classad::text::closest_names;

use super::LiveSettings;

/// What is asked of HTCondor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveSource {
    /// The jobs of a queue: all, or those of a cluster, a job or an owner.
    Jobs(Option<String>),
    Slots,
    /// The priorities and the usage of submitters.
    Priorities,
    /// The configuration of this machine.
    Configuration,
}

/// The prefix of arguments that name live sources.
const PREFIX: &str = "live:";

/// The names of live sources.
const NAMES: [&str; 4] = ["jobs", "slots", "priorities", "config"];

impl LiveSource {
    /// Returns the source that an argument names, or why there is none of the name. `None` if the argument is a file, or
    /// has no prefix `live:`.
    pub fn of_argument(argument: &str) -> Option<Result<Self, String>> {
        let name = argument.strip_prefix(PREFIX).filter(|_| !Path::new(argument).exists())?;
        let (kind, rest) = name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest)));
        Some(match (kind, rest) {
            ("jobs", None) => Ok(LiveSource::Jobs(None)),
            ("jobs", Some(which)) if is_job_name(which) => Ok(LiveSource::Jobs(Some(which.to_owned()))),
            ("jobs", Some(_)) => {
                Err(format!("{argument}: expected a job, a cluster or an owner, as in live:jobs:1234.0"))
            }
            ("slots", None) => Ok(LiveSource::Slots),
            ("priorities", None) => Ok(LiveSource::Priorities),
            ("config", None) => Ok(LiveSource::Configuration),
            _ => {
                let near = closest_names(kind, NAMES).first().map(|near| format!("; did you mean live:{near}?"));
                let all = NAMES.map(|name| format!("{PREFIX}{name}")).join(", ");
                Err(format!("{argument} is none of {all}{}", near.unwrap_or_default()))
            }
        })
    }

    /// Returns the program and its arguments.
    pub fn command(&self, settings: &LiveSettings) -> Vec<String> {
        let option =
            |option: &'static str, value: &Option<String>| value.clone().map(|value| [option.to_owned(), value]);
        let name = option("-name", &settings.name).into_iter().flatten();
        let pool = option("-pool", &settings.pool_name).into_iter().flatten();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        match self {
            LiveSource::Jobs(which) => {
                let asked = words(&["condor_q", "-allusers", "-long"]).into_iter().chain(which.clone());
                asked.chain(name).chain(pool).collect()
            }
            LiveSource::Slots => words(&["condor_status", "-long"]).into_iter().chain(pool).collect(),
            LiveSource::Priorities => {
                words(&["condor_userprio", "-long", "-allusers"]).into_iter().chain(pool).collect()
            }
            // Without a name, the files of this machine are read, and no daemon is asked.
            LiveSource::Configuration if settings.name.is_none() => words(&["condor_config_val", "-dump"]),
            LiveSource::Configuration => {
                words(&["condor_config_val"]).into_iter().chain(name).chain(pool).chain(words(&["-dump"])).collect()
            }
        }
    }
}

/// Whether a text may name a cluster, a job or an owner to `condor_q`: it is no option of it and no other text.
pub fn is_job_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@' | b'+');
    text.bytes().all(is_plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LiveSettings, LiveSource};

    #[test]
    fn names_have_commands() {
        let settings = |name: Option<&str>, pool: Option<&str>| LiveSettings {
            timeout: Duration::ZERO,
            age: Duration::ZERO,
            name: name.map(str::to_owned),
            pool_name: pool.map(str::to_owned),
        };
        let (none, both) = (settings(None, None), settings(Some("ap1"), Some("cm:9618")));
        for (argument, plain, named) in [
            ("live:jobs", "condor_q -allusers -long", "condor_q -allusers -long -name ap1 -pool cm:9618"),
            ("live:jobs:7.0", "condor_q -allusers -long 7.0", "condor_q -allusers -long 7.0 -name ap1 -pool cm:9618"),
            ("live:slots", "condor_status -long", "condor_status -long -pool cm:9618"),
            ("live:priorities", "condor_userprio -long -allusers", "condor_userprio -long -allusers -pool cm:9618"),
            ("live:config", "condor_config_val -dump", "condor_config_val -name ap1 -pool cm:9618 -dump"),
        ] {
            let source = LiveSource::of_argument(argument).unwrap().unwrap();
            assert_eq!([source.command(&none).join(" "), source.command(&both).join(" ")], [plain, named]);
        }
        for (argument, expected) in [
            (
                "live:slot",
                "live:slot is none of live:jobs, live:slots, live:priorities, live:config; did you mean live:slots?",
            ),
            ("live:slots:x", "live:slots:x is none of live:jobs, live:slots, live:priorities, live:config"),
            ("live:jobs:-af", "live:jobs:-af: expected a job, a cluster or an owner, as in live:jobs:1234.0"),
            ("live:jobs:a b", "live:jobs:a b: expected a job, a cluster or an owner, as in live:jobs:1234.0"),
        ] {
            let problem = LiveSource::of_argument(argument).unwrap().unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
        assert_eq!(LiveSource::of_argument("slots.long"), None);
    }
}
