//! Defaults of the global options, of `--id` and of `-o`: `CLASSAD_DIALECT`, and `classad/config.yaml` in the user's
//! configuration directory.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use classad::ad::{Dialect, ExpressionKind, Value};
use classad::format::{FileFormat, read};
use classad::text::{closest_names, suggestion};

use super::output::{output_option, takes_form};
use crate::cli::outcome::io_reason;

/// The option that names ads. Not all commands have it, but it has one default in all.
const NAMING_OPTION: &str = "id";

/// The option that sets the form of the output. Its default counts in the commands that take the form.
const FORM_OPTION: &str = "output";

/// A default value of an option, and the file or variable that sets it.
struct OptionDefault {
    name: String,
    value: String,
    source: String,
}

/// Returns the tree of commands with the user's defaults applied to its global options.
///
/// # Errors
///
/// The message for the user, if a default names no global option or has a value that the option does not take.
pub fn apply_defaults(mut tree: Command) -> Result<Command, String> {
    let mut defaults = read_config_file()?;
    // The environment variable overrides the file: of several defaults of an option, the last one counts.
    if let Some(value) = env::var("CLASSAD_DIALECT").ok().filter(|value| !value.is_empty()) {
        defaults.push(OptionDefault { name: "dialect".to_owned(), value, source: "CLASSAD_DIALECT".to_owned() });
    }
    for OptionDefault { name, value, source } in defaults {
        let options = || tree.get_arguments().filter(|arg| arg.is_global_set());
        let long = name.replace('_', "-");
        if long == NAMING_OPTION {
            tree = with_default(tree, &|command| option_named(command, NAMING_OPTION), value.leak());
            continue;
        }
        if long == FORM_OPTION {
            let takes = |command: &Command| output_option(command).is_some_and(|option| takes_form(option, &value));
            if !tree.get_subcommands().any(takes) {
                return Err(format!("{source}: there is no output format {value}"));
            }
            let taking = |command: &Command| output_option(command).filter(|_| takes(command)).cloned();
            tree = with_default(tree, &taking, value.clone().leak());
            continue;
        }
        let Some(option) = options().find(|arg| arg.get_long() == Some(&long)).cloned() else {
            let near = closest_names(&long, options().filter_map(Arg::get_long));
            let hint = suggestion(&near);
            return Err(format!("{source}: {name} is not `id`, `output` or an option of every command{hint}"));
        };
        check_value(&option, &long, &value).map_err(|fault| format!("{source}: {fault}"))?;
        // clap wants `'static` values; the text is needed until the process ends.
        let value: &'static str = value.leak();
        tree = tree.mut_arg(option.get_id(), |arg| arg.default_value(flag_default(&option, value)));
    }
    Ok(tree)
}

/// Sets the default value of the option that `find` returns for a command, in all commands below `tree`.
fn with_default(tree: Command, find: &dyn Fn(&Command) -> Option<Arg>, value: &'static str) -> Command {
    tree.mut_subcommands(|command| {
        let command = with_default(command, find, value);
        match find(&command) {
            Some(option) => command.mut_arg(option.get_id(), |arg| arg.required(false).default_value(value)),
            None => command,
        }
    })
}

fn option_named(command: &Command, long: &str) -> Option<Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(long)).cloned()
}

/// Returns the value that clap takes as the default of an option: a number for one that is counted, such as `-vv`.
fn flag_default<'v>(option: &Arg, value: &'v str) -> &'v str {
    match (option.get_action(), value) {
        (ArgAction::Count, "true") => "1",
        (ArgAction::Count, "false") => "0",
        _ => value,
    }
}

/// Checks that the option takes this value, by letting clap parse it.
fn check_value(option: &Arg, long: &str, value: &str) -> Result<(), String> {
    let words = match option.get_action().takes_values() {
        true => vec!["classad".to_owned(), format!("--{long}={value}")],
        false if matches!(value, "true" | "false") => return Ok(()),
        false => return Err(format!("{long} must be true or false, not {value}")),
    };
    let parsed = Command::new("classad").arg(option.clone()).try_get_matches_from(words);
    // Up to its first blank line, clap's message has the reason, after the word "error", and the possible values.
    let reason = |message: &str| {
        let lines: Vec<&str> = message.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        lines.join(" ").trim_start_matches("error: ").to_owned()
    };
    parsed.map(drop).map_err(|fault| reason(&fault.to_string()))
}

/// The configuration file in the user's configuration directory, and its former place.
const CONFIG_FILES: [&str; 2] = ["classad/config.yaml", "classad.yaml"];

/// Reads the defaults from the first of [`CONFIG_FILES`] that exists. Without one, there are no defaults.
fn read_config_file() -> Result<Vec<OptionDefault>, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let Some(folder) = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config"))) else {
        return Ok(Vec::new());
    };
    let mut found = None;
    for name in CONFIG_FILES {
        let path = folder.join(name);
        let source = path.display().to_string();
        match fs::read(&path) {
            Ok(text) => {
                found = Some((source, text));
                break;
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(format!("cannot read {source}: {}", io_reason(&error))),
        }
    }
    let Some((source, text)) = found else { return Ok(Vec::new()) };
    let mut defaults = Vec::new();
    for entry in read(&text, FileFormat::Yaml, Dialect::Classad) {
        let ad = entry.map_err(|problem| format!("{source}: {}", problem.message))?.ad;
        for attribute in ad.iter() {
            let name = attribute.name.as_str().to_owned();
            let value = match attribute.expression.kind() {
                ExpressionKind::Literal(Value::String(text)) => text.to_str().into_owned(),
                ExpressionKind::Literal(Value::Integer(number)) => number.to_string(),
                ExpressionKind::Literal(Value::Boolean(is)) => is.to_string(),
                _ => return Err(format!("{source}: {name} must be text, a whole number, true or false")),
            };
            defaults.push(OptionDefault { name, value, source: source.clone() });
        }
    }
    Ok(defaults)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::{check_value, flag_default, with_default};

    #[test]
    fn values_are_those_that_the_option_takes() {
        let of = |action| Arg::new("x").long("x").action(action);
        let dialect = of(ArgAction::Set).value_parser(["classad", "condor"]);
        for (option, value, default, fault) in [
            (of(ArgAction::Count), "true", "1", None),
            (of(ArgAction::Count), "false", "0", None),
            (of(ArgAction::Count), "2", "2", Some("x must be true or false, not 2")),
            (of(ArgAction::SetTrue), "true", "true", None),
            (of(ArgAction::SetTrue), "false", "false", None),
            (of(ArgAction::SetTrue), "yes", "yes", Some("x must be true or false, not yes")),
            (of(ArgAction::Set), "true", "true", None),
            (of(ArgAction::Set), "-", "-", None),
            (dialect.clone(), "condor", "condor", None),
            (dialect, "old", "old", Some("invalid value 'old' for '--x <x>' [possible values: classad, condor]")),
        ] {
            assert_eq!(flag_default(&option, value), default);
            assert_eq!(check_value(&option, "x", value).err().as_deref(), fault, "{value}");
        }
    }

    #[test]
    fn a_default_reaches_the_commands_below() {
        let id = || Arg::new("id").long("id").required(true);
        let tree = Command::new("classad")
            .subcommand(Command::new("a").subcommand(Command::new("b").arg(id())))
            .subcommand(Command::new("c").arg(id()))
            .subcommand(Command::new("d"));
        let find = |command: &Command| command.get_arguments().find(|arg| arg.get_long() == Some("id")).cloned();
        let tree = with_default(tree, &find, "Name");
        for line in [&["classad", "a", "b"][..], &["classad", "c"]] {
            let matches = tree.clone().try_get_matches_from(line).unwrap();
            let mut matches = matches.subcommand().unwrap().1;
            while let Some((_, below)) = matches.subcommand() {
                matches = below;
            }
            assert_eq!(matches.get_one::<String>("id").map(String::as_str), Some("Name"), "{line:?}");
        }
        assert!(tree.try_get_matches_from(["classad", "d"]).is_ok());
    }
}
