//! Functions that inspect or evaluate expressions, and functions that do not evaluate all of their arguments.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{
    Ad, AdValue, Expression, ExpressionKind, ListValue, Name, ScopeAd, ScopeFrame, Span, Truth, Type, Value,
    rewrite_expression,
};
use crate::syntax::{
    ParseOptions, StringSyntax, Style, Token, lex, parse_expression, print, print_multiline, print_name,
};

use super::super::operators::truncate_relative_time;
use super::super::reference_walk::external_references;
use super::super::references::Reference;
use super::super::{Abort, Evaluator, NameResolution};
use super::arguments::signed;
use super::call::list_of_values;
use super::regex::matches_ignoring_case;
use super::{BuiltinFunction, Call, CallResult, EarlyEnd, FunctionKind};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(ifThenElse(3, 3) Lazy "(condition, any, any) -> any",
        "the second argument if the first is true, the third if it is false",
        both "ifThenElse(1 < 2, \"yes\", error)" => "\"yes\"",
        if_then_else),
    function!(eval(1, 1) ParsesText "(any) -> any",
        "evaluate the text of a value as an expression, in this ad",
        both "eval(\"1 + 1\")" => "2"),
    function!(unparse(1, 1) ReadsExpression "(attribute) -> string",
        "text of the expression of an attribute of this ad; an empty string if this ad lacks the attribute",
        both "[ a = b + 1; text = unparse(a) ].text" => "\"b + 1\""),
    function!(unresolved(1, 2) ReadsExpression "(attribute [, pattern]) -> string | bool",
        "names that an attribute reads and this ad lacks; with a pattern, whether it matches one of them",
        both "[ a = b + c; b = 1; missing = unresolved(a) ].missing" => "\"c\""),
    function!(evalInEachContext(2, 2) EvaluatesElsewhere "(expression, list of ads) -> list",
        "list of the values of an expression in the ads of a list",
        both "evalInEachContext(cap > 4, { [ cap = 3.5 ], [ cap = 5 ] })" => "{ false, true }",
        eval_in_each_context),
    function!(countMatches(2, 2) EvaluatesElsewhere "(expression, list of ads) -> int",
        "number of ads in a list for which an expression is true",
        both "countMatches(cap > 4, { [ cap = 3.5 ], [ cap = 5 ] })" => "1",
        count_matches),
    function!(debug(1, 1) Logged "(any) -> any",
        "return the argument; HTCondor also writes it to its log",
        both "debug(1 + 1)" => "2",
        |call| Ok(call.value(0)?)),
];

/// Returns the names of attributes whose expressions are read by function calls in the ad. An example is `x` in the
/// call `unparse(x)`, which reads the expression of `x` instead of its value.
pub(in crate::eval) fn names_read_as_text(ad: &Ad) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    for expression in ad.expressions().iter().flat_map(Expression::parts) {
        if let ExpressionKind::Call(function, arguments) = expression.kind()
            && FunctionKind::of(function).is_some_and(FunctionKind::reads_expression)
            && let Some(
                ExpressionKind::Attribute(name) | ExpressionKind::RootAttribute(name) | ExpressionKind::Select(_, name),
            ) = arguments.first().map(Expression::kind)
        {
            names.insert(name.clone());
        }
    }
    names
}

fn if_then_else(call: &mut Call<'_, '_>) -> CallResult {
    let condition = call.value(0)?;
    Ok(match Truth::of(&condition, call.dialect()) {
        Truth::True => call.value(1)?,
        Truth::False => call.value(2)?,
        Truth::Undefined | Truth::Error if condition.is_exceptional() => condition,
        Truth::Undefined | Truth::Error => call.type_error(&condition, "a boolean"),
    })
}

fn eval(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    if value.is_exceptional() {
        return Ok(call.type_error(&value, "the text of an expression"));
    }
    let text = call.text_of_value(&value);
    call.evaluator.spending.check_tree(text.as_bytes().len())?;
    if call.dialect().is_condor()
        && let Some(number) = papers_number(text.as_bytes())
    {
        return Ok(call.error(format!("HTCondor does not accept the number {number}")));
    }
    let expression = parse_expression(text.as_bytes(), ParseOptions::new(call.dialect()))
        .map_err(|error| call.error(format!("\"{}\" is not an expression: {error}", text.to_str())))?;
    let value = call.evaluator.evaluate(&expression, call.frame)?;
    // A span in the parsed text is not a span of the source, so the origin of the error goes into the message.
    Ok(match value.error_origin() {
        Some(fault) => call.error(format!("in \"{}\": {fault}", text.to_str())),
        None => value,
    })
}

/// Returns the first number of a text that only the papers' language has, such as `5K` or `5.`; `None` if there is none.
fn papers_number(text: &[u8]) -> Option<Cow<'_, str>> {
    let written = |(token, span): (Token, Span)| (token, String::from_utf8_lossy(&text[span.range()]));
    let mut tokens = lex(text, StringSyntax::Escaped).into_iter().map(written);
    tokens.find_map(|(token, number)| {
        let ends_in_dot = || number.split(['e', 'E']).next().is_some_and(|whole| whole.ends_with('.'));
        let is_papers = token == Token::Scaled || token == Token::Real && ends_in_dot();
        is_papers.then(|| number.clone())
    })
}

fn unparse(call: &mut Call<'_, '_>) -> CallResult {
    let expression = match call.arguments.first().map(Expression::kind) {
        Some(ExpressionKind::Attribute(name)) => match call.frame.ad.get(name) {
            None if call.evaluator.environment.is_partly_known(call.frame) => return Err(Abort::Unknown.into()),
            bound => bound,
        },
        Some(ExpressionKind::Select(..) | ExpressionKind::RootAttribute(_)) => None,
        _ => return Ok(call.error("expected an attribute name")),
    };
    let text = |expression: &Expression| {
        if call.dialect().is_condor() { print_multiline(expression) } else { print(expression, Style::New) }
    };
    Ok(Value::string(expression.map_or_else(Vec::new, text)))
}

/// Resolves a reference such as `ad.name` to the expression of an attribute and the expression's scope; `None` if the
/// reference resolves to no expression.
fn resolve_attribute(
    call: &mut Call<'_, '_>,
    reference: &Expression,
) -> Result<Option<(Expression, Arc<ScopeFrame>)>, Abort> {
    let Evaluator { environment, context, .. } = *call.evaluator;
    let resolution = match reference.kind() {
        ExpressionKind::Attribute(name) => environment.resolve(call.frame, name, context),
        ExpressionKind::RootAttribute(name) => environment.resolve_root(call.frame, name, context),
        ExpressionKind::Select(ad, name) => match call.evaluator.evaluate(ad, call.frame)? {
            Value::Ad(ad) => environment.resolve_selected(&ad.frame, name, context),
            _ => NameResolution::Missing,
        },
        _ => NameResolution::Missing,
    };
    Ok(match resolution {
        NameResolution::Expression(expression, frame) => Some((expression, frame)),
        NameResolution::Unknown => return Err(Abort::Unknown),
        _ => None,
    })
}

fn unresolved(call: &mut Call<'_, '_>) -> CallResult {
    let reference = &call.arguments[0];
    if !reference.kind().is_reference() {
        return Ok(call.error("expected an attribute name"));
    }
    let Some((expression, frame)) = resolve_attribute(call, reference)? else { return Ok(Value::Undefined) };
    let environment = call.evaluator.environment;
    let missing = external_references(&expression, &frame, environment, call.evaluator.context);
    if !missing.is_empty() && environment.has_unknowns() {
        return Err(Abort::Unknown.into());
    }
    let mut names: Vec<Name> = missing.iter().map(missing_part).collect();
    names.sort();
    names.dedup();
    let names = names.iter().map(Name::as_str);
    if call.arguments.len() == 1 {
        return Ok(Value::string(names.collect::<Vec<_>>().join(",")));
    }
    let pattern = match call.value(1)? {
        Value::String(pattern) => pattern,
        other => return Ok(call.type_error(&other, "a pattern")),
    };
    let mut matches = |name: &str| {
        let found = matches_ignoring_case(call, &pattern, name.as_bytes())?;
        found.map_err(|reason| EarlyEnd::from(call.error(reason)))
    };
    // An invalid pattern is an error even if there is no name to match, so the pattern is tried with the empty name.
    // The empty name never matches.
    matches("")?;
    for name in names {
        if matches(name)? {
            return Ok(Value::Boolean(true));
        }
    }
    Ok(Value::Boolean(false))
}

/// Returns the names of a dotted path that do not resolve, joined by dots. A leading qualifier such as `TARGET` is left
/// out: the result for `TARGET.x.y` is `x.y`.
fn missing_part(reference: &Reference) -> Name {
    let mut parts = reference.missing();
    if let [first, rest @ ..] = parts
        && !rest.is_empty()
        && ScopeAd::of(first).is_some_and(ScopeAd::is_side)
    {
        parts = rest;
    }
    Name::new(&parts.iter().map(print_name).collect::<Vec<_>>().join("."))
}

/// Binds the lists and ads that are written in an expression to the scope in which it stands. HTCondor evaluates them
/// there even where it evaluates the expression in another ad.
fn with_own_scopes(expression: Expression, frame: &Arc<ScopeFrame>) -> Expression {
    let bound = rewrite_expression(&expression, &mut |part| {
        let value = match part.kind() {
            ExpressionKind::List(elements) => {
                Value::List(ListValue { elements: Arc::clone(elements), scope: Some(Arc::clone(frame)) })
            }
            ExpressionKind::Ad(ad) => Value::Ad(AdValue { frame: frame.enter(ad.clone()) }),
            _ => return None,
        };
        Some(Expression::new(ExpressionKind::Literal(value), part.span()))
    });
    bound.unwrap_or(expression)
}

/// Evaluates the expression of the first argument in each ad of a list. If the argument names an attribute, the
/// attribute's expression is evaluated instead.
fn evaluate_in_each(call: &mut Call<'_, '_>, list: Value) -> CallResult<Vec<Value>> {
    let list = call.require_list(list, "a list of ads")?;
    let argument = &call.arguments[0];
    let (expression, frame) =
        resolve_attribute(call, argument)?.unwrap_or_else(|| (argument.clone(), Arc::clone(call.frame)));
    let expression = if call.dialect().is_condor() { with_own_scopes(expression, &frame) } else { expression };
    let mut values = call.elements(&list)?;
    for value in &mut values {
        *value = match &*value {
            Value::Ad(ad) => call.evaluator.evaluate(&expression, &ad.frame.as_context())?,
            Value::Undefined => continue,
            other => call.type_error(other, "an ad"),
        };
    }
    Ok(values)
}

fn eval_in_each_context(call: &mut Call<'_, '_>) -> CallResult {
    let list = call.value(1)?;
    let values = evaluate_in_each(call, list)?.into_iter();
    let condor = call.dialect().is_condor();
    Ok(list_of_values(values.map(|value| if condor { truncate_relative_time(value) } else { value })))
}

fn count_matches(call: &mut Call<'_, '_>) -> CallResult {
    let list = call.value(1)?;
    if list.value_type() == Type::Undefined {
        return Ok(Value::Integer(0));
    }
    let dialect = call.dialect();
    let values = evaluate_in_each(call, list)?;
    let count = values.iter().filter(|value| Truth::of(value, dialect) == Truth::True).count();
    Ok(Value::Integer(signed(count)))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check;
    use super::names_read_as_text;
    use crate::ad::{Dialect, Name};
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn only_functions_that_read_expressions_read_names_as_text() {
        for (ad, expected) in [
            ("[ x = 1 + 1; y = unparse(x) ]", &["x"][..]),
            ("[ x = 1 + 1; y = 1 + strcat(\"a\", unparse(other.x)) ]", &["x"]),
            ("[ x = 1 + 1; y = unresolved(.x) ]", &["x"]),
            ("[ x = 1 + 1; y = string(x) ]", &[]),
            ("[ x = 1 + 1; y = unparse(x + 1) ]", &[]),
            ("[ x = 1 + 1; y = x ]", &[]),
        ] {
            let read = names_read_as_text(&parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap());
            let read: Vec<&str> = read.iter().map(Name::as_str).collect();
            assert_eq!(read, expected, "{ad}");
        }
    }

    #[test]
    fn what_is_written_in_an_expression_keeps_its_scope_elsewhere() {
        check(&[
            ("[ a = 7; l = evalInEachContext({ a }[0], { [ a = 5 ] }) ].l", "{ 7 }"),
            ("countMatches([ d = 1 ].a == 5, { [ a = 5 ] })", "0"),
            ("[ a = 7; n = countMatches([ d = 1 ].a == 7, { [ a = 5 ] }) ].n", "1"),
            ("[ a = 7; e = [ d = 1 ].a; l = evalInEachContext(e, { [ a = 5 ] }) ].l", "{ 7 }"),
            ("[ a = 7; n = countMatches(a == 5 && member(a, { 5 }), { [ a = 5 ] }) ].n", "1"),
        ]);
    }

    #[test]
    fn eval_refuses_numbers_of_the_papers() {
        check(&[
            ("eval(\"5K\")", "error"),
            ("eval(\"1 + 5.\")", "error"),
            ("eval(\"5.e3\")", "error"),
            ("eval(\"5.0e3\")", "5000.0"),
            ("eval(\"strcat(\\\"5K\\\")\")", "\"5K\""),
        ]);
    }
}
