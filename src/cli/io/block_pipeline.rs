//! Work on the blocks of sources, on several threads. The results come in the order of the blocks.

use std::io;
use std::sync::Arc;

use classad::format::StreamBlock;
use classad::query::{BlockRun, with_block_workers};

pub use classad::query::BlockTask;

use super::event_years::note_years;
use super::input;
use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::render::output::flush_stdout;
use crate::cli::session::Session;

/// Receives the result for a block, with the source and the text of the block. Returns false if no further results are
/// wanted.
pub type BlockConsumer<'c, O> = &'c mut dyn FnMut(&mut Session, &mut AdSource, &SourceText, O) -> Result<bool, Failure>;

/// The blocks of a source.
struct SourceRun<'r, 'c, O> {
    session: &'r mut Session,
    source: &'r mut AdSource,
    consume: &'r mut BlockConsumer<'c, O>,
    /// Why the source cannot be read to its end.
    error: Option<io::Error>,
}

impl<O> BlockRun<O> for SourceRun<'_, '_, O> {
    type Error = Failure;

    fn next_block(&mut self) -> Option<Arc<StreamBlock>> {
        let mut text = self.source.next_block().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        });
        note_years(self.session, self.source);
        if let Some(block) = text.as_mut().and_then(|text| Arc::get_mut(&mut text.block)) {
            block.ads_before = 0;
        }
        text.map(|text| text.block)
    }

    fn take(&mut self, block: Arc<StreamBlock>, output: O) -> Result<bool, Failure> {
        self.session.check_interrupt()?;
        let text = self.source.wrap_block(block);
        let goes_on = (self.consume)(self.session, self.source, &text, output)?;
        self.source.recycle(text);
        Ok(goes_on)
    }
}

/// Runs a task on all blocks of the sources and passes the results to `consume`, in order. A pipe is read with one
/// thread, so that results are printed as the input arrives.
///
/// # Errors
///
/// The run is interrupted, or `consume` fails.
pub fn for_each_block<'s, T: BlockTask>(
    session: &mut Session,
    sources: impl IntoIterator<Item = &'s mut AdSource>,
    task: &T,
    mut consume: BlockConsumer<'_, T::Output>,
) -> Result<(), Failure> {
    with_block_workers(session.options.threads(), task, |workers| {
        for source in sources {
            let is_file = source.is_file();
            let mut run = SourceRun { session: &mut *session, source, consume: &mut consume, error: None };
            if !workers.run(is_file, &mut run)? {
                break;
            }
            let SourceRun { session, source, error, .. } = run;
            // What was printed stands before messages about the source.
            flush_stdout();
            if let Some(error) = error {
                input::report_read_error(session, source, &error);
            }
            input::note_unfinished(session, source);
        }
        Ok(())
    })
}
