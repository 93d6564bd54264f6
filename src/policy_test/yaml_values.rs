//! Converts YAML nodes of a spec to values, expressions, ads and words.

use std::collections::HashSet;

use crate::ad::{Ad, Dialect, ErrorCause, Expression, Name, Value};
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode};

/// Returns the value of the first entry with this key. `None` if no entry has the key.
pub fn value_of<'o>(entries: &[(&str, &'o YamlNode)], key: &str) -> Option<&'o YamlNode> {
    entries.iter().find(|(other, _)| *other == key).map(|(_, value)| *value)
}

/// Reads a mapping as an ad. With `words`, the strings `undefined` and `error` stand for these two values. `None` after
/// reporting an error.
pub fn read_ad(reader: &mut ConfigReader<'_>, node: &YamlNode, words: bool) -> Option<Ad> {
    let YamlContent::Mapping(entries) = &node.content else {
        reader.report(node, "attributes must be a mapping", "write each on a line: `Memory: 64`");
        return None;
    };
    let mut seen: HashSet<Name> = HashSet::new();
    let mut found = Vec::new();
    for (key, value) in entries {
        let text = key.text().unwrap_or_default();
        let name = Name::new(text);
        if text.is_empty() || (reader.dialect == Dialect::Classad && name.is_reserved()) {
            let message = format!("`{text}` cannot name an attribute");
            reader.report(key, message, "a name is not empty; reserved words are names only with `dialect: condor`");
        } else if text == "<<" {
            reader.report(key, "`<<` has no effect here", "write `{ like: machine, with: { Memory: 64 } }`");
        } else if !seen.insert(name.clone()) {
            reader.report(key, format!("the attribute `{text}` is given twice"), "names are not case-sensitive");
        }
        found.extend(read_expression(reader, value, words).map(|value| (name, value)));
    }
    Some(found.into_iter().collect())
}

/// Reads a node as an expression: a YAML value, a list, an ad, or a tagged expression such as `!expr x + 1`. `None`
/// after reporting an error.
pub fn read_expression(reader: &mut ConfigReader<'_>, node: &YamlNode, words: bool) -> Option<Expression> {
    Some(match (&node.content, &node.value) {
        (YamlContent::Scalar(text), Some(Value::String(_))) if words && text == "undefined" => {
            Expression::literal(Value::Undefined)
        }
        (YamlContent::Scalar(text), Some(Value::String(_))) if words && text == "error" => {
            Expression::literal(Value::Error(ErrorCause::default()))
        }
        (YamlContent::Scalar(text), Some(Value::String(_))) if text.contains('\0') => {
            reader.report(node, "an ad cannot contain a byte of value 0", "leave the `\\0` out");
            return None;
        }
        (_, Some(value)) => Expression::literal(value.clone()),
        (YamlContent::Sequence(elements), None) => {
            Expression::list(elements.iter().filter_map(|element| read_expression(reader, element, words)))
        }
        (YamlContent::Mapping(_), None) => Expression::ad(read_ad(reader, node, words)?),
        _ => return reader.expression(node),
    })
}

/// Reads a sequence of words, or a single word as a sequence of one.
pub fn read_words(reader: &mut ConfigReader<'_>, node: &YamlNode) -> Vec<String> {
    let nodes = match &node.content {
        YamlContent::Sequence(elements) => elements,
        _ => std::slice::from_ref(node),
    };
    let mut words = Vec::new();
    for node in nodes {
        match node.text() {
            Some(text) => words.push(text.to_owned()),
            None => reader.report(node, "expected a word", "write `[ a, b ]`, or one word"),
        }
    }
    words
}
