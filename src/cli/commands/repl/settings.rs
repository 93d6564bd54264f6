//! The commands `:set` and `:dialect`, and the table of settings.

use clap::ValueEnum;

use super::argument::EntryPart;
use super::state::ReplState;
use crate::cli::args::global::{self, Color, TimeOption};
use crate::cli::outcome::Failure;

/// A setting of the session, which `:set` prints or changes.
pub struct ReplSetting {
    pub name: &'static str,
    /// Synopsis of the possible values.
    pub values: &'static str,
    pub doc: &'static str,
    get: fn(&ReplState<'_>) -> String,
    set: fn(&mut ReplState<'_>, &str) -> Result<(), String>,
}

/// All settings.
pub static SETTINGS: [ReplSetting; 6] = [
    ReplSetting {
        name: "max-steps",
        values: "N",
        doc: "maximum number of steps of one evaluation",
        get: |state| state.session.context().max_steps.to_string(),
        set: |state, value| parse_number(value).map(|steps| state.session.context_mut().max_steps = steps),
    },
    ReplSetting {
        name: "max-depth",
        values: "N",
        doc: "maximum depth of nested evaluations",
        get: |state| state.session.context().max_depth.to_string(),
        set: |state, value| parse_number(value).map(|depth| state.session.context_mut().max_depth = depth),
    },
    ReplSetting {
        name: "max-value-bytes",
        values: "N",
        doc: "maximum number of bytes of the values that functions make in one evaluation",
        get: |state| state.session.context().max_value_bytes.to_string(),
        set: |state, value| parse_number(value).map(|bytes| state.session.context_mut().max_value_bytes = bytes),
    },
    ReplSetting {
        name: "now",
        values: "TIME",
        doc: "the time that functions read",
        get: |state| state.session.context().now.map_or_else(String::new, |now| now.to_string()),
        set: |state, value| {
            global::time(value).map(|now| {
                state.session.options.now = Some(TimeOption::At(now));
                state.session.set_time(now);
            })
        },
    },
    ReplSetting {
        name: "seed",
        values: "N",
        doc: "seed of random numbers",
        get: |state| state.session.options.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()),
        set: |state, value| parse_number(value).map(|seed| state.session.set_seed(seed)),
    },
    ReplSetting {
        name: "color",
        values: "auto|always|never",
        doc: "when to use colour in the output",
        get: |state| {
            state.session.options.color.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
        },
        set: |state, value| {
            let color = Color::from_str(value, true);
            color.map(|color| state.session.options.color = color).map_err(|_| "write auto, always or never".to_owned())
        },
    },
];

fn parse_number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("`{value}` is not a valid number for this setting"))
}

/// `:set`: prints all settings or one of them, or changes one.
pub fn set(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let (name, value) = argument.split_first_word();
    if name.is_empty() {
        let width = SETTINGS.iter().map(|set| set.name.len()).max().unwrap_or_default();
        let line = |set: &ReplSetting| format!("{:<width$}  {:<12}  {}", set.name, (set.get)(state), set.doc);
        return state.print_lines(SETTINGS.iter().map(line));
    }
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name.text) else {
        let names = SETTINGS.each_ref().map(|setting| setting.name).join(", ");
        return Err(state.error_at(name, format!("there is no setting `{}`: the settings are {names}", name.text)));
    };
    if value.is_empty() {
        return state.print(&format!("{}  ({}: {})", (setting.get)(state), setting.values, setting.doc));
    }
    (setting.set)(state, value.text).map_err(Failure::refused)
}

/// `:dialect`: prints the dialect, or changes it.
pub fn dialect(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return state.print(state.session.dialect().as_str());
    }
    argument.text.parse().map(|dialect| state.set_dialect(dialect)).map_err(Failure::refused)
}
