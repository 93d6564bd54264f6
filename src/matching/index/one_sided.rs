//! What parts of constraints and attributes are by themselves, whomever their ad meets.

use crate::ad::{Ad, Dialect, Expression, Kind, Name, Value};
use crate::constraint::{Parts, is_plain, stands_for_an_ad};
use crate::eval::{Context, Environment, Evaluator, Extent, Mentions, references};
use crate::pool::Cell;
use crate::protocol::is_met;

/// Whether a part is more than the values of the attributes that it mentions.
pub fn is_opaque(parts: &Parts<'_>, mentions: &Mentions) -> bool {
    mentions.is_opaque() || mentions.names.iter().any(|name| parts.through().any(|through| through == name))
}

/// Whether an ad has an attribute of a name that otherwise stands for an ad or the time.
pub fn is_odd(ad: &Ad) -> bool {
    ad.iter().any(|attribute| stands_for_an_ad(attribute.name))
}

/// The value that an expression is.
pub fn literal(expression: &Expression, dialect: Dialect) -> Option<&Value> {
    match expression.kind() {
        Kind::Literal(value) => Some(value).filter(|value| is_plain(value, dialect)),
        _ => None,
    }
}

/// What an attribute of an ad is whose value has to be computed.  One that leads back to an attribute through
/// which the parts of a constraint were found is open, for there it has another value.
pub fn computed(ad: &Ad, name: &Name, expression: &Expression, through: &[Name], context: &Context) -> Cell {
    if through.contains(name) {
        return Cell::Open;
    }
    let (environment, frame) = Environment::unmet(ad.clone(), Extent::Closed);
    let found = references(expression, &frame, &environment, context);
    if found.everything || through.iter().any(|name| found.internal.contains(name)) {
        return Cell::Open;
    }
    // What is drawn anew each time is no constant.
    let context = Context { chance: None, ..context.clone() };
    match Evaluator::new(&environment, &context).attribute(&frame, name) {
        Ok(Value::List(_) | Value::Ad(_)) if !is_written_out(expression, context.dialect) => Cell::Open,
        Ok(value) => Cell::Constant(value),
        Err(_) => Cell::Open,
    }
}

/// Whether a list or an ad is there in full, without names.
fn is_written_out(expression: &Expression, dialect: Dialect) -> bool {
    let mentions = Mentions::of(expression, dialect);
    matches!(expression.kind(), Kind::List(_) | Kind::Ad(_)) && mentions.names.is_empty() && !mentions.is_opaque()
}

/// Whether a part of the constraint of an ad is met, if that does not depend on the other side.
pub fn settled(ad: &Ad, part: &Expression, context: &Context) -> Option<bool> {
    let (environment, frame) = Environment::unmet(ad.clone(), Extent::Closed);
    let context = Context { chance: None, ..context.clone() };
    let value = Evaluator::new(&environment, &context).evaluate(part, &frame).ok()?;
    Some(is_met(&value, context.dialect))
}
