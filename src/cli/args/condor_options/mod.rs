//! HTCondor's options: those with one dash, as `condor_q` and `condor_status` have them.
//!
//! One table maps them to our own options. The command line is rewritten before clap sees it.

mod translation;

use clap::{Arg, Command};
use classad::ad::nearest;

pub use translation::translated;

use Meaning::{Ads, Columns, Form, Format, Given, Nothing, Switch, Unknown};

/// The translation of one of HTCondor's options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The command has no such option.
    Unknown,
    /// Dropped: the command does this anyway.
    Nothing,
    /// One of our options without a value.
    Switch(&'static str),
    /// One of our options; the next argument is its value.
    Given(&'static str),
    /// The next argument is a file of ads.
    Ads,
    /// A form of output: `-o FORM`.
    Form(&'static str),
    /// The arguments up to the next option are expressions, one column each. Letters after a `:` in the option itself
    /// set headings, separators and quotes.
    Columns,
    /// The next argument is a `printf` format, the one after it an expression.
    Format,
}

/// One of HTCondor's options: name, other spellings, and the meaning in `query` and in `explain`.
struct Word(&'static str, &'static [&'static str], [Meaning; 2]);

const WORDS: [Word; 15] = [
    Word("constraint", &[], [Given("--constraint"); 2]),
    Word("autoformat", &["af"], [Columns, Unknown]),
    Word("format", &["f"], [Format, Unknown]),
    Word("long", &["l"], [Form("long"), Unknown]),
    Word("json", &[], [Form("json"); 2]),
    Word("jsonl", &[], [Form("jsonl"); 2]),
    Word("xml", &[], [Form("xml"), Unknown]),
    Word("attributes", &[], [Given("--attributes"), Unknown]),
    Word("limit", &[], [Given("--limit"), Unknown]),
    Word("sort", &[], [Given("--sort"), Unknown]),
    Word("jobads", &[], [Given("--ads"), Ads]),
    Word("ads", &[], [Given("--ads"), Unknown]),
    Word("slotads", &[], [Given("--ads"), Given("--pool")]),
    Word("reverse", &["reverse-analyze"], [Nothing, Switch("--reverse")]),
    Word("better-analyze", &["analyze"], [Nothing; 2]),
];

/// Options that turn `query` into `explain`.
const ANALYSES: [&str; 2] = ["better-analyze", "reverse"];

/// The commands that accept HTCondor's options, and the column of each in the table.
const COMMANDS: [(&str, usize); 3] = [("query", QUERY), ("explain", EXPLAIN), ("why", EXPLAIN)];

const QUERY: usize = 0;
const EXPLAIN: usize = 1;

/// Minimum number of letters of an abbreviated option. The abbreviation must also be unambiguous.
const SHORTEST: usize = 3;

/// Returns the rows of the table in `classad help from-condor`: HTCondor's option, and our equivalent.
pub fn table() -> Vec<(String, String)> {
    let ours = |meaning: &Meaning| match meaning {
        Unknown => None,
        Nothing => Some("makes it `explain`".to_owned()),
        Switch(option) => Some(format!("`{option}`")),
        Given("--constraint") => Some("`--constraint EXPR`, or the first argument of `query`".to_owned()),
        Given(option) => Some(format!("`{option} ...`")),
        Ads => Some("an argument".to_owned()),
        Form(form) => Some(format!("`-o {form}`")),
        Columns => Some("rows as HTCondor prints them; ours is `--af EXPR,...`".to_owned()),
        Format => Some("the same with formats".to_owned()),
    };
    let row = |Word(name, also, [query, explain]): &Word| {
        let names: Vec<String> = std::iter::once(name).chain(*also).map(|name| format!("-{name}")).collect();
        let text = match (ours(query), ours(explain)) {
            (Some(query), None) => format!("{query} (`query`)"),
            (Some(query), Some(explain)) if query != explain => format!("{query} (`query`), {explain} (`explain`)"),
            (Some(both), Some(_)) => both,
            (None, explain) => explain.unwrap_or_default(),
        };
        (names.join(", "), text)
    };
    WORDS.iter().map(row).collect()
}

/// Whether an argument looks like one of HTCondor's options: one dash and a name of several letters, or a known
/// one-letter spelling.
fn is_word(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else { return false };
    let name = rest.split(':').next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && (name.len() > 1 || WORDS.iter().any(|Word(_, also, _)| also.contains(&name)))
}

/// Splits an option into its name and the text after its colon, if it has one.
fn split(text: &str) -> (&str, Option<&str>) {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.split_once(':').map_or((text, None), |(name, behind)| (name, Some(behind)))
}

/// Returns the option of this name, or the only one of which this is an abbreviation.
fn find(name: &str) -> Option<&'static Word> {
    let name = name.to_ascii_lowercase();
    let exact = WORDS.iter().find(|Word(word, also, _)| *word == name || also.contains(&name.as_str()));
    let mut beginning = WORDS.iter().filter(|Word(word, also, _)| {
        name.len() >= SHORTEST && std::iter::once(word).chain(*also).any(|spelling| spelling.starts_with(&name))
    });
    exact.or_else(|| beginning.next().filter(|_| beginning.next().is_none()))
}

/// Returns the message that there is no such option, with the most similarly spelt of `words` and `options`.
fn unknown(text: &str, mut words: Vec<String>, options: &[Arg]) -> String {
    let has_condors = !words.is_empty();
    let shown = options.iter().filter(|arg| !arg.is_hide_set());
    words.extend(shown.filter_map(Arg::get_long).map(|long| format!("--{long}")));
    let bare = |word: &str| word.trim_start_matches('-').to_owned();
    let names: Vec<String> = words.iter().map(|word| bare(word)).collect();
    let near = nearest(&bare(text.split(['=', ':']).next().unwrap_or(text)), names.iter().map(String::as_str));
    let near: Vec<&str> =
        near.iter().filter_map(|name| words.iter().find(|word| bare(word) == *name)).map(String::as_str).collect();
    let hint = match near.as_slice() {
        [] if has_condors => "; `classad help from-condor` has those of HTCondor's that there are".to_owned(),
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    };
    format!("there is no option {text}{hint}")
}

/// Returns the message for an expression argument that looks like a misspelt option of `command`.
pub fn no_option(text: &str, command: &str, cli: &Command) -> String {
    let found = cli.find_subcommand(command);
    let options: Vec<Arg> = std::iter::once(cli).chain(found).flat_map(Command::get_arguments).cloned().collect();
    unknown(text, Vec::new(), &options)
}
