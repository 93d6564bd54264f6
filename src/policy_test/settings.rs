//! The evaluation settings of a spec and of its cases. The settings of a case override those of the spec, which
//! override those of the run, but raise no limit of the run.

use crate::ad::AbsoluteTime;
use crate::eval::EvaluationSettings;
use crate::format::document_tree::{ConfigReader, YamlNode};

/// The keys of [`EvaluationSettings`] in a spec and in a case.
pub const SETTINGS_KEYS: [&str; 6] = ["dialect", "now", "seed", "max-steps", "max-depth", "max-value-bytes"];

/// Reads the settings among the entries of a spec or of a case. Reports invalid values to `reader`, and limits above
/// those of `run`.
pub fn read_settings(
    reader: &mut ConfigReader<'_>,
    entries: &[(&str, &YamlNode)],
    run: &EvaluationSettings,
) -> EvaluationSettings {
    let mut own = EvaluationSettings::default();
    for (key, value) in entries.iter().filter(|(key, _)| SETTINGS_KEYS.contains(key)) {
        read_setting(&mut own, reader, key, value);
        let limits = run.to_context();
        let (given, most) = match *key {
            "max-steps" => (own.max_steps, limits.max_steps),
            "max-depth" => (own.max_depth.map(u64::from), limits.max_depth.into()),
            "max-value-bytes" => (own.max_value_bytes, limits.max_value_bytes),
            _ => (None, 0),
        };
        if given.is_some_and(|given| given > most) {
            let help = format!("the limit of the run is {most}; `classad test --{key} N` raises it");
            reader.report(value, "a spec cannot raise a limit of the run", &help);
        }
    }
    own
}

/// Reads the setting `key` into `own`. Reports an invalid value to `reader`.
fn read_setting(own: &mut EvaluationSettings, reader: &mut ConfigReader<'_>, key: &str, node: &YamlNode) {
    let text = node.text().unwrap_or_default();
    let is_read = match key {
        "dialect" => is_set(&mut own.dialect, text.parse().ok()),
        "now" => {
            let time = AbsoluteTime::parse(text).or_else(|| AbsoluteTime::parse_asctime(text));
            is_set(&mut own.now, text.parse().ok().or(time.map(|time| time.seconds)))
        }
        "seed" => is_set(&mut own.seed, text.parse().ok()),
        "max-value-bytes" => is_set(&mut own.max_value_bytes, text.parse().ok()),
        "max-steps" => is_set(&mut own.max_steps, text.parse().ok()),
        _ => is_set(&mut own.max_depth, text.parse().ok()),
    };
    if !is_read {
        let (what, help) = match key {
            "dialect" => ("dialect", "write `classad` or `condor`"),
            "now" => ("time", "write seconds since 1970, or `2026-01-15T22:00:00+01:00`"),
            _ => ("whole number", "write zero or more, with digits only"),
        };
        reader.report(node, format!("this is not a {what}"), help);
    }
}

/// Stores `value` in a setting. Returns whether there is a value; `None` is the result of an invalid text.
fn is_set<T>(setting: &mut Option<T>, value: Option<T>) -> bool {
    *setting = value;
    setting.is_some()
}
