//! Which of the ads count: those that have not expired, the latest of each name, and those not matched before.

use std::borrow::Cow;

use clap::Args;
use classad::matching::{Party, Registrar};
use classad::protocol::{Standing, latest};

use super::global;
use crate::cli::Failure;
use crate::cli::io::input::Identified;
use crate::cli::io::match_records;
use crate::cli::session::Session;

/// When ads have to count.
#[derive(Args)]
pub struct Lifetime {
    /// When ads must not have expired, by their `ExpirationTime`, or `LastHeardFrom` and
    /// `ClassAdLifetime`: a time as of --now [default: the time of --now]
    #[arg(long, value_name = "TIME", value_parser = global::time, allow_hyphen_values = true)]
    at: Option<i64>,
    /// Take the ads as they are given: expired ones, too, and all of several that have one name
    #[arg(long, conflicts_with = "at")]
    as_given: bool,
}

impl Lifetime {
    /// The time, if ads can expire.
    pub fn at(&self, session: &Session) -> Option<i64> {
        if self.as_given { None } else { self.at.or(session.context().now) }
    }

    /// Of several ads with one name leaves the latest, and tells how many are left out.
    pub fn latest(&self, session: &Session, ads: Vec<Identified>, what: &str, id: Option<&str>) -> Vec<Identified> {
        if self.as_given {
            return ads;
        }
        let context = session.context();
        let counts = latest(ads.len(), |index| {
            let standing = ads[index].standing(&context);
            // A name that was asked for tells ads apart, too; by itself it may be no more than a heading.
            let called = ads[index].id();
            let asked = id.map(|_| match &standing.identity {
                Some(own) => format!("{}\n{called}", own.to_str()).into(),
                None => called.into(),
            });
            match asked {
                Some(asked) => Cow::Owned(Standing { identity: Some(asked), ..standing.into_owned() }),
                None => standing,
            }
        });
        keep(session, ads, &counts, |left, all| {
            format!(
                "{left} of {all} {what} left out: there are later ads of the same name (--as-given takes them, too)"
            )
        })
    }

    /// Leaves the ads that have not expired, and tells how many have.
    fn unexpired(&self, session: &Session, ads: Vec<Identified>, what: &str) -> Vec<Identified> {
        let Some(at) = self.at(session) else { return ads };
        let context = session.context();
        let counts: Vec<bool> = ads.iter().map(|ad| !ad.standing(&context).has_expired(at)).collect();
        keep(session, ads, &counts, |left, all| {
            format!("{left} of {all} {what} left out: expired by {at} (--at sets the time, --as-given takes them, too)")
        })
    }
}

/// Which ads take part in matching.
#[derive(Args)]
pub struct Advertising {
    #[command(flatten)]
    pub lifetime: Lifetime,
    /// Leave out ads that were matched before and have no greater `UpdateSequenceNumber` since: files that --notify
    /// wrote, or `-o jsonl`
    #[arg(long, value_name = "FILE")]
    matched: Vec<String>,
}

impl Advertising {
    /// Whether earlier matches count.
    pub fn remembers(&self) -> bool {
        !self.matched.is_empty()
    }

    /// Leaves the ads that count; what is left out is told.
    pub fn current(
        &self,
        session: &mut Session,
        [requests, offers]: [Vec<Identified>; 2],
        id: Option<&str>,
    ) -> Result<[Vec<Identified>; 2], Failure> {
        let mut registrar = Registrar::default();
        for notice in match_records::read(session, &self.matched)? {
            registrar.note(&notice);
        }
        let current = |ads, what| {
            let ads = self.lifetime.latest(session, ads, what, id);
            let ads = self.lifetime.unexpired(session, ads, what);
            self.fresh(session, ads, what, &registrar)
        };
        Ok([current(requests, "requests"), current(offers, "offers")])
    }

    /// Leaves the ads that were not matched before.
    fn fresh(&self, session: &Session, ads: Vec<Identified>, what: &str, registrar: &Registrar) -> Vec<Identified> {
        if self.matched.is_empty() {
            return ads;
        }
        let context = session.context();
        let fresh = |ad: &Identified| !registrar.has_used(&Party::new(ad.advertisement(), ad.id(), &context));
        let counts: Vec<bool> = ads.iter().map(fresh).collect();
        keep(session, ads, &counts, |left, all| {
            format!("{left} of {all} {what} left out: matched before and not advertised afresh")
        })
    }
}

/// Leaves the ads that count, and tells how many do not.
fn keep(
    session: &Session,
    ads: Vec<Identified>,
    counts: &[bool],
    message: impl Fn(usize, usize) -> String,
) -> Vec<Identified> {
    let left = counts.iter().filter(|counts| !**counts).count();
    if left == 0 {
        return ads;
    }
    session.note(&message(left, ads.len()));
    let kept = ads.into_iter().zip(counts).filter(|(_, counts)| **counts);
    kept.map(|(ad, _)| ad).collect()
}
