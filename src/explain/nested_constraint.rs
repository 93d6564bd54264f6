//! Constraints on the ads of a list: `countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs` asks for so many
//! ads of the list `AvailableGPUs` that meet the constraint `RequireGPUs`.

use fixedbitset::FixedBitSet;
use indexmap::{IndexMap, IndexSet};

use crate::ad::{
    Ad, BinaryOperator, Expression, ExpressionKind, Name, Truth, Value, rename_attribute, rewrite_expression,
};
use crate::constraint::{ClauseOperand, conjuncts, constant_integer, inconsistencies, orient_comparison};
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::lint::{self, LintLevel};
use crate::matching::PairSide;
use crate::protocol::{closest_attributes, evaluate_attribute};

use super::clauses::{ExplainedClause, text};
use super::distance::{closest_value, is_near};
use super::evaluation::{OfferTable, RequestContext};
use super::loose_patterns::looser_patterns;
use super::offered_values::{OfferedValues, ValueCounter};

/// The functions that evaluate their first argument in each ad of a list.
const NESTED_FUNCTIONS: [&str; 2] = ["countMatches", "evalInEachContext"];

/// Maximum number of offers whose lists are read.
const MAX_LISTS: usize = 2000;

/// Maximum number of values to which an unmet part is relaxed.
const MAX_OTHER_VALUES: usize = 4;

/// Maximum number of different nested ads that are tried.
const MAX_NESTED_ADS: usize = 500;

/// Why no offer has enough ads in a list that meet a nested constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedFailure {
    /// The request's attribute that holds the nested constraint, such as `RequireGPUs`, with its expression.
    pub holder: (Name, Expression),
    /// The offers' attribute that holds the list, such as `AvailableGPUs`.
    pub list: Name,
    /// The text of the part of the nested constraint that no ad meets; `None` if all lists are empty.
    pub unmet: Option<String>,
    /// The attributes that `unmet` reads.
    pub read: IndexSet<Name>,
    /// The operator and the bound of `unmet`, and the value that comes closest to meeting it. `None` if `unmet` is no
    /// comparison with a literal, or if no ad has a comparable value.
    pub closest: Option<(BinaryOperator, Value, Value)>,
    /// The strings that the ads have in the attribute that `unmet` compares with another string.
    pub offered: Option<OfferedValues>,
    /// An attribute that `unmet` reads and that no ad has, and the ads' attribute that it means. `None` if there is none.
    pub renamed: Option<(Name, Name)>,
    /// What to say of a mistake in `unmet`, and `unmet` with its correction, which some ad meets. `None` if none is known.
    pub mistake: Option<(String, String)>,
    /// The nested constraint with the names that the ads have, with `mistake` corrected, or with `unmet` relaxed to `closest`; `None` without a
    /// closest value, or if it is far from what is asked for.
    pub relaxed: Option<Expression>,
    /// The nested constraint with `unmet` relaxed to other values that the ads have, the closest first.
    pub others: Vec<Expression>,
    /// The parts of the nested constraint that contradict each other, so that no ad at all can meet `unmet`. Empty if none do.
    pub clashing: Vec<String>,
    /// The attributes of the request that these parts read, with their values: `GPUsMinCapability is 8.5`.
    pub own_values: Vec<String>,
}

impl NestedFailure {
    /// Finds the nested constraint of a clause that is true of no offer. `None` if the clause has none, or if some
    /// nested ads meet it, so that their number decides.
    pub fn find(clause: &Expression, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let (holder, list) = nested_call(clause)?;
        let constraint = request.ad.get(&holder)?.clone();
        let holder = (holder, constraint.clone());
        let (nested, rows_of): (Vec<Ad>, Vec<Vec<usize>>) = nested_ads(table, request, &list).into_iter().unzip();
        let context = &table.context;
        let constraint = with_own_values(&constraint, &nested, request, context);
        let parts = conjuncts(&constraint);
        let failure = NestedFailure::new(holder, list);
        if let Some(clash) = failure.with_clash(&parts, context) {
            return Some(clash);
        }
        if nested.is_empty() {
            return Some(failure);
        }
        let unmet = parts.into_iter().find(|part| !nested.iter().any(|ad| is_true_in(ad, part, context)))?;
        Some(failure.with_unmet(unmet, &constraint, (&nested, &rows_of), table))
    }

    fn new(holder: (Name, Expression), list: Name) -> Self {
        NestedFailure {
            holder,
            list,
            unmet: None,
            read: IndexSet::new(),
            closest: None,
            offered: None,
            renamed: None,
            mistake: None,
            relaxed: None,
            others: Vec::new(),
            clashing: Vec::new(),
            own_values: Vec::new(),
        }
    }

    /// Returns the failure with those of `parts` that contradict each other; `None` if none do.
    fn with_clash(&self, parts: &[&Expression], context: &Context) -> Option<Self> {
        let clash = inconsistencies(parts, context.dialect).into_iter().next();
        let clash = clash.filter(|clash| clash.clauses.len() > 1)?;
        let written = conjuncts(&self.holder.1);
        let of_clash = || clash.clauses.iter().map(|place| (written.get(*place).copied(), parts[*place]));
        let clashing = of_clash().map(|(written, part)| text(written.unwrap_or(part), context.dialect)).collect();
        let own_values = of_clash().filter_map(|(written, part)| Some(own_values(written?, part))).flatten().collect();
        let unmet: Vec<String> = of_clash().map(|(_, part)| text(part, context.dialect)).collect();
        Some(NestedFailure { unmet: Some(unmet.join(" && ")), clashing, own_values, ..self.clone() })
    }

    /// Tells of the first part of the constraint that no nested ad meets, and what is to be written instead. `nested` are the
    /// ads with the rows of each.
    fn with_unmet(
        self,
        unmet: &Expression,
        constraint: &Expression,
        (nested, rows_of): (&[Ad], &[Vec<usize>]),
        table: &OfferTable,
    ) -> Self {
        let context = &table.context;
        let read = FreeNames::of(unmet, context.dialect).names.into_iter().collect();
        let failure = NestedFailure { unmet: Some(text(unmet, context.dialect)), read, ..self };
        if let Some((renamed, relaxed)) = with_known_names(constraint, unmet, nested, context) {
            return NestedFailure { renamed: Some(renamed), relaxed, ..failure };
        }
        let offered = offered_in(unmet, nested, rows_of, table);
        if let Some((message, corrected)) = correction_of(unmet, nested, context) {
            let mistake = Some((message, text(&corrected, context.dialect)));
            return NestedFailure { offered, mistake, relaxed: with_part(constraint, unmet, &corrected), ..failure };
        }
        let closest = closest_in(unmet, nested, context);
        let is_near = |(_, bound, closest): &&(BinaryOperator, Value, Value)| is_near(closest, bound);
        let relaxed_to = |value: &Value| with_part(constraint, unmet, &relaxed_part(unmet, value)?);
        let relaxed = closest.as_ref().filter(is_near).and_then(|(_, _, closest)| relaxed_to(closest));
        let others = other_values(unmet, nested, context).iter().filter_map(relaxed_to).collect();
        NestedFailure { closest, offered, relaxed, others, ..failure }
    }
}

/// Returns the request's attribute that holds the nested constraint of a clause, with its expression, and this constraint with one
/// part relaxed to values that the nested ads of some rows have, the closest first. `None` if the clause has none.
pub fn relaxed_for(
    clause: &Expression,
    table: &OfferTable,
    request: &RequestContext,
    rows: &FixedBitSet,
) -> Option<((Name, Expression), Vec<Expression>)> {
    let (holder, list) = nested_call(clause)?;
    let written = request.ad.get(&holder)?.clone();
    let of_rows =
        nested_ads(table, request, &list).into_iter().filter(|(_, of)| of.iter().any(|row| rows.contains(*row)));
    let nested: Vec<Ad> = of_rows.map(|(ad, _)| ad).collect();
    let constraint = with_own_values(&written, &nested, request, &table.context);
    let is_unmet = |part: &&Expression| !nested.iter().any(|ad| is_true_in(ad, part, &table.context));
    let relaxed = conjuncts(&constraint).into_iter().filter(is_unmet).flat_map(|part| {
        let with = |value: &Value| with_part(&constraint, part, &relaxed_part(part, value)?);
        other_values(part, &nested, &table.context).iter().filter_map(with).collect::<Vec<_>>()
    });
    let relaxed = relaxed.collect();
    Some(((holder, written), relaxed))
}

/// Returns a constraint with another expression in place of a part.
fn with_part(constraint: &Expression, part: &Expression, with: &Expression) -> Option<Expression> {
    rewrite_expression(constraint, &mut |known| known.ptr_eq(part).then(|| with.clone()))
}

/// Returns a part with a mistake corrected that the linter knows, or with a looser pattern, so that some nested ad meets it; with
/// what to say of it. `None` if there is none.
fn correction_of(unmet: &Expression, nested: &[Ad], context: &Context) -> Option<(String, Expression)> {
    let slips = lint::find_slips(unmet, context.dialect, None).into_iter();
    let slips = slips.filter(|slip| slip.rule.level > LintLevel::Note);
    let corrected = slips.filter_map(|slip| Some((slip.message.clone(), slip.corrected(unmet)?)));
    let is_met = |(_, corrected): &(String, Expression)| nested.iter().any(|ad| is_true_in(ad, corrected, context));
    corrected.chain(looser_patterns(unmet)).find(is_met)
}

/// Returns the first attribute of `unmet` that no nested ad has, with the attribute of the ads that it means, and the
/// whole constraint with the names that the ads have. `None` if the ads have all names, or none that is meant.
fn with_known_names(
    constraint: &Expression,
    unmet: &Expression,
    nested: &[Ad],
    context: &Context,
) -> Option<((Name, Name), Option<Expression>)> {
    let known: IndexSet<&Name> = nested.iter().flat_map(Ad::iter).map(|attribute| attribute.name).collect();
    let meant = |name: &Name| {
        let near = closest_attributes(name.as_str(), known.iter().map(|known| known.as_str()));
        near.first().map(|near| Name::new(near)).filter(|_| !known.contains(name))
    };
    let names = FreeNames::of(unmet, context.dialect).names;
    let first = names.iter().find_map(|name| Some((name.clone(), meant(name)?)))?;
    let all = FreeNames::of(constraint, context.dialect).names;
    let renamed = all.iter().filter_map(|name| Some((name, meant(name)?)));
    let corrected = renamed.fold(constraint.clone(), |constraint, (name, known)| {
        rename_attribute(&constraint, name, &known).unwrap_or(constraint)
    });
    let is_met = nested.iter().any(|ad| is_true_in(ad, &corrected, context));
    Some((first, is_met.then_some(corrected)))
}

/// Replaces attributes of the request by their values, where no nested ad has an attribute of that name.
fn with_own_values(constraint: &Expression, nested: &[Ad], request: &RequestContext, context: &Context) -> Expression {
    let own_value = |part: &Expression| {
        let ExpressionKind::Attribute(name) = part.kind() else { return None };
        if nested.iter().any(|ad| ad.get(name).is_some()) {
            return None;
        }
        evaluate_attribute(&request.ad, name, context).map(Expression::literal)
    };
    rewrite_expression(constraint, &mut { own_value }).unwrap_or_else(|| constraint.clone())
}

/// Returns the names that stand for values of the request in a part as it is written, with the values, which stand in `part`.
fn own_values(written: &Expression, part: &Expression) -> Vec<String> {
    let value = |(name, value): (&Expression, &Expression)| match (name.kind(), value.as_literal()) {
        (ExpressionKind::Attribute(name), Some(value)) => Some(format!("{name} is {value}")),
        _ => None,
    };
    written.parts().zip(part.parts()).filter_map(value).collect()
}

/// Returns the names of the request's attribute and of the offers' list in a call such as
/// `countMatches(MY.RequireGPUs, TARGET.AvailableGPUs)` within a clause.
fn nested_call(clause: &Expression) -> Option<(Name, Name)> {
    for part in clause.parts() {
        if let ExpressionKind::Call(function, arguments) = part.kind()
            && NESTED_FUNCTIONS.iter().any(|known| function.is(known))
            && let [constraint, list] = &**arguments
        {
            let own = match ClauseOperand::of(constraint)? {
                ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => name.clone(),
                _ => return None,
            };
            let theirs = match ClauseOperand::of(list)? {
                ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) => name.clone(),
                _ => return None,
            };
            return Some((own, theirs));
        }
    }
    None
}

/// Returns the different ads in the lists that the offers have in the attribute `list`, each with the rows that have it.
fn nested_ads(table: &OfferTable, request: &RequestContext, list: &Name) -> Vec<(Ad, Vec<usize>)> {
    let [_, other] = table.context.dialect.side_names();
    let list = ExplainedClause::detached(Expression::select(Expression::attribute(other), list.clone()));
    let mut ads: Vec<(Ad, Vec<usize>)> = Vec::new();
    for row in 0..table.row_count().min(MAX_LISTS) {
        let Value::List(list) = table.value(request, PairSide::Request, &list, row) else { continue };
        let (environment, frame) = Environment::single(table.ads[row].clone());
        let mut evaluator = Evaluator::new(&environment, &table.context);
        let found = list.elements.iter().filter_map(|element| match evaluator.evaluate(element, &frame) {
            Ok(Value::Ad(ad)) => Some(ad.frame.ad.clone()),
            _ => None,
        });
        for ad in found.collect::<Vec<_>>() {
            match ads.iter_mut().find(|(known, _)| *known == ad) {
                Some((_, rows)) => rows.push(row),
                None => ads.push((ad, vec![row])),
            }
        }
        if ads.len() >= MAX_NESTED_ADS {
            break;
        }
    }
    ads
}

fn value_in(ad: &Ad, expression: &Expression, context: &Context) -> Option<Value> {
    let (environment, frame) = Environment::single(ad.clone());
    Evaluator::new(&environment, context).evaluate(expression, &frame).ok()
}

fn is_true_in(ad: &Ad, expression: &Expression, context: &Context) -> bool {
    value_in(ad, expression, context).is_some_and(|value| Truth::of(&value, context.dialect).is_true())
}

/// Returns a comparison of an attribute of the nested ads with a literal, as `name operator literal`.
fn comparison_of(part: &Expression) -> Option<(Name, BinaryOperator, Value)> {
    let ExpressionKind::Binary(operator, left, right) = part.without_parentheses().kind() else { return None };
    let name = |expression: &Expression| match ClauseOperand::of(expression)? {
        ClauseOperand::Unqualified(name) | ClauseOperand::Own(name) => Some(name.clone()),
        _ => None,
    };
    let literal = |expression: &Expression| {
        let literal = expression.without_parentheses().as_literal().cloned();
        literal.or_else(|| constant_integer(expression).map(Value::Integer))
    };
    orient_comparison(*operator, left, right, name, literal)
}

fn closest_in(part: &Expression, nested: &[Ad], context: &Context) -> Option<(BinaryOperator, Value, Value)> {
    let (name, operator, bound) = comparison_of(part)?;
    let attribute = Expression::attribute(name);
    let values: Vec<Value> = nested.iter().filter_map(|ad| value_in(ad, &attribute, context)).collect();
    let closest = closest_value(operator, &bound, values.iter().map(|value| (value, 1)), context.dialect)?;
    Some((operator, bound, closest))
}

/// Returns the values that nested ads have in the attribute that `part` compares with a literal, the closest first.
fn other_values(part: &Expression, nested: &[Ad], context: &Context) -> Vec<Value> {
    let Some((name, operator, bound)) = comparison_of(part) else { return Vec::new() };
    let attribute = Expression::attribute(name);
    let mut left: Vec<Value> = nested.iter().filter_map(|ad| value_in(ad, &attribute, context)).collect();
    let mut found = Vec::new();
    while found.len() < MAX_OTHER_VALUES {
        let values = left.iter().map(|value| (value, 1));
        let Some(next) = closest_value(operator, &bound, values, context.dialect) else { break };
        left.retain(|value| *value != next);
        found.push(next);
    }
    // Of strings, others than the wanted one are no closer or farther.
    let is_equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::Is);
    for value in left.into_iter().filter(|value| is_equality && matches!(value, Value::String(_))) {
        if found.len() < MAX_OTHER_VALUES && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns the only attribute that `part` reads, and the string with which it calls a function: `DeviceName` and `A100` of
/// `regexp("A100", DeviceName)`. `None` for any other part.
fn called_on(part: &Expression, context: &Context) -> Option<(Name, BinaryOperator, Value)> {
    let names = FreeNames::of(part, context.dialect).names;
    let is_call = matches!(part.without_parentheses().kind(), ExpressionKind::Call(..));
    let name = names.first().filter(|_| is_call && names.len() == 1)?.clone();
    let string = part.parts().find_map(|part| part.as_literal().filter(|value| matches!(value, Value::String(_))))?;
    Some((name, BinaryOperator::Equal, string.clone()))
}

/// Returns the values that nested ads have in the attribute that `part` compares with a literal, or that it calls a function
/// of strings with. `rows_of` are the rows of each ad.
fn offered_in(part: &Expression, nested: &[Ad], rows_of: &[Vec<usize>], table: &OfferTable) -> Option<OfferedValues> {
    let (name, operator, wanted) = comparison_of(part).or_else(|| called_on(part, &table.context))?;
    let attribute = Expression::attribute(name.clone());
    let is_amount = matches!(
        operator,
        BinaryOperator::Greater | BinaryOperator::GreaterEqual | BinaryOperator::Less | BinaryOperator::LessEqual
    );
    let mut rows_with: IndexMap<String, (Value, IndexSet<usize>)> = IndexMap::new();
    for (ad, rows) in nested.iter().zip(rows_of) {
        if let Some(value @ (Value::String(_) | Value::Integer(_) | Value::Real(_))) =
            value_in(ad, &attribute, &table.context)
        {
            rows_with.entry(value.to_string()).or_insert_with(|| (value, IndexSet::new())).1.extend(rows);
        }
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.to_str().into_owned(),
        other => other.to_string(),
    };
    let mut counter = ValueCounter::new(false);
    let are_numbers = matches!(wanted, Value::Integer(_) | Value::Real(_));
    let mut found = OfferedValues { are_strings: !are_numbers, ..OfferedValues::of(name) };
    for (value, rows) in rows_with.into_values() {
        for row in rows {
            if are_numbers == matches!(value, Value::String(_)) {
                continue;
            }
            if is_amount && are_numbers {
                found.extend_range(&value, table, row);
            } else {
                counter.add(&text(&value), table, row);
            }
        }
    }
    // A slot with several of them counts once.
    let rows: IndexSet<usize> = rows_of.iter().flatten().copied().collect();
    let offline = |row: &usize| table.states.as_ref().is_some_and(|states| states.offline.contains(*row));
    let (off, on): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(offline);
    for (range, rows) in [(&mut found.range, on), (&mut found.offline, off)] {
        if let Some(range) = range {
            range.offers = table.weights.of_rows(rows);
        }
    }
    let found = counter.finish(found, &[text(&wanted)]);
    (found.value_count > 0 || found.range.is_some() || found.offline.is_some()).then_some(found)
}

/// Returns the comparison `part` with `value` as its bound, so that `value` meets it.
fn relaxed_part(part: &Expression, value: &Value) -> Option<Expression> {
    let (name, operator, _) = comparison_of(part)?;
    let operator = match operator {
        BinaryOperator::Greater => BinaryOperator::GreaterEqual,
        BinaryOperator::Less => BinaryOperator::LessEqual,
        other => other,
    };
    Some(Expression::binary(operator, Expression::attribute(name), Expression::literal(value.clone())))
}
