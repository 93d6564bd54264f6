//! Selective loading: reads only those attributes of requests and offers that matching can look up.

use std::borrow::Cow;

use classad::ad::{ByteString, Dialect, Expression, Name};
use classad::eval::{Context, FreeNames};
use classad::format::{
    AdBatch, AdEntry, AdSharing, AdTranscriber, BlockItem, FileFormat, Problem, ProjectingReader, Projection,
    StreamBlock,
};
use classad::protocol::{
    ADVERTISEMENT_ATTRIBUTES, Advertisement, HEADER_ATTRIBUTES, PORTS, Protocol, RESOURCE_REQUESTS, display_name,
};
use fixedbitset::FixedBitSet;

use super::named_ad::NamedAd;
use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::render::output;
use crate::cli::session::Session;

/// Maximum number of rounds in which sides are read again. Reading one side may reveal further attributes that are
/// needed of the other side. After this number of rounds, all ads are read whole.
const MAX_PASSES: usize = 6;

/// Number of bytes sampled from each file of offers before the first pass. The sample comes from all over the file and
/// reveals nearly all attributes that the offers look up in requests. This saves a second pass over the requests.
const OFFER_SAMPLE_BYTES: u64 = 1 << 19;

/// Reads the ads of both sides selectively. Ads that matching cannot tell apart may share one [`Ad`](classad::ad::Ad).
///
/// `None` if the ads have to be read whole, for example because some source is not a file in the long form, because an
/// expression may read any attribute, because an ad has ports (a port can read any attribute of the ad docked there),
/// or because the ad of a submitter holds nested requests.
///
/// If an ad mentions an attribute, the attribute is read from this ad in the same pass. Matching may also look the
/// attribute up on the other side. If the last pass over the other side began before the attribute was selected, the
/// other side is read again.
pub fn load_selectively(
    session: &mut Session,
    sides: [&[AdSource]; 2],
    requirements: &LoadRequirements<'_>,
) -> Result<Option<LoadedAds>, Failure> {
    let Some(sides) = requirements.load_sides(sides) else { return Ok(None) };
    for side in &sides {
        for (text, problem) in &side.problems {
            session.report_problem(text, problem)?;
        }
        side.notes.iter().for_each(|note| session.note(note));
    }
    let newest_time = sides.iter().filter_map(|side| side.newest_time).max();
    let [requests, offers] = sides.map(|side| side.ads);
    Ok(Some(LoadedAds { requests, offers, newest_time }))
}

/// The data that is needed of each ad beside the attributes that matching looks up.
pub struct LoadRequirements<'l> {
    /// The expression of `--id`, for display names.
    pub id: Option<&'l Expression>,
    /// Which ads keep the attributes of the advertising protocol and those of `label_names`.
    pub kept_labels: KeptLabels,
    /// Whether ads with syntax errors in attributes that nobody reads are reported and left out, too.
    pub reports_all_errors: bool,
    /// Further attributes that are kept of each of these ads. Matching does not look them up.
    pub label_names: &'l [&'l str],
    /// Names of further attributes that the caller looks up.
    pub additional_names: &'l FreeNames,
    pub protocol: Protocol,
    pub context: Context,
}

/// Which ads keep attributes that matching does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptLabels {
    /// No ads.
    None,
    /// The requests, for reports on them.
    OfRequests,
    /// All ads, for notifications.
    All,
}

/// The ads of both sides.
pub struct LoadedAds {
    pub requests: Vec<NamedAd>,
    pub offers: Vec<NamedAd>,
    /// The newest time that an ad tells, in seconds since 1970; `None` if none does. See [`Advertisement::time`].
    pub newest_time: Option<i64>,
}

/// The ads that one pass over a side has read.
#[derive(Default)]
struct LoadedSide {
    ads: Vec<NamedAd>,
    problems: Vec<(SourceText, Problem)>,
    notes: Vec<String>,
    /// Whether an ad has ports, or is that of a submitter with nested requests.
    has_nested_ads: bool,
    /// Whether an ad has no name. A record of its match calls it by its contents, which must then be read whole.
    has_unnamed: bool,
    /// The newest time that an ad tells; `None` if none does.
    newest_time: Option<i64>,
    /// Version of the projection when the pass began. The ads may lack attributes that were added to the projection in
    /// a later version.
    version_at_start: usize,
    /// Version of the projection that added the newest name. Only names that the ads of this side mention count; 0 if
    /// there are none.
    newest_name_version: usize,
}

/// The check of a side's whole ads, beside the first pass over their projections.
struct SyntaxCheck {
    transcriber: AdTranscriber,
    /// The numbers of the ads without syntax errors, for each source that was checked.
    sound: Vec<FixedBitSet>,
    problems: Vec<(SourceText, Problem)>,
}

impl SyntaxCheck {
    fn new(dialect: Dialect) -> Self {
        SyntaxCheck { transcriber: AdTranscriber::new(dialect, None), sound: Vec::new(), problems: Vec::new() }
    }

    /// Checks the ads of a block.
    fn add(&mut self, text: &SourceText, source: usize) {
        self.sound.resize_with(self.sound.len().max(source + 1), FixedBitSet::new);
        let sound = &mut self.sound[source];
        let (mut ads, mut nothing) = (self.transcriber.transcribe(&text.block), AdBatch::default());
        while let Some(item) = ads.next(&mut nothing) {
            match item {
                BlockItem::Taken(number) | BlockItem::Read(Ok(AdEntry { number, .. })) => sound.grow_and_insert(number),
                BlockItem::Read(Err(problem)) => self.problems.push((text.clone(), problem)),
            }
        }
    }
}

impl LoadRequirements<'_> {
    /// Reads both sides. Reads a side again if it lacks attributes that the other side mentions. `None` if the ads have
    /// to be read whole. Also `None` after a read error: the caller then reads the ads whole and reports the error.
    fn load_sides(&self, [requests, offers]: [&[AdSource]; 2]) -> Option<[LoadedSide; 2]> {
        let mut selection = self.initial_projection()?;
        if !requests.iter().chain(offers).all(AdSource::is_long_file) {
            return None;
        }
        for source in offers {
            for piece in source.sample(OFFER_SAMPLE_BYTES).ok()? {
                // A piece of the sample may begin or end within an ad, because references are collected line by line.
                StreamBlock::from_complete_text(piece.ok()?, FileFormat::Long)
                    .project(&mut selection)
                    .collect_references();
            }
        }
        if selection.reads_everything() {
            return None;
        }
        // Requests are always deduplicated: the number of distinct ones is part of the statistics.
        let inputs = [(requests, AdSharing::Always, true), (offers, AdSharing::WhileProfitable, false)];
        let mut checks = [0, 1].map(|_| self.reports_all_errors.then(|| SyntaxCheck::new(self.context.dialect)));
        let mut load = |side: usize| self.load_side(inputs[side], &mut selection, checks[side].as_mut());
        let mut sides = [load(0)?, load(1)?];
        for _ in 0..MAX_PASSES {
            let lacks = |side: usize| sides[1 - side].newest_name_version > sides[side].version_at_start;
            let lacks = [lacks(0), lacks(1)];
            if lacks == [false, false] {
                let needs_contents = self.kept_labels == KeptLabels::All && sides.iter().any(|side| side.has_unnamed);
                if needs_contents || sides.iter().any(|side| side.has_nested_ads) {
                    return None;
                }
                output::leak_on_exit(selection);
                for (side, check) in sides.iter_mut().zip(checks.iter_mut().flatten()) {
                    side.problems.append(&mut check.problems);
                }
                return Some(sides);
            }
            for side in (0..2).filter(|side| lacks[*side]) {
                sides[side] = load(side)?;
            }
        }
        None
    }

    /// Returns the projection onto the names that are needed whatever the ads contain. `None` if the expression of
    /// `--id` or the caller may read any attribute.
    fn initial_projection(&self) -> Option<Projection> {
        let also = self.additional_names;
        let mut labels = FreeNames::default();
        let keeps_all = self.kept_labels == KeptLabels::All;
        let advertising = if keeps_all { &ADVERTISEMENT_ATTRIBUTES } else { HEADER_ATTRIBUTES };
        labels.names.extend(advertising.iter().map(|name| Name::new(name)));
        if let Some(id) = self.id {
            labels.add(id, self.context.dialect);
        }
        let names = self
            .protocol
            .attribute_names()
            .cloned()
            .chain([PORTS.clone(), RESOURCE_REQUESTS.clone()])
            .chain(also.names.iter().cloned());
        let everything = labels.reads_anything || also.reads_anything;
        let kept = self.label_names.iter().map(|name| Name::new(name));
        (!everything).then(|| Projection::new(names, self.context.dialect).with_shared_ads(labels.names).keeping(kept))
    }

    /// Reads the sources of a side from their beginnings; `None` if reading fails or the ads have to be read whole.
    fn load_side(
        &self,
        (sources, sharing, is_request): (&[AdSource], AdSharing, bool),
        selection: &mut Projection,
        mut check: Option<&mut SyntaxCheck>,
    ) -> Option<LoadedSide> {
        let is_checked = check.as_ref().is_some_and(|check| !check.sound.is_empty());
        let mut side = LoadedSide { version_at_start: selection.begin_input(sharing), ..LoadedSide::default() };
        for (number, source) in sources.iter().enumerate() {
            let mut source = source.reopen().ok()?;
            let mut blocks = 0;
            while let Some(text) = source.next_block().ok()? {
                blocks += 1;
                if !is_checked && let Some(check) = &mut check {
                    check.add(&text, number);
                }
                let sound = check.as_ref().map(|check| &check.sound[number]);
                let mut selected = text.block.project(selection);
                while let Some(item) = selected.next() {
                    match (item, sound) {
                        (Ok(entry), Some(sound)) if !sound.contains(entry.number) => {}
                        (Err(_), Some(_)) => {}
                        (Ok(entry), _) => {
                            let (ad, time, is_named) = self.name_entry(entry, &selected, &source.name, is_request);
                            side.has_unnamed |= !is_named;
                            side.newest_time = side.newest_time.max(time);
                            side.ads.push(ad);
                        }
                        (Err(problem), None) => side.problems.push((text.clone(), problem)),
                    }
                }
                source.ads_read = selected.number();
                side.has_nested_ads |= selected.has_occurred(&PORTS) || selected.has_occurred(&RESOURCE_REQUESTS);
                if blocks == 2 {
                    // Reserve memory for the rest of the file, so that the growing vector does not move the ads. The
                    // first block is too short for an estimate. The estimate may exceed the memory: ignore the error,
                    // because the vector grows as needed.
                    let left = source.estimated_ads_left();
                    let _ = side.ads.try_reserve(left.saturating_add(left / 16));
                }
                source.recycle(text);
            }
            side.notes
                .extend(source.take_unfinished_line().map(|line| super::input::unfinished_note(&source.name, line)));
        }
        side.newest_name_version = selection.newest_referenced();
        (!selection.reads_everything()).then_some(side)
    }

    /// Names an ad. Also returns the time that the ad tells, and whether it has a name of its own.
    fn name_entry(
        &self,
        entry: AdEntry,
        selected: &ProjectingReader<'_, '_>,
        source: &str,
        is_request: bool,
    ) -> (NamedAd, Option<i64>, bool) {
        let value = |label| selected.label_value(label);
        let is_plain = selected.has_plain_labels();
        let labels = || selected.label_attributes();
        let unusual = (!is_plain || self.id.is_some()).then(labels);
        let advertisement = match &unusual {
            Some(ad) if !is_plain => Advertisement::new(ad, &self.context),
            _ => Advertisement::from_values(&value),
        };
        let header = advertisement.header();
        let mut is_named = true;
        let mut by_place = || {
            is_named = false;
            format!("{source}:{}", entry.number)
        };
        let name = match (&unusual, self.id, header.identity.as_ref().map(ByteString::to_str)) {
            (Some(ad), Some(id), _) => Some(display_name(ad, Some(id), &self.context).unwrap_or_else(&mut by_place)),
            (_, _, Some(identity)) => match (advertisement.job_name(), identity) {
                (Some(name), identity) => (name != identity).then_some(name),
                (None, Cow::Borrowed(_)) => None,
                (None, Cow::Owned(shown)) => Some(shown),
            },
            (_, _, None) => Some(by_place()),
        };
        let time = advertisement.time();
        let is_kept = match self.kept_labels {
            KeptLabels::None => false,
            KeptLabels::OfRequests => is_request,
            KeptLabels::All => true,
        };
        let kept = is_kept.then(|| unusual.unwrap_or_else(labels));
        let ad = NamedAd::from_projection(entry.ad, header, kept);
        match name {
            Some(name) => (ad.with_name(name), time, is_named),
            None => (ad, time, is_named),
        }
    }
}
