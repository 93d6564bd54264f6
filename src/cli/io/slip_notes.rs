//! Notes of probable mistakes in expressions of the command line.

use classad::ad::{BinaryOperator, Dialect, Expression, Name};
use classad::lint::{Slip, find_slips};

use crate::cli::session::Session;

/// Names of the lint rules whose mistakes make an expression quietly mean something else.
const QUIET_RULES: [&str; 5] = ["wrong-unit", "undefined-comparison", "bare-word", "single-quotes", "null"];

/// Names of the lint rules whose mistakes make an expression an error.
const ERROR_RULES: [&str; 4] = ["unknown-function", "arity", "argument-type", "operand-type"];

/// Prints a note for each number in a wrong unit, each string without quotes and each comparison with undefined or `null`
/// in an expression, with what to write instead.
pub fn note_slips(session: &Session, expression: &Expression) {
    let slips = find_slips(expression, session.dialect(), None);
    slips.iter().filter(|slip| QUIET_RULES.contains(&slip.rule.name)).for_each(|slip| note(session, slip));
}

/// Prints a note for each part of an expression that HTCondor does not read as it is meant, whatever the ads are: a
/// number with a suffix such as `G`, and a comparison with undefined.
pub fn note_certain_slips(session: &Session, expression: &Expression) {
    let is_condor = session.dialect() == Dialect::Condor;
    let is_certain = |slip: &&Slip| slip.rule.name == "undefined-comparison" || is_condor && slip.is_of_suffix();
    find_slips(expression, session.dialect(), None).iter().filter(is_certain).for_each(|slip| note(session, slip));
}

/// Prints a note for the first mistake that makes an expression an error.
pub fn note_error(session: &Session, expression: &Expression) {
    if let Some(slip) = find_error(session, expression) {
        note(session, &slip);
    }
}

/// Returns the first mistake that makes an expression an error.
pub fn find_error(session: &Session, expression: &Expression) -> Option<Slip> {
    let slips = find_slips(expression, session.dialect(), None);
    slips.into_iter().find(|slip| ERROR_RULES.contains(&slip.rule.name))
}

fn note(session: &Session, slip: &Slip) {
    session.note(&slip_text(slip));
}

/// Returns the message of a slip with its help.
pub fn slip_text(slip: &Slip) -> String {
    let help = slip.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    format!("{}{help}", slip.message)
}

/// Prints the notes of [`note_slips`] and [`note_error`] for the definition of an attribute.
pub fn note_slips_of_definition(session: &Session, name: &Name, value: &Expression) {
    // A value has the unit of the attribute that it is compared with.
    let attribute = Expression::attribute(name.clone());
    let comparison = Expression::binary(BinaryOperator::Equal, attribute, value.clone());
    note_slips(session, &comparison);
    note_error(session, &comparison);
}
