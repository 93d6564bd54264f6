//! Reader of the long form that parses only projected attributes.
//!
//! The reader parses the attributes of the projection, the attributes that their values refer to, and so on
//! transitively. It only checks all other lines: each must be blank, a comment, or a name, `=` and text with closed
//! quotes. If a line is malformed, or too unusual for this check, [`LongReader`] reads the ad completely and reports
//! its problems.

mod line_search;
mod projected_ad_builder;

use std::collections::VecDeque;

use crate::ad::{Ad, Name, Value};
use crate::format::{AdEntry, ReadResult};
use crate::syntax::{ParseOptions, parse_expression, simple_literal};

use super::projection::{MAX_PROJECTED_NAMES, Projection};
use super::reader::{LongReader, unfinished_record};
use line_search::LineSearch;
use projected_ad_builder::{ProjectedAdBuilder, ProjectionResult};

/// Iterator over the ads of a text. It reads only the attributes of a [`Projection`].
pub struct ProjectingReader<'t, 's> {
    search: LineSearch<'t>,
    builder: ProjectedAdBuilder,
    projection: &'s mut Projection,
    /// Number of ads begun so far in the stream, counting those before this text.
    number: usize,
    /// Ads and problems that are still to be yielded.
    pending: VecDeque<ReadResult>,
}

impl<'t, 's> ProjectingReader<'t, 's> {
    /// Creates a reader at the beginning of a text. `before` is the number of ads of the stream before this text.
    pub fn new(text: &'t [u8], before: usize, projection: &'s mut Projection) -> Self {
        let (search, builder) = (LineSearch::new(text), ProjectedAdBuilder::default());
        ProjectingReader { search, builder, projection, number: before, pending: VecDeque::new() }
    }

    /// Returns an ad with the label attributes of the ad read last, and maybe other attributes. Label attributes are
    /// those given to [`Projection::with_shared_ads`]; without that call the result is empty.
    #[must_use]
    pub fn label_attributes(&self) -> Ad {
        let rules = ParseOptions::long(self.projection.dialect);
        let attribute = |position: &usize| {
            let text = &self.search.text[self.search.values.get(*position)?.clone()?];
            let value = simple_literal(text).or_else(|| parse_expression(text, rules).ok())?;
            Some((self.projection.names[*position].clone(), value))
        };
        let labels = || self.projection.interner.iter().flat_map(|interner| &interner.labels).filter_map(attribute);
        self.builder.unusual_labels.clone().unwrap_or_else(|| labels().collect())
    }

    /// Whether each label attribute that identifies the ad read last is missing or a plain literal. With shared ads, this is false
    /// for an ad that was read completely.
    #[must_use]
    pub fn has_plain_labels(&self) -> bool {
        self.builder.unusual_labels.is_none()
    }

    /// Returns a label value of the ad read last; `None` if the attribute is missing or not a plain literal.
    ///
    /// `label` is the index of the label attribute in the order given to [`Projection::with_shared_ads`]. If
    /// [`Self::has_plain_labels`] is false, the value may be of an earlier ad and must not be used.
    #[must_use]
    pub fn label_value(&self, label: usize) -> Option<Value> {
        self.builder.labels.get(label)?.value.clone()
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
            && let Some(offset) = self.search.first_line()
        {
            // The same ad may have an attribute whose name was just added. So the ad is searched again until no name is
            // added.
            let mut version = None;
            while version != Some(self.projection.version) && !self.projection.reads_everything() {
                version = Some(self.projection.version);
                if self.search.marked_version != self.projection.version {
                    self.restart_scan(offset);
                }
                self.search.collect_values(self.projection, offset);
                for (position, value) in &self.search.found_values {
                    // An attribute that is only a label is never evaluated, so the names in its value are not needed.
                    if !self.projection.is_only_label(*position) {
                        self.projection.parse_value(&self.search.text[value.clone()], *position);
                    }
                }
            }
        }
    }

    /// Scans again from byte offset `from` on, because names were added to the projection.
    fn restart_scan(&mut self, from: usize) {
        self.builder.last_lookup.clear();
        self.search.restart_scan(self.projection, from);
    }

    /// Reads the next ad and appends the ad, or its problems, to `pending`. Returns false at the end of the text.
    fn read_ad(&mut self) -> bool {
        let Some(offset) = self.search.first_line() else { return false };
        let was_behind_banner = self.search.is_behind_banner;
        let outcome = loop {
            if self.search.marked_version != self.projection.version {
                self.restart_scan(offset);
            }
            let is_sound = self.search.collect_values(self.projection, offset)
                && self.projection.names.len() <= MAX_PROJECTED_NAMES;
            if self.search.ends_with_text && was_behind_banner {
                self.number += 1;
                self.pending.push_back(Err(unfinished_record(self.search.text, offset, self.number)));
                return true;
            }
            match if is_sound {
                self.builder.project_ad(&self.search, self.projection)
            } else {
                ProjectionResult::NeedsCompleteRead
            } {
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
                let mut reader = LongReader::at(self.search.text, self.projection.dialect, offset, self.number - 1);
                if let Some((items, number)) = reader.next_ad() {
                    // A torn banner may have taken the next record with it.
                    (self.pending, self.number) = (items, number);
                    (self.search.at, self.search.is_behind_banner) =
                        (reader.offset().min(self.search.text.len()), reader.is_behind_banner());
                }
                if self.projection.interner.is_some()
                    && let Some(Ok(entry)) = self.pending.back()
                {
                    self.builder.unusual_labels = Some(entry.ad.clone());
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
        let mut reader = ProjectingReader::new(self.search.text, self.number - 1, &mut requested);
        (reader.search.at, reader.search.is_behind_banner) = (offset, is_behind_banner);
        reader.read_ad();
        (self.search.at, self.number, self.search.is_behind_banner) =
            (reader.search.at, reader.number, reader.search.is_behind_banner);
        self.pending = std::mem::take(&mut reader.pending);
        self.projection.extend(&requested.names);
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
