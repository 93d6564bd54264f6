//! How the value of an expression changes with the clock: pieces, each with its shape.

use std::ops::Range;

/// How a value changes with the clock within a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It does not change.
    Constant,
    /// It is a linear function of the clock.
    Linear,
    /// It never falls.
    Rising,
    /// It never rises.
    Falling,
    /// Nothing is known of it.
    Irregular,
}

impl Shape {
    /// Returns the shape of the negated value.
    pub fn negated(self) -> Self {
        match self {
            Shape::Rising => Shape::Falling,
            Shape::Falling => Shape::Rising,
            shape => shape,
        }
    }
}

/// How the value of an expression changes with the clock: its pieces in order. The first begins with the span.
#[derive(Clone, Debug)]
pub struct Curve(Vec<(i64, Shape)>);

impl Curve {
    /// Returns a curve of one piece.
    pub fn of(span: &Range<i64>, shape: Shape) -> Self {
        Curve(vec![(span.start, shape)])
    }

    /// Whether all pieces have a shape.
    pub fn is_all(&self, shape: Shape) -> bool {
        self.0.iter().all(|piece| piece.1 == shape)
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the beginnings of the pieces.
    pub fn starts(self) -> Vec<i64> {
        self.0.into_iter().map(|piece| piece.0).collect()
    }

    /// Adds a piece behind the others.
    pub fn push(&mut self, start: i64, shape: Shape) {
        match self.0.last_mut() {
            Some(last) if last.0 == start => last.1 = shape,
            _ => self.0.push((start, shape)),
        }
    }

    /// Returns the curve with a part of constant pieces, which begin at the beginning of `part` and at `starts`.
    pub fn with_steps_in(&self, part: &Range<i64>, starts: &[i64], span: &Range<i64>) -> Self {
        let mut made = Curve(Vec::new());
        for (piece, shape) in self.pieces(span) {
            if piece.end <= part.start || piece.start >= part.end {
                made.push(piece.start, shape);
                continue;
            }
            if piece.start < part.start {
                made.push(piece.start, shape);
            }
            [part.start].iter().chain(starts).for_each(|start| made.push(*start, Shape::Constant));
            if piece.end > part.end {
                made.push(part.end, shape);
            }
        }
        made
    }

    /// Returns each piece with the seconds that it covers.
    pub fn pieces(&self, span: &Range<i64>) -> Vec<(Range<i64>, Shape)> {
        let ends = self.0.iter().skip(1).map(|piece| piece.0).chain([span.end]);
        self.0.iter().zip(ends).map(|((start, shape), end)| (*start..end, *shape)).collect()
    }
}

/// Returns the pieces on which each of several curves has one piece, with the shapes of all.
pub fn common_pieces(curves: &[Curve], span: &Range<i64>) -> Vec<(Range<i64>, Vec<Shape>)> {
    let mut starts: Vec<i64> = curves.iter().flat_map(|curve| curve.0.iter().map(|piece| piece.0)).collect();
    starts.push(span.start);
    starts.sort_unstable();
    starts.dedup();
    let mut places = vec![0; curves.len()];
    let ends: Vec<i64> = starts.iter().skip(1).copied().chain([span.end]).collect();
    let common = starts.into_iter().zip(ends).map(|(start, end)| {
        let shapes = curves.iter().zip(&mut places).map(|(Curve(pieces), place)| {
            while pieces.get(*place + 1).is_some_and(|next| next.0 <= start) {
                *place += 1;
            }
            pieces[*place].1
        });
        (start..end, shapes.collect())
    });
    common.collect()
}

/// Returns -1, 0 or 1 for the order of two numbers; `None` for no numbers.
pub fn sign(left: f64, right: f64) -> Option<i8> {
    left.partial_cmp(&right).map(|order| order as i8)
}

/// Returns the shape of a value that follows one of two shapes, or the sum of both.
pub fn joined(left: Shape, right: Shape) -> Shape {
    match (left, right) {
        (Shape::Constant, shape) | (shape, Shape::Constant) => shape,
        (left, right) if left == right => left,
        _ => Shape::Irregular,
    }
}

/// Returns the shape of a function of which nothing is known.
pub fn unless_constant(shapes: &[Shape]) -> Shape {
    if shapes.iter().all(|shape| *shape == Shape::Constant) { Shape::Constant } else { Shape::Irregular }
}

/// Returns the shape of a function of the types of its operands: these change in an irregular piece only.
pub fn unless_unknown(shapes: &[Shape]) -> Shape {
    if shapes.contains(&Shape::Irregular) { Shape::Irregular } else { Shape::Constant }
}
