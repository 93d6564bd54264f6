//! Comparison of two files in the long form by the texts of their ads. Only ads whose texts differ are compared as
//! trees.

use std::sync::Arc;

use classad::ad::Expression;
use classad::eval::Context;
use classad::format::{AdEntry, AdTextReader, Problem, ReadCache, StreamBlock, is_closed};
use classad::pool::diff::UnpairedAds;
use classad::protocol::identity;

use super::{AdComparison, DiffReport};
use crate::cli::io::block_pipeline::{BlockTask, for_each_block};
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// The ads of the first file.
#[derive(Default)]
struct KeptAds {
    /// The texts of the blocks.
    blocks: Vec<StreamBlock>,
    ads: Vec<KeptAd>,
}

/// An ad of the first file.
struct KeptAd {
    /// Index of the block in the kept blocks. `None` if the ad has found its partner.
    block: Option<usize>,
    /// Byte range of the text in the block.
    start: usize,
    end: usize,
    /// Number of the ad in the file.
    number: usize,
    /// Whether an ad of the second file with the same text has no problems, and ends where this text ends.
    is_skippable: bool,
    identity: Option<Arc<str>>,
}

/// Compares two files in the long form. Keeps the text of the first one and streams the second one.
pub fn compare_texts(
    session: &mut Session,
    comparison: &AdComparison,
    [before, after]: [&mut AdSource; 2],
) -> Result<DiffReport, Failure> {
    let mut kept = KeptAds::read(session, comparison, before)?;
    let mut unpaired: UnpairedAds<Option<Arc<str>>> = kept.ads.iter().map(|ad| ad.identity.clone()).collect();
    let mut report = DiffReport::default();
    let mut caches = [(); 2].map(|()| ReadCache::new(session.dialect()));
    let [old_cache, new_cache] = &mut caches;
    // The files mostly have their ads in the same order.
    let mut predicted = 0;
    while let Some(text) = input::next_block(session, after) {
        let mut reader = AdTextReader::new(&text.block, new_cache);
        loop {
            session.check_interrupt()?;
            let (rest, _) = reader.rest();
            if rest.is_empty() {
                break;
            }
            if let Some(length) = kept.same_text(predicted, rest, &unpaired) {
                unpaired.take_partner(&kept.ads[predicted].identity);
                kept.ads[predicted].block = None;
                report.equal += 1;
                after.ads_read += 1;
                reader.skip(length);
                predicted += 1;
                continue;
            }
            let Some(placed) = reader.next_ad() else { break };
            after.ads_read = after.ads_read.max(placed.number);
            for item in placed.items {
                let new = match item {
                    Ok(entry) => entry,
                    Err(problem) => {
                        session.report_problem(&text, &problem)?;
                        continue;
                    }
                };
                let identity = identity(&new.ad, comparison.id.as_ref(), &comparison.context);
                let partner = unpaired.take_partner(&identity.as_deref().map(Arc::from));
                predicted = partner.map_or(predicted, |partner| partner + 1);
                match kept.compare(comparison, partner, (&new, placed.text), old_cache) {
                    None => report.equal += 1,
                    Some(old) => report.changes.push(comparison.change(identity, old, Some(new))),
                }
                if session.options.quiet && !report.changes.is_empty() {
                    return Ok(report);
                }
            }
        }
        after.recycle(text);
    }
    kept.report_unpaired(comparison, old_cache, &mut report);
    Ok(report)
}

impl KeptAds {
    /// Reports the ads that have no partner in the second file.
    fn report_unpaired(&self, comparison: &AdComparison, cache: &mut ReadCache, report: &mut DiffReport) {
        for place in 0..self.ads.len() {
            if let Some(old) = self.entry(place, cache) {
                let identity = self.ads[place].identity.as_deref().map(str::to_owned);
                report.changes.push(comparison.change(identity, Some(old), None));
            }
        }
    }

    /// Compares an ad of the second file with its partner, which is then no longer kept. `None` if they are equal; else
    /// the partner, if there is one.
    #[allow(clippy::option_option)] // whether they differ, and whether there is a partner
    fn compare(
        &mut self,
        comparison: &AdComparison,
        partner: Option<usize>,
        (new, text): (&AdEntry, &[u8]),
        cache: &mut ReadCache,
    ) -> Option<Option<AdEntry>> {
        let is_same = partner.is_some_and(|partner| self.text(partner) == Some(text));
        let old = partner.filter(|_| !is_same).and_then(|partner| self.entry(partner, cache));
        if let Some(partner) = partner {
            self.ads[partner].block = None;
        }
        let are_equal = is_same || old.as_ref().is_some_and(|old| comparison.are_equal(old, new));
        (!are_equal).then_some(old)
    }

    /// Reads the first file. Reports its problems.
    fn read(session: &mut Session, comparison: &AdComparison, source: &mut AdSource) -> Result<KeptAds, Failure> {
        let task = PlacementTask { id: comparison.id.as_ref(), context: session.context() };
        let mut kept = KeptAds::default();
        for_each_block(session, [source], &task, &mut |session, source, text, placed: PlacedBlock| {
            for problem in placed.problems {
                session.report_problem(text, &problem.after_ads(source.ads_read))?;
            }
            let block = Some(kept.blocks.len());
            kept.blocks.push(StreamBlock {
                // The memory of the block may be longer than the text, so the text is copied.
                text: text.block.text.as_slice().to_vec(),
                described: text.block.described.clone(),
                ..StreamBlock::from_complete_text(Vec::new(), text.block.form)
            });
            let before = source.ads_read;
            kept.ads.extend(placed.ads.into_iter().map(|ad| KeptAd { block, number: before + ad.number, ..ad }));
            source.ads_read += placed.last;
            Ok(true)
        })?;
        Ok(kept)
    }

    /// Returns the text of an ad; `None` if the ad has found its partner.
    fn text(&self, place: usize) -> Option<&[u8]> {
        let ad = self.ads.get(place)?;
        Some(&self.blocks.get(ad.block?)?.text[ad.start..ad.end])
    }

    /// Returns the length of the text of an ad if `rest` begins with the same text, and if an ad of this text would be
    /// paired with this ad.
    fn same_text(&self, place: usize, rest: &[u8], unpaired: &UnpairedAds<Option<Arc<str>>>) -> Option<usize> {
        let text = self.text(place).filter(|text| rest.starts_with(text))?;
        let ad = &self.ads[place];
        (ad.is_skippable && unpaired.partner(&ad.identity) == Some(place)).then_some(text.len())
    }

    /// Reads an ad; `None` if the ad has found its partner.
    fn entry(&self, place: usize, cache: &mut ReadCache) -> Option<AdEntry> {
        let ad = self.ads.get(place)?;
        let block = self.blocks.get(ad.block?)?;
        let placed = AdTextReader::at(block, ad.start, ad.number.saturating_sub(1), cache).next_ad()?;
        placed.items.into_iter().find_map(Result::ok)
    }
}

/// Finds the ads of a block with their identities.
struct PlacementTask<'a> {
    /// The expression of `--id`.
    id: Option<&'a Expression>,
    context: Context,
}

/// The ads of a block. Their numbers count from the beginning of the block, and their blocks are unknown.
struct PlacedBlock {
    ads: Vec<KeptAd>,
    problems: Vec<Problem>,
    /// Number of the last ad of the block.
    last: usize,
}

impl BlockTask for PlacementTask<'_> {
    type State = ReadCache;
    type Output = PlacedBlock;

    fn new_state(&self) -> ReadCache {
        ReadCache::new(self.context.dialect)
    }

    fn run(&self, cache: &mut ReadCache, block: &StreamBlock) -> PlacedBlock {
        let mut done = PlacedBlock { ads: Vec::new(), problems: Vec::new(), last: 0 };
        let mut reader = AdTextReader::new(block, cache);
        while let Some(placed) = reader.next_ad() {
            done.last = placed.number;
            let is_clean = placed.items.len() == 1;
            for item in placed.items {
                let entry = match item {
                    Ok(entry) => entry,
                    Err(problem) => {
                        done.problems.push(problem);
                        continue;
                    }
                };
                done.ads.push(KeptAd {
                    block: None,
                    start: placed.offset,
                    end: placed.offset + placed.text.len(),
                    number: entry.number,
                    is_skippable: is_clean && is_closed(placed.text),
                    identity: identity(&entry.ad, self.id, &self.context).map(Arc::from),
                });
            }
        }
        done
    }
}
