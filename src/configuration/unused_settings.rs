//! Settings of a configuration that have no effect: misspelt names, names that no list has, and listed names without
//! a setting.

use rustc_hash::FxHashSet;
use strsim::osa_distance;

use crate::eval::Context;
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};

use super::constants::constant_truth;
use super::dump::{Configuration, macro_names};
use super::knobs::{POLICY_KNOBS, PolicyKnob, is_condition};
use super::periodic_policies::UNEVALUATED_KNOB;
use super::texts::ConfigurationEntry;

/// Settings that count only for the names in a list, such as `GROUP_QUOTA_physics` for a name in `GROUP_NAMES`.
struct ListedSettings {
    /// The setting with the list of names.
    list: &'static str,
    /// The settings of a name begin with one of these. A longer prefix comes before its beginning.
    prefixes: &'static [&'static str],
    /// Further settings of a name end with these.
    endings: &'static [&'static str],
    /// Settings that begin with a prefix and belong to no name, without the prefix.
    others: &'static [&'static str],
    /// Whether each name in the list needs a setting.
    is_needed: bool,
}

const LISTED_SETTINGS: [ListedSettings; 7] = [
    ListedSettings {
        list: "GROUP_NAMES",
        prefixes: &["GROUP_QUOTA_DYNAMIC_", "GROUP_QUOTA_", "GROUP_ACCEPT_SURPLUS_", "GROUP_AUTOREGROUP_"],
        endings: &[],
        others: &["MAX_ALLOCATION_ROUNDS", "ROUND_ROBIN_RATE"],
        is_needed: false,
    },
    ListedSettings {
        list: "SUBMIT_REQUIREMENT_NAMES",
        prefixes: &["SUBMIT_REQUIREMENT_"],
        endings: &["_REASON", "_IS_WARNING"],
        others: &["NAMES"],
        is_needed: true,
    },
    // A name in the list without a setting is reported where transforms are read.
    ListedSettings {
        list: "JOB_TRANSFORM_NAMES",
        prefixes: &["JOB_TRANSFORM_"],
        endings: &[],
        others: &["NAMES"],
        is_needed: false,
    },
    periodic("SYSTEM_PERIODIC_HOLD_NAMES", &["SYSTEM_PERIODIC_HOLD_"]),
    periodic("SYSTEM_PERIODIC_RELEASE_NAMES", &["SYSTEM_PERIODIC_RELEASE_"]),
    periodic("SYSTEM_PERIODIC_REMOVE_NAMES", &["SYSTEM_PERIODIC_REMOVE_"]),
    periodic("SYSTEM_PERIODIC_VACATE_NAMES", &["SYSTEM_PERIODIC_VACATE_"]),
];

const fn periodic(list: &'static str, prefixes: &'static [&'static str]) -> ListedSettings {
    ListedSettings {
        list,
        prefixes,
        endings: &["_REASON", "_SUBCODE"],
        others: &["NAMES", "REASON", "SUBCODE"],
        is_needed: true,
    }
}

/// Further settings whose misspelt names are found.
const OTHER_SETTINGS: [&str; 11] = [
    "CLAIM_PARTITIONABLE_LEFTOVERS",
    "CONSUMPTION_POLICY",
    "DEFAULT_PRIO_FACTOR",
    "GROUP_SORT_EXPR",
    "NEGOTIATOR_CONSIDER_PREEMPTION",
    "PRIORITY_HALFLIFE",
    "GROUP_ACCEPT_SURPLUS",
    "GROUP_AUTOREGROUP",
    "JOB_ROUTER_ROUTE_NAMES",
    "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES",
    "JOB_ROUTER_POST_ROUTE_TRANSFORM_NAMES",
];

/// Settings of HTCondor that are spelt like another one.
const NOT_MISSPELT: [&str; 2] = ["STARTD", "STARTER"];

/// Maximum number of letters by which a misspelt name differs.
const MAX_WRONG_LETTERS: usize = 2;

/// Minimum number of letters of a name that may be misspelt by more than one letter.
const MIN_LETTERS_OF_TWO_WRONG: usize = 8;

/// Minimum number of letters of a name that may be misspelt. Many short names are alike.
const MIN_LETTERS: usize = 5;

/// Returns a warning for each setting that has no effect, in the order of the dump.
#[must_use]
pub fn unused_settings(configuration: &Configuration, context: &Context) -> Vec<Problem> {
    let macros = used_macros(configuration);
    let mut found: Vec<Problem> =
        configuration.entries().iter().filter_map(|entry| misspelt(configuration, entry, &macros, context)).collect();
    found.extend(both_quotas(configuration));
    found.extend(configuration.entries().iter().filter_map(|entry| unevaluated(configuration, entry, context)));
    for settings in &LISTED_SETTINGS {
        // The problem of a list that cannot be read is reported where the list is used.
        let Ok(names) = configuration.words(settings.list, context) else { continue };
        let listed: FxHashSet<String> = names.iter().map(|name| name.to_ascii_uppercase()).collect();
        found.extend(configuration.entries().iter().filter_map(|entry| unlisted(entry, settings, &listed)));
        let misspelt = |entry| misspelt_prefix(entry, settings, &listed, &macros);
        found.extend(configuration.entries().iter().filter_map(misspelt));
        if let Some(list) = configuration.entry(settings.list).filter(|_| settings.is_needed) {
            found.extend(names.iter().filter_map(|name| undefined(configuration, list, settings, name)));
        }
    }
    found.sort_by_key(|problem| problem.range.start);
    // A misspelt name can be like a whole name and like the beginning of another one.
    found.dedup_by(|next, first| next.range == first.range && next.help == first.help);
    found
}

/// Returns the names of the macros in the values of a configuration, in capitals: `A` for `$(A)` and `$(A:default)`.
fn used_macros(configuration: &Configuration) -> FxHashSet<String> {
    let names = configuration.entries().iter().flat_map(|entry| macro_names(configuration.raw_value(entry)));
    names.map(str::to_ascii_uppercase).collect()
}

/// Returns a warning if the name of a setting is most likely misspelt: it is spelt like a name with a meaning, and
/// no other setting uses it as a macro.
fn misspelt(
    configuration: &Configuration,
    entry: &ConfigurationEntry,
    macros: &FxHashSet<String>,
    context: &Context,
) -> Option<Problem> {
    let name = entry.name.to_ascii_uppercase();
    let is_of_family = PolicyKnob::find(&name).is_some() || is_listed_setting(&name);
    if name.len() < MIN_LETTERS || is_of_family || NOT_MISSPELT.contains(&name.as_str()) || macros.contains(&name) {
        return None;
    }
    let policies = POLICY_KNOBS.iter().map(|knob| knob.pattern.trim_end_matches('*'));
    let lists = LISTED_SETTINGS.iter().map(|settings| settings.list);
    let known = policies.filter(|name| !name.ends_with('_')).chain(lists).chain(OTHER_SETTINGS);
    let near = known.filter(|other| other.len() >= MIN_LETTERS).min_by_key(|other| osa_distance(other, &name))?;
    let most = if name.len() < MIN_LETTERS_OF_TWO_WRONG { 1 } else { MAX_WRONG_LETTERS };
    if !(1..=most).contains(&osa_distance(near, &name)) {
        return None;
    }
    // A path or a text is no policy: a macro that only scripts ask for.
    let is_expression = PolicyKnob::find(near).is_some_and(|knob| !knob.kind.is_rules());
    if is_expression {
        let (value, _) = configuration.expand_leniently(entry, context).ok()?;
        let parsed = parse_expression(value.text.as_bytes(), ParseOptions::long(context.dialect));
        if parsed.is_err() {
            return None;
        }
    }
    let message = format!("{} is not a setting of HTCondor, and no macro uses it", entry.name);
    Some(warning(entry, message).with_help(format!("did you mean {near}?")))
}

/// Whether a name, in capitals, begins as the settings of listed names do.
fn is_listed_setting(name: &str) -> bool {
    LISTED_SETTINGS.iter().flat_map(|settings| settings.prefixes).any(|prefix| name.starts_with(prefix))
}

/// Returns a warning if the beginning of an entry is spelt like a prefix. Unless the list has the name that
/// follows, the entry must be neither a known setting nor a macro.
fn misspelt_prefix(
    entry: &ConfigurationEntry,
    settings: &ListedSettings,
    names: &FxHashSet<String>,
    macros: &FxHashSet<String>,
) -> Option<Problem> {
    let upper = entry.name.to_ascii_uppercase();
    let is_known = PolicyKnob::find(&upper).is_some() || is_listed_setting(&upper) || macros.contains(&upper);
    let mut meant = None;
    for (at, _) in upper.match_indices('_') {
        let (start, name) = upper.split_at(at + 1);
        if name.is_empty() || (is_known && !names.contains(name)) {
            continue;
        }
        if settings.prefixes.contains(&start) {
            return None;
        }
        let is_near = |prefix: &&&str| (1..=MAX_WRONG_LETTERS).contains(&osa_distance(prefix, start));
        let near = settings.prefixes.iter().find(is_near).map(|near| format!("{near}{}", &entry.name[at + 1..]));
        meant = meant.or(near);
    }
    let message = format!("{} is not a setting of HTCondor", entry.name);
    Some(warning(entry, message).with_help(format!("did you mean {}?", meant?)))
}

/// Returns a warning for each group with two quotas.
fn both_quotas(configuration: &Configuration) -> impl Iterator<Item = Problem> + '_ {
    configuration.entries().iter().filter_map(|entry| {
        let (start, name) = entry.name.split_at_checked("GROUP_QUOTA_DYNAMIC_".len())?;
        let fixed = configuration.entry(&format!("GROUP_QUOTA_{name}"))?;
        let is_dynamic = start.eq_ignore_ascii_case("GROUP_QUOTA_DYNAMIC_");
        is_dynamic.then(|| warning(entry, format!("{} has no effect: {} counts", entry.name, fixed.name)))
    })
}

/// Returns a warning if an entry is a policy that HTCondor does not evaluate.
fn unevaluated(configuration: &Configuration, entry: &ConfigurationEntry, context: &Context) -> Option<Problem> {
    let upper = entry.name.to_ascii_uppercase();
    let is_condition = upper.starts_with(UNEVALUATED_KNOB) && is_condition(&upper) && !upper.ends_with("_NAMES");
    let value = configuration.raw_value(entry);
    if !is_condition || value.is_empty() || constant_truth(value, context) == Some(false) {
        return None;
    }
    let message = format!("{} has no effect: HTCondor does not evaluate it", entry.name);
    Some(warning(entry, message).with_help("a job's own `periodic_vacate` has an effect"))
}

/// Returns a warning if a name in a list has no setting.
fn undefined(
    configuration: &Configuration,
    list: &ConfigurationEntry,
    settings: &ListedSettings,
    name: &str,
) -> Option<Problem> {
    let is_defined = settings.prefixes.iter().any(|prefix| configuration.entry(&format!("{prefix}{name}")).is_some());
    if is_defined || settings.others.iter().any(|other| other.eq_ignore_ascii_case(name)) {
        return None;
    }
    let wanted = format!("{}{name}", settings.prefixes[0]);
    let message = format!("{}: {wanted} has no value", list.name);
    Some(Problem::error_at(list.value_range.clone(), 0, message).as_warning())
}

/// Returns a warning if an entry is a setting of a name that the list lacks.
fn unlisted(entry: &ConfigurationEntry, settings: &ListedSettings, names: &FxHashSet<String>) -> Option<Problem> {
    let name = settings.prefixes.iter().find_map(|prefix| {
        let (start, name) = entry.name.split_at_checked(prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then_some(name)
    })?;
    let upper = name.to_ascii_uppercase();
    let is_other = settings.others.contains(&upper.as_str());
    let is_of_name = settings.endings.iter().any(|ending| upper.ends_with(ending));
    if is_other || is_of_name || names.contains(&upper) {
        return None;
    }
    let message = format!("{} has no effect: {} does not list {name}", entry.name, settings.list);
    let help = if osa_distance(settings.list, &entry.name.to_ascii_uppercase()) == 1 {
        format!("did you mean {}?", settings.list)
    } else {
        format!("add {name} to {}, or delete this setting", settings.list)
    };
    Some(warning(entry, message).with_help(help))
}

fn warning(entry: &ConfigurationEntry, message: String) -> Problem {
    Problem::error_at(entry.name_range.clone(), 0, message).as_warning()
}

#[cfg(test)]
mod tests {
    use super::unused_settings;
    use crate::ad::Dialect;
    use crate::configuration::Configuration;
    use crate::eval::Context;

    fn messages(dump: &str) -> Vec<String> {
        let (configuration, problems) = Configuration::read(dump.as_bytes());
        assert!(problems.is_empty(), "{problems:?}");
        let found = unused_settings(&configuration, &Context::new(Dialect::Condor));
        found.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn settings_without_effect_are_found() {
        let dump = "GROUP_NAMES = physics, bio\nGROUP_QUOTA_Physics = 5\nGROUP_QUOTA_DYNAMIC_chem = 0.5\n\
            GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 3\nSUBMIT_REQUIREMENT_NAMES = A B\nSUBMIT_REQUIREMENT_A = true\n\
            SUBMIT_REQUIREMENT_A_REASON = \"a\"\nSUBMIT_REQUIREMENT_C = true\nSYSTEM_PERIODIC_HOLD_NAMES = X\n\
            SYSTEM_PERIODIC_HOLD_REASON = \"b\"\nSYSTEM_PERIODIC_HOLD_X = true\n";
        assert_eq!(
            messages(dump),
            [
                "GROUP_QUOTA_DYNAMIC_chem has no effect: GROUP_NAMES does not list chem",
                "SUBMIT_REQUIREMENT_NAMES: SUBMIT_REQUIREMENT_B has no value",
                "SUBMIT_REQUIREMENT_C has no effect: SUBMIT_REQUIREMENT_NAMES does not list C",
            ]
        );
    }

    #[test]
    fn misspelt_names_are_found() {
        let dump = "SYSTEM_PERIODIC_HOLD_NAMES = b, a_b\nSYSTEM_PERIODIC_HOLD_b = true\nSYSTEM_PERIODIC_HOLD_a_b = true\n\
            STRAT = true\nSTARTD = /usr/sbin/condor_startd\nSYSTEM_PERIODC_HOLD = true\nPREEMPTS = 1\n\
            PREEMPT = $(PREEMPTS) > 2\nGROUP_NAME = a\nWANT_SUSPEND = false\nNEGOTIATOR_CONSIDER_PREEMTION = false\n";
        let names = ["STRAT", "SYSTEM_PERIODC_HOLD", "GROUP_NAME", "NEGOTIATOR_CONSIDER_PREEMTION"];
        assert_eq!(
            messages(dump),
            names.map(|name| format!("{name} is not a setting of HTCondor, and no macro uses it"))
        );
    }

    #[test]
    fn a_policy_that_is_never_evaluated_is_found() {
        let dump = "SYSTEM_PERIODIC_VACATE = JobStatus == 2\nSYSTEM_PERIODIC_VACATE_REASON = \"x\"\n";
        assert_eq!(messages(dump), ["SYSTEM_PERIODIC_VACATE has no effect: HTCondor does not evaluate it"]);
        assert!(messages("SYSTEM_PERIODIC_VACATE = False\n").is_empty());
    }

    #[test]
    fn settings_and_macros_that_are_spelt_like_a_policy_are_no_mistakes() {
        let dump = "UNHIBERNATE = MY.MachineLastMatchTime =!= UNDEFINED\nIsOwner = false\nRELEASE_DIR = /usr\n\
            SHARE = $(RELEASE_DIR)/share/condor\nSTORK = $(SBIN)/stork_server\nSTARTX = $(RELEASE_DIR)/x\nSHARK = 1\n\
            STARTS = true\n";
        assert_eq!(messages(dump), ["STARTS is not a setting of HTCondor, and no macro uses it"]);
    }

    #[test]
    fn misspelt_beginnings_are_found() {
        let dump = "GROUP_NAMES = a\nGROUP_QOUTA_a = 1\nGROUP_QOUTA_b = 2\nGROUP_QUOTE_c = 3\nGROUP_QUOTA_a = $(GROUP_QUOTE_c)\n\
                    GROUP_LIST_d = 1\nJOB_TRANSFORM_NAMES =\n";
        let names = ["GROUP_QOUTA_a", "GROUP_QOUTA_b"];
        assert_eq!(messages(dump), names.map(|name| format!("{name} is not a setting of HTCondor")));
    }

    #[test]
    fn a_misspelt_list_is_no_setting_of_a_name() {
        let (configuration, _) = Configuration::read(b"SUBMIT_REQUIREMENT_NAME = A\n");
        let found = unused_settings(&configuration, &Context::new(Dialect::Condor));
        assert_eq!(found[0].help.as_deref(), Some("did you mean SUBMIT_REQUIREMENT_NAMES?"));
    }
}
