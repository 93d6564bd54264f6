//! Work on the ads of sources, on several threads. Bad ads are reported in the order of the input.

use classad::eval::FreeNames;
use classad::query::{AdBlockTask, ReadBlock, ReadTask};

use super::block_pipeline::for_each_block;
use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Runs a task on all ads of the sources and passes the results to `consume`, block by block in the order of the input.
/// The number of ads that the source has read is then that before the block. Bad ads are reported and skipped.
///
/// `needed` are the names that the task looks up, as for [`ReadTask::new`].
///
/// # Errors
///
/// The run is interrupted, or an ad is bad and `--fail-fast` is given.
pub fn for_each_ad_block<T: AdBlockTask>(
    session: &mut Session,
    sources: &mut [AdSource],
    needed: Option<&FreeNames>,
    task: &T,
    consume: &mut dyn FnMut(&AdSource, &SourceText, T::Output),
) -> Result<(), Failure> {
    let task = ReadTask::new(session.dialect(), needed, task);
    for_each_block(session, sources, &task, &mut |session, source, text, read: ReadBlock<T::Output>| {
        for (_, problem) in read.problems {
            session.report_problem(text, &problem.after_ads(source.ads_read))?;
        }
        consume(source, text, read.output);
        source.ads_read += read.last;
        Ok(true)
    })
}
