//! Checking of the ads of a block, on several threads.

use std::sync::Arc;

use classad::ad::{AdShape, Dialect};
use classad::eval::Context;
use classad::format::{AdEntry, FileFormat, Problem, ReadCache, StreamBlock, attribute_spans, read_cached};
use classad::lint::{AdChecker, AdFindings, PoolStatistics};
use classad::protocol::Protocol;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::cli::io::block_pipeline::BlockTask;

use super::located;

/// Maximum number of shapes that a thread remembers. More shapes make it forget all.
const MAX_KNOWN_SHAPES: usize = 1024;

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
    /// An ad with findings that no earlier ad of the block has, or that has an attribute twice.
    Ad {
        entry: AdEntry,
        findings: Arc<AdFindings>,
        is_twice: bool,
    },
}

/// What a thread keeps from block to block.
pub struct CheckState {
    cache: ReadCache,
    pub checker: AdChecker,
    /// Shapes of ads that have no attribute twice, by their addresses. They are kept so that no other shape gets the
    /// address of one.
    shapes: FxHashMap<usize, Arc<AdShape>>,
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
        CheckState { cache, checker, shapes: FxHashMap::default() }
    }

    fn run(&self, state: &mut CheckState, block: &StreamBlock) -> CheckedBlock {
        let mut checked = CheckedBlock { events: Vec::new(), counts: Vec::new(), ads: 0, last: 0 };
        let mut counts: IndexMap<usize, (Arc<AdFindings>, usize), FxBuildHasher> = IndexMap::default();
        for item in read_cached(&block.text, block.form, &mut state.cache) {
            let entry = match item {
                Ok(entry) => entry,
                Err(problem) => {
                    checked.last = checked.last.max(problem.ad_number);
                    checked.events.push(CheckEvent::Problem(problem));
                    continue;
                }
            };
            checked.ads += 1;
            checked.last = entry.number;
            let is_twice = has_attribute_twice(&entry, block, &mut state.shapes, self.context.dialect);
            let findings = state.checker.check(&entry.ad);
            // The count keeps the findings, so that no others get their address.
            let address = Arc::as_ptr(&findings) as usize;
            let (_, count) = counts.entry(address).or_insert_with(|| (Arc::clone(&findings), 0));
            *count += 1;
            if is_twice || (*count == 1 && !findings.is_empty()) {
                checked.events.push(CheckEvent::Ad { entry, findings, is_twice });
            }
        }
        checked.counts = counts.into_values().filter(|(findings, _)| !findings.is_empty()).collect();
        checked
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
