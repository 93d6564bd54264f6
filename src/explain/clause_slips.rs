//! Finds mistakes that the linter knows in a clause and in the request's attributes that it reads, each with a correction
//! that the offers confirm.

use crate::ad::{
    BinaryOperator, Expression, ExpressionKind, Name, Value, rename_attribute, replace_kinds, rewrite_expression,
};
use crate::constraint::{ClauseOperand, disjuncts};
use crate::lint::{self, LintLevel};
use crate::protocol::requested_resource;

use super::clause_analysis::{ClauseAnalysis, ClauseAnalyzer};
use super::clauses::{ExplainedClause, parenthesized};
use super::evaluation::{OfferTable, RequestContext};
use super::failure_reason::{FailureReason, first_unmet};
use super::list_slips::{item_of_list, list_as_number, other_separator};
use super::loose_patterns::{looser_patterns, of_domain, of_version_prefix};
use super::number_slips::{counted_from_one, memory_in_kib, number_in_string, of_least_amount, of_other_type};
use super::setting_slips::setting_slips;
use super::system_family::{of_all_names, of_old_windows, of_whole_version};
use super::undefined_slips::{guarded, never_undefined};

/// A mistake that a clause may have.
struct SlipCandidate {
    kind: &'static str,
    message: String,
    corrected: Expression,
    /// Number of offers that must meet the corrected clause, so that it is a mistake.
    least: usize,
}

/// Returns [`FailureReason::Slip`] or [`FailureReason::Setting`] if a mistake of the clause is known with whose correction
/// at least `least` offers meet it: one that the linter knows, an attribute's old name, or one of the wrong ad.
pub fn find_slip(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
    least: usize,
) -> Option<FailureReason> {
    let certain = certain_slips(analysis, table, least).into_iter();
    let mut found = certain.chain(likely_slips(analysis, table, request, least));
    found
        .find_map(|slip| confirmed(slip, analysis, table, request))
        .or_else(|| find_setting_slip(analysis, table, request, least))
}

/// Returns the mistakes that the clause alone tells.
fn certain_slips(analysis: &ClauseAnalysis, table: &OfferTable, least: usize) -> Vec<SlipCandidate> {
    let (clause, dialect) = (&analysis.clause.expression, table.context.dialect);
    let slips = lint::find_slips(clause, dialect, None).into_iter();
    // A note tells what may be meant so; there is a better reason for such a clause.
    let slips = slips.filter(|slip| slip.rule.level > LintLevel::Note);
    // What is true at another time is right, too.
    // A list in place of the item is a mistake, whatever its correction gains. So is a condition that takes too much.
    let is_certain =
        |slip: &lint::Slip| slip.is_of_clock() || slip.is_of_conditional() || slip.rule.name == "argument-order";
    let needed = |slip: &lint::Slip| least - usize::from(is_certain(slip) && least > 0);
    let slips = slips.filter_map(|slip| {
        let (kind, corrected, least) = (slip.rule.name, slip.corrected(clause)?, needed(&slip));
        Some(SlipCandidate { kind, message: slip.message, corrected, least })
    });
    let quoted = lint::unquoted(clause, dialect).map(|corrected| {
        let message = "this is a string, and no condition".to_owned();
        SlipCandidate { kind: "quoted-expression", message, corrected, least }
    });
    let renamed = renamed(analysis, table).map(|(name, current, corrected)| {
        let message = format!("{name} is the old name of {current}");
        SlipCandidate { kind: "old-name", message, corrected, least }
    });
    slips.chain(quoted).chain(renamed).collect()
}

/// Returns what may be mistakes. The offers tell whether these are mistakes at all.
fn likely_slips(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
    least: usize,
) -> impl Iterator<Item = SlipCandidate> {
    let clause = &analysis.clause.expression;
    let likely = [
        ("other-ad", of_other_ad(analysis, table)),
        ("argument-order", exchanged(clause)),
        ("alternatives", of_each_alternative(clause)),
        ("exact-amount", of_least_amount(clause)),
        ("type", number_in_string(clause)),
        ("type", of_other_type(clause)),
        ("place", counted_from_one(clause)),
        ("unit", memory_in_kib(analysis).filter(|_| least <= 1)),
        ("list", list_as_number(analysis, table, request)),
        ("list", item_of_list(analysis, table, request)),
        ("list", other_separator(clause)),
        ("undefined", guarded(analysis, table, request)),
        ("undefined", never_undefined(clause, table)),
        ("other-ad", request_of_other_ad(analysis, table, request)),
        ("attribute-name", undotted(clause, table)),
        ("system-name", of_all_names(clause, table)),
        ("system-name", of_old_windows(clause)),
        ("system-version", of_whole_version(clause)),
        ("domain", of_domain(analysis, table, request)),
        ("version", of_version_prefix(analysis, table, request)),
    ];
    let likely = likely.into_iter().filter_map(|(kind, found)| Some((kind, found?)));
    let likely = likely.chain(looser_patterns(clause).into_iter().map(|found| ("pattern", found)));
    let least = least.max(1);
    likely.map(move |(kind, (message, corrected))| SlipCandidate { kind, message, corrected, least })
}

/// Returns the reason that a mistake is, if enough offers meet the corrected clause.
fn confirmed(
    slip: SlipCandidate,
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<FailureReason> {
    let SlipCandidate { kind, message, corrected, least } = slip;
    let tried = ExplainedClause { expression: corrected.clone(), ..analysis.clause.clone() };
    let offers = table.clause_results(request, &tried).counts.is_true;
    if offers < least {
        return None;
    }
    let analyzer = ClauseAnalyzer::new(&request.ad, &table.context);
    let opens = (offers == 0).then(|| analyzer.analyze(&tried).next_time(table, request)).flatten();
    let then = (offers == 0 && opens.is_none()).then(|| {
        let corrected = (&tried, table, request);
        Box::new(first_unmet(&tried.expression, corrected, FailureReason::find_beside_mistakes))
    });
    Some(FailureReason::Slip { kind, message, corrected, offers, then, opens })
}

/// Returns the clause with an attribute that offers have in place of its name with dots, which reads an ad in an ad:
/// `TARGET.HAS_CVMFS_example_org` for `TARGET.HAS_CVMFS_example.org`; with what to say of it. `None` if it has no such name.
fn undotted(clause: &Expression, table: &OfferTable) -> Option<(String, Expression)> {
    let [_, other] = table.context.dialect.side_names();
    let (part, dotted, name) = clause.parts().find_map(|part| {
        let mut names: Vec<&str> = Vec::new();
        let mut scope = part;
        while let ExpressionKind::Select(outer, name) = scope.kind() {
            names.push(name.as_str());
            scope = outer;
        }
        if let ExpressionKind::Attribute(name) = scope.kind()
            && !name.is(other)
        {
            names.push(name.as_str());
        }
        names.reverse();
        let name = Name::new(&names.join("_"));
        (names.len() > 1 && table.offers_with(&name) > 0).then(|| (part, names.join("."), name))
    })?;
    let attribute = Expression::select(Expression::attribute(other), name.clone());
    let corrected = rewrite_expression(clause, &mut |of| of.ptr_eq(part).then(|| attribute.clone()))?;
    Some((format!("{dotted} is read as an attribute of an ad, not as {name}"), corrected))
}

/// Returns [`FailureReason::Setting`] if an attribute of the request that the clause reads has a wrong value with whose
/// correction at least `least` offers meet the clause.
fn find_setting_slip(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
    least: usize,
) -> Option<FailureReason> {
    analysis.request_attributes.iter().find_map(|name| {
        let value = request.ad.get(name)?;
        setting_slips(&request.ad, name, value, table).into_iter().find_map(|slip| {
            let to = slip.corrected(value)?;
            let corrected = RequestContext::new(&request.ad.with(name.clone(), to.clone()));
            let offers = table.clause_results(&corrected, &analysis.clause).counts.is_true;
            let is_certain = slip.rule.level == LintLevel::Error;
            let analyzer = ClauseAnalyzer::new(&corrected.ad, &table.context);
            let opens = || analyzer.analyze(&analysis.clause).next_time(table, &corrected);
            let opens = (offers == 0).then(opens).flatten();
            let (name, message) = (name.clone(), slip.message.clone());
            let setting = FailureReason::Setting { name, message, to, offers, opens };
            (offers >= least || is_certain).then_some(setting)
        })
    })
}

/// Returns the first attribute that a clause reads by its old name, the current name, and the clause with all current
/// names. `None` if it has none, or reads both: it then provides for old and new slots.
pub fn renamed(analysis: &ClauseAnalysis, table: &OfferTable) -> Option<(Name, Name, Expression)> {
    let (mut first, mut corrected) = (None, analysis.clause.expression.clone());
    for name in &analysis.offer_attributes {
        let current = table.renamed_attribute(name).filter(|current| !analysis.offer_attributes.contains(current));
        let Some(current) = current else { continue };
        let Some(renamed) = rename_attribute(&corrected, name, &current) else { continue };
        corrected = renamed;
        first.get_or_insert((name.clone(), current));
    }
    first.map(|(name, current)| (name, current, corrected))
}

/// Returns the clause with the offers' attributes in place of those that the request lacks: `TARGET.Memory` for
/// `MY.Memory`, with what to say of it. `None` if the request lacks none that offers have.
fn of_other_ad(analysis: &ClauseAnalysis, table: &OfferTable) -> Option<(String, Expression)> {
    let [own, other] = table.context.dialect.side_names();
    let misread = |name: &&Name| table.offers_with(name) > 0;
    let first = analysis.missing_own.iter().find(misread)?;
    let target = Expression::attribute(other);
    let corrected = replace_kinds(&analysis.clause.expression, |kind| match kind {
        ExpressionKind::Select(scope, name) if analysis.missing_own.contains(name) && table.offers_with(name) > 0 => {
            let is_own =
                matches!(scope.without_parentheses().kind(), ExpressionKind::Attribute(scope) if scope.is(own));
            is_own.then(|| ExpressionKind::Select(target.clone(), name.clone()))
        }
        _ => None,
    })?;
    let own = own.to_uppercase();
    Some((format!("{own}.{first} reads this ad, which has no {first}"), corrected))
}

/// Returns the clause with what offers have of a resource in place of what a job asks for: `TARGET.GPUs` for
/// `TARGET.RequestGPUs`; with what the job itself asks for, if the clause reads already how much offers have, as `TotalMemory`;
/// with what to say of it. `None` if the clause reads no such attribute.
fn request_of_other_ad(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let [own, other] = table.context.dialect.side_names();
    let clause = &analysis.clause.expression;
    let (name, resource, part) = clause.parts().find_map(|part| {
        let ExpressionKind::Select(scope, name) = part.kind() else { return None };
        let is_other =
            matches!(scope.without_parentheses().kind(), ExpressionKind::Attribute(scope) if scope.is(other));
        let resource = requested_resource(name).filter(|_| is_other && table.offers_with(name) == 0)?;
        (table.offers_with(&resource) > 0).then_some((name, resource, part))
    })?;
    let tells_amount = |of_offer: &Name| of_offer != name && of_offer.ends_with(resource.as_str());
    let is_own = analysis.offer_attributes.iter().any(tells_amount);
    // What a slot has, compared with what it has, tells nothing of what is meant.
    if is_own && request.ad.get(name).is_none() {
        return None;
    }
    let (scope, meant) = if is_own { (own, name) } else { (other, &resource) };
    let amount = Expression::select(Expression::attribute(scope), meant.clone());
    let corrected = rewrite_expression(clause, &mut |of| of.ptr_eq(part).then(|| amount.clone()))?;
    Some((format!("{name} is what a job asks for, {resource} what a slot has"), corrected))
}

/// Returns the clause with the first two arguments of a call exchanged, with what to say of it. `None` if no call has an
/// attribute of the offers first.
fn exchanged(clause: &Expression) -> Option<(String, Expression)> {
    let (call, corrected) = clause.parts().find_map(|part| Some((part, lint::with_arguments_exchanged(part)?)))?;
    let ExpressionKind::Call(function, arguments) = call.kind() else { return None };
    let is_attribute =
        |operand: &Expression| !matches!(ClauseOperand::of(operand), None | Some(ClauseOperand::Literal(_)));
    arguments.first().filter(|first| is_attribute(first))?;
    let whole = rewrite_expression(clause, &mut |part| part.ptr_eq(call).then(|| corrected.clone()))?;
    Some((format!("{function} takes the item first, then the list"), whole))
}

/// Returns the clause with a comparison for each of the constants in place of one with all of them, `X == 8 || X == 9` for
/// `X == (8 || 9)`; with what to say of it. `None` if there is no such comparison.
fn of_each_alternative(clause: &Expression) -> Option<(String, Expression)> {
    let (part, each) = clause.parts().find_map(|part| {
        let ExpressionKind::Binary(operator @ (BinaryOperator::Equal | BinaryOperator::Is), left, right) = part.kind()
        else {
            return None;
        };
        let (attribute, alternatives) = if ClauseOperand::of(left).is_some() { (left, right) } else { (right, left) };
        let constants = disjuncts(alternatives.without_parentheses());
        let is_constant = |constant: &&Expression| constant.without_parentheses().as_literal().is_some();
        if constants.len() < 2 || !constants.iter().all(is_constant) {
            return None;
        }
        let compared = |constant: &Expression| Expression::binary(*operator, attribute.clone(), constant.clone());
        let mut each = constants.into_iter().map(compared);
        let first = each.next()?;
        Some((part, each.fold(first, |all, next| Expression::binary(BinaryOperator::Or, all, next))))
    })?;
    let message = "`||` makes one condition of the constants, and its truth is compared".to_owned();
    let corrected = rewrite_expression(clause, &mut |known| known.ptr_eq(part).then(|| parenthesized(&each)))?;
    Some((message, corrected))
}

/// Returns [`FailureReason::Unquoted`] if the clause compares an attribute with a name that should be a string.
pub fn unquoted_string(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<FailureReason> {
    for part in analysis.clause.expression.parts() {
        if let ExpressionKind::Binary(BinaryOperator::Equal | BinaryOperator::Is, left, right) = part.kind() {
            for (name, subject) in [(left, right), (right, left)] {
                let ExpressionKind::Attribute(word) = name.without_parentheses().kind() else { continue };
                if request.ad.get(word).is_some() || table.offers_with(word) > 0 {
                    continue;
                }
                let values = table.expression_values(request, subject);
                let same = |value: &Value| match value {
                    Value::String(text) if text.to_str().eq_ignore_ascii_case(word.as_str()) => Some(text.clone()),
                    _ => None,
                };
                let mut offers = 0;
                let mut found = None;
                for (value, count) in values.weighted_values() {
                    if let Some(text) = same(value) {
                        offers += count;
                        found.get_or_insert(text);
                    }
                }
                if let Some(value) = found {
                    let string = Expression::literal(Value::String(value.clone()));
                    let quoted = rewrite_expression(&analysis.clause.expression, &mut |part| {
                        part.ptr_eq(name).then(|| string.clone())
                    })?;
                    return Some(FailureReason::Unquoted { name: word.clone(), value, offers, quoted });
                }
            }
        }
    }
    None
}
