//! The table of help topics.

use classad::ad::BinaryOperator;
use classad::constraint::MAX_COMPARED_CLAUSES;
use classad::eval::{BuiltinFunction, Context, FUNCTIONS, RunBudgets};
use classad::explain::Cause;
use classad::format::{MAX_AD_BYTES, MAX_REPEATED_BYTES, MAX_UNPACK_RATIO, UNLIMITED_UNPACKED_BYTES};
use classad::lint::RULES;
use classad::matching::policy::MAX_COMPONENTS;
use classad::policy_test::MAX_DERIVED_ATTRIBUTES;
use classad::protocol::MAX_PORTS;
use classad::transform::MAX_MADE_BYTES;

use crate::cli::args::condor_options;
use crate::cli::io::input::MAX_HELD_PACKED_ADS;
use crate::cli::render::rows::MAX_CLUSTER_CELLS;

/// A topic of `classad help`: its name and its text in Markdown.
pub struct HelpTopic {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal)*) => {
        /// The topics, in the order in which `classad --help` lists them.
        pub const TOPICS: &[HelpTopic] =
            &[$(HelpTopic { name: $name, text: include_str!(concat!("topics/", $name, ".md")) },)*];
    };
}

topics! { "language" "words" "dialects" "functions" "formats" "exit-codes" "policy" "gangs" "claims" "explain" "live" "from-condor" "tables" "budgets" }

/// Returns the names of the topics, and `schema`, whose text is made from the schemas.
pub fn topic_names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name).chain(["schema"])
}

/// Returns the topic of this name, ignoring case; `None` if no topic has the name.
pub fn find_topic(name: &str) -> Option<&'static HelpTopic> {
    TOPICS.iter().find(|topic| topic.name.eq_ignore_ascii_case(name))
}

/// Minimum number of letters of a word that is searched in topics.
const MIN_MENTIONED: usize = 4;

impl HelpTopic {
    /// Whether the text contains a word, in any case, as a whole or as the beginning of a word.
    pub fn mentions(&self, word: &str) -> bool {
        let (text, word) = (self.text.to_lowercase(), word.trim().to_lowercase());
        if word.chars().count() < MIN_MENTIONED {
            return false;
        }
        let is_start = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
        text.match_indices(&word).any(|(at, _)| is_start(at))
    }

    /// Returns the subject of the topic, from the first line of its text.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, about)| about)
    }
}

/// Environment variables and what they set.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("CLASSAD_DIALECT", "the dialect, unless --dialect is given"),
    ("NO_COLOR, CLICOLOR_FORCE", "`NO_COLOR` disables colour; `CLICOLOR_FORCE` enables colour, even in a pipe"),
    ("CLASSAD_HISTORY", "the history file of `classad repl`; empty: no history"),
    ("COLUMNS", "the width of tables, messages and help, in columns"),
];

/// Files and what they hold.
const FILES: [(&str, &str); 2] = [
    (
        "$XDG_CONFIG_HOME/classad/config.yaml",
        "defaults of `id`, of `output` and of the options of every command, each on a line such as `dialect: condor`; \
    usually `~/.config/classad/config.yaml`",
    ),
    (
        "$XDG_CACHE_HOME/classad/slots-*.long",
        "the slots that `live:slots` printed last; usually in `~/.cache/classad`: see `classad help live`",
    ),
];

/// Returns the terms and definitions that `<!-- NAME -->` stands for in a help text; none if the name is unknown.
pub fn named_table(name: &str) -> Vec<(String, String)> {
    let owned = |&(term, text): &(&str, &str)| (term.to_owned(), text.to_owned());
    match name {
        "environment" => ENVIRONMENT.iter().map(owned).collect(),
        "files" => FILES.iter().map(owned).collect(),
        "functions" => functions(),
        "operators" => operators(),
        "rules" => {
            RULES.iter().map(|rule| (rule.name.to_owned(), format!("{}: {}", rule.level.as_str(), rule.doc))).collect()
        }
        "causes" => Cause::ALL.iter().map(|cause| (cause.identifier().to_owned(), cause.words().to_owned())).collect(),
        "budgets" => budgets(),
        "words" => condor_options::option_table(),
        _ => Vec::new(),
    }
}

/// Returns a row for each budget: its option, or what it bounds if no option sets it; the default, and what follows when
/// it is spent.
fn budgets() -> Vec<(String, String)> {
    let mut rows = settable_budgets();
    rows.extend(fixed_budgets().map(|(term, text)| (term.to_owned(), text)));
    rows
}

/// Returns a row for each budget that no option sets.
fn fixed_budgets() -> [(&'static str, String); 7] {
    [
        ("ports", format!("at most {MAX_PORTS} ports of an ad")),
        ("transform rules", format!("at most {MAX_MADE_BYTES} bytes of new text in an ad")),
        ("order, docking", format!("at most {MAX_COMPONENTS} expressions in each of these keys of a policy")),
        (
            "specs of test",
            format!("at most {MAX_DERIVED_ATTRIBUTES} attributes in ads that are made with `like` or `file`"),
        ),
        ("autocluster", format!("at most {MAX_CLUSTER_CELLS} cells in the table")),
        ("YAML", format!("at most {MAX_REPEATED_BYTES} bytes that aliases repeat in a document")),
        ("contradictions", format!("at most {MAX_COMPARED_CLAUSES} clauses of one condition are compared")),
    ]
}

/// Returns a row for each budget that an option sets.
fn settable_budgets() -> Vec<(String, String)> {
    let option = |name: &str, default: u64, what: &str| (name.to_owned(), format!("{what} (default: {default})"));
    vec![
        option("--max-steps N", Context::DEFAULT_MAX_STEPS, "steps of one evaluation"),
        option(
            "--max-run-steps N",
            RunBudgets::DEFAULT_STEPS,
            &format!(
                "steps of all evaluations of a run, not counting the first 4,096 of each; each byte of input adds {}",
                RunBudgets::STEPS_PER_BYTE
            ),
        ),
        option(
            "--max-comparison-steps N",
            RunBudgets::DEFAULT_COMPARISONS,
            &format!(
                "steps of comparisons of requests with offers, and of `join`; each byte of input adds {}",
                RunBudgets::COMPARISONS_PER_BYTE
            ),
        ),
        option(
            "--max-held-bytes N",
            RunBudgets::DEFAULT_HELD_BYTES,
            &format!(
                "bytes of lists of candidates and of rows; each byte of input adds {}",
                RunBudgets::HELD_BYTES_PER_BYTE
            ),
        ),
        option("--max-depth N", Context::DEFAULT_MAX_DEPTH.into(), "depth of nested evaluations"),
        option(
            "--max-value-bytes N",
            Context::DEFAULT_MAX_VALUE_BYTES,
            "bytes of the values that functions make in one evaluation",
        ),
        option(
            "--max-search-tests N",
            Context::DEFAULT_MAX_SEARCH_TESTS,
            "tests of candidates in the search for one gang, not counting one of each offer at each port",
        ),
        option("--max-ad-bytes N", MAX_AD_BYTES as u64, "bytes of the text of an ad, approximately"),
        option(
            "--max-unpack-ratio N",
            MAX_UNPACK_RATIO,
            &format!(
                "unpacked bytes for each compressed byte; {UNLIMITED_UNPACKED_BYTES} unpacked bytes are always allowed"
            ),
        ),
        option(
            "--max-packed-ads N",
            MAX_HELD_PACKED_ADS as u64,
            "ads of one compressed file, if a command such as `match` keeps the ads in memory",
        ),
    ]
}

fn functions() -> Vec<(String, String)> {
    let row = |function: &&BuiltinFunction| {
        let example = &function.example;
        let dialect = example.dialect.map_or(String::new(), |dialect| format!(" (`--dialect {dialect}`)"));
        let alone = if function.replacement.is_some() { "; not in HTCondor" } else { "" };
        let text = format!("{}{alone}: `{}` = `{}`{dialect}", function.doc, example.call, example.value);
        (function.signature.to_owned(), text)
    };
    FUNCTIONS.iter().map(row).collect()
}

/// Returns a row for each precedence, from the tightest to the loosest binding: the operators and their meaning. Binary
/// operators come from [`BinaryOperator::ALL`].
fn operators() -> Vec<(String, String)> {
    let mut binary = BinaryOperator::ALL.to_vec();
    binary.sort_by_key(|operator| std::cmp::Reverse(operator.precedence()));
    let term = |symbols: &str, text: &str| (symbols.to_owned(), text.to_owned());
    let mut all = vec![
        term("a.b  a[i]  f(x)", "attribute of an ad, element of a list, call of a function"),
        term("a ?: b", "`a`, or `b` if `a` is undefined"),
        term("- + ! ~", "unary operators: sign, logical not, bitwise not"),
    ];
    for level in binary.chunk_by(|one, next| one.precedence() == next.precedence()) {
        let symbols: Vec<&str> = level.iter().map(|operator| operator.symbol()).collect();
        all.push(term(&symbols.join(" "), operator_meaning(symbols[0])));
    }
    all.push(term("c ? a : b", "`a` if `c` is true, `b` if `c` is false"));
    all
}

/// Describes all binary operators of one precedence. `symbol` is the first of these operators in
/// [`BinaryOperator::ALL`].
fn operator_meaning(symbol: &str) -> &'static str {
    match symbol {
        "*" => "products",
        "+" => "sums",
        "<<" => "bit shifts",
        "<" => "comparison by order; case is ignored in strings",
        "==" => "equality; `==` and `!=` ignore case in strings",
        "&" => "bitwise and",
        "^" => "bitwise exclusive or",
        "|" => "bitwise or",
        "&&" => {
            "and: error if an operand is an error, else false if one is false, else undefined if one is undefined; in \
            the dialect `condor`, `false && error` is false"
        }
        "||" => {
            "or: error if an operand is an error, else true if one is true, else undefined if one is undefined; in \
            the dialect `condor`, `true || error` is true"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{HelpTopic, TOPICS, budgets, find_topic, named_table, operators, topic_names};
    use crate::cli::commands::help::markup::{HelpBlock, parse};

    #[test]
    fn every_topic_says_what_it_is_about_and_every_table_is_there() {
        for topic in TOPICS {
            let blocks = parse(topic.text);
            assert!(matches!(&blocks[0], HelpBlock::Title(name, about) if name == topic.name && !about.is_empty()));
            let is_empty = |block: &HelpBlock| matches!(block, HelpBlock::Terms(terms) if terms.is_empty());
            assert!(!blocks.iter().any(is_empty), "{}", topic.name);
        }
        assert!(!named_table("rules").is_empty());
        assert!(operators().iter().all(|(_, text)| !text.is_empty()));
    }

    #[test]
    fn budgets_are_those_of_options_and_the_fixed_ones() {
        let terms: Vec<String> = budgets().into_iter().map(|(term, _)| term).collect();
        for term in ["--max-steps N", "--max-held-bytes N", "ports", "contradictions"] {
            assert!(terms.iter().any(|known| known == term), "{term}: {terms:?}");
        }
    }

    #[test]
    fn a_topic_mentions_the_beginnings_of_its_words() {
        let topic = HelpTopic { name: "x", text: "# x: About it\nParquet files, sub-word or xword, \u{e4}tna" };
        assert_eq!(topic.about(), "About it");
        assert_eq!(HelpTopic { name: "x", text: "x" }.about(), "");
        for (word, expected) in [
            ("parq", true),
            (" PARQUET ", true),
            ("par", false),
            ("arquet", false),
            ("word", true),
            ("xword", true),
            ("ubword", false),
            ("\u{c4}TNA", true),
            ("tna", false),
            ("files, sub", true),
            ("about", true),
            ("", false),
        ] {
            assert_eq!(topic.mentions(word), expected, "{word}");
        }
        assert!(find_topic("POLICY").is_some_and(|topic| topic.name == "policy") && find_topic("polic").is_none());
        assert_eq!(topic_names().last(), Some("schema"));
        assert!(named_table("nothing").is_empty());
    }
}
