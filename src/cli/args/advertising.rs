//! Selection of the ads that take part in matching: not expired, the latest of each identity, not matched before.

use std::borrow::Cow;

use clap::Args;
use classad::eval::FreeNames;
use classad::matching::{Party, Registrar};
use classad::protocol::{AdvertisementHeader, latest_advertisements};

use super::global;
use super::matching::{MatchArgs, ReadMode};
use super::notify::NotifyArgs;
use crate::cli::Failure;
use crate::cli::io::input::NamedAd;
use crate::cli::io::match_records;
use crate::cli::io::source::AdSource;
use crate::cli::session::Session;

/// The options that say which ads are current.
#[derive(Args)]
pub struct LifetimeArgs {
    // The time at which ads must not have expired, in seconds since 1970.
    /// When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and
    /// `ClassAdLifetime`: a time as of --now [default: the time of --now]
    #[arg(long, value_name = "TIME", value_parser = global::time, allow_hyphen_values = true)]
    at: Option<i64>,
    // With this option, an ad takes part even if it has expired, or if there is a later ad of the same identity.
    /// Take the ads as they are given: expired ones, too, and all of several that have one name
    #[arg(long, conflicts_with = "at")]
    as_given: bool,
}

impl LifetimeArgs {
    /// Returns the time as of which ads must not have expired, in seconds since 1970; `None` if no ad can expire.
    pub fn expiry_time(&self, session: &Session) -> Option<i64> {
        if self.as_given { None } else { self.at.or(session.context().now) }
    }

    /// Keeps the latest of the ads that share an identity. Prints a note of how many ads are dropped.
    ///
    /// `what` is the plural noun of the ads in that note. `id` is the text of `--id`, if given.
    pub fn retain_latest(&self, session: &Session, ads: Vec<NamedAd>, what: &str, id: Option<&str>) -> Vec<NamedAd> {
        if self.as_given {
            return ads;
        }
        let context = session.context();
        let is_latest = latest_advertisements(ads.len(), |index| {
            let header = ads[index].standing(&context);
            if id.is_none() {
                return header;
            }
            // With `--id`, ads are duplicates only if their identities and their display names are equal. Equal display
            // names alone do not suffice, as many ads may have the same value of `--id`. Ads without an identity are
            // compared by display name only.
            let name = ads[index].id();
            let identity = match &header.identity {
                Some(own) => format!("{}\n{name}", own.to_str()).into(),
                None => name.into(),
            };
            Cow::Owned(AdvertisementHeader { identity: Some(identity), ..header.into_owned() })
        });
        let reason = "there are later ads of the same name (--as-given takes them, too)";
        retain_flagged(session, ads, what, &is_latest, reason)
    }

    /// Drops the ads that have expired, and prints a note of how many.
    fn retain_unexpired(&self, session: &Session, ads: Vec<NamedAd>, what: &str) -> Vec<NamedAd> {
        let Some(at) = self.expiry_time(session) else { return ads };
        let context = session.context();
        let is_current: Vec<bool> = ads.iter().map(|ad| !ad.standing(&context).has_expired(at)).collect();
        let reason = format!("expired by {at} (--at sets the time, --as-given takes them, too)");
        retain_flagged(session, ads, what, &is_current, &reason)
    }
}

/// Which ads take part in matching, and how they are read.
#[derive(Args)]
pub struct AdvertisingArgs {
    #[command(flatten)]
    lifetime: LifetimeArgs,
    // Files with records of earlier matches. An ad of such a match takes part only if it was advertised anew since.
    /// Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify
    /// wrote, or `-o jsonl`
    #[arg(long, value_name = "FILE")]
    matched: Vec<String>,
    #[command(flatten)]
    pub common: MatchArgs,
}

impl AdvertisingArgs {
    /// Returns the time of the matches in notifications, in seconds since 1970.
    pub fn match_time(&self, session: &Session) -> Option<i64> {
        self.lifetime.expiry_time(session).or(session.context().now)
    }

    /// Returns how to read ads for bilateral matching: selectively, as not all attributes are needed. If records of
    /// matches are read or written, the attributes of the advertising protocol are read, too.
    pub fn selective_mode(&self, notify: &NotifyArgs) -> ReadMode {
        let has_records = notify.notify.is_some() || !self.matched.is_empty();
        if has_records { ReadMode::SelectiveWithAdvertisements } else { ReadMode::Selective }
    }

    /// Reads the requests and offers that take part in matching. Prints notes of how many ads are dropped, and why.
    /// `also` holds further names that the caller looks up in the ads.
    ///
    /// # Errors
    ///
    /// `--id` is no expression, an ad is bad and `--fail-fast` is given, or a file of `--matched` cannot be read.
    pub fn read_current(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        reading: ReadMode,
        also: &FreeNames,
    ) -> Result<[Vec<NamedAd>; 2], Failure> {
        // Ads read by `SelectiveUnlessPorts` lack their sequence numbers. `--matched` compares these numbers with those
        // in the records of earlier matches: read all attributes instead.
        let drops_sequences = reading == ReadMode::SelectiveUnlessPorts && !self.matched.is_empty();
        let reading = if drops_sequences { ReadMode::Whole } else { reading };
        let [requests, offers] = self.common.read_ads(session, sources, reading, also)?;
        let mut registrar = Registrar::default();
        for notice in match_records::read_match_records(session, &self.matched)? {
            registrar.record(&notice);
        }
        let context = session.context();
        let is_fresh = |ad: &NamedAd| !registrar.was_matched(&Party::new(ad.advertisement(), ad.id(), &context));
        let current = |ads, what| {
            let ads = self.lifetime.retain_latest(session, ads, what, self.common.id.as_deref());
            let ads = self.lifetime.retain_unexpired(session, ads, what);
            if self.matched.is_empty() {
                return ads;
            }
            let is_fresh: Vec<bool> = ads.iter().map(is_fresh).collect();
            retain_flagged(session, ads, what, &is_fresh, "matched before and not advertised afresh")
        };
        Ok([current(requests, "requests"), current(offers, "offers")])
    }
}

/// Keeps the ads whose flag is true. If any ads are dropped, prints a note of how many, and of the `reason`. `what` is
/// the plural noun of the ads in that note.
fn retain_flagged(session: &Session, ads: Vec<NamedAd>, what: &str, flags: &[bool], reason: &str) -> Vec<NamedAd> {
    let dropped = flags.iter().filter(|is_kept| !**is_kept).count();
    if dropped == 0 {
        return ads;
    }
    session.note(&format!("{dropped} of {} {what} left out: {reason}", ads.len()));
    let kept = ads.into_iter().zip(flags).filter(|(_, is_kept)| **is_kept);
    kept.map(|(ad, _)| ad).collect()
}
