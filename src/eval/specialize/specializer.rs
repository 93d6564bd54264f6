//! The specializer: a recursive walk. It takes known values from the evaluator and rebuilds the expressions that stay
//! unknown.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Expression, ExpressionKind, Name, ScopeFrame, Truth, Value};
use crate::eval::builtin::{self, Call, call_by_name};
use crate::eval::operators;
use crate::eval::scope::{Environment, NameResolution};
use crate::eval::{Abort, Context, Evaluator};

use super::chain_folding::fold_chain;
use super::chained_operator::ChainedOperator;
use super::partial_result::PartialResult;
use super::type_set::TypeSet;
use super::{ConstraintVerdict, SpecializeOptions, SpecializedExpression};

/// Maximum number of attribute references that are replaced within one expression. More would make the expression
/// longer, not simpler.
const MAX_INLINED_ATTRIBUTES: usize = 1000;

/// Specializer of expressions in one environment. It remembers the results for attributes. Its step budget is for all
/// calls together.
pub struct Specializer<'e> {
    evaluator: Evaluator<'e>,
    environment: &'e Environment,
    context: &'e Context,
    options: SpecializeOptions,
    /// Results for attributes, by the identities of their expression and ad. `None` for an attribute that depends on a
    /// circular reference.
    attributes: FxHashMap<(usize, usize), Option<PartialResult>>,
    depth: u32,
    /// Number of expressions specialized.
    visits: u64,
}

/// Number of visits to expressions that do not count for the run.
const FREE_VISITS: u64 = 4096;

impl Drop for Specializer<'_> {
    fn drop(&mut self) {
        self.context.count_steps(self.visits.saturating_sub(FREE_VISITS));
    }
}

impl<'e> Specializer<'e> {
    pub fn new(environment: &'e Environment, context: &'e Context, options: SpecializeOptions) -> Self {
        let evaluator = Evaluator::new(environment, context);
        Specializer { evaluator, environment, context, options, attributes: FxHashMap::default(), depth: 0, visits: 0 }
    }

    pub fn finish(&self, part: PartialResult) -> SpecializedExpression {
        let dialect = self.context.dialect;
        let is_true = |value: &Value| Truth::of(value, dialect) == Truth::True;
        let verdict = match &part.value {
            Some(value) if is_true(value) => ConstraintVerdict::Always,
            None if part.types.may_be_true(dialect) => ConstraintVerdict::Depends,
            _ => ConstraintVerdict::Never,
        };
        SpecializedExpression { expression: part.expression, value: part.value, verdict }
    }

    /// Specializes an expression. It stays unchanged if it is nested deeper than [`Context::max_depth`].
    pub fn specialize(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> PartialResult {
        if self.depth >= self.context.max_depth {
            return PartialResult::unknown(expression);
        }
        self.depth += 1;
        self.visits += 1;
        let part = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.descend(expression, frame));
        self.depth -= 1;
        // A long value is written wherever its attribute is used. Beyond the budget of values the name stays.
        match &part.value {
            Some(value) if expression.kind().is_reference() && self.evaluator.spending.add_value(value).is_err() => {
                PartialResult::unknown(expression)
            }
            _ => part,
        }
    }

    fn descend(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> PartialResult {
        match expression.kind() {
            ExpressionKind::Literal(_) | ExpressionKind::List(_) | ExpressionKind::Ad(_) => {
                self.evaluate(expression, frame)
            }
            ExpressionKind::Attribute(name) | ExpressionKind::RootAttribute(name) => {
                let found = match expression.kind() {
                    ExpressionKind::RootAttribute(_) => self.environment.resolve_root(frame, name, self.context),
                    _ => self.environment.resolve(frame, name, self.context),
                };
                let unknown = PartialResult::unknown(expression);
                if let Some(part) = self.resolved_reference(expression, &unknown, &found, frame) {
                    return part;
                }
                let part = self.evaluate(expression, frame);
                self.assume_no_error(part, &found)
            }
            ExpressionKind::Select(..) => self.selection(expression, frame),
            ExpressionKind::Parentheses(inner) => {
                let inside = self.specialize(inner, frame);
                if let Some(value) = inside.value {
                    return PartialResult::known(expression, value);
                }
                PartialResult::rebuilt(expression, inside.types, std::slice::from_ref(&inside), self.options, || {
                    ExpressionKind::Parentheses(inside.expression.clone())
                })
            }
            ExpressionKind::Unary(operator, operand) => {
                let part = self.specialize(operand, frame);
                if let Some(value) = part.value {
                    let value = operators::unary(*operator, value, self.context.dialect, expression.span());
                    return PartialResult::known(expression, value);
                }
                let types = TypeSet::unary(*operator, part.types, self.context.dialect);
                PartialResult::rebuilt(expression, types, std::slice::from_ref(&part), self.options, || {
                    ExpressionKind::Unary(*operator, part.expression.clone())
                })
            }
            ExpressionKind::Binary(..) => self.chain(expression, frame),
            ExpressionKind::Conditional(condition, consequent, alternative) => {
                self.conditional(expression, [condition, consequent, alternative], frame)
            }
            ExpressionKind::Elvis(left, right) => {
                let part = self.specialize(left, frame);
                match &part.value {
                    Some(Value::Undefined) => return self.specialize(right, frame),
                    Some(_) => return part,
                    None if !part.types.intersects(TypeSet::UNDEFINED) => return part,
                    None => {}
                }
                let parts = [part, self.specialize(right, frame)];
                let types = parts[0].types.without(TypeSet::UNDEFINED).union(parts[1].types);
                PartialResult::rebuilt(expression, types, &parts, self.options, || {
                    ExpressionKind::Elvis(parts[0].expression.clone(), parts[1].expression.clone())
                })
            }
            ExpressionKind::Subscript(inner, index) => self.subscript(expression, inner, index, frame),
            ExpressionKind::Call(name, arguments) => self.call(expression, name, arguments, frame),
        }
    }

    /// Evaluates an expression. Its value is unknown if the evaluation needs something unknown or exceeds a budget.
    fn evaluate(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> PartialResult {
        match self.evaluator.evaluate(expression, frame) {
            Ok(value) => PartialResult::known(expression, value),
            Err(_) => PartialResult::unknown(expression),
        }
    }

    /// Returns the result for a reference that resolves to the expression of an attribute. `None` if it resolves to
    /// something else or depends on a circular reference.
    fn resolved_reference(
        &mut self,
        original: &Expression,
        unknown: &PartialResult,
        found: &NameResolution,
        frame: &Arc<ScopeFrame>,
    ) -> Option<PartialResult> {
        let NameResolution::Expression(bound, scope) = found else { return None };
        let inside = self.specialize_attribute(bound, scope)?;
        if let Some(value) = inside.value {
            return Some(PartialResult::known(original, value));
        }
        // The specialized expression may replace the reference only if the names in the expression resolve to the same
        // attributes in `frame`.
        if self.options.inline && inside.inlined < MAX_INLINED_ATTRIBUTES && is_same_scope(scope, frame) {
            return Some(PartialResult { inlined: inside.inlined + 1, ..inside });
        }
        // An unknown may refer back to the attribute, which is then undefined. So undefined is among the possible
        // types.
        Some(PartialResult { types: inside.types.union(TypeSet::UNDEFINED), ..unknown.clone() })
    }

    /// Drops `error` from the types of an unknown reference under `loose`, which assumes that unknown attributes are never
    /// errors.
    fn assume_no_error(&self, part: PartialResult, found: &NameResolution) -> PartialResult {
        let is_free = part.value.is_none() && !matches!(found, NameResolution::Expression(..));
        let types = if is_free && self.options.loose { part.types.without(TypeSet::ERROR) } else { part.types };
        PartialResult { types, ..part }
    }

    /// Specializes the expression of an attribute and remembers the result. Returns `None` if the attribute depends on
    /// a circular reference, since its value then depends on where the evaluation begins.
    pub fn specialize_attribute(&mut self, bound: &Expression, scope: &Arc<ScopeFrame>) -> Option<PartialResult> {
        let key = (bound.identity(), scope.ad.identity());
        if let Some(part) = self.attributes.get(&key) {
            return part.clone();
        }
        let before = self.evaluator.active.circular_references;
        let part = self.specialize_bound(bound, scope).filter(|_| self.evaluator.active.circular_references == before);
        self.attributes.insert(key, part.clone());
        part
    }

    /// Specializes the expression of an attribute without remembering the result. Returns `None` if the attribute is
    /// being specialized already, which means a circular reference.
    pub fn specialize_bound(&mut self, bound: &Expression, scope: &Arc<ScopeFrame>) -> Option<PartialResult> {
        if !self.evaluator.active.begin(bound.identity(), scope) {
            return None;
        }
        let part = self.specialize(bound, scope);
        self.evaluator.active.end();
        Some(part)
    }

    /// Specializes a selection such as `ad.name.name`.
    fn selection(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> PartialResult {
        // A selection may have many names, so a loop walks it, beginning at its base `ad`.
        let mut selections = Vec::new();
        let mut base = expression;
        while let ExpressionKind::Select(inner, name) = base.kind() {
            selections.push((base, name));
            base = inner;
        }
        let mut part = self.specialize(base, frame);
        while let Some((selection, name)) = selections.pop() {
            let unknown =
                PartialResult::rebuilt(selection, TypeSet::ANY, std::slice::from_ref(&part), self.options, || {
                    ExpressionKind::Select(part.expression.clone(), name.clone())
                });
            let found = match &part.value {
                Some(Value::Ad(ad)) => self.environment.resolve_selected(&ad.frame, name, self.context),
                _ => NameResolution::Missing,
            };
            part = match (self.resolved_reference(selection, &unknown, &found, frame), &part.value) {
                (Some(part), _) => part,
                (None, Some(value)) => match self.evaluator.select(value, name, selection.span(), frame) {
                    Ok(value) => PartialResult::known(selection, value),
                    Err(_) => self.assume_no_error(unknown, &found),
                },
                (None, None) => unknown,
            };
        }
        part
    }

    fn subscript(
        &mut self,
        expression: &Expression,
        inner: &Expression,
        index: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> PartialResult {
        let parts = [self.specialize(inner, frame), self.specialize(index, frame)];
        match [&parts[0].value, &parts[1].value] {
            [Some(value), Some(position)] => {
                if let Ok(value) = self.evaluator.subscript(value, position, expression.span()) {
                    return PartialResult::known(expression, value);
                }
                if let (ExpressionKind::List(elements), Value::Integer(position)) =
                    (inner.without_parentheses().kind(), position)
                    && let Some(element) = usize::try_from(*position).ok().and_then(|position| elements.get(position))
                {
                    return self.specialize(element, frame);
                }
            }
            [Some(error @ Value::Error(_)), None] | [None, Some(error @ Value::Error(_))] => {
                return PartialResult::known(expression, error.clone());
            }
            _ => {}
        }
        PartialResult::rebuilt(expression, TypeSet::ANY, &parts, self.options, || {
            ExpressionKind::Subscript(parts[0].expression.clone(), parts[1].expression.clone())
        })
    }

    fn conditional(
        &mut self,
        expression: &Expression,
        parts: [&Expression; 3],
        frame: &Arc<ScopeFrame>,
    ) -> PartialResult {
        let [condition, consequent, alternative] = parts;
        let decided = self.specialize(condition, frame);
        if let Some(value) = &decided.value {
            return match Truth::of(value, self.context.dialect) {
                Truth::True => self.specialize(consequent, frame),
                Truth::False => self.specialize(alternative, frame),
                Truth::Undefined => PartialResult::known(expression, Value::Undefined),
                Truth::Error if value.is_exceptional() => PartialResult::known(expression, value.clone()),
                Truth::Error => self.evaluate(expression, frame),
            };
        }
        let parts = [decided, self.specialize(consequent, frame), self.specialize(alternative, frame)];
        let types = TypeSet::conditional(parts[0].types, parts[1].types, parts[2].types, self.context.dialect);
        PartialResult::rebuilt(expression, types, &parts, self.options, || {
            let [condition, consequent, alternative] = parts.each_ref().map(|part| part.expression.clone());
            ExpressionKind::Conditional(condition, consequent, alternative)
        })
    }

    /// Specializes a chain of binary operators. A chain leans to the left and may have a million operators, so its left
    /// spine is walked in a loop.
    fn chain(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> PartialResult {
        let mut spine = Vec::new();
        let mut first = expression;
        while let ExpressionKind::Binary(operator, left, right) = first.kind() {
            spine.push((first, *operator, right));
            first = left;
        }
        let mut part = self.specialize(first, frame);
        let mut steps: Vec<_> = spine
            .into_iter()
            .rev()
            .map(|(node, operator, right)| ChainedOperator { node, operator, operand: self.specialize(right, frame) })
            .collect();
        if self.options.loose {
            fold_chain(&mut part, &mut steps, self.context.dialect);
        }
        for step in steps {
            part = step.applied_to(part, self.context.dialect, self.options);
        }
        part
    }

    fn call(
        &mut self,
        expression: &Expression,
        name: &Name,
        arguments: &[Expression],
        frame: &Arc<ScopeFrame>,
    ) -> PartialResult {
        let function = builtin::find_function(name);
        let as_written = function.is_some_and(|function| function.kind.reads_expression());
        let parts: Vec<PartialResult> = arguments.iter().map(|argument| self.specialize(argument, frame)).collect();
        let values = parts.iter().map(|part| part.value.clone().ok_or(Abort::Unknown)).collect();
        let known = if as_written {
            self.evaluator.evaluate(expression, frame)
        } else {
            let evaluator = &mut self.evaluator;
            let span = expression.span();
            call_by_name(name, Call { evaluator, frame, arguments, values: Some(values), span })
        };
        if let Ok(value) = known {
            return PartialResult::known(expression, value);
        }
        if let (true, [condition, consequent, alternative]) = (name.is("ifThenElse"), parts.as_slice())
            && let Some(value) = &condition.value
        {
            match Truth::of(value, self.context.dialect) {
                Truth::True => return consequent.clone(),
                Truth::False => return alternative.clone(),
                _ => {}
            }
        }
        let types = function.map_or(TypeSet::ANY, builtin::BuiltinFunction::result_types);
        let part = PartialResult::rebuilt(expression, types, &parts, self.options, || {
            ExpressionKind::Call(name.clone(), parts.iter().map(|part| part.expression.clone()).collect())
        });
        if as_written { PartialResult { expression: expression.clone(), ..part } } else { part }
    }
}

/// Whether all names resolve to the same attributes in both scopes, because both are the same scope or the same root
/// ad.
fn is_same_scope(left: &Arc<ScopeFrame>, right: &Arc<ScopeFrame>) -> bool {
    let roots = left.enclosing.is_none() && right.enclosing.is_none();
    let same_ad = left.participant == right.participant && left.ad.identity() == right.ad.identity();
    Arc::ptr_eq(left, right) || (roots && same_ad)
}
