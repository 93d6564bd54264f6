//! Reads a policy from YAML.

mod shares;

use crate::ad::{Dialect, Name};
use crate::format::Problem;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode, YamlTree};

use super::{ListTaking, Policy, PolicyRule, Residual};

impl Policy {
    /// Reads a policy from a YAML text.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text in textual order: invalid YAML, unknown and repeated keys, invalid expressions,
    /// and priorities that are not positive numbers.
    pub fn parse(text: &[u8], dialect: Dialect) -> Result<Policy, Vec<Problem>> {
        let outline = YamlTree::parse(text).map_err(|problem| vec![problem])?;
        let mut settings = ConfigReader::new(&outline, dialect);
        let policy = Policy::read(&mut settings, &outline.root);
        settings.finish(policy)
    }

    /// Reads a policy from a node of a larger YAML text. Errors are collected in `settings`.
    pub fn read<'o>(settings: &mut ConfigReader<'o>, node: &'o YamlNode) -> Policy {
        PolicyReader(settings).policy(node)
    }
}

/// The keys of a policy.
pub const POLICY_KEYS: [&str; 9] =
    ["variables", "roots", "order", "docking", "residual", "share", "limits", "requests", "offers"];

/// Reads policies and their parts from YAML nodes; the wrapped `ConfigReader` collects the errors.
pub struct PolicyReader<'o, 's>(pub &'s mut ConfigReader<'o>);

/// Maximum number of components of a vector of a policy. The values of `order` are held for all requests.
pub const MAX_COMPONENTS: usize = 256;

impl<'o> PolicyReader<'o, '_> {
    fn policy(&mut self, node: &'o YamlNode) -> Policy {
        let mut policy = Policy::default();
        for (key, value) in self.0.known_entries(node, "a policy", &POLICY_KEYS) {
            match key {
                // The values of variables are in the text already: see [`super::expand_variables`].
                "variables" => {}
                "roots" => policy.roots = self.rule(value),
                "order" => policy.order = self.vector(value),
                "docking" => policy.docking = self.vector(value),
                "residual" => policy.residual = Some(self.residual(value)),
                "share" => policy.share = self.share(value),
                "limits" => policy.limits = Some(self.limits(value)),
                "requests" => policy.request_attributes = self.attributes(value, "requests"),
                _ => policy.offer_attributes = self.attributes(value, "offers"),
            }
        }
        policy
    }

    fn residual(&mut self, node: &'o YamlNode) -> Residual {
        let mut residual = Residual::default();
        for (key, value) in self.0.known_entries(node, "residual", &["when", "set", "take", "while"]) {
            match key {
                "when" => residual.when = self.rule(value),
                "while" => residual.while_true = self.rule(value),
                "take" => residual.take = self.takings(value),
                _ => residual.set = self.attributes(value, "set"),
            }
        }
        residual
    }

    /// Reads `take`: for each list a count, or a mapping of `count` and `if`.
    fn takings(&mut self, node: &'o YamlNode) -> Vec<ListTaking> {
        let mut takings = Vec::new();
        for (name, value) in self.0.entries(node, "take") {
            let (mut count, mut fits) = (None, None);
            if matches!(value.content, YamlContent::Mapping(_)) {
                for (key, value) in self.0.known_entries(value, "take", &["count", "if"]) {
                    match key {
                        "count" => count = self.rule(value),
                        _ => fits = self.rule(value),
                    }
                }
            } else {
                count = self.rule(value);
            }
            let list = Name::new(name.text().unwrap_or_default());
            takings.extend(count.map(|count| ListTaking { list, count, fits }));
        }
        takings
    }

    /// Reads a mapping of attributes to expressions.
    fn attributes(&mut self, node: &'o YamlNode, what: &str) -> Vec<(Name, PolicyRule)> {
        let mut attributes = Vec::new();
        for (name, value) in self.0.entries(node, what) {
            let attribute = Name::new(name.text().unwrap_or_default());
            if attribute.as_str().is_empty() || (self.0.dialect == Dialect::Classad && attribute.is_reserved()) {
                let message = format!("`{attribute}` cannot name an attribute");
                self.0.report(name, message, format!("`{what}` holds attributes: `Cpus: ...`"));
            }
            attributes.extend(self.rule(value).map(|rule| (attribute, rule)));
        }
        attributes
    }

    /// Reads a positive number. Reports an error and returns `None` if the node holds anything else.
    pub fn positive_number(&mut self, node: &YamlNode) -> Option<f64> {
        let number = node.text().and_then(|text| text.parse::<f64>().ok());
        let positive = number.filter(|number| number.is_finite() && *number > 0.0);
        if positive.is_none() {
            self.0.report(node, "expected a number greater than 0", "write a number such as `10`");
        }
        positive
    }

    /// Reads the components of a vector from a YAML sequence, or from a single expression. If the expression is a list
    /// such as `{ a, b }`, each element is a component (thesis Figure 9).
    fn vector(&mut self, node: &'o YamlNode) -> Vec<PolicyRule> {
        match &node.content {
            YamlContent::Sequence(components) if components.is_empty() => {
                self.0.report(node, "this vector has no components", "delete the key to use the default");
                Vec::new()
            }
            YamlContent::Sequence(components) if components.len() > MAX_COMPONENTS => {
                let message = format!("this vector has more than {MAX_COMPONENTS} components");
                self.0.report(node, message, "join components, or leave out components that never decide");
                Vec::new()
            }
            YamlContent::Sequence(components) => {
                components.iter().filter_map(|component| self.component(component)).collect()
            }
            _ => self.rule(node).into_iter().flat_map(PolicyRule::components).collect(),
        }
    }

    /// Reads a component of a vector: an expression, or `name: expression`.
    fn component(&mut self, node: &YamlNode) -> Option<PolicyRule> {
        // The `?` in the key of `a ? b: c` shows that this is an expression without quotation marks.
        let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || " -_".contains(letter));
        if let YamlContent::Mapping(entries) = &node.content
            && let [(key, value)] = entries.as_slice()
            && let Some(name) = key.text().filter(|name| is_name(name))
        {
            return Some(PolicyRule { name: Some(name.into()), ..self.rule(value)? });
        }
        self.rule(node)
    }

    fn rule(&mut self, node: &YamlNode) -> Option<PolicyRule> {
        let expression = self.0.expression(node)?;
        Some(PolicyRule { expression, range: Some(self.0.tree.range(node)), name: None })
    }
}

#[cfg(test)]
mod tests;
