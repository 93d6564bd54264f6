//! An interner of expressions: gives equal expressions the same number.

use rustc_hash::FxHashMap;

use super::Expression;

/// Interns expressions: numbers them from 0, equal ones with the same number.
#[derive(Clone, Debug, Default)]
pub struct ExpressionInterner {
    by_identity: FxHashMap<usize, usize>,
    /// Maps the address of an expression's first child to the number of the expression, as a fast path.  Expressions
    /// parsed from the same cached text share their children: if the first child is known, the whole expression is
    /// probably known.
    by_child: FxHashMap<usize, usize>,
    by_fingerprint: FxHashMap<u64, Vec<usize>>,
    expressions: Vec<Expression>,
}

impl ExpressionInterner {
    /// Returns the number of an expression and whether the number is new.  O(1) for a clone of the first expression
    /// with that number, else O(n) in the size of the tree.
    pub fn intern(&mut self, expression: &Expression) -> (usize, bool) {
        if let Some(number) = self.by_identity.get(&expression.identity()) {
            return (*number, false);
        }
        let mut child = None;
        expression.kind().for_each_child(|below| {
            child.get_or_insert(below.identity());
        });
        let same_child = child.and_then(|child| self.by_child.get(&child));
        if let Some(number) = same_child.filter(|number| self.expressions[**number] == *expression) {
            return (*number, false);
        }
        let candidates = self.by_fingerprint.entry(expression.fingerprint()).or_default();
        let known = candidates.iter().copied().find(|number| self.expressions[*number] == *expression);
        let number = known.unwrap_or(self.expressions.len());
        if known.is_none() {
            candidates.push(number);
            self.expressions.push(expression.clone());
            // Only addresses of expressions kept in `expressions` are recorded: the address of a dropped expression may
            // be reused.
            self.by_identity.insert(expression.identity(), number);
            self.by_child.extend(child.map(|child| (child, number)));
        }
        (number, known.is_none())
    }

    /// Returns the first expression interned with a number; `None` if no expression has the number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&Expression> {
        self.expressions.get(number)
    }
}

#[cfg(test)]
mod tests {
    use super::ExpressionInterner;
    use crate::ad::{BinaryOperator, Expression, ExpressionKind, Value};

    #[test]
    fn what_is_written_alike_has_one_number() {
        let name = |text: &str| Expression::attribute(text);
        let literal = |value| Expression::literal(value);
        let less = |text, value| Expression::binary(BinaryOperator::Less, name(text), literal(value));
        let mut distinct = ExpressionInterner::default();
        for (expression, expected) in [
            (less("a", Value::Integer(1)), (0, true)),
            (less("A", Value::Integer(1)), (0, false)),
            (less("a", Value::Real(1.0)), (1, true)),
            (less("b", Value::Integer(1)), (2, true)),
            (name("a"), (3, true)),
            (literal(Value::Real(0.0)), (4, true)),
            (literal(Value::Real(-0.0)), (5, true)),
            (less("b", Value::Integer(1)), (2, false)),
        ] {
            // Each expression is dropped at the end of its iteration, so that a later expression may get its address.
            assert_eq!(distinct.intern(&expression), expected, "{expression:?}");
        }
        let ExpressionKind::Binary(_, below, one) = distinct.expressions[0].kind() else {
            panic!("it is a comparison")
        };
        let [below, one] = [below.clone(), one.clone()];
        let with_those = |operator| Expression::binary(operator, below.clone(), one.clone());
        assert_eq!(distinct.intern(&with_those(BinaryOperator::Less)), (0, false));
        assert_eq!(distinct.intern(&with_those(BinaryOperator::Greater)), (6, true));
        assert_eq!(distinct.intern(&with_those(BinaryOperator::Less)), (0, false));
        let kept = less("c", Value::Integer(1));
        assert_eq!([distinct.intern(&kept), distinct.intern(&kept)], [(7, true), (7, false)]);
        assert!(distinct.get(7).is_some_and(|first| first.ptr_eq(&kept)) && distinct.get(8).is_none());
    }
}
