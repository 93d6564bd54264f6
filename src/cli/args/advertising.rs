//! Selection of the ads that take part in matching: not expired, the latest of each identity, not matched before.

use std::borrow::Cow;

use clap::Args;
use classad::ad::{Name, Value};
use classad::eval::{Context, FreeNames};
use classad::matching::policy::Policy;
use classad::matching::{Party, Registrar};
use classad::protocol::{
    AdvertisedState, AdvertisementHeader, COOL_DOWN, JobState, cool_down_end, evaluate_attribute, latest_advertisements,
};
use classad::text::{counted, join_and, with_commas};
use indexmap::IndexMap;

use super::global;
use super::matching::{MatchArgs, ReadMode, with_nested_requests};
use super::notify::NotifyArgs;
use crate::cli::clock::utc_text;
use crate::cli::io::collector_snapshot::{LATER_ADS, retain_flagged};
use crate::cli::io::dump_time::adopt_time_of_old_ads;
use crate::cli::io::match_records::read_match_records;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::{assign_content_ids, distinguish_names};
use crate::cli::io::selective_load::LoadedAds;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// The options that say which ads are current.
#[derive(Args, Clone)]
pub struct LifetimeArgs {
    // The time at which ads must not have expired, in seconds since 1970.
    /// Skip ads that expired before TIME [default: the time of evaluations]. An ad expires at `ExpirationTime` or,
    /// without it, `ClassAdLifetime` seconds after `LastHeardFrom`
    #[arg(long, value_name = "TIME", value_parser = global::time, allow_hyphen_values = true)]
    at: Option<i64>,
    // With this option, an ad takes part even if it has expired, or if there is a later ad of the same identity.
    /// Also use expired ads and older ads of the same name
    #[arg(long, conflicts_with = "at")]
    as_given: bool,
}

/// The option that says whether jobs and slots of any state take part.
#[derive(Args, Clone)]
pub struct StateArgs {
    // Without this option, the states of `classad::protocol::AdvertisedState` decide.
    /// Treat all jobs as waiting for a slot and all slots as free; also use ads of daemons
    #[arg(long)]
    pub all_states: bool,
}

/// Which slots of HTCondor take part in matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotSelection {
    /// Those that are free.
    Free,
    /// Those that are free or claimed: the caller's policy decides who is preempted.
    FreeAndClaimed,
    /// All slots, and all jobs: the caller looks at the states itself.
    All,
}

impl SlotSelection {
    /// The slots that a policy lets take part: a docking vector decides for which requests users of claimed slots are
    /// preempted.
    pub fn of_policy(policy: &Policy) -> Self {
        if policy.docking.is_empty() { SlotSelection::Free } else { SlotSelection::FreeAndClaimed }
    }

    /// Whether an ad in this state can be given away. Ads that are not slots can.
    pub fn admits_ad(self, state: AdvertisedState) -> bool {
        let AdvertisedState::Slot(state) = state else { return true };
        match self {
            SlotSelection::Free => state.is_available(),
            SlotSelection::FreeAndClaimed => state.is_available() || state.is_taken(),
            SlotSelection::All => true,
        }
    }
}

impl LifetimeArgs {
    /// Returns the time as of which ads must not have expired, in seconds since 1970; `None` if no ad can expire.
    pub fn expiry_time(&self, session: &Session) -> Option<i64> {
        if self.as_given { None } else { self.at.or(session.context().now) }
    }

    /// Keeps the latest of the ads that share an identity. Prints a note of how many ads are dropped.
    ///
    /// `what` is the noun of the ads in that note, in the singular. `id` is the text of `--id`, if given.
    pub fn retain_latest(&self, session: &Session, ads: Vec<NamedAd>, what: &str, id: Option<&str>) -> Vec<NamedAd> {
        if self.as_given {
            return ads;
        }
        let context = session.context();
        let is_latest = latest_advertisements(ads.len(), |index| {
            let header = ads[index].header(&context);
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
        let reason = format!("{LATER_ADS} (--as-given includes such ads)");
        retain_flagged(session, ads, what, &is_latest, &reason)
    }

    /// Drops the ads that have expired, and prints a note of how many.
    fn retain_unexpired(&self, session: &Session, ads: Vec<NamedAd>, what: &str) -> Vec<NamedAd> {
        let Some(at) = self.expiry_time(session) else { return ads };
        let context = session.context();
        let is_current: Vec<bool> = ads.iter().map(|ad| !ad.header(&context).has_expired(at)).collect();
        let reason = format!("expired by {} (--at sets another time, --as-given includes such ads)", utc_text(at));
        retain_flagged(session, ads, what, &is_current, &reason)
    }
}

/// The option that leaves out ads that were matched before.
#[derive(Args, Clone)]
pub struct MatchedArgs {
    // Files with records of earlier matches. An ad of such a match takes part only if it was advertised anew since.
    /// Skip ads that are matched in FILE, unless their `UpdateSequenceNumber` is greater now. FILE is the output of
    /// `match`, `gangmatch` or `negotiate` with --notify. It can also be their output of -o jsonl. That lacks the
    /// numbers, so all its ads are skipped. In FILE, rows of `claim -o jsonl` can follow the matches
    #[arg(long, value_name = "FILE")]
    matched: Vec<String>,
}

impl MatchedArgs {
    /// Whether records of earlier matches are given.
    pub fn is_given(&self) -> bool {
        !self.matched.is_empty()
    }

    /// Returns the files of earlier matches.
    pub fn files(&self) -> &[String] {
        &self.matched
    }

    /// Reads the records of earlier matches and returns the registrar of those in force.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a record is bad and `--fail-fast` is given.
    pub fn registrar(&self, session: &mut Session) -> Result<Registrar, Failure> {
        let mut registrar = Registrar::default();
        for one in read_match_records(session, &self.matched)? {
            registrar.record(one.bound_parties());
        }
        Ok(registrar)
    }
}

/// Which ads take part in matching, and how they are read.
#[derive(Args, Clone)]
pub struct AdvertisingArgs {
    #[command(flatten)]
    lifetime: LifetimeArgs,
    #[command(flatten)]
    pub matched: MatchedArgs,
    #[command(flatten)]
    pub states: StateArgs,
    #[command(flatten)]
    pub common: MatchArgs,
}

impl AdvertisingArgs {
    /// Returns the time of the matches in notifications, in seconds since 1970.
    pub fn match_time(&self, session: &Session) -> Option<i64> {
        self.lifetime.expiry_time(session).or(session.context().now)
    }

    /// Returns how to read ads for bilateral matching: selectively, as not all attributes are needed. If records of
    /// matches are read or written, the attributes of the advertising protocol are read, too. Copies of ads need all.
    pub fn selective_mode(&self, notify: &NotifyArgs) -> ReadMode {
        if notify.with_ads {
            return AdvertisingArgs::whole_mode(notify);
        }
        let has_records = notify.notify.is_some() || self.matched.is_given();
        if has_records { ReadMode::SelectiveWithAdvertisements } else { ReadMode::Selective }
    }

    /// Returns a mode that reads sequence numbers, if `--matched` compares them with those in the records of earlier matches.
    fn reading_with_sequences(&self, reading: ReadMode) -> ReadMode {
        let drops_sequences = reading == ReadMode::SelectiveForReports;
        if drops_sequences && self.matched.is_given() { ReadMode::Whole } else { reading }
    }

    /// Returns the mode that reads all attributes.
    pub fn whole_mode(notify: &NotifyArgs) -> ReadMode {
        if notify.notify.is_some() { ReadMode::WholeForRecords } else { ReadMode::Whole }
    }

    /// Reads the requests and offers that take part in matching. Prints notes of how many ads are dropped, and why.
    /// `also` holds further names that the caller looks up in the ads; `slots` says which slots take part. If all ads
    /// are old, their newest time becomes the time of evaluation.
    ///
    /// # Errors
    ///
    /// `--id` is not an expression, an ad is bad and `--fail-fast` is given, or a file of `--matched` cannot be read.
    pub fn read_current(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        reading: ReadMode,
        also: &FreeNames,
        slots: SlotSelection,
    ) -> Result<[Vec<NamedAd>; 2], Failure> {
        Ok(self.read_with_schedds(session, sources, reading, also, slots)?.0)
    }

    /// Reads as [`AdvertisingArgs::read_current`] does. Also returns the ads of schedds that were among the offers.
    pub fn read_with_schedds(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        reading: ReadMode,
        also: &FreeNames,
        slots: SlotSelection,
    ) -> Result<([Vec<NamedAd>; 2], Vec<NamedAd>), Failure> {
        let reading = self.reading_with_sequences(reading);
        let mut also = also.clone();
        also.names.insert(Name::new(COOL_DOWN));
        let LoadedAds { mut requests, mut offers, newest_time } =
            self.common.read_ads(session, sources, reading, &also)?;
        adopt_time_of_old_ads(session, newest_time);
        let registrar = self.matched.registrar(session)?;
        let context = session.context();
        let for_records = matches!(reading, ReadMode::WholeForRecords | ReadMode::SelectiveWithAdvertisements);
        if for_records || self.matched.is_given() {
            let unnamed = assign_content_ids([&mut requests, &mut offers]);
            if unnamed > 0 && (reading == ReadMode::SelectiveWithAdvertisements || self.matched.is_given()) {
                let ads = counted(unnamed, "ad");
                session.note(&format!("{ads} without a name: records of matches have a hash of the contents instead"));
            }
        }
        // Rows of `match` call an ad without a name by its place.
        let is_fresh = |ad: &NamedAd| {
            let was_matched = |id| registrar.was_matched(&Party::new(ad.advertisement(), id, &context));
            !was_matched(ad.record_id()) && !was_matched(ad.id())
        };
        let current = |ads, what| {
            let ads = self.lifetime.retain_latest(session, ads, what, self.common.id.as_deref());
            let mut ads = self.lifetime.retain_unexpired(session, ads, what);
            if what == "request" {
                // Of a submitter, the requests of its newest ad count.
                ads = with_nested_requests(ads);
            }
            if !self.matched.is_given() {
                return ads;
            }
            let is_fresh: Vec<bool> = ads.iter().map(is_fresh).collect();
            retain_flagged(session, ads, what, &is_fresh, "matched before and not advertised since")
        };
        let [mut requests, offers] = [current(requests, "request"), current(offers, "offer")];
        note_wrong_side(session, [&requests, &offers]);
        if self.common.id.is_none() {
            distinguish_names(&mut requests, &context);
        }
        if self.states.all_states {
            return Ok(([requests, offers], Vec::new()));
        }
        // The caller that looks at the states itself wants all jobs.
        let requests = match slots {
            SlotSelection::All => retain_by_state(session, requests, "request", |_, state| daemon_phrase(state)),
            _ => retain_waiting(session, requests),
        };
        let schedds = offers.iter().filter(|ad| is_schedd(ad, &context)).cloned().collect();
        Ok(([requests, retain_available(session, offers, slots)], schedds))
    }
}

/// Whether an ad is that of a schedd.
fn is_schedd(ad: &NamedAd, context: &Context) -> bool {
    match evaluate_attribute(&ad.ad, &Name::new("MyType"), context) {
        Some(Value::String(kind)) => kind.to_str().eq_ignore_ascii_case("Scheduler"),
        _ => false,
    }
}

/// Prints a note if slots are among the requests, as if a file of the pool was given without `--pool`.
fn note_wrong_side(session: &Session, [requests, offers]: [&[NamedAd]; 2]) {
    let context = session.context();
    let is_slot = |ad: &NamedAd| matches!(ad.state(&context), AdvertisedState::Slot(_));
    let is_job = |ad: &NamedAd| matches!(ad.state(&context), AdvertisedState::Job(_));
    let slots = requests.iter().filter(|ad| is_slot(ad)).count();
    if slots == 0 {
        return;
    }
    let are_slots = if slots == 1 { "is a slot" } else { "are slots" };
    let of = format!("{} of {} {are_slots}", with_commas(slots), counted(requests.len(), "request"));
    if slots < requests.len() && offers.iter().any(is_slot) {
        session.note(&format!("{of}; write --pool before each file of the pool"));
    } else if offers.iter().any(is_job) {
        session.note(&format!("{of}, and the pool has jobs; give the slots with --pool"));
    }
}

/// Drops the jobs that do not wait for a slot or are in cool-down, and the ads of daemons. Prints a note of how many.
pub fn retain_waiting(session: &Session, requests: Vec<NamedAd>) -> Vec<NamedAd> {
    let context = session.context();
    retain_by_state(session, requests, "request", |job, state| match state {
        AdvertisedState::Job(JobState::Idle) => cool_down_end(&job.ad, &context).map(|_| "in cool-down"),
        AdvertisedState::Job(state) => Some(state.word()),
        state => daemon_phrase(state),
    })
}

/// Drops the jobs that neither wait for a slot, nor run, nor are held, and the ads of daemons. Prints a note of how many.
pub fn retain_queued(session: &Session, requests: Vec<NamedAd>) -> Vec<NamedAd> {
    use JobState::{Held, Idle, Running, Suspended, TransferringOutput};
    retain_by_state(session, requests, "request", |_, state| match state {
        AdvertisedState::Job(Held | Idle | Running | Suspended | TransferringOutput) => None,
        AdvertisedState::Job(state) => Some(state.word()),
        state => daemon_phrase(state),
    })
}

/// Drops the slots that cannot be given away and the ads of daemons, and prints a note of how many.
pub fn retain_available(session: &Session, offers: Vec<NamedAd>, slots: SlotSelection) -> Vec<NamedAd> {
    retain_by_state(session, offers, "offer", |_, state| match state {
        AdvertisedState::Slot(of) if !slots.admits_ad(state) => Some(of.word()),
        state => daemon_phrase(state),
    })
}

/// What the ad of a daemon is, in a note; `None` for another ad.
fn daemon_phrase(state: AdvertisedState) -> Option<&'static str> {
    (state == AdvertisedState::Daemon).then_some("of daemons")
}

/// Drops the ads whose state `exclusion` gives a word for, and prints a note of how many are dropped by each word.
fn retain_by_state(
    session: &Session,
    ads: Vec<NamedAd>,
    what: &str,
    exclusion: impl Fn(&NamedAd, AdvertisedState) -> Option<&'static str>,
) -> Vec<NamedAd> {
    let context = session.context();
    let words: Vec<Option<&str>> = ads.iter().map(|ad| exclusion(ad, ad.state(&context))).collect();
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    counts.sort_by(|_, one, _, other| other.cmp(one));
    let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{} {word}", with_commas(*count))).collect();
    let kept: Vec<bool> = words.iter().map(Option::is_none).collect();
    let reason = format!("{} (--all-states includes such ads)", join_and(&counts));
    retain_flagged(session, ads, what, &kept, &reason)
}

#[cfg(test)]
mod tests;
