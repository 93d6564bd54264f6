//! Call of a built-in function: lazily evaluated arguments and the context of the evaluation.

use std::sync::Arc;

use crate::ad::{ByteString, Dialect, Expression, ListValue, RelativeTime, ScopeFrame, Span, Value};
use crate::syntax::{Style, print_value};

use super::super::{Abort, Context, Evaluator};

/// Call of a built-in function, handed to its body.
pub struct Call<'c, 'e> {
    evaluator: &'c mut Evaluator<'e>,
    frame: &'c Arc<ScopeFrame>,
    arguments: &'c [Expression],
    /// Values of the arguments, if they were computed before; [`Abort::Unknown`] for an unknown value.
    values: Option<Vec<Result<Value, Abort>>>,
    span: Span,
}

impl<'c, 'e> Call<'c, 'e> {
    pub(in crate::eval) fn new(
        evaluator: &'c mut Evaluator<'e>,
        frame: &'c Arc<ScopeFrame>,
        arguments: &'c [Expression],
        span: Span,
    ) -> Self {
        Call { evaluator, frame, arguments, values: None, span }
    }

    /// Number of arguments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Whether there are no arguments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Returns the value of one argument; undefined beyond the last.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::evaluate`]; [`Abort::Unknown`] for an ad that is known in part only.
    pub fn value(&mut self, index: usize) -> Result<Value, Abort> {
        let value = match (&self.values, self.arguments.get(index)) {
            (Some(known), _) => known.get(index).cloned().unwrap_or(Ok(Value::Undefined))?,
            (None, Some(argument)) => self.evaluator.evaluate(argument, self.frame)?,
            (None, None) => Value::Undefined,
        };
        self.require_complete(value)
    }

    /// Returns the values of all arguments.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::evaluate`]; [`Abort::Unknown`] for an ad that is known in part only.
    pub fn all_values(&mut self) -> Result<Vec<Value>, Abort> {
        (0..self.len()).map(|index| self.value(index)).collect()
    }

    /// Stores values of the arguments, so that they are not computed again.
    pub(in crate::eval) fn set_values(&mut self, values: Vec<Result<Value, Abort>>) {
        self.values = Some(values);
    }

    /// Returns the value unless it is an ad known in part only, which the function must not inspect.
    fn require_complete(&self, value: Value) -> Result<Value, Abort> {
        match &value {
            Value::Ad(nested) if self.evaluator.environment().is_partly_known(&nested.frame) => Err(Abort::Unknown),
            _ => Ok(value),
        }
    }

    /// Returns the current time, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::now`].
    pub fn now(&self) -> Result<i64, Abort> {
        self.evaluator.now()
    }

    /// Returns one argument unevaluated; `None` beyond the last.
    #[must_use]
    pub fn expression(&self, index: usize) -> Option<&'c Expression> {
        self.arguments.get(index)
    }

    /// Returns the value of one element of a list; undefined beyond the end. The element is evaluated in the list's own
    /// scope, but in HTCondor's dialect in the scope of the call, as HTCondor's library does.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::evaluate`]; [`Abort::Unknown`] for an ad that is known in part only.
    pub fn element(&mut self, list: &ListValue, index: usize) -> Result<Value, Abort> {
        let value = match (self.dialect(), list.elements.get(index)) {
            (Dialect::Condor, Some(element)) => self.evaluator.element_in_call_scope(element, list, self.frame)?,
            _ => self.evaluator.element(list, index)?,
        };
        self.require_complete(value)
    }

    /// Returns the values of all elements of a list.
    ///
    /// # Errors
    ///
    /// As [`Call::element`].
    pub fn elements(&mut self, list: &ListValue) -> Result<Vec<Value>, Abort> {
        (0..list.elements.len()).map(|index| self.element(list, index)).collect()
    }

    /// Returns the value of any expression in any scope.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::evaluate`].
    pub fn evaluate(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        self.evaluator.evaluate(expression, frame)
    }

    /// Scope of the call.
    #[must_use]
    pub fn frame(&self) -> &'c Arc<ScopeFrame> {
        self.frame
    }

    /// Evaluator that runs the call.
    pub fn evaluator(&mut self) -> &mut Evaluator<'e> {
        self.evaluator
    }

    /// Dialect of the language.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.context().dialect
    }

    /// Settings of the evaluation.
    #[must_use]
    pub fn context(&self) -> &'e Context {
        self.evaluator.context()
    }

    /// Returns an error value with this call as its cause.
    #[must_use]
    pub fn error(&self, reason: impl Into<String>) -> Value {
        Value::error(self.span, reason)
    }

    /// Returns the error for an argument of a wrong type; `wanted` names the expected one. An error argument with a
    /// cause is returned as it is.
    #[must_use]
    pub fn type_error(&self, value: &Value, wanted: &str) -> Value {
        match value {
            // The first cause is kept.
            Value::Error(cause) if cause.origin().is_some() => value.clone(),
            value => self.error(format!("expected {wanted}, not {}", value.value_type().phrase())),
        }
    }

    /// Returns the text that `string()` makes of a value, in HTCondor's dialect with the spelling of HTCondor's
    /// library.
    #[must_use]
    pub fn text_of_value(&self, value: &Value) -> ByteString {
        let style = if self.dialect().is_condor() { Style::Library } else { Style::New };
        match value {
            Value::String(text) => text.clone(),
            // The library writes years without leading zeros.
            Value::AbsoluteTime(time) if style == Style::Library => {
                let text = time.to_string();
                let year = text.trim_start_matches('0');
                if year.starts_with('-') { text.into() } else { year.into() }
            }
            Value::AbsoluteTime(time) => time.to_string().into(),
            Value::RelativeTime(time) if style == Style::Library => {
                RelativeTime { seconds: time.seconds.trunc() }.to_library_string().into()
            }
            Value::RelativeTime(time) => time.to_string().into(),
            value => print_value(value, style).into(),
        }
    }

    /// Returns a list of computed values.
    #[must_use]
    pub fn list(values: Vec<Value>) -> Value {
        let elements: Vec<Expression> = values.into_iter().map(Expression::literal).collect();
        Value::List(ListValue { elements: elements.into(), scope: None })
    }
}
