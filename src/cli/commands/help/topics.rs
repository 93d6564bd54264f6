//! The table of help topics.

use classad::ad::BinaryOperator;
use classad::eval::FUNCTIONS;
use classad::lint::RULES;

use super::markup::{self, HelpBlock};
use crate::cli::args::condor_options;

/// A topic of `classad help`: its name and its text in Markdown.
pub struct HelpTopic {
    pub name: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal)*) => {
        /// The topics, in the order in which `classad --help` lists them.
        pub const TOPICS: &[HelpTopic] =
            &[$(HelpTopic { name: $name, text: include_str!(concat!("topics/", $name, ".md")) },)*];
    };
}

topics! { "language" "dialects" "functions" "formats" "exit-codes" "policy" "gangs" "claims" "explain" "from-condor" }

/// Returns the topic of this name, ignoring case; `None` if no topic has the name.
pub fn find_topic(name: &str) -> Option<&'static HelpTopic> {
    TOPICS.iter().find(|topic| topic.name.eq_ignore_ascii_case(name))
}

impl HelpTopic {
    /// Parses the text of the topic.
    pub fn blocks(&self) -> Vec<HelpBlock> {
        markup::parse_topic(self.text, &named_table)
    }

    /// Returns the subject of the topic, from the first line of its text.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, about)| about)
    }
}

/// Returns the terms and definitions that `<!-- NAME -->` stands for in a topic; none if the name is unknown.
pub fn named_table(name: &str) -> Vec<(String, String)> {
    match name {
        "functions" => functions(),
        "operators" => operators(),
        "rules" => {
            RULES.iter().map(|rule| (rule.name.to_owned(), format!("{}: {}", rule.level.as_str(), rule.doc))).collect()
        }
        "words" => condor_options::option_table(),
        _ => Vec::new(),
    }
}

fn functions() -> Vec<(String, String)> {
    let text = |function: &classad::eval::BuiltinFunction| {
        let example = &function.example;
        let dialect = example.dialect.map_or(String::new(), |dialect| format!(" (`--dialect {dialect}`)"));
        format!("{}: `{}` = `{}`{dialect}", function.doc, example.call, example.value)
    };
    FUNCTIONS.iter().map(|function| (function.signature.to_owned(), text(function))).collect()
}

/// Returns the operators from the tightest to the loosest binding. Binary operators come from [`BinaryOperator::ALL`].
fn operators() -> Vec<(String, String)> {
    let mut levels: Vec<(u8, Vec<&str>)> = Vec::new();
    for operator in BinaryOperator::ALL {
        let precedence = operator.precedence();
        match levels.iter_mut().find(|(level, _)| *level == precedence) {
            Some((_, symbols)) => symbols.push(operator.symbol()),
            None => levels.push((precedence, vec![operator.symbol()])),
        }
    }
    levels.sort_unstable_by_key(|(level, _)| std::cmp::Reverse(*level));
    let term = |symbols: &str, text: &str| (symbols.to_owned(), text.to_owned());
    let mut all = vec![
        term("a.b  a[i]  f(x)", "selection, subscript, call"),
        term("a ?: b", "`b` where `a` is undefined"),
        term("- + ! ~", "before one operand: sign, not, bits exchanged"),
    ];
    all.extend(levels.iter().map(|(_, symbols)| term(&symbols.join(" "), operator_meaning(symbols[0]))));
    all.push(term("c ? a : b", "`a` where `c` is true, `b` where it is false; from right to left"));
    all
}

/// Describes the binary operators with the precedence of `symbol`.
fn operator_meaning(symbol: &str) -> &'static str {
    match symbol {
        "*" => "products",
        "+" => "sums",
        "<<" => "bits moved",
        "<" => "order; strings in any case",
        "==" => "equality; undefined where an operand is, but for `is` and `isnt`",
        "&" => "bits in both",
        "^" => "bits in one",
        "|" => "bits in either",
        "&&" => "and: false if an operand is, else undefined if one is",
        "||" => "or: true if an operand is, else undefined if one is",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{TOPICS, named_table, operators};
    use crate::cli::commands::help::markup::HelpBlock;

    #[test]
    fn every_topic_says_what_it_is_about_and_every_table_is_there() {
        for topic in TOPICS {
            let blocks = topic.blocks();
            assert!(matches!(&blocks[0], HelpBlock::Title(name, about) if name == topic.name && !about.is_empty()));
            let is_empty = |block: &HelpBlock| matches!(block, HelpBlock::Terms(terms) if terms.is_empty());
            assert!(!blocks.iter().any(is_empty), "{}", topic.name);
        }
        assert!(!named_table("rules").is_empty());
        assert!(operators().iter().all(|(_, text)| !text.is_empty()));
    }
}
