//! What an expression depends on besides attributes: the clock and random numbers.

use crate::ad::{Dialect, Expression, ExpressionKind};

use super::FreeNames;
use super::builtin::{FunctionKind, find_function, reads_clock};
use super::scope::CURRENT_TIME;

/// Whether an expression reads the clock or draws random numbers. Expressions of the attributes that it reads are left
/// out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolatileInputs {
    /// Whether it calls a function that reads the clock, such as `time()`, or mentions `CurrentTime`.
    pub clock: bool,
    /// Whether it calls a function that draws random numbers, such as `random()`.
    pub random_numbers: bool,
}

impl VolatileInputs {
    /// Returns the inputs of an expression and its subexpressions.
    #[must_use]
    pub fn of(expression: &Expression) -> Self {
        let mut found = VolatileInputs::default();
        for part in expression.parts() {
            match part.kind() {
                ExpressionKind::Call(name, arguments) => {
                    let function = find_function(name);
                    found.clock |= function.is_some_and(|function| reads_clock(function, arguments.len()));
                    found.random_numbers |= function.is_some_and(|function| function.kind == FunctionKind::Random);
                }
                ExpressionKind::Attribute(name) => found.clock |= name.is_known(CURRENT_TIME),
                _ => {}
            }
        }
        found
    }

    /// Whether an expression has the same value as long as the attributes that it names have theirs, whatever the clock says. A text
    /// that is evaluated may read the clock.
    #[must_use]
    pub fn are_none_in(expression: &Expression, dialect: Dialect) -> bool {
        VolatileInputs::of(expression) == VolatileInputs::default() && !FreeNames::of(expression, dialect).is_impure
    }
}

#[cfg(test)]
mod tests {
    use super::VolatileInputs;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn clock_and_random_numbers_are_found() {
        for (text, clock, random_numbers) in [
            ("Memory > 1", false, false),
            ("time() > 1", true, false),
            ("formatTime() == \"a\" || absTime() == x", true, false),
            ("absTime() == x", true, false),
            ("formatTime(x) == \"a\" || absTime(y) == x", false, false),
            ("1 + { currenttime }[0]", true, false),
            ("random(5) > dayTime()", true, true),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).expect(text);
            assert_eq!(VolatileInputs::of(&expression), VolatileInputs { clock, random_numbers }, "{text}");
        }
    }
}
