//! Reader of the long form that parses only projected attributes.
//!
//! Parsed are the attributes of the projection, those that their values refer to, and so on transitively. All other
//! lines are only checked: they must be comments, blank, or a name, `=` and text with closed quotes. An ad with any
//! line that is malformed, or too unusual for this check, is read completely by [`Reader`], which also reports its
//! problems.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::format::{Entry, Item};
use crate::syntax::{long_string_length, plain_literal, plain_value, plain_value_again};

use super::projection::{MOST_NAMES, Place, Selection};
use super::reader::{Reader, separator};
use super::scan::{Mark, scan};

/// Iterator over the ads of a text, projected on the attributes of a [`Selection`].
pub struct Selected<'t, 's> {
    text: &'t [u8],
    selection: &'s mut Selection,
    /// Offset of the first line of the text, behind a byte order mark.
    begin: usize,
    /// Byte offset of the next line.
    at: usize,
    /// Number of ads begun so far, including those before this text.
    number: usize,
    /// Candidate lines found by [`scan`] in the current piece of the text; offsets are relative to `marked_from`.
    marks: Vec<Mark>,
    /// Offset of the current piece.
    marked_from: usize,
    /// Offset of the end of the current piece.
    marked_to: usize,
    /// Index into `marks` of the next line to look at.
    next: usize,
    /// Version of the projection for which `marks` was computed.
    marked_version: usize,
    /// For each name, the index of the name that followed it most recently: most ads have their names in the same
    /// order.
    following: Vec<usize>,
    /// Index of the name that was found last.
    last: usize,
    /// Byte range of the value of each name in the current ad, by index of the name.
    values: Vec<Option<Range<usize>>>,
    /// The names that the current ad has, with the ranges of their values, in the order of the lines.
    noted: Vec<Place>,
    /// The same list for the ad that was last looked up among the shared ads.
    looked_for: Vec<Place>,
    /// Values of the labels in the current ad; `None` where a label is missing or not a plain literal.
    label_values: Vec<Option<Value>>,
    /// Items to be yielded next.
    found: VecDeque<Item>,
    /// The ad with the label attributes of the ad read last; `None` if all its labels are plain literals.
    label: Option<Ad>,
}

/// Estimate of the number of bytes per candidate line, to reserve memory.
const USUAL: usize = 64;

/// Result of looking at one line.
enum Line {
    /// Not an attribute of the projection; the line has not been checked otherwise.
    Passed,
    /// The line ends here and needs no further attention.
    Done(usize),
    /// The line ends here, and its ad must be read completely.
    Odd(usize),
    /// A blank line, which ends the ad; it ends here.
    Blank(usize),
}

/// Result of projecting one ad.
enum Outcome {
    /// Rejected by the prefilter.
    Left,
    /// The projected ad.
    Partial(Ad),
    /// The ad must be read completely.
    Whole,
    /// The ad refers to names that were not in the projection; they are now, and the ad must be looked at again.
    Again,
}

impl<'t, 's> Selected<'t, 's> {
    /// Creates a reader at the beginning of a text; `before` is the number of ads before it.
    pub fn new(text: &'t [u8], before: usize, selection: &'s mut Selection) -> Self {
        let at = Reader::new(text, selection.dialect).offset();
        Selected {
            text,
            selection,
            begin: at,
            at,
            number: before,
            marks: Vec::new(),
            marked_from: 0,
            marked_to: 0,
            next: 0,
            marked_version: usize::MAX,
            following: Vec::new(),
            last: 0,
            values: Vec::new(),
            noted: Vec::new(),
            looked_for: Vec::new(),
            label_values: Vec::new(),
            found: VecDeque::new(),
            label: None,
        }
    }

    /// Returns an ad with only the label attributes of the ad read last. It is empty unless the projection was made
    /// with [`Selection::grouped`].
    #[must_use]
    pub fn label(&self) -> Ad {
        let attribute = |position: &usize| {
            let literal = plain_literal(&self.text[self.values.get(*position)?.clone()?])?;
            Some((self.selection.names[*position].clone(), literal))
        };
        let labels = || self.selection.groups.iter().flat_map(|groups| &groups.labels).filter_map(attribute);
        self.label.clone().unwrap_or_else(|| labels().collect())
    }

    /// Whether all labels of the ad read last are missing or plain literals.
    #[must_use]
    pub fn has_plain_labels(&self) -> bool {
        self.label.is_none()
    }

    /// Returns the value of the label at this index in the ad read last; `None` if it is missing or not a plain
    /// literal.
    #[must_use]
    pub fn label_value(&self, label: usize) -> Option<Value> {
        self.label_values.get(label)?.clone()
    }

    /// Whether any ad read so far has this attribute of the projection, even if the ad was rejected.
    #[must_use]
    pub fn occurs(&self, name: &Name) -> bool {
        self.selection.names.get_index_of(name).is_some_and(|position| self.selection.occurs[position])
    }

    /// Returns the number of the ad read last, counting the ads before this text.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Reads all remaining ads only to add the attributes that they refer to, transitively, to the projection.
    pub fn look_for_mentions(&mut self) {
        while !self.selection.is_everything()
            && let Some(offset) = self.first_line()
        {
            // An added name may be bound in the same ad, so repeat until nothing is added.
            let mut version = None;
            while version != Some(self.selection.version) && !self.selection.is_everything() {
                version = Some(self.selection.version);
                if self.marked_version != self.selection.version {
                    self.mark(offset);
                }
                self.collect(offset);
                for (position, value) in &self.noted {
                    // Attributes that are only labels are not searched for references.
                    if !self.selection.is_only_label(*position) {
                        self.selection.expression(&self.text[value.clone()]);
                    }
                }
            }
        }
    }

    /// Reads the next ad and queues its items. Returns false at the end of the text.
    fn ad(&mut self) -> bool {
        let Some(offset) = self.first_line() else { return false };
        let outcome = loop {
            if self.marked_version != self.selection.version {
                self.mark(offset);
            }
            let is_sound = self.collect(offset) && self.selection.names.len() <= MOST_NAMES;
            match if is_sound { self.outcome() } else { Outcome::Whole } {
                Outcome::Again => {}
                outcome => break outcome,
            }
        };
        self.number += 1;
        match outcome {
            Outcome::Left | Outcome::Again => {}
            Outcome::Partial(ad) => {
                self.found.push_back(Ok(Entry { ad, number: self.number, offset, is_whole: false }));
            }
            Outcome::Whole => {
                self.found = Reader::at(self.text, self.selection.dialect, offset, self.number - 1).one();
                if self.selection.groups.is_some()
                    && let Some(Ok(entry)) = self.found.back()
                {
                    self.label = Some(entry.ad.clone());
                    self.selection.add_mentioned_in(&entry.ad);
                }
            }
        }
        true
    }

    /// Returns the offset of the first line of the next ad; `None` at the end of the text.
    fn first_line(&mut self) -> Option<usize> {
        while self.at < self.text.len() {
            let end = self.line_end(self.at);
            let content = self.text[self.at..end].trim_ascii_start();
            if !content.is_empty() && !is_comment(content) {
                return Some(self.at);
            }
            self.at = end + 1;
        }
        None
    }

    fn line_end(&self, start: usize) -> usize {
        memchr::memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |length| start + length)
    }

    /// Restarts the scan at `from`, because names were added to the projection.
    fn mark(&mut self, from: usize) {
        self.looked_for.clear();
        self.marked_version = self.selection.version;
        self.mark_piece(from);
    }

    /// Scans the piece of the text that begins at `from` for candidate lines.
    fn mark_piece(&mut self, from: usize) {
        let far = self.text.len().min(from.saturating_add(self.selection.piece));
        let end = if far < self.text.len() { (self.line_end(far) + 1).min(self.text.len()) } else { far };
        self.marks.clear();
        self.marks.reserve((far - from) / USUAL);
        scan(&self.text[from..end], &self.selection.filter, &mut self.marks);
        if end < self.text.len() {
            // A line that begins at the end of this piece belongs to the next one.
            let of_next = self.marks.partition_point(|mark| mark.at < end - from);
            self.marks.truncate(of_next);
        }
        (self.marked_from, self.marked_to, self.next) = (from, end, 0);
    }

    /// Finds the values of projected names in the ad that begins at `first`. Returns false if the ad must be read
    /// completely.
    fn collect(&mut self, first: usize) -> bool {
        for (position, _) in self.noted.drain(..) {
            self.values[position] = None;
        }
        self.values.resize(self.selection.names.len(), None);
        self.following.resize(self.selection.names.len(), 0);
        let mut is_sound = true;
        let mut from = first;
        loop {
            let Some(mark) = self.marks.get(self.next).copied() else {
                if self.marked_to == self.text.len() {
                    break;
                }
                self.mark_piece(self.marked_to);
                continue;
            };
            self.next += 1;
            let at = mark.at + self.marked_from;
            if at < from {
                continue;
            }
            match self.line(at, mark.end.map(|end| end + self.marked_from)) {
                Line::Passed => {}
                Line::Done(end) => from = end + 1,
                Line::Odd(end) => (is_sound, from) = (false, end + 1),
                Line::Blank(end) => {
                    self.at = end + 1;
                    return is_sound;
                }
            }
        }
        self.at = self.text.len();
        is_sound
    }

    /// Looks at the candidate line that contains offset `at`. If `end` is known, `at` is the beginning of the line.
    fn line(&mut self, at: usize, end: Option<usize>) -> Line {
        let Some(end) = end else {
            if at > self.begin && self.text[at - 1] == b'\n' && self.text.get(at).is_none_or(|byte| *byte == b'\n') {
                return Line::Blank(at);
            }
            // A byte order mark does not belong to the first line.
            let start = memchr::memrchr(b'\n', &self.text[..at]).map_or(self.begin, |before| before + 1);
            return self.look(start, self.line_end(at));
        };
        let line = &self.text[at..end];
        if let Some((position, length)) = self.expected(line) {
            return self.note(position, at + length, end);
        }
        if line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && let Some(equals) = memchr::memchr(b'=', line)
        {
            return match self.selection.position(line[..equals].trim_ascii_end()) {
                Some(position) => self.note(position, at + equals + 1, end),
                None => Line::Passed,
            };
        }
        self.look(at, end)
    }

    /// Predicts the name of a line from its predecessor. Returns the index of the name and the length in bytes of the
    /// name with its `=`; `None` if the line does not begin so.
    fn expected(&self, line: &[u8]) -> Option<(usize, usize)> {
        let position = *self.following.get(self.last)?;
        let beginning = self.selection.beginnings.get(position)?;
        line.starts_with(beginning).then_some((position, beginning.len()))
    }

    /// Records the byte range of the value of a projected name.
    fn note(&mut self, position: usize, start: usize, end: usize) -> Line {
        if let Some(following) = self.following.get_mut(self.last) {
            *following = position;
        }
        self.last = position;
        self.selection.occurs[position] = true;
        let value = &mut self.values[position];
        let is_reserved = self.selection.dialect == Dialect::Classad && self.selection.names[position].is_reserved();
        // If a name is bound several times every value must be parsed, because each may have errors.
        if value.is_some() || is_reserved {
            return Line::Odd(end);
        }
        let place = start..start + without_return(&self.text[start..end]).len();
        *value = Some(place.clone());
        self.noted.push((position, place));
        Line::Done(end)
    }

    /// Classifies a line about which nothing is known.
    fn look(&mut self, start: usize, end: usize) -> Line {
        let line = without_return(&self.text[start..end]);
        let content = line.trim_ascii_start();
        if content.is_empty() {
            return Line::Blank(end);
        }
        if is_comment(content) {
            return Line::Done(end);
        }
        let Some(equals) = separator(line) else { return Line::Odd(end) };
        let reader = Reader::at(self.text, self.selection.dialect, start, 0);
        let written = line[..equals].trim_ascii();
        let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'\'' | 0);
        let position = if !written.is_empty() && written.iter().all(is_plain) {
            self.selection.position(written)
        } else {
            let Ok(name) = reader.name(start, &line[..equals]) else { return Line::Odd(end) };
            self.selection.position(name.as_str().as_bytes())
        };
        let is_read = || matches!(reader.attribute(start, line), Ok((_, None)));
        match position {
            Some(position) => self.note(position, start + equals + 1, end),
            None if is_closed(&line[equals + 1..]) || is_read() => Line::Done(end),
            None => Line::Odd(end),
        }
    }

    /// Builds the projected ad from the values that were found.
    fn outcome(&mut self) -> Outcome {
        let text = self.text;
        if let Some(sieve) = &self.selection.sieve {
            let value = |position: &usize| match &self.values[*position] {
                Some(range) => plain_value(&text[range.clone()]).map(|(value, _)| value),
                None => Some(Value::Undefined),
            };
            let values: Option<Vec<Value>> = sieve.names.iter().map(value).collect();
            if values.is_some_and(|values| !(sieve.passes)(&values)) {
                return Outcome::Left;
            }
        }
        let mut has_plain_labels = false;
        self.label = None;
        if let Some(groups) = &mut self.selection.groups {
            has_plain_labels = true;
            self.label_values.resize(groups.labels.len(), None);
            for (position, value) in groups.labels.iter().zip(&mut self.label_values) {
                let written = self.values[*position].as_ref();
                *value = written.and_then(|range| plain_value_again(&text[range.clone()], value.take()));
                has_plain_labels &= written.is_none() || value.is_some();
            }
            let alike = groups.alike(text, &self.noted, &mut self.looked_for);
            if let Some((ad, newest)) = alike.filter(|_| has_plain_labels) {
                self.selection.newest = self.selection.newest.max(newest);
                return Outcome::Partial(ad);
            }
        }
        let mut attributes = Vec::with_capacity(self.values.len());
        let (mut newest, mut is_partial) = (0, true);
        let before = self.selection.version;
        for (position, range) in self.values.iter().enumerate() {
            let Some(range) = range else { continue };
            // Plain labels refer to nothing; their values were read above.
            if has_plain_labels && self.selection.is_only_label(position) {
                continue;
            }
            let Some((expression, newest_here)) = self.selection.expression(&text[range.clone()]) else {
                is_partial = false;
                continue;
            };
            is_partial &= newest_here.is_some();
            newest = newest.max(newest_here.unwrap_or(0));
            attributes.push((self.selection.names[position].clone(), expression));
        }
        self.selection.newest = self.selection.newest.max(newest);
        match self.selection.version > before {
            _ if !is_partial => Outcome::Whole,
            true => Outcome::Again,
            false => Outcome::Partial(self.group(attributes, newest, has_plain_labels)),
        }
    }

    /// Makes an ad of the attributes, or returns the shared ad with the same text if ads are grouped.
    fn group(&mut self, mut attributes: Vec<(Name, Expression)>, newest: usize, has_plain_labels: bool) -> Ad {
        let Selection { groups: Some(groups), names, .. } = &mut *self.selection else {
            return attributes.into_iter().collect();
        };
        if !has_plain_labels {
            self.label = Some(attributes.iter().cloned().collect());
            let position = |name: &Name| names.get_index_of(name);
            attributes.retain(|(name, _)| !position(name).is_some_and(|position| groups.is_only_label(position)));
        }
        groups.found_or(newest, || attributes.into_iter().collect())
    }
}

impl Iterator for Selected<'_, '_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        while self.found.is_empty() {
            if !self.ad() {
                return None;
            }
        }
        self.found.pop_front()
    }
}

fn is_comment(content: &[u8]) -> bool {
    content.starts_with(b"#") || content.starts_with(b"//")
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether all strings of a value are closed, and it contains nothing whose reading depends on the parser: comments,
/// quoted names, backslashes outside strings, non-ASCII bytes, bytes of value 0.
fn is_closed(value: &[u8]) -> bool {
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
