//! Builds the projected ad from the values that were found.

use crate::ad::{Ad, Expression, Name, Value};
use crate::format::long::ad_interner::ProjectedValueRange;
use crate::format::long::banner::RECORD_TYPE;
use crate::format::long::projection::{PrefilterVerdict, Projection};
use crate::syntax::simple_literal_value;

use super::line_search::LineSearch;

/// Result of projecting one ad.
pub enum ProjectionResult {
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

/// A label attribute of the current ad.
#[derive(Default)]
pub struct Label {
    /// The text of the value. Empty if the attribute is missing.
    text: Vec<u8>,
    /// `None` if the attribute is missing or not a plain literal.
    pub value: Option<Value>,
}

/// Builder of projected ads.
#[derive(Default)]
pub struct ProjectedAdBuilder {
    /// Indexes of the names of the ad that is being built.
    attribute_names: Vec<usize>,
    /// The names of that ad that are spelt in another way than in the projection, with their places in the ad.
    respelt_names: Vec<(usize, Name)>,
    /// Names and byte ranges of the values that were last looked up among the shared ads.
    pub last_lookup: Vec<ProjectedValueRange>,
    /// The label attributes, which identify the current ad.
    pub labels: Vec<Label>,
    /// The label attributes of the ad read last, and maybe other attributes of the ad. They are stored here if a label
    /// attribute is not a plain literal, or if the ad was read completely. Otherwise this is `None`, and `labels` has the
    /// values.
    pub unusual_labels: Option<Ad>,
}

impl ProjectedAdBuilder {
    /// Builds the projected ad from the values in `values`.
    pub fn project_ad(&mut self, search: &LineSearch<'_>, projection: &mut Projection) -> ProjectionResult {
        let text = search.text;
        let verdict = Self::prefilter_verdict(search, projection);
        if verdict == PrefilterVerdict::Rejected {
            return ProjectionResult::Rejected;
        }
        self.unusual_labels = None;
        let has_plain_labels = self.read_labels(search, projection);
        if let Some(interner) = &mut projection.interner
            && let Some((ad, newest)) = interner.lookup(text, &search.found_values, &mut self.last_lookup)
            && has_plain_labels
        {
            projection.newest_referenced = projection.newest_referenced.max(newest);
            return ProjectionResult::Projected(ad);
        }
        self.attribute_names.clear();
        self.respelt_names.clear();
        let is_as_written = projection.is_as_written && projection.interner.is_none();
        let mut expressions = Vec::with_capacity(search.found_values.len());
        let (mut newest, mut is_partial) = (0, true);
        let before = projection.version;
        let found = search.found_values.len() + usize::from(search.record_type.is_some());
        let count = if is_as_written { found } else { search.values.len() };
        for index in 0..count {
            let position = if is_as_written { search.found_position(index) } else { index };
            let Some(range) = &search.values[position] else {
                if let Some(kind) = search.record_type(position) {
                    if is_as_written && projection.names[position].as_str() != RECORD_TYPE {
                        self.respelt_names.push((self.attribute_names.len(), Name::new(RECORD_TYPE)));
                    }
                    self.attribute_names.push(position);
                    expressions.push(Expression::literal(kind));
                }
                continue;
            };
            // An attribute that is only a label is left out. Its value is in `labels`.
            if has_plain_labels && projection.is_only_label(position) {
                continue;
            }
            let Some((expression, newest_here)) = projection.parse_value(&text[range.clone()], position) else {
                is_partial = false;
                continue;
            };
            is_partial &= newest_here.is_some();
            newest = newest.max(newest_here.unwrap_or(0));
            if is_as_written {
                let respelt = respelt_name(&text[..range.start], &projection.names[position]);
                self.respelt_names.extend(respelt.map(|name| (self.attribute_names.len(), name)));
            }
            self.attribute_names.push(position);
            expressions.push(expression);
        }
        projection.newest_referenced = projection.newest_referenced.max(newest);
        match projection.version > before {
            _ if !is_partial && verdict == PrefilterVerdict::Doubtful => ProjectionResult::Rejected,
            _ if !is_partial => ProjectionResult::NeedsCompleteRead,
            true => ProjectionResult::Retry,
            false => ProjectionResult::Projected(self.intern_ad(projection, expressions, newest, has_plain_labels)),
        }
    }

    /// Judges the ad by the values that the prefilter reads. It passes if one of them is no simple literal.
    fn prefilter_verdict(search: &LineSearch<'_>, projection: &Projection) -> PrefilterVerdict {
        let Some(prefilter) = &projection.prefilter else { return PrefilterVerdict::Passed };
        let value = |position: &usize| match &search.values[*position] {
            Some(range) => simple_literal_value(&search.text[range.clone()], None),
            None => Some(search.record_type(*position).unwrap_or(Value::Undefined)),
        };
        let values: Option<Vec<Value>> = prefilter.names.iter().map(value).collect();
        values.map_or(PrefilterVerdict::Passed, |values| prefilter.judge(values))
    }

    /// Reads the labels of the ad, if ads are shared. Returns whether each label that identifies it is a simple literal.
    fn read_labels(&mut self, search: &LineSearch<'_>, projection: &Projection) -> bool {
        let Some(interner) = &projection.interner else { return false };
        self.labels.resize_with(interner.labels.len(), Label::default);
        let identifying = interner.labels.len() - interner.kept;
        let mut are_plain = true;
        for (place, (position, label)) in interner.labels.iter().zip(&mut self.labels).enumerate() {
            let Some(range) = &search.values[*position] else {
                label.text.clear();
                label.value = None;
                continue;
            };
            let text = &search.text[range.clone()];
            // The next ad often has the same value.
            if label.text != text {
                label.text.clear();
                label.text.extend_from_slice(text);
                label.value = simple_literal_value(text, label.value.take());
            }
            are_plain &= label.value.is_some() || place >= identifying;
        }
        are_plain
    }

    /// Returns an ad with these values of `attribute_names`. If ads are shared, this is the shared ad with the same
    /// text, or a new shared ad.
    ///
    /// `newest` is the first version of the projection that contains all names to which the attributes refer.
    fn intern_ad(
        &mut self,
        projection: &mut Projection,
        expressions: Vec<Expression>,
        newest: usize,
        has_plain_labels: bool,
    ) -> Ad {
        let Projection { interner, names, attributes, .. } = &mut *projection;
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
