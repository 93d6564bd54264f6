//! Scanning the ads of files for a partial result.

use classad::eval::FreeNames;
use classad::query::{AdBlockTask, ReadBlock, ReadTask};

use super::PartialWriter;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// What [`PartialWriter::scan`] passes on, in the order of the input.
pub enum ScanStep<'s, O> {
    /// The result for a block. The number of ads that the source has read is that before the block.
    Block(&'s AdSource, O),
    /// The end of a file. Everything that was found in it and is not yet written is written now.
    FileEnd,
}

/// Writes the findings of a step.
pub type StepConsumer<'c, O> = dyn FnMut(&mut PartialWriter, ScanStep<'_, O>) -> Result<(), Failure> + 'c;

impl PartialWriter {
    /// Runs a task on all ads of the sources, and writes the bad ones as problems, as
    /// [`for_each_ad_block`](crate::cli::io::ad_blocks::for_each_ad_block) does for a run that prints. `consume` writes
    /// the findings.
    ///
    /// # Errors
    ///
    /// The run is interrupted, the output cannot be written, or `consume` fails.
    pub fn scan<T: AdBlockTask>(
        &mut self,
        session: &mut Session,
        sources: &mut [AdSource],
        needed: Option<&FreeNames>,
        task: &T,
        consume: &mut StepConsumer<'_, T::Output>,
    ) -> Result<(), Failure> {
        let task = ReadTask::new(session.dialect(), needed, task);
        for (index, source) in sources.iter_mut().enumerate() {
            self.begin_file(index)?;
            for_each_block(session, [&mut *source], &task, &mut |_, source, text, read: ReadBlock<T::Output>| {
                consume(self, ScanStep::Block(source, read.output))?;
                let mut goes_on = true;
                for (_, problem) in read.problems {
                    goes_on = self.add_problem(text, problem, source.ads_read)?;
                    if !goes_on {
                        break;
                    }
                }
                source.ads_read += read.last;
                Ok(goes_on)
            })?;
            consume(self, ScanStep::FileEnd)?;
            self.end_file(source)?;
        }
        Ok(())
    }
}
