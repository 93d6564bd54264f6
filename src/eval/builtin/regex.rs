//! Functions about regular expressions: PCRE2, on bytes.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use crate::ad::{Text, Type, Value};

use super::super::Halt;
use super::arguments::{Draft, Outcome, exceptions_decide, excerpt, settled, string_of, string_or};
use super::string_lists::{DELIMITERS, StringList};
use super::{Call, Example, Function};

/// A row for a function that puts something else for what a pattern matches.
macro_rules! substitution {
    ($name:literal, $extra:literal, $doc:literal, $call:literal, $value:literal) => {
        Function {
            name: $name,
            fewest: 3,
            most: Some(4),
            strict: true,
            signature: concat!($name, "(pattern, string, substitute [, options]) -> string"),
            doc: $doc,
            example: Example::both($call, $value),
            body: |call| {
                let values = call.all_values()?;
                settled(substitute(call, &values, $extra))
            },
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "regexp",
        fewest: 2,
        most: Some(3),
        strict: true,
        signature: "regexp(pattern, string [, options]) -> bool",
        doc: "whether a part of a string matches a pattern; options: i (any case), m (lines), s (dot is all), x (spaced)",
        example: Example::both("regexp(\"^slot[0-9]+@\", \"slot1@crane\")", "true"),
        body: |call| {
            let values = call.all_values()?;
            settled(matches_string(call, &values))
        },
    },
    Function {
        name: "regexpMember",
        fewest: 2,
        most: Some(3),
        strict: true,
        signature: "regexpMember(pattern, list [, options]) -> bool",
        doc: "whether a part of a list's string matches a pattern",
        example: Example::both("regexpMember(\"^b\", { \"ab\", \"bc\" })", "true"),
        body: matches_member,
    },
    substitution!(
        "regexps",
        b"",
        "the substitute for what a pattern matches; \\\\0 to \\\\9 stand for groups; options f: the whole string, g: all matches",
        "regexps(\"([0-9]+)@(.*)\", \"slot1@crane\", \"\\\\2 has \\\\1\")",
        "\"crane has 1\""
    ),
    substitution!(
        "replace",
        b"f",
        "a string with a substitute for the first match of a pattern",
        "replace(\"b+\", \"abbcb\", \"-\")",
        "\"a-cb\""
    ),
    substitution!(
        "replaceAll",
        b"fg",
        "a string with a substitute for every match of a pattern",
        "replaceAll(\"b+\", \"abbcb\", \"-\")",
        "\"a-c-\""
    ),
    Function {
        name: "stringList_regexpMember",
        fewest: 2,
        most: Some(4),
        strict: false,
        signature: "stringList_regexpMember(pattern, string [, delimiters [, options]]) -> bool",
        doc: "whether a part of an item that a string lists matches a pattern",
        example: Example::both("stringList_regexpMember(\"^b\", \"ab, bc\")", "true"),
        body: |call| {
            let values = call.all_values()?;
            settled(matches_listed_item(call, &values))
        },
    },
];

/// Whether a pattern matches a part of a text that is not empty, in any case.
///
/// # Errors
///
/// The reason, when it is not a pattern or matching takes too long.
pub(super) fn matches_ignoring_case(pattern: &Text, subject: &[u8]) -> Result<bool, String> {
    Pattern::get(pattern, Options(Options::ANY_CASE | Options::NOT_EMPTY))?.matches(subject)
}

/// How a pattern is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Options(u8);

impl Options {
    const ANY_CASE: u8 = 1;
    const LINES: u8 = 2;
    const DOT_IS_ALL: u8 = 4;
    const SPACED: u8 = 8;
    const NOT_EMPTY: u8 = 16;

    /// Upper and lower case count the same.
    pub(crate) fn any_case() -> Self {
        Options(Self::ANY_CASE)
    }

    /// The options that letters stand for; other letters mean nothing.
    fn of(letters: &[u8]) -> Self {
        Options(letters.iter().fold(0, |all, letter| {
            all | match letter {
                b'i' => Self::ANY_CASE,
                b'm' => Self::LINES,
                b's' => Self::DOT_IS_ALL,
                b'x' => Self::SPACED,
                _ => 0,
            }
        }))
    }

    fn has(self, option: u8) -> bool {
        self.0 & option != 0
    }
}

/// What bounds every match.  The count is the library's own; the memory, in KiB, is bounded because PCRE2
/// would otherwise take as much as 20 GB.  Without compilation to machine code nothing runs on the stack,
/// and the bounds are the same everywhere.
const BOUNDS: &str = "(*LIMIT_MATCH=10000000)(*LIMIT_HEAP=524288)";

/// A compiled pattern.
pub(crate) struct Pattern {
    text: Text,
    options: Options,
    regex: Regex,
    next: OnceCell<Result<Next, String>>,
}

/// What finds the match behind one that was empty: it begins at the same place and is not empty.
struct Next {
    regex: Regex,
    /// Whether the regular expression itself sees to the beginning.
    anchored: bool,
}

type Compiled = Result<Rc<Pattern>, String>;

thread_local! {
    /// Compiling takes longer than matching, and the same few patterns are matched with every ad of a pool.
    static COMPILED: RefCell<FxHashMap<(Text, Options), Compiled>> = RefCell::default();
}

impl Pattern {
    /// The pattern that a text stands for.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub(crate) fn get(text: &Text, options: Options) -> Compiled {
        const MOST_KEPT: usize = 128;
        const LONGEST_KEPT: usize = 16 << 10;
        if text.as_bytes().len() > LONGEST_KEPT {
            return Self::new(text, options).map(Rc::new);
        }
        COMPILED.with_borrow_mut(|compiled| {
            if let Some(found) = compiled.get(&(text.clone(), options)) {
                return found.clone();
            }
            if compiled.len() >= MOST_KEPT {
                compiled.clear();
            }
            let pattern = Self::new(text, options).map(Rc::new);
            compiled.insert((text.clone(), options), pattern.clone());
            pattern
        })
    }

    fn new(text: &Text, options: Options) -> Result<Self, String> {
        if memchr::memmem::find(text.as_bytes(), b"(*LIMIT_HEAP=").is_some() {
            return Err("a pattern cannot set its own limit of memory".to_owned());
        }
        let source = as_utf8(text.as_bytes());
        let start = if options.has(Options::NOT_EMPTY) { "(*NOTEMPTY)" } else { "" };
        let regex = build(&format!("{start}{BOUNDS}{source}"), options)
            .map_err(|reason| format!("`{}` is not a pattern: {reason}", excerpt(text.as_bytes())))?;
        Ok(Pattern { text: text.clone(), options, regex, next: OnceCell::new() })
    }

    /// Whether it matches a part of a text.
    fn matches(&self, subject: &[u8]) -> Result<bool, String> {
        // A pattern keeps the memory that it needed for a match, so long texts get their own.
        const LONGEST: usize = 1 << 10;
        let found = if subject.len() <= LONGEST {
            self.regex.is_match(subject)
        } else {
            let mut groups = self.regex.capture_locations();
            self.regex.captures_read_at(&mut groups, subject, 0).map(|found| found.is_some())
        };
        found.map_err(|error| failure(&error))
    }

    /// The groups of the first match at or behind a place.
    pub(crate) fn find(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
        groups(&self.regex, subject, from)
    }

    /// The groups of a match that begins at a place and is not empty.
    fn find_next(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
        let next = self.next.get_or_init(|| Next::new(self)).as_ref().map_err(Clone::clone)?;
        let found = groups(&next.regex, subject, from)?;
        Ok(found.filter(|found| next.anchored || found.get(0).is_some_and(|(start, _)| start == from)))
    }
}

impl Next {
    fn new(pattern: &Pattern) -> Result<Self, String> {
        let source = as_utf8(pattern.text.as_bytes());
        let start = format!("(*NOTEMPTY_ATSTART){BOUNDS}");
        if source.contains("\\K") {
            // Then a match is not found where it begins, and the pattern has to be tied to the place.
            // In a spaced pattern, the end of the line ends a comment.
            let end = if pattern.options.has(Options::SPACED) { "\\E\n)" } else { "\\E)" };
            if let Ok(regex) = build(&format!("{start}\\G(?:{source}{end}"), pattern.options) {
                return Ok(Next { regex, anchored: true });
            }
        }
        let regex = build(&format!("{start}{source}"), pattern.options)?;
        Ok(Next { regex, anchored: false })
    }
}

fn build(pattern: &str, options: Options) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new();
    builder
        .caseless(options.has(Options::ANY_CASE))
        .multi_line(options.has(Options::LINES))
        .dotall(options.has(Options::DOT_IS_ALL))
        .extended(options.has(Options::SPACED));
    // PCRE2 walks into nested parentheses, 250 deep at most, and along references between groups.
    stacker::maybe_grow(1024 * 1024, 4 * 1024 * 1024, || builder.build(pattern)).map_err(|error| failure(&error))
}

/// What PCRE2 says, without what it was doing.
fn failure(error: &pcre2::Error) -> String {
    let message = error.to_string();
    message.splitn(3, ": ").nth(2).unwrap_or(&message).to_owned()
}

fn groups(regex: &Regex, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
    if from > subject.len() {
        return Ok(None);
    }
    let mut groups = regex.capture_locations();
    match regex.captures_read_at(&mut groups, subject, from) {
        Ok(found) => Ok(found.map(|_| groups)),
        Err(error) => Err(failure(&error)),
    }
}

/// A pattern in UTF-8, which is the only way that it can be handed on.  It is matched by bytes all the
/// same; those of a pattern that is not UTF-8 are written as escapes.
fn as_utf8(pattern: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(pattern) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(pattern.len() * 2);
    // Between \Q and \E nothing is an escape.
    let mut quoted = false;
    let mut bytes = pattern.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quoted => {
                quoted = bytes.peek() != Some(&b'E');
                text.push('\\');
            }
            // A backslash before a byte that is no letter means nothing, and the escape has its own.
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

/// The pattern that an argument has to be.
fn pattern_of(call: &Call<'_, '_>, value: &Value, options: Options) -> Outcome<Rc<Pattern>> {
    let text = string_of(call, value)?;
    Pattern::get(&text, options).map_err(|reason| call.error(reason))
}

fn matches_string(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    exceptions_decide(values)?;
    let [pattern, subject, options @ ..] = values else {
        return Err(Value::Undefined);
    };
    let options = string_or(call, options.first(), "")?;
    let subject = string_of(call, subject)?;
    let pattern = pattern_of(call, pattern, Options::of(options.as_bytes()))?;
    pattern.matches(subject.as_bytes()).map(Value::Boolean).map_err(|reason| call.error(reason))
}

fn matches_member(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let values = call.all_values()?;
    if let Err(decided) = exceptions_decide(&values) {
        return Ok(decided);
    }
    let elements = match values.get(1) {
        Some(Value::List(list)) => call.elements(list)?,
        other => return Ok(call.unsuitable(other.unwrap_or(&Value::Undefined), "a list")),
    };
    settled(matches_element(call, &values, &elements))
}

fn matches_element(call: &Call<'_, '_>, values: &[Value], elements: &[Value]) -> Outcome<Value> {
    let options = string_or(call, values.get(2), "")?;
    let pattern = string_of(call, values.first().unwrap_or(&Value::Undefined))?;
    // In the library, what is no pattern matches nothing here.
    let pattern = Pattern::get(&pattern, Options::of(options.as_bytes()));
    let mut any_undefined = false;
    for element in elements {
        if element.kind() == Type::Undefined {
            any_undefined = true;
            continue;
        }
        let subject = string_of(call, element)?;
        if pattern.as_ref().is_ok_and(|pattern| pattern.matches(subject.as_bytes()) == Ok(true)) {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(if any_undefined { Value::Undefined } else { Value::Boolean(false) })
}

fn matches_listed_item(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    let [pattern, text, rest @ ..] = values else {
        return Err(Value::Undefined);
    };
    string_of(call, pattern)?;
    let text = string_of(call, text)?;
    let delimiters = string_or(call, rest.first(), DELIMITERS)?;
    // Only here, the options may be in upper case.
    let options = string_or(call, rest.get(1), "")?.as_bytes().to_ascii_lowercase();
    let pattern = pattern_of(call, pattern, Options::of(&options))?;
    let list = StringList::new(text, delimiters);
    let mut items = list.items().peekable();
    if items.peek().is_none() {
        return Ok(Value::Undefined);
    }
    Ok(Value::Boolean(items.any(|item| pattern.matches(item) == Ok(true))))
}

/// Puts a substitute for matches; the options of the call are added to those that the function implies.
fn substitute(call: &Call<'_, '_>, values: &[Value], implied: &[u8]) -> Outcome<Value> {
    exceptions_decide(values)?;
    let [pattern, subject, template, options @ ..] = values else {
        return Err(Value::Undefined);
    };
    let options = string_or(call, options.first(), "")?;
    let subject = string_of(call, subject)?;
    let template = string_of(call, template)?;
    let pattern = pattern_of(call, pattern, Options::of(options.as_bytes()))?;
    let has = |letter| options.as_bytes().contains(&letter) || implied.contains(&letter);
    let work = Substitution {
        pattern: &pattern,
        subject: subject.as_bytes(),
        template: parse_template(template.as_bytes()),
        whole: has(b'f'),
        all: has(b'g'),
    };
    let draft = work.run().map_err(|reason| call.error(reason))?;
    Ok(draft.finish(call))
}

/// A piece of a substitute.
enum Piece<'a> {
    /// Text as it is.
    Text(&'a [u8]),
    /// What a group matched.
    Group(usize),
}

/// The pieces of a substitute: a backslash and a digit stand for a group, other backslashes for themselves.
fn parse_template(mut template: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let group = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_digit();
    while let Some(place) = template.windows(2).position(group) {
        pieces.push(Piece::Text(&template[..place]));
        pieces.push(Piece::Group(usize::from(template[place + 1] - b'0')));
        template = &template[place + 2..];
    }
    pieces.push(Piece::Text(template));
    pieces
}

/// What is put for what.
struct Substitution<'a> {
    pattern: &'a Pattern,
    subject: &'a [u8],
    template: Vec<Piece<'a>>,
    /// Whether the result is the subject with its matches replaced, or only what they are replaced with.
    whole: bool,
    /// Whether it is all matches, or the first.
    all: bool,
}

impl Substitution<'_> {
    /// The steps are those of HTCondor's library, as far as they show: behind an empty match, only a match
    /// at the same place counts, or else a byte is passed over, and kept even if the rest is not.  But where
    /// the library goes beyond the end of the string, it is done.
    fn run(&self) -> Result<Draft, String> {
        let mut draft = Draft::default();
        let mut at = 0;
        let mut was_empty = false;
        loop {
            let found =
                if was_empty { self.pattern.find_next(self.subject, at) } else { self.pattern.find(self.subject, at) }?;
            let Some(groups) = found else {
                match self.subject.get(at) {
                    Some(passed) if was_empty => draft.push(&[*passed]),
                    _ => break,
                }
                at += 1;
                was_empty = false;
                continue;
            };
            let (start, end) = groups.get(0).unwrap_or((at, at));
            // A pattern may change where its match begins, but must not go round in circles.
            if start < at || end < start || (was_empty && end <= at) {
                return Err("the pattern matches backwards".to_owned());
            }
            if self.whole {
                draft.push(&self.subject[at..start]);
            }
            self.expand(&groups, &mut draft)?;
            at = end;
            was_empty |= start == end;
            if !self.all || draft.is_too_long() {
                break;
            }
        }
        if self.whole {
            draft.push(self.subject.get(at..).unwrap_or_default());
        }
        Ok(draft)
    }

    /// Appends the template with its groups.
    fn expand(&self, groups: &CaptureLocations, draft: &mut Draft) -> Result<(), String> {
        let highest = (0..groups.len()).rev().find(|group| groups.get(*group).is_some()).unwrap_or(0);
        for piece in &self.template {
            match piece {
                Piece::Text(text) => draft.push(text),
                Piece::Group(group) if *group > highest => {
                    return Err(format!("\\{group} stands for a group that the match does not have"));
                }
                // A group that took no part in the match is empty.
                Piece::Group(group) => {
                    let place = groups.get(*group).and_then(|(start, end)| self.subject.get(start..end));
                    draft.push(place.unwrap_or_default());
                }
            }
        }
        Ok(())
    }
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
