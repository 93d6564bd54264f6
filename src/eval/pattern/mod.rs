//! Compiled regular expressions, matched by PCRE2 on bytes.
//!
//! No bench row: a query with two computed patterns takes 1.47 times as many instructions without the cache.

mod options;
mod steps;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use crate::ad::{Bounded, ByteString};
pub(crate) use options::PatternOptions;
pub(crate) use steps::{SearchFault, SearchSteps};

/// Limits of the match calls of PCRE2 that a search tries one after the other. The last one is PCRE2's default. PCRE2 does
/// not tell how many calls a search took, so that a search counts as many as the limit with which it ends.
const MATCH_LIMITS: [u32; 8] = [16, 128, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 10_000_000];

/// Limits of the match calls at each start position of a first, quick search in a short text, and in a longer one.
const QUICK_LIMITS: [u32; 2] = [32, 16];

/// Maximum number of bytes of a short text.
const MAX_SHORT_BYTES: usize = 64;

/// Number of match calls that count as one step.
const CALLS_PER_STEP: u64 = 4;

/// Number of bytes that PCRE2 passes in about the time of a match call.
const BYTES_PER_CALL: u64 = 64;

/// Estimated size of a compiled pattern in bytes, and for each byte of its text.
const BYTES_PER_PATTERN: usize = 32 << 10;
const PATTERN_BYTES_PER_BYTE: usize = 64;

/// Number of groups that PCRE2 copies in about the time of a match call.
const GROUPS_PER_CALL: u64 = 8;

/// Error code of PCRE2 for a search that exceeds its limit of match calls.
const MATCH_LIMIT_ERROR: i32 = -47;

/// A search takes more match calls than the last limit.
struct MatchLimitExceeded;

impl From<MatchLimitExceeded> for SearchFault {
    fn from(_: MatchLimitExceeded) -> Self {
        SearchFault::Failed("the search for a match takes too many steps".to_owned())
    }
}

/// How a pattern is searched, so that PCRE2's limit holds for the whole search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchForm {
    /// The pattern matches at the first position only.
    Anchored,
    /// The pattern stands behind one that passes any number of characters. PCRE2 then counts the match calls of all start
    /// positions together.
    Prefixed,
    /// Neither is possible. The limit holds at each start position.
    Repeated,
}

/// Compiled regular expression.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    text: ByteString,
    options: PatternOptions,
    form: SearchForm,
    /// The regular expressions with [`QUICK_LIMITS`]. In the first one, some quantifiers give nothing back, which is faster.
    quick: Regex,
    quick_in_long: OnceLock<Result<Regex, String>>,
    /// The regular expressions in `form`, with each of [`MATCH_LIMITS`].
    limited: [OnceLock<Result<Regex, String>>; MATCH_LIMITS.len()],
    /// The regular expressions that match at the given position, with each of [`MATCH_LIMITS`].
    at_start: [OnceLock<Result<Regex, String>>; MATCH_LIMITS.len()],
    /// The regular expressions that match a non-empty text at the given position, with each of [`MATCH_LIMITS`]. Functions
    /// that replace all matches use them after an empty match, so that they do not find the empty match again.
    non_empty: [OnceLock<Result<Regex, String>>; MATCH_LIMITS.len()],
    /// Maximum number of bytes that one match call passes.
    bytes_per_call: u64,
    /// Maximum number of groups.
    group_count: u64,
}

type PatternResult = Result<Arc<CompiledPattern>, String>;

thread_local! {
    /// Compiled patterns of earlier calls. Compiling takes longer than matching, and a run matches few patterns with
    /// many ads.
    static PATTERN_CACHE: RefCell<Bounded<FxHashMap<(ByteString, PatternOptions), PatternResult>>> = RefCell::default();
}

impl CompiledPattern {
    /// Returns the compiled pattern, from this thread's cache if possible.
    ///
    /// # Errors
    ///
    /// The reason as a phrase, if the pattern is invalid.
    pub(crate) fn get(text: &ByteString, options: PatternOptions) -> PatternResult {
        PATTERN_CACHE.with_borrow_mut(|compiled| {
            if let Some(found) = compiled.get(&(text.clone(), options)) {
                return found.clone();
            }
            compiled.make_room(BYTES_PER_PATTERN + text.as_bytes().len() * PATTERN_BYTES_PER_BYTE);
            let pattern = Self::new(text, options).map(Arc::new);
            compiled.insert((text.clone(), options), pattern.clone());
            pattern
        })
    }

    fn new(text: &ByteString, options: PatternOptions) -> Result<Self, String> {
        if memchr::memmem::find(text.as_bytes(), b"(*LIMIT_").is_some() {
            return Err("a pattern cannot contain `(*LIMIT_`, which sets limits".to_owned());
        }
        let source = as_utf8(text.as_bytes());
        let quick = build(&format!("{}{source}", options.limits(QUICK_LIMITS[0])), options)
            .map_err(|reason| format!("`{}` is not a valid regular expression: {reason}", excerpt(text.as_bytes())))?;
        let (quick_in_long, limited, at_start, non_empty) = Default::default();
        Ok(CompiledPattern {
            text: text.clone(),
            options,
            form: SearchForm::of(&source, options),
            quick,
            quick_in_long,
            limited,
            at_start,
            non_empty,
            bytes_per_call: bytes_per_call(&source),
            group_count: memchr::memchr_iter(b'(', text.as_bytes()).count() as u64,
        })
    }

    /// Converts match calls to steps. Each call passes at most `bytes`.
    fn steps(&self, calls: u64, bytes: u64) -> u64 {
        let cost = 1 + bytes / BYTES_PER_CALL + self.group_count / GROUPS_PER_CALL;
        calls.saturating_mul(cost) / CALLS_PER_STEP
    }

    /// Returns the number of steps of a quick search. One in a text that does not begin with
    /// [`CompiledPattern::literal_prefix`] finds nothing, so that counting its steps is enough.
    pub(in crate::eval) fn quick_steps(&self, subject: &[u8]) -> u64 {
        let length = subject.len() as u64;
        let starts = if self.form == SearchForm::Anchored { 1 } else { length + 1 };
        if subject.len() <= MAX_SHORT_BYTES {
            self.steps(starts * u64::from(QUICK_LIMITS[0]), length)
        } else {
            self.steps(starts * u64::from(QUICK_LIMITS[1]), self.bytes_per_call.min(length))
        }
    }

    /// Whether the pattern matches any part of a text.
    ///
    /// # Errors
    ///
    /// The search takes too many steps or exceeds a limit of PCRE2.
    pub(crate) fn matches(&self, subject: &[u8], steps: &mut SearchSteps) -> Result<bool, SearchFault> {
        steps.take(self.quick_steps(subject))?;
        let regex = if subject.len() <= MAX_SHORT_BYTES {
            &self.quick
        } else {
            let source = as_utf8(self.text.as_bytes());
            let new = || build(&format!("{}{source}", self.options.start(QUICK_LIMITS[1])), self.options);
            self.quick_in_long.get_or_init(new).as_ref().map_err(|reason| SearchFault::Failed(reason.clone()))?
        };
        match regex.is_match(subject) {
            Err(error) if error.code() == MATCH_LIMIT_ERROR => {}
            found => return found.map_err(|error| SearchFault::Failed(error_message(&error))),
        }
        self.find(subject, 0, steps).map(|found| found.is_some())
    }

    /// Returns bytes with which every matching text begins, for a fast rejection; empty if nothing is known of them.
    pub(crate) fn literal_prefix(&self) -> Vec<u8> {
        let Some(anchored) = self.text.as_bytes().strip_prefix(b"^") else { return Vec::new() };
        // An alternative may begin in another way; `^` may stand for the beginning of a line, and a blank for nothing.
        if !self.options.is_empty() || anchored.contains(&b'|') {
            return Vec::new();
        }
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@' | b'/' | b':');
        let count = anchored.iter().take_while(|byte| is_plain(byte)).count();
        // The character before a quantifier may be missing.
        let is_quantified = anchored.get(count).is_some_and(|byte| matches!(byte, b'*' | b'?' | b'{' | b'+'));
        anchored[..count - usize::from(is_quantified && count > 0)].to_vec()
    }

    /// Returns the capture groups of the first match at or after the byte offset `from`; `None` if there is no match.
    ///
    /// # Errors
    ///
    /// The search takes too many steps or exceeds a limit of PCRE2.
    pub(crate) fn find(
        &self,
        subject: &[u8],
        from: usize,
        steps: &mut SearchSteps,
    ) -> Result<Option<CaptureLocations>, SearchFault> {
        let source = as_utf8(self.text.as_bytes());
        let end = self.options.end_of_group();
        let whole = |limit| build(&format!("{}{source}", self.options.start(limit)), self.options);
        if self.form != SearchForm::Prefixed {
            let is_repeated = self.form == SearchForm::Repeated;
            let found = self.find_within(&self.limited, &whole, is_repeated, (subject, from), steps)?;
            return Ok(found?);
        }
        let prefixed =
            |limit| build(&format!("{}\\G(?s-x:.*?)\\K(?:{source}{end}", self.options.start(limit)), self.options);
        let (last, limited) = (MATCH_LIMITS.len() - 1, &self.limited);
        if let Ok(found) = self.find_within(&limited[..last], &prefixed, false, (subject, from), steps)? {
            return Ok(found);
        }
        // The largest limit is rarely reached. From here on, each start position has a search and a limit of its own.
        let at_start = |limit| build(&format!("{}\\G(?:{source}{end}", self.options.start(limit)), self.options);
        for start in from..=subject.len() {
            let found = self.find_within(&self.at_start, &at_start, false, (subject, start), steps)?;
            if let Some(groups) = found? {
                return Ok(Some(groups));
            }
        }
        Ok(None)
    }

    /// Returns the capture groups of a non-empty match that begins at the byte offset `from`; `None` if there is no
    /// such match.
    ///
    /// # Errors
    ///
    /// The search takes too many steps or exceeds a limit of PCRE2.
    pub(in crate::eval) fn find_next(
        &self,
        subject: &[u8],
        from: usize,
        steps: &mut SearchSteps,
    ) -> Result<Option<CaptureLocations>, SearchFault> {
        let source = as_utf8(self.text.as_bytes());
        // `\K` moves the reported start of a match, so that the start cannot be checked afterwards.
        let is_anchored = self.form != SearchForm::Repeated || source.contains("\\K") && !calls_itself(&source);
        let regex = |limit| {
            let start = format!("(*NOTEMPTY_ATSTART){}", self.options.start(limit));
            let anchored = || build(&format!("{start}\\G(?:{source}{}", self.options.end_of_group()), self.options);
            if is_anchored { anchored() } else { build(&format!("{start}{source}"), self.options) }
        };
        let found = self.find_within(&self.non_empty, &regex, !is_anchored, (subject, from), steps)?;
        let found = found?;
        Ok(found.filter(|found| is_anchored || found.get(0).is_some_and(|(start, _)| start == from)))
    }

    /// Searches with one of [`MATCH_LIMITS`] after the other, until one suffices. `limited` has a
    /// regular expression for each, which `regex` makes. `is_repeated` says whether the limit holds at each start position.
    fn find_within(
        &self,
        limited: &[OnceLock<Result<Regex, String>>],
        regex: &dyn Fn(u32) -> Result<Regex, String>,
        is_repeated: bool,
        (subject, from): (&[u8], usize),
        steps: &mut SearchSteps,
    ) -> Result<Result<Option<CaptureLocations>, MatchLimitExceeded>, SearchFault> {
        let Some(length) = subject.len().checked_sub(from) else { return Ok(Ok(None)) };
        let starts = if is_repeated { length as u64 + 1 } else { 1 };
        for (known, limit) in limited.iter().zip(MATCH_LIMITS) {
            let regex =
                known.get_or_init(|| regex(limit)).as_ref().map_err(|reason| SearchFault::Failed(reason.clone()))?;
            steps.take_slow(
                self.steps(starts.saturating_mul(u64::from(limit)), self.bytes_per_call.min(length as u64)),
            )?;
            let mut groups = regex.capture_locations();
            match regex.captures_read_at(&mut groups, subject, from) {
                Err(error) if error.code() == MATCH_LIMIT_ERROR => {}
                Err(error) => return Err(SearchFault::Failed(error_message(&error))),
                Ok(found) => return Ok(Ok(found.map(|_| groups))),
            }
        }
        Ok(Err(MatchLimitExceeded))
    }
}

impl SearchForm {
    fn of(source: &str, options: PatternOptions) -> Self {
        let is_anchored = source.starts_with('^') && !options.has(PatternOptions::MULTI_LINE) && !source.contains('|');
        if is_anchored && !source[1..].starts_with(['*', '+', '?', '{']) && !source.contains("(*") {
            SearchForm::Anchored
        } else if source.contains("(*") || calls_itself(source) {
            SearchForm::Repeated
        } else {
            SearchForm::Prefixed
        }
    }
}

/// Whether a pattern calls itself, so that nothing can be written around it.
fn calls_itself(source: &str) -> bool {
    ["(?R)", "(?0)", "\\g<0>", "\\g'0'"].iter().any(|call| source.contains(call))
}

/// Returns the maximum number of bytes that one match call of a pattern passes. PCRE2 counts a call for each byte from
/// which a quantifier may go back, but none for bytes that it never gives back.
fn bytes_per_call(source: &str) -> u64 {
    let bytes = source.as_bytes();
    let is_bounded = !source.contains(['*', '+']) && !source.contains(",}");
    let gives_nothing_back = ["*+", "++", "?+", "}+", "(?>", "(?=", "(?!", "(?<", "(?(", "(?P", "(*"];
    let is_reference = |pair: &[u8]| pair[0] == b'\\' && (pair[1].is_ascii_digit() || b"gkX".contains(&pair[1]));
    let passes_all = gives_nothing_back.iter().any(|part| source.contains(part)) || bytes.windows(2).any(is_reference);
    if passes_all && !is_bounded || calls_itself(source) {
        return u64::MAX;
    }
    // A repeated part passes as many bytes as its number of repetitions.
    let number = |text: &str| {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        text[..digits].parse::<u64>().ok()
    };
    let repeated = source.split('{').skip(1).filter_map(|rest| {
        let least = number(rest)?;
        let most = rest.split_once(',').and_then(|(_, most)| number(most)).filter(|_| passes_all);
        Some(most.unwrap_or(least).max(1))
    });
    repeated.fold(bytes.len() as u64, u64::saturating_mul)
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

/// Returns the text that a capture group matched. A group that took no part in the match has an empty text. `None`
/// if no later group took part either: for HTCondor such trailing groups do not exist.
pub(crate) fn group_text<'s>(groups: &CaptureLocations, subject: &'s [u8], group: usize) -> Option<&'s [u8]> {
    let text = || groups.get(group).and_then(|(start, end)| subject.get(start..end)).unwrap_or_default();
    (group..groups.len()).any(|later| groups.get(later).is_some()).then(text)
}

/// Returns a text for an error message. A text of more than 80 bytes is cut after the 80th and ends with `...`.
pub(in crate::eval) fn excerpt(text: &[u8]) -> String {
    const MAX_EXCERPT_BYTES: usize = 80;
    match text.get(..MAX_EXCERPT_BYTES) {
        Some(start) if text.len() > MAX_EXCERPT_BYTES => format!("{}...", String::from_utf8_lossy(start)),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}
