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

#[cfg(test)]
mod tests {
    use super::{AdBlockTask, ReadBlock, ReadTask};
    use crate::ad::{Dialect, Name};
    use crate::eval::FreeNames;
    use crate::format::{AdEntry, AdText, FileFormat, StreamBlock};
    use crate::query::BlockTask;

    /// Lists the ads, each with its number and the number of its attributes. Some ads are taken by their texts.
    struct List {
        taken: &'static [u8],
    }

    impl AdBlockTask for List {
        type State = Vec<String>;
        type Output = String;

        fn new_state(&self) -> Vec<String> {
            Vec::new()
        }

        fn take_text(&self, state: &mut Vec<String>, text: AdText) -> Option<usize> {
            let lines = text.bytes;
            if self.taken.is_empty() || !lines.starts_with(self.taken) {
                return None;
            }
            state.push("taken".to_owned());
            let end = lines.windows(2).position(|pair| pair == b"\n\n").map_or(lines.len(), |end| end + 2);
            Some(end)
        }

        fn add(&self, state: &mut Vec<String>, entry: AdEntry) {
            state.push(format!("{} has {}", entry.number, entry.ad.len()));
        }

        fn finish(&self, state: &mut Vec<String>) -> String {
            std::mem::take(state).join(", ")
        }
    }

    #[test]
    fn the_ads_of_a_block_are_read_whole_or_in_part() {
        let needed = FreeNames { names: [Name::new("a")].into_iter().collect(), ..FreeNames::default() };
        let anything = FreeNames { reads_anything: true, ..needed.clone() };
        let text = "a = 1\nb = 2\n\na = 1 +\n\nb = a\nc = 2\n\na = c\nc = 1\nd = 1\n\nx\n";
        for (needed, taken, expected, last) in [
            (None, &b""[..], "1 has 2, 3 has 2, 4 has 3", 5),
            (Some(&anything), b"", "1 has 2, 3 has 2, 4 has 3", 5),
            (Some(&needed), b"", "1 has 1, 3 has 0, 4 has 2", 5),
            (None, b"b =", "1 has 2, taken, 4 has 3", 5),
        ] {
            let list = List { taken };
            let task = ReadTask::new(Dialect::Condor, needed, &list);
            let block = StreamBlock::from_complete_text(text, FileFormat::Long);
            let ReadBlock { output, problems, last: found } = task.run(&mut task.new_state(), &block);
            let problems: Vec<_> = problems.iter().map(|(before, problem)| (*before, problem.ad_number)).collect();
            assert_eq!((output.as_str(), found), (expected, last), "{taken:?}");
            assert_eq!(problems, [(1, 2), (3, 5)]);
        }
    }
}
