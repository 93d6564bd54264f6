//! The ads that follow claims and releases.

use std::path::Path;

use classad::ad::{Ad, Expression};
use classad::eval::Context;
use classad::format::FileFormat;
use classad::matching::claim::{ClaimResult, Veto, claimed_portion};
use classad::matching::{Notice, Party};
use classad::protocol::{
    AdvertisedState, Advertisement, claimed_offer, divided_offer, dynamic_slot, dynamic_slot_name, has_child, identity,
    is_partitionable, portion_of_child, released_offer, with_child, with_portion, without_child, without_portion,
};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::current_ads::CurrentAds;
use crate::cli::io::atomic_write;
use crate::cli::io::match_records::RecordedMatch;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::Failure;
use crate::cli::render::output::AdWriter;
use crate::cli::session::Session;

/// The ads that the agents of offers advertise after claims and releases.
pub struct Followers<'c> {
    current: &'c CurrentAds,
    /// The offers that follow, by the index of the current ad, each with its new dynamic slots.
    offers: IndexMap<usize, (Ad, Vec<Ad>)>,
    /// The names of the new dynamic slots.
    new_names: FxHashSet<String>,
    /// The dynamic slots that are released, by the index of the current ad.
    ended: FxHashSet<usize>,
    /// Time of the claims in seconds since 1970.
    at: i64,
    context: &'c Context,
}

/// What tells the job of a request in the ad of an offer that it uses: its users, and its identifiers.
struct JobMarks {
    users: [Option<String>; 2],
    global_id: Option<String>,
    id: Option<String>,
}

impl<'c> Followers<'c> {
    pub fn new(current: &'c CurrentAds, at: i64, context: &'c Context) -> Self {
        let (offers, new_names, ended) = (IndexMap::new(), FxHashSet::default(), FxHashSet::default());
        Followers { current, offers, new_names, ended, at, context }
    }

    /// Returns the ads: each offer, followed by its new dynamic slots.
    pub fn into_ads(self) -> Vec<Ad> {
        self.offers.into_values().flat_map(|(offer, dynamic)| std::iter::once(offer).chain(dynamic)).collect()
    }

    /// Adds the ads of the offers that a match claimed. An offer that the match divides advertises what is left of it, and a
    /// slot also the dynamic slot that is claimed.
    pub fn claim(&mut self, notice: &Notice, indexes: &[Result<usize, Veto>], claim: &ClaimResult) {
        let Some(Ok(request)) = indexes.first() else { return };
        let request = &self.current.ads[*request].ad;
        for party in claim.claimed.iter().copied().filter(|party| *party > 0) {
            let (Party { docking, whole_id, .. }, Ok(index)) = (&notice.parties[party], &indexes[party]) else {
                continue;
            };
            let ranks = docking.as_ref().and_then(|docking| docking.ranks);
            let rank = ranks.map_or(0.0, |[_, rank]| rank);
            if let Some(portion) = claim.portions.get(&party) {
                self.divide(*index, portion, (request, rank));
            } else if whole_id.is_none() {
                let offer = &self.current.ads[*index].ad;
                let claimed = claimed_offer(offer, request, rank, self.at, self.context);
                self.offers.insert(*index, (claimed, Vec::new()));
            }
        }
    }

    /// Divides an offer: `claimed_by` is the request that has claimed the portion, and the rank that the offer gives it.
    fn divide(&mut self, index: usize, portion: &Ad, claimed_by: (&Ad, f64)) {
        let (at, context, offer) = (self.at, self.context, &self.current.ads[index]);
        let before = self.offers.get(&index).map_or(&offer.ad, |(ad, _)| ad);
        let Ok(mut rest) = without_portion(before, portion, context) else { return };
        let (request, rank) = claimed_by;
        let number = self.free_number(&offer.ad, offer.id());
        let dynamic = dynamic_slot(&offer.ad, offer.id(), portion, number, context);
        let dynamic = claimed_offer(&dynamic, request, rank, at, context);
        // Only a slot of HTCondor can say that it is a claimed part of another one.
        let is_slot = matches!(Advertisement::new(&dynamic, context).state(), AdvertisedState::Slot(_));
        if is_slot {
            rest = with_child(&rest, &dynamic, at, context);
        }
        let rest = divided_offer(&rest, &offer.ad, at, context);
        let (ad, slots) = self.offers.entry(index).or_insert_with(|| (Ad::default(), Vec::new()));
        *ad = rest;
        if is_slot {
            slots.push(dynamic);
            self.new_names.insert(dynamic_slot_name(offer.id(), number));
        }
    }

    /// Returns the smallest number that no dynamic slot of a slot called `name` has.
    fn free_number(&self, slot: &Ad, name: &str) -> i64 {
        let is_taken = |number: i64| {
            let name = dynamic_slot_name(name, number);
            self.new_names.contains(&name) || self.current.has(&name) || has_child(slot, &name, number)
        };
        (1..i64::MAX).find(|number| !is_taken(*number)).unwrap_or(i64::MAX)
    }

    /// Releases the offers that are still in a match, and adds their ads. An offer stays claimed if its ad is gone, or
    /// names another user or another job than the request. A dynamic slot goes back to its slot.
    pub fn release(&mut self, of: &RecordedMatch, indexes: &[Result<usize, Veto>]) -> ClaimResult {
        let request = indexes.first().and_then(|index| index.as_ref().ok()).map(|index| &self.current.ads[*index].ad);
        let job = JobMarks::of(request, self.context);
        let mut result = ClaimResult::default();
        for (party, docked) in of.bound_offers() {
            let released = match &indexes[party] {
                Err(veto) => Err(veto.clone()),
                Ok(index) => self.release_offer(*index, docked, request, &job),
            };
            match released {
                Ok(()) => result.claimed.push(party),
                Err(veto) => result.vetoes.push((party, veto)),
            }
        }
        result
    }

    fn release_offer(
        &mut self,
        index: usize,
        docked: &Party,
        request: Option<&Ad>,
        job: &JobMarks,
    ) -> Result<(), Veto> {
        let (at, context, offer) = (self.at, self.context, &self.current.ads[index]);
        let before = self.offers.get(&index).map_or(&offer.ad, |(ad, _)| ad);
        if !docked.is_part() && !is_partitionable(&offer.ad, context) {
            if let Some(other) = job.other_in(&offer.ad, context) {
                return Err(Veto::AlreadyClaimed(format!("of {other}")));
            }
            self.offers.insert(index, (released_offer(before, at, context), Vec::new()));
            return Ok(());
        }
        let advertisement = Advertisement::new(&offer.ad, context);
        let is_newer = advertisement.sequence() > docked.sequence;
        let slots = self.current.dynamic_slots(offer.id());
        let is_of_job = |slot: &&usize| !self.ended.contains(*slot) && job.is_in(&self.current.ads[**slot].ad, context);
        let whole = match (slots.iter().find(is_of_job), &docked.portion) {
            (Some(slot), portion) => {
                let child = &self.current.ads[*slot];
                let portion = portion_of_child(&offer.ad, &child.ad, portion.as_ref(), context);
                let whole = without_child(&with_portion(before, &portion, context), child.id(), at, context);
                self.ended.insert(*slot);
                whole
            }
            // The ad is as it was before the match.
            (None, _) if !is_newer => before.clone(),
            // The claimed part of a slot has an ad of its own; that of another offer has none.
            (None, _) if matches!(advertisement.state(), AdvertisedState::Slot(_)) => return Err(Veto::Gone),
            (None, portion) => {
                let portion = claimed_portion(portion.as_ref(), request, &offer.ad, context).ok_or(Veto::Gone)?;
                with_portion(before, &portion, context)
            }
        };
        self.offers.insert(index, (divided_offer(&whole, &offer.ad, at, context), Vec::new()));
        Ok(())
    }
}

impl JobMarks {
    fn of(request: Option<&Ad>, context: &Context) -> Self {
        let value = |name| request.and_then(|request| value(request, name, context));
        let id = value("ClusterId").zip(value("ProcId")).map(|(cluster, process)| format!("{cluster}.{process}"));
        JobMarks { users: [value("User"), value("Owner")], global_id: value("GlobalJobId"), id }
    }

    /// Returns the user or the job that an offer names instead; `None` if it names no other.
    fn other_in(&self, offer: &Ad, context: &Context) -> Option<String> {
        let user = Advertisement::new(offer, context).user();
        let has_users = self.users.iter().any(Option::is_some);
        if has_users && user.is_some() && !self.users.contains(&user) {
            return user;
        }
        let now = value(offer, "GlobalJobId", context)?;
        self.global_id.as_ref().is_some_and(|job| *job != now).then_some(now)
    }

    /// Whether a dynamic slot is that of the job.
    fn is_in(&self, slot: &Ad, context: &Context) -> bool {
        let of_job = [(&self.global_id, "GlobalJobId"), (&self.id, "JobId")];
        let told = of_job.into_iter().find_map(|(job, name)| Some((job.as_ref()?, value(slot, name, context)?)));
        told.map_or_else(|| self.other_in(slot, context).is_none(), |(job, now)| *job == now)
    }
}

fn value(ad: &Ad, name: &str, context: &Context) -> Option<String> {
    identity(ad, Some(&Expression::attribute(name)), context)
}

/// Writes ads to a file, in the form of the input. Replaces the file atomically.
pub fn write_ads(session: &mut Session, path: &str, form: FileFormat, ads: &[Ad]) -> Result<(), Failure> {
    let (mut text, mut writer) = (Vec::new(), AdWriter::with_form(form).keeping_private());
    for ad in ads {
        writer.write(session, &mut text, &NamedAd::unnamed(ad.clone()))?;
    }
    writer.finish(&mut text)?;
    let written = atomic_write::create_or_replace(Path::new(path), None, |file| file.write_all(&text));
    let other_names = written.map_err(|error| Failure::unwritable(path, &error))?;
    atomic_write::warn_of_other_names(session, path, other_names);
    Ok(())
}
