//! Evaluation of expressions, and the commands `:type`, `:trace`, `:specialize`, `:refs` and `:let`.

use std::io::Write;

use classad::ad::{Ad, Expression, Name, Value};
use classad::eval::{
    ConstraintVerdict, Environment, Evaluator, SpecializeOptions, direct_references, references_of_all, specialize,
    unknowns,
};
use classad::format::{FileFormat, Problem, format_ads};
use classad::syntax::{Style, print_ad, print_name};

use super::argument::CommandArgument;
use super::commands;
use super::entry::{DefinitionRanges, trim_range};
use super::state::{ReplDefinition, ReplState};
use crate::cli::Failure;
use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::input;
use crate::cli::io::source::SourceText;
use crate::cli::render::output::out;
use crate::cli::render::references::{NamedReferences, external_names, internal_names};
use crate::cli::render::{diagnostics, expression_tree};

/// Evaluates an expression, and prints its value with the type.
pub fn evaluate_and_print(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let expression = desk.parse_argument(argument)?;
    let value = desk.evaluate(&expression, argument)?;
    desk.print(&value_with_type(desk, &value))?;
    report_error_origin(desk, &expression, &value, argument);
    if value == Value::Undefined
        && commands::COMMANDS.iter().any(|command| command.name.eq_ignore_ascii_case(argument.text))
    {
        desk.session.note(&format!("no attribute is called `{0}`; the command is `:{0}`", argument.text));
    }
    Ok(())
}

/// Returns the text of a value and its type. An ad that does not fit into one line has a line for each attribute.
fn value_with_type(desk: &ReplState<'_>, value: &Value) -> String {
    let text = match value {
        Value::Ad(nested) => ad_text(desk, nested.ad()),
        value => diagnostics::single_line(&value.to_string()),
    };
    match value {
        Value::Undefined | Value::Error(_) => text,
        _ => format!("{text} : {}", value.value_type().as_str()),
    }
}

/// Returns the text of an ad, on one line if it fits.
pub fn ad_text(desk: &ReplState<'_>, ad: &Ad) -> String {
    let mut text = print_ad(ad, Style::New);
    let width = diagnostics::terminal_width();
    if text.len() > width
        && let Ok(spread) = format_ads(&text, FileFormat::Bracketed, desk.session.dialect(), width)
        && spread.is_valid()
    {
        text = spread.text;
    }
    let lines: Vec<String> = String::from_utf8_lossy(&text).trim_end().lines().map(diagnostics::single_line).collect();
    lines.join("\n")
}

/// Reports the origin of an error value, if it is known: below the expression if the origin lies there, else as a note.
fn report_error_origin(
    desk: &mut ReplState<'_>,
    expression: &Expression,
    value: &Value,
    argument: &CommandArgument<'_>,
) {
    let Some(fault) = value.error_origin().filter(|fault| !fault.reason.starts_with("written as")) else { return };
    let message = format!("the value is error: {fault}");
    let (environment, frame) = desk.environment();
    let read = direct_references(expression, &frame, &environment, &desk.session.context());
    // The span belongs to this expression only if no attribute is read: attributes are parsed from other texts.
    let is_own = read.internal.is_empty() && (desk.target.is_none() || read.external.is_empty());
    let range = fault.span.range();
    if is_own && argument.text.get(range.clone()).is_some_and(|text| !text.is_empty()) {
        let problem = Problem::error_at(argument.part(range).range(), 0, message).as_warning();
        diagnostics::print_problem(&desk.session.options, argument.source, &problem);
    } else {
        desk.session.note(&message);
    }
}

/// `:type`: prints the type of an expression's value.
pub fn type_of(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let expression = desk.parse_argument(argument)?;
    let value = desk.evaluate(&expression, argument)?;
    desk.print(value.value_type().as_str())
}

/// `:trace`: prints an expression as a tree, with the value of each node.
pub fn trace(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let expression = desk.parse_argument(argument)?;
    let (environment, frame) = desk.environment();
    let context = desk.session.context();
    let mut text = Vec::new();
    expression_tree::write_value_tree(&mut text, &expression, &frame, &mut Evaluator::new(&environment, &context))?;
    desk.session.check_interrupt()?;
    let lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(diagnostics::single_line).collect();
    desk.print(&lines.join("\n"))
}

/// `:specialize`: prints what is left of an expression, or of the own side's constraint, and whether it can be true.
pub fn specialize_argument(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let expression = if argument.is_empty() { own_constraint(desk)? } else { desk.parse_argument(argument)? };
    let context = desk.session.context();
    let partly = PartialKnowledge { unknown: Vec::new(), is_complete: false };
    let target = desk.target.as_ref().map(|target| &target.ad);
    let (environment, frame) = partly.environment(desk.own_ad().as_ref(), target);
    let left = specialize(&expression, &frame, &environment, &context, SpecializeOptions::default());
    let verdict = match left.verdict {
        ConstraintVerdict::Always => "true, whatever it meets".to_owned(),
        ConstraintVerdict::Never => "never true, whatever it meets".to_owned(),
        ConstraintVerdict::Depends => {
            let unknowns = unknowns(&left.expression, &frame, &environment, &context);
            format!("depends on {}", dependency_names(&unknowns).join(", "))
        }
    };
    desk.session.check_interrupt()?;
    let text = diagnostics::single_line(&left.expression.to_string());
    desk.print(&format!("{text}\n{}", diagnostics::single_line(&verdict)))
}

/// Returns the constraint of the own side's ad.
fn own_constraint(desk: &mut ReplState<'_>) -> Result<Expression, Failure> {
    let request = desk.request()?;
    let protocol = desk.protocol();
    let constraint = protocol.constraint_name(&request.ad).and_then(|name| request.ad.get(name)).cloned();
    constraint.ok_or_else(|| Failure::refused(format!("{} has no constraint", request.id())))
}

/// `:refs`: prints the external and internal references of an expression or, without one, of the own side's ad.
pub fn refs(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let (environment, frame) = Environment::single(desk.own_ad().unwrap_or_default());
    let asked: Vec<Expression> = if argument.is_empty() {
        desk.request()?.ad.iter().map(|attribute| attribute.expression.clone()).collect()
    } else {
        vec![desk.parse_argument(argument)?]
    };
    let found = references_of_all(asked.iter(), &frame, &environment, &desk.session.context());
    let names = |named: NamedReferences| {
        let names: Vec<String> = named.into_values().map(|(name, _)| name).collect();
        if names.is_empty() { "none".to_owned() } else { diagnostics::single_line(&names.join(", ")) }
    };
    let own = names(internal_names(&found));
    desk.print(&format!("external: {}\ninternal: {own}", names(external_names(found))))
}

/// `:let`: defines, prints or drops a definition; without an argument it prints all definitions.
pub fn define(desk: &mut ReplState<'_>, argument: &CommandArgument<'_>) -> Result<(), Failure> {
    let text = argument.text;
    if let Some(definition) = DefinitionRanges::parse(text, 0..text.len()) {
        return define_name(desk, argument, &definition).map(|_| ());
    }
    if text.is_empty() {
        let all: Vec<String> =
            desk.definitions.iter().map(|(name, defined)| definition_text(name, &defined.text)).collect();
        return desk.print(&if all.is_empty() { "nothing is defined".to_owned() } else { all.join("\n") });
    }
    let is_dropped = text.starts_with('-');
    let range = if is_dropped { trim_range(text, 1..text.len()) } else { 0..text.len() };
    let name = input::parse_attribute_name(desk.session, &text[range.clone()])?.filter(Name::is_identifier);
    let name = name.ok_or_else(|| argument.report_error(desk.session, "`:let` wants NAME = EXPR"))?;
    if is_dropped {
        let dropped = desk.definitions.shift_remove(&name);
        return match dropped {
            Some(_) => Ok(()),
            None => Err(argument.part(range).report_error(desk.session, format!("`{name}` is not defined"))),
        };
    }
    match desk.definitions.get(&name) {
        Some(defined) => desk.print(&definition_text(&name, &defined.text)),
        None => Err(argument.report_error(desk.session, format!("`{name}` is not defined"))),
    }
}

fn definition_text(name: &Name, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    diagnostics::single_line(&format!("{} = {}", print_name(name), words.join(" ")))
}

/// Runs an entry `name = expression`: defines the name as `:let` does. Adds a note if an ad has an attribute of that
/// name, as the user may have meant to compare.
pub fn enter_definition(
    desk: &mut ReplState<'_>,
    source: &SourceText,
    text: &str,
    definition: &DefinitionRanges,
) -> Result<(), Failure> {
    let written = &text[definition.name.clone()];
    let name = define_name(desk, &CommandArgument::from_range(source, text, 0..text.len()), definition)?;
    let has = |ad: &Option<input::NamedAd>| ad.as_ref().is_some_and(|ad| ad.ad.get(&name).is_some());
    if has(&desk.my) || has(&desk.target) || desk.pool.census.attribute(&name).is_some() {
        desk.session
            .note(&format!("{written} is now defined here; `{written} == ...` compares, `:let -{written}` undoes"));
    }
    Ok(())
}

/// Defines a name, prints the value of its expression, and returns the name.
fn define_name(
    desk: &mut ReplState<'_>,
    argument: &CommandArgument<'_>,
    definition: &DefinitionRanges,
) -> Result<Name, Failure> {
    let written = argument.part(definition.name.clone());
    let name = match input::parse_attribute_name(desk.session, written.text) {
        Ok(Some(name)) => name,
        Ok(None) => return Err(written.report_error(desk.session, "this is no name")),
        Err(Failure::Refused(Some(message))) => return Err(written.report_error(desk.session, message)),
        Err(failure) => return Err(failure),
    };
    let defining = argument.part(definition.expression.clone());
    let expression = desk.parse_argument(&defining)?;
    desk.definitions
        .insert(name.clone(), ReplDefinition { text: defining.text.to_owned(), expression: expression.clone() });
    let value = desk.evaluate(&expression, &defining)?;
    desk.print(&format!("{} = {}", print_name(&name), value_with_type(desk, &value)))?;
    report_error_origin(desk, &expression, &value, &defining);
    Ok(name)
}

impl ReplState<'_> {
    /// Prints text, unless `--quiet` is given.
    #[allow(clippy::unused_self)] // what commands print is the state's, wherever it goes
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(out(), "{text}")?)
    }
}
