//! Suggestions for misspelt attribute names, found before the ads are loaded selectively.
//!
//! Selective loading drops the attributes that matching does not need, and with them the candidates for a suggestion.
//! A first pass therefore finds names that requests use and a sample of the offers lacks, and searches all attribute
//! names for similar ones.

use std::io;

use classad::ad::{Name, nearest};
use classad::constraint::stands_for_a_side;
use classad::eval::Mentions;
use classad::format::{Selection, Spellings};
use classad::protocol::Protocol;
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::cli::io::source::Source;
use crate::cli::session::Session;

/// Number of bytes of the offers in which nearly all of their names occur.
const BEGINNING: usize = 1 << 20;

/// Maximum number of missing names for which similar ones are searched.
const MOST_MISSING: usize = 100;

/// Names similar to missing ones, which have to be read besides what matching needs.
#[derive(Default)]
pub struct Found {
    /// The similar names, as a set of attributes to read.
    pub also: Mentions,
    /// The similar names, spelt as in the ads.
    pub names: Vec<Name>,
}

/// Returns names similar to those that requests use and the offers seem to lack. Returns none if the ads are read whole
/// anyway. With `reverse` the offers ask and the requests answer.
pub fn near(
    session: &Session,
    sources: &[Vec<Source>; 2],
    protocol: &Protocol,
    of_policy: &Mentions,
    reverse: bool,
) -> Found {
    let [asking, offered] = if reverse { [&sources[1], &sources[0]] } else { [&sources[0], &sources[1]] };
    if !asking.iter().chain(offered).all(Source::is_long_file) {
        return Found::default();
    }
    // An unreadable file is reported later, when the ads are loaded.
    found(session, asking, offered, protocol, of_policy).unwrap_or_default()
}

/// Searches the attribute names of both sides for names similar to missing ones.
fn found(
    session: &Session,
    asking: &[Source],
    offered: &[Source],
    protocol: &Protocol,
    of_policy: &Mentions,
) -> io::Result<Found> {
    let mut missing = mentioned(session, asking, protocol)?;
    missing.extend(of_policy.other.iter().cloned());
    let known: FxHashSet<Name> = names(offered, BEGINNING)?.into_iter().collect();
    missing.retain(|name| !known.contains(name));
    let mut found = Found::default();
    if missing.is_empty() {
        return Ok(found);
    }
    // A misspelt name may mean an attribute of the offer or of the request itself.
    for side in [offered, asking] {
        let names = names(side, usize::MAX)?;
        for name in missing.iter().take(MOST_MISSING) {
            let near = nearest(name.as_str(), names.iter().map(Name::as_str));
            found.names.extend(near.into_iter().map(Name::new));
        }
    }
    found.also.names.extend(found.names.iter().cloned());
    Ok(found)
}

/// Returns the names that the constraints and ranks of ads use and that the ad itself does not resolve.
fn mentioned(session: &Session, sources: &[Source], protocol: &Protocol) -> io::Result<IndexSet<Name>> {
    let mut selection = Selection::new(protocol.names().cloned(), session.dialect()).grouped([]);
    let (mut names, mut seen, mut kept) = (IndexSet::new(), IndexSet::new(), Vec::new());
    for source in sources {
        let mut source = source.again()?;
        while let Some(text) = source.next_text()? {
            let mut selected = text.block.selected(&mut selection);
            for entry in selected.by_ref().flatten().filter(|entry| seen.insert(entry.ad.identity())) {
                let mut mentioned = Mentions::default();
                for attribute in entry.ad.iter() {
                    mentioned.add(attribute.expression, session.dialect());
                }
                let own = mentioned.own.into_iter().chain(mentioned.either);
                names.extend(own.filter(|name| entry.ad.get(name).is_none()).chain(mentioned.other));
                // The identity is the ad's address: keep the ad so that no other gets the address.
                kept.push(entry.ad);
            }
            source.ads = selected.number();
        }
    }
    Ok(names.into_iter().filter(|name| !stands_for_a_side(name)).collect())
}

/// Returns the attribute names in some files. Stops reading after about `most` bytes.
fn names(sources: &[Source], most: usize) -> io::Result<Vec<Name>> {
    let (mut spellings, mut read) = (Spellings::default(), 0);
    for source in sources {
        let mut source = source.again()?;
        while let Some(text) = source.next_text()?
            && read < most
        {
            read += text.block.text.len();
            spellings.look_through(&text.block.text);
            source.give_back(text);
        }
    }
    Ok(spellings.names().collect())
}
