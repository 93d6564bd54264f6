//! Vectors by which a policy orders requests or candidates. They are compared lexicographically (thesis 3.2.4).

use std::cmp::Ordering;
use std::sync::Arc;

use crate::ad::{Ad, AdValue, Dialect, Expression, ScopeFrame, Type, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};

use crate::matching::pair::comparison_steps;

use super::{PolicyFault, PolicyRule, RankOrder, candidate_label};

/// The values of a vector of the policy: `order` or `docking`. A component is `None` if its value cannot be ordered,
/// and then compares as the least.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyVector(pub Vec<Option<VectorComponent>>);

/// A value of a vector that can be ordered. It can be compared only with values of its class: numbers with numbers,
/// strings with strings.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorComponent {
    /// The value itself, such as the integer `2`.
    pub value: Value,
    /// Class of the value: [`Type::Real`] for a number, otherwise the type of the value. In HTCondor's dialect a
    /// boolean counts as a number.
    class: Type,
}

impl PolicyVector {
    /// Evaluates the docking vector of a request for a candidate. The environment must contain both ads. Adds the steps
    /// for comparisons to `steps`.
    pub(in crate::matching) fn evaluate_docking<'r>(
        rules: impl IntoIterator<Item = &'r PolicyRule>,
        environment: &Environment,
        ads: [&Arc<ScopeFrame>; 2],
        context: &Context,
        steps: &mut u64,
    ) -> Result<Self, Abort> {
        Ok(PolicyVector::new(docking_values(rules, environment, ads, context, steps)?, context.dialect))
    }

    /// Returns the index of the first component of the docking vector that cannot be ordered; such a component discards
    /// the candidate. `None` if all components can be ordered.
    pub fn first_unordered(
        rules: &[PolicyRule],
        request: &Ad,
        candidate: &Ad,
        context: &Context,
    ) -> Result<Option<usize>, Abort> {
        let (environment, [request, candidate]) = Environment::pair(request.clone(), candidate.clone());
        let vector = PolicyVector::evaluate_docking(rules, &environment, [&request, &candidate], context, &mut 0)?;
        Ok(vector.0.iter().position(Option::is_none))
    }

    /// Makes the vector of these values. A value that cannot be ordered becomes `None`. In HTCondor's dialect booleans
    /// are ordered as numbers.
    #[must_use]
    pub fn new(values: Vec<Value>, dialect: Dialect) -> Self {
        PolicyVector(values.into_iter().map(|value| VectorComponent::new(value, dialect)).collect())
    }

    /// Makes the vector of two ranks that are numbers.
    #[must_use]
    pub fn of_numbers(numbers: [f64; 2]) -> Self {
        PolicyVector::new(numbers.map(Value::Real).to_vec(), Dialect::Classad)
    }

    /// The size of the vector in bytes, without what its values refer to.
    pub(in crate::matching) fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<Option<VectorComponent>>()
    }

    /// Whether every component can be ordered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Returns the index of the first component that differs: the one that decides. `None` if the vectors are equal.
    #[must_use]
    pub fn first_difference(&self, other: &PolicyVector) -> Option<usize> {
        let mut pairs = self.0.iter().zip(&other.0);
        pairs.position(|(left, right)| compare_components(left.as_ref(), right.as_ref()).is_ne())
    }

    /// Compares two vectors in descending order: the greater vector sorts first.
    #[must_use]
    pub fn cmp_greatest_first(&self, other: &PolicyVector) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        first_difference(pairs.map(|(left, right)| compare_components(right.as_ref(), left.as_ref())))
    }

    /// Compares the vector with another vector: `numbers`, followed by zeros. A component that is not a number counts
    /// as greater than any number. A component that cannot be ordered counts as less than any number.
    #[must_use]
    pub fn cmp_numbers(&self, numbers: [f64; 2]) -> Ordering {
        let numbers = numbers.into_iter().chain(std::iter::repeat(0.0));
        first_difference(self.0.iter().zip(numbers).map(|(component, number)| match component {
            Some(component) if component.class == Type::Real => {
                let number = VectorComponent { value: Value::Real(number), class: Type::Real };
                compare_components(Some(component), Some(&number))
            }
            Some(_) => Ordering::Greater,
            None => Ordering::Less,
        }))
    }

    /// Checks that each component has values of one class in all vectors, so that the vectors can be sorted.
    ///
    /// # Errors
    ///
    /// Fails for the first component with values of several classes. `key` is the name of the vector in the message,
    /// such as `docking`.
    pub fn check_comparable<'v>(
        vectors: impl IntoIterator<Item = &'v PolicyVector>,
        key: &str,
        rules: &[PolicyRule],
    ) -> Result<(), PolicyFault> {
        let mut first: Vec<Option<&VectorComponent>> = vec![None; rules.len()];
        let mut mixed: Option<(usize, Type, Type)> = None;
        for vector in vectors {
            for (position, component) in vector.0.iter().enumerate().take(rules.len()) {
                let Some(component) = component else { continue };
                if rules[position].rank.is_some() {
                    continue;
                }
                let known = first[position].get_or_insert(component);
                if known.class != component.class && mixed.is_none_or(|(before, ..)| position < before) {
                    mixed = Some((position, known.value.value_type(), component.value.value_type()));
                }
            }
        }
        let Some((position, one, other)) = mixed else { return Ok(()) };
        // The two types are sorted by name, so that the message does not depend on the order of the vectors.
        let (one, other) = if one.as_str() <= other.as_str() { (one, other) } else { (other, one) };
        Err(PolicyFault {
            reason: format!(
                "component {} of `{key}` is {} for some ads, but {} for others",
                position + 1,
                one.phrase(),
                other.phrase()
            ),
            range: rules[position].range.clone(),
        })
    }
}

/// Evaluates rules in a request, where `label` is a candidate. The environment must contain both ads. Adds the steps for
/// comparisons to `steps`.
pub fn docking_values<'r>(
    rules: impl IntoIterator<Item = &'r PolicyRule>,
    environment: &Environment,
    [request, candidate]: [&Arc<ScopeFrame>; 2],
    context: &Context,
    steps: &mut u64,
) -> Result<Vec<Value>, Abort> {
    // The name `label` is bound in a scope inside the request's scope, so that no attribute of the request shadows it.
    let candidate = Value::Ad(AdValue { frame: Arc::clone(candidate) });
    let bound: Ad = [(candidate_label(), Expression::literal(candidate))].into_iter().collect();
    let scope = request.enter(bound).as_context();
    let value = |rule: &PolicyRule| {
        let mut evaluator = Evaluator::new(environment, context);
        let value = evaluator.evaluate(&rule.expression, &scope);
        *steps += comparison_steps(&evaluator);
        match value {
            // A rank that exceeds a budget counts as 0, as one that is undefined.
            Err(abort) if abort != Abort::Interrupted && rule.rank == Some(RankOrder::Typed) => {
                Ok(rule.ordered_value(Value::Undefined, context.dialect))
            }
            value => value.map(|value| rule.ordered_value(value, context.dialect)),
        }
    };
    rules.into_iter().map(value).collect()
}

impl VectorComponent {
    /// Classifies a value. `None` if it cannot be ordered: undefined, an error, a list, an ad or NaN.
    fn new(value: Value, dialect: Dialect) -> Option<Self> {
        let class = match &value {
            Value::Undefined | Value::Error(_) | Value::List(_) | Value::Ad(_) => return None,
            Value::Real(real) if real.is_nan() => return None,
            Value::RelativeTime(time) if time.seconds.is_nan() => return None,
            Value::Integer(_) => Type::Real,
            Value::Boolean(_) if dialect.is_condor() => Type::Real,
            other => other.value_type(),
        };
        Some(VectorComponent { value, class })
    }
}

/// Returns the first order that is not `Equal`; `Equal` if there is no such order.
fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Compares two components. A component that cannot be ordered is the least. In the ranks of the papers' dialect, a value
/// that is not a number counts as 0 among numbers, but above 0 itself. In other vectors the order of values of different
/// classes has no meaning; [`PolicyVector::check_comparable`] reports such values.
fn compare_components(left: Option<&VectorComponent>, right: Option<&VectorComponent>) -> Ordering {
    let (Some(left), Some(right)) = (left, right) else { return left.is_some().cmp(&right.is_some()) };
    if left.class != right.class {
        let zero = VectorComponent { value: Value::Integer(0), class: Type::Real };
        let [one, other] = [left, right].map(|component| if component.class == Type::Real { component } else { &zero });
        let by_number = compare_components(Some(one), Some(other));
        return by_number.then((left.class as u8).cmp(&(right.class as u8)));
    }
    match (&left.value, &right.value) {
        (Value::String(a), Value::String(b)) => a.cmp_ignore_case(b),
        (Value::AbsoluteTime(a), Value::AbsoluteTime(b)) => a.seconds.cmp(&b.seconds),
        (Value::RelativeTime(a), Value::RelativeTime(b)) => {
            a.seconds.partial_cmp(&b.seconds).unwrap_or(Ordering::Equal)
        }
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::Real(_), _) => compare_components(Some(right), Some(left)).reverse(),
        (left, Value::Real(real)) => {
            as_integer(left).map_or(Ordering::Equal, |integer| compare_integer_with_real(integer, *real))
        }
        (left, right) => as_integer(left).cmp(&as_integer(right)),
    }
}

fn as_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        Value::Boolean(is) => Some(i64::from(*is)),
        _ => None,
    }
}

/// Compares an integer with a real exactly. The real must not be NaN. Rounding the integer to a real would not give a
/// total order.
#[allow(clippy::cast_possible_truncation)] // saturates
fn compare_integer_with_real(integer: i64, real: f64) -> Ordering {
    let below = real.floor();
    // A real beyond the range of `i128` becomes the least or the greatest `i128`, which still is beyond every `i64`.
    i128::from(integer).cmp(&(below as i128)).then(if real > below { Ordering::Less } else { Ordering::Equal })
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::{PolicyVector, compare_integer_with_real};
    use crate::ad::{Dialect, Expression, Value};
    use crate::matching::policy::PolicyRule;

    fn vector(values: &[Value]) -> PolicyVector {
        PolicyVector::new(values.to_vec(), Dialect::Classad)
    }

    #[test]
    fn integers_and_reals_compare_exactly() {
        for (integer, real, expected) in [
            (1, 1.0, Ordering::Equal),
            (1, 1.5, Ordering::Less),
            (-1, -1.5, Ordering::Greater),
            (i64::MAX, 9_223_372_036_854_775_807.0, Ordering::Less),
            (i64::MIN, -9_223_372_036_854_775_808.0, Ordering::Equal),
            (9_007_199_254_740_993, 9_007_199_254_740_992.0, Ordering::Greater),
            (0, f64::INFINITY, Ordering::Less),
            (0, f64::NEG_INFINITY, Ordering::Greater),
        ] {
            assert_eq!(compare_integer_with_real(integer, real), expected, "{integer} {real}");
        }
    }

    #[test]
    fn greatest_first_and_what_has_no_place_last() {
        let sorted = [
            vector(&[Value::Real(2.5), Value::string("B")]),
            vector(&[Value::Integer(2), Value::string("c")]),
            vector(&[Value::Integer(2), Value::string("B")]),
            vector(&[Value::Integer(2), Value::Undefined]),
            vector(&[Value::Real(f64::NAN), Value::string("z")]),
        ];
        for (left, right) in sorted.iter().zip(&sorted[1..]) {
            assert_eq!(left.cmp_greatest_first(right), Ordering::Less, "{left:?} {right:?}");
        }
        assert!(sorted[0].is_complete() && !sorted[3].is_complete());
    }

    #[test]
    fn mixed_types_are_named() {
        let rules = [0, 1].map(|_| PolicyRule::from(Expression::literal(Value::Undefined)));
        let vectors = [[Value::Integer(1), Value::Boolean(true)], [Value::Real(1.0), Value::Integer(1)]];
        let vectors = vectors.map(|values| PolicyVector::new(values.to_vec(), Dialect::Classad));
        let fault = PolicyVector::check_comparable(&vectors, "docking", &rules).unwrap_err();
        assert_eq!(fault.reason, "component 2 of `docking` is a boolean for some ads, but an integer for others");
        // In HTCondor's dialect booleans compare as numbers.
        let condor = vectors.map(|vector| {
            PolicyVector::new(
                vector.0.into_iter().flatten().map(|component| component.value).collect(),
                Dialect::Condor,
            )
        });
        assert_eq!(PolicyVector::check_comparable(&condor, "docking", &rules), Ok(()));
    }
}
