//! Translation of a command line with HTCondor's options into one with ours.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, Command};
use classad::ad::{Expression, Value};
use classad::syntax::{StringSyntax, Token, lex};

use super::OptionMeaning::{
    Ads, Append, Columns, Form, Format, Ignored, Implied, Live, Machine, Restriction, Switch, Table, Undone, Unknown,
    WithValue,
};
use super::option_words::{command_position, is_cluster, option_value, takes_next_argument};
use super::{
    ANALYSIS_OPTIONS, COMMAND_COLUMNS, CONDOR_OPTIONS, CondorOption, EXPLAIN_COLUMN, OptionMeaning, QUERY_COLUMN,
    SOURCE_OPTIONS, TABLE_WORDS, find_option, is_condor_option, split_suffix, unknown_option_message,
};

/// Returns the arguments with HTCondor's options translated into ours. Arguments of a command that takes none of
/// HTCondor's options are returned unchanged.
///
/// # Errors
///
/// The message for the user: an option is unknown to the command or lacks its value.
pub fn translate(arguments: Vec<OsString>, cli: &dyn Fn() -> Command) -> Result<Vec<OsString>, String> {
    // Building clap's tree takes time: skip it for command lines without HTCondor's options.
    if !arguments.iter().skip(1).any(|argument| is_condor_option(&argument.to_string_lossy())) {
        return Ok(arguments);
    }
    let cli = cli();
    let options = |command: Option<&Command>| -> Vec<Arg> {
        std::iter::once(&cli).chain(command).flat_map(Command::get_arguments).cloned().collect()
    };
    let Some(at) = command_position(&arguments, &options(None)) else { return Ok(arguments) };
    let name = arguments[at].to_string_lossy().into_owned();
    let Some((_, column)) = COMMAND_COLUMNS.iter().find(|(known, _)| *known == name) else { return Ok(arguments) };
    let texts = arguments[at..].iter().take_while(|argument| *argument != "--").map(|text| text.to_string_lossy());
    let condor_options: Vec<&CondorOption> =
        texts.filter(|text| is_condor_option(text)).filter_map(|text| find_option(split_suffix(&text).0)).collect();
    let is_analysis = condor_options.iter().any(|option| ANALYSIS_OPTIONS.contains(&option.0[0]));
    let (name, column) = if is_analysis { ("explain", EXPLAIN_COLUMN) } else { (name.as_str(), *column) };
    let options = options(cli.find_subcommand(name));
    let has_condor_options = !condor_options.is_empty();
    let takes_names = condor_options.iter().any(|option| SOURCE_OPTIONS.contains(&option.0[0]))
        || has_condor_options && arguments[at + 1..].iter().any(|argument| Path::new(argument).is_file());
    let mut translation = CommandLineTranslation {
        column,
        has_condor_options,
        takes_names,
        has_job_ads: condor_options.iter().any(|option| option.0[0] == "jobads"),
        is_analysis,
        ..CommandLineTranslation::default()
    };
    translation.translate_arguments(&arguments[at + 1..], &options)?;
    if is_analysis && !translation.has_pool_or_help() {
        return Err("the analysis needs the slots: add -slotads FILE".to_owned());
    }
    Ok(arguments[..at].iter().cloned().chain([name.into()]).chain(translation.finish()).collect())
}

/// A translation in progress: the translated arguments, and what the arguments so far say about the command.
#[allow(clippy::struct_excessive_bools)] // each is a fact about the command line
#[derive(Default)]
struct CommandLineTranslation {
    column: usize,
    /// Whether the command line has any of HTCondor's options.
    has_condor_options: bool,
    /// Whether words that are not options may be names of owners, slots and machines: if the ads come from a file.
    takes_names: bool,
    /// Whether `-jobads` names the file of the jobs, so that other words may be owners of jobs.
    has_job_ads: bool,
    /// Whether one of HTCondor's options, such as `-better-analyze`, turns the command into `explain`.
    is_analysis: bool,
    /// Whether the arguments already restrict the ads. If not, `query` lists all ads, as HTCondor's tools do.
    has_constraint: bool,
    /// Constraints that select the jobs given by number; one of them has to be true.
    job_constraints: Vec<String>,
    output: Vec<OsString>,
}

impl CommandLineTranslation {
    fn translate_arguments(&mut self, arguments: &[OsString], options: &[Arg]) -> Result<(), String> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if text == "--" {
                self.has_constraint |= !rest.as_slice().is_empty();
                self.output.push(argument.clone());
                self.output.extend(rest.cloned());
                return Ok(());
            }
            let ours =
                |letter: char| options.iter().any(|arg| arg.get_short() == Some(letter)) || "hV".contains(letter);
            if is_condor_option(&text) {
                let (name, suffix) = split_suffix(&text);
                let meaning = find_option(name).map_or(Unknown, |option| option.1[self.column]);
                if meaning != Unknown {
                    self.push_table_word(name);
                    self.translate_option(&text, meaning, suffix, &mut rest)?;
                    continue;
                }
                if !is_cluster(&text, options) {
                    return Err(self.unknown_option(&text, options));
                }
            }
            // Among HTCondor's words, a dash and a letter are an option, not an expression.
            let letter = text.strip_prefix('-').filter(|rest| rest.len() == 1).and_then(|rest| rest.chars().next());
            if self.has_condor_options && letter.is_some_and(|letter| letter.is_ascii_alphabetic() && !ours(letter)) {
                return Err(self.unknown_option(&text, options));
            }
            self.translate_other(argument, &text);
            if text.starts_with('-') && takes_next_argument(&text, options) {
                self.output.extend(rest.next().cloned());
            }
        }
        Ok(())
    }

    fn translate_option<'a>(
        &mut self,
        text: &str,
        meaning: OptionMeaning,
        suffix: Option<&str>,
        rest: &mut (impl Iterator<Item = &'a OsString> + Clone),
    ) -> Result<(), String> {
        let value = |next: Option<&OsString>, what: &str| option_value(text, next, what);
        match meaning {
            Unknown | Implied | Ignored | Table => {}
            Live => {
                return Err(format!(
                    "{text} asks a daemon; read a file from `condor_q -long` or `condor_status -long` instead"
                ));
            }
            Undone(instead) => return Err(format!("{text} is not supported: {instead}")),
            WithValue("--sort") if self.column == QUERY_COLUMN => {
                let key = value(rest.next(), "a value")?;
                let Some(key) = key.to_str().map(with_escapes) else { return Err(format!("{text} needs UTF-8 text")) };
                self.push_option("--sort", &key);
                // HTCondor leaves out what has no value to sort by.
                if !["no", "none", "false", "0"].iter().any(|no| key.eq_ignore_ascii_case(no)) {
                    self.push_option("--constraint", format!("({key}) =!= undefined"));
                }
            }
            Switch(option) => self.push_switch(option),
            Restriction(constraint) => self.push_option("--constraint", constraint),
            Machine => {
                let name = value(rest.next(), "the name of a slot or a machine")?;
                self.push_option("--offer-constraint", machine_constraint(&name.to_string_lossy()));
            }
            WithValue(option @ ("--constraint" | "--offer-constraint" | "--since")) => {
                let expression = value(rest.next(), "a value")?;
                // clap refuses what is not text.
                self.push_option(
                    option,
                    expression.to_str().map_or(expression.clone(), |text| with_escapes(text).into()),
                );
            }
            WithValue(option) => self.push_option(option, value(rest.next(), "a value")?),
            Ads => self.output.push(value(rest.next(), "a file")?),
            Form(form) => self.push_option("--output", suffix.unwrap_or(form)),
            Format => {
                let what = "a format and an expression";
                for part in ["format:", "expression:"] {
                    let mut mask = OsString::from(part);
                    mask.push(value(rest.next(), what)?);
                    self.push_option("--mask", mask);
                }
            }
            Columns | Append => {
                let option = if meaning == Append { "--append" } else { "--mask" };
                self.push_option(option, format!("columns:{}", suffix.unwrap_or_default()));
                self.translate_columns(text, option, rest)?;
            }
        }
        self.translate_suffix(suffix.filter(|_| self.is_analysis).unwrap_or_default());
        Ok(())
    }

    /// Adds what the words behind the colon of an option of the analysis ask for.
    fn translate_suffix(&mut self, suffix: &str) {
        for (start, option) in [("rev", "--reverse"), ("sum", "--summary")] {
            if suffix.split(',').any(|word| word.starts_with(start)) {
                self.push_switch(option);
            }
        }
    }

    /// Adds the arguments up to the next option as columns of `option`.
    fn translate_columns<'a>(
        &mut self,
        text: &str,
        option: &str,
        rest: &mut (impl Iterator<Item = &'a OsString> + Clone),
    ) -> Result<(), String> {
        let before = self.output.len();
        while let Some(next) = rest.clone().next().map(|next| next.to_string_lossy())
            && !next.starts_with('-')
        {
            self.push_option(option, format!("expression:{next}"));
            rest.next();
        }
        // HTCondor's lists of columns can end with a dash.
        if rest.clone().next().is_some_and(|next| next == "-") {
            rest.next();
        }
        if self.output.len() > before { Ok(()) } else { Err(format!("{text} needs an attribute or an expression")) }
    }

    /// Adds an argument that is none of HTCondor's options. If the command line has such options, a number selects a
    /// job, and in `query` the name of an existing file is a file of ads.
    fn translate_other(&mut self, argument: &OsString, text: &str) {
        let is_file = Path::new(argument).exists();
        if text.starts_with('-') {
            self.has_constraint |= text.starts_with("--constraint");
        } else if self.has_condor_options
            && !is_file
            && let Some(id) = job_constraint(text)
        {
            if self.column == EXPLAIN_COLUMN {
                self.job_constraints.push(id);
                return;
            }
            if text.contains('.') {
                self.push_option("--condor-table", "partial");
            }
            self.push_name(text);
            return;
        } else if self.takes_names && self.column == QUERY_COLUMN && !is_file && is_name(text) {
            self.push_name(text);
            return;
        } else if self.has_job_ads && self.column == EXPLAIN_COLUMN && !is_file && is_owner(text) {
            self.push_option("--request", text);
            return;
        } else if self.has_condor_options && is_file && self.column == QUERY_COLUMN {
            self.push_option("--ads", argument);
            return;
        } else {
            self.has_constraint = true;
        }
        self.output.push(argument.clone());
    }

    /// Whether the translated arguments name the files of the pool, or ask for help instead.
    fn has_pool_or_help(&self) -> bool {
        let mut texts = self.output.iter().map(|argument| argument.to_string_lossy());
        texts.any(|text| ["--pool", "--offers", "--help", "-h"].iter().any(|option| text.starts_with(option)))
    }

    /// Adds the word of `--condor-table` for one of HTCondor's options.
    fn push_table_word(&mut self, name: &str) {
        let word = find_option(name).and_then(|option| TABLE_WORDS.iter().find(|(known, _)| option.0[0] == *known));
        if let Some((_, word)) = word.filter(|_| self.column == QUERY_COLUMN) {
            self.push_option("--condor-table", word);
        }
    }

    fn push_name(&mut self, name: &str) {
        self.has_constraint = true;
        self.push_option("--called", name);
    }

    /// Adds an option without a value, unless the command line already has it. Several of HTCondor's options may have
    /// the same translation, but clap accepts an option only once.
    fn push_switch(&mut self, option: &str) {
        if !self.output.iter().any(|argument| argument == option) {
            self.output.push(option.into());
        }
    }

    fn push_option(&mut self, option: &str, value: impl AsRef<OsStr>) {
        self.has_constraint |= option == "--constraint";
        let mut argument = OsString::from(option);
        argument.push("=");
        argument.push(value);
        self.output.push(argument);
    }

    fn unknown_option(&self, text: &str, options: &[Arg]) -> String {
        let name = split_suffix(text).0;
        // `query` does not offer the options that mean nothing to it.
        let is_meant = |option: &&CondorOption| !matches!(option.1[QUERY_COLUMN], Live | Undone(_) | Ignored);
        if let Some(CondorOption([word, ..], _)) = find_option(name).filter(is_meant) {
            let (command, other) =
                if self.column == QUERY_COLUMN { ("query", "explain") } else { ("explain", "query") };
            return format!("`{command}` has no option -{word}, but `{other}` has");
        }
        let known = CONDOR_OPTIONS.iter().filter(|option| option.1[self.column] != Unknown);
        let spellings = known.flat_map(|CondorOption(names, _)| *names);
        unknown_option_message(text, spellings.map(|word| format!("-{word}")).collect(), options)
    }

    fn finish(mut self) -> Vec<OsString> {
        let mut constraint = self.job_constraints.join(" || ");
        if constraint.is_empty() && self.has_condor_options && !self.has_constraint && self.column == QUERY_COLUMN {
            // Without any restriction HTCondor's tools list everything.
            constraint.push_str("true");
        }
        if !constraint.is_empty() {
            // Insert the option before `--`: what follows `--` is not an option.
            let end = self.output.iter().position(|argument| argument == "--").unwrap_or(self.output.len());
            self.output.insert(end, format!("--constraint={constraint}").into());
        }
        self.output
    }
}

/// Returns an expression of HTCondor's command line with the escapes of ours. For HTCondor, a backslash in a string
/// stands for itself unless it precedes a quote.
fn with_escapes(expression: &str) -> String {
    let mut escaped = String::new();
    let mut end = 0;
    for (token, span) in lex(expression.as_bytes(), StringSyntax::Long) {
        if token == Token::String {
            // The quotes around the string are not part of it: a backslash before the last one stands for itself.
            let content = span.range().start + 1..span.range().end - 1;
            escaped.push_str(&expression[end..content.start]);
            let parts = expression[content.clone()].split("\\\"").map(|part| part.replace('\\', "\\\\"));
            escaped.push_str(&parts.collect::<Vec<_>>().join("\\\""));
            end = content.end;
        }
    }
    escaped.push_str(&expression[end..]);
    escaped
}

/// Whether an argument can be the name of an owner, a user, a slot or a machine, and is not a value of an expression.
fn is_name(text: &str) -> bool {
    let is_value = ["true", "false", "undefined", "error"].iter().any(|value| text.eq_ignore_ascii_case(value));
    let is_part_of_name = |c: char| c.is_alphanumeric() || "_.@+-".contains(c);
    !is_value && text.starts_with(char::is_alphanumeric) && text.chars().all(is_part_of_name)
}

/// Whether an argument can be the owner of a job, and is not likely to be a missing file.
fn is_owner(text: &str) -> bool {
    is_name(text) && (text.contains('@') || !text.contains('.'))
}

/// Returns the constraint that selects the slots of a machine, or one slot. A name of a machine without its domain is
/// enough.
fn machine_constraint(name: &str) -> String {
    let literal = Expression::literal(Value::string(name));
    let constraint = format!("Name == {literal} || Machine == {literal}");
    let is_host = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_host { format!("{constraint} || regexp(\"^{name}[.]\", Machine, \"i\")") } else { constraint }
}

/// Returns the constraint that selects a job or a cluster by its number: `7.0`, `7`. `None` if the text is no such
/// number.
fn job_constraint(text: &str) -> Option<String> {
    let number = |part: &str| !part.is_empty() && part.len() < 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        None if number(text) => Some(format!("ClusterId == {text}")),
        Some((cluster, process)) if number(cluster) && number(process) => {
            Some(format!("(ClusterId == {cluster} && ProcId == {process})"))
        }
        _ => None,
    }
}
