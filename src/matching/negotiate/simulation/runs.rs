//! The requests that run in a simulation, and when they end.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::SlotClaim;

/// A request that runs.
pub struct SimulatedRun {
    /// Index of the request; `None` if the queue has no ad of it.
    pub request: Option<usize>,
    pub submitter: String,
    /// The slots that it uses.
    pub slots: Vec<usize>,
    /// The claim on the slots.
    pub claim: SlotClaim,
    /// The time at which it ends.
    pub end: Option<i64>,
}

/// The requests that run, each with a number.
#[derive(Default)]
pub struct SimulatedRuns {
    runs: BTreeMap<usize, SimulatedRun>,
    /// The number of the next run.
    pub next: usize,
    /// The end and the number of each run that ends.
    ends: BTreeSet<(i64, usize)>,
}

impl SimulatedRuns {
    /// Adds a run. Its number is [`SimulatedRuns::next`].
    pub fn add(&mut self, run: SimulatedRun) {
        self.ends.extend(run.end.map(|end| (end, self.next)));
        self.runs.insert(self.next, run);
        self.next += 1;
    }

    /// Takes a run from those that run.
    pub fn take(&mut self, number: usize) -> Option<SimulatedRun> {
        let run = self.runs.remove(&number)?;
        if let Some(end) = run.end {
            self.ends.remove(&(end, number));
        }
        Some(run)
    }

    /// Takes the runs that end by a time.
    pub fn take_ended(&mut self, time: i64) -> Vec<SimulatedRun> {
        let numbers: Vec<usize> = self.ends.range(..=(time, usize::MAX)).map(|(_, number)| *number).collect();
        numbers.into_iter().filter_map(|number| self.take(number)).collect()
    }

    /// Returns the number of the run of each request.
    pub fn by_request(&self) -> BTreeMap<usize, usize> {
        self.runs.iter().filter_map(|(number, run)| Some((run.request?, *number))).collect()
    }

    /// Returns the time at which the next run ends.
    pub fn next_end(&self) -> Option<i64> {
        self.ends.first().map(|(end, _)| *end)
    }

    /// Returns the runs, by number.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &SimulatedRun> {
        self.runs.values()
    }
}

#[cfg(test)]
mod tests {
    use super::{SimulatedRun, SimulatedRuns, SlotClaim};

    #[test]
    fn runs_end_in_the_order_of_their_ends() {
        let mut runs = SimulatedRuns::default();
        assert_eq!((runs.next_end(), runs.next), (None, 0));
        for (request, end) in
            [(Some(7), Some(30)), (None, Some(10)), (Some(8), None), (Some(9), Some(10)), (Some(6), Some(20))]
        {
            let claim = SlotClaim { since: 0, first: None, keep: 0 };
            runs.add(SimulatedRun { request, submitter: String::new(), slots: vec![], claim, end });
        }
        assert_eq!((runs.next_end(), runs.next, runs.all().len()), (Some(10), 5, 5));
        assert_eq!(runs.by_request().into_iter().collect::<Vec<_>>(), [(6, 4), (7, 0), (8, 2), (9, 3)]);
        assert_eq!(runs.take_ended(9).len(), 0);
        let ended = |runs: &mut SimulatedRuns, time| {
            runs.take_ended(time).into_iter().map(|run| run.request).collect::<Vec<_>>()
        };
        assert_eq!(ended(&mut runs, 10), [None, Some(9)]);
        assert_eq!((runs.next_end(), runs.all().len()), (Some(20), 3));
        assert_eq!(runs.take(4).and_then(|run| run.request), Some(6));
        assert!(runs.take(4).is_none() && runs.take(9).is_none());
        assert_eq!(ended(&mut runs, 100), [Some(7)]);
        assert_eq!((runs.next_end(), runs.all().len()), (None, 1));
        assert_eq!(runs.take(2).and_then(|run| run.end), None);
        assert_eq!((runs.all().len(), runs.next), (0, 5));
    }
}
