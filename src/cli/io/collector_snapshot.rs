//! The ads that a collector holds at a time: the latest of each agent, if it has not expired (thesis 3.4.2).

use std::borrow::Cow;

use classad::format::AdEntry;
use classad::protocol::{Advertisement, latest_advertisements};
use classad::text::{counted, with_commas};

use super::input::for_each_ad;
use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::clock::utc_text;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Reads the ads that a collector holds at the time `at`, in seconds since 1970: those that `match --at` lets take part.
/// Prints notes of how many are left out.
pub fn read_latest_ads(
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
    let is_current = headers.iter().zip(&is_latest).filter(|(_, is_latest)| **is_latest);
    let is_current: Vec<bool> = is_current.map(|(header, _)| !header.has_expired(at)).collect();
    let ads = retain_flagged(session, ads, "ad", &is_latest, LATER_ADS);
    Ok(retain_flagged(session, ads, "ad", &is_current, &format!("expired by {}", utc_text(at))))
}

/// Why an ad is left out: later ads have the same identity.
pub const LATER_ADS: &str = "a later ad has the same Name or GlobalJobId";

/// Keeps the items whose flag is true. If any are dropped, prints a note of how many, and of the `reason`. `what` is the
/// noun of the items in that note, in the singular.
pub fn retain_flagged<T>(session: &Session, items: Vec<T>, what: &str, flags: &[bool], reason: &str) -> Vec<T> {
    let dropped = flags.iter().filter(|is_kept| !**is_kept).count();
    if dropped == 0 {
        return items;
    }
    session.note(&format!("{} of {} left out: {reason}", with_commas(dropped), counted(items.len(), what)));
    items.into_iter().zip(flags).filter_map(|(item, is_kept)| is_kept.then_some(item)).collect()
}
