//! Statistics of the attributes of a pool, with which references are compared.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{Ad, Attribute, ByteString, Expression, ExpressionKind, Name, Type, Value};
use crate::pool::BindingKind;
use crate::protocol::{TOTAL_SLOT_PREFIX, port_list, read_ports};

use super::pool_range::{NumberRange, constant_number};
use super::pool_strings::PoolStrings;
use super::slip::PoolColumns;

/// The attributes that the ads of a pool have, with the types and strings of their values.
#[derive(Default)]
pub struct PoolStatistics {
    ads: usize,
    pub(super) attributes: IndexMap<Name, AttributeStatistics, FxBuildHasher>,
}

/// Statistics of one attribute of a pool.
#[derive(Default)]
pub(super) struct AttributeStatistics {
    pub(super) ads: usize,
    pub(super) contents: Vec<(BindingKind, usize)>,
    pub(super) strings: PoolStrings,
    /// The range of the numbers. `None` if there is none.
    pub(super) numbers: Option<NumberRange>,
}

impl PoolStatistics {
    /// Adds the attributes of an ad of the pool to the statistics.
    pub fn add(&mut self, ad: &Ad) {
        self.ads += 1;
        for attribute in ad.iter() {
            self.add_attribute(attribute);
        }
        let is_partitionable = ad.get_str("PartitionableSlot").and_then(Expression::as_literal);
        if is_partitionable == Some(&Value::Boolean(true)) {
            self.add_totals(ad);
        }
        // The ad at the other side of a port sees the attributes of the port, too.
        let Some(Ok(ports)) = port_list(ad).map(|_| read_ports(ad)) else { return };
        let mut seen: FxHashSet<&Name> = FxHashSet::default();
        for attribute in ports.list.iter().filter_map(|port| port.record.as_ref()).flat_map(Ad::iter) {
            let known = self.add_attribute(attribute);
            // The ad counts once for a name, however many of its ports have the attribute.
            if ad.get(attribute.name).is_some() || !seen.insert(attribute.name) {
                known.ads -= 1;
            }
        }
    }

    /// Extends the ranges of the resources of a partitionable slot to all that may be left of them: from nothing to the
    /// total. What its dynamic slots leave now says nothing about its size.
    fn add_totals(&mut self, slot: &Ad) {
        for Attribute { name, expression } in slot.iter() {
            let Some((prefix, resource)) = name.as_str().split_at_checked(TOTAL_SLOT_PREFIX.len()) else { continue };
            if prefix.eq_ignore_ascii_case(TOTAL_SLOT_PREFIX)
                && let Some(total) = constant_number(expression)
                && let Some(range) =
                    self.attributes.get_mut(&Name::new(resource)).and_then(|known| known.numbers.as_mut())
            {
                range.include_parts_of(total);
            }
        }
    }

    fn add_attribute(&mut self, attribute: Attribute<'_>) -> &mut AttributeStatistics {
        if !self.attributes.contains_key(attribute.name) {
            self.attributes.insert(attribute.name.clone(), AttributeStatistics::default());
        }
        let known = &mut self.attributes[attribute.name];
        known.add(attribute.expression.without_parentheses());
        known
    }

    /// What the ads are called in messages: `job` or `slot`, or `pool ad` if not all are of one type.
    pub(super) fn noun(&self) -> &'static str {
        let all_are = |of: &str| self.ads_with_string(&Name::new("MyType"), &ByteString::from(of)) == self.ads;
        match () {
            () if all_are("Job") => "job",
            () if all_are("Machine") => "slot",
            () => "pool ad",
        }
    }

    /// Whether no ad of the pool has an attribute. An empty pool says nothing.
    pub(super) fn lacks(&self, name: &Name) -> bool {
        self.ads > 0 && !self.attributes.contains_key(name)
    }

    /// Number of ads added.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }
}

impl PoolColumns for PoolStatistics {
    fn ads_with(&self, name: &Name) -> usize {
        self.attributes.get(name).map_or(0, |known| known.ads)
    }

    fn ads_with_string(&self, name: &Name, text: &ByteString) -> usize {
        self.attributes.get(name).map_or(0, |known| known.strings.ads_with(text))
    }

    fn other_spelling(&self, name: &Name, text: &ByteString) -> Option<ByteString> {
        self.attributes.get(name)?.strings.other_spelling(text).cloned()
    }
}

impl AttributeStatistics {
    fn add(&mut self, expression: &Expression) {
        self.ads += 1;
        let content = BindingKind::of(expression);
        match self.contents.iter_mut().find(|(known, _)| *known == content) {
            Some((_, ads)) => *ads += 1,
            None => self.contents.push((content, 1)),
        }
        if let Some(number) = constant_number(expression) {
            self.numbers.get_or_insert(NumberRange::of(number)).include(number);
        }
        if let ExpressionKind::Literal(Value::String(text)) = expression.kind() {
            self.strings.add(text);
        }
    }

    /// Returns the range of the values, if all of them are literal numbers.
    pub(super) fn range(&self) -> Option<NumberRange> {
        let is_number =
            |(content, _): &(BindingKind, usize)| matches!(content, BindingKind::Value(Type::Integer | Type::Real));
        self.numbers.filter(|_| self.contents.iter().all(is_number))
    }

    /// Returns the strings of the attribute, if all its values are literal strings.
    pub(super) fn only_strings(&self) -> Option<&PoolStrings> {
        let is_string = |(content, _): &(BindingKind, usize)| *content == BindingKind::Value(Type::String);
        self.contents.iter().all(is_string).then_some(&self.strings)
    }
}

#[cfg(test)]
mod tests {
    use super::PoolStatistics;
    use crate::ad::{Dialect, Name};
    use crate::lint::PoolColumns;
    use crate::lint::tests::ad;

    #[test]
    fn an_attribute_counts_once_for_an_ad_and_its_ports() {
        let mut pool = PoolStatistics::default();
        for text in [
            "[ a = 1; Ports = { [ Label = \"x\"; a = 2; b = 1 ], [ Label = \"y\"; b = 2; c = 1 ] } ]",
            "[ b = 1; A = \"s\" ]",
            "[ Ports = 5; c = 1 ]",
        ] {
            pool.add(&ad(text, Dialect::Condor));
        }
        for (name, ads) in [("a", 2), ("b", 2), ("c", 2), ("Label", 1), ("Ports", 2), ("d", 0)] {
            assert_eq!(pool.ads_with(&Name::new(name)), ads, "{name}");
            assert_eq!(pool.lacks(&Name::new(name)), ads == 0, "{name}");
        }
        assert_eq!((pool.ads(), pool.ads_with_string(&Name::new("a"), &"S".into())), (3, 1));
        assert!(!PoolStatistics::default().lacks(&Name::new("a")));
    }

    #[test]
    fn ads_of_one_type_are_called_by_it() {
        for (types, expected) in [
            (&["Job", "Job"][..], "job"),
            (&["Machine"], "slot"),
            (&["Machine", "Job"], "pool ad"),
            (&["Scheduler"], "pool ad"),
        ] {
            let mut pool = PoolStatistics::default();
            for of in types {
                pool.add(&ad(&format!("[ MyType = \"{of}\" ]"), Dialect::Condor));
            }
            assert_eq!(pool.noun(), expected, "{types:?}");
        }
    }

    #[test]
    fn a_range_is_one_of_numbers_only() {
        for (ads, expected) in [
            (&["x = 5", "x = 7.5", "x = -1", "y = 1"][..], "-1 7.5"),
            (&["x = 5"], "5 5"),
            (&["x = (5)"], "5 5"),
            (&["x = 5", "x = \"a\""], "none"),
            (&["x = 5", "x = 2 * 3"], "none"),
            (&["x = true"], "none"),
        ] {
            let mut pool = PoolStatistics::default();
            for text in ads {
                pool.add(&ad(&format!("[ {text} ]"), Dialect::Condor));
            }
            let range = pool.attributes[&Name::new("x")].range();
            let shown = range.map_or("none".to_owned(), |range| {
                let (least, greatest) = range.ends();
                format!("{least} {greatest}")
            });
            assert_eq!(shown, expected, "{ads:?}");
        }
    }
}
