//! HTCondor's options: those with one dash, as `condor_q` and `condor_status` have them.
//!
//! One table maps HTCondor's options to our own. [`translate`] rewrites the command line before clap parses it.

mod option_words;
#[cfg(test)]
mod tests;
mod translation;

use clap::{Arg, Command};
use classad::text::{closest_names, suggestion};

pub use translation::translate;

use OptionMeaning::{
    Ads, Append, Columns, Form, Format, Ignored, Implied, Live, Machine, Restriction, Switch, Table, Undone, Unknown,
    WithValue,
};

/// The translation of one of HTCondor's options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionMeaning {
    /// The command has no such option.
    Unknown,
    /// The option, such as `-better-analyze`, is dropped. Its only effect is to turn `query` into `explain`, which
    /// [`translate`] has already done.
    Implied,
    /// One of our options without a value.
    Switch(&'static str),
    /// One of our options; the next argument is its value.
    WithValue(&'static str),
    /// The option selects the ads that meet this constraint.
    Restriction(&'static str),
    /// The next argument is the name of a slot or a machine: only its slots are offers.
    Machine,
    /// The next argument is a file of ads.
    Ads,
    /// A form of output: `-o FORM`.
    Form(&'static str),
    /// The arguments up to the next option are expressions, one for each column. Letters after a colon, as in `-af:h`,
    /// set headings, separators and quotes.
    Columns,
    /// The next argument is a `printf` format, the one after it an expression.
    Format,
    /// The arguments up to the next option are expressions, one for each column that is appended to a table.
    Append,
    /// The option asks for a table: [`TABLE_WORDS`] has which.
    Table,
    /// The option has no effect here, such as `-wide`: tables are never cut to the width of the terminal.
    Ignored,
    /// The option asks a daemon.
    Live,
    /// The option is one of HTCondor's that is not done. The text says what to do instead.
    Undone(&'static str),
}

/// One of HTCondor's options: its full name and other spellings, then its meaning in `query` and its meaning in
/// `explain`.
struct CondorOption(&'static [&'static str], [OptionMeaning; 2]);

const CONDOR_OPTIONS: [CondorOption; 71] = [
    CondorOption(&["constraint"], [WithValue("--constraint"); 2]),
    CondorOption(&["autoformat", "af"], [Columns, Unknown]),
    CondorOption(&["aaf"], [Append, Unknown]),
    CondorOption(&["format", "f"], [Format, Unknown]),
    CondorOption(&["print-format", "pr"], [WithValue("--print-format"), Unknown]),
    CondorOption(&["long", "l"], [Form("long"), Unknown]),
    CondorOption(&["json"], [Form("json"); 2]),
    CondorOption(&["jsonl"], [Form("jsonl"); 2]),
    CondorOption(&["xml"], [Form("xml"), Unknown]),
    CondorOption(&["attributes"], [WithValue("--attributes"), Unknown]),
    CondorOption(&["limit", "match"], [WithValue("--limit"), Unknown]),
    CondorOption(&["backwards"], [Switch("--newest"), Unknown]),
    CondorOption(&["since"], [WithValue("--since"), Unknown]),
    CondorOption(&["completedsince"], [WithValue("--completed-since"), Unknown]),
    CondorOption(&["userlog"], [WithValue("--userlog"), Unknown]),
    CondorOption(&["file"], [WithValue("--ads"), Unknown]),
    CondorOption(&["sort"], [WithValue("--sort"), Unknown]),
    CondorOption(&["jobads"], [WithValue("--ads"), Ads]),
    CondorOption(&["ads"], [WithValue("--ads"), Unknown]),
    CondorOption(&["slotads"], [WithValue("--ads"), WithValue("--pool")]),
    CondorOption(&["hold", "held"], [Restriction("JobStatus == 5"); 2]),
    CondorOption(&["idle"], [Restriction("JobStatus == 1"); 2]),
    CondorOption(&["run"], [Restriction(RUNNING), Restriction("JobStatus == 2 || JobStatus == 6 || JobStatus == 7")]),
    CondorOption(&["grid"], [Restriction("JobUniverse == 9"), Unknown]),
    CondorOption(&["claimed"], [Restriction("State == \"Claimed\""), Unknown]),
    CondorOption(&["avail"], [Restriction("State == \"Unclaimed\" && Cpus > 0 && Memory > 0"), Unknown]),
    CondorOption(&["batch"], [Table, Unknown]),
    CondorOption(&["nobatch"], [Table, Unknown]),
    CondorOption(&["dag"], [Table, Unknown]),
    CondorOption(&["io"], [Table, Unknown]),
    CondorOption(&["goodput"], [Table, Unknown]),
    CondorOption(&["totals", "total"], [Table, Unknown]),
    CondorOption(&["compact"], [Table, Unknown]),
    CondorOption(&["state"], [Table, Unknown]),
    CondorOption(&["server"], [Table, Unknown]),
    CondorOption(&["gpus"], [Table, Unknown]),
    CondorOption(&["slots"], [Table, Unknown]),
    CondorOption(&["schedd"], [Table, Unknown]),
    CondorOption(&["submitters"], [Table, Unknown]),
    CondorOption(&["master"], [Table, Unknown]),
    CondorOption(&["startd"], [Table, Unknown]),
    CondorOption(&["negotiator"], [Table, Unknown]),
    CondorOption(&["collector"], [Table, Unknown]),
    CondorOption(&["any"], [Ignored, Unknown]),
    CondorOption(&["wide"], [Ignored, Unknown]),
    CondorOption(&["expert"], [Ignored, Unknown]),
    CondorOption(&["allusers", "all-users"], [Ignored, Unknown]),
    CondorOption(&["currentrun"], [Ignored, Unknown]),
    CondorOption(&["nocompact"], [Ignored, Unknown]),
    CondorOption(&["global"], [Live, Unknown]),
    CondorOption(&["pool"], [Live, Unknown]),
    CondorOption(&["name"], [Live, Unknown]),
    CondorOption(&["direct"], [Live, Unknown]),
    CondorOption(&["address"], [Live, Unknown]),
    CondorOption(&["submitter"], [Live, Unknown]),
    CondorOption(&["schedd-constraint"], [Live, Unknown]),
    CondorOption(&["autocluster", "group-by"], [Undone("`classad autocluster` groups jobs"), Unknown]),
    CondorOption(&["factory"], [Undone("use -constraint 'JobMaterializeLimit > 0'"), Unknown]),
    CondorOption(&["cputime"], [Undone("-af RemoteUserCpu prints the CPU time"), Unknown]),
    CondorOption(&["cumulative-time"], [Undone("-af RemoteWallClockTime prints the cumulative time"), Unknown]),
    CondorOption(&["absent", "offline", "java", "vm", "cod"], [Undone("-constraint chooses the slots"), Unknown]),
    CondorOption(&["merge", "diff"], [Undone("`classad diff` compares files"), Unknown]),
    CondorOption(&["stream-results"], [Ignored, Unknown]),
    CondorOption(&["natural"], [Ignored, Unknown]),
    CondorOption(&["reverse", "reverse-analyze"], [Implied, Switch("--reverse")]),
    CondorOption(&["better-analyze", "analyze"], [Implied; 2]),
    CondorOption(&["machine"], [Unknown, Machine]),
    CondorOption(&["mconstraint"], [Unknown, WithValue("--offer-constraint")]),
    CondorOption(&["unmatchable"], [Implied, Switch("--unmatchable")]),
    CondorOption(&["help"], [Switch("--help"); 2]),
    CondorOption(&["version"], [Undone("`classad --version` prints the version"); 2]),
];

/// The options that ask for a table, and the words of `--condor-table` for them.
const TABLE_WORDS: [(&str, &str); 26] = [
    ("jobads", "of-jobs"),
    ("ads", "of-slots"),
    ("constraint", "partial"),
    ("hold", "held"),
    ("idle", "idle"),
    ("run", "running"),
    ("grid", "grid"),
    ("claimed", "claimed"),
    ("avail", "avail"),
    ("batch", "batches"),
    ("nobatch", "jobs"),
    ("dag", "dag"),
    ("io", "io"),
    ("goodput", "goodput"),
    ("totals", "totals"),
    ("compact", "machines"),
    ("state", "states"),
    ("server", "servers"),
    ("gpus", "gpus"),
    ("slots", "slots"),
    ("schedd", "schedds"),
    ("submitters", "submitters"),
    ("master", "masters"),
    ("startd", "startds"),
    ("negotiator", "negotiators"),
    ("collector", "collectors"),
];

/// Returns the name of the option for a word of `--condor-table`.
pub fn table_option(word: &str) -> &str {
    TABLE_WORDS.iter().find(|(_, known)| *known == word).map_or(word, |(option, _)| *option)
}

/// The options after which an argument can be the name of a job's owner, a slot or a machine.
const SOURCE_OPTIONS: [&str; 5] = ["jobads", "ads", "slotads", "file", "userlog"];

/// What `-run` means for jobs, as in `condor_q`, and for slots, as in `condor_status`.
pub const RUNNING: &str = "JobStatus == 2 || JobStatus == 6 || JobStatus == 7 || State == \"Claimed\"";

/// Options that turn `query` into `explain`.
const ANALYSIS_OPTIONS: [&str; 3] = ["better-analyze", "reverse", "unmatchable"];

/// The commands that accept HTCondor's options. Each has the index of its [`OptionMeaning`] in the array of a
/// [`CondorOption`].
const COMMAND_COLUMNS: [(&str, usize); 3] =
    [("query", QUERY_COLUMN), ("explain", EXPLAIN_COLUMN), ("why", EXPLAIN_COLUMN)];

const QUERY_COLUMN: usize = 0;
const EXPLAIN_COLUMN: usize = 1;

/// Minimum number of letters of an abbreviated option, as `-con` for `-constraint`. An abbreviation must also fit one
/// option only.
const MIN_ABBREVIATION_LETTERS: usize = 3;

/// Returns our equivalent of one of HTCondor's options; `None` if the command has no such option.
fn equivalent(meaning: OptionMeaning) -> Option<String> {
    match meaning {
        Unknown => None,
        Implied => Some("runs `classad explain`".to_owned()),
        Switch(option) => Some(format!("`{option}`")),
        WithValue("--constraint") => Some("`--constraint EXPR`, or the first argument of `query`".to_owned()),
        WithValue("--sort") => Some("`--sort ...`, without ads for which the expression is undefined".to_owned()),
        WithValue(option) => Some(format!("`{option} ...`")),
        Restriction(constraint) => Some(format!("`--constraint '{constraint}'`")),
        Machine => Some("`--offer-constraint EXPR`".to_owned()),
        Ads => Some("the argument `REQUESTS`".to_owned()),
        Form(form) => Some(format!("`-o {form}`")),
        Columns => Some("rows as HTCondor prints them; see also `--af EXPR,...`".to_owned()),
        Format => Some("values in a format of `printf`".to_owned()),
        Append => Some("more columns at the right of a table".to_owned()),
        Table => Some("a table of HTCondor: see `classad help tables`".to_owned()),
        Ignored => Some("no effect on files".to_owned()),
        Live => Some("refused: needs a daemon".to_owned()),
        Undone(instead) => Some(format!("refused: {instead}")),
    }
}

/// What follows one of HTCondor's words on the command line.
pub enum WordArguments {
    /// A value, as that of this option of ours.
    ValueOf(&'static str),
    /// Expressions, one for each column.
    Columns,
    /// Nothing that belongs to the word.
    Nothing,
}

/// Returns what follows one of HTCondor's words in a command; `None` if the command has no such word.
pub fn find_condor_word(command: &str, word: &str) -> Option<WordArguments> {
    let (_, column) = COMMAND_COLUMNS.iter().find(|(known, _)| *known == command)?;
    if !is_condor_option(word) {
        return None;
    }
    match find_option(split_suffix(word).0)?.1[*column] {
        Unknown => None,
        WithValue(ours) => Some(WordArguments::ValueOf(ours)),
        Ads => Some(WordArguments::ValueOf("--pool")),
        Machine => Some(WordArguments::ValueOf("--offer")),
        Columns | Append => Some(WordArguments::Columns),
        _ => Some(WordArguments::Nothing),
    }
}

/// Returns HTCondor's words that a command takes, each with our equivalent. There are none for most commands.
pub fn condor_words(command: &str) -> Vec<(String, String)> {
    let Some((_, column)) = COMMAND_COLUMNS.iter().find(|(known, _)| *known == command) else { return Vec::new() };
    let is_done = |meaning: OptionMeaning| !matches!(meaning, Unknown | Live | Undone(_));
    let done = CONDOR_OPTIONS.iter().filter(|option| is_done(option.1[*column]));
    done.map(|option| {
        let about = equivalent(option.1[*column]).unwrap_or_default();
        (format!("-{}", option.0[0]), about.replace('`', ""))
    })
    .collect()
}

/// Returns the rows of the table in `classad help from-condor`: HTCondor's option, and our equivalent.
pub fn option_table() -> Vec<(String, String)> {
    let row = |CondorOption(names, [query, explain]): &CondorOption| {
        let names: Vec<String> = names.iter().map(|name| format!("-{name}")).collect();
        let text = match (equivalent(*query), equivalent(*explain)) {
            (Some(query), None) => format!("{query} (`query`)"),
            (Some(query), Some(explain)) if query != explain => format!("{query} (`query`), {explain} (`explain`)"),
            (Some(both), Some(_)) => both,
            (None, Some(explain)) => format!("{explain} (`explain`)"),
            (None, None) => String::new(),
        };
        (names.join(", "), text)
    };
    let mut rows: Vec<(String, String)> = Vec::new();
    for (names, text) in CONDOR_OPTIONS.iter().map(row) {
        // Options with the same meaning share a row.
        match rows.iter_mut().find(|(_, known)| *known == text) {
            Some((known, _)) => known.extend([", ", &names]),
            None => rows.push((names, text)),
        }
    }
    rows
}

/// Whether an argument has the form of one of HTCondor's options: one dash and a name of several letters (`-af`), or a
/// dash and a letter that HTCondor uses (`-l`).
fn is_condor_option(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else { return false };
    let name = rest.split(':').next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && (name.len() > 1 || CONDOR_OPTIONS.iter().any(|CondorOption(names, _)| names.contains(&name)))
}

/// Splits an option, such as `-af:h`, into its name and the text after the colon; `None` without a colon.
fn split_suffix(text: &str) -> (&str, Option<&str>) {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.split_once(':').map_or((text, None), |(name, behind)| (name, Some(behind)))
}

/// Finds the option with the spelling `name`. Without such an option, finds the option that `name` abbreviates. `None` if
/// `name` abbreviates no option or several.
fn find_option(name: &str) -> Option<&'static CondorOption> {
    let name = name.to_ascii_lowercase();
    let exact = CONDOR_OPTIONS.iter().find(|CondorOption(names, _)| names.contains(&name.as_str()));
    let mut beginning = CONDOR_OPTIONS.iter().filter(|CondorOption(names, _)| {
        name.len() >= MIN_ABBREVIATION_LETTERS && names.iter().any(|spelling| spelling.starts_with(&name))
    });
    exact.or_else(|| beginning.next().filter(|_| beginning.next().is_none()))
}

/// Returns the message that there is no option `text`, with the most similar options. `words` are HTCondor's options
/// (`-constraint`), `options` our own. Without `words`, the message suggests only our own options.
fn unknown_option_message(text: &str, mut words: Vec<String>, options: &[Arg]) -> String {
    let has_condors = !words.is_empty();
    let shown = options.iter().filter(|arg| !arg.is_hide_set());
    // clap adds `--help` later.
    words.extend(shown.filter_map(Arg::get_long).chain(["help"]).map(|long| format!("--{long}")));
    let name = text.split(['=', ':']).next().unwrap_or(text).trim_start_matches('-');
    let near = closest_names(name, words.iter().map(|word| word.trim_start_matches('-')));
    let spelling = |name: &&str| words.iter().find(|word| word.trim_start_matches('-') == *name);
    let near: Vec<&String> = near.iter().filter_map(spelling).collect();
    let hint = match near.as_slice() {
        [] if has_condors => "; `classad help from-condor` lists HTCondor's options that work here".to_owned(),
        near => suggestion(near),
    };
    format!("there is no option {text}{hint}")
}

/// Returns the message for an expression argument that is most likely a misspelt option of `command`.
pub fn missing_option_message(text: &str, command: &str, cli: &Command) -> String {
    let subcommand = cli.find_subcommand(command);
    let options: Vec<Arg> = std::iter::once(cli).chain(subcommand).flat_map(Command::get_arguments).cloned().collect();
    unknown_option_message(text, Vec::new(), &options)
}
