//! The commands `:set` and `:dialect`, and the table of settings.

use clap::ValueEnum;
use classad::ad::Dialect;
use classad::eval::RandomStream;

use super::argument::CommandArgument;
use super::state::ReplState;
use crate::cli::Failure;
use crate::cli::args::global::{self, Color};

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
pub static SETTINGS: [ReplSetting; 5] = [
    ReplSetting {
        name: "max-steps",
        values: "N",
        doc: "how many steps one evaluation may take",
        get: |desk| desk.session.context().max_steps.to_string(),
        set: |desk, value| {
            desk.session.context_mut().max_steps = parse_number(value)?;
            Ok(())
        },
    },
    ReplSetting {
        name: "max-depth",
        values: "N",
        doc: "how many evaluations may be nested in one another",
        get: |desk| desk.session.context().max_depth.to_string(),
        set: |desk, value| {
            desk.session.context_mut().max_depth = parse_number(value)?;
            Ok(())
        },
    },
    ReplSetting {
        name: "now",
        values: "TIME",
        doc: "the time that functions read",
        get: |desk| desk.session.context().now.map_or_else(String::new, |now| now.to_string()),
        set: |desk, value| {
            desk.session.context_mut().now = Some(global::time(value)?);
            Ok(())
        },
    },
    ReplSetting {
        name: "seed",
        values: "N",
        doc: "where chance starts",
        get: |desk| desk.session.options.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()),
        set: |desk, value| {
            let seed = parse_number(value)?;
            desk.session.options.seed = Some(seed);
            desk.session.context_mut().random = Some(RandomStream::new(seed));
            Ok(())
        },
    },
    ReplSetting {
        name: "color",
        values: "auto|always|never",
        doc: "when to use colour in what is printed",
        get: |desk| {
            desk.session.options.color.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
        },
        set: |desk, value| {
            desk.session.options.color = Color::from_str(value, true)?;
            Ok(())
        },
    },
];

fn parse_number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("`{value}` is no number that it can be"))
}

/// `:set`: prints all settings or one of them, or changes one.
pub fn set(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let text = argument.text;
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, value) = (argument.part(0..end), text[end..].trim());
    if name.is_empty() {
        let lines =
            SETTINGS.iter().map(|setting| format!("{:<9}  {:<12}  {}", setting.name, (setting.get)(desk), setting.doc));
        let lines: Vec<String> = lines.collect();
        return desk.print(&lines.join("\n"));
    }
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name.text) else {
        let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        let message = format!("there is no setting `{}`: there are {}", name.text, names.join(", "));
        return Err(name.report_error(desk.session, message));
    };
    if value.is_empty() {
        let text = format!("{}  ({}: {})", (setting.get)(desk), setting.values, setting.doc);
        return desk.print(&text);
    }
    (setting.set)(desk, value).map_err(|message| argument.report_error(desk.session, message))
}

/// `:dialect`: prints the dialect, or changes it.
pub fn dialect(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return desk.print(desk.session.dialect().as_str());
    }
    match argument.text.parse::<Dialect>() {
        Ok(dialect) => {
            desk.set_dialect(dialect);
            Ok(())
        }
        Err(message) => Err(argument.report_error(desk.session, message)),
    }
}
