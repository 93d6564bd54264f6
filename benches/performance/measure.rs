//! Measuring in turns, so that whatever else the machine does befalls both.

use std::time::{Duration, Instant};

use crate::Result;
use crate::data::Data;
use crate::peer::Peer;

/// What is done sooner is done again and again: about so long the library needs for a sample of pairs.  A processor
/// that has waited for the other side of a comparison is slow at first.
const SAMPLE: Duration = Duration::from_millis(200);

/// Some work, again and again if that is soon done.
pub fn repeated(mut once: impl FnMut() -> Result<Run>) -> Result<Run> {
    let mut all = once()?;
    while !all.is_more && !all.is_estimate && all.cost < SAMPLE.as_secs_f64() {
        let again = once()?;
        all = Run { cost: all.cost + again.cost, amount: all.amount + again.amount, ..again };
    }
    Ok(all)
}

/// What a measurement needs.
pub struct Bench {
    pub data: Data,
    pub peer: Peer,
    pub rounds: usize,
    /// Runs of ours are given up after that.
    pub limit: Duration,
}

/// Once done.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Seconds or bytes, for as much work as `amount` says.
    pub cost: f64,
    /// How much work was done: bytes, ads, pairs.
    pub amount: f64,
    /// What came out, if it can be compared.
    pub answer: Option<Vec<u8>>,
    /// Whether it was given up: it is more than that.
    pub is_more: bool,
    /// Whether only a part was done, from which the whole is estimated.
    pub is_estimate: bool,
}

impl Run {
    pub fn of(time: Duration) -> Self {
        Run { cost: time.as_secs_f64(), amount: 1.0, ..Run::default() }
    }

    /// The time of some work, which has to give something that depends on it.
    pub fn timed<T>(work: impl FnOnce() -> T) -> (Run, T) {
        let start = Instant::now();
        let result = std::hint::black_box(work());
        (Run::of(start.elapsed()), result)
    }

    /// Sets how much work each of the runs did that this one sums up.
    #[allow(clippy::cast_precision_loss)] // amounts are small
    pub fn amount(self, amount: usize) -> Self {
        Run { amount: self.amount * amount as f64, ..self }
    }

    pub fn answer(self, answer: usize) -> Self {
        Run { answer: Some(answer.to_string().into_bytes()), ..self }
    }

    /// The cost of one piece of work.
    pub fn each(&self) -> f64 {
        self.cost / self.amount
    }
}

/// What is measured.
pub type Task<'t> = &'t dyn Fn(&Bench) -> Result<Run>;

/// Runs both in turns and gives the runs with the median cost.  What takes long is done less often.
pub fn in_turns(bench: &Bench, ours: Task, theirs: Option<Task>) -> Result<(Run, Option<Run>)> {
    const LONG: Duration = Duration::from_mins(1);
    let start = Instant::now();
    let (mut our_runs, mut their_runs) = (Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let enough = if start.elapsed() > 4 * LONG { 1 } else { 3 };
        if start.elapsed() > LONG && round >= enough {
            break;
        }
        our_runs.push(ours(bench)?);
        if let Some(theirs) = theirs {
            their_runs.push(theirs(bench)?);
        }
        // What could not be done in time once will not be the next time.
        if our_runs.iter().any(|run| run.is_more || run.is_estimate) {
            break;
        }
    }
    Ok((median(our_runs).ok_or("nothing was measured")?, median(their_runs)))
}

fn median(mut runs: Vec<Run>) -> Option<Run> {
    runs.sort_by(|one, other| one.each().total_cmp(&other.each()));
    (!runs.is_empty()).then(|| runs.swap_remove(runs.len() / 2))
}
