//! Evaluation of expressions, and the commands `:type`, `:trace`, `:specialize`, `:refs` and `:let`.

use std::io::Write;

use classad::ad::{Ad, Expression, Name, Value};
use classad::eval::{
    Environment, Evaluator, Liberties, Verdict, direct_references, references_of_all, specialize, unknowns,
};
use classad::format::{Form, Problem, layout};
use classad::syntax::{Style, print, print_ad, print_name, print_value};

use super::argument::Argument;
use super::commands;
use super::entry::{Definition, trimmed};
use super::state::{Defined, Desk};
use crate::cli::Failure;
use crate::cli::args::partial_scope::{PartlyKnown, names_of};
use crate::cli::io::input;
use crate::cli::io::source::Text;
use crate::cli::render::output::out;
use crate::cli::render::references::{Named, external, internal};
use crate::cli::render::{diagnostics, expression_tree};

/// Evaluates an expression, and prints its value with the type.
pub fn value(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let expression = desk.expression(argument)?;
    let value = desk.evaluate(&expression, argument)?;
    desk.print(&typed(desk, &value))?;
    tell_fault(desk, &expression, &value, argument);
    if value == Value::Undefined
        && commands::COMMANDS.iter().any(|command| command.name.eq_ignore_ascii_case(argument.text))
    {
        desk.session.note(&format!("no attribute is called `{0}`; the command is `:{0}`", argument.text));
    }
    Ok(())
}

/// Returns the text of a value and its type. An ad that does not fit into one line has a line for each attribute.
fn typed(desk: &Desk<'_>, value: &Value) -> String {
    let text = match value {
        Value::Ad(nested) => ad_text(desk, nested.ad()),
        value => diagnostics::line(&String::from_utf8_lossy(&print_value(value, Style::New))),
    };
    match value {
        Value::Undefined | Value::Error(_) => text,
        _ => format!("{text} : {}", value.kind().as_str()),
    }
}

/// Returns the text of an ad, on one line if it fits.
pub fn ad_text(desk: &Desk<'_>, ad: &Ad) -> String {
    let mut text = print_ad(ad, Style::New);
    let width = diagnostics::width();
    if text.len() > width
        && let Ok(spread) = layout(&text, Form::New, desk.session.dialect(), width)
        && spread.is_sound()
    {
        text = spread.text;
    }
    let lines: Vec<String> = String::from_utf8_lossy(&text).trim_end().lines().map(diagnostics::line).collect();
    lines.join("\n")
}

/// Reports the origin of an error value, if it is known: under the expression if it lies there, else as a note.
fn tell_fault(desk: &mut Desk<'_>, expression: &Expression, value: &Value, argument: &Argument<'_>) {
    let Some(fault) = value.fault().filter(|fault| !fault.reason.starts_with("written as")) else { return };
    let message = format!("the value is error: {fault}");
    let (environment, frame) = desk.meeting();
    let read = direct_references(expression, &frame, &environment, &desk.session.context());
    // The span is one of this expression only if the expression reads no attribute: these have other texts.
    let is_own = read.internal.is_empty() && (desk.target.is_none() || read.external.is_empty());
    let range = fault.span.range();
    if is_own && argument.text.get(range.clone()).is_some_and(|text| !text.is_empty()) {
        let problem = Problem::at(argument.part(range).range(), 0, message).as_warning();
        diagnostics::problem(&desk.session.options, argument.source, &problem);
    } else {
        desk.session.note(&message);
    }
}

/// `:type`
pub fn type_of(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let expression = desk.expression(argument)?;
    let value = desk.evaluate(&expression, argument)?;
    desk.print(value.kind().as_str())
}

/// `:trace`
pub fn trace(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let expression = desk.expression(argument)?;
    let (environment, frame) = desk.meeting();
    let context = desk.session.context();
    let mut text = Vec::new();
    expression_tree::values(&mut text, &expression, &frame, &mut Evaluator::new(&environment, &context))?;
    desk.session.go_on()?;
    let lines: Vec<String> = String::from_utf8_lossy(&text).lines().map(diagnostics::line).collect();
    desk.print(&lines.join("\n"))
}

/// `:specialize`
pub fn specialized(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let expression = if argument.is_empty() { constraint(desk)? } else { desk.expression(argument)? };
    let context = desk.session.context();
    let partly = PartlyKnown { unknown: Vec::new(), closed: false };
    let target = desk.target.as_ref().map(|target| &target.ad);
    let (environment, frame) = partly.environment(desk.this_side().as_ref(), target);
    let left = specialize(&expression, &frame, &environment, &context, Liberties::default());
    let verdict = match left.verdict {
        Verdict::Always => "true, whatever it meets".to_owned(),
        Verdict::Never => "never true, whatever it meets".to_owned(),
        Verdict::Depends => {
            let unknowns = unknowns(&left.expression, &frame, &environment, &context);
            format!("depends on {}", names_of(&unknowns).join(", "))
        }
    };
    desk.session.go_on()?;
    let text = diagnostics::line(&String::from_utf8_lossy(&print(&left.expression, Style::New)));
    desk.print(&format!("{text}\n{}", diagnostics::line(&verdict)))
}

/// Returns the constraint of the own side's ad.
fn constraint(desk: &mut Desk<'_>) -> Result<Expression, Failure> {
    let request = desk.request()?;
    let protocol = desk.protocol();
    let constraint = protocol.constraint(&request.ad).and_then(|name| request.ad.get(name)).cloned();
    constraint.ok_or_else(|| Failure::Refused(Some(format!("{} has no constraint", request.id()))))
}

/// `:refs`
pub fn refs(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let (environment, frame) = Environment::alone(desk.this_side().unwrap_or_default());
    let asked: Vec<Expression> = if argument.is_empty() {
        desk.request()?.ad.iter().map(|attribute| attribute.expression.clone()).collect()
    } else {
        vec![desk.expression(argument)?]
    };
    let found = references_of_all(asked.iter(), &frame, &environment, &desk.session.context());
    let names = |named: Named| {
        let names: Vec<String> = named.into_values().map(|(name, _)| name).collect();
        if names.is_empty() { "none".to_owned() } else { diagnostics::line(&names.join(", ")) }
    };
    let own = names(internal(&found));
    desk.print(&format!("external: {}\ninternal: {own}", names(external(found))))
}

/// `:let`
pub fn define(desk: &mut Desk<'_>, argument: &Argument<'_>) -> Result<(), Failure> {
    let text = argument.text;
    if let Some(definition) = Definition::within(text, 0..text.len()) {
        return bind(desk, argument, &definition).map(|_| ());
    }
    if text.is_empty() {
        let all: Vec<String> = desk.definitions.iter().map(|(name, defined)| shown(name, &defined.text)).collect();
        return desk.print(&if all.is_empty() { "nothing is defined".to_owned() } else { all.join("\n") });
    }
    let is_dropped = text.starts_with('-');
    let range = if is_dropped { trimmed(text, 1..text.len()) } else { 0..text.len() };
    let name = input::attribute_name(desk.session, &text[range.clone()])?.filter(Name::is_plain);
    let name = name.ok_or_else(|| argument.refuse(desk.session, "`:let` wants NAME = EXPR"))?;
    if is_dropped {
        let dropped = desk.definitions.shift_remove(&name);
        return match dropped {
            Some(_) => Ok(()),
            None => Err(argument.part(range).refuse(desk.session, format!("`{name}` is not defined"))),
        };
    }
    match desk.definitions.get(&name) {
        Some(defined) => desk.print(&shown(&name, &defined.text)),
        None => Err(argument.refuse(desk.session, format!("`{name}` is not defined"))),
    }
}

fn shown(name: &Name, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    diagnostics::line(&format!("{} = {}", print_name(name), words.join(" ")))
}

/// Runs an entry `name = expression`: defines the name as `:let` does. Adds a note if an ad has an attribute of that
/// name, as the user may have meant to compare.
pub fn assign(desk: &mut Desk<'_>, source: &Text, text: &str, definition: &Definition) -> Result<(), Failure> {
    let written = &text[definition.name.clone()];
    let name = bind(desk, &Argument::of(source, text, 0..text.len()), definition)?;
    let has = |ad: &Option<input::Identified>| ad.as_ref().is_some_and(|ad| ad.ad.get(&name).is_some());
    if has(&desk.my) || has(&desk.target) || desk.pool.census.attribute(&name).is_some() {
        desk.session
            .note(&format!("{written} is now defined here; `{written} == ...` compares, `:let -{written}` undoes"));
    }
    Ok(())
}

/// Defines a name, and prints its value.
fn bind(desk: &mut Desk<'_>, argument: &Argument<'_>, definition: &Definition) -> Result<Name, Failure> {
    let written = argument.part(definition.name.clone());
    let name = match input::attribute_name(desk.session, written.text) {
        Ok(Some(name)) => name,
        Ok(None) => return Err(written.refuse(desk.session, "this is no name")),
        Err(Failure::Refused(Some(message))) => return Err(written.refuse(desk.session, message)),
        Err(failure) => return Err(failure),
    };
    let defining = argument.part(definition.expression.clone());
    let expression = desk.expression(&defining)?;
    desk.definitions.insert(name.clone(), Defined { text: defining.text.to_owned(), expression: expression.clone() });
    let value = desk.evaluate(&expression, &defining)?;
    desk.print(&format!("{} = {}", print_name(&name), typed(desk, &value)))?;
    tell_fault(desk, &expression, &value, &defining);
    Ok(name)
}

impl Desk<'_> {
    /// Prints text, unless `--quiet` is given.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        if !self.session.options.quiet {
            writeln!(out(), "{text}")?;
        }
        Ok(())
    }
}
