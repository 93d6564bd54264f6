//! Reader and writer of bracketed ads: `[ name = expression; ... ]`, one after the other.

mod fast_path;

use std::borrow::BorrowMut;
use std::collections::VecDeque;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::{
    AdBoundary, BindingSpans, ParseOptions, Style, ad_errors, binding_spans, find_first_ad, parse_ad, parse_expression,
    print_into, print_name, read_name,
};

use super::ad_syntax::AdSyntax;
use super::attribute_cache::{AttributeBuffer, AttributeCache};
use super::attribute_span::{AttributeSpan, ExpressionSource};
use super::detect::byte_order_mark_length;
use super::diagnostic::lost_value;
use super::nested_reader::{MAX_DISSIMILAR_ADS, begins_line};
use super::{AdEntry, Problem, ReadResult};

/// Iterator over the bracketed ads of a text.
pub struct BracketedReader<'t, C = AttributeCache> {
    text: &'t [u8],
    rules: ParseOptions,
    /// Byte offset at which the unread text begins.
    pub(super) offset: usize,
    /// Number of ads begun so far.
    number: usize,
    /// Number of ads found so far that have no closing bracket.
    unclosed_count: usize,
    /// The cache of the fast path: an [`AttributeCache`] or a mutable reference to one.  `None` if all ads are read by the
    /// grammar.
    cache: Option<C>,
    buffer: AttributeBuffer,
    /// Number of ads of this text that the grammar had to read.
    dissimilar_ads: usize,
    /// Problems of the current ad that are still to be yielded, and the ad itself if it is kept.
    pending: VecDeque<ReadResult>,
}

/// Maximum number of unclosed ads before the reader gives up. For each unclosed ad the rest of the text is searched, so
/// without a limit the total time would be quadratic. A run prints 50 errors at most, so that the last one is seen.
const MAX_UNCLOSED_ADS: usize = 40;

impl<'t> BracketedReader<'t> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        BracketedReader::with_cache(text, AttributeCache::new(ParseOptions::new(dialect)))
    }
}

impl<'t, C: BorrowMut<AttributeCache>> BracketedReader<'t, C> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped. `cache` has what was read before.
    pub fn with_cache(text: &'t [u8], cache: C) -> Self {
        BracketedReader {
            text,
            rules: cache.borrow().values.options(),
            offset: byte_order_mark_length(text),
            number: 0,
            unclosed_count: 0,
            cache: Some(cache),
            buffer: AttributeBuffer::default(),
            dissimilar_ads: 0,
            pending: VecDeque::new(),
        }
    }

    /// Reads the next ad by the fast path.  `None` if only the grammar can tell what follows.
    fn read_similar_ad(&mut self) -> Option<AdEntry> {
        let cache = self.cache.as_mut()?.borrow_mut();
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r' | b',' | b';' | b'{' | b'}');
        let start = self.offset + self.text.get(self.offset..)?.iter().take_while(|byte| is_between(byte)).count();
        if self.text.get(start) != Some(&b'[') {
            return None;
        }
        let Some((ad, end)) = fast_path::read_ad(self.text, start, cache, &mut self.buffer) else {
            self.dissimilar_ads += 1;
            if self.dissimilar_ads > MAX_DISSIMILAR_ADS {
                self.cache = None;
            }
            return None;
        };
        self.offset = end;
        Some(self.entry_of(ad, start))
    }

    /// Counts an ad, and returns it with its place.
    fn entry_of(&mut self, ad: Ad, offset: usize) -> AdEntry {
        self.number += 1;
        AdEntry { ad, number: self.number, offset, is_whole: true, banner_attributes: 0 }
    }

    /// Parses the ad at the byte range `range`, which begins with the opening bracket. If the ad is bad, returns its
    /// first problem and queues its other problems.
    fn parse_group(&mut self, range: Range<usize>) -> ReadResult {
        self.offset = range.end;
        let offset = range.start;
        let text = &self.text[range.clone()];
        match parse_ad(text, self.rules) {
            Ok(ad) => Ok(self.entry_of(with_spans_of_values(text, self.rules).unwrap_or(ad), offset)),
            Err(error) => {
                self.number += 1;
                // A string without its closing quote may extend into the next ad, so reading continues where that ad
                // most likely begins.
                if error.lacks_quote
                    && let Some(next) = self.next_line_with_bracket(&range)
                {
                    self.offset = next;
                }
                let errors = ad_errors(text, self.rules);
                let keeps_ad = !errors.is_empty() && errors.iter().all(|error| error.keeps_ad);
                let number = self.number;
                self.pending = errors.into_iter().map(|one| Err(Problem::from_syntax(one, offset, number))).collect();
                if let Some(ad) = Some(()).filter(|()| keeps_ad).and_then(|()| with_spans_of_values(text, self.rules)) {
                    let entry = AdEntry { ad, number, offset, is_whole: true, banner_attributes: 0 };
                    self.pending.push_back(Ok(entry));
                }
                self.pending.pop_front().unwrap_or_else(|| Err(Problem::from_syntax(error, offset, number)))
            }
        }
    }

    /// Guesses where the next ad begins if the end of the ad in `range` is unknown. Returns the offset of the next `[`
    /// that begins a line and is indented no more than the ad; `None` if there is no such bracket.
    fn next_line_with_bracket(&self, range: &Range<usize>) -> Option<usize> {
        let line = memchr::memrchr(b'\n', &self.text[..range.start]).map_or(0, |at| at + 1);
        memchr::memchr_iter(b'[', &self.text[range.clone()])
            .map(|at| range.start + at)
            .find(|at| *at > range.start && begins_line(self.text, *at, range.start - line))
    }
}

impl<C: BorrowMut<AttributeCache>> Iterator for BracketedReader<'_, C> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        if let Some(item) = self.pending.pop_front() {
            return Some(item);
        }
        if let Some(entry) = self.read_similar_ad() {
            return Some(Ok(entry));
        }
        let rest = self.text.get(self.offset..)?;
        let shifted = |span: crate::ad::Span| self.offset + span.start as usize..self.offset + span.end as usize;
        match find_first_ad(rest) {
            AdBoundary::Blank => None,
            AdBoundary::Closed(span) => Some(self.parse_group(shifted(span))),
            AdBoundary::Unclosed(span) => {
                let range = shifted(span);
                self.unclosed_count += 1;
                if self.unclosed_count > MAX_UNCLOSED_ADS {
                    self.offset = self.text.len();
                    let message = "too many brackets are open: the rest of the file is not read";
                    return Some(Err(Problem::error_at(range.start..range.start + 1, self.number + 1, message)));
                }
                let end = self.next_line_with_bracket(&range).unwrap_or(range.end);
                Some(self.parse_group(range.start..end))
            }
            AdBoundary::NotAnAd(span) => {
                let range = shifted(span);
                self.offset = range.end;
                let end = range.start + self.text[range.clone()].trim_ascii_end().len();
                Some(Err(Problem::error_at(range.start..end, self.number + 1, "expected an ad, which begins with `[`")))
            }
        }
    }
}

/// Parses the values of an ad one by one, so that the spans of each expression count from the beginning of its value, as
/// [`attribute_spans`] says.  `text` is an ad in which all errors keep the ad.
fn with_spans_of_values(text: &[u8], rules: ParseOptions) -> Option<Ad> {
    let attribute = |place: &BindingSpans| {
        let name = name_at(text, place, rules.dialect)?;
        let value = parse_expression(&text[place.value.range()], rules);
        Some((name, value.or_else(|error| if error.keeps_ad { Ok(lost_value()) } else { Err(error) }).ok()?))
    };
    binding_spans(text, rules).iter().map(attribute).collect()
}

/// Returns the name of an attribute.  `None` if it is malformed.
fn name_at(ad: &[u8], place: &BindingSpans, dialect: Dialect) -> Option<Name> {
    Some(Name::new(&read_name(&String::from_utf8_lossy(&ad[place.name.range()]), dialect)?))
}

/// How the bracketed form writes an ad: with one attribute per line.
pub const SYNTAX: AdSyntax = AdSyntax {
    begin: "[\n",
    separator: "",
    end: "]\n",
    empty: "[\n]\n",
    plain_literal_end: Some(";\n"),
    push_name: |name, text| text.extend_from_slice(format!("  {} = ", print_name(name)).as_bytes()),
    push_value: |expression, text| {
        print_into(expression, Style::New, text);
        text.extend_from_slice(b";\n");
        Vec::new()
    },
};

/// Returns the places of the attributes of the first ad at or behind a byte offset.
pub fn attribute_spans(text: &[u8], offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    let rest = text.get(offset..).unwrap_or_default();
    let (AdBoundary::Closed(span) | AdBoundary::Unclosed(span)) = find_first_ad(rest) else { return Vec::new() };
    let start = offset + span.range().start;
    let ad = &rest[span.range()];
    let place = |binding: &BindingSpans| {
        let (name, value) = (binding.name.range(), binding.value.range());
        Some(AttributeSpan {
            name: name_at(ad, binding, dialect)?,
            name_range: start + name.start..start + name.end,
            source: ExpressionSource::Verbatim(start + value.start),
        })
    };
    binding_spans(ad, ParseOptions::new(dialect)).iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::BracketedReader;
    use crate::ad::Dialect;
    use crate::format::testing::printed_items;
    use crate::format::{FileFormat, Position};
    use crate::syntax::{Style, print_ad};

    fn items(text: &str) -> Vec<String> {
        BracketedReader::new(text.as_bytes(), Dialect::Classad)
            .map(|item| match item {
                Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap(),
                Err(problem) => {
                    let at = Position::of_offset(text.as_bytes(), problem.range.start);
                    format!("!{}:{}: {}", at.line, at.column, problem.message)
                }
            })
            .collect()
    }

    #[test]
    fn ads_in_a_row() {
        for text in ["[a=1][b=2]", "[a=1]\n\n[b=2]\n", "{[a=1],[b=2]}", "[a=1];[b=2]", "// c\n[a=1] // d\n[b=2]"] {
            assert_eq!(items(text), ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
        }
        assert!(items("// nothing").is_empty());
    }

    /// HTCondor reads these numbers as 0.
    #[test]
    fn a_number_that_htcondor_misreads_costs_only_its_value() {
        let long = "HTCondor reads `-0x1f` as 0: the value is error";
        for (form, text, expected) in [
            (
                FileFormat::Bracketed,
                "[ a = -0x1f; b = 1; c = [ d = 99999999999999999999 ] ]",
                vec![
                    format!("!1:8: {long}"),
                    "!1:31: `99999999999999999999` does not fit into a signed 64-bit integer: the value is error"
                        .into(),
                    "[ a = error; b = 1; c = error ]".into(),
                ],
            ),
            (
                FileFormat::Bracketed,
                "[ a = -0x1f; b = ]",
                vec![format!("!1:8: {long}"), "!1:18: expected an expression, found `]`".into()],
            ),
            (FileFormat::Long, "a = -0x1f\nb = 1\n", vec![format!("!1:6: {long}"), "[ a = error; b = 1 ]".into()]),
            (
                FileFormat::Json,
                "{\"a\": [18446744073709551616, 1], \"b\": 1}",
                vec![
                    "[ a = { error, 1 }; b = 1 ]".into(),
                    "!1:8: `18446744073709551616` does not fit into a signed 64-bit integer: the value is error".into(),
                ],
            ),
            (
                FileFormat::Xml,
                "<c><a n=\"a\"><i>18446744073709551616</i></a><a n=\"b\"><e>-0x1f</e></a></c>",
                vec![
                    "[ a = error; b = error ]".into(),
                    "!1:16: `18446744073709551616` does not fit into a signed 64-bit integer: the value is error"
                        .into(),
                    format!("!1:57: {long}"),
                ],
            ),
        ] {
            assert_eq!(printed_items(text.as_bytes(), form, Dialect::Condor), expected, "{text}");
        }
        assert_eq!(items("[ a = 99999999999999999999; b = 1 ]").len(), 1);
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, problem) in [
            ("[a = ]\n[b=2]", "!1:6: expected an expression, found `]`"),
            ("[a = 1\n[b=2]", "!2:1: expected `;` or `]`, found the end"),
            ("[a = (1]\n[b=2]", "!1:8: expected `)`, found `]`"),
            ("x\n[b=2]", "!1:1: expected an ad, which begins with `[`"),
            ("[a = \"x]\n[b=2]", "!1:6: this string has no closing quote"),
        ] {
            assert_eq!(items(text), [problem, "[ b = 2 ]"], "{text}");
        }
    }
}
