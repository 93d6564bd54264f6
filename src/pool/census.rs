//! A census of a pool: statistics of the attributes of its ads and of their values.

use std::hash::BuildHasherDefault;

use indexmap::IndexMap;
use rustc_hash::FxHasher;

use crate::ad::{Ad, Name};
use crate::protocol::closest_attributes;

use super::census_counter::{CensusCounter, CensusPart, CensusScope, PartAttribute};
use super::summary::AttributeSummary;
use super::value_sample::{SampleLimit, ValueSample};

/// Maximum number of distinct values that are recorded for each attribute.
const DEFAULT_MAX_VALUES: usize = 10_000;

/// Maximum number of bytes that the recorded values of all attributes may take.
const MAX_VALUE_BYTES: usize = 40 << 20;

/// The attributes of all ads added, each with its [`AttributeSummary`], in the order of first appearance.
///
/// The memory for values is bounded. At the limit, the values with the smallest hashes are recorded, and
/// [`super::DistinctCount::more`] is set. Which values are recorded does not depend on the order of the ads. The memory
/// for names is not bounded.
#[derive(Clone, Debug)]
pub struct Census {
    ads: usize,
    attributes: IndexMap<Name, AttributeSummary, BuildHasherDefault<FxHasher>>,
    limit: SampleLimit,
    max_value_bytes: usize,
    /// Number of bytes that the recorded values may take.
    value_bytes: usize,
    /// Counts the ads that are added one by one.
    counter: CensusCounter,
}

impl Census {
    /// Creates a census that counts the ads with each attribute, but records no values.
    #[must_use]
    pub fn names() -> Self {
        Census::values_of([])
    }

    /// Creates a census that counts the ads with each attribute, and records the values of all attributes.
    #[must_use]
    pub fn values() -> Self {
        Census::of_scope(CensusScope::of_all_values())
    }

    /// Creates a census that counts the ads with each attribute, and records the values of the attributes in `names`.
    #[must_use]
    pub fn values_of(names: impl IntoIterator<Item = Name>) -> Self {
        Census::of_scope(CensusScope::of_values(names))
    }

    fn of_scope(scope: CensusScope) -> Self {
        Census {
            ads: 0,
            attributes: IndexMap::default(),
            limit: SampleLimit::of_values(DEFAULT_MAX_VALUES),
            max_value_bytes: MAX_VALUE_BYTES,
            value_bytes: 0,
            counter: CensusCounter::new(scope),
        }
    }

    /// Also counts the attributes of nested ads, under names such as `Outer.Inner`, quoted where necessary. Ads in
    /// lists, ads nested more than eight levels deep, and ads with paths of more than 256 bytes are not counted.
    #[must_use]
    pub fn nested(mut self) -> Self {
        self.counter.scope.has_nested = true;
        self
    }

    /// Sets the maximum number of distinct values recorded per attribute.
    #[must_use]
    pub fn with_max_values(mut self, most: usize) -> Self {
        self.limit = SampleLimit::of_values(most);
        self
    }

    /// Sets the maximum number of bytes that the recorded values may take.
    #[must_use]
    pub fn with_max_value_bytes(mut self, most: usize) -> Self {
        self.max_value_bytes = most;
        self
    }

    /// Makes the census record all values, for [`Census::take_part`].
    #[must_use]
    pub fn of_all_values(self) -> Self {
        self.with_max_values(usize::MAX).with_max_value_bytes(usize::MAX)
    }

    /// Number of bytes that the recorded values take.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Returns what was counted since the last call, and begins anew. The parts of adjacent ads are merged in their
    /// order.
    pub fn take_part(&mut self) -> CensusPart {
        let attributes = std::mem::take(&mut self.attributes);
        let attributes = attributes.iter().map(|(name, summary)| PartAttribute::of_summary(name, summary)).collect();
        self.value_bytes = 0;
        CensusPart { ads: std::mem::take(&mut self.ads), attributes }
    }

    /// Creates a counter of ads for [`Census::merge`]. Several threads may each have one.
    #[must_use]
    pub fn counter(&self) -> CensusCounter {
        CensusCounter::new(self.counter.scope.clone())
    }

    /// Counts an ad and adds its attributes to their summaries.
    pub fn add(&mut self, ad: &Ad) {
        self.counter.add(ad);
        let part = self.counter.take();
        self.merge(part);
    }

    /// Adds what a counter of this census has counted. The parts have to be merged in the order of their ads.
    pub fn merge(&mut self, part: CensusPart) {
        self.ads += part.ads;
        for attribute in part.attributes {
            // A name is cloned only when it is counted for the first time.
            if !self.attributes.contains_key(&attribute.name) {
                let limit = self.counter.scope.has_values_of(&attribute.name).then_some(self.limit);
                self.attributes.insert(attribute.name.clone(), AttributeSummary::new(limit));
            }
            let Some(summary) = self.attributes.get_mut(&attribute.name) else { continue };
            summary.add(attribute.ads, attribute.measures);
            let Some(sample) = summary.sample_mut() else { continue };
            let before = sample.cost();
            let mut start = 0;
            for value in attribute.values {
                // A damaged partial result may claim any text.
                let text = attribute.texts.get(start..value.end).unwrap_or_default();
                sample.add(value.hash, text, value.ads);
                start = value.end;
            }
            self.value_bytes = self.value_bytes - before + sample.cost();
        }
        while self.value_bytes > self.max_value_bytes && !self.limit.is_empty() {
            self.limit = self.limit.halved();
            self.attributes.values_mut().filter_map(AttributeSummary::sample_mut).for_each(|sample| {
                sample.set_limit(self.limit);
            });
            let samples = self.attributes.values().filter_map(AttributeSummary::sample);
            self.value_bytes = samples.map(ValueSample::cost).sum();
        }
    }

    /// Number of ads added.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }

    /// Returns the summary of an attribute; `None` if no ad has it.
    #[must_use]
    pub fn attribute(&self, name: &Name) -> Option<&AttributeSummary> {
        self.attributes.get(name)
    }

    /// Iterates over all attributes, each in its first spelling, in the order of first appearance.
    #[must_use]
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = (&Name, &AttributeSummary)> {
        self.attributes.iter()
    }

    /// Returns the names of at most three attributes that may be meant by `name`, best first.
    #[must_use]
    pub fn closest_names(&self, name: &str) -> Vec<&str> {
        closest_attributes(name, self.attributes.keys().map(Name::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::Census;
    use crate::ad::{Dialect, Name};
    use crate::syntax::{ParseOptions, parse_ad};

    fn taken(mut census: Census, ads: &[&str]) -> Census {
        for text in ads {
            census.add(&parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap());
        }
        census
    }

    /// The attributes, each with the number of ads that have it.
    fn counts(census: &Census) -> Vec<(&str, usize)> {
        census.attributes().map(|(name, summary)| (name.as_str(), summary.ads())).collect()
    }

    #[test]
    fn names_in_any_case_as_first_spelt() {
        let census = taken(Census::names(), &["[ Memory = 1; b = 2 ]", "[ MEMORY = 2 ]", "[ ]", "[ c = 1; B = 1 ]"]);
        assert_eq!(census.ads(), 4);
        assert_eq!(counts(&census), [("Memory", 2), ("b", 2), ("c", 1)]);
        assert_eq!(census.attribute(&Name::new("memory")).map(super::AttributeSummary::ads), Some(2));
        assert!(census.attribute(&Name::new("Memroy")).is_none());
        assert_eq!(census.closest_names("Memroy"), ["Memory"]);
    }

    #[test]
    fn values_are_looked_at_as_far_as_asked() {
        let ads = ["[ a = 1; b = 1 ]", "[ a = 2; b = 2 ]"];
        let distinct = |census: &Census| -> Vec<usize> {
            census.attributes().map(|(_, summary)| summary.distinct().values).collect()
        };
        assert_eq!(distinct(&taken(Census::names(), &ads)), [0, 0]);
        assert_eq!(distinct(&taken(Census::values_of([Name::new("B")]), &ads)), [0, 2]);
        assert_eq!(distinct(&taken(Census::values(), &ads)), [2, 2]);
    }

    #[test]
    fn nested_ads_by_their_path() {
        let ads = ["[ a = [ b = 1; 'c d' = ([ e = 2 ]) ]; l = { [ x = 1 ] }; 'a.b' = 3 ]", "[ A = [ B = 2 ] ]"];
        assert_eq!(counts(&taken(Census::names(), &ads)), [("a", 2), ("l", 1), ("a.b", 1)]);
        let nested = [("a", 2), ("l", 1), ("'a.b'", 1), ("a.b", 2), ("a.'c d'", 1), ("a.'c d'.e", 1)];
        assert_eq!(counts(&taken(Census::names().nested(), &ads)), nested);
    }

    #[test]
    fn a_deep_nest_is_looked_into_only_so_far() {
        let deep = format!("{}1{}", "[ a = ".repeat(1000), " ]".repeat(1000));
        let census = taken(Census::values().nested(), &[&deep]);
        assert_eq!(census.attributes().len(), crate::pool::census_counter::MAX_NESTED_LEVELS + 1);
        let wide = format!("[ {} = [ a = 1; b = 2 ] ]", "x".repeat(1000));
        assert_eq!(taken(Census::values().nested(), &[&wide]).attributes().len(), 1);
    }

    #[test]
    fn few_values_are_remembered_and_the_rest_is_not_denied() {
        let ads: Vec<String> = [1, 2, 1, 3, 4, 1].map(|value| format!("[ a = {value} ]")).into();
        let ads: Vec<&str> = ads.iter().map(String::as_str).collect();
        let census = taken(Census::values().with_max_values(2), &ads);
        let summary = census.attribute(&Name::new("a")).unwrap();
        assert_eq!(summary.distinct().to_string(), "2+");
        assert_eq!(summary.ads(), 6);
    }

    #[test]
    fn long_values_give_way_first_when_memory_runs_out() {
        let ads: Vec<String> =
            (0..200).map(|value| format!("[ a = {value}; b = \"{}{value}\" ]", "x".repeat(3000))).collect();
        let ads: Vec<&str> = ads.iter().map(String::as_str).collect();
        let census = taken(Census::values().with_max_value_bytes(100_000), &ads);
        let distinct = |name| census.attribute(&Name::new(name)).unwrap().distinct();
        assert_eq!(distinct("a").to_string(), "200");
        assert!(distinct("b").more && distinct("b").values > 5, "{}", distinct("b"));
        assert!(census.value_bytes <= 100_000);
    }

    #[test]
    fn a_long_text_is_cut_but_told_apart() {
        let ads = ["é1", "é2", "é1"].map(|end| format!("[ a = \"{}{end}\" ]", "é".repeat(5000)));
        let census = taken(Census::values(), &ads.each_ref().map(String::as_str));
        let summary = census.attribute(&Name::new("a")).unwrap();
        let values: Vec<(&str, usize)> = summary.most_frequent(9).collect();
        assert_eq!(values.iter().map(|(_, ads)| *ads).collect::<Vec<_>>(), [2, 1]);
        assert!(values.iter().all(|(text, _)| text.len() < 4100 && text.ends_with("é…")));
        assert_eq!(summary.lengths(), Some((10_003, 10_003)));
    }

    #[test]
    fn nested_ads_with_paths_of_256_bytes_are_looked_into() {
        for (length, expected) in [(255, 3), (256, 3), (257, 1)] {
            let ad = format!("[ {} = [ a = 1; b = 2 ] ]", "x".repeat(length));
            let census = taken(Census::values().nested(), &[&ad]);
            assert_eq!(census.attributes().len(), expected, "{length}");
        }
    }

    #[test]
    fn texts_of_more_than_4096_bytes_are_cut() {
        // The quotes count.
        for (length, expected) in [(4093, 4095), (4094, 4096), (4095, 4099), (5000, 4099)] {
            let ad = format!("[ a = \"{}\" ]", "x".repeat(length));
            let census = taken(Census::values(), &[&ad, &ad]);
            let summary = census.attribute(&Name::new("a")).unwrap();
            let values: Vec<(usize, usize)> = summary.most_frequent(9).map(|(text, ads)| (text.len(), ads)).collect();
            assert_eq!(values, [(expected, 2)], "{length}");
            assert_eq!(summary.lengths(), Some((length, length)));
        }
    }
}
