//! Rules in brackets, the form of routes and transforms before HTCondor 9: `[ set_Name = ...; copy_Name = "..."; ]`.
//!
//! Each becomes a rule of the language. The order is that of HTCondor's own conversion: variables, COPY, DELETE, SET,
//! EVALSET, and in each the order of the names.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeFrame, Value};
use crate::eval::{Context, Environment, Evaluator, Knowledge, SpecializeOptions, direct_references, specialize};
use crate::format::Problem;
use crate::syntax::{ParseOptions, Style, expression_text};
use crate::transform::{RuleAction, RuleOperand, RuleStatement, RuleTarget, TransformRule};

/// Attribute of rules in brackets that commands a change of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BracketedCommand {
    Copy,
    Delete,
    Set,
    EvaluateSet,
}

/// The beginnings of the names of the commands.
const COMMANDS: [(&str, BracketedCommand); 4] = [
    ("copy_", BracketedCommand::Copy),
    ("delete_", BracketedCommand::Delete),
    ("set_", BracketedCommand::Set),
    ("eval_set_", BracketedCommand::EvaluateSet),
];

/// Variables of a route that are expressions about the job, in lower case. What they read from the route is put into
/// them.
const JOB_EXPRESSIONS: [&str; 7] = [
    "editjobinplace",
    "failureratethreshold",
    "jobfailuretest",
    "jobshouldbesandboxed",
    "overrideroutingentry",
    "sharedx509userproxy",
    "usesharedx509userproxy",
];

/// Place of an attribute: byte range and line.
type AttributePlace = (Range<usize>, usize);

/// Converter of the rule in one ad.
pub(super) struct BracketedRuleConverter<'a> {
    /// The rules, with the defaults of all routes.
    ad: Ad,
    environment: Environment,
    frame: Arc<ScopeFrame>,
    context: Context,
    /// Returns the place of an attribute in the text.
    place: &'a dyn Fn(&Name) -> AttributePlace,
    problems: Vec<Problem>,
}

/// Converts an ad in brackets to a rule, and reports the errors in it. `name` is the name of the rule if the ad has
/// none.
pub(super) fn convert(
    ad: Ad,
    name: &str,
    context: &Context,
    place: &dyn Fn(&Name) -> AttributePlace,
) -> (TransformRule, Vec<Problem>) {
    let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Partial);
    // The clock and chance are those of the time when the rule is applied.
    let context = Context { now: None, random: None, ..context.clone() };
    let mut rules = BracketedRuleConverter { ad, environment, frame, context, place, problems: Vec::new() };
    let rule = rules.rule(name);
    (rule, rules.problems)
}

impl BracketedRuleConverter<'_> {
    fn rule(&mut self, name: &str) -> TransformRule {
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        let mut rule = TransformRule { name, ..TransformRule::default() };
        let mut commands: BTreeMap<(BracketedCommand, String), (Name, Expression)> = BTreeMap::new();
        let mut variables: BTreeMap<String, (Name, Expression)> = BTreeMap::new();
        for attribute in self.ad.clone().iter() {
            let (written, expression) = (attribute.name, attribute.expression.clone());
            let lower = written.as_str().to_ascii_lowercase();
            if let Some((start, command)) = COMMANDS.iter().find(|(start, _)| lower.starts_with(start)) {
                let target = &written.as_str()[start.len()..];
                if Name::new(target).is_identifier() {
                    commands.insert((*command, target.to_ascii_lowercase()), (written.clone(), expression));
                } else {
                    self.warn(written, format!("`{target}` is not an attribute name"));
                }
                continue;
            }
            match lower.as_str() {
                "name" => match self.value(&expression) {
                    Some(Value::String(text)) => rule.name = Some(text.to_str().into_owned()),
                    _ => self.warn(written, "Name must be a string".to_owned()),
                },
                "targetuniverse" => match self.value(&expression) {
                    Some(Value::Integer(number)) => rule.universe = Some(number.to_string()),
                    _ => self.warn(written, "TargetUniverse must be an integer".to_owned()),
                },
                "requirements" => {
                    let own = self.with_own_values(&expression, None);
                    rule.requirements = self.operand(written, &own, Style::Long);
                }
                _ => {
                    variables.insert(lower, (written.clone(), expression));
                }
            }
        }
        for (lower, (name, expression)) in &variables {
            let text = self.variable_text(lower, expression);
            self.push(&mut rule, name, RuleAction::Assign(name.as_str().to_owned(), text));
        }
        self.add_commands(&mut rule, &commands, &variables);
        rule
    }

    fn add_commands(
        &mut self,
        rule: &mut TransformRule,
        commands: &BTreeMap<(BracketedCommand, String), (Name, Expression)>,
        variables: &BTreeMap<String, (Name, Expression)>,
    ) {
        // Variables that an EVALSET reads are attributes of the job while it is evaluated.
        let mut lent: BTreeMap<String, Name> = BTreeMap::new();
        let mut evaluated = Vec::new();
        for ((command, _), (written, expression)) in commands {
            let (start, _) = COMMANDS.iter().find(|(_, known)| known == command).unwrap_or(&COMMANDS[0]);
            let target = Name::new(&written.as_str()[start.len()..]);
            let action = match command {
                BracketedCommand::Copy => {
                    if let Some(Value::String(text)) = self.value(expression) {
                        Some(RuleAction::Copy(RuleTarget::Name(target), text.to_str().into_owned()))
                    } else {
                        let help = "copy_OLD = \"NEW\" copies OLD to NEW";
                        self.warn(written, format!("{written} must be a string; {help}"));
                        None
                    }
                }
                BracketedCommand::Delete => Some(RuleAction::Delete(RuleTarget::Name(target))),
                BracketedCommand::Set => {
                    self.operand(written, expression, Style::Long).map(|operand| RuleAction::Set(target, operand))
                }
                BracketedCommand::EvaluateSet => {
                    let expression = self.evaluated_expression(expression);
                    let residue = direct_references(&expression, &self.frame, &self.environment, &self.context);
                    for name in &residue.internal {
                        let key = name.as_str().to_ascii_lowercase();
                        if variables.contains_key(&key) && !commands.contains_key(&(BracketedCommand::Set, key.clone()))
                        {
                            lent.insert(key, name.clone());
                        }
                    }
                    let operand = self.operand(written, &expression, Style::New);
                    evaluated.extend(operand.map(|operand| (written, RuleAction::EvaluateSet(target, operand))));
                    None
                }
            };
            if let Some(action) = action {
                self.push(rule, written, action);
            }
        }
        for (key, name) in &lent {
            let is_text = variables.get(key).is_some_and(|(_, value)| is_text(value));
            let text = if is_text { format!("\"$({name})\"") } else { format!("$({name})") };
            if let Ok(operand) = RuleOperand::new(&text, ParseOptions::long(self.context.dialect)) {
                self.push(rule, name, RuleAction::Set(name.clone(), operand));
            }
        }
        for (written, action) in evaluated {
            self.push(rule, written, action);
        }
        for name in lent.values() {
            self.push(rule, name, RuleAction::Delete(RuleTarget::Name(name.clone())));
        }
    }

    /// Returns the text of a variable: a string without quotes, except in `GridResource`.
    fn variable_text(&self, lower: &str, expression: &Expression) -> String {
        if JOB_EXPRESSIONS.contains(&lower) {
            return expression_text(&self.with_own_values(expression, Some("MY")), Style::Long);
        }
        match expression.kind() {
            ExpressionKind::Literal(Value::String(text)) if lower != "gridresource" => text.to_str().into_owned(),
            _ => expression_text(expression, Style::Long),
        }
    }

    /// Returns the expression of an `eval_set_`. What it reads from the rules is put into it; then TARGET is the job.
    fn evaluated_expression(&self, expression: &Expression) -> Expression {
        let read = direct_references(expression, &self.frame, &self.environment, &self.context);
        if read.internal.is_empty() { expression.clone() } else { self.with_own_values(expression, Some("MY")) }
    }

    /// Returns an expression in which the attributes of the rules are replaced by their values. `target` replaces the scope
    /// TARGET; `None` leaves the scope out.
    fn with_own_values(&self, expression: &Expression, target: Option<&str>) -> Expression {
        let options = SpecializeOptions { inline: true, ..SpecializeOptions::default() };
        let left = specialize(expression, &self.frame, &self.environment, &self.context, options);
        replace_scope(&left.expression, "TARGET", target)
    }

    /// Returns the value of an attribute within the rules; `None` if it depends on the job.
    fn value(&self, expression: &Expression) -> Option<Value> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, &self.frame).ok()
    }

    fn operand(&mut self, name: &Name, expression: &Expression, style: Style) -> Option<RuleOperand> {
        let dialect = self.context.dialect;
        let options = if style == Style::Long { ParseOptions::long(dialect) } else { ParseOptions::new(dialect) };
        let operand = RuleOperand::new(&expression_text(expression, style), options);
        operand.map_err(|error| self.warn(name, error.to_string())).ok()
    }

    fn push(&self, rule: &mut TransformRule, name: &Name, action: RuleAction) {
        let (range, line) = (self.place)(name);
        rule.statements.push(RuleStatement { action, range, line });
    }

    fn warn(&mut self, name: &Name, message: String) {
        let (range, _) = (self.place)(name);
        self.problems.push(Problem::error_at(range, 0, message).as_warning());
    }
}

fn is_text(expression: &Expression) -> bool {
    matches!(expression.kind(), ExpressionKind::Literal(Value::String(_)))
}

/// Returns an expression in which the scope `to` stands for the scope `from`; `None` leaves the scope out.
pub(super) fn replace_scope(expression: &Expression, from: &str, to: Option<&str>) -> Expression {
    expression.with_parts_replaced(&mut |part| match part.kind() {
        ExpressionKind::Select(scope, name)
            if matches!(scope.kind(), ExpressionKind::Attribute(scope) if scope.as_str().eq_ignore_ascii_case(from)) =>
        {
            Some(match to {
                Some(scope) => Expression::select(Expression::attribute(scope), name.clone()),
                None => Expression::attribute(name.clone()),
            })
        }
        _ => None,
    })
}
