//! Call of a built-in function: lazily evaluated arguments and the context of the evaluation.

use std::sync::Arc;

use crate::ad::{ByteString, Dialect, Expression, ListValue, RelativeTime, ScopeFrame, Span, Value};
use crate::syntax::{Style, print_value};

use super::super::{Abort, Evaluator};

/// Reason why the body of a function ended without its regular result.
#[derive(Debug)]
pub(in crate::eval) enum EarlyEnd {
    /// Value of the call, decided by one of the arguments. The value may be undefined, an error or any other.
    Decided(Value),
    /// The evaluation was aborted, so the call has no value.
    Aborted(Abort),
}

impl From<Value> for EarlyEnd {
    fn from(value: Value) -> Self {
        EarlyEnd::Decided(value)
    }
}

impl From<Abort> for EarlyEnd {
    fn from(abort: Abort) -> Self {
        EarlyEnd::Aborted(abort)
    }
}

/// Result of the body of a function, or of one step of the body.
pub(in crate::eval) type CallResult<T = Value> = Result<T, EarlyEnd>;

/// Call of a built-in function, handed to its body.
pub(in crate::eval) struct Call<'c, 'e> {
    /// Evaluator that runs the call.
    pub(in crate::eval) evaluator: &'c mut Evaluator<'e>,
    /// Scope of the call.
    pub(in crate::eval) frame: &'c Arc<ScopeFrame>,
    /// Arguments, unevaluated.
    pub(in crate::eval) arguments: &'c [Expression],
    /// Values of the arguments if all were computed already, with [`Abort::Unknown`] for an unknown value. If `None`,
    /// each argument is evaluated when the body asks for it.
    pub(in crate::eval) values: Option<Vec<Result<Value, Abort>>>,
    /// Span of the call, to which errors are attributed.
    pub(in crate::eval) span: Span,
}

impl Call<'_, '_> {
    /// Returns the value of the argument at a 0-based index; undefined if the call has fewer arguments. An ad that is
    /// known only in part gives [`Abort::Unknown`], since the function might read its unknown part.
    pub(super) fn value(&mut self, index: usize) -> Result<Value, Abort> {
        let value = match (&self.values, self.arguments.get(index)) {
            (Some(known), _) => known.get(index).cloned().unwrap_or(Ok(Value::Undefined))?,
            (None, Some(argument)) => self.evaluator.evaluate(argument, self.frame)?,
            (None, None) => Value::Undefined,
        };
        self.require_complete(value)
    }

    /// Evaluates all arguments in order and keeps their values, so that [`Call::value`] does not evaluate them again.
    pub(in crate::eval) fn evaluate_all(&mut self) -> Result<(), Abort> {
        let values = (0..self.arguments.len()).map(|index| self.value(index).map(Ok));
        self.values = Some(values.collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Returns a value unchanged; [`Abort::Unknown`] for an ad that is known only in part.
    fn require_complete(&self, value: Value) -> Result<Value, Abort> {
        match &value {
            Value::Ad(nested) if self.evaluator.environment.is_partly_known(&nested.frame) => Err(Abort::Unknown),
            _ => Ok(value),
        }
    }

    /// Returns the value of the list element at a 0-based index; undefined beyond the end. In the papers' dialect an
    /// element is evaluated in the scope of the list, in HTCondor's dialect in the scope of the call.
    pub(super) fn element(&mut self, list: &ListValue, index: usize) -> Result<Value, Abort> {
        let value = match (self.dialect(), list.elements.get(index)) {
            (Dialect::Condor, Some(element)) => self.evaluator.element_in_call_scope(element, list, self.frame)?,
            _ => self.evaluator.element(list, index)?,
        };
        self.require_complete(value)
    }

    /// Returns the values of all elements of a list.
    pub(super) fn elements(&mut self, list: &ListValue) -> Result<Vec<Value>, Abort> {
        (0..list.elements.len()).map(|index| self.element(list, index)).collect()
    }

    /// Returns the dialect in which the call is evaluated.
    pub(super) fn dialect(&self) -> Dialect {
        self.evaluator.context.dialect
    }

    /// Returns an error value with a reason. The error's origin is the span of this call.
    pub(super) fn error(&self, reason: impl Into<String>) -> Value {
        Value::error(self.span, reason)
    }

    /// Returns the error for an argument of a wrong type; `wanted` names the expected type. If the argument itself is
    /// an error with a known origin, it is returned unchanged.
    pub(super) fn type_error(&self, value: &Value, wanted: &str) -> Value {
        match value {
            // The error in the argument explains more than a message about the argument's type would.
            Value::Error(cause) if cause.origin().is_some() => value.clone(),
            value => self.error(format!("expected {wanted}, not {}", value.value_type().phrase())),
        }
    }

    /// Returns the text that `string()` makes of a value. In HTCondor's dialect it is spelt as in HTCondor's library.
    pub(super) fn text_of_value(&self, value: &Value) -> ByteString {
        let style = if self.dialect().is_condor() { Style::Library } else { Style::New };
        match value {
            Value::String(text) => text.clone(),
            // HTCondor's library writes years without leading zeros.
            Value::AbsoluteTime(time) if style == Style::Library => {
                let text = time.to_string();
                let year = text.trim_start_matches('0');
                if year.starts_with('-') { text.into() } else { year.into() }
            }
            Value::AbsoluteTime(time) => time.to_string().into(),
            Value::RelativeTime(time) if style == Style::Library => {
                RelativeTime::new(time.seconds.trunc()).to_library_string().into()
            }
            Value::RelativeTime(time) => time.to_string().into(),
            value => print_value(value, style).into(),
        }
    }
}

/// Returns a list whose elements are computed values.
pub(super) fn list_of_values(values: impl IntoIterator<Item = Value>) -> Value {
    Value::List(ListValue { elements: values.into_iter().map(Expression::literal).collect(), scope: None })
}
