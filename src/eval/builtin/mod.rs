//! Table of the built-in functions, read by the evaluator, `classad functions`, the completion and the man page. Each
//! file of this folder contributes a slice of the table.

/// Defines one entry of the table of functions:
/// `name(fewest, most arguments) Kind "(parameters) -> type", doc, dialects call => value, body`. `_` in place of
/// `most` means no maximum. Without `body`, the Rust function called `name` is the body. A function that HTCondor does
/// not have has `papers = "what HTCondor has instead",` in place of `dialects`.
macro_rules! function {
    ($name:ident($fewest:literal, $most:tt) $kind:ident $signature:expr,
        $doc:expr, $dialects:ident $(= $replacement:literal,)? $call:expr => $value:expr, $body:expr) => {
        $crate::eval::builtin::BuiltinFunction {
            name: stringify!($name),
            min_arguments: $fewest,
            max_arguments: function!(@limit $most),
            kind: $crate::eval::builtin::FunctionKind::$kind,
            signature: concat!(stringify!($name), $signature),
            doc: $doc,
            replacement: function!(@replacement $($replacement)?),
            example: $crate::eval::builtin::FunctionExample {
                call: $call,
                value: $value,
                dialect: function!(@dialect $dialects),
            },
            body: $body,
        }
    };
    ($name:ident($fewest:literal, $most:tt) $kind:ident $signature:expr,
        $doc:expr, $dialects:ident $(= $replacement:literal,)? $call:expr => $value:expr) => {
        function!($name($fewest, $most) $kind $signature, $doc, $dialects $(= $replacement,)? $call => $value, $name)
    };
    (@limit _) => { None };
    (@limit $most:literal) => { Some($most) };
    (@replacement) => { None };
    (@replacement $replacement:literal) => { Some($replacement) };
    (@dialect both) => { None };
    (@dialect papers) => { Some($crate::ad::Dialect::Classad) };
    (@dialect condor) => { Some($crate::ad::Dialect::Condor) };
}

mod arguments;
mod call;
mod conversion;
mod lists;
mod numbers;
mod predicates;
mod reflection;
pub(super) mod regex;
pub(super) mod string_lists;
mod strings;
mod submit;
mod times;
mod versions;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Name, Type, Value};
use crate::text::{closest_names, counted};

use super::Abort;
use super::specialize::TypeSet;

pub(super) use call::{Call, CallResult, EarlyEnd};
pub use predicates::tested_type;
pub(super) use reflection::names_read_as_text;
pub use string_lists::string_list_items;
pub(crate) use submit::{quoted_word, quoted_words};

/// Built-in function: one entry of the table.
pub struct BuiltinFunction {
    /// The name in its usual spelling; calls ignore case.
    pub name: &'static str,
    /// Minimum number of arguments.
    pub min_arguments: usize,
    /// Maximum number of arguments; `None` if unlimited.
    pub max_arguments: Option<usize>,
    /// Which arguments are evaluated, and whether the value of a call depends on more than their values.
    pub kind: FunctionKind,
    /// Name, parameters and result types, such as `size(list | ad | string) -> int`. Specialization relies on the
    /// result types.
    pub signature: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// What HTCondor has instead of a function that only the papers have, such as `real(time) / 86400`. `None` for a
    /// function of both dialects.
    pub replacement: Option<&'static str>,
    /// Example of a call with its value, checked by a test.
    pub example: FunctionExample,
    /// Rust function that computes the value of a call.
    body: fn(&mut Call<'_, '_>) -> CallResult,
}

/// What a function does with its arguments, and whether its value depends on more than the values of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FunctionKind {
    /// In the papers' dialect all arguments are evaluated first. If one is an error, the call is an error; else if one
    /// is undefined, the call is undefined. In HTCondor's dialect each function treats such arguments in its own way.
    Strict,
    /// The body evaluates only the arguments that it needs.
    Lazy,
    /// Like `Strict`, but the function also draws random numbers.
    Random,
    /// HTCondor writes the value of the argument to a log. This library does not.
    Logged,
    /// The argument is a text that is parsed and evaluated as an expression.
    ParsesText,
    /// The function reads the expression of the attribute that the first argument names, as `unparse(name)` does.
    ReadsExpression,
    /// The expression of the first argument is evaluated in each ad of a list, as `countMatches(expression, ads)` does.
    EvaluatesElsewhere,
}

impl FunctionKind {
    /// Whether a call in the papers' dialect evaluates all arguments and checks them for error and undefined before the
    /// function runs.
    #[must_use]
    pub fn is_strict(self) -> bool {
        matches!(self, FunctionKind::Strict | FunctionKind::Random)
    }

    /// Whether the value of a call depends on more than the values of the arguments, for example on random numbers.
    pub(super) fn is_impure(self) -> bool {
        !matches!(self, FunctionKind::Strict | FunctionKind::Lazy)
    }

    /// Whether the function uses the expression of its first argument, not just the argument's value.
    pub(super) fn reads_expression(self) -> bool {
        matches!(self, FunctionKind::ReadsExpression | FunctionKind::EvaluatesElsewhere)
    }

    /// Returns the kind of the function of this name; `None` if there is no such function.
    #[must_use]
    pub fn of(function: &Name) -> Option<Self> {
        find_function(function).map(|function| function.kind)
    }
}

/// Example of a call and its value.
pub struct FunctionExample {
    /// The call as an expression.
    pub call: &'static str,
    /// Value of the call, as printed text.
    pub value: &'static str,
    /// Dialect in which the example holds; `None` for both.
    pub dialect: Option<Dialect>,
}

impl BuiltinFunction {
    /// Whether a dialect has the function. The papers' dialect has all.
    #[must_use]
    pub fn is_in(&self, dialect: Dialect) -> bool {
        self.replacement.is_none() || dialect == Dialect::Classad
    }

    /// Whether a call with `count` arguments is allowed.
    #[must_use]
    pub fn accepts_count(&self, count: usize) -> bool {
        count >= self.min_arguments && self.max_arguments.is_none_or(|most| count <= most)
    }

    /// Computes the value of a call. In the papers' dialect a strict function first checks its arguments for error and
    /// undefined.
    pub(super) fn run(&self, call: &mut Call<'_, '_>) -> CallResult {
        if self.kind.is_strict() && call.dialect() == Dialect::Classad {
            call.reject_exceptional()?;
        }
        (self.body)(call)
    }

    /// Returns the types that a result of the function can have: those in the signature, and undefined and error.
    pub(crate) fn result_types(&self) -> TypeSet {
        let types = self.signature.rsplit("-> ").next().unwrap_or_default();
        let sets = types.split(" | ").map(|name| match name {
            "bool" => TypeSet::of_type(Type::Boolean),
            "int" => TypeSet::of_type(Type::Integer),
            "real" => TypeSet::of_type(Type::Real),
            "string" => TypeSet::of_type(Type::String),
            "abstime" => TypeSet::of_type(Type::AbsoluteTime),
            "reltime" => TypeSet::of_type(Type::RelativeTime),
            "list" => TypeSet::of_type(Type::List),
            "ad" => TypeSet::of_type(Type::Ad),
            _ => TypeSet::ANY,
        });
        sets.fold(TypeSet::UNDEFINED.union(TypeSet::ERROR), TypeSet::union)
    }

    /// Iterates over the parameters in the signature, such as `pattern` and `string` of `regexp`. None for a function
    /// with several forms of calls.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let inside = self.signature.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ->"));
        let inside = inside.map_or("", |(inside, _)| inside);
        let inside = if inside.contains('(') { "" } else { inside };
        inside.split(',').map(|word| word.trim_matches([' ', '[', ']'])).filter(|word| !word.is_empty())
    }

    /// Returns the types that the argument at a 0-based index may have: those of the parameter in the signature, and
    /// undefined and error. With an argument of another type a call is an error.
    pub(crate) fn argument_types(&self, index: usize) -> TypeSet {
        let Some(parameter) = self.parameters().nth(index) else { return TypeSet::ANY };
        let sets = parameter.split(" | ").map(|word| match word {
            "string" | "item" | "pattern" | "options" | "delimiters" | "separators" | "operator" => {
                TypeSet::of_type(Type::String)
            }
            "list" | "list of ads" => TypeSet::of_type(Type::List),
            "number" => TypeSet::ANY.without(TypeSet::of_type(Type::List)).without(TypeSet::of_type(Type::Ad)),
            "ad" => TypeSet::of_type(Type::Ad),
            _ => TypeSet::ANY,
        });
        sets.fold(TypeSet::UNDEFINED.union(TypeSet::ERROR), TypeSet::union)
    }

    /// Describes the accepted number of arguments in words, such as `1 to 3 arguments`.
    #[must_use]
    pub fn arity(&self) -> String {
        match (self.min_arguments, self.max_arguments) {
            (0, None) => "any number of arguments".to_owned(),
            (fewest, None) => format!("at least {}", counted(fewest, "argument")),
            (0, Some(0)) => "no arguments".to_owned(),
            (fewest, Some(most)) if fewest == most => counted(most, "argument"),
            (fewest, Some(most)) => format!("{fewest} to {most} arguments"),
        }
    }
}

/// Every built-in function, in alphabetical order.
pub static FUNCTIONS: LazyLock<Vec<&'static BuiltinFunction>> = LazyLock::new(|| {
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
    let mut all: Vec<&'static BuiltinFunction> = groups.into_iter().flatten().collect();
    all.sort_by_key(|function| function.name.to_ascii_lowercase());
    all
});

static BY_NAME: LazyLock<FxHashMap<Name, &'static BuiltinFunction>> =
    LazyLock::new(|| FUNCTIONS.iter().map(|function| (Name::new(function.name), *function)).collect());

/// Returns the function of this name, ignoring case; `None` if no dialect has one.
#[must_use]
pub fn find_function(name: &Name) -> Option<&'static BuiltinFunction> {
    BY_NAME.get(name).copied()
}

/// Returns the function of this name, ignoring case; `None` if the dialect has none, so that a call is an error.
#[must_use]
pub fn find_function_in(name: &Name, dialect: Dialect) -> Option<&'static BuiltinFunction> {
    find_function(name).filter(|function| function.is_in(dialect))
}

/// Returns the value of a call of the function with this name; an error if there is no such function, or if it takes
/// another number of arguments.
pub(super) fn call_by_name(name: &Name, mut call: Call<'_, '_>) -> Result<Value, Abort> {
    let dialect = call.dialect();
    let Some(function) = find_function_in(name, dialect) else {
        return Ok(call.error(unknown_function_message(name, dialect)));
    };
    let count = call.arguments.len();
    if !function.accepts_count(count) {
        let reason = format!("{name}() takes {}, not {count}; {}", function.arity(), function.signature);
        return Ok(call.error(reason));
    }
    match function.run(&mut call) {
        Ok(value) | Err(EarlyEnd::Decided(value)) => {
            call.evaluator.spending.add_value(&value)?;
            Ok(value)
        }
        Err(EarlyEnd::Aborted(abort)) => Err(abort),
    }
}

/// Whether a call of the function with this number of arguments reads the clock: every function about times does without
/// an argument.
pub(super) fn reads_clock(function: &BuiltinFunction, arguments: usize) -> bool {
    let is_of_times = || times::FUNCTIONS.iter().any(|of_times| of_times.name == function.name);
    arguments == 0 && (function.name == "absTime" || is_of_times())
}

/// Returns at most three names of functions that a user of a dialect may have meant by a name that is none: those that
/// are spelt like it, the most similar first, or the one that HTCondor has instead.
#[must_use]
pub fn similar_functions(name: &str, dialect: Dialect) -> Vec<&'static str> {
    match find_function(&Name::new(name)).and_then(|function| function.replacement) {
        Some(replacement) => {
            replacement.strip_suffix(')').and_then(|call| call.split('(').next()).into_iter().collect()
        }
        None => closest_names(name, FUNCTIONS.iter().filter(|known| known.is_in(dialect)).map(|known| known.name)),
    }
}

/// Returns why a call of a function that the dialect does not have is an error.
#[must_use]
pub fn unknown_function_message(name: &Name, dialect: Dialect) -> String {
    if let Some(replacement) = find_function(name).and_then(|function| function.replacement) {
        return format!("HTCondor has no function {name}(): write {replacement}");
    }
    let near = similar_functions(name.as_str(), dialect);
    let hint = near.first().map_or(String::new(), |near| format!("; did you mean {near}()?"));
    format!("there is no function {name}(){hint}")
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, TypeSet, find_function, similar_functions};
    use crate::ad::{Ad, Dialect, Name, Value};
    use crate::eval::{CompiledEvaluator, Context, Environment, Evaluator, SpecializeOptions, specialize};
    use crate::syntax::{ParseOptions, parse_expression};

    fn evaluate(text: &str, dialect: Dialect) -> String {
        let expression = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).expect("examples parse");
        let (environment, frame) = Environment::single(Ad::default());
        let value = Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame);
        value.map_or_else(|abort| abort.to_string(), |value| value.to_string())
    }

    fn parsed_value(text: &str, dialect: Dialect) -> Value {
        let expression = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).expect("arguments parse");
        let (environment, frame) = Environment::single(Ad::default());
        Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame).expect("it ends")
    }

    /// Calls all functions with random arguments and asserts that each result has a type of the function's signature,
    /// and that an argument of a type that the signature lacks gives no value. Specialization relies on the result types
    /// in the signatures, the linter on the types of parameters.
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
                let count = random.usize(
                    function.min_arguments..=function.max_arguments.unwrap_or(4).min(function.min_arguments + 3),
                );
                let arguments: Vec<_> = (0..count).map(|_| values[random.usize(0..values.len())]).collect();
                let call = format!("{}({})", function.name, arguments.join(", "));
                for dialect in [Dialect::Classad, Dialect::Condor] {
                    let Ok(expression) = parse_expression(call.as_bytes(), ParseOptions::new(dialect)) else {
                        continue;
                    };
                    let (environment, frame) = Environment::single(Ad::default());
                    let value = Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame);
                    let value = value.expect("it is within its budget");
                    assert!(
                        TypeSet::of(&value).is_subset_of(function.result_types()),
                        "{call} in {dialect} gives {value:?}"
                    );
                    let is_wrong = |(index, argument): (usize, &&str)| {
                        let types = TypeSet::of(&parsed_value(argument, dialect));
                        !types.is_subset_of(function.argument_types(index))
                    };
                    let is_refused = TypeSet::of(&value).is_subset_of(TypeSet::UNDEFINED.union(TypeSet::ERROR));
                    assert!(!arguments.iter().enumerate().any(is_wrong) || is_refused, "{call} gives {value:?}");
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

    /// These functions of the papers are unknown to HTCondor 25.14.1, whose library answers with an error.
    #[test]
    fn functions_that_htcondor_lacks_are_errors_in_its_dialect() {
        let alone: Vec<&str> = FUNCTIONS.iter().filter(|f| f.replacement.is_some()).map(|f| f.name).collect();
        assert_eq!(
            alone,
            ["inDays", "inHours", "inMinutes", "inSeconds", "isMember", "makeAbsTime", "makeDate", "makeRelTime"]
        );
        let context = Context::new(Dialect::Condor);
        for name in alone {
            for (call, expected) in [
                (format!("{name}()"), "error"),
                (format!("{name}(undefined, x)"), "error"),
                (format!("{name}(1) || true"), "error"),
                (format!("true || {name}(1)"), "true"),
                (format!("isError({name}(1, {{ 1 }}))"), "true"),
                (format!("ifThenElse(false, {name}(1), 3)"), "3"),
            ] {
                assert_eq!(evaluate(&call, Dialect::Condor), expected, "{call}");
                let expression = parse_expression(call.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
                let compiled =
                    CompiledEvaluator::for_passing_ads(Dialect::Condor).evaluate(&expression, &Ad::default(), &context);
                assert_eq!(compiled.unwrap().to_string(), expected, "{call} compiled");
                let (environment, frame) = Environment::unknown();
                let options = SpecializeOptions::default();
                let residue = specialize(&expression, &frame, &environment, &context, options).expression;
                assert_eq!(residue.to_string(), expected, "{call} specialized");
            }
        }
        assert_eq!(similar_functions("isMember", Dialect::Condor), ["identicalMember"]);
        assert_eq!(similar_functions("inDayz", Dialect::Classad).first(), Some(&"inDays"));
        assert!(!similar_functions("inDayz", Dialect::Condor).contains(&"inDays"));
    }

    #[test]
    fn names_are_distinct_and_found_in_any_case() {
        for pair in FUNCTIONS.windows(2) {
            assert_ne!(pair[0].name.to_lowercase(), pair[1].name.to_lowercase());
        }
        assert_eq!(find_function(&Name::new("STRCAT")).map(|f| f.name), Some("strcat"));
        assert_eq!(similar_functions("strcta", Dialect::Classad).first(), Some(&"strcat"));
    }
}
