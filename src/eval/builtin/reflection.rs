//! Functions that inspect or evaluate expressions, and functions that do not evaluate all of their arguments.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{Ad, Expression, Frame, Kind, List, Name, Value};
use crate::syntax::{Rules, Style, parse_expression, print, print_name, print_spread};

use super::super::operators::{Truth, truth, whole_seconds};
use super::super::references::{Reference, external_references};
use super::super::{Halt, Resolution};
use super::regex::matches_ignoring_case;
use super::{Call, Example, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "ifThenElse",
        fewest: 3,
        most: Some(3),
        strict: false,
        signature: "ifThenElse(condition, any, any) -> any",
        doc: "the second argument if the first is true, the third if it is false; as `? :`",
        example: Example::both("ifThenElse(1 < 2, \"yes\", error)", "\"yes\""),
        body: if_then_else,
    },
    Function {
        name: "eval",
        fewest: 1,
        most: Some(1),
        strict: false,
        signature: "eval(any) -> any",
        doc: "reads the text of a value as an expression and evaluates it here",
        example: Example::both("eval(\"1 + 1\")", "2"),
        body: eval,
    },
    Function {
        name: "unparse",
        fewest: 1,
        most: Some(1),
        strict: false,
        signature: "unparse(attribute) -> string",
        doc: "the text of the expression bound to an attribute of this ad; empty if there is none",
        example: Example::both("[ a = b + 1; text = unparse(a) ].text", "\"b + 1\""),
        body: unparse,
    },
    Function {
        name: "unresolved",
        fewest: 1,
        most: Some(2),
        strict: false,
        signature: "unresolved(attribute [, pattern]) -> string | bool",
        doc: "the names that an attribute needs and this ad lacks; with a pattern, whether it matches one of them",
        example: Example::both("[ a = b + c; b = 1; missing = unresolved(a) ].missing", "\"c\""),
        body: unresolved,
    },
    Function {
        name: "evalInEachContext",
        fewest: 2,
        most: Some(2),
        strict: false,
        signature: "evalInEachContext(expression, list of ads) -> list",
        doc: "the values of an expression in each ad of a list",
        example: Example::both("evalInEachContext(cap > 4, { [ cap = 3.5 ], [ cap = 5 ] })", "{ false, true }"),
        body: eval_in_each_context,
    },
    Function {
        name: "countMatches",
        fewest: 2,
        most: Some(2),
        strict: false,
        signature: "countMatches(expression, list of ads) -> int",
        doc: "in how many ads of a list an expression is true",
        example: Example::both("countMatches(cap > 4, { [ cap = 3.5 ], [ cap = 5 ] })", "1"),
        body: count_matches,
    },
    Function {
        name: "debug",
        fewest: 1,
        most: Some(1),
        strict: false,
        signature: "debug(any) -> any",
        doc: "its argument; HTCondor writes it to its log as well",
        example: Example::both("debug(1 + 1)", "2"),
        body: |call| call.value(0),
    },
];

/// Whether a function reads the expression of its first argument, not just its value.
pub(in crate::eval) fn reads_text(function: &Name) -> bool {
    ["unparse", "unresolved", "evalInEachContext", "countMatches"].iter().any(|name| function.is(name))
}

/// Returns the names whose expressions are read by functions for which [`reads_text`] holds, anywhere in an ad.
pub(in crate::eval) fn read_as_text(ad: &Ad) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    let mut pending: Vec<&Expression> = ad.iter().map(|attribute| attribute.expression).collect();
    while let Some(expression) = pending.pop() {
        if let Kind::Call(function, arguments) = expression.kind()
            && reads_text(function)
            && let Some(Kind::Attribute(name) | Kind::RootAttribute(name) | Kind::Select(_, name)) =
                arguments.first().map(Expression::kind)
        {
            names.insert(name.clone());
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    names
}

fn if_then_else(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let condition = call.value(0)?;
    match truth(&condition, call.dialect()) {
        Truth::True => call.value(1),
        Truth::False => call.value(2),
        Truth::Undefined | Truth::Error => Ok(condition),
        Truth::Other => Ok(call.unsuitable(&condition, "a boolean")),
    }
}

fn eval(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let value = call.value(0)?;
    if value.is_exceptional() {
        return Ok(call.unsuitable(&value, "the text of an expression"));
    }
    let text = call.text_of(&value);
    match parse_expression(text.as_bytes(), Rules::new(call.dialect())) {
        Ok(expression) => {
            let value = call.evaluate(&expression, call.frame())?;
            // Spans in the parsed text are not spans in the source, so the fault goes into the message.
            Ok(match value.fault() {
                Some(fault) => call.error(format!("in \"{}\": {fault}", text.to_str())),
                None => value,
            })
        }
        Err(error) => Ok(call.error(format!("\"{}\" is no expression: {error}", text.to_str()))),
    }
}

#[allow(clippy::unnecessary_wraps)] // the signature of every body in the table
fn unparse(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let expression = match call.expression(0).map(Expression::kind) {
        Some(Kind::Attribute(name)) => match call.frame().ad.get(name) {
            None if call.evaluator().environment().is_open(call.frame()) => return Err(Halt::Unknown),
            bound => bound,
        },
        Some(Kind::Select(..) | Kind::RootAttribute(_)) => None,
        _ => return Ok(call.error("expected the name of an attribute")),
    };
    let text = |expression: &Expression| {
        if call.dialect().is_condor() { print_spread(expression) } else { print(expression, Style::New) }
    };
    Ok(Value::string(expression.map_or_else(Vec::new, text)))
}

/// Resolves an attribute reference to an expression and its scope; `None` if it resolves to no expression.
fn referred(call: &mut Call<'_, '_>, reference: &Expression) -> Result<Option<(Expression, Arc<Frame>)>, Halt> {
    let context = call.context();
    let environment = call.evaluator().environment();
    let resolution = match reference.kind() {
        Kind::Attribute(name) => environment.resolve(call.frame(), name, context),
        Kind::RootAttribute(name) => environment.resolve_root(call.frame(), name, context),
        Kind::Select(ad, name) => match call.evaluate(ad, call.frame())? {
            Value::Ad(ad) => environment.resolve_in(&ad.frame, name, context),
            _ => Resolution::Missing,
        },
        _ => Resolution::Missing,
    };
    Ok(match resolution {
        Resolution::Expression(expression, frame) => Some((expression, frame)),
        Resolution::Unknown => return Err(Halt::Unknown),
        _ => None,
    })
}

fn unresolved(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let Some(reference) = call.expression(0) else { return Ok(Value::Undefined) };
    if !matches!(reference.kind(), Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..)) {
        return Ok(call.error("expected the name of an attribute"));
    }
    let Some((expression, frame)) = referred(call, reference)? else { return Ok(Value::Undefined) };
    let context = call.context();
    let environment = call.evaluator().environment();
    let missing = external_references(&expression, &frame, environment, context);
    if !missing.is_empty() && environment.is_partial() {
        return Err(Halt::Unknown);
    }
    let mut names: Vec<Name> = missing.iter().map(missing_part).collect();
    names.sort();
    names.dedup();
    if call.len() == 1 {
        let names: Vec<&str> = names.iter().map(Name::as_str).collect();
        return Ok(Value::string(names.join(",")));
    }
    let pattern = match call.value(1)? {
        Value::String(pattern) => pattern,
        other => return Ok(call.unsuitable(&other, "a pattern")),
    };
    // An invalid pattern is an error even if there is no name to match.
    if let Err(reason) = matches_ignoring_case(&pattern, b"") {
        return Ok(call.error(reason));
    }
    for name in names {
        match matches_ignoring_case(&pattern, name.as_str().as_bytes()) {
            Ok(true) => return Ok(Value::Boolean(true)),
            Ok(false) => {}
            Err(reason) => return Ok(call.error(reason)),
        }
    }
    Ok(Value::Boolean(false))
}

/// Returns the missing part of a dotted path, without the names that resolve and without the qualifier of a side.
fn missing_part(reference: &Reference) -> Name {
    let mut parts = reference.missing();
    if let [first, rest @ ..] = parts
        && !rest.is_empty()
        && ["target", "other", "my"].iter().any(|qualifier| first.is(qualifier))
    {
        parts = rest;
    }
    Name::new(&parts.iter().map(print_name).collect::<Vec<_>>().join("."))
}

/// Returns the expression to evaluate in each ad: the one bound to the first argument if that is a name, else the
/// argument.
fn each_expression(call: &mut Call<'_, '_>) -> Result<Expression, Halt> {
    let Some(argument) = call.expression(0) else { return Ok(Expression::literal(Value::Undefined)) };
    Ok(match referred(call, argument)? {
        Some((expression, _)) => expression,
        None => argument.clone(),
    })
}

/// Returns the value of the first argument's expression in each ad of the list.
fn in_each(call: &mut Call<'_, '_>, list: &List) -> Result<Vec<Value>, Halt> {
    let expression = each_expression(call)?;
    let elements = call.elements(list)?;
    elements
        .into_iter()
        .map(|element| match element {
            Value::Ad(ad) => call.evaluate(&expression, &ad.frame.as_context()),
            Value::Undefined => Ok(Value::Undefined),
            other => Ok(call.unsuitable(&other, "an ad")),
        })
        .collect()
}

fn eval_in_each_context(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    match call.value(1)? {
        Value::List(list) => {
            let values = in_each(call, &list)?;
            let whole = call.dialect().is_condor();
            Ok(Call::list(values.into_iter().map(|value| if whole { whole_seconds(value) } else { value }).collect()))
        }
        Value::Undefined => Ok(Value::Undefined),
        other => Ok(call.unsuitable(&other, "a list of ads")),
    }
}

fn count_matches(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    match call.value(1)? {
        Value::List(list) => {
            let dialect = call.dialect();
            let count = in_each(call, &list)?.iter().filter(|value| truth(value, dialect) == Truth::True).count();
            Ok(Value::Integer(i64::try_from(count).unwrap_or(i64::MAX)))
        }
        Value::Undefined => Ok(Value::Integer(0)),
        other => Ok(call.unsuitable(&other, "a list of ads")),
    }
}
