//! Table of the built-in functions, read by the evaluator, `classad functions`, the completion and the man page. Each
//! file of this folder contributes a slice of rows.

mod arguments;
mod call;
mod conversion;
mod lists;
mod numbers;
mod predicates;
mod reflection;
pub(super) mod regex;
mod string_lists;
mod strings;
mod submit;
mod times;
mod versions;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::ad::{Dialect, Type, nearest};

use super::Halt;
use super::specialize::Shapes;

pub use call::Call;
pub(super) use reflection::{read_as_text, reads_text};
pub use string_lists::listed_items;

/// Built-in function: one row of the table.
pub struct Function {
    /// The name in its usual spelling; calls ignore case.
    pub name: &'static str,
    /// Minimum number of arguments.
    pub fewest: usize,
    /// Maximum number of arguments; `None` if unlimited.
    pub most: Option<usize>,
    /// Whether the function is strict in the papers' dialect: all arguments are evaluated first, and an error, or
    /// else an undefined argument, is the result. In HTCondor's dialect each body handles such arguments itself.
    pub strict: bool,
    /// Parameters and result types, such as `size(list | ad | string) -> int`. Specialization relies on the result
    /// types.
    pub signature: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// Example call and its value, checked by a test.
    pub example: Example,
    /// Computes the value of a call.
    pub body: fn(&mut Call<'_, '_>) -> Result<crate::ad::Value, Halt>,
}

/// Example of a call and its value.
pub struct Example {
    /// The call as an expression.
    pub call: &'static str,
    /// The printed value.
    pub value: &'static str,
    /// Dialect in which the example holds; `None` for both.
    pub dialect: Option<Dialect>,
}

impl Example {
    /// Returns an example whose value is the same in both dialects.
    const fn both(call: &'static str, value: &'static str) -> Self {
        Example { call, value, dialect: None }
    }

    /// Returns an example in HTCondor's dialect.
    const fn condor(call: &'static str, value: &'static str) -> Self {
        Example { call, value, dialect: Some(Dialect::Condor) }
    }
}

impl Function {
    /// Whether it accepts `count` arguments.
    #[must_use]
    pub fn takes(&self, count: usize) -> bool {
        count >= self.fewest && self.most.is_none_or(|most| count <= most)
    }

    /// Returns the possible types of its results: those in its signature, undefined and error.
    pub(super) fn results(&self) -> Shapes {
        let types = self.signature.rsplit("-> ").next().unwrap_or_default();
        let shapes = types.split(" | ").map(|name| match name {
            "bool" => Shapes::of_type(Type::Boolean),
            "int" => Shapes::of_type(Type::Integer),
            "real" => Shapes::of_type(Type::Real),
            "string" => Shapes::of_type(Type::String),
            "abstime" => Shapes::of_type(Type::AbsoluteTime),
            "reltime" => Shapes::of_type(Type::RelativeTime),
            "list" => Shapes::of_type(Type::List),
            "ad" => Shapes::of_type(Type::Ad),
            _ => Shapes::ANY,
        });
        shapes.fold(Shapes::UNDEFINED.or(Shapes::ERROR), Shapes::or)
    }

    /// Describes the accepted numbers of arguments in words.
    #[must_use]
    pub fn arity(&self) -> String {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        match (self.fewest, self.most) {
            (0, None) => "any number of arguments".to_owned(),
            (fewest, None) => format!("at least {fewest} argument{}", plural(fewest)),
            (0, Some(0)) => "no arguments".to_owned(),
            (fewest, Some(most)) if fewest == most => format!("{most} argument{}", plural(most)),
            (fewest, Some(most)) => format!("{fewest} to {most} arguments"),
        }
    }
}

/// Every built-in function, in alphabetical order.
pub static FUNCTIONS: LazyLock<Vec<&'static Function>> = LazyLock::new(|| {
    let groups = [
        conversion::FUNCTIONS,
        lists::FUNCTIONS,
        reflection::FUNCTIONS,
        numbers::FUNCTIONS,
        regex::FUNCTIONS,
        predicates::FUNCTIONS,
        string_lists::FUNCTIONS,
        strings::FUNCTIONS,
        submit::FUNCTIONS,
        times::FUNCTIONS,
        versions::FUNCTIONS,
    ];
    let mut all: Vec<&'static Function> = groups.into_iter().flatten().collect();
    all.sort_by_key(|function| function.name.to_ascii_lowercase());
    all
});

static BY_NAME: LazyLock<HashMap<String, &'static Function>> =
    LazyLock::new(|| FUNCTIONS.iter().map(|function| (function.name.to_ascii_lowercase(), *function)).collect());

/// Returns the function of this name, ignoring case; `None` if there is none.
#[must_use]
pub fn find_function(name: &str) -> Option<&'static Function> {
    BY_NAME.get(&name.to_ascii_lowercase()).copied()
}

/// Returns the names of functions with a similar spelling, most similar first.
#[must_use]
pub fn near_functions(name: &str) -> Vec<&'static str> {
    nearest(name, FUNCTIONS.iter().map(|function| function.name))
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, Shapes, find_function, near_functions};
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{Rules, Style, parse_expression, print_value};

    fn evaluate(text: &str, dialect: Dialect) -> String {
        let expression = parse_expression(text.as_bytes(), Rules::new(dialect)).expect("examples parse");
        let (environment, frame) = Environment::alone(Ad::default());
        let value = Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame);
        value.map_or_else(
            |halt| halt.to_string(),
            |value| String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned(),
        )
    }

    /// Specialization relies on the result types in the signatures.
    #[test]
    fn calls_give_what_their_signatures_say() {
        let values = [
            "undefined",
            "error",
            "true",
            "0",
            "1",
            "-3",
            "2.5",
            "\"\"",
            "\"a b\"",
            "\"1.5\"",
            "\"1\"",
            "\"==\"",
            "absTime(\"2000-01-01T00:00:00Z\")",
            "relTime(\"1+02:03:04\")",
            "{ }",
            "{ 1, 2 }",
            "{ \"a\", \"b\" }",
            "[ a = 1 ]",
            "{ [ a = 1 ] }",
        ];
        for (seed, function) in (0..).zip(FUNCTIONS.iter()) {
            let mut random = fastrand::Rng::with_seed(seed);
            for _ in 0..400 {
                let count = random.usize(function.fewest..=function.most.unwrap_or(4).min(function.fewest + 3));
                let arguments: Vec<_> = (0..count).map(|_| values[random.usize(0..values.len())]).collect();
                let call = format!("{}({})", function.name, arguments.join(", "));
                for dialect in [Dialect::Classad, Dialect::Condor] {
                    let Ok(expression) = parse_expression(call.as_bytes(), Rules::new(dialect)) else { continue };
                    let (environment, frame) = Environment::alone(Ad::default());
                    let value = Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame);
                    let value = value.expect("it is within its budget");
                    assert!(Shapes::of(&value).within(function.results()), "{call} in {dialect} gives {value:?}");
                }
            }
        }
    }

    #[test]
    fn every_example_holds() {
        for function in FUNCTIONS.iter() {
            let example = &function.example;
            for dialect in [Dialect::Classad, Dialect::Condor] {
                if example.dialect.is_none_or(|only| only == dialect) {
                    assert_eq!(evaluate(example.call, dialect), example.value, "{} in {dialect}", example.call);
                }
            }
            assert!(example.call.to_lowercase().contains(&function.name.to_lowercase()), "{}", function.name);
        }
    }

    #[test]
    fn names_are_distinct_and_found_in_any_case() {
        for pair in FUNCTIONS.windows(2) {
            assert_ne!(pair[0].name.to_lowercase(), pair[1].name.to_lowercase());
        }
        assert_eq!(find_function("STRCAT").map(|f| f.name), Some("strcat"));
        assert_eq!(near_functions("strcta").first(), Some(&"strcat"));
    }
}
