//! Values of attributes that an evaluator has computed, so that chains such as `a = b + b; b = c + c` take linear time.
//!
//! No bench row falls without the values: they are for chains, which would take exponential time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Bounded, Expression, ScopeFrame, Value};

/// Minimum number of steps of an evaluation whose value is remembered. Most attributes take fewer, and are evaluated
/// again.
pub(super) const MIN_REMEMBERED_STEPS: u64 = 256;

/// Values of expressions in scopes. A key is the identity of an expression and the address of a scope; the entry keeps
/// both alive.
#[derive(Default)]
pub(super) struct AttributeMemo {
    values: Bounded<FxHashMap<(usize, usize), AttributeValue>>,
    is_unused: bool,
}

/// Remembered value of an attribute.
pub(super) struct AttributeValue {
    pub(super) value: Value,
    /// Number of levels that the evaluation nested. The depth budget counts them for a remembered value, too.
    pub(super) height: u32,
    _owners: (Expression, Arc<ScopeFrame>),
}

fn key(expression: &Expression, frame: &Arc<ScopeFrame>) -> (usize, usize) {
    (expression.identity(), Arc::as_ptr(frame) as usize)
}

impl AttributeMemo {
    /// Returns a memo that remembers nothing.
    #[cfg(test)]
    pub(super) fn unused() -> Self {
        AttributeMemo { is_unused: true, ..AttributeMemo::default() }
    }

    #[inline]
    pub(super) fn get(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Option<&AttributeValue> {
        if self.values.is_empty() { None } else { self.values.get(&key(expression, frame)) }
    }

    pub(super) fn add(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>, value: &Value, height: u32) {
        if self.is_unused {
            return;
        }
        self.values.make_room(size_of::<AttributeValue>());
        let owners = (expression.clone(), Arc::clone(frame));
        self.values.insert(key(expression, frame), AttributeValue { value: value.clone(), height, _owners: owners });
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::{Ad, Dialect, Value};
    use crate::eval::{Abort, Context, Environment, Evaluator, RandomStream};
    use crate::syntax::{ParseOptions, parse_expression};

    fn ad(text: &str) -> Ad {
        let parsed = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Classad)).unwrap();
        match parsed.kind() {
            crate::ad::ExpressionKind::Ad(ad) => ad.clone(),
            _ => panic!("{text} is an ad"),
        }
    }

    fn value(ad: &Ad, name: &str, context: &Context) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).attribute(&frame, &name.into())
    }

    #[test]
    fn chains_take_linear_time() {
        let links: Vec<String> = (0..64).map(|n| format!("a{n} = (a{0} + a{0}) * 0.5;", n + 1)).collect();
        let ad = ad(&format!("[{} a64 = 3.0]", links.concat()));
        let context = Context { max_steps: 10_000, ..Context::new(Dialect::Classad) };
        assert_eq!(value(&ad, "a0", &context), Ok(Value::Real(3.0)));
    }

    #[test]
    fn random_numbers_are_drawn_each_time() {
        let ad =
            ad("[ long = 0; r = random() + sum({ 0, 0, 0, 0, 0, 0, 0, 0 }) * (1+2+3+4+5+6+7+8+9+1+2+3+4+5+6+7+8+9\
                     +1+2+3+4+5+6+7+8+9+1+2+3+4+5+6+7+8+9); same = r is r ]");
        let context = Context { random: Some(RandomStream::new(1)), ..Context::new(Dialect::Classad) };
        assert_eq!(value(&ad, "same", &context), Ok(Value::Boolean(false)));
    }

    /// Returns an ad of attributes that refer to each other at random, in circles, too.
    fn random_ad(random: &mut fastrand::Rng) -> Ad {
        let count = random.usize(2..10);
        let text: Vec<String> = (0..count)
            .map(|number| {
                let mut operand = || match random.u8(0..8) {
                    0 => "undefined".to_owned(),
                    1 => "{ 1, 2, a1 }[a0]".to_owned(),
                    2 => format!("sum(evalInEachContext(a{}, {{ [ a0 = 1 ], [ a1 = a2 ] }}))", random.usize(0..count)),
                    3 => format!("(a{} ?: 7)", random.usize(0..count)),
                    4 => random.u8(0..9).to_string(),
                    _ => format!("a{}", random.usize(0..count)),
                };
                let [one, two, three] = [operand(), operand(), operand()];
                format!("a{number} = {one} + {two} < 9 ? {three} : {one} - {two};")
            })
            .collect();
        ad(&format!("[{}]", text.concat()))
    }

    #[test]
    fn remembered_values_are_those_of_an_evaluation_from_the_beginning() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut with_value = 0;
        for case in 0..600 {
            let ad = random_ad(&mut random);
            for dialect in [Dialect::Classad, Dialect::Condor] {
                let max_depth = if case % 3 == 0 { random.u32(3..40) } else { 1000 };
                let context = Context { max_depth, max_steps: 5_000, ..Context::new(dialect) };
                let (environment, frame) = Environment::single(ad.clone());
                let mut evaluator = Evaluator::new(&environment, &context);
                for attribute in ad.iter() {
                    let with = evaluator.attribute(&frame, attribute.name);
                    let mut without = Evaluator::new(&environment, &context);
                    without.forget_values();
                    let without = without.attribute(&frame, attribute.name);
                    if matches!(with, Err(Abort::TooManySteps(_))) || matches!(without, Err(Abort::TooManySteps(_))) {
                        break;
                    }
                    let text = |value: &Result<Value, Abort>| match value {
                        Ok(value) => value.to_string(),
                        Err(abort) => abort.to_string(),
                    };
                    assert_eq!(text(&with), text(&without), "{} of {ad:?}", attribute.name);
                    with_value += u32::from(with.is_ok());
                }
            }
        }
        assert!(with_value > 300, "{with_value}");
    }
}
