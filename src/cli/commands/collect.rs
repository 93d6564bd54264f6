//! `classad collect`: the ads that a collector holds (thesis 3.4.2).

use std::borrow::Cow;

use clap::Args;
use classad::eval::Context;
use classad::format::FileFormat;
use classad::matching::{Party, Registrar};
use classad::protocol::{
    Advertisement, AdvertisementHeader, Protocol, advertisement_fault, identity, latest_advertisements,
    updated_advertisement,
};
use classad::text::{counted, join_and};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::advertising::MatchedArgs;
use crate::cli::args::global::time;
use crate::cli::clock::utc_text;
use crate::cli::io::argument_text;
use crate::cli::io::collector_snapshot::{LATER_ADS, retain_flagged};
use crate::cli::io::input;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::assign_content_ids;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::{DocumentWriter, OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad collect samples/advertising/machines.ad --at 972223200
  classad collect samples/advertising/machines.ad --update samples/advertising/updates.ad \\
      --at 972224000 -o names";

/// Print the ads that a collector would have after it received the ads and updates in the files
///
/// Ads arrive in the order of the files. Of several ads with the same name and type, the one with the greatest
/// `UpdateSequenceNumber` counts; among equals, the last. An ad expires after `ExpirationTime` or, without it,
/// `ClassAdLifetime` seconds after `LastHeardFrom`. An update has the name of an ad and the attributes that changed. An
/// ad that is matched (--matched) is missing until its sender sends a whole ad with a greater `UpdateSequenceNumber`.
///
/// Ads that are not valid are refused. `Ports` must be a list of ports with distinct labels, and each port needs a
/// constraint. So does an ad without ports, unless its `MyType` is neither `Job` nor `Machine`, as in the ads of daemons.
///
/// Exit status: 0 if the collector has an ad; 1 if it has none; 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CollectCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// A file of updates, in the order in which they were sent
    #[arg(long, value_name = "FILE")]
    update: Vec<String>,
    /// Print the ads that the collector would have at TIME [default: the time of --now, else the current time]
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    at: Option<i64>,
    #[command(flatten)]
    matched: MatchedArgs,
    /// Expression for the names of ads; ads with the same name replace each other
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// Format of the output
    #[arg(short = 'o', long = "output", value_name = "FORM")]
    form: Option<OutputForm>,
}

/// The ads that are held, and how they are found.
struct Collector {
    ads: Vec<HeldAd>,
    /// Indexes of the ads with an identity.
    by_identity: FxHashMap<String, Vec<usize>>,
    context: Context,
}

/// An ad that a collector holds.
struct HeldAd {
    ad: NamedAd,
    header: AdvertisementHeader,
    /// Whether the ad is used up by a match.
    is_matched: bool,
}

impl CollectCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let files = input::or_stdin(&self.input.paths()?);
        input::check_stdin(files.iter().chain(&self.update))?;
        let sources = input::open_sources(session, &files)?;
        let updates = if self.update.is_empty() { Vec::new() } else { input::open_sources(session, &self.update)? };
        input::decide_dialect_and_time(session, sources.iter().chain(&updates));
        let form = sources.first().map_or(FileFormat::Bracketed, |source| source.form);
        let id = argument_text::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let context = session.context();
        let identity_of = |ad: &NamedAd| match &id {
            Some(_) => identity(&ad.ad, id.as_ref(), &context),
            None => Advertisement::new(&ad.ad, &context).header().identity.map(|own| own.to_str().into_owned()),
        };

        let ads = input::read_named_ads(session, sources, id.as_ref())?;
        let mut ads = retain_valid(session, ads, &context)?;
        assign_content_ids([&mut ads]);
        let mut collector = Collector::new(session, ads, &identity_of);
        collector.mark_matched(&self.matched.registrar(session)?);
        let mut discarded: IndexMap<String, (String, usize)> = IndexMap::new();
        for update in input::read_named_ads(session, updates, id.as_ref())? {
            if let Err(reason) = collector.update(&update, identity_of(&update)) {
                discarded.entry(reason).or_insert_with(|| (update.id().to_owned(), 0)).1 += 1;
            }
        }
        let discarded: Vec<String> = discarded
            .iter()
            .map(|(reason, (first, count))| format!("{} {reason} (first: {first})", counted(*count, "update")))
            .collect();
        if !discarded.is_empty() {
            session.note(&format!("discarded: {}", join_and(&discarded)));
        }
        let at = self.at.or(context.now);
        let held = collector.into_held(session, at);
        let mut writer = DocumentWriter::new(self.form);
        writer.begin_file(&mut out(), form)?;
        for ad in &held {
            writer.write(session, &mut out(), ad)?;
        }
        writer.finish(&mut out())?;
        Ok(Status::of(!held.is_empty()))
    }
}

/// Reports the ads that are no valid advertisements, and returns the others (thesis 3.3.2).
fn retain_valid(session: &mut Session, ads: Vec<NamedAd>, context: &Context) -> Result<Vec<NamedAd>, Failure> {
    let protocol = Protocol::new(context.dialect);
    let mut valid = Vec::with_capacity(ads.len());
    for ad in ads {
        match advertisement_fault(&ad.ad, &protocol, context) {
            Some(fault) => ad.report_invalid(session, &fault)?,
            None => valid.push(ad),
        }
    }
    Ok(valid)
}

impl Collector {
    /// Keeps the latest ad of each agent. `identity_of` returns the identity of an ad.
    fn new(session: &Session, ads: Vec<NamedAd>, identity_of: &dyn Fn(&NamedAd) -> Option<String>) -> Self {
        let context = session.context();
        let header = |ad: &NamedAd| {
            let header = Advertisement::new(&ad.ad, &context).header();
            AdvertisementHeader { identity: identity_of(ad).map(|identity| identity.as_str().into()), ..header }
        };
        let ads = ads.into_iter().map(|ad| HeldAd { header: header(&ad), ad, is_matched: false });
        let ads: Vec<HeldAd> = ads.collect();
        let is_latest = latest_advertisements(ads.len(), |index| Cow::Borrowed(&ads[index].header));
        let ads = retain_flagged(session, ads, "ad", &is_latest, LATER_ADS);
        let mut by_identity: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (index, HeldAd { ad, header, .. }) in ads.iter().enumerate() {
            let identity = header.identity.as_ref().map(|identity| identity.to_str().into_owned());
            by_identity.entry(identity.unwrap_or_else(|| ad.record_id().to_owned())).or_default().push(index);
        }
        Collector { ads, by_identity, context }
    }

    /// Marks the ads that earlier matches have used up.
    fn mark_matched(&mut self, registrar: &Registrar) {
        for HeldAd { ad, is_matched, .. } in &mut self.ads {
            let was_matched = |id| registrar.was_matched(&Party::new(&ad.ad, id, &self.context));
            *is_matched = was_matched(ad.record_id()) || was_matched(ad.id());
        }
    }

    /// Updates the ad that `identity` and the kind of the update name.
    ///
    /// # Errors
    ///
    /// Returns the reason why the update is discarded, as a phrase that follows its noun.
    fn update(&mut self, update: &NamedAd, identity: Option<String>) -> Result<(), String> {
        let identity = identity.ok_or("without a name")?;
        let kind = Advertisement::new(&update.ad, &self.context).header().kind;
        let of_name = self.by_identity.get(&identity).map(Vec::as_slice).unwrap_or_default();
        let of_kind = of_name.iter().filter(|index| kind.is_none() || self.ads[**index].header.kind == kind);
        match *of_kind.copied().collect::<Vec<usize>>() {
            [] => Err("for which no ad is held".to_owned()),
            [index] if self.ads[index].is_matched => Err("of an ad that is matched".to_owned()),
            [index] => {
                let held = &mut self.ads[index].ad;
                let updated = updated_advertisement(&held.ad, &update.ad, &self.context);
                let updated = updated.map_err(|fault| fault.to_string())?;
                let protocol = Protocol::new(self.context.dialect);
                if let Some(fault) = advertisement_fault(&updated, &protocol, &self.context) {
                    return Err(format!("that makes its ad invalid: {fault}"));
                }
                *held = held.clone().with_ad(updated);
                Ok(())
            }
            _ => Err("for a name that ads of several kinds have".to_owned()),
        }
    }

    /// Returns the ads that are held at the time `at`, in seconds since 1970.
    fn into_held(self, session: &Session, at: Option<i64>) -> Vec<NamedAd> {
        let Collector { ads, context, .. } = self;
        let is_unmatched: Vec<bool> = ads.iter().map(|held| !held.is_matched).collect();
        let ads = retain_flagged(session, ads, "ad", &is_unmatched, "matched before and not advertised since");
        let ads: Vec<NamedAd> = ads.into_iter().map(|held| held.ad).collect();
        let Some(at) = at else { return ads };
        let has_expired = |ad: &NamedAd| Advertisement::new(&ad.ad, &context).header().has_expired(at);
        let is_current: Vec<bool> = ads.iter().map(|ad| !has_expired(ad)).collect();
        retain_flagged(session, ads, "ad", &is_current, &format!("expired by {}", utc_text(at)))
    }
}
