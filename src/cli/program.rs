//! The program: the table of commands, and what runs the command that the arguments ask for.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use classad::text::closest_names;

use super::args::global::GlobalOptions;
use super::commands::convert::Convert;
use super::commands::demo::{DEMO_COMMAND, Demo};
use super::commands::merge::MergeCommand;
use super::commands::query::QueryCommand;
use super::commands::scatter::ScatterCommand;
use super::io::partial::{PartialCommand, PartialInput, PartialResults, end_of_options};
use super::io::standard_streams::{block_size_signal, check_stdout};
use super::outcome::{Failure, Status, io_reason, refuse};
use super::render::diagnostics::single_line;
use super::session::Session;
use super::{args, commands, io, render};

/// Query, match and check ClassAds, the ads of HTCondor's jobs and machines.
#[derive(Parser)]
#[command(name = "classad", version, long_version = VERSION, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct ProgramOptions {
    #[command(flatten)]
    options: GlobalOptions,
}

/// What a command line asks for.
struct CommandLine {
    options: GlobalOptions,
    command: Command,
}

/// Defines the enum of commands. Each command has a name, and a struct that holds its arguments and runs it. A function
/// after `by` runs a command that needs other commands.
macro_rules! commands {
    ($($name:ident $arguments:ty $(, by $run:path)?;)*) => {
        /// The commands.
        #[derive(Subcommand)]
        #[allow(clippy::large_enum_variant)] // a run has one
        enum Command {
            $($name($arguments),)*
        }

        impl Command {
            /// What defines the arguments of each command for clap.
            const DEFINITIONS: &[(&'static str, fn(clap::Command) -> clap::Command)] =
                &[$((stringify!($name), <$arguments>::augment_args),)*];

            fn run(&self, session: &mut Session) -> Result<Status, Failure> {
                match self {
                    $(Command::$name(command) => commands!(@run command session $($run)?),)*
                }
            }
        }
    };
    (@run $command:ident $session:ident) => { $command.run($session) };
    (@run $command:ident $session:ident $run:path) => { $run($command, $session) };
}

commands! {
    Parse commands::parse::Parse;
    Fmt commands::fmt::Fmt;
    Check commands::check::Check;
    Eval commands::eval::Eval;
    Query commands::query::QueryCommand;
    Match commands::r#match::MatchCommand;
    Gangmatch commands::gangmatch::Gangmatch;
    Collect commands::collect::CollectCommand;
    Claim commands::claim::ClaimCommand;
    Negotiate commands::negotiate::Negotiate;
    Autocluster commands::autocluster::Autocluster;
    Explain commands::explain::ExplainCommand;
    Convert commands::convert::Convert, by convert;
    Diff commands::diff::Diff;
    Join commands::join::JoinCommand;
    Census commands::census::CensusCommand;
    Sample commands::sample::SampleCommand;
    Split commands::split::SplitCommand;
    Anonymize commands::anonymize::AnonymizeCommand;
    Parts commands::parts::PartsCommand;
    Scatter commands::scatter::ScatterCommand, by scatter;
    Merge commands::merge::MergeCommand, by merge;
    Specialize commands::specialize::Specialize;
    Refs commands::refs::Refs;
    Transform commands::transform::TransformCommand;
    Route commands::route::RouteCommand;
    Test commands::test::TestCommand;
    Functions commands::functions::Functions;
    Demo commands::demo::Demo, by demo;
    Workload commands::workload::Workload;
    Repl commands::repl::Repl;
    Completions commands::completions::Completions;
    Man commands::help::manual::ManualCommand;
    Help commands::help::Help;
}

impl Command {
    /// Returns clap's definition of the commands that `is_wanted` chooses by their names, in lower case.
    fn definitions(is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = clap::Command> {
        let named = Self::DEFINITIONS.iter().map(|(name, define)| (name.to_lowercase(), define));
        // clap wants a `'static` name.
        named.filter(move |(name, _)| is_wanted(name)).map(|(name, define)| define(clap::Command::new(&*name.leak())))
    }

    /// Whether the command only prints how the program is used.
    fn is_help(&self) -> bool {
        matches!(self, Command::Help(_) | Command::Man(_) | Command::Completions(_) | Command::Functions(_))
    }
}

/// The text of `--version`, with what a bug report needs.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\n",
    env!("CLASSAD_BUILD"),
    ", for ",
    env!("CLASSAD_TARGET"),
    "\ncompared with HTCondor 25.14.1; dialects of HTCondor 25 and of the papers; with PCRE2; Apache License 2.0\n",
    env!("CARGO_PKG_REPOSITORY")
);

/// Returns clap's tree of the commands and their options.
pub fn tree() -> clap::Command {
    let tree = args::output::add_forms(ProgramOptions::command().subcommands(Command::definitions(|_| true)));
    tree.override_help(commands::help::overview())
}

/// Parses arguments with the definition of the command that they name, and of no other: those of all commands take a
/// quarter of the instructions of a short run. `None` if the arguments are wrong, or if no command is to run.
fn parse_for_one_command(arguments: &[OsString]) -> Option<CommandLine> {
    let command = arguments.iter().skip(1).find_map(|argument| Command::definitions(|name| argument == name).next())?;
    let tree = args::output::add_forms(ProgramOptions::command().subcommand(command));
    parse_arguments(args::config_file::apply_defaults(tree).ok()?, arguments.to_vec()).ok()
}

/// Parses the arguments. Returns an exit status as the error if the arguments are wrong, or if no command is to run, as
/// with `--help`.
fn read_arguments() -> Result<CommandLine, u8> {
    let report = |message: String| {
        // A closed standard error is no reason to panic.
        let _ = writeln!(std::io::stderr().lock(), "error: {}", single_line(&message));
        Status::Trouble.code()
    };
    let arguments = args::condor_options::translate(std::env::args_os().collect(), &tree).map_err(report)?;
    if let Some(parsed) = parse_for_one_command(&arguments) {
        return Ok(parsed);
    }
    let parsed = match args::config_file::apply_defaults(tree()) {
        Ok(tree) => parse_arguments(tree, arguments),
        // What helps to mend the file works without it.
        Err(message) => match parse_arguments(tree(), arguments) {
            Ok(cli) if !cli.command.is_help() => return Err(report(message)),
            parsed => parsed,
        },
    };
    parsed.map_err(|error| {
        if let Some(reason) = partial_refusal(&error) {
            return report(reason);
        }
        let error = printed_error(error);
        let printed = if error.use_stderr() { Ok(()) } else { check_stdout() };
        match printed.and_then(|()| error.print()) {
            _ if error.use_stderr() => Status::Trouble.code(),
            // The program that reads the help, such as `head`, has read enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Status::Yes.code(),
            Err(error) => report(format!("cannot write the output: {}", io_reason(&error))),
            Ok(()) => Status::Yes.code(),
        }
    })
}

/// Whether the error is that a command has no option `--partial`.
fn is_partial_option(error: &clap::Error) -> bool {
    let argument = error.get(ContextKind::InvalidArg);
    let is_partial = matches!(argument, Some(ContextValue::String(option)) if option == "--partial");
    is_partial && error.kind() == clap::error::ErrorKind::UnknownArgument
}

/// Returns the command of this run; `None` if the arguments name none.
fn command_of_run(tree: &clap::Command) -> Option<&clap::Command> {
    std::env::args_os().skip(1).find_map(|argument| tree.find_subcommand(argument))
}

/// Returns why the command of this run has no option `--partial`, if that is the error.
fn partial_refusal(error: &clap::Error) -> Option<String> {
    let tree = tree();
    let command = command_of_run(&tree).filter(|_| is_partial_option(error))?;
    Some(format!("--partial: {}", unshared_reason(command.get_name())))
}

/// Returns the error to print: of the help of a command, the one whose text is wrapped for the terminal; of an unknown
/// option, the one without the advice to pass the option as a value, which is no help for `--json`.
fn printed_error(mut error: clap::Error) -> clap::Error {
    if error.kind() == clap::error::ErrorKind::UnknownArgument {
        error.remove(clap::error::ContextKind::Suggested);
        let tree = tree();
        if let Some(command) = command_of_run(&tree) {
            args::foreign_options::suggest(&mut error, &tree, command);
        }
    }
    if error.kind() == clap::error::ErrorKind::InvalidSubcommand {
        suggest_closest_command(&mut error);
    }
    if error.kind() == clap::error::ErrorKind::InvalidValue {
        args::foreign_options::suggest_query_for_columns(&mut error);
    }
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return error;
    }
    let arguments = args::condor_options::translate(std::env::args_os().collect(), &tree);
    let wrapped = arguments.ok().map(|arguments| parse_arguments(commands::help::wrapped(tree()), arguments));
    wrapped.and_then(Result::err).unwrap_or(error)
}

/// Puts the command with the closest name first among the suggestions for an unknown command. clap's measure does not
/// count swapped letters as one slip: for `explian` it prefers `repl`.
fn suggest_closest_command(error: &mut clap::Error) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let tree = tree();
    let names = tree.get_subcommands().map(clap::Command::get_name);
    let near: Vec<String> = closest_names(given, names).into_iter().map(str::to_owned).collect();
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}

/// Parses arguments. An error quotes them with hidden characters spelt out.
fn parse_arguments(tree: clap::Command, arguments: Vec<OsString>) -> Result<CommandLine, clap::Error> {
    let parse = |tree: clap::Command, arguments| {
        let matches = tree.try_get_matches_from(arguments)?;
        let options = ProgramOptions::from_arg_matches(&matches)?.options;
        Ok(CommandLine { options, command: Command::from_arg_matches(&matches)? })
    };
    let visible: Vec<OsString> =
        arguments.iter().map(|argument| single_line(&argument.to_string_lossy()).into()).collect();
    if visible == arguments {
        return parse(tree, arguments);
    }
    parse(tree.clone(), arguments).map_err(|error| parse(tree, visible).err().unwrap_or(error))
}

/// Prints what one run of the command of the partial results prints.
///
/// # Errors
///
/// The command has no partial results, or the run fails.
fn merge(merge: &MergeCommand, session: &mut Session) -> Result<Status, Failure> {
    let partials = &merge.read()?;
    let arguments = std::iter::once("classad").chain(partials.arguments().iter().map(String::as_str));
    // The user's form of the output counts here, too.
    let with_defaults = args::config_file::apply_defaults(tree()).unwrap_or_else(|_| tree());
    let parsed = parse_arguments(with_defaults, arguments.map(OsString::from).collect());
    let Ok(CommandLine { options, command }) = parsed else {
        return refuse("the arguments in the partial results are not valid");
    };
    let own = session.options.clone();
    let exit_zero = own.exit_zero || options.exit_zero;
    *session = Session::new(GlobalOptions { quiet: own.quiet, color: own.color, exit_zero, ..options }, tree);
    session.context_mut().dialect = partials.dialect();
    io::user_maps::read_given(session)?;
    if let PartialResults::Parts(parts) = partials {
        parts.note_empty_files(session);
    }
    match (command, partials) {
        (Command::Query(command), PartialResults::Parts(parts)) => command.merge(session, parts),
        (Command::Census(command), PartialResults::Parts(parts)) => command.merge(session, parts),
        (Command::Refs(command), PartialResults::Parts(parts)) => command.merge(session, parts),
        (Command::Check(command), PartialResults::Parts(parts)) => command.merge(session, parts),
        (Command::Match(command), PartialResults::Shares(shares)) => command.merge(session, shares),
        (Command::Explain(command), PartialResults::Shares(shares)) => command.merge(session, shares),
        _ => refuse("the command of these partial results does not write partial results of this kind"),
    }
}

/// Converts ads. Columns are written as `query` does.
///
/// # Errors
///
/// The run fails.
fn convert(convert: &Convert, session: &mut Session) -> Result<Status, Failure> {
    match convert.columns() {
        Some((input, columns, schema)) => QueryCommand::of_columns(input, columns, schema).run(session),
        None => convert.run(session),
    }
}

/// Runs the command of the demonstration, or writes its files.
fn demo(demo: &Demo, session: &mut Session) -> Result<Status, Failure> {
    if !demo.prepare(session)? {
        return Ok(Status::Yes);
    }
    let arguments = std::iter::once("classad").chain(DEMO_COMMAND.split_whitespace()).map(OsString::from);
    let parsed = parse_arguments(tree(), arguments.collect()).map_err(|error| Failure::refused(error.to_string()))?;
    session.options.exit_zero |= parsed.options.exit_zero;
    parsed.command.run(session)
}

/// The commands with partial results, in words.
const PARTIAL_COMMANDS: &str = "this command has no partial results; use query, census, refs, check, match \
    --best, match --all or explain";

/// Plans the runs of a command that is to run on parts of its files, or in shares of the work.
///
/// # Errors
///
/// The arguments are wrong, or the command has no such partial results.
fn scatter(scatter: &ScatterCommand, session: &mut Session) -> Result<Status, Failure> {
    scatter.run(partial_command(&scatter.arguments, scatter.shares.is_some())?, session)
}

/// Parses the arguments of a command that is to run on parts of its files or, with `in_shares`, in shares of the work.
fn partial_command(arguments: &[String], in_shares: bool) -> Result<PartialCommand, Failure> {
    let given = std::iter::once("classad").chain(arguments.iter().map(String::as_str)).map(OsString::from);
    let translated = args::condor_options::translate(given.collect(), &tree).map_err(Failure::refused)?;
    let translated = translated.into_iter().skip(1).filter_map(|argument| argument.into_string().ok());
    let arguments: Vec<String> = translated.collect();
    let name = arguments.first().cloned().unwrap_or_else(|| "the command".to_owned());
    let mut all = arguments.clone();
    all.insert(end_of_options(&arguments), "--partial".to_owned());
    let all = ["classad".to_owned()].into_iter().chain(all);
    let CommandLine { options, command } =
        parse_arguments(tree(), all.map(OsString::from).collect()).map_err(|error| {
            let text = error.to_string();
            // The first paragraph can list missing arguments, each on a line.
            let words: Vec<&str> = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect();
            let reason = words.join(" ").trim_start_matches("error: ").to_owned();
            let is_partial = is_partial_option(&error);
            let reason = if is_partial { unshared_reason(&name).to_owned() } else { reason };
            Failure::refused(format!("{name}: {reason}"))
        })?;
    let shares = |[requests, pool]: [&[String]; 2]| PartialInput::Shares([requests.to_vec(), pool.to_vec()]);
    let input = match &command {
        Command::Query(command) => PartialInput::Parts(command.input_of_partials()),
        Command::Census(command) => PartialInput::Parts(command.input_of_partials()),
        Command::Refs(command) => PartialInput::Parts(command.input_of_partials()),
        Command::Check(command) => PartialInput::Parts(command.input_of_partials()),
        Command::Match(command) => shares(command.input_of_shares()?),
        Command::Explain(command) => shares(command.input_of_shares()?),
        _ => return refuse(format!("{name}: {PARTIAL_COMMANDS}")),
    };
    match (&input, in_shares) {
        (PartialInput::Parts(_), true) => {
            refuse(format!("{name} reads parts of files, and has no shares: give --size in place of --shares"))
        }
        (PartialInput::Shares(_), false) => {
            refuse(format!("each run of {name} needs all files: divide the work with --shares N"))
        }
        _ => Ok(PartialCommand { arguments, input, options }),
    }
}

/// Why a command without an option `--partial` has none.
fn unshared_reason(command: &str) -> &'static str {
    match command {
        "negotiate" | "gangmatch" => "one run must do all the work; `match --best N` can be divided into shares",
        _ => PARTIAL_COMMANDS,
    }
}

/// Runs the command that the arguments ask for.
pub fn run() -> ExitCode {
    block_size_signal();
    let CommandLine { options, command } = match read_arguments() {
        Ok(cli) => cli,
        Err(status) => return ExitCode::from(status),
    };
    render::progress::enable(&options);
    let mut session = Session::new(options, tree);
    let result = io::user_maps::read_given(&mut session).and_then(|()| command.run(&mut session));
    // If an earlier flush failed, its text is still in the buffer, so that this last flush reports the error.
    let result = result.and_then(|status| match render::output::finish_stdout() {
        // The program that reads the output, such as `head`, has read enough. The command has come to its end.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(status),
        flushed => Ok(flushed.map(|()| status)?),
    });
    render::progress::clear();
    ExitCode::from(session.exit_code(result))
}

/// Returns the session of a run with these arguments.
#[cfg(test)]
pub fn session_of(arguments: &[&str]) -> Session {
    let arguments = std::iter::once(&"classad").chain(arguments).map(OsString::from).collect();
    Session::new(parse_arguments(tree(), arguments).expect("this is a command line").options, tree)
}

#[cfg(test)]
mod tests {
    use super::{Command, Subcommand, tree};

    /// The names that are defined are those that clap's enum of commands reads.
    #[test]
    fn each_command_is_defined_by_its_name() {
        let names =
            |tree: clap::Command| tree.get_subcommands().map(|one| one.get_name().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(tree()), names(Command::augment_subcommands(clap::Command::new("all"))));
        assert!(Command::definitions(|name| name == "qeury").next().is_none());
    }
}
