//! What an evaluation is given beside the expression: dialect, clock, chance, budgets.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ad::Dialect;

/// What is the same for every evaluation of a run.
#[derive(Clone, Debug)]
pub struct Context {
    /// Whose language.
    pub dialect: Dialect,
    /// The time now, in seconds since 1970-01-01T00:00:00Z; constant within a run.  None while it is not
    /// known, as for an ad that is specialized now and evaluated later.
    pub now: Option<i64>,
    /// What `random()` draws from: one stream for all evaluations of the run; none as for the time.
    pub chance: Option<Chance>,
    /// How many evaluations may be nested in one another.
    pub deepest: u32,
    /// How many nodes one evaluation may visit.
    pub most_steps: u64,
    /// By what it may be stopped before it is done; none if nobody waits.
    pub interrupt: Option<Interrupt>,
}

impl Context {
    /// The usual budgets, the system's clock, and chance.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Context {
            dialect,
            now: Some(i64::try_from(now).unwrap_or(i64::MAX)),
            chance: Some(Chance::new(fastrand::u64(..))),
            deepest: 20_000,
            most_steps: 10_000_000,
            interrupt: None,
        }
    }

    /// Whether nobody waits for the result any more.  What matches, searches and explains ends early then: its result
    /// is of no use.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_raised)
    }
}

/// A flag that says that a result is no longer wanted, which clones share.  Whoever waits raises it, from any thread or
/// the handler of a signal; evaluations and searches that were handed it look at it now and then.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops what is going on.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets what comes next go on.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream of random numbers, which clones share.
#[derive(Clone, Debug)]
pub struct Chance(Arc<AtomicU64>);

impl Chance {
    /// The stream that a seed fixes.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Chance(Arc::new(AtomicU64::new(seed)))
    }

    /// A generator for the next draw.
    #[must_use]
    pub fn next(&self) -> fastrand::Rng {
        // An odd step, far from small numbers: near seeds do not give near draws.
        fastrand::Rng::with_seed(self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
    }
}

/// Why an evaluation has no value.  That is not the value `error`: the expression may well have a
/// value that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Evaluations are nested deeper than the budget allows.
    TooDeep(u32),
    /// The evaluation took more steps than the budget allows.
    TooLong(u64),
    /// The value depends on something that is not known yet: a name that is not bound, the time.
    Unknown,
    /// Nobody waits for the value any more: [`Context::interrupt`].
    Interrupted,
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::TooDeep(deepest) => write!(f, "evaluation is nested more than {deepest} deep"),
            Halt::TooLong(most) => write!(f, "evaluation took more than {most} steps"),
            Halt::Unknown => f.write_str("the value depends on something that is not known yet"),
            Halt::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Halt {}

#[cfg(test)]
mod tests {
    use super::{Context, Halt, Interrupt};
    use crate::ad::{Dialect, Value};
    use crate::eval::{Environment, Evaluator};
    use crate::syntax::{Rules, parse_expression};

    #[test]
    fn an_interrupt_stops_what_was_handed_it_while_it_is_raised() {
        let interrupt = Interrupt::default();
        let context = Context { interrupt: Some(interrupt.clone()), ..Context::new(Dialect::Classad) };
        let expression = parse_expression(b"1 + 1", Rules::default()).expect("it parses");
        let (environment, frame) = Environment::nowhere();
        let value = || Evaluator::new(&environment, &context).evaluate(&expression, &frame);
        assert_eq!(value(), Ok(Value::Integer(2)));
        interrupt.raise();
        assert_eq!(value(), Err(Halt::Interrupted));
        interrupt.lower();
        assert_eq!(value(), Ok(Value::Integer(2)));
    }

    #[test]
    fn budgets_hold_beside_an_interrupt() {
        let long = vec!["1"; 10_000].join(" + ");
        let expression = parse_expression(long.as_bytes(), Rules::default()).expect("it parses");
        let (environment, frame) = Environment::nowhere();
        for interrupt in [None, Some(Interrupt::default())] {
            let mut context = Context { interrupt, ..Context::new(Dialect::Classad) };
            for (most, is_enough) in [(1, false), (4096, false), (19_998, false), (19_999, true)] {
                context.most_steps = most;
                let value = Evaluator::new(&environment, &context).evaluate(&expression, &frame);
                assert_eq!(value.is_ok(), is_enough, "{most}: {value:?}");
            }
        }
    }
}
