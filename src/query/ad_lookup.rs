//! Values of an ad's attributes and of expressions in the ad.

use std::sync::Arc;

use crate::ad::{Ad, Expression, ListValue, Name, ScopeFrame, Value};
use crate::eval::{Context, Environment, Evaluator};

/// The values of an ad's attributes, converted as HTCondor's tools do. Counts the evaluations that exceed a budget.
pub struct AdLookup<'a> {
    /// The ad.
    pub ad: &'a Ad,
    context: &'a Context,
    environment: Environment,
    frame: Arc<ScopeFrame>,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

impl<'a> AdLookup<'a> {
    /// Looks values up in an ad.
    #[must_use]
    pub fn new(ad: &'a Ad, context: &'a Context) -> Self {
        let (environment, frame) = Environment::single(ad.clone());
        AdLookup { ad, context, environment, frame, failures: 0 }
    }

    /// Evaluates an expression in the ad. The result is undefined if the evaluation exceeds a budget.
    pub fn value(&mut self, expression: &Expression) -> Value {
        let mut evaluator = Evaluator::new(&self.environment, self.context);
        evaluator.evaluate(expression, &self.frame).unwrap_or_else(|_| {
            self.failures += 1;
            Value::Undefined
        })
    }

    /// Evaluates an attribute of the ad; undefined if there is none.
    pub fn attribute(&mut self, name: &str) -> Value {
        let Some(expression) = self.ad.get(&Name::new(name)).cloned() else { return Value::Undefined };
        self.value(&expression)
    }

    /// Whether the ad has an attribute.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.ad.get(&Name::new(name)).is_some()
    }

    /// Returns the string that an attribute has; `None` if its value is not a string.
    pub fn string(&mut self, name: &str) -> Option<String> {
        match self.attribute(name) {
            Value::String(text) => Some(text.to_str().into_owned()),
            _ => None,
        }
    }

    /// Returns the number that an attribute has, truncated; `None` if its value is not a number.
    pub fn integer(&mut self, name: &str) -> Option<i64> {
        to_integer(&self.attribute(name))
    }

    /// Returns the number that an attribute has; `None` if its value is not a number.
    pub fn real(&mut self, name: &str) -> Option<f64> {
        to_real(&self.attribute(name))
    }

    /// Whether an attribute is true, or a number other than 0.
    pub fn is_true(&mut self, name: &str) -> bool {
        to_real(&self.attribute(name)).is_some_and(|number| number != 0.0)
    }

    /// Returns the strings of a list that an attribute has.
    pub fn strings(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.attribute(name);
        self.elements(&value).map(|elements| elements.iter().filter_map(to_text).collect())
    }

    /// Evaluates an expression. If the value is a list, evaluates its elements, too.
    pub fn value_with_elements(&mut self, expression: &Expression) -> Value {
        let value = self.value(expression);
        let Some(elements) = self.elements(&value) else { return value };
        let elements = elements.into_iter().map(Expression::literal).collect();
        Value::List(ListValue { elements, scope: None })
    }

    /// Evaluates the elements of a list; `None` if the value is not a list.
    pub fn elements(&mut self, value: &Value) -> Option<Vec<Value>> {
        let Value::List(list) = value else { return None };
        let mut evaluator = Evaluator::new(&self.environment, self.context);
        let mut elements = Vec::new();
        for index in 0..list.elements.len() {
            elements.push(evaluator.element(list, index).unwrap_or_else(|_| {
                self.failures += 1;
                Value::Undefined
            }));
        }
        Some(elements)
    }
}

/// Returns the text of a string; `None` of any other value.
#[must_use]
pub fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    }
}

/// Returns a number, truncated; `None` of any other value.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // reals are truncated, as in C
pub fn to_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        value => to_real(value).map(|real| real as i64),
    }
}

/// Returns a number or a boolean as a real; `None` of any other value.
#[must_use]
#[allow(clippy::cast_precision_loss)] // large integers are rounded, as in C
pub fn to_real(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(is) => Some(f64::from(u8::from(*is))),
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{AdLookup, to_integer, to_real, to_text};
    use crate::ad::{Dialect, Value};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print_value};

    #[test]
    fn an_attribute_is_read_as_a_text_a_number_or_a_truth_value() {
        let ad = "[ i = 7; r = -2.9; t = true; f = false; z = 0.0; s = \"x\"; u = undefined; l = { s, i, \"y\" }; e = \
        i + 1 ]";
        let ad = parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let context = Context::new(Dialect::Condor);
        let mut lookup = AdLookup::new(&ad, &context);
        for (name, integer, real, is_true, text) in [
            ("i", Some(7), Some(7.0), true, None),
            ("I", Some(7), Some(7.0), true, None),
            ("r", Some(-2), Some(-2.9), true, None),
            ("t", Some(1), Some(1.0), true, None),
            ("f", Some(0), Some(0.0), false, None),
            ("z", Some(0), Some(0.0), false, None),
            ("s", None, None, false, Some("x")),
            ("u", None, None, false, None),
            ("l", None, None, false, None),
            ("e", Some(8), Some(8.0), true, None),
            ("none", None, None, false, None),
        ] {
            assert_eq!(lookup.has(name), name != "none", "{name}");
            assert_eq!((lookup.integer(name), lookup.real(name)), (integer, real), "{name}");
            assert_eq!((lookup.is_true(name), lookup.string(name).as_deref()), (is_true, text), "{name}");
            let value = lookup.attribute(name);
            assert_eq!((to_integer(&value), to_real(&value)), (integer, real), "{name}");
            assert_eq!(to_text(&value).as_deref(), text, "{name}");
            assert_eq!(lookup.strings(name).is_some(), name == "l", "{name}");
        }
        assert_eq!(lookup.strings("l"), Some(vec!["x".to_owned(), "y".to_owned()]));
        let list = |text: &str| parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        for (text, expected) in
            [("l", "{ \"x\",7,\"y\" }"), ("{ i, none }", "{ 7,undefined }"), ("i", "7"), ("{ }", "{ }")]
        {
            let value = lookup.value_with_elements(&list(text));
            let shown = String::from_utf8(print_value(&value, Style::Long)).unwrap();
            assert_eq!(shown.replace(", ", ","), expected, "{text}");
        }
        assert_eq!(lookup.failures, 0);
    }

    #[test]
    fn what_exceeds_a_budget_is_undefined_and_counted() {
        let ad = parse_ad(b"[ a = 1 + 1 + 1 + 1; l = { a, 2 } ]", ParseOptions::new(Dialect::Condor)).unwrap();
        let context = Context { max_steps: 3, ..Context::new(Dialect::Condor) };
        let mut lookup = AdLookup::new(&ad, &context);
        assert_eq!((lookup.integer("a"), lookup.failures), (None, 1));
        let list = lookup.attribute("l");
        assert_eq!((lookup.elements(&list), lookup.failures), (Some(vec![Value::Undefined, Value::Integer(2)]), 2));
    }
}
