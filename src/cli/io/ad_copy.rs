//! Copying of ads from a source to a document in any form.

use std::io::Write;

use classad::ad::Name;
use classad::eval::Context;
use classad::format::{
    AdBatch, AdBatchWriter, AdDocumentWriter, AdTranscriber, BlockItem, FileFormat, Problem, StreamBlock,
};
use classad::protocol::display_name;
use classad::syntax::LossyChange;

use super::block_pipeline::{BlockTask, for_each_block};
use super::source::AdSource;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// Reads the ads of a source and writes them to `document`; with `None` the ads are only read. Returns the number of
/// ads without errors.
///
/// # Errors
///
/// Output errors, an interrupt, or a bad ad with `--fail-fast`.
pub fn copy_ads(
    session: &mut Session,
    source: &mut AdSource,
    mut document: Option<&mut AdDocumentWriter>,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    let form = document.as_ref().map(|document| document.form());
    let task = CopyTask { form, context: session.context(), is_strict: session.options.strict };
    let mut count = 0;
    for_each_block(session, [source], &task, &mut |session, source, text, copied: CopiedBlock| {
        let mut ads = copied.ads;
        // The block may have been read before the ads of earlier blocks were counted.
        let uncounted = source.ads_read - text.block.ads_before;
        for (at, event) in copied.events {
            if let Some(document) = &mut document {
                document.write_batch(out, &mut ads, at)?;
            }
            match event {
                CopyEvent::Problem(problem) => session.report_problem(text, &problem.after_ads(uncounted))?,
                CopyEvent::Changes { name, number, changes } => {
                    let name = name.unwrap_or_else(|| format!("{}:{}", text.name, number + uncounted));
                    session.report_lossy_values(&name, &changes);
                }
            }
        }
        if let Some(document) = &mut document {
            let end = ads.text().len();
            document.write_batch(out, &mut ads, end)?;
        }
        count += copied.count;
        source.ads_read = copied.last + uncounted;
        Ok(true)
    })?;
    Ok(count)
}

/// Reads the ads of a block and writes them to memory.
struct CopyTask {
    /// The form to write. `None` if the ads are only read.
    form: Option<FileFormat>,
    context: Context,
    /// Whether an ad is left out if the form cannot represent a value of it.
    is_strict: bool,
}

/// The result for one block.
struct CopiedBlock {
    ads: AdBatch,
    /// What is reported, each with the byte offset in the text of `ads` behind the ads before it.
    events: Vec<(usize, CopyEvent)>,
    /// Number of ads without errors.
    count: usize,
    /// Number of the last ad of the block, counted from the `ads_before` of the block.
    last: usize,
}

enum CopyEvent {
    Problem(Problem),
    /// Changes to values of an ad. `name` is its identity in the advertising protocol.
    Changes {
        name: Option<String>,
        number: usize,
        changes: Vec<(Name, LossyChange)>,
    },
}

impl BlockTask for CopyTask {
    type State = (AdTranscriber, Option<AdBatchWriter>);
    type Output = CopiedBlock;

    fn new_state(&self) -> Self::State {
        (AdTranscriber::new(self.context.dialect, self.form), self.form.map(AdBatchWriter::new))
    }

    fn run(&self, (transcriber, writer): &mut Self::State, block: &StreamBlock) -> CopiedBlock {
        let mut copied = CopiedBlock { ads: AdBatch::default(), events: Vec::new(), count: 0, last: block.ads_before };
        let mut ads = transcriber.transcribe(block);
        while let Some(ad) = ads.next(&mut copied.ads) {
            let entry = match ad {
                BlockItem::Taken(number) => {
                    copied.count += 1;
                    copied.last = number;
                    continue;
                }
                BlockItem::Read(Ok(entry)) => entry,
                BlockItem::Read(Err(problem)) => {
                    copied.last = copied.last.max(problem.ad_number);
                    copied.events.push((copied.ads.text().len(), CopyEvent::Problem(problem)));
                    continue;
                }
            };
            copied.count += 1;
            copied.last = entry.number;
            let Some(writer) = writer else { continue };
            let at = copied.ads.text().len();
            let changes = writer.push(&mut copied.ads, &entry.ad.printed(self.context.dialect), |changes| {
                changes.is_empty() || !self.is_strict
            });
            if !changes.is_empty() {
                let name = display_name(&entry.ad, None, &self.context);
                copied.events.push((at, CopyEvent::Changes { name, number: entry.number, changes }));
            }
        }
        copied
    }
}
