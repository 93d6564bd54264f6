//! Clauses and attributes that depend on one ad alone and can be evaluated without a partner.

use crate::ad::{Ad, Dialect, Expression, Kind, Name, Value};
use crate::constraint::{Parts, is_plain, stands_for_an_ad};
use crate::eval::{Context, Environment, Evaluator, Extent, Mentions, references};
use crate::pool::Cell;
use crate::protocol::is_met;

/// Whether a clause depends on more than the values of the attributes that it mentions: it reads unknown names, or
/// refers back to an attribute through which the clauses were collected.
pub fn is_opaque(parts: &Parts<'_>, mentions: &Mentions) -> bool {
    mentions.is_opaque() || mentions.names.iter().any(|name| parts.through().any(|through| through == name))
}

/// Whether an ad has an attribute with a name that normally denotes a scope or the current time.
pub fn is_odd(ad: &Ad) -> bool {
    ad.iter().any(|attribute| stands_for_an_ad(attribute.name))
}

/// Returns the value of a literal that evaluates to itself; `None` for other expressions.
pub fn literal(expression: &Expression, dialect: Dialect) -> Option<&Value> {
    match expression.kind() {
        Kind::Literal(value) => Some(value).filter(|value| is_plain(value, dialect)),
        _ => None,
    }
}

/// Evaluates an attribute of an ad without a partner. The cell is open if its value depends on the partner, or refers
/// to an attribute in `through`: there evaluation is circular and gives another value.
pub fn computed(ad: &Ad, name: &Name, expression: &Expression, through: &[Name], context: &Context) -> Cell {
    if through.contains(name) {
        return Cell::Open;
    }
    let (environment, frame) = Environment::unmet(ad.clone(), Extent::Closed);
    let found = references(expression, &frame, &environment, context);
    if found.everything || through.iter().any(|name| found.internal.contains(name)) {
        return Cell::Open;
    }
    // Without a seed `random()` fails, so that no random value is taken for a constant.
    let context = Context { chance: None, ..context.clone() };
    match Evaluator::new(&environment, &context).attribute(&frame, name) {
        Ok(Value::List(_) | Value::Ad(_)) if !is_written_out(expression, context.dialect) => Cell::Open,
        Ok(value) => Cell::Constant(value),
        Err(_) => Cell::Open,
    }
}

/// Whether an expression is a list or an ad that is written without references.
fn is_written_out(expression: &Expression, dialect: Dialect) -> bool {
    let mentions = Mentions::of(expression, dialect);
    matches!(expression.kind(), Kind::List(_) | Kind::Ad(_)) && mentions.names.is_empty() && !mentions.is_opaque()
}

/// Evaluates a clause of an ad without a partner: whether it is met. `None` if that depends on the partner.
pub fn settled(ad: &Ad, part: &Expression, context: &Context) -> Option<bool> {
    let (environment, frame) = Environment::unmet(ad.clone(), Extent::Closed);
    let context = Context { chance: None, ..context.clone() };
    let value = Evaluator::new(&environment, &context).evaluate(part, &frame).ok()?;
    Some(is_met(&value, context.dialect))
}
