//! Functions about regular expressions, matched by PCRE2 on bytes.

use std::sync::Arc;

use crate::ad::{ByteString, Type, Value};

use super::super::Abort;
use super::super::pattern::{CompiledPattern, PatternOptions, group_text};
use super::arguments::BoundedString;
use super::string_lists::{DEFAULT_DELIMITERS, StringList};
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(regexp(2, 3) Strict "(pattern, string [, options]) -> bool",
        "whether a pattern matches a part of a string; options: i (ignore case), m (^ and $ at each line), s (dot \
        matches newlines), x (ignore blanks in the pattern)",
        both "regexp(\"^slot[0-9]+@\", \"slot1@crane\")" => "true",
        matches_string),
    function!(regexpMember(2, 3) Strict "(pattern, list [, options]) -> bool",
        "whether a pattern matches a string of a list",
        both "regexpMember(\"^b\", { \"ab\", \"bc\" })" => "true",
        matches_member),
    function!(regexps(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "return the substitute for the first match, with \\\\0 to \\\\9 for groups; options: those of regexp(), f \
        (keep the text around the match), g (replace all)",
        both "regexps(\"([0-9]+)@(.*)\", \"slot1@crane\", \"\\\\2 has \\\\1\")" => "\"crane has 1\"",
        |call| substitute(call, b"")),
    function!(replace(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "replace the first match of a pattern in a string",
        both "replace(\"b+\", \"abbcb\", \"-\")" => "\"a-cb\"",
        |call| substitute(call, b"f")),
    function!(replaceAll(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "replace every match of a pattern in a string",
        both "replaceAll(\"b+\", \"abbcb\", \"-\")" => "\"a-c-\"",
        |call| substitute(call, b"fg")),
    function!(stringList_regexpMember(2, 4) Lazy "(pattern, string [, delimiters [, options]]) -> bool",
        "whether a pattern matches an item of a list in a string",
        both "stringList_regexpMember(\"^b\", \"ab, bc\")" => "true",
        matches_listed_item),
];

/// Whether a pattern matches a non-empty part of a text, ignoring case. The search counts as steps.
///
/// # Errors
///
/// The reason as a phrase, if the pattern is invalid or matching exceeds PCRE2's limits.
pub(super) fn matches_ignoring_case(
    call: &mut Call<'_, '_>,
    pattern: &ByteString,
    subject: &[u8],
) -> Result<Result<bool, String>, Abort> {
    match CompiledPattern::get(pattern, PatternOptions::non_empty_in_any_case()) {
        Ok(pattern) => matches_counted(call, &pattern, subject),
        Err(reason) => Ok(Err(reason)),
    }
}

/// Returns the matching options in the optional third argument; no options if the call lacks the argument.
fn options_argument(call: &mut Call<'_, '_>) -> CallResult<PatternOptions> {
    Ok(PatternOptions::of(call.optional_string(2, "")?.as_bytes()))
}

/// Compiles the pattern in the first argument. The call ends with an error if the argument is not a valid pattern.
fn pattern_argument(call: &mut Call<'_, '_>, options: PatternOptions) -> CallResult<Arc<CompiledPattern>> {
    let text = call.string(0)?;
    CompiledPattern::get(&text, options).map_err(|reason| call.error(reason).into())
}

/// Whether a pattern matches any part of a text. The search counts as steps.
fn matches_counted(
    call: &mut Call<'_, '_>,
    pattern: &CompiledPattern,
    subject: &[u8],
) -> Result<Result<bool, String>, Abort> {
    call.evaluator.spending.search(|steps| pattern.matches(subject, steps))
}

fn matches_string(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_exceptional()?;
    let options = options_argument(call)?;
    let subject = call.string(1)?;
    let pattern = pattern_argument(call, options)?;
    let found = matches_counted(call, &pattern, subject.as_bytes())?;
    found.map(Value::Boolean).map_err(|reason| call.error(reason).into())
}

fn matches_member(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_exceptional()?;
    let list = call.value(1)?;
    let list = call.require_list(list, "a list")?;
    let elements = call.elements(&list)?;
    let options = options_argument(call)?;
    // As in HTCondor's library, an invalid pattern is not an error in `regexpMember()`: it matches no element.
    let pattern = CompiledPattern::get(&call.string(0)?, options);
    let mut any_undefined = false;
    for element in elements {
        if element.value_type() == Type::Undefined {
            any_undefined = true;
            continue;
        }
        let subject = call.require_string(element)?;
        if let Ok(pattern) = &pattern
            && matches_counted(call, pattern, subject.as_bytes())? == Ok(true)
        {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(if any_undefined { Value::Undefined } else { Value::Boolean(false) })
}

fn matches_listed_item(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    call.string(0)?;
    let list = StringList { text: call.string(1)?, delimiters: call.optional_string(2, DEFAULT_DELIMITERS)? };
    // Of all functions with options, only `stringList_regexpMember()` accepts them in upper case.
    let options = call.optional_string(3, "")?.as_bytes().to_ascii_lowercase();
    let pattern = pattern_argument(call, PatternOptions::of(&options))?;
    let mut items = list.items().peekable();
    if items.peek().is_none() {
        return Ok(Value::Undefined);
    }
    for item in items {
        if matches_counted(call, &pattern, item)? == Ok(true) {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(Value::Boolean(false))
}

/// Implements the functions that replace matches. `implied` holds option letters that always apply, besides those in
/// the call.
fn substitute(call: &mut Call<'_, '_>, implied: &[u8]) -> CallResult {
    call.reject_exceptional()?;
    let options = call.optional_string(3, "")?;
    let subject = call.string(1)?;
    let template = call.string(2)?;
    let pattern = pattern_argument(call, PatternOptions::of(options.as_bytes()))?;
    let has = |letter| options.as_bytes().contains(&letter) || implied.contains(&letter);
    let (keeps_unmatched, replaces_all) = (has(b'f'), has(b'g'));
    replace_matches(call, &pattern, subject.as_bytes(), template.as_bytes(), keeps_unmatched, replaces_all)
}

/// Piece of a substitution template.
pub(crate) enum TemplatePiece<'a> {
    /// Literal text.
    Text(&'a [u8]),
    /// Text matched by the capture group with this number; 0 is the whole match.
    Group(usize),
}

/// Splits a template into pieces. A backslash and a digit stand for a capture group; any other backslash stands for
/// itself.
pub(crate) fn parse_template(mut template: &[u8]) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let group = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_digit();
    while let Some(place) = template.windows(2).position(group) {
        pieces.push(TemplatePiece::Text(&template[..place]));
        pieces.push(TemplatePiece::Group(usize::from(template[place + 1] - b'0')));
        template = &template[place + 2..];
    }
    pieces.push(TemplatePiece::Text(template));
    pieces
}

/// Replaces the first match, or all matches if `replaces_all`, by the template with the texts of its groups. The
/// unmatched text of the subject is left out unless `keeps_unmatched`.
///
/// The matches are those of HTCondor's library. An empty match may be followed by a non-empty match at the same
/// position. If there is none, the next byte is copied to the result, even if `keeps_unmatched` is false. Unlike the
/// library, this function stops at the end of the subject.
fn replace_matches(
    call: &mut Call<'_, '_>,
    pattern: &CompiledPattern,
    subject: &[u8],
    template: &[u8],
    keeps_unmatched: bool,
    replaces_all: bool,
) -> CallResult {
    let template = parse_template(template);
    let mut text = BoundedString::new(call);
    let mut at = 0;
    let mut was_empty = false;
    loop {
        call.evaluator.spending.step()?;
        let found = call.evaluator.spending.search(|steps| {
            if was_empty { pattern.find_next(subject, at, steps) } else { pattern.find(subject, at, steps) }
        })?;
        let Some(groups) = found.map_err(|reason| call.error(reason))? else {
            match subject.get(at) {
                Some(passed) if was_empty => text.push(&[*passed]),
                _ => break,
            }
            at += 1;
            was_empty = false;
            continue;
        };
        let (start, end) = groups.get(0).unwrap_or((at, at));
        // With `\K` a match may begin before the end of the previous match. That is an error, since the loop would not
        // make progress.
        if start < at || end < start || (was_empty && end <= at) {
            return Ok(call.error("the pattern matches backwards"));
        }
        if keeps_unmatched {
            text.push(&subject[at..start]);
        }
        for piece in &template {
            text.push(match piece {
                TemplatePiece::Text(literal) => literal,
                TemplatePiece::Group(group) => group_text(&groups, subject, *group)
                    .ok_or_else(|| call.error(format!("\\{group} refers to a group that the match does not have")))?,
            });
        }
        at = end;
        was_empty |= start == end;
        if !replaces_all || text.is_too_long {
            break;
        }
    }
    if keeps_unmatched {
        text.push(subject.get(at..).unwrap_or_default());
    }
    text.finish(call)
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::{check, value_of};
    use crate::ad::Dialect;

    #[test]
    fn options_are_lower_case_letters() {
        check(&[
            ("regexp(\"B\", \"b\", \"i\")", "true"),
            ("regexp(\"B\", \"b\", \"I\")", "false"),
            ("regexp(\"^b\", \"a\\nb\", \"m\")", "true"),
            ("regexp(\"a.c\", \"a\\nc\", \"s\")", "true"),
            ("regexp(\"a b\", \"ab\", \"xyz\")", "true"),
            ("regexp(\"a\", \"a\", 1)", "error"),
            ("stringList_regexpMember(\"B\", \"a,b\", \", \", \"I\")", "true"),
        ]);
    }

    #[test]
    fn exceptions_come_before_types_and_patterns() {
        check(&[
            ("regexp(\"(\", \"a\")", "error"),
            ("regexp(\"(\", undefined)", "undefined"),
            ("regexp(undefined, \"a\", 1)", "undefined"),
            ("regexp(undefined, \"a\", error)", "error"),
            ("regexp(1, \"1\")", "error"),
            ("regexpMember(\"(\", { \"a\" })", "false"),
            ("regexpMember(\"a\", { undefined, \"b\" })", "undefined"),
            ("regexpMember(\"a\", { \"a\", 1 })", "true"),
            ("regexpMember(\"a\", { \"b\", 1 })", "error"),
            ("stringList_regexpMember(\"(\", \"\")", "error"),
            ("stringList_regexpMember(\"a\", \" , \")", "undefined"),
            ("stringList_regexpMember(\"a\", undefined)", "error"),
        ]);
    }

    #[test]
    fn patterns_are_bytes() {
        check(&[
            ("regexp(\"^..$\", \"\\303\\251\")", "true"),
            ("regexp(\"\\351+\", \"\\351\\351\")", "true"),
            ("regexp(\"[\\340-\\377]\", \"\\351\")", "true"),
            ("regexp(\"\\\\Q\\351*\\\\E\", \"\\351*\")", "true"),
            ("regexp(\"\\\\\\351\", \"\\351\")", "true"),
        ]);
    }

    #[test]
    fn groups_are_substituted() {
        check(&[
            ("regexps(\"z\", \"abc\", \"-\")", "\"\""),
            ("regexps(\"(a)|(b)\", \"b\", \"<\\\\1|\\\\2>\")", "\"<|b>\""),
            ("regexps(\"(a)|(b)\", \"a\", \"<\\\\1|\\\\2>\")", "error"),
            ("regexps(\"a\", \"a\", \"x\\\\\")", "\"x\\\\\""),
            ("regexps(\"a\", \"a\", \"\\\\\\\\0\")", "\"\\\\a\""),
            ("regexps(\"b\", \"abcb\", \"X\", \"g\")", "\"XX\""),
            ("regexps(\"b\", \"abcb\", \"X\", \"fg\")", "\"aXcX\""),
            ("replace(\"x*\", \"abc\", \"-\")", "\"-abc\""),
        ]);
    }

    #[test]
    fn results_cannot_grow_without_end() {
        let text = "a".repeat(40_000);
        check(&[(
            &format!("replaceAll(\"\", \"{text}\", \"{text}\")"),
            "functions made values of more than 67108864 bytes in one evaluation",
        )]);
    }

    #[test]
    fn empty_matches_are_replaced_too() {
        check(&[
            ("replaceAll(\"^\", \"abc\", \"X\")", "\"Xabc\""),
            ("replaceAll(\"$\", \"abc\", \"X\")", "\"abcX\""),
            ("replaceAll(\"x*\", \"abc\", \"-\")", "\"-a-b-c-\""),
            ("replaceAll(\"\", \"\", \"X\")", "\"X\""),
            ("replaceAll(\"(?=b)\", \"abab\", \"-\")", "\"a-ba-b\""),
            ("regexps(\"(?=b)\", \"abab\", \"-\", \"g\")", "\"-b-b\""),
            ("replaceAll(\"a*?(?!$)\", \"aabb\", \"-\")", "\"---b-b\""),
            ("replaceAll(\"b*(?!$)\", \"abbcbd\", \"-\")", "\"-a--c--d\""),
            ("replaceAll(\"a\\\\K\", \"aab\", \"-\")", "\"a-a-b\""),
            ("replaceAll(\"a\\\\Kb*(?!$)\", \"aabaac\", \"-\")", "\"a-a-a-a-c\""),
        ]);
    }

    #[test]
    fn no_pattern_runs_for_ever() {
        let aaa = "a".repeat(5000);
        let subject = format!("{aaa}b");
        for pattern in ["^(a+)+$", "(a|a)*$", "(.*)*x", "^(?:a|(?R))*c"] {
            let call = format!("regexp(\"{pattern}\", \"{subject}\")");
            let value = value_of(&call, Dialect::Condor);
            // The time of a search counts as steps, so that a slow machine spends the budget first.
            let is_bounded = value == "error" || value == "false" || value.contains("steps");
            assert!(is_bounded, "{pattern}: {value}");
        }
        let nested = format!("regexp(\"{}a{}\", \"a\")", "(".repeat(240), ")".repeat(240));
        assert_eq!(value_of(&nested, Dialect::Condor), "true");
        let too_deep = format!("regexp(\"{}a{}\", \"a\")", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(value_of(&too_deep, Dialect::Condor), "error");
    }
}
