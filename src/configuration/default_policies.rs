//! HTCondor's defaults of policies that no configuration file sets.

use super::default_variables::default_value;
use super::texts::{ConfigurationEntry, ConfigurationTexts};

/// The policies that count with HTCondor's default where configuration files do not set them. The rules of a negotiator have
/// their defaults in the ready policy.
const DEFAULT_POLICIES: [&str; 5] =
    ["DEFRAG_RANK", "DEFRAG_WHOLE_MACHINE_EXPR", "START", "START_LOCAL_UNIVERSE", "START_SCHEDULER_UNIVERSE"];

/// Name of the file in which defaults stand.
const DEFAULTS_FILE: &str = "HTCondor's defaults";

/// Adds the defaults of policies that no file sets, in a text of their own behind the files. Returns their entries.
pub(super) fn add_defaults(texts: &mut ConfigurationTexts, is_set: impl Fn(&str) -> bool) -> Vec<ConfigurationEntry> {
    let unset = DEFAULT_POLICIES.into_iter().filter(|name| !is_set(name));
    let unset: Vec<(&str, String)> = unset.filter_map(|name| Some((name, default_value(name)?))).collect();
    let text = unset.iter().fold(String::new(), |text, (name, value)| text + name + " = " + value + "\n");
    let mut start = texts.add_file(DEFAULTS_FILE, &text);
    let entry = |(index, (name, value)): (usize, (&str, String))| {
        let name_range = start..start + name.len();
        let value_start = name_range.end + " = ".len();
        let value_range = value_start..value_start + value.len();
        start = value_range.end + 1;
        let origin = Some(DEFAULTS_FILE.to_owned());
        ConfigurationEntry { name: name.to_owned(), name_range, value_range, line: index + 1, origin }
    };
    unset.into_iter().enumerate().map(entry).collect()
}
