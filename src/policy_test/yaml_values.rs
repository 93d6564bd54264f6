//! Converts YAML nodes of a spec to values, expressions, ads and words.

use std::collections::HashSet;

use crate::ad::{Ad, Cause, Dialect, Expression, Kind, Name, Span, Value};
use crate::format::document_tree::{Content, Node, Settings};

/// Reads a mapping as an ad. With `words`, the strings `undefined` and `error` denote these values. `None` after
/// reporting an error.
pub fn attributes(settings: &mut Settings<'_>, node: &Node, words: bool) -> Option<Ad> {
    let Content::Mapping(entries) = &node.content else {
        settings.wrong(node, "attributes must be a mapping", "`Memory: 64`, a line for each");
        return None;
    };
    let mut seen: HashSet<Name> = HashSet::new();
    let mut found = Vec::new();
    for (key, value) in entries {
        let text = key.text().unwrap_or_default();
        let name = Name::new(text);
        if text.is_empty() || (settings.dialect == Dialect::Classad && name.is_reserved()) {
            settings.wrong(
                key,
                format!("`{text}` cannot name an attribute"),
                "HTCondor allows more names: `dialect: condor`",
            );
        } else if text == "<<" {
            settings.wrong(key, "`<<` merges nothing here", "`{ like: machine, with: { Memory: 64 } }` does");
        } else if !seen.insert(name.clone()) {
            settings.wrong(key, format!("the attribute `{text}` is given twice"), "case does not count in names");
        }
        found.extend(expression(settings, value, words).map(|value| (name, value)));
    }
    Some(found.into_iter().collect())
}

/// Reads a node as an expression: a YAML value, a list, an ad, or a tagged expression. `None` after reporting an error.
pub fn expression(settings: &mut Settings<'_>, node: &Node, words: bool) -> Option<Expression> {
    let kind = match (&node.content, &node.value) {
        (Content::Scalar(text), Some(Value::String(_))) if words && text == "undefined" => {
            return Some(Expression::literal(Value::Undefined));
        }
        (Content::Scalar(text), Some(Value::String(_))) if words && text == "error" => {
            return Some(Expression::literal(Value::Error(Cause::default())));
        }
        (Content::Scalar(text), Some(Value::String(_))) if text.contains('\0') => {
            settings.wrong(node, "a byte of value 0 cannot stand in an ad", "leave the `\\0` out");
            return None;
        }
        (_, Some(value)) => return Some(Expression::literal(value.clone())),
        (Content::Sequence(elements), None) => {
            Kind::List(elements.iter().filter_map(|element| expression(settings, element, words)).collect())
        }
        (Content::Mapping(_), None) => Kind::Ad(attributes(settings, node, words)?),
        _ => return settings.expression(node),
    };
    Some(Expression::new(kind, Span::default()))
}

/// Reads a sequence of words, or a single word.
pub fn words(settings: &mut Settings<'_>, node: &Node) -> Vec<String> {
    let nodes = match &node.content {
        Content::Sequence(elements) => elements.iter().collect(),
        _ => vec![node],
    };
    let mut words = Vec::new();
    for node in nodes {
        match node.text() {
            Some(text) => words.push(text.to_owned()),
            None => settings.wrong(node, "a word is wanted here", "`[ a, b ]`, or one word"),
        }
    }
    words
}
