//! A census of a pool: statistics of the attributes of its ads and of their values.

use std::collections::VecDeque;
use std::hash::BuildHasherDefault;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHasher;

use crate::ad::{Ad, Expression, ExpressionKind, Name};
use crate::syntax::print_name;
use crate::text::closest_names;

use super::summary::{AttributeSummary, CensusBudget};

type CensusHasher = BuildHasherDefault<FxHasher>;

/// Maximum depth of nested ads whose attributes are counted.
const MAX_NESTED_LEVELS: usize = 8;

/// Maximum length in bytes of the path of a nested ad whose attributes are counted. The name of each attribute repeats
/// the path, so that longer paths would take too much memory.
const MAX_PATH_BYTES: usize = 256;

/// The attributes of all ads added, each with its [`AttributeSummary`], in the order of first appearance.
///
/// The memory for values is bounded. At the limit, values recorded before are still counted. New distinct values are
/// not recorded, and [`super::DistinctCount::more`] is set. The memory for names is not bounded.
#[derive(Clone, Debug)]
pub struct Census {
    ads: usize,
    attributes: IndexMap<Name, AttributeSummary, CensusHasher>,
    /// The attributes whose values are recorded; `None` if the values of all attributes are recorded.
    scope: Option<IndexSet<Name, CensusHasher>>,
    nested: bool,
    budget: CensusBudget,
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
        Census { scope: None, ..Census::names() }
    }

    /// Creates a census that counts the ads with each attribute, and records the values of the attributes in `names`.
    #[must_use]
    pub fn values_of(names: impl IntoIterator<Item = Name>) -> Self {
        let scope = Some(names.into_iter().collect());
        Census { ads: 0, attributes: IndexMap::default(), scope, nested: false, budget: CensusBudget::default() }
    }

    /// Also counts the attributes of nested ads, under names such as `Outer.Inner`, quoted where necessary. Ads in
    /// lists, ads nested more than eight levels deep, and ads with paths of more than 256 bytes are not counted.
    #[must_use]
    pub fn nested(self) -> Self {
        Census { nested: true, ..self }
    }

    /// Sets the maximum number of distinct values recorded per attribute.
    #[must_use]
    pub fn with_max_values(mut self, most: usize) -> Self {
        self.budget.values = most;
        self
    }

    /// Counts an ad and adds its attributes to their summaries.
    pub fn add(&mut self, ad: &Ad) {
        self.ads += 1;
        if self.nested {
            return self.add_nested(ad);
        }
        for attribute in ad.iter() {
            self.count(attribute.name, attribute.expression);
        }
    }

    fn add_nested(&mut self, ad: &Ad) {
        let mut pending = VecDeque::from([(String::new(), ad, 0)]);
        while let Some((path, ad, depth)) = pending.pop_front() {
            for attribute in ad.iter() {
                let path = format!("{path}{}", print_name(attribute.name));
                self.count(&Name::new(&path), attribute.expression);
                if depth < MAX_NESTED_LEVELS
                    && path.len() <= MAX_PATH_BYTES
                    && let ExpressionKind::Ad(inner) = attribute.expression.without_parentheses().kind()
                {
                    pending.push_back((path + ".", inner, depth + 1));
                }
            }
        }
    }

    fn count(&mut self, name: &Name, expression: &Expression) {
        // A name is cloned only when it is counted for the first time.
        if !self.attributes.contains_key(name) {
            let with_values = self.scope.as_ref().is_none_or(|names| names.contains(name));
            self.attributes.insert(name.clone(), AttributeSummary::new(with_values));
        }
        if let Some(summary) = self.attributes.get_mut(name) {
            summary.add(expression, &mut self.budget);
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

    /// Returns the names of at most three attributes that are closest to `name` by edit distance, best first.
    #[must_use]
    pub fn closest_names(&self, name: &str) -> Vec<&str> {
        closest_names(name, self.attributes.keys().map(Name::as_str))
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
        assert_eq!(census.attributes().len(), super::MAX_NESTED_LEVELS + 1);
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
        assert_eq!(summary.most_frequent(9).collect::<Vec<_>>(), [("1", 3), ("2", 1)]);
        assert_eq!(summary.ads(), 6);
    }
}
