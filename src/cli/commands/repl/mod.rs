//! `classad repl`: evaluates expressions and runs commands, from a prompt or from a script.

mod ads;
mod argument;
mod background;
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

use crate::cli::io::source_text::SourceText;
use crate::cli::io::standard_streams::stdin;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::{diagnostics, output};
use crate::cli::session::Session;

use argument::EntryPart;
use commands::CommandFunction;
use entry::ReplEntry;
use script::EntryReader;
use state::ReplState;

const EXAMPLES: &str = "\
Examples:
  echo '3 + 4 * 2' | classad repl
  classad repl samples/pool/machines.long < samples/repl/idle.repl
  classad repl --echo --file samples/repl/idle.repl samples/pool/machines.long

TAB completes commands, functions, attributes of the loaded ads and names of files. An entry continues on the next line
if a bracket or a string is open, or after an operator. Two blank lines end an entry. Ctrl-C drops the entry or stops
the running command; Ctrl-D on an empty line leaves.

CLASSAD_HISTORY names the file of the history; with an empty name, only the entries of this session are listed. The
default is classad/history in $XDG_STATE_HOME or ~/.local/state.

Exit status of entries from a pipe or a file: 2 if an entry or an ad is wrong, else 3 if a limit was exceeded, else 0.
A session on a terminal exits with 0.";

fn after_help() -> String {
    format!("{EXAMPLES}\n\n{}", help::command_list(80).trim_end())
}

/// Evaluate expressions, match and explain at a prompt
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Repl {
    /// Files of ads to match with: the pool
    files: Vec<String>,
    /// Evaluate expressions in the first ad of this file
    #[arg(long, value_name = "FILE")]
    my: Option<String>,
    /// Use the first ad of this file as TARGET, the other ad of a match
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Read the entries from this file
    #[arg(short, long, value_name = "FILE")]
    file: Option<String>,
    /// Print each entry of the input before its result
    #[arg(long)]
    echo: bool,
}

impl Repl {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut state = ReplState::new(session);
        state.echo = self.echo;
        state.is_interactive = io::stdin().is_terminal() && io::stdout().is_terminal() && self.file.is_none();
        let quoted = |path: &String| format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
        let loaded: [(CommandFunction, Vec<String>); 3] = [
            (ads::load_pool, self.files.iter().map(quoted).collect()),
            (ads::my, self.my.iter().map(quoted).collect()),
            (ads::target, self.target.iter().map(quoted).collect()),
        ];
        for (load, paths) in loaded.into_iter().filter(|(_, paths)| !paths.is_empty()) {
            let paths = paths.join(" ");
            state.source = SourceText::from_argument("command line", &paths);
            // In a script, print only what the entries print, not what loading prints.
            let is_quiet = state.session.options.quiet;
            output::silence_stdout(is_quiet || !state.is_interactive);
            let result = load(&mut state, EntryPart::whole(&paths));
            output::silence_stdout(is_quiet);
            result?;
        }
        match &self.file {
            Some(path) => run_file(&mut state, path)?,
            None if state.is_interactive => {
                prompt::run_prompt(&mut state)?;
                state.session.reset_status();
            }
            None => {
                let stdin = stdin().map_err(|error| Failure::unreadable("standard input", &error))?;
                run_lines(&mut state, "standard input", stdin.lock())?;
            }
        }
        Ok(Status::Yes)
    }
}

/// Maximum depth of `:load` commands in loaded files.
const MAX_LOAD_DEPTH: usize = 20;

/// `:load`: runs the entries of files.
fn load(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return refuse("`:load` needs a file");
    }
    if state.load_depth >= MAX_LOAD_DEPTH {
        return refuse(format!("files load each other more than {MAX_LOAD_DEPTH} levels deep"));
    }
    for word in argument.words() {
        state.load_depth += 1;
        let result = run_file(state, &word.text);
        state.load_depth -= 1;
        match result {
            Err(Failure::Refused(Some(message))) => return Err(state.error_at(word.part, message)),
            result => result?,
        }
    }
    Ok(())
}

/// Runs the entries of a file.
fn run_file(state: &mut ReplState<'_>, path: &str) -> Result<(), Failure> {
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return refuse(format!("cannot read {path}: it is a directory"));
    }
    run_lines(state, path, BufReader::new(file))
}

/// Runs the entries of a reader. Stops at the end of the input, at `:quit`, or at an interrupt.
fn run_lines(state: &mut ReplState<'_>, name: &str, reader: impl BufRead) -> Result<(), Failure> {
    let mut script = EntryReader::new(reader);
    while !state.is_finished {
        let next = script.next_entry(|text| entry::is_entry_incomplete(text, state.session.dialect()));
        let next = next.map_err(|error| Failure::unreadable(format!("{name} to its end"), &error))?;
        let Some((text, line)) = next else { break };
        if state.echo && !text.trim().is_empty() {
            state.print(&prompted_text(&text))?;
        }
        if matches!(ReplEntry::parse(&text), ReplEntry::Blank) {
            continue;
        }
        if !state.is_interactive {
            state.entries.push(text.clone());
        }
        let mistakes = state.session.error_count();
        state.run_entry(name, &text, line)?;
        if state.session.options.fail_fast && state.session.error_count() > mistakes {
            return Err(Failure::Refused(None));
        }
        if state.session.context().is_interrupted() {
            break;
        }
    }
    Ok(())
}

/// Returns an entry as it appears after the prompt, with its further lines aligned to the first.
fn prompted_text(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(diagnostics::single_line).collect();
    format!("{}{}", prompt::PROMPT, lines.join(&format!("\n{:>1$}", "> ", prompt::PROMPT.len())))
}

#[cfg(test)]
mod tests {
    use super::commands::COMMANDS;
    use super::state::ReplState;
    use crate::cli::program::session_of;

    /// The example of every command runs without an error.
    #[test]
    fn the_examples_of_commands_run() {
        let mut session = session_of(&["repl", "--quiet"]);
        let mut state = ReplState::new(&mut session);
        let before = [":pool samples/gangs/offers.ad", ":my samples/gangs/jobs.ad", ":let spare = 1"];
        for text in before.into_iter().chain(COMMANDS.iter().map(|command| command.example)) {
            state.run_entry("test", text, 1).expect("nothing is refused");
            assert_eq!(state.session.error_count(), 0, "{text}");
        }
        assert!(state.is_finished, "the last one leaves");
    }
}
