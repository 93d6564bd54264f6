//! Projection: the attributes to read of each ad. Attributes that the values refer to are added while ads are read.

use std::ops::Range;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::FreeNames;
use crate::syntax::{CachedParse, ParseCache, ParseOptions};

use super::scan::LineFilter;

/// Maximum number of names in a projection. With more, reading ads completely is as fast.
pub(super) const MAX_PROJECTED_NAMES: usize = 512;

/// Number of bytes scanned for candidate lines at once. A piece stays in the processor's cache until its lines are
/// examined, and little work is lost if names are added and the piece must be scanned again.
const SCAN_PIECE_BYTES: usize = 1 << 15;

/// The attributes to read of each ad. Names that the values refer to are added while ads are read, and every addition
/// increases the version of the projection.
pub struct Projection {
    pub(super) dialect: Dialect,
    /// The requested names, and those that values refer to so far.
    pub(super) names: IndexSet<Name>,
    /// Indexes into `names`, by the length of the name in bytes.
    pub(super) by_length: Vec<Vec<usize>>,
    /// The usual beginning of the line of each name: the name, a space, and `=`.
    pub(super) line_prefixes: Vec<Box<[u8]>>,
    /// The version in which each name was added.
    added_in_version: Vec<usize>,
    /// Whether any ad read so far has the attribute.
    pub(super) has_occurred: Vec<bool>,
    pub(super) filter: LineFilter,
    /// Number of bytes to scan at once.
    pub(super) piece_bytes: usize,
    /// Cache of parsed values. The note of a value is the version in which the last of the names that the value refers
    /// to was added.
    pub(super) parse_cache: ParseCache<usize>,
    pub(super) prefilter: Option<LiteralPrefilter>,
    pub(super) interner: Option<AdInterner>,
    /// Version of the projection: the number of times a name was added.
    pub(super) version: usize,
    /// Highest version in which a name was added that a value read since `begin_input` refers to.
    pub(super) newest_referenced: usize,
    /// Whether an expression was found that may read any attribute.
    pub(super) reads_everything: bool,
}

/// Deduplicates ads by the text of their projected attributes.
#[derive(Default)]
pub(super) struct AdInterner {
    /// The shared ads by their key, each with the version in which the last of the names that the ad refers to was
    /// added.
    ads: FxHashMap<Box<[u8]>, (Ad, usize)>,
    /// Indexes of the names that identify an ad in output.
    pub(super) labels: Vec<usize>,
    /// By index of a name, whether the name is a label that nothing else requests. Such attributes are left out of the
    /// shared ads.
    pub(super) only_labels: Vec<bool>,
    /// Key of the last lookup: indexes of the names and texts of the values, concatenated.
    key: Vec<u8>,
    /// Result of the last lookup.
    last_found: Option<(Ad, usize)>,
    sharing: AdSharing,
    /// Number of lookups since `begin`.
    lookups: usize,
    /// Number of lookups since `begin` that succeeded.
    hits: usize,
}

/// Whether ads whose projected attributes are textually equal share one `Ad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdSharing {
    /// Every ad is looked up among the shared ads.
    #[default]
    Always,
    /// Ads are looked up among the shared ads only while enough lookups find an equal ad to repay their cost.
    WhileProfitable,
}

/// The index of a name, and the byte range of its value in the text.
pub(super) type ProjectedValueRange = (usize, Range<usize>);

/// Number of distinct ads to reserve memory for. A quarter of this number is the number of lookups after which
/// [`AdSharing::WhileProfitable`] decides.
const EXPECTED_DISTINCT_ADS: usize = 2048;

/// With [`AdSharing::WhileProfitable`], lookups end if fewer than one in this many succeeds.
const MAX_LOOKUPS_PER_HIT: usize = 16;

impl AdInterner {
    /// Resets the statistics of lookups for another input.
    fn begin(&mut self, sharing: AdSharing) {
        (self.sharing, self.lookups, self.hits) = (sharing, 0, 0);
    }

    /// Whether lookups have ended because too few succeeded.
    fn has_given_up(&self) -> bool {
        self.sharing == AdSharing::WhileProfitable
            && self.lookups >= EXPECTED_DISTINCT_ADS / 4
            && self.hits * MAX_LOOKUPS_PER_HIT < self.lookups
    }

    /// Returns the shared ad with the same text as `values`, and the version of the ad; `None` if there is no such ad
    /// yet or lookups have ended.
    ///
    /// `values` are the values of the current ad in the order of its lines. `before` are the values of the last lookup;
    /// `before` must be empty if that lookup was in another text or the projection has grown since.
    pub(super) fn lookup(
        &mut self,
        text: &[u8],
        values: &[ProjectedValueRange],
        before: &mut Vec<ProjectedValueRange>,
    ) -> Option<(Ad, usize)> {
        if self.has_given_up() {
            return None;
        }
        self.lookups += 1;
        let is_alike =
            |((position, value), (position_before, value_before)): (&ProjectedValueRange, &ProjectedValueRange)| {
                position == position_before
                    && (text[value.clone()] == text[value_before.clone()] || self.is_only_label(*position))
            };
        // Fast path: equal ads often follow one another.
        if !before.is_empty() && values.len() == before.len() && values.iter().zip(before.iter()).all(is_alike) {
            self.hits += 1;
            return self.last_found.clone();
        }
        before.clear();
        before.extend_from_slice(values);
        self.key.clear();
        // The key does not depend on the order of the lines.
        let mut values = values.to_vec();
        values.sort_unstable_by_key(|(position, _)| *position);
        for (position, value) in &values {
            if !self.is_only_label(*position) {
                self.key.extend(u16::try_from(*position).unwrap_or(u16::MAX).to_le_bytes());
                self.key.extend(&text[value.clone()]);
                self.key.push(b'\n');
            }
        }
        self.last_found = self.ads.get(self.key.as_slice()).cloned();
        self.hits += usize::from(self.last_found.is_some());
        self.last_found.clone()
    }

    /// Returns the ad that the last lookup found. If it found none, makes an ad and stores it under the key of that
    /// lookup.
    pub(super) fn found_or_insert_with(&mut self, newest: usize, make: impl FnOnce() -> Ad) -> Ad {
        if self.has_given_up() {
            return make();
        }
        let AdInterner { ads, key, last_found: found, .. } = self;
        let (ad, _) = found.get_or_insert_with(|| {
            let new = (make(), newest);
            ads.reserve(EXPECTED_DISTINCT_ADS.saturating_sub(ads.len()));
            ads.insert(key.as_slice().into(), new.clone());
            new
        });
        ad.clone()
    }

    pub(super) fn is_only_label(&self, position: usize) -> bool {
        self.only_labels.get(position) == Some(&true)
    }
}

/// A predicate on the values of some attributes.
pub(super) type PrefilterTest = Box<dyn Fn(&[Value]) -> bool>;

/// A prefilter: a cheap predicate on plain literals that rejects most ads before anything else is parsed.
pub(super) struct LiteralPrefilter {
    /// Indexes of the names whose values `passes` is given.
    pub(super) names: Vec<usize>,
    pub(super) passes: PrefilterTest,
}

impl Projection {
    /// Creates a projection on these names.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = Name>, dialect: Dialect) -> Self {
        let mut projection = Projection {
            dialect,
            names: IndexSet::new(),
            by_length: Vec::new(),
            line_prefixes: Vec::new(),
            added_in_version: Vec::new(),
            has_occurred: Vec::new(),
            filter: LineFilter::new(),
            piece_bytes: SCAN_PIECE_BYTES,
            parse_cache: ParseCache::new(ParseOptions::long(dialect)),
            prefilter: None,
            interner: None,
            version: 0,
            newest_referenced: 0,
            reads_everything: false,
        };
        if dialect == Dialect::Classad {
            // These names are reserved: an ad that binds one must be reported.
            for name in ["self", "parent", "root"] {
                projection.add(Name::new(name));
            }
        }
        for name in names {
            projection.add(name);
        }
        projection
    }

    /// Sets the number of bytes that are scanned at once, which does not affect the results.
    #[must_use]
    pub fn with_piece_bytes(mut self, bytes: usize) -> Self {
        self.piece_bytes = bytes;
        self
    }

    /// Adds a prefilter: ads for which `passes` returns false are left out.
    ///
    /// `passes` is given the values of `names`, undefined for attributes that an ad does not have. An ad with a value
    /// that is not a plain literal is not tested and stays.
    #[must_use]
    pub fn with_prefilter(mut self, names: &[Name], passes: impl Fn(&[Value]) -> bool + 'static) -> Self {
        for name in names {
            self.add(name.clone());
        }
        let names = names.iter().filter_map(|name| self.names.get_index_of(name)).collect();
        self.prefilter = Some(LiteralPrefilter { names, passes: Box::new(passes) });
        self
    }

    /// Makes ads share one `Ad` if their projected attributes are textually equal.
    ///
    /// The attributes `labels`, which identify an ad, are left out of the shared ads unless they are requested anyway;
    /// [`super::ProjectingReader::label_value`] returns them.
    #[must_use]
    pub fn with_shared_ads(mut self, labels: impl IntoIterator<Item = Name>) -> Self {
        let mut interner = AdInterner::default();
        for name in labels {
            let is_requested = self.names.contains(&name);
            self.add(name.clone());
            let position = self.names.get_index_of(&name).unwrap_or_default();
            interner.labels.push(position);
            interner.only_labels.resize(self.names.len(), false);
            interner.only_labels[position] |= !is_requested;
        }
        self.interner = Some(interner);
        self
    }

    /// Begins another input and returns the current version. From here on [`Projection::newest_referenced`] considers
    /// only values of this input.
    pub fn begin_input(&mut self, sharing: AdSharing) -> usize {
        self.newest_referenced = 0;
        if let Some(interner) = &mut self.interner {
            interner.begin(sharing);
        }
        self.version
    }

    /// Returns the highest version in which a name was added that a value read since [`Projection::begin_input`] refers
    /// to.
    ///
    /// Ads that were read in an earlier version may lack the attribute of that name.
    #[must_use]
    pub fn newest_referenced(&self) -> usize {
        self.newest_referenced
    }

    /// Whether ads should be read completely: an expression may read any attribute, or the projection has grown so
    /// large that reading ads completely is as fast.
    #[must_use]
    pub fn reads_everything(&self) -> bool {
        self.reads_everything || self.names.len() > MAX_PROJECTED_NAMES
    }

    /// Returns the names of the projection in the order in which they were requested or found.
    pub fn names(&self) -> impl Iterator<Item = &Name> + Clone {
        self.names.iter()
    }

    /// Adds names, so that ads read from now on have these attributes.
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

    /// Adds a name and returns the version in which it was added. A name that was only a label until now counts as
    /// added now.
    pub(super) fn add(&mut self, name: Name) -> usize {
        let length = name.as_str().len();
        self.by_length.resize_with(self.by_length.len().max(length + 1), Vec::new);
        let (position, is_new) = self.names.insert_full(name);
        if is_new {
            self.by_length[length].push(position);
            let name = self.names[position].as_str();
            self.filter.add(name);
            self.line_prefixes.push([name.as_bytes(), b" ="].concat().into());
            self.added_in_version.push(0);
            self.has_occurred.push(false);
        }
        let label = self.interner.as_mut().and_then(|interner| interner.only_labels.get_mut(position));
        if is_new || label.is_some_and(std::mem::take) {
            self.version += 1;
            self.added_in_version[position] = self.version;
        }
        self.added_in_version[position]
    }

    /// Adds the names that an expression refers to, and returns the version in which the last of them was added. `None`
    /// if the expression may read any attribute.
    pub(super) fn add_references(&mut self, expression: &Expression) -> Option<usize> {
        let references = FreeNames::of(expression, self.dialect);
        let newest = references.names.into_iter().map(|name| self.add(name)).max().unwrap_or(0);
        self.reads_everything |= references.reads_anything;
        (!references.reads_anything).then_some(newest)
    }

    /// Parses a value and adds the names that it refers to.
    ///
    /// Returns the expression, and the version in which the last of these names was added; this version is `None` if
    /// the expression may read any attribute. Returns `None` if the value is not exactly one expression.
    pub(super) fn parse_value(&mut self, value: &[u8]) -> Option<(Expression, Option<usize>)> {
        match self.parse_cache.parse(value) {
            CachedParse::Cached(expression, newest) => Some((expression, Some(newest))),
            CachedParse::Parsed(expression) => {
                let newest = self.add_references(&expression);
                match newest {
                    Some(newest) => self.parse_cache.set_note(value, newest),
                    // The value is not cached, so that it is parsed again for the next ad and the version is `None`
                    // again.
                    None => self.parse_cache.remove(value),
                }
                Some((expression, newest))
            }
            CachedParse::Invalid => None,
        }
    }

    /// Adds the names that the projected attributes of an ad refer to.
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

    /// Returns the index of a name, compared without regard to case; `None` if the projection does not contain it.
    pub(super) fn index_of(&self, name: &[u8]) -> Option<usize> {
        let candidates = self.by_length.get(name.len())?;
        let last = name.last()?;
        candidates.iter().copied().find(|at| {
            let known = self.names[*at].as_str().as_bytes();
            // Usually the case is equal, so the faster comparison comes first.
            known.last().is_some_and(|end| end.eq_ignore_ascii_case(last))
                && (known == name || known.eq_ignore_ascii_case(name))
        })
    }
}
