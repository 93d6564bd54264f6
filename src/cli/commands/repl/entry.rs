//! Classification of entries: command, definition or expression; and whether an entry is complete.

use std::path::Path;

use classad::ad::Dialect;
use classad::syntax::{ParseOptions, StringSyntax, Token, is_incomplete, lex};

use super::argument::EntryPart;
use super::commands::{self, ArgumentKind, ReplCommand};

/// An entry of the prompt or of a script, by its kind.
pub enum ReplEntry<'e> {
    /// Only blanks and comments.
    Blank,
    /// A command and its argument.
    Command(&'static ReplCommand, EntryPart<'e>),
    /// A colon and a name that is not a command.
    UnknownCommand(EntryPart<'e>),
    /// `name = expression`
    Definition(DefinitionParts<'e>),
    /// Anything else: an expression, which may be malformed.
    Expression(EntryPart<'e>),
}

/// The parts of a definition `name = expression`.
pub struct DefinitionParts<'e> {
    pub name: EntryPart<'e>,
    pub expression: EntryPart<'e>,
}

impl<'e> ReplEntry<'e> {
    pub fn parse(text: &'e str) -> Self {
        let entry = EntryPart::whole(text).trim();
        if entry.text.starts_with('#') || lex(entry.text.as_bytes(), StringSyntax::Escaped).is_empty() {
            return ReplEntry::Blank;
        }
        let (first, argument) = entry.split_first_word();
        if let Some(name) = first.text.strip_prefix(':') {
            let command = commands::find_command(name);
            return command.map_or(ReplEntry::UnknownCommand(first), |command| ReplEntry::Command(command, argument));
        }
        DefinitionParts::parse(entry).map_or(ReplEntry::Expression(entry), ReplEntry::Definition)
    }
}

impl<'e> DefinitionParts<'e> {
    /// Parses a part of an entry as `name = expression`; `None` if it is something else.
    pub fn parse(part: EntryPart<'e>) -> Option<Self> {
        let tokens = lex(part.text.as_bytes(), StringSyntax::Escaped);
        let [(Token::Name | Token::Quoted, name), (Token::Assign, sign), ..] = tokens.as_slice() else { return None };
        Some(DefinitionParts { name: part.part(name.range()), expression: part.split_at(sign.range().end).1 })
    }
}

/// Splits an unfinished entry after which a command begins in a line of its own: the lines before, and the command with
/// its further lines. `None` for another entry. A line such as `:my` may also be the end of `condition ? value :my`, or
/// belong to a string or a comment that is open.
pub fn split_command(text: &str) -> Option<(&str, &str)> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect::<Vec<_>>();
    starts.into_iter().rev().find_map(|start| {
        let (before, rest) = text.split_at(start);
        let line = rest.lines().next().unwrap_or_default();
        if !line.trim_start().starts_with(':') || before.trim().is_empty() {
            return None;
        }
        let is_command = matches!(ReplEntry::parse(line), ReplEntry::Command(..));
        let tokens = if is_command { lex(before.as_bytes(), StringSyntax::Escaped) } else { return None };
        let count = |of: Token| tokens.iter().filter(|(token, _)| *token == of).count();
        let is_within =
            tokens.iter().any(|(token, _)| matches!(token, Token::Flawed(error) if error.is_unterminated()));
        let is_conditional = count(Token::Question) > count(Token::Colon);
        (!is_within && !is_conditional).then_some((before, rest))
    })
}

/// Whether an entry continues in the next line, because a bracket or a string is open or an operand is missing. Two
/// blank lines end any entry.
pub fn is_entry_incomplete(text: &str, dialect: Dialect) -> bool {
    let blank_lines = text.rsplit('\n').take_while(|line| line.trim().is_empty()).count();
    if blank_lines >= 2 {
        return false;
    }
    if let Some((_, command)) = split_command(text) {
        return is_entry_incomplete(command, dialect);
    }
    let is_open = |part: EntryPart<'_>| is_incomplete(part.text.as_bytes(), ParseOptions::new(dialect));
    match ReplEntry::parse(text) {
        ReplEntry::Blank | ReplEntry::UnknownCommand(_) => false,
        ReplEntry::Definition(definition) => is_open(definition.expression),
        ReplEntry::Expression(expression) => is_open(expression),
        ReplEntry::Command(_, argument) if argument.is_empty() => false,
        ReplEntry::Command(command, argument) => match command.argument_kind {
            ArgumentKind::Expression => is_open(argument),
            ArgumentKind::Ad => argument.text.starts_with('[') && is_open(argument),
            ArgumentKind::Pool => !are_existing_files(argument) && is_open(argument),
            ArgumentKind::Definition => DefinitionParts::parse(argument).is_some_and(|parts| is_open(parts.expression)),
            _ => false,
        },
    }
}

/// Whether the argument has words and each word is the name of an existing file.
pub fn are_existing_files(argument: EntryPart<'_>) -> bool {
    let words = argument.words();
    !words.is_empty() && words.iter().all(|word| Path::new(&word.text).exists())
}

#[cfg(test)]
mod tests {
    use super::{ReplEntry, is_entry_incomplete};
    use classad::ad::Dialect;

    fn kind(text: &str) -> String {
        match ReplEntry::parse(text) {
            ReplEntry::Blank => "nothing".to_owned(),
            ReplEntry::Command(command, argument) => format!("{}<{}>", command.name, argument.text),
            ReplEntry::UnknownCommand(name) => format!("no {}", name.text),
            ReplEntry::Definition(definition) => {
                format!("{}:={}", definition.name.text, definition.expression.text)
            }
            ReplEntry::Expression(expression) => format!("<{}>", expression.text),
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
        let open = [
            "(1 +",
            "a = (",
            ":let a = {",
            ":my [ a = 1;",
            ":type x &&",
            ":pool Memory >",
            "\"ab",
            "/* a",
            "(1\n",
            "x ? 1\n:my +",
            "(1 +\n:let a = {",
            "(1 +\n:let a = {\n1",
            "/* a\n:help",
            "\"a\n:help",
        ];
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
            "(1 +\n:help",
            "a = {\n  :pool x",
        ];
        for text in open {
            assert!(is_entry_incomplete(text, Dialect::Condor), "{text:?} goes on");
        }
        for text in whole {
            assert!(!is_entry_incomplete(text, Dialect::Condor), "{text:?} is all");
        }
    }
}
