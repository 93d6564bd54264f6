//! Reader of the long form, line by line.

use std::borrow::BorrowMut;
use std::collections::VecDeque;

use crate::ad::{Dialect, Expression, Name, Value};
use crate::syntax::{ParseOptions, ParsedValue, read_name, simple_literal_value};

use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::attribute_span::{AttributeSpan, ExpressionSource};
use crate::format::detect::byte_order_mark_length;
use crate::format::diagnostic::BANNER_DIFFERS;
use crate::format::{AdEntry, Problem, ReadResult};

use super::banner::{Banner, BannerFault, RECORD_TYPE, contradicts, is_repeated};
use super::line_kind::{LineKind, without_carriage_return};
use super::line_parser::{LineParser, find_separator, has_quoted_name};

/// Iterator over the ads of a text in the long form. Every bad line is reported, and its ad is left out.
pub struct LongReader<'t, C = AttributeCache> {
    text: &'t [u8],
    /// The cache: an [`AttributeCache`] or a mutable reference to one.
    cache: C,
    /// The attributes of the ad that is being read.
    buffer: AttributeBuffer,
    /// Byte offset of the next line.
    offset: usize,
    /// Number of ads begun so far.
    number: usize,
    /// Whether the last line that was no comment is a banner with attributes.
    is_behind_banner: bool,
    /// The problems and the ad that are still to be yielded, in this order.
    pending: VecDeque<ReadResult>,
}

impl<'t> LongReader<'t> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        LongReader::with_cache(text, AttributeCache::new(ParseOptions::long(dialect)))
    }

    /// Creates a reader at the line that begins at byte `offset`. `number` is the number of ads before this line.
    pub fn at(text: &'t [u8], dialect: Dialect, offset: usize, number: usize) -> Self {
        LongReader::new(text, dialect).starting_at(offset, number)
    }
}

impl<'t, C: BorrowMut<AttributeCache>> LongReader<'t, C> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped. `cache` has what was read before.
    pub fn with_cache(text: &'t [u8], cache: C) -> Self {
        let (offset, buffer) = (byte_order_mark_length(text), AttributeBuffer::default());
        LongReader { text, cache, buffer, offset, number: 0, is_behind_banner: false, pending: VecDeque::new() }
    }

    /// Moves the reader to the line that begins at byte `offset`. `number` is the number of ads before this line.
    pub fn starting_at(self, offset: usize, number: usize) -> Self {
        LongReader { offset, number, ..self }
    }

    /// Reads one ad. Returns its problems and then, unless one of them is an error, the ad.
    pub fn into_next_ad(mut self) -> VecDeque<ReadResult> {
        self.read_ad();
        self.pending
    }

    /// Whether the last line that was read and is not a comment is a banner with attributes.
    pub fn is_behind_banner(&self) -> bool {
        self.is_behind_banner
    }

    /// Returns the byte offset of the next line.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Continues at the line that begins at byte `offset`.
    pub fn set_offset(&mut self, offset: usize) {
        self.offset = offset;
    }

    /// Skips an ad. The next line is its first one. `length` is the length of its text in bytes.
    pub fn skip_ad(&mut self, length: usize) {
        self.offset += length;
        self.number += 1;
    }

    /// Skips an ad without a banner. `length` is the length of its text up to and including the blank line behind it,
    /// in bytes. Blank lines may stand before it.
    pub fn skip_separate_ad(&mut self, length: usize) {
        self.skip_ad(length);
        self.is_behind_banner = false;
    }

    /// Returns the number of ads begun so far.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Reads the next ad. Returns its problems and then, unless one of them is an error, the ad; and the number of the
    /// ad. `None` at the end of the text.
    pub fn next_ad(&mut self) -> Option<(VecDeque<ReadResult>, usize)> {
        self.read_ad().then(|| (std::mem::take(&mut self.pending), self.number))
    }

    /// Returns the next line without its line end, and the byte offset of the line. `None` at the end of the text.
    pub fn next_line(&mut self) -> Option<(usize, &'t [u8])> {
        let start = self.offset;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.offset = start + length + 1;
        let line = &rest[..length];
        Some((start, without_carriage_return(line)))
    }

    /// Reads the next ad and appends its problems and the ad to `pending`. Returns false at the end of the text.
    fn read_ad(&mut self) -> bool {
        let mut first = None;
        let mut bad = false;
        let mut end = AdEnd::Text;
        self.cache.borrow_mut().begin_ad(&mut self.buffer);
        loop {
            while let Some(rest) = self.text.get(self.offset..)
                && let Some(length) = self.cache.borrow_mut().read_same(rest, &mut self.buffer)
            {
                if first.is_none() {
                    first = Some(self.offset);
                    self.number += 1;
                }
                self.offset += length;
            }
            let Some((offset, line)) = self.next_line() else { break };
            match LineKind::of(line.trim_ascii_start()) {
                LineKind::Comment => continue,
                LineKind::Blank | LineKind::Heading if first.is_some() => {
                    end = AdEnd::Line;
                    break;
                }
                LineKind::Blank | LineKind::Heading => {
                    self.is_behind_banner = false;
                    continue;
                }
                LineKind::Banner => match Banner::parse(self.text, offset..offset + line.len()) {
                    // A banner without a record. HTCondor skips it, too.
                    Ok(banner) if first.is_none() => {
                        self.is_behind_banner = banner.is_end();
                        continue;
                    }
                    Ok(banner) => {
                        end = AdEnd::Banner(banner);
                        break;
                    }
                    Err(fault) => {
                        bad |= first.is_none();
                        self.number += usize::from(first.is_none());
                        first.get_or_insert(offset);
                        end = AdEnd::TornBanner(fault);
                        break;
                    }
                },
                LineKind::Attribute => {}
            }
            if first.is_none() {
                first = Some(offset);
                self.number += 1;
            }
            let problem = self.read_line(offset, line).unwrap_or_else(|error| {
                bad = true;
                Some(error)
            });
            self.pending.extend(problem.map(Err));
        }
        let Some(offset) = first else { return false };
        self.finish_ad(offset, end, bad);
        true
    }

    /// Appends the ad that began at `offset` to `pending`, unless it is bad, and the problems of its end.
    fn finish_ad(&mut self, offset: usize, end: AdEnd, bad: bool) {
        let is_behind_banner = match &end {
            AdEnd::Text | AdEnd::Line => false,
            AdEnd::Banner(banner) => banner.is_end(),
            AdEnd::TornBanner(_) => true,
        };
        let was_behind_banner = std::mem::replace(&mut self.is_behind_banner, is_behind_banner);
        if was_behind_banner && matches!(end, AdEnd::Text) {
            self.pending.clear();
            return self.pending.push_back(Err(unfinished_record(self.text, offset, self.number)));
        }
        let banner_attributes = match &end {
            AdEnd::Banner(banner) if !bad => self.add_banner(banner),
            _ => 0,
        };
        let number = self.number;
        if !bad {
            let ad = self.cache.borrow_mut().build_ad(&mut self.buffer);
            self.pending.push_back(Ok(AdEntry { ad, number, offset, is_whole: true, banner_attributes }));
        }
        if let AdEnd::TornBanner(fault) = end {
            let hides_attribute = fault.hides_attribute;
            self.pending.push_back(Err(fault.into_problem(number)));
            if hides_attribute {
                self.skip_record();
            }
        }
    }

    /// Adds the attributes of a banner to those of the ad that is being read, unless the ad has them. Returns the
    /// number of added attributes. Appends a warning to `pending` for each contradiction.
    fn add_banner(&mut self, banner: &Banner) -> usize {
        let text = self.text;
        let cache = self.cache.borrow_mut();
        let before = self.buffer.len();
        let shape = cache.shape_of(&self.buffer);
        let kind = banner.kind.clone().map(|kind| (RECORD_TYPE.as_bytes(), Value::string(&text[kind.clone()]), kind));
        let written = banner.attributes.iter().filter_map(|attribute| {
            let value = simple_literal_value(&text[attribute.value.clone()], None)?;
            Some((&text[attribute.name.clone()], value, attribute.name.start..attribute.value.end))
        });
        for (name, value, range) in kind.into_iter().chain(written) {
            let index = cache.insert_name(&[b"***", name].concat(), false, Name::new(&String::from_utf8_lossy(name)));
            match cache.value_of(index, shape.as_deref(), before, &self.buffer) {
                Some(of_record) if is_repeated(name) && contradicts(of_record, &value) => {
                    let name = String::from_utf8_lossy(name);
                    let message = format!("{BANNER_DIFFERS}{name}; the value of the record, {of_record}, counts");
                    self.pending.push_back(Err(Problem::error_at(range, self.number, message).as_warning()));
                }
                None if cache.adds_banners => self.buffer.push(index, Expression::literal(value)),
                _ => {}
            }
        }
        self.buffer.len() - before
    }

    /// Skips the record behind a torn banner, because its first attribute may stand in the line of the banner. Appends
    /// an error to `pending`. Does nothing if a line that ends an ad follows at once.
    fn skip_record(&mut self) {
        let mut first = None;
        while let Some((offset, line)) = self.next_line() {
            match LineKind::of(line.trim_ascii_start()) {
                LineKind::Comment => {}
                LineKind::Attribute => {
                    first.get_or_insert(offset..offset + line.len());
                }
                LineKind::Banner => {
                    match Banner::parse(self.text, offset..offset + line.len()) {
                        Ok(banner) => self.is_behind_banner = banner.is_end(),
                        Err(_) => self.offset = offset,
                    }
                    break;
                }
                LineKind::Blank | LineKind::Heading => {
                    self.is_behind_banner = false;
                    break;
                }
            }
        }
        if let Some(first) = first {
            self.number += 1;
            let message = "this record is skipped: its first attribute may be in the broken banner before it";
            self.pending.push_back(Err(Problem::error_at(first, self.number, message)));
        }
    }

    /// Reads the line at byte `offset`, which is an attribute.  Returns a warning if the text behind the expression is
    /// ignored.
    fn read_line(&mut self, offset: usize, line: &[u8]) -> Result<Option<Problem>, Problem> {
        let cache = self.cache.borrow_mut();
        // The line with its line end.  The last line of a text may have none.
        let whole = self.text.get(offset..self.offset);
        let name_length = || Some(memchr::memchr(b'=', line).filter(|_| !has_quoted_name(line))? + 1);
        let known = cache.attributes.find(line, name_length);
        if let Some((index, length)) = known {
            let value = &line[length..];
            if cache.add_simple_literal(index, whole.unwrap_or_default(), value, &mut self.buffer) {
                return Ok(None);
            }
            if let Some(value) = cache.values.parse(value, index) {
                cache.add(index, whole, value, &mut self.buffer);
                return Ok(None);
            }
        }
        let parser = LineParser { options: cache.values.options(), ad_number: self.number };
        let parsed = parser.parse_line(offset, line)?;
        let beginning = &line[..parsed.value_start];
        let index = cache.insert_name(beginning, !has_quoted_name(beginning), parsed.name);
        cache.add(index, None, ParsedValue::<()>::unshared(parsed.expression), &mut self.buffer);
        Ok(parsed.warning)
    }
}

/// What ends an ad.
enum AdEnd {
    /// The end of the text.
    Text,
    /// A blank line or a heading.
    Line,
    Banner(Banner),
    TornBanner(BannerFault),
}

/// Returns the warning that the record at byte `offset` is left out, because the banner behind it is missing.
///
/// A daemon writes the banner last. So such a record at the end of a file is being written, or the file was cut.
pub fn unfinished_record(text: &[u8], offset: usize, ad_number: usize) -> Problem {
    let end = memchr::memchr(b'\n', &text[offset..]).map_or(text.len(), |length| offset + length);
    let message = "the last record is skipped: it has no banner after it";
    Problem::error_at(offset..end, ad_number, message).as_warning()
}

/// Returns the places of the attributes of the ad that begins at byte `offset`.
pub fn attribute_spans(text: &[u8], offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    let mut reader = LongReader::at(text, dialect, offset, 0);
    let lines = std::iter::from_fn(|| reader.next_line());
    let attribute = |(start, line): (usize, &[u8])| {
        let equals = find_separator(line).filter(|_| LineKind::of(line.trim_ascii_start()) == LineKind::Attribute)?;
        let written = line[..equals].trim_ascii();
        let name = Name::new(&read_name(&String::from_utf8_lossy(written), dialect)?);
        let name_start = start + line.len() - line.trim_ascii_start().len();
        let source = ExpressionSource::Verbatim(start + equals + 1);
        Some(AttributeSpan { name, name_range: name_start..name_start + written.len(), source })
    };
    lines.take_while(|(_, line)| !LineKind::of(line.trim_ascii_start()).ends_ad()).filter_map(attribute).collect()
}

impl<C: BorrowMut<AttributeCache>> Iterator for LongReader<'_, C> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        while self.pending.is_empty() {
            if !self.read_ad() {
                return None;
            }
        }
        self.pending.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::LongReader;
    use crate::ad::Dialect;
    use crate::format::long::SYNTAX;
    use crate::format::{Position, Severity};

    /// Returns a text for each item: an ad printed on one line, an error as `!line:column: message`, or a warning as
    /// `~line:column: message`.
    fn items(text: &str) -> Vec<String> {
        LongReader::new(text.as_bytes(), Dialect::Condor)
            .map(|item| match item {
                Ok(entry) => {
                    let mut out = Vec::new();
                    SYNTAX.push_ad(&entry.ad, &mut out);
                    String::from_utf8(out).unwrap().trim_end().replace('\n', " | ")
                }
                Err(problem) => {
                    let at = Position::of_offset(text.as_bytes(), problem.range.start);
                    let mark = if problem.severity == Severity::Warning { "~" } else { "!" };
                    format!("{mark}{}:{}: {}", at.line, at.column, problem.message)
                }
            })
            .collect()
    }

    #[test]
    fn as_htcondor_reads_it() {
        for (text, expected) in [
            ("a = 1\nb = 2\n", vec!["a = 1 | b = 2"]),
            ("a = 1\n \nb = 2\n", vec!["a = 1", "b = 2"]),
            ("\n\na=1\n\n\n", vec!["a = 1"]),
            ("# c\na = 1\n  # d\nb=2\n", vec!["a = 1 | b = 2"]),
            ("a = \"x\\ny\"\n", vec!["a = \"x\\ny\""]),
            ("a = \"C:\\dir\\\"\nb=1", vec!["a = \"C:\\dir\\\" | b = 1"]),
            ("a b = 1\n1a = 3\ntrue = 1\na.b = 1", vec!["a b = 1 | 1a = 3 | true = 1 | a.b = 1"]),
            ("a =1\r\nb=2\r\n", vec!["a = 1 | b = 2"]),
            ("a = TRUE\nA = x =?= 2\n", vec!["a = x =?= 2"]),
            ("a = 1 # x", vec!["~1:7: the text after the expression is ignored, as in HTCondor", "a = 1"]),
            ("", vec![]),
        ] {
            assert_eq!(items(text), expected, "{text}");
        }
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, expected) in [
            (
                "a = 1\nb = (\nc = +\n\nd = 4\n",
                vec![
                    "!2:6: expected an expression, found the end",
                    "!3:6: expected an expression, found the end",
                    "d = 4",
                ],
            ),
            ("a\n\nb = 1", vec!["!1:1: this line does not have the form `name = expression`", "b = 1"]),
            (" = 1", vec!["!1:2: a name is missing before this `=`"]),
            ("a = \"x\nb=1", vec!["!1:5: this string has no closing quote"]),
            ("a = 010", vec!["!1:5: HTCondor does not accept octal or hexadecimal integers: `010`"]),
        ] {
            assert_eq!(items(text), expected, "{text}");
        }
    }
}
