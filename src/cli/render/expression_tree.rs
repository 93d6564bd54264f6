//! Expressions as indented trees, with or without the value of each node.

use std::io::{self, Write};
use std::sync::Arc;

use classad::ad::{Expression, ExpressionKind, ScopeFrame, Value};
use classad::constraint::is_side_name;
use classad::eval::Evaluator;
use classad::syntax::print_name;

/// Maximum number of levels drawn as a tree; deeper subexpressions are printed on one line.
const MAX_LEVELS: usize = 40;

/// Writes the tree of an expression, one node a line. The first line has no indentation, so that the caller can write
/// text before it.
pub fn write_tree(out: &mut dyn Write, expression: &Expression, indent: usize) -> io::Result<()> {
    write_branch(out, expression, indent, &mut |_| None)
}

/// Writes the tree of an expression with the value of each node. References to a whole ad, such as `MY`, are written
/// without a value.
pub fn write_value_tree(
    out: &mut dyn Write,
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    evaluator: &mut Evaluator<'_>,
) -> io::Result<()> {
    write_branch(out, expression, 0, &mut |part| {
        let is_side = matches!(part.kind(), ExpressionKind::Attribute(name) if is_side_name(name));
        match evaluator.evaluate(part, frame) {
            // A name such as `MY` already says which ad the value is. The ad's text is left out, as the ad may have
            // been read only in part.
            Ok(Value::Ad(_)) if is_side => None,
            Ok(value) => {
                Some(value.error_origin().map_or_else(|| value.to_string(), |origin| format!("{value}: {origin}")))
            }
            Err(halt) => Some(halt.to_string()),
        }
    })
}

fn write_branch(
    out: &mut dyn Write,
    expression: &Expression,
    indent: usize,
    value: &mut dyn FnMut(&Expression) -> Option<String>,
) -> io::Result<()> {
    let deep = indent > 2 * MAX_LEVELS;
    let head = if deep { expression.to_string() } else { node_label(expression) };
    match value(expression) {
        Some(value) => writeln!(out, "{head}  ->  {value}")?,
        None => writeln!(out, "{head}")?,
    }
    if deep {
        return Ok(());
    }
    if let ExpressionKind::Ad(ad) = expression.kind() {
        for attribute in ad.iter() {
            write!(out, "{:indent$}  {} = ", "", print_name(attribute.name))?;
            write_branch(out, attribute.expression, indent + 2, &mut |_| None)?;
        }
        return Ok(());
    }
    let mut children = Vec::new();
    expression.kind().for_each_child(|child| children.push(child));
    for child in children {
        write!(out, "{:indent$}  ", "")?;
        write_branch(out, child, indent + 2, value)?;
    }
    Ok(())
}

/// Returns the text of a node without its children.
fn node_label(expression: &Expression) -> String {
    match expression.kind() {
        ExpressionKind::Unary(operator, _) => operator.symbol().to_owned(),
        ExpressionKind::Binary(operator, ..) => operator.symbol().to_owned(),
        ExpressionKind::Conditional(..) => "? :".to_owned(),
        ExpressionKind::Elvis(..) => "?:".to_owned(),
        ExpressionKind::Parentheses(_) => "( )".to_owned(),
        ExpressionKind::Subscript(..) => "[ ] of".to_owned(),
        ExpressionKind::Select(_, name) => format!(".{} of", print_name(name)),
        ExpressionKind::Call(name, _) => format!("{name}()"),
        ExpressionKind::List(elements) => format!("list of {}", elements.len()),
        ExpressionKind::Ad(ad) => format!("ad of {}", ad.len()),
        ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {
            expression.to_string()
        }
    }
}
