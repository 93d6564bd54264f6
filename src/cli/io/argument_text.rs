//! Texts of the command line: expressions, constraints, definitions and names of attributes.

use classad::ad::{Ad, Attribute, Dialect, Expression, Name};
use classad::format::Problem;
use classad::lint::StandardType;
use classad::matching::about_one_ad;
use classad::protocol::closest_attributes;
use classad::syntax::{ParseOptions, parse_expression, read_name};
use classad::text::suggestion;

use super::source_text::SourceText;
use crate::cli::args::condor_options;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

/// Adds the attributes that `-D NAME=EXPR` defines to an ad.
pub fn add_definitions(session: &mut Session, ad: &mut Ad, definitions: &[String]) -> Result<(), Failure> {
    for definition in definitions {
        let wanted = || Failure::refused(format!("-D needs NAME=EXPR, not `{definition}`"));
        let (name, text) = definition.split_once('=').ok_or_else(wanted)?;
        let expression = parse_argument_expression(session, name.trim(), text)?;
        *ad = ad.with(parse_attribute_name(session, name)?.ok_or_else(wanted)?, expression);
    }
    Ok(())
}

/// Returns `ad` with the attributes of `definitions`.
pub fn with_definitions(ad: Ad, definitions: &Ad) -> Ad {
    definitions.iter().fold(ad, |ad, Attribute { name, expression }| ad.with(name.clone(), expression.clone()))
}

/// Parses an attribute name of the command line, quoted or not; `None` if the text is not a name.
///
/// # Errors
///
/// The name is reserved in this dialect.
pub fn parse_attribute_name(session: &Session, text: &str) -> Result<Option<Name>, Failure> {
    let name = read_name(text.trim(), session.dialect()).map(|name| Name::new(&name));
    match name.filter(|name| !name.as_str().is_empty()) {
        Some(name) if session.dialect() == Dialect::Classad && name.is_reserved() => {
            refuse(format!("`{name}` is a reserved word, not an attribute name"))
        }
        name => Ok(name),
    }
}

/// Parses the attribute name that an option requires.
pub fn parse_required_name(session: &Session, option: &str, text: &str) -> Result<Name, Failure> {
    parse_attribute_name(session, text)?.ok_or_else(|| Failure::refused(format!("{option} needs a name, not `{text}`")))
}

/// Prints a note that no ad has the attribute `name`. The note suggests the most similar of the `known` names, unless
/// HTCondor defines the attribute: then it is not misspelt.
pub fn note_unknown_attribute<'a>(session: &Session, known: impl IntoIterator<Item = &'a str>, name: &Name) {
    let near = if StandardType::of(name).is_some() { Vec::new() } else { closest_attributes(name.as_str(), known) };
    session.note(&format!("no ad has the attribute {name}{}", suggestion(&near)));
}

/// Parses an expression of the command line. `what` names the expression in the diagnostic.
pub fn parse_argument_expression(session: &mut Session, what: &str, text: &str) -> Result<Expression, Failure> {
    let options = ParseOptions::new(session.dialect());
    let parsed = parse_argument(session, what, text, options)?;
    Ok(if session.is_about_one_ad { about_one_ad(parsed, options.dialect) } else { parsed })
}

/// Parses an expression of one of HTCondor's options. In its strings a backslash stands for itself unless it precedes
/// a quote, as in the long form; `TARGET` is undefined in single ads. `what` names the expression in the diagnostic.
pub fn parse_condor_expression(session: &mut Session, what: &str, text: &str) -> Result<Expression, Failure> {
    let options = ParseOptions::long(session.dialect());
    parse_argument(session, what, text, options)
}

fn parse_argument(session: &mut Session, what: &str, text: &str, options: ParseOptions) -> Result<Expression, Failure> {
    parse_expression(text.as_bytes(), options).map_err(|error| {
        let source = SourceText::from_argument(what, text);
        diagnostics::print_problem(&session.options, &source, &Problem::from_syntax(error, 0, 0));
        Failure::Refused(None)
    })
}

/// Parses constraints of the command line and joins them by `&&`; `None` if there are no constraints.
pub fn parse_constraints(session: &mut Session, texts: &[String]) -> Result<Option<Expression>, Failure> {
    let constraints = texts.iter().map(|text| parse_argument_expression(session, "constraint", text));
    Ok(constraints.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(Expression::and))
}

/// Refuses an expression that is most likely a misspelt option of the command: one that starts with `--` and a
/// letter or, with `single_dash_too`, with `-` and letters.
pub fn refuse_misspelt_option(
    session: &Session,
    command: &str,
    (text, single_dash_too): (&str, bool),
) -> Result<(), Failure> {
    let word = |rest: &str| rest.len() > 1 && rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let option = text.strip_prefix("--").map_or(single_dash_too && text.strip_prefix('-').is_some_and(word), word);
    if option && !std::env::args().any(|argument| argument == "--") {
        let fault = condor_options::missing_option_message(text, command, &(session.command_tree)());
        let end = if fault.ends_with('?') { " Put" } else { "; put" };
        return refuse(format!("{fault}{end} `--` before an expression that begins with `-`"));
    }
    Ok(())
}

/// Parses the expression of an option; `None` if the option is not given.
pub fn parse_optional_expression(
    session: &mut Session,
    what: &str,
    text: Option<&str>,
) -> Result<Option<Expression>, Failure> {
    text.map(|text| parse_argument_expression(session, what, text)).transpose()
}
