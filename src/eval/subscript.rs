//! What a subscript `value[index]` denotes, in the terms of each dialect.

use std::sync::Arc;

use crate::ad::{Dialect, ListValue, Name, ScopeFrame, Span, Value};
use crate::text::counted;

/// What a subscript denotes.
pub(super) enum SubscriptTarget<'v> {
    /// A value that needs no evaluation, such as the error of a value that has no subscripts.
    Value(Value),
    /// The element of a list at a 0-based index.
    Element(&'v ListValue, usize),
    /// The attribute of an ad with a name, in HTCondor's dialect. The ad may lack it.
    Attribute(&'v Arc<ScopeFrame>, Name),
}

impl<'v> SubscriptTarget<'v> {
    /// Returns what `value[index]` denotes. `span` is that of the subscript.
    pub(super) fn of(value: &'v Value, index: &Value, dialect: Dialect, span: Span) -> Self {
        SubscriptTarget::Value(match (value, index) {
            (Value::Error(_), _) => value.clone(),
            (_, Value::Error(_)) => index.clone(),
            (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
            (Value::List(list), Value::Integer(position)) => {
                let length = list.elements.len();
                match usize::try_from(*position) {
                    Ok(position) if position < length => return SubscriptTarget::Element(list, position),
                    _ if dialect.is_condor() => {
                        let reason = format!("{position} is not an index of a list of {}", counted(length, "element"));
                        Value::error(span, reason)
                    }
                    _ => Value::Undefined,
                }
            }
            (Value::Ad(nested), Value::String(name)) if dialect.is_condor() => {
                return SubscriptTarget::Attribute(&nested.frame, Name::new(&name.to_str()));
            }
            _ => {
                let reason = format!("{} cannot index {}", index.value_type().phrase(), value.value_type().phrase());
                Value::error(span, reason)
            }
        })
    }
}
