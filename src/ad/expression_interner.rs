//! Expressions that are written alike, each with one number.

use rustc_hash::FxHashMap;

use super::Expression;

/// Numbers expressions: the first is 0, and those that are written alike have one number.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    by_identity: FxHashMap<usize, usize>,
    /// By the identity of the first expression below: texts that were read once make trees that have all below in
    /// common.
    by_child: FxHashMap<usize, usize>,
    by_fingerprint: FxHashMap<u64, Vec<usize>>,
    kept: Vec<Expression>,
}

impl Distinct {
    /// The number of an expression, and whether it is new.
    pub fn number(&mut self, expression: &Expression) -> (usize, bool) {
        if let Some(number) = self.by_identity.get(&expression.identity()) {
            return (*number, false);
        }
        let mut child = None;
        expression.kind().for_each_child(|below| {
            child.get_or_insert(below.identity());
        });
        let twin = child.and_then(|child| self.by_child.get(&child));
        if let Some(number) = twin.filter(|number| self.kept[**number] == *expression) {
            return (*number, false);
        }
        let alike = self.by_fingerprint.entry(expression.fingerprint()).or_default();
        let known = alike.iter().copied().find(|number| self.kept[*number] == *expression);
        let number = known.unwrap_or(self.kept.len());
        if known.is_none() {
            alike.push(number);
            self.kept.push(expression.clone());
            // Only what is kept is sure to keep its address.
            self.by_identity.insert(expression.identity(), number);
            self.by_child.extend(child.map(|child| (child, number)));
        }
        (number, known.is_none())
    }

    /// The first expression that got a number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&Expression> {
        self.kept.get(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Distinct;
    use crate::ad::{BinaryOperator, Expression, Kind, Name, Span, Value};

    #[test]
    fn what_is_written_alike_has_one_number() {
        let name = |text: &str| Expression::new(Kind::Attribute(Name::new(text)), Span::default());
        let literal = |value| Expression::literal(value);
        let less = |text, value| {
            Expression::new(Kind::Binary(BinaryOperator::Less, name(text), literal(value)), Span::default())
        };
        let mut distinct = Distinct::default();
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
            // What was dropped since may leave its address to another.
            assert_eq!(distinct.number(&expression), expected, "{expression:?}");
        }
        let Kind::Binary(_, below, one) = distinct.kept[0].kind() else { panic!("it is a comparison") };
        let [below, one] = [below.clone(), one.clone()];
        let with_those =
            |operator| Expression::new(Kind::Binary(operator, below.clone(), one.clone()), Span::default());
        assert_eq!(distinct.number(&with_those(BinaryOperator::Less)), (0, false));
        assert_eq!(distinct.number(&with_those(BinaryOperator::Greater)), (6, true));
        assert_eq!(distinct.number(&with_those(BinaryOperator::Less)), (0, false));
        let kept = less("c", Value::Integer(1));
        assert_eq!([distinct.number(&kept), distinct.number(&kept)], [(7, true), (7, false)]);
        assert!(distinct.get(7).is_some_and(|first| first.same(&kept)) && distinct.get(8).is_none());
    }
}
