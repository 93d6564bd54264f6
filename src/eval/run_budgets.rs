//! What all evaluations and comparisons of a run may take together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The budgets of a run. An evaluation stays within its own budget, but a run evaluates each expression in many ads, and
/// compares each request with many offers. A few hundred bytes could therefore take hours, or all memory.
#[derive(Debug)]
pub struct RunBudgets {
    /// Steps of all evaluations. The first 4096 of an evaluator do not count, so that usual evaluations take none.
    pub steps: RunBudget,
    /// Steps of comparing requests with offers, and of making rows of pairs of ads. They are counted on their own, so that
    /// a request whose constraint takes many steps does not end the matching of the others. A step takes some 40 ns.
    pub comparisons: RunBudget,
    /// Bytes that lists of candidates and rows of pairs of ads hold.
    pub held_bytes: RunBudget,
    /// Whether an evaluation was stopped at its own limit.
    has_stopped: AtomicBool,
}

/// What a run may take of one thing, and what it took.
#[derive(Debug)]
pub struct RunBudget {
    granted: AtomicU64,
    taken: AtomicU64,
    /// What each byte of input grants, so that a long input may take more.
    per_byte: u64,
}

impl RunBudgets {
    /// Default number of steps of evaluations before any input is read. They take some two seconds.
    pub const DEFAULT_STEPS: u64 = 25_000_000;

    /// Number of steps of evaluations that a byte of input grants.
    pub const STEPS_PER_BYTE: u64 = 25;

    /// Default number of steps of comparisons before any input is read. They take some three seconds.
    pub const DEFAULT_COMPARISONS: u64 = 80_000_000;

    /// Number of steps of comparisons that a byte of input grants.
    pub const COMPARISONS_PER_BYTE: u64 = 25;

    /// Default number of held bytes before any input is read, 256 MiB.
    pub const DEFAULT_HELD_BYTES: u64 = 256 << 20;

    /// Number of held bytes that a byte of input grants.
    pub const HELD_BYTES_PER_BYTE: u64 = 16;

    /// Returns the budgets of a run that has read nothing. A limit that is `None` has its default.
    #[must_use]
    pub fn new([steps, comparisons, held_bytes]: [Option<u64>; 3]) -> Self {
        RunBudgets {
            steps: RunBudget::new(steps.unwrap_or(Self::DEFAULT_STEPS), Self::STEPS_PER_BYTE),
            comparisons: RunBudget::new(comparisons.unwrap_or(Self::DEFAULT_COMPARISONS), Self::COMPARISONS_PER_BYTE),
            held_bytes: RunBudget::new(held_bytes.unwrap_or(Self::DEFAULT_HELD_BYTES), Self::HELD_BYTES_PER_BYTE),
            has_stopped: AtomicBool::new(false),
        }
    }

    /// Grants more for a number of bytes of input.
    pub fn add_input(&self, bytes: u64) {
        self.all().for_each(|budget| budget.add_input(bytes));
    }

    /// Records that an evaluation was stopped at its own limit.
    pub(super) fn record_stop(&self) {
        self.has_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether an evaluation was stopped at its own limit. An explanation then calls the expression an error.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }

    /// Forgets what was taken, for the next entry of an interactive session.
    pub fn renew(&self) {
        self.has_stopped.store(false, Ordering::Relaxed);
        self.all().for_each(|budget| budget.taken.store(0, Ordering::Relaxed));
    }

    fn all(&self) -> impl Iterator<Item = &RunBudget> {
        [&self.steps, &self.comparisons, &self.held_bytes].into_iter()
    }
}

impl RunBudget {
    fn new(granted: u64, per_byte: u64) -> Self {
        RunBudget { granted: granted.into(), taken: 0.into(), per_byte }
    }

    fn add_input(&self, bytes: u64) {
        let more = bytes.saturating_mul(self.per_byte);
        let add = |granted: u64| Some(granted.saturating_add(more));
        let _ = self.granted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// What the run may take, as far as its input is read.
    #[must_use]
    pub fn granted(&self) -> u64 {
        self.granted.load(Ordering::Relaxed)
    }

    /// What was taken so far.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Counts what is taken.
    pub fn count(&self, taken: u64) {
        self.taken.fetch_add(taken, Ordering::Relaxed);
    }

    /// Forgets what was taken since a number was: it is given back.
    pub fn give_back_to(&self, taken: u64) {
        self.taken.fetch_min(taken, Ordering::Relaxed);
    }

    /// Whether more was taken than granted.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.taken() > self.granted()
    }

    /// Counts what is taken.
    ///
    /// # Errors
    ///
    /// The granted number, if more was taken than granted.
    pub(super) fn take(&self, steps: u64) -> Result<(), u64> {
        let taken = self.taken.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        let granted = self.granted();
        if taken > granted { Err(granted) } else { Ok(()) }
    }
}
