//! Maps of users, which `userMap()` reads.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{ByteString, Name};

use super::pattern::{CompiledPattern, PatternOptions, SearchFault, SearchSteps, group_text};

/// The maps that `userMap()` knows, by name. Clones share the maps.
#[derive(Clone, Default)]
pub struct UserMaps(Arc<FxHashMap<Name, UserMap>>);

/// Map of users: for each method a sequence of keys with results. The first key that fits decides.
#[derive(Clone, Debug, Default)]
pub struct UserMap {
    methods: FxHashMap<Name, Vec<MapEntries>>,
}

/// Consecutive entries of a map that have keys of one kind.
#[derive(Clone, Debug)]
enum MapEntries {
    /// Keys that are compared as they are.
    Literals(FxHashMap<Vec<u8>, Vec<u8>>),
    /// Keys that are beginnings of texts. The last in byte order that fits decides, so that a longer one precedes its
    /// own beginnings.
    Prefixes(BTreeMap<Vec<u8>, Vec<u8>>),
    /// A pattern that fits a part of the text.
    Pattern(Arc<CompiledPattern>, Vec<u8>),
}

/// The method of a map that is named without one.
const ANY_METHOD: &str = "*";

impl UserMaps {
    /// Adds a map. It replaces an earlier map of the same name.
    pub fn insert(&mut self, name: &str, map: UserMap) {
        Arc::make_mut(&mut self.0).insert(Name::new(name), map);
    }

    /// Whether there is no map.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a map of this name; case is ignored.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(&Name::new(name))
    }

    /// Returns what a map makes of a text; `None` if there is no such map, or if no key of it fits. `name` is the name
    /// of a map, or a name and a method with a dot between them. Searches of patterns take at most 1,000,000 steps
    /// together; a pattern beyond them does not fit.
    #[must_use]
    pub fn look_up(&self, name: &str, text: &[u8]) -> Option<Vec<u8>> {
        self.look_up_within(name, text, &mut SearchSteps::new(1_000_000)).ok().flatten()
    }

    /// Returns what a map makes of a text, as [`UserMaps::look_up`] does. The searches of patterns take `steps`.
    pub(super) fn look_up_within(
        &self,
        name: &str,
        text: &[u8],
        steps: &mut SearchSteps,
    ) -> Result<Option<Vec<u8>>, SearchFault> {
        let (name, method) = name.split_once('.').unwrap_or((name, ANY_METHOD));
        let Some(map) = self.0.get(&Name::new(name)) else { return Ok(None) };
        for entries in map.methods.get(&Name::new(method)).into_iter().flatten() {
            if let Some(result) = entries.result(text, steps)? {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }
}

impl fmt::Debug for UserMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl UserMap {
    /// Adds a key that is compared as it is. If the entries just before it have the same key, theirs counts.
    pub fn add_literal(&mut self, method: &str, key: &[u8], result: &[u8]) {
        let entries = self.entries(method);
        if !matches!(entries.last(), Some(MapEntries::Literals(_))) {
            entries.push(MapEntries::Literals(FxHashMap::default()));
        }
        if let Some(MapEntries::Literals(literals)) = entries.last_mut() {
            literals.entry(key.to_vec()).or_insert_with(|| result.to_vec());
        }
    }

    /// Adds a key that is the beginning of texts.
    pub fn add_prefix(&mut self, method: &str, key: &[u8], result: &[u8]) {
        let entries = self.entries(method);
        if !matches!(entries.last(), Some(MapEntries::Prefixes(_))) {
            entries.push(MapEntries::Prefixes(BTreeMap::new()));
        }
        if let Some(MapEntries::Prefixes(prefixes)) = entries.last_mut() {
            prefixes.entry(key.to_vec()).or_insert_with(|| result.to_vec());
        }
    }

    /// Adds a regular expression. In its result `\0` to `\9` stand for its groups. Of the option letters, `i` ignores
    /// case and `U` makes repetitions lazy.
    ///
    /// # Errors
    ///
    /// The reason as a phrase, if the pattern is invalid.
    pub fn add_pattern(&mut self, method: &str, pattern: &[u8], options: &str, result: &[u8]) -> Result<(), String> {
        let mut text = if options.contains('U') { b"(?U)".to_vec() } else { Vec::new() };
        text.extend_from_slice(pattern);
        let letters: &[u8] = if options.contains('i') { b"i" } else { b"" };
        let pattern = CompiledPattern::get(&ByteString::from(text), PatternOptions::of(letters))?;
        self.entries(method).push(MapEntries::Pattern(pattern, result.to_vec()));
        Ok(())
    }

    fn entries(&mut self, method: &str) -> &mut Vec<MapEntries> {
        self.methods.entry(Name::new(method)).or_default()
    }
}

impl MapEntries {
    /// Returns the result for a text; `None` if no key fits.
    fn result(&self, text: &[u8], steps: &mut SearchSteps) -> Result<Option<Vec<u8>>, SearchFault> {
        Ok(match self {
            MapEntries::Literals(literals) => literals
                .get_key_value(text)
                .map(|(key, result)| substitute(result, |group| (group == 0).then_some(&key[..]))),
            MapEntries::Prefixes(prefixes) => {
                let mut descending = prefixes.range::<[u8], _>((Bound::Unbounded, Bound::Included(text))).rev();
                let found = descending.find(|(key, _)| text.starts_with(key));
                found.map(|(key, result)| substitute(result, |group| (group == 0).then_some(&key[..])))
            }
            MapEntries::Pattern(pattern, result) => match pattern.find(text, 0, steps) {
                Ok(found) => found.map(|groups| substitute(result, |group| group_text(&groups, text, group))),
                // A match that exceeds PCRE2's limits counts as none, as in HTCondor.
                Err(SearchFault::Failed(_)) => None,
                Err(fault) => return Err(fault),
            },
        })
    }
}

/// Returns a result with the texts of groups in it. A group that does not exist stays as it is written. A backslash
/// before anything but a digit takes the character behind it along, so that `\\1` is not a group.
fn substitute<'t>(result: &[u8], text_of: impl Fn(usize) -> Option<&'t [u8]>) -> Vec<u8> {
    let mut text = Vec::with_capacity(result.len());
    let mut rest = result;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..place]);
        let end = rest.len().min(place + 2);
        let written = &rest[place..end];
        let digit = written.get(1).filter(|byte| byte.is_ascii_digit());
        text.extend_from_slice(digit.and_then(|digit| text_of(usize::from(digit - b'0'))).unwrap_or(written));
        rest = &rest[end..];
    }
    text.extend_from_slice(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::{UserMap, UserMaps};

    #[test]
    fn the_first_key_that_fits_decides() {
        let mut map = UserMap::default();
        map.add_pattern("*", b"^a(x)?(.*)@", "", br"\\1|\1|\2|\3|\").unwrap();
        map.add_literal("*", b"a@b", b"never");
        map.add_literal("*", b"c", br"one \0 \1");
        map.add_literal("*", b"c", b"two");
        map.add_pattern("*", b"^C$", "i", b"three").unwrap();
        map.add_prefix("P", b"/a", b"short");
        map.add_prefix("P", b"/a/b", b"long");
        map.add_prefix("P", b"/b", b"other");
        assert!(map.add_pattern("*", b"(", "", b"").is_err());
        let mut maps = UserMaps::default();
        maps.insert("Groups", map);
        let found =
            |name, text: &str| maps.look_up(name, text.as_bytes()).map(|found| String::from_utf8(found).unwrap());
        assert_eq!(found("groups", "abc@d").as_deref(), Some(r"\\1||bc|\3|\"));
        assert_eq!(found("groups", "c").as_deref(), Some(r"one c \1"));
        assert_eq!(found("groups.*", "C").as_deref(), Some("three"));
        assert_eq!(found("groups.p", "/a/b/c").as_deref(), Some("long"));
        assert_eq!(found("groups.p", "/a/az").as_deref(), Some("short"));
        assert_eq!(found("groups.p", "c"), None);
        assert_eq!(found("other", "c"), None);
    }
}
