//! Names that may have been meant, before the ads are read in part: what requests ask for and the first offers do not
//! have is looked for among the names of all of them.

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

/// So much of a file shows nearly all names, in bytes.
const BEGINNING: usize = 1 << 20;

/// So many missing names are compared with those that there are.
const MOST_MISSING: usize = 100;

/// What is to be read besides what matching reads.
#[derive(Default)]
pub struct Found {
    /// Names that are near to missing ones.
    pub also: Mentions,
    /// The same names, in the spelling of the offers.
    pub names: Vec<Name>,
}

/// The names near to those that requests mention and that the offers do not seem to have.  Nothing where ads are read
/// whole anyway.
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
    // What cannot be read is told by whoever reads the ads.
    found(session, asking, offered, protocol, of_policy).unwrap_or_default()
}

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
    // An attribute that is misspelt is one of the offers, or one of the request's own.
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

/// The names that the constraints of ads mention and that these ads do not all have.
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
                // Kept, so that no other gets its address.
                kept.push(entry.ad);
            }
            source.ads = selected.number();
        }
    }
    Ok(names.into_iter().filter(|name| !stands_for_a_side(name)).collect())
}

/// The names of the attributes in some files, up to so many bytes.
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
