//! The topics: one table.

use classad::ad::BinaryOperator;
use classad::eval::FUNCTIONS;
use classad::lint::RULES;

use super::page::{self, Block};
use crate::cli::args::condor_options;

/// A topic: what `classad help` calls it, and its text.
pub struct Topic {
    pub name: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal)*) => {
        /// The topics, as they are listed.
        pub const TOPICS: &[Topic] =
            &[$(Topic { name: $name, text: include_str!(concat!("topics/", $name, ".md")) },)*];
    };
}

topics! { "language" "dialects" "functions" "formats" "exit-codes" "policy" "gangs" "claims" "explain" "from-condor" }

/// The topic of this name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name.eq_ignore_ascii_case(name))
}

impl Topic {
    pub fn blocks(&self) -> Vec<Block> {
        page::parse(self.text, &table)
    }

    /// What it is about, in a line.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, about)| about)
    }
}

/// The table of this name, as terms and what they are.
pub fn table(name: &str) -> Vec<(String, String)> {
    match name {
        "functions" => functions(),
        "operators" => operators(),
        "rules" => {
            RULES.iter().map(|rule| (rule.name.to_owned(), format!("{}: {}", rule.level.as_str(), rule.doc))).collect()
        }
        "words" => condor_options::table(),
        _ => Vec::new(),
    }
}

fn functions() -> Vec<(String, String)> {
    let text = |function: &classad::eval::Function| {
        let example = &function.example;
        let dialect = example.dialect.map_or(String::new(), |dialect| format!(" (`--dialect {dialect}`)"));
        format!("{}: `{}` = `{}`{dialect}", function.doc, example.call, example.value)
    };
    FUNCTIONS.iter().map(|function| (function.signature.to_owned(), text(function))).collect()
}

/// The operators by how tightly they bind; those between operands by their table.
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
    all.extend(levels.iter().map(|(_, symbols)| term(&symbols.join(" "), meaning(symbols[0]))));
    all.push(term("c ? a : b", "`a` where `c` is true, `b` where it is false; from right to left"));
    all
}

/// What the operators that bind like this one do.
fn meaning(symbol: &str) -> &'static str {
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
    use super::{TOPICS, operators, table};
    use crate::cli::commands::help::page::Block;

    #[test]
    fn every_topic_says_what_it_is_about_and_every_table_is_there() {
        for topic in TOPICS {
            let blocks = topic.blocks();
            assert!(matches!(&blocks[0], Block::Title(name, about) if name == topic.name && !about.is_empty()));
            let is_empty = |block: &Block| matches!(block, Block::Terms(terms) if terms.is_empty());
            assert!(!blocks.iter().any(is_empty), "{}", topic.name);
        }
        assert!(!table("rules").is_empty());
        assert!(operators().iter().all(|(_, text)| !text.is_empty()));
    }
}
