//! The walk over an expression that finds the seconds at which its truth may change.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Expression, ExpressionKind, Name, ScopeFrame, Truth};
use crate::ad::{UnaryOperator, Value};
use crate::eval::{
    CURRENT_TIME, Context, Environment, Evaluator, FunctionKind, NameResolution, SpecializeOptions, VolatileInputs,
    find_function, specialize, tested_type,
};

use super::calendar_fields::CalendarField;
use super::curve::{Curve, Shape, common_pieces, joined, sign, unless_constant, unless_unknown};

/// Maximum number of samples of an expression: each minute of a week.
pub const MAX_SAMPLES: i64 = 7 * 1440;

/// Number of seconds between two samples, or a multiple of it, unless each second is one.
const SAMPLE_SECONDS: i64 = 60;

/// Maximum number of pieces of a curve: each minute of a fortnight.
pub const MAX_PIECES: usize = 14 * 1440;

/// Maximum number of steps of the evaluator for one expression.
const MAX_STEPS: u64 = 4_000_000;

/// Number of steps that an evaluation counts at least, for its beginning.
const LEAST_STEPS: u64 = 16;

/// Maximum nesting of the walk.
const MAX_DEPTH: u32 = 2000;

/// Finds the breaks of expressions in a span of time.
pub struct Solver<'e> {
    environment: &'e Environment,
    context: Context,
    pub span: Range<i64>,
    /// Curves of the expressions of attributes, by the identities of expression and ad; `None` while one is being made.
    attributes: FxHashMap<(usize, usize), Option<Curve>>,
    /// Steps that are left.
    steps: u64,
    depth: u32,
    is_sampled: bool,
    /// The second up to which the search looked.
    pub end: i64,
}

/// What takes part in the walk: an expression in its scope.
pub type Scoped<'a> = (&'a Expression, &'a Arc<ScopeFrame>);

impl<'e> Solver<'e> {
    pub fn new(environment: &'e Environment, context: &Context, span: Range<i64>) -> Self {
        let context = Context { random: None, max_steps: context.max_steps.min(MAX_STEPS / 10), ..context.clone() };
        let (attributes, end) = (FxHashMap::default(), span.end);
        Solver { environment, context, span, attributes, steps: MAX_STEPS, depth: 0, is_sampled: false, end }
    }

    /// Seconds between two samples; `None` if nothing was sampled.
    pub fn sampling(&self) -> Option<i64> {
        self.is_sampled.then(|| self.sample_seconds())
    }

    /// Returns the beginnings of the pieces on which the truth of an expression does not change.
    pub fn breaks(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Vec<i64> {
        let timeless = Context { now: None, ..self.context.clone() };
        let residue = specialize(expression, frame, self.environment, &timeless, SpecializeOptions::default());
        if residue.value.is_some() {
            return vec![self.span.start];
        }
        let root = (&residue.expression, frame);
        let curve = self.curve(root);
        let settled = self.settled(root, curve);
        let mut starts = settled.starts();
        if self.steps == 0 {
            (self.steps, self.end) = (MAX_STEPS, self.span.end);
            let whole = Curve::of(&self.span, Shape::Irregular);
            starts = self.settled(root, whole).starts();
        }
        if let Some(every) = self.sampling() {
            // What is seen at an exact break holds up to the next sample at most.
            let next = |start: &i64| self.span.start + ((start - self.span.start) / every + 1) * every;
            let samples: Vec<i64> = starts.iter().map(next).filter(|next| *next < self.span.end).collect();
            starts.extend(samples);
            starts.sort_unstable();
            starts.dedup();
        }
        starts
    }

    /// Seconds between two samples, if there are any.
    fn sample_seconds(&self) -> i64 {
        let length = self.span.end - self.span.start;
        if length <= MAX_SAMPLES { 1 } else { (length / (MAX_SAMPLES * SAMPLE_SECONDS) + 1) * SAMPLE_SECONDS }
    }

    /// Returns a value at a second; `None` if it is unknown, or if the steps are spent.
    pub fn value(&mut self, (expression, frame): Scoped, second: i64) -> Option<Value> {
        if self.steps == 0 || self.context.is_interrupted() {
            return None;
        }
        self.context.now = Some(second);
        let mut evaluator = Evaluator::new(self.environment, &self.context);
        let value = evaluator.evaluate(expression, frame);
        self.steps = self.steps.saturating_sub(evaluator.steps().max(LEAST_STEPS));
        value.ok()
    }

    /// Returns a value at a second as a number: a number, or a time in seconds.
    pub fn number(&mut self, scoped: Scoped, second: i64) -> Option<f64> {
        number_of(&self.value(scoped, second)?)
    }

    pub fn truth(&mut self, scoped: Scoped, second: i64) -> Option<Truth> {
        let dialect = self.context.dialect;
        self.value(scoped, second).map(|value| Truth::of(&value, dialect))
    }

    /// Returns the seconds of a piece at which a value changes that only rises or only falls.  `None` if these are more
    /// than `most`.
    pub fn changes<K: PartialEq>(
        &mut self,
        piece: &Range<i64>,
        most: usize,
        mut value: impl FnMut(&mut Self, i64) -> K,
    ) -> Option<Vec<i64>> {
        let (first, last) = (piece.start, piece.end - 1);
        let mut found = Vec::new();
        let mut pending = vec![(first, value(self, first), last, value(self, last))];
        while let Some((from, before, to, after)) = pending.pop() {
            if before == after {
                continue;
            }
            if to - from == 1 {
                found.push(to);
                if found.len() > most {
                    return None;
                }
                continue;
            }
            let middle = from + (to - from) / 2;
            let [left, right] = [value(self, middle), value(self, middle)];
            pending.push((middle, right, to, after));
            pending.push((from, before, middle, left));
        }
        Some(found)
    }

    /// Returns a curve that has each piece on which the truth does not change: numbers change it where they are 0.
    pub fn settled(&mut self, scoped: Scoped, curve: Curve) -> Curve {
        if curve.is_all(Shape::Constant) {
            return curve;
        }
        let mut settled = Curve::of(&self.span, Shape::Constant);
        for (piece, shape) in curve.pieces(&self.span) {
            settled.push(piece.start, Shape::Constant);
            let breaks = match shape {
                Shape::Constant => Vec::new(),
                Shape::Irregular => self.sampled(scoped, &piece),
                _ => self.turns(&piece, |solver, second| sign(solver.number(scoped, second)?, 0.0)),
            };
            for second in breaks {
                settled.push(second, Shape::Constant);
            }
        }
        self.bounded(settled)
    }

    /// Returns the seconds at which a truth changes, as samples of it show.
    fn sampled(&mut self, scoped: Scoped, piece: &Range<i64>) -> Vec<i64> {
        let every = self.sample_seconds();
        self.is_sampled |= every > 1;
        // The samples of all pieces are seconds of one grid, so that they agree.
        let grid = (piece.start - self.span.start).div_euclid(every) + 1;
        let first = self.span.start + grid * every;
        let samples = (first..piece.end).step_by(usize::try_from(every).unwrap_or(usize::MAX)).chain([piece.end - 1]);
        let mut before = (piece.start, self.truth(scoped, piece.start));
        let mut found = Vec::new();
        for second in samples {
            let after = (second, self.truth(scoped, second));
            if self.steps == 0 {
                self.end = second;
                break;
            }
            if after.1 != before.1 {
                let last = self.changes(&(before.0..second + 1), 2, |solver, at| solver.truth(scoped, at) == after.1);
                found.push(last.and_then(|changes| changes.last().copied()).unwrap_or(second));
            }
            before = after;
        }
        found
    }

    /// Returns the seconds at which the order of two values turns: from less to equal to greater, or back.
    pub fn turns(&mut self, piece: &Range<i64>, mut order: impl FnMut(&mut Self, i64) -> Option<i8>) -> Vec<i64> {
        let most = 2;
        self.changes(piece, most, |solver, second| order(solver, second)).unwrap_or_default()
    }

    /// Returns a curve unless it has too many pieces.
    fn bounded(&self, curve: Curve) -> Curve {
        if curve.len() > MAX_PIECES { Curve::of(&self.span, Shape::Irregular) } else { curve }
    }

    /// Returns how the value of an expression changes with the clock.
    pub fn curve(&mut self, scoped: Scoped) -> Curve {
        if self.depth >= MAX_DEPTH || self.steps == 0 {
            return Curve::of(&self.span, Shape::Irregular);
        }
        self.depth += 1;
        let curve = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.descend(scoped));
        self.depth -= 1;
        self.bounded(curve)
    }

    fn descend(&mut self, scoped: Scoped) -> Curve {
        let (expression, frame) = scoped;
        let constant = Curve::of(&self.span, Shape::Constant);
        match expression.kind() {
            ExpressionKind::Literal(_) => constant,
            ExpressionKind::Attribute(name) => {
                let found = self.environment.resolve(frame, name, &self.context);
                self.found(name, found)
            }
            ExpressionKind::RootAttribute(name) => {
                let found = self.environment.resolve_root(frame, name, &self.context);
                self.found(name, found)
            }
            ExpressionKind::Select(inner, name) => self.selection(scoped, inner, name),
            ExpressionKind::Parentheses(inner) => self.curve((inner, frame)),
            ExpressionKind::Unary(operator, operand) => {
                let inner = (operand, frame);
                let curve = self.curve(inner);
                match operator {
                    UnaryOperator::Minus => self.mapped(&[curve], |_, _, shapes| shapes[0].negated()),
                    UnaryOperator::Plus => curve,
                    UnaryOperator::Not => self.settled(inner, curve),
                    UnaryOperator::Complement => self.mapped(&[curve], |_, _, shapes| unless_constant(shapes)),
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(scoped, *operator, [(left, frame), (right, frame)])
            }
            ExpressionKind::Conditional(condition, yes, no) => self.conditional([condition, yes, no], frame),
            ExpressionKind::Elvis(left, right) => {
                let operands = [(left, frame), (right, frame)];
                let curves = operands.map(|operand| self.curve(operand));
                self.mapped(&curves, |solver, piece, shapes| match shapes[0] {
                    Shape::Constant => match solver.value(operands[0], piece.start) {
                        Some(Value::Undefined) => shapes[1],
                        Some(_) => Shape::Constant,
                        None => joined(shapes[0], shapes[1]),
                    },
                    shape => shape,
                })
            }
            ExpressionKind::Call(name, arguments) => self.call(scoped, name, arguments),
            ExpressionKind::List(elements) => {
                let curves: Vec<Curve> = elements.iter().map(|element| self.curve((element, frame))).collect();
                self.mapped(&curves, |_, _, shapes| unless_constant(shapes))
            }
            ExpressionKind::Ad(_) if !VolatileInputs::of(expression).clock => constant,
            ExpressionKind::Subscript(..) | ExpressionKind::Ad(_) => {
                let mut inner = Vec::new();
                expression.kind().for_each_child(|child| inner.push(child));
                if let ExpressionKind::Ad(_) = expression.kind() {
                    return Curve::of(&self.span, Shape::Irregular);
                }
                let curves: Vec<Curve> = inner.into_iter().map(|child| self.curve((child, frame))).collect();
                self.mapped(&curves, |_, _, shapes| unless_constant(shapes))
            }
        }
    }

    /// Returns a curve on the common pieces of others, with the shape that a function makes of theirs.
    pub fn mapped(
        &mut self,
        curves: &[Curve],
        mut shape: impl FnMut(&mut Self, &Range<i64>, &[Shape]) -> Shape,
    ) -> Curve {
        let mut made = Curve::of(&self.span, Shape::Constant);
        for (piece, shapes) in common_pieces(curves, &self.span.clone()) {
            let of_piece = shape(self, &piece, &shapes);
            made.push(piece.start, of_piece);
        }
        made
    }

    /// Returns the curve of what a name was found to be.
    pub fn found(&mut self, name: &Name, found: NameResolution) -> Curve {
        match found {
            NameResolution::Expression(bound, scope) => {
                let key = (bound.identity(), scope.ad.identity());
                if let Some(known) = self.attributes.get(&key) {
                    // A circular reference is undefined.
                    return known.clone().unwrap_or_else(|| Curve::of(&self.span, Shape::Constant));
                }
                self.attributes.insert(key, None);
                let curve = self.curve((&bound, &scope));
                self.attributes.insert(key, Some(curve.clone()));
                curve
            }
            NameResolution::Value(_) if name.is_known(CURRENT_TIME) => Curve::of(&self.span, Shape::Linear),
            _ => Curve::of(&self.span, Shape::Constant),
        }
    }

    fn selection(&mut self, scoped: Scoped, inner: &Expression, name: &Name) -> Curve {
        let frame = scoped.1;
        if let ExpressionKind::Call(function, arguments) = inner.without_parentheses().kind()
            && let ([argument], true) = (arguments.as_ref(), function.is("splitTime"))
        {
            return self.field(scoped, CalendarField::of_split_time(name), (argument, frame));
        }
        match self.value((inner, frame), self.span.start) {
            Some(Value::Ad(ad)) => {
                let found = self.environment.resolve_selected(&ad.frame, name, &self.context);
                self.found(name, found)
            }
            _ => self.curve((inner, frame)),
        }
    }

    fn conditional(&mut self, [condition, yes, no]: [&Expression; 3], frame: &Arc<ScopeFrame>) -> Curve {
        let condition = (condition, frame);
        let curve = self.curve(condition);
        let curves = [self.settled(condition, curve), self.curve((yes, frame)), self.curve((no, frame))];
        self.mapped(&curves, |solver, piece, shapes| match solver.truth(condition, piece.start) {
            _ if shapes[0] == Shape::Irregular => Shape::Irregular,
            Some(Truth::True) => shapes[1],
            Some(Truth::False) => shapes[2],
            Some(_) => Shape::Constant,
            None => joined(shapes[1], shapes[2]),
        })
    }

    fn call(&mut self, scoped: Scoped, name: &Name, arguments: &[Expression]) -> Curve {
        let frame = scoped.1;
        let irregular = Curve::of(&self.span, Shape::Irregular);
        if arguments.is_empty() && ["time", "currentTime", "absTime"].iter().any(|known| name.is(known)) {
            return Curve::of(&self.span, Shape::Linear);
        }
        if let Some(field) = CalendarField::of_call(name, arguments) {
            return match arguments {
                [argument, ..] => self.field(scoped, field, (argument, frame)),
                [] => self.changes_of_field(scoped, field, &self.span.clone(), 0).unwrap_or(irregular),
            };
        }
        let function = find_function(name);
        let kind = function.map(|function| function.kind);
        if kind == Some(FunctionKind::Random) {
            // A random number is unknown at any time.
            return Curve::of(&self.span, Shape::Constant);
        }
        if VolatileInputs::of(scoped.0).clock && arguments.is_empty()
            || !matches!(kind, None | Some(FunctionKind::Strict | FunctionKind::Lazy))
        {
            return irregular;
        }
        if let (true, [condition, yes, no]) = (name.is("ifThenElse"), arguments) {
            return self.conditional([condition, yes, no], frame);
        }
        if let (true, [list]) = (name.is("min") || name.is("max"), arguments)
            && let ExpressionKind::List(elements) = list.without_parentheses().kind()
        {
            return self.extreme(elements, frame);
        }
        let curves: Vec<Curve> = arguments.iter().map(|argument| self.curve((argument, frame))).collect();
        if function.is_some_and(|function| tested_type(function).is_some()) {
            return self.mapped(&curves, |_, _, shapes| unless_unknown(shapes));
        }
        self.mapped(&curves, |solver, piece, shapes| match shapes {
            [shape, others @ ..] if others.iter().all(|shape| *shape == Shape::Constant) => {
                solver.converted(scoped, name, *shape, piece, (&arguments[0], frame))
            }
            shapes => unless_constant(shapes),
        })
    }
}

/// Returns a number, or a time in seconds.
#[allow(clippy::cast_precision_loss)] // clocks are below 2^53 seconds
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(is) => Some(f64::from(u8::from(*is))),
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::AbsoluteTime(time) => Some(time.seconds as f64),
        Value::RelativeTime(time) => Some(time.seconds),
        _ => None,
    }
}
