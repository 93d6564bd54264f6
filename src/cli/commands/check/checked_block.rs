//! Checking of the ads of a block, on several threads.
//!
//! Bench row `check machines.long`: 1.2 times as many instructions without the contents that were checked.

use std::sync::Arc;

use classad::ad::{AdShape, Bounded, ByIdentity, Dialect, Expression, Value};
use classad::eval::Context;
use classad::format::{AdEntry, AdText, BlockAds, BlockItem, FileFormat, Problem, ReadCache, StreamBlock};
use classad::lint::{AdChecker, AdFindings, CheckedText, PoolStatistics};
use classad::protocol::Protocol;
use rustc_hash::FxHashSet;

use crate::cli::io::block_pipeline::BlockTask;

use super::located;
use super::rule_counts::AdCount;

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
    /// The findings of ads, each with the ads that have exactly these.
    pub counts: Vec<(Arc<AdFindings>, AdCount)>,
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

/// The findings of the ads of a block, each with the ads that have exactly these.
type FindingCounts = ByIdentity<Arc<AdFindings>, AdCount>;

/// What a thread keeps from block to block.
pub struct CheckState {
    cache: ReadCache,
    pub checker: AdChecker,
    /// Shapes of ads that have no attribute twice.
    shapes: Bounded<ByIdentity<Arc<AdShape>, ()>>,
    /// The contents of findings that earlier ads of the thread have. Their ads come earlier in the input.
    contents: Bounded<FxHashSet<u64>>,
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
        CheckState { cache, checker, shapes: Bounded::default(), contents: Bounded::default() }
    }

    fn run(&self, state: &mut CheckState, block: &StreamBlock) -> CheckedBlock {
        let mut checked = CheckedBlock { events: Vec::new(), counts: Vec::new(), ads: 0, last: 0 };
        let mut counts = FindingCounts::default();
        let CheckState { cache, checker, shapes, contents } = state;
        let mut ads = BlockAds::new(block, cache);
        loop {
            let number = checked.ads;
            // An ad with a finding that no earlier ad has is read, so that the finding can be reported.
            let take = |text: AdText| {
                let CheckedText { length, findings, owner } = checker.check_text(text)?;
                if findings.contents().any(|content| !contents.contains(&content)) {
                    return None;
                }
                count(&mut counts, &findings, owner.as_ref(), number);
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
            count(&mut counts, &findings, entry.ad.get_str("Owner"), number);
            let new = findings.contents().filter(|content| is_new(contents, *content)).count();
            if is_twice || new > 0 {
                checked.events.push(CheckEvent::Ad { entry, findings, is_twice });
            }
        }
        checked.counts = counts.into_iter().collect();
        checked
    }
}

/// Counts an ad with these findings. `owner` is its attribute `Owner`, `number` its 0-based number in the block.
fn count(counts: &mut FindingCounts, findings: &Arc<AdFindings>, owner: Option<&Expression>, number: usize) {
    if !findings.is_empty() {
        counts.get_or_insert_with(findings, AdCount::default).add_ad(owner_name(owner), number);
    }
}

/// Returns the name of an owner; `None` unless it is a string.
pub fn owner_name(owner: Option<&Expression>) -> Option<String> {
    match owner?.as_literal()? {
        Value::String(name) => Some(name.to_str().into_owned()),
        _ => None,
    }
}

/// Whether no earlier ad has this content, as far as is known. Remembers it.
fn is_new(contents: &mut Bounded<FxHashSet<u64>>, content: u64) -> bool {
    let is_new = !contents.contains(&content);
    if is_new {
        contents.make_room(size_of::<u64>());
        contents.insert(content);
    }
    is_new
}

/// Whether an ad defines an attribute twice.
fn has_attribute_twice(
    entry: &AdEntry,
    block: &StreamBlock,
    shapes: &mut Bounded<ByIdentity<Arc<AdShape>, ()>>,
    dialect: Dialect,
) -> bool {
    // Readers let ads share a shape only if none of them has an attribute twice.
    let shape = entry.ad.shape();
    if shapes.get(shape).is_some() {
        return false;
    }
    let written = if block.form == FileFormat::Long {
        // The long form has one attribute per line. Counting lines is cheaper than locating attributes.
        located::count_attribute_lines(&block.text[entry.offset..]) + entry.banner_attributes
    } else {
        block.attribute_spans(entry.offset, dialect).len()
    };
    if written > entry.ad.len() {
        return true;
    }
    if Arc::strong_count(shape) > 1 {
        shapes.get_or_insert_with(shape, 0, || ());
    }
    false
}
