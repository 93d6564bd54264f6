//! The command line: one file for each subcommand, a struct that is its arguments, with `run`.

pub mod args;
pub mod commands;
pub mod io;
mod matching_run;
pub mod render;
mod session;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};

use args::global::GlobalOptions;
use session::Session;

/// What a command has to say by its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// True, found, clean.
    Yes,
    /// Ran fine, but false, nothing, findings.
    No,
    /// Usage, input or output.
    Trouble,
    /// A budget was exceeded.
    Budget,
    /// `eval -e`: undefined.
    Undefined,
    /// `eval -e`: error.
    Error,
}

impl Status {
    pub fn code(self) -> u8 {
        match self {
            Status::Yes => 0,
            Status::No => 1,
            Status::Trouble => 2,
            Status::Budget => 3,
            Status::Undefined => 4,
            Status::Error => 5,
        }
    }

    pub fn of(yes: bool) -> Self {
        if yes { Status::Yes } else { Status::No }
    }
}

/// Why a command could not go on.
#[derive(Debug)]
pub enum Failure {
    /// The output could not be written.
    Output(std::io::Error),
    /// What was asked cannot be done; the reason has been or is to be reported.
    Refused(Option<String>),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Reading, evaluating, querying and matching classified advertisements (ClassAds).
#[derive(Parser)]
#[command(name = "classad", version, long_version = VERSION, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(subcommand_required = true)]
struct Root {
    #[command(flatten)]
    options: GlobalOptions,
}

/// What the arguments ask for.
struct Cli {
    options: GlobalOptions,
    command: Command,
}

/// The commands: the name of each, and the struct that is its arguments.
macro_rules! commands {
    ($($word:literal $name:ident($arguments:ty),)*) => {
        enum Command {
            $($name($arguments),)*
        }

        impl Command {
            /// The trees of all commands, or only of the one of a name: to make all takes longer than many a run.
            fn trees(only: Option<&str>) -> Vec<clap::Command> {
                let mut trees = Vec::new();
                $(if only.is_none_or(|only| only == $word) {
                    trees.push(<$arguments>::augment_args(clap::Command::new($word)));
                })*
                trees
            }

            /// The command that the arguments are for.
            fn of(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($word, matches)) => <$arguments>::from_arg_matches(matches).map(Command::$name),)*
                    // The tree has no other, and wants one.
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn run(&self, session: &mut Session) -> Result<Status, Failure> {
                match self {
                    $(Command::$name(command) => command.run(session),)*
                }
            }
        }
    };
}

commands! {
    "parse" Parse(commands::parse::Parse),
    "fmt" Fmt(commands::fmt::Fmt),
    "check" Check(commands::check::Check),
    "eval" Eval(commands::eval::Eval),
    "query" Query(commands::query::QueryCommand),
    "match" Match(commands::r#match::MatchCommand),
    "gangmatch" Gangmatch(commands::gangmatch::Gangmatch),
    "claim" Claim(commands::claim::ClaimCommand),
    "negotiate" Negotiate(commands::negotiate::Negotiate),
    "autocluster" Autocluster(commands::autocluster::Autocluster),
    "explain" Explain(commands::explain::Explain),
    "convert" Convert(commands::convert::Convert),
    "diff" Diff(commands::diff::Diff),
    "census" Census(commands::census::CensusCommand),
    "specialize" Specialize(commands::specialize::Specialize),
    "refs" Refs(commands::refs::Refs),
    "transform" Transform(commands::transform::TransformCommand),
    "test" Test(commands::test::TestCommand),
    "functions" Functions(commands::functions::Functions),
    "workload" Workload(commands::workload::Workload),
    "repl" Repl(commands::repl::Repl),
    "completions" Completions(commands::completions::Completions),
    "man" Man(commands::help::manual::ManualCommand),
    "help" Help(commands::help::Help),
}

/// What this is, for a report of a fault.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nHTCondor 25's dialect and the papers'; PCRE2 inside; Apache License 2.0\n",
    env!("CARGO_PKG_REPOSITORY")
);

/// The tree of commands and their options.
fn tree() -> clap::Command {
    root().subcommands(Command::trees(None))
}

/// The same, without the commands that the first of the arguments does not name.
fn tree_for(arguments: &[OsString]) -> clap::Command {
    let word = arguments.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let named = Command::trees(Some(word));
    if named.is_empty() { tree() } else { root().subcommands(named) }
}

fn root() -> clap::Command {
    let statuses = "Exit status: 0 true, found or clean; 1 false, nothing or findings; 2 usage, input or output; \
                    3 a budget was exceeded.";
    Root::command().after_help(format!("{}\n\n{statuses}", commands::help::topic_list()))
}

/// The arguments, taken apart.  What is not for a command has been done: its exit status.
fn read_arguments() -> Result<Cli, u8> {
    let told = |message: String| {
        eprintln!("error: {message}");
        Status::Trouble.code()
    };
    let arguments = args::condor_options::translate(std::env::args_os().collect(), &tree).map_err(told)?;
    let tree = args::config_file::apply_defaults(tree_for(&arguments)).map_err(told)?;
    taken_apart(tree, arguments).map_err(|error| {
        // A closed pipe is no one's fault.
        let _ = error.print();
        if error.use_stderr() { Status::Trouble.code() } else { 0 }
    })
}

fn taken_apart(tree: clap::Command, arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = tree.try_get_matches_from(arguments)?;
    Ok(Cli { options: Root::from_arg_matches(&matches)?.options, command: Command::of(&matches)? })
}

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    let Cli { options, command } = match read_arguments() {
        Ok(cli) => cli,
        Err(status) => return ExitCode::from(status),
    };
    render::progress::enable(&options);
    let mut session = Session::new(options);
    let result = command.run(&mut session);
    // What could not be handed on before is told now.
    let result = result.and_then(|status| Ok(render::output::out().flush().map(|()| status)?));
    render::progress::clear();
    ExitCode::from(session.exit_code(result))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{taken_apart, tree, tree_for};

    #[test]
    fn a_command_is_the_same_alone_as_among_all() {
        for command in tree().get_subcommands() {
            let arguments: Vec<OsString> = ["classad", command.get_name(), "--help"].map(Into::into).into();
            let alone = tree_for(&arguments);
            assert_eq!(alone.get_subcommands().count(), 1, "{}", command.get_name());
            let help = |tree| taken_apart(tree, arguments.clone()).err().map(|help| help.to_string());
            assert_eq!(help(alone), help(tree()));
        }
        // A misspelt one is told what it may have meant, and an alias is that of another.
        for word in ["mtach", "why", "--help"] {
            assert!(tree_for(&["classad".into(), word.into()]).get_subcommands().count() > 1, "{word}");
        }
    }
}
