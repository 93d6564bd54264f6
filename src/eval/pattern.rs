//! Compiled regular expressions, matched by PCRE2 on bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};
use rustc_hash::FxHashMap;

use crate::ad::ByteString;

/// Matching options of a pattern, as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PatternOptions(u8);

impl PatternOptions {
    const ANY_CASE: u8 = 1;
    const MULTI_LINE: u8 = 2;
    const DOT_ALL: u8 = 4;
    const EXTENDED: u8 = 8;
    const NOT_EMPTY: u8 = 16;

    /// Returns the options for finding a non-empty part without regard to case.
    pub(in crate::eval) fn non_empty_in_any_case() -> Self {
        PatternOptions(Self::ANY_CASE | Self::NOT_EMPTY)
    }

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

/// Maximum time of one search in a long text. It counts as more steps than an evaluation may take by default.
const MAX_SEARCH_TIME: Duration = Duration::from_millis(1500);

/// Compiled regular expression.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    text: ByteString,
    options: PatternOptions,
    regex: Regex,
    next: OnceLock<Result<NonEmptyMatcher, String>>,
    /// The regular expression that matches only at the given position, for long texts.
    anchored: OnceLock<Result<Regex, String>>,
    /// Number of quantifiers and groups, or more.
    quantifier_count: usize,
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
            return Err("a pattern cannot set a limit of memory".to_owned());
        }
        let source = as_utf8(text.as_bytes());
        let start = if options.has(PatternOptions::NOT_EMPTY) { "(*NOTEMPTY)" } else { "" };
        let regex = build(&format!("{start}{MATCH_LIMITS}{source}"), options)
            .map_err(|reason| format!("`{}` is not a valid regular expression: {reason}", excerpt(text.as_bytes())))?;
        let quantifier_count = text.as_bytes().iter().filter(|byte| b"*+?{(".contains(byte)).count();
        let (next, anchored) = Default::default();
        Ok(CompiledPattern { text: text.clone(), options, regex, next, anchored, quantifier_count })
    }

    /// Whether a search in this text may take long, so that its time must be measured.
    pub(in crate::eval) fn may_be_slow(&self, subject: &[u8]) -> bool {
        const MAX_BYTES: usize = 4096;
        self.quantifier_count > 1 || subject.len() > MAX_BYTES
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
        // PCRE2's limits count neither start positions nor the bytes that a quantifier passes.
        const MAX_BYTES: usize = 32 << 10;
        if subject.len().saturating_sub(from) <= MAX_BYTES || self.quantifier_count == 0 {
            return find_groups(&self.regex, subject, from);
        }
        self.find_in_long_text(subject, from)
    }

    /// Searches at one start position after the other, so that the search ends in time.
    fn find_in_long_text(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
        let anchored = self.anchored.get_or_init(|| {
            let start = if self.options.has(PatternOptions::NOT_EMPTY) { "(*NOTEMPTY)" } else { "" };
            anchored_regex(start, &as_utf8(self.text.as_bytes()), self.options)
        });
        let regex = anchored.as_ref().map_err(Clone::clone)?;
        let end = Instant::now() + MAX_SEARCH_TIME;
        for start in from..=subject.len() {
            let found = find_groups(regex, subject, start)?;
            if found.is_some() {
                return Ok(found);
            }
            if Instant::now() > end {
                return Err("the search takes too long".to_owned());
            }
        }
        Ok(None)
    }

    /// Returns the capture groups of a non-empty match that begins at the byte offset `from`; `None` if there is no
    /// such match.
    pub(in crate::eval) fn find_next(&self, subject: &[u8], from: usize) -> Result<Option<CaptureLocations>, String> {
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
            // `\K` moves the reported start of a match, so the start cannot be checked afterwards.
            if let Ok(regex) = anchored_regex("(*NOTEMPTY_ATSTART)", &source, pattern.options) {
                return Ok(NonEmptyMatcher { regex, anchored: true });
            }
        }
        let regex = build(&format!("{start}{source}"), pattern.options)?;
        Ok(NonEmptyMatcher { regex, anchored: false })
    }
}

/// Builds a regular expression that matches only at the given position. `start` holds PCRE2's options for the pattern.
///
/// # Errors
///
/// The reason as a phrase, if a pattern cannot be anchored: one that begins with options or calls itself.
fn anchored_regex(start: &str, source: &str, options: PatternOptions) -> Result<Regex, String> {
    if ["(?R)", "(?0)", "\\g<0>", "\\g'0'"].iter().any(|call| source.contains(call)) {
        return Err("the string is too long for a recursive pattern".to_owned());
    }
    // `\E` ends an open `\Q` of the pattern, the line break ends an open comment.
    let end = if options.has(PatternOptions::EXTENDED) { "\\E\n)" } else { "\\E)" };
    build(&format!("{start}{MATCH_LIMITS}\\G(?:{source}{end}"), options)
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

#[cfg(test)]
mod tests {
    use super::as_utf8;

    #[test]
    fn bytes_beyond_ascii_are_escaped() {
        assert_eq!(as_utf8(b"a\xe9\\\xe9\\Q\\\xe9\\E\\\\\xe9"), "a\\xe9\\xe9\\Q\\\\E\\xe9\\Q\\E\\\\\\xe9");
    }
}
