//! A fast path for constraints over literals: conjunctions of comparisons between attributes and constants, and of
//! boolean attributes, decided without the evaluator.

use indexmap::IndexSet;

use crate::ad::{Dialect, Expression, Name, Truth, Value};
use crate::eval::Context;

use super::{ClauseForm, ClauseOperand, conjuncts, is_self_evaluating};

/// A compiled constraint that needs only the values of a few attributes, not a scope.
pub struct LiteralFilter {
    names: Vec<Name>,
    clauses: Vec<ClauseForm<'static, FilterOperand>>,
    dialect: Dialect,
}

enum FilterOperand {
    /// The value of an attribute, as an index into `names`.
    Attribute(usize),
    Constant(Value),
}

/// Maximum number of conjuncts. Evaluating this many stays far below [`MIN_EVALUATION_BUDGET`].
const MAX_CLAUSES: usize = 32;

/// Minimum evaluation budgets, in steps and in depth. With smaller ones the evaluator might fail where the filter
/// does not.
const MIN_EVALUATION_BUDGET: u32 = 1000;

impl LiteralFilter {
    /// Compiles a constraint that is evaluated in an ad without a partner. `None` if the constraint is not a
    /// conjunction of comparisons and boolean attributes, if it has too many conjuncts, or if the budgets of `context`
    /// are too small.
    #[must_use]
    pub fn new(constraint: &Expression, context: &Context) -> Option<Self> {
        let parts = conjuncts(constraint);
        if parts.len() > MAX_CLAUSES
            || context.max_depth < MIN_EVALUATION_BUDGET
            || context.max_steps < u64::from(MIN_EVALUATION_BUDGET)
        {
            return None;
        }
        let mut names: IndexSet<Name> = IndexSet::new();
        let mut compile = |operand: ClauseOperand<'_>| match operand {
            ClauseOperand::Literal(value) if is_self_evaluating(value, context.dialect) => {
                Some(FilterOperand::Constant(value.clone()))
            }
            ClauseOperand::Unqualified(name) => Some(FilterOperand::Attribute(names.insert_full(name.clone()).0)),
            _ => None,
        };
        let clauses = parts.into_iter().map(|part| ClauseForm::of(part).map_operands(&mut compile));
        let clauses = clauses.collect::<Option<_>>()?;
        Some(LiteralFilter { names: names.into_iter().collect(), clauses, dialect: context.dialect })
    }

    /// Returns the names of the attributes whose values [`LiteralFilter::is_met`] takes, in the order in which it takes
    /// them.
    #[must_use]
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Whether the constraint is met if the attributes in [`LiteralFilter::names`] have these values. `None` if a value
    /// does not evaluate to itself, so that the evaluator must decide.
    #[must_use]
    pub fn is_met(&self, values: &[Value]) -> Option<bool> {
        if !values.iter().all(|value| is_self_evaluating(value, self.dialect)) {
            return None;
        }
        let value = |operand| match operand {
            &FilterOperand::Attribute(index) => values.get(index),
            FilterOperand::Constant(value) => Some(value),
        };
        for clause in &self.clauses {
            // A conjunct that is not true makes the conjunction not true, whatever the others are.
            if !Truth::of(&clause.decide(self.dialect, value)?, self.dialect).is_true() {
                return Some(false);
            }
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LiteralFilter;
    use crate::ad::{Ad, Dialect, Expression, Name, Truth, Value};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{ParseOptions, parse_expression};

    fn simple(text: &str, dialect: Dialect) -> Option<LiteralFilter> {
        let constraint = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
        LiteralFilter::new(&constraint, &Context::new(dialect))
    }

    #[test]
    fn what_is_simple() {
        for (text, names) in [
            ("a && (b >= 8) && 'x y' == \"z\" && -1.5 != A", Some("a b x y")),
            ("a =?= undefined && b isnt c", Some("a b c")),
            ("true", Some("")),
            ("a || b", None),
            ("!a", None),
            ("a + 1 > 2", None),
            ("MY.a > 2", None),
            ("self", None),
            ("parent is undefined", None),
            (".a", None),
            ("f(a)", None),
            ("a > error", None),
        ] {
            let found = simple(text, Dialect::Condor)
                .map(|simple| simple.names().iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
            assert_eq!(found.as_deref(), names, "{text}");
        }
        // `CurrentTime` is the time, not an attribute of the ad.
        assert!(simple("CurrentTime > 3", Dialect::Condor).is_none());
        // In the papers' dialect an integer has 32 bits, so that this literal does not evaluate to itself.
        assert!(simple("a > 2147483648", Dialect::Classad).is_none());
        assert!(simple("a > 2147483648", Dialect::Condor).is_some());
        let small = Context { max_steps: 10, ..Context::new(Dialect::Condor) };
        assert!(LiteralFilter::new(&parse_expression(b"a", ParseOptions::default()).unwrap(), &small).is_none());
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Undefined),
            any::<bool>().prop_map(Value::Boolean),
            (-2_i64..3).prop_map(Value::Integer),
            prop::sample::select(vec![(1_i64 << 53) - 1, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN, 1 << 31])
                .prop_map(Value::Integer),
            prop::sample::select(vec![0.0, -0.0, 1.0, 1.5, 9_007_199_254_740_992.0, f64::NAN, f64::INFINITY])
                .prop_map(Value::Real),
            "[aAbB]{0,2}".prop_map(Value::string),
        ]
    }

    fn constraint() -> impl Strategy<Value = String> {
        let name = || prop::sample::select(vec!["a", "b", "B", "c"]).prop_map(str::to_owned);
        let constant = prop::sample::select(vec![
            "0",
            "1",
            "-1",
            "1.0",
            "-0.0",
            "9007199254740993",
            "9007199254740992.0",
            "real(\"NaN\")",
            "true",
            "false",
            "undefined",
            "\"a\"",
            "\"B\"",
        ]);
        let operand = || prop_oneof![2 => name(), 3 => constant.clone().prop_map(str::to_owned)];
        let operators = vec!["<", "<=", "==", "!=", ">=", ">", "is", "isnt"];
        let comparison = (operand(), prop::sample::select(operators), operand())
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})"));
        prop::collection::vec(prop_oneof![1 => operand(), 3 => comparison], 1..4).prop_map(|parts| parts.join(" && "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_evaluator_says_the_same(text in constraint(), values in prop::collection::vec(value(), 3)) {
            for dialect in [Dialect::Classad, Dialect::Condor] {
                let Some(simple) = simple(&text, dialect) else { continue };
                let ad: Ad = ["a", "b", "c"].iter().zip(&values)
                    .filter(|(_, value)| **value != Value::Undefined)
                    .map(|(name, value)| (Name::new(name), Expression::literal(value.clone())))
                    .collect();
                let (environment, frame) = Environment::single(ad.clone());
                let context = Context::new(dialect);
                let constraint = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
                let value = Evaluator::new(&environment, &context).evaluate(&constraint, &frame).unwrap();
                let needed: Vec<Value> = simple.names().iter().map(|name| {
                    let index = ["a", "b", "c"].iter().position(|known| name.is(known)).unwrap();
                    values[index].clone()
                }).collect();
                if let Some(met) = simple.is_met(&needed) {
                    prop_assert_eq!(met, Truth::of(&value, dialect).is_true(), "{} in {:?}", text, values);
                } else {
                    prop_assert_eq!(dialect, Dialect::Classad);
                }
            }
        }
    }
}
