//! `classad repl`: evaluates expressions and runs commands, from a prompt or from a script.

mod ads;
mod argument;
mod arguments;
mod commands;
mod entry;
mod explain_commands;
mod expression_commands;
mod help;
mod pool_commands;
mod prompt;
mod script;
mod settings;
mod state;

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};

use clap::Args;

use crate::cli::io::source::SourceText;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

use argument::CommandArgument;
use entry::ReplEntry;
use script::EntryReader;
use state::ReplState;

const EXAMPLES: &str = "\
Examples:
  echo '3 + 4 * 2' | classad repl
  classad repl samples/pool/machines.long < samples/repl/idle.repl
  classad repl --echo --file samples/repl/idle.repl samples/pool/machines.long

On a terminal it has a prompt: TAB completes commands, functions, attributes of the ads that are loaded and names of \
files; an entry goes on in the next line while a bracket, a string or an operator is open; Ctrl-C drops the line or stops \
what is going on, Ctrl-D leaves. What was entered is kept in the file that CLASSAD_HISTORY names, else in classad/history \
in the folder for state ($XDG_STATE_HOME, ~/.local/state); with an empty CLASSAD_HISTORY nowhere.

From a pipe or a file every entry gives the same, without a prompt. Exit status then: 2 if something was wrong with an \
entry or an ad, 3 if a budget was exceeded, 0 otherwise; a session on a terminal ends with 0.

";

fn after_help() -> String {
    format!("{EXAMPLES}{}", help::command_list(80).trim_end())
}

/// Evaluate, match and explain at a prompt
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Repl {
    /// Files of ads to match with: the pool
    files: Vec<String>,
    /// The ad in which expressions stand: the first of a file
    #[arg(long, value_name = "FILE")]
    my: Option<String>,
    /// The ad on the other side: the first of a file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Take the entries from a file
    #[arg(short, long, value_name = "FILE")]
    file: Option<String>,
    /// Print each entry before what it gives
    #[arg(long)]
    echo: bool,
}

impl Repl {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut desk = ReplState::new(session);
        desk.echo = self.echo;
        let quoted = |path: &String| format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
        let files: Vec<String> = self.files.iter().map(quoted).collect();
        let side = |path: &Option<String>| path.as_ref().map(quoted);
        let loaded = [
            (!files.is_empty()).then(|| (ads::load_pool_argument as LoadFunction, files.join(" "))),
            side(&self.my).map(|path| (ads::my as LoadFunction, path)),
            side(&self.target).map(|path| (ads::target as LoadFunction, path)),
        ];
        desk.is_interactive = io::stdin().is_terminal() && io::stdout().is_terminal() && self.file.is_none();
        for (load, paths) in loaded.into_iter().flatten() {
            let source = SourceText::from_argument("command line", &paths);
            // In a script, print only what the entries print, not what loading prints.
            let is_quiet = desk.session.options.quiet;
            desk.session.set_quiet(is_quiet || !desk.is_interactive);
            let result = load(&mut desk, &CommandArgument::from_range(&source, &paths, 0..paths.len()));
            desk.session.set_quiet(is_quiet);
            result?;
        }
        if desk.is_interactive {
            prompt::run_prompt(&mut desk)?;
            desk.session.reset_status();
            return Ok(Status::Yes);
        }
        match &self.file {
            Some(path) => run_file(&mut desk, path)?,
            None => run_lines(&mut desk, "standard input", io::stdin().lock())?,
        }
        Ok(Status::Yes)
    }
}

type LoadFunction = fn(&mut ReplState<'_>, &CommandArgument<'_>) -> Result<(), Failure>;

/// Maximum depth of files that load each other.
const MAX_LOAD_DEPTH: usize = 20;

/// `:load`: runs the entries of files.
fn load(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let words = argument.words();
    if words.is_empty() {
        return refuse("`:load` wants a file");
    }
    if desk.load_depth >= MAX_LOAD_DEPTH {
        return Err(
            argument.report_error(desk.session, format!("files load each other more than {MAX_LOAD_DEPTH} deep"))
        );
    }
    for word in words {
        desk.load_depth += 1;
        let result = run_file(desk, &word.text);
        desk.load_depth -= 1;
        match result {
            Err(Failure::Refused(Some(message))) => {
                return Err(argument.part(word.range).report_error(desk.session, message));
            }
            result => result?,
        }
    }
    Ok(())
}

/// Runs the entries of a file.
fn run_file(desk: &mut ReplState<'_>, path: &str) -> Result<(), Failure> {
    let refused = |reason: String| Failure::refused(format!("cannot read {path}: {reason}"));
    let file = File::open(path).map_err(|error| refused(diagnostics::io_reason(&error)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("it is a directory".to_owned()));
    }
    run_lines(desk, path, BufReader::new(file))
}

/// Runs the entries of a reader until it ends, `:quit` is entered, or the run is interrupted.
fn run_lines(desk: &mut ReplState<'_>, name: &str, reader: impl BufRead) -> Result<(), Failure> {
    let mut script = EntryReader::new(reader);
    while !desk.is_finished {
        let next = script.next_entry(|text| entry::is_entry_incomplete(text, desk.session.dialect()));
        let next = next.map_err(|error| {
            Failure::refused(format!("cannot read {name} to its end: {}", diagnostics::io_reason(&error)))
        })?;
        let Some((text, line)) = next else { break };
        if desk.echo && !text.trim().is_empty() {
            desk.print(&prompted_text(&text))?;
        }
        if matches!(ReplEntry::parse(&text), ReplEntry::Blank) {
            continue;
        }
        if !desk.is_interactive {
            desk.entries.push(text.clone());
        }
        let place =
            if desk.is_interactive && desk.load_depth == 0 { String::new() } else { format!("{name}:{line}: ") };
        let mistakes = desk.session.error_count();
        desk.run_entry(name, &text, line, place)?;
        if desk.session.options.fail_fast && desk.session.error_count() > mistakes {
            return Err(Failure::Refused(None));
        }
        if desk.session.context().is_interrupted() {
            break;
        }
    }
    Ok(())
}

/// Returns an entry as it appears after the prompt, with its further lines aligned to the first.
fn prompted_text(text: &str) -> String {
    let prompts = std::iter::once(prompt::PROMPT.to_owned());
    let prompts = prompts.chain(std::iter::repeat(format!("{:>1$}", "> ", prompt::PROMPT.len())));
    let lines = text.trim_end().lines().zip(prompts);
    let lines: Vec<String> = lines.map(|(line, prompt)| prompt + &diagnostics::single_line(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::commands::COMMANDS;
    use super::state::ReplState;
    use crate::cli::session::Session;
    use crate::cli::{parse_arguments, tree};

    /// The example of every command runs without an error.
    #[test]
    fn the_examples_of_commands_run() {
        let arguments = ["classad", "repl", "--quiet"].map(Into::into).into();
        let cli = parse_arguments(tree(), arguments).expect("this is a command line");
        let mut session = Session::new(cli.options);
        let mut desk = ReplState::new(&mut session);
        let before = [":pool samples/gangs/offers.ad", ":my samples/gangs/jobs.ad", ":let spare = 1"];
        for text in before.into_iter().chain(COMMANDS.iter().map(|command| command.example)) {
            desk.run_entry("test", text, 1, String::new()).expect("nothing is refused");
            assert_eq!(desk.session.error_count(), 0, "{text}");
        }
        assert!(desk.is_finished, "the last one leaves");
    }
}
