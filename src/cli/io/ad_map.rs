//! Work on each ad of sources by itself, on several threads.

use classad::eval::FreeNames;
use classad::format::AdEntry;
use classad::query::{AdBlockTask, ReadBlock, ReadTask};

use super::block_pipeline::for_each_block;
use super::source::AdSource;
use super::source_text::SourceText;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// What is done with each ad by itself.
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

impl<O: Send, W: Fn(AdEntry) -> O + Sync> AdTask for W {
    type State = ();
    type Output = O;

    fn new_state(&self) {}

    fn run(&self, (): &mut (), entry: AdEntry) -> O {
        self(entry)
    }
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
/// `needed` are the names that the task looks up, as for [`ReadTask::new`].
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
    let task = MapTask(task);
    let task = ReadTask::new(session.dialect(), needed, &task);
    for_each_block(session, sources, &task, &mut |session, source, text, read: MappedBlock<T>| {
        let before = source.ads_read;
        let mut problems = read.problems.into_iter().peekable();
        let mut report = |session: &mut Session, ads: usize| {
            while let Some((_, problem)) = problems.next_if(|(place, _)| *place <= ads) {
                session.report_problem(text, &problem.after_ads(before))?;
            }
            Ok::<_, Failure>(())
        };
        for (place, (number, output)) in read.output.into_iter().enumerate() {
            report(session, place)?;
            if !consume(session, MappedAd { text, number: number + before, output })? {
                return Ok(false);
            }
        }
        report(session, usize::MAX)?;
        source.ads_read += read.last;
        Ok(true)
    })
}

/// Does a task on each ad of a block. A result comes with the number of the ad, which counts from the beginning of the
/// block.
struct MapTask<'t, T>(&'t T);

type MappedBlock<T> = ReadBlock<Vec<(usize, <T as AdTask>::Output)>>;

impl<T: AdTask> AdBlockTask for MapTask<'_, T> {
    type State = (T::State, Vec<(usize, T::Output)>);
    type Output = Vec<(usize, T::Output)>;

    fn new_state(&self) -> Self::State {
        (self.0.new_state(), Vec::new())
    }

    fn add(&self, (state, results): &mut Self::State, entry: AdEntry) {
        results.push((entry.number, self.0.run(state, entry)));
    }

    fn finish(&self, (_, results): &mut Self::State) -> Self::Output {
        std::mem::take(results)
    }
}
