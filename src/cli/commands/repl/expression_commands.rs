//! Evaluation of expressions, and the commands `:type`, `:trace`, `:specialize`, `:refs` and `:let`.

use classad::ad::{Ad, Expression, Name, ScopeAd, Value};
use classad::constraint::ClauseOperand;
use classad::eval::{
    ConstraintVerdict, Environment, Evaluator, SpecializeOptions, direct_references, references_of_all, specialize,
    unknowns,
};
use classad::format::{FileFormat, Problem, format_ads};
use classad::protocol::closest_attributes;
use classad::syntax::{Style, dialect_text, print_ad, print_name};
use classad::text::suggestion;

use super::argument::EntryPart;
use super::commands::COMMANDS;
use super::entry::DefinitionParts;
use super::state::{ReplDefinition, ReplState};
use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::argument_text;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::render::expression_tree;
use crate::cli::render::references::{NamedReferences, external_names, internal_names};

/// Evaluates an expression, and prints its value with the type.
pub fn evaluate_and_print(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let expression = state.parse_argument(argument)?;
    let value = state.evaluate(&expression, argument)?;
    state.print(&value_with_type(state, &value))?;
    report_error_origin(state, &expression, &value, argument);
    if value == Value::Undefined && COMMANDS.iter().any(|command| command.name.eq_ignore_ascii_case(argument.text)) {
        state.session.note(&format!("there is no attribute `{0}`; the command is written `:{0}`", argument.text));
    }
    if value == Value::Undefined && state.target.is_none() && mentions_target(state, &expression) {
        state.session.note("TARGET is not set; `:target FILE` or `:target [ ... ]` sets it");
    } else if value == Value::Undefined
        && let Some(note) = missing_attribute_note(state, &expression)
    {
        state.session.note(&note);
    } else if value == Value::Undefined && expression.as_literal().is_none() {
        state.session.note(&format!("`:trace {}` shows which part is undefined", single_line(argument.text)));
    }
    Ok(())
}

/// Returns a note about the first attribute of an expression that the ads of `:my` and `:target` lack, and about similar
/// names. `None` if they have all of its attributes.
fn missing_attribute_note(state: &ReplState<'_>, expression: &Expression) -> Option<String> {
    let (own, target) = (state.own_ad(), state.target.as_ref().map(|target| target.ad.clone()));
    let mut pending = vec![expression];
    while let Some(part) = pending.pop() {
        let (name, sides) = match ClauseOperand::of(part) {
            Some(ClauseOperand::Own(name)) => (name, [own.as_ref(), None]),
            Some(ClauseOperand::Other(name)) => (name, [None, target.as_ref()]),
            Some(ClauseOperand::Unqualified(name)) => (name, [own.as_ref(), target.as_ref()]),
            _ => {
                let start = pending.len();
                part.kind().for_each_child(|child| pending.push(child));
                pending[start..].reverse();
                continue;
            }
        };
        if own.is_none() && target.is_none() {
            return Some("no ad is set; `:my FILE` or `:my [ ... ]` sets one".to_owned());
        }
        let phrase = match sides {
            _ if sides.iter().flatten().any(|ad| ad.get(name).is_some()) => continue,
            [None, None] => continue,
            [Some(_), None] => format!("MY has no {name}"),
            [None, Some(_)] => format!("TARGET has no {name}"),
            [Some(_), Some(_)] => format!("neither MY nor TARGET has {name}"),
        };
        let known = sides.into_iter().flatten().flat_map(Ad::iter).map(|attribute| attribute.name.as_str());
        let near = closest_attributes(name.as_str(), known);
        return Some(format!("{phrase}{}", suggestion(&near)));
    }
    None
}

/// Whether an expression refers to TARGET, itself or by attributes of the ad of `:my`.
fn mentions_target(state: &ReplState<'_>, expression: &Expression) -> bool {
    let (environment, frame) = Environment::single(state.own_ad().unwrap_or_default());
    let found = references_of_all([expression], &frame, &environment, &state.session.context());
    let is_target = |name: &Name| ScopeAd::of(name) == Some(ScopeAd::Other);
    found.external.iter().any(|reference| reference.path.first().is_some_and(is_target))
}

/// Returns the text of a value and its type. An ad that does not fit into one line has a line for each
/// attribute.
fn value_with_type(state: &ReplState<'_>, value: &Value) -> String {
    let text = match value {
        Value::Ad(nested) => ad_text(state, nested.ad()),
        value => single_line(&value.to_string()),
    };
    match value {
        Value::Undefined | Value::Error(_) => text,
        _ => format!("{text} : {}", value.value_type().as_str()),
    }
}

/// Returns the text of an ad, on one line if it fits.
pub fn ad_text(state: &ReplState<'_>, ad: &Ad) -> String {
    let mut text = print_ad(ad, Style::New);
    let width = diagnostics::terminal_width();
    if text.len() > width
        && let Ok(spread) = format_ads(&text, FileFormat::Bracketed, state.session.dialect(), width)
        && spread.is_valid()
    {
        text = spread.text;
    }
    let lines: Vec<String> = String::from_utf8_lossy(&text).trim_end().lines().map(single_line).collect();
    lines.join("\n")
}

/// Reports why a value is an error, if the origin of the error is known. Marks the origin if it is a part of the
/// expression, else prints a note. Reports nothing for an `error` literal.
fn report_error_origin(state: &ReplState<'_>, expression: &Expression, value: &Value, argument: EntryPart<'_>) {
    let Some(fault) = value.error_origin().filter(|fault| !fault.reason.starts_with("written as")) else { return };
    let message = format!("the value is error: {fault}");
    let (environment, frame) = state.environment();
    let read = direct_references(expression, &frame, &environment, &state.session.context());
    // The origin is a span of this expression only if the expression reads no attribute. Attributes are parsed from
    // other texts.
    let is_own = read.internal.is_empty() && (state.target.is_none() || read.external.is_empty());
    let range = fault.span.range();
    if is_own && argument.text.get(range.clone()).is_some_and(|text| !text.is_empty()) {
        let problem = Problem::error_at(argument.part(range).range(), 0, message).as_warning();
        diagnostics::print_problem(&state.session.options, &state.source, &problem);
    } else {
        state.session.note(&message);
    }
}

/// `:type`: prints the type of an expression's value.
pub fn type_of(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let expression = state.parse_argument(argument)?;
    let value = state.evaluate(&expression, argument)?;
    state.print(value.value_type().as_str())
}

/// `:trace`: prints an expression as a tree, with the value of each node.
pub fn trace(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let expression = state.parse_argument(argument)?;
    let (environment, frame) = state.environment();
    let context = state.session.context();
    let mut text = Vec::new();
    expression_tree::write_value_tree(&mut text, &expression, &frame, &mut Evaluator::new(&environment, &context))?;
    state.session.check_interrupt()?;
    state.print_lines(String::from_utf8_lossy(&text).lines().map(single_line))
}

/// `:specialize`: prints the residue of an expression, and whether it can be true. Without an expression, specializes
/// the constraint of the ad of `:my`.
pub fn specialize_argument(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let expression = if argument.is_empty() { own_constraint(state)? } else { state.parse_argument(argument)? };
    let context = state.session.context();
    let partly = PartialKnowledge { unknown: Vec::new(), is_complete: false };
    let target = state.target.as_ref().map(|target| &target.ad);
    let (environment, frame) = partly.environment(state.own_ad().as_ref(), target);
    let left = specialize(&expression, &frame, &environment, &context, SpecializeOptions::default());
    let other = if target.is_some() { "with this TARGET" } else { "whatever the other ad is" };
    let verdict = match left.verdict {
        ConstraintVerdict::Always => format!("always true, {other}"),
        ConstraintVerdict::Never => format!("never true, {other}"),
        ConstraintVerdict::Depends => {
            let unknowns = unknowns(&left.expression, &frame, &environment, &context);
            format!("depends on {}", dependency_names(&unknowns).join(", "))
        }
    };
    state.session.check_interrupt()?;
    let left = dialect_text(&left.expression, context.dialect);
    state.print_lines([left, verdict].iter().map(|line| single_line(line)))
}

/// Returns the constraint of the ad of `:my`. Fails if it has none.
fn own_constraint(state: &mut ReplState<'_>) -> Result<Expression, Failure> {
    let request = state.request()?;
    let protocol = state.protocol();
    let constraint = protocol.constraint_name(&request.ad).and_then(|name| request.ad.get(name)).cloned();
    constraint.ok_or_else(|| Failure::refused(format!("{} has no constraint", request.id())))
}

/// `:refs`: prints the external and internal references of an expression; without an expression, of the ad of `:my`.
pub fn refs(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let (environment, frame) = Environment::single(state.own_ad().unwrap_or_default());
    let asked: Vec<Expression> = if argument.is_empty() {
        state.request()?.ad.iter().map(|attribute| attribute.expression.clone()).collect()
    } else {
        vec![state.parse_argument(argument)?]
    };
    let found = references_of_all(asked.iter(), &frame, &environment, &state.session.context());
    let names = |named: NamedReferences| {
        let names: Vec<String> = named.into_values().map(|(name, _)| name).collect();
        if names.is_empty() { "none".to_owned() } else { single_line(&names.join(", ")) }
    };
    let own = names(internal_names(&found));
    state.print_sentences(&format!("external: {}\ninternal: {own}", names(external_names(found))))
}

/// `:let`: sets, prints or removes a definition. Without an argument, prints all definitions.
pub fn define(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    if let Some(definition) = DefinitionParts::parse(argument) {
        return define_name(state, &definition).map(|_| ());
    }
    if argument.is_empty() {
        if state.definitions.is_empty() {
            return state.print("nothing is defined");
        }
        return state.print_lines(state.definitions.iter().map(|(name, defined)| definition_text(name, &defined.text)));
    }
    let is_dropped = argument.text.starts_with('-');
    let (_, written) = argument.split_at(usize::from(is_dropped));
    let is_written = |name: &Name| name.is_identifier() || written.text.starts_with('\'');
    let name = argument_text::parse_attribute_name(state.session, written.text)?.filter(is_written);
    let Some(name) = name else { return refuse("`:let` needs NAME = EXPR") };
    let Some(defined) = state.definitions.get(&name) else {
        return Err(state.error_at(written, format!("`{name}` is not defined")));
    };
    if is_dropped {
        state.definitions.shift_remove(&name);
        return Ok(());
    }
    state.print(&definition_text(&name, &defined.text))
}

fn definition_text(name: &Name, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    single_line(&format!("{} = {}", print_name(name), words.join(" ")))
}

/// Runs an entry `name = expression`: defines the name as `:let` does. Prints a note if an ad has an attribute of that
/// name, because the user may have meant `==`.
pub fn enter_definition(state: &mut ReplState<'_>, definition: &DefinitionParts<'_>) -> Result<(), Failure> {
    let name = define_name(state, definition)?;
    let has = |ad: &Option<NamedAd>| ad.as_ref().is_some_and(|ad| ad.ad.get(&name).is_some());
    if has(&state.my) || has(&state.target) || state.pool.census.attribute(&name).is_some() {
        let written = definition.name.text;
        state
            .session
            .note(&format!("{written} is now set here; `{written} == ...` compares, `:let -{written}` undoes this"));
    }
    Ok(())
}

/// Defines a name, prints the value of its expression, and returns the name.
fn define_name(state: &mut ReplState<'_>, definition: &DefinitionParts<'_>) -> Result<Name, Failure> {
    let DefinitionParts { name: written, expression: part } = *definition;
    let name = match argument_text::parse_attribute_name(state.session, written.text) {
        Ok(Some(name)) => name,
        Ok(None) => return Err(state.error_at(written, "this is not a name")),
        Err(Failure::Refused(Some(message))) => return Err(state.error_at(written, message)),
        Err(failure) => return Err(failure),
    };
    let expression = state.parse_argument(part)?;
    let defined = ReplDefinition { text: part.text.to_owned(), expression: expression.clone() };
    state.definitions.insert(name.clone(), defined);
    let value = state.evaluate(&expression, part)?;
    state.print(&format!("{} = {}", print_name(&name), value_with_type(state, &value)))?;
    report_error_origin(state, &expression, &value, part);
    Ok(name)
}
