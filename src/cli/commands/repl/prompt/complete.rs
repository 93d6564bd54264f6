//! TAB completion.

use std::rc::Rc;

use classad::ad::{Ad, Dialect, Name, ScopeAd};
use classad::eval::FUNCTIONS;
use classad::syntax::{LexicalError, StringSyntax, Token, lex, print_name};
use rustyline::completion::Pair;

use crate::cli::commands::repl::argument::EntryPart;
use crate::cli::commands::repl::commands::{self, ArgumentKind, COMMANDS};
use crate::cli::commands::repl::settings::SETTINGS;
use crate::cli::commands::repl::state::ReplState;

/// The names from which TAB completes.
pub struct CompletionNames {
    pub dialect: Dialect,
    /// Names of the attributes of `:my`, and of the definitions.
    pub(super) mine: Vec<String>,
    /// Names of the attributes of `:target`.
    pub(super) theirs: Vec<String>,
    /// Names of the attributes of the ads of the pool.
    pub(super) pool_names: Vec<String>,
    /// The names of the ads of the pool.
    pub(super) ids: Rc<[String]>,
}

/// The completions of a word.
#[derive(Default)]
pub struct WordCompletions {
    /// Byte offset of the word in the line.
    pub start: usize,
    pub words: Vec<Pair>,
    /// Whether the word may also be the name of a file.
    pub files: bool,
}

/// Reserved words of expressions.
const RESERVED_WORDS: [&str; 10] =
    ["my.", "self.", "target.", "other.", "true", "false", "undefined", "error", "is", "isnt"];

impl CompletionNames {
    pub fn from_state(state: &ReplState<'_>) -> Self {
        let names = |ad: Option<&Ad>| -> Vec<String> {
            ad.into_iter().flat_map(Ad::iter).map(|attribute| print_name(attribute.name)).collect()
        };
        CompletionNames {
            dialect: state.session.dialect(),
            mine: names(state.own_ad().as_ref()),
            theirs: names(state.target.as_ref().map(|target| &target.ad)),
            pool_names: state.pool.census.attributes().map(|(name, _): (&Name, _)| print_name(name)).collect(),
            ids: Rc::clone(&state.pool.ids),
        }
    }

    /// Returns the completions of the word at the end of `before`, the text before the cursor.
    pub fn complete_word(&self, before: &str) -> WordCompletions {
        let (_, entered) = EntryPart::whole(before).split_at(0);
        let (first, argument) = entered.split_first_word();
        let Some(name) = first.text.strip_prefix(':') else { return self.complete_expression(entered, false) };
        if first.text.len() == entered.text.len() {
            let pairs = COMMANDS.iter().map(|command| Pair {
                display: format!(":{} {}", command.name, command.arguments).trim_end().to_owned(),
                replacement: format!(":{}{}", command.name, if command.arguments.is_empty() { "" } else { " " }),
            });
            return WordCompletions { start: first.offset, words: with_prefix(first.text, pairs), files: false };
        }
        let Some(command) = commands::find_command(name) else { return WordCompletions::default() };
        let ids = self.ids.iter().map(String::as_str);
        let words: Vec<&str> = match command.argument_kind {
            ArgumentKind::Expression | ArgumentKind::Definition => return self.complete_expression(argument, false),
            ArgumentKind::Ad if argument.text.starts_with('[') => return self.complete_expression(argument, false),
            // The argument is an expression about ads of the pool, or a list of files.
            ArgumentKind::Pool => return WordCompletions { files: true, ..self.complete_expression(argument, true) },
            ArgumentKind::Nothing | ArgumentKind::Files => Vec::new(),
            ArgumentKind::Ad => ids.collect(),
            ArgumentKind::PoolAd => ids.chain(["target"]).collect(),
            ArgumentKind::Dialect => vec!["classad", "condor"],
            ArgumentKind::Setting => SETTINGS.iter().map(|setting| setting.name).collect(),
            ArgumentKind::Help => {
                let functions = FUNCTIONS.iter().map(|function| function.name);
                COMMANDS.iter().map(|command| command.name).chain(functions).collect()
            }
        };
        let last = argument.text.rsplit(char::is_whitespace).next().unwrap_or_default();
        WordCompletions {
            start: before.len() - last.len(),
            words: with_prefix(last, words.into_iter().map(literal_pair)),
            files: matches!(command.argument_kind, ArgumentKind::Ad | ArgumentKind::Files),
        }
    }

    /// Returns the completions of the word at the end of an expression. With `of_pool`, the expression is evaluated in
    /// ads of the pool instead of the ad of `:my`.
    fn complete_expression(&self, expression: EntryPart<'_>, of_pool: bool) -> WordCompletions {
        let unterminated = lex(expression.text.as_bytes(), StringSyntax::Escaped).last().is_some_and(|(token, _)| {
            use LexicalError::{UnterminatedComment, UnterminatedQuote, UnterminatedString};
            matches!(token, Token::Flawed(UnterminatedString | UnterminatedQuote | UnterminatedComment))
        });
        if unterminated {
            return WordCompletions::default();
        }
        let before = without_word(expression.text);
        let candidates: Vec<Pair> = if let Some(path) = before.strip_suffix('.') {
            let names = match ScopeAd::of(&Name::new(&path[without_word(path).len()..])) {
                Some(ScopeAd::Own) if of_pool => &self.pool_names,
                Some(ScopeAd::Own) => &self.mine,
                Some(ScopeAd::Other) if self.theirs.is_empty() => &self.pool_names,
                Some(ScopeAd::Other) => &self.theirs,
                _ => return WordCompletions::default(),
            };
            names.iter().map(|name| literal_pair(name)).collect()
        } else {
            let own_sides: &[&Vec<String>] = if of_pool { &[] } else { &[&self.mine, &self.theirs] };
            let attributes = own_sides.iter().copied().chain([&self.pool_names]).flatten().map(String::as_str);
            let functions = FUNCTIONS.iter().map(|function| Pair {
                display: function.signature.to_owned(),
                replacement: format!("{}(", function.name),
            });
            attributes.map(literal_pair).chain(functions).chain(RESERVED_WORDS.map(literal_pair)).collect()
        };
        let mut words = with_prefix(&expression.text[before.len()..], candidates.into_iter());
        words.sort_by_cached_key(|pair| pair.replacement.to_ascii_lowercase());
        words.dedup_by(|a, b| a.replacement.eq_ignore_ascii_case(&b.replacement));
        WordCompletions { start: expression.offset + before.len(), words, files: false }
    }
}

/// Returns the text without the word at its end.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn literal_pair(word: &str) -> Pair {
    Pair { display: word.to_owned(), replacement: word.to_owned() }
}

/// Returns the completions whose replacement text begins with `word`, ignoring case.
fn with_prefix(word: &str, all: impl Iterator<Item = Pair>) -> Vec<Pair> {
    all.filter(|pair| commands::begins_with(&pair.replacement, word)).collect()
}

#[cfg(test)]
mod tests {
    use super::CompletionNames;
    use classad::ad::Dialect;

    fn completed(before: &str) -> (usize, Vec<String>, bool) {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let vocabulary = CompletionNames {
            dialect: Dialect::Condor,
            mine: names(&["RequestMemory", "Rank", "'odd name'"]),
            theirs: names(&["Memory", "MyType"]),
            pool_names: names(&["Memory", "MemoryUsage", "Cpus"]),
            ids: names(&["slot1@a", "slot2@a"]).into(),
        };
        let expected = vocabulary.complete_word(before);
        (expected.start, expected.words.into_iter().map(|pair| pair.replacement).collect(), expected.files)
    }

    fn words(before: &str) -> Vec<String> {
        completed(before).1
    }

    #[test]
    fn attributes_come_from_their_side() {
        assert_eq!(completed("1 + target.me"), (11, vec!["Memory".to_owned()], false));
        assert_eq!(words("MY.r"), ["Rank", "RequestMemory"]);
        assert_eq!(words("RequestMem"), ["RequestMemory"]);
        assert_eq!(words("MEMORYU"), ["MemoryUsage"]);
        assert_eq!(words(":pool cpu"), ["Cpus"]);
        assert_eq!(words(":pool RequestMem"), [""; 0]);
        assert_eq!(words(":type 1 + \"target.me"), [""; 0]);
        assert_eq!(words("nobody.me"), [""; 0]);
        assert_eq!(words("my.'"), [""; 0]);
    }

    #[test]
    fn each_command_has_its_own_words() {
        assert_eq!(completed(" :ex"), (1, vec![":explain ".to_owned()], false));
        assert_eq!(words(":dialect c"), ["classad", "condor"]);
        assert_eq!(words(":set max"), ["max-steps", "max-depth", "max-value-bytes"]);
        assert_eq!(completed(":explain -v slot1"), (12, vec!["slot1@a".to_owned()], false));
        assert_eq!(words(":help subs"), ["substr"]);
        assert_eq!(words("subst"), ["substr("]);
        assert_eq!(words(":history 1"), [""; 0]);
        assert!(completed(":load sa").2 && completed(":my sa").2 && completed(":pool sa").2);
        assert_eq!(words(":my [ a = RequestMem"), ["RequestMemory"]);
    }
}
