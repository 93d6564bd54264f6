//! Projection: the attributes to read of each ad. While ads are read, the names to which values refer are added.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::ad::{Ad, AdShape, Dialect, Expression, Name, Value};
use crate::eval::FreeNames;
use crate::format::attribute_predictor::AttributePredictor;
use crate::syntax::{ExpressionReuse, ParseCache, ParseOptions};

use super::ad_interner::{AdInterner, AdSharing};
use super::scan::LineFilter;

/// Maximum number of names in a projection. With more names, reading ads completely is as fast.
pub(super) const MAX_PROJECTED_NAMES: usize = 512;

/// Number of bytes in a piece of text, which is scanned at once. A piece stays in the processor's cache until its lines
/// are examined. If names are added, only one piece must be scanned again.
const SCAN_PIECE_BYTES: usize = 1 << 15;

/// The names of the attributes to read of each ad. While ads are read, the names to which values refer are added. Each
/// added name increases the version of the projection.
pub struct Projection {
    pub(super) dialect: Dialect,
    /// The requested names, and the names to which values read so far refer.
    pub(super) names: IndexSet<Name>,
    /// Number of the requested names, which are the first ones.
    requested: usize,
    /// Indexes of the names in `names`, grouped by the length of the name in bytes.
    pub(super) by_length: Vec<Vec<usize>>,
    /// Predicts the names, by how their lines usually begin: `name =`. The texts are those of values.
    pub(super) attributes: AttributePredictor<ProjectedAttribute>,
    pub(super) filter: LineFilter,
    /// Number of bytes that are scanned at once.
    pub(super) piece_bytes: usize,
    /// Whether ads have their attributes in the order and the spelling of the text.
    pub(super) is_as_written: bool,
    /// Cache of parsed values. The number stored with a value is the first version of the projection that contains all
    /// names to which the value refers.
    parse_cache: ParseCache<usize>,
    pub(super) prefilter: Option<LiteralPrefilter>,
    pub(super) interner: Option<AdInterner>,
    /// Version of the projection. It increases by 1 with each name that is added.
    pub(super) version: usize,
    /// First version of the projection that contains all names to which values refer. Only values read since
    /// `begin_input` count. 0 if these values refer to no name.
    pub(super) newest_referenced: usize,
    /// Whether an expression was found that may read any attribute, so that no projection is possible.
    pub(super) reads_everything: bool,
}

/// A name of a projection, and the value that was parsed last. The next ad often has the same value.
pub(super) struct ProjectedAttribute {
    /// The version of the projection that added the name.
    added_in_version: usize,
    /// Whether any ad read so far has the attribute.
    pub(super) has_occurred: bool,
    /// The last value.
    expression: Expression,
    /// The first version of the projection that contains all names to which `expression` refers.
    newest: usize,
}

/// What a prefilter says of an ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefilterVerdict {
    /// The ad is read.
    Passed,
    /// The ad is left out.
    Rejected,
    /// The ad is read, but left out if it is bad.
    Doubtful,
}

/// A prefilter: a test of a few plain literals, which are numbers, Booleans and strings without backslashes. It rejects
/// most ads before the other attributes are parsed.
pub(super) struct LiteralPrefilter {
    /// Indexes of the names that the test reads.
    pub(super) names: Vec<usize>,
    shape: Arc<AdShape>,
    /// Judges an ad by its attributes of these names.
    judge: Box<dyn Fn(&Ad) -> PrefilterVerdict>,
}

impl LiteralPrefilter {
    /// Judges an ad by the values of its attributes.
    pub(super) fn judge(&self, values: Vec<Value>) -> PrefilterVerdict {
        let expressions = values.into_iter().map(Expression::literal).collect();
        (self.judge)(&Ad::from_shape(Arc::clone(&self.shape), expressions))
    }
}

impl Projection {
    /// Creates a projection on these names.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = Name>, dialect: Dialect) -> Self {
        let mut projection = Projection {
            dialect,
            names: IndexSet::new(),
            requested: 0,
            by_length: Vec::new(),
            attributes: AttributePredictor::default(),
            filter: LineFilter::new(),
            piece_bytes: SCAN_PIECE_BYTES,
            is_as_written: false,
            parse_cache: ParseCache::new(ParseOptions::long(dialect)),
            prefilter: None,
            interner: None,
            version: 0,
            newest_referenced: 0,
            reads_everything: false,
        };
        if dialect == Dialect::Classad {
            // In this dialect these names are reserved. The projection contains them so that an ad with such an
            // attribute is reported.
            for name in ["self", "parent", "root"] {
                projection.add(Name::new(name));
            }
        }
        for name in names {
            projection.add(name);
        }
        projection.requested = projection.names.len();
        projection
    }

    /// Whether names have been added to the requested ones. Never so with shared ads.
    pub(super) fn has_grown(&self) -> bool {
        self.interner.is_none() && self.names.len() > self.requested
    }

    /// Returns a projection on the requested names only, for one ad, without a prefilter.
    pub(super) fn requested(&self) -> Projection {
        let names = self.names.iter().take(self.requested).cloned();
        let is_as_written = self.is_as_written;
        Projection { requested: usize::MAX, is_as_written, ..Projection::new(names, self.dialect) }
    }

    /// Sets the number of bytes that are scanned at once. The results do not depend on it.
    #[must_use]
    pub fn with_piece_bytes(mut self, bytes: usize) -> Self {
        self.piece_bytes = bytes;
        self
    }

    /// Gives ads their attributes in the order and the spelling of the text, not in those of the projection. Shared ads
    /// keep those of the projection.
    #[must_use]
    pub fn as_written(mut self) -> Self {
        self.is_as_written = true;
        self
    }

    /// Adds a prefilter: ads that `judge` rejects are left out.
    ///
    /// `judge` receives the ad with the attributes `names` only. A missing attribute is undefined there. Only plain
    /// literals are tested: numbers, Booleans, and strings without backslashes. An ad with another value of these
    /// attributes is kept.
    #[must_use]
    pub fn with_prefilter(mut self, names: &[Name], judge: impl Fn(&Ad) -> PrefilterVerdict + 'static) -> Self {
        for name in names {
            self.add(name.clone());
        }
        self.requested = self.names.len();
        let names: Vec<usize> = names.iter().filter_map(|name| self.names.get_index_of(name)).collect();
        let shape = Arc::new(names.iter().map(|place| self.names[*place].clone()).collect());
        self.prefilter = Some(LiteralPrefilter { names, shape, judge: Box::new(judge) });
        self
    }

    /// Makes ads share one `Ad` if their projected attributes have the same text.
    ///
    /// `labels` are the names of the attributes that identify an ad. Shared ads have only those label attributes that
    /// are also requested. [`super::ProjectingReader::label_value`] returns the values of all label attributes.
    #[must_use]
    pub fn with_shared_ads(mut self, labels: impl IntoIterator<Item = Name>) -> Self {
        self.interner = Some(AdInterner::default());
        self.add_labels(labels);
        self
    }

    /// Keeps the values of further attributes beside the shared ads: [`super::ProjectingReader::label_attributes`] has
    /// them. They may be any expressions; what these refer to is not read. Must follow [`Projection::with_shared_ads`].
    #[must_use]
    pub fn keeping(mut self, names: impl IntoIterator<Item = Name>) -> Self {
        let kept = self.add_labels(names);
        self.interner.iter_mut().for_each(|interner| interner.kept += kept);
        self
    }

    /// Adds label attributes. Returns their number.
    fn add_labels(&mut self, labels: impl IntoIterator<Item = Name>) -> usize {
        let Some(mut interner) = self.interner.take() else { return 0 };
        let before = interner.labels.len();
        for name in labels {
            let is_requested = self.names.contains(&name);
            self.add(name.clone());
            let position = self.names.get_index_of(&name).unwrap_or_default();
            if !interner.labels.contains(&position) {
                interner.labels.push(position);
                interner.only_labels.resize(self.names.len(), false);
                interner.only_labels[position] |= !is_requested;
            }
        }
        let added = interner.labels.len() - before;
        self.interner = Some(interner);
        added
    }

    /// Begins another input and returns the current version of the projection. [`Projection::newest_referenced`] starts
    /// again at 0.
    pub fn begin_input(&mut self, sharing: AdSharing) -> usize {
        self.newest_referenced = 0;
        if let Some(interner) = &mut self.interner {
            interner.begin(sharing);
        }
        self.version
    }

    /// Returns the first version of the projection that contains all names to which values refer. Only values read
    /// since [`Projection::begin_input`] count. 0 if these values refer to no name.
    ///
    /// Ads that were read in an earlier version may lack attributes to which values refer.
    #[must_use]
    pub fn newest_referenced(&self) -> usize {
        self.newest_referenced
    }

    /// Whether ads should be read completely. This is so if an expression may read any attribute, or if the projection
    /// has so many names that reading ads completely is as fast.
    #[must_use]
    pub fn reads_everything(&self) -> bool {
        self.reads_everything || self.names.len() > MAX_PROJECTED_NAMES
    }

    /// Returns the names of the projection in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &Name> + Clone {
        self.names.iter()
    }

    /// Adds names. Ads that are read from now on have the attributes of these names.
    pub fn extend<'n>(&mut self, names: impl IntoIterator<Item = &'n Name>) {
        for name in names {
            self.add(name.clone());
        }
    }

    /// Returns the dialect in which ads are read.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Adds a name and returns the version that added it. A name that was only a label until now gets a new version,
    /// because earlier shared ads do not have its attribute.
    pub(super) fn add(&mut self, name: Name) -> usize {
        let length = name.as_str().len();
        self.by_length.resize_with(self.by_length.len().max(length + 1), Vec::new);
        let (position, is_new) = self.names.insert_full(name.clone());
        if is_new {
            self.by_length[length].push(position);
            self.filter.add(name.as_str());
            let (beginning, expression) = ([name.as_str().as_bytes(), b" ="].concat(), Expression::literal(false));
            let attribute = ProjectedAttribute { added_in_version: 0, has_occurred: false, expression, newest: 0 };
            self.attributes.insert(&beginning, true, name, attribute);
        }
        let label = self.interner.as_mut().and_then(|interner| interner.only_labels.get_mut(position));
        if is_new || label.is_some_and(std::mem::take) {
            self.version += 1;
            self.attributes[position].added_in_version = self.version;
        }
        self.attributes[position].added_in_version
    }

    /// Adds the names to which an expression refers. Returns the first version of the projection that contains all
    /// these names; `None` if the expression may read any attribute.
    pub(super) fn add_references(&mut self, expression: &Expression) -> Option<usize> {
        let references = FreeNames::of(expression, self.dialect);
        let newest = references.names.into_iter().map(|name| self.add(name)).max().unwrap_or(0);
        self.reads_everything |= references.reads_anything;
        (!references.reads_anything).then_some(newest)
    }

    /// Parses a value of the name at index `position` and adds the names to which the value refers. `None` if the value is
    /// not exactly one expression.
    ///
    /// The number in the result is the first version of the projection that contains all these names. It is `None` if
    /// the expression may read any attribute.
    pub(super) fn parse_value(&mut self, value: &[u8], position: usize) -> Option<(Expression, Option<usize>)> {
        let text = self.attributes.text(position);
        if !text.is_empty() && text == value {
            let last = &self.attributes[position];
            return Some((last.expression.clone(), Some(last.newest)));
        }
        let parsed = self.parse_cache.parse(value, position)?;
        let newest = parsed.note.or_else(|| {
            let newest = self.add_references(&parsed.expression);
            match newest {
                Some(newest) => self.parse_cache.set_note(value, newest),
                // A cached value must have a version, and this value has none. So it is parsed again for each ad.
                None => self.parse_cache.remove(value),
            }
            newest
        });
        // A value with lists is not used again, because no two ads may share a list.
        let kept = newest.filter(|_| parsed.reuse == ExpressionReuse::Shared);
        self.attributes.set_text(position, if kept.is_some() { value } else { &[] });
        if let Some(newest) = kept {
            let last = &mut self.attributes[position];
            (last.expression, last.newest) = (parsed.expression.clone(), newest);
        }
        Some((parsed.expression, newest))
    }

    /// Adds the names to which the projected attributes of an ad refer.
    pub(super) fn add_references_of_ad(&mut self, ad: &Ad) {
        let mut position = 0;
        while let Some(name) = self.names.get_index(position) {
            position += 1;
            let Some(expression) = ad.get(name) else { continue };
            self.newest_referenced = self.newest_referenced.max(self.add_references(expression).unwrap_or(0));
        }
    }

    pub(super) fn is_only_label(&self, position: usize) -> bool {
        self.interner.as_ref().is_some_and(|interner| interner.is_only_label(position))
    }

    /// Returns the index of a name, ignoring case; `None` if the projection does not contain the name.
    pub(super) fn index_of(&self, name: &[u8]) -> Option<usize> {
        let candidates = self.by_length.get(name.len())?;
        let last = name.last()?;
        candidates.iter().copied().find(|at| {
            let known = self.names[*at].as_str().as_bytes();
            // The last byte is compared first, because it excludes most names. The exact comparison comes before the
            // slower one that ignores case, because the case is usually equal.
            known.last().is_some_and(|end| end.eq_ignore_ascii_case(last))
                && (known == name || known.eq_ignore_ascii_case(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{PrefilterVerdict, Projection};
    use crate::ad::{Dialect, Name};

    #[test]
    fn the_names_of_a_prefilter_are_requested_and_later_ones_are_not() {
        let names = |projection: &Projection| projection.names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut projection = Projection::new([Name::new("a")], Dialect::Condor);
        assert!(!projection.has_grown());
        projection = projection.with_prefilter(&[Name::new("b"), Name::new("A")], |_| PrefilterVerdict::Passed);
        assert!(!projection.has_grown());
        assert_eq!(names(&projection.requested()), ["a", "b"]);
        projection.add(Name::new("c"));
        assert!(projection.has_grown());
        assert_eq!(names(&projection.requested()), ["a", "b"]);
        assert!(!projection.requested().has_grown());
    }
}
