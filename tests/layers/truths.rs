//! Whether a value counts as true is decided in one place.

use crate::sources::files;
use crate::tokens::{code, tokens, without_tests};

/// Files that compare numbers with 0 in their own way: the truth of values itself, words of HTCondor's configuration, and
/// the function `bool()`, which converts strings and times, too.
const DECIDERS: [&str; 3] = ["ad/truth.rs", "configuration/constants.rs", "eval/builtin/conversion.rs"];

/// Whether a match arm such as `Value::Integer(number) => number != 0` is among the tokens.
fn decides_truth(tokens: &[&str]) -> bool {
    let is_arm = |arm: &[&str]| {
        matches!(arm, ["Value", "::", "Integer" | "Real", "(", _, ")", "=", ">", rest @ ..]
            if rest.split(|token| *token == ",").next().is_some_and(|body| body.windows(3).any(|part| part == ["!", "=", "0"])))
    };
    (0..tokens.len()).any(|start| is_arm(&tokens[start..tokens.len().min(start + 24)]))
}

#[test]
fn only_truth_of_turns_a_value_into_a_truth() {
    let files = files();
    let deciders = files.iter().filter(|(_, text)| decides_truth(&without_tests(&tokens(&code(text)))));
    let mut deciders: Vec<&str> = deciders.map(|(file, _)| file.as_str()).collect();
    deciders.sort_unstable();
    assert_eq!(deciders, DECIDERS, "`Truth::of` says whether a value counts as true");
}
