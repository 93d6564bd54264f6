//! Checks comparisons with a string against the strings that the pool has.

use rustc_hash::FxHashMap;

use crate::ad::{ByteString, Expression, Name};
use crate::text::{closest_name, shorten};

use super::finding::LintFinding;
use super::rules;

/// Maximum number of distinct strings stored per attribute. Further strings are not stored.
const MAX_STRINGS: usize = 5000;

/// Maximum length of a string in a message, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// The strings that an attribute has in a pool, each with the number of ads.
#[derive(Default)]
pub(super) struct PoolStrings {
    ads: FxHashMap<ByteString, usize>,
    /// Whether strings are missing, because there are too many.
    is_incomplete: bool,
}

impl PoolStrings {
    pub(super) fn add(&mut self, text: &ByteString) {
        if let Some(ads) = self.ads.get_mut(text) {
            *ads += 1;
        } else if self.ads.len() < MAX_STRINGS {
            self.ads.insert(text.clone(), 1);
        } else {
            self.is_incomplete = true;
        }
    }

    /// Number of ads with a string. Case does not matter.
    pub(super) fn ads_with(&self, text: &ByteString) -> usize {
        self.ads.iter().filter(|(known, _)| known.eq_ignore_case(text)).map(|(_, ads)| ads).sum()
    }

    /// Returns the string that differs from `text` in case only. `None` if the pool has `text` itself, or no string that
    /// differs in case only.
    pub(super) fn other_spelling(&self, text: &ByteString) -> Option<&ByteString> {
        // If not all strings are kept, the exact string may be one of the others.
        if self.is_incomplete {
            return None;
        }
        // If several strings differ in case only, return the smallest, so that runs have equal results.
        let alike = || self.ads.keys().filter(|known| known.eq_ignore_case(text)).min();
        if self.ads.contains_key(text) { None } else { alike() }
    }

    /// Returns the finding that no ad of the pool has the string `text` in the attribute `name`. `None` if an ad has it,
    /// or may have it. All values of the attribute in the pool must be strings. `part` is the whole comparison, in
    /// `attribute`.
    pub(super) fn check(
        &self,
        (attribute, part): (&Name, &Expression),
        name: &Name,
        text: &ByteString,
    ) -> Option<LintFinding> {
        // The smaller one of equally frequent strings, so that runs have equal results.
        let (frequent, _) = self.ads.iter().max_by(|(a, a_ads), (b, b_ads)| a_ads.cmp(b_ads).then(b.cmp(a)))?;
        if self.is_incomplete || self.ads_with(text) > 0 {
            return None;
        }
        let shown = |text: &ByteString| shorten(&text.to_str(), MAX_SHOWN_CHARS);
        let message = format!("no ad of the pool has {name} \"{}\": this is never true", shown(text));
        let known: Vec<String> = self.ads.keys().map(|known| known.to_str().into_owned()).collect();
        let (kind, value) = match closest_name(&text.to_str(), known.iter().map(String::as_str)) {
            Some(near) => ("similar", shorten(near, MAX_SHOWN_CHARS)),
            None => ("frequent", shown(frequent)),
        };
        let help =
            format!("the most {kind} value is \"{value}\"; `classad census POOL --attr {name}` lists the values");
        Some(LintFinding::new(&rules::RANGE, message).with_help(help).at(attribute, part, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_STRINGS, PoolStrings};
    use crate::ad::ByteString;

    #[test]
    fn strings_that_are_not_kept_may_have_the_exact_spelling() {
        let mut strings = PoolStrings::default();
        strings.add(&ByteString::from("s1"));
        assert_eq!(strings.other_spelling(&ByteString::from("S1")), Some(&ByteString::from("s1")));
        (0..MAX_STRINGS).for_each(|number| strings.add(&ByteString::from(format!("x{number}").as_str())));
        assert_eq!(strings.other_spelling(&ByteString::from("S1")), None);
    }
}
