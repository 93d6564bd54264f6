//! The names that denote whole ads: `my`, `self`, `other`, `target` and the names of enclosing ads.

use super::{Dialect, KnownName, Name};

/// An ad that a name such as `self` or `parent` denotes, relative to the ad that holds the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeAd {
    /// The ad that holds the expression: `self`, `my`.
    Own,
    /// The ad that encloses [`ScopeAd::Own`]: `parent`.
    Parent,
    /// The outermost ad: `root`, `toplevel`.
    Root,
    /// Set the ad that is TARGET, the other ad of a match of a match: `other`, `target`.
    Other,
}

/// A name in [`SCOPE_NAMES`], and the ad that the name denotes.
struct ScopeName {
    name: KnownName,
    ad: ScopeAd,
    /// Whether the papers reserve the name, so that no attribute and no label may have it.
    is_reserved: bool,
}

impl ScopeName {
    const fn new(name: &'static str, ad: ScopeAd, is_reserved: bool) -> Self {
        ScopeName { name: KnownName::new(name), ad, is_reserved }
    }
}

static SCOPE_NAMES: [ScopeName; 7] = [
    ScopeName::new("self", ScopeAd::Own, true),
    ScopeName::new("my", ScopeAd::Own, false),
    ScopeName::new("parent", ScopeAd::Parent, true),
    ScopeName::new("root", ScopeAd::Root, true),
    ScopeName::new("toplevel", ScopeAd::Root, false),
    ScopeName::new("other", ScopeAd::Other, false),
    ScopeName::new("target", ScopeAd::Other, false),
];

/// Number of places in [`SCOPE_NAME_PLACES`].
const PLACES: usize = 64;

/// Index into [`SCOPE_NAMES`] by the hash of a name, modulo the number of places. No two of the names share a place. A
/// place beyond the rows is free. A name that hashes to a free place denotes no ad: most names need no comparison.
static SCOPE_NAME_PLACES: [u8; PLACES] = {
    let (mut places, mut row) = ([u8::MAX; PLACES], 0);
    while row < SCOPE_NAMES.len() {
        let place = SCOPE_NAMES[row].name.case_insensitive_hash() as usize % PLACES;
        assert!(places[place] == u8::MAX, "two names share a place");
        #[allow(clippy::cast_possible_truncation)] // there are seven rows
        let number = row as u8;
        places[place] = number;
        row += 1;
    }
    places
};

/// Returns the row of a name in [`SCOPE_NAMES`]; `None` for any other name.
#[inline]
fn scope_name(name: &Name) -> Option<&'static ScopeName> {
    let place = SCOPE_NAME_PLACES[name.case_insensitive_hash() as usize % PLACES];
    SCOPE_NAMES.get(usize::from(place)).filter(|row| name.is_known(row.name))
}

impl ScopeAd {
    /// Returns the ad that a name denotes in a match, such as [`ScopeAd::Other`] for `target`; both dialects agree.
    /// `None` for any other name.
    #[must_use]
    pub fn of(name: &Name) -> Option<Self> {
        scope_name(name).map(|row| row.ad)
    }

    /// Returns the ad that a name denotes even outside a match: `self`, `parent` and `root`, and in HTCondor's dialect
    /// also `my` and `toplevel`. `None` for any other name.
    pub(crate) fn built_in(name: &Name, dialect: Dialect) -> Option<Self> {
        let row = scope_name(name)?;
        (row.ad != ScopeAd::Other && (row.is_reserved || dialect.is_condor())).then_some(row.ad)
    }

    /// Whether the papers reserve the name, so that no attribute and no label may have it.
    pub(super) fn is_reserved(name: &Name) -> bool {
        scope_name(name).is_some_and(|row| row.is_reserved)
    }

    /// Whether this is one of the two ads of a match.
    #[must_use]
    pub fn is_side(self) -> bool {
        matches!(self, ScopeAd::Own | ScopeAd::Other)
    }

    /// Returns all names that denote this ad, in lower case.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        SCOPE_NAMES.iter().filter(move |row| row.ad == self).map(|row| row.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::ScopeAd;
    use crate::ad::{Dialect, Name};

    #[test]
    fn names_denote_ads_in_any_case() {
        for (name, ad, dialects) in [
            ("SELF", Some(ScopeAd::Own), 2),
            ("my", Some(ScopeAd::Own), 1),
            ("Parent", Some(ScopeAd::Parent), 2),
            ("toplevel", Some(ScopeAd::Root), 1),
            ("TARGET", Some(ScopeAd::Other), 0),
            ("label", None, 0),
        ] {
            let name = Name::new(name);
            assert_eq!(ScopeAd::of(&name), ad, "{name}");
            let built_in = [Dialect::Condor, Dialect::Classad].map(|dialect| ScopeAd::built_in(&name, dialect));
            assert_eq!(built_in.iter().flatten().count(), dialects, "{name}");
            assert_eq!(ScopeAd::is_reserved(&name), dialects == 2, "{name}");
        }
        assert_eq!(ScopeAd::Other.names().collect::<Vec<_>>(), ["other", "target"]);
    }
}
