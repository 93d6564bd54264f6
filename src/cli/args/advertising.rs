//! Selection of the ads that take part in matching: not expired, the latest of each identity, not matched before.

use std::borrow::Cow;

use clap::Args;
use classad::matching::{Party, Registrar};
use classad::protocol::{AdvertisementHeader, latest_advertisements};

use super::global;
use crate::cli::Failure;
use crate::cli::io::input::NamedAd;
use crate::cli::io::match_records;
use crate::cli::session::Session;

/// When ads have to count.
#[derive(Args)]
pub struct LifetimeArgs {
    /// When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and
    /// `ClassAdLifetime`: a time as of --now [default: the time of --now]
    #[arg(long, value_name = "TIME", value_parser = global::time, allow_hyphen_values = true)]
    at: Option<i64>,
    /// Take the ads as they are given: expired ones, too, and all of several that have one name
    #[arg(long, conflicts_with = "at")]
    as_given: bool,
}

impl LifetimeArgs {
    /// Returns the time as of which ads must not have expired, in seconds since 1970; `None` if no ad can expire.
    pub fn expiry_time(&self, session: &Session) -> Option<i64> {
        if self.as_given { None } else { self.at.or(session.context().now) }
    }

    /// Keeps the latest of the ads that share an identity, and notes how many are dropped.
    ///
    /// `what` is the plural noun of the note. `id` is the text of `--id`, if given.
    pub fn retain_latest(&self, session: &Session, ads: Vec<NamedAd>, what: &str, id: Option<&str>) -> Vec<NamedAd> {
        if self.as_given {
            return ads;
        }
        let context = session.context();
        let counts = latest_advertisements(ads.len(), |index| {
            let standing = ads[index].standing(&context);
            // With `--id`, ads are duplicates if both identity and display name agree. Agreement in the display name
            // does not suffice, as many ads may share one heading.
            let called = ads[index].id();
            let asked = id.map(|_| match &standing.identity {
                Some(own) => format!("{}\n{called}", own.to_str()).into(),
                None => called.into(),
            });
            match asked {
                Some(asked) => Cow::Owned(AdvertisementHeader { identity: Some(asked), ..standing.into_owned() }),
                None => standing,
            }
        });
        retain_flagged(session, ads, &counts, |left, all| {
            format!(
                "{left} of {all} {what} left out: there are later ads of the same name (--as-given takes them, too)"
            )
        })
    }

    /// Drops the ads that have expired, and notes how many.
    fn retain_unexpired(&self, session: &Session, ads: Vec<NamedAd>, what: &str) -> Vec<NamedAd> {
        let Some(at) = self.expiry_time(session) else { return ads };
        let context = session.context();
        let counts: Vec<bool> = ads.iter().map(|ad| !ad.standing(&context).has_expired(at)).collect();
        retain_flagged(session, ads, &counts, |left, all| {
            format!("{left} of {all} {what} left out: expired by {at} (--at sets the time, --as-given takes them, too)")
        })
    }
}

/// Which ads take part in matching.
#[derive(Args)]
pub struct AdvertisingArgs {
    #[command(flatten)]
    pub lifetime: LifetimeArgs,
    /// Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify
    /// wrote, or `-o jsonl`
    #[arg(long, value_name = "FILE")]
    matched: Vec<String>,
}

impl AdvertisingArgs {
    /// Whether `--matched` names records of earlier matches.
    pub fn reads_match_records(&self) -> bool {
        !self.matched.is_empty()
    }

    /// Keeps the requests and offers that take part in matching, and notes how many are dropped for which reason.
    ///
    /// # Errors
    ///
    /// A file of `--matched` cannot be read.
    pub fn select_current(
        &self,
        session: &mut Session,
        [requests, offers]: [Vec<NamedAd>; 2],
        id: Option<&str>,
    ) -> Result<[Vec<NamedAd>; 2], Failure> {
        let mut registrar = Registrar::default();
        for notice in match_records::read_match_records(session, &self.matched)? {
            registrar.record(&notice);
        }
        let current = |ads, what| {
            let ads = self.lifetime.retain_latest(session, ads, what, id);
            let ads = self.lifetime.retain_unexpired(session, ads, what);
            self.retain_unmatched(session, ads, what, &registrar)
        };
        Ok([current(requests, "requests"), current(offers, "offers")])
    }

    /// Drops the ads that a match of `--matched` contains and that were not advertised again since, and notes how many.
    fn retain_unmatched(
        &self,
        session: &Session,
        ads: Vec<NamedAd>,
        what: &str,
        registrar: &Registrar,
    ) -> Vec<NamedAd> {
        if self.matched.is_empty() {
            return ads;
        }
        let context = session.context();
        let fresh = |ad: &NamedAd| !registrar.was_matched(&Party::new(ad.advertisement(), ad.id(), &context));
        let counts: Vec<bool> = ads.iter().map(fresh).collect();
        retain_flagged(session, ads, &counts, |left, all| {
            format!("{left} of {all} {what} left out: matched before and not advertised afresh")
        })
    }
}

/// Drops the ads whose flag in `counts` is false. If any are dropped, prints a note; `message` makes the text of the
/// note from the numbers of dropped ads and of all ads.
fn retain_flagged(
    session: &Session,
    ads: Vec<NamedAd>,
    counts: &[bool],
    message: impl Fn(usize, usize) -> String,
) -> Vec<NamedAd> {
    let left = counts.iter().filter(|counts| !**counts).count();
    if left == 0 {
        return ads;
    }
    session.note(&message(left, ads.len()));
    let kept = ads.into_iter().zip(counts).filter(|(_, counts)| **counts);
    kept.map(|(ad, _)| ad).collect()
}
