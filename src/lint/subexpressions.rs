//! The parts of an expression, and the names in it.

use rustc_hash::FxHashSet;

use crate::ad::{Expression, ExpressionKind, Name, OperatorGroup};
use crate::constraint::ClauseOperand;
use crate::eval::FunctionKind;

/// Returns an expression and all that it contains.
pub(super) fn subexpressions(expression: &Expression) -> impl Iterator<Item = &Expression> {
    let mut pending = vec![expression];
    std::iter::from_fn(move || {
        let next = pending.pop()?;
        next.kind().for_each_child(|child| pending.push(child));
        Some(next)
    })
}

/// Returns the names of the attributes that an expression may read from its own ad. These are unqualified names, and
/// names qualified as the ad's own, such as `MY.Memory`.
pub(super) fn own_names(expression: &Expression) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match (expression.kind(), ClauseOperand::of(expression)) {
            (ExpressionKind::Ad(_), _) => {}
            (ExpressionKind::Parentheses(inner), _) => pending.push(inner),
            (_, Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name))) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            (kind, _) => for_each_in_scope(kind, |child| pending.push(child)),
        }
    }
    names
}

/// Returns the parts that an expression guards against being undefined: by `isUndefined`, `=?=`, `=!=` or `?:`.
pub(super) fn guarded_parts(expression: &Expression) -> impl Iterator<Item = &Expression> {
    subexpressions(expression).flat_map(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) if function.is("isUndefined") => arguments.iter().collect(),
        ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Identity => {
            vec![left, right]
        }
        ExpressionKind::Elvis(left, _) => vec![left],
        _ => Vec::new(),
    })
}

/// Returns the names among the [`guarded_parts`] of an expression.
pub(super) fn guarded_names(expression: &Expression) -> FxHashSet<&Name> {
    let name = |operand| match ClauseOperand::of(operand) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name),
        _ => None,
    };
    guarded_parts(expression).filter_map(name).collect()
}

/// Visits the direct subexpressions whose names are resolved in the scope of the expression. Skips the first argument
/// of functions such as `countMatches`, which evaluate this argument in each ad of a list.
pub(super) fn for_each_in_scope<'e>(kind: &'e ExpressionKind, mut visit: impl FnMut(&'e Expression)) {
    match kind {
        ExpressionKind::Call(name, arguments) if FunctionKind::of(name) == Some(FunctionKind::EvaluatesElsewhere) => {
            arguments.iter().skip(1).for_each(visit);
        }
        kind => kind.for_each_child(&mut visit),
    }
}
