//! Work on the ads of blocks, whole or in part.

use crate::ad::Dialect;
use crate::eval::FreeNames;
use crate::format::{AdEntry, AdText, BlockAds, BlockItem, FileFormat, Problem, Projection, ReadCache, StreamBlock};

use super::blocks::BlockTask;

/// What is done with the good ads of each block.
pub trait AdBlockTask: Sync {
    /// What a thread keeps from block to block, and what it has done with the ads of the block. What it keeps must not
    /// change the results.
    type State;
    /// The result for one block.
    type Output: Send;

    /// Creates the state of a thread.
    fn new_state(&self) -> Self::State;

    /// Does the work on an ad by its text, if that is possible, as for [`BlockAds::next`]. Otherwise
    /// returns `None` and does nothing.
    fn take_text(&self, _state: &mut Self::State, _text: AdText) -> Option<usize> {
        None
    }

    /// Does the work on an ad. Numbers of ads count from the beginning of the block.
    fn add(&self, state: &mut Self::State, entry: AdEntry);

    /// Returns the result for the ads since the last call.
    fn finish(&self, state: &mut Self::State) -> Self::Output;
}

/// Reads the ads of a block and does a task with them.
pub struct ReadTask<'t, T> {
    dialect: Dialect,
    needed: Option<&'t FreeNames>,
    task: &'t T,
}

impl<'t, T> ReadTask<'t, T> {
    /// `needed` are the names that the task looks up in each ad: of ads in the long form only their attributes are read,
    /// and those to which their values refer. `None` if whole ads are needed.
    pub fn new(dialect: Dialect, needed: Option<&'t FreeNames>, task: &'t T) -> Self {
        ReadTask { dialect, needed, task }
    }
}

/// The result for one block.
pub struct ReadBlock<O> {
    /// What the task has made of its ads.
    pub output: O,
    /// The problems of bad ads, each with the number of good ads before it.
    pub problems: Vec<(usize, Problem)>,
    /// Number of the last ad, counted from the beginning of the block.
    pub last: usize,
}

impl<T: AdBlockTask> BlockTask for ReadTask<'_, T> {
    type State = (ReadCache, Option<Projection>, T::State);
    type Output = ReadBlock<T::Output>;

    fn new_state(&self) -> Self::State {
        let needed = self.needed.filter(|needed| !needed.reads_anything);
        let projection = needed.map(|needed| Projection::new(needed.names.iter().cloned(), self.dialect));
        (ReadCache::new(self.dialect), projection, self.task.new_state())
    }

    fn projection<'s>(&self, (_, projection, _): &'s mut Self::State) -> Option<&'s mut Projection> {
        projection.as_mut()
    }

    fn run(&self, (cache, projection, state): &mut Self::State, block: &StreamBlock) -> ReadBlock<T::Output> {
        let (mut problems, mut last, mut ads) = (Vec::new(), 0, 0);
        let mut consume = |state: &mut T::State, item| match item {
            BlockItem::Taken(number) => (last, ads) = (number, ads + 1),
            BlockItem::Read(Ok(entry)) => {
                (last, ads) = (entry.number, ads + 1);
                self.task.add(state, entry);
            }
            BlockItem::Read(Err(problem)) => {
                last = last.max(problem.ad_number);
                problems.push((ads, problem));
            }
        };
        if let Some(projection) = projection.as_mut().filter(|_| block.form == FileFormat::Long) {
            block.project(projection).for_each(|item| consume(state, BlockItem::Read(item)));
        } else {
            let mut items = BlockAds::new(block, cache);
            while let Some(item) = items.next(|text| self.task.take_text(state, text)) {
                consume(state, item);
            }
        }
        ReadBlock { output: self.task.finish(state), problems, last }
    }
}
