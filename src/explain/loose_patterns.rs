//! Patterns that match too little: they mind case, or are tied to an end of the string.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Value, rewrite_expression};

use super::clause_analysis::ClauseAnalysis;
use super::evaluation::{OfferTable, RequestContext};

/// Returns the clause with a pattern that more strings match, for its first call of `regexp()`: one that ignores case, or that
/// matches anywhere; each with what to say of it.
pub fn looser_patterns(clause: &Expression) -> Vec<(String, Expression)> {
    let call = clause.parts().find_map(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) if function.is("regexp") => Some((part, function, arguments)),
        _ => None,
    });
    let Some((call, function, [pattern, subject, options @ ..])) =
        call.map(|(call, function, arguments)| (call, function, &arguments[..]))
    else {
        return Vec::new();
    };
    let Some(Value::String(text)) = pattern.as_literal().filter(|_| options.is_empty()) else { return Vec::new() };
    let text = text.to_str();
    let (without_start, without_end) = (text.strip_prefix('^'), text.strip_suffix('$'));
    let candidates = [
        (Some(&*text), true, "regexp is case-sensitive"),
        (without_start, false, "`^` ties a pattern to the beginning"),
        (without_end, false, "`$` ties a pattern to the end"),
        (without_start, true, "`^` ties a pattern to the beginning, and regexp is case-sensitive"),
        (without_end, true, "`$` ties a pattern to the end, and regexp is case-sensitive"),
    ];
    let looser = candidates.into_iter().filter_map(|(pattern, ignores_case, message)| {
        let option = ignores_case.then(|| Expression::literal(Value::string("i")));
        let pattern = Expression::literal(Value::string(pattern?));
        let changed = Expression::call(function.as_str(), [pattern, subject.clone()].into_iter().chain(option));
        let corrected = rewrite_expression(clause, &mut |part| part.ptr_eq(call).then(|| changed.clone()))?;
        Some((message.to_owned(), corrected))
    });
    looser.collect()
}

/// Returns a clause that compares the name of a machine with a domain, with a pattern of the names in it, and with what to say of
/// it. `None` for any other clause, and if no name is in the domain.
pub fn of_domain(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref()?;
    let (BinaryOperator::Equal | BinaryOperator::Is, Value::String(domain)) = (comparison.operator, &comparison.bound)
    else {
        return None;
    };
    let name = comparison.attribute().filter(|name| MACHINE_NAMES.iter().any(|known| name.is(known)))?;
    let end = format!(".{}", domain.to_str().trim_start_matches('.').to_ascii_lowercase());
    let values = table.expression_values(request, &comparison.operand);
    let is_in_domain =
        |value: &Value| matches!(value, Value::String(text) if text.to_str().to_ascii_lowercase().ends_with(&end));
    values.weighted_values().find(|(value, _)| end.len() > 1 && is_in_domain(value))?;
    let pattern = format!("{}$", end.replace('.', "\\."));
    let arguments = [Expression::literal(Value::string(pattern)), comparison.operand.clone()];
    let ignores_case = Expression::literal(Value::string("i"));
    let corrected = Expression::call("regexp", arguments.into_iter().chain([ignores_case]));
    Some((format!("{name} has the host before the domain"), corrected))
}

/// Returns a clause that compares a version with the beginning of what offers have, with a pattern of the versions that begin so,
/// and with what to say of it: `3.9` of `3.9.25`. `None` for any other clause.
pub fn of_version_prefix(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref()?;
    let (BinaryOperator::Equal | BinaryOperator::Is, Value::String(version)) = (comparison.operator, &comparison.bound)
    else {
        return None;
    };
    let (name, version) = (comparison.attribute()?, version.to_str());
    let is_version =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let values = table.expression_values(request, &comparison.operand);
    let begins = |value: &Value| match value {
        Value::String(text) => Some(text.to_str().into_owned())
            .filter(|text| text.strip_prefix(&*version).is_some_and(|rest| rest.starts_with('.')) && is_version(text)),
        _ => None,
    };
    let whole = values.weighted_values().find_map(|(value, _)| begins(value)).filter(|_| is_version(&version))?;
    let pattern = format!("^{}\\.", version.replace('.', "\\."));
    let arguments = [Expression::literal(Value::string(pattern)), comparison.operand.clone()];
    Some((format!("{name} has more than \"{version}\", such as \"{whole}\""), Expression::call("regexp", arguments)))
}

/// The attributes of slots that name their machines.
const MACHINE_NAMES: [&str; 3] = ["Machine", "Name", "UtsnameNodename"];
