//! Transformation of the ads of a block.

use std::borrow::Cow;
use std::cell::LazyCell;

use classad::ad::{Ad, Expression, Name};
use classad::eval::Context;
use classad::format::{
    AdBatch, AdBatchWriter, AdEntry, AdText, BlockAds, BlockItem, FileFormat, Problem, ReadCache, StreamBlock,
};
use classad::protocol::display_name;
use classad::syntax::LossyChange;
use classad::transform::{AppliedChange, TextTransformer, TransformCache, TransformFault};

use super::flags::Pipeline;
use crate::cli::io::block_pipeline::BlockTask;

/// Applies the rules to the ads of a block.
pub struct TransformTask<'a> {
    pub pipeline: &'a Pipeline,
    /// The expression of `--id`.
    pub id: Option<&'a Expression>,
    pub context: Context,
    pub output: ResultOutput,
    /// Whether an ad is left out if the form cannot represent a value of it.
    pub is_strict: bool,
    /// Whether the ads are named whether or not a name is needed, because a name may draw a random number.
    pub names_all: bool,
    /// Whether the file is rewritten. Then private attributes stay, and [`TransformedBlock::has_changes`] is exact:
    /// otherwise it may be true although nothing changes.
    pub is_in_place: bool,
}

/// What becomes of the resulting ads.
#[derive(Clone, Copy)]
pub enum ResultOutput {
    /// Nothing, as with `--quiet`.
    Nothing,
    /// They are written in this form.
    Ads(FileFormat),
    /// Their names are listed.
    Names,
    /// Their changes are listed.
    Changes,
}

/// The result for one block.
pub struct TransformedBlock {
    /// The texts of the resulting ads, for [`ResultOutput::Ads`].
    pub ads: AdBatch,
    /// What is reported and listed, each with the byte offset in the text of `ads` behind the ads before it.
    pub events: Vec<(usize, TransformEvent)>,
    /// Whether any ad changed, or may have.
    pub has_changes: bool,
    /// Number of the last ad of the block.
    pub last: usize,
}

/// Something that is reported or listed.
pub enum TransformEvent {
    Problem(Problem),
    /// A rule that could not be applied to an ad.
    Fault(OriginalAd, TransformFault),
    /// Changes to values of a resulting ad.
    LossyValues(OriginalAd, Vec<(Name, LossyChange)>),
    /// A resulting ad whose name is listed.
    Name(OriginalAd),
    /// A resulting ad whose changes are listed.
    Changes(Box<PipelineResult>),
}

/// An ad of a block before the rules are applied.
#[derive(Clone)]
pub struct OriginalAd {
    /// The identity; `None` if the ad has none.
    identity: Option<String>,
    /// 1-based number of the ad in its block.
    pub number: usize,
}

impl OriginalAd {
    /// Returns the identity of the ad, or the source with the number of the ad in the source. `ads_before` is the
    /// number of ads before the block.
    pub fn name(&self, source: &str, ads_before: usize) -> String {
        self.identity.clone().unwrap_or_else(|| format!("{source}:{}", ads_before + self.number))
    }
}

/// An ad that the rules made of an original ad.
pub struct PipelineResult {
    pub original: OriginalAd,
    /// The ad before the changes.
    pub before: Ad,
    /// The ad after the changes.
    pub after: Ad,
    pub changes: Vec<AppliedChange>,
    /// 1-based number of this ad among those that resulted from the original; `None` if it is the only one.
    pub copy: Option<usize>,
}

/// What a thread keeps from block to block.
pub struct TransformState<'a> {
    read: ReadCache,
    /// `None` if every ad must be read whole.
    lines: Option<TextTransformer<'a>>,
    transform: TransformCache,
    writer: Option<AdBatchWriter>,
}

impl<'a> BlockTask for TransformTask<'a> {
    type State = TransformState<'a>;
    type Output = TransformedBlock;

    fn new_state(&self) -> TransformState<'a> {
        let (form, writes_texts) = match self.output {
            ResultOutput::Ads(form) => (Some(form), true),
            ResultOutput::Nothing => (None, true),
            ResultOutput::Names | ResultOutput::Changes => (None, false),
        };
        let lines = (writes_texts && !self.names_all)
            .then(|| TextTransformer::new(&self.pipeline.transform, &self.context, form, self.is_in_place));
        TransformState {
            read: ReadCache::new(self.context.dialect),
            lines,
            transform: TransformCache::default(),
            writer: form.map(AdBatchWriter::new),
        }
    }

    fn run(&self, state: &mut TransformState<'a>, block: &StreamBlock) -> TransformedBlock {
        let TransformState { read, lines, transform, writer } = state;
        let mut done = TransformedBlock { ads: AdBatch::default(), events: Vec::new(), has_changes: false, last: 0 };
        let mut ads = BlockAds::new(block, read);
        loop {
            let take = |text: AdText| {
                let (length, is_changed) = lines.as_mut()?.push_ads(text, &mut done.ads)?;
                done.has_changes |= is_changed;
                Some(length)
            };
            match ads.next(take) {
                None => return done,
                Some(BlockItem::Taken(number)) => done.last = number,
                Some(BlockItem::Read(Ok(entry))) => {
                    done.last = entry.number;
                    self.transform_ad(&mut done, (transform, writer), entry);
                }
                Some(BlockItem::Read(Err(problem))) => {
                    done.last = done.last.max(problem.ad_number);
                    done.push(TransformEvent::Problem(problem));
                }
            }
        }
    }
}

impl TransformedBlock {
    fn push(&mut self, event: TransformEvent) {
        self.events.push((self.ads.text().len(), event));
    }
}

impl TransformTask<'_> {
    fn transform_ad(
        &self,
        done: &mut TransformedBlock,
        (transform, writer): (&mut TransformCache, &mut Option<AdBatchWriter>),
        AdEntry { ad: before, number, .. }: AdEntry,
    ) {
        let original = LazyCell::new(|| OriginalAd { identity: display_name(&before, self.id, &self.context), number });
        if self.names_all {
            LazyCell::force(&original);
        }
        let results = self.pipeline.transform.apply_cached(&before, &self.context, transform);
        let several = results.len() > 1;
        for (position, result) in results.into_iter().enumerate() {
            for fault in result.faults {
                done.push(TransformEvent::Fault(original.clone(), fault));
            }
            let is_changed = !result.changes.is_empty() || several;
            done.has_changes |= is_changed;
            if let Some(writer) = writer {
                let at = done.ads.text().len();
                let accept = |changes: &[_]| changes.is_empty() || !self.is_strict;
                let printed =
                    if self.is_in_place { Cow::Borrowed(&result.ad) } else { result.ad.printed(self.context.dialect) };
                let lossy = writer.push(&mut done.ads, &printed, accept);
                if !lossy.is_empty() {
                    done.events.push((at, TransformEvent::LossyValues(original.clone(), lossy)));
                }
                continue;
            }
            match self.output {
                ResultOutput::Names => done.push(TransformEvent::Name(original.clone())),
                ResultOutput::Changes if is_changed => {
                    let copy = several.then_some(position + 1);
                    let (original, before) = (original.clone(), before.clone());
                    let (after, changes) = (result.ad, result.changes);
                    let result = PipelineResult { original, before, after, changes, copy };
                    done.push(TransformEvent::Changes(Box::new(result)));
                }
                _ => {}
            }
        }
    }
}
