//! The words of a string, and which of them are parts of addresses and names.
//!
//! What a word is treated as depends on the text between the words and on which words are numbers, and the pseudonyms
//! keep both. So two strings whose pseudonyms are equal have words that were treated alike.

use std::ops::Range;

/// Maximum number of decoded bytes between two words that are looked at.
const MAX_GAP_BYTES: usize = 8;

/// Maximum number of digits of a group: the last one of a UUID has 12.
const MAX_GROUP_DIGITS: usize = 12;

/// A word of a string: a run of letters, digits, `_`, characters beyond ASCII, and percent escapes of those.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a fact about the bytes of the word
pub(super) struct Word {
    pub range: Range<usize>,
    pub treatment: Treatment,
    /// Number of bytes, an escape counted as one.
    length: usize,
    has_escape: bool,
    is_number: bool,
    is_hexadecimal: bool,
    starts_with_digit: bool,
    ends_with_digit: bool,
}

impl Word {
    /// Whether the word is a number, written without escapes.
    pub fn is_plain_number(&self) -> bool {
        self.is_number && !self.has_escape
    }
}

/// How a word is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// A number and a word of the vocabulary are kept.
    Plain,
    /// An octet of an IPv4 address. The first one of the address has the place 0.
    Octet { place: usize },
    /// A part of a name or of another address: a word takes its place, whatever it is.
    Part,
}

/// What joins two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// `.`, `\.` or `[.]`.
    Dot,
    Dash,
    DoubleDash,
    Colon,
    DoubleColon,
    Other,
}

/// Returns the words of a text. O(n) in its length.
pub(super) fn words(text: &[u8]) -> Vec<Word> {
    let mut words = split(text);
    // Everything but numbers is replaced in any case.
    if words.iter().any(|word| word.is_number) {
        let joints: Vec<Joint> = words.windows(2).map(|pair| joint(&gap_between(text, &pair[0], &pair[1]))).collect();
        mark_groups(text, &mut words, &joints);
        mark_octets(text, &mut words, &joints);
        mark_names(text, &mut words);
    }
    words
}

/// Whether a byte belongs to a word: a letter, a digit, `_`, or part of a character beyond ASCII.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the number that a text writes, if it is that of an octet, without leading zeros.
pub(super) fn octet(text: &[u8]) -> Option<u8> {
    let number = str::from_utf8(text).ok()?.parse::<u8>().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

/// Returns the first byte of a text that is not empty, with its length: 1, or that of a percent escape. The `%` of an
/// escape may be escaped itself, as in `%253d`. An escape of a control character is none.
fn decode(text: &[u8]) -> (u8, usize) {
    let hex = |at: usize| {
        let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        Some(u8::try_from(digit(at)? * 16 + digit(at + 1)?).unwrap_or_default())
    };
    if text[0] != b'%' {
        return (text[0], 1);
    }
    let mut found = (b'%', 1);
    let mut at = 1;
    while let Some(byte) = hex(at).filter(|byte| !byte.is_ascii_control()) {
        found = (byte, at + 2);
        if byte != b'%' {
            break;
        }
        at += 2;
    }
    found
}

/// Splits a text into words.
fn split(text: &[u8]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (byte, length) = decode(&text[at..]);
        if is_word_byte(byte) {
            let is_digit = byte.is_ascii_digit();
            match words.last_mut().filter(|word| word.range.end == at) {
                Some(word) => {
                    word.range.end += length;
                    word.length += 1;
                    word.has_escape |= length > 1;
                    word.is_number &= is_digit;
                    word.is_hexadecimal &= byte.is_ascii_hexdigit();
                    word.ends_with_digit = is_digit;
                }
                None => words.push(Word {
                    range: at..at + length,
                    treatment: Treatment::Plain,
                    length: 1,
                    has_escape: length > 1,
                    is_number: is_digit,
                    is_hexadecimal: byte.is_ascii_hexdigit(),
                    starts_with_digit: is_digit,
                    ends_with_digit: is_digit,
                }),
            }
        }
        at += length;
    }
    words
}

/// Returns the decoded beginning of the text between two words.
fn gap_between(text: &[u8], word: &Word, next: &Word) -> Vec<u8> {
    decoded(&text[word.range.end..next.range.start], MAX_GAP_BYTES)
}

/// Decodes the escapes of a text, up to a number of bytes.
fn decoded(mut text: &[u8], max_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !text.is_empty() && bytes.len() < max_bytes {
        let (byte, length) = decode(text);
        bytes.push(byte);
        text = &text[length..];
    }
    bytes
}

fn joint(gap: &[u8]) -> Joint {
    match gap {
        b"." | b"\\." | b"\\\\." | b"[.]" => Joint::Dot,
        b"-" | b"\\-" => Joint::Dash,
        b"--" => Joint::DoubleDash,
        b":" => Joint::Colon,
        b"::" => Joint::DoubleColon,
        _ => Joint::Other,
    }
}

/// Marks the groups of IPv6 and hardware addresses, of UUIDs, and of what may be one: hexadecimal numbers with `:` or `-`
/// between them, as many as no time and no date has.
fn mark_groups(text: &[u8], words: &mut [Word], joints: &[Joint]) {
    for (single, double) in [(Joint::Colon, Joint::DoubleColon), (Joint::Dash, Joint::DoubleDash)] {
        let is_group = |word: &Word| word.is_hexadecimal && word.length <= MAX_GROUP_DIGITS;
        let mut first = 0;
        while first < words.len() {
            let mut last = first;
            while is_group(&words[last])
                && words.get(last + 1).is_some_and(is_group)
                && (joints[last] == single || joints[last] == double)
            {
                last += 1;
            }
            let groups = &words[first..=last];
            let (before, after) = (before(text, words, first), after(text, words, last));
            let is_short = joints[first..last].contains(&double)
                || match single {
                    Joint::Colon => before.ends_with(b"::") || after.starts_with(b"::"),
                    _ => before == b"[--" || after.starts_with(b"--]"),
                };
            let is_octets = groups.len() == 4 && groups.iter().all(|word| octet(&text[word.range.clone()]).is_some());
            let is_long = match groups.len() {
                0..4 => false,
                4..6 if single == Joint::Dash => !is_octets,
                4..6 => groups.iter().any(|word| word.length > 2 || !word.is_number),
                _ => true,
            };
            if is_group(&words[first]) && (is_short || is_long) {
                for word in &mut words[first..=last] {
                    word.treatment = Treatment::Part;
                }
            }
            first = last + 1;
        }
    }
}

/// Marks the octets of IPv4 addresses, with `.` or `-` between them. What has four numbers is an address, also within
/// longer words, as in `ip10.0.0.1`. Fewer numbers are part of one if the text goes on with a `.`, as in `128.105.*`.
fn mark_octets(text: &[u8], words: &mut [Word], joints: &[Joint]) {
    for separator in [Joint::Dot, Joint::Dash] {
        let mut first = 0;
        while first < words.len() {
            let mut last = first;
            while words[last].ends_with_digit
                && (last == first || words[last].is_number)
                && joints.get(last) == Some(&separator)
                && words[last + 1].starts_with_digit
            {
                last += 1;
            }
            let run = &words[first..=last];
            let is_number = run.iter().all(|word| word.is_number);
            let is_open = is_number && separator == Joint::Dot && is_open(text, words, joints, first, last);
            if run.len() >= 4 || is_open {
                let is_octets = run.len() <= 4
                    && run.iter().all(|word| {
                        word.is_plain_number()
                            && word.treatment == Treatment::Plain
                            && octet(&text[word.range.clone()]).is_some()
                    })
                    && !is_open_before(text, words, joints, first);
                for (place, word) in words[first..=last].iter_mut().enumerate() {
                    word.treatment = if is_octets { Treatment::Octet { place } } else { Treatment::Part };
                }
            }
            // The last word may be the first one of the next run.
            first = if last > first && !words[last].is_number { last } else { last + 1 };
        }
    }
}

/// Whether numbers with `.` between them are a part of an address: a `.` follows or precedes that joins no word.
fn is_open(text: &[u8], words: &[Word], joints: &[Joint], first: usize, last: usize) -> bool {
    let count = last - first + 1;
    let after = after(text, words, last);
    let minimum = match &after[..] {
        _ if joints.get(last) == Some(&Joint::Dot) => usize::MAX,
        [b'.', b'*', ..] | [b'\\', b'.', ..] | [b'\\', b'\\', b'.', ..] | [b'[', b'.', b']', ..] => 2,
        [b'.', ..] => 3,
        _ => usize::MAX,
    };
    count >= minimum || count >= 3 && is_open_before(text, words, joints, first)
}

/// Whether a `.` precedes a word that joins no word to it.
fn is_open_before(text: &[u8], words: &[Word], joints: &[Joint], first: usize) -> bool {
    let is_joined = first > 0 && joints[first - 1] == Joint::Dot;
    let start = if first == 0 { 0 } else { words[first - 1].range.end };
    !is_joined && text[start..words[first].range.start].ends_with(b".")
}

/// Returns the decoded text between a word and the one before.
fn before(text: &[u8], words: &[Word], index: usize) -> Vec<u8> {
    let start = if index == 0 { 0 } else { words[index - 1].range.end };
    let gap = decoded(&text[start..words[index].range.start], usize::MAX);
    gap[gap.len().saturating_sub(3)..].to_vec()
}

/// Returns the beginning of the decoded text between a word and the next.
fn after(text: &[u8], words: &[Word], index: usize) -> Vec<u8> {
    let end = words.get(index + 1).map_or(text.len(), |next| next.range.start);
    decoded(&text[words[index].range.end..end], MAX_GAP_BYTES)
}

/// Marks the numbers that are parts of names: of users, hosts and paths. A string that is a number may be a user.
fn mark_names(text: &[u8], words: &mut [Word]) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let (byte, length) = decode(&text[at..]);
        bytes.push(byte);
        places.push(at);
        at += length;
    }
    let mut mark = |range: Range<usize>| {
        let place = |index: usize| places.get(index).copied().unwrap_or(text.len());
        let range = place(range.start)..place(range.end);
        let first = words.partition_point(|word| word.range.start < range.start);
        let inside = words[first..].iter_mut().take_while(|word| word.range.end <= range.end);
        for word in inside.filter(|word| word.is_number && word.treatment == Treatment::Plain) {
            word.treatment = Treatment::Part;
        }
    };
    let is_name_byte = |byte: u8| is_word_byte(byte) || matches!(byte, b'.' | b'-');
    for run in runs(&bytes, is_name_byte) {
        if is_host(&bytes[run.clone()]) || run.len() == bytes.len() && is_name(&bytes) {
            mark(run);
        }
    }
    for run in runs(&bytes, |byte| is_name_byte(byte) || matches!(byte, b'@' | b'+' | b'/' | b'=' | b'~')) {
        let part = &bytes[run.clone()];
        // Behind an address, `@` is no part of a name.
        if let Some(sign) = part.iter().position(|byte| *byte == b'@') {
            let domain = part[sign + 1..].iter().take_while(|byte| is_name_byte(**byte) || **byte == b'@').count();
            mark(run.start..run.start + sign + 1 + domain);
        }
    }
    let is_path_byte = |byte: u8| !byte.is_ascii_whitespace() && !b"\"'`,;:<>()|?&*^$[]{}".contains(&byte);
    for run in runs(&bytes, is_path_byte) {
        if is_path(&bytes, &run) {
            mark(run);
        }
    }
}

/// Returns the maximal runs of bytes of a kind.
fn runs(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| is_part(**byte)) {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    runs
}

/// Whether a run of words with `.` and `-` is the name of a host: the last label has only letters.
fn is_host(run: &[u8]) -> bool {
    let mut labels = run.rsplit(|byte| *byte == b'.').skip_while(|label| label.is_empty());
    let is_domain = |label: &[u8]| label.len() > 1 && label.iter().all(u8::is_ascii_alphabetic);
    labels.next().is_some_and(is_domain) && labels.next().is_some()
}

/// Minimum number of digits before the `.` of the number of a job. A version, such as `24.04`, has fewer.
const MIN_JOB_DIGITS: usize = 4;

/// Whether a string is a number or the number of a job, such as `26704179.0`, or begins as a name does.
fn is_name(text: &[u8]) -> bool {
    let dot = memchr::memchr(b'.', text).filter(|dot| *dot >= MIN_JOB_DIGITS);
    let (cluster, process) = dot.map_or((text, &b""[..]), |dot| (&text[..dot], &text[dot + 1..]));
    cluster.iter().chain(process).all(u8::is_ascii_digit) || text[0].is_ascii_alphabetic()
}

/// Whether a run of bytes without blanks is a path. `5/10`, `3/day` and `10/25/2025` are none.
fn is_path(bytes: &[u8], run: &Range<usize>) -> bool {
    let path = &bytes[run.clone()];
    let is_windows = path.starts_with(b"\\\\") || path[0] == b'\\' && bytes[..run.start].ends_with(b":");
    let slashes = memchr::memchr_iter(b'/', path).count();
    let has_letter = path.iter().any(u8::is_ascii_alphabetic);
    let is_plain = path[0] == b'/' || has_letter && (!path[0].is_ascii_digit() || slashes > 1);
    is_windows || path[0] == b'~' || slashes > 0 && is_plain
}

#[cfg(test)]
mod tests {
    use super::{is_host, is_name, is_path};

    #[test]
    fn hosts_end_in_a_label_of_several_letters() {
        for (run, expected) in [
            ("node-7.example.org", true),
            ("node7.example.org.", true),
            ("7.de", true),
            ("a.b", false),
            ("8.9.z", false),
            ("node7", false),
            ("org", false),
            ("1.2.3.4", false),
            ("node.x86", false),
            (".", false),
            ("", false),
        ] {
            assert_eq!(is_host(run.as_bytes()), expected, "{run}");
        }
    }

    #[test]
    fn names_are_numbers_of_jobs_or_begin_with_a_letter() {
        for (text, expected) in [
            ("ann7", true),
            ("7", true),
            ("1234.0", true),
            ("123.0", false),
            ("24.04", false),
            ("7a", false),
            ("-a", false),
        ] {
            assert_eq!(is_name(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn paths_begin_at_a_root_or_have_letters() {
        for (text, expected) in [
            ("/7", true),
            ("~7", true),
            ("a/7", true),
            ("7/a/b", true),
            ("\\\\host\\7", true),
            ("\\7", false),
            ("5/10", false),
            ("3/day", false),
            ("10/25/2025", false),
            ("a7", false),
        ] {
            assert_eq!(is_path(text.as_bytes(), &(0..text.len())), expected, "{text}");
        }
        assert!(is_path(b"C:\\7", &(2..4)));
    }
}
