//! The command line: one file for each subcommand, a struct that is its arguments, with `run`.

mod accelerating;
mod advertising;
mod autocluster;
mod cases;
mod census;
mod check;
mod claim;
mod convert;
mod diff;
mod earlier;
mod eval;
mod explain;
mod fmt;
mod functions;
mod gangmatch;
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
mod report;
mod rows;
mod session;
mod source;
mod specialize;
mod trace;
mod transform;
mod what_if;
mod workload;
mod write;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
#[command(name = "classad", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 true, found or clean; 1 false, nothing or findings; 2 usage, input or output; \
                        3 a budget was exceeded.")]
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
    Functions(functions::Functions),
    Workload(workload::Workload),
}

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no one's fault.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Status::Trouble.code() } else { 0 });
        }
    };
    let options = match cli.options.complete() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(Status::Trouble.code());
        }
    };
    progress::allow(&options);
    let mut session = Session::new(options);
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
        Command::Functions(command) => command.run(&mut session),
        Command::Workload(command) => command.run(&mut session),
    };
    progress::end();
    ExitCode::from(session.conclude(result))
}
