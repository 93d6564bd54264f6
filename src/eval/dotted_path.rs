//! Dotted paths, such as `TARGET.x.y`, in expressions.

use crate::ad::{Expression, ExpressionKind, Name};

/// Dotted path: its start and the names that follow.
pub struct DottedPath {
    pub start: PathStart,
    pub names: Vec<Name>,
}

/// Place where the first name of a dotted path is looked up.
pub enum PathStart {
    Here,
    /// In the outermost ad: the path begins with a dot.
    Root,
    /// In a literal ad, which begins the path as in `[ a = b ].a`.
    Ad(Expression),
}

impl DottedPath {
    /// Splits an expression into a dotted path. `Err` holds the computed expression at the beginning and the names
    /// selected from it, in order: `f(a)` and `b`, `c` for `f(a).b.c`.
    pub fn of(expression: &Expression) -> Result<DottedPath, (Expression, Vec<Name>)> {
        let mut names = Vec::new();
        let mut expression = expression;
        let start = loop {
            match expression.without_parentheses().kind() {
                ExpressionKind::Select(inner, name) => {
                    names.push(name.clone());
                    expression = inner;
                }
                ExpressionKind::Attribute(name) => {
                    names.push(name.clone());
                    break Some(PathStart::Here);
                }
                ExpressionKind::RootAttribute(name) => {
                    names.push(name.clone());
                    break Some(PathStart::Root);
                }
                ExpressionKind::Ad(_) => break Some(PathStart::Ad(expression.clone())),
                _ => break None,
            }
        };
        names.reverse();
        match start {
            Some(start) => Ok(DottedPath { start, names }),
            None => Err((expression.clone(), names)),
        }
    }

    /// Returns the index of the first name that is selected from an ad: 1 for `a.b`, 0 for `[ b = 1 ].b`.
    pub fn first_selected(&self) -> usize {
        usize::from(!matches!(self.start, PathStart::Ad(_)))
    }
}
