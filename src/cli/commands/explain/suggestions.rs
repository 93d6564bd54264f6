//! Suggestions for misspelt attribute names, found before the ads are loaded selectively.
//!
//! Selective loading drops the attributes that matching does not need, and with them the candidates for a suggestion.
//! A first pass therefore finds the names that requests use but no sampled offer has. For these names it searches the
//! attribute names of the ads for similar names, in the first part of a large file.

use std::io;

use classad::ad::Name;
use classad::constraint::is_side_name;
use classad::eval::FreeNames;
use classad::explain::{DRAINED_GPU_ATTRIBUTES, DRAINED_SLOT_ATTRIBUTES};
use classad::format::{AttributeNameCollector, Projection};
use classad::lint::unquoted;
use classad::protocol::{
    AVAILABLE_GPUS, GPU_PREFIX, Protocol, TOTAL_SLOT_PREFIX, closest_attributes, current_names, requested_resource,
};
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::cli::io::source::AdSource;
use crate::cli::session::Session;

/// Size of the sample of the offers, in bytes. Nearly all attribute names of the offers occur in such a sample.
const SAMPLE_BYTES: usize = 1 << 20;

/// Maximum number of bytes of each side in which similar names are searched.
const MAX_SEARCHED_BYTES: usize = 64 << 20;

/// Maximum number of missing names for which similar ones are searched.
const MAX_MISSING_NAMES: usize = 100;

/// Attributes that can hold what a request seeks in another one: what a slot has, and which system it runs.
const LOOKED_UP_ATTRIBUTES: [&str; 12] = [
    "Arch",
    "OpSys",
    "OpSysAndVer",
    "OpSysName",
    "OpSysShortName",
    "OpSysLongName",
    "OpSysMajorVer",
    "Cpus",
    "Memory",
    "Disk",
    "GPUs",
    "Microarch",
];

/// Returns the names of attributes that selective loading must keep for explanations: those that are similar to a name
/// that requests use and the offers seem to lack, so that they can be suggested, and those that tell what a
/// partitionable slot has in all. With `reverse`, requests and offers change roles.
///
/// Returns no names unless all sources are uncompressed files in the long form. If any source is not, all ads are
/// loaded whole, with every attribute.
pub fn similar_names(
    session: &Session,
    sources: &[Vec<AdSource>; 2],
    protocol: &Protocol,
    of_policy: &FreeNames,
    reverse: bool,
) -> Vec<Name> {
    let [subjects, partners] = if reverse { [&sources[1], &sources[0]] } else { [&sources[0], &sources[1]] };
    if !subjects.iter().chain(partners).all(AdSource::is_long_file) {
        return Vec::new();
    }
    let search = || {
        let mut missing = unresolved_names(session, subjects, protocol, usize::MAX)?;
        missing.extend(of_policy.theirs.iter().cloned());
        let known: FxHashSet<Name> = attribute_names(partners, SAMPLE_BYTES)?.into_iter().collect();
        let renamed = missing.iter().flat_map(|name| current_names(name.as_str()));
        let mut found: Vec<Name> = renamed.map(|name| Name::new(&name)).collect();
        if !reverse {
            found.extend(DRAINED_SLOT_ATTRIBUTES.map(Name::new));
            found.extend(LOOKED_UP_ATTRIBUTES.map(Name::new));
            found.extend(missing.iter().filter_map(requested_resource));
            found.extend(known.iter().filter(|name| name.starts_with(TOTAL_SLOT_PREFIX)).cloned());
            // Each GPU has an attribute of its own name, so that a sample does not have them all. All these names are
            // read only if some request looks at single GPUs.
            if missing.contains(&Name::new(AVAILABLE_GPUS)) {
                found.extend(DRAINED_GPU_ATTRIBUTES.map(Name::new));
                let names = attribute_names(partners, usize::MAX)?;
                found.extend(names.into_iter().filter(|name| name.starts_with(GPU_PREFIX)));
            }
        }
        // An offer may misspell an attribute of the request.
        let of_subjects = attribute_names(subjects, SAMPLE_BYTES)?;
        let mut misspelt = unresolved_names(session, partners, protocol, SAMPLE_BYTES)?;
        misspelt.retain(|name| !of_subjects.contains(name));
        for name in misspelt.iter().take(MAX_MISSING_NAMES) {
            let near = closest_attributes(name.as_str(), of_subjects.iter().map(Name::as_str));
            found.extend(near.into_iter().map(Name::new));
        }
        // What stands in quotes, or is sought in the wrong ad, is read for its correction.
        found.extend(missing.iter().filter(|name| known.contains(*name)).cloned());
        missing.retain(|name| !known.contains(name));
        if missing.is_empty() {
            return Ok(found);
        }
        // Search both sides, because a misspelt name may mean an attribute of the offer or of the request itself.
        for side in [partners, subjects] {
            let names = attribute_names(side, MAX_SEARCHED_BYTES)?;
            for name in missing.iter().take(MAX_MISSING_NAMES) {
                let near = closest_attributes(name.as_str(), names.iter().map(Name::as_str));
                found.extend(near.into_iter().map(Name::new));
            }
        }
        Ok::<_, io::Error>(found)
    };
    // Ignore an unreadable file here: it is reported later, when the ads are loaded.
    search().unwrap_or_default()
}

/// Returns the names that the constraint or rank of an ad uses and that the ad itself does not resolve. Stops reading
/// after about `max_bytes` bytes.
fn unresolved_names(
    session: &Session,
    sources: &[AdSource],
    protocol: &Protocol,
    max_bytes: usize,
) -> io::Result<IndexSet<Name>> {
    let mut selection = Projection::new(protocol.attribute_names().cloned(), session.dialect()).with_shared_ads([]);
    let (mut names, mut seen, mut kept) = (IndexSet::new(), IndexSet::new(), Vec::new());
    let mut read = 0;
    for source in sources {
        let mut source = source.reopen()?;
        while let Some(text) = source.next_block()?
            && read < max_bytes
        {
            read += text.block.text.len();
            let mut selected = text.block.project(&mut selection);
            for entry in selected.by_ref().flatten().filter(|entry| seen.insert(entry.ad.identity())) {
                let mut mentioned = FreeNames::default();
                for attribute in entry.ad.iter() {
                    let unquoted = unquoted(attribute.expression, session.dialect());
                    mentioned.add(unquoted.as_ref().unwrap_or(attribute.expression), session.dialect());
                }
                let own = mentioned.mine.into_iter().chain(mentioned.unqualified);
                names.extend(own.filter(|name| entry.ad.get(name).is_none()).chain(mentioned.theirs));
                // `seen` holds addresses of ads. Keep this ad, so that no later ad gets its address.
                kept.push(entry.ad);
            }
            source.ads_read = selected.number();
        }
    }
    Ok(names.into_iter().filter(|name| !is_side_name(name)).collect())
}

/// Returns the attribute names in some files. Stops reading after about `max_bytes` bytes.
fn attribute_names(sources: &[AdSource], max_bytes: usize) -> io::Result<Vec<Name>> {
    let (mut spellings, mut read) = (AttributeNameCollector::default(), 0);
    for source in sources {
        let mut source = source.reopen()?;
        while let Some(text) = source.next_block()?
            && read < max_bytes
        {
            read += text.block.text.len();
            spellings.collect(&text.block.text);
            source.recycle(text);
        }
    }
    Ok(spellings.names().collect())
}
