//! Work on each ad of sources by itself, on several threads.

use classad::ad::Dialect;
use classad::eval::FreeNames;
use classad::format::{AdEntry, Problem, Projection, StreamBlock};

use super::ad_blocks::BlockReader;
use super::block_pipeline::{BlockTask, for_each_block};
use super::source::{AdSource, SourceText};
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// What is done with each ad.
pub trait AdTask: Sync {
    /// What a thread keeps from ad to ad. It must not change the results.
    type State;
    /// The result for one ad.
    type Output: Send;

    /// Creates the state of a thread.
    fn new_state(&self) -> Self::State;

    /// Does the work on one ad.
    fn run(&self, state: &mut Self::State, entry: AdEntry) -> Self::Output;
}

/// The result for an ad, with the place of the ad.
pub struct MappedAd<'t, O> {
    pub text: &'t SourceText,
    /// 1-based number of the ad in its source.
    number: usize,
    pub output: O,
}

impl<O> MappedAd<'_, O> {
    /// Returns the name of an ad that has no identity: `FILE:NUMBER`.
    pub fn location(&self) -> String {
        format!("{}:{}", self.text.name, self.number)
    }
}

/// Runs a task on each ad of the sources and passes the results to `consume`, in order. Bad ads are reported and
/// skipped. If `consume` returns false, no further results are wanted.
///
/// `needed` are the names that the task looks up, as for [`BlockReader::new`].
///
/// # Errors
///
/// The run is interrupted, an ad is bad and `--fail-fast` is given, or `consume` fails.
pub fn map_ads<'s, T: AdTask>(
    session: &mut Session,
    sources: impl IntoIterator<Item = &'s mut AdSource>,
    needed: Option<&FreeNames>,
    task: &T,
    mut consume: impl FnMut(&mut Session, MappedAd<'_, T::Output>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let blocks = MapTask { needed, dialect: session.dialect(), task };
    for_each_block(session, sources, &blocks, &mut |session, source, text, mapped: MappedBlock<T::Output>| {
        let before = source.ads_read;
        for item in mapped.items {
            match item {
                Ok((number, output)) => {
                    if !consume(session, MappedAd { text, number: number + before, output })? {
                        return Ok(false);
                    }
                }
                Err(problem) => session.report_problem(text, &problem.after_ads(before))?,
            }
        }
        source.ads_read += mapped.last;
        Ok(true)
    })
}

struct MapTask<'m, T> {
    needed: Option<&'m FreeNames>,
    dialect: Dialect,
    task: &'m T,
}

/// The results for the ads of one block, each with the number of the ad, and the problems of bad ads. Numbers count
/// from the beginning of the block.
struct MappedBlock<O> {
    items: Vec<Result<(usize, O), Problem>>,
    /// Number of the last ad of the block.
    last: usize,
}

impl<T: AdTask> BlockTask for MapTask<'_, T> {
    type State = (BlockReader, T::State);
    type Output = MappedBlock<T::Output>;

    fn new_state(&self) -> Self::State {
        (BlockReader::new(self.dialect, self.needed), self.task.new_state())
    }

    fn projection<'s>(&self, (reader, _): &'s mut Self::State) -> Option<&'s mut Projection> {
        reader.projection()
    }

    fn run(&self, (reader, state): &mut Self::State, block: &StreamBlock) -> Self::Output {
        let mut mapped = MappedBlock { items: Vec::new(), last: 0 };
        for item in reader.read(block) {
            let number = item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number);
            mapped.last = mapped.last.max(number);
            mapped.items.push(item.map(|entry| (number, self.task.run(state, entry))));
        }
        mapped
    }
}
