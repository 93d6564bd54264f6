//! The ads that a collector holds at a time: the latest of each agent, if it has not expired (thesis 3.4.2).

use std::borrow::Cow;

use classad::format::AdEntry;
use classad::protocol::{Advertisement, latest_advertisements};

use super::input::for_each_ad;
use super::source::{AdSource, SourceText};
use crate::cli::Failure;
use crate::cli::session::Session;

/// Reads the ads that a collector holds at the time `at`, in seconds since 1970: those that `match --at` lets take part.
/// Prints notes of how many are left out.
pub fn read_held_ads(
    session: &mut Session,
    sources: &mut [AdSource],
    at: i64,
) -> Result<Vec<(SourceText, AdEntry)>, Failure> {
    let (context, mut headers, mut ads) = (session.context(), Vec::new(), Vec::new());
    for_each_ad(session, sources, |_, text, entry| {
        headers.push(Advertisement::new(&entry.ad, &context).header());
        ads.push((text.clone(), entry));
        Ok(true)
    })?;
    let is_latest = latest_advertisements(headers.len(), |index| Cow::Borrowed(&headers[index]));
    let is_current: Vec<bool> =
        headers.iter().zip(&is_latest).map(|(header, is_latest)| *is_latest && !header.has_expired(at)).collect();
    let count = |flags: &[bool]| flags.iter().filter(|is_held| **is_held).count();
    let (all, latest, held) = (ads.len(), count(&is_latest), count(&is_current));
    if latest < all {
        session.note(&format!("{} of {all} ads left out: there are later ads of the same name", all - latest));
    }
    if held < latest {
        session.note(&format!("{} of {latest} ads left out: expired by {at}", latest - held));
    }
    Ok(ads.into_iter().zip(is_current).filter_map(|(ad, is_held)| is_held.then_some(ad)).collect())
}
