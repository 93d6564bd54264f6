//! The scan of each block of a source, on several threads.

use classad::format::{Projection, ReadCache, StreamBlock};

use super::finding::ScanFinding;
use super::scan::AdScanner;
use crate::cli::io::block_pipeline::BlockTask;

/// Scans blocks for matching ads.
pub struct ScanTask<'q> {
    pub scanner: &'q AdScanner<'q>,
}

/// What a thread keeps from block to block.
pub struct QueryScanState {
    /// The attributes that are read of each ad; `None` if ads are read whole.
    projection: Option<Projection>,
    /// The cache for ads that are read whole.
    cache: ReadCache,
}

/// The result of scanning a block.
pub struct ScannedBlock {
    pub findings: Vec<ScanFinding>,
    /// Number of ads in the block.
    pub ads: usize,
}

impl BlockTask for ScanTask<'_> {
    type State = QueryScanState;
    type Output = ScannedBlock;

    fn new_state(&self) -> QueryScanState {
        let projection = self.scanner.projection();
        let cache = ReadCache::new(self.scanner.context.dialect);
        // With a projection, the cache is only for ads that are printed, as they are written unless attributes are named.
        let is_as_written = projection.is_some() && self.scanner.columns.attributes.is_empty();
        let cache = if is_as_written { cache.without_banner_attributes() } else { cache };
        QueryScanState { projection, cache }
    }

    fn projection<'s>(&self, state: &'s mut QueryScanState) -> Option<&'s mut Projection> {
        state.projection.as_mut()
    }

    fn run(&self, state: &mut QueryScanState, block: &StreamBlock) -> ScannedBlock {
        let mut findings = Vec::new();
        let ads = self.scanner.scan(block, state.projection.as_mut(), &mut state.cache, &mut findings);
        ScannedBlock { findings, ads }
    }
}
