//! HTCondor's options: those with one dash, as `condor_q` and `condor_status` have them.
//!
//! One table maps HTCondor's options to our own. [`translate`] rewrites the command line before clap parses it.

mod translation;

use clap::{Arg, Command};
use classad::text::{closest_names, suggestion};

pub use translation::translate;

use OptionMeaning::{Ads, Columns, Form, Format, Implied, Machine, Restriction, Switch, Unknown, WithValue};

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
    /// The option selects the ads of which this constraint is true.
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
}

/// One of HTCondor's options: its full name and other spellings, then its meaning in `query` and its meaning in
/// `explain`.
struct CondorOption(&'static [&'static str], [OptionMeaning; 2]);

const CONDOR_OPTIONS: [CondorOption; 28] = [
    CondorOption(&["constraint"], [WithValue("--constraint"); 2]),
    CondorOption(&["autoformat", "af"], [Columns, Unknown]),
    CondorOption(&["format", "f"], [Format, Unknown]),
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
    CondorOption(&["claimed"], [Restriction("State == \"Claimed\""), Unknown]),
    CondorOption(&["avail"], [Restriction("State == \"Unclaimed\" && Cpus > 0 && Memory > 0"), Unknown]),
    CondorOption(&["reverse", "reverse-analyze"], [Implied, Switch("--reverse")]),
    CondorOption(&["better-analyze", "analyze"], [Implied; 2]),
    CondorOption(&["machine"], [Unknown, Machine]),
    CondorOption(&["mconstraint"], [Unknown, WithValue("--offer-constraint")]),
    CondorOption(&["unmatchable"], [Implied, Switch("--unmatchable")]),
];

/// What `-run` means for jobs, as in `condor_q`, and for slots, as in `condor_status`.
const RUNNING: &str = "JobStatus == 2 || JobStatus == 6 || JobStatus == 7 || State == \"Claimed\"";

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

/// Returns the rows of the table in `classad help from-condor`: HTCondor's option, and our equivalent.
pub fn option_table() -> Vec<(String, String)> {
    let ours = |meaning: &OptionMeaning| match meaning {
        Unknown => None,
        Implied => Some("makes it `explain`".to_owned()),
        Switch(option) => Some(format!("`{option}`")),
        WithValue("--constraint") => Some("`--constraint EXPR`, or the first argument of `query`".to_owned()),
        WithValue(option) => Some(format!("`{option} ...`")),
        Restriction(constraint) => Some(format!("`--constraint '{constraint}'`")),
        Machine => Some("`--offer-constraint EXPR`".to_owned()),
        Ads => Some("an argument".to_owned()),
        Form(form) => Some(format!("`-o {form}`")),
        Columns => Some("rows as HTCondor prints them; ours is `--af EXPR,...`".to_owned()),
        Format => Some("the same with formats".to_owned()),
    };
    let row = |CondorOption(names, [query, explain]): &CondorOption| {
        let names: Vec<String> = names.iter().map(|name| format!("-{name}")).collect();
        let text = match (ours(query), ours(explain)) {
            (Some(query), None) => format!("{query} (`query`)"),
            (Some(query), Some(explain)) if query != explain => format!("{query} (`query`), {explain} (`explain`)"),
            (Some(both), Some(_)) => both,
            (None, explain) => explain.unwrap_or_default(),
        };
        (names.join(", "), text)
    };
    CONDOR_OPTIONS.iter().map(row).collect()
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
    words.extend(shown.filter_map(Arg::get_long).map(|long| format!("--{long}")));
    let name = text.split(['=', ':']).next().unwrap_or(text).trim_start_matches('-');
    let near = closest_names(name, words.iter().map(|word| word.trim_start_matches('-')));
    let spelling = |name: &&str| words.iter().find(|word| word.trim_start_matches('-') == *name);
    let near: Vec<&String> = near.iter().filter_map(spelling).collect();
    let hint = match near.as_slice() {
        [] if has_condors => "; `classad help from-condor` has those of HTCondor's that there are".to_owned(),
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
