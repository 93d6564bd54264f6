//! Attribute names of the command line that no ad has. They are most likely misspelt.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use classad::ad::{Dialect, Expression, Name};
use classad::constraint::is_scope_name;
use classad::eval::FreeNames;
use classad::pool::Census;
use indexmap::IndexSet;

use super::input;
use super::source::SourceText;
use crate::cli::session::Session;

/// Maximum number of ads whose attribute names are candidates for suggestions.
const MAX_SAMPLED_ADS: usize = 100;

/// Names that are looked up in each ad, each with whether some ad has had it so far.
pub struct UnseenNames(Vec<(Name, AtomicBool)>);

impl UnseenNames {
    /// Marks no name as present.
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        UnseenNames(names.into_iter().map(|name| (name, AtomicBool::new(false))).collect())
    }

    /// Collects the names that a constraint looks up in the ad itself.
    pub fn of_constraint(constraint: &Expression, dialect: Dialect) -> Self {
        let FreeNames { mine: own, unqualified: either, .. } = FreeNames::of(constraint, dialect);
        let names: IndexSet<Name> = own.into_iter().chain(either).filter(|name| !is_scope_name(name)).collect();
        UnseenNames::new(names)
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

    /// Reports the names that no ad had. Suggests similar names from `first`, the beginning of the first source.
    /// Reports nothing if `first` has no ad.
    pub fn report(&self, session: &Session, first: &SourceText) {
        let mut missing = self.0.iter().filter(|(_, is_there)| !is_there.load(Relaxed)).peekable();
        let mut known = Census::names();
        if missing.peek().is_some() {
            first.block.ads(session.dialect()).flatten().take(MAX_SAMPLED_ADS).for_each(|entry| known.add(&entry.ad));
        }
        for (name, _) in missing.filter(|_| known.ads() > 0) {
            input::note_unknown_attribute(session, &known, name);
        }
    }
}
