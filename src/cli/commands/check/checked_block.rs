//! Checking of the ads of a block, on several threads.

use std::sync::Arc;

use classad::ad::{AdShape, Dialect};
use classad::eval::Context;
use classad::format::{
    AdEntry, AdText, BlockAds, BlockItem, FileFormat, Problem, ReadCache, StreamBlock, attribute_spans,
};
use classad::lint::{AdChecker, AdFindings, PoolStatistics};
use classad::protocol::Protocol;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::cli::io::block_pipeline::BlockTask;

use super::located;

/// Maximum number of shapes that a thread remembers. More shapes make it forget all.
const MAX_KNOWN_SHAPES: usize = 1024;

/// Maximum number of contents of findings that a thread remembers. More make it forget all.
const MAX_KNOWN_CONTENTS: usize = 64 * 1024;

/// Checks the ads of a block.
pub struct CheckTask {
    pub protocol: Protocol,
    pub context: Context,
    /// The pool in which the ads are to match.
    pub pool: Option<Arc<PoolStatistics>>,
}

/// The result for one block.
pub struct CheckedBlock {
    /// What may be reported, in the order of the input.
    pub events: Vec<CheckEvent>,
    /// The findings of ads, each with the number of ads that have exactly these.
    pub counts: Vec<(Arc<AdFindings>, usize)>,
    /// Number of ads without errors.
    pub ads: usize,
    /// Number of the last ad. Numbers count from the beginning of the block.
    pub last: usize,
}

pub enum CheckEvent {
    Problem(Problem),
    /// An ad with findings that no earlier ad of the thread has, or that has an attribute twice.
    Ad {
        entry: AdEntry,
        findings: Arc<AdFindings>,
        is_twice: bool,
    },
}

/// The findings of the ads of a block, each with the number of ads that have exactly these, by their addresses.
type FindingCounts = IndexMap<usize, (Arc<AdFindings>, usize), FxBuildHasher>;

/// What a thread keeps from block to block.
pub struct CheckState {
    cache: ReadCache,
    pub checker: AdChecker,
    /// Shapes of ads that have no attribute twice, by their addresses. They are kept so that no other shape gets the
    /// address of one.
    shapes: FxHashMap<usize, Arc<AdShape>>,
    /// The contents of findings that earlier ads of the thread have. Their ads come earlier in the input.
    contents: FxHashSet<u64>,
}

impl BlockTask for CheckTask {
    type State = CheckState;
    type Output = CheckedBlock;

    fn new_state(&self) -> CheckState {
        let checker = AdChecker::new(self.protocol.clone(), &self.context);
        let checker = match &self.pool {
            Some(pool) => checker.with_pool(Arc::clone(pool)),
            None => checker,
        };
        let cache = ReadCache::new(self.context.dialect);
        CheckState { cache, checker, shapes: FxHashMap::default(), contents: FxHashSet::default() }
    }

    fn run(&self, state: &mut CheckState, block: &StreamBlock) -> CheckedBlock {
        let mut checked = CheckedBlock { events: Vec::new(), counts: Vec::new(), ads: 0, last: 0 };
        let mut counts = FindingCounts::default();
        let CheckState { cache, checker, shapes, contents } = state;
        if contents.len() > MAX_KNOWN_CONTENTS {
            contents.clear();
        }
        let mut ads = BlockAds::new(block, cache);
        loop {
            // An ad with a finding that no earlier ad has is read, so that the finding can be reported.
            let take = |text: AdText| {
                let (length, findings) = checker.check_text(text)?;
                if findings.contents().any(|content| !contents.contains(&content)) {
                    return None;
                }
                count(&mut counts, &findings);
                Some(length)
            };
            let Some(item) = ads.next(take) else { break };
            let entry = match item {
                BlockItem::Taken(number) => {
                    checked.ads += 1;
                    checked.last = number;
                    continue;
                }
                BlockItem::Read(Ok(entry)) => entry,
                BlockItem::Read(Err(problem)) => {
                    checked.last = checked.last.max(problem.ad_number);
                    checked.events.push(CheckEvent::Problem(problem));
                    continue;
                }
            };
            checked.ads += 1;
            checked.last = entry.number;
            let is_twice = has_attribute_twice(&entry, block, shapes, self.context.dialect);
            let findings = checker.check(&entry.ad);
            count(&mut counts, &findings);
            let new = findings.contents().filter(|content| contents.insert(*content)).count();
            if is_twice || new > 0 {
                checked.events.push(CheckEvent::Ad { entry, findings, is_twice });
            }
        }
        checked.counts = counts.into_values().collect();
        checked
    }
}

/// Counts an ad with these findings.
fn count(counts: &mut FindingCounts, findings: &Arc<AdFindings>) {
    if !findings.is_empty() {
        // The count keeps the findings, so that no others get their address.
        let address = Arc::as_ptr(findings) as usize;
        counts.entry(address).or_insert_with(|| (Arc::clone(findings), 0)).1 += 1;
    }
}

/// Whether an ad defines an attribute twice.
fn has_attribute_twice(
    entry: &AdEntry,
    block: &StreamBlock,
    shapes: &mut FxHashMap<usize, Arc<AdShape>>,
    dialect: Dialect,
) -> bool {
    // Readers let ads share a shape only if none of them has an attribute twice.
    let shape = entry.ad.shape();
    if shapes.contains_key(&(Arc::as_ptr(shape) as usize)) {
        return false;
    }
    let written = if block.form == FileFormat::Long {
        // The long form has one attribute per line. Counting lines is cheaper than locating attributes.
        located::count_attribute_lines(&block.text[entry.offset..]) + entry.banner_attributes
    } else {
        attribute_spans(&block.text, block.form, entry.offset, dialect).len()
    };
    if written > entry.ad.len() {
        return true;
    }
    if Arc::strong_count(shape) > 1 {
        if shapes.len() >= MAX_KNOWN_SHAPES {
            shapes.clear();
        }
        shapes.insert(Arc::as_ptr(shape) as usize, Arc::clone(shape));
    }
    false
}
