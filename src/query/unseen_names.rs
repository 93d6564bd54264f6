//! Names that are looked up in ads, each marked once an ad has it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::ad::{Expression, Name};
use crate::constraint::own_names;

/// Names that are looked up in each ad, each marked once an ad has it.
pub struct UnseenNames(Vec<(Name, AtomicBool)>);

impl UnseenNames {
    /// Marks no name as present.
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        UnseenNames(names.into_iter().map(|name| (name, AtomicBool::new(false))).collect())
    }

    /// Marks no name that expressions look up in the ad itself as present.
    pub fn of_expressions<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> Self {
        UnseenNames::new(own_names(expressions))
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the names that are known to be no attributes of the ads.
    #[must_use]
    pub fn without(mut self, is_known: impl Fn(&Name) -> bool) -> Self {
        self.0.retain(|(name, _)| !is_known(name));
        self
    }

    /// Marks each name for which `has` returns true as present in some ad. Several threads may call this method at
    /// once.
    pub fn mark_present(&self, has: impl Fn(&Name) -> bool) {
        for (name, is_there) in &self.0 {
            if !is_there.load(Relaxed) && has(name) {
                is_there.store(true, Relaxed);
            }
        }
    }

    /// Whether some name has not been seen.
    #[must_use]
    pub fn has_unseen(&self) -> bool {
        self.unseen().next().is_some()
    }

    /// Returns the names that no ad had.
    pub fn unseen(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().filter(|(_, is_there)| !is_there.load(Relaxed)).map(|(name, _)| name)
    }

    /// Returns for each name whether some ad has had it.
    #[must_use]
    pub fn seen(&self) -> Vec<bool> {
        self.0.iter().map(|(_, is_there)| is_there.load(Relaxed)).collect()
    }

    /// Marks the names that other ads have had.
    pub fn mark_seen(&self, seen: &[bool]) {
        self.0.iter().zip(seen).for_each(|((_, is_there), seen)| _ = is_there.fetch_or(*seen, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::UnseenNames;
    use crate::ad::Name;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn a_name_is_seen_once_an_ad_has_it() {
        let expression = parse_expression(b"a > MY.b && TARGET.c && d.e", ParseOptions::default()).unwrap();
        let names = UnseenNames::of_expressions([&expression]).without(|name| name.is("d"));
        let unseen = |names: &UnseenNames| {
            let mut unseen: Vec<String> = names.unseen().map(ToString::to_string).collect();
            unseen.sort_unstable();
            unseen.join(" ")
        };
        assert!(!names.is_empty() && names.has_unseen());
        assert_eq!(unseen(&names), "a b");
        names.mark_present(|_| false);
        assert_eq!(unseen(&names), "a b");
        names.mark_present(|name| name.is("A"));
        assert_eq!((unseen(&names), names.has_unseen()), ("b".to_owned(), true));
        let (seen, other) = (names.seen(), UnseenNames::of_expressions([&expression]));
        assert_eq!(seen.iter().filter(|is| **is).count(), 1);
        names.mark_seen(&[false, false]);
        assert_eq!(names.seen(), seen);
        names.mark_present(|name| {
            assert!(name.is("b"), "a seen name is not looked up again");
            true
        });
        assert_eq!((unseen(&names), names.has_unseen()), (String::new(), false));
        other.mark_seen(&[true, true, true]);
        assert!(!other.has_unseen());
        assert!(UnseenNames::new([]).is_empty() && !UnseenNames::new([]).has_unseen());
        assert!(!UnseenNames::new([Name::new("a")]).is_empty());
    }
}
