//! Texts in calls of functions that say how to compute, and not what something is called: a number with its unit, the
//! options of a regular expression, separators, and the text of an expression. What they stand for depends on them.

use crate::ad::Name;
use crate::eval::find_function;

/// Parameters whose texts are parts of the language, as the signatures of functions call them.
const LANGUAGE_PARAMETERS: [&str; 6] = ["options", "separators", "separator", "delimiters", "operator", "template"];

/// Functions that read a number or a time at the beginning of a text.
const CONVERSIONS: [&str; 5] = ["int", "real", "bool", "absTime", "relTime"];

/// Maximum number of letters of a unit behind a number.
const MAX_UNIT_LETTERS: usize = 3;

/// Maximum length of options and separators in bytes. A longer text may be a name.
const MAX_LANGUAGE_BYTES: usize = 24;

/// What a literal text is to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextArgument {
    /// A part of the language, which is kept.
    Language,
    /// The text of an expression, which is rewritten as one.
    Expression,
    /// Any other text.
    Other,
}

/// Returns what a literal text is to a function. `place` is the 0-based place of the argument, `count` the number of
/// arguments.
pub(super) fn text_argument(function: &Name, place: usize, count: usize, text: &[u8]) -> TextArgument {
    let is_one_of = |names: &[&str]| names.iter().any(|name| function.is(name));
    if function.is("eval") {
        return TextArgument::Expression;
    }
    let is_kept = if is_one_of(&CONVERSIONS) {
        place == 0 && is_quantity(text)
    } else if function.is("join") {
        // With one argument, it is the list.
        place == 0 && count > 1 && text.len() <= MAX_LANGUAGE_BYTES
    } else {
        let is_of_language = parameter(function, place).is_some_and(|name| LANGUAGE_PARAMETERS.contains(&name));
        is_of_language && text.len() <= MAX_LANGUAGE_BYTES
    };
    if is_kept { TextArgument::Language } else { TextArgument::Other }
}

/// Returns the name of a parameter in the signature of a function, such as `options`.
fn parameter(function: &Name, place: usize) -> Option<&'static str> {
    let (_, parameters) = find_function(function)?.signature.split_once('(')?;
    let (parameters, _) = parameters.split_once(')')?;
    let name = parameters.split(',').nth(place)?;
    Some(name.trim_matches([' ', '[', ']']))
}

/// Whether a text is a number with at most a short unit, or a time: it has no word.
fn is_quantity(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let starts = text.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
    let runs = text.split(|byte| !byte.is_ascii_alphabetic());
    starts && text.iter().any(u8::is_ascii_digit) && runs.into_iter().all(|run| run.len() <= MAX_UNIT_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::{TextArgument, text_argument};
    use crate::ad::Name;

    #[test]
    fn texts_of_the_language_are_told_from_names() {
        use TextArgument::{Expression, Language, Other};
        for (function, place, count, text, expected) in [
            ("int", 0, 1, "13X", Language),
            ("INT", 0, 1, " 12GB", Language),
            ("real", 0, 1, "1.5x", Language),
            ("real", 0, 1, "-1.5e3", Language),
            ("int", 0, 1, "alice", Other),
            ("int", 0, 1, "13alice", Other),
            ("absTime", 0, 1, "2026-01-01T00:00:00Z", Language),
            ("regexp", 0, 3, "i", Other),
            ("regexp", 1, 3, "i", Other),
            ("regexp", 2, 3, "i", Language),
            ("regexps", 3, 4, "i", Language),
            ("replaceAll", 3, 4, "gi", Language),
            ("regexpMember", 2, 3, "i", Language),
            ("stringList_regexpMember", 2, 4, "x", Language),
            ("stringList_regexpMember", 3, 4, "i", Language),
            ("stringListMember", 2, 3, "x", Language),
            ("stringListMember", 1, 3, "x", Other),
            ("split", 1, 2, "ab", Language),
            ("join", 0, 2, " and ", Language),
            ("join", 0, 1, "alice", Other),
            ("anyCompare", 0, 3, "isnt", Language),
            ("eval", 0, 1, "Cpus > 1", Expression),
            ("strcat", 0, 1, "alice", Other),
            ("nosuch", 0, 1, "alice", Other),
        ] {
            assert_eq!(
                text_argument(&Name::new(function), place, count, text.as_bytes()),
                expected,
                "{function}({text})"
            );
        }
    }
}
