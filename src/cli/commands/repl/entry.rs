//! Classification of entries: command, definition or expression; and whether an entry is complete.

use std::ops::Range;
use std::path::Path;

use classad::ad::Dialect;
use classad::syntax::{ParseOptions, StringSyntax, Token, is_incomplete, lex};

use super::arguments::split_words;
use super::commands::{self, ArgumentKind, ReplCommand};

/// An entry. Ranges are byte ranges of its text.
pub enum ReplEntry {
    /// Only blanks and comments.
    Blank,
    /// A command and the range of its argument.
    Command(&'static ReplCommand, Range<usize>),
    /// A colon and a name that is no command.
    UnknownCommand(Range<usize>),
    /// `name = expression`
    Definition(DefinitionRanges),
    /// Anything else: an expression, which may be malformed.
    Expression(Range<usize>),
}

/// The parts of a definition `name = expression`, as byte ranges of the entry.
pub struct DefinitionRanges {
    pub name: Range<usize>,
    pub expression: Range<usize>,
}

impl ReplEntry {
    pub fn parse(text: &str) -> Self {
        let range = trim_range(text, 0..text.len());
        let entered = &text[range.clone()];
        if entered.starts_with('#') || lex(entered.as_bytes(), StringSyntax::Escaped).is_empty() {
            return ReplEntry::Blank;
        }
        if entered.starts_with(':') {
            let end = entered.find(char::is_whitespace).map_or(range.end, |length| range.start + length);
            return match commands::find_command(&text[range.start + 1..end]) {
                Some(command) => ReplEntry::Command(command, trim_range(text, end..range.end)),
                None => ReplEntry::UnknownCommand(range.start..end),
            };
        }
        match DefinitionRanges::parse(text, range.clone()) {
            Some(definition) => ReplEntry::Definition(definition),
            None => ReplEntry::Expression(range),
        }
    }
}

impl DefinitionRanges {
    /// Parses a part of a text as `name = expression`; `None` if it is something else.
    pub fn parse(text: &str, range: Range<usize>) -> Option<Self> {
        let tokens = lex(&text.as_bytes()[range.clone()], StringSyntax::Escaped);
        let [(Token::Name | Token::Quoted, name), (Token::Assign, sign), ..] = tokens.as_slice() else { return None };
        let at = |inside: Range<usize>| range.start + inside.start..range.start + inside.end;
        Some(DefinitionRanges { name: at(name.range()), expression: trim_range(text, at(sign.range()).end..range.end) })
    }
}

/// Shrinks a range by the blanks at its ends.
pub fn trim_range(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + inside.len() - inside.trim_start().len();
    start..start.max(range.start + inside.trim_end().len())
}

/// Whether an entry continues in the next line, as a bracket, a string or an operator is open. Two blank lines end
/// any entry.
pub fn is_entry_incomplete(text: &str, dialect: Dialect) -> bool {
    let blank_lines = text.rsplit('\n').take_while(|line| line.trim().is_empty()).count();
    if blank_lines >= 2 {
        return false;
    }
    let is_open = |range: Range<usize>| is_incomplete(&text.as_bytes()[range], ParseOptions::new(dialect));
    match ReplEntry::parse(text) {
        ReplEntry::Blank | ReplEntry::UnknownCommand(_) => false,
        ReplEntry::Definition(definition) => is_open(definition.expression),
        ReplEntry::Expression(range) => is_open(range),
        ReplEntry::Command(command, argument) => {
            let given = &text[argument.clone()];
            let is_expression = match command.argument_kind {
                ArgumentKind::Expression => true,
                ArgumentKind::Ad => given.starts_with('['),
                ArgumentKind::Pool => !are_existing_files(given),
                ArgumentKind::Definition => {
                    let definition = DefinitionRanges::parse(text, argument);
                    return definition.is_some_and(|definition| is_open(definition.expression));
                }
                ArgumentKind::Nothing | ArgumentKind::Files | ArgumentKind::Words(_) => false,
            };
            is_expression && !given.is_empty() && is_open(argument)
        }
    }
}

/// Whether all words are names of existing files.
pub fn are_existing_files(text: &str) -> bool {
    let words = split_words(text);
    !words.is_empty() && words.iter().all(|word| Path::new(&word.text).exists())
}

#[cfg(test)]
mod tests {
    use super::{ReplEntry, is_entry_incomplete};
    use classad::ad::Dialect;

    fn kind(text: &str) -> String {
        match ReplEntry::parse(text) {
            ReplEntry::Blank => "nothing".to_owned(),
            ReplEntry::Command(command, argument) => format!("{}<{}>", command.name, &text[argument]),
            ReplEntry::UnknownCommand(range) => format!("no {}", &text[range]),
            ReplEntry::Definition(definition) => {
                format!("{}:={}", &text[definition.name], &text[definition.expression])
            }
            ReplEntry::Expression(range) => format!("<{}>", &text[range]),
        }
    }

    #[test]
    fn entries_are_told_apart() {
        let cases = [
            ("", "nothing"),
            ("  # a comment", "nothing"),
            (" // a comment", "nothing"),
            (" 1 + 2 ", "<1 + 2>"),
            ("a == 2", "<a == 2>"),
            ("a = 2 ", "a:=2"),
            ("'a b' = c == 2", "'a b':=c == 2"),
            ("a.b = 2", "<a.b = 2>"),
            (":my  a.ad 2 ", "my<a.ad 2>"),
            (":q", "quit<>"),
            (":t 1", "no :t"),
            (":", "no :"),
            (":pool\nx", "pool<x>"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_open_goes_on() {
        let open =
            ["(1 +", "a = (", ":let a = {", ":my [ a = 1;", ":type x &&", ":pool Memory >", "\"ab", "/* a", "(1\n"];
        let whole = [
            "(1 +\n\n",
            "1",
            "",
            ":my",
            ":my a.ad",
            ":let",
            ":let a",
            ":pool src/",
            ":nothing (",
            "a = )",
            "# (",
            ":q",
        ];
        for text in open {
            assert!(is_entry_incomplete(text, Dialect::Condor), "{text:?} goes on");
        }
        for text in whole {
            assert!(!is_entry_incomplete(text, Dialect::Condor), "{text:?} is all");
        }
    }
}
