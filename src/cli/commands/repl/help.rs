//! The commands `:help`, `:history` and `:quit`.

use classad::ad::Name;
use classad::eval::{FUNCTIONS, find_function};
use classad::text::{closest_names, suggestion};

use super::argument::EntryPart;
use super::commands::{self, COMMANDS, ReplCommand};
use super::state::ReplState;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::function_help::function_description;

/// Sentences above the list of commands, which say what can be entered.
const ENTRIES: [&str; 3] = [
    "Type an expression to evaluate it, or `NAME = EXPR` to set an attribute.",
    "An entry that begins with `#` or `//` is a comment of one line.",
    "Use these commands, or unambiguous abbreviations of them:",
];

/// Returns the list of all commands with their arguments and descriptions, at most `width` characters wide.
pub fn command_list(width: usize) -> String {
    let usages: Vec<String> = COMMANDS.iter().map(usage).collect();
    let column = usages.iter().map(String::len).max().unwrap_or_default().min(26) + 2;
    let indent = " ".repeat(column + 2);
    let mut text = String::new();
    for sentence in ENTRIES {
        diagnostics::push_words(&mut text, "", sentence.split(' ').map(str::to_owned), width);
    }
    for (command, usage) in COMMANDS.iter().zip(&usages) {
        let mut doc = String::new();
        let words = command.doc.split(' ').map(str::to_owned);
        diagnostics::push_words(&mut doc, "", words, width.saturating_sub(indent.len()).max(24));
        let mut lines = doc.lines().map(str::trim);
        // A usage that is too long for its column gets a line of its own.
        let beside = if usage.len() + 2 > column { None } else { lines.next() };
        let first = format!("  {usage:<column$}{}", beside.unwrap_or_default());
        text.extend([first.trim_end(), "\n"]);
        lines.for_each(|line| text.extend([&indent, line, "\n"]));
    }
    text
}

fn usage(command: &ReplCommand) -> String {
    format!(":{} {}", command.name, command.arguments).trim_end().to_owned()
}

/// `:help`: prints the list of commands, or the description of one command or function.
pub fn help(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    if argument.is_empty() {
        return state.print(command_list(diagnostics::terminal_width()).trim_end());
    }
    let name = argument.text.trim_start_matches(':').trim_end_matches(['(', ')']);
    let is_command = argument.text.starts_with(':') || COMMANDS.iter().any(|command| command.name == name);
    let text = match (find_function(&Name::new(name)), commands::find_command(name)) {
        (Some(function), command) if !is_command || command.is_none() => function_description(function),
        (_, Some(command)) => format!("{}\n    {}\n    {}\n", usage(command), command.doc, command.example),
        (_, None) => {
            let names = COMMANDS.iter().map(|command| command.name).chain(FUNCTIONS.iter().map(|f| f.name));
            let nearest: Vec<&str> = closest_names(name, names).into_iter().take(1).collect();
            return refuse(format!("there is no command and no function `{name}`{}", suggestion(&nearest)));
        }
    };
    state.print(text.trim_end())
}

/// `:history N`: prints the last N entries with their numbers. Without N, prints all entries.
pub fn history(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let most = argument.number()?.unwrap_or(usize::MAX);
    let last = state.entries.iter().zip(1..).skip(state.entries.len().saturating_sub(most));
    state.print_lines(last.map(|(entry, number)| format!("{number:>4}  {}", single_line(&entry.replace('\n', " ")))))
}

/// `:quit`: ends the session after this entry.
#[allow(clippy::unnecessary_wraps)] // as every command
pub fn quit(state: &mut ReplState<'_>, _: EntryPart<'_>) -> Result<(), Failure> {
    state.is_finished = true;
    Ok(())
}
