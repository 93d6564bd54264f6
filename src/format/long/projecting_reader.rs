//! Reader of the long form that parses only projected attributes.
//!
//! The reader parses the attributes of the projection, the attributes that their values refer to, and so on
//! transitively. It only checks all other lines: each must be blank, a comment, or a name, `=` and text with closed
//! quotes. If a line is malformed, or too unusual for this check, [`LongReader`] reads the ad completely and reports
//! its problems.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::format::detect::byte_order_mark_length;
use crate::format::{AdEntry, ReadResult};
use crate::syntax::{ParseOptions, long_string_length, parse_expression, simple_literal, simple_literal_value};

use super::ad_interner::ProjectedValueRange;
use super::banner::{Banner, RECORD_TYPE, contradicts, is_repeated};
use super::line_kind::{LineKind, without_carriage_return};
use super::line_parser::{LineParser, find_separator};
use super::projection::{MAX_PROJECTED_NAMES, PrefilterVerdict, Projection};
use super::reader::{LongReader, unfinished_record};
use super::scan::{LineMark, scan};

/// Iterator over the ads of a text. It reads only the attributes of a [`Projection`].
pub struct ProjectingReader<'t, 's> {
    text: &'t [u8],
    projection: &'s mut Projection,
    /// Byte offset of the first line of the text, behind a byte order mark.
    text_start: usize,
    /// Byte offset of the next line.
    at: usize,
    /// Number of ads begun so far in the stream, counting those before this text.
    number: usize,
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
    marked_version: usize,
    /// Byte range of the value of each name of the projection in the current ad. `None` for a name that has not been
    /// found in the ad.
    values: Vec<Option<Range<usize>>>,
    /// The names of the projection that the current ad has, with the byte ranges of their values, in the order of the
    /// lines.
    found_values: Vec<ProjectedValueRange>,
    /// Indexes of the names of the ad that is being built.
    attribute_names: Vec<usize>,
    /// The names of that ad that are spelt in another way than in the projection, with their places in the ad.
    respelt_names: Vec<(usize, Name)>,
    /// Names and byte ranges of the values that were last looked up among the shared ads.
    last_lookup: Vec<ProjectedValueRange>,
    /// Values of the label attributes, which identify the current ad. `None` for an attribute that is missing or not a
    /// plain literal.
    label_values: Vec<Option<Value>>,
    /// Kind of the banner behind the current ad, if the projection has the name `RecordType` and the ad lacks the
    /// attribute: the index of the name, and the byte range of the kind.
    record_type: Option<ProjectedValueRange>,
    /// Number of values of the current ad that come before those of its banner.
    values_before_banner: usize,
    /// Whether the current ad ends with the text.
    ends_with_text: bool,
    /// Whether the last line that was no comment is a banner with attributes.
    is_behind_banner: bool,
    /// Ads and problems that are still to be yielded.
    pending: VecDeque<ReadResult>,
    /// The label attributes of the ad read last, and maybe other attributes of the ad. They are stored here if a label
    /// attribute is not a plain literal, or if the ad was read completely. Otherwise this is `None`, and `label_values`
    /// has the values.
    unusual_labels: Option<Ad>,
}

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

/// Result of projecting one ad.
enum ProjectionResult {
    /// The prefilter rejects the ad.
    Rejected,
    /// The ad, with only the attributes of the projection.
    Projected(Ad),
    /// The ad must be read completely. It has an error or an unusual line, or an expression that may read any
    /// attribute.
    NeedsCompleteRead,
    /// The ad refers to names that were not in the projection. These names have been added, so the ad must be projected
    /// again.
    Retry,
}

impl<'t, 's> ProjectingReader<'t, 's> {
    /// Creates a reader at the beginning of a text. `before` is the number of ads of the stream before this text.
    pub fn new(text: &'t [u8], before: usize, projection: &'s mut Projection) -> Self {
        let at = byte_order_mark_length(text);
        ProjectingReader {
            text,
            projection,
            text_start: at,
            at,
            number: before,
            marks: Vec::new(),
            marked_from: 0,
            marked_to: 0,
            next_mark: 0,
            marked_version: usize::MAX,
            values: Vec::new(),
            found_values: Vec::new(),
            attribute_names: Vec::new(),
            respelt_names: Vec::new(),
            last_lookup: Vec::new(),
            label_values: Vec::new(),
            record_type: None,
            values_before_banner: 0,
            ends_with_text: false,
            is_behind_banner: false,
            pending: VecDeque::new(),
            unusual_labels: None,
        }
    }

    /// Returns an ad with the label attributes of the ad read last, and maybe other attributes. Label attributes are
    /// those given to [`Projection::with_shared_ads`]; without that call the result is empty.
    #[must_use]
    pub fn label_attributes(&self) -> Ad {
        let rules = ParseOptions::long(self.projection.dialect);
        let attribute = |position: &usize| {
            let text = &self.text[self.values.get(*position)?.clone()?];
            let value = simple_literal(text).or_else(|| parse_expression(text, rules).ok())?;
            Some((self.projection.names[*position].clone(), value))
        };
        let labels = || self.projection.interner.iter().flat_map(|interner| &interner.labels).filter_map(attribute);
        self.unusual_labels.clone().unwrap_or_else(|| labels().collect())
    }

    /// Whether each label attribute that identifies the ad read last is missing or a plain literal. With shared ads, this is false
    /// for an ad that was read completely.
    #[must_use]
    pub fn has_plain_labels(&self) -> bool {
        self.unusual_labels.is_none()
    }

    /// Returns a label value of the ad read last; `None` if the attribute is missing or not a plain literal.
    ///
    /// `label` is the index of the label attribute in the order given to [`Projection::with_shared_ads`]. If
    /// [`Self::has_plain_labels`] is false, the value may be of an earlier ad and must not be used.
    #[must_use]
    pub fn label_value(&self, label: usize) -> Option<Value> {
        self.label_values.get(label)?.clone()
    }

    /// Whether any ad read so far has an attribute of this name. Ads that the prefilter rejected count, too. False for
    /// a name that is not in the projection.
    #[must_use]
    pub fn has_occurred(&self, name: &Name) -> bool {
        self.projection
            .names
            .get_index_of(name)
            .is_some_and(|position| self.projection.attributes[position].has_occurred)
    }

    /// Returns the number of the ad read last. The first ad of the stream has number 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Reads all remaining ads only to extend the projection by the attributes to which they refer, transitively.
    pub fn collect_references(&mut self) {
        while !self.projection.reads_everything()
            && let Some(offset) = self.first_line()
        {
            // The same ad may have an attribute whose name was just added. So the ad is searched again until no name is
            // added.
            let mut version = None;
            while version != Some(self.projection.version) && !self.projection.reads_everything() {
                version = Some(self.projection.version);
                if self.marked_version != self.projection.version {
                    self.restart_scan(offset);
                }
                self.collect_values(offset);
                for (position, value) in &self.found_values {
                    // An attribute that is only a label is never evaluated, so the names in its value are not needed.
                    if !self.projection.is_only_label(*position) {
                        self.projection.parse_value(&self.text[value.clone()], *position);
                    }
                }
            }
        }
    }

    /// Reads the next ad and appends the ad, or its problems, to `pending`. Returns false at the end of the text.
    fn read_ad(&mut self) -> bool {
        let Some(offset) = self.first_line() else { return false };
        let was_behind_banner = self.is_behind_banner;
        let outcome = loop {
            if self.marked_version != self.projection.version {
                self.restart_scan(offset);
            }
            let is_sound = self.collect_values(offset) && self.projection.names.len() <= MAX_PROJECTED_NAMES;
            if self.ends_with_text && was_behind_banner {
                self.number += 1;
                self.pending.push_back(Err(unfinished_record(self.text, offset, self.number)));
                return true;
            }
            match if is_sound { self.project_ad() } else { ProjectionResult::NeedsCompleteRead } {
                ProjectionResult::Retry => {}
                outcome => break outcome,
            }
        };
        self.number += 1;
        match outcome {
            ProjectionResult::Rejected | ProjectionResult::Retry => {}
            ProjectionResult::Projected(ad) => {
                self.pending.push_back(Ok(AdEntry {
                    ad,
                    number: self.number,
                    offset,
                    is_whole: false,
                    banner_attributes: 0,
                }));
            }
            ProjectionResult::NeedsCompleteRead if self.projection.has_grown() => {
                self.read_ad_by_requested_names(offset, was_behind_banner);
            }
            ProjectionResult::NeedsCompleteRead => {
                let mut reader = LongReader::at(self.text, self.projection.dialect, offset, self.number - 1);
                if let Some((items, number)) = reader.next_ad() {
                    // A torn banner may have taken the next record with it.
                    (self.pending, self.number) = (items, number);
                    (self.at, self.is_behind_banner) =
                        (reader.offset().min(self.text.len()), reader.is_behind_banner());
                }
                if self.projection.interner.is_some()
                    && let Some(Ok(entry)) = self.pending.back()
                {
                    self.unusual_labels = Some(entry.ad.clone());
                    self.projection.add_references_of_ad(&entry.ad);
                }
            }
        }
        true
    }

    /// Reads the ad at byte `offset` again, with the requested names and those that the ad itself needs. So whether an ad
    /// is bad does not depend on the ads before it.
    fn read_ad_by_requested_names(&mut self, offset: usize, is_behind_banner: bool) {
        let mut requested = self.projection.requested();
        let mut reader = ProjectingReader::new(self.text, self.number - 1, &mut requested);
        (reader.at, reader.is_behind_banner) = (offset, is_behind_banner);
        reader.read_ad();
        (self.at, self.number, self.is_behind_banner) = (reader.at, reader.number, reader.is_behind_banner);
        self.pending = std::mem::take(&mut reader.pending);
        self.projection.extend(&requested.names);
    }

    /// Returns the byte offset of the first line of the next ad. `None` if only comments and blank lines follow.
    fn first_line(&mut self) -> Option<usize> {
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
    fn restart_scan(&mut self, from: usize) {
        self.last_lookup.clear();
        self.marked_version = self.projection.version;
        self.scan_piece(from);
    }

    /// Finds the lines that must be examined in the piece of the text that begins at byte offset `from`.
    fn scan_piece(&mut self, from: usize) {
        let far = self.text.len().min(from.saturating_add(self.projection.piece_bytes));
        let end = if far < self.text.len() { (self.line_end(far) + 1).min(self.text.len()) } else { far };
        self.marks.clear();
        self.marks.reserve((far - from) / BYTES_PER_CANDIDATE_LINE);
        scan(&self.text[from..end], &self.projection.filter, &mut self.marks);
        if end < self.text.len() {
            // A mark at the end of this piece is for the first line of the next piece, so it is removed.
            let of_next = self.marks.partition_point(|mark| mark.at < end - from);
            self.marks.truncate(of_next);
        }
        (self.marked_from, self.marked_to, self.next_mark) = (from, end, 0);
    }

    /// Finds the values of projected names in the ad that begins at byte offset `first`. Returns false if the ad must
    /// be read completely.
    fn collect_values(&mut self, first: usize) -> bool {
        for (position, _) in self.found_values.drain(..) {
            self.values[position] = None;
        }
        self.values.resize(self.projection.names.len(), None);
        (self.record_type, self.ends_with_text) = (None, false);
        let mut is_sound = true;
        let mut from = first;
        loop {
            let Some(mark) = self.marks.get(self.next_mark).copied() else {
                if self.marked_to == self.text.len() {
                    break;
                }
                self.scan_piece(self.marked_to);
                continue;
            };
            self.next_mark += 1;
            let at = mark.at + self.marked_from;
            if at < from {
                continue;
            }
            match self.look_at_mark(at, mark.end.map(|end| end + self.marked_from)) {
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
                    return self.add_banner(line) && is_sound;
                }
            }
        }
        (self.at, self.ends_with_text) = (self.text.len(), true);
        is_sound
    }

    /// Adds the values of projected names in a banner to those of the ad before it, unless the ad has them. Returns
    /// false if the ad must be read completely, because the banner is torn or contradicts the ad.
    fn add_banner(&mut self, line: Range<usize>) -> bool {
        let Ok(banner) = Banner::parse(self.text, line) else { return false };
        self.is_behind_banner = banner.is_end();
        self.values_before_banner = self.found_values.len();
        for attribute in &banner.attributes {
            let name = &self.text[attribute.name.clone()];
            let Some(position) = self.projection.index_of(name) else { continue };
            self.projection.attributes[position].has_occurred = true;
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
            && let Some(position) = self.projection.index_of(RECORD_TYPE.as_bytes())
        {
            self.projection.attributes[position].has_occurred = true;
            self.record_type = self.values[position].is_none().then_some((position, kind));
        }
        // The texts of shared ads tell nothing about the kind.
        self.record_type.is_none() || self.projection.interner.is_none()
    }

    /// Returns the kind of the record if this is the value of the name at index `position`.
    fn record_type(&self, position: usize) -> Option<Value> {
        let (of_kind, kind) = self.record_type.as_ref()?;
        (*of_kind == position).then(|| Value::string(&self.text[kind.clone()]))
    }

    /// Examines the line that contains byte offset `at`. Records the value if the name of the line is in the
    /// projection.
    ///
    /// `end` is the end of the line if it is known. In that case `at` is the beginning of the line.
    fn look_at_mark(&mut self, at: usize, end: Option<usize>) -> LineResult {
        let Some(end) = end else {
            if at > self.text_start && self.text[at - 1] == b'\n' && self.text.get(at).is_none_or(|byte| *byte == b'\n')
            {
                return if at < self.text.len() { LineResult::EndOfAd(at) } else { LineResult::EndOfText };
            }
            // A byte order mark does not belong to the first line.
            let start = memchr::memrchr(b'\n', &self.text[..at]).map_or(self.text_start, |before| before + 1);
            return self.classify_line(start, self.line_end(at));
        };
        let line = &self.text[at..end];
        if let Some((position, length)) = self.projection.attributes.predicted_name(line) {
            return self.record_value(position, at + length, end);
        }
        if line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && let Some(equals) = memchr::memchr(b'=', line)
        {
            return match self.projection.index_of(line[..equals].trim_ascii_end()) {
                Some(position) => self.record_value(position, at + equals + 1, end),
                None => LineResult::NotProjected,
            };
        }
        self.classify_line(at, end)
    }

    /// Records that the value of the name at index `position` is at byte offsets `start` to `end`.
    fn record_value(&mut self, position: usize, start: usize, end: usize) -> LineResult {
        self.projection.attributes.follow(position);
        self.projection.attributes[position].has_occurred = true;
        let value = &mut self.values[position];
        let is_reserved = self.projection.dialect == Dialect::Classad && self.projection.names[position].is_reserved();
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
    fn classify_line(&mut self, start: usize, end: usize) -> LineResult {
        let line = without_carriage_return(&self.text[start..end]);
        match LineKind::of(line.trim_ascii_start()) {
            LineKind::Blank if start == self.text.len() => return LineResult::EndOfText,
            LineKind::Blank | LineKind::Heading => return LineResult::EndOfAd(end),
            LineKind::Banner => return LineResult::Banner(start..end),
            LineKind::Comment => return LineResult::Handled(end),
            LineKind::Attribute => {}
        }
        let Some(equals) = find_separator(line) else { return LineResult::NeedsCompleteRead(end) };
        let parser = LineParser { options: ParseOptions::long(self.projection.dialect), ad_number: 0 };
        let written = line[..equals].trim_ascii();
        let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'\'' | 0);
        let position = if !written.is_empty() && written.iter().all(is_plain) {
            self.projection.index_of(written)
        } else {
            let Ok(name) = parser.parse_name(start, &line[..equals]) else { return LineResult::NeedsCompleteRead(end) };
            self.projection.index_of(name.as_str().as_bytes())
        };
        let is_read = || parser.parse_line(start, line).is_ok_and(|parsed| parsed.warning.is_none());
        match position {
            Some(position) => self.record_value(position, start + equals + 1, end),
            None if has_closed_strings(&line[equals + 1..]) || is_read() => LineResult::Handled(end),
            None => LineResult::NeedsCompleteRead(end),
        }
    }

    /// Builds the projected ad from the values in `values`.
    fn project_ad(&mut self) -> ProjectionResult {
        let text = self.text;
        let verdict = self.prefilter_verdict();
        if verdict == PrefilterVerdict::Rejected {
            return ProjectionResult::Rejected;
        }
        self.unusual_labels = None;
        let has_plain_labels = self.read_labels();
        if let Some(interner) = &mut self.projection.interner
            && let Some((ad, newest)) = interner.lookup(text, &self.found_values, &mut self.last_lookup)
            && has_plain_labels
        {
            self.projection.newest_referenced = self.projection.newest_referenced.max(newest);
            return ProjectionResult::Projected(ad);
        }
        self.attribute_names.clear();
        self.respelt_names.clear();
        let is_as_written = self.projection.is_as_written && self.projection.interner.is_none();
        let mut expressions = Vec::with_capacity(self.found_values.len());
        let (mut newest, mut is_partial) = (0, true);
        let before = self.projection.version;
        let found = self.found_values.len() + usize::from(self.record_type.is_some());
        let count = if is_as_written { found } else { self.values.len() };
        for index in 0..count {
            let position = if is_as_written { self.found_position(index) } else { index };
            let Some(range) = &self.values[position] else {
                if let Some(kind) = self.record_type(position) {
                    if is_as_written && self.projection.names[position].as_str() != RECORD_TYPE {
                        self.respelt_names.push((self.attribute_names.len(), Name::new(RECORD_TYPE)));
                    }
                    self.attribute_names.push(position);
                    expressions.push(Expression::literal(kind));
                }
                continue;
            };
            // An attribute that is only a label is left out. Its value is in `label_values`.
            if has_plain_labels && self.projection.is_only_label(position) {
                continue;
            }
            let Some((expression, newest_here)) = self.projection.parse_value(&text[range.clone()], position) else {
                is_partial = false;
                continue;
            };
            is_partial &= newest_here.is_some();
            newest = newest.max(newest_here.unwrap_or(0));
            if is_as_written {
                let respelt = respelt_name(&text[..range.start], &self.projection.names[position]);
                self.respelt_names.extend(respelt.map(|name| (self.attribute_names.len(), name)));
            }
            self.attribute_names.push(position);
            expressions.push(expression);
        }
        self.projection.newest_referenced = self.projection.newest_referenced.max(newest);
        match self.projection.version > before {
            _ if !is_partial && verdict == PrefilterVerdict::Doubtful => ProjectionResult::Rejected,
            _ if !is_partial => ProjectionResult::NeedsCompleteRead,
            true => ProjectionResult::Retry,
            false => ProjectionResult::Projected(self.intern_ad(expressions, newest, has_plain_labels)),
        }
    }

    /// Judges the ad by the values that the prefilter reads. It passes if one of them is no simple literal.
    fn prefilter_verdict(&self) -> PrefilterVerdict {
        let Some(prefilter) = &self.projection.prefilter else { return PrefilterVerdict::Passed };
        let value = |position: &usize| match &self.values[*position] {
            Some(range) => simple_literal_value(&self.text[range.clone()], None),
            None => Some(self.record_type(*position).unwrap_or(Value::Undefined)),
        };
        let values: Option<Vec<Value>> = prefilter.names.iter().map(value).collect();
        values.map_or(PrefilterVerdict::Passed, |values| prefilter.judge(values))
    }

    /// Reads the labels of the ad, if ads are shared. Returns whether each label that identifies it is a simple literal.
    fn read_labels(&mut self) -> bool {
        let Some(interner) = &self.projection.interner else { return false };
        self.label_values.resize(interner.labels.len(), None);
        let identifying = interner.labels.len() - interner.kept;
        let mut are_plain = true;
        for (place, (position, value)) in interner.labels.iter().zip(&mut self.label_values).enumerate() {
            let written = self.values[*position].as_ref();
            *value = written.and_then(|range| simple_literal_value(&self.text[range.clone()], value.take()));
            are_plain &= written.is_none() || value.is_some() || place >= identifying;
        }
        are_plain
    }

    /// Returns the index of the name of a value of the ad, in the order of the text. The kind of a banner is its first
    /// value.
    fn found_position(&self, index: usize) -> usize {
        match &self.record_type {
            Some((position, _)) if index == self.values_before_banner => *position,
            Some(_) if index > self.values_before_banner => self.found_values[index - 1].0,
            _ => self.found_values[index].0,
        }
    }

    /// Returns an ad with these values of `attribute_names`. If ads are shared, this is the shared ad with the same
    /// text, or a new shared ad.
    ///
    /// `newest` is the first version of the projection that contains all names to which the attributes refer.
    fn intern_ad(&mut self, expressions: Vec<Expression>, newest: usize, has_plain_labels: bool) -> Ad {
        let Projection { interner, names, attributes, .. } = &mut *self.projection;
        let mut build = |positions: &[usize], expressions| attributes.build_ad(positions, expressions);
        let positions = &mut self.attribute_names;
        if !self.respelt_names.is_empty() {
            let mut spelt: Vec<Name> = positions.iter().map(|position| names[*position].clone()).collect();
            for (place, name) in self.respelt_names.drain(..) {
                spelt[place] = name;
            }
            return spelt.into_iter().zip(expressions).collect();
        }
        let Some(interner) = interner else { return build(positions, expressions) };
        if has_plain_labels {
            return interner.found_or_insert_with(newest, || build(positions, expressions));
        }
        self.unusual_labels = Some(build(positions, expressions.clone()));
        let is_kept = |position: &usize| !interner.is_only_label(*position);
        let kept = positions.iter().zip(expressions).filter(|(position, _)| is_kept(position));
        let (kept, expressions): (Vec<usize>, Vec<Expression>) = kept.map(|(at, value)| (*at, value)).unzip();
        interner.found_or_insert_with(newest, || build(&kept, expressions))
    }
}

impl Iterator for ProjectingReader<'_, '_> {
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

/// Returns the name at the end of `before`, a text up to `=`, if it is spelt in another way than the `known` name that it
/// is.
fn respelt_name(before: &[u8], known: &Name) -> Option<Name> {
    let known = known.as_str().as_bytes();
    let before = before.strip_suffix(b"=").unwrap_or(before).trim_ascii_end();
    let before = before.strip_suffix(b"'").unwrap_or(before);
    let written = &before[before.len().saturating_sub(known.len())..];
    let is_respelt = written != known && written.eq_ignore_ascii_case(known);
    str::from_utf8(written).ok().filter(|_| is_respelt).map(Name::new)
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
