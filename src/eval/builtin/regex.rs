//! Functions about regular expressions, matched by PCRE2 on bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use crate::ad::{ByteString, Type, Value};

use super::arguments::{BoundedString, excerpt};
use super::string_lists::{DEFAULT_DELIMITERS, StringList};
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(regexp(2, 3) Strict "(pattern, string [, options]) -> bool",
        "whether a part of a string matches a pattern; options: i (any case), m (lines), s (dot is all), x (spaced)",
        both "regexp(\"^slot[0-9]+@\", \"slot1@crane\")" => "true",
        matches_string),
    function!(regexpMember(2, 3) Strict "(pattern, list [, options]) -> bool",
        "whether a part of a list's string matches a pattern",
        both "regexpMember(\"^b\", { \"ab\", \"bc\" })" => "true",
        matches_member),
    function!(regexps(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "the substitute for what a pattern matches; \\\\0 to \\\\9 stand for groups; options f: the whole string, g: all matches",
        both "regexps(\"([0-9]+)@(.*)\", \"slot1@crane\", \"\\\\2 has \\\\1\")" => "\"crane has 1\"",
        |call| substitute(call, b"")),
    function!(replace(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "a string with a substitute for the first match of a pattern",
        both "replace(\"b+\", \"abbcb\", \"-\")" => "\"a-cb\"",
        |call| substitute(call, b"f")),
    function!(replaceAll(3, 4) Strict "(pattern, string, substitute [, options]) -> string",
        "a string with a substitute for every match of a pattern",
        both "replaceAll(\"b+\", \"abbcb\", \"-\")" => "\"a-c-\"",
        |call| substitute(call, b"fg")),
    function!(stringList_regexpMember(2, 4) Lazy "(pattern, string [, delimiters [, options]]) -> bool",
        "whether a part of an item that a string lists matches a pattern",
        both "stringList_regexpMember(\"^b\", \"ab, bc\")" => "true",
        matches_listed_item),
];

/// Whether a pattern matches a non-empty part of a text, ignoring case.
///
/// # Errors
///
/// The reason as a phrase, if the pattern is invalid or matching exceeds PCRE2's limits.
pub(super) fn matches_ignoring_case(pattern: &ByteString, subject: &[u8]) -> Result<bool, String> {
    CompiledPattern::get(pattern, PatternOptions(PatternOptions::ANY_CASE | PatternOptions::NOT_EMPTY))?
        .matches(subject)
}

/// Matching options of a pattern, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternOptions(u8);

impl PatternOptions {
    const ANY_CASE: u8 = 1;
    const MULTI_LINE: u8 = 2;
    const DOT_ALL: u8 = 4;
    const EXTENDED: u8 = 8;
    const NOT_EMPTY: u8 = 16;

    /// Returns the options for matching without regard to case.
    pub(crate) fn any_case() -> Self {
        PatternOptions(Self::ANY_CASE)
    }

    /// Returns the options for a string of option letters, such as `im`; unknown letters are ignored.
    pub(crate) fn of(letters: &[u8]) -> Self {
        PatternOptions(letters.iter().fold(0, |all, letter| {
            all | match letter {
                b'i' => Self::ANY_CASE,
                b'm' => Self::MULTI_LINE,
                b's' => Self::DOT_ALL,
                b'x' => Self::EXTENDED,
                _ => 0,
            }
        }))
    }

    fn has(self, option: u8) -> bool {
        self.0 & option != 0
    }
}

/// Limits of every match: PCRE2's default number of match calls, and 512 MiB of heap memory, given in KiB. PCRE2 would
/// otherwise use up to 20 GB. The JIT stays off, because it uses the stack and its limits differ between machines.
const MATCH_LIMITS: &str = "(*LIMIT_MATCH=10000000)(*LIMIT_HEAP=524288)";

/// Compiled regular expression.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    text: ByteString,
    options: PatternOptions,
    regex: Regex,
    next: OnceLock<Result<NonEmptyMatcher, String>>,
}

/// Regular expression that finds a non-empty match at a given position. Functions that replace all matches use it
/// after an empty match, so that they do not find the empty match again.
#[derive(Debug)]
struct NonEmptyMatcher {
    regex: Regex,
    /// Whether the regular expression can match only at the given position. If false, the caller must check where a
    /// match begins.
    anchored: bool,
}

type PatternResult = Result<Arc<CompiledPattern>, String>;

thread_local! {
    /// Compiled patterns of earlier calls. Compiling takes longer than matching, and a run matches few patterns with
    /// many ads.
    static PATTERN_CACHE: RefCell<FxHashMap<(ByteString, PatternOptions), PatternResult>> = RefCell::default();
}

impl CompiledPattern {
    /// Returns the compiled pattern, from this thread's cache if possible.
    ///
    /// # Errors
    ///
    /// The reason as a phrase, if the pattern is invalid.
    pub(crate) fn get(text: &ByteString, options: PatternOptions) -> PatternResult {
        const MAX_CACHED_PATTERNS: usize = 128;
        const MAX_CACHED_PATTERN_BYTES: usize = 16 << 10;
        if text.as_bytes().len() > MAX_CACHED_PATTERN_BYTES {
            return Self::new(text, options).map(Arc::new);
        }
        PATTERN_CACHE.with_borrow_mut(|compiled| {
            if let Some(found) = compiled.get(&(text.clone(), options)) {
                return found.clone();
            }
            if compiled.len() >= MAX_CACHED_PATTERNS {
                compiled.clear();
            }
            let pattern = Self::new(text, options).map(Arc::new);
            compiled.insert((text.clone(), options), pattern.clone());
            pattern
        })
    }

    fn new(text: &ByteString, options: PatternOptions) -> Result<Self, String> {
        if memchr::memmem::find(text.as_bytes(), b"(*LIMIT_HEAP=").is_some() {
            return Err("a pattern cannot set its own limit of memory".to_owned());
        }
        let source = as_utf8(text.as_bytes());
        let start = if options.has(PatternOptions::NOT_EMPTY) { "(*NOTEMPTY)" } else { "" };
        let regex = build(&format!("{start}{MATCH_LIMITS}{source}"), options)
            .map_err(|reason| format!("`{}` is not a pattern: {reason}", excerpt(text.as_bytes())))?;
        Ok(CompiledPattern { text: text.clone(), options, regex, next: OnceLock::new() })
    }

    /// Whether the pattern matches any part of a text.
    pub(crate) fn matches(&self, subject: &[u8]) -> Result<bool, String> {
        // Maximum length in bytes of a text that is matched in the pattern's own memory. The pattern keeps the memory
        // that its largest match needed, so longer texts are matched in memory that is freed afterwards.
        const LONGEST: usize = 1 << 10;
        if subject.len() > LONGEST {
            return self.find(subject, 0).map(|found| found.is_some());
        }
        self.regex.is_match(subject).map_err(|error| error_message(&error))
    }

    /// Returns bytes with which every matching text begins, for a fast rejection; empty if nothing is known of them.
    pub(crate) fn literal_prefix(&self) -> Vec<u8> {
        let Some(anchored) = self.text.as_bytes().strip_prefix(b"^") else { return Vec::new() };
        // An alternative may begin in another way; `^` may stand for the beginning of a line, and a blank for nothing.
        if self.options.0 != 0 || anchored.contains(&b'|') {
            return Vec::new();
        }
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@' | b'/' | b':');
        let count = anchored.iter().take_while(|byte| is_plain(byte)).count();
        // The character before a quantifier may be missing.
        let is_quantified = anchored.get(count).is_some_and(|byte| matches!(byte, b'*' | b'?' | b'{' | b'+'));
        anchored[..count - usize::from(is_quantified && count > 0)].to_vec()
    }

    /// Returns the capture groups of the first match at or after the byte offset `from`; `None` if there is no match.
    pub(crate) fn find(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
        find_groups(&self.regex, subject, from)
    }

    /// Returns the capture groups of a non-empty match that begins at the byte offset `from`; `None` if there is no
    /// such match.
    fn find_next(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
        let next = self.next.get_or_init(|| NonEmptyMatcher::new(self)).as_ref().map_err(Clone::clone)?;
        let found = find_groups(&next.regex, subject, from)?;
        Ok(found.filter(|found| next.anchored || found.get(0).is_some_and(|(start, _)| start == from)))
    }
}

impl NonEmptyMatcher {
    fn new(pattern: &CompiledPattern) -> Result<Self, String> {
        let source = as_utf8(pattern.text.as_bytes());
        let start = format!("(*NOTEMPTY_ATSTART){MATCH_LIMITS}");
        if source.contains("\\K") {
            // `\K` moves the reported start of a match, so the start cannot be checked afterwards. Instead, `\G`
            // anchors the pattern. `\E` ends an open `\Q` of the pattern, the line break ends an open comment.
            let end = if pattern.options.has(PatternOptions::EXTENDED) { "\\E\n)" } else { "\\E)" };
            if let Ok(regex) = build(&format!("{start}\\G(?:{source}{end}"), pattern.options) {
                return Ok(NonEmptyMatcher { regex, anchored: true });
            }
        }
        let regex = build(&format!("{start}{source}"), pattern.options)?;
        Ok(NonEmptyMatcher { regex, anchored: false })
    }
}

fn build(pattern: &str, options: PatternOptions) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new();
    builder
        .caseless(options.has(PatternOptions::ANY_CASE))
        .multi_line(options.has(PatternOptions::MULTI_LINE))
        .dotall(options.has(PatternOptions::DOT_ALL))
        .extended(options.has(PatternOptions::EXTENDED));
    // PCRE2 compiles nested parentheses, at most 250 deep, and references between groups by recursion. The recursion
    // may need more stack than is left.
    stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || builder.build(pattern)).map_err(|error| error_message(&error))
}

/// Returns PCRE2's own error message, without what the `pcre2` crate writes before it.
fn error_message(error: &pcre2::Error) -> String {
    let message = error.to_string();
    message.splitn(3, ": ").nth(2).unwrap_or(&message).to_owned()
}

fn find_groups(regex: &Regex, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
    if from > subject.len() {
        return Ok(None);
    }
    let mut groups = regex.capture_locations();
    let found = regex.captures_read_at(&mut groups, subject, from).map_err(|error| error_message(&error))?;
    Ok(found.map(|_| groups))
}

/// Converts a pattern to UTF-8, which the `pcre2` crate requires. In a pattern that is not UTF-8, each byte beyond
/// ASCII becomes an escape such as `\xff`, which matches the same byte.
fn as_utf8(pattern: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(pattern) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(pattern.len() * 2);
    // Between `\Q` and `\E` there are no escapes.
    let mut quoted = false;
    let mut bytes = pattern.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quoted => {
                quoted = bytes.peek() != Some(&b'E');
                text.push('\\');
            }
            // A backslash before a non-ASCII byte has no effect. It is dropped, since the escape for the byte has its
            // own backslash.
            b'\\' if bytes.peek().is_some_and(|next| !next.is_ascii()) => {}
            b'\\' => {
                quoted = bytes.peek() == Some(&b'Q');
                text.push('\\');
                text.extend(bytes.next().map(char::from));
            }
            byte if byte.is_ascii() => text.push(char::from(byte)),
            byte => {
                let (before, behind) = if quoted { ("\\E", "\\Q") } else { ("", "") };
                // Writing to a string does not fail.
                let _ = write!(text, "{before}\\x{byte:02x}{behind}");
            }
        }
    }
    Cow::Owned(text)
}

/// Returns the matching options in the optional third argument; no options if the call lacks the argument.
fn options_argument(call: &mut Call<'_, '_>) -> CallResult<PatternOptions> {
    Ok(PatternOptions::of(call.optional_string(2, "")?.as_bytes()))
}

/// Compiles the pattern in the first argument. The call ends with an error if the argument is no valid pattern.
fn pattern_argument(call: &mut Call<'_, '_>, options: PatternOptions) -> CallResult<Arc<CompiledPattern>> {
    let text = call.string(0)?;
    CompiledPattern::get(&text, options).map_err(|reason| call.error(reason).into())
}

fn matches_string(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_exceptional()?;
    let options = options_argument(call)?;
    let subject = call.string(1)?;
    let found = pattern_argument(call, options)?.matches(subject.as_bytes());
    found.map(Value::Boolean).map_err(|reason| call.error(reason).into())
}

fn matches_member(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_exceptional()?;
    let list = call.value(1)?;
    let list = call.require_list(list, "a list")?;
    let elements = call.elements(&list)?;
    let options = options_argument(call)?;
    // As in HTCondor's library, an invalid pattern is no error in `regexpMember()`: it matches no element.
    let pattern = CompiledPattern::get(&call.string(0)?, options);
    let mut any_undefined = false;
    for element in elements {
        if element.value_type() == Type::Undefined {
            any_undefined = true;
            continue;
        }
        let subject = call.require_string(element)?;
        if pattern.as_ref().is_ok_and(|pattern| pattern.matches(subject.as_bytes()) == Ok(true)) {
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
    Ok(Value::Boolean(items.any(|item| pattern.matches(item) == Ok(true))))
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
    let text = replace_matches(&pattern, subject.as_bytes(), template.as_bytes(), has(b'f'), has(b'g'));
    text.map(|text| text.finish(call)).map_err(|reason| call.error(reason).into())
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

/// Returns the text that a capture group matched. A group that took no part in the match has an empty text. `None`
/// if no later group took part either: for HTCondor such trailing groups do not exist.
pub(crate) fn group_text<'s>(groups: &CaptureLocations, subject: &'s [u8], group: usize) -> Option<&'s [u8]> {
    let text = || groups.get(group).and_then(|(start, end)| subject.get(start..end)).unwrap_or_default();
    (group..groups.len()).any(|later| groups.get(later).is_some()).then(text)
}

/// Replaces the first match, or all matches if `replaces_all`, by the template with the texts of its groups. The
/// unmatched text of the subject is left out unless `keeps_unmatched`.
///
/// The matches are those of HTCondor's library. An empty match may be followed by a non-empty match at the same
/// position. If there is none, the next byte is copied to the result, even if `keeps_unmatched` is false. Unlike the
/// library, this function stops at the end of the subject.
fn replace_matches(
    pattern: &CompiledPattern,
    subject: &[u8],
    template: &[u8],
    keeps_unmatched: bool,
    replaces_all: bool,
) -> Result<BoundedString, String> {
    let template = parse_template(template);
    let mut text = BoundedString::default();
    let mut at = 0;
    let mut was_empty = false;
    loop {
        let found = if was_empty { pattern.find_next(subject, at) } else { pattern.find(subject, at) }?;
        let Some(groups) = found else {
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
            return Err("the pattern matches backwards".to_owned());
        }
        if keeps_unmatched {
            text.push(&subject[at..start]);
        }
        for piece in &template {
            text.push(match piece {
                TemplatePiece::Text(literal) => literal,
                TemplatePiece::Group(group) => group_text(&groups, subject, *group)
                    .ok_or_else(|| format!("\\{group} stands for a group that the match does not have"))?,
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
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::{check, value_of};
    use super::as_utf8;
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
        assert_eq!(as_utf8(b"a\xe9\\\xe9\\Q\\\xe9\\E\\\\\xe9"), "a\\xe9\\xe9\\Q\\\\E\\xe9\\Q\\E\\\\\\xe9");
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
        check(&[(&format!("replaceAll(\"\", \"{text}\", \"{text}\")"), "error")]);
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
            assert!(value == "error" || value == "false", "{pattern}: {value}");
        }
        let nested = format!("regexp(\"{}a{}\", \"a\")", "(".repeat(240), ")".repeat(240));
        assert_eq!(value_of(&nested, Dialect::Condor), "true");
        let too_deep = format!("regexp(\"{}a{}\", \"a\")", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(value_of(&too_deep, Dialect::Condor), "error");
    }
}
