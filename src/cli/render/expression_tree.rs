//! Expressions as indented trees, with or without the value of each node.

use std::io::{self, Write};
use std::sync::Arc;

use classad::ad::{Expression, Frame, Kind, Value};
use classad::constraint::stands_for_a_side;
use classad::eval::Evaluator;
use classad::syntax::{Style, print, print_name, print_value};

/// Maximum number of levels drawn as a tree; deeper subexpressions are printed on one line.
const DEEPEST: usize = 40;

/// Writes the tree of an expression. The root continues the current line.
pub fn tree(out: &mut dyn Write, expression: &Expression, indent: usize) -> io::Result<()> {
    branch(out, expression, indent, &mut |_| None)
}

/// Writes the tree of an expression with the value of each node. References to the ads themselves have none.
pub fn values(
    out: &mut dyn Write,
    expression: &Expression,
    frame: &Arc<Frame>,
    evaluator: &mut Evaluator<'_>,
) -> io::Result<()> {
    branch(out, expression, 0, &mut |part| {
        Some(match evaluator.evaluate(part, frame) {
            // The name says which ad it is, and the ad may have been read only in part.
            Ok(Value::Ad(_)) if is_side(part) => return None,
            Ok(value) => {
                let text = String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned();
                match value.fault() {
                    Some(fault) => format!("{text}: {fault}"),
                    None => text,
                }
            }
            Err(halt) => halt.to_string(),
        })
    })
}

fn branch(
    out: &mut dyn Write,
    expression: &Expression,
    indent: usize,
    value: &mut dyn FnMut(&Expression) -> Option<String>,
) -> io::Result<()> {
    let deep = indent > 2 * DEEPEST;
    let head =
        if deep { String::from_utf8_lossy(&print(expression, Style::New)).into_owned() } else { head(expression) };
    match value(expression) {
        Some(value) => writeln!(out, "{head}  ->  {value}")?,
        None => writeln!(out, "{head}")?,
    }
    if deep {
        return Ok(());
    }
    if let Kind::Ad(ad) = expression.kind() {
        for attribute in ad.iter() {
            write!(out, "{:indent$}  {} = ", "", print_name(attribute.name))?;
            branch(out, attribute.expression, indent + 2, &mut |_| None)?;
        }
        return Ok(());
    }
    let mut children = Vec::new();
    expression.kind().for_each_child(|child| children.push(child));
    for child in children {
        write!(out, "{:indent$}  ", "")?;
        branch(out, child, indent + 2, value)?;
    }
    Ok(())
}

/// Whether an expression is the reserved name of a side, such as `MY` or `other`.
fn is_side(expression: &Expression) -> bool {
    matches!(expression.kind(), Kind::Attribute(name) if stands_for_a_side(name))
}

/// Returns the text of a node without its children.
fn head(expression: &Expression) -> String {
    match expression.kind() {
        Kind::Unary(operator, _) => operator.symbol().to_owned(),
        Kind::Binary(operator, ..) => operator.symbol().to_owned(),
        Kind::Conditional(..) => "? :".to_owned(),
        Kind::Elvis(..) => "?:".to_owned(),
        Kind::Parentheses(_) => "( )".to_owned(),
        Kind::Subscript(..) => "[ ] of".to_owned(),
        Kind::Select(_, name) => format!(".{} of", print_name(name)),
        Kind::Call(name, _) => format!("{name}()"),
        Kind::List(elements) => format!("list of {}", elements.len()),
        Kind::Ad(ad) => format!("ad of {}", ad.len()),
        Kind::Literal(_) | Kind::Attribute(_) | Kind::RootAttribute(_) => {
            String::from_utf8_lossy(&print(expression, Style::New)).into_owned()
        }
    }
}
