//! Names of the constraint that no ad has: if nothing is found, one is most likely misspelt.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use classad::ad::{Dialect, Expression, Name};
use classad::constraint::stands_for_an_ad;
use classad::eval::Mentions;
use classad::pool::Census;
use indexmap::IndexSet;

use crate::cli::io::input;
use crate::cli::io::source::Text;
use crate::cli::session::Session;

/// What may have been meant is looked for in so many ads.
const SAMPLE: usize = 100;

/// The names that the constraint looks up in each ad, and whether one has it.
pub struct Missing(Vec<(Name, AtomicBool)>);

impl Missing {
    /// No ad has been seen yet.
    pub fn new(constraint: &Expression, dialect: Dialect) -> Self {
        let Mentions { own, either, .. } = Mentions::of(constraint, dialect);
        let names: IndexSet<Name> = own.into_iter().chain(either).filter(|name| !stands_for_an_ad(name)).collect();
        Missing(names.into_iter().map(|name| (name, AtomicBool::new(false))).collect())
    }

    /// Notes which of the names some ads have; several threads may.
    pub fn note(&self, has: impl Fn(&Name) -> bool) {
        for (name, is_there) in &self.0 {
            if !is_there.load(Relaxed) && has(name) {
                is_there.store(true, Relaxed);
            }
        }
    }

    /// Tells which names no ad had, if there were ads; what may have been meant is in the first of them.
    pub fn tell(&self, session: &Session, first: &Text) {
        let mut missing = self.0.iter().filter(|(_, is_there)| !is_there.load(Relaxed)).peekable();
        let mut known = Census::names();
        if missing.peek().is_some() {
            first.block.ads(session.dialect()).flatten().take(SAMPLE).for_each(|entry| known.add(&entry.ad));
        }
        for (name, _) in missing.filter(|_| known.ads() > 0) {
            input::no_ad_has(session, &known, name);
        }
    }
}
