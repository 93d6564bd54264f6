//! Evaluation by a recursive walk over the tree (thesis 2.4).

use std::cell::Cell;
use std::sync::Arc;

use crate::ad::{
    Ad, AdValue, BinaryOperator, Expression, ExpressionKind, ListValue, Name, Participant, ScopeFrame, Span, Truth,
    Value,
};

use super::active_attributes::ActiveAttributes;
use super::attribute_memo::{AttributeMemo, MIN_REMEMBERED_STEPS};
use super::builtin::{Call, call_by_name};
use super::operators;
use super::scope::{Environment, NameResolution};
use super::spending::Spending;
use super::subscript::SubscriptTarget;
use super::{Abort, Context};

/// Evaluator of expressions in the scopes of one environment. Its step budget is for all its evaluations together.
pub struct Evaluator<'e> {
    pub(super) environment: &'e Environment,
    pub(super) context: &'e Context,
    pub(super) active: ActiveAttributes,
    depth: u32,
    /// Greatest depth since the beginning of the attribute that is being evaluated.
    deepest: u32,
    pub(super) spending: Spending<'e>,
    memo: AttributeMemo,
    /// Number of random numbers drawn so far.
    draws: Cell<u64>,
}

impl<'e> Evaluator<'e> {
    /// Number of steps so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.spending.steps()
    }

    /// Returns an evaluator with full budgets.
    #[must_use]
    pub fn new(environment: &'e Environment, context: &'e Context) -> Self {
        Evaluator {
            environment,
            context,
            active: ActiveAttributes::default(),
            depth: 0,
            deepest: 0,
            spending: Spending::new(context),
            memo: AttributeMemo::default(),
            draws: Cell::new(0),
        }
    }

    /// Lowers the step budget.
    pub(super) fn limited_to(self, steps: u64) -> Self {
        Evaluator { spending: self.spending.limited_to(steps), ..self }
    }

    /// Makes this evaluator evaluate each attribute anew.
    #[cfg(test)]
    pub(super) fn forget_values(&mut self) {
        self.memo = AttributeMemo::unused();
    }

    /// Returns the current time, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// [`Abort::Unknown`] when the time is unknown.
    pub(super) fn now(&self) -> Result<i64, Abort> {
        self.context.now.ok_or(Abort::Unknown)
    }

    /// Returns the generator for one draw of `random()`.
    ///
    /// # Errors
    ///
    /// [`Abort::Unknown`] when the context has no random stream.
    pub(super) fn random(&self) -> Result<fastrand::Rng, Abort> {
        self.draws.set(self.draws.get() + 1);
        self.context.random.as_ref().map(super::context::RandomStream::next).ok_or(Abort::Unknown)
    }

    /// Returns the value of `expression` in the scope `frame`.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded, the interrupt is raised, or the value depends on something unknown, such as a label
    /// whose port is not docked yet.
    pub fn evaluate(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        self.with_deeper_nesting(|evaluator| evaluator.descend(expression, frame))
    }

    /// Runs `work` one nesting level deeper; [`Abort::TooDeep`] if the level exceeds [`Context::max_depth`].
    fn with_deeper_nesting<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Abort>) -> Result<T, Abort> {
        if self.depth >= self.context.max_depth {
            self.spending.record_stop();
            return Err(Abort::TooDeep(self.context.max_depth));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        // The stack cannot overflow: `stacker` continues it in a new segment.
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || work(self));
        self.depth -= 1;
        result
    }

    /// Returns the value of the attribute `name` of an ad; undefined if the ad lacks it.
    ///
    /// # Errors
    ///
    /// The same as those of [`Evaluator::evaluate`].
    pub fn attribute(&mut self, frame: &Arc<ScopeFrame>, name: &Name) -> Result<Value, Abort> {
        frame.ad.get(name).map_or(Ok(Value::Undefined), |expression| self.value_of_bound(expression, frame))
    }

    /// Returns the expression of the attribute that a reference denotes, with the scope in which the attribute was
    /// found.
    /// `None` if the reference denotes no attribute, or if `reference` is not a reference.
    ///
    /// # Errors
    ///
    /// The same as those of [`Evaluator::evaluate`].
    pub fn referent(
        &mut self,
        reference: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Result<Option<(Expression, Arc<ScopeFrame>)>, Abort> {
        let resolution = match reference.kind() {
            ExpressionKind::Attribute(name) => self.environment.resolve(frame, name, self.context),
            ExpressionKind::RootAttribute(name) => self.environment.resolve_root(frame, name, self.context),
            ExpressionKind::Select(inner, name) => match self.evaluate(inner, frame)? {
                Value::Ad(nested) => self.environment.resolve_selected(&nested.frame, name, self.context),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        match resolution {
            NameResolution::Expression(expression, frame) => Ok(Some((expression, frame))),
            NameResolution::Unknown => Err(Abort::Unknown),
            NameResolution::Value(_) | NameResolution::Missing => Ok(None),
        }
    }

    /// Returns the value of one element of a list, evaluated in the list's own scope; undefined beyond the end, and for
    /// an element that refers to itself, as in `a = { a[0] }`.
    ///
    /// # Errors
    ///
    /// The same as those of [`Evaluator::evaluate`].
    pub fn element(&mut self, list: &ListValue, index: usize) -> Result<Value, Abort> {
        let Some(element) = list.elements.get(index) else { return Ok(Value::Undefined) };
        match (&list.scope, element.kind()) {
            (_, ExpressionKind::Literal(value)) => Ok(operators::literal(value, self.context.dialect, element.span())),
            (Some(frame), _) => self.own_element(element, frame),
            (None, _) => self.own_element(element, &ScopeFrame::root(Ad::default(), Participant::REQUEST)),
        }
    }

    /// Returns the value of a list element in a scope. An element that refers to itself, as in `a = { a[0] }`, is
    /// undefined as any circular reference (thesis 2.4.7); in HTCondor's dialect it is an error, as in HTCondor.
    fn own_element(&mut self, element: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        if !self.active.begin_element(element.identity(), frame) {
            return Ok(if self.context.dialect.is_condor() {
                Value::error(element.span(), "this element of a list refers to itself")
            } else {
                Value::Undefined
            });
        }
        let value = self.evaluate(element, frame);
        self.active.end();
        value
    }

    /// Evaluates parentheses, conditionals and elvis operators in a loop. The last operand of each is a tail call, so
    /// that long chains of them need no deeper nesting.
    fn descend(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        let mut expression = expression;
        loop {
            self.spending.step()?;
            match expression.kind() {
                ExpressionKind::Parentheses(inner) => expression = inner,
                ExpressionKind::Conditional(condition, consequent, alternative) => {
                    let value = self.evaluate(condition, frame)?;
                    match Truth::of(&value, self.context.dialect) {
                        Truth::True => expression = consequent,
                        Truth::False => expression = alternative,
                        Truth::Undefined => return Ok(Value::Undefined),
                        Truth::Error if value.is_exceptional() => return Ok(value),
                        Truth::Error => {
                            let reason = format!("a condition must be a boolean, not {}", value.value_type().phrase());
                            return Ok(Value::error(condition.span(), reason));
                        }
                    }
                }
                ExpressionKind::Elvis(left, right) => match self.evaluate(left, frame)? {
                    Value::Undefined => expression = right,
                    value => return Ok(value),
                },
                _ => return self.compute(expression, frame),
            }
        }
    }

    /// Evaluates an expression of any kind that `descend` does not evaluate in its loop.
    fn compute(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        let Evaluator { environment, context, .. } = *self;
        let span = expression.span();
        match expression.kind() {
            ExpressionKind::Literal(value) => Ok(operators::literal(value, context.dialect, span)),
            ExpressionKind::Attribute(name) => self.value_of_resolution(environment.resolve(frame, name, context)),
            ExpressionKind::RootAttribute(name) => {
                self.value_of_resolution(environment.resolve_root(frame, name, context))
            }
            ExpressionKind::Select(inner, name) => {
                let value = self.evaluate(inner, frame)?;
                self.select(&value, name, span, frame)
            }
            ExpressionKind::Subscript(inner, index) => {
                let value = self.evaluate(inner, frame)?;
                let index = self.evaluate(index, frame)?;
                self.subscript(&value, &index, span)
            }
            ExpressionKind::Unary(operator, operand) => {
                let value = self.evaluate(operand, frame)?;
                Ok(operators::unary(*operator, value, context.dialect, span))
            }
            ExpressionKind::Binary(operator, left, right) => self.binary(*operator, left, right, span, frame),
            ExpressionKind::Call(name, arguments) => {
                call_by_name(name, Call { evaluator: self, frame, arguments, values: None, span })
            }
            ExpressionKind::List(elements) => {
                Ok(Value::List(ListValue { elements: Arc::clone(elements), scope: Some(Arc::clone(frame)) }))
            }
            // An ad outside any other ad is a root (thesis 2.4).
            ExpressionKind::Ad(ad) if frame.is_outside_ads() => {
                Ok(Value::Ad(AdValue { frame: ScopeFrame::root(ad.clone(), Participant::REQUEST) }))
            }
            ExpressionKind::Ad(ad) => Ok(Value::Ad(AdValue { frame: frame.enter(ad.clone()) })),
            ExpressionKind::Parentheses(_) | ExpressionKind::Conditional(..) | ExpressionKind::Elvis(..) => {
                self.evaluate(expression, frame)
            }
        }
    }

    fn value_of_resolution(&mut self, resolution: NameResolution) -> Result<Value, Abort> {
        match resolution {
            NameResolution::Expression(expression, frame) => self.value_of_bound(&expression, &frame),
            NameResolution::Value(value) => Ok(value),
            NameResolution::Unknown => Err(Abort::Unknown),
            NameResolution::Missing => Ok(Value::Undefined),
        }
    }

    /// Returns the value of an attribute's expression, in the scope where the attribute was found. A circular reference
    /// is undefined (thesis 2.4.7).
    fn value_of_bound(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        if let ExpressionKind::Literal(value) = expression.kind() {
            return Ok(operators::literal(value, self.context.dialect, expression.span()));
        }
        if let Some(known) = self.memo.get(expression, frame)
            && self.depth + known.height <= self.context.max_depth
        {
            self.deepest = self.deepest.max(self.depth + known.height);
            return Ok(known.value.clone());
        }
        if !self.active.begin(expression.identity(), frame) {
            return Ok(Value::Undefined);
        }
        let before = (self.active.circular_references, self.draws.get());
        let steps = self.spending.steps();
        let deepest = std::mem::replace(&mut self.deepest, self.depth);
        let value = self.evaluate(expression, frame);
        self.active.end();
        let height = self.deepest - self.depth;
        self.deepest = self.deepest.max(deepest);
        // A circular reference depends on where the evaluation began, and a random number is a new one each time.
        if let Ok(value) = &value
            && before == (self.active.circular_references, self.draws.get())
            && self.spending.steps() - steps >= MIN_REMEMBERED_STEPS
        {
            self.memo.add(expression, frame, value, height);
        }
        value
    }

    /// Returns the value of the selection `value.name`.
    pub(super) fn select(
        &mut self,
        value: &Value,
        name: &Name,
        span: Span,
        frame: &Arc<ScopeFrame>,
    ) -> Result<Value, Abort> {
        self.with_deeper_nesting(|evaluator| evaluator.select_from(value, name, span, frame))
    }

    fn select_from(&mut self, value: &Value, name: &Name, span: Span, frame: &Arc<ScopeFrame>) -> Result<Value, Abort> {
        match value {
            Value::Ad(nested) => {
                self.value_of_resolution(self.environment.resolve_selected(&nested.frame, name, self.context))
            }
            Value::Undefined | Value::Error(_) => Ok(value.clone()),
            Value::List(list) if self.context.dialect.is_condor() => self.select_each(list, name, span, frame),
            other => Ok(Value::error(span, format!("`.{name}` needs an ad, not {}", other.value_type().phrase()))),
        }
    }

    /// Returns the value of a list element in the scope of the call, as HTCondor's functions compute it. An element
    /// that is itself a list or an ad is evaluated in the scope of `list`.
    pub(super) fn element_in_call_scope(
        &mut self,
        element: &Expression,
        list: &ListValue,
        frame: &Arc<ScopeFrame>,
    ) -> Result<Value, Abort> {
        let scope = match element.without_parentheses().kind() {
            ExpressionKind::List(_) | ExpressionKind::Ad(_) => list.scope.as_ref().unwrap_or(frame),
            _ => frame,
        };
        self.own_element(element, scope)
    }

    /// Returns the value of HTCondor's selection `list.name`: a list with the value of `element.name` for each element.
    /// The elements are evaluated in the scope of the selection.
    fn select_each(
        &mut self,
        list: &ListValue,
        name: &Name,
        span: Span,
        frame: &Arc<ScopeFrame>,
    ) -> Result<Value, Abort> {
        // A list that contains itself would recurse without end.
        if !self.active.begin(list.elements.as_ptr() as usize, frame) {
            return Ok(Value::Undefined);
        }
        let select = |element| {
            let element = self.element_in_call_scope(element, list, frame)?;
            let value = self.select(&element, name, span, frame)?;
            Ok(Expression::literal(operators::without_scope(operators::truncate_relative_time(value))))
        };
        let elements = list.elements.iter().map(select).collect::<Result<_, Abort>>();
        self.active.end();
        let selected = Value::List(ListValue { elements: elements?, scope: None });
        self.spending.add_value(&selected)?;
        Ok(selected)
    }

    /// Returns the value of the subscript `value[index]`.
    pub(super) fn subscript(&mut self, value: &Value, index: &Value, span: Span) -> Result<Value, Abort> {
        match SubscriptTarget::of(value, index, self.context.dialect, span) {
            SubscriptTarget::Value(value) => Ok(value),
            SubscriptTarget::Element(list, position) => self.element(list, position),
            SubscriptTarget::Attribute(frame, name) => {
                if frame.ad.get(&name).is_none() && self.environment.is_partly_known(frame) {
                    return Err(Abort::Unknown);
                }
                self.attribute(frame, &name).map(operators::without_scope)
            }
        }
    }

    /// Evaluates a chain of binary operators. A chain such as `a + b + c` leans to the left and may have a million
    /// operators, so its left spine is walked in a loop.
    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        span: Span,
        frame: &Arc<ScopeFrame>,
    ) -> Result<Value, Abort> {
        let mut spine = vec![(operator, right, span)];
        let mut first = left;
        while let ExpressionKind::Binary(operator, left, right) = first.kind() {
            self.spending.step()?;
            spine.push((*operator, right, first.span()));
            first = left;
        }
        let dialect = self.context.dialect;
        let mut value = self.evaluate(first, frame)?;
        while let Some((operator, right, span)) = spine.pop() {
            value = operators::apply(operator, &value, || self.evaluate(right, frame), dialect, span)?;
        }
        Ok(value)
    }
}
