//! Proposes fixes for a single clause.

use crate::ad::{
    BinaryOperator, Dialect, Expression, ExpressionKind, Name, Type, Value, rename_attribute, replace_kinds,
    rewrite_expression,
};
use crate::constraint::ClauseComparison;
use crate::explain::clause_report::ClauseReport;
use crate::explain::clause_slips::renamed;
use crate::explain::clauses::ExplainedClause;
use crate::explain::distance::{as_number, closest_row_value, relative_distance, similar_string};
use crate::explain::evaluation::OfferTable;
use crate::explain::failure_reason::FailureReason;
use crate::explain::offered_values::LIST_FUNCTIONS;
use crate::explain::places::names_place;
use crate::explain::request_analysis::RequestAnalysis;
use crate::lint::{self, GreedyConditional, LintLevel};
use crate::text::closest_name;

use crate::explain::features::TRANSFER_METHODS;

use super::edit::RequestEdit;
use super::needs;
use super::relaxed_bound::rewrite_proposal;
use super::search::Proposal;

/// A proposed fix of a clause. The second element is the offers' value to which the fix relaxes the clause's bound. The
/// second element is `None` if the fix corrects a mistake instead, such as a misspelt name or a bound of the wrong
/// type.
pub type ClauseFix = (Proposal, Option<Value>);

/// Proposes fixes of the clause at index `place`. Dropping the clause is not among them. A bound is relaxed to the
/// closest value that the offers in `rows` have.
pub fn fix_clause(table: &OfferTable, analysis: &RequestAnalysis, place: usize, rows: &[usize]) -> Vec<ClauseFix> {
    let clause = &analysis.clauses[place];
    let expression = &clause.analysis.clause.expression;
    let fault = analysis.fault(place);
    let corrected = corrections(table, analysis, clause, fault).into_iter();
    let corrected = corrected.map(|to| rewrite_proposal(expression, to, 0.0));
    let mut fixes: Vec<ClauseFix> =
        corrected.chain(setting_fix(fault, analysis)).map(|proposal| (proposal, None)).collect();
    if let Some(to) = with_similar_item(clause) {
        fixes.push((rewrite_proposal(expression, to, 0.5), None));
    }
    let Some(comparison) = &clause.analysis.comparison else { return fixes };
    if let Some(FailureReason::TypeMismatch { theirs, .. }) = &clause.failure
        && let Some(value) = convert_to(*theirs, &comparison.bound)
    {
        fixes.extend(comparison.correct(expression, value).map(|proposal| (proposal, None)));
    }
    // To make the clause equal to another one is not a fix: either clause can be dropped.
    if equality_elsewhere(analysis, place).is_none() {
        fixes.extend(bound_fixes(table, analysis, (clause, comparison), rows));
    }
    fixes
}

/// Returns a clause that seeks an item in lists of the offers, with the one in its place that is spelt similarly. `None` for any
/// other clause.
fn with_similar_item(clause: &ClauseReport) -> Option<Expression> {
    let (expression, offered) = (&clause.analysis.clause.expression, clause.offered()?);
    // It follows from the URLs of the job's files, which are to be corrected.
    if offered.name.is(TRANSFER_METHODS) {
        return None;
    }
    let seeks = |part: &Expression| match part.kind() {
        ExpressionKind::Call(function, _) => LIST_FUNCTIONS.iter().any(|known| function.is(known)),
        _ => false,
    };
    let near = offered.values.first().filter(|_| offered.is_similar && expression.parts().any(seeks))?;
    let similar = Expression::literal(Value::string(near.value.as_str()));
    rewrite_expression(expression, &mut |part| match part.as_literal()? {
        Value::String(item) => closest_name(&item.to_str(), [near.value.as_str()]).map(|_| similar.clone()),
        _ => None,
    })
}

/// Returns the corrected forms of a clause that offers meet, now or at a time that comes.
fn corrections(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    clause: &ClauseReport,
    fault: Option<&FailureReason>,
) -> Vec<Expression> {
    let expression = &clause.analysis.clause.expression;
    let renamed = renamed(&clause.analysis, table).map(|(.., corrected)| corrected);
    let mut found: Vec<Expression> =
        renamed.into_iter().chain(corrections_of_failure(table, analysis, clause, fault)).collect();
    found.dedup();
    // A clause with several mistakes is met only if all are corrected.
    let all = correct_slips(found.first().unwrap_or(expression), table.context.dialect);
    found.extend(all.filter(|_| fault.is_some()).filter(|all| !found.contains(all)));
    // A corrected clause that no offer meets is no fix, unless time makes it true.
    let comes_true = |corrected: &Expression| match fault {
        Some(failure @ FailureReason::Slip { corrected: to, .. }) => {
            to.ptr_eq(corrected) && failure.awaited().is_some()
        }
        _ => false,
    };
    let is_met = |corrected: &Expression| {
        let clause = ExplainedClause::detached(corrected.clone());
        table.clause_results(&analysis.request, &clause).counts.is_true > 0
    };
    found.retain(|corrected| comes_true(corrected) || is_met(corrected));
    found
}

/// Returns the corrected forms of a clause to which the reason of its failure leads.
fn corrections_of_failure(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    clause: &ClauseReport,
    fault: Option<&FailureReason>,
) -> Vec<Expression> {
    let expression = &clause.analysis.clause.expression;
    let Some(failure) = fault else { return Vec::new() };
    let corrected: Vec<Option<Expression>> = match failure {
        FailureReason::UnknownFunction(name, near) => {
            near.iter().map(|known| rename_function(expression, name, known)).collect()
        }
        FailureReason::MissingOwnAttribute(name, near) => {
            near.iter().map(|known| rename_attribute(expression, name, known)).collect()
        }
        FailureReason::Shadowed(name) => vec![qualify_as_other(expression, name, table.context.dialect)],
        FailureReason::Precedence(_) => {
            vec![GreedyConditional::of(expression).map(|greedy| greedy.regrouped)]
        }
        FailureReason::MissingAttribute { name, near, .. } => {
            near.iter().map(|(known, _)| rename_attribute(expression, name, known)).collect()
        }
        FailureReason::CaseMismatch { .. } => vec![ignore_case(expression)],
        FailureReason::Unquoted { quoted, .. } => vec![Some(quoted.clone())],
        FailureReason::Slip { corrected, then, .. } => {
            let further = then.iter().flat_map(|then| corrections_within(table, analysis, corrected, then));
            [corrected.clone()].into_iter().chain(further).map(Some).collect()
        }
        FailureReason::Misplaced(found) => vec![Some(found.renamed.clone())],
        FailureReason::Alternatives(parts) => vec![with_similar_strings(expression, parts, analysis, table)],
        _ => Vec::new(),
    };
    corrected.into_iter().flatten().collect()
}

/// Returns a clause with the corrected forms of its part that no offer meets.
fn corrections_within(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    clause: &Expression,
    unmet: &ClauseReport,
) -> Vec<Expression> {
    let part = &unmet.analysis.clause.expression;
    let corrected = corrections_of_failure(table, analysis, unmet, unmet.failure.as_ref()).into_iter();
    let within = |to: Expression| rewrite_expression(clause, &mut |of| of.ptr_eq(part).then(|| to.clone()));
    corrected.filter_map(within).collect()
}

/// Proposes another value of an attribute of the request that has a mistake, or with which it asks too much of the entries of
/// a list. `None` if the clause fails for another reason.
fn setting_fix(fault: Option<&FailureReason>, analysis: &RequestAnalysis) -> Option<Proposal> {
    let (name, from, to, size) = match fault? {
        FailureReason::Setting { name, to, .. } => {
            (name.clone(), analysis.request.ad.get(name).cloned(), to.clone(), 0.0)
        }
        FailureReason::Nested(nested) => {
            let (name, from) = nested.holder.clone();
            (name, Some(from), nested.relaxed.clone()?, 0.5)
        }
        _ => return None,
    };
    Some(Proposal::new(RequestEdit::Set { name, from, to }, size))
}

/// Proposes other bounds of a clause with a comparison: values that are spelt similarly, or the closest one that the offers in
/// `rows` have.
fn bound_fixes(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    (clause, comparison): (&ClauseReport, &ClauseComparison),
    rows: &[usize],
) -> Vec<ClauseFix> {
    let relax = |value: Value, size: f64| {
        let proposal = comparison.relax(&clause.analysis.clause.expression, value.clone(), size)?;
        Some((proposal, Some(value)))
    };
    if matches!(comparison.bound, Value::String(_)) {
        // Another name, of a machine or a site, is no smaller wish but another one: only a slip of spelling is fixed.
        let Some(failure) = &clause.failure else { return Vec::new() };
        let mut values = similar_choices(comparison, analysis, table);
        // Another version of a system is no other spelling.
        let letters = |value: &Value| value.to_string().replace(|letter: char| letter.is_ascii_digit(), "");
        let is_system = comparison.attribute().is_some_and(needs::names_system);
        values.retain(|value| !is_system || letters(value) != letters(&comparison.bound));
        // `==` is the correction of `=?=` where only the case differs.
        if let FailureReason::CaseMismatch { theirs, .. } = failure {
            values.retain(|value| !matches!(value, Value::String(text) if text == theirs));
        }
        return values.into_iter().filter_map(|value| relax(value, 0.5)).collect();
    }
    // Another version of a system is another system.
    let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
    if is_equality && comparison.attribute().is_some_and(needs::names_system) && table.context.dialect.is_condor() {
        return Vec::new();
    }
    if comparison.attribute().is_some_and(needs::names_kind) && table.context.dialect.is_condor() {
        return Vec::new();
    }
    let value = closest_row_value(comparison, &analysis.request, rows, table);
    let value = value.filter(|value| !needs::is_none_of_amount(comparison, value));
    let fix = value.and_then(|value| {
        let size = relative_distance(&value, &comparison.bound);
        relax(value, size)
    });
    fix.into_iter().collect()
}

/// Returns a disjunction with the strings that offers have in place of those that are spelt similarly. `None` if none is.
fn with_similar_strings(
    expression: &Expression,
    alternatives: &[ClauseReport],
    analysis: &RequestAnalysis,
    table: &OfferTable,
) -> Option<Expression> {
    let corrected = |part: &Expression| {
        let is_part = |of: &&ClauseReport| of.analysis.clause.expression.ptr_eq(part);
        let comparison = alternatives.iter().find(is_part)?.analysis.comparison.as_ref()?;
        let values = table.expression_values(&analysis.request, &comparison.operand);
        let values: Vec<(&Value, usize)> = values.weighted_values().collect();
        comparison.relaxed_clause(similar_string(&values, &comparison.bound)?)
    };
    rewrite_expression(expression, &mut { corrected })
}

/// Corrects all mistakes that the linter knows in an expression. `None` if there are none.
fn correct_slips(expression: &Expression, dialect: Dialect) -> Option<Expression> {
    const MAX_SLIPS: usize = 8;
    let mut corrected: Option<Expression> = None;
    for _ in 0..MAX_SLIPS {
        let current = corrected.as_ref().unwrap_or(expression);
        let slips = lint::find_slips(current, dialect, None).into_iter();
        let next = slips.filter(|slip| slip.rule.level > LintLevel::Note).find_map(|slip| slip.corrected(current));
        match next {
            Some(next) => corrected = Some(next),
            None => break,
        }
    }
    corrected
}

/// Returns the index of another clause that compares the operand of the clause at `place` for equality with another
/// literal, if the clause at `place` compares it for equality. `None` otherwise.
pub fn equality_elsewhere(analysis: &RequestAnalysis, place: usize) -> Option<usize> {
    let equality = |clause: &ClauseReport| {
        let comparison = clause.analysis.comparison.clone()?;
        let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
        (is_equality && comparison.bound_holder.is_none()).then_some((comparison.operand, comparison.bound))
    };
    let (operand, bound) = equality(&analysis.clauses[place])?;
    let is_other = |clause: &ClauseReport| equality(clause).is_some_and(|(of, to)| of == operand && to != bound);
    analysis.clauses.iter().position(is_other)
}

/// Maximum number of strings that are proposed in place of one that no offer has.
const MAX_CHOICES: usize = 3;

/// Returns strings of the offers that may be meant in place of the bound: the one spelt most similarly, and those that
/// differ from the bound in digits only, as versions do. The most frequent come first.
fn similar_choices(comparison: &ClauseComparison, analysis: &RequestAnalysis, table: &OfferTable) -> Vec<Value> {
    if !matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is) {
        return Vec::new();
    }
    let values = table.expression_values(&analysis.request, &comparison.operand);
    let values: Vec<(&Value, usize)> = values.weighted_values().collect();
    let letters = |value: &Value| match value {
        Value::String(text) => {
            let text = text.to_str();
            let letters: String = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            (letters.len() < text.len() && !letters.is_empty()).then(|| letters.to_ascii_lowercase())
        }
        _ => None,
    };
    // Numbers in the names of machines tell machines apart, and those of systems are not the job's to choose.
    let is_kept = |name: &Name| names_place(name) || needs::names_system(name);
    let wanted = letters(&comparison.bound).filter(|_| !comparison.attribute().is_some_and(is_kept));
    let mut versions: Vec<(&Value, usize)> = Vec::new();
    for (value, offers) in &values {
        if wanted.is_some() && letters(value) == wanted {
            match versions.iter_mut().find(|(known, _)| known == value) {
                Some((_, count)) => *count += offers,
                None => versions.push((value, *offers)),
            }
        }
    }
    versions.sort_by(|(_, one), (_, other)| other.cmp(one));
    let mut found: Vec<Value> = versions.into_iter().take(MAX_CHOICES).map(|(value, _)| value.clone()).collect();
    if let Some(similar) = similar_string(&values, &comparison.bound)
        && !found.contains(&similar)
    {
        found.push(similar);
    }
    found
}

/// Converts a string that spells a truth value or a number to a value that compares with values of the type `theirs`.
/// Converts other values as [`convert_type`] does.
fn convert_to(theirs: Type, value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if theirs == Type::Boolean => {
            let text = text.to_str().to_ascii_lowercase();
            matches!(text.as_str(), "true" | "false").then(|| Value::Boolean(text == "true"))
        }
        _ => convert_type(value),
    }
}

/// Converts a string that spells a number to the number, and a number to a string. `None` for other values.
pub fn convert_type(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => {
            let text = text.to_str();
            let integer = text.trim().parse().ok().map(Value::Integer);
            integer.or_else(|| text.trim().parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real))
        }
        Value::Integer(integer) => Some(Value::string(integer.to_string())),
        value => as_number(value).map(|real| Value::string(real.to_string())),
    }
}

/// Replaces each unqualified reference to `name` by `TARGET.name` (`other.name` in the classad dialect), so that the
/// clause reads the offer's attribute. `None` if there is no such reference.
fn qualify_as_other(expression: &Expression, name: &Name, dialect: Dialect) -> Option<Expression> {
    let other = Expression::attribute(dialect.side_names()[1]);
    replace_kinds(expression, |kind| match kind {
        ExpressionKind::Attribute(found) if found == name => Some(ExpressionKind::Select(other.clone(), name.clone())),
        _ => None,
    })
}

fn rename_function(expression: &Expression, name: &Name, known: &str) -> Option<Expression> {
    replace_kinds(expression, |kind| match kind {
        ExpressionKind::Call(found, arguments) if found == name => {
            Some(ExpressionKind::Call(Name::new(known), arguments.clone()))
        }
        _ => None,
    })
}

/// Replaces `=?=` by `==`, which ignores the case of strings. `None` if the expression has no `=?=`.
fn ignore_case(expression: &Expression) -> Option<Expression> {
    replace_kinds(expression, |kind| match kind {
        ExpressionKind::Binary(BinaryOperator::Is, left, right) => {
            Some(ExpressionKind::Binary(BinaryOperator::Equal, left.clone(), right.clone()))
        }
        _ => None,
    })
}
