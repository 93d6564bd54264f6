//! TAB completion.

use std::rc::Rc;

use classad::ad::{Ad, Dialect, Name};
use classad::eval::FUNCTIONS;
use classad::syntax::{Flaw, Strings, Token, lex, print_name};
use rustyline::completion::Pair;

use crate::cli::commands::repl::commands::{self, COMMANDS, Takes, Topic};
use crate::cli::commands::repl::settings::SETTINGS;
use crate::cli::commands::repl::state::Desk;

/// The names that completion offers.
pub struct Vocabulary {
    pub dialect: Dialect,
    /// Attributes and definitions of the own side, attributes of the other side, and of the ads of the pool.
    mine: Vec<String>,
    theirs: Vec<String>,
    pool: Vec<String>,
    /// The names of the ads of the pool.
    ids: Rc<[String]>,
}

/// The completions of a word.
pub struct Expected {
    /// Byte offset of the word in the line.
    pub start: usize,
    pub words: Vec<Pair>,
    /// Whether the word may also be the name of a file.
    pub files: bool,
}

/// Reserved words of expressions.
const WORDS: [&str; 10] = ["my.", "self.", "target.", "other.", "true", "false", "undefined", "error", "is", "isnt"];

impl Vocabulary {
    pub fn of(desk: &Desk<'_>) -> Self {
        let names = |ad: Option<&Ad>| -> Vec<String> {
            ad.into_iter().flat_map(Ad::iter).map(|attribute| print_name(attribute.name)).collect()
        };
        Vocabulary {
            dialect: desk.session.dialect(),
            mine: names(desk.this_side().as_ref()),
            theirs: names(desk.target.as_ref().map(|target| &target.ad)),
            pool: desk.pool.census.attributes().map(|(name, _): (&Name, _)| print_name(name)).collect(),
            ids: Rc::clone(&desk.pool.ids),
        }
    }

    /// Returns the completions of the word at the end of this text.
    pub fn expected(&self, before: &str) -> Expected {
        let blank = before.len() - before.trim_start().len();
        let entered = &before[blank..];
        if !entered.starts_with(':') {
            return self.expression(before, blank, false);
        }
        let Some(end) = entered.find(char::is_whitespace) else {
            let names = COMMANDS.iter().map(|command| (format!(":{}", command.name), command.arguments));
            let pairs = names.map(|(name, arguments)| Pair {
                display: format!("{name} {arguments}").trim_end().to_owned(),
                replacement: if arguments.is_empty() { name } else { name + " " },
            });
            return Expected { start: blank, words: beginning(entered, pairs), files: false };
        };
        let Some(command) = commands::find(&entered[1..end]) else { return nothing(before) };
        let argument = before.len() - entered[end..].trim_start().len();
        let given = &before[argument..];
        match command.takes {
            Takes::Nothing => nothing(before),
            Takes::Files => Expected { files: true, ..nothing(before) },
            Takes::Expression | Takes::Definition => self.expression(before, argument, false),
            Takes::Ad if given.starts_with('[') => self.expression(before, argument, false),
            Takes::Ad => Expected { files: true, ..named(before, argument, self.ids.iter().map(String::as_str)) },
            // Offer attributes first; the argument may also be a list of files.
            Takes::Pool => Expected { files: true, ..self.expression(before, argument, true) },
            Takes::Words(Topic::Dialects) => named(before, argument, ["classad", "condor"].into_iter()),
            Takes::Words(Topic::Settings) => named(before, argument, SETTINGS.iter().map(|setting| setting.name)),
            Takes::Words(Topic::Others) => {
                named(before, argument, self.ids.iter().map(String::as_str).chain(["target"]))
            }
            Takes::Words(Topic::Help) => {
                let functions = FUNCTIONS.iter().map(|function| function.name);
                named(before, argument, COMMANDS.iter().map(|command| command.name).chain(functions))
            }
        }
    }

    /// Returns the completions of an expression that begins at the byte offset `begins`. With `of_pool`, only the
    /// pool's attributes are offered.
    fn expression(&self, before: &str, begins: usize, of_pool: bool) -> Expected {
        let written = &before[begins..];
        let is_open =
            |flaw| matches!(flaw, Flaw::UnterminatedString | Flaw::UnterminatedQuote | Flaw::UnterminatedComment);
        let tokens = lex(written.as_bytes(), Strings::Escaped);
        if matches!(tokens.last(), Some((Token::Flawed(flaw), _)) if is_open(*flaw)) {
            return nothing(before);
        }
        let start = begins + without_word(written).len();
        let word = &before[start..];
        if let Some(path) = before[begins..start].strip_suffix('.') {
            let side = &path[without_word(path).len()..];
            let is = |names: [&str; 2]| names.iter().any(|name| name.eq_ignore_ascii_case(side));
            let names = match () {
                () if of_pool && is(["my", "self"]) => &self.pool,
                () if is(["my", "self"]) => &self.mine,
                () if is(["target", "other"]) && self.theirs.is_empty() => &self.pool,
                () if is(["target", "other"]) => &self.theirs,
                () => return nothing(before),
            };
            return Expected {
                start,
                words: sorted(beginning(word, names.iter().map(|name| plain(name)))),
                files: false,
            };
        }
        let own = if of_pool { [&self.pool[..], &[], &[]] } else { [&self.mine[..], &self.theirs, &self.pool] };
        let attributes = own.into_iter().flatten().map(|name| plain(name));
        let functions = FUNCTIONS.iter().map(|function| Pair {
            display: function.signature.to_owned(),
            replacement: format!("{}(", function.name),
        });
        let words = WORDS.iter().map(|word| plain(word));
        let all = attributes.chain(functions).chain(words);
        Expected { start, words: sorted(beginning(word, all)), files: false }
    }
}

/// Removes the word at the end of a text.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn nothing(before: &str) -> Expected {
    Expected { start: before.len(), words: Vec::new(), files: false }
}

/// Returns those of `words` that complete the last word of a command's argument.
fn named<'w>(before: &str, argument: usize, words: impl Iterator<Item = &'w str>) -> Expected {
    let last = before[argument..].rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = before.len() - last.len();
    let words = words.map(plain);
    Expected { start, words: beginning(&before[start..], words), files: false }
}

fn plain(word: &str) -> Pair {
    Pair { display: word.to_owned(), replacement: word.to_owned() }
}

/// Returns the completions that begin with this word, case-insensitively.
fn beginning(word: &str, all: impl Iterator<Item = Pair>) -> Vec<Pair> {
    let begins =
        |pair: &Pair| pair.replacement.get(..word.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(word));
    all.filter(begins).collect()
}

/// Sorts completions alphabetically and removes duplicates, case-insensitively.
fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_by_cached_key(|pair| pair.replacement.to_ascii_lowercase());
    pairs.dedup_by(|a, b| a.replacement.eq_ignore_ascii_case(&b.replacement));
    pairs
}

#[cfg(test)]
mod tests {
    use super::Vocabulary;
    use classad::ad::Dialect;

    fn completed(before: &str) -> (usize, Vec<String>, bool) {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let vocabulary = Vocabulary {
            dialect: Dialect::Condor,
            mine: names(&["RequestMemory", "Rank", "'odd name'"]),
            theirs: names(&["Memory", "MyType"]),
            pool: names(&["Memory", "MemoryUsage", "Cpus"]),
            ids: names(&["slot1@a", "slot2@a"]).into(),
        };
        let expected = vocabulary.expected(before);
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
