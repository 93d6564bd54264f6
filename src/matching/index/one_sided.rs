//! Clauses and attributes that depend on one ad alone and can be evaluated without a partner.

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Truth, Value};
use crate::constraint::ConstraintClauses;
use crate::eval::{Context, Environment, Evaluator, FreeNames, Knowledge, NameSet, references};
use crate::pool::ColumnCell;

/// Whether only evaluation of the pair can decide a clause. One reason is that the value may depend on attributes that
/// the clause does not mention, as with `eval(Text)`. The other reason is that the clause may be circular: it mentions
/// an attribute through which clauses of the constraint were found.
pub fn needs_pair_evaluation(parts: &ConstraintClauses<'_>, mentions: &FreeNames) -> bool {
    mentions.reads_unknown() || mentions.names.iter().any(|name| parts.followed().any(|through| through == name))
}

/// Evaluates the attribute `name` of an ad without a partner. The cell is deviant if the value depends on the partner,
/// or on an attribute in `through`, such as `Requirements`. In a match, such an attribute is already being evaluated.
/// Reading the attribute again is circular there, and gives another value.
pub fn one_sided_cell(
    ad: &Ad,
    name: &Name,
    expression: &Expression,
    through: &[Name],
    context: &Context,
) -> ColumnCell {
    if through.contains(name) {
        return ColumnCell::Deviant;
    }
    let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
    let found = references(expression, &frame, &environment, context);
    if found.reads_anything || through.iter().any(|name| found.internal.contains(name)) {
        return ColumnCell::Deviant;
    }
    // `random()` fails without a seed, so that no random value is taken for a constant.
    let context = Context { random: None, ..context.clone() };
    match Evaluator::new(&environment, &context).attribute(&frame, name) {
        Ok(Value::List(_) | Value::Ad(_)) if !is_closed_structure(expression, context.dialect) => ColumnCell::Deviant,
        Ok(value) => ColumnCell::Constant(value),
        Err(_) => ColumnCell::Deviant,
    }
}

/// Whether an expression is a list or an ad that mentions no name.
fn is_closed_structure(expression: &Expression, dialect: Dialect) -> bool {
    matches!(expression.kind(), ExpressionKind::List(_) | ExpressionKind::Ad(_))
        && FreeNames::of(expression, dialect).all_names().is_some_and(NameSet::is_empty)
}

/// Returns whether a clause of an ad is met, without a partner; `None` if this depends on the partner.
pub fn one_sided_verdict(ad: &Ad, part: &Expression, context: &Context) -> Option<bool> {
    let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
    let context = Context { random: None, ..context.clone() };
    let value = Evaluator::new(&environment, &context).evaluate(part, &frame).ok()?;
    Some(Truth::of(&value, context.dialect).is_true())
}
