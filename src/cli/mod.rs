//! The command line: one file for each subcommand, a struct that is its arguments, with `run`.

mod accelerating;
mod advertising;
mod autocluster;
mod cases;
mod census;
mod chart;
mod check;
mod claim;
mod completions;
mod convert;
mod defaults;
mod diff;
mod earlier;
mod eval;
mod explain;
mod fmt;
mod functions;
mod gangmatch;
mod help;
mod input;
mod known;
mod matches;
mod negotiate;
mod notify;
mod options;
mod output;
mod pairs;
mod parse;
mod parties;
mod pattern;
mod policy;
mod progress;
mod query;
mod refs;
mod repl;
mod report;
mod rows;
mod session;
mod source;
mod specialize;
mod test;
mod trace;
mod transform;
mod what_if;
mod words;
mod workload;
mod write;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use options::Options;
use session::Session;

/// What a command has to say by its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
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
    fn code(self) -> u8 {
        match self {
            Status::Yes => 0,
            Status::No => 1,
            Status::Trouble => 2,
            Status::Budget => 3,
            Status::Undefined => 4,
            Status::Error => 5,
        }
    }

    fn of(yes: bool) -> Self {
        if yes { Status::Yes } else { Status::No }
    }
}

/// Why a command could not go on.
#[derive(Debug)]
enum Failure {
    /// The output could not be written.
    Output(io::Error),
    /// What was asked cannot be done; the reason has been or is to be reported.
    Refused(Option<String>),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

/// Reading, evaluating, querying and matching classified advertisements (ClassAds).
#[derive(Parser)]
#[command(name = "classad", version, long_version = VERSION, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Parse(parse::Parse),
    Fmt(fmt::Fmt),
    Check(check::Check),
    Eval(eval::Eval),
    Query(query::Query),
    Match(matches::Match),
    Gangmatch(gangmatch::Gangmatch),
    Claim(claim::ClaimCommand),
    Negotiate(negotiate::Negotiate),
    Autocluster(autocluster::Autocluster),
    Explain(explain::Explain),
    Convert(convert::Convert),
    Diff(diff::Diff),
    Census(census::CensusCommand),
    Specialize(specialize::Specialize),
    Refs(refs::Refs),
    Transform(transform::TransformAds),
    Test(test::Test),
    Functions(functions::Functions),
    Workload(workload::Workload),
    Repl(repl::Repl),
    Completions(completions::Completions),
    Man(help::manual::ManualCommand),
    Help(help::Help),
}

/// What this is, for a report of a fault.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nHTCondor 25's dialect and the papers'; PCRE2 inside; Apache License 2.0\n",
    env!("CARGO_PKG_REPOSITORY")
);

/// The tree of commands and their options.
fn tree() -> clap::Command {
    let statuses = "Exit status: 0 true, found or clean; 1 false, nothing or findings; 2 usage, input or output; \
                    3 a budget was exceeded.";
    Cli::command().after_help(format!("{}\n\n{statuses}", help::topics_in_short()))
}

/// The arguments, taken apart.  What is not for a command has been done: its exit status.
fn read_arguments() -> Result<Cli, u8> {
    let told = |message: String| {
        eprintln!("error: {message}");
        Status::Trouble.code()
    };
    let arguments = words::translated(std::env::args_os().collect(), &tree).map_err(told)?;
    let tree = defaults::applied(tree()).map_err(told)?;
    let matches = tree.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    matches.map_err(|error| {
        // A closed pipe is no one's fault.
        let _ = error.print();
        if error.use_stderr() { Status::Trouble.code() } else { 0 }
    })
}

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    let cli = match read_arguments() {
        Ok(cli) => cli,
        Err(status) => return ExitCode::from(status),
    };
    progress::allow(&cli.options);
    let mut session = Session::new(cli.options);
    let result = match &cli.command {
        Command::Parse(command) => command.run(&mut session),
        Command::Fmt(command) => command.run(&mut session),
        Command::Check(command) => command.run(&mut session),
        Command::Eval(command) => command.run(&mut session),
        Command::Query(command) => command.run(&mut session),
        Command::Match(command) => command.run(&mut session),
        Command::Gangmatch(command) => command.run(&mut session),
        Command::Claim(command) => command.run(&mut session),
        Command::Negotiate(command) => command.run(&mut session),
        Command::Autocluster(command) => command.run(&mut session),
        Command::Explain(command) => command.run(&mut session),
        Command::Diff(command) => command.run(&mut session),
        Command::Census(command) => command.run(&mut session),
        Command::Convert(command) => command.run(&mut session),
        Command::Specialize(command) => command.run(&mut session),
        Command::Refs(command) => command.run(&mut session),
        Command::Transform(command) => command.run(&mut session),
        Command::Test(command) => command.run(&mut session),
        Command::Functions(command) => command.run(&mut session),
        Command::Workload(command) => command.run(&mut session),
        Command::Repl(command) => command.run(&mut session),
        Command::Completions(command) => command.run(&session),
        Command::Man(command) => command.run(&session),
        Command::Help(command) => command.run(&session),
    };
    // What could not be handed on before is told now.
    let result = result.and_then(|status| Ok(output::out().flush().map(|()| status)?));
    progress::end();
    ExitCode::from(session.conclude(result))
}
