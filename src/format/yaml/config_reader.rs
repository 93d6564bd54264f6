//! Reader of settings in YAML: mappings with known keys, and expressions. The reader collects all problems instead of
//! stopping at the first one.

use std::collections::BTreeSet;

use crate::ad::{Dialect, Expression, closest_names};
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};

use super::document_tree::{YamlContent, YamlNode, YamlTree};

/// Reader of the settings in a document. It continues after errors.
pub struct ConfigReader<'o> {
    /// The YAML document that contains the settings.
    pub tree: &'o YamlTree<'o>,
    /// The dialect of the expressions in the settings.
    pub dialect: Dialect,
    /// The problems found so far.
    pub problems: Vec<Problem>,
}

impl<'o> ConfigReader<'o> {
    /// Creates a reader of the settings of a document.
    #[must_use]
    pub fn new(tree: &'o YamlTree<'o>, dialect: Dialect) -> Self {
        ConfigReader { tree, dialect, problems: Vec::new() }
    }

    /// Returns `read`, the settings that were read, if there were no problems.
    ///
    /// # Errors
    ///
    /// All problems, in the order of the text.
    pub fn finish<T>(mut self, read: T) -> Result<T, Vec<Problem>> {
        self.problems.sort_by_key(|problem| problem.range.start);
        if self.problems.is_empty() { Ok(read) } else { Err(self.problems) }
    }

    /// Records a problem at a node, with a hint how to correct the mistake.
    pub fn report(&mut self, node: &YamlNode, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.tree.problem(node, message).with_help(help));
    }

    /// Parses a scalar as an expression. Records a problem and returns `None` if the node is not an expression.
    pub fn expression(&mut self, node: &YamlNode) -> Option<Expression> {
        let Some(text) = node.text() else {
            const QUOTES: &str = "put an expression in quotes if it has `: ` or begins with `{`, `[` or `!`";
            let (what, help) = match node.content {
                YamlContent::Null => ("an empty value", "write the expression after the key"),
                YamlContent::Mapping(_) => ("a mapping", QUOTES),
                _ => ("a sequence", QUOTES),
            };
            self.report(node, format!("expected an expression, not {what}"), help);
            return None;
        };
        match parse_expression(text.as_bytes(), ParseOptions::new(self.dialect)) {
            Ok(expression) => Some(expression),
            Err(error) => {
                self.problems.push(self.tree.syntax_problem(node, error));
                None
            }
        }
    }

    /// Returns the entries of a mapping. An entry is left out and recorded as a problem if its key is not in `known`.
    /// Also records a problem for each repeated key, or if the node is not a mapping. `what` names the mapping in
    /// messages.
    pub fn known_entries(
        &mut self,
        node: &'o YamlNode,
        what: &str,
        known: &[&'static str],
    ) -> Vec<(&'static str, &'o YamlNode)> {
        let mut found = Vec::new();
        for (key, value) in self.entries(node, what) {
            let text = key.text().unwrap_or_default();
            found.extend(self.known_key((key, text), what, known).map(|known| (known, value)));
        }
        found
    }

    /// Returns the one of `known` keys that is written in a node. Records a problem if none is.
    pub fn known_key(
        &mut self,
        (node, written): (&'o YamlNode, &str),
        what: &str,
        known: &[&'static str],
    ) -> Option<&'static str> {
        let found = known.iter().find(|known| **known == written).copied();
        if found.is_none() {
            let near = closest_names(written, known.iter().copied());
            let all = || format!("the keys are `{}`", known.join("`, `"));
            let help = near.first().map_or_else(all, |near| format!("did you mean `{near}`?"));
            self.report(node, format!("{what} has no key `{written}`"), help);
        }
        found
    }

    /// Returns the entries of a mapping as pairs of key and value. Records a problem for each repeated key, or if the
    /// node is not a mapping. `what` names the mapping in messages.
    pub fn entries(&mut self, node: &'o YamlNode, what: &str) -> Vec<(&'o YamlNode, &'o YamlNode)> {
        let YamlContent::Mapping(entries) = &node.content else {
            self.report(node, format!("{what} must be a mapping"), "write `key: value` on a line for each key");
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        for (key, _) in entries {
            let text = key.text().unwrap_or_default();
            if !seen.insert(text) {
                self.report(key, format!("`{text}` is given twice"), "remove one of them");
            }
        }
        entries.iter().map(|(key, value)| (key, value)).collect()
    }
}
