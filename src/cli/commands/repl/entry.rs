//! Classification of entries: command, definition or expression; and whether an entry is complete.

use std::ops::Range;
use std::path::Path;

use classad::ad::Dialect;
use classad::syntax::{Rules, Strings, Token, is_unfinished, lex};

use super::arguments::words;
use super::commands::{self, Command, Takes};

/// An entry. Ranges are byte ranges of its text.
pub enum Entry {
    /// Only blanks and comments.
    Nothing,
    /// A command and the range of its argument.
    Command(&'static Command, Range<usize>),
    /// A colon and a name that is no command.
    NoCommand(Range<usize>),
    /// `name = expression`
    Definition(Definition),
    /// Anything else: an expression, which may be malformed.
    Expression(Range<usize>),
}

/// The parts of a definition `name = expression`, as byte ranges of the entry.
pub struct Definition {
    pub name: Range<usize>,
    pub expression: Range<usize>,
}

impl Entry {
    pub fn of(text: &str) -> Self {
        let range = trimmed(text, 0..text.len());
        let entered = &text[range.clone()];
        if entered.starts_with('#') || lex(entered.as_bytes(), Strings::Escaped).is_empty() {
            return Entry::Nothing;
        }
        if entered.starts_with(':') {
            let end = entered.find(char::is_whitespace).map_or(range.end, |length| range.start + length);
            return match commands::find(&text[range.start + 1..end]) {
                Some(command) => Entry::Command(command, trimmed(text, end..range.end)),
                None => Entry::NoCommand(range.start..end),
            };
        }
        match Definition::within(text, range.clone()) {
            Some(definition) => Entry::Definition(definition),
            None => Entry::Expression(range),
        }
    }
}

impl Definition {
    /// Parses a part of a text as `name = expression`; `None` if it is something else.
    pub fn within(text: &str, range: Range<usize>) -> Option<Self> {
        let tokens = lex(&text.as_bytes()[range.clone()], Strings::Escaped);
        let [(Token::Name | Token::Quoted, name), (Token::Assign, sign), ..] = tokens.as_slice() else { return None };
        let at = |inside: Range<usize>| range.start + inside.start..range.start + inside.end;
        Some(Definition { name: at(name.range()), expression: trimmed(text, at(sign.range()).end..range.end) })
    }
}

/// Shrinks a range by the blanks at its ends.
pub fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + inside.len() - inside.trim_start().len();
    start..start.max(range.start + inside.trim_end().len())
}

/// Whether an entry continues in the next line, as a bracket, a string or an operator is open. Two blank lines end
/// any entry.
pub fn goes_on(text: &str, dialect: Dialect) -> bool {
    let blank_lines = text.rsplit('\n').take_while(|line| line.trim().is_empty()).count();
    if blank_lines >= 2 {
        return false;
    }
    let is_open = |range: Range<usize>| is_unfinished(&text.as_bytes()[range], Rules::new(dialect));
    match Entry::of(text) {
        Entry::Nothing | Entry::NoCommand(_) => false,
        Entry::Definition(definition) => is_open(definition.expression),
        Entry::Expression(range) => is_open(range),
        Entry::Command(command, argument) => {
            let given = &text[argument.clone()];
            let is_expression = match command.takes {
                Takes::Expression => true,
                Takes::Ad => given.starts_with('['),
                Takes::Pool => !names_files(given),
                Takes::Definition => {
                    let definition = Definition::within(text, argument);
                    return definition.is_some_and(|definition| is_open(definition.expression));
                }
                Takes::Nothing | Takes::Files | Takes::Words(_) => false,
            };
            is_expression && !given.is_empty() && is_open(argument)
        }
    }
}

/// Whether all words are names of existing files.
pub fn names_files(text: &str) -> bool {
    let words = words(text);
    !words.is_empty() && words.iter().all(|word| Path::new(&word.text).exists())
}

#[cfg(test)]
mod tests {
    use super::{Entry, goes_on};
    use classad::ad::Dialect;

    fn kind(text: &str) -> String {
        match Entry::of(text) {
            Entry::Nothing => "nothing".to_owned(),
            Entry::Command(command, argument) => format!("{}<{}>", command.name, &text[argument]),
            Entry::NoCommand(range) => format!("no {}", &text[range]),
            Entry::Definition(definition) => format!("{}:={}", &text[definition.name], &text[definition.expression]),
            Entry::Expression(range) => format!("<{}>", &text[range]),
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
            assert!(goes_on(text, Dialect::Condor), "{text:?} goes on");
        }
        for text in whole {
            assert!(!goes_on(text, Dialect::Condor), "{text:?} is all");
        }
    }
}
