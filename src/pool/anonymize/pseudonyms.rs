//! Pseudonyms of the words and addresses in a string.
//!
//! The pseudonym of a string is a function of the string and the key alone, and no two strings have the same one. It
//! keeps all that equality asks of strings: two strings are equal, with or without regard to case, exactly if their
//! pseudonyms are.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use hmac::{Hmac, KeyInit, Mac};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::Sha256;

use super::vocabulary::is_common_word;

/// Minimum number of letters of a pseudonym: 61 bits, so that of ten million words two have the same one with a chance of
/// 1 in 50,000.
const MIN_LETTERS: usize = 13;

/// Maximum number of cached pseudonyms of words, and of cached permutations of octets.
const MAX_CACHED: usize = 1 << 14;

/// Replaces the words of strings by pseudonyms that a key determines.
pub(super) struct Pseudonyms {
    mac: Hmac<Sha256>,
    /// Words that are kept, in lower case.
    kept: FxHashSet<Vec<u8>>,
    /// Pseudonyms in lower case, by words in lower case.
    words: FxHashMap<Vec<u8>, Vec<u8>>,
    /// Permutations of the octet that follows some octets of an address.
    octets: FxHashMap<Vec<u8>, Box<[u8; 256]>>,
}

/// How the words in a part of a string are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordContext {
    /// Numbers and words of the vocabulary are kept.
    Plain,
    /// Four octets, which are replaced by octets.
    Octets,
    /// The groups of an address, which are replaced by words whatever they are.
    Groups,
}

impl Pseudonyms {
    pub fn new(key: &[u8]) -> Self {
        let mac = Hmac::new_from_slice(key).expect("a key of any length is allowed");
        Pseudonyms { mac, kept: FxHashSet::default(), words: FxHashMap::default(), octets: FxHashMap::default() }
    }

    /// Keeps the words of a text wherever they occur.
    pub fn keep(&mut self, text: &[u8]) {
        let words = text.split(|byte| !is_word_byte(*byte)).filter(|word| !word.is_empty());
        self.kept.extend(words.map(<[u8]>::to_ascii_lowercase));
    }

    /// Returns the pseudonym of a string. O(n) in its length.
    pub fn pseudonym<'t>(&mut self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut result = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if !is_word_byte(rest[0]) && rest[0] != b'[' && rest[0] != b':' {
                result.push(rest[0]);
                at += 1;
                continue;
            }
            let is_start = at == 0 || !is_word_byte(text[at - 1]);
            let (length, context) = if is_start { address(rest) } else { (0, WordContext::Plain) };
            let length = if length > 0 { length } else { rest.iter().take_while(|byte| is_word_byte(**byte)).count() };
            if length == 0 {
                result.push(rest[0]);
                at += 1;
                continue;
            }
            self.push(&rest[..length], context, &mut result);
            at += length;
        }
        if result == text { Cow::Borrowed(text) } else { Cow::Owned(result) }
    }

    /// Appends the pseudonym of a word or an address.
    fn push(&mut self, part: &[u8], context: WordContext, into: &mut Vec<u8>) {
        let mut prefix = Vec::new();
        let mut at = 0;
        while at < part.len() {
            let length = part[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
            let word = &part[at..at + length];
            match context {
                _ if word.is_empty() => {}
                WordContext::Octets => {
                    let octet = octet(word).expect("an octet was found here");
                    let permuted = self.octet(&prefix, octet);
                    into.extend_from_slice(permuted.to_string().as_bytes());
                    prefix.push(octet);
                }
                WordContext::Groups => self.push_word(word, into),
                WordContext::Plain => {
                    let is_kept = word.iter().all(u8::is_ascii_digit)
                        || is_common_word(word)
                        || !self.kept.is_empty() && self.kept.contains(&word.to_ascii_lowercase());
                    if is_kept { into.extend_from_slice(word) } else { self.push_word(word, into) }
                }
            }
            at += length;
            if let Some(delimiter) = part.get(at) {
                into.push(*delimiter);
                at += 1;
            }
        }
    }

    /// Appends the pseudonym of a word: letters that the word in lower case determines, in upper case where the letter of
    /// the word with the same number is.
    fn push_word(&mut self, word: &[u8], into: &mut Vec<u8>) {
        let lower = word.to_ascii_lowercase();
        if self.words.len() >= MAX_CACHED {
            self.words.clear();
        }
        let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count().max(MIN_LETTERS);
        if !self.words.contains_key(&lower) {
            let pseudonym = self.letters(&lower, letters);
            self.words.insert(lower.clone(), pseudonym);
        }
        let start = into.len();
        into.extend_from_slice(&self.words[&lower]);
        for (place, letter) in word.iter().filter(|byte| byte.is_ascii_alphabetic()).enumerate() {
            if letter.is_ascii_uppercase() {
                into[start + place].make_ascii_uppercase();
            }
        }
    }

    /// Returns `count` letters that a word determines.
    fn letters(&self, word: &[u8], count: usize) -> Vec<u8> {
        const LETTERS_PER_HASH: usize = 13;
        let mut letters = Vec::with_capacity(count + LETTERS_PER_HASH);
        for block in 0_u64.. {
            if letters.len() >= count {
                break;
            }
            let mut number = self.hash(b"word", &block.to_be_bytes(), word);
            for _ in 0..LETTERS_PER_HASH {
                letters.push(b"abcdefghijklmnopqrstuvwxyz"[usize::try_from(number % 26).unwrap_or_default()]);
                number /= 26;
            }
        }
        letters.truncate(count);
        letters
    }

    /// Returns the octet that replaces the octet behind `prefix`. Addresses with a common prefix keep one, as in
    /// Crypto-PAn (Xu and others, Prefix-preserving IP address anonymization, 2002).
    fn octet(&mut self, prefix: &[u8], octet: u8) -> u8 {
        if self.octets.len() >= MAX_CACHED {
            self.octets.clear();
        }
        if !self.octets.contains_key(prefix) {
            let mut keyed: Vec<(u64, u8)> =
                (0..=u8::MAX).map(|octet| (self.hash(b"octet", prefix, &[octet]), octet)).collect();
            keyed.sort_unstable();
            let mut permutation = Box::new([0; 256]);
            for (place, (_, octet)) in permutation.iter_mut().zip(keyed) {
                *place = octet;
            }
            self.octets.insert(prefix.to_vec(), permutation);
        }
        self.octets[prefix][usize::from(octet)]
    }

    /// Returns a hash of three texts under the key: the first 64 bits of their HMAC.
    fn hash(&self, kind: &[u8], first: &[u8], second: &[u8]) -> u64 {
        let mut mac = self.mac.clone();
        for part in [kind, first, second] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Whether a byte belongs to a word: a letter, a digit, `_`, or part of a character beyond ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the number that a text writes, if it is that of an octet, without leading zeros.
fn octet(text: &[u8]) -> Option<u8> {
    let number = str::from_utf8(text).ok()?.parse::<u8>().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

/// Returns the length of the address with which a text begins, and how its words are replaced. 0 if there is none. An
/// address is one of IPv4 or IPv6, or a hardware address; `-` may take the place of `.` and, in brackets, of `:`.
fn address(text: &[u8]) -> (usize, WordContext) {
    if text[0] == b'[' {
        let inner = text[1..].iter().take(MAX_ADDRESS_BYTES).position(|byte| *byte == b']').map(|end| &text[1..=end]);
        let is_address =
            inner.is_some_and(|inner| is_ipv6(&inner.iter().map(|byte| colon(*byte)).collect::<Vec<u8>>()));
        return (if is_address { inner.map_or(0, |inner| inner.len() + 2) } else { 0 }, WordContext::Groups);
    }
    for separator in *b".-" {
        let run = run(text, |byte| byte.is_ascii_digit() || byte == separator);
        let run = trim_end(run, separator);
        let groups = || run.split(|byte| *byte == separator);
        if groups().count() == 4 && groups().all(|group| !group.is_empty()) && ends(text, run) {
            let is_octets = groups().all(|group| octet(group).is_some());
            return (run.len(), if is_octets { WordContext::Octets } else { WordContext::Groups });
        }
    }
    for separator in *b":-" {
        let run = run(text, |byte| byte.is_ascii_hexdigit() || byte == separator);
        let run = trim_end(run, separator);
        let groups = || run.split(|byte| *byte == separator);
        if groups().count() == 6 && groups().all(|group| group.len() == 2) && ends(text, run) {
            return (run.len(), WordContext::Groups);
        }
    }
    let run = run(text, |byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    if ends(text, run) && is_ipv6(run) { (run.len(), WordContext::Groups) } else { (0, WordContext::Plain) }
}

/// Maximum number of bytes of an address.
const MAX_ADDRESS_BYTES: usize = 46;

/// Returns the longest beginning of a text with only such bytes; empty if it is longer than an address.
fn run(text: &[u8], is_part: impl Fn(u8) -> bool) -> &[u8] {
    let length = text.iter().take(MAX_ADDRESS_BYTES + 1).take_while(|byte| is_part(**byte)).count();
    if length > MAX_ADDRESS_BYTES { &[] } else { &text[..length] }
}

fn trim_end(mut text: &[u8], separator: u8) -> &[u8] {
    while let Some(rest) = text.strip_suffix(&[separator]) {
        text = rest;
    }
    text
}

/// Whether no word goes on after `run`, with which `text` begins.
fn ends(text: &[u8], run: &[u8]) -> bool {
    text.get(run.len()).is_none_or(|byte| !is_word_byte(*byte))
}

fn colon(byte: u8) -> u8 {
    if byte == b'-' { b':' } else { byte }
}

fn is_ipv6(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_hexdigit) && str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Pseudonyms;

    fn pseudonym(text: &str) -> String {
        String::from_utf8(Pseudonyms::new(b"key").pseudonym(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn parts_of_names_agree() {
        let (alice, host) = (pseudonym("alice"), pseudonym("ap2.wisc.edu"));
        assert_eq!(pseudonym("alice@ap2.wisc.edu"), format!("{alice}@{host}"));
        assert_eq!(pseudonym("/home/alice/"), format!("/{}/{alice}/", pseudonym("home")));
        assert_eq!(pseudonym("ALICE"), alice[..5].to_uppercase() + &alice[5..]);
        assert_eq!(pseudonym("slot1_2@x86_64"), "slot1_2@x86_64");
        assert!(alice.len() == 13 && alice != "alice");
    }

    #[test]
    fn no_part_of_an_address_is_left() {
        let [one, other] = ["<128.105.1.5:9618?noUDP>", "128-105-1-77"].map(pseudonym);
        assert!(one.ends_with(&format!(":9618?{}>", pseudonym("noUDP"))), "{one}");
        let octets = |text: &str| {
            text.trim_start_matches('<').split(['.', '-', ':']).take(3).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(octets(&one), octets(&other));
        for text in ["2607:388::1", "[2607-388--1]", "00:11:22:33:44:55", "128.105.001.5", "::1"] {
            assert!(!pseudonym(text).contains(|letter: char| letter.is_ascii_digit()), "{text}: {}", pseudonym(text));
        }
        assert_eq!(pseudonym("2025-10-01 25.1.0 12:34:56"), "2025-10-01 25.1.0 12:34:56");
    }

    proptest! {
        #[test]
        fn equality_is_kept(texts in prop::collection::vec("[aAbB01.:/@_\\[\\]-]{0,9}", 2..6)) {
            for left in &texts {
                for right in &texts {
                    let [one, other] = [pseudonym(left), pseudonym(right)];
                    prop_assert_eq!(left == right, one == other, "{} {} {} {}", left, right, one, other);
                    prop_assert_eq!(left.eq_ignore_ascii_case(right), one.eq_ignore_ascii_case(&other));
                }
            }
        }
    }
}
