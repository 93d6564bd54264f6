//! Expressions as indented trees, with or without the value of each node.

use std::io::{self, Write};
use std::sync::Arc;

use classad::ad::{Expression, ExpressionKind, ScopeFrame, Value};
use classad::constraint::is_side_name;
use classad::eval::Evaluator;
use classad::syntax::print_name;
use rustc_hash::FxHashSet;

/// Maximum number of levels drawn as a tree; deeper subexpressions are printed on one line.
const MAX_LEVELS: usize = 40;

/// Writes the tree of an expression, one node a line. The first line has no indentation, so that the caller can write
/// text before it.
pub fn write_tree(out: &mut dyn Write, expression: &Expression, indent: usize) -> io::Result<()> {
    writeln!(out, "{}", node_label(expression, indent))?;
    write_children(out, expression, indent, &mut |out, child| write_tree(out, child, indent + 2))
}

/// Writes the tree of an expression with the value of each node. Under the first reference to an attribute stands the
/// tree of its expression. References to a whole ad, such as `MY`, are written without a value.
pub fn write_value_tree(
    out: &mut dyn Write,
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    evaluator: &mut Evaluator<'_>,
) -> io::Result<()> {
    ValueTreeWriter { evaluator, shown: FxHashSet::default() }.write(out, expression, frame, 0)
}

struct ValueTreeWriter<'w, 'e> {
    evaluator: &'w mut Evaluator<'e>,
    /// The attributes whose trees were written: the identities of their expressions and of their ads.
    shown: FxHashSet<(usize, usize)>,
}

impl ValueTreeWriter<'_, '_> {
    fn write(
        &mut self,
        out: &mut dyn Write,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
        indent: usize,
    ) -> io::Result<()> {
        let head = node_label(expression, indent);
        match self.value(expression, frame) {
            Some(value) => writeln!(out, "{head}  ->  {value}")?,
            None => writeln!(out, "{head}")?,
        }
        if let Ok(Some((bound, scope))) = self.evaluator.referent(expression, frame)
            && !matches!(bound.kind(), ExpressionKind::Literal(_) | ExpressionKind::Ad(_))
            && !is_deep(indent)
            && self.shown.insert((bound.identity(), scope.ad.identity()))
        {
            write!(out, "{:indent$}  = ", "")?;
            self.write(out, &bound, &scope, indent + 2)?;
        }
        write_children(out, expression, indent, &mut |out, child| self.write(out, child, frame, indent + 2))
    }

    /// Returns the text of the value of a node. `None` for a name such as `MY`, which already says which ad the value
    /// is. The ad's text is left out, as the ad may have been read only in part.
    fn value(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Option<String> {
        let is_side = matches!(expression.kind(), ExpressionKind::Attribute(name) if is_side_name(name));
        match self.evaluator.evaluate(expression, frame) {
            Ok(Value::Ad(_)) if is_side => None,
            Ok(value) => {
                Some(value.error_origin().map_or_else(|| value.to_string(), |origin| format!("{value}: {origin}")))
            }
            Err(halt) => Some(halt.to_string()),
        }
    }
}

/// Whether subexpressions at this indentation are printed on one line.
fn is_deep(indent: usize) -> bool {
    indent > 2 * MAX_LEVELS
}

/// Writes the children of a node with `write`, each behind its indentation. The attributes of an ad have no values.
fn write_children(
    out: &mut dyn Write,
    expression: &Expression,
    indent: usize,
    write: &mut dyn FnMut(&mut dyn Write, &Expression) -> io::Result<()>,
) -> io::Result<()> {
    if is_deep(indent) {
        return Ok(());
    }
    if let ExpressionKind::Ad(ad) = expression.kind() {
        for attribute in ad.iter() {
            write!(out, "{:indent$}  {} = ", "", print_name(attribute.name))?;
            write_tree(out, attribute.expression, indent + 2)?;
        }
        return Ok(());
    }
    if is_of_side(expression) {
        return Ok(());
    }
    let mut children = Vec::new();
    expression.kind().for_each_child(|child| children.push(child));
    for child in children {
        write!(out, "{:indent$}  ", "")?;
        write(out, child)?;
    }
    Ok(())
}

/// Whether an expression is an attribute of a side, such as `TARGET.Memory`. It is one node.
fn is_of_side(expression: &Expression) -> bool {
    let ExpressionKind::Select(subject, _) = expression.kind() else { return false };
    matches!(subject.kind(), ExpressionKind::Attribute(name) if is_side_name(name))
}

/// Returns the text of a node without its children, or with them if they are not drawn as a tree.
fn node_label(expression: &Expression, indent: usize) -> String {
    match expression.kind() {
        _ if is_deep(indent) || is_of_side(expression) => expression.to_string(),
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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::{Context, Environment};
    use classad::syntax::{ParseOptions, parse_ad, parse_expression};

    use super::{Evaluator, write_tree, write_value_tree};

    const OPTIONS: fn() -> ParseOptions = || ParseOptions::new(Dialect::Classad);

    #[test]
    fn each_kind_of_expression_has_its_label() {
        for (text, expected) in [
            ("1", "1\n"),
            ("a", "a\n"),
            (".a", ".a\n"),
            ("-a", "-\n    a\n"),
            ("a + 1", "+\n    a\n    1\n"),
            ("a ? 1 : 2", "? :\n    a\n    1\n    2\n"),
            ("a ?: 2", "?:\n    a\n    2\n"),
            ("(a)", "( )\n    a\n"),
            ("a[1]", "[ ] of\n    a\n    1\n"),
            ("a.b", ".b of\n    a\n"),
            // An attribute of a side is one thing.
            ("other.b", "other.b\n"),
            ("my.b.c", ".c of\n    my.b\n"),
            ("f(1, a)", "f()\n    1\n    a\n"),
            ("{ }", "list of 0\n"),
            ("{ 1, { 2 } }", "list of 2\n    1\n    list of 1\n      2\n"),
            ("[ x = 1 + a; y = 2 ]", "ad of 2\n    x = +\n      1\n      a\n    y = 2\n"),
        ] {
            let mut out = Vec::new();
            write_tree(&mut out, &parse_expression(text.as_bytes(), OPTIONS()).unwrap(), 2).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_deep_expression_ends_in_one_line() {
        let mut out = Vec::new();
        let text = format!("{}1{}", "(".repeat(60), ")".repeat(60));
        write_tree(&mut out, &parse_expression(text.as_bytes(), OPTIONS()).unwrap(), 0).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown.lines().count(), 42, "{shown}");
        let last = shown.lines().last().unwrap();
        assert_eq!(last, format!("{}{}1{}", " ".repeat(82), "(".repeat(19), ")".repeat(19)));
    }

    #[test]
    fn attributes_that_are_read_have_their_values() {
        for (ad, text, expected) in [
            ("[ a = 1 ]", "a", "a  ->  1\n"),
            ("[ a = b; b = 2 ]", "a", "a  ->  2\n  = b  ->  2\n"),
            (
                "[ a = b + 1; b = 2 ]",
                "a + a",
                "+  ->  6\n  a  ->  3\n    = +  ->  3\n      b  ->  2\n      1  ->  1\n  a  ->  3\n",
            ),
            ("[ a = [ x = 1 ] ]", "a.x", ".x of  ->  1\n  a  ->  [ x = 1 ]\n"),
            ("[ a = 1 ]", "self.a", "self.a  ->  1\n"),
            ("[ a = 1 ]", "self", "self\n"),
            ("[ a = 1 ]", "a / 0", "/  ->  error: division by zero\n  a  ->  1\n  0  ->  0\n"),
        ] {
            let ad = parse_ad(ad.as_bytes(), OPTIONS()).unwrap();
            let expression = parse_expression(text.as_bytes(), OPTIONS()).unwrap();
            let ((environment, frame), context) = (Environment::known(Some(ad), None), Context::new(Dialect::Classad));
            let mut out = Vec::new();
            write_value_tree(&mut out, &expression, &frame, &mut Evaluator::new(&environment, &context)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text}");
        }
    }
}
