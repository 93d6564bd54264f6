//! Reads a policy from YAML.

mod shares;

use crate::ad::{Dialect, Name};
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::Problem;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode, YamlTree};

use super::leftovers::start_rule;
use super::variables::PolicyVariables;
use super::{Leftovers, ListTaking, Policy, PolicyRule, RankOrder, Residual};

/// The reasons why a policy cannot be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyProblems {
    /// Problems with ranges in the text of the policy.
    pub in_policy: Vec<Problem>,
    /// Problems of values of variables, with ranges in the configuration.
    pub in_configuration: Vec<Problem>,
}

impl Policy {
    /// Reads a policy from a YAML text, with its own values of its variables.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text in textual order: invalid YAML, unknown and repeated keys, invalid expressions,
    /// and priorities that are not positive numbers.
    pub fn parse(text: &[u8], dialect: Dialect) -> Result<Policy, Vec<Problem>> {
        Policy::parse_configured(text, &Configuration::default(), &Context::new(dialect))
            .map_err(|problems| problems.in_policy)
    }

    /// Reads a policy from a YAML text. Its variables have the values of a configuration, or else its own.
    ///
    /// # Errors
    ///
    /// As for [`Policy::parse`], and the problems of those variables of the configuration that the policy uses.
    pub fn parse_configured(
        text: &[u8],
        configuration: &Configuration,
        context: &Context,
    ) -> Result<Policy, PolicyProblems> {
        let in_policy = |in_policy| PolicyProblems { in_policy, ..PolicyProblems::default() };
        let outline = YamlTree::parse(text).map_err(|problem| in_policy(vec![problem]))?;
        let mut settings = ConfigReader::new(&outline, context.dialect);
        let variables = PolicyVariables::new(&outline.root, configuration, context);
        let mut reader = PolicyReader { settings: &mut settings, variables };
        let policy = reader.policy(&outline.root);
        let in_configuration = reader.variables.into_problems();
        match settings.finish(policy) {
            Ok(policy) if in_configuration.is_empty() => Ok(policy),
            Ok(_) => Err(PolicyProblems { in_configuration, ..PolicyProblems::default() }),
            Err(in_policy) => Err(PolicyProblems { in_policy, in_configuration }),
        }
    }

    /// Reads a policy from a node of a larger YAML text. Errors are collected in `settings`.
    pub fn read<'o>(settings: &mut ConfigReader<'o>, node: &'o YamlNode) -> Policy {
        let context = Context::new(settings.dialect);
        let variables = PolicyVariables::new(node, &Configuration::default(), &context);
        PolicyReader { settings, variables }.policy(node)
    }
}

/// The keys of a policy.
pub const POLICY_KEYS: [&str; 11] = [
    "variables",
    "roots",
    "order",
    "docking",
    "start",
    "residual",
    "leftovers",
    "share",
    "limits",
    "requests",
    "offers",
];

/// The keys of `residual`.
const RESIDUAL_KEYS: [&str; 6] = ["when", "set", "take", "while", "keep", "after-worse"];

/// Number of those of [`RESIDUAL_KEYS`] that only divide an offer.
const DIVISION_KEYS: usize = 4;

/// Reads policies and their parts from YAML nodes. The `ConfigReader` collects the errors.
pub struct PolicyReader<'o, 's> {
    settings: &'s mut ConfigReader<'o>,
    variables: PolicyVariables<'o, 's>,
}

/// Maximum number of components of a vector of a policy. The values of `order` are held for all requests.
pub const MAX_COMPONENTS: usize = 256;

impl<'o> PolicyReader<'o, '_> {
    fn policy(&mut self, node: &'o YamlNode) -> Policy {
        let mut policy = Policy::default();
        for (key, value) in self.settings.known_entries(node, "a policy", &POLICY_KEYS) {
            match key {
                // [`PolicyVariables`] reads those that are used.
                "variables" => {}
                "roots" => policy.roots = self.rule(value),
                "order" => policy.order = self.vector(value),
                "docking" => policy.docking = self.vector(value),
                "residual" => policy.residual = Some(self.residual(value, ("residual", &RESIDUAL_KEYS))),
                "start" => {
                    let dialect = self.settings.dialect;
                    policy.start = self.rule(value).and_then(|rule| start_rule(rule, dialect));
                }
                "leftovers" => policy.leftovers = Some(self.leftovers(value)),
                "share" => policy.share = self.share(value),
                "limits" => policy.limits = Some(self.limits(value)),
                "requests" => policy.request_attributes = self.attributes(value, "requests"),
                _ => policy.offer_attributes = self.attributes(value, "offers"),
            }
        }
        policy
    }

    fn residual(&mut self, node: &'o YamlNode, (what, keys): (&str, &[&'static str])) -> Residual {
        let mut residual = Residual::default();
        for (key, value) in self.settings.known_entries(node, what, keys) {
            match key {
                "when" => residual.when = self.rule(value),
                "keep" => residual.keep = self.rule(value),
                "while" => residual.while_true = self.rule(value),
                "after-worse" => residual.after_worse = self.truth(value).unwrap_or_default(),
                "take" => residual.take = self.takings(value),
                _ => residual.set = self.attributes(value, "set"),
            }
        }
        residual
    }

    fn leftovers(&mut self, node: &'o YamlNode) -> Leftovers {
        let mut leftovers = Leftovers::default();
        let keys = &["use", "if", "same-limits", "worklife", "divide"];
        for (key, value) in self.settings.known_entries(node, "leftovers", keys) {
            match key {
                "worklife" => leftovers.worklife = self.rule(value),
                "use" => leftovers.are_used = self.truth(value).unwrap_or_default(),
                "if" => leftovers.permits = self.rule(value),
                "same-limits" => leftovers.considers_limits = self.truth(value).unwrap_or_default(),
                _ => leftovers.division = self.residual(value, ("divide", &RESIDUAL_KEYS[..DIVISION_KEYS])),
            }
        }
        leftovers
    }

    /// Reads `take`: for each list a count, or a mapping of `count` and `if`.
    fn takings(&mut self, node: &'o YamlNode) -> Vec<ListTaking> {
        let mut takings = Vec::new();
        for (name, value) in self.settings.entries(node, "take") {
            let (mut count, mut has_count, mut fits) = (None, false, None);
            if matches!(value.content, YamlContent::Mapping(_)) {
                for (key, value) in self.settings.known_entries(value, "take", &["count", "if"]) {
                    match key {
                        "count" => (count, has_count) = (self.rule(value), true),
                        _ => fits = self.rule(value),
                    }
                }
                if !has_count {
                    self.settings.report(
                        value,
                        "`count` is missing",
                        "write how many elements a request gets: `count: 1`",
                    );
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
        for (name, value) in self.settings.entries(node, what) {
            let attribute = Name::new(name.text().unwrap_or_default());
            if attribute.as_str().is_empty() || (self.settings.dialect == Dialect::Classad && attribute.is_reserved()) {
                let message = format!("`{attribute}` cannot name an attribute");
                self.settings.report(name, message, format!("`{what}` holds attributes: `Cpus: ...`"));
            }
            attributes.extend(self.rule(value).map(|rule| (attribute, rule)));
        }
        attributes
    }

    /// Reads a constant. Reports `message` and returns `None` if `read` does.
    fn constant<T>(
        &mut self,
        node: &YamlNode,
        read: impl FnOnce(&str) -> Option<T>,
        (message, help): (&str, &str),
    ) -> Option<T> {
        let text = self.variables.text(self.settings, node)?;
        let constant = read(&text);
        if constant.is_none() {
            self.variables.report_constant(self.settings, node, message, help);
        }
        constant
    }

    /// Reads the components of a vector from a YAML sequence, or from a single expression. If the expression is a list
    /// such as `{ a, b }`, each element is a component (thesis Figure 9).
    fn vector(&mut self, node: &'o YamlNode) -> Vec<PolicyRule> {
        match &node.content {
            YamlContent::Sequence(components) if components.is_empty() => {
                self.settings.report(node, "this vector has no components", "delete the key to use the default");
                Vec::new()
            }
            YamlContent::Sequence(components) if components.len() > MAX_COMPONENTS => {
                let message = format!("this vector has more than {MAX_COMPONENTS} components");
                self.settings.report(node, message, "join components, or leave out components that never decide");
                Vec::new()
            }
            YamlContent::Sequence(components) => {
                components.iter().filter_map(|component| self.component(component)).collect()
            }
            _ => self.rule(node).into_iter().flat_map(PolicyRule::components).collect(),
        }
    }

    /// Reads a component of a vector: an expression, `name: expression`, or `name: { rank: ..., otherwise: ... }`.
    fn component(&mut self, node: &'o YamlNode) -> Option<PolicyRule> {
        // The `?` in the key of `a ? b: c` shows that this is an expression without quotation marks.
        let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || " -_".contains(letter));
        if let YamlContent::Mapping(entries) = &node.content
            && let [(key, value)] = entries.as_slice()
            && let Some(name) = key.text().filter(|name| is_name(name))
        {
            return Some(PolicyRule { name: Some(name.into()), ..self.rank_or_rule(value)? });
        }
        self.rule(node)
    }

    /// Reads an expression, or a rank: a mapping of `rank` and `otherwise`.
    fn rank_or_rule(&mut self, node: &'o YamlNode) -> Option<PolicyRule> {
        if !matches!(node.content, YamlContent::Mapping(_)) {
            return self.rule(node);
        }
        let (mut rule, mut has_rank, mut otherwise) = (None, false, 0.0);
        for (key, value) in self.settings.known_entries(node, "a rank", &["rank", "otherwise"]) {
            if key == "rank" {
                (rule, has_rank) = (self.rule(value), true);
            } else {
                let number = |text: &str| text.parse::<f64>().ok().filter(|number| !number.is_nan());
                let message = ("expected a number", "write a number such as `0`");
                otherwise = self.constant(value, number, message).unwrap_or(otherwise);
            }
        }
        if !has_rank {
            self.settings.report(
                node,
                "`rank` is missing",
                "write the expression of the rank, such as `rank: MY.Rank`",
            );
        }
        Some(PolicyRule { rank: Some(RankOrder::Number(otherwise)), ..rule? })
    }

    fn rule(&mut self, node: &YamlNode) -> Option<PolicyRule> {
        let expression = self.variables.expression(self.settings, node)?;
        Some(PolicyRule { expression, range: Some(self.settings.tree.range(node)), name: None, rank: None })
    }
}

/// The problem with a text that [`positive_number`] cannot read, and the hint.
pub const NOT_POSITIVE: (&str, &str) = ("expected a number greater than 0", "write a number such as `10`");

/// Reads a positive number; `None` for anything else.
pub fn positive_number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
}

#[cfg(test)]
mod tests;
