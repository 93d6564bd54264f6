//! One pass over a text that finds the lines worth looking at, 64 bytes at a time.
//!
//! Nearly every line of a big file is well-formed and not asked for.  For those nothing is done but what is
//! done for all bytes at once: comparing them, and arithmetic on the masks of 64 bits that come of it.

// What is to use the instructions of this processor must be inlined where these are known to be there.
#![allow(clippy::inline_always)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

/// Bytes at once.
const CHUNK: usize = 64;

/// So many bytes of a name, and of what ends it, are compared before the line is looked at.
const PREFIX: usize = 8;

/// The bit of a line that does not begin like a name.
const ODD: u64 = 1 << 63;

/// Which lines are worth looking at: for each byte of the beginning of a line, a bit for each name that has it
/// there, in either case.  With more than 63 names, some share a bit.
pub struct Filter {
    names: Box<[[u64; 256]; PREFIX]>,
    count: usize,
}

impl Filter {
    /// No names yet: only lines that are not plainly `name = text`.
    pub fn new() -> Self {
        let mut names = Box::new([[ODD; 256]; PREFIX]);
        for byte in (0..=u8::MAX).filter(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            names[0][usize::from(byte)] = 0;
        }
        Filter { names, count: 0 }
    }

    /// One more name whose lines are looked at.
    pub fn add(&mut self, name: &str) {
        let bit = 1 << (self.count % 63);
        self.count += 1;
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

    #[inline(always)]
    fn passes(&self, beginning: [u8; PREFIX]) -> bool {
        let of = |position: usize| self.names[position][usize::from(beginning[position])];
        let first = of(0) & of(1) & of(2) & of(3);
        first != 0 && first & of(4) & of(5) & of(6) & of(7) != 0
    }
}

/// Whether a byte can stand right behind a name.
fn ends_name(byte: u8) -> bool {
    byte == b'=' || byte.is_ascii_whitespace()
}

/// Where in 64 bytes these stand, a bit for each byte.
struct Masks {
    line_end: u64,
    quote: u64,
    equals: u64,
    /// Backslashes, single quotes, bytes of value 0 and those beyond ASCII.
    odd: u64,
}

impl Masks {
    #[inline(always)]
    fn of<S: Simd>(simd: S, bytes: &[u8; CHUNK]) -> Self {
        let bytes = u8x64::from_slice(simd, bytes);
        let is = |byte: u8| bytes.simd_eq(byte);
        let odd = is(b'\\') | is(b'\'') | is(0) | bytes.simd_ge(0x80);
        Masks {
            line_end: is(b'\n').to_bitmask(),
            quote: is(b'"').to_bitmask(),
            equals: is(b'=').to_bitmask(),
            odd: odd.to_bitmask(),
        }
    }
}

/// A line worth looking at.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// An offset in it, or at its end.
    pub at: usize,
    /// Where it ends, if it was found by how it begins: `at` then is its beginning.
    pub end: Option<usize>,
}

/// What is carried from chunk to chunk.
struct Carry {
    /// Whether the next byte begins a line.
    line_start: bool,
    /// Whether it stands in a string.
    in_string: bool,
    /// Whether its line has had no `=` yet.
    in_name: bool,
    /// The mark whose line has not ended yet, by its position.
    unended: Option<usize>,
}

/// Finds the lines worth looking at, in ascending order; a line may be found several times.  All other lines begin
/// with a letter or an underscore, have a `=` that stands in no string, closed strings, no backslash, no single
/// quote, no byte of value 0 and none beyond ASCII, and their names do not pass the filter.
pub fn scan(text: &[u8], filter: &Filter, found: &mut Vec<Mark>) {
    dispatch!(Level::new(), simd => scan_with(simd, text, filter, found));
}

/// The same with the instructions of this processor.
#[inline(always)]
fn scan_with<S: Simd>(simd: S, text: &[u8], filter: &Filter, found: &mut Vec<Mark>) {
    let mut carry = Carry { line_start: true, in_string: false, in_name: false, unended: None };
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    for (position, chunk) in chunks.iter().enumerate() {
        carry.chunk(text, position * CHUNK, &Masks::of(simd, chunk), filter, found);
    }
    // The end of the text ends its last line.
    let mut last = [b'\n'; CHUNK];
    last[..rest.len()].copy_from_slice(rest);
    carry.chunk(text, text.len() - rest.len(), &Masks::of(simd, &last), filter, found);
    found.truncate(found.partition_point(|mark| mark.at <= text.len()));
}

impl Carry {
    #[inline(always)]
    fn chunk(&mut self, text: &[u8], offset: usize, masks: &Masks, filter: &Filter, found: &mut Vec<Mark>) {
        let starts = masks.line_end << 1 | u64::from(self.line_start);
        self.line_start = masks.line_end >> (CHUNK - 1) == 1;

        // A bit that is added at the start of a line is carried to its first `=`, or to its end.
        let name_goes_on = !(masks.equals | masks.line_end);
        let (sum, carried) = starts.overflowing_add(name_goes_on);
        let (sum, carried_in) = sum.overflowing_add(u64::from(self.in_name));
        self.in_name = carried || carried_in;
        let name_ends = sum & !name_goes_on;

        let mut in_string = within(masks.quote) ^ 0_u64.wrapping_sub(u64::from(self.in_string));
        let mut look = first_of_lines(masks.odd, masks.line_end) | name_ends & masks.line_end;
        let mut open = in_string & (name_ends | masks.line_end);
        while open != 0 {
            let first = open & open.wrapping_neg();
            look |= first;
            if first & masks.line_end != 0 {
                // The next line begins outside.
                in_string ^= first.wrapping_neg();
            }
            open = in_string & (name_ends | masks.line_end) & !(first | (first - 1));
        }
        self.in_string = in_string >> (CHUNK - 1) == 1;

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
                    found.push(Mark { at: place(look), end: None });
                    look &= look - 1;
                }
                look &= !start;
                let ends = masks.line_end & start.wrapping_neg();
                if ends == 0 {
                    self.unended = Some(found.len());
                }
                found.push(Mark { at, end: (ends != 0).then(|| place(ends)) });
            }
        }
        while look != 0 {
            found.push(Mark { at: place(look), end: None });
            look &= look - 1;
        }
    }
}

/// Adds where the lines of a text end; the last one may end with the text.
pub fn line_ends(text: &[u8], found: &mut Vec<usize>) {
    dispatch!(Level::new(), simd => line_ends_with(simd, text, found));
}

#[inline(always)]
fn line_ends_with<S: Simd>(simd: S, text: &[u8], found: &mut Vec<usize>) {
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    for (position, chunk) in chunks.iter().enumerate() {
        let mut ends = u8x64::from_slice(simd, chunk).simd_eq(b'\n').to_bitmask();
        while ends != 0 {
            found.push(position * CHUNK + ends.trailing_zeros() as usize);
            ends &= ends - 1;
        }
    }
    let before = text.len() - rest.len();
    found.extend(memchr::memchr_iter(b'\n', rest).map(|at| before + at));
    if !text.is_empty() && text.last() != Some(&b'\n') {
        found.push(text.len());
    }
}

/// Of some bytes the first of each line.
#[inline(always)]
fn first_of_lines(mut bytes: u64, line_ends: u64) -> u64 {
    let mut first_ones = 0;
    while bytes != 0 {
        let first = bytes & bytes.wrapping_neg();
        first_ones |= first;
        let behind = line_ends & first.wrapping_neg() & !first;
        // All bytes before the next line.
        bytes &= !(behind ^ behind.wrapping_sub(1));
    }
    first_ones
}

/// The bytes from a quote on up to the next one.
#[inline(always)]
fn within(mut quotes: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        quotes ^= quotes << shift;
    }
    quotes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Filter, line_ends, scan};

    /// Whether a line may be passed over, by the letter of what `scan` promises.
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
            let mut filter = Filter::new();
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
                // The last bytes of a text are always looked at.
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
