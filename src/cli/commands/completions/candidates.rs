//! The words that can be at a place of a command line.

use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueHint};

use super::FILES_LINE;
use super::file_names::attribute_names;
use crate::cli::args::condor_options::{WordArguments, condor_words, find_condor_word};

/// The words that can be at a place of a command line.
#[derive(Default)]
pub struct CompletionCandidates {
    /// The text before the word within its argument, such as `--output=` or `Name,`.
    prefix: String,
    /// The beginning of the word.
    begun: String,
    /// Words, each with what it is.
    words: Vec<(String, String)>,
    /// Whether the word can be the name of a file.
    has_files: bool,
}

impl CompletionCandidates {
    /// Returns the words for the argument with the index `at` of `line`, which has the arguments after the name of the
    /// program.
    pub fn of_line(tree: &Command, line: &[String], at: usize) -> Self {
        let mut begun = line.get(at).map_or("", String::as_str);
        // bash splits `--name=value` into three words.
        if begun == "=" {
            begun = "";
        }
        let before: Vec<&str> =
            line[..at.min(line.len())].iter().map(String::as_str).filter(|word| *word != "=").collect();
        let others = line.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, word)| word.as_str());
        let mut found = CompletionCandidates { begun: begun.to_owned(), ..CompletionCandidates::default() };
        let (command, name_at) = find_command(tree, &before);
        let given = &before[name_at..];
        let ends_options = given.contains(&"--");
        if let Some((option, value)) = begun.split_once('=').filter(|_| begun.starts_with("--") && !ends_options) {
            if let Some(option) = find_option(tree, command, option) {
                found.prefix = format!("{}=", &begun[..begun.len() - value.len() - 1]);
                value.clone_into(&mut found.begun);
                found.add_values(option, others);
            }
        } else if let Some(option) = pending_option(tree, command, given).filter(|_| !ends_options) {
            found.add_values(&option, others);
        } else if begun.starts_with('-') && !ends_options {
            found.add_options(tree, command);
        } else if command.has_subcommands() {
            found.add_commands(command);
        } else if takes_columns(command, given) && !ends_options {
            found.add_attributes(others);
        } else if let Some(positional) = next_positional(tree, command, given) {
            found.add_values(positional, others);
            if ["help", "man"].contains(&command.get_name()) {
                found.explain_commands(tree);
            }
        }
        found
    }

    /// Says of each command without a text what it is about.
    fn explain_commands(&mut self, tree: &Command) {
        for (word, about) in self.words.iter_mut().filter(|(_, about)| about.is_empty()) {
            let of_command = tree.find_subcommand(word).and_then(Command::get_about);
            *about = of_command.map(ToString::to_string).unwrap_or_default();
        }
    }

    /// Returns a line for each word: the argument that ends in it, a tab, and what it is. The last line is
    /// [`FILES_LINE`] if names of files fit, too.
    pub fn lines(&self) -> String {
        let begun = self.begun.to_ascii_lowercase();
        let fits = |word: &&(String, String)| word.0.to_ascii_lowercase().starts_with(&begun);
        let line = |(word, about): &(String, String)| {
            format!("{}{word}\t{}\n", self.prefix, about.lines().next().unwrap_or_default())
        };
        let mut lines: String = self.words.iter().filter(fits).map(line).collect();
        if self.has_files {
            lines.extend([FILES_LINE, "\n"]);
        }
        lines
    }

    fn add(&mut self, word: impl Into<String>, about: impl Into<String>) {
        self.words.push((word.into(), about.into()));
    }

    /// Adds the values of an option or a positional argument.
    fn add_values<'w>(&mut self, arg: &Arg, others: impl Iterator<Item = &'w str>) {
        let value_name = arg.get_value_names().and_then(<[_]>::first).map_or("", |name| name.as_str());
        if arg.get_value_delimiter().is_some() || value_name.contains(",...") {
            let last = self.begun.rfind(',').map_or(0, |comma| comma + 1);
            self.prefix.push_str(&self.begun[..last]);
            self.begun.drain(..last);
        }
        for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            let about = PossibleValue::get_help(value).map(ToString::to_string).unwrap_or_default();
            self.add(value.get_name(), about);
        }
        let is_expression = ["EXPR", "NAME", "CONSTRAINT"].iter().any(|part| value_name.contains(part));
        let names_file = ["FILE", "CONFIG", "LIST", "DIR", "SPEC", "PLAN", "CONSTRAINT", "COMMAND"];
        let is_file =
            arg.is_positional() && self.words.is_empty() || matches!(arg.get_value_hint(), ValueHint::FilePath);
        self.has_files = is_file || names_file.iter().any(|part| value_name.contains(part));
        if is_expression && !value_name.contains("FILE") {
            self.add_attributes(others);
        }
    }

    /// Adds the attributes of the files among the other arguments.
    fn add_attributes<'w>(&mut self, others: impl Iterator<Item = &'w str>) {
        for name in attribute_names(others) {
            self.add(name, "attribute");
        }
    }

    /// Adds the options of a command, those of every command, and HTCondor's words.
    fn add_options(&mut self, tree: &Command, command: &Command) {
        let own: Vec<&Arg> = command.get_arguments().collect();
        let global = tree.get_arguments().filter(|arg| arg.is_global_set());
        let global = global.filter(|arg| own.iter().all(|own| own.get_long() != arg.get_long()));
        for arg in own.iter().copied().chain(global).filter(|arg| !arg.is_hide_set()) {
            let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
            if let Some(long) = arg.get_long() {
                self.add(format!("--{long}"), about.clone());
            }
            if let Some(short) = arg.get_short().filter(|_| self.begun.len() < 3) {
                self.add(format!("-{short}"), about);
            }
        }
        self.add("--help", "Print the help");
        self.add("-h", "Print the help in short");
        if !self.begun.starts_with("--") {
            self.words.extend(condor_words(command.get_name()));
        }
    }

    fn add_commands(&mut self, command: &Command) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            self.add(sub.get_name(), sub.get_about().map(ToString::to_string).unwrap_or_default());
        }
    }
}

/// Returns the command that the words name, and the index of the word after its name.
fn find_command<'t>(tree: &'t Command, words: &[&str]) -> (&'t Command, usize) {
    let (mut command, mut next) = (tree, 0);
    let mut at = 0;
    while at < words.len() && command.has_subcommands() {
        if let Some(sub) = command.find_subcommand(words[at]) {
            (command, next) = (sub, at + 1);
        } else if find_option(tree, command, words[at]).is_some_and(takes_value) {
            at += 1;
        }
        at += 1;
    }
    (command, next)
}

/// Returns the option that a word names, of a command or of every command.
fn find_option<'t>(tree: &'t Command, command: &'t Command, word: &str) -> Option<&'t Arg> {
    let mut args = command.get_arguments().chain(tree.get_arguments());
    if let Some(long) = word.strip_prefix("--") {
        return args.find(|arg| {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        });
    }
    // In a cluster, such as `-qo`, the last letter takes the value.
    let last = word.strip_prefix('-')?.chars().last()?;
    args.find(|arg| arg.get_short() == Some(last))
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// Returns the option whose value is to follow the words, one of HTCondor's or our own.
fn pending_option(tree: &Command, command: &Command, words: &[&str]) -> Option<Arg> {
    let last = words.last().filter(|last| last.starts_with('-'))?;
    let ours = match find_condor_word(command.get_name(), last) {
        Some(WordArguments::ValueOf(ours)) => ours,
        Some(_) => return None,
        None => last,
    };
    find_option(tree, command, ours).filter(|option| takes_value(option)).cloned()
}

/// Whether the words end with one of HTCondor's words that take columns, such as `-af`, and the columns so far.
fn takes_columns(command: &Command, words: &[&str]) -> bool {
    let last = words.iter().rev().find(|word| word.starts_with('-'));
    last.is_some_and(|word| matches!(find_condor_word(command.get_name(), word), Some(WordArguments::Columns)))
}

/// Returns the positional argument that follows the words.
fn next_positional<'t>(tree: &'t Command, command: &'t Command, words: &[&str]) -> Option<&'t Arg> {
    let mut count = 0;
    let mut at = 0;
    while at < words.len() {
        match find_option(tree, command, words[at]).filter(|_| words[at].starts_with('-')) {
            Some(option) if takes_value(option) => at += 1,
            None if !words[at].starts_with('-') => count += 1,
            _ => {}
        }
        at += 1;
    }
    let positionals: Vec<&Arg> = command.get_positionals().filter(|arg| !arg.is_hide_set()).collect();
    positionals.get(count).or(positionals.last()).copied()
}
