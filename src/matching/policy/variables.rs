//! Variables of a policy, `$(NAME)`: a configuration or the policy itself gives their values.
//!
//! A variable stands for an expression. Its value is parsed by itself and takes the place of an operand, so that no
//! value can change the meaning of the text around it. Within a string, and where a policy has a number or a truth value,
//! a variable stands for its text.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, ExpressionKind, Name, Span, Value};
use crate::configuration::{Configuration, ConfiguredPolicy, PolicyKnob, constant_truth};
use crate::eval::Context;
use crate::format::Problem;
use crate::format::document_tree::{ConfigReader, YamlContent, YamlNode};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};
use crate::transform::{MacroReference, find_macros};

/// Maximum number of a policy's own variables that are replaced by expressions. Variables of variables can double without end.
const MAX_USES: usize = 10_000;

/// The variables of a policy while it is read.
pub(super) struct PolicyVariables<'o, 'c> {
    /// The configuration, with the policy's own values as defaults.
    configuration: Configuration,
    context: &'c Context,
    /// What the policy gives under `variables`.
    own: Vec<(Name, &'o YamlNode)>,
    /// The values of the configuration that were used; `None` for a value that is no expression.
    configured: FxHashMap<Name, Option<Expression>>,
    /// The variables of the policy that are being read.
    open: Vec<Name>,
    /// Number of the policy's own variables that were replaced by expressions.
    uses: usize,
    problems: Vec<Problem>,
}

impl<'o, 'c> PolicyVariables<'o, 'c> {
    /// `policy` is the node of the whole policy.
    pub fn new(policy: &'o YamlNode, configuration: &Configuration, context: &'c Context) -> Self {
        let entries = |node: &'o YamlNode| match &node.content {
            YamlContent::Mapping(entries) => entries.as_slice(),
            _ => &[],
        };
        let variables = entries(policy).iter().filter(|(key, _)| key.text() == Some("variables"));
        let own: Vec<(&str, &YamlNode)> = variables
            .flat_map(|(_, value)| entries(value))
            .filter_map(|(name, value)| Some((name.text()?, value)))
            .collect();
        let texts = own.iter().filter_map(|(name, value)| Some((*name, value.text()?)));
        PolicyVariables {
            configuration: configuration.with_defaults(texts),
            context,
            own: own.into_iter().map(|(name, value)| (Name::new(name), value)).collect(),
            configured: FxHashMap::default(),
            open: Vec::new(),
            uses: 0,
            problems: Vec::new(),
        }
    }

    /// Returns the problems of the configuration, in the order of its text.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.range.start);
        self.problems.dedup();
        self.problems
    }

    /// Returns the text of a constant with its variables expanded. `None` after reporting a variable without a value.
    pub fn text(&mut self, settings: &mut ConfigReader<'o>, node: &YamlNode) -> Option<String> {
        self.expand(settings, node, node.text().unwrap_or_default())
    }

    /// Reports a constant that has the wrong form: in the configuration, if the constant is a variable of it.
    pub fn report_constant(&mut self, settings: &mut ConfigReader<'o>, node: &YamlNode, message: &str, help: &str) {
        let text = node.text().unwrap_or_default();
        let entry = find_macros(text.as_bytes())
            .first()
            .filter(|found| found.range == (0..text.len()))
            .and_then(|found| self.configuration.entry(&text[found.body.clone()]));
        match entry {
            Some(entry) => {
                let message = format!("{}: {message}", entry.name);
                self.problems.push(Problem::error_at(entry.value_range.clone(), 0, message).with_help(help));
            }
            None => settings.report(node, message, help),
        }
    }

    /// Parses a scalar as an expression, with the values of its variables. `None` after reporting a problem.
    pub fn expression(&mut self, settings: &mut ConfigReader<'o>, node: &YamlNode) -> Option<Expression> {
        let text = node.text().unwrap_or_default();
        let macros = find_macros(text.as_bytes());
        if macros.is_empty() {
            return settings.expression(node);
        }
        let marked = MarkedText::new(text, &macros);
        let template = match parse_expression(marked.text.as_bytes(), ParseOptions::new(settings.dialect)) {
            Ok(template) => template,
            Err(error) => {
                let problem = settings.tree.syntax_problem(node, marked.unmark(error));
                settings.problems.push(problem);
                return None;
            }
        };
        let mut values: Vec<Option<Expression>> = vec![None; macros.len()];
        let mut is_usable = true;
        let expression = template.with_parts_replaced(&mut |part| match part.kind() {
            ExpressionKind::Attribute(name) => {
                let index = marked.index(name.as_str())?;
                let value = self.value(settings, node, text, &macros[index]);
                is_usable &= value.is_some();
                let value = value.unwrap_or_else(undefined);
                values[index] = Some(value.clone());
                // What is printed of the rule needs parentheses to mean the same.
                Some(if has_operator(&value) {
                    Expression::new(ExpressionKind::Parentheses(value), part.span())
                } else {
                    value
                })
            }
            ExpressionKind::Literal(Value::String(string)) => {
                let mut string = std::str::from_utf8(string.as_bytes()).ok()?.to_owned();
                for (index, found) in macros.iter().enumerate() {
                    if !string.contains(&mark(index)) {
                        continue;
                    }
                    let expanded = self.expand(settings, node, &text[found.range.clone()]);
                    is_usable &= expanded.is_some();
                    values[index] = Some(undefined());
                    string = string.replace(&mark(index), &expanded.unwrap_or_default());
                }
                Some(Expression::new(ExpressionKind::Literal(Value::string(&string)), part.span()))
            }
            _ => None,
        });
        if let Some(index) = values.iter().position(Option::is_none) {
            let name = &text[macros[index].range.clone()];
            settings.report(node, format!("`{name}` is an expression"), "write it as an operand");
            return None;
        }
        match template.kind() {
            _ if !is_usable => None,
            // The text is one variable.
            ExpressionKind::Attribute(_) => values.swap_remove(0),
            _ => Some(expression),
        }
    }

    /// Returns the expression that a macro stands for. `None` after reporting that there is none.
    fn value(
        &mut self,
        settings: &mut ConfigReader<'o>,
        node: &YamlNode,
        text: &str,
        found: &MacroReference,
    ) -> Option<Expression> {
        if !found.function.is_empty() {
            let expanded = self.expand(settings, node, &text[found.range.clone()])?;
            return parse(settings, node, &text[found.range.clone()], &expanded);
        }
        let name = &text[found.body.clone()];
        let own = self.own.iter().find(|(own, _)| *own == Name::new(name)).map(|(_, node)| *node);
        if self.configuration.entry(name).is_some() {
            return self.configured(name, own);
        }
        let default = found.default.clone().map(|default| &text[default]);
        let is_empty = self.configuration.sets(name);
        match (own, default) {
            // HTCondor has no such policy, but its own value of a number or a truth value.
            (Some(own), _) if !is_empty || is_setting(name, own) => self.own_value(settings, name, own),
            (_, Some(default)) => parse(settings, node, &text[found.range.clone()], default),
            _ if is_empty => Some(undefined()),
            _ => no_value(settings, node, name),
        }
    }

    /// Returns the value of a variable of the configuration. `None` if it is no expression, which is reported once.
    fn configured(&mut self, name: &str, own: Option<&YamlNode>) -> Option<Expression> {
        let key = Name::new(name);
        if let Some(known) = self.configured.get(&key) {
            return known.clone();
        }
        let context = self.context;
        let found = ConfiguredPolicy::find(&self.configuration, name, context);
        let value = match found {
            Ok(policy) => policy.map(|policy| policy.expression),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        };
        // HTCondor reads `yes` as a truth value where it expects one, not as the name of an attribute.
        let is_truth = own.is_some_and(|own| is_setting(name, own) && matches!(own.value, Some(Value::Boolean(_))));
        let truth = |value: Expression| match constant_truth(&value.to_string(), context).filter(|_| is_truth) {
            Some(truth) => Expression::literal(Value::Boolean(truth)),
            None => value,
        };
        let value = value.map(truth);
        self.configured.insert(key, value.clone());
        value
    }

    /// Returns the value that the policy itself gives a variable.
    fn own_value(&mut self, settings: &mut ConfigReader<'o>, name: &str, own: &'o YamlNode) -> Option<Expression> {
        let key = Name::new(name);
        self.uses += 1;
        if self.open.contains(&key) || self.uses > MAX_USES {
            let fault = if self.uses > MAX_USES { "gives too long an expression" } else { "refers to itself" };
            settings.report(own, format!("the variable {name} {fault}"), "give it a value of its own");
            return None;
        }
        self.open.push(key);
        let value = self.expression(settings, own);
        self.open.pop();
        value
    }

    /// Returns a text with its variables replaced by their texts.
    fn expand(&mut self, settings: &mut ConfigReader<'o>, node: &YamlNode, text: &str) -> Option<String> {
        match self.configuration.variables().expand(text.as_bytes(), self.context) {
            Ok(expansion) => match expansion.unknown {
                Some(name) => no_value(settings, node, &name),
                None => Some(String::from_utf8_lossy(&expansion.text).into_owned()),
            },
            Err(reason) => {
                settings.report(node, reason, "give each variable a value of its own");
                None
            }
        }
    }
}

/// Reports a variable without a value.
fn no_value<T>(settings: &mut ConfigReader<'_>, node: &YamlNode, name: &str) -> Option<T> {
    let message = format!("the variable {name} has no value");
    settings.report(node, message, "set it under `variables`, or with --config");
    None
}

/// Whether a variable is a number or a truth value of HTCondor, rather than an expression. `own` is the policy's value.
fn is_setting(name: &str, own: &YamlNode) -> bool {
    let is_constant = matches!(own.value, Some(Value::Boolean(_) | Value::Integer(_) | Value::Real(_)));
    is_constant && PolicyKnob::find(name).is_none()
}

/// Parses the value of a macro. `None` after reporting that it is no expression.
fn parse(settings: &mut ConfigReader<'_>, node: &YamlNode, shown: &str, value: &str) -> Option<Expression> {
    match parse_expression(value.as_bytes(), ParseOptions::new(settings.dialect)) {
        Ok(expression) => Some(expression),
        Err(error) => {
            settings.report(
                node,
                format!("`{shown}` is not an expression: {error}"),
                "give the variable an expression",
            );
            None
        }
    }
}

/// Whether the outermost part of an expression is an operator.
fn has_operator(expression: &Expression) -> bool {
    use ExpressionKind::{Binary, Conditional, Elvis, Unary};
    matches!(expression.kind(), Unary(..) | Binary(..) | Conditional(..) | Elvis(..))
}

fn undefined() -> Expression {
    Expression::literal(Value::Undefined)
}

/// A text in which quoted names stand for macros, so that it can be parsed.
struct MarkedText<'t> {
    text: String,
    original: &'t str,
    /// For each macro its beginning and end here, and its range in the original text.
    places: Vec<([usize; 2], &'t MacroReference)>,
}

/// Returns the quoted name that stands for a macro. No attribute of HTCondor has such a name.
fn mark(index: usize) -> String {
    format!("'${index}'")
}

/// What messages call a mark.
const QUOTED: &str = "a quoted name or time";

impl<'t> MarkedText<'t> {
    fn new(original: &'t str, macros: &'t [MacroReference]) -> Self {
        let (mut text, mut places, mut done) = (String::new(), Vec::new(), 0);
        for (index, found) in macros.iter().enumerate() {
            text.push_str(&original[done..found.range.start]);
            let start = text.len();
            text.push_str(&mark(index));
            places.push(([start, text.len()], found));
            done = found.range.end;
        }
        text.push_str(&original[done..]);
        MarkedText { text, original, places }
    }

    /// Returns the number of the macro for which a name stands.
    fn index(&self, name: &str) -> Option<usize> {
        name.strip_prefix('$')?.parse().ok().filter(|index| *index < self.places.len())
    }

    /// Converts an error in this text to an error in the original text.
    fn unmark(&self, error: SyntaxError) -> SyntaxError {
        let mut message = error.message.clone();
        for ([start, _], found) in &self.places {
            if error.span.range().start == *start {
                message = message.replace(QUOTED, &format!("`{}`", &self.original[found.range.clone()]));
            }
        }
        let related = error.related.clone().map(|(span, text)| (self.unmark_span(span), text));
        SyntaxError { span: self.unmark_span(error.span), related, message, ..error }
    }

    fn unmark_span(&self, span: Span) -> Span {
        let range = span.range();
        let offset = |at: usize| match self.places.iter().rev().find(|([start, _], _)| *start < at) {
            Some(([_, end], found)) => found.range.end + at.saturating_sub(*end),
            None => at,
        };
        let [start, end] = [range.start, range.end].map(offset).map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        Span::new(start, end)
    }
}

#[cfg(test)]
mod tests;
