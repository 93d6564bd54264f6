//! Settings of an evaluation: dialect, clock, random numbers, budgets, interrupt.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ad::Dialect;

use super::run_budgets::RunBudgets;
use super::user_maps::UserMaps;

/// Settings that all evaluations of a run share.
#[derive(Clone, Debug)]
pub struct Context {
    /// Dialect of the language.
    pub dialect: Dialect,
    /// Current time, in seconds since 1970-01-01T00:00:00Z; constant within a run. `None` if it is unknown, as for an
    /// ad that is specialized now and evaluated later.
    pub now: Option<i64>,
    /// Source of `random()`, shared by all evaluations of the run. `None` if the numbers are unknown, as for an ad that
    /// is specialized now and evaluated later.
    pub random: Option<RandomStream>,
    /// Maximum nesting depth of expressions in an evaluation.
    pub max_depth: u32,
    /// Maximum number of steps of one evaluator, in all its evaluations. Each visited node of an expression is a step.
    pub max_steps: u64,
    /// Maximum number of bytes of the values that functions make for one evaluator: texts, and 128 bytes for each
    /// element of a list.
    pub max_value_bytes: u64,
    /// Maximum number of tests of candidates in one search for the best gang, besides one of each offer at each port.
    pub max_search_tests: u64,
    /// What all evaluations and comparisons of a run may take together; `None` for any number.
    pub run_budgets: Option<Arc<RunBudgets>>,
    /// Flag that stops evaluation early; `None` if nothing can interrupt it.
    pub interrupt: Option<Interrupt>,
    /// Maps of users, for `userMap()`.
    pub user_maps: UserMaps,
}

impl Context {
    /// Default of [`Context::max_depth`].
    pub const DEFAULT_MAX_DEPTH: u32 = 20_000;

    /// Default of [`Context::max_steps`].
    pub const DEFAULT_MAX_STEPS: u64 = 10_000_000;

    /// Default of [`Context::max_value_bytes`], 64 MiB.
    pub const DEFAULT_MAX_VALUE_BYTES: u64 = 64 << 20;

    /// Default of [`Context::max_search_tests`].
    pub const DEFAULT_MAX_SEARCH_TESTS: u64 = 40_000;

    /// Returns a context with the default budgets, the system clock and a random seed.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Context {
            dialect,
            now: Some(i64::try_from(now).unwrap_or(i64::MAX)),
            random: Some(RandomStream::new(fastrand::u64(..))),
            max_depth: Self::DEFAULT_MAX_DEPTH,
            max_steps: Self::DEFAULT_MAX_STEPS,
            max_value_bytes: Self::DEFAULT_MAX_VALUE_BYTES,
            max_search_tests: Self::DEFAULT_MAX_SEARCH_TESTS,
            run_budgets: None,
            interrupt: None,
            user_maps: UserMaps::default(),
        }
    }

    /// Whether the steps of the run are spent. A search with several evaluations then ends with what it has.
    #[must_use]
    pub fn has_spent_run(&self) -> bool {
        self.run_budgets.as_ref().is_some_and(|run| run.steps.is_spent())
    }

    /// Counts steps for the comparison of requests with offers.
    #[inline]
    pub fn count_comparisons(&self, steps: u64) {
        if let Some(run) = &self.run_budgets {
            run.comparisons.count(steps);
        }
    }

    /// Counts bytes that are held for the comparison of requests with offers, until the run or a part of it ends.
    pub fn count_held_bytes(&self, bytes: usize) {
        if let Some(run) = &self.run_budgets {
            run.held_bytes.count(bytes as u64);
        }
    }

    /// Returns what `work` makes, and gives the bytes back that it held meanwhile, unless they are spent.
    pub fn with_held_bytes_of<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.run_budgets.as_ref().map(|run| run.held_bytes.taken());
        let made = work();
        if let Some((run, before)) = self.run_budgets.as_ref().zip(before).filter(|(run, _)| !run.held_bytes.is_spent())
        {
            run.held_bytes.give_back_to(before);
        }
        made
    }

    /// Whether the steps or the held bytes for the comparison of requests with offers are spent. Matching then ends with
    /// what it has.
    #[must_use]
    pub fn has_spent_comparisons(&self) -> bool {
        self.run_budgets.as_ref().is_some_and(|run| run.comparisons.is_spent() || run.held_bytes.is_spent())
    }

    /// Whether the held bytes are spent.
    #[must_use]
    pub fn has_spent_held_bytes(&self) -> bool {
        self.run_budgets.as_ref().is_some_and(|run| run.held_bytes.is_spent())
    }

    /// Counts steps of other work than evaluations for the run, such as the visits to the nodes of an expression.
    pub fn count_steps(&self, steps: u64) {
        if let Some(run) = &self.run_budgets {
            run.steps.count(steps);
        }
    }

    /// Whether the interrupt is raised. Matching, searching and explaining then end early, and their result must be
    /// discarded.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_raised)
    }
}

/// Cancellation flag, shared by its clones. Any thread or a signal handler may raise it; evaluations and searches poll
/// the flag and stop once it is raised.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Raises the flag: running evaluations and searches stop at their next poll.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lowers the flag, so that later evaluations run normally.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Stream of random numbers. Its clones draw from the same stream.
#[derive(Clone, Debug)]
pub struct RandomStream(Arc<AtomicU64>);

impl RandomStream {
    /// Returns the stream that `seed` determines.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        RandomStream(Arc::new(AtomicU64::new(seed)))
    }

    /// Returns the generator for the next draw and advances the stream.
    #[must_use]
    pub fn next(&self) -> fastrand::Rng {
        // The step is odd, so that no state repeats early. It is large, so that adjacent seeds do not give the same
        // draws.
        fastrand::Rng::with_seed(self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
    }
}

/// Reason why an evaluation stopped without a value. An abort differs from the value `error`: the expression may have a
/// value that was not reached.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Abort {
    /// Evaluations are nested deeper than this limit, which is [`Context::max_depth`].
    TooDeep(u32),
    /// The evaluator took more steps than this limit, which is [`Context::max_steps`].
    TooManySteps(u64),
    /// All evaluations of the run together took more steps than this limit, which is that of [`RunBudgets::steps`].
    TooManyRunSteps(u64),
    /// Functions made values of more bytes than this limit, which is [`Context::max_value_bytes`].
    TooManyValueBytes(u64),
    /// The value depends on something unknown, such as a name that is not bound yet or the time.
    Unknown,
    /// [`Context::interrupt`] was raised.
    Interrupted,
}

impl Abort {
    /// Returns the name of the setting that raises the limit, as in `--max-steps`; `None` if no limit ended the
    /// evaluation.
    #[must_use]
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Abort::TooDeep(_) => Some("max-depth"),
            Abort::TooManySteps(_) => Some("max-steps"),
            Abort::TooManyRunSteps(_) => Some("max-run-steps"),
            Abort::TooManyValueBytes(_) => Some("max-value-bytes"),
            Abort::Unknown | Abort::Interrupted => None,
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abort::TooDeep(deepest) => write!(f, "evaluations are nested more than {deepest} levels deep"),
            Abort::TooManySteps(most) => write!(f, "evaluation took more than {most} steps"),
            Abort::TooManyRunSteps(most) => {
                write!(f, "the evaluations of this run together took more than {most} steps")
            }
            Abort::TooManyValueBytes(most) => {
                write!(f, "functions made values of more than {most} bytes in one evaluation")
            }
            Abort::Unknown => f.write_str("the value depends on something that is not known yet"),
            Abort::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Abort {}

#[cfg(test)]
mod tests {
    use super::{Abort, Context, Interrupt};
    use crate::ad::{Dialect, Value};
    use crate::eval::{Environment, Evaluator};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn an_interrupt_stops_what_was_handed_it_while_it_is_raised() {
        let interrupt = Interrupt::default();
        let context = Context { interrupt: Some(interrupt.clone()), ..Context::new(Dialect::Classad) };
        let expression = parse_expression(b"1 + 1", ParseOptions::default()).expect("it parses");
        let (environment, frame) = Environment::empty();
        let value = || Evaluator::new(&environment, &context).evaluate(&expression, &frame);
        assert_eq!(value(), Ok(Value::Integer(2)));
        interrupt.raise();
        assert_eq!(value(), Err(Abort::Interrupted));
        interrupt.lower();
        assert_eq!(value(), Ok(Value::Integer(2)));
    }

    #[test]
    fn budgets_hold_beside_an_interrupt() {
        let long = vec!["1"; 10_000].join(" + ");
        let expression = parse_expression(long.as_bytes(), ParseOptions::default()).expect("it parses");
        let (environment, frame) = Environment::empty();
        for interrupt in [None, Some(Interrupt::default())] {
            let mut context = Context { interrupt, ..Context::new(Dialect::Classad) };
            for (most, is_enough) in [(1, false), (4096, false), (19_998, false), (19_999, true)] {
                context.max_steps = most;
                let value = Evaluator::new(&environment, &context).evaluate(&expression, &frame);
                assert_eq!(value.is_ok(), is_enough, "{most}: {value:?}");
            }
        }
    }

    /// Bytes that work holds are given back, unless they are more than granted.
    #[test]
    fn bytes_held_meanwhile_are_given_back() {
        let run = std::sync::Arc::new(crate::eval::RunBudgets::new([None, None, Some(100)]));
        let context = Context { run_budgets: Some(run), ..Context::new(Dialect::Condor) };
        context.count_held_bytes(30);
        for _ in 0..5 {
            context.with_held_bytes_of(|| context.count_held_bytes(60));
            assert!(!context.has_spent_held_bytes());
        }
        context.with_held_bytes_of(|| context.count_held_bytes(80));
        assert!(context.has_spent_held_bytes() && context.has_spent_comparisons());
    }
}
