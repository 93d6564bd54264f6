//! Work on each ad of sources by itself, on several threads.

use classad::ad::Dialect;
use classad::eval::FreeNames;
use classad::format::{AdEntry, FileFormat, Problem, Projection, ReadCache, ReadResult, StreamBlock};

use super::block_pipeline::{BlockTask, for_each_block};
use super::source::{AdSource, SourceText};
use crate::cli::Failure;
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
    text: &'t SourceText,
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
/// `needed` are the names that the task looks up. Of the long form only their attributes are read, and those to which
/// their values refer. `None` if the task needs whole ads.
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
    let needed = needed.filter(|needed| !needed.reads_anything);
    let blocks = MapTask { needed, dialect: session.dialect(), task };
    for_each_block(session, sources, &blocks, &mut |session, source, text, mapped: MappedBlock<T::Output>| {
        // The block may have been read before the ads of earlier blocks were counted.
        let uncounted = source.ads_read - text.block.ads_before;
        for item in mapped.items {
            match item {
                Ok((number, output)) => {
                    if !consume(session, MappedAd { text, number: number + uncounted, output })? {
                        return Ok(false);
                    }
                }
                Err(problem) => session.report_problem(text, &problem.after_ads(uncounted))?,
            }
        }
        source.ads_read = mapped.last + uncounted;
        Ok(true)
    })
}

struct MapTask<'m, T> {
    needed: Option<&'m FreeNames>,
    dialect: Dialect,
    task: &'m T,
}

/// The results for the ads of one block, each with the number of the ad, and the problems of bad ads.
struct MappedBlock<O> {
    items: Vec<Result<(usize, O), Problem>>,
    /// Number of the last ad of the block.
    last: usize,
}

/// What a thread keeps from block to block.
struct MapState<S> {
    cache: ReadCache,
    /// The attributes that are read of ads in the long form. `None` if ads are read whole.
    projection: Option<Projection>,
    task: S,
}

impl<T: AdTask> MapTask<'_, T> {
    fn map(
        &self,
        state: &mut T::State,
        before: usize,
        items: impl Iterator<Item = ReadResult>,
    ) -> MappedBlock<T::Output> {
        let mut mapped = MappedBlock { items: Vec::new(), last: before };
        for item in items {
            let number = item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number);
            mapped.last = mapped.last.max(number);
            mapped.items.push(item.map(|entry| (number, self.task.run(state, entry))));
        }
        mapped
    }
}

impl<T: AdTask> BlockTask for MapTask<'_, T> {
    type State = MapState<T::State>;
    type Output = MappedBlock<T::Output>;

    fn new_state(&self) -> Self::State {
        let projection = self.needed.map(|needed| Projection::new(needed.names.iter().cloned(), self.dialect));
        MapState { cache: ReadCache::new(self.dialect), projection, task: self.task.new_state() }
    }

    fn run(&self, state: &mut Self::State, block: &StreamBlock) -> Self::Output {
        let MapState { cache, projection, task } = state;
        let before = block.ads_before;
        match projection.as_mut().filter(|_| block.form == FileFormat::Long) {
            Some(projection) if !projection.reads_everything() => self.map(task, before, block.project(projection)),
            _ => self.map(task, before, block.ads_cached(cache)),
        }
    }
}
