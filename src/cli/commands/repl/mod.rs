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

use crate::cli::io::source::Text;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

use argument::Argument;
use entry::Entry;
use script::Script;
use state::Desk;

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
    format!("{EXAMPLES}{}", help::all(80).trim_end())
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
        let mut desk = Desk::new(session);
        desk.echo = self.echo;
        let quoted = |path: &String| format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
        let files: Vec<String> = self.files.iter().map(quoted).collect();
        let side = |path: &Option<String>| path.as_ref().map(quoted);
        let loaded = [
            (!files.is_empty()).then(|| (ads::pool_of_files as Load, files.join(" "))),
            side(&self.my).map(|path| (ads::my as Load, path)),
            side(&self.target).map(|path| (ads::target as Load, path)),
        ];
        desk.is_asked = io::stdin().is_terminal() && io::stdout().is_terminal() && self.file.is_none();
        for (load, paths) in loaded.into_iter().flatten() {
            let source = Text::of_argument("command line", &paths);
            // In a script, print only what the entries print, not what loading prints.
            let is_quiet = desk.session.options.quiet;
            desk.session.options.quiet |= !desk.is_asked;
            let result = load(&mut desk, &Argument::of(&source, &paths, 0..paths.len()));
            desk.session.options.quiet = is_quiet;
            result?;
        }
        if desk.is_asked {
            prompt::converse(&mut desk)?;
            desk.session.forgive();
            return Ok(Status::Yes);
        }
        match &self.file {
            Some(path) => read_file(&mut desk, path)?,
            None => read_lines(&mut desk, "standard input", io::stdin().lock())?,
        }
        Ok(Status::Yes)
    }
}

type Load = fn(&mut Desk<'_>, &Argument<'_>) -> Result<(), Failure>;

/// Maximum depth of files that load each other.
const DEEPEST: usize = 20;

/// `:load`
fn load(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let words = argument.words();
    if words.is_empty() {
        return Err(Failure::Refused(Some("`:load` wants a file".to_owned())));
    }
    if desk.loading >= DEEPEST {
        return Err(argument.refuse(desk.session, format!("files load each other more than {DEEPEST} deep")));
    }
    for word in words {
        desk.loading += 1;
        let result = read_file(desk, &word.text);
        desk.loading -= 1;
        match result {
            Err(Failure::Refused(Some(message))) => {
                return Err(argument.part(word.range).refuse(desk.session, message));
            }
            result => result?,
        }
    }
    Ok(())
}

/// Runs the entries of a file.
fn read_file(desk: &mut Desk<'_>, path: &str) -> Result<(), Failure> {
    let refused = |reason: String| Failure::Refused(Some(format!("cannot read {path}: {reason}")));
    let file = File::open(path).map_err(|error| refused(diagnostics::io_reason(&error)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("it is a directory".to_owned()));
    }
    read_lines(desk, path, BufReader::new(file))
}

/// Runs the entries of a reader until it ends, `:quit` is entered, or the run is interrupted.
fn read_lines(desk: &mut Desk<'_>, name: &str, reader: impl BufRead) -> Result<(), Failure> {
    let mut script = Script::new(reader);
    while !desk.has_left {
        let next = script.next(|text| entry::goes_on(text, desk.session.dialect()));
        let next = next.map_err(|error| {
            Failure::Refused(Some(format!("cannot read {name} to its end: {}", diagnostics::io_reason(&error))))
        })?;
        let Some((text, line)) = next else { break };
        if desk.echo && !text.trim().is_empty() {
            desk.print(&transcribed(&text))?;
        }
        if matches!(Entry::of(&text), Entry::Nothing) {
            continue;
        }
        if !desk.is_asked {
            desk.entries.push(text.clone());
        }
        let place = if desk.is_asked && desk.loading == 0 { String::new() } else { format!("{name}:{line}: ") };
        let mistakes = desk.session.mistakes();
        desk.answer(name, &text, line, place)?;
        if desk.session.options.fail_fast && desk.session.mistakes() > mistakes {
            return Err(Failure::Refused(None));
        }
        if desk.session.context().is_interrupted() {
            break;
        }
    }
    Ok(())
}

/// Returns an entry as it appears after the prompt, with its further lines aligned to the first.
fn transcribed(text: &str) -> String {
    let prompts = std::iter::once(prompt::PROMPT.to_owned());
    let prompts = prompts.chain(std::iter::repeat(format!("{:>1$}", "> ", prompt::PROMPT.len())));
    let lines = text.trim_end().lines().zip(prompts);
    let lines: Vec<String> = lines.map(|(line, prompt)| prompt + &diagnostics::line(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::commands::COMMANDS;
    use super::state::Desk;
    use crate::cli::session::Session;
    use crate::cli::{taken_apart, tree};

    /// The example of every command runs without an error.
    #[test]
    fn the_examples_of_commands_run() {
        let arguments = ["classad", "repl", "--quiet"].map(Into::into).into();
        let cli = taken_apart(tree(), arguments).expect("this is a command line");
        let mut session = Session::new(cli.options);
        let mut desk = Desk::new(&mut session);
        let before = [":pool samples/gangs/offers.ad", ":my samples/gangs/jobs.ad", ":let spare = 1"];
        for text in before.into_iter().chain(COMMANDS.iter().map(|command| command.example)) {
            desk.answer("test", text, 1, String::new()).expect("nothing is refused");
            assert_eq!(desk.session.mistakes(), 0, "{text}");
        }
        assert!(desk.has_left, "the last one leaves");
    }
}
