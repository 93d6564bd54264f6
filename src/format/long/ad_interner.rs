//! The table of shared ads: ads whose projected attributes have the same text become one.
//!
//! Bench row `match`, from files: 1.17 times as many instructions without sharing. The table is no cache: the ads in it
//! are those of the command.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ad::Ad;

/// Table of shared ads. Ads whose projected attributes have the same text become one `Ad`.
#[derive(Default)]
pub(super) struct AdInterner {
    /// The shared ads, each by its [`AdInterner::key`]. The number is the first version of the projection that contains
    /// all names to which the ad refers.
    ads: FxHashMap<Box<[u8]>, (Ad, usize)>,
    /// Indexes of the names of the label attributes, which identify an ad in output, and of those that are kept.
    pub(super) labels: Vec<usize>,
    /// Number of `labels` that are only kept. They come last.
    pub(super) kept: usize,
    /// For each name of the projection, whether the name is only a label and nothing else requests it. Shared ads do
    /// not have attributes of such names.
    pub(super) only_labels: Vec<bool>,
    /// Key of the last lookup: for each attribute, the index of its name and the text of its value.
    key: Vec<u8>,
    /// Result of the last lookup. `None` if no shared ad was found.
    last_found: Option<(Ad, usize)>,
    sharing: AdSharing,
    /// Number of lookups since `begin`.
    lookups: usize,
    /// Number of lookups since `begin` that succeeded.
    hits: usize,
}

/// Whether lookups among the shared ads may end early. Ads whose projected attributes have the same text share one
/// `Ad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdSharing {
    /// Every ad is looked up in the table of shared ads.
    #[default]
    Always,
    /// Ads are looked up in the table of shared ads until lookups cost more than they save, because too few of them
    /// find an ad.
    WhileProfitable,
}

/// Index of a name of the projection, and byte range of its value in the text.
pub(super) type ProjectedValueRange = (usize, Range<usize>);

/// Number of distinct ads for which memory is reserved. After a quarter of this number of lookups,
/// [`AdSharing::WhileProfitable`] begins to compare costs and savings.
const EXPECTED_DISTINCT_ADS: usize = 2048;

/// Maximum number of lookups per successful lookup, on average. If there are more lookups,
/// [`AdSharing::WhileProfitable`] ends them.
const MAX_LOOKUPS_PER_HIT: usize = 16;

impl AdInterner {
    /// Sets the counters of lookups to 0 for another input.
    pub(super) fn begin(&mut self, sharing: AdSharing) {
        (self.sharing, self.lookups, self.hits) = (sharing, 0, 0);
    }

    /// Whether lookups have ended because too few of them found an ad.
    fn has_given_up(&self) -> bool {
        self.sharing == AdSharing::WhileProfitable
            && self.lookups >= EXPECTED_DISTINCT_ADS / 4
            && self.hits * MAX_LOOKUPS_PER_HIT < self.lookups
    }

    /// Returns the shared ad with the same values, and the first version of the projection that contains all names to
    /// which the ad refers. `None` if there is no such ad yet, or if lookups have ended. Attributes that are only
    /// labels are not compared.
    ///
    /// `values` are the values of the current ad in the order of its lines. `before` has the values of the previous
    /// lookup, and the call updates `before`. The caller must empty `before` if the previous lookup was in another
    /// text, or if the projection has grown since.
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
        // Equal ads often follow one another, so this comparison saves computing the key.
        if !before.is_empty() && values.len() == before.len() && values.iter().zip(before.iter()).all(is_alike) {
            self.hits += 1;
            return self.last_found.clone();
        }
        before.clear();
        before.extend_from_slice(values);
        self.key.clear();
        // The values are sorted, so that the key does not depend on the order of the lines.
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

    /// Returns the shared ad that the last lookup found. If the lookup found none, calls `make` and stores the result
    /// as a shared ad.
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
