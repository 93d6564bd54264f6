//! Differences between two sets of ads: pairing of the ads, and comparison of two ads.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::ad::{Ad, Attribute, Name, numerically_equal, structurally_equal};
use crate::syntax::{Style, print};

/// How two attributes are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffMode {
    /// By the trees of the attributes' expressions. Case of names, spaces, parentheses and the order of nested
    /// attributes are ignored.
    #[default]
    Meaning,
    /// As [`DiffMode::Meaning`], and an integer equals a real of the same value.
    Numbers,
    /// By the spelling of the name and the printed text of the expression.
    Text,
}

impl DiffMode {
    fn equal(self, before: Attribute<'_>, after: Attribute<'_>) -> bool {
        match self {
            DiffMode::Meaning => structurally_equal(before.expression, after.expression),
            DiffMode::Numbers => numerically_equal(before.expression, after.expression),
            DiffMode::Text => {
                before.name.as_str() == after.name.as_str()
                    && print(before.expression, Style::New) == print(after.expression, Style::New)
            }
        }
    }
}

/// An attribute that differs between two ads.
#[derive(Clone, Copy, Debug)]
pub enum Difference<'a> {
    /// Both ads have the attribute, but it differs. Holds the attribute of the first ad, then that of the second.
    Changed(Attribute<'a>, Attribute<'a>),
    /// Only the first ad has the attribute.
    Removed(Attribute<'a>),
    /// Only the second ad has the attribute.
    Added(Attribute<'a>),
}

impl<'a> Difference<'a> {
    /// Returns the name of the attribute, spelt as in the first ad if that ad has the attribute.
    #[must_use]
    pub fn name(&self) -> &'a Name {
        match self {
            Difference::Changed(one, _) | Difference::Removed(one) | Difference::Added(one) => one.name,
        }
    }

    /// Returns the attribute of the first ad; `None` if the attribute was added.
    #[must_use]
    pub fn before(&self) -> Option<Attribute<'a>> {
        match self {
            Difference::Changed(before, _) | Difference::Removed(before) => Some(*before),
            Difference::Added(_) => None,
        }
    }

    /// Returns the attribute of the second ad; `None` if the attribute was removed.
    #[must_use]
    pub fn after(&self) -> Option<Attribute<'a>> {
        match self {
            Difference::Changed(_, after) | Difference::Added(after) => Some(*after),
            Difference::Removed(_) => None,
        }
    }
}

/// Returns the differences between two ads. Changed and removed attributes come in the order of the first ad, then
/// added attributes in the order of the second ad.
#[must_use]
pub fn differences<'a>(before: &'a Ad, after: &'a Ad, measure: DiffMode) -> Vec<Difference<'a>> {
    let mut differences = Vec::new();
    for old in before.iter() {
        match after.attribute(old.name) {
            Some(new) if measure.equal(old, new) => {}
            Some(new) => differences.push(Difference::Changed(old, new)),
            None => differences.push(Difference::Removed(old)),
        }
    }
    let added = after.iter().filter(|new| before.get(new.name).is_none());
    differences.extend(added.map(Difference::Added));
    differences
}

/// The ads of a first set that have no partner in a second set yet. Holds the 0-based positions of these ads for each
/// identity.
///
/// Several ads of a set may have the same identity, such as ads without a name. The first such ad of the first set is
/// paired with the first such ad of the second set, and so on.
#[derive(Clone, Debug)]
pub struct UnpairedAds<I> {
    positions: HashMap<I, VecDeque<usize>>,
}

impl<I: Hash + Eq> UnpairedAds<I> {
    /// Takes the first unpaired ad with this identity as the partner of an ad of the second set. Returns the position
    /// of the partner; `None` if no unpaired ad has this identity.
    pub fn take_partner(&mut self, identity: &I) -> Option<usize> {
        self.positions.get_mut(identity).and_then(VecDeque::pop_front)
    }

    /// Returns the position that [`UnpairedAds::take_partner`] would return.
    #[must_use]
    pub fn partner(&self, identity: &I) -> Option<usize> {
        self.positions.get(identity).and_then(|positions| positions.front().copied())
    }

    /// Returns the positions of the unpaired ads, ascending.
    #[must_use]
    pub fn into_positions(self) -> Vec<usize> {
        let mut left: Vec<usize> = self.positions.into_values().flatten().collect();
        left.sort_unstable();
        left
    }
}

impl<I: Hash + Eq> FromIterator<I> for UnpairedAds<I> {
    /// Collects the identities of the ads of the first set, in their order.
    fn from_iter<T: IntoIterator<Item = I>>(identities: T) -> Self {
        let mut waiting: HashMap<I, VecDeque<usize>> = HashMap::new();
        for (place, identity) in identities.into_iter().enumerate() {
            waiting.entry(identity).or_default().push_back(place);
        }
        UnpairedAds { positions: waiting }
    }
}

#[cfg(test)]
mod tests {
    use super::{DiffMode, UnpairedAds, differences};
    use crate::ad::{Ad, Attribute, Dialect};
    use crate::syntax::{ParseOptions, Style, parse_ad, print};

    fn ad(text: &str) -> Ad {
        parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Classad)).unwrap()
    }

    /// Returns the text `before -> after` of each difference.
    fn shown(before: &str, after: &str, measure: DiffMode) -> Vec<String> {
        let side = |attribute: Option<Attribute>| {
            attribute.map_or("none".to_owned(), |attribute| {
                let text = String::from_utf8(print(attribute.expression, Style::New)).unwrap();
                format!("{} = {text}", attribute.name)
            })
        };
        let (before, after) = (ad(before), ad(after));
        let all = differences(&before, &after, measure);
        all.iter().map(|one| format!("{} -> {}", side(one.before()), side(one.after()))).collect()
    }

    /// Whether attributes with these expressions compare as equal.
    fn same(left: &str, right: &str, measure: DiffMode) -> bool {
        shown(&format!("[ a = {left} ]"), &format!("[ a = {right} ]"), measure).is_empty()
    }

    #[test]
    fn the_same_however_it_is_written() {
        for (left, right) in [
            ("1", "0x1"),
            ("1", "(1)"),
            ("64M", "67108864.0"),
            ("1.5", "15e-1"),
            ("TRUE", "true"),
            ("Undefined", "undefined"),
            ("a + b * c", "(A)+((b*C))"),
            ("a && b || c", "(a && b) || c"),
            ("a is b", "a =?= b"),
            ("a isnt b", "a =!= b"),
            ("a ?: b", "a ? : b"),
            ("'a'", "a"),
            ("strcat(a, \"b\")", "STRCAT(A,\"b\")"),
            ("[ x = 1; y = [ p = 1; q = 2 ] ]", "[ y = [ Q = 2; P = (1) ]; X = 1 ]"),
            ("real(\"NaN\")", "REAL(\"nan\")"),
            ("\"\\101\"", "\"A\""),
            ("{ 1, (2) }", "{1,2}"),
        ] {
            assert!(same(left, right, DiffMode::Meaning), "{left} and {right}");
        }
    }

    #[test]
    fn different_by_meaning() {
        for (left, right) in [
            ("1", "1.0"),
            ("0.0", "-0.0"),
            ("\"a\"", "\"A\""),
            ("\"a\"", "a"),
            ("a + b + c", "a + (b + c)"),
            ("a + b", "b + a"),
            ("a - b", "a + b"),
            ("-5", "-(5)"),
            ("!a", "~a"),
            ("a == b", "a is b"),
            ("{ 1, 2 }", "{ 2, 1 }"),
            ("{ 1 }", "{ 1, 1 }"),
            ("[ x = 1 ]", "[ y = 1 ]"),
            ("[ x = 1 ]", "[ x = 1; y = 1 ]"),
            ("[ x = 1 ]", "[ x = 2 ]"),
            ("f(1)", "f(1, 1)"),
            ("f(1)", "g(1)"),
            (".a", "a"),
            ("b.a", "c.a"),
            ("b.a", "b.c"),
            ("a[0]", "a[1]"),
            ("a ? b : c", "a ? c : b"),
            ("a ?: b", "a ? a : b"),
            ("undefined", "error"),
            ("absTime(\"2000-01-01T00:00:00Z\")", "absTime(\"2000-01-01T01:00:00+01:00\")"),
            ("relTime(\"1\")", "1.0"),
        ] {
            assert!(!same(left, right, DiffMode::Meaning), "{left} and {right}");
            assert!(!same(left, right, DiffMode::Text), "{left} and {right} as texts");
        }
    }

    #[test]
    fn spelling_counts_in_texts() {
        for (left, right) in [("1", "(1)"), ("a", "A"), ("f(1)", "F(1)"), ("[ x = 1; y = 2 ]", "[ y = 2; x = 1 ]")] {
            assert!(!same(left, right, DiffMode::Text), "{left} and {right}");
        }
        for (left, right) in [("1", "0x1"), ("a+b", "a + b"), ("TRUE", "true"), ("a =?= b", "a is b")] {
            assert!(same(left, right, DiffMode::Text), "{left} and {right}");
        }
        assert_eq!(shown("[ A = 1 ]", "[ a = 1 ]", DiffMode::Text), ["A = 1 -> a = 1"]);
        assert_eq!(shown("[ A = 1 ]", "[ a = 1 ]", DiffMode::Meaning), Vec::<String>::new());
    }

    #[test]
    fn changed_removed_and_added_attributes_in_order() {
        let (before, after) = ("[ a = 1; b = 2; c = 3; d = 4 ]", "[ e = 5; D = 5; f = 6; B = 2; a = 2 ]");
        let expected = ["a = 1 -> a = 2", "c = 3 -> none", "d = 4 -> D = 5", "none -> e = 5", "none -> f = 6"];
        assert_eq!(shown(before, after, DiffMode::Meaning), expected);
    }

    #[test]
    fn partners_by_identity_then_by_occurrence() {
        for (before, after, partners, left) in [
            (vec![], vec![], vec![], vec![]),
            (vec!["a", "b"], vec!["b", "a"], vec![Some(1), Some(0)], vec![]),
            (vec!["a", "b"], vec!["c", "b", "d"], vec![None, Some(1), None], vec![0]),
            (vec!["a", "x", "a"], vec!["a", "a", "a"], vec![Some(0), Some(2), None], vec![1]),
            (vec!["", "a", ""], vec!["a", ""], vec![Some(1), Some(0)], vec![2]),
        ] {
            let mut waiting: UnpairedAds<&str> = before.iter().copied().collect();
            let mut take = |identity| {
                let partner = waiting.partner(identity);
                assert_eq!(waiting.take_partner(identity), partner);
                partner
            };
            let found: Vec<Option<usize>> = after.iter().map(&mut take).collect();
            assert_eq!((found, waiting.into_positions()), (partners, left), "{before:?} {after:?}");
        }
    }
}
