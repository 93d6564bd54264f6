//! The specializer: a recursive walk that takes known values from the evaluator and rebuilds the residue around them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Expression, Frame, Kind, Name, Value};
use crate::eval::operators::{self, Truth};
use crate::eval::scope::{Environment, Resolution};
use crate::eval::{Context, Evaluator, Halt, builtin};

use super::partial_result::{Part, Step};
use super::type_set;
use super::type_set::Shapes;
use super::{Liberties, Specialized, Verdict, sum_folding};

/// Maximum number of attribute references that are replaced within one expression; more would make it longer, not
/// simpler.
const MOST_INLINED: usize = 1000;

/// State of one specialization.
pub struct Walk<'e> {
    evaluator: Evaluator<'e>,
    environment: &'e Environment,
    context: &'e Context,
    liberties: Liberties,
    /// Memo of attributes by the identities of their expression and ad; `None` for one that depends on a circular
    /// reference.
    attributes: FxHashMap<(usize, usize), Option<Part>>,
    depth: u32,
}

impl<'e> Walk<'e> {
    pub fn new(environment: &'e Environment, context: &'e Context, liberties: Liberties) -> Self {
        let evaluator = Evaluator::new(environment, context);
        Walk { evaluator, environment, context, liberties, attributes: FxHashMap::default(), depth: 0 }
    }

    pub fn finish(&self, part: Part) -> Specialized {
        let dialect = self.context.dialect;
        let is_true = |value: &Value| operators::truth(value, dialect) == Truth::True;
        let verdict = match &part.value {
            Some(value) if is_true(value) => Verdict::Always,
            None if part.shapes.may_be_true(dialect) => Verdict::Depends,
            _ => Verdict::Never,
        };
        Specialized { expression: part.expression, value: part.value, verdict }
    }

    /// Specializes an expression; one that is nested too deep stays unchanged.
    pub fn part(&mut self, expression: &Expression, frame: &Arc<Frame>) -> Part {
        if self.depth >= self.context.deepest {
            return Part::unknown(expression);
        }
        self.depth += 1;
        let part = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.descend(expression, frame));
        self.depth -= 1;
        part
    }

    fn descend(&mut self, expression: &Expression, frame: &Arc<Frame>) -> Part {
        match expression.kind() {
            Kind::Literal(_) | Kind::List(_) | Kind::Ad(_) => self.evaluated(expression, frame),
            Kind::Attribute(name) | Kind::RootAttribute(name) => {
                let found = match expression.kind() {
                    Kind::RootAttribute(_) => self.environment.resolve_root(frame, name, self.context),
                    _ => self.environment.resolve(frame, name, self.context),
                };
                let unknown = Part::unknown(expression);
                if let Some(part) = self.led_to(expression, &unknown, &found, frame) {
                    return part;
                }
                let part = self.evaluated(expression, frame);
                self.assumed(part, &found)
            }
            Kind::Select(..) => self.selection(expression, frame),
            Kind::Parentheses(inner) => {
                let inside = self.part(inner, frame);
                if let Some(value) = inside.value {
                    return Part::known(expression, value);
                }
                self.rebuilt(expression, inside.shapes, &[(inner, &inside)], |parts| {
                    Kind::Parentheses(parts[0].clone())
                })
            }
            Kind::Unary(operator, operand) => {
                let part = self.part(operand, frame);
                if let Some(value) = part.value {
                    return Part::known(
                        expression,
                        operators::unary(*operator, value, self.context.dialect, expression.span()),
                    );
                }
                let shapes = Shapes::unary(*operator, part.shapes, self.context.dialect);
                self.rebuilt(expression, shapes, &[(operand, &part)], |parts| Kind::Unary(*operator, parts[0].clone()))
            }
            Kind::Binary(..) => self.chain(expression, frame),
            Kind::Conditional(condition, consequent, alternative) => {
                self.conditional(expression, [condition, consequent, alternative], frame)
            }
            Kind::Elvis(left, right) => {
                let part = self.part(left, frame);
                match &part.value {
                    Some(Value::Undefined) => return self.part(right, frame),
                    Some(_) => return part,
                    None if !part.shapes.meets(Shapes::UNDEFINED) => return part,
                    None => {}
                }
                let default = self.part(right, frame);
                let shapes = part.shapes.without(Shapes::UNDEFINED).or(default.shapes);
                self.rebuilt(expression, shapes, &[(left, &part), (right, &default)], |parts| {
                    Kind::Elvis(parts[0].clone(), parts[1].clone())
                })
            }
            Kind::Subscript(inner, index) => self.subscript(expression, inner, index, frame),
            Kind::Call(name, arguments) => self.call(expression, name, arguments, frame),
        }
    }

    /// Evaluates an expression; its value stays unknown if that needs something unknown or exceeds a budget.
    fn evaluated(&mut self, expression: &Expression, frame: &Arc<Frame>) -> Part {
        match self.evaluator.evaluate(expression, frame) {
            Ok(value) => Part::known(expression, value),
            Err(_) => Part::unknown(expression),
        }
    }

    /// Returns the result for an expression of unknown value: the original if no operand changed, else a copy with
    /// the specialized operands.
    fn rebuilt<const N: usize>(
        &self,
        original: &Expression,
        shapes: Shapes,
        parts: &[(&Expression, &Part); N],
        kind: impl FnOnce([&Expression; N]) -> Kind,
    ) -> Part {
        let shapes = if self.liberties.loose { shapes.without(Shapes::ERROR) } else { shapes };
        if let Some(value) = shapes.only_value() {
            return Part::known(original, value);
        }
        let same = parts.iter().all(|(original, part)| original.same(&part.expression));
        let expression = if same {
            original.clone()
        } else {
            Expression::new(kind(parts.map(|(_, part)| &part.expression)), original.span())
        };
        Part { expression, value: None, shapes, inlined: parts.iter().map(|(_, part)| part.inlined).sum() }
    }

    /// Returns the result for a reference from the expression that it resolves to. `None` if it resolves to no
    /// expression or depends on a circular reference.
    fn led_to(
        &mut self,
        original: &Expression,
        unknown: &Part,
        found: &Resolution,
        frame: &Arc<Frame>,
    ) -> Option<Part> {
        let Resolution::Expression(bound, scope) = found else { return None };
        let inside = self.attribute(bound, scope)?;
        if let Some(value) = inside.value {
            return Some(Part::known(original, value));
        }
        // The specialized expression may be inlined only if its names resolve to the same attributes here.
        if self.liberties.inline && inside.inlined < MOST_INLINED && same_place(scope, frame) {
            return Some(Part { inlined: inside.inlined + 1, ..inside });
        }
        // It is undefined if an unknown refers back to it.
        Some(Part { shapes: inside.shapes.or(Shapes::UNDEFINED), ..unknown.clone() })
    }

    /// Removes error from the possible types of an unknown reference if the options assume that no unknown is an
    /// error.
    fn assumed(&self, part: Part, found: &Resolution) -> Part {
        let free = part.value.is_none() && !matches!(found, Resolution::Expression(..));
        let shapes = if free && self.liberties.loose { part.shapes.without(Shapes::ERROR) } else { part.shapes };
        Part { shapes, ..part }
    }

    /// Specializes the expression of an attribute, with a memo. `None` if it depends on a circular reference: its
    /// value then depends on the attribute from which it is reached.
    pub fn attribute(&mut self, bound: &Expression, scope: &Arc<Frame>) -> Option<Part> {
        let key = (bound.identity(), scope.ad.identity());
        if let Some(part) = self.attributes.get(&key) {
            return part.clone();
        }
        let circles = self.evaluator.circles();
        let part = self.bound(bound, scope).filter(|_| self.evaluator.circles() == circles);
        self.attributes.insert(key, part.clone());
        part
    }

    /// Specializes the expression of an attribute, without the memo. `None` if it is being specialized already.
    pub fn bound(&mut self, bound: &Expression, scope: &Arc<Frame>) -> Option<Part> {
        if !self.evaluator.begin(bound, scope) {
            return None;
        }
        let part = self.part(bound, scope);
        self.evaluator.end();
        Some(part)
    }

    /// Specializes a selection such as `ad.name.name`.
    fn selection(&mut self, expression: &Expression, frame: &Arc<Frame>) -> Part {
        // The chain may be long, so it is walked in a loop from its base.
        let mut links = Vec::new();
        let mut base = expression;
        while let Kind::Select(inner, name) = base.kind() {
            links.push((base, name));
            base = inner;
        }
        let mut part = self.part(base, frame);
        let mut original = base;
        while let Some((link, name)) = links.pop() {
            let rest = |parts: [&Expression; 1]| Kind::Select(parts[0].clone(), name.clone());
            let unknown = self.rebuilt(link, Shapes::ANY, &[(original, &part)], rest);
            let found = match &part.value {
                Some(Value::Ad(ad)) => self.environment.resolve_in(&ad.frame, name, self.context),
                _ => Resolution::Missing,
            };
            part = match (self.led_to(link, &unknown, &found, frame), &part.value) {
                (Some(part), _) => part,
                (None, Some(value)) => match self.evaluator.select(value, name, link.span(), frame) {
                    Ok(value) => Part::known(link, value),
                    Err(_) => self.assumed(unknown, &found),
                },
                (None, None) => unknown,
            };
            original = link;
        }
        part
    }

    fn subscript(
        &mut self,
        expression: &Expression,
        inner: &Expression,
        index: &Expression,
        frame: &Arc<Frame>,
    ) -> Part {
        let parts = [self.part(inner, frame), self.part(index, frame)];
        match [&parts[0].value, &parts[1].value] {
            [Some(value), Some(position)] => {
                if let Ok(value) = self.evaluator.subscript(value, position, expression.span()) {
                    return Part::known(expression, value);
                }
                if let (Kind::List(elements), Value::Integer(position)) = (inner.bare().kind(), position)
                    && let Some(element) = usize::try_from(*position).ok().and_then(|position| elements.get(position))
                {
                    return self.part(element, frame);
                }
            }
            [Some(error @ Value::Error(_)), None] | [None, Some(error @ Value::Error(_))] => {
                return Part::known(expression, error.clone());
            }
            _ => {}
        }
        self.rebuilt(expression, Shapes::ANY, &[(inner, &parts[0]), (index, &parts[1])], |parts| {
            Kind::Subscript(parts[0].clone(), parts[1].clone())
        })
    }

    fn conditional(&mut self, expression: &Expression, parts: [&Expression; 3], frame: &Arc<Frame>) -> Part {
        let [condition, consequent, alternative] = parts;
        let decided = self.part(condition, frame);
        if let Some(value) = &decided.value {
            return match operators::truth(value, self.context.dialect) {
                Truth::True => self.part(consequent, frame),
                Truth::False => self.part(alternative, frame),
                Truth::Undefined => Part::known(expression, Value::Undefined),
                Truth::Error => Part::known(expression, value.clone()),
                Truth::Other => self.evaluated(expression, frame),
            };
        }
        let then = self.part(consequent, frame);
        let otherwise = self.part(alternative, frame);
        let shapes = Shapes::conditional(decided.shapes, then.shapes, otherwise.shapes, self.context.dialect);
        let parts = [(condition, &decided), (consequent, &then), (alternative, &otherwise)];
        self.rebuilt(expression, shapes, &parts, |parts| {
            Kind::Conditional(parts[0].clone(), parts[1].clone(), parts[2].clone())
        })
    }

    /// Specializes a chain of binary operators. It leans to the left and may have a million operators, so its left
    /// spine is walked in a loop.
    fn chain(&mut self, expression: &Expression, frame: &Arc<Frame>) -> Part {
        let mut spine = Vec::new();
        let mut first = expression;
        while let Kind::Binary(operator, left, right) = first.kind() {
            spine.push((first, *operator, left, right));
            first = left;
        }
        let mut part = self.part(first, frame);
        let steps = spine.into_iter().rev();
        let mut steps: Vec<Step> = steps
            .map(|(node, operator, left, right)| Step { node, operator, left, right, part: self.part(right, frame) })
            .collect();
        if self.liberties.loose {
            (part, steps) = sum_folding::added_up(part, steps, self.context.dialect);
        }
        for Step { node, operator, left, right, part: other } in steps {
            part = self.combined(node, operator, (left, part), (right, other));
        }
        part
    }

    /// Combines the specialized operands of one operator.
    fn combined(
        &self,
        node: &Expression,
        operator: BinaryOperator,
        (left, left_part): (&Expression, Part),
        (right, right_part): (&Expression, Part),
    ) -> Part {
        let dialect = self.context.dialect;
        let span = node.span();
        if let (Some(left), Some(right)) = (&left_part.value, &right_part.value) {
            return Part::known(node, type_set::apply(operator, left, right, dialect, span));
        }
        if let BinaryOperator::And | BinaryOperator::Or = operator {
            let neutral = if operator == BinaryOperator::And { Truth::True } else { Truth::False };
            let is_neutral =
                |part: &Part| part.value.as_ref().is_some_and(|value| operators::truth(value, dialect) == neutral);
            if let Some(value) = &left_part.value
                && let Some(value) =
                    operators::decided_by_left(operator, operators::truth(value, dialect), value, dialect, span)
            {
                return Part::known(node, value);
            }
            if is_neutral(&left_part) && right_part.shapes.within(Shapes::LOGICAL) {
                return right_part;
            }
            if is_neutral(&right_part) && left_part.shapes.within(Shapes::LOGICAL) {
                return left_part;
            }
        }
        let shapes = Shapes::binary(operator, left_part.shapes, right_part.shapes, dialect);
        self.rebuilt(node, shapes, &[(left, &left_part), (right, &right_part)], |parts| {
            Kind::Binary(operator, parts[0].clone(), parts[1].clone())
        })
    }

    fn call(&mut self, expression: &Expression, name: &Name, arguments: &[Expression], frame: &Arc<Frame>) -> Part {
        let as_written = builtin::reads_text(name);
        let parts: Vec<Part> = arguments.iter().map(|argument| self.part(argument, frame)).collect();
        let values = parts.iter().map(|part| part.value.clone().ok_or(Halt::Unknown)).collect();
        let known = if as_written {
            self.evaluator.evaluate(expression, frame)
        } else {
            self.evaluator.call_with(name, arguments, values, expression.span(), frame)
        };
        if let Ok(value) = known {
            return Part::known(expression, value);
        }
        if let (true, [condition, consequent, alternative]) = (name.is("ifThenElse"), parts.as_slice())
            && let Some(value) = &condition.value
        {
            match operators::truth(value, self.context.dialect) {
                Truth::True => return consequent.clone(),
                Truth::False => return alternative.clone(),
                _ => {}
            }
        }
        let shapes = builtin::find_function(name.as_str()).map_or(Shapes::ANY, builtin::Function::results);
        let shapes = if self.liberties.loose { shapes.without(Shapes::ERROR) } else { shapes };
        let same = arguments.iter().zip(&parts).all(|(original, part)| original.same(&part.expression));
        let inlined = parts.iter().map(|part| part.inlined).sum();
        let expression = if same || as_written {
            expression.clone()
        } else {
            let arguments = parts.into_iter().map(|part| part.expression).collect();
            Expression::new(Kind::Call(name.clone(), arguments), expression.span())
        };
        Part { expression, value: None, shapes, inlined }
    }
}

/// Whether every name resolves to the same attribute in both scopes.
fn same_place(left: &Arc<Frame>, right: &Arc<Frame>) -> bool {
    let roots = left.enclosing.is_none() && right.enclosing.is_none();
    let same_ad = left.participant == right.participant && left.ad.identity() == right.ad.identity();
    Arc::ptr_eq(left, right) || (roots && same_ad)
}
