//! Searches an ad for the lines whose names are projected, and records where their values are.

use std::ops::Range;

use crate::ad::{Dialect, Value};
use crate::format::detect::byte_order_mark_length;
use crate::format::long::ad_interner::ProjectedValueRange;
use crate::format::long::banner::{Banner, RECORD_TYPE, contradicts, is_repeated};
use crate::format::long::line_kind::{LineKind, without_carriage_return};
use crate::format::long::line_parser::{LineParser, find_separator};
use crate::format::long::projection::Projection;
use crate::format::long::scan::{LineMark, scan};
use crate::syntax::{ParseOptions, long_string_length, simple_literal, simple_literal_value};

/// Estimated distance in bytes between two lines that must be examined. The distance decides for how many such lines
/// memory is reserved.
const BYTES_PER_CANDIDATE_LINE: usize = 64;

/// Result of examining one line.
enum LineResult {
    /// The name of the line is not in the projection. The value has not been checked.
    NotProjected,
    /// The line has been processed. The number is the byte offset of its end.
    Handled(usize),
    /// The ad of this line must be read completely. The number is the byte offset of the line's end.
    NeedsCompleteRead(usize),
    /// The line is blank or a heading, so the ad ends. The number is the byte offset of the line's end.
    EndOfAd(usize),
    /// There is no line, because the text has ended.
    EndOfText,
    /// The line is a banner, so the ad ends. The numbers are the byte offsets of the line's beginning and end.
    Banner(Range<usize>),
}

/// A search of a text for the values of projected names, ad by ad.
pub struct LineSearch<'t> {
    pub text: &'t [u8],
    /// Byte offset of the first line of the text, behind a byte order mark.
    text_start: usize,
    /// Byte offset of the next line.
    pub at: usize,
    /// The lines that must be examined in the current piece of the text. Offsets of lines count from the beginning of
    /// this piece, `marked_from`.
    marks: Vec<LineMark>,
    /// Byte offset in the text at which the current piece begins.
    marked_from: usize,
    /// Byte offset in the text at which the current piece ends.
    marked_to: usize,
    /// Index in `marks` of the next line to examine.
    next_mark: usize,
    /// Version of the projection with which `marks` was computed.
    pub marked_version: usize,
    /// Byte range of the value of each name of the projection in the current ad. `None` for a name that has not been
    /// found in the ad.
    pub values: Vec<Option<Range<usize>>>,
    /// The names of the projection that the current ad has, with the byte ranges of their values, in the order of the
    /// lines.
    pub found_values: Vec<ProjectedValueRange>,
    /// Kind of the banner behind the current ad, if the projection has the name `RecordType` and the ad lacks the
    /// attribute: the index of the name, and the byte range of the kind.
    pub record_type: Option<ProjectedValueRange>,
    /// Number of values of the current ad that come before those of its banner.
    values_before_banner: usize,
    /// Whether the current ad ends with the text.
    pub ends_with_text: bool,
    /// Whether the last line that was no comment is a banner with attributes.
    pub is_behind_banner: bool,
}

impl<'t> LineSearch<'t> {
    /// Begins at the start of a text.
    pub fn new(text: &'t [u8]) -> Self {
        let at = byte_order_mark_length(text);
        LineSearch {
            text,
            text_start: at,
            at,
            marks: Vec::new(),
            marked_from: 0,
            marked_to: 0,
            next_mark: 0,
            marked_version: usize::MAX,
            values: Vec::new(),
            found_values: Vec::new(),
            record_type: None,
            values_before_banner: 0,
            ends_with_text: false,
            is_behind_banner: false,
        }
    }

    /// Returns the byte offset of the first line of the next ad. `None` if only comments and blank lines follow.
    pub fn first_line(&mut self) -> Option<usize> {
        while self.at < self.text.len() {
            let end = self.line_end(self.at);
            match LineKind::of(self.text[self.at..end].trim_ascii_start()) {
                LineKind::Comment => {}
                LineKind::Blank | LineKind::Heading => self.is_behind_banner = false,
                LineKind::Banner => match Banner::parse(self.text, self.at..end) {
                    Ok(banner) => self.is_behind_banner = banner.is_end(),
                    Err(_) => return Some(self.at),
                },
                LineKind::Attribute => return Some(self.at),
            }
            self.at = end + 1;
        }
        None
    }

    fn line_end(&self, start: usize) -> usize {
        memchr::memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |length| start + length)
    }

    /// Scans again from byte offset `from` on, because names were added to the projection.
    pub fn restart_scan(&mut self, projection: &mut Projection, from: usize) {
        self.marked_version = projection.version;
        self.scan_piece(projection, from);
    }

    /// Finds the lines that must be examined in the piece of the text that begins at byte offset `from`.
    fn scan_piece(&mut self, projection: &mut Projection, from: usize) {
        let far = self.text.len().min(from.saturating_add(projection.piece_bytes));
        let end = if far < self.text.len() { (self.line_end(far) + 1).min(self.text.len()) } else { far };
        self.marks.clear();
        self.marks.reserve((far - from) / BYTES_PER_CANDIDATE_LINE);
        scan(&self.text[from..end], &projection.filter, &mut self.marks);
        if end < self.text.len() {
            // A mark at the end of this piece is for the first line of the next piece, so it is removed.
            let of_next = self.marks.partition_point(|mark| mark.at < end - from);
            self.marks.truncate(of_next);
        }
        (self.marked_from, self.marked_to, self.next_mark) = (from, end, 0);
    }

    /// Finds the values of projected names in the ad that begins at byte offset `first`. Returns false if the ad must
    /// be read completely.
    pub fn collect_values(&mut self, projection: &mut Projection, first: usize) -> bool {
        for (position, _) in self.found_values.drain(..) {
            self.values[position] = None;
        }
        self.values.resize(projection.names.len(), None);
        (self.record_type, self.ends_with_text) = (None, false);
        let mut is_sound = true;
        let mut from = first;
        loop {
            let Some(mark) = self.marks.get(self.next_mark).copied() else {
                if self.marked_to == self.text.len() {
                    break;
                }
                self.scan_piece(projection, self.marked_to);
                continue;
            };
            self.next_mark += 1;
            let at = mark.at + self.marked_from;
            if at < from {
                continue;
            }
            match self.look_at_mark(projection, at, mark.end.map(|end| end + self.marked_from)) {
                LineResult::NotProjected => {}
                LineResult::Handled(end) => from = end + 1,
                LineResult::NeedsCompleteRead(end) => (is_sound, from) = (false, end + 1),
                LineResult::EndOfAd(end) => {
                    (self.at, self.is_behind_banner) = (end + 1, false);
                    return is_sound;
                }
                LineResult::EndOfText => break,
                LineResult::Banner(line) => {
                    self.at = line.end + 1;
                    return self.add_banner(projection, line) && is_sound;
                }
            }
        }
        (self.at, self.ends_with_text) = (self.text.len(), true);
        is_sound
    }

    /// Adds the values of projected names in a banner to those of the ad before it, unless the ad has them. Returns
    /// false if the ad must be read completely, because the banner is torn or contradicts the ad.
    fn add_banner(&mut self, projection: &mut Projection, line: Range<usize>) -> bool {
        let Ok(banner) = Banner::parse(self.text, line) else { return false };
        self.is_behind_banner = banner.is_end();
        self.values_before_banner = self.found_values.len();
        for attribute in &banner.attributes {
            let name = &self.text[attribute.name.clone()];
            let Some(position) = projection.index_of(name) else { continue };
            projection.attributes[position].has_occurred = true;
            let Some(of_record) = self.values[position].clone() else {
                self.values[position] = Some(attribute.value.clone());
                self.found_values.push((position, attribute.value.clone()));
                continue;
            };
            let (of_record, of_banner) = (&self.text[of_record], &self.text[attribute.value.clone()]);
            if of_record.trim_ascii() != of_banner
                && is_repeated(name)
                && let (Some(of_record), Some(of_banner)) =
                    (simple_literal(of_record), simple_literal_value(of_banner, None))
                && contradicts(&of_record, &of_banner)
            {
                return false;
            }
        }
        if let Some(kind) = banner.kind
            && let Some(position) = projection.index_of(RECORD_TYPE.as_bytes())
        {
            projection.attributes[position].has_occurred = true;
            self.record_type = self.values[position].is_none().then_some((position, kind));
        }
        // The texts of shared ads tell nothing about the kind.
        self.record_type.is_none() || projection.interner.is_none()
    }

    /// Examines the line that contains byte offset `at`. Records the value if the name of the line is in the
    /// projection.
    ///
    /// `end` is the end of the line if it is known. In that case `at` is the beginning of the line.
    fn look_at_mark(&mut self, projection: &mut Projection, at: usize, end: Option<usize>) -> LineResult {
        let Some(end) = end else {
            if at > self.text_start && self.text[at - 1] == b'\n' && self.text.get(at).is_none_or(|byte| *byte == b'\n')
            {
                return if at < self.text.len() { LineResult::EndOfAd(at) } else { LineResult::EndOfText };
            }
            // A byte order mark does not belong to the first line.
            let start = memchr::memrchr(b'\n', &self.text[..at]).map_or(self.text_start, |before| before + 1);
            return self.classify_line(projection, start, self.line_end(at));
        };
        let line = &self.text[at..end];
        if let Some((position, length)) = projection.attributes.predicted_name(line) {
            return self.record_value(projection, position, at + length, end);
        }
        if line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && let Some(equals) = memchr::memchr(b'=', line)
        {
            return match projection.index_of(line[..equals].trim_ascii_end()) {
                Some(position) => self.record_value(projection, position, at + equals + 1, end),
                None => LineResult::NotProjected,
            };
        }
        self.classify_line(projection, at, end)
    }

    /// Records that the value of the name at index `position` is at byte offsets `start` to `end`.
    fn record_value(&mut self, projection: &mut Projection, position: usize, start: usize, end: usize) -> LineResult {
        projection.attributes.follow(position);
        projection.attributes[position].has_occurred = true;
        let value = &mut self.values[position];
        let is_reserved = projection.dialect == Dialect::Classad && projection.names[position].is_reserved();
        // If a name occurs twice in an ad, both values must be parsed, because each may have errors. A reserved name is
        // an error.
        if value.is_some() || is_reserved {
            return LineResult::NeedsCompleteRead(end);
        }
        let place = start..start + without_carriage_return(&self.text[start..end]).len();
        *value = Some(place.clone());
        self.found_values.push((position, place));
        LineResult::Handled(end)
    }

    /// Examines a whole line. Records the value if the name of the line is in the projection.
    fn classify_line(&mut self, projection: &mut Projection, start: usize, end: usize) -> LineResult {
        let line = without_carriage_return(&self.text[start..end]);
        match LineKind::of(line.trim_ascii_start()) {
            LineKind::Blank if start == self.text.len() => return LineResult::EndOfText,
            LineKind::Blank | LineKind::Heading => return LineResult::EndOfAd(end),
            LineKind::Banner => return LineResult::Banner(start..end),
            LineKind::Comment => return LineResult::Handled(end),
            LineKind::Attribute => {}
        }
        let Some(equals) = find_separator(line) else { return LineResult::NeedsCompleteRead(end) };
        let parser = LineParser { options: ParseOptions::long(projection.dialect), ad_number: 0 };
        let written = line[..equals].trim_ascii();
        let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'\'' | 0);
        let position = if !written.is_empty() && written.iter().all(is_plain) {
            projection.index_of(written)
        } else {
            let Ok(name) = parser.parse_name(start, &line[..equals]) else { return LineResult::NeedsCompleteRead(end) };
            projection.index_of(name.as_str().as_bytes())
        };
        let is_read = || parser.parse_line(start, line).is_ok_and(|parsed| parsed.warning.is_none());
        match position {
            Some(position) => self.record_value(projection, position, start + equals + 1, end),
            None if has_closed_strings(&line[equals + 1..]) || is_read() => LineResult::Handled(end),
            None => LineResult::NeedsCompleteRead(end),
        }
    }

    /// Returns the kind of the record if this is the value of the name at index `position`.
    pub fn record_type(&self, position: usize) -> Option<Value> {
        let (of_kind, kind) = self.record_type.as_ref()?;
        (*of_kind == position).then(|| Value::string(&self.text[kind.clone()]))
    }

    /// Returns the index of the name of a value of the ad, in the order of the text. The kind of a banner is its first
    /// value.
    pub fn found_position(&self, index: usize) -> usize {
        match &self.record_type {
            Some((position, _)) if index == self.values_before_banner => *position,
            Some(_) if index > self.values_before_banner => self.found_values[index - 1].0,
            _ => self.found_values[index].0,
        }
    }
}

/// Whether all strings of a value are certainly closed. Returns false for a value that only the parser can judge. Such
/// a value has comments, quoted names, backslashes outside strings, non-ASCII bytes or bytes of value 0.
fn has_closed_strings(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some((byte, behind)) = rest.split_first() {
        rest = match byte {
            b'"' => match long_string_length(behind) {
                Some(length) if memchr::memchr(0, &behind[..length]).is_none() => &behind[length..],
                _ => return false,
            },
            b'/' if behind.starts_with(b"/") || behind.starts_with(b"*") => return false,
            b'\'' | b'\\' | 0 => return false,
            byte if !byte.is_ascii() => return false,
            _ => behind,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::has_closed_strings;

    #[test]
    fn only_the_parser_judges_values_with_comments_and_quoted_names() {
        for (value, is_closed) in [
            ("", true),
            (" 1 + x / 2 * 3", true),
            (" \"a\" + \"\"", true),
            (" \"a // b /* 'c\"", true),
            (r#" "a \" b""#, true),
            (" \"\u{e9}\"", true),
            (" \"a", false),
            // The quote at the end of a line closes its string.
            (r#" "C:\dir\""#, true),
            (r#" "a \" + b"#, false),
            (" \"a\" + \"b", false),
            (" \"a\0\"", false),
            (" 1 // x", false),
            (" 1 /* x */", false),
            (" 'x'", false),
            (" x \\", false),
            (" \u{e9}", false),
            (" \0", false),
        ] {
            assert_eq!(has_closed_strings(value.as_bytes()), is_closed, "{value}");
        }
    }
}
