//! Expressions: immutable trees with shared nodes.
//!
//! Dropping, hashing and comparing keep an explicit stack instead of recursing, so that a chain of a million
//! operators cannot overflow the call stack.

use std::convert::Infallible;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHasher;

use super::equality::{Equivalence, all_equal};
use super::{Ad, BinaryOperator, Name, Span, UnaryOperator, Value};

/// An expression tree.  Immutable; cloning is O(1) and shares the tree.
#[derive(Clone)]
#[must_use]
pub struct Expression(Arc<ExpressionNode>);

struct ExpressionNode {
    kind: ExpressionKind,
    span: Span,
}

/// The operation at the root of an expression, with its operands.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A scalar value.
    Literal(Value),
    /// `name`: looked up in the innermost ad, then outwards.
    Attribute(Name),
    /// `.name`: looked up in the root scope.
    RootAttribute(Name),
    /// `expression.name`: looked up in the ad that `expression` evaluates to, then outwards from there.
    Select(Expression, Name),
    /// `expression[index]`
    Subscript(Expression, Expression),
    /// A prefix operator with its operand.
    Unary(UnaryOperator, Expression),
    /// An infix operator with its operands.
    Binary(BinaryOperator, Expression, Expression),
    /// `condition ? consequent : alternative`
    Conditional(Expression, Expression, Expression),
    /// `expression ?: default`: the default if the expression is undefined.
    Elvis(Expression, Expression),
    /// `(expression)`: kept in the tree so that it is printed again.
    Parentheses(Expression),
    /// `name(arguments)`
    Call(Name, Box<[Expression]>),
    /// `{ elements }`
    List(Arc<[Expression]>),
    /// `[ attributes ]`
    Ad(Ad),
}

/// The literal `undefined`, which takes the place of an expression that was moved out.
pub(super) static UNDEFINED: LazyLock<Expression> = LazyLock::new(|| Expression::literal(Value::Undefined));

impl Expression {
    /// Creates an expression that was parsed from this span.
    pub fn new(kind: ExpressionKind, span: Span) -> Self {
        Expression(Arc::new(ExpressionNode { kind, span }))
    }

    /// Creates a literal with an empty span.
    pub fn literal(value: impl Into<Value>) -> Self {
        ExpressionKind::Literal(value.into()).into()
    }

    /// Creates `name` with an empty span.
    pub fn attribute(name: impl Into<Name>) -> Self {
        ExpressionKind::Attribute(name.into()).into()
    }

    /// Creates `subject.name` with an empty span.
    pub fn select(subject: Expression, name: impl Into<Name>) -> Self {
        ExpressionKind::Select(subject, name.into()).into()
    }

    /// Creates `operator operand` with an empty span.
    pub fn unary(operator: UnaryOperator, operand: Expression) -> Self {
        ExpressionKind::Unary(operator, operand).into()
    }

    /// Creates `left operator right` with an empty span.
    pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Self {
        ExpressionKind::Binary(operator, left, right).into()
    }

    /// Creates `left && right` with an empty span.
    pub fn and(left: Expression, right: Expression) -> Self {
        Expression::binary(BinaryOperator::And, left, right)
    }

    /// Creates `name(arguments)` with an empty span.
    pub fn call(name: impl Into<Name>, arguments: impl IntoIterator<Item = Expression>) -> Self {
        ExpressionKind::Call(name.into(), arguments.into_iter().collect()).into()
    }

    /// Creates `{ elements }` with an empty span.
    pub fn list(elements: impl IntoIterator<Item = Expression>) -> Self {
        ExpressionKind::List(elements.into_iter().collect()).into()
    }

    /// Creates `[ attributes ]` with an empty span.
    pub fn ad(ad: Ad) -> Self {
        ExpressionKind::Ad(ad).into()
    }

    /// Returns the operation at the root, with its operands.
    #[must_use]
    pub fn kind(&self) -> &ExpressionKind {
        &self.0.kind
    }

    /// Returns the span in the text that the expression was parsed from; empty if it was not parsed.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Returns the expression without the parentheses around it.
    pub fn without_parentheses(&self) -> &Expression {
        let mut expression = self;
        while let ExpressionKind::Parentheses(inner) = expression.kind() {
            expression = inner;
        }
        expression
    }

    /// Returns the condition and the two branches of `c ? a : b` and of `ifThenElse(c, a, b)`, with or without parentheses;
    /// `None` for any other expression.
    #[must_use]
    pub fn conditional(&self) -> Option<[&Expression; 3]> {
        match self.without_parentheses().kind() {
            ExpressionKind::Conditional(condition, consequent, alternative) => {
                Some([condition, consequent, alternative])
            }
            ExpressionKind::Call(name, arguments) if name.is("ifThenElse") => match arguments.as_ref() {
                [condition, consequent, alternative] => Some([condition, consequent, alternative]),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value of a literal, with or without parentheses; `None` for any other expression.
    #[must_use]
    pub fn as_literal(&self) -> Option<&Value> {
        match self.without_parentheses().kind() {
            ExpressionKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// Replaces the expression by a literal.  `value` receives the value of the literal before, if nothing else refers to
    /// it; its node is then used again.
    pub(crate) fn replace_literal(&mut self, value: impl FnOnce(Option<Value>) -> Value, span: Span) {
        match Arc::get_mut(&mut self.0) {
            Some(ExpressionNode { kind: ExpressionKind::Literal(literal), span: place }) => {
                *literal = value(Some(std::mem::replace(literal, Value::Undefined)));
                *place = span;
            }
            _ => *self = Expression::new(ExpressionKind::Literal(value(None)), span),
        }
    }

    /// Whether both expressions share their root node in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Expression) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the address of the root node: equal for clones, unique among living trees.
    #[must_use]
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Iterates over the expression and all its parts. Each part comes before its own parts, of which the last comes first.
    pub fn parts(&self) -> impl Iterator<Item = &Expression> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            let part = pending.pop()?;
            part.kind().for_each_child(|child| pending.push(child));
            Some(part)
        })
    }

    /// Whether some leaf of the tree has more than `depth` nodes above it.  O(n) in the size of the tree.
    #[must_use]
    pub(crate) fn is_deeper_than(&self, depth: usize) -> bool {
        let mut pending = vec![(self, 0)];
        while let Some((expression, above)) = pending.pop() {
            if above > depth {
                return true;
            }
            expression.kind().for_each_child(|child| pending.push((child, above + 1)));
        }
        false
    }

    /// Whether the tree contains a list.  O(n) in the size of the tree.
    #[must_use]
    pub(crate) fn contains_list(&self) -> bool {
        self.parts().any(|part| matches!(part.kind(), ExpressionKind::List(_)))
    }

    /// Returns an equal tree that shares no list with this tree.  Recursive in the depth of the tree.
    pub(crate) fn with_own_lists(&self) -> Expression {
        let Ok(kind) = self.kind().map_children(|child| Ok::<_, Infallible>(child.with_own_lists()));
        kind.map_or_else(|| self.clone(), |kind| Expression::new(kind, self.span()))
    }

    /// Returns a hash that is consistent with `==`.  O(n) in the size of the tree.
    ///
    /// The hash is the sum of the hashes of all nodes, so that the order of attributes does not matter.  The hash of a
    /// node includes the path from the root to the node.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut sum = 0_u64;
        // A leaf needs no memory.
        let mut pending = Vec::new();
        let mut next = Some((self, 0));
        while let Some((expression, path)) = next {
            let mut hasher = FxHasher::default();
            hasher.write_u64(path);
            expression.kind().hash_node(&mut hasher);
            let node = mixed(hasher.finish());
            sum = sum.wrapping_add(node);
            if let ExpressionKind::Ad(ad) = expression.kind() {
                pending.extend(
                    ad.iter().map(|attribute| {
                        (attribute.expression, node ^ u64::from(attribute.name.case_insensitive_hash()))
                    }),
                );
            } else {
                let mut position = node;
                expression.kind().for_each_child(|child| {
                    position = position.wrapping_add(1);
                    pending.push((child, position));
                });
            }
            next = pending.pop();
        }
        sum
    }
}

/// Mixes the bits of a hash, so that two trees with the same nodes at different paths have different sums.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

impl From<ExpressionKind> for Expression {
    /// Creates an expression that was not parsed from a text: its span is empty.
    fn from(kind: ExpressionKind) -> Self {
        Expression::new(kind, Span::default())
    }
}

impl ExpressionKind {
    /// Whether this is a literal without child expressions.  Literal lists and ads, which only functions make, have
    /// children.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self, ExpressionKind::Literal(value) if !matches!(value, Value::List(_) | Value::Ad(_)))
    }

    /// Whether the node cannot have children, so that dropping it does not recurse.
    fn is_leaf(&self) -> bool {
        self.is_scalar() || matches!(self, ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_))
    }

    /// Whether this is a reference to an attribute: `name`, `.name` or `expression.name`.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self, ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) | ExpressionKind::Select(..))
    }

    /// Hashes this node without its children.
    fn hash_node(&self, hasher: &mut FxHasher) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            ExpressionKind::Literal(value) => {
                value.value_type().hash(hasher);
                match value {
                    Value::Boolean(is) => is.hash(hasher),
                    Value::Integer(integer) => integer.hash(hasher),
                    Value::Real(real) => real.to_bits().hash(hasher),
                    Value::String(text) => text.hash(hasher),
                    _ => {}
                }
            }
            ExpressionKind::Attribute(name) | ExpressionKind::RootAttribute(name) | ExpressionKind::Select(_, name) => {
                name.hash(hasher);
            }
            ExpressionKind::Unary(operator, _) => operator.hash(hasher),
            ExpressionKind::Binary(operator, ..) => operator.hash(hasher),
            ExpressionKind::Call(name, arguments) => (name, arguments.len()).hash(hasher),
            ExpressionKind::List(elements) => elements.len().hash(hasher),
            ExpressionKind::Ad(ad) => ad.len().hash(hasher),
            ExpressionKind::Subscript(..)
            | ExpressionKind::Conditional(..)
            | ExpressionKind::Elvis(..)
            | ExpressionKind::Parentheses(_) => {}
        }
    }
}

impl fmt::Debug for Expression {
    /// Prints only the span, because printing a deep tree recursively would overflow the call stack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({}..{})", self.0.span.start, self.0.span.end)
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        if self.0.kind.is_leaf() {
            return;
        }
        let Some(node) = Arc::get_mut(&mut self.0) else { return };
        let mut pending = Vec::new();
        node.kind.take_children(&mut pending);
        while let Some(mut expression) = pending.pop() {
            if let Some(node) = Arc::get_mut(&mut expression.0) {
                node.kind.take_children(&mut pending);
            }
        }
    }
}

impl PartialEq for Expression {
    /// Compares trees with their parentheses, ignoring the case of names, white space and positions.
    fn eq(&self, other: &Self) -> bool {
        all_equal(vec![(self, other)], Equivalence::Syntactic)
    }
}

/// Whether two lists of expressions are equal element by element.
pub(super) fn equal_lists(left: &[Expression], right: &[Expression]) -> bool {
    left.len() == right.len() && all_equal(left.iter().zip(right).collect(), Equivalence::Syntactic)
}

#[cfg(test)]
mod tests {
    use super::{Expression, Value};
    use crate::ad::{BinaryOperator, Name, UnaryOperator};

    fn chain(length: usize) -> Expression {
        let one = Expression::literal(Value::Integer(1));
        (1..length).fold(one.clone(), |left, _| Expression::binary(BinaryOperator::Add, left, one.clone()))
    }

    fn tower(height: usize) -> Expression {
        (0..height)
            .fold(Expression::literal(Value::Integer(1)), |inner, _| Expression::unary(UnaryOperator::Minus, inner))
    }

    #[test]
    fn depth_harms_neither_comparing_nor_dropping() {
        assert!(chain(300_000) == chain(300_000));
        assert!(tower(300_000) == tower(300_000));
        assert!(chain(300_000) != chain(299_999));
        assert_eq!(chain(300_000).fingerprint(), chain(300_000).fingerprint());
        assert_ne!(tower(300_000).fingerprint(), tower(299_999).fingerprint());
    }

    #[test]
    fn ads_have_no_order() {
        let ad = |names: [&str; 2], values: [i64; 2]| {
            let values = values.map(|value| Expression::literal(Value::Integer(value)));
            Expression::list([Expression::ad(names.map(Name::new).into_iter().zip(values).collect())])
        };
        let one = ad(["a", "b"], [1, 2]);
        for (other, equal) in
            [(ad(["B", "a"], [2, 1]), true), (ad(["a", "b"], [2, 1]), false), (ad(["a", "c"], [1, 2]), false)]
        {
            assert_eq!((one == other, one.fingerprint() == other.fingerprint()), (equal, equal));
        }
        let sum = |left: i64, right: i64| {
            let [left, right] = [left, right].map(|value| Expression::literal(Value::Integer(value)));
            Expression::binary(BinaryOperator::Add, left, right)
        };
        assert_ne!(sum(1, 2).fingerprint(), sum(2, 1).fingerprint());
    }

    #[test]
    fn literals_compare_by_bits() {
        let real = |r| Expression::literal(Value::Real(r));
        assert!(real(f64::NAN) == real(f64::NAN));
        assert!(real(0.0) != real(-0.0));
        assert!(real(1.0) != Expression::literal(Value::Integer(1)));
    }
}
