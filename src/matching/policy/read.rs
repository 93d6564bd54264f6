//! A policy as it stands in a YAML file.

use std::collections::BTreeSet;

use crate::ad::{Dialect, Name, nearest};
use crate::format::Problem;
use crate::format::outline::{Content, Node, Outline};
use crate::syntax::{Rules, parse_expression};

use super::{Policy, Residual, Rule, Share};

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, in the order of the text: what is no YAML, unknown keys, keys given twice,
    /// expressions that cannot be read, priorities that are no positive numbers.
    pub fn parse(text: &[u8], dialect: Dialect) -> Result<Policy, Vec<Problem>> {
        let outline = Outline::parse(text).map_err(|problem| vec![problem])?;
        let mut reader = Reader { outline: &outline, dialect, problems: Vec::new() };
        let policy = reader.policy();
        reader.finish(policy)
    }
}

/// Reads settings, and goes on after what is wrong.
pub struct Reader<'o> {
    pub outline: &'o Outline<'o>,
    pub dialect: Dialect,
    pub problems: Vec<Problem>,
}

impl<'o> Reader<'o> {
    /// What was read, if nothing is wrong.
    pub fn finish<T>(mut self, read: T) -> Result<T, Vec<Problem>> {
        self.problems.sort_by_key(|problem| problem.range.start);
        if self.problems.is_empty() { Ok(read) } else { Err(self.problems) }
    }

    pub fn wrong(&mut self, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.outline.problem(node, message).with_help(help));
    }

    fn policy(&mut self) -> Policy {
        let mut policy = Policy::default();
        let outline = self.outline;
        for (key, value) in
            self.settings(&outline.root, "a policy", &["roots", "order", "docking", "residual", "share"])
        {
            match key {
                "roots" => policy.roots = self.rule(value),
                "order" => policy.order = self.vector(value),
                "docking" => policy.docking = self.vector(value),
                "residual" => policy.residual = Some(self.residual(value)),
                _ => policy.share = self.share(value),
            }
        }
        policy
    }

    fn residual(&mut self, node: &'o Node) -> Residual {
        let mut residual = Residual::default();
        for (key, value) in self.settings(node, "residual", &["when", "set", "while"]) {
            match key {
                "when" => residual.when = self.rule(value),
                "while" => residual.while_true = self.rule(value),
                _ => {
                    for (name, value) in self.entries(value, "set") {
                        let attribute = Name::new(name.text().unwrap_or_default());
                        if attribute.as_str().is_empty()
                            || (self.dialect == Dialect::Classad && attribute.is_reserved())
                        {
                            let message = format!("`{attribute}` cannot name an attribute");
                            self.wrong(name, message, "`set` holds the attributes of the remainder: `Cpus: ...`");
                        }
                        let rule = self.rule(value);
                        residual.set.extend(rule.map(|rule| (attribute, rule)));
                    }
                }
            }
        }
        residual
    }

    fn share(&mut self, node: &'o Node) -> Option<Share> {
        let (mut by, mut priorities, mut has_by) = (None, Vec::new(), false);
        for (key, value) in self.settings(node, "share", &["by", "priorities"]) {
            if key == "by" {
                (by, has_by) = (self.rule(value), true);
                continue;
            }
            for (name, value) in self.entries(value, "priorities") {
                if let Some(priority) = self.positive(value) {
                    priorities.push((name.text().unwrap_or_default().to_owned(), priority));
                }
            }
        }
        if !has_by && matches!(node.content, Content::Mapping(_)) {
            self.wrong(node, "`by` is missing", "it says who submitted a request: `by: Owner`");
        }
        by.map(|by| Share { by, priorities })
    }

    /// A number above zero.
    pub fn positive(&mut self, node: &Node) -> Option<f64> {
        let number = node.text().and_then(|text| text.parse::<f64>().ok());
        let positive = number.filter(|number| number.is_finite() && *number > 0.0);
        if positive.is_none() {
            self.wrong(node, "this is no positive number", "the larger a priority, the smaller the share");
        }
        positive
    }

    /// Several expressions, or one; a list of the language is the vector of its elements (thesis, Figure 9).
    fn vector(&mut self, node: &'o Node) -> Vec<Rule> {
        match &node.content {
            Content::Sequence(components) if components.is_empty() => {
                self.wrong(node, "this vector has no components", "leave the key out for what is usual");
                Vec::new()
            }
            Content::Sequence(components) => components.iter().filter_map(|component| self.rule(component)).collect(),
            _ => self.rule(node).into_iter().flat_map(Rule::components).collect(),
        }
    }

    fn rule(&mut self, node: &Node) -> Option<Rule> {
        let Some(text) = node.text() else {
            let what = match node.content {
                Content::Nothing => "nothing",
                Content::Mapping(_) => "a mapping",
                _ => "a sequence",
            };
            let help = "an expression that begins with `{`, `[` or `!` stands in quotes";
            self.wrong(node, format!("an expression is wanted here, not {what}"), help);
            return None;
        };
        match parse_expression(text.as_bytes(), Rules::new(self.dialect)) {
            Ok(expression) => Some(Rule { expression, range: Some(self.outline.range(node)) }),
            Err(error) => {
                self.problems.push(self.outline.syntax_problem(node, error));
                None
            }
        }
    }

    /// The entries of a mapping whose keys must be some of these, each once.
    pub fn settings(&mut self, node: &'o Node, what: &str, known: &[&'static str]) -> Vec<(&'static str, &'o Node)> {
        let mut found = Vec::new();
        for (key, value) in self.entries(node, what) {
            let text = key.text().unwrap_or_default();
            if let Some(known) = known.iter().find(|known| **known == text) {
                found.push((*known, value));
                continue;
            }
            let near = nearest(text, known.iter().copied());
            let all = || format!("`{}` can stand here", known.join("`, `"));
            let help = near.first().map_or_else(all, |near| format!("did you mean `{near}`?"));
            self.wrong(key, format!("there is no `{text}` in {what}"), help);
        }
        found
    }

    /// The entries of a mapping; no key may be there twice.
    pub fn entries(&mut self, node: &'o Node, what: &str) -> Vec<(&'o Node, &'o Node)> {
        let Content::Mapping(entries) = &node.content else {
            self.wrong(node, format!("{what} must be a mapping"), "`key: value`, a line for each");
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        for (key, _) in entries {
            let text = key.text().unwrap_or_default();
            if !seen.insert(text) {
                self.wrong(key, format!("`{text}` is given twice"), "only one of them can count");
            }
        }
        entries.iter().map(|(key, value)| (key, value)).collect()
    }
}

#[cfg(test)]
mod tests;
