//! Search of a text, 64 bytes at a time, for the lines that a reader must examine.
//!
//! Nearly every line of a big file is well-formed and not in the projection. For such lines no code runs line by line.
//! They are excluded by SIMD comparisons of 64 bytes and by arithmetic on the resulting 64-bit masks.

// A function that uses SIMD instructions must be inlined into a function that is compiled for these instructions.
#![allow(clippy::inline_always)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

/// Number of bytes in a chunk, which is scanned at once. Each byte has one bit of a mask.
const CHUNK_BYTES: usize = 64;

/// Number of bytes at the beginning of a line that the filter compares. Of a longer name only these bytes are compared.
/// A shorter name is compared together with the byte behind it.
const MAX_PREFIX_BYTES: usize = 8;

/// Number of bits of a filter mask that stand for names.
const NAME_BITS: usize = 63;

/// The bit of a filter mask that stands for no name. Because of this bit, a line passes if it begins with neither a
/// letter nor an underscore.
const NOT_A_NAME_BIT: u64 = 1 << NAME_BITS;

/// Filter for the beginnings of lines.
///
/// There is a mask for each byte value at each of the first positions of a line. The mask has one bit for each name
/// with this byte at this position, ignoring case. A line passes if the masks of its first bytes have a bit in common.
/// With more than 63 names some names share a bit, so lines of other names may pass. Names that begin alike share a bit,
/// so that such lines are few.
pub struct LineFilter {
    names: Box<[[u64; 256]; MAX_PREFIX_BYTES]>,
    /// The first name of each bit.
    first_names: Vec<Box<str>>,
}

impl LineFilter {
    /// Creates a filter without names. Only lines pass that begin with neither a letter nor an underscore.
    pub fn new() -> Self {
        let mut names = Box::new([[NOT_A_NAME_BIT; 256]; MAX_PREFIX_BYTES]);
        for byte in (0..=u8::MAX).filter(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            names[0][usize::from(byte)] = 0;
        }
        LineFilter { names, first_names: Vec::new() }
    }

    /// Adds a name, so that lines with this name pass.
    pub fn add(&mut self, name: &str) {
        let bit = 1 << self.bit_for(name);
        for (position, bytes) in self.names.iter_mut().enumerate() {
            match name.as_bytes().get(position) {
                Some(byte) => {
                    bytes[usize::from(byte.to_ascii_lowercase())] |= bit;
                    bytes[usize::from(byte.to_ascii_uppercase())] |= bit;
                }
                None if position == name.len() => {
                    (0..=u8::MAX).filter(|byte| ends_name(*byte)).for_each(|byte| bytes[usize::from(byte)] |= bit);
                }
                None => bytes.iter_mut().for_each(|names| *names |= bit),
            }
        }
    }

    /// Returns the number of a bit for a name. If no bit is free, it is that of a name that begins most alike.
    fn bit_for(&mut self, name: &str) -> usize {
        if self.first_names.len() < NAME_BITS {
            self.first_names.push(name.into());
            return self.first_names.len() - 1;
        }
        let likeness = |bit: &usize| {
            let pairs = name.bytes().zip(self.first_names[*bit].bytes());
            pairs.take(MAX_PREFIX_BYTES).take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
        };
        (0..NAME_BITS).max_by_key(likeness).unwrap_or_default()
    }

    #[inline(always)]
    fn passes(&self, beginning: [u8; MAX_PREFIX_BYTES]) -> bool {
        let of = |position: usize| self.names[position][usize::from(beginning[position])];
        let first = of(0) & of(1) & of(2) & of(3);
        first != 0 && first & of(4) & of(5) & of(6) & of(7) != 0
    }
}

/// Whether a byte ends a name. Such a byte is `=` or white space.
fn ends_name(byte: u8) -> bool {
    byte == b'=' || byte.is_ascii_whitespace()
}

/// Where special bytes are in a chunk. Each byte of the chunk has one bit.
struct ByteMasks {
    line_end: u64,
    quote: u64,
    equals: u64,
    /// Backslashes, single quotes, bytes of value 0 and non-ASCII bytes. Lines with such bytes must be examined.
    odd: u64,
}

impl ByteMasks {
    #[inline(always)]
    fn of<S: Simd>(simd: S, bytes: &[u8; CHUNK_BYTES]) -> Self {
        let bytes = u8x64::from_slice(simd, bytes);
        let is = |byte: u8| bytes.simd_eq(byte);
        let odd = is(b'\\') | is(b'\'') | is(0) | bytes.simd_ge(0x80);
        ByteMasks {
            line_end: is(b'\n').to_bitmask(),
            quote: is(b'"').to_bitmask(),
            equals: is(b'=').to_bitmask(),
            odd: odd.to_bitmask(),
        }
    }
}

/// A line that the reader must examine.
#[derive(Clone, Copy, Debug)]
pub struct LineMark {
    /// Byte offset of a place in the line, or of the line's end.
    pub at: usize,
    /// Offset of the end of the line if the line passed the [`LineFilter`]. In that case `at` is the offset of the
    /// beginning of the line. `None` if the line must be examined for another reason.
    pub end: Option<usize>,
}

/// State of the scan between two chunks. It describes the first byte of the next chunk.
struct ScanState {
    /// Whether the first byte of the next chunk begins a line.
    line_start: bool,
    /// Whether the first byte of the next chunk is in a string.
    in_string: bool,
    /// Whether the next chunk begins in a line that has no `=` so far.
    in_name: bool,
    /// Index of the mark whose line continues in the next chunk, so that its `end` is still unknown.
    unended: Option<usize>,
}

/// Adds a mark to `found` for each line that must be examined, in the order of the text. A line may get several marks.
/// O(n) in the length of the text.
///
/// A line without a mark has all these properties:
///
/// - It begins with a letter or an underscore.
/// - Its name does not pass the filter.
/// - It has a `=` outside strings, and all its strings are closed.
/// - It contains no backslash, single quote, byte of value 0 or non-ASCII byte.
pub fn scan(text: &[u8], filter: &LineFilter, found: &mut Vec<LineMark>) {
    dispatch!(Level::new(), simd => scan_with(simd, text, filter, found));
}

/// Implements [`scan`] with the instructions of `simd`.
#[inline(always)]
fn scan_with<S: Simd>(simd: S, text: &[u8], filter: &LineFilter, found: &mut Vec<LineMark>) {
    let mut carry = ScanState { line_start: true, in_string: false, in_name: false, unended: None };
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    for (position, chunk) in chunks.iter().enumerate() {
        carry.chunk(text, position * CHUNK_BYTES, &ByteMasks::of(simd, chunk), filter, found);
    }
    // The last chunk is filled up with line ends, so that the end of the text ends the last line.
    let mut last = [b'\n'; CHUNK_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    carry.chunk(text, text.len() - rest.len(), &ByteMasks::of(simd, &last), filter, found);
    found.truncate(found.partition_point(|mark| mark.at <= text.len()));
}

impl ScanState {
    #[inline(always)]
    fn chunk(&mut self, text: &[u8], offset: usize, masks: &ByteMasks, filter: &LineFilter, found: &mut Vec<LineMark>) {
        let starts = masks.line_end << 1 | u64::from(self.line_start);
        self.line_start = masks.line_end >> (CHUNK_BYTES - 1) == 1;

        // Finds the end of the name in each line: the first `=` of the line, or the line end if there is no `=`. The
        // addition carries each bit of `starts` over all bytes of the name to the end of the name.
        let name_goes_on = !(masks.equals | masks.line_end);
        let (sum, carried) = starts.overflowing_add(name_goes_on);
        let (sum, carried_in) = sum.overflowing_add(u64::from(self.in_name));
        self.in_name = carried || carried_in;
        let name_ends = sum & !name_goes_on;

        let mut in_string = quoted_bytes(masks.quote) ^ 0_u64.wrapping_sub(u64::from(self.in_string));
        let mut look = first_of_lines(masks.odd, masks.line_end) | name_ends & masks.line_end;
        let mut open = in_string & (name_ends | masks.line_end);
        while open != 0 {
            let first = open & open.wrapping_neg();
            look |= first;
            if first & masks.line_end != 0 {
                // A string without a closing quote ends with its line. So all bits of `in_string` from this line end on
                // are inverted.
                in_string ^= first.wrapping_neg();
            }
            open = in_string & (name_ends | masks.line_end) & !(first | (first - 1));
        }
        self.in_string = in_string >> (CHUNK_BYTES - 1) == 1;

        let place = |bit: u64| offset + bit.trailing_zeros() as usize;
        if masks.line_end != 0
            && let Some(unended) = self.unended.take()
        {
            found[unended].end = Some(place(masks.line_end));
        }
        let mut left = starts;
        while left != 0 {
            let start = left & left.wrapping_neg();
            left ^= start;
            let at = place(start);
            let beginning = text.get(at..).and_then(<[u8]>::first_chunk);
            if beginning.is_none_or(|beginning| filter.passes(*beginning)) {
                while look & (start - 1) != 0 {
                    found.push(LineMark { at: place(look), end: None });
                    look &= look - 1;
                }
                look &= !start;
                let ends = masks.line_end & start.wrapping_neg();
                if ends == 0 {
                    self.unended = Some(found.len());
                }
                found.push(LineMark { at, end: (ends != 0).then(|| place(ends)) });
            }
        }
        while look != 0 {
            found.push(LineMark { at: place(look), end: None });
            look &= look - 1;
        }
    }
}

/// Adds the byte offset of the end of each line of a text to `found`. A last line without a line end ends with the
/// text.
pub fn line_ends(text: &[u8], found: &mut Vec<usize>) {
    dispatch!(Level::new(), simd => line_ends_with(simd, text, found));
}

#[inline(always)]
fn line_ends_with<S: Simd>(simd: S, text: &[u8], found: &mut Vec<usize>) {
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    for (position, chunk) in chunks.iter().enumerate() {
        let mut ends = u8x64::from_slice(simd, chunk).simd_eq(b'\n').to_bitmask();
        while ends != 0 {
            found.push(position * CHUNK_BYTES + ends.trailing_zeros() as usize);
            ends &= ends - 1;
        }
    }
    let before = text.len() - rest.len();
    found.extend(memchr::memchr_iter(b'\n', rest).map(|at| before + at));
    if !text.is_empty() && text.last() != Some(&b'\n') {
        found.push(text.len());
    }
}

/// Returns the mask `bytes` with only the first set bit of each line.
#[inline(always)]
fn first_of_lines(mut bytes: u64, line_ends: u64) -> u64 {
    let mut first_ones = 0;
    while bytes != 0 {
        let first = bytes & bytes.wrapping_neg();
        first_ones |= first;
        let behind = line_ends & first.wrapping_neg() & !first;
        // Clears all other bits of the same line.
        bytes &= !(behind ^ behind.wrapping_sub(1));
    }
    first_ones
}

/// Returns a mask of the bytes in quotes. It includes each opening quote, but not the closing quote. Computes a prefix
/// XOR over the bits.
#[inline(always)]
fn quoted_bytes(mut quotes: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        quotes ^= quotes << shift;
    }
    quotes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineFilter, line_ends, scan};

    /// Whether the documentation of `scan` allows that a line gets no mark.
    fn is_plain(line: &[u8], names: &[&str]) -> bool {
        let Some(equals) = line.iter().position(|byte| *byte == b'=') else { return false };
        let quotes = |text: &[u8]| memchr::memchr_iter(b'"', text).count();
        (line[0].is_ascii_alphabetic() || line[0] == b'_')
            && quotes(&line[..equals]) % 2 == 0
            && quotes(line) % 2 == 0
            && line.iter().all(|byte| byte.is_ascii() && !matches!(byte, b'\\' | b'\'' | 0))
            && !names.iter().any(|name| {
                let length = name.len().min(8);
                let starts =
                    line.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(&name.as_bytes()[..length]));
                starts && (length == 8 || line.get(length).is_some_and(|byte| super::ends_name(*byte)))
            })
    }

    #[test]
    fn of_many_names_those_that_begin_alike_share_a_bit() {
        let mut filter = LineFilter::new();
        let names: Vec<String> = (b'a'..=b'z')
            .flat_map(|letter| ["_one", "_two", "_six"].map(|rest| format!("{}{rest}", char::from(letter))))
            .collect();
        for name in &names {
            filter.add(name);
        }
        let marks = |line: &str| {
            let mut found = Vec::new();
            scan(format!("{line} = 1\nzzzzzzzz").as_bytes(), &filter, &mut found);
            found.iter().filter(|mark| mark.at == 0).count()
        };
        for name in &names {
            assert_eq!(marks(name), 1, "{name}");
        }
        for other in ["a_ten", "z_ten", "z_once", "b_twelve", "Azone"] {
            assert_eq!(marks(other), 0, "{other}");
        }
    }

    proptest! {
        #[test]
        fn lines_end_where_they_are_split(text in "[a\n]{0,300}") {
            let mut found = Vec::new();
            line_ends(text.as_bytes(), &mut found);
            let mut end = 0;
            let ends = text.split_inclusive('\n').map(|line| {
                end += line.len();
                end - usize::from(line.ends_with('\n'))
            });
            prop_assert_eq!(found, ends.collect::<Vec<_>>());
        }

        #[test]
        fn finds_every_line_that_is_not_plain_and_no_other(
            text in prop_oneof!["[aBc =\"\n]{0,200}", "((ab|Bcdefg|abcABCabc|abcabcabb|b) {0,2}= 1\n){0,9}", "[ab_ =\"'\\\\\n\r\0\u{e9}#]{0,400}", "([a-z]{1,9} = \"?[a-z]{0,70}\"?\n){0,20}"],
        ) {
            let names = ["ab", "bcdefg", "abcabcabc"];
            let mut filter = LineFilter::new();
            for name in names {
                filter.add(name);
            }
            let mut found = Vec::new();
            scan(text.as_bytes(), &filter, &mut found);
            prop_assert!(found.is_sorted_by_key(|mark| mark.at));
            let mut start = 0;
            for line in text.as_bytes().split(|byte| *byte == b'\n') {
                let end = start + line.len();
                let looked_at = found.iter().any(|mark| (start..=end).contains(&mark.at));
                let ends = found.iter().filter(|mark| (start..=end).contains(&mark.at)).filter_map(|mark| mark.end);
                prop_assert!(ends.clone().all(|found| found == end), "{}", line.escape_ascii());
                let is_found_by_its_beginning = found.iter().any(|mark| mark.at == start && mark.end.is_some());
                prop_assert!(is_found_by_its_beginning || ends.count() == 0);
                // The filter needs 8 bytes. So a line that begins less than 8 bytes before the end of the text gets a
                // mark even if it is plain.
                if is_plain(line, &names) {
                    prop_assert!(!looked_at || start + 8 > text.len(), "{}", line.escape_ascii());
                } else {
                    prop_assert!(looked_at, "{}", line.escape_ascii());
                }
                start += line.len() + 1;
            }
        }
    }
}
