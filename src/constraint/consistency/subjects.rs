//! The subjects of conditions: the expressions, mostly attributes, whose values conditions compare with constants.

use crate::ad::{
    BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value, structurally_equal,
};
use crate::constraint::conjuncts::chain_operands;
use crate::constraint::{ClauseOperand, is_self_evaluating};
use crate::eval::{Context, Environment, Evaluator, find_function, find_function_in, string_list_items, tested_type};

/// An expression whose value is the same throughout one evaluation, and the constants with which it is compared.
#[derive(Debug)]
pub(super) struct ConstraintSubject<'e> {
    /// The attribute of the other side that the expression names; `None` for any other expression.
    attribute: Option<&'e Name>,
    /// The expression as written first.
    pub expression: &'e Expression,
    /// Whether the value may change within one evaluation, as that of `random()`: no other occurrence is the same subject.
    is_unsteady: bool,
    /// Whether the expression is a comparison, which is true, false, undefined or an error.
    pub is_comparison: bool,
    pub constants: Vec<Value>,
}

/// The subjects of some conditions. In the conditions, names stand for them.
pub(super) struct Subjects<'e> {
    pub all: Vec<ConstraintSubject<'e>>,
    dialect: Dialect,
    /// Whether a constant that decides its `&&` or `||` counts. Other rules report such constants; what else is wrong does not
    /// depend on them.
    counts_constants: bool,
}

/// Maximum nesting depth of an analysed condition. What is nested deeper is a subject.
const MAX_NESTING_DEPTH: usize = 100;

/// Returns the name that stands for a subject.
pub(super) fn subject_name(place: usize) -> Name {
    Name::new(&format!("s{place}"))
}

impl<'e> Subjects<'e> {
    pub(super) fn new(dialect: Dialect, counts_constants: bool) -> Self {
        Subjects { all: Vec::new(), dialect, counts_constants }
    }

    /// Returns a condition with names in place of its subjects.
    pub(super) fn condition(&mut self, condition: &'e Expression) -> Expression {
        self.truth(condition, 0)
    }

    /// Rewrites an expression that must be true or false.
    fn truth(&mut self, expression: &'e Expression, depth: usize) -> Expression {
        // A number counts as false if it is 0.
        self.rewrite(expression, &[Value::Boolean(false)], depth)
    }

    /// Rewrites an expression whose value is compared with `constants`.
    fn rewrite(&mut self, expression: &'e Expression, constants: &[Value], depth: usize) -> Expression {
        let expression = expression.without_parentheses();
        if is_constant(expression) {
            return expression.clone();
        }
        if depth > MAX_NESTING_DEPTH {
            return self.subject(expression, constants);
        }
        if expression.conditional().is_some() {
            let constants = [constants, &[Value::Boolean(false)]].concat();
            return self.rewrite_children(expression, |subjects, child| subjects.rewrite(child, &constants, depth + 1));
        }
        match expression.kind() {
            ExpressionKind::Unary(UnaryOperator::Not, _) => {
                self.rewrite_children(expression, |subjects, child| subjects.truth(child, depth + 1))
            }
            ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                let operands = chain_operands(expression, *operator).into_iter();
                let rewritten: Vec<_> = operands.map(|part| self.chain_operand(*operator, part, depth + 1)).collect();
                let joined = rewritten.into_iter().reduce(|left, right| Expression::binary(*operator, left, right));
                joined.unwrap_or_else(|| expression.clone())
            }
            ExpressionKind::Elvis(..) => {
                self.rewrite_children(expression, |subjects, child| subjects.rewrite(child, constants, depth + 1))
            }
            ExpressionKind::Binary(operator, left, right) if operator.converse().is_some() => {
                match [left, right].map(|operand| self.results(operand, depth)) {
                    [None, None] => self.subject(expression, &[]),
                    [of_left, of_right] => {
                        let [of_left, of_right] = [of_left, of_right].map(Option::unwrap_or_default);
                        let left = self.rewrite(left, &of_right, depth + 1);
                        Expression::binary(*operator, left, self.rewrite(right, &of_left, depth + 1))
                    }
                }
            }
            ExpressionKind::Call(name, arguments) => match self.items(name, arguments) {
                Some(items) => self.rewrite_children(expression, |subjects, child| {
                    let is_list = arguments.len() > 1 && child.ptr_eq(&arguments[1]);
                    if is_list { child.clone() } else { subjects.rewrite(child, &items, depth + 1) }
                }),
                None => self.subject(expression, constants),
            },
            _ => self.subject(expression, constants),
        }
    }

    fn rewrite_children(
        &mut self,
        expression: &'e Expression,
        mut rewrite: impl FnMut(&mut Self, &'e Expression) -> Expression,
    ) -> Expression {
        let mut rewritten = Vec::new();
        expression.kind().for_each_child(|child| rewritten.push(rewrite(self, child)));
        let mut rewritten = rewritten.into_iter();
        let next = |child: &Expression| Ok::<_, std::convert::Infallible>(rewritten.next().unwrap_or(child.clone()));
        let Ok(kind) = expression.kind().map_children(next);
        kind.map_or_else(|| expression.clone(), |kind| Expression::new(kind, expression.span()))
    }

    /// Rewrites an operand of `&&` or `||`.
    fn chain_operand(&mut self, operator: BinaryOperator, operand: &'e Expression, depth: usize) -> Expression {
        if !self.counts_constants && is_constant(operand) {
            let neutral = Value::Boolean(operator == BinaryOperator::And);
            if constant_value(operand, self.dialect) != Some(neutral) {
                return self.add(operand, &[], true);
            }
        }
        self.truth(operand, depth)
    }

    /// Returns the values that an expression can have besides undefined and errors. `None` if these are not a few.
    fn results(&self, expression: &Expression, depth: usize) -> Option<Vec<Value>> {
        let expression = expression.without_parentheses();
        if is_constant(expression) {
            return constant_value(expression, self.dialect).map(|value| vec![value]);
        }
        if depth > MAX_NESTING_DEPTH {
            return None;
        }
        let (first, second) = match (expression.conditional(), expression.kind()) {
            (Some([_, consequent, alternative]), _) => (consequent, alternative),
            (None, ExpressionKind::Elvis(left, right)) => (left, right),
            _ => return self.is_logical(expression).then(|| [true, false].map(Value::Boolean).to_vec()),
        };
        let mut results = self.results(first, depth + 1)?;
        results.extend(self.results(second, depth + 1)?);
        Some(results)
    }

    /// Whether the value of an expression is a boolean, unless it is undefined or an error.
    fn is_logical(&self, expression: &Expression) -> bool {
        match expression.kind() {
            ExpressionKind::Unary(operator, _) => *operator == UnaryOperator::Not,
            ExpressionKind::Binary(operator, ..) => {
                matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity | OperatorGroup::Logic)
            }
            ExpressionKind::Call(name, arguments) => self.items(name, arguments).is_some(),
            _ => false,
        }
    }

    /// Returns the constants with which a call of a type predicate or a membership function compares its first argument.
    /// `None` for other calls.
    fn items(&self, name: &Name, arguments: &[Expression]) -> Option<Vec<Value>> {
        if arguments.len() == 1 && find_function(name).and_then(tested_type).is_some() {
            return Some(Vec::new());
        }
        let (_, in_string) = MEMBERSHIP_FUNCTIONS.iter().find(|(known, _)| name.is(known))?;
        find_function_in(name, self.dialect)?;
        let [_, list] = arguments else { return None };
        match list.without_parentheses().kind() {
            ExpressionKind::Literal(Value::String(text)) if *in_string => {
                Some(string_list_items(text).into_iter().map(Value::String).collect())
            }
            ExpressionKind::List(elements) if !in_string => {
                let value = |element: &Expression| {
                    is_constant(element).then(|| constant_value(element, self.dialect)).flatten()
                };
                elements.iter().map(value).collect()
            }
            _ => None,
        }
    }

    /// Returns the name that stands for a subject.
    fn subject(&mut self, expression: &'e Expression, constants: &[Value]) -> Expression {
        self.add(expression, constants, is_nondeterministic(expression))
    }

    fn add(&mut self, expression: &'e Expression, constants: &[Value], is_unsteady: bool) -> Expression {
        let attribute = match ClauseOperand::of(expression) {
            Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name),
            _ => None,
        };
        let is_same = |known: &ConstraintSubject<'_>| match (known.attribute, attribute) {
            (None, None) => !known.is_unsteady && structurally_equal(known.expression, expression),
            (known, attribute) => known == attribute,
        };
        let known = if is_unsteady { None } else { self.all.iter().position(is_same) };
        let place = known.unwrap_or_else(|| {
            let is_comparison = matches!(expression.kind(), ExpressionKind::Binary(operator, ..)
                if operator.converse().is_some());
            let constants = Vec::new();
            self.all.push(ConstraintSubject { attribute, expression, is_unsteady, is_comparison, constants });
            self.all.len() - 1
        });
        self.all[place].constants.extend_from_slice(constants);
        Expression::attribute(subject_name(place))
    }
}

/// Maximum number of nodes of a constant. A larger expression is a subject.
const MAX_CONSTANT_NODES: usize = 16;

/// Whether an expression is made of a few scalar literals and operators.
fn is_constant(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    for _ in 0..MAX_CONSTANT_NODES {
        let Some(part) = pending.pop() else { return true };
        match part.kind() {
            ExpressionKind::Attribute(_)
            | ExpressionKind::RootAttribute(_)
            | ExpressionKind::Select(..)
            | ExpressionKind::Call(..)
            | ExpressionKind::List(_)
            | ExpressionKind::Ad(_) => return false,
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    pending.is_empty()
}

/// Returns the value of an expression for which [`is_constant`] holds. `None` if its evaluation exceeds a budget, and for an
/// integer that the dialect does not have.
fn constant_value(expression: &Expression, dialect: Dialect) -> Option<Value> {
    match expression.as_literal() {
        Some(value) if is_self_evaluating(value, dialect) => Some(value.clone()),
        Some(Value::Integer(_)) => None,
        _ => {
            let (environment, frame) = Environment::empty();
            Evaluator::new(&environment, &Context::new(dialect)).evaluate(expression, &frame).ok()
        }
    }
}

fn is_nondeterministic(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression.kind(), ExpressionKind::Call(name, _) if name.is("random") || name.is("eval")) {
            return true;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    false
}

/// Membership functions, and whether their list is a string.
const MEMBERSHIP_FUNCTIONS: [(&str, bool); 5] = [
    ("member", false),
    ("isMember", false),
    ("identicalMember", false),
    ("stringListMember", true),
    ("stringListIMember", true),
];
