//! TAB completion.

use std::rc::Rc;

use classad::ad::{Ad, Dialect, Name, ScopeAd};
use classad::eval::FUNCTIONS;
use classad::syntax::{LexicalError, StringSyntax, Token, lex, print_name};
use rustyline::completion::Pair;

use crate::cli::commands::repl::commands::{self, ArgumentKind, COMMANDS, CompletionTopic};
use crate::cli::commands::repl::settings::SETTINGS;
use crate::cli::commands::repl::state::ReplState;

/// The names that completion offers.
pub struct CompletionNames {
    pub dialect: Dialect,
    /// Attributes and definitions of the own side.
    mine: Vec<String>,
    /// Attributes of the other side.
    theirs: Vec<String>,
    /// Attributes of the ads of the pool.
    pool_names: Vec<String>,
    /// The names of the ads of the pool.
    ids: Rc<[String]>,
}

/// The completions of a word.
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
    pub fn from_state(desk: &ReplState<'_>) -> Self {
        let names = |ad: Option<&Ad>| -> Vec<String> {
            ad.into_iter().flat_map(Ad::iter).map(|attribute| print_name(attribute.name)).collect()
        };
        CompletionNames {
            dialect: desk.session.dialect(),
            mine: names(desk.own_ad().as_ref()),
            theirs: names(desk.target.as_ref().map(|target| &target.ad)),
            pool_names: desk.pool.census.attributes().map(|(name, _): (&Name, _)| print_name(name)).collect(),
            ids: Rc::clone(&desk.pool.ids),
        }
    }

    /// Returns the completions of the word at the end of this text.
    pub fn complete_word(&self, before: &str) -> WordCompletions {
        let blank = before.len() - before.trim_start().len();
        let entered = &before[blank..];
        if !entered.starts_with(':') {
            return self.complete_expression(before, blank, false);
        }
        let Some(end) = entered.find(char::is_whitespace) else {
            let names = COMMANDS.iter().map(|command| (format!(":{}", command.name), command.arguments));
            let pairs = names.map(|(name, arguments)| Pair {
                display: format!("{name} {arguments}").trim_end().to_owned(),
                replacement: if arguments.is_empty() { name } else { name + " " },
            });
            return WordCompletions { start: blank, words: with_prefix(entered, pairs), files: false };
        };
        let Some(command) = commands::find_command(&entered[1..end]) else { return no_completions(before) };
        let argument = before.len() - entered[end..].trim_start().len();
        let given = &before[argument..];
        match command.argument_kind {
            ArgumentKind::Nothing => no_completions(before),
            ArgumentKind::Files => WordCompletions { files: true, ..no_completions(before) },
            ArgumentKind::Expression | ArgumentKind::Definition => self.complete_expression(before, argument, false),
            ArgumentKind::Ad if given.starts_with('[') => self.complete_expression(before, argument, false),
            ArgumentKind::Ad => WordCompletions {
                files: true,
                ..complete_argument(before, argument, self.ids.iter().map(String::as_str))
            },
            // Offer attributes first; the argument may also be a list of files.
            ArgumentKind::Pool => WordCompletions { files: true, ..self.complete_expression(before, argument, true) },
            ArgumentKind::Words(CompletionTopic::Dialects) => {
                complete_argument(before, argument, ["classad", "condor"].into_iter())
            }
            ArgumentKind::Words(CompletionTopic::Settings) => {
                complete_argument(before, argument, SETTINGS.iter().map(|setting| setting.name))
            }
            ArgumentKind::Words(CompletionTopic::PoolAds) => {
                complete_argument(before, argument, self.ids.iter().map(String::as_str).chain(["target"]))
            }
            ArgumentKind::Words(CompletionTopic::Help) => {
                let functions = FUNCTIONS.iter().map(|function| function.name);
                complete_argument(before, argument, COMMANDS.iter().map(|command| command.name).chain(functions))
            }
        }
    }

    /// Returns the completions of an expression that begins at the byte offset `begins`. With `of_pool`, only the
    /// pool's attributes are offered.
    fn complete_expression(&self, before: &str, begins: usize, of_pool: bool) -> WordCompletions {
        let written = &before[begins..];
        let is_open = |flaw| {
            matches!(
                flaw,
                LexicalError::UnterminatedString | LexicalError::UnterminatedQuote | LexicalError::UnterminatedComment
            )
        };
        let tokens = lex(written.as_bytes(), StringSyntax::Escaped);
        if matches!(tokens.last(), Some((Token::Flawed(flaw), _)) if is_open(*flaw)) {
            return no_completions(before);
        }
        let start = begins + without_word(written).len();
        let word = &before[start..];
        if let Some(path) = before[begins..start].strip_suffix('.') {
            let side = &path[without_word(path).len()..];
            let names = match ScopeAd::of(&Name::new(side)) {
                Some(ScopeAd::Own) if of_pool => &self.pool_names,
                Some(ScopeAd::Own) => &self.mine,
                Some(ScopeAd::Other) if self.theirs.is_empty() => &self.pool_names,
                Some(ScopeAd::Other) => &self.theirs,
                _ => return no_completions(before),
            };
            return WordCompletions {
                start,
                words: sorted_unique(with_prefix(word, names.iter().map(|name| literal_pair(name)))),
                files: false,
            };
        }
        let own =
            if of_pool { [&self.pool_names[..], &[], &[]] } else { [&self.mine[..], &self.theirs, &self.pool_names] };
        let attributes = own.into_iter().flatten().map(|name| literal_pair(name));
        let functions = FUNCTIONS.iter().map(|function| Pair {
            display: function.signature.to_owned(),
            replacement: format!("{}(", function.name),
        });
        let words = RESERVED_WORDS.iter().map(|word| literal_pair(word));
        let all = attributes.chain(functions).chain(words);
        WordCompletions { start, words: sorted_unique(with_prefix(word, all)), files: false }
    }
}

/// Removes the word at the end of a text.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn no_completions(before: &str) -> WordCompletions {
    WordCompletions { start: before.len(), words: Vec::new(), files: false }
}

/// Returns those of `words` that complete the last word of a command's argument.
fn complete_argument<'w>(before: &str, argument: usize, words: impl Iterator<Item = &'w str>) -> WordCompletions {
    let last = before[argument..].rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = before.len() - last.len();
    let words = words.map(literal_pair);
    WordCompletions { start, words: with_prefix(&before[start..], words), files: false }
}

fn literal_pair(word: &str) -> Pair {
    Pair { display: word.to_owned(), replacement: word.to_owned() }
}

/// Returns the completions that begin with this word, case-insensitively.
fn with_prefix(word: &str, all: impl Iterator<Item = Pair>) -> Vec<Pair> {
    let begins =
        |pair: &Pair| pair.replacement.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word));
    all.filter(begins).collect()
}

/// Sorts completions alphabetically and removes duplicates, case-insensitively.
fn sorted_unique(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_by_cached_key(|pair| pair.replacement.to_ascii_lowercase());
    pairs.dedup_by(|a, b| a.replacement.eq_ignore_ascii_case(&b.replacement));
    pairs
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
        assert_eq!(words(":set max"), ["max-steps", "max-depth"]);
        assert_eq!(completed(":explain -v slot1"), (12, vec!["slot1@a".to_owned()], false));
        assert_eq!(words(":help subs"), ["substr"]);
        assert_eq!(words("subst"), ["substr("]);
        assert_eq!(words(":history 1"), [""; 0]);
        assert!(completed(":load sa").2 && completed(":my sa").2 && completed(":pool sa").2);
        assert_eq!(words(":my [ a = RequestMem"), ["RequestMemory"]);
    }
}
