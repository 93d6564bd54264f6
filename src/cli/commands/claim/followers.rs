//! The ads that follow claims and releases.

use std::path::Path;

use classad::ad::{Ad, Expression};
use classad::eval::Context;
use classad::format::FileFormat;
use classad::matching::claim::{ClaimResult, Veto};
use classad::matching::{Notice, Party};
use classad::protocol::{Advertisement, claimed_offer, identity, released_offer};

use crate::cli::Failure;
use crate::cli::io::atomic_write;
use crate::cli::io::match_records::RecordedMatch;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::render::output::AdWriter;
use crate::cli::session::Session;

/// The ads that the agents of offers advertise after claims and releases.
pub struct Followers<'c> {
    pub ads: Vec<Ad>,
    /// Time of the claims in seconds since 1970.
    pub at: i64,
    pub context: &'c Context,
}

impl Followers<'_> {
    /// Adds the ads of the offers that a match claimed. A part of an offer has none, because its agent knows the rest.
    pub fn claim(&mut self, notice: &Notice, found: &[Option<&NamedAd>], claim: Option<&ClaimResult>) {
        let claimed = claim.map(|claim| claim.claimed.as_slice()).unwrap_or_default();
        let Some(Some(request)) = found.first() else { return };
        for party in claimed.iter().copied().filter(|party| *party > 0) {
            let Party { docking, whole_id, .. } = &notice.parties[party];
            if let (Some(offer), None) = (found[party], whole_id) {
                let ranks = docking.as_ref().and_then(|docking| docking.ranks);
                let rank = ranks.map_or(0.0, |[_, rank]| rank);
                self.ads.push(claimed_offer(&offer.ad, &request.ad, rank, self.at, self.context));
            }
        }
    }

    /// Releases the offers that are still in a match, and adds their ads. An offer stays claimed if its ad is gone, or
    /// names another user or another job than the request.
    pub fn release(
        &mut self,
        of: &RecordedMatch,
        found: &[Option<&NamedAd>],
        indexes: &[Result<usize, Veto>],
    ) -> ClaimResult {
        let value = |ad: &NamedAd, name| identity(&ad.ad, Some(&Expression::attribute(name)), self.context);
        let request = found.first().copied().flatten();
        let of_request = |name| request.and_then(|request| value(request, name));
        let (users, job) = ([of_request("User"), of_request("Owner")], of_request("GlobalJobId"));
        let mut result = ClaimResult { claimed: Vec::new(), vetoes: Vec::new(), transcript: Vec::new() };
        for (party, docked) in of.bound_offers() {
            if let Err(veto) = &indexes[party] {
                result.vetoes.push((party, veto.clone()));
                continue;
            }
            let Some(offer) = found[party] else { continue };
            let user = Advertisement::new(&offer.ad, self.context).user();
            let is_other_user = users.iter().flatten().next().is_some() && user.is_some() && !users.contains(&user);
            let job_now = value(offer, "GlobalJobId");
            let other = match (&job, job_now) {
                _ if is_other_user => user,
                (Some(job), Some(now)) if *job != now => Some(now),
                _ => None,
            };
            if let Some(other) = other {
                result.vetoes.push((party, Veto::AlreadyClaimed(format!("of {other}"))));
                continue;
            }
            result.claimed.push(party);
            if docked.whole_id.is_none() {
                self.ads.push(released_offer(&offer.ad, self.at, self.context));
            }
        }
        result
    }
}

/// Writes ads to a file, in the form of the input. Replaces the file atomically.
pub fn write_ads(session: &mut Session, path: &str, form: FileFormat, ads: &[Ad]) -> Result<(), Failure> {
    let (mut text, mut writer) = (Vec::new(), AdWriter::with_form(form));
    for ad in ads {
        writer.write(session, &mut text, &NamedAd::unnamed(ad.clone()))?;
    }
    writer.finish(&mut text)?;
    atomic_write::create_or_replace(Path::new(path), &text, None).map_err(|error| Failure::unwritable(path, &error))
}
