//! How operators, conversions and fields change what changes with the clock.

use std::ops::Range;
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Name, OperatorGroup, ScopeFrame, Type, Value};

use super::calendar_fields::{CalendarField, FieldChange};
use super::curve::{Curve, Shape, common_pieces, joined, sign, unless_constant, unless_unknown};
use super::solver::{MAX_PIECES, Scoped, Solver};

impl Solver<'_> {
    pub fn binary(&mut self, scoped: Scoped, operator: BinaryOperator, operands: [Scoped; 2]) -> Curve {
        let curves = operands.map(|operand| self.curve(operand));
        if let BinaryOperator::And | BinaryOperator::Or = operator {
            let [left, right] = curves;
            let curves = [self.settled(operands[0], left), self.settled(operands[1], right)];
            return self.mapped(&curves, |_, _, shapes| unless_constant(shapes));
        }
        let is_comparison = matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity)
            || matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual);
        if is_comparison {
            return self.comparison(operands, &curves);
        }
        match operator {
            BinaryOperator::Remainder => return self.remainder(scoped, operands, &curves),
            BinaryOperator::Add | BinaryOperator::Subtract => {
                let curves = self.with_steps(operands, &curves, operator == BinaryOperator::Subtract);
                return self.mapped(&curves, |solver, piece, shapes| {
                    solver.sum(scoped, operands, piece, shapes, operator == BinaryOperator::Subtract)
                });
            }
            _ => {}
        }
        self.mapped(&curves, |solver, piece, shapes| {
            let (changing, factor) = match (operator, shapes) {
                (_, [Shape::Constant, Shape::Constant]) => return Shape::Constant,
                (BinaryOperator::Multiply | BinaryOperator::Divide, [shape, Shape::Constant]) => (*shape, operands[1]),
                (BinaryOperator::Multiply, [Shape::Constant, shape]) => (*shape, operands[0]),
                _ => return Shape::Irregular,
            };
            let Some(factor) = solver.number(factor, piece.start).filter(|number| *number != 0.0) else {
                return Shape::Constant;
            };
            let is_exact = operator == BinaryOperator::Multiply || !solver.is_integer(scoped, piece.start);
            match (changing, is_exact) {
                (Shape::Linear, false) => solver.direction(scoped, piece),
                (shape, _) if factor > 0.0 => shape,
                (shape, _) => shape.negated(),
            }
        })
    }

    fn is_integer(&mut self, scoped: Scoped, second: i64) -> bool {
        self.value(scoped, second).is_some_and(|value| value.value_type() == Type::Integer)
    }

    /// Returns whether a value that rises or falls throughout a piece rises or falls.
    pub fn direction(&mut self, scoped: Scoped, piece: &Range<i64>) -> Shape {
        let [first, last] = [piece.start, piece.end - 1].map(|second| self.number(scoped, second));
        match (first, last) {
            (Some(first), Some(last)) if first <= last => Shape::Rising,
            (Some(_), Some(_)) => Shape::Falling,
            // What is no number at one end is none within.
            _ => Shape::Constant,
        }
    }

    /// Returns the shape of a sum or a difference.
    fn sum(
        &mut self,
        scoped: Scoped,
        operands: [Scoped; 2],
        piece: &Range<i64>,
        shapes: &[Shape],
        is_difference: bool,
    ) -> Shape {
        if let [Shape::Constant, Shape::Constant] = shapes {
            return Shape::Constant;
        }
        if self.number(scoped, piece.start).is_none() {
            return unless_unknown(shapes);
        }
        match shapes {
            [Shape::Constant | Shape::Linear, Shape::Constant | Shape::Linear] => Shape::Linear,
            [Shape::Irregular, _] | [_, Shape::Irregular] => Shape::Irregular,
            _ => {
                let mut direction = |place: usize| match shapes[place] {
                    Shape::Linear => self.direction(operands[place], piece),
                    shape => shape,
                };
                let (left, right) = (direction(0), direction(1));
                joined(left, if is_difference { right.negated() } else { right })
            }
        }
    }

    /// Splits values that change in few steps into these steps, where the sum or the order of two values is irregular
    /// otherwise, as in `time() - time() / 60 * 60`.
    fn with_steps(&mut self, operands: [Scoped; 2], curves: &[Curve; 2], is_difference: bool) -> [Curve; 2] {
        let mut made = curves.clone();
        for (piece, shapes) in common_pieces(curves, &self.span.clone()) {
            let is_stepped = |shape: Shape| matches!(shape, Shape::Rising | Shape::Falling);
            let mut directions = [0, 1].map(|place| match shapes[place] {
                Shape::Linear => self.direction(operands[place], &piece),
                shape => shape,
            });
            if is_difference {
                directions[1] = directions[1].negated();
            }
            let is_regular = joined(directions[0], directions[1]) != Shape::Irregular;
            let stepped = (0..2).find(|place| is_stepped(shapes[*place]));
            let (Some(place), false, false) = (stepped, is_regular, shapes.contains(&Shape::Irregular)) else {
                continue;
            };
            let steps = self.changes(&piece, MAX_PIECES, |solver, at| solver.number(operands[place], at));
            if let Some(steps) = steps {
                made[place] = made[place].with_steps_in(&piece, &steps, &self.span);
            }
        }
        made
    }

    fn comparison(&mut self, operands: [Scoped; 2], curves: &[Curve; 2]) -> Curve {
        let curves = self.with_steps(operands, curves, true);
        let mut made = Curve::of(&self.span, Shape::Constant);
        for (piece, shapes) in common_pieces(&curves, &self.span.clone()) {
            let order = |solver: &mut Self, second| {
                let [left, right] = operands.map(|operand| solver.number(operand, second));
                sign(left?, right?)
            };
            let is_regular = match shapes.as_slice() {
                [Shape::Constant, Shape::Constant] => {
                    made.push(piece.start, Shape::Constant);
                    continue;
                }
                [Shape::Linear | Shape::Constant, Shape::Linear | Shape::Constant] => true,
                [Shape::Irregular, _] | [_, Shape::Irregular] => false,
                [left, right] => {
                    let direction = |solver: &mut Self, shape: Shape, operand| match shape {
                        Shape::Linear => solver.direction(operand, &piece),
                        shape => shape,
                    };
                    let sides = [direction(self, *left, operands[0]), direction(self, *right, operands[1])];
                    joined(sides[0], sides[1].negated()) != Shape::Irregular
                }
                _ => false,
            };
            made.push(piece.start, if is_regular { Shape::Constant } else { Shape::Irregular });
            if is_regular {
                self.turns(&piece, order).into_iter().for_each(|second| made.push(second, Shape::Constant));
            }
        }
        made
    }

    /// Returns the curve of a remainder: a piece for each quotient.
    fn remainder(&mut self, scoped: Scoped, operands: [Scoped; 2], curves: &[Curve; 2]) -> Curve {
        let mut made = Curve::of(&self.span, Shape::Constant);
        for (piece, shapes) in common_pieces(curves, &self.span.clone()) {
            let divisor = self.number(operands[1], piece.start).filter(|divisor| *divisor != 0.0);
            let is_integer = self.is_integer(scoped, piece.start);
            let quotients = match (shapes.as_slice(), divisor) {
                ([Shape::Constant, Shape::Constant], _) => Some(Vec::new()),
                ([Shape::Irregular, _], _) => None,
                ([_, Shape::Constant], Some(divisor)) if is_integer => {
                    self.changes(&piece, MAX_PIECES, |solver, at| {
                        solver.number(operands[0], at).map(|number| (number / divisor).trunc())
                    })
                }
                // What is no number stays what it is.
                ([_, Shape::Constant], _) => {
                    made.push(piece.start, Shape::Constant);
                    continue;
                }
                _ => None,
            };
            made.push(piece.start, if quotients.is_some() { shapes[0] } else { Shape::Irregular });
            quotients.unwrap_or_default().into_iter().for_each(|second| made.push(second, shapes[0]));
        }
        made
    }

    /// Returns the shape of a function of one argument that changes, the others being constant.
    pub fn converted(
        &mut self,
        scoped: Scoped,
        name: &Name,
        shape: Shape,
        piece: &Range<i64>,
        argument: Scoped,
    ) -> Shape {
        let known = ["real", "absTime", "makeAbsTime", "relTime", "makeRelTime", "inDays", "inHours", "inMinutes"];
        let is_linear = name.is("inSeconds") || known.iter().any(|known| name.is(known));
        let is_monotonic = ["int", "floor", "ceiling", "round", "quantize"].iter().any(|known| name.is(known));
        match shape {
            Shape::Constant | Shape::Irregular => shape,
            _ if !is_linear && !is_monotonic => Shape::Irregular,
            _ if self.number(scoped, piece.start).is_none() => Shape::Constant,
            Shape::Linear if is_linear => Shape::Linear,
            Shape::Linear => {
                let mut ends = |of| [piece.start, piece.end - 1].map(|second| self.number(of, second));
                let is_same = ends(scoped) == ends(argument)
                    && !matches!(self.value(argument, piece.start), Some(Value::Real(_)));
                if is_same { Shape::Linear } else { self.direction(scoped, piece) }
            }
            shape => shape,
        }
    }

    /// Returns the curve of the least or the greatest of several values: a piece for each order of them.
    pub fn extreme(&mut self, elements: &[Expression], frame: &Arc<ScopeFrame>) -> Curve {
        let curves: Vec<Curve> = elements.iter().map(|element| self.curve((element, frame))).collect();
        let mut orders = curves.clone();
        for (place, left) in elements.iter().enumerate() {
            for (other, right) in elements.iter().enumerate().skip(place + 1) {
                let pair = [curves[place].clone(), curves[other].clone()];
                orders.push(self.comparison([(left, frame), (right, frame)], &pair));
            }
        }
        self.mapped(&orders, |_, _, shapes| shapes.iter().copied().fold(Shape::Constant, joined))
    }

    /// Returns the curve of a field of a time, such as its hour.
    pub fn field(&mut self, scoped: Scoped, field: CalendarField, time: Scoped) -> Curve {
        let curve = self.curve(time);
        let mut made = Curve::of(&self.span, Shape::Constant);
        for (piece, shape) in curve.pieces(&self.span) {
            let ahead = [piece.start, piece.end - 1].map(|second| self.seconds_ahead(time, second));
            let part = match (shape, ahead) {
                (Shape::Constant, _) | (Shape::Linear, [None, _]) => Some(Curve::of(&piece, Shape::Constant)),
                (Shape::Linear, [Some(first), Some(last)]) if first == last => {
                    let field = match self.value(time, piece.start) {
                        Some(Value::AbsoluteTime(time)) => field.with_offset(time.offset),
                        _ => Some(field),
                    };
                    field.and_then(|field| self.changes_of_field(scoped, field, &piece, first))
                }
                _ => None,
            };
            let part = part.unwrap_or_else(|| Curve::of(&piece, Shape::Irregular));
            part.pieces(&piece).into_iter().for_each(|(part, shape)| made.push(part.start, shape));
        }
        made
    }

    /// Returns by how many whole seconds a time is ahead of the clock; `None` for no time.
    fn seconds_ahead(&mut self, time: Scoped, second: i64) -> Option<i64> {
        #[allow(clippy::cast_possible_truncation)] // `as` saturates
        self.number(time, second).map(|seconds| (seconds.floor() as i64).saturating_sub(second))
    }

    /// Returns the curve of a field of a time that is `ahead` seconds ahead of the clock, in a piece. `None` if the field
    /// changes too often.
    pub fn changes_of_field(
        &mut self,
        scoped: Scoped,
        field: CalendarField,
        piece: &Range<i64>,
        ahead: i64,
    ) -> Option<Curve> {
        let shape = match field.change {
            FieldChange::Stays => Shape::Constant,
            FieldChange::Counts => Shape::Linear,
        };
        let mut made = Curve::of(piece, shape);
        let mut before = self.value(scoped, piece.start);
        for second in field.candidates(piece, ahead, MAX_PIECES)? {
            let is_break = match field.change {
                FieldChange::Stays => {
                    let value = self.value(scoped, second);
                    std::mem::replace(&mut before, value.clone()) != value
                }
                FieldChange::Counts => {
                    let steps = [second - 1, second].map(|at| self.number(scoped, at));
                    !matches!(steps, [Some(before), Some(after)] if (after - before - 1.0).abs() < f64::EPSILON)
                }
            };
            if is_break {
                made.push(second, shape);
            }
        }
        Some(made)
    }
}
