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
            if let Some(short) = arg.get_short() {
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

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;
    use clap::{Arg, ArgAction, Command, ValueHint};

    use super::CompletionCandidates;

    const FILE: &str = "samples/license/licenses.ad";

    fn flag(name: &'static str) -> Arg {
        Arg::new(name).long(name).action(ArgAction::SetTrue)
    }

    fn option(name: &'static str, value: &'static str) -> Arg {
        Arg::new(name).long(name).value_name(value)
    }

    /// A small tree of commands.
    fn tree() -> Command {
        let json = PossibleValue::new("json").help("A document\nof JSON");
        let forms = [json, PossibleValue::new("csv"), PossibleValue::new("jam").hide(true)];
        let words = [PossibleValue::new("query"), PossibleValue::new("quiet").help("A topic")];
        let query = Command::new("query").about("Find ads\nin files").args([
            Arg::new("before").hide(true).value_name("OLD"),
            Arg::new("constraint").value_name("CONSTRAINT"),
            Arg::new("paths").value_name("PATH").num_args(0..),
            option("output", "FORM").short('o').alias("out").value_parser(forms).help("The form\nof the output"),
            flag("quiet").short('q'),
            option("names", "WORD").value_delimiter(',').value_parser(["aa", "ab"]),
            option("af", "EXPR,..."),
            option("where", "EXPR"),
            option("labels", "FILENAME"),
            option("plan", "X").value_hint(ValueHint::FilePath),
            option("old", "EXPR").hide(true),
        ]);
        Command::new("classad")
            .args([
                flag("verbose").short('v').global(true).help("Say more"),
                option("dialect", "DIALECT").global(true).value_parser(["classad", "condor"]),
                flag("quiet").short('q').global(true).help("Say less"),
                flag("secret").global(true).hide(true),
                flag("local"),
            ])
            .subcommand(query)
            .subcommand(Command::new("help").arg(Arg::new("word").value_parser(words.clone())))
            .subcommand(Command::new("pick").about("Pick").arg(Arg::new("word").value_parser(words)))
            .subcommand(Command::new("quit").hide(true))
    }

    /// The words for the argument `at` of a line, with what they are; `FILE` is a file with ads.
    fn words(line: &str, at: usize) -> String {
        let line: Vec<String> = line.split_terminator('|').map(|word| word.replace("FILE", FILE)).collect();
        let lines = CompletionCandidates::of_line(&tree(), &line, at).lines();
        lines.lines().map(|line| line.trim_end().replace('\t', " = ")).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_are_those_of_their_place() {
        let attributes = "App = attribute|Name = attribute|Ports = attribute|Type = attribute|ValidHost = attribute";
        let both = format!("{attributes}|:files");
        let forms = "json = A document|csv";
        for (line, at, expected) in [
            ("", 0, "query = Find ads|help|pick = Pick"),
            ("Q|", 0, "query = Find ads"),
            ("x|", 0, ""),
            ("--dialect|query|q", 2, "query = Find ads"),
            ("--verbose|q", 1, "query = Find ads"),
            ("--dialect|", 1, "classad|condor"),
            ("--dialect=co", 0, "--dialect=condor"),
            ("query|--dialect|", 2, "classad|condor"),
            // Values of an option, in each spelling.
            ("query|--output|", 2, forms),
            ("query|--output|J", 2, "json = A document"),
            ("query|--out|", 2, forms),
            ("query|-o|", 2, forms),
            ("query|-qo|", 2, forms),
            ("query|-oq|", 2, ":files"),
            ("query|--output=", 1, "--output=json = A document|--output=csv"),
            ("query|--output|=", 2, forms),
            ("query|--output|=|c", 3, "csv"),
            ("query|--outputs=j", 1, ""),
            ("query|-o=j", 1, ""),
            ("query|a=b|FILE", 1, ":files"),
            ("query|--output|csv,j", 2, ""),
            ("query|--names|aa,", 2, "aa,aa|aa,ab"),
            ("query|--names=aa,aa,ab", 1, "--names=aa,aa,ab"),
            ("query|--af|Na|FILE", 2, "Name = attribute"),
            ("query|--af|Na,ty|FILE", 2, "Na,Type = attribute"),
            ("query|--where||FILE", 2, attributes),
            ("query|--where|", 2, ""),
            ("query|--labels||FILE", 2, ":files"),
            ("query|--plan|", 2, ":files"),
            // Arguments: the first is a constraint, the others are files. The hidden one is none of them.
            ("query||FILE", 1, &both),
            ("query", 7, ":files"),
            ("query|true||FILE", 2, ":files"),
            ("query|true|x||FILE", 3, ":files"),
            ("query|-q||FILE", 2, &both),
            ("query|--output|json||FILE", 3, &both),
            ("query|--output|json|true||FILE", 4, ":files"),
            ("query|--||FILE", 2, &both),
            ("query|--|--output=j", 2, ":files"),
            ("query|--|-", 2, ":files"),
            ("query|--output|--|j", 3, ":files"),
            // Words of HTCondor.
            ("query|-af||FILE", 2, attributes),
            ("query|-af|Name|T|FILE", 3, "Type = attribute"),
            ("query|-af|Name|-l||FILE", 4, ":files"),
            ("query|-af|Name|--||FILE", 4, ":files"),
            ("query|-hold||FILE", 2, &both),
            ("query|-sort||FILE", 2, &both),
            ("pick|-af||FILE", 2, "query|quiet = A topic"),
            ("query|-hol", 1, "-hold = --constraint 'JobStatus == 5'"),
            ("pick|-hol", 1, ""),
            ("help|q", 1, "query = Find ads|quiet = A topic"),
            ("pick|q", 1, "query|quiet = A topic"),
        ] {
            assert_eq!(words(line, at), expected, "{line} {at}");
        }
    }

    #[test]
    fn options_are_those_of_the_command_and_of_all() {
        let options = "--output = The form|--quiet|--names|--af|--where|--labels|--plan|--verbose = Say more|\
                       --dialect|--help = Print the help";
        assert_eq!(words("query|--", 1), options);
        let own = "--verbose = Say more|-v = Say more|--dialect|--quiet = Say less|-q = Say less|--local|\
                   --help = Print the help|-h = Print the help in short";
        assert_eq!(words("-", 0), own);
        assert_eq!(words("-q", 0), "-q = Say less");
        assert_eq!(words("query|-o", 1), "-o = The form");
        assert_eq!(words("help|-", 1), own.replace("--local|", ""));
    }
}
