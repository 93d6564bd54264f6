//! What an evaluator has used of its budgets.

use crate::ad::{ExpressionKind, Value};

use super::pattern::{SearchFault, SearchSteps};
use super::{Abort, Context};

/// Number of steps between two checks of the interrupt and of the steps of the run. The first ones do not count for the
/// run.
const STEPS_BETWEEN_CHECKS: u64 = 4096;

/// Number of steps of an evaluator that do not count for the run once the steps of the run are spent. Usual evaluations
/// take fewer, and go on.
const FREE_STEPS_OF_SPENT_RUN: u64 = 256;

/// Number of bytes that one element of a computed list takes, besides its text.
pub(super) const BYTES_PER_ELEMENT: u64 = 128;

/// Number of bytes of values that count as a step. To make them takes as long.
const BYTES_PER_STEP: u64 = 64;

/// Maximum number of bytes that the tree of an expression takes for each byte of its text.
const TREE_BYTES_PER_TEXT_BYTE: u64 = 64;

/// Steps that an evaluator took and bytes of the values that it made.
pub(super) struct Spending<'e> {
    context: &'e Context,
    max_steps: u64,
    steps: u64,
    /// Number of steps above which the step budget and the interrupt are checked next.
    next_check: u64,
    /// Number of steps that were counted for the run, with the first ones, which are free.
    counted: u64,
    bytes: u64,
}

impl<'e> Spending<'e> {
    pub(super) fn new(context: &'e Context) -> Self {
        let free = if context.has_spent_run() { FREE_STEPS_OF_SPENT_RUN } else { STEPS_BETWEEN_CHECKS };
        let next_check = match (&context.interrupt, &context.run_budgets) {
            (Some(_), _) => 0,
            (None, Some(_)) => free.min(context.max_steps),
            (None, None) => context.max_steps,
        };
        Spending { context, max_steps: context.max_steps, steps: 0, next_check, counted: free, bytes: 0 }
    }

    /// Lowers the step budget.
    pub(super) fn limited_to(self, steps: u64) -> Self {
        Spending { max_steps: self.max_steps.min(steps), next_check: self.next_check.min(steps), ..self }
    }

    /// Number of steps so far.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Number of bytes of values so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts a step.
    #[inline]
    pub(super) fn step(&mut self) -> Result<(), Abort> {
        self.steps += 1;
        if self.steps > self.next_check { self.check_limits() } else { Ok(()) }
    }

    /// Checks the interrupt and the budgets of steps, and sets the number of steps after which the next check is due.
    #[cold]
    fn check_limits(&mut self) -> Result<(), Abort> {
        if self.context.is_interrupted() {
            return Err(Abort::Interrupted);
        }
        let is_over = self.steps > self.max_steps;
        if let Some(run) = &self.context.run_budgets
            && self.steps > self.counted
        {
            let taken = run.steps.take(self.steps - self.counted);
            self.counted = self.steps;
            if !is_over {
                taken.map_err(Abort::TooManyRunSteps)?;
            }
        }
        if is_over {
            self.record_stop();
            return Err(Abort::TooManySteps(self.max_steps));
        }
        let interval = STEPS_BETWEEN_CHECKS.min(self.counted);
        self.next_check = self.steps.saturating_add(interval).min(self.max_steps);
        Ok(())
    }

    /// Records that the evaluation is stopped at a limit. The lower limit of a trial is not recorded.
    pub(super) fn record_stop(&self) {
        if let Some(run) = self.context.run_budgets.as_ref().filter(|_| self.max_steps == self.context.max_steps) {
            run.record_stop();
        }
    }

    /// Number of bytes that further values may take.
    pub(super) fn bytes_left(&self) -> u64 {
        self.context.max_value_bytes.saturating_sub(self.bytes)
    }

    /// Counts bytes of values. Making them takes steps.
    pub(super) fn add_bytes(&mut self, bytes: u64) -> Result<(), Abort> {
        self.steps += bytes / BYTES_PER_STEP;
        self.hold_bytes(bytes)
    }

    /// Counts bytes of values that were made before.
    pub(super) fn hold_bytes(&mut self, bytes: u64) -> Result<(), Abort> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.context.max_value_bytes { Err(self.too_many_bytes()) } else { Ok(()) }
    }

    pub(super) fn too_many_bytes(&self) -> Abort {
        self.record_stop();
        Abort::TooManyValueBytes(self.context.max_value_bytes)
    }

    /// Counts the bytes of a value that a function made. A part that occurs several times counts each time, because it
    /// is printed each time.
    #[inline]
    pub(super) fn add_value(&mut self, value: &Value) -> Result<(), Abort> {
        match value {
            Value::String(text) => self.add_bytes(text.as_bytes().len() as u64),
            // A list of one element repeats nothing, and a deep nest of such lists would count in quadratic time.
            Value::List(list) if list.scope.is_none() && list.elements.len() == 1 => self.add_bytes(BYTES_PER_ELEMENT),
            Value::List(list) if list.scope.is_none() => self.add_list(value),
            _ => Ok(()),
        }
    }

    fn add_list(&mut self, list: &Value) -> Result<(), Abort> {
        let mut pending = vec![list];
        while let Some(value) = pending.pop() {
            let bytes = match value {
                Value::String(text) => text.as_bytes().len() as u64,
                Value::List(list) => {
                    pending.extend(list.elements.iter().filter_map(|element| match element.kind() {
                        ExpressionKind::Literal(value @ (Value::String(_) | Value::List(_))) => Some(value),
                        _ => None,
                    }));
                    list.elements.len() as u64 * BYTES_PER_ELEMENT
                }
                _ => 0,
            };
            self.add_bytes(bytes)?;
        }
        Ok(())
    }

    /// Fails if the tree of an expression with a text of `length` bytes may take more than what is left. The tree does
    /// not count afterwards, because it is dropped.
    pub(super) fn check_tree(&self, length: usize) -> Result<(), Abort> {
        let bytes = (length as u64).saturating_mul(TREE_BYTES_PER_TEXT_BYTE);
        if bytes > self.bytes_left() { Err(self.too_many_bytes()) } else { Ok(()) }
    }

    /// Runs a search with a regular expression and counts its steps. The search gets the steps that are left.
    pub(super) fn search<T>(
        &mut self,
        search: impl FnOnce(&mut SearchSteps) -> Result<T, SearchFault>,
    ) -> Result<Result<T, String>, Abort> {
        let of_evaluator = self.max_steps.saturating_sub(self.steps);
        let of_run = self.context.run_budgets.as_ref().map_or(u64::MAX, |run| {
            let free = self.counted.saturating_sub(self.steps);
            run.steps.granted().saturating_sub(run.steps.taken()).saturating_add(free)
        });
        let mut steps = SearchSteps::new(of_evaluator.min(of_run));
        let found = search(&mut steps);
        self.steps += steps.taken();
        // The free steps of an evaluation do not cover searches that take long.
        self.context.count_steps(steps.of_run());
        if matches!(found, Err(SearchFault::TooManySteps)) && of_run < of_evaluator {
            self.steps = self.steps.saturating_add(steps.left()).saturating_add(1);
        }
        if self.steps > self.next_check {
            self.check_limits()?;
        }
        match found {
            Ok(found) => Ok(Ok(found)),
            Err(SearchFault::Failed(reason)) => Ok(Err(reason)),
            Err(SearchFault::TooManySteps) => {
                self.record_stop();
                Err(Abort::TooManySteps(self.max_steps))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::ad::{Ad, Dialect, ExpressionKind, Value};
    use std::sync::Arc;

    use crate::eval::{Abort, CompiledEvaluator, Context, RunBudgets};
    use crate::syntax::{ParseOptions, parse_expression};

    fn ad(text: &str) -> Ad {
        let parsed = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        match parsed.kind() {
            ExpressionKind::Ad(ad) => ad.clone(),
            _ => panic!("{text} is an ad"),
        }
    }

    /// Returns the value of the attribute `r`. A program leaves it to the tree walker in the end.
    fn value(ad: &Ad) -> Result<Value, Abort> {
        let expression = ad.get(&"r".into()).unwrap();
        CompiledEvaluator::for_ads(Dialect::Condor).evaluate(expression, ad, &Context::new(Dialect::Condor))
    }

    #[test]
    fn values_of_an_evaluation_take_bounded_memory() {
        let mut doubled = String::from("[ a0 = \"x x x x \";");
        for number in 1..=20 {
            write!(doubled, "a{number} = replace(\"^(.*)$\", a{}, \"\\\\1\\\\1\", \"s\");", number - 1).unwrap();
        }
        let contexts = vec!["[]"; 80].join(",");
        let copies = |name: &str| vec![name; 200].join(",");
        let text = "y".repeat(100);
        let joined = format!("[ a = \"{text}\"; b = strcat({}); c = strcat({});", copies("a"), copies("b"));
        let nested: Vec<String> =
            (1..=30).map(|n| format!("l{n} = evalInEachContext(l{}, {{ [], [] }});", n - 1)).collect();
        for bomb in [
            format!("{doubled} r = size(evalInEachContext(split(a20), {{{contexts}}})) ]"),
            format!("{joined} r = size(evalInEachContext(strcat(c, \"\"), {{{contexts}}})) ]"),
            format!("{joined} r = size(string(evalInEachContext(c, {{{contexts}}}))) ]"),
            format!(
                "{joined} r = size(strcat(c, c)) + size(toUpper(c)) + {} ]",
                vec!["size(strcat(c, \"\"))"; 20].join("+")
            ),
            format!("{joined} r = eval(strcat(\"{{\", b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, c, \"}}\")) ]"),
            format!("[ l0 = \"a long text\"; {} r = l30 ]", nested.concat()),
        ] {
            let limit = Context::DEFAULT_MAX_VALUE_BYTES;
            assert_eq!(value(&ad(&bomb)), Err(Abort::TooManyValueBytes(limit)), "{}", &bomb[bomb.len() - 60..]);
        }
    }

    #[test]
    fn evaluations_of_a_run_share_steps() {
        let budgets = Arc::new(RunBudgets::new([Some(10_000), None, None]));
        let run = &budgets.steps;
        let context = Context { run_budgets: Some(Arc::clone(&budgets)), ..Context::new(Dialect::Condor) };
        let sum = |terms: usize| ad(&format!("[ r = {} ]", vec!["a"; terms].join("+")));
        let (short, usual, long) = (sum(100), sum(1500), sum(6000));
        let value = |ad: &Ad| {
            CompiledEvaluator::for_ads(Dialect::Condor).evaluate(ad.get(&"r".into()).unwrap(), ad, &context).map(|_| ())
        };
        // The first steps of an evaluation are free, and so are usual evaluations.
        (0..100).for_each(|_| assert_eq!(value(&usual), Ok(())));
        assert_eq!(run.taken(), 0);
        assert_eq!([value(&long), value(&long)], [Ok(()), Ok(())]);
        // What an evaluation takes is counted in pieces of 4096.
        assert!((8000..10_000).contains(&run.taken()), "{}", run.taken());
        assert_eq!(value(&long), Err(Abort::TooManyRunSteps(10_000)));
        assert!(run.is_spent());
        // Then the free steps are few.
        let before = run.taken();
        assert_eq!([value(&long), value(&short)], [Err(Abort::TooManyRunSteps(10_000)), Ok(())]);
        assert!(run.taken() < before + 5000);
        budgets.add_input(400);
        assert_eq!((run.granted(), value(&long)), (20_000, Ok(())));
        budgets.renew();
        assert_eq!((run.is_spent(), run.taken()), (false, 0));
    }

    #[test]
    fn a_slow_search_takes_steps() {
        let many = vec!["isError(regexp(\"^(a+)+$\", a))"; 100].join(" && ");
        for search in ["regexp(\"x{1000,}[yz]\", c)", "size(replaceAll(\"x+y\", c, \"-\"))", many.as_str()] {
            let xs = "x".repeat(100);
            let copies = vec!["b"; 100].join(",");
            let more = vec!["a0"; 100].join(",");
            let text = format!(
                "[ a = \"{}b\"; a0 = \"{xs}\"; b = strcat({more}); c = strcat({copies}); r = {search} ]",
                "a".repeat(40)
            );
            let value = value(&ad(&text));
            assert!(matches!(value, Err(Abort::TooManySteps(_))), "{search}: {value:?}");
        }
    }
}
