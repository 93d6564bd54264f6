//! Trees for people: how an expression is built, and the value of each of its parts.

use std::io::{self, Write};
use std::sync::Arc;

use classad::ad::{Expression, Frame, Kind, Value};
use classad::constraint::stands_for_a_side;
use classad::eval::Evaluator;
use classad::syntax::{Style, print, print_name, print_value};

/// Levels that are shown; what is deeper is printed on one line.
const DEEPEST: usize = 40;

/// Writes the tree of an expression, its root on the line that has been begun.
pub fn tree(out: &mut dyn Write, expression: &Expression, indent: usize) -> io::Result<()> {
    branch(out, expression, indent, &mut |_| None)
}

/// Writes the tree of an expression with the value of each part but the two ads themselves.
pub fn values(
    out: &mut dyn Write,
    expression: &Expression,
    frame: &Arc<Frame>,
    evaluator: &mut Evaluator<'_>,
) -> io::Result<()> {
    branch(out, expression, 0, &mut |part| {
        Some(match evaluator.evaluate(part, frame) {
            // Whose ad it is is known, and it may have been read only in part.
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

/// Whether an expression is what one ad of a pair calls itself or the other.
fn is_side(expression: &Expression) -> bool {
    matches!(expression.kind(), Kind::Attribute(name) if stands_for_a_side(name))
}

/// What a node is, without what is below it.
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
