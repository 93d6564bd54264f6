//! Translation of a command line with HTCondor's options into one with ours.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, Command};

use super::Meaning::{Ads, Columns, Form, Format, Given, Nothing, Switch, Unknown};
use super::{ANALYSES, COMMANDS, EXPLAIN, Meaning, QUERY, WORDS, Word, find, is_word, split, unknown};

/// Returns the arguments with HTCondor's options translated into ours. Arguments of commands that accept none are
/// returned unchanged.
///
/// # Errors
///
/// The message for the user: an option is unknown to the command or lacks its value.
pub fn translated(arguments: Vec<OsString>, cli: &dyn Fn() -> Command) -> Result<Vec<OsString>, String> {
    // Building clap's tree takes time: skip it for command lines without HTCondor's options.
    if !arguments.iter().skip(1).any(|argument| is_word(&argument.to_string_lossy())) {
        return Ok(arguments);
    }
    let cli = cli();
    let options = |command: Option<&Command>| -> Vec<Arg> {
        std::iter::once(&cli).chain(command).flat_map(Command::get_arguments).cloned().collect()
    };
    let Some(at) = command_at(&arguments, &options(None)) else { return Ok(arguments) };
    let name = arguments[at].to_string_lossy().into_owned();
    let Some((_, column)) = COMMANDS.iter().find(|(known, _)| *known == name) else { return Ok(arguments) };
    let words = || {
        let texts = arguments[at..].iter().take_while(|argument| *argument != "--").map(|text| text.to_string_lossy());
        texts.filter(|text| is_word(text)).filter_map(|text| find(split(&text).0))
    };
    let analysis = words().any(|word| ANALYSES.contains(&word.0));
    let (name, column) = if analysis { ("explain", EXPLAIN) } else { (name.as_str(), *column) };
    let options = options(cli.find_subcommand(name));
    let words = words().next().is_some();
    let mut translation =
        Translation { column, words, analysis, has_constraint: false, ids: Vec::new(), done: Vec::new() };
    translation.run(&arguments[at + 1..], &options)?;
    Ok(arguments[..at].iter().cloned().chain([name.into()]).chain(translation.finish()).collect())
}

/// Returns the index of the command's name in `arguments`, after the global options and their values; `None` if
/// there is no command.
fn command_at(arguments: &[OsString], options: &[Arg]) -> Option<usize> {
    let mut at = 1;
    loop {
        let argument = arguments.get(at)?.to_string_lossy();
        if !argument.starts_with('-') {
            return Some(at);
        }
        at += 1 + usize::from(wants_value(&argument, options));
    }
}

/// Whether the argument is an option whose value is the next argument.
fn wants_value(argument: &str, options: &[Arg]) -> bool {
    let takes = |arg: &Arg| arg.get_action().takes_values();
    if let Some(long) = argument.strip_prefix("--") {
        let is_it = |arg: &&Arg| {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        };
        return options.iter().find(is_it).is_some_and(takes);
    }
    // Of several letters after one dash, the last may take the next argument; `-oNAME` contains its value.
    let mut letters = argument.chars().skip(1).peekable();
    while let Some(letter) = letters.next() {
        if options.iter().find(|arg| arg.get_short() == Some(letter)).is_some_and(takes) {
            return letters.peek().is_none();
        }
    }
    false
}

/// The state of a translation.
struct Translation {
    column: usize,
    /// Whether the command line has any of HTCondor's options.
    words: bool,
    /// Whether an option turns the command into `explain`.
    analysis: bool,
    /// Whether the arguments already restrict the ads. If not, `query` lists all, as HTCondor's tools do.
    has_constraint: bool,
    /// Constraints of the jobs that are given by number.
    ids: Vec<String>,
    done: Vec<OsString>,
}

impl Translation {
    fn run(&mut self, arguments: &[OsString], options: &[Arg]) -> Result<(), String> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--" {
                self.has_constraint |= !rest.as_slice().is_empty();
                self.done.push(argument.clone());
                self.done.extend(rest.cloned());
                return Ok(());
            }
            let ours =
                |letter: char| options.iter().any(|arg| arg.get_short() == Some(letter)) || "hV".contains(letter);
            if is_word(&text) {
                let (name, behind) = split(&text);
                let meaning = find(name).map_or(Unknown, |word| word.2[self.column]);
                if meaning != Unknown {
                    self.word(&text, meaning, behind, &mut rest)?;
                    continue;
                }
                if !text.chars().nth(1).is_some_and(ours) {
                    return Err(self.unknown(&text, options));
                }
            }
            self.other(argument, &text);
            if text.starts_with('-') && wants_value(&text, options) {
                self.done.extend(rest.next().cloned());
            }
        }
        Ok(())
    }

    fn word<'a>(
        &mut self,
        text: &str,
        meaning: Meaning,
        behind: Option<&str>,
        rest: &mut (impl Iterator<Item = &'a OsString> + Clone),
    ) -> Result<(), String> {
        let value = |next: Option<&OsString>, what: &str| {
            let is_option = |next: &OsString| next.to_string_lossy().strip_prefix("--").is_some_and(begins_name);
            next.filter(|next| !is_option(next)).cloned().ok_or_else(|| format!("{text} wants {what}"))
        };
        match meaning {
            Unknown | Nothing => {}
            Switch(option) => self.done.push(option.into()),
            Given(option) => self.add(option, value(rest.next(), "a value")?),
            Ads => self.done.push(value(rest.next(), "a file")?),
            Form(form) => self.add("--output", behind.unwrap_or(form)),
            Format => {
                let what = "a format and an expression";
                for part in ["format:", "expression:"] {
                    let mut mask = OsString::from(part);
                    mask.push(value(rest.next(), what)?);
                    self.add("--mask", mask);
                }
            }
            Columns => {
                self.add("--mask", format!("columns:{}", behind.unwrap_or_default()));
                let before = self.done.len();
                while let Some(next) = rest.clone().next().map(|next| next.to_string_lossy())
                    && !next.starts_with('-')
                {
                    self.add("--mask", format!("expression:{next}"));
                    rest.next();
                }
                if self.done.len() == before {
                    return Err(format!("{text} wants an attribute or an expression"));
                }
            }
        }
        if self.analysis && behind.is_some_and(|behind| behind.split(',').any(|word| word.starts_with("rev"))) {
            self.done.push("--reverse".into());
        }
        Ok(())
    }

    /// Adds an argument that is none of HTCondor's options. On a command line that has some of these, the name of an
    /// existing file is a file of ads wherever it stands, and a number selects a job.
    fn other(&mut self, argument: &OsString, text: &str) {
        let is_file = Path::new(argument).exists();
        if text.starts_with('-') {
            self.has_constraint |= text.starts_with("--constraint");
        } else if self.words
            && !is_file
            && let Some(id) = job_id(text)
        {
            self.ids.push(id);
            return;
        } else if self.words && is_file && self.column == QUERY {
            self.add("--ads", argument);
            return;
        } else {
            self.has_constraint = true;
        }
        self.done.push(argument.clone());
    }

    fn add(&mut self, option: &str, value: impl AsRef<OsStr>) {
        self.has_constraint |= option == "--constraint";
        let mut argument = OsString::from(option);
        argument.push("=");
        argument.push(value);
        self.done.push(argument);
    }

    fn unknown(&self, text: &str, options: &[Arg]) -> String {
        let name = split(text).0;
        if let Some(Word(word, ..)) = find(name) {
            let (command, other) = if self.column == QUERY { ("query", "explain") } else { ("explain", "query") };
            return format!("`{command}` has no option -{word}: it is one of `{other}`");
        }
        let words = WORDS.iter().filter(|word| word.2[self.column] != Unknown);
        let spellings = words.flat_map(|Word(word, also, _)| std::iter::once(word).chain(*also));
        unknown(text, spellings.map(|word| format!("-{word}")).collect(), options)
    }

    fn finish(mut self) -> Vec<OsString> {
        let constraint = match self.ids.join(" || ") {
            // Without any restriction HTCondor's tools list everything.
            none if none.is_empty() && self.words && !self.has_constraint && self.column == QUERY => "true".to_owned(),
            ids => ids,
        };
        if !constraint.is_empty() {
            // The option must precede `--`.
            let end = self.done.iter().position(|argument| argument == "--").unwrap_or(self.done.len());
            self.done.insert(end, format!("--constraint={constraint}").into());
        }
        self.done
    }
}

/// Whether the text starts with a letter.
fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns the constraint that selects a job or a cluster by its number: `7.0`, `7`. `None` if the text is no such
/// number.
fn job_id(text: &str) -> Option<String> {
    let number = |part: &str| !part.is_empty() && part.len() < 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        None if number(text) => Some(format!("ClusterId == {text}")),
        Some((cluster, process)) if number(cluster) && number(process) => {
            Some(format!("(ClusterId == {cluster} && ProcId == {process})"))
        }
        _ => None,
    }
}
